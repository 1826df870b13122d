/* What a cluster goes through in the long run, as Karpenter's own suites play it with kwok (lifecycle 14.13; the lines that other tests have are listed in tests/checklist). */
#include <stdio.h>

#include "sim/kube/faults.h"
#include "support/check.h"
#include "support/stage.h"

#define CONSOLIDATES "consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s, budgets: [{nodes: '100%'}]"
#define EMPTIES "consolidationPolicy: WhenEmpty, consolidateAfter: 0s, budgets: [{nodes: '100%'}]"
#define DRIFTS(budgets) "consolidationPolicy: WhenEmpty, consolidateAfter: Never, budgets: [" budgets "]"
#define ALL "{nodes: '100%'}"
#define NEVER_NOW "{nodes: '0', schedule: '* * * * *', duration: 1h}"
#define NEW_LABEL "{spec: {template: {metadata: {labels: {revision: two}}}}}"
#define APART                                                                                                          \
    "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "                     \
    "kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}},"

static const char *zeroed(struct arena *a, str s)
{
    return arena_printf(a, STR_FMT "%c", STR_ARG(s), 0).p;
}

static struct stage *stage_with(const char *disruption, uint32_t n_pods)
{
    struct stage *s = stage_new(NULL);

    stage_pool(s, disruption, "");
    stage_deploy_with(s, "web", n_pods, "1", APART);
    stage_wait(s, 60, n_pods, n_pods);
    (void)stage_story(s);
    return s;
}

static void scale(struct stage *s, const char *name, uint32_t replicas)
{
    AUTO(arena) struct arena *a = arena_new(0);

    lab_patch(s->r->l, "deployments", name, arena_printf(a, "{spec: {replicas: %u}}%c", replicas, 0).p);
}

/* ---- E2-1 ---- */

/* Ten of forty pods come and go every half minute, for an hour. Forty need ten machines of four cpus, or fewer larger ones; one that is on its way out for each may be there besides. */
static void churn(const char *disruption)
{
    struct stage *s = stage_new(NULL);
    uint32_t most = 0;

    stage_pool(s, disruption, "");
    stage_deploy(s, "web", 40, "900m");
    lab_run(s->r->l, 60);
    for (int i = 0; i < 120; i++) {
        struct fleet f;

        scale(s, "web", i % 2 ? 40 : 30);
        lab_run(s->r->l, 30);
        fleet_look(s->r, &f);
        most = MAX(most, f.n_claims);
    }
    check_true("E2-1: no more and more nodes", most <= 20);
    check_true("E2-1: nor more and more claims", s->claims.n <= 240);
    scale(s, "web", 40);
    lab_run(s->r->l, 900);
    uint32_t n = s->claims.n;
    lab_run(s->r->l, 1800);
    check_u64("E2-1: it ends", s->claims.n, n);
    stage_wait(s, 1, 40, s->n_nodes); /* as many nodes as there are now, and all of them ready */
    stage_free(s);
}

static void no_runaway_with_consolidation(void **state UNUSED)
{
    churn(CONSOLIDATES);
}

static void no_runaway_with_emptiness(void **state UNUSED)
{
    churn(EMPTIES);
}

/* ---- E2-2 ---- */

