/* Objects one at a time: what is known of any of them, what is kept of their text, and boxes that hold what they should. */
#include "k8s/one.h"

#include "data/edit.h"
#include "data/json_own.h"
#include "data/reader.h"
#include "k8s/diff.h"
#include "support/check.h"
#include "support/fixture.h"

static struct tree *yaml(struct fixture *f, const char *text)
{
    const struct tree *t;
    struct err e;

    check_ok(text, tree_parse_yaml(f->a, "test", str_c(text), &t, &e), &e);
    return tree_copy(f->a, t);
}

static str kept(struct fixture *f, enum object_kind kind, const struct tree *t)
{
    sb_reset(&f->b);
    k8s_keep_text(&f->b, kind, t);
    return sb_view(&f->b);
}

static const struct {
    const char *name;
    enum object_kind kind;
    const char *object, *want;
} texts[] = {
    {"an annotation may be called what it likes", OBJ_NODECLAIM,
     "{metadata: {name: c, annotations: {status: fine, spec: x, taints: none}}, spec: [not, a, map]}",
     "{\"metadata\":{\"name\":\"c\",\"annotations\":{\"status\":\"fine\",\"spec\":\"x\",\"taints\":\"none\"}}}"},
    {"a node loses what nobody reads", OBJ_NODE,
     "{metadata: {name: n1, managedFields: [{manager: x}], labels: {a: b}, annotations: {c: d}}, spec: {podCIDR: x, "
     "providerID: p, taints: [{key: k, effect: NoSchedule}]}, status: {images: [{names: [x]}], addresses: [], capacity: "
     "{cpu: '1'}, conditions: [{type: Ready, status: 'True', message: m, reason: r, lastHeartbeatTime: h, "
     "lastTransitionTime: t}], nodeInfo: {a: b}}}",
     "{\"metadata\":{\"name\":\"n1\",\"labels\":{\"a\":\"b\"},\"annotations\":{\"c\":\"d\"}},\"spec\":{\"providerID\":\"p\","
     "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]},\"status\":{\"capacity\":{\"cpu\":\"1\"},\"conditions\":[{"
     "\"type\":\"Ready\",\"status\":\"True\",\"message\":\"m\",\"reason\":\"r\",\"lastTransitionTime\":\"t\"}]}}"},
    {"copies that kubectl makes", OBJ_NODEPOOL,
     "{metadata: {name: p, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}', a: b}}, spec: {weight: 5}}",
     "{\"metadata\":{\"name\":\"p\",\"annotations\":{\"a\":\"b\"}},\"spec\":{\"weight\":5}}"},
    {"a claim that waits for its launch", OBJ_NODECLAIM,
     "{metadata: {name: c}, spec: {requirements: [{key: k}]}, status: {conditions: [{type: Launched, status: Unknown}]}}",
     "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"requirements\":[{\"key\":\"k\"}]},\"status\":{\"conditions\":[{\"type\":"
     "\"Launched\",\"status\":\"Unknown\"}]}}"},
    {"a claim that was launched", OBJ_NODECLAIM,
     "{metadata: {name: c}, spec: {requirements: [{key: k}], expireAfter: 1h}, status: {conditions: [{type: Launched, "
     "status: 'True'}]}}",
     "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"expireAfter\":\"1h\"},\"status\":{\"conditions\":[{\"type\":\"Launched\","
     "\"status\":\"True\"}]}}"},
    {"odd shapes", OBJ_NODE, "{metadata: {name: n1}, spec: 5, status: {conditions: {}, capacity: null}}",
     "{\"metadata\":{\"name\":\"n1\"},\"status\":{\"capacity\":null}}"},
    {"odd shapes of a claim", OBJ_NODECLAIM,
     "{metadata: {name: c, labels: [a], finalizers: f}, spec: {taints: {}, expireAfter: 1h}, status: {conditions: [5, "
     "{type: Ready, status: 'True'}]}}",
     "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"expireAfter\":\"1h\"},\"status\":{\"conditions\":[{\"type\":\"Ready\","
     "\"status\":\"True\"}]}}"},
};

static void what_is_kept_of_texts(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        check_str(texts[i].name, kept(f, texts[i].kind, yaml(f, texts[i].object)), texts[i].want);
}

static void patches_of_kept_texts_leave_the_rest_alone(void **state)
{
    struct fixture *f = *state;
    struct tree *t = yaml(f, "{metadata: {name: n1, managedFields: [], labels: {a: b}}, spec: {podCIDR: x}}");
    str text = arena_strdup(f->a, kept(f, OBJ_NODE, t));
    struct tree *before = json_read_own(f->a, text), *after = json_read_own(f->a, text);

    tree_set_str(f->a, tree_path(f->a, after, "metadata", "labels", NULL), "c", STR("d"));
    struct tree *patch = merge_diff(f->a, before, after);
    check_true("one label", tree_equal(patch, yaml(f, "{metadata: {labels: {c: d}}}")));
}

