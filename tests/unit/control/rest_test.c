/* The loop of disruption rests while nothing happens (control/disruption_rest.c). A cluster in which it rests is led through the same life as one in which it cannot, because a pod on a node
 * that nobody manages is protected for a while: both must write the same at the same instants, Events too, and count the same. */
#include <stdio.h>

#include "base/rng.h"
#include "support/check.h"
#include "support/stage.h"

#define SEEDS 4
#define DEEDS 14
#define MAX_QUIET_S 420 /* beyond the five minutes after which consolidation looks anew */

/* What may wake it: pods that come, go and are protected; budgets of pods and of the pool; its policy, its template; a Node. */
static const struct deed {
    const char *plural, *name, *patch; /* name NULL: the first Node that is there; patch NULL: delete */
} deeds[] = {
    {"deployments", "web", "{spec: {replicas: 1}}"},
    {"deployments", "web", "{spec: {replicas: 3}}"},
    {"deployments", "web", "{spec: {replicas: 6}}"},
    {"deployments", "api", "{spec: {replicas: 0}}"},
    {"deployments", "api", "{spec: {replicas: 4}}"},
    {"deployments", "api", "{spec: {template: {metadata: {annotations: {karpenter.sh/do-not-disrupt: 'true'}}}}}"},
    {"deployments", "api", "{spec: {template: {metadata: {annotations: {karpenter.sh/do-not-disrupt: null}}}}}"},
    {"poddisruptionbudgets", "web", "{spec: {maxUnavailable: 0}}"},
    {"poddisruptionbudgets", "web", "{spec: {maxUnavailable: 1}}"},
    {"nodepools", "default", "{spec: {disruption: {consolidationPolicy: WhenEmpty}}}"},
    {"nodepools", "default", "{spec: {disruption: {consolidationPolicy: WhenEmptyOrUnderutilized}}}"},
    {"nodepools", "default", "{spec: {disruption: {consolidateAfter: 30s}}}"},
    {"nodepools", "default", "{spec: {disruption: {budgets: [{nodes: '0'}]}}}"},
    {"nodepools", "default", "{spec: {disruption: {budgets: [{nodes: '100%'}]}}}"},
    {"nodepools", "default", "{spec: {template: {metadata: {labels: {revision: two}}}}}"},
    {"nodes", NULL, "{metadata: {annotations: {karpenter.sh/do-not-disrupt: 'true'}}}"},
    {"nodes", NULL, "{metadata: {annotations: {karpenter.sh/do-not-disrupt: null}}}"},
};

static void apply_bystander(struct stage *s, const char *protection)
{
    AUTO(arena) struct arena *a = arena_new(0);

    lab_apply(s->r->l, arena_printf(a,
                                    "apiVersion: v1\nkind: Pod\nmetadata: {name: bystander, annotations: "
                                    "{karpenter.sh/do-not-disrupt: '%s'}}\n"
                                    "spec: {nodeName: system, containers: [{name: app, image: app}]}\n%c",
                                    protection, 0)
                           .p);
}

static void apply_budget(struct stage *s)
{
    lab_apply(s->r->l, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\n"
                       "spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}\n");
}

static void do_deed(struct stage *s, const struct deed *d)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str name = d->name ? str_c(d->name) : (str){0};

    for (uint32_t i = 1; !d->name && i <= s->claims.n && name.n == 0; i++)
        name = stage_node(s, i);
    if (name.n)
        lab_patch(s->r->l, d->plural, arena_printf(a, STR_FMT "%c", STR_ARG(name), 0).p, d->patch);
}

static bool is_counted(str line)
{
    return str_starts(line, STR("karpenter_voluntary_disruption")) || str_starts(line, STR("karpenter_nodepools_")) ||
           str_starts(line, STR("controller_runtime_reconcile_total"));
}

static void print_life(struct stage *s, struct sb *out)
{
    struct sb metrics = {0};

    for (uint32_t i = 0; i < s->r->writes.n; i++) {
        const struct rig_write *w = &s->r->writes.v[i];

        sb_printf(out, "%.3f " STR_FMT " " STR_FMT " " STR_FMT "\n", w->t, STR_ARG(w->method), STR_ARG(w->path),
                  STR_ARG(w->body));
    }
    replica_metrics(s->r->replicas[0], &metrics);
    str rest = sb_view(&metrics), line;
    while (str_cut(rest, '\n', &line, &rest))
        if (is_counted(line))
            sb_printf(out, STR_FMT "\n", STR_ARG(line));
    sb_fini(&metrics);
}

static void live(uint64_t seed, const char *const *env, const char *protection, struct sb *ret)
{
    struct stage *s = stage_new(env);
    struct rng rng;

    rng_init(&rng, seed);
    apply_bystander(s, protection);
    stage_pool(s, "consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s, budgets: [{nodes: '100%'}]",
               "");
    apply_budget(s);
    stage_deploy(s, "web", 5, "3");
    stage_deploy(s, "api", 3, "7");
    for (uint32_t i = 0; i < DEEDS; i++) {
        lab_run(s->r->l, 1 + rng_below(&rng, rng_below(&rng, 3) ? 60 : MAX_QUIET_S));
        do_deed(s, &deeds[rng_below(&rng, ARRAY_LEN(deeds))]);
    }
    lab_run(s->r->l, MAX_QUIET_S);
    print_life(s, ret);
    stage_free(s);
}

/* Says whether a node went. */
static bool same_life(const char *const *env, uint64_t seed)
{
    struct sb rests = {0}, never = {0};
    char what[64];

    live(seed, env, "true", &rests);
    live(seed, env, "1000h", &never);
    bool went = str_contains(sb_view(&rests), STR("DisruptionTerminating"));
    bool same = str_eq(sb_view(&rests), sb_view(&never));
    sb_fini(&rests);
    sb_fini(&never);
    (void)snprintf(what, sizeof(what), "seed %llu", (unsigned long long)seed);
    check_true(what, same);
    return went;
}

static void same_lives(const char *const *env, uint64_t first)
{
    uint32_t n_went = 0;

    for (uint64_t seed = first; seed < first + SEEDS; seed++)
        n_went += same_life(env, seed);
    check_true("nodes went", n_went > 0);
}

static void as_if_it_did_not_rest(void **state UNUSED)
{
    same_lives(NULL, 1);
}

static void as_karpenter_would(void **state UNUSED)
{
    static const char *const compat[] = {"CONSOLIDATION", "compat", NULL};

    same_lives(compat, 101);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_if_it_did_not_rest), cmocka_unit_test(as_karpenter_would)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
