/* toml_int - the scalars of TOML. Private to toml*.c. */
#pragma once

#include "data/toml.h"

bool toml_is_date(str s); /* 1979-05-27 */

/* The text that TOML would write for a word that is an integer or a float, a date or a time; false when it is none. */
bool toml_number_text(struct arena *a, str word, str *ret);
bool toml_time_text(struct arena *a, str word, str *ret);
