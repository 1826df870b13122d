/* What is behind feature gates, all of it open: the whole controller against the simulated cluster. The manifests are those of docs/feature-gates.md. */
#include <stdio.h>

#include "support/check.h"
#include "support/fleet.h"

static const char *const settings[] = {"LOG_LEVEL", "error", "FEATURE_GATES",
                                       "StaticCapacity=true,CapacityBuffer=true,NodeOverlay=true,NodeRepair=true",
                                       NULL};

#define MAX_PAGE (64u << 10)
#define WEB(replicas)                                                                                                  \
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: load}\nspec:\n  replicas: " replicas                      \
    "\n  selector: {matchLabels: {app: load}}\n  template:\n    metadata: {labels: {app: load}}\n    spec:\n"          \
    "      terminationGracePeriodSeconds: 1\n      containers: [{name: app, image: app, resources: {requests: "        \
    "{cpu: '1', memory: 256Mi}}}]\n"

static str read_docs(struct arena *a)
{
    static const char path[] = "docs/feature-gates.md";
    char *text = arena_new_array(a, char, MAX_PAGE);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, MAX_PAGE, f) : 0;

    check_true(path, f && n > 0 && n < MAX_PAGE && fclose(f) == 0);
    return (str){text, n};
}

/* Block n of YAML below a heading. */
static void apply_docs(struct rig *r, const char *heading, int n)
{
    str text = read_docs(r->l->a), block = {0}, rest;
    const char *at = memmem(text.p, text.n, heading, strlen(heading));

    check_true(heading, at != NULL);
    rest = str_sub(text, (size_t)(at - text.p), text.n);
    for (int i = 0; i <= n; i++) {
        at = memmem(rest.p, rest.n, "```yaml\n", 8);
        check_true(heading, at != NULL);
        rest = str_sub(rest, (size_t)(at - rest.p) + 8, rest.n);
        at = memmem(rest.p, rest.n, "```\n", 4);
        block = str_sub(rest, 0, (size_t)(at - rest.p));
        rest = str_sub(rest, block.n + 4, rest.n);
    }
    lab_apply(r->l, arena_printf(r->l->a, STR_FMT "%c", STR_ARG(block), 0).p);
}

static int setup(void **state)
{
    struct rig *r = rig_new(1, settings, NULL);

    apply_docs(r, "# Feature gates", 0);
    rig_start(r, 0);
    rig_await_lead(r, 0, 30);
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    rig_free(*state);
    return 0;
}

static struct fleet look(struct rig *r)
{
    struct fleet f;

    fleet_look(r, &f);
    return f;
}

static double metric(struct rig *r, const char *line)
{
    struct sb b = {0};
    double v = 0;

    replica_metrics(r->replicas[0], &b);
    const char *at = strstr(sb_cstr(&b), line);
    if (at && (at = strchr(at, '}')))
        (void)sscanf(at + 1, " %lf", &v);
    sb_fini(&b);
    return v;
}

static void static_capacity(void **state)
{
    struct rig *r = *state;

    apply_docs(r, "## Static capacity", 0);
    lab_run(r->l, 5);
    check_i64("SP9 up", lab_count(r->l, "nodeclaims", "static-"), 2);
    check_i64("SP9 nodes", look(r).n_nodes, 2);
    lab_patch(r->l, "nodepools", "static", "{spec: {replicas: 5}}");
    lab_run(r->l, 5);
    check_i64("SP9 up to the limit", lab_count(r->l, "nodeclaims", "static-"), 3);
    lab_run(r->l, 120);
    check_i64("EM-7: never empty", lab_count(r->l, "nodeclaims", "static-"), 3);

    lab_apply(r->l, WEB("9"));
    lab_run(r->l, 20);
    check_i64("SP9 beside a dynamic pool", look(r).n_running, 9);
    check_true("SP9 which gives what is missing", lab_count(r->l, "nodeclaims", "default-") > 0);
    check_i64("9.1: a static pool takes no part in that", lab_count(r->l, "nodeclaims", "static-"), 3);
    lab_patch(r->l, "nodepools", "static", "{spec: {replicas: 0}}");
    lab_run(r->l, 60);
    check_i64("SP9 to zero", lab_count(r->l, "nodeclaims", "static-"), 0);
    check_i64("SP9 their pods found other places", look(r).n_running, 9);
}

static void a_static_node_goes_and_another_comes(void **state)
{
    struct rig *r = *state;

    apply_docs(r, "## Static capacity", 0);
    lab_run(r->l, 5);
    lab_patch(r->l, "nodepools", "static", "{spec: {template: {metadata: {labels: {revision: two}}}}}");
    lab_run(r->l, 90);
    check_i64("SP9 as many as before", lab_count(r->l, "nodeclaims", "static-"), 2);
    check_double("SP9 two have drifted",
                 metric(r, "karpenter_nodeclaims_disrupted_total{capacity_type=\"spot\","
                           "nodepool=\"static\",reason=\"drifted\""),
                 2);
}

