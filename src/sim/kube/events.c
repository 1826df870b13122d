/* Events as components record them, and their end: an event that nobody repeats is gone after an hour.
 *
 * The book remembers what was said of late, so that the same again counts up the event there is. */
#include <stdlib.h>

#include "base/map.h"
#include "data/edit.h"
#include "sim/kube/kube_int.h"

#define REMEMBERED 4096u
#define KEPT_US (3600 * INT64_C(1000000))

struct said {
    uint64_t hash;
    str ns, name; /* of the event; behind the struct */
};

struct event_book {
    struct said *ring[REMEMBERED];
    uint32_t next;
    struct lookup by_hash;
    uint64_t serial; /* makes names of events differ within a moment */
};

static bool said_has(const void *said, const void *hash)
{
    return ((const struct said *)said)->hash == *(const uint64_t *)hash;
}

/* ---- remembering ---- */

static void forget(struct event_book *b, struct said **s)
{
    if (!*s)
        return;
    lookup_remove(&b->by_hash, (*s)->hash, *s);
    free(*s);
    *s = NULL;
}

static void remember(struct event_book *b, uint64_t hash, const struct object *event)
{
    struct said *s = xmalloc(sizeof(*s) + event->ns.n + event->name.n), *known;
    char *p = (char *)(s + 1);

    if ((known = lookup_get(&b->by_hash, hash, &hash)))
        for (uint32_t i = 0; i < REMEMBERED; i++)
            if (b->ring[i] == known) {
                forget(b, &b->ring[i]);
                break;
            }
    memcpy(p, event->ns.p, event->ns.n);
    memcpy(p + event->ns.n, event->name.p, event->name.n);
    *s = (struct said){hash, {p, event->ns.n}, {p + event->ns.n, event->name.n}};
    forget(b, &b->ring[b->next]);
    b->ring[b->next] = s;
    b->next = (b->next + 1) % REMEMBERED;
    lookup_add(&b->by_hash, hash, s);
}

/* ---- writing ---- */

static void count_up(struct kube *k, struct arena *a, const struct object *event)
{
    struct tree *parts = tree_new_map(a);
    int64_t n = 1;

    (void)str_to_i64(object_part(event, STR("count")), &n);
    tree_set_i64(a, parts, "count", n + 1);
    tree_set_str(a, parts, "lastTimestamp", meta_time(a, world_now_ms(k->world)));
    object_ref(event);
    (void)write_parts(k, a, event, parts);
    object_unref(event);
}

static struct tree *new_event(struct kube *k, struct arena *a, const struct object *about, const char *component,
                              const char *type, const char *reason, str message)
{
    struct tree *obj = tree_new_map(a), *meta = tree_sub(a, obj, "metadata"), *ref;
    str now = meta_time(a, world_now_ms(k->world));
    unsigned long long id = (unsigned long long)world_now_ms(k->world) * 1000000u + k->event_book->serial++ % 1000000u;

    tree_set_str(a, meta, "name", arena_printf(a, STR_FMT ".%llx", STR_ARG(about->name), id));
    tree_set_str(a, meta, "namespace", about->ns.n ? about->ns : STR("default"));
    ref = tree_sub(a, obj, "involvedObject");
    tree_set_str(a, ref, "kind", about->kind->name);
    if (about->ns.n)
        tree_set_str(a, ref, "namespace", about->ns);
    tree_set_str(a, ref, "name", about->name);
    tree_set_str(a, ref, "uid", about->uid);
    tree_set_str(a, ref, "apiVersion", kind_api_version(a, about->kind));
    tree_set_str(a, ref, "resourceVersion", arena_printf(a, "%llu", (unsigned long long)about->rv));
    tree_set_str(a, obj, "reason", str_c(reason));
    tree_set_str(a, obj, "message", message);
    tree_set_str(a, tree_sub(a, obj, "source"), "component", str_c(component));
    tree_set_str(a, obj, "firstTimestamp", now);
    tree_set_str(a, obj, "lastTimestamp", now);
    tree_set_i64(a, obj, "count", 1);
    tree_set_str(a, obj, "type", str_c(type));
    tree_set_str(a, obj, "reportingComponent", str_c(component));
    tree_set_str(a, obj, "reportingInstance", STR(""));
    return obj;
}

static uint64_t hash_of(const struct object *about, const char *component, const char *type, const char *reason,
                        str message)
{
    uint64_t h = hash_bytes(about->uid.p, about->uid.n, 0);

    h = hash_bytes(component, strlen(component), h);
    h = hash_bytes(type, strlen(type), h);
    h = hash_bytes(reason, strlen(reason), h);
    return hash_bytes(message.p, message.n, h);
}

void kube_event(struct kube *k, const struct object *about, const char *component, const char *type, const char *reason,
                str message)
{
    AUTO(arena) struct arena *a = arena_new(8 << 10);
    uint64_t hash = hash_of(about, component, type, reason, message);
    const struct said *s = lookup_get(&k->event_book->by_hash, hash, &hash);
    const struct object *event = s ? kube_get(k, k->events, s->ns, s->name) : NULL;
    struct status st;

    if (event) {
        count_up(k, a, event);
        return;
    }
    /* It may be refused, when the namespace is on its way out: then nobody will read it either. */
    if (kube_create(k, a, k->events, new_event(k, a, about, component, type, reason, message), &event, &st))
        remember(k->event_book, hash, event);
}

/* ---- forgetting ---- */

static void on_event(void *ctx, const struct change *c)
{
    struct kube *k = ctx;
    const struct object *o = c->new ? c->new : c->old;
    struct sb key = {0};

    sb_str(&key, o->ns);
    sb_char(&key, '/');
    sb_str(&key, o->name);
    work_remove(k->event_expiry, sb_view(&key));
    if (c->new)
        work_add_after(k->event_expiry, sb_view(&key), KEPT_US);
    sb_fini(&key);
}

static void expire(void *ctx, str key)
{
    struct kube *k = ctx;
    AUTO(arena) struct arena *a = arena_new(8 << 10);
    struct status st;
    str ns, name;

    (void)str_cut(key, '/', &ns, &name);
    (void)kube_delete(k, a, k->events, ns, name, NULL, &st);
}

void events_init(struct kube *k)
{
    k->event_book = xcalloc(1, sizeof(*k->event_book));
    k->event_book->by_hash.has = said_has;
    k->event_expiry = work_new(k->world, "events", expire, k);
    kube_subscribe(k, k->events, on_event, k);
}

void events_fini(struct kube *k)
{
    work_free(k->event_expiry);
    for (uint32_t i = 0; i < REMEMBERED; i++)
        free(k->event_book->ring[i]);
    lookup_fini(&k->event_book->by_hash);
    free(k->event_book);
}
