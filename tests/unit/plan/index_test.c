/* Searching bins by index never changes a plan: random clusters are planned with and without it, and a second time to
 * see that the same snapshot gives the same plan. INDEX_SEEDS=N runs more of them, INDEX_FIRST=N starts elsewhere. */
#include <stdlib.h>

#include "base/rng.h"
#include "plan/pack.h"
#include "support/check.h"
#include "support/plan_dump.h"
#include "support/scenario.h"

#define SEEDS 300

struct gen {
    struct rng r;
    struct sb out;
    uint32_t n_apps, n_nodes;
};

static bool chance(struct gen *g, uint32_t percent)
{
    return rng_below(&g->r, 100) < percent;
}

static const char *pick(struct gen *g, const char *const *v, uint32_t n)
{
    return v[rng_below(&g->r, n)];
}

#define PICK(g, ...) pick((g), (const char *const[]){__VA_ARGS__}, ARRAY_LEN(((const char *const[]){__VA_ARGS__})))

static void gen_types(struct gen *g)
{
    if (chance(g, 10)) { /* more zones than a machine word has bits */
        for (uint32_t i = 0; i < 3; i++) {
            sb_printf(&g->out, "type t%u cpu=%u mem=%uGi pods=9 offer='spot z1|on-demand z2", i, 4 << i, 8 << i);
            for (uint32_t z = rng_below(&g->r, 3); z < 100; z += 1 + rng_below(&g->r, 2))
                sb_printf(&g->out, "|spot q%02u", z);
            sb_c(&g->out, "'\n");
        }
    } else if (chance(g, 30)) {
        sb_c(&g->out, PICK(g, "catalog fake:20\n", "catalog fake:3\n", "catalog fake:70\n"));
    } else if (chance(g, 30)) {
        for (uint32_t i = 0, n = 1 + rng_below(&g->r, 5); i < n; i++) {
            sb_printf(&g->out, "type t%u cpu=%u mem=%uGi pods=%u offer='spot z%u|on-demand z%u", i,
                      1u << rng_below(&g->r, 5), 1u << rng_below(&g->r, 6), 2 + rng_below(&g->r, 20),
                      1 + rng_below(&g->r, 3), 1 + rng_below(&g->r, 3));
            if (chance(g, 50))
                sb_printf(&g->out, "|reserved z%u 0.01 id=r%u left=%u", 1 + rng_below(&g->r, 3), rng_below(&g->r, 3),
                          rng_below(&g->r, 3));
            if (chance(g, 20))
                sb_c(&g->out, "|spot z2 0.3 over=fake.com/x=2,cpu=1");
            sb_c(&g->out, "'\n");
        }
    }
    if (chance(g, 15))
        sb_c(&g->out, "set PREFERENCE_POLICY=Ignore\n");
    if (chance(g, 15))
        sb_c(&g->out, "set MIN_VALUES_POLICY=BestEffort\n");
}

static void gen_pools(struct gen *g)
{
    for (uint32_t i = 0, n = 1 + rng_below(&g->r, 3); i < n; i++) {
        sb_printf(&g->out, "pool p%u", i);
        if (chance(g, 40))
            sb_printf(&g->out, " weight=%u", 1 + rng_below(&g->r, 3));
        if (chance(g, 30))
            sb_printf(&g->out, " limit=%s", PICK(g, "cpu=40", "memory=100Gi", "nodes=3", "cpu=500,pods=200"));
        if (chance(g, 30))
            sb_printf(&g->out, " taint=%s", PICK(g, "t=a:NoSchedule", "t=b:NoExecute", "t:PreferNoSchedule"));
        if (chance(g, 50))
            sb_printf(&g->out, " req='%s'",
                      PICK(g, "zone In z1,z2", "ct In on-demand", "team In a,b", "team NotIn c", "integer Lt 9",
                           "itype Exists min 2", "zone Exists min 2; team Exists", "arch In amd64"));
        if (chance(g, 30))
            sb_printf(&g->out, " label=team=%s", PICK(g, "a", "b"));
        sb_char(&g->out, '\n');
    }
    for (uint32_t i = rng_below(&g->r, 3); i > 0; i--)
        sb_printf(&g->out, "daemon d%u cpu=%um%s%s\n", i, rng_below(&g->r, 300), PICK(g, "", " port=80", " sel=team=a"),
                  PICK(g, "", " tol=*", " need='zone In z1 | arch In amd64'"));
}

