/* NodeClaims as they are sent, from plans for real manifests. */
#include "control/claim_body.h"

#include <stdio.h>

#include "cloud/catalog.h"
#include "data/json.h"
#include "data/reader.h"
#include "k8s/decode.h"
#include "k8s/settings.h"
#include "state/state.h"
#include "support/check.h"

#define NOW_MS 1768478400000 /* 2026-01-15T12:00:00Z */

#define CLASS                                                                                                          \
    "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n"                         \
    "status: {conditions: [{type: Ready, status: 'True'}]}\n---\n"
#define REF "nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}"
#define READY "status: {conditions: [{type: Ready, status: 'True'}]}\n"
#define POD(spec)                                                                                                      \
    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: one, namespace: default, uid: p1}\nspec:\n" spec                 \
    "  containers: [{name: a, resources: {requests: {cpu: '1', memory: 256Mi}}}]\n"                                    \
    "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}\n"

struct lab {
    struct arena *a;
    struct syms *t;
    struct objects *o;
    const struct tree *pool; /* as it was read */
};

static str body(struct lab *l, const char *yaml)
{
    struct settings settings;
    struct err e = {0};
    struct sb out = {0};
    const struct tree *t = NULL;

    *l = (struct lab){.a = arena_new(0), .t = syms_new()};
    l->o = objects_new(l->t);
    settings_defaults(&settings);
    AUTO(decoder) struct decoder *d = decoder_new(l->o);
    AUTO(reader) struct reader *r = reader_open_bytes("test", str_c(yaml), &e);
    check_ok("reader", r != NULL, &e);
    while (reader_next(r, &t, &e) && t) {
        check_ok("decode", k8s_decode(d, t, &e), &e);
        if (str_is(tree_str(tree_get(t, "kind")), "NodePool")) {
            struct sb text = {0};
            struct jw w = {.out = &text};

            jw_tree(&w, t);
            check_ok("pool", tree_parse_json(l->a, "pool", sb_dup(&text, l->a), &l->pool, &e), &e);
            sb_fini(&text);
        }
    }
    struct catalog *c = catalog_builtin(l->a, l->t, STR("kwok"), &e);
    struct snapshot *s = state_build(l->a, l->o, c, &settings, NOW_MS, &e);
    check_ok("snapshot", s != NULL, &e);
    struct plan *p = plan_make(l->a, s);
    check_u64("one claim", p->n_claims, 1);
    struct jw w = {.out = &out};
    jw_tree(&w, claim_body(l->a, s, &p->claims[0], l->pool, 7));
    str ret = sb_dup(&out, l->a);
    sb_fini(&out);
    return ret;
}

static void lab_fini(struct lab *l)
{
    objects_free(l->o);
    syms_free(l->t);
    arena_free(l->a);
}

/* What Karpenter sent for this pool and this pod, but for the order of requirements. */
static void plain(void **state UNUSED)
{
    struct lab l;

    check_str(
        "as recorded",
        body(&l, CLASS "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default, uid: np1}\nspec:\n"
                       "  template:\n    spec:\n      expireAfter: Never\n      " REF "\n      requirements:\n"
                       "      - {key: kubernetes.io/os, operator: In, values: [linux]}\n"
                       "      - {key: kubernetes.io/arch, operator: In, values: [amd64]}\n"
                       "      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}\n"
                       "      - {key: karpenter.kwok.sh/instance-size, operator: Lt, values: ['3']}\n" READY POD("")),
        "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodeClaim\",\"metadata\":{\"annotations\":{"
        "\"karpenter.sh/nodepool-hash\":\"7428780003907761376\",\"karpenter.sh/nodepool-hash-version\":\"v3\","
        "\"karpenter.sh/nodeclaim-min-values-relaxed\":\"false\"},\"generateName\":\"default-\",\"labels\":{"
        "\"karpenter.sh/nodepool\":\"default\",\"karpenter.kwok.sh/kwoknodeclass\":\"default\"},"
        "\"ownerReferences\":[{\"apiVersion\":\"karpenter.sh/v1\",\"blockOwnerDeletion\":true,\"kind\":\"NodePool\","
        "\"name\":\"default\",\"uid\":\"np1\"}]},\"spec\":{\"expireAfter\":\"Never\",\"nodeClassRef\":{\"group\":"
        "\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"default\"},\"requirements\":["
        "{\"key\":\"karpenter.kwok.sh/instance-size\",\"operator\":\"Lte\",\"values\":[\"2\"]},"
        "{\"key\":\"karpenter.kwok.sh/kwoknodeclass\",\"operator\":\"In\",\"values\":[\"default\"]},"
        "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"on-demand\"]},"
        "{\"key\":\"karpenter.sh/nodepool\",\"operator\":\"In\",\"values\":[\"default\"]},"
        "{\"key\":\"kubernetes.io/arch\",\"operator\":\"In\",\"values\":[\"amd64\"]},"
        "{\"key\":\"kubernetes.io/os\",\"operator\":\"In\",\"values\":[\"linux\"]},"
        "{\"key\":\"node.kubernetes.io/instance-type\",\"operator\":\"In\",\"values\":[\"c-2x-amd64-linux\","
        "\"m-2x-amd64-linux\",\"s-2x-amd64-linux\"]}],\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":\"256Mi\","
        "\"pods\":\"1\"}}},\"status\":{}}");
    lab_fini(&l);
}

