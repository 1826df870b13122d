/* Watches, subscribers, the window of revisions; custom kinds; events; loading and saving. */
#include "data/edit.h"
#include "support/check.h"
#include "support/kube_server.h"

struct seen {
    struct sb text; /* "+a ~a -a " */
    uint64_t last_rv;
    uint32_t dropped;
    struct watch *watch;
    bool end_at_once;
};

static void on_watch(void *ctx, enum watch_event type, const struct object *old, const struct object *obj)
{
    struct seen *seen = ctx;

    check_true("what was before", (old == NULL) == (type == WATCH_ADDED));
    check_true("in order", obj->rv > seen->last_rv);
    seen->last_rv = obj->rv;
    sb_printf(&seen->text, "%c" STR_FMT " ", "+~-"[type], STR_ARG(obj->name));
    if (seen->end_at_once)
        kube_unwatch(seen->watch);
}

static void on_dropped(void *ctx)
{
    ((struct seen *)ctx)->dropped++;
}

static bool watch(struct server *s, const char *ns, uint64_t since, struct seen *seen)
{
    return kube_watch(s->k, s->a, server_kind(s, "configmaps"), str_c(ns), since, on_watch, seen, on_dropped,
                      &seen->watch, &s->st);
}

static void what_was_and_what_comes(void **state)
{
    struct server *s = *state;
    struct seen all = {0}, other = {0}, once = {.end_at_once = true};
    uint64_t start = kube_rv(s->k);

    (void)server_create(s, "configmaps", "{metadata: {name: a}}");
    (void)server_create(s, "secrets", "{metadata: {name: s}}");
    check_true("watch", watch(s, "default", start, &all) && watch(s, "other", start, &other));
    check_str("from the window", sb_view(&all.text), "+a ");
    check_true("watch", watch(s, "", kube_rv(s->k), &once));
    (void)server_update(s, "configmaps", NULL, "{metadata: {name: a}, data: {x: y}}");
    (void)server_create(s, "configmaps", "{metadata: {name: b}}");
    (void)server_delete(s, "configmaps", "a", NULL);
    check_str("as it happens", sb_view(&all.text), "+a ~a +b -a ");
    check_u64("a removal has a revision", all.last_rv, kube_rv(s->k));
    check_str("another namespace", sb_view(&other.text), "");
    check_str("ended from inside", sb_view(&once.text), "~a ");
    kube_unwatch(other.watch);
    kube_drop_watches(s->k);
    check_u64("dropped", all.dropped, 1);
    check_u64("ended before", other.dropped + once.dropped, 0);
    sb_fini(&all.text);
    sb_fini(&other.text);
    sb_fini(&once.text);
}

static void the_window_has_an_end(void **state)
{
    struct server *s = *state;
    struct seen seen = {0};
    uint64_t start = kube_rv(s->k);

    (void)server_create(s, "configmaps", "{metadata: {name: a}}");
    kube_compact(s->k);
    check_true("too old", !watch(s, "", start, &seen));
    check_i64("gone", s->st.code, 410);
    check_true("not yet", !watch(s, "", kube_rv(s->k) + 1, &seen));
    check_i64("timeout", s->st.code, 504);
    check_true("now", watch(s, "", kube_rv(s->k), &seen));
    sim_run_for(s->sim, 299 * INT64_C(1000000));
    start = kube_rv(s->k);
    (void)server_create(s, "configmaps", "{metadata: {name: b}}");
    kube_unwatch(seen.watch);
    seen.last_rv = 0;
    sim_run_for(s->sim, 2 * INT64_C(1000000));
    (void)server_create(s, "configmaps", "{metadata: {name: c}}");
    check_true("five minutes", watch(s, "", start, &seen));
    check_str("seen", sb_view(&seen.text), "+b +b +c ");
    kube_unwatch(seen.watch);
    sb_fini(&seen.text);
}

struct told {
    struct server *s;
    struct sb text;
};

static void on_change(void *ctx, const struct change *c)
{
    struct told *t = ctx;

    sb_printf(&t->text, STR_FMT ">" STR_FMT " ", STR_ARG(tree_str(tree_at(change_old(c), "data", "v", NULL))),
              STR_ARG(tree_str(tree_at(change_new(c), "data", "v", NULL))));
}

