/* NodeOverlays: the whole controller against the simulated cluster (scheduling 23, checklist 27.15). */
#include <stdio.h>

#include "support/check.h"
#include "support/fleet.h"

static const char *const settings[] = {"LOG_LEVEL", "error", "FEATURE_GATES", "NodeOverlay=true", NULL};

#define OVERLAY(name, reqs, more)                                                                                      \
    "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: '" name "'}\nspec: {requirements: [" reqs  \
    "], " more "}\n"
#define IN(key, val) "{key: " key ", operator: In, values: [" val "]}"
#define POD(name, limits)                                                                                              \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\nspec: {containers: [{name: app, image: app, resources: "   \
    "{requests: {cpu: '1', memory: 256Mi}, limits: {" limits "}}}]}\n"
#define FUSE "smarter-devices/fuse: 1"

static int setup(void **state)
{
    struct rig *r = rig_new(1, settings, NULL);

    fleet_class(r);
    fleet_pool(r, "default", "", "");
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

static void name_of(void *ctx, const struct object *o)
{
    (void)snprintf(ctx, 256, STR_FMT, STR_ARG(o->name));
}

static str of_claim(struct rig *r, const char *path)
{
    char claim[256] = "";

    kube_each(r->l->s->k, server_kind(r->l->s, "nodeclaims"), (str){0}, name_of, claim);
    check_true("there is a claim", claim[0] != 0);
    return lab_get(r->l, "nodeclaims", claim, path);
}

static str cond(struct rig *r, const char *name, const char *type)
{
    return lab_condition(r->l, "nodeoverlays", name, type);
}

static void overlays_are_judged(void **state)
{
    struct rig *r = *state;

    lab_apply(r->l, OVERLAY("good", IN("node.kubernetes.io/instance-type", "c-2x-amd64-linux"), "price: '0.5'"));
    lab_run(r->l, 1);
    check_str("OV1", cond(r, "good", "ValidationSucceeded"), "True ValidationSucceeded");
    check_str("OV1 Ready", cond(r, "good", "Ready"), "True Ready");
    lab_apply(r->l, OVERLAY("also", "", "priceAdjustment: '+10%'"));
    lab_run(r->l, 1);
    check_str("OV3 the earlier in the alphabet", cond(r, "also", "ValidationSucceeded"),
              "False Conflict: conflict with another overlay");
    check_str("OV3 is not ready", cond(r, "also", "Ready"), "False UnhealthyDependents: ValidationSucceeded=False");
    check_str("OV3 the later stays", cond(r, "good", "ValidationSucceeded"), "True ValidationSucceeded");
    lab_patch(r->l, "nodeoverlays", "also", "{spec: {weight: 5}}");
    lab_run(r->l, 1);
    check_str("OV4 another weight", cond(r, "also", "ValidationSucceeded"), "True ValidationSucceeded");
    lab_patch(r->l, "nodeoverlays", "good", "{spec: {weight: 5}}");
    lab_run(r->l, 1);
    check_str("OV3 again", cond(r, "also", "ValidationSucceeded"), "False Conflict: conflict with another overlay");
    lab_delete(r->l, "nodeoverlays", "good");
    lab_run(r->l, 1);
    check_str("OV10 the way is free", cond(r, "also", "ValidationSucceeded"), "True ValidationSucceeded");
}

static void prices_decide_what_is_bought(void **state)
{
    struct rig *r = *state;

    /* The c family is the cheapest; from here on it is not. */
    lab_apply(r->l, OVERLAY("dear", IN("karpenter.kwok.sh/instance-family", "c"), "priceAdjustment: '+100'"));
    lab_run(r->l, 1);
    lab_apply(r->l, POD("web", ""));
    lab_run(r->l, 5);
    check_str(
        "the claim says so", of_claim(r, "metadata.annotations"),
        "{\"karpenter.sh/nodeclaim-min-values-relaxed\":\"false\",\"karpenter.sh/nodepool-hash\":\"7428780003907761376\","
        "\"karpenter.sh/nodepool-hash-version\":\"v3\",\"karpenter.sh/price-overlay-applied\":\"true\","
        "\"kwok.x-k8s.io/node\":\"fake\"}");
    check_i64("the pod runs", lab_count(r->l, "nodes", "kwok-"), 1);
}

static void capacity_makes_room(void **state)
{
    struct rig *r = *state;

    lab_apply(r->l, POD("fuse", FUSE));
    lab_run(r->l, 5);
    check_i64("nobody has it", lab_count(r->l, "nodeclaims", ""), 0);
    lab_apply(r->l, OVERLAY("fuse", IN("karpenter.sh/nodepool", "default"), "capacity: {smarter-devices/fuse: 4}"));
    lab_run(r->l, 12);
    check_true("OV7 now somebody has", lab_count(r->l, "nodeclaims", "") > 0);
    check_true("OV7 the claim says so", str_contains(of_claim(r, "metadata.annotations"),
                                                     STR("\"karpenter.sh/capacity-overlay-applied\":\"true\"")));
}

static void a_new_pool_is_looked_at_before_it_is_used(void **state)
{
    struct rig *r = *state;

    lab_apply(r->l, OVERLAY("fuse", IN("karpenter.sh/nodepool", "other"), "capacity: {smarter-devices/fuse: 4}"));
    lab_apply(r->l, POD("fuse", FUSE));
    lab_run(r->l, 3);
    check_i64("OV6 not for this pool", lab_count(r->l, "nodeclaims", ""), 0);
    fleet_pool(r, "other", "", "");
    lab_run(r->l, 12);
    check_true("OV11 for that one",
               str_contains(of_claim(r, "metadata.labels"), STR("\"karpenter.sh/nodepool\":\"other\"")));
}

#define ON(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(overlays_are_judged),
        ON(prices_decide_what_is_bought),
        ON(capacity_makes_room),
        ON(a_new_pool_is_looked_at_before_it_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