static void copies_the_template(void **state UNUSED)
{
    struct lab l;
    str got =
        body(&l, CLASS "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: blue, uid: np2}\nspec:\n"
                       "  template:\n    metadata: {labels: {tier: front}, annotations: {note: hello}}\n"
                       "    spec:\n      expireAfter: 720h\n      terminationGracePeriod: 5m\n      " REF "\n"
                       "      taints: [{key: team, value: blue, effect: NoSchedule}]\n"
                       "      startupTaints: [{key: example.com/agent, effect: NoSchedule}]\n"
                       "      requirements:\n"
                       "      - {key: example.com/shelf, operator: In, values: [b, a]}\n"
                       "      - {key: example.com/size, operator: Gt, values: ['5']}\n"
                       "      - {key: example.com/none, operator: DoesNotExist}\n"
                       "      - {key: karpenter.kwok.sh/instance-family, operator: Exists, minValues: 2}\n" READY POD(
                           "  tolerations: [{operator: Exists}]\n"));

    static const char *const want[] = {
        "\"note\":\"hello\"",
        "\"labels\":{\"tier\":\"front\",\"karpenter.sh/nodepool\":\"blue\"",
        "\"example.com/shelf\":\"a\"",
        "\"example.com/size\":\"13\"",
        "\"expireAfter\":\"720h\"",
        "\"terminationGracePeriod\":\"5m0s\"",
        "\"taints\":[{\"key\":\"team\",\"value\":\"blue\",\"effect\":\"NoSchedule\"}]",
        "\"startupTaints\":[{\"key\":\"example.com/agent\",\"effect\":\"NoSchedule\"}]",
        "{\"key\":\"karpenter.kwok.sh/instance-family\",\"minValues\":2,\"operator\":\"Exists\"}",
        "{\"key\":\"example.com/shelf\",\"operator\":\"In\",\"values\":[\"a\",\"b\"]}",
        "{\"key\":\"example.com/size\",\"operator\":\"Gte\",\"values\":[\"6\"]}",
        "{\"key\":\"example.com/none\",\"operator\":\"DoesNotExist\"}",
    };
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        if (!str_contains(got, str_c(want[i])))
            check_str(want[i], got, want[i]);
    check_true("no label for what must be absent", !str_contains(got, STR("\"example.com/none\":")));
    lab_fini(&l);
}

static void the_old_expiry(void **state UNUSED)
{
    static const struct {
        const char *name, *modern, *old, *want;
    } cases[] = {
        {"neither", "", "", ""},
        {"the old one alone", "", "48h", "\"expireAfter\":\"48h\""},
        {"beside the default, which the API server fills in", "      expireAfter: 720h\n", "48h",
         "\"expireAfter\":\"48h\""},
        {"to live for ever", "      expireAfter: 720h\n", "Never", "\"expireAfter\":\"Never\""},
        {"the new one wins", "      expireAfter: 24h\n", "48h", "\"expireAfter\":\"24h\""},
        {"also when it is Never", "      expireAfter: Never\n", "48h", "\"expireAfter\":\"Never\""},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char yaml[2000];
        struct lab l;

        (void)snprintf(yaml, sizeof(yaml),
                       CLASS "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default, uid: np1}\nspec:\n"
                             "  disruption: {consolidateAfter: 0s%s%s}\n"
                             "  template:\n    spec:\n%s      " REF "\n      requirements: []\n" READY "%s",
                       cases[i].old[0] ? ", expireAfter: " : "", cases[i].old, cases[i].modern, POD(""));
        str got = body(&l, yaml);
        check_true(cases[i].name,
                   cases[i].want[0] ? str_contains(got, str_c(cases[i].want)) : !str_contains(got, STR("expireAfter")));
        lab_fini(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain), cmocka_unit_test(copies_the_template),
                                       cmocka_unit_test(the_old_expiry)};

    return cmocka_run_group_tests_name("control/claim_body", tests, NULL, NULL);
}
