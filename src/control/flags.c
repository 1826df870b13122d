#include "control/flags.h"

#include <stdio.h>
#include <stdlib.h>

#include "k8s/settings.h"
#include "model/duration.h"

/* false: the text is not of the flag's type. */
static bool store_value(const struct flag *x, void *into, const char *text, bool from_flag)
{
    void *field = (char *)into + x->at;
    str v = str_c(text);
    struct err e;
    int64_t n;

    switch (x->type) {
    case FLAG_TEXT:
        *(const char **)field = text;
        return true;
    case FLAG_NUMBER:
        return str_to_i64(v, (int64_t *)field);
    case FLAG_DECIMAL:
        return str_to_double(v, (double *)field);
    case FLAG_BOOL:
        if (from_flag && !str_is(v, "true") && !str_is(v, "false"))
            return false;
        return go_bool_parse(v, (bool *)field);
    case FLAG_DURATION:
        if (!duration_parse(v, &n, &e))
            return false;
        *(int64_t *)field = n / 1000000;
        return true;
    case FLAG_CHOICE:
    case FLAG_SWITCH:
        break;
    }
    return false;
}

static bool set_flag(const struct flag *x, void *into, void *ctx, const char *text, struct err *e)
{
    if (x->set)
        return x->set(ctx, str_c(text), e);
    return store_value(x, into, text, /* from_flag= */ true) ||
           err_set(e, ERR_INVALID, "parsing flags, invalid value \"%s\" for flag -%s", text, x->doc.flag);
}

static bool set_env(const struct flag_table *t, const struct flag *x, void *into, void *ctx, const char *text,
                    struct err *e)
{
    if (x->set)
        return x->set(ctx, str_c(text), e);
    return store_value(x, into, text, /* from_flag= */ false) || !t->strict ||
           err_set(e, ERR_INVALID, "%s=%s: must be %s", x->doc.env, text,
                   x->type == FLAG_BOOL       ? "true or false"
                   : x->type == FLAG_DURATION ? "a duration such as 30s"
                                              : "a number");
}

static const struct flag *find(const struct flag_table *t, str name)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (str_is(name, t->v[i].doc.flag))
            return &t->v[i];
    return NULL;
}

static bool parse_args(const struct flag_table *t, void *into, void *ctx, int argc, char **argv, bool *ret_help,
                       struct err *e)
{
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        str name, value;
        bool has_value;

        if (arg[0] != '-' || arg[1] == 0)
            return err_set(e, ERR_INVALID, "parsing flags, \"%s\" is not a flag", arg);
        name = str_c(arg + (arg[1] == '-' ? 2 : 1));
        has_value = str_cut(name, '=', &name, &value);
        if (str_is(name, "help") || str_is(name, "h")) {
            *ret_help = true;
            continue;
        }
        const struct flag *x = find(t, name);
        if (!x)
            return err_set(e, ERR_INVALID, "parsing flags, flag provided but not defined: -" STR_FMT, STR_ARG(name));
        const char *text = has_value ? value.p : NULL; /* the end of an argument: terminated */
        if (!text && (x->type == FLAG_BOOL || x->type == FLAG_SWITCH))
            text = "true";
        else if (!text && ++i < argc)
            text = argv[i];
        if (!text)
            return err_set(e, ERR_INVALID, "parsing flags, flag needs an argument: -" STR_FMT, STR_ARG(name));
        if (!set_flag(x, into, ctx, text, e))
            return false;
    }
    return true;
}

const char *flags_env(const char *const *env, const char *name)
{
    if (!env)
        return getenv(name);
    for (; *env; env += 2)
        if (strcmp(*env, name) == 0)
            return env[1];
    return NULL;
}

bool flags_read(const struct flag_table *t, void *into, void *ctx, int argc, char **argv, const char *const *env,
                bool *ret_help, struct err *e)
{
    *ret_help = false;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct flag *x = &t->v[i];
        const char *text = x->doc.env ? flags_env(env, x->doc.env) : NULL;

        if (!set_flag(x, into, ctx, x->doc.fallback, e))
            return false;
        if (text && text[0] && !set_env(t, x, into, ctx, text, e))
            return false;
    }
    return parse_args(t, into, ctx, argc, argv, ret_help, e);
}

void flags_print(const struct flag_table *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const struct option_doc *d = &t->v[i].doc;

        (void)printf("  --%s%s%s%s\n        %s%s%s\n", d->flag, d->env ? " (" : "", d->env ? d->env : "",
                     d->env ? ")" : "", d->help, d->fallback[0] ? "; default: " : "", d->fallback);
    }
    (void)printf("  -h, --help\n        this text\n");
}
