#include "support/claim_lab.h"

#include <stdlib.h>

#include "cloud/catalog.h"
#include "control/feed.h"
#include "data/edit.h"
#include "support/check.h"
#include "support/trees.h"

#define CLASS "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n"

/* ---- what the controllers need ---- */

static void keep_line(void *ctx, str line)
{
    sb_str(ctx, line);
}

static int64_t now_ms(void *w)
{
    return world_now_ms(w);
}

static void report(void *ctx, enum object_kind kind, str ns, str name, const struct err *e)
{
    struct claim_lab *l = ctx;

    (void)ns;
    sb_printf(&l->log, "feed: %s " STR_FMT ": %s\n", object_kind_name(kind), STR_ARG(name), e->msg);
}

static void make_store(struct claim_lab *l)
{
    struct cloud *cloud = l->c.cloud;
    struct nodeclass_ref class = {.group = str_c(cloud->classes[0].group), .kind = str_c(cloud->classes[0].kind)};

    l->c.store = store_new(
        &(struct store_options){.syms = l->c.syms, .classes = &class, .n_classes = 1, .nomination_ms = 20000});
    l->c.feed = feed_new(&(struct feed_options){
        .store = l->c.store, .classes = cloud->classes, .n_classes = cloud->n_classes, .ctx = l, .on_error = report});
}

static void begin(struct claim_lab *l)
{
    l->c.world = l->far->world;
    l->c.api = l->far->api;
    fakecloud_move(l->cloud, l->far->world);
    l->c.log = log_new(LOG_DEBUG, &(struct log_sink){&l->log, keep_line}, now_ms, l->far->world);
    l->registry = metrics_new();
    l->c.metrics =
        control_metrics_new(l->registry, &(struct control_metrics_options){.classes = l->c.cloud->classes,
                                                                           .n_classes = l->c.cloud->n_classes});
    make_store(l);
    l->c.manager = manager_new(l->far->world, l->c.log, l->registry);
    l->c.recorder = recorder_new(l->c.api, STR("karpenter"), l->c.log);
    l->claims = claims_new(&l->c);
    feed_watch(l->c.feed, l->c.api);
    for (int i = 0; i < 100 && !feed_listed(l->c.feed); i++)
        far_run(l->far, 0.01);
    check_true("all is listed", feed_listed(l->c.feed));
    manager_start(l->c.manager);
    far_run(l->far, 0.01);
}

static void end(struct claim_lab *l)
{
    feed_free(l->c.feed);
    far_kill(l->far);
    manager_free(l->c.manager);
    recorder_free(l->c.recorder);
    claims_free(l->claims);
    store_free(l->c.store);
    metrics_free(l->registry);
    control_metrics_free(l->c.metrics);
    log_free(l->c.log);
}

int claim_lab_setup(void **state)
{
    struct claim_lab *l = xcalloc(1, sizeof(*l));
    struct err e = {0};

    l->far = far_new(1);
    l->a = l->far->a;
    l->catalog = arena_new(0);
    l->options.cpu_milli = 1000;
    l->options.gate_static_capacity = true;
    l->c.options = &l->options;
    l->c.syms = syms_new();
    const struct catalog *catalog = catalog_builtin(l->catalog, l->c.syms, STR("kwok"), &e);
    check_true("a catalogue", catalog != NULL);
    l->cloud = fakecloud_new(l->far->world, l->c.syms, catalog);
    l->c.cloud = fakecloud_cloud(l->cloud);
    far_apply(l->far, CLASS);
    begin(l);
    *state = l;
    return 0;
}

int claim_lab_teardown(void **state)
{
    struct claim_lab *l = *state;

    end(l);
    fakecloud_free(l->cloud);
    far_free(l->far);
    syms_free(l->c.syms);
    arena_free(l->catalog);
    sb_fini(&l->log);
    free(l);
    return 0;
}

void claim_lab_restart(struct claim_lab *l)
{
    end(l);
    far_start(l->far);
    begin(l);
}

/* ---- for tests ---- */

void claim_lab_join(struct claim_lab *l, const char *claim)
{
    struct tree *node = fakecloud_node(l->cloud, l->a, fakecloud_machine_of(l->cloud, str_c(claim)));

    check_true("a machine", node != NULL);
    tree_set_str(l->a, tree_path(l->a, node, "metadata", "annotations", NULL), "kwok.x-k8s.io/node", STR("fake"));
    far_apply(l->far, arena_printf(l->a, STR_FMT "%c", STR_ARG(tree_text(l->a, node)), 0).p);
}

str claim_lab_cond(struct claim_lab *l, const char *claim, const char *type)
{
    str text = far_condition(l->far, "nodeclaims", claim, type), head, tail;

    (void)str_cut(text, ':', &head, &tail);
    return head;
}

static void print_fields(struct sb *b, const struct tree *line)
{
    static const char *const common[] = {"caller",      "time",       "level",     "logger",         "message",
                                         "commit",      "controller", "namespace", "controllerKind", "controllerGroup",
                                         "reconcileID", "name"};

    sb_str(b, tree_str(tree_get(line, "level")));
    for (uint32_t i = 0; i < line->n; i++) {
        size_t k = 0;

        while (k < ARRAY_LEN(common) && !str_is(line->keys[i], common[k]))
            k++;
        if (k == ARRAY_LEN(common)) {
            AUTO(arena) struct arena *a = arena_new(0);

            sb_printf(b, " " STR_FMT "=" STR_FMT, STR_ARG(line->keys[i]), STR_ARG(tree_text(a, &line->items[i])));
        }
    }
}

str claim_lab_log(struct claim_lab *l, const char *message)
{
    str rest = sb_view(&l->log), text;
    struct sb b = {0};

    while (rest.n) {
        (void)str_cut(rest, '\n', &text, &rest);
        if (!str_starts(text, STR("{")))
            continue;
        const struct tree *line = tree_yaml(l->a, arena_printf(l->a, STR_FMT "%c", STR_ARG(text), 0).p);
        if (!str_is(tree_str(tree_get(line, "message")), message))
            continue;
        if (b.n)
            sb_char(&b, '\n');
        print_fields(&b, line);
    }
    str s = sb_dup(&b, l->a);
    sb_fini(&b);
    return s;
}
