/* Which machine kwok gives a claim, and the Node it makes of it. */
#include "cloud/kwok/node.h"

#include "cloud/catalog.h"
#include "k8s/decode.h"
#include "model/objects.h"
#include "support/check.h"
#include "support/fixture.h"
#include "support/trees.h"

struct bench {
    struct fixture *f;
    struct objects *o;
    struct kwok_types types;
};

static void bench_init(struct bench *b, struct fixture *f)
{
    struct err e;
    struct catalog *c = catalog_builtin(f->a, f->t, STR("kwok"), &e);

    *b = (struct bench){.f = f};
    kwok_types_init(&b->types, c);
    b->o = objects_new(f->t);
}

static void bench_fini(struct bench *b)
{
    kwok_types_fini(&b->types);
    objects_free(b->o);
}

static const struct nodeclaim *claim_of(struct bench *b, const char *yaml)
{
    struct err e = {0};
    struct decoder *d = decoder_new(b->o);

    check_ok("decode", k8s_decode(d, tree_yaml(b->f->a, yaml), &e), &e);
    decoder_free(d);
    return &b->o->claims.v[b->o->claims.n - 1];
}

#define CLAIM(reqs)                                                                                                    \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: default-abcde, uid: u-1, annotations: "           \
    "{karpenter.sh/nodepool-hash: '1'}, labels: {karpenter.sh/nodepool: default, "                                     \
    "karpenter.kwok.sh/kwoknodeclass: default}}, spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: "               \
    "KWOKNodeClass, name: default}, resources: {requests: {cpu: 1, memory: 256Mi, pods: 1}}, requirements: [" reqs     \
    "]}}"

#define IN(key, ...) "{key: " key ", operator: In, values: [" __VA_ARGS__ "]}"
#define ON_DEMAND IN("karpenter.sh/capacity-type", "on-demand")
#define TYPES(...) IN("node.kubernetes.io/instance-type", __VA_ARGS__)

/* As recorded from Karpenter for one pod of one cpu (the zone is any of four there). */
static void node_as_recorded(void **state)
{
    struct bench b;
    struct fixture *f = *state;
    struct kwok_choice x;
    struct err e = {0};

    bench_init(&b, f);
    const struct nodeclaim *c =
        claim_of(&b, CLAIM("{key: karpenter.kwok.sh/instance-size, operator: Lte, values: ['31']}, " IN(
                         "kubernetes.io/arch", "amd64") ", " ON_DEMAND
                                                        ", " IN("kubernetes.io/os", "linux") ", " TYPES(
                                                            "c-16x-amd64-linux, c-2x-amd64-linux, c-4x-amd64-linux")));
    check_ok("choice", kwok_choose(&b.types, f->t, c, &x, &e), &e);
    struct machine m = kwok_machine(f->a, f->t, c, &x);
    struct tree *node = kwok_node(f->a, f->t, &m);
    str name = kwok_node_name(f->a, c);
    check_true("prefix", str_starts(name, STR("kwok-default-abcde-")));
    check_str("id", kwok_node_of(m.provider_id), arena_printf(f->a, STR_FMT "%c", STR_ARG(name), 0).p);
    str want = arena_printf(
        f->a,
        "{kind: Node, apiVersion: v1, metadata: {name: " STR_FMT
        ", labels: {eks-node-viewer/instance-price: '0.054295', "
        "karpenter.kwok.sh/instance-cpu: '2', karpenter.kwok.sh/instance-family: c, karpenter.kwok.sh/instance-memory: 4Gi, "
        "karpenter.kwok.sh/instance-size: '2', karpenter.kwok.sh/kwoknodeclass: default, karpenter.sh/capacity-type: "
        "on-demand, karpenter.sh/nodepool: default, kubernetes.io/arch: amd64, kubernetes.io/hostname: default-abcde, "
        "kubernetes.io/os: linux, kwok-partition: a, kwok.x-k8s.io/node: fake, node.kubernetes.io/instance-type: "
        "c-2x-amd64-linux, topology.kubernetes.io/zone: test-zone-a}, annotations: {karpenter.sh/nodepool-hash: '1', "
        "kwok.x-k8s.io/node: fake}}, spec: {providerID: 'kwok://" STR_FMT
        "', taints: [{key: karpenter.sh/unregistered, effect: "
        "NoExecute}]}, status: {capacity: {cpu: '1', memory: 256Mi, pods: '1'}, allocatable: {cpu: 1900m, "
        "ephemeral-storage: 20Gi, memory: 4086Mi, pods: '32'}, phase: Pending, daemonEndpoints: {kubeletEndpoint: {Port: "
        "0}}, nodeInfo: {machineID: '', systemUUID: '', bootID: '', kernelVersion: '', osImage: '', "
        "containerRuntimeVersion: '', kubeletVersion: '', kubeProxyVersion: '', operatingSystem: '', architecture: "
        "''}}}%c",
        STR_ARG(name), STR_ARG(name), 0);
    check_tree("body", node, want.p);

    struct machine back = kwok_machine_of(f->a, f->t, node);
    check_str("id again", back.provider_id, arena_printf(f->a, STR_FMT "%c", STR_ARG(m.provider_id), 0).p);
    check_u64("labels again", back.n_labels, m.n_labels);
    check_tree("the same Node again", kwok_node(f->a, f->t, &back), want.p);
    bench_fini(&b);
}