static const struct {
    const char *name;
    enum object_kind kind;
    const char *object;
    bool managed;
} managing[] = {
    {"claim", OBJ_NODECLAIM, "{metadata: {name: c}, spec: {nodeClassRef: {group: g.io, kind: Kind}}}", true},
    {"claim of others", OBJ_NODECLAIM, "{metadata: {name: c}, spec: {nodeClassRef: {group: g.io, kind: Other}}}",
     false},
    {"claim of another group", OBJ_NODECLAIM, "{metadata: {name: c}, spec: {nodeClassRef: {group: h.io, kind: Kind}}}",
     false},
    {"pool", OBJ_NODEPOOL, "{metadata: {name: p}, spec: {template: {spec: {nodeClassRef: {group: g.io, kind: Kind}}}}}",
     true},
    {"pool without a template", OBJ_NODEPOOL, "{metadata: {name: p}, spec: {}}", false},
    {"node", OBJ_NODE, "{metadata: {name: n1, labels: {g.io/kind: ''}}}", true},
    {"node of others", OBJ_NODE, "{metadata: {name: n1, labels: {g.io/Kind: x, kind: z}}}", false},
    {"odd labels", OBJ_NODE, "{metadata: {name: n1, labels: [g.io/kind]}}", false},
    {"pods never", OBJ_POD, "{metadata: {name: p, labels: {g.io/kind: x}}}", false},
};

static void what_is_managed(void **state)
{
    static const struct nodeclass_ref classes[] = {{STR_INIT("g.io"), STR_INIT("Kind"), {0}}};
    struct fixture *f = *state;
    struct object_meta m;
    struct err e;

    for (size_t i = 0; i < ARRAY_LEN(managing); i++) {
        check_ok(managing[i].name,
                 k8s_meta(f->a, yaml(f, managing[i].object), managing[i].kind, classes, ARRAY_LEN(classes), &m, &e),
                 &e);
        check_true(managing[i].name, m.managed == managing[i].managed);
    }
}

static void what_is_known_of_any_object(void **state)
{
    struct fixture *f = *state;
    struct object_meta m;
    struct err e;

    check_ok(
        "all",
        k8s_meta(f->a,
                 yaml(f, "{apiVersion: g.io/v1, kind: Kind, metadata: {name: a, namespace: b, uid: c, resourceVersion: "
                         "'12', generation: 3, creationTimestamp: '1970-01-01T00:00:01Z', deletionTimestamp: "
                         "'1970-01-01T00:00:02Z'}}"),
                 OBJ_NODECLASS, NULL, 0, &m, &e),
        &e);
    check_str("a class says its kind", m.name, "g.io/Kind/a");
    check_str("namespace", m.ns, "b");
    check_str("uid", m.uid, "c");
    check_i64("version", (int64_t)m.version, 12);
    check_i64("generation", m.generation, 3);
    check_i64("created", m.created_ms, 1000);
    check_i64("deleted", m.deleted_ms, 2000);
    check_ok("little",
             k8s_meta(f->a, yaml(f, "{metadata: {name: a, resourceVersion: x, creationTimestamp: odd}}"), OBJ_NODE,
                      NULL, 0, &m, &e),
             &e);
    check_true("nothing", m.version == 0 && m.created_ms == INT64_MIN && m.deleted_ms == INT64_MIN && m.uid.n == 0);
    check_true("no name", !k8s_meta(f->a, yaml(f, "{metadata: {name: ''}}"), OBJ_NODE, NULL, 0, &m, &e));
    check_true("no metadata", !k8s_meta(f->a, yaml(f, "{kind: Node}"), OBJ_NODE, NULL, 0, &m, &e));
    check_true("not even a map", !k8s_meta(f->a, yaml(f, "[]"), OBJ_NODE, NULL, 0, &m, &e));
}