static void subscribers(void **state)
{
    struct server *s = *state;
    struct told t = {.s = s};

    kube_subscribe(s->k, server_kind(s, "configmaps"), on_change, &t);
    (void)server_create(s, "configmaps", "{metadata: {name: a}, data: {v: '1'}}");
    (void)server_create(s, "secrets", "{metadata: {name: a}}");
    (void)server_update(s, "configmaps", NULL, "{metadata: {name: a}, data: {v: '2'}}");
    (void)server_update(s, "configmaps", NULL, "{metadata: {name: a}, data: {v: '2'}}");
    (void)server_delete(s, "configmaps", "a", NULL);
    check_str("told", sb_view(&t.text), ">1 1>2 2> ");
    sb_fini(&t.text);
}

/* A revision that somebody holds outlives its object. */
static void held_revisions(void **state)
{
    struct server *s = *state;
    const struct object *o = server_create(s, "configmaps", "{metadata: {name: a, labels: {l: v}}}");

    object_ref(o);
    (void)server_delete(s, "configmaps", "a", NULL);
    kube_compact(s->k);
    check_str("still readable", object_label(o, STR("l")), "v");
    object_unref(o);
}

/* ---- custom kinds ---- */

#define CRD(names)                                                                                                     \
    "apiVersion: apiextensions.k8s.io/v1\n"                                                                            \
    "kind: CustomResourceDefinition\n"                                                                                 \
    "metadata: {name: foos.x.io}\n"                                                                                    \
    "spec:\n"                                                                                                          \
    "  group: x.io\n"                                                                                                  \
    "  scope: Namespaced\n"                                                                                            \
    "  names: {kind: Foo, listKind: FooList, singular: foo, plural: foos, shortNames: [" names "]}\n"                  \
    "  versions:\n"                                                                                                    \
    "  - name: v1\n"                                                                                                   \
    "    served: true\n"                                                                                               \
    "    storage: true\n"                                                                                              \
    "    subresources: {status: {}}\n"                                                                                 \
    "    selectableFields: [{jsonPath: .spec.color}]\n"                                                                \
    "    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {color: {type: "       \
    "string}}}, status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}\n"

static void a_kind_comes_and_goes(void **state)
{
    struct server *s = *state;
    uint64_t version = kube_kinds_version(s->k);

    check_true("created", server_create(s, "customresourcedefinitions", CRD("fo")));
    check_true("not at once", !kube_kind(s->k, STR("x.io"), STR("Foo")));
    server_settle(s);
    const struct kind *foo = kube_kind(s->k, STR("x.io"), STR("Foo"));
    check_true("served", foo && foo->has_status && foo->namespaced && kube_kinds_version(s->k) != version);
    const struct object *crd = server_get(s, "customresourcedefinitions", "foos.x.io");
    check_str("names", server_field(s, crd, "status.conditions.0.type"), "\"NamesAccepted\"");
    check_str("established", server_field(s, crd, "status.conditions.1.status"), "\"True\"");
    check_str("accepted", server_field(s, crd, "status.acceptedNames.plural"), "\"foos\"");
    check_str("stored", server_field(s, crd, "status.storedVersions"), "[\"v1\"]");

    const struct object *o = server_create(
        s, "foos", "{metadata: {name: f, finalizers: [a.b/c]}, spec: {color: red}, status: {ready: true}}");
    check_str("status is not for clients", server_field(s, o, "status"), "");
    check_str("selectable", o->fields[0].value, "red");
    o = server_update(s, "foos", "status",
                      "{metadata: {name: f, labels: {a: b}}, spec: {color: blue}, status: {ready: true}}");
    check_str("status", server_field(s, o, "status"), "{\"ready\":true}");
    check_str("spec", server_field(s, o, "spec.color"), "\"red\"");
    check_u64("labels", o->n_labels, 0);

    check_true("deleted", server_delete(s, "customresourcedefinitions", "foos.x.io", NULL));
    server_settle(s);
    crd = server_get(s, "customresourcedefinitions", "foos.x.io");
    check_str("waits", server_field(s, crd, "status.conditions.2.reason"), "\"InstanceDeletionInProgress\"");
    check_true("marked", server_get(s, "foos", "f")->deleted_ms);
    check_true("let go", server_patch(s, "foos", "f", NULL, "{metadata: {finalizers: null}}"));
    server_settle(s);
    check_true("gone", !server_get(s, "customresourcedefinitions", "foos.x.io"));
    check_true("and the kind", !kube_kind(s->k, STR("x.io"), STR("Foo")) && !kube_kind_at(s->k, foo->ix));
}

