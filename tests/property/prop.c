/* property-whatif - asks random clusters random questions, and carries out what disruption would do to them.
 *
 *     property-whatif [--seeds FROM-TO] [--only whatif|settle|events|pass] [--verbose]
 *
 * Every failure is printed with its seed and the command that shows it again. The last lines are one TAP line for each
 * property; exit status 0 only when all hold. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/reader.h"
#include "gen.h"
#include "k8s/decode.h"
#include "k8s/itypes.h"
#include "k8s/settings.h"
#include "prop.h"
#include "state/state.h"

#include "../support/plan_dump.h"

#define NOW_MS 1768478400000 /* noon of 15 January 2026, as in gen_steady.c */
#define SEEDS 150

/* --- a cluster ----------------------------------------------------------------------------------------------------------- */

static _Noreturn void die(const struct err *e)
{
    (void)fprintf(stderr, "property-whatif: the generator's own cluster: %s\n", e->msg);
    exit(2);
}

static str generated(struct arena *a, uint64_t seed, const char *part)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    if (!f || !gen_write(f, seed, part) || fclose(f))
        abort();
    str ret = arena_strdup(a, (str){text, n});
    free(text);
    return ret;
}

static void decode(struct cluster *k, str bytes)
{
    const struct tree *t = NULL;
    struct err e = {0};

    AUTO(decoder) struct decoder *d = decoder_new(k->objects);
    AUTO(reader) struct reader *r = reader_open_bytes("cluster.json", bytes, &e);
    if (!r)
        die(&e);
    do
        if (!reader_next(r, &t, &e) || (t && !k8s_decode(d, t, &e)))
            die(&e);
    while (t);
}

void cluster_build(struct cluster *k)
{
    struct err e = {0};

    if (k->snap)
        candidates_fini(&k->c);
    arena_reset(k->pass);
    k->snap = state_build(k->pass, k->objects, k->catalog, &k->settings, NOW_MS, &e);
    if (!k->snap)
        die(&e);
    candidates_init(&k->c, k->pass, k->snap);
}

void cluster_open(struct cluster *k, uint64_t seed, const char *part, const char *types)
{
    struct err e = {0};
    str line, key, value;

    *k = (struct cluster){.arena = arena_new(1u << 16), .syms = syms_new(), .pass = arena_new(1u << 16)};
    k->objects = objects_new(k->syms);
    settings_defaults(&k->settings);
    for (str rest = generated(k->arena, seed, "--settings"); str_cut(rest, '\n', &line, &rest);) {
        (void)str_cut(line, '=', &key, &value);
        if (!settings_set(&k->settings, k->arena, k->syms, key, value, &e))
            die(&e);
    }
    k->catalog = itypes_parse(k->arena, k->syms, "types.json", generated(k->arena, seed, types), &e);
    if (!k->catalog)
        die(&e);
    decode(k, generated(k->arena, seed, part));
    cluster_build(k);
}

void cluster_close(struct cluster *k)
{
    candidates_fini(&k->c);
    objects_free(k->objects);
    syms_free(k->syms);
    arena_free(k->pass);
    arena_free(k->arena);
}

/* --- telling ------------------------------------------------------------------------------------------------------------- */

void check(struct tally *t, enum property p, bool holds, const char *fmt, ...)
{
    va_list ap;

    t->checked[p]++;
    if (holds)
        return;
    t->failed[p]++;
    (void)printf("# seed %llu: ", (unsigned long long)t->seed);
    va_start(ap, fmt);
    (void)vprintf(fmt, ap);
    va_end(ap);
    (void)printf("\n#   again: property-whatif --seeds %llu-%llu --verbose\n", (unsigned long long)t->seed,
                 (unsigned long long)t->seed);
}

void check_same(struct tally *t, enum property p, const char *what, str got, str want)
{
    str x = STR(""), y = STR("");
    bool same = str_eq(got, want);

    if (!same)
        text_difference(got, want, &x, &y);
    check(t, p, same, "%s:\n#   got  " STR_FMT "\n#   want " STR_FMT, what, STR_ARG(x), STR_ARG(y));
    if (!same && t->verbose)
        (void)printf("--- got\n" STR_FMT "\n--- want\n" STR_FMT "\n---\n", STR_ARG(got), STR_ARG(want));
}

