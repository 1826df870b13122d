/* Deleting: at once, gracefully, with finalizers; garbage collection; the end of namespaces. */
#include "data/edit.h"
#include "support/check.h"
#include "support/kube_server.h"

#define POD(name)                                                                                                      \
    "{metadata: {name: " name "}, spec: {terminationGracePeriodSeconds: 30, containers: [{name: c, image: i}]}}"

static void at_once(void **state)
{
    struct server *s = *state;

    (void)server_create(s, "configmaps", "{metadata: {name: c}}");
    check_true("deleted", server_delete(s, "configmaps", "c", NULL));
    check_true("gone", !server_get(s, "configmaps", "c"));
    check_true("again", !server_delete(s, "configmaps", "c", NULL));
    check_str("refused", server_refusal(s), "404 NotFound: configmaps \"c\" not found");
}

static void preconditions(void **state)
{
    struct server *s = *state;
    const struct object *o = server_create(s, "deployments",
                                           "{metadata: {name: c}, spec: {selector: {matchLabels: {a: b}}, template: "
                                           "{metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}");
    struct delete_options d = {.grace_s = -1, .uid = STR("other")};

    check_true("created", o);
    check_true("uid", !server_delete(s, "deployments", "c", &d));
    check_str("refused", server_refusal(s),
              arena_printf(s->a,
                           "409 Conflict: Operation cannot be fulfilled on Deployment.apps \"c\": the UID in the "
                           "precondition (other) does not match the UID in record (" STR_FMT
                           "). The object might have been deleted and then recreated",
                           STR_ARG(o->uid))
                  .p);
    d = (struct delete_options){.grace_s = -1, .rv = 1};
    check_true("revision", !server_delete(s, "deployments", "c", &d));
    check_i64("refused", s->st.code, 409);
    d = (struct delete_options){.grace_s = -1, .rv = o->rv, .uid = o->uid};
    check_true("both met", server_delete(s, "deployments", "c", &d));
}

static void finalizers(void **state)
{
    struct server *s = *state;
    const struct object *o;

    (void)server_create(s, "configmaps", "{metadata: {name: c, finalizers: [a.b/c]}}");
    check_true("deleted", server_delete(s, "configmaps", "c", NULL));
    o = server_get(s, "configmaps", "c");
    check_true("marked", o && o->deleted_ms == 1700000000000);
    check_str("grace", server_field(s, o, "metadata.deletionGracePeriodSeconds"), "0");
    check_true("no new ones", !server_patch(s, "configmaps", "c", NULL, "{metadata: {finalizers: [a.b/c, d.e/f]}}"));
    check_str("refused", server_refusal(s),
              "422 Invalid: ConfigMap \"c\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added "
              "if the object is being deleted, found new finalizers []string{\"d.e/f\"}");
    uint64_t rv = kube_rv(s->k);
    check_true("again changes nothing", server_delete(s, "configmaps", "c", NULL) && kube_rv(s->k) == rv);
    o = server_patch(s, "configmaps", "c", NULL, "{metadata: {finalizers: null}}");
    check_true("the last one goes", o && o->n_finalizers == 0);
    check_true("and with it the object", !server_get(s, "configmaps", "c"));
}

static void pods_have_time(void **state)
{
    struct server *s = *state;
    const struct delete_options now = {.grace_s = 0}, soon = {.grace_s = 5}, later = {.grace_s = 50};
    const struct object *o;

    (void)server_create(s, "pods", POD("waits"));
    check_true("not scheduled", server_delete(s, "pods", "waits", NULL) && !server_get(s, "pods", "waits"));
    (void)server_create(s, "pods", POD("runs"));
    (void)kube_bind(s->k, s->a, STR("default"), STR("runs"), STR("n"), &s->st);
    check_true("deleted", server_delete(s, "pods", "runs", NULL));
    o = server_get(s, "pods", "runs");
    check_true("it has 30 s", o && o->deleted_ms == 1700000030000);
    check_str("grace", server_field(s, o, "metadata.deletionGracePeriodSeconds"), "30");
    check_str("generation", server_field(s, o, "metadata.generation"), "2");
    uint64_t rv = kube_rv(s->k);
    check_true("not longer", server_delete(s, "pods", "runs", &later) && kube_rv(s->k) == rv);
    check_true("shorter", server_delete(s, "pods", "runs", &soon));
    o = server_get(s, "pods", "runs");
    check_true("it has 5 s", o && o->deleted_ms == 1700000005000);
    check_true("the kubelet is done", server_delete(s, "pods", "runs", &now) && !server_get(s, "pods", "runs"));
}

