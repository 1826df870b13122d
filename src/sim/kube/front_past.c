/* Lists of an earlier moment: what is there now, with everything undone that the watch window says happened since. Pages of a
 * list are consistent because each is cut from the same moment; how far back that goes is how far back a watch can go. */
#include "sim/kube/front_int.h"

struct happened {
    enum watch_event type;
    const struct object *old, *obj; /* referenced; old may be NULL */
};

struct since {
    const struct request *r;
    VEC(struct happened) events;
    bool dropped;
};

static void on_event(void *ctx, enum watch_event type, const struct object *old, const struct object *obj)
{
    struct since *s = ctx;
    const struct kind *kind = s->r->route.kind;

    vec_push(&s->events, (struct happened){type, old ? kube_object_as(s->r->kube, old, kind) : NULL,
                                           kube_object_as(s->r->kube, obj, kind)});
}

static void on_dropped(void *ctx)
{
    ((struct since *)ctx)->dropped = true;
}

static void since_fini(struct since *s)
{
    for (uint32_t i = 0; i < s->events.n; i++) {
        if (s->events.v[i].old)
            object_unref(s->events.v[i].old);
        object_unref(s->events.v[i].obj);
    }
    vec_fini(&s->events);
}

int past_cmp(const struct object *o, str ns, str name)
{
    int c = str_cmp(o->ns, ns);

    return c ? c : str_cmp(o->name, name);
}

uint32_t past_find(const struct past *p, str ns, str name)
{
    uint32_t lo = 0, hi = p->list.n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (past_cmp(p->list.v[mid], ns, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void undo(struct past *p, const struct happened *h)
{
    uint32_t at = past_find(p, h->obj->ns, h->obj->name);
    bool there = at < p->list.n && past_cmp(p->list.v[at], h->obj->ns, h->obj->name) == 0;

    if (there) {
        object_unref(p->list.v[at]);
        memmove(p->list.v + at, p->list.v + at + 1, (p->list.n - at - 1) * sizeof(p->list.v[0]));
        p->list.n--;
    }
    if (!h->old)
        return;
    object_ref(h->old);
    vec_push(&p->list, h->old);
    memmove(p->list.v + at + 1, p->list.v + at, (p->list.n - at - 1) * sizeof(p->list.v[0]));
    p->list.v[at] = h->old;
}

void past_now(struct request *r, struct past *ret)
{
    struct listing *l = listing_new(r->kube, r->route.kind, r->route.ns);

    *ret = (struct past){.rv = l->rv};
    vec_reserve(&ret->list, l->n);
    for (uint32_t i = 0; i < l->n; i++)
        vec_push(&ret->list, kube_object_as(r->kube, l->objects[i], r->route.kind));
    listing_free(l);
}

bool past_at(struct request *r, uint64_t rv, struct past *ret, struct status *st)
{
    struct since s = {.r = r};
    struct watch *w;

    if (rv > kube_rv(r->kube))
        return status_too_large_rv(r->a, st, rv, kube_rv(r->kube));
    if (rv < kube_rv(r->kube)) {
        if (!kube_watch(r->kube, r->a, r->route.kind, r->route.ns, rv, on_event, &s, on_dropped, &w, st)) {
            since_fini(&s);
            return false;
        }
        if (!s.dropped)
            kube_unwatch(w);
    }
    past_now(r, ret);
    ret->rv = rv;
    for (uint32_t i = s.events.n; i-- > 0;)
        undo(ret, &s.events.v[i]);
    since_fini(&s);
    return true;
}

void past_fini(struct past *p)
{
    for (uint32_t i = 0; i < p->list.n; i++)
        object_unref(p->list.v[i]);
    vec_fini(&p->list);
}
