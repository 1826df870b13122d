/* Manifests that were written for older versions, on an API server with our definitions: what they meant is what happens. */
#include <stdio.h>

#include "support/check.h"
#include "support/fleet.h"

static const char *const settings[] = {"LOG_LEVEL", "error", NULL};

static const char pool[] =
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: old}\nspec:\n"
    "  template: {spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: []}}\n"
    "  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never, expireAfter: 1h}\n";
static const char pod[] =
    "apiVersion: v1\nkind: Pod\nmetadata: {name: one}\nspec: {containers: [{name: app, image: app, resources: "
    "{requests: {cpu: '1', memory: 256Mi}}}]}\n";

static void name_of(void *ctx, const struct object *o)
{
    (void)snprintf(ctx, 256, STR_FMT, STR_ARG(o->name));
}

static uint32_t claim_name(struct rig *r, char *ret)
{
    ret[0] = 0;
    kube_each(r->l->s->k, server_kind(r->l->s, "nodeclaims"), (str){0}, name_of, ret);
    return lab_count(r->l, "nodeclaims", "");
}

/* disruption.expireAfter: the API server fills in the default of its successor, and yet it is what counts. */
static void expiry_under_disruption(UNUSED void **state)
{
    struct rig *r = rig_new(1, settings, NULL);
    char first[256], now[256];

    fleet_class(r);
    lab_apply(r->l, pool);
    rig_start(r, 0);
    rig_await_lead(r, 0, 30);
    lab_apply(r->l, pod);
    lab_run(r->l, 10);
    check_str("filled in", lab_get(r->l, "nodepools", "old", "spec.template.spec.expireAfter"), "\"720h\"");
    check_u64("a claim", claim_name(r, first), 1);
    check_str("with the old field's value", lab_get(r->l, "nodeclaims", first, "spec.expireAfter"), "\"1h\"");
    check_true("and the hash that Karpenter has for the template",
               str_contains(lab_get(r->l, "nodeclaims", first, "metadata.annotations"), STR("12745407319442031341")));
    check_true("which is the pool's",
               str_contains(lab_get(r->l, "nodepools", "old", "metadata.annotations"), STR("12745407319442031341")));
    lab_run(r->l, 3500);
    check_u64("lives for an hour", claim_name(r, now), 1);
    check_str("", str_c(now), first);
    lab_run(r->l, 200);
    (void)claim_name(r, now);
    check_true("and is replaced", !str_is(str_c(now), first));
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(expiry_under_disruption)};

    return cmocka_run_group_tests_name("sim/manifests", tests, NULL, NULL);
}