static void buffers_and_overlays(void **state)
{
    struct rig *r = *state;

    apply_docs(r, "## Capacity buffers", 0);
    apply_docs(r, "## Capacity buffers", 1);
    apply_docs(r, "## Node overlays", 0);
    lab_run(r->l, 40);
    check_str("a buffer", lab_condition(r->l, "capacitybuffers", "spare", "Provisioning"),
              "True FitsExistingCapacity: All 2 virtual pods fit on existing capacity");
    check_str("of a workload", lab_condition(r->l, "capacitybuffers", "half-of-web", "Provisioning"),
              "True FitsExistingCapacity: All 2 virtual pods fit on existing capacity");
    check_str("an overlay", lab_condition(r->l, "nodeoverlays", "licence", "Ready"), "True Ready");
    check_str("another", lab_condition(r->l, "nodeoverlays", "fuse", "Ready"), "True Ready");
}

static void rooms_are_kept_and_given_up(void **state)
{
    struct rig *r = *state;

    lab_patch(r->l, "nodepools", "default", "{spec: {disruption: {consolidateAfter: 0s}}}");
    apply_docs(r, "## Capacity buffers", 0);
    lab_run(r->l, 100);
    check_i64("CB11 EM-8: not emptied while it holds room", look(r).n_nodes, 1);
    check_true("EM-8: told", str_contains(lab_events(r->l, "Unconsolidatable", "kwok-"), STR("\" has buffer pods")));
    lab_delete(r->l, "capacitybuffers", "spare");
    lab_run(r->l, 100);
    check_i64("quirk: nobody counts before the next round", look(r).n_nodes, 1);
    lab_apply(r->l,
              "apiVersion: v1\nkind: Pod\nmetadata: {name: trigger}\nspec: {nodeSelector: {example.com/unknown: x}, "
              "containers: [{name: app, image: app}]}\n");
    lab_run(r->l, 60);
    check_i64("CB11 EM-8: emptied afterwards", look(r).n_nodes, 0);
}

static void rooms_drift_and_expire(void **state)
{
    struct rig *r = *state;

    lab_patch(r->l, "nodepools", "default", "{spec: {template: {spec: {expireAfter: 300s}}}}");
    apply_docs(r, "## Capacity buffers", 0);
    lab_run(r->l, 10);
    check_i64("one", look(r).n_nodes, 1);
    lab_patch(r->l, "nodepools", "default", "{spec: {template: {metadata: {labels: {revision: two}}}}}");
    lab_run(r->l, 120);
    check_double("CB11 drift is allowed",
                 metric(r, "karpenter_nodeclaims_disrupted_total{capacity_type=\"on-demand\","
                           "nodepool=\"default\",reason=\"drifted\""),
                 1);
    lab_run(r->l, 400);
    check_true("CB11 refilled after expiry",
               metric(r, "karpenter_nodeclaims_disrupted_total{capacity_type=\"on-demand\","
                         "nodepool=\"default\",reason=\"expired\"") >= 1);
    check_str("CB11 and fits", lab_condition(r->l, "capacitybuffers", "spare", "Provisioning"),
              "True FitsExistingCapacity: All 2 virtual pods fit on existing capacity");
}

static void name_of_node(void *ctx, const struct object *o)
{
    if (str_starts(o->name, STR("kwok-")))
        (void)snprintf(ctx, 256, STR_FMT, STR_ARG(o->name));
}

static void repair(void **state)
{
    struct rig *r = *state;
    char node[256] = "";

    lab_apply(r->l, WEB("2"));
    lab_run(r->l, 10);
    kube_each(r->l->s->k, server_kind(r->l->s, "nodes"), (str){0}, name_of_node, node);
    cluster_power_off(r->l->c, str_c(node));
    lab_run(r->l, 590);
    check_str("HE-1: ten minutes are not over", lab_get(r->l, "nodes", node, "metadata.deletionTimestamp"), "");
    lab_run(r->l, 120);
    check_str("HE-1: replaced", lab_get(r->l, "nodes", node, "metadata.name"), "");
    check_double(
        "HE-6",
        metric(r, "karpenter_nodeclaims_unhealthy_disrupted_total{capacity_type=\"on-demand\",condition=\"ready\""), 1);
    lab_run(r->l, 60);
    check_i64("its pods run elsewhere", look(r).n_running, 2);
}

#define ON(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(static_capacity),        ON(a_static_node_goes_and_another_comes),
        ON(buffers_and_overlays),   ON(rooms_are_kept_and_given_up),
        ON(rooms_drift_and_expire), ON(repair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