static void terminated_pods_go_at_once(void **state)
{
    struct server *s = *state;

    (void)server_create(s, "pods", POD("p"));
    (void)kube_bind(s->k, s->a, STR("default"), STR("p"), STR("n"), &s->st);
    (void)server_update(s, "pods", "status", "{metadata: {name: p}, status: {phase: Succeeded}}");
    check_true("gone", server_delete(s, "pods", "p", NULL) && !server_get(s, "pods", "p"));
}

/* ---- owners ---- */

static str owned(struct server *s, const char *name, const struct object *owner, bool blocks)
{
    str api = kind_api_version(s->a, owner->kind);

    return arena_printf(s->a,
                        "{metadata: {name: %s, ownerReferences: [{apiVersion: " STR_FMT ", kind: " STR_FMT
                        ", name: " STR_FMT ", uid: " STR_FMT ", controller: true, blockOwnerDeletion: %s}]}}",
                        name, STR_ARG(api), STR_ARG(owner->kind->name), STR_ARG(owner->name), STR_ARG(owner->uid),
                        blocks ? "true" : "false");
}

static void background(void **state)
{
    struct server *s = *state;
    const struct object *top = server_create(s, "configmaps", "{metadata: {name: top}}");
    const struct object *mid = server_create(s, "secrets", owned(s, "mid", top, true).p);

    check_true("created", mid && server_create(s, "configmaps", owned(s, "leaf", mid, true).p));
    server_settle(s);
    check_true("all live", server_get(s, "secrets", "mid") && server_get(s, "configmaps", "leaf"));
    check_true("deleted", server_delete(s, "configmaps", "top", NULL));
    check_true("the owner goes first", !server_get(s, "configmaps", "top") && server_get(s, "secrets", "mid"));
    server_settle(s);
    check_true("then the rest", !server_get(s, "secrets", "mid") && !server_get(s, "configmaps", "leaf"));
}

static void an_owner_that_never_was(void **state)
{
    struct server *s = *state;

    (void)server_create(s, "configmaps",
                        "{metadata: {name: c, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: nobody}]}}");
    (void)server_create(
        s, "configmaps",
        "{metadata: {name: d, ownerReferences: [{apiVersion: x.io/v1, kind: X, name: p, uid: nobody}]}}");
    server_settle(s);
    check_true("collected", !server_get(s, "configmaps", "c"));
    check_true("a kind that nobody serves may come back", server_get(s, "configmaps", "d"));
}

static void two_owners(void **state)
{
    struct server *s = *state;
    const struct object *a = server_create(s, "configmaps", "{metadata: {name: a}}");
    str a_uid = arena_strdup(s->a, a->uid);
    const struct object *b = server_create(s, "configmaps", "{metadata: {name: b}}");

    (void)server_create(
        s, "secrets",
        arena_printf(s->a,
                     "{metadata: {name: o, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, "
                     "uid: " STR_FMT "}, {apiVersion: v1, kind: ConfigMap, name: b, uid: " STR_FMT "}]}}",
                     STR_ARG(a_uid), STR_ARG(b->uid))
            .p);
    (void)server_delete(s, "configmaps", "a", NULL);
    server_settle(s);
    const struct object *o = server_get(s, "secrets", "o");
    check_true("one owner is left", o && o->n_owners == 1 && str_is(o->owners[0].name, "b"));
    (void)server_delete(s, "configmaps", "b", NULL);
    server_settle(s);
    check_true("none", !server_get(s, "secrets", "o"));
}

