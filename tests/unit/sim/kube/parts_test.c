/* Objects that are written in parts: nobody can tell them from those that were written as a whole. */
#include <stdio.h>

#include "data/edit.h"
#include "data/reader.h"
#include "sim/kube/crds.h"
#include "support/check.h"
#include "support/kube_server.h"

static const struct {
    const char *name, *plural, *object, *part, *value;
} cases[] = {
    {"a pod's status", "pods",
     "{metadata: {name: p, labels: {b: '2', a: '1'}, annotations: {k: \"a \\\" and a \\\\ and a\\nline\"}, ownerReferences: "
     "[{apiVersion: v1, kind: Node, name: m, uid: u-1, controller: true}], finalizers: [x.io/f]}, spec: {containers: "
     "[{name: c, image: i, args: ['{\"}', '[', \"\\\"\"]}]}}",
     "status", "{phase: Running, podIP: 10.0.0.1, nominatedNodeName: n7, conditions: [{type: Ready, status: 'True'}]}"},
    {"a status that was not there", "nodes", "{metadata: {name: p}}", "status",
     "{capacity: {cpu: 1000m}, conditions: [{type: Ready, status: 'True', reason: ''}]}"},
    {"a set's status", "replicasets",
     "{metadata: {name: p}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: "
     "{containers: [{name: c, image: i}]}}}}",
     "status", "{replicas: 3, readyReplicas: 3, availableReplicas: 0, fullyLabeledReplicas: 3}"},
    {"a deployment's status", "deployments",
     "{metadata: {name: p, annotations: {x: z}}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: "
     "{a: b}}, spec: {containers: [{name: c, image: i}]}}}}",
     "status", "{replicas: 3, updatedReplicas: 3, unavailableReplicas: 3, observedGeneration: 1}"},
    {"a lease", "leases", "{metadata: {name: p}, spec: {holderIdentity: me, leaseDurationSeconds: 40}}", "spec",
     "{holderIdentity: you, leaseDurationSeconds: 40, renewTime: '2026-01-15T12:00:00.000000Z', strategy: ''}"},
    {"a lease without a spec", "leases", "{metadata: {name: p}}", "spec", "{holderIdentity: you}"},
    {"a part that is judged with the rest", "deployments",
     "{metadata: {name: p}, spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, "
     "spec: {containers: [{name: c, image: i}]}}}}",
     "spec",
     "{replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, "
     "image: j}]}}}"},
    {"one of several members", "configmaps", "{metadata: {name: p}, data: {a: '1'}, binaryData: {b: YQ==}}", "data",
     "{a: '2', c: '{'}"},
};

static void check_text(const char *name, struct arena *a, str have, str want)
{
    check_str(name, have, arena_printf(a, STR_FMT, STR_ARG(want)).p);
}

static void check_pairs(const char *name, struct arena *a, const struct label *have, const struct label *want,
                        uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        check_text(name, a, have[i].key, want[i].key);
        check_text(name, a, have[i].value, want[i].value);
    }
}

static void check_same(const char *name, struct arena *a, const struct object *have, const struct object *want)
{
    check_text(name, a, have->json, want->json);
    check_text(name, a, have->ns, want->ns);
    check_text(name, a, have->name, want->name);
    check_text(name, a, have->uid, want->uid);
    check_u64(name, have->rv, want->rv);
    check_i64(name, have->created_ms, want->created_ms);
    check_i64(name, have->deleted_ms, want->deleted_ms);
    check_u64(name, have->n_finalizers, want->n_finalizers);
    check_u64(name, have->n_labels, want->n_labels);
    check_u64(name, have->n_fields, want->n_fields);
    check_u64(name, have->n_owners, want->n_owners);
    check_pairs(name, a, have->labels, want->labels, want->n_labels);
    check_pairs(name, a, have->fields, want->fields, want->n_fields);
    for (uint32_t i = 0; i < want->n_owners; i++) {
        check_text(name, a, have->owners[i].uid, want->owners[i].uid);
        check_text(name, a, have->owners[i].name, want->owners[i].name);
        check_text(name, a, have->owners[i].kind, want->owners[i].kind);
        check_text(name, a, have->owners[i].api_version, want->owners[i].api_version);
        check_true(name, have->owners[i].controller == want->owners[i].controller);
    }
}