static void gen_nodes(struct gen *g)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        sb_printf(&g->out, "node n%u cpu=%u mem=%uGi pods=%u pool=p%u label=zone=z%u,arch=%s,ct=%s%s%s%s", i,
                  1 + rng_below(&g->r, 8), 1 + rng_below(&g->r, 16), 1 + rng_below(&g->r, 20), rng_below(&g->r, 3),
                  1 + rng_below(&g->r, 4), PICK(g, "amd64", "arm64"), PICK(g, "spot", "on-demand"),
                  PICK(g, "", ",team=a", ",team=b"), PICK(g, "", "", "", " taint=t=a:NoSchedule"),
                  PICK(g, "", "", " registered", " unmanaged", " inflight", " deleting"));
        sb_char(&g->out, '\n');
        if (chance(g, 10))
            sb_printf(&g->out, "csinode n%u ebs.csi.aws.com=%u\n", i, rng_below(&g->r, 3));
    }
}

static void gen_constraints(struct gen *g, uint32_t app)
{
    uint32_t other = rng_below(&g->r, g->n_apps);
    const char *key = PICK(g, "zone", "host", "ct", "arch", "team");

    if (chance(g, 25))
        sb_printf(&g->out, " spread='%s %u app=x%u%s%s'", key, 1 + rng_below(&g->r, 3), app, PICK(g, "", " any"),
                  PICK(g, "", "", " min=3", " taints=Honor", " affinity=Ignore", " | host 2 all any", " keys=rev"));
    if (chance(g, 12))
        sb_printf(&g->out, " anti='%s app=x%u'", PICK(g, "host", "host", "zone"), chance(g, 50) ? app : other);
    if (chance(g, 12))
        sb_printf(&g->out, " aff='%s app=x%u'", PICK(g, "host", "zone", "zone"), chance(g, 60) ? app : other);
    if (chance(g, 10))
        sb_printf(&g->out, " panti='5 host app=x%u | 7 zone app=x%u'", app, other);
    if (chance(g, 10))
        sb_printf(&g->out, " paff='5 %s app=x%u'", key, other);
    if (chance(g, 20))
        sb_printf(&g->out, " need='%s'",
                  PICK(g, "zone In z1,z3", "zone NotIn z2", "team In a | zone In z2", "team Exists", "integer Gt 3",
                       "arch In arm64", "foo DoesNotExist", "ct In spot | ct Exists", "zone In q77,q03,q90",
                       "zone In q99 | zone In q01"));
    if (chance(g, 15))
        sb_printf(&g->out, " want='3 %s | 9 %s'", PICK(g, "zone In z1", "team In b"),
                  PICK(g, "arch In arm64", "ct In spot"));
    if (chance(g, 15))
        sb_printf(&g->out, " sel=%s", PICK(g, "zone=z1", "np=p0", "team=a", "arch=amd64", "host=n1"));
    if (chance(g, 40))
        sb_printf(&g->out, " tol=%s", PICK(g, "*", "t=a:NoSchedule", "t"));
    if (chance(g, 8))
        sb_printf(&g->out, " port=%s", PICK(g, "80", "81", "udp:80", "10.0.0.1/80"));
    if (chance(g, 6))
        sb_c(&g->out, PICK(g, " pvc=v1", " pvc=v2", " pvc=v1,v3", " pvc=nope"));
    if (chance(g, 5))
        sb_c(&g->out, " res=fake.com/x=1");
}

