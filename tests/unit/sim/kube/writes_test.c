/* Creating and changing objects. */
#include "data/edit.h"
#include "support/check.h"
#include "support/kube_server.h"

#define POD "{metadata: {name: p, labels: {b: '2', a: '1'}}, spec: {containers: [{name: c, image: i}]}}"

static void text_of_an_object(void **state)
{
    struct server *s = *state;
    const struct object *o = server_create(
        s, "configmaps",
        "{data: {z: '1', a: '2', none: null}, metadata: {annotations: {k: \"quote \\\" and line\\n\"}, name: c,"
        " labels: {b: '2', a: '1'}, finalizers: [x.io/f]}}");

    check_true("created", o);
    str uid = o->uid;
    check_str(
        "text", o->json,
        arena_printf(s->a,
                     "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"c\",\"namespace\":"
                     "\"default\",\"uid\":\"" STR_FMT "\",\"resourceVersion\":\"%llu\",\"creationTimestamp\":"
                     "\"2023-11-14T22:13:20Z\",\"labels\":{\"a\":\"1\",\"b\":\"2\"},\"annotations\":{\"k\":\"quote "
                     "\\\" and line\\n\"},\"finalizers\":[\"x.io/f\"]},\"data\":{\"z\":\"1\",\"a\":\"2\"}}",
                     STR_ARG(uid), (unsigned long long)o->rv)
            .p);
    check_u64("length of a uid", uid.n, 36);
    check_true("version and variant", uid.p[14] == '4' && memchr("89ab", uid.p[19], 4));
    check_str("label", object_label(o, STR("b")), "2");
    check_str("absent label", object_label(o, STR("c")), "");
    check_i64("created", o->created_ms, 1700000000000);
    check_u64("finalizers", o->n_finalizers, 1);
    check_true("by uid", kube_by_uid(s->k, uid) == o);
}

static void fields_beside_the_text(void **state)
{
    struct server *s = *state;
    const struct object *o = server_create(s, "pods", POD);

    check_true("created", o);
    for (uint32_t i = 0; i < o->n_fields; i++) {
        if (str_is(o->fields[i].key, "status.phase"))
            check_str("phase", o->fields[i].value, "Pending");
        if (str_is(o->fields[i].key, "spec.nodeName"))
            check_str("node", o->fields[i].value, "");
    }
    check_str("first generation", server_field(s, o, "metadata.generation"), "1");
}

static void names_are_generated(void **state)
{
    struct server *s = *state;
    const struct object *a = server_create(s, "configmaps", "{metadata: {generateName: web-}}");

    check_true("created", a && a->name.n == 9 && str_starts(a->name, STR("web-")));
    for (size_t i = 4; i < 9; i++)
        check_true("letters without vowels", memchr("bcdfghjklmnpqrstvwxz2456789", a->name.p[i], 27));
    str first = arena_strdup(s->a, a->name);
    const struct object *b = server_create(s, "configmaps", "{metadata: {generateName: web-}}");
    check_true("another name", b && !str_eq(b->name, first));
}

static const struct {
    const char *plural, *yaml, *refusal;
} refused[] = {
    {"configmaps", "{metadata: {name: X_y}}",
     "422 Invalid: ConfigMap \"X_y\" is invalid: metadata.name: Invalid value: \"X_y\": a lowercase RFC 1123 subdomain "
     "must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
     "character (e.g. 'example.com', regex used for validation is "
     "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
    {"configmaps", "{metadata: {}}",
     "422 Invalid: ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required"},
    {"configmaps", "{metadata: {name: c, namespace: nope}}", "404 NotFound: namespaces \"nope\" not found"},
    {"configmaps", "{metadata: {name: c, labels: {a: 1}}}",
     "400 BadRequest: ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into "
     "Go struct field ObjectMeta.metadata.labels of type string"},
    {"configmaps", "{metadata: {name: c, labels: {'/x': ''}}}",
     "422 Invalid: ConfigMap \"c\" is invalid: metadata.labels: Invalid value: \"/x\": prefix part must be non-empty"},
    {"configmaps", "{metadata: {name: c, finalizers: [x]}}",
     "422 Invalid: ConfigMap \"c\" is invalid: metadata.finalizers[0]: Invalid value: \"x\": name is neither a standard "
     "finalizer name nor is it fully qualified"},
    {"configmaps", "{metadata: {name: c, ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: ''}]}}",
     "422 Invalid: ConfigMap \"c\" is invalid: metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"},
    {"namespaces", "{metadata: {name: a.b}}",
     "422 Invalid: Namespace \"a.b\" is invalid: metadata.name: Invalid value: \"a.b\": must not contain dots"},
    {"roles", "{metadata: {name: 'a/b'}}",
     "422 Invalid: Role.rbac.authorization.k8s.io \"a/b\" is invalid: metadata.name: Invalid value: \"a/b\": may not "
     "contain '/'"},
};

static void bad_metadata_is_refused(void **state)
{
    struct server *s = *state;
    uint64_t rv = kube_rv(s->k);

    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        check_true(refused[i].yaml, !server_create(s, refused[i].plural, refused[i].yaml));
        check_str(refused[i].yaml, server_refusal(s), refused[i].refusal);
    }
    check_u64("nothing happened", kube_rv(s->k), rv);
}