static const struct object *write_whole(struct server *s, size_t i)
{
    const struct object *o = server_get(s, cases[i].plural, "p");
    struct tree *t = kube_tree(s->a, o);
    bool status = o->kind->has_status && strcmp(cases[i].part, "status") == 0;

    tree_set(s->a, t, cases[i].part, *server_tree(s, cases[i].value));
    check_true(cases[i].name, kube_update(s->k, s->a, o->kind, status ? "status" : NULL, t, &o, &s->st));
    return o;
}

static const struct object *write_part(struct server *s, size_t i)
{
    const struct object *o = server_get(s, cases[i].plural, "p");

    check_true(cases[i].name,
               kube_update_part(s->k, s->a, o, cases[i].part, server_tree(s, cases[i].value), &o, &s->st));
    return o;
}

/* Resource versions get longer on the way, so that what stands behind them moves. */
static void parts_and_wholes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        void *one, *other;

        (void)server_setup(&one);
        (void)server_setup(&other);
        struct server *x = one, *y = other;
        if (!server_create(x, cases[i].plural, cases[i].object))
            check_str(cases[i].name, server_refusal(x), "");
        check_true(cases[i].name, server_create(y, cases[i].plural, cases[i].object));
        for (int n = 0; n < 100; n++) {
            char text[64];

            (void)snprintf(text, sizeof(text), "{metadata: {name: filler%d}}", n);
            check_true(text, server_create(x, "configmaps", text));
            check_true(text, server_create(y, "configmaps", text));
        }
        check_same(cases[i].name, y->a, write_part(y, i), write_whole(x, i));
        uint64_t rv = kube_rv(y->k);
        (void)write_part(y, i);
        check_u64("what changes nothing makes no revision", kube_rv(y->k), rv);
        check_true(cases[i].name, server_delete(x, cases[i].plural, "p", NULL));
        check_true(cases[i].name, server_delete(y, cases[i].plural, "p", NULL));
        const struct object *left = server_get(y, cases[i].plural, "p"), *want = server_get(x, cases[i].plural, "p");
        check_true(cases[i].name, !left == !want);
        if (left)
            check_same(cases[i].name, y->a, left, want);
        (void)server_teardown(&one);
        (void)server_teardown(&other);
    }
}

/* ---- updates by their text ---- */

static const struct {
    const char *name, *spec, *manager;
    bool taken; /* without reading the rest */
} texts[] = {
    {"renewed", "{\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,\"renewTime\":\"2026-01-15T12:00:02.000000Z\"}",
     "one", true},
    {"renewed again",
     "{\"holderIdentity\":\"me\",\"leaseDurationSeconds\":15,\"renewTime\":\"2026-01-15T12:00:03.000000Z\"}", "one",
     true},
    {"in another order",
     "{\"leaseDurationSeconds\":20,\"holderIdentity\":\"me\",\"renewTime\":\"2026-01-15T12:00:03.000000Z\"}", "one",
     true},
    {"for longer, and for somebody else",
     "{\"holderIdentity\":\"you\",\"leaseDurationSeconds\":30,\"renewTime\":\"2026-01-15T12:00:03.000000Z\"}", "one",
     true},
    {"by somebody else",
     "{\"holderIdentity\":\"you\",\"leaseDurationSeconds\":15,\"renewTime\":\"2026-01-15T12:00:04.000000Z\"}", "other",
     true},
    {"with fields that come and go", "{\"leaseTransitions\":1,\"holderIdentity\":\"\\\"me\\\"\"}", "one", true},
    {"as it is", "{\"leaseTransitions\":1,\"holderIdentity\":\"\\\"me\\\"\"}", "other", true},
    {"nothing any more", "{}", "one", true},
    {"with a null", "{\"holderIdentity\":null,\"leaseTransitions\":2}", "one", true},
    {"a field that nobody knows", "{\"holder\":\"me\",\"leaseTransitions\":3}", "one", false},
    {"not valid", "{\"leaseDurationSeconds\":0}", "one", false},
    {"of another type", "{\"leaseDurationSeconds\":\"15\"}", "one", false},
    {"no time", "{\"renewTime\":\"soon\"}", "one", false},
    {"more behind it", "{\"leaseTransitions\":4},\"status\":{}", "one", false},
    {"broken", "{\"leaseTransitions\":5", "one", false},
    {"not a map", "[]", "one", false},
};

