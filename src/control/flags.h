/* flags - what a command can be told, in one table: by a flag, by an environment variable, or not at all.
 *
 * A flag wins over its variable, which wins over the default. Flags are written as Go programs take them: -name value, --name value, --name=value; a flag of a truth
 * value may stand alone. An empty variable counts as absent. Help, documentation and the parser read the same table.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct option_doc {
    const char *flag, *env, *fallback, *help; /* env NULL: there is only the flag */
};

enum flag_type {
    FLAG_TEXT,     /* const char * */
    FLAG_NUMBER,   /* int64_t */
    FLAG_DECIMAL,  /* double */
    FLAG_BOOL,     /* bool */
    FLAG_DURATION, /* int64_t, in ms */
    FLAG_CHOICE,   /* set() reads it */
    FLAG_SWITCH,   /* the same, and "true" when it stands alone */
};

struct flag {
    struct option_doc doc;
    enum flag_type type;
    size_t at; /* of the field; FLAG_CHOICE, FLAG_SWITCH: unused */
    bool (*set)(void *ctx, str v, struct err *e);
};

struct flag_table {
    const struct flag *v;
    uint32_t n;
    bool strict; /* what a variable says must make sense, too: otherwise such values count as absent */
};

/* `into` is the struct that has the fields, `ctx` goes to set(). Texts refer to argv and environment. env: name, value, …, NULL; or NULL for the process' own.
 * *ret_help: --help was given. */
bool flags_read(const struct flag_table *t, void *into, void *ctx, int argc, char **argv, const char *const *env,
                bool *ret_help, struct err *e);
/* The text of a variable, as flags_read() finds it; NULL when it is not set. */
const char *flags_env(const char *const *env, const char *name);
void flags_print(const struct flag_table *t); /* the lines of a help, on standard output */