static void gen_pods(struct gen *g, uint32_t per_app)
{
    sb_c(&g->out, "class c1 zones='z1 | z2'\nclass c2 zones=z2\npvc v1 class=c1\npvc v2 class=c2\n"
                  "pv w csi=ebs.csi.aws.com need='zone In z3 | zone In z2'\npvc v3 pv=w\n");
    for (uint32_t i = 0; i < g->n_apps; i++) {
        bool round = chance(g, 50); /* sizes that several apps have in common */

        sb_printf(&g->out, "pod a%u x%u label=app=x%u,rev=%u cpu=%um mem=%uMi", i, 1 + rng_below(&g->r, per_app), i / 2,
                  rng_below(&g->r, 2), round ? 500 * rng_below(&g->r, 4) : rng_below(&g->r, 2500),
                  round ? 512 * rng_below(&g->r, 3) : rng_below(&g->r, 3000));
        if (g->n_nodes && chance(g, 25))
            sb_printf(&g->out, " node=n%u", rng_below(&g->r, g->n_nodes));
        gen_constraints(g, i / 2);
        sb_char(&g->out, '\n');
    }
}

/* Every 60th has more bins than one block of the index summarises, and more than one block of blocks. */
static void generate(struct gen *g, uint64_t seed)
{
    rng_init(&g->r, seed);
    bool large = seed % 60 == 7;

    g->n_apps = 1 + rng_below(&g->r, large ? 60 : 25);
    g->n_nodes = large ? 1100 + rng_below(&g->r, 400) : rng_below(&g->r, 60);
    gen_types(g);
    gen_pools(g);
    gen_nodes(g);
    gen_pods(g, large ? 60 : 12);
}

/* ---- planning ---------------------------------------------------------------------------------------------------- */

static str plan_text(struct arena *a, const struct scene *s, bool exhaustive)
{
    AUTO(arena) struct arena *pass = arena_new(0);
    struct plan *p = arena_new_one(a, struct plan);
    struct packer k;

    packer_init(&k, pass, s->snap, NULL, s->snap->pending, s->snap->n_pending);
    k.seek.exhaustive = exhaustive;
    packer_run(&k);
    packer_finish(&k, p, a);
    explain_failures(&k, p, a);
    packer_fini(&k);
    return plan_dump(a, s->t, p, /* reasons= */ true);
}

/* The first line that differs. */
static void print_difference(uint64_t seed, const char *what, str x, str y)
{
    str a, b;

    text_difference(x, y, &a, &b);
    print_error("seed %llu, %s:\n  got  " STR_FMT "\n  want " STR_FMT "\n", (unsigned long long)seed, what, STR_ARG(a),
                STR_ARG(b));
}

static bool seed_is_fine(uint64_t seed)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct gen g = {0};
    struct scene s;
    bool ok;

    generate(&g, seed);
    scene_open(&s, sb_cstr(&g.out));
    str by_index = plan_text(a, &s, /* exhaustive= */ false), one_by_one = plan_text(a, &s, /* exhaustive= */ true);
    str again = plan_dump(a, s.t, plan_make(a, s.snap), /* reasons= */ true);
    ok = str_eq(by_index, one_by_one) && str_eq(by_index, again);
    if (!str_eq(by_index, one_by_one))
        print_difference(seed, "with and without the index", by_index, one_by_one);
    if (!str_eq(by_index, again))
        print_difference(seed, "twice the same", again, by_index);
    if (!ok && getenv("INDEX_SHOW"))
        print_error("%s\n", sb_cstr(&g.out));
    scene_close(&s);
    sb_fini(&g.out);
    return ok;
}

static uint64_t number_from(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : fallback;
}

static void index_changes_nothing(void **state UNUSED)
{
    uint64_t first = number_from("INDEX_FIRST", 1), n = number_from("INDEX_SEEDS", SEEDS);
    unsigned failed = 0;

    for (uint64_t seed = first; seed < first + n && failed < 5; seed++)
        failed += !seed_is_fine(seed);
    if (failed)
        fail_msg("seeds %llu to %llu: stopped after %u failures", (unsigned long long)first,
                 (unsigned long long)(first + n - 1), failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
