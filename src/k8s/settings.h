/* settings - the controller's settings by name, as environment variables or `--settings KEY=VALUE` (scheduling 25). */
#pragma once

#include "base/err.h"
#include "model/snapshot.h"

struct setting_doc {
    const char *key, *choices, *fallback, *help;
};

void settings_defaults(struct settings *s);
/* One KEY=VALUE. Unknown keys and values are errors that name the choices. */
bool settings_set(struct settings *s, struct arena *a, struct syms *t, str key, str value, struct err *e);
const struct setting_doc *settings_docs(uint32_t *ret_n);
bool go_bool_parse(str v, bool *ret); /* Go's strconv.ParseBool: 1, t, TRUE, … */