static void every_field_drifts(void **state UNUSED)
{
    static const struct {
        const char *name, *patch;
    } cases[] = {
        {"annotations", "{spec: {template: {metadata: {annotations: {example.com/team: blue}}}}}"},
        {"labels", "{spec: {template: {metadata: {labels: {example.com/team: blue}}}}}"},
        {"taints", "{spec: {template: {spec: {taints: [{key: example.com/new, effect: PreferNoSchedule}]}}}}"},
        {"startup taints",
         "{spec: {template: {spec: {startupTaints: [{key: example.com/new, effect: PreferNoSchedule}]}}}}"},
        {"expireAfter", "{spec: {template: {spec: {expireAfter: 900h}}}}"},
        {"terminationGracePeriod", "{spec: {template: {spec: {terminationGracePeriod: 1h}}}}"},
        {"requirements",
         "{spec: {template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}}}}"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct stage *s = stage_with(DRIFTS(ALL), 1);

        lab_patch(s->r->l, "nodepools", "default", cases[i].patch);
        stage_until(s, 60, "c1 goes: Drifted");
        check_true(cases[i].name, stage_saw(s, "n1 tainted"));
        stage_free(s);
    }
}

static void weight_does_not_drift(void **state UNUSED)
{
    struct stage *s = stage_with(DRIFTS(ALL), 1);

    lab_patch(s->r->l, "nodepools", "default", "{spec: {weight: 7, limits: {cpu: 900}}}");
    lab_run(s->r->l, 900);
    check_str("nothing happens", stage_story(s), "");
    stage_free(s);
}

/* E2-2 and E2-8: a budget of nobody, always or while a schedule lasts. */
static void budgets_that_let_nobody_go(void **state UNUSED)
{
    static const char *const budgets[] = {DRIFTS("{nodes: '0'}"), DRIFTS("{nodes: '0%'}"), DRIFTS(NEVER_NOW)};

    for (size_t i = 0; i < ARRAY_LEN(budgets); i++) {
        struct stage *s = stage_with(budgets[i], 2);

        lab_patch(s->r->l, "nodepools", "default", NEW_LABEL);
        lab_run(s->r->l, 600);
        check_str("drift: nothing happens", stage_story(s), "");
        check_true("drift: the pool says so",
                   str_contains(stage_events(s, "DisruptionBlocked"),
                                STR("No allowed disruptions for disruption reason Drifted due to blocking budget")));
        scale(s, "web", 0);
        lab_patch(s->r->l, "nodepools", "default", "{spec: {disruption: {consolidateAfter: 0s}}}");
        lab_run(s->r->l, 600);
        check_str("E2-8: empty ones stay as well", stage_story(s), "");
        lab_patch(s->r->l, "nodepools", "default", "{spec: {disruption: {budgets: [{nodes: '100%'}]}}}");
        stage_wait(s, 60, 0, 0);
        stage_free(s);
    }
}

/* Two of five nodes are empty, and all have drifted: one at a time, and the empty ones first. */
static void drift_within_a_budget(void **state UNUSED)
{
    struct stage *s = stage_with(DRIFTS("{nodes: '1'}"), 5);

    scale(s, "web", 3);
    lab_run(s->r->l, 30);
    lab_patch(s->r->l, "nodepools", "default", NEW_LABEL);
    for (int i = 0; i < 900 && s->n_nodes > 3; i++)
        lab_run(s->r->l, 1);
    check_u64("the empty ones are deleted before any is replaced", s->claims.n, 5);
    lab_run(s->r->l, 600);
    stage_wait(s, 60, 3, 3);
    check_u64("each of the others is replaced once", s->claims.n, 8);
    check_u64("one at a time", s->max_going, 1);
    stage_free(s);
}

/* Nobody is disrupted for a replacement that never joins, or never becomes ready. */
static void replacements_that_never_come(void **state UNUSED)
{
    static const struct {
        const char *name, *plural, *patch, *mended;
        bool joins; /* with a taint that somebody has to take away */
    } cases[] = {
        {"never registers", "kwoknodeclasses", "{spec: {nodeRegistrationDelay: 20m}}",
         "{spec: {nodeRegistrationDelay: 0s}}", false},
        {"never initializes", "nodepools",
         "{spec: {template: {spec: {startupTaints: [{key: example.com/starts, effect: PreferNoSchedule}]}}}}",
         "{spec: {template: {spec: {startupTaints: null}}}}", true},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct stage *s = stage_with(DRIFTS("{nodes: '1'}"), 2);

        lab_patch(s->r->l, cases[i].plural, "default", cases[i].patch);
        lab_patch(s->r->l, "nodepools", "default", NEW_LABEL);
        lab_run(s->r->l, 3600);
        check_true(cases[i].name, !stage_saw(s, "c1 deleted") && !stage_saw(s, "c2 deleted"));
        check_true(cases[i].name, stage_saw(s, "n1 untainted") || stage_saw(s, "n2 untainted"));
        check_u64(cases[i].name, s->max_going, 1);
        lab_patch(s->r->l, cases[i].plural, "default", cases[i].mended);
        if (cases[i].joins)
            lab_patch(s->r->l, "nodes", zeroed(a, stage_node(s, 3)), "{spec: {taints: null}}");
        stage_until(s, 3600, "c1 gone");
        stage_until(s, 3600, "c2 gone");
        stage_free(s);
    }
}

static void unhealthy_budgets_keep_nodes(void **state UNUSED)
{
    struct stage *s = stage_with(DRIFTS(ALL), 1);

    lab_apply(s->r->l, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\n"
                       "spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}\n");
    lab_run(s->r->l, 5);
    lab_patch(s->r->l, "nodepools", "default", NEW_LABEL);
    lab_run(s->r->l, 600);
    check_str("nothing happens", stage_story(s), "");
    check_true("told", str_contains(stage_events(s, "DisruptionBlocked"), STR("Pdb prevents pod evictions")));
    lab_delete(s->r->l, "poddisruptionbudgets", "web");
    stage_until(s, 120, "c1 gone");
    stage_free(s);
}

/* ---- E2-3 ---- */

static void an_expired_node_is_replaced_by_one(void **state UNUSED)
{
    struct stage *s = stage_new(NULL);

    stage_pool(s, DRIFTS("{nodes: '0'}"), "");
    lab_patch(s->r->l, "nodepools", "default", "{spec: {template: {spec: {expireAfter: 10m}}}}");
    stage_deploy(s, "web", 7, "500m");
    stage_wait(s, 60, 7, 1);
    lab_patch(s->r->l, "nodepools", "default", "{spec: {template: {spec: {expireAfter: Never}}}}");
    lab_run(s->r->l, 590);
    stage_until(s, 30, "c1 deleted");
    stage_wait(s, 60, 7, 1);
    check_u64("one for all pods", s->claims.n, 2);
    check_double("counted",
                 stage_metric(s, "karpenter_nodeclaims_disrupted_total{capacity_type=\"on-demand\",nodepool="
                                 "\"default\",reason=\"expired\"}"),
                 1);
    stage_free(s);
}

/* ---- E2-5 ---- */

static void pod_with_a_wish(struct stage *s, const char *name, const char *wish)
{
    AUTO(arena) struct arena *a = arena_new(0);

    lab_apply(s->r->l, arena_printf(a,
                                    "apiVersion: v1\nkind: Pod\nmetadata: {name: %s, annotations: "
                                    "{karpenter.sh/do-not-disrupt: '%s'}}\n"
                                    "spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: c, "
                                    "resources: {requests: {cpu: 500m}}}]}\n%c",
                                    name, wish, 0)
                           .p);
}

static void wishes_end_one_after_the_other(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct stage *s = stage_new(NULL);

    stage_pool(s, DRIFTS(ALL), "");
    pod_with_a_wish(s, "minutes-2", "2m");
    pod_with_a_wish(s, "minutes-6", "6m");
    pod_with_a_wish(s, "always", "true");
    stage_wait(s, 60, 3, 1);
    lab_run(s->r->l, 30);
    lab_delete(s->r->l, "nodeclaims", zeroed(a, stage_claim(s, 1)));
    lab_run(s->r->l, 60);
    check_u64("all stay", lab_count(s->r->l, "pods", ""), 3);
    lab_run(s->r->l, 60);
    check_u64("the first has gone", lab_count(s->r->l, "pods", "minutes-2"), 0);
    check_u64("not the others", lab_count(s->r->l, "pods", ""), 2);
    lab_run(s->r->l, 240);
    check_u64("the second has gone", lab_count(s->r->l, "pods", "minutes-6"), 0);
    lab_run(s->r->l, 7200);
    check_u64("the third stays for ever", lab_count(s->r->l, "pods", "always"), 1);
    check_true("and its node", !stage_saw(s, "c1 gone"));
    lab_delete(s->r->l, "pods", "always");
    stage_until(s, 60, "c1 gone");
    stage_free(s);
}

/* ---- E2-6 ---- */

#define CLAIM(name, class, more)                                                                                       \
    "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " name ", labels: {team: blue}, annotations: "     \
    "{example.com/note: x}}\nspec:\n"                                                                                  \
    "  nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: " class                                     \
        "}\n"                                                                                                          \
        "  taints: [{key: example.com/own, effect: NoSchedule}]\n  requirements:\n"                                    \
        "  - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}\n" more

#define OF_TYPES(list) "  - {key: node.kubernetes.io/instance-type, operator: In, values: [" list "]}\n"

static void claims_of_their_own(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct stage *s = stage_new(NULL);

    lab_apply(s->r->l, CLAIM("mine", "default", OF_TYPES("c-4x-amd64-linux")));
    stage_until(s, 30, "c1 initialized");
    const char *node = zeroed(a, stage_node(s, 1));
    check_true("its type", str_contains(lab_get(s->r->l, "nodes", node, "metadata.labels"),
                                        STR("\"node.kubernetes.io/instance-type\":\"c-4x-amd64-linux\"")));
    check_str("its labels", lab_get(s->r->l, "nodes", node, "metadata.labels.team"), "\"blue\"");
    check_true("its annotations", str_contains(lab_get(s->r->l, "nodes", node, "metadata.annotations"),
                                               STR("\"example.com/note\":\"x\"")));
    check_true("its taints",
               str_contains(lab_get(s->r->l, "nodes", node, "spec.taints"), STR("\"key\":\"example.com/own\"")));
    lab_delete(s->r->l, "nodeclaims", "mine");
    stage_until(s, 60, "c1 gone");
    check_u64("deleted by its claim", lab_count(s->r->l, "nodes", "kwok-"), 0);

    lab_apply(
        s->r->l,
        CLAIM("large", "default",
              OF_TYPES("c-16x-amd64-linux, c-32x-amd64-linux") "  resources: {requests: {cpu: '14', memory: 20Gi}}\n"));
    stage_until(s, 30, "c2 initialized");
    check_true("the cheapest that holds what it asks for",
               str_contains(lab_get(s->r->l, "nodes", zeroed(a, stage_node(s, 2)), "metadata.labels"),
                            STR("\"node.kubernetes.io/instance-type\":\"c-16x-amd64-linux\"")));
    lab_delete(s->r->l, "nodes", zeroed(a, stage_node(s, 2)));
    stage_until(s, 60, "c2 gone");
    check_u64("deleted by its Node", lab_count(s->r->l, "nodes", "kwok-"), 0);
    stage_free(s);
}

static void claims_that_come_to_nothing(void **state UNUSED)
{
    struct stage *s = stage_new(NULL);

    lab_apply(s->r->l, CLAIM("lost", "none", OF_TYPES("c-4x-amd64-linux")));
    lab_run(s->r->l, 60);
    check_true("no node class", str_starts(lab_condition(s->r->l, "nodeclaims", "lost", "Launched"), STR("Unknown ")) ||
                                    lab_count(s->r->l, "nodeclaims", "lost") == 0);
    check_u64("and no machine", lab_count(s->r->l, "nodes", "kwok-"), 0);
    lab_patch(s->r->l, "kwoknodeclasses", "default", "{spec: {nodeRegistrationDelay: 1h}}");
    lab_apply(s->r->l, CLAIM("late", "default", OF_TYPES("c-4x-amd64-linux")));
    lab_run(s->r->l, 14 * 60);
    check_u64("it has fifteen minutes to register", lab_count(s->r->l, "nodeclaims", "late"), 1);
    lab_run(s->r->l, 90);
    check_u64("and no more", lab_count(s->r->l, "nodeclaims", "late"), 0);
    stage_free(s);
}

/* ---- E2-8 ---- */

static void grace_periods_end_what_would_not(void **state UNUSED)
{
    struct stage *s = stage_new(NULL);

    stage_pool(s, DRIFTS(ALL), "");
    lab_patch(s->r->l, "nodepools", "default", "{spec: {template: {spec: {terminationGracePeriod: 5m}}}}");
    pod_with_a_wish(s, "always", "true");
    stage_wait(s, 60, 1, 1);
    lab_patch(s->r->l, "nodepools", "default", NEW_LABEL);
    stage_until(s, 120, "c1 deleted");
    check_u64("not at once", lab_count(s->r->l, "pods", "always"), 1);
    stage_until(s, 330, "c1 gone");
    check_u64("but with the node", lab_count(s->r->l, "pods", "always"), 0);
    check_true("said", str_contains(stage_events(s, "Disrupted"), STR("terminationGracePeriodSeconds")));
    stage_free(s);
}

/* ---- answers that are lost ---- */

struct deaf {
    struct faults *f;
    uint32_t n; /* answers to be lost */
};

static bool before_claim(void *ctx, uint32_t replica, const struct exchange *x)
{
    struct deaf *d = ctx;

    (void)replica;
    if (d->n && strcmp(x->method, "POST") == 0 && str_ends(x->path, STR("/nodeclaims"))) {
        d->n--;
        faults_set(d->f, &(struct kube_faults){.lose_reply = 65536});
    }
    return true;
}

static void after_claim(void *ctx, uint32_t replica)
{
    (void)replica;
    faults_set(((struct deaf *)ctx)->f, &(struct kube_faults){0});
}

/* A claim is made, and nobody hears that it was, for a while: it is not made twice. */
static void a_claim_whose_answer_is_lost(void **state UNUSED)
{
    struct stage *s = stage_new(NULL);
    struct deaf d = {.f = faults_new(s->r->l->s->k, &(struct kube_faults){0}, 1), .n = 1};

    s->r->server = faults_serve;
    s->r->server_ctx = d.f;
    s->r->watch_ctx = &d;
    s->r->before = before_claim;
    s->r->after = after_claim;
    stage_pool(s, CONSOLIDATES, "limits: {cpu: 4}");
    rig_net_faults(s->r, &(struct sim_faults){.delay_us = {3000, 3000}, .slow = 65536});
    rig_kill(s->r, 0); /* what the watches of the next one say takes long; calls do not */
    rig_start(s->r, 0);
    lab_run(s->r->l, 20);
    rig_net_faults(s->r, &(struct sim_faults){0});
    stage_deploy(s, "web", 1, "3");
    stage_wait(s, 60, 1, 1);
    lab_run(s->r->l, 60);
    check_u64("the answer was lost", d.n, 0);
    check_u64("one machine", s->claims.n, 1);
    struct faults *f = d.f;
    stage_free(s);
    faults_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_runaway_with_consolidation),
        cmocka_unit_test(no_runaway_with_emptiness),
        cmocka_unit_test(every_field_drifts),
        cmocka_unit_test(weight_does_not_drift),
        cmocka_unit_test(budgets_that_let_nobody_go),
        cmocka_unit_test(drift_within_a_budget),
        cmocka_unit_test(replacements_that_never_come),
        cmocka_unit_test(unhealthy_budgets_keep_nodes),
        cmocka_unit_test(an_expired_node_is_replaced_by_one),
        cmocka_unit_test(wishes_end_one_after_the_other),
        cmocka_unit_test(claims_of_their_own),
        cmocka_unit_test(claims_that_come_to_nothing),
        cmocka_unit_test(grace_periods_end_what_would_not),
        cmocka_unit_test(a_claim_whose_answer_is_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