static void the_same_twice(void **state)
{
    struct server *s = *state;

    check_true("first", server_create(s, "configmaps", "{metadata: {name: c}}"));
    check_true("second", !server_create(s, "configmaps", "{metadata: {name: c}}"));
    check_str("refused", server_refusal(s), "409 AlreadyExists: configmaps \"c\" already exists");
    check_true("absent", !server_update(s, "configmaps", NULL, "{metadata: {name: d}}"));
    check_str("refused", server_refusal(s), "404 NotFound: configmaps \"d\" not found");
}

static void updates_and_conflicts(void **state)
{
    struct server *s = *state;
    const struct object *o = server_create(s, "configmaps", "{metadata: {name: c}, data: {a: '1'}}");
    uint64_t first = o->rv;

    o = server_update(s, "configmaps", NULL, "{metadata: {name: c}, data: {a: '2'}}");
    check_true("without a resource version", o && o->rv > first);
    uint64_t second = o->rv;
    o = server_update(s, "configmaps", NULL, "{metadata: {name: c}, data: {a: '2'}}");
    check_u64("nothing changed, no revision", o->rv, second);
    check_u64("nor anywhere else", kube_rv(s->k), second);
    str old =
        arena_printf(s->a, "{metadata: {name: c, resourceVersion: '%llu'}, data: {a: '3'}}", (unsigned long long)first);
    check_true("of the past", !server_update(s, "configmaps", NULL, old.p));
    check_str("refused", server_refusal(s),
              "409 Conflict: Operation cannot be fulfilled on configmaps \"c\": the object has been modified; please "
              "apply your changes to the latest version and try again");
    check_true("uid is fixed", !server_update(s, "configmaps", NULL, "{metadata: {name: c, uid: x}}"));
    check_i64("refused", s->st.code, 422);
    o = server_update(s, "configmaps", NULL, "{metadata: {name: c, creationTimestamp: '2001-01-01T00:00:00Z'}}");
    check_str("the server's own", server_field(s, o, "metadata.creationTimestamp"), "\"2023-11-14T22:13:20Z\"");
}

static void status_and_spec_apart(void **state)
{
    struct server *s = *state;
    const struct object *o = server_create(s, "pods", POD);

    o = server_update(s, "pods", "status",
                      "{metadata: {name: p, labels: {n: x}}, spec: {nodeName: no}, status: {phase: Running}}");
    check_str("status", server_field(s, o, "status.phase"), "\"Running\"");
    check_str("spec stays", server_field(s, o, "spec.nodeName"), "");
    check_str("generation stays", server_field(s, o, "metadata.generation"), "1");
    struct tree *t = kube_tree(s->a, o);
    tree_set_str(s->a, tree_sub(s->a, t, "status"), "phase", STR("Failed"));
    tree_set_i64(s->a, tree_sub(s->a, t, "spec"), "activeDeadlineSeconds", 5);
    check_true("update", kube_update(s->k, s->a, o->kind, NULL, t, &o, &s->st));
    check_str("status stays", server_field(s, o, "status.phase"), "\"Running\"");
    check_str("generation counts", server_field(s, o, "metadata.generation"), "2");
}