static str text_with(struct server *s, const char *spec)
{
    const struct object *o = server_get(s, "leases", "p");
    str head = o->json;

    while (!str_ends(head, STR("\"spec\":")) && head.n)
        head.n--;
    return arena_printf(s->a, STR_FMT "%s}", STR_ARG(head), spec);
}

static void *lease_server(void)
{
    const struct write_options o = {.manager = STR("one")};
    void *state;

    (void)server_setup(&state);
    struct server *s = state;
    struct tree *t =
        server_tree(s, "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: p, namespace: default, "
                       "labels: {a: b}}, spec: {holderIdentity: me, leaseDurationSeconds: 15}}");
    check_true("created", kube_create_as(s->k, s->a, server_kind(s, "leases"), t, &o, NULL, &s->st));
    return s;
}

/* What the text alone does is what reading all of it would have done. */
static void texts_and_wholes(void **state UNUSED)
{
    void *one = lease_server(), *other = lease_server();
    struct server *x = one, *y = other;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const struct write_options w = {.manager = str_c(texts[i].manager)};
        const struct object *have = NULL, *want = NULL;
        str body = text_with(x, texts[i].spec);
        uint64_t rv = kube_rv(x->k);
        const struct tree *t;
        struct err e;

        sim_run_for(x->sim, 2000000);
        sim_run_for(y->sim, 2000000);
        check_true(texts[i].name, kube_put_text(x->k, x->a, server_kind(x, "leases"), STR("default"), STR("p"), body,
                                                &w, &have) == texts[i].taken);
        if (!texts[i].taken) {
            check_u64(texts[i].name, kube_rv(x->k), rv);
            continue;
        }
        check_ok(texts[i].name, tree_parse_json(y->a, "body", body, &t, &e), &e);
        check_true(texts[i].name,
                   kube_update_as(y->k, y->a, server_kind(y, "leases"), NULL, tree_copy(y->a, t), &w, &want, &y->st));
        check_same(texts[i].name, y->a, have, want);
    }
    const struct write_options w = {.manager = STR("one")};
    const struct object *o;
    str old = text_with(x, "{\"leaseTransitions\":6}");
    check_true("current", kube_put_text(x->k, x->a, server_kind(x, "leases"), STR("default"), STR("p"), old, &w, &o));
    check_true("no longer",
               !kube_put_text(x->k, x->a, server_kind(x, "leases"), STR("default"), STR("p"), old, &w, &o));
    (void)server_teardown(&one);
    (void)server_teardown(&other);
}

/* ---- patches of a custom object's status ---- */

