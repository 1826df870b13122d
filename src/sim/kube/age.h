/* age - how long ago something was, in the words of kubectl: 5s, 3m12s, 47m, 5h2m, 26h, 3d4h, 12d, 2y31d. */
#pragma once

#include "base/sb.h"

void age_print(struct sb *out, int64_t since_ms, int64_t now_ms);