str commands_text(struct arena *a, const struct syms *syms, const struct disrupt_command *v, uint32_t n)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < n; i++) {
        const struct disrupt_command *c = &v[i];
        const struct plan p = {.claims = c->claims, .n_claims = c->n_claims};

        sb_printf(&b, "%s %.17g %.17g %u:", disrupt_method_name(c->method), c->price, c->savings, c->n_pods);
        for (uint32_t k = 0; k < c->n_nodes; k++)
            sb_printf(&b, " %u", c->nodes[k]);
        sb_char(&b, '\n');
        for (uint32_t m = 0; m < c->n_moves; m++)
            sb_printf(&b, "  %u to %u %u\n", c->moves[m].pod, c->moves[m].node, c->moves[m].claim);
        sb_str(&b, plan_dump(a, syms, &p, /* reasons= */ false));
    }
    str ret = sb_dup(&b, a);
    sb_fini(&b);
    return ret;
}

static const char *const titles[N_PROPERTIES] = {
    [PROP_UNDO] = "undoing a question leaves no trace",
    [PROP_ORACLE] = "a question is answered like a plan from scratch",
    [PROP_EARLY] = "a question that ends early is as true as a full one",
    [PROP_LEAST] = "no new node costs less than the bound",
    [PROP_FEW] = "pods that stay need not be compiled",
    [PROP_INDEX] = "the index changes no answer",
    [PROP_AGAIN] = "the same cluster gives the same commands",
    [PROP_MOVES] = "every pod of a node that goes has a place",
    [PROP_COST] = "a cluster becomes cheaper, by as much as was said",
    [PROP_END] = "commands come to an end",
    [PROP_EVENTS] = "what is compiled follows events",
    [PROP_STANDING] = "answers that are remembered are those of a fresh scan",
    [PROP_PASS] = "the commands of a live pass are disjoint and within budgets",
    [PROP_RECHECK] = "what a live pass finds is good while nothing changes",
};

static bool report(const struct tally *t)
{
    bool ok = true;

    (void)printf("# %llu clusters, %llu questions, %llu passes, %llu commands, %llu nodes that came and went again\n",
                 (unsigned long long)t->clusters, (unsigned long long)t->questions, (unsigned long long)t->passes,
                 (unsigned long long)t->commands, (unsigned long long)t->restless);
    (void)printf("# %llu events, %llu that took a new compile; of %llu answers that one might have changed %llu were "
                 "asked for again, the others proved\n",
                 (unsigned long long)t->events, (unsigned long long)t->recompiled, (unsigned long long)t->judged,
                 (unsigned long long)t->asked);
    (void)printf("# of live passes %llu commands started, %llu were not good any more after those before them\n",
                 (unsigned long long)t->started, (unsigned long long)t->refused);
    (void)printf("1..%d\n", N_PROPERTIES);
    for (unsigned p = 0; p < N_PROPERTIES; p++) {
        ok &= t->failed[p] == 0;
        (void)printf("%s %u - %s (%llu of %llu)\n", t->failed[p] ? "not ok" : "ok", p + 1, titles[p],
                     (unsigned long long)(t->checked[p] - t->failed[p]), (unsigned long long)t->checked[p]);
    }
    return ok;
}

static bool parse_seeds(str s, int64_t *first, int64_t *last)
{
    str from, to;

    return str_cut(s, '-', &from, &to) && str_to_i64(from, first) && str_to_i64(to, last) && *first >= 0 &&
           *first <= *last;
}

static const struct {
    const char *name;
    void (*run)(struct tally *);
} parts[] = {{"whatif", prop_whatif}, {"settle", prop_settle}, {"events", prop_events}, {"pass", prop_pass}};

static bool is_part(const char *name)
{
    for (unsigned i = 0; i < ARRAY_LEN(parts); i++)
        if (strcmp(name, parts[i].name) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    struct tally t = {0};
    int64_t first = 1, last = SEEDS;
    const char *only = "";

    for (int i = 1; i < argc; i++) {
        const char *v = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(argv[i], "--verbose") == 0) {
            t.verbose = true;
        } else if (strcmp(argv[i], "--only") == 0 && is_part(v)) {
            only = v;
            i++;
        } else if (strcmp(argv[i], "--seeds") == 0 && parse_seeds(str_c(v), &first, &last)) {
            i++;
        } else {
            (void)fputs("usage: property-whatif [--seeds FROM-TO] [--only whatif|settle|events|pass] [--verbose]\n",
                        stderr);
            return 2;
        }
    }
    for (int64_t seed = first; seed <= last; seed++) {
        t.seed = (uint64_t)seed;
        t.clusters++;
        for (unsigned i = 0; i < ARRAY_LEN(parts); i++)
            if (!*only || strcmp(only, parts[i].name) == 0)
                parts[i].run(&t);
        (void)fflush(stdout);
    }
    return report(&t) ? 0 : 1;
}