static const struct {
    const char *name, *manager, *patch; /* without its first brace; %s: the resource version */
    enum { ALONE, WHOLE, NOTHING, REFUSED } how;
} patches[] = {
    {"a status", "two", "\"status\":{\"nodeName\":\"n\",\"capacity\":{\"cpu\":\"4\"}}}", WHOLE},
    {"the same again", "two", "\"status\":{\"nodeName\":\"n\"}}", NOTHING},
    {"a condition", "one",
     "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Ready\",\"message\":\"\","
     "\"lastTransitionTime\":\"2026-01-15T12:00:00Z\"}]}}",
     ALONE},
    {"somebody else's field", "one", "\"status\":{\"nodeName\":\"m\",\"lastPodEventTime\":\"2026-01-15T12:00:00Z\"}}",
     ALONE},
    {"a field that goes", "two", "\"status\":{\"capacity\":null}}", ALONE},
    {"of this revision", "two", "\"metadata\":{\"resourceVersion\":\"%s\"},\"status\":{\"providerID\":\"x\"}}", ALONE},
    {"of another revision", "two", "\"metadata\":{\"resourceVersion\":\"1\"},\"status\":{\"providerID\":\"y\"}}",
     REFUSED},
    {"an unknown field", "two", "\"status\":{\"imageID\":\"i\",\"sun\":\"up\"}}", WHOLE},
    {"a field of another type", "two", "\"status\":{\"nodeName\":7}}", REFUSED},
    {"a condition that lacks something", "two", "\"status\":{\"conditions\":[{\"type\":\"Ready\"}]}}", REFUSED},
    {"a value that no pattern lets through", "two", "\"status\":{\"capacity\":{\"cpu\":\"much\"}}}", REFUSED},
    {"everything that anybody has said", "two",
     "\"status\":{\"nodeName\":null,\"conditions\":null,\"lastPodEventTime\":null,\"providerID\":null,\"imageID\":null}}",
     ALONE},
    {"no status any more", "two", "\"status\":null}", WHOLE},
    {"a status after that", "two", "\"status\":{\"nodeName\":\"n\"}}", WHOLE},
};

static void *claim_server(void)
{
    const struct write_options o = {.manager = STR("one")};
    struct err e;
    void *state;

    (void)server_setup(&state);
    struct server *s = state;
    check_ok("definitions", kube_load_crds(s->k, &e), &e);
    struct tree *t =
        server_tree(s, "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: p, labels: {a: b}}, "
                       "spec: {nodeClassRef: {group: g.io, kind: K, name: c}, requirements: []}}");
    if (!kube_create_as(s->k, s->a, server_kind(s, "nodeclaims"), t, &o, NULL, &s->st))
        check_str("created", server_refusal(s), "");
    return s;
}

/* head: what makes another patch of it, with the same outcome. */
static const struct object *patch_claim(struct server *s, size_t i, const char *head)
{
    const struct object *o = server_get(s, "nodeclaims", "p");
    char text[512], rv[24];
    const struct write_options w = {.manager = str_c(patches[i].manager)};
    const struct tree *patch;
    struct err e;

    (void)snprintf(rv, sizeof(rv), "%llu", (unsigned long long)o->rv);
    int n = snprintf(text, sizeof(text), "{%s", head);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(text + n, sizeof(text) - (size_t)n, patches[i].patch, rv);
#pragma GCC diagnostic pop
    check_ok(patches[i].name, tree_parse_json(s->a, "patch", str_c(text), &patch, &e), &e);
    s->st = (struct status){0};
    bool ok = kube_patch(s->k, s->a, server_kind(s, "nodeclaims"), (str){0}, STR("p"), "status", PATCH_MERGE, patch,
                         false, &w, &o, NULL, &s->st);
    check_true(patches[i].name, ok == (patches[i].how != REFUSED));
    return server_get(s, "nodeclaims", "p");
}

static void on_claim(void *ctx, const struct change *c)
{
    int *how = ctx;

    *how = str_is(c->only, "status") ? ALONE : WHOLE;
}