static void choices(void **state)
{
    static const struct {
        const char *name, *claim, *want;
    } cases[] = {
        {"spot is cheaper", CLAIM(TYPES("m-2x-amd64-linux, c-2x-amd64-linux")), "c-2x-amd64-linux spot test-zone-a"},
        {"what the claim asks for", CLAIM(ON_DEMAND ", " TYPES("s-2x-amd64-linux")),
         "s-2x-amd64-linux on-demand test-zone-a"},
        {"zone", CLAIM(IN("topology.kubernetes.io/zone", "test-zone-c, test-zone-b") ", " TYPES("c-1x-arm64-linux")),
         "c-1x-arm64-linux spot test-zone-b"},
        {"not a zone",
         CLAIM(
             "{key: topology.kubernetes.io/zone, operator: NotIn, values: [test-zone-a]}, " TYPES("c-1x-arm64-linux")),
         "c-1x-arm64-linux spot test-zone-b"},
        {"no type is asked for", CLAIM(ON_DEMAND),
         "translating nodeclaim to node, instance type requirement not found"},
        {"a type that there is not", CLAIM(TYPES("c-2x-amd64-linux, m5.large")),
         "translating nodeclaim to node, instance type m5.large not found"},
        {"nowhere", CLAIM(IN("topology.kubernetes.io/zone", "mars") ", " TYPES("c-1x-arm64-linux")),
         "no offering of the listed instance types is available"},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench b;
        struct kwok_choice x;
        struct err e = {0};

        bench_init(&b, f);
        const struct nodeclaim *c = claim_of(&b, cases[i].claim);
        bool ok = kwok_choose(&b.types, f->t, c, &x, &e);
        sb_reset(&f->b);
        if (ok)
            sb_printf(&f->b, STR_FMT " " STR_FMT " " STR_FMT, STR_ARG(sym_str(f->t, x.type->name)),
                      STR_ARG(sym_str(f->t, x.offering->requirements[0].vals[0])),
                      STR_ARG(sym_str(f->t, x.offering->requirements[1].vals[0])));
        else
            sb_c(&f->b, e.msg);
        check_str(cases[i].name, sb_view(&f->b), cases[i].want);
        bench_fini(&b);
    }
}

/* The next process gives the claim the same name, and another claim of the same name another one. */
static void names(void **state)
{
    struct fixture *f = *state;
    struct nodeclaim a = {.name = STR("x"), .uid = STR("1")}, b = {.name = STR("x"), .uid = STR("2")};

    check_true("same", str_eq(kwok_node_name(f->a, &a), kwok_node_name(f->a, &a)));
    check_true("other", !str_eq(kwok_node_name(f->a, &a), kwok_node_name(f->a, &b)));
    check_u64("foreign ids", kwok_node_of(STR("aws:///us-east-1a/i-1")).n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(node_as_recorded, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(choices, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(names, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