/* ---- loading ---- */

static void load_save_restore(void **state)
{
    struct server *s = *state;
    struct err e = {0};
    struct sb saved = {0}, again = {0};
    static const char manifest[] =
        CRD("fo") "---\n"
                  "{apiVersion: x.io/v1, kind: Foo, metadata: {name: f}, spec: {color: red}}\n"
                  "---\n"
                  "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {v: '1'}}\n";

    check_ok("load", kube_load(s->k, "m.yaml", STR(manifest), &e), &e);
    check_ok("load again", kube_load(s->k, "m.yaml", STR(manifest), &e), &e);
    check_true("there", server_get(s, "foos", "f") && server_get(s, "configmaps", "c"));
    check_true("unknown", !kube_load(s->k, "m", STR("{apiVersion: y.io/v1, kind: Bar, metadata: {name: f}}"), &e));
    check_str("why", str_c(e.msg), "m:1: no kind \"Bar\" in version \"y.io/v1\"");
    check_true("refused", !kube_load(s->k, "m", STR("{apiVersion: v1, kind: Secret, metadata: {name: F_}}"), &e));

    server_settle(s);
    kube_save(s->k, &saved);
    struct kube *copy = kube_new(s->world, &(struct kube_options){.version = "v1.36.3"});
    check_ok("restore", kube_restore(copy, "s.json", sb_view(&saved), &e), &e);
    const struct kind *foo = kube_kind(copy, STR("x.io"), STR("Foo"));
    check_true("kind", foo);
    const struct object *was = server_get(s, "foos", "f"), *is = kube_get(copy, foo, STR("default"), STR("f"));
    check_true("the same", is && str_eq(is->json, was->json));
    sim_run_for(s->sim, 1000000);
    kube_save(copy, &again);
    check_u64("as much", again.n, saved.n);
    uint64_t rv = kube_rv(copy);
    check_true("bad", !kube_restore(copy, "b", STR("{kind: Secret, apiVersion: v1, metadata: {name: x}}"), &e));
    check_u64("nothing changed", kube_rv(copy), rv);
    kube_free(copy);
    sb_fini(&saved);
    sb_fini(&again);
}

/* ---- events ---- */

static void events_are_counted_and_expire(void **state)
{
    struct server *s = *state;
    const struct kind *events = server_kind(s, "events");
    const struct object *pod = server_create(s, "configmaps", "{metadata: {name: c}}");

    kube_event(s->k, pod, "scheduler", "Warning", "FailedScheduling", STR("no room"));
    kube_event(s->k, pod, "scheduler", "Warning", "FailedScheduling", STR("no room"));
    kube_event(s->k, pod, "scheduler", "Warning", "FailedScheduling", STR("too few"));
    check_u64("two events", kube_count(s->k, events), 2);
    struct listing *l = listing_new(s->k, events, (str){0});
    check_str("counted", server_field(s, l->objects[0], "count"), "2");
    check_str("about", server_field(s, l->objects[0], "involvedObject.name"), "\"c\"");
    listing_free(l);
    sim_run_for(s->sim, 3599 * INT64_C(1000000));
    check_u64("an hour", kube_count(s->k, events), 2);
    sim_run_for(s->sim, 2 * INT64_C(1000000));
    check_u64("later", kube_count(s->k, events), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, server_setup, server_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_and_what_comes),
        TEST(the_window_has_an_end),
        TEST(subscribers),
        TEST(held_revisions),
        TEST(a_kind_comes_and_goes),
        TEST(load_save_restore),
        TEST(events_are_counted_and_expire),
    };

    return cmocka_run_group_tests_name("sim/kube/watches", tests, NULL, NULL);
}
