#include "support/cluster_feed.h"

#include <stdarg.h>
#include <stdio.h>

#include "data/edit.h"
#include "data/reader.h"
#include "support/check.h"

#define MAX_EVENTS 4096

static void note_event(void *ctx, const struct store_event *ev)
{
    struct cluster_feed *w = ctx;

    if (w->events.n > MAX_EVENTS)
        sb_reset(&w->events); /* nobody has asked for a long time */
    sb_char(&w->events, "+~-"[ev->change]);
    sb_printf(&w->events, "%s " STR_FMT "%s" STR_FMT " ", object_kind_name(ev->kind), STR_ARG(ev->ns),
              ev->ns.n ? "/" : "", STR_ARG(ev->name));
}

static void note_error(void *ctx, enum object_kind kind, str ns, str name, const struct err *e)
{
    struct cluster_feed *w = ctx;

    sb_printf(&w->errors, "%s " STR_FMT "%s" STR_FMT ": %s\n", object_kind_name(kind), STR_ARG(ns), ns.n ? "/" : "",
              STR_ARG(name), e->msg);
}

int cluster_feed_setup(void **state)
{
    static const struct nodeclass_ref classes[] = {{STR_INIT("karpenter.kwok.sh"), STR_INIT("KWOKNodeClass"), {0}}};
    struct cluster_feed *w = xcalloc(1, sizeof(*w));

    w->a = arena_new(0);
    w->t = syms_new();
    w->s = store_new(&(struct store_options){w->t, classes, ARRAY_LEN(classes), .nomination_ms = 20000});
    w->f = feed_new(&(struct feed_options){.store = w->s, .ctx = w, .on_error = note_error});
    store_subscribe(w->s, note_event, w);
    w->well_known[0] = SYM(ZONE);
    w->well_known[1] = SYM(CT);
    w->well_known[2] = SYM(NP);
    w->catalog.rules = (struct label_rules){.well_known = w->well_known, .n_well_known = ARRAY_LEN(w->well_known)};
    *state = w;
    return 0;
}

int cluster_feed_teardown(void **state)
{
    struct cluster_feed *w = *state;

    feed_free(w->f);
    store_free(w->s);
    syms_free(w->t);
    arena_free(w->a);
    sb_fini(&w->events);
    sb_fini(&w->errors);
    free(w);
    return 0;
}

enum object_kind cluster_kind(str kind)
{
    if (str_ends(kind, STR("NodeClass")))
        return OBJ_NODECLASS;
    for (uint32_t k = 0; k < OBJ_OTHER; k++)
        if (str_is(kind, object_kind_name((enum object_kind)k)))
            return (enum object_kind)k;
    fail_msg("no kind \"" STR_FMT "\"", STR_ARG(kind));
    return OBJ_OTHER;
}

static bool is_namespaced(enum object_kind k)
{
    return k == OBJ_POD || k == OBJ_DAEMONSET || k == OBJ_PVC || k == OBJ_PDB || k == OBJ_SERVICE ||
           k == OBJ_REPLICASET || k == OBJ_STATEFULSET || k == OBJ_RC;
}

/* As an API server would hand it out. */
static struct tree *served(struct cluster_feed *w, const struct tree *t, enum object_kind *ret_kind)
{
    struct tree *obj = tree_copy(w->a, t), *m = tree_sub(w->a, obj, "metadata");
    enum object_kind kind = cluster_kind(tree_str(tree_get(obj, "kind")));

    w->version++;
    if (is_namespaced(kind) && !tree_get(m, "namespace"))
        tree_set_str(w->a, m, "namespace", STR("default"));
    if (!tree_get(m, "uid"))
        tree_set_str(w->a, m, "uid",
                     arena_printf(w->a, "uid-" STR_FMT "-" STR_FMT, STR_ARG(tree_str(tree_get(obj, "kind"))),
                                  STR_ARG(tree_str(tree_get(m, "name")))));
    if (!tree_get(m, "resourceVersion"))
        tree_set_str(w->a, m, "resourceVersion", arena_printf(w->a, "%llu", (unsigned long long)w->version));
    *ret_kind = kind;
    return obj;
}

typedef void (*feed_fn)(struct feed *f, enum object_kind kind, const struct tree *obj);

static void each(struct cluster_feed *w, str yaml, feed_fn fn)
{
    const struct tree *t = NULL;
    struct err e;
    AUTO(reader) struct reader *r = reader_open_bytes("test", yaml, &e);

    check_ok("yaml", r != NULL, &e);
    for (;;) {
        enum object_kind kind;

        check_ok("yaml", reader_next(r, &t, &e), &e);
        if (!t)
            return;
        const struct tree *obj = served(w, t, &kind);
        fn(w->f, kind, obj);
    }
}

void cluster_put(struct cluster_feed *w, const char *yaml)
{
    each(w, str_c(yaml), feed_put);
}

void cluster_gone(struct cluster_feed *w, const char *yaml)
{
    each(w, str_c(yaml), feed_gone);
}

void cluster_answer(struct cluster_feed *w, const char *yaml)
{
    each(w, str_c(yaml), feed_answer);
}

void cluster_putf(struct cluster_feed *w, const char *yaml, ...)
{
    char text[4096];
    va_list ap;

    va_start(ap, yaml);
    int n = vsnprintf(text, sizeof(text), yaml, ap);
    va_end(ap);
    assert_true(n > 0 && (size_t)n < sizeof(text));
    cluster_put(w, text);
}

struct snapshot *cluster_snapshot(struct cluster_feed *w)
{
    const struct settings st = {0};

    return store_snapshot(w->s, &st, &w->catalog, FEED_NOW_MS);
}

str cluster_events(struct cluster_feed *w)
{
    str said = arena_strdup(w->a, sb_view(&w->events));

    sb_reset(&w->events);
    return str_trim(said);
}
