/* Watches into the store: whatever goes wrong between the server and us, in the end the store has what the server has, and
 * every object in the version that the server has. */
#include "control/feed.h"

#include "support/check.h"
#include "support/cluster_feed.h"
#include "support/feed_server.h"

#define MINUTE_MS 60000
#define N_SEEDS 6

struct feeder {
    struct feed_server *server;
    struct store *s;
    struct feed *f;
    bool listed;
    uint32_t n_events;
};

static void on_error(void *ctx UNUSED, enum object_kind kind, str ns UNUSED, str name, const struct err *e)
{
    if (name.n)
        fail_msg("%s " STR_FMT " cannot be read: %s", object_kind_name(kind), STR_ARG(name), e->msg);
}

static void on_listed(void *ctx)
{
    struct feeder *w = ctx;

    check_true("once", !w->listed);
    w->listed = true;
}

static void on_event(void *ctx, const struct store_event *ev UNUSED)
{
    ((struct feeder *)ctx)->n_events++;
}

struct comparing {
    struct feeder *w;
    enum object_kind kind;
    const char *name, *group, *ns;
    uint32_t n;
};

static void compare_one(void *ctx, str name, uint64_t version)
{
    struct comparing *c = ctx;
    AUTO(arena) struct arena *a = arena_new(0);

    if (c->kind == OBJ_NODECLASS)
        name = arena_printf(a, "%s/%s/" STR_FMT, c->group, c->name, STR_ARG(name));
    check_u64(c->name, store_version(c->w->s, c->kind, str_c(c->ns), name), version);
    c->n++;
}

static void check_equal(struct feeder *w)
{
    for (uint32_t i = 0; i < FEED_SERVER_KINDS; i++) {
        struct comparing c = {.w = w};

        c.name = feed_server_kind(i, &c.group, &c.ns);
        c.kind = cluster_kind(str_c(c.name));
        feed_server_each(w->server, i, compare_one, &c);
        check_u64(c.name, c.kind == OBJ_POD ? store_pod_count(w->s) : store_names(w->s, c.kind).n, c.n);
    }
}

static void run(uint64_t seed, bool bad)
{
    static const struct cloud_class classes[] = {
        {"karpenter.kwok.sh", "v1alpha1", "KWOKNodeClass", "kwoknodeclasses", NULL}};
    static const struct nodeclass_ref refs[] = {{STR_INIT("karpenter.kwok.sh"), STR_INIT("KWOKNodeClass"), {0}}};
    struct feeder w = {.server = feed_server_new(seed, bad)};
    AUTO(syms) struct syms *t = syms_new();
    AUTO(kube_config) struct kube_config *config = kube_config_fixed(STR(FEED_SERVER_URL), (str){0}, NULL);
    AUTO(api) struct api *api = api_new(feed_server_client(w.server), config, &(struct api_options){0});

    w.s = store_new(&(struct store_options){t, refs, ARRAY_LEN(refs), .nomination_ms = 20000});
    w.f = feed_new(&(struct feed_options){.store = w.s,
                                          .classes = classes,
                                          .n_classes = ARRAY_LEN(classes),
                                          .owners = true,
                                          .ctx = &w,
                                          .on_error = on_error,
                                          .on_listed = on_listed});
    store_subscribe(w.s, on_event, &w);
    feed_watch(w.f, api);
    check_true("not before the lists", !store_synced(w.s) && !feed_listed(w.f));
    feed_server_run(w.server, 3 * MINUTE_MS);
    feed_server_heal(w.server);
    feed_server_run(w.server, 4 * MINUTE_MS);
    check_true("listed", w.listed && feed_listed(w.f));
    check_true("much happened", feed_server_written(w.server) > 200 && w.n_events > 100);
    check_equal(&w);
    feed_server_kill_client(w.server);
    feed_free(w.f);
    store_free(w.s);
    feed_server_free(w.server);
}

static void a_good_day(void **state UNUSED)
{
    run(1, /* bad= */ false);
}

static void bad_days(void **state UNUSED)
{
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++)
        run(seed, /* bad= */ true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_good_day), cmocka_unit_test(bad_days)};

    return cmocka_run_group_tests_name("control/feed", tests, NULL, NULL);
}