static void dry_runs(void **state)
{
    struct server *s = *state;
    const struct kind *kind = server_kind(s, "configmaps");
    const struct write_options dry = {.dry_run = true};
    const struct object *o = NULL;
    uint64_t rv = kube_rv(s->k);

    check_true("create", kube_create_as(s->k, s->a, kind, server_tree(s, "{metadata: {name: c, namespace: default}}"),
                                        &dry, &o, &s->st));
    check_str("no revision", server_field(s, o, "metadata.resourceVersion"), "");
    check_true("a uid", o->uid.n == 36);
    check_true("not there", !server_get(s, "configmaps", "c"));
    o = server_create(s, "configmaps", "{metadata: {name: c}}");
    check_true("update", kube_update_as(s->k, s->a, kind, NULL,
                                        server_tree(s, "{metadata: {name: c, namespace: default}, data: {a: b}}"), &dry,
                                        &o, &s->st));
    check_str("as it would be", server_field(s, o, "data.a"), "\"b\"");
    check_str("as it is", server_field(s, server_get(s, "configmaps", "c"), "data.a"), "");
    check_true("delete", kube_delete_as(s->k, s->a, kind, STR("default"), STR("c"), NULL, &dry, &o, &s->st));
    check_u64("one write in all", kube_rv(s->k), rv + 1);
}

static void field_validation(void **state)
{
    struct server *s = *state;
    const struct kind *kind = server_kind(s, "configmaps");
    struct write_options o = {.fields = FIELDS_STRICT};
    struct warnings warnings = {0};
    const struct object *ret;
    const char *yaml = "{metadata: {name: c, namespace: default}, zzz: 1}";

    check_true("strict", !kube_create_as(s->k, s->a, kind, server_tree(s, yaml), &o, &ret, &s->st));
    check_str("refused", server_refusal(s),
              "400 BadRequest: ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
              "unknown field \"zzz\"");
    o = (struct write_options){.fields = FIELDS_WARN, .warnings = &warnings};
    check_true("warn", kube_create_as(s->k, s->a, kind, server_tree(s, yaml), &o, &ret, &s->st));
    check_u64("one warning", warnings.list.n, 1);
    check_str("its sentence", warnings.list.v[0], "unknown field \"zzz\"");
    check_str("it is gone", server_field(s, ret, "zzz"), "");
    vec_fini(&warnings.list);
}

static void patches(void **state)
{
    struct server *s = *state;
    const struct object *o;

    check_true("absent", !server_patch(s, "configmaps", "c", NULL, "{data: {a: b}}"));
    check_i64("not found", s->st.code, 404);
    (void)server_create(s, "configmaps", "{metadata: {name: c}, data: {a: '1', b: '2'}}");
    o = server_patch(s, "configmaps", "c", NULL, "{data: {a: null, c: '3'}}");
    check_str("merged", server_field(s, o, "data"), "{\"b\":\"2\",\"c\":\"3\"}");
    check_true("another name", !server_patch(s, "configmaps", "c", NULL, "{metadata: {name: d}}"));
    check_str("refused", server_refusal(s),
              "400 BadRequest: the name of the object (d) does not match the name on the URL (c)");
    check_true("past", !server_patch(s, "configmaps", "c", NULL, "{metadata: {resourceVersion: '1'}}"));
    check_i64("conflict", s->st.code, 409);
    uint64_t rv = kube_rv(s->k);
    check_true("nothing", server_patch(s, "configmaps", "c", NULL, "{data: {c: '3'}}"));
    check_u64("no revision", kube_rv(s->k), rv);
}

static void applying_creates(void **state)
{
    struct server *s = *state;
    const struct write_options o = {.manager = STR("kubectl")};
    const struct object *ret;
    bool created = false;
    struct tree *config = server_tree(s, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: b}}");

    check_true("apply", kube_patch(s->k, s->a, server_kind(s, "configmaps"), STR("default"), STR("c"), NULL,
                                   PATCH_APPLY, config, false, &o, &ret, &created, &s->st));
    check_true("created", created && server_get(s, "configmaps", "c") == ret);
    check_true("again", kube_patch(s->k, s->a, server_kind(s, "configmaps"), STR("default"), STR("c"), NULL,
                                   PATCH_APPLY, config, false, &o, &ret, &created, &s->st));
    check_true("there", !created);
}

static void put_makes_some_kinds(void **state)
{
    struct server *s = *state;
    const struct kind *leases = server_kind(s, "leases");
    const struct write_options o = {.user = STR("tester")};
    const struct object *ret;
    struct tree *t = server_tree(s, "{metadata: {name: l, namespace: default}, spec: {holderIdentity: me}}");

    check_true("made", kube_update_as(s->k, s->a, leases, NULL, t, &o, &ret, &s->st));
    t = server_tree(s, "{metadata: {name: l, namespace: default}, spec: {holderIdentity: you}}");
    check_true("then it wants to know", !kube_update_as(s->k, s->a, leases, NULL, t, &o, &ret, &s->st));
    check_str(
        "the revision", server_refusal(s),
        "422 Invalid: leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: 0: must "
        "be specified for an update");
}