static void boxes_hold_one_object(void **state)
{
    struct fixture *f = *state;
    AUTO(podspecs) struct podspecs *specs = podspecs_new(NULL);
    AUTO(decoder) struct decoder *d = decoder_new_single(f->t, specs);
    struct decoded x, y;
    struct err e;

    check_ok("node",
             k8s_decode_one(d, yaml(f, "{metadata: {name: n1}, status: {capacity: {cpu: '2', memory: 1Gi}}}"), OBJ_NODE,
                            &x, &e),
             &e);
    check_ok(
        "csi",
        k8s_decode_one(d,
                       yaml(f, "{metadata: {name: n1}, spec: {drivers: [{name: a, allocatable: {count: 3}}, {name: b}, "
                               "{name: c, allocatable: {count: 4}}]}}"),
                       OBJ_CSINODE, &y, &e),
        &e);
    const struct node *n = x.what;
    const struct csi_drivers *c = y.what;
    check_str("name", n->name, "n1");
    check_i64("cpu", reslist_value(&n->capacity, SYM(CPU)), 2000000000);
    check_i64("two limits", c->n, 2);
    check_str("driver", c->limits[1].driver, "c");
    check_true("small", arena_bytes(x.box) < 400 && arena_bytes(y.box) < 400);
    arena_free(x.box);
    arena_free(y.box);
    check_true("bad",
               !k8s_decode_one(d, yaml(f, "{metadata: {name: n1}, status: {capacity: {cpu: [x]}}}"), OBJ_NODE, &x, &e));
    check_str("says where", str_c(e.msg), "1:49: status.capacity.cpu: must be a quantity, not a list");
}

static void how_a_pod_fares(void **state)
{
    struct fixture *f = *state;
    AUTO(podspecs) struct podspecs *specs = podspecs_new(NULL);
    AUTO(decoder) struct decoder *d = decoder_new_single(f->t, specs);
    struct decoded x;
    struct err e;

    check_ok("plain", k8s_decode_one(d, yaml(f, "{metadata: {name: p}, spec: {containers: []}}"), OBJ_POD, &x, &e), &e);
    const struct pod *p = x.what;
    check_true("nothing said", p->grace_s == 30 && !p->critical && !p->unschedulable && !p->ready && !p->terminating);
    check_true("unknown times", moment_ms(p->deleted) == INT64_MIN && moment_ms(p->readied) == INT64_MIN);
    check_ok("all of it",
             k8s_decode_one(
                 d,
                 yaml(f, "{metadata: {name: p, deletionTimestamp: '1970-01-01T00:00:09Z'}, spec: {containers: [], "
                         "terminationGracePeriodSeconds: 7, priorityClassName: system-node-critical}, status: "
                         "{conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, "
                         "lastTransitionTime: '1970-01-01T00:00:05Z'}, {type: Ready, status: 'True', "
                         "lastTransitionTime: '1970-01-01T00:00:06Z'}]}}"),
                 OBJ_POD, &x, &e),
             &e);
    p = x.what;
    check_true("flags", p->critical && p->unschedulable && p->ready && !p->not_ready && p->terminating);
    check_i64("grace", p->grace_s, 7);
    check_i64("deleted", moment_ms(p->deleted), 9000);
    check_i64("scheduled", moment_ms(p->scheduled), 5000);
    check_i64("ready since", moment_ms(p->readied), 6000);
    check_i64("times before the clock's beginning", moment_ms(moment_of_ms(-5)), 1000);
}

static void specs_go_with_their_last_user(void **state)
{
    static const char pod[] =
        "{metadata: {name: p, uid: u}, spec: {containers: [], volumes: [{name: v, persistentVolumeClaim: "
        "{claimName: c}}]}}";
    struct fixture *f = *state;
    AUTO(podspecs) struct podspecs *specs = podspecs_new(NULL);
    AUTO(decoder) struct decoder *d = decoder_new_single(f->t, specs);
    struct decoded x;
    struct err e;

    check_ok("pod", k8s_decode_one(d, yaml(f, pod), OBJ_POD, &x, &e), &e);
    check_i64("with and without volumes", podspecs_count(specs), 2);
    podspecs_drop_unused(specs);
    check_i64("nobody took it", podspecs_count(specs), 0);
    check_ok("again", k8s_decode_one(d, yaml(f, pod), OBJ_POD, &x, &e), &e);
    const struct podspec *s = ((const struct pod *)x.what)->spec;
    podspecs_ref(specs, s);
    podspecs_drop_unused(specs);
    check_i64("somebody did", podspecs_count(specs), 2);
    check_ok("another", k8s_decode_one(d, yaml(f, pod), OBJ_POD, &x, &e), &e);
    check_true("shares it", ((const struct pod *)x.what)->spec == s);
    podspecs_unref(specs, s);
    check_i64("the last", podspecs_count(specs), 0);
    check_true("bad", !k8s_decode_one(d, yaml(f, "{metadata: {name: p}, spec: {containers: [], tolerations: 5}}"),
                                      OBJ_POD, &x, &e));
    podspecs_drop_unused(specs);
    check_i64("leaves nothing", podspecs_count(specs), 0);
}

#define WITH(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(what_is_kept_of_texts), WITH(patches_of_kept_texts_leave_the_rest_alone),
        WITH(what_is_managed),       WITH(what_is_known_of_any_object),
        WITH(boxes_hold_one_object), WITH(specs_go_with_their_last_user),
        WITH(how_a_pod_fares),
    };

    return cmocka_run_group_tests_name("k8s/one", tests, NULL, NULL);
}