static void foreground(void **state)
{
    struct server *s = *state;
    const struct delete_options d = {.grace_s = -1, .propagation = "Foreground"};
    const struct object *top = server_create(s, "configmaps", "{metadata: {name: top}}");

    (void)server_create(s, "secrets", owned(s, "held", top, true).p);
    (void)server_patch(s, "secrets", "held", NULL, "{metadata: {finalizers: [a.b/c]}}");
    (void)server_create(s, "secrets", owned(s, "free", server_get(s, "configmaps", "top"), false).p);
    check_true("deleted", server_delete(s, "configmaps", "top", &d));
    top = server_get(s, "configmaps", "top");
    check_str("waits", server_field(s, top, "metadata.finalizers"), "[\"foregroundDeletion\"]");
    server_settle(s);
    check_true("what blocks is on its way", server_get(s, "secrets", "held")->deleted_ms);
    check_true("the owner waits for it", server_get(s, "configmaps", "top"));
    check_true("what does not block waits for the owner", server_get(s, "secrets", "free"));
    (void)server_patch(s, "secrets", "held", NULL, "{metadata: {finalizers: null}}");
    server_settle(s);
    check_true("all gone", !server_get(s, "secrets", "held") && !server_get(s, "configmaps", "top") &&
                               !server_get(s, "secrets", "free"));
}

static void orphans(void **state)
{
    struct server *s = *state;
    const struct delete_options d = {.grace_s = -1, .propagation = "Orphan"};
    const struct object *top = server_create(s, "configmaps", "{metadata: {name: top}}");

    (void)server_create(s, "secrets", owned(s, "child", top, true).p);
    check_true("deleted", server_delete(s, "configmaps", "top", &d));
    check_str("waits", server_field(s, server_get(s, "configmaps", "top"), "metadata.finalizers"), "[\"orphan\"]");
    server_settle(s);
    const struct object *o = server_get(s, "secrets", "child");
    check_true("let go", !server_get(s, "configmaps", "top") && o && o->n_owners == 0);
}

/* ---- namespaces ---- */

static void namespaces(void **state)
{
    struct server *s = *state;
    const struct kind *cms = server_kind(s, "configmaps");

    check_true("default stays", !server_delete(s, "namespaces", "default", NULL));
    check_str("refused", server_refusal(s),
              "403 Forbidden: namespaces \"default\" is forbidden: this namespace may not be deleted");
    (void)server_create(s, "namespaces", "{metadata: {name: ns1}}");
    (void)server_create(s, "configmaps", "{metadata: {name: a, namespace: ns1}}");
    (void)server_create(s, "configmaps", "{metadata: {name: b, namespace: ns1, finalizers: [a.b/c]}}");
    check_true("deleted", server_delete(s, "namespaces", "ns1", NULL));
    const struct object *n = server_get(s, "namespaces", "ns1");
    check_str("phase", server_field(s, n, "status.phase"), "\"Terminating\"");
    check_true("closed", !server_create(s, "configmaps", "{metadata: {name: c, namespace: ns1}}"));
    check_str(
        "refused", server_refusal(s),
        "403 Forbidden: configmaps \"c\" is forbidden: unable to create new content in namespace ns1 because it is "
        "being terminated");
    check_str("cause", s->st.causes[0].reason, "NamespaceTerminating");
    server_settle(s);
    n = server_get(s, "namespaces", "ns1");
    check_true("still there", n && !kube_get(s->k, cms, STR("ns1"), STR("a")));
    check_str("why", server_field(s, n, "status.conditions.3.message"),
              "\"Some resources are remaining: configmaps. has 1 resource instances\"");
    check_str("why", server_field(s, n, "status.conditions.4.message"),
              "\"Some content in the namespace has finalizers remaining: a.b/c in 1 resource instances\"");
    struct tree *b = kube_tree(s->a, kube_get(s->k, cms, STR("ns1"), STR("b")));
    (void)tree_drop(tree_sub(s->a, b, "metadata"), STR("finalizers"));
    check_true("let go", kube_update(s->k, s->a, cms, NULL, b, NULL, &s->st));
    server_settle(s);
    check_true("gone", !server_get(s, "namespaces", "ns1"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, server_setup, server_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(at_once),
        TEST(preconditions),
        TEST(finalizers),
        TEST(pods_have_time),
        TEST(terminated_pods_go_at_once),
        TEST(background),
        TEST(an_owner_that_never_was),
        TEST(two_owners),
        TEST(foreground),
        TEST(orphans),
        TEST(namespaces),
    };

    return cmocka_run_group_tests_name("sim/kube/deletes", tests, NULL, NULL);
}