static void scale_there_and_back(void **state)
{
    struct server *s = *state;
    const struct kind *kind = server_kind(s, "deployments");
    const struct write_options o = {.user = STR("tester")};
    const struct object *d = server_create(
        s, "deployments",
        "{metadata: {name: d}, spec: {replicas: 2, selector: {matchLabels: {b: c}, matchExpressions: [{key: a, operator: "
        "In, values: [z, x]}]}, template: {metadata: {labels: {b: c, a: x}}, spec: {containers: [{name: c, image: i}]}}}}");

    check_true("created", d);
    struct tree *scale = kube_scale_get(s->k, s->a, d);
    check_str("replicas", tree_scalar(tree_at(scale, "spec", "replicas", NULL)), "2");
    check_str("selector", tree_str(tree_at(scale, "status", "selector", NULL)), "a in (x,z),b=c");
    check_true("put", kube_scale_put(s->k, s->a, kind, STR("default"), STR("d"),
                                     server_tree(s, "{spec: {replicas: 5}}"), &o, &d, &s->st));
    check_str("replicas", server_field(s, d, "spec.replicas"), "5");
    check_str("generation", server_field(s, d, "metadata.generation"), "2");
    check_true("negative", !kube_scale_put(s->k, s->a, kind, STR("default"), STR("d"),
                                           server_tree(s, "{spec: {replicas: -1}}"), &o, &d, &s->st));
    check_str(
        "refused", server_refusal(s),
        "422 Invalid: Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or "
        "equal to 0");
}

static void binding(void **state)
{
    struct server *s = *state;

    (void)server_create(s, "pods", POD);
    check_true("bind", kube_bind(s->k, s->a, STR("default"), STR("p"), STR("n1"), &s->st));
    const struct object *o = server_get(s, "pods", "p");
    check_str("node", server_field(s, o, "spec.nodeName"), "\"n1\"");
    check_str("condition", server_field(s, o, "status.conditions.0.type"), "\"PodScheduled\"");
    check_str("generation stays", server_field(s, o, "metadata.generation"), "1");
    check_true("again", !kube_bind(s->k, s->a, STR("default"), STR("p"), STR("n2"), &s->st));
    check_str(
        "refused", server_refusal(s),
        "409 Conflict: Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n1\"");
}

/* Order and lookup with more objects than a chunk holds, in and out. */
static void many_objects(void **state)
{
    struct server *s = *state;
    const struct kind *kind = server_kind(s, "configmaps");
    enum { N = 1000 };

    for (int i = 0; i < N; i++)
        check_true("create",
                   server_create(s, "configmaps", arena_printf(s->a, "{metadata: {name: c%d}}", i * 7919 % N).p));
    for (int i = 0; i < N; i += 3)
        check_true("delete", server_delete(s, "configmaps", arena_printf(s->a, "c%d", i).p, NULL));
    struct listing *l = listing_new(s->k, kind, STR("default"));
    check_u64("left", l->n, N - (N + 2) / 3);
    for (uint32_t i = 1; i < l->n; i++)
        check_true("in order", str_cmp(l->objects[i - 1]->name, l->objects[i]->name) < 0);
    for (int i = 0; i < N; i++)
        check_true("found", (server_get(s, "configmaps", arena_printf(s->a, "c%d", i).p) != NULL) == (i % 3 != 0));
    check_u64("counted", kube_count(s->k, kind), l->n);
    listing_free(l);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, server_setup, server_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(text_of_an_object),     TEST(fields_beside_the_text),
        TEST(names_are_generated),   TEST(bad_metadata_is_refused),
        TEST(the_same_twice),        TEST(updates_and_conflicts),
        TEST(status_and_spec_apart), TEST(dry_runs),
        TEST(field_validation),      TEST(patches),
        TEST(applying_creates),      TEST(put_makes_some_kinds),
        TEST(scale_there_and_back),  TEST(binding),
        TEST(many_objects),
    };

    return cmocka_run_group_tests_name("sim/kube/writes", tests, NULL, NULL);
}
