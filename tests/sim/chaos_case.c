/* A case as a line of arguments, and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "sim/chaos.h"

#define MAX_ARGS 16

static const char *const part_names[CHAOS_N_PARTS] = {
#define X(id, name) name,
    CHAOS_PARTS(X)
#undef X
};

const char *chaos_part_name(enum chaos_part p)
{
    return part_names[p];
}

static bool parse_without(struct chaos_case *c, str list, struct err *e)
{
    while (list.n) {
        str name;
        uint32_t i = 0;

        (void)str_cut(list, ',', &name, &list);
        while (i < CHAOS_N_PARTS && !str_is(name, part_names[i]))
            i++;
        if (i == CHAOS_N_PARTS)
            return err_set(e, ERR_INVALID, "--without: there is no part \"" STR_FMT "\"", STR_ARG(name));
        parts_put(&c->without, i);
    }
    return true;
}

static bool parse_skip(struct chaos_case *c, str list, struct err *e)
{
    while (list.n) {
        str item, from, to;
        int64_t a, b;

        (void)str_cut(list, ',', &item, &list);
        if (!str_cut(item, '-', &from, &to))
            to = from;
        if (!str_to_i64(from, &a) || !str_to_i64(to, &b) || a < 0 || b < a || b > UINT32_MAX)
            return err_set(e, ERR_INVALID, "--skip: \"" STR_FMT "\" is no range", STR_ARG(item));
        if (c->n_skip == CHAOS_SKIPS)
            return err_set(e, ERR_INVALID, "--skip: more than %d ranges", CHAOS_SKIPS);
        c->skip[c->n_skip++] = (struct chaos_range){(uint32_t)a, (uint32_t)b};
    }
    return true;
}

static bool parse_one(struct chaos_case *c, const char *name, const char *text, struct err *e)
{
    char *end = NULL;

    if (strcmp(name, "--without") == 0)
        return parse_without(c, str_c(text), e);
    if (strcmp(name, "--skip") == 0)
        return parse_skip(c, str_c(text), e);
    if (strcmp(name, "--seed") == 0)
        c->seed = strtoull(text, &end, 10);
    else if (strcmp(name, "--apps") == 0)
        c->n_apps = (uint32_t)strtoul(text, &end, 10);
    else
        c->hours = strtod(text, &end);
    return (*text && !*end) || err_set(e, ERR_INVALID, "%s: \"%s\" is no number", name, text);
}

bool chaos_parse(struct chaos_case *c, int *argc, char **argv, struct err *e)
{
    static const char *const names[] = {"--seed", "--without", "--hours", "--apps", "--skip"};
    int kept = 0;

    for (int i = 0; i < *argc; i++) {
        bool ours = false;

        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            ours = ours || strcmp(argv[i], names[k]) == 0;
        if (strcmp(argv[i], "--verbose") == 0) {
            c->verbose = true;
        } else if (strcmp(argv[i], "--aws") == 0) {
            c->aws = true;
        } else if (!ours) {
            argv[kept++] = argv[i];
        } else if (i + 1 == *argc) {
            return err_set(e, ERR_INVALID, "%s needs a value", argv[i]);
        } else {
            if (!parse_one(c, argv[i], argv[i + 1], e))
                return false;
            i++;
        }
    }
    *argc = kept;
    return true;
}

bool chaos_read(struct chaos_case *c, const char *line, struct err *e)
{
    char text[2000], *argv[MAX_ARGS];
    int argc = 0;

    (void)snprintf(text, sizeof(text), " %s", line);
    for (char *p = text; *p && argc < MAX_ARGS; p++)
        if (*p == ' ') {
            *p = '\0';
            argv[argc++] = p + 1;
        }
    return chaos_parse(c, &argc, argv, e) && (argc == 0 || err_set(e, ERR_INVALID, "%s: what is that?", argv[0]));
}

void chaos_print(const struct chaos_case *c, struct sb *out)
{
    const char *sep = " --without ";

    sb_printf(out, " --seed %llu%s", (unsigned long long)c->seed, c->aws ? " --aws" : "");
    for (uint32_t i = 0; i < CHAOS_N_PARTS; i++)
        if (parts_has(&c->without, i)) {
            sb_printf(out, "%s%s", sep, part_names[i]);
            sep = ",";
        }
    if (c->hours > 0)
        sb_printf(out, " --hours %.4f", c->hours);
    if (c->n_apps)
        sb_printf(out, " --apps %u", c->n_apps);
    for (uint32_t i = 0; i < c->n_skip; i++) {
        sb_printf(out, "%s%u", i ? "," : " --skip ", c->skip[i].from);
        if (c->skip[i].to != c->skip[i].from)
            sb_printf(out, "-%u", c->skip[i].to);
    }
}