/* A patch that says anything about the rest, even what is the case, has the whole object read. */
static void patches_of_a_status(void **state UNUSED)
{
    void *one = claim_server(), *other = claim_server();
    struct server *x = one, *y = other;
    int how;

    kube_subscribe(y->k, server_kind(y, "nodeclaims"), on_claim, &how);
    for (size_t i = 0; i < ARRAY_LEN(patches); i++) {
        sim_run_for(x->sim, 2000000);
        sim_run_for(y->sim, 2000000);
        how = patches[i].how == REFUSED ? REFUSED : NOTHING;
        const struct object *want = patch_claim(x, i, "\"kind\":\"NodeClaim\","), *have = patch_claim(y, i, "");
        check_same(patches[i].name, y->a, have, want);
        check_i64(patches[i].name, how, patches[i].how);
        if (patches[i].how == REFUSED)
            check_str(patches[i].name, server_refusal(y), arena_printf(x->a, STR_FMT, STR_ARG(server_refusal(x))).p);
    }
    (void)server_teardown(&one);
    (void)server_teardown(&other);
}

static void refusals(void **state)
{
    struct server *s = *state;
    const struct object *o = server_create(s, "leases", "{metadata: {name: p}, spec: {holderIdentity: me}}");
    const struct object *first = o;

    object_ref(first);
    uint64_t rv = kube_rv(s->k);
    check_true("judged",
               !kube_update_part(s->k, s->a, o, "spec", server_tree(s, "{leaseDurationSeconds: 0}"), NULL, &s->st));
    check_str(
        "why", server_refusal(s),
        "422 Invalid: Lease.coordination.k8s.io \"p\" is invalid: spec.leaseDurationSeconds: Invalid value: 0: must be "
        "greater than 0");
    check_u64("nothing happened", kube_rv(s->k), rv);
    check_true("written", kube_update_part(s->k, s->a, o, "spec", server_tree(s, "{holderIdentity: you}"), &o, &s->st));
    check_true("stale", !kube_update_part(s->k, s->a, first, "spec", server_tree(s, "{}"), NULL, &s->st));
    check_i64("conflict", s->st.code, 409);
    check_true("deleted", server_delete(s, "leases", "p", NULL));
    check_true("gone", !kube_update_part(s->k, s->a, first, "spec", server_tree(s, "{}"), NULL, &s->st));
    check_i64("not found", s->st.code, 404);
    object_unref(first);
}

struct sight {
    struct server *s;
    str only, phase, name, image;
};

static void on_change(void *ctx, const struct change *c)
{
    struct sight *x = ctx;
    struct arena *a = x->s->a;
    const struct tree *containers = tree_get(change_part(c, "spec"), "containers");

    x->only = arena_strdup(a, c->only);
    x->phase = arena_strdup(a, tree_str(tree_get(change_part(c, "status"), "phase")));
    x->name = arena_strdup(a, tree_str(tree_get(change_part(c, "metadata"), "name")));
    x->image = arena_strdup(a, tree_str(tree_get(&containers->items[0], "image")));
    check_true("the same as a whole", tree_equal(tree_get(change_new(c), "status"), change_part(c, "status")));
}

static void subscribers_see_parts(void **state)
{
    struct server *s = *state;
    struct sight x = {.s = s};

    kube_subscribe(s->k, server_kind(s, "pods"), on_change, &x);
    const struct object *o =
        server_create(s, "pods", "{metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}");
    const struct object *before = o;
    object_ref(before);
    check_str("created as a whole", x.only, "");
    check_true("written", kube_update_part(s->k, s->a, o, "status", server_tree(s, "{phase: Running}"), &o, &s->st));
    check_str("only", x.only, "status");
    check_str("phase", x.phase, "Running");
    check_str("name", x.name, "p");
    check_str("image", x.image, "i");
    check_true("all but the status is the same", object_same_but_status(before, o));
    check_str("field", object_field(o, "status.phase"), "Running");
    check_true("updated", (o = server_patch(s, "pods", "p", NULL, "{metadata: {labels: {a: b}}}")) != NULL);
    check_str("a whole again", x.only, "");
    check_true("more than the status", !object_same_but_status(before, o));
    check_true("no such part", !kube_part(s->a, o, "data"));
    object_unref(before);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, server_setup, server_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_and_wholes),    cmocka_unit_test(texts_and_wholes),
        cmocka_unit_test(patches_of_a_status), TEST(refusals),
        TEST(subscribers_see_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
