/* Who names whom as an owner: for every uid that is named, the list of those that name it.
 *
 * A list is in the order in which its members came, so that whoever walks it does the same in every run. */
#include <stdlib.h>

#include "base/map.h"
#include "sim/kube/kube_int.h"

struct owned_by {
    str uid; /* behind the struct */
    struct owner_link *first, *last;
};

bool owned_by_has(const void *owned, const void *uid)
{
    return str_eq(((const struct owned_by *)owned)->uid, *(const str *)uid);
}

static struct owned_by *find(const struct kube *k, str uid)
{
    return lookup_get(&k->owned, hash_bytes(uid.p, uid.n, 0), &uid);
}

static struct owned_by *find_or_make(struct kube *k, str uid)
{
    struct owned_by *by = find(k, uid);

    if (by)
        return by;
    by = xcalloc(1, sizeof(*by) + uid.n);
    char *p = (char *)(by + 1);
    if (uid.n)
        memcpy(p, uid.p, uid.n);
    by->uid = (str){p, uid.n};
    lookup_add(&k->owned, hash_bytes(uid.p, uid.n, 0), by);
    return by;
}

static void unlink_one(struct kube *k, struct owner_link *l)
{
    struct owned_by *by = l->owner;

    *(l->prev ? &l->prev->next : &by->first) = l->next;
    *(l->next ? &l->next->prev : &by->last) = l->prev;
    if (by->first)
        return;
    lookup_remove(&k->owned, hash_bytes(by->uid.p, by->uid.n, 0), by);
    free(by);
}

/* Nearly every update leaves the owners alone. */
static bool unchanged(const struct entry *e, const struct object *o)
{
    uint32_t n = o ? o->n_owners : 0;

    if (e->n_links != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!str_eq(e->links[i].owner->uid, o->owners[i].uid))
            return false;
    return true;
}

void owners_set(struct kube *k, struct entry *e, const struct object *o)
{
    if (unchanged(e, o))
        return;
    for (uint32_t i = 0; i < e->n_links; i++)
        unlink_one(k, &e->links[i]);
    free(e->links);
    e->n_links = o ? o->n_owners : 0;
    e->links = e->n_links ? xcalloc(e->n_links, sizeof(*e->links)) : NULL;
    for (uint32_t i = 0; i < e->n_links; i++) {
        struct owner_link *l = &e->links[i];

        l->owner = find_or_make(k, o->owners[i].uid);
        l->entry = e;
        l->prev = l->owner->last;
        *(l->prev ? &l->prev->next : &l->owner->first) = l;
        l->owner->last = l;
    }
}

void owners_each(const struct kube *k, str uid, void (*fn)(void *ctx, const struct object *o), void *ctx)
{
    const struct owned_by *by = find(k, uid);

    for (const struct owner_link *l = by ? by->first : NULL; l; l = l->next)
        fn(ctx, l->entry->now);
}

bool owners_any(const struct kube *k, str uid)
{
    return find(k, uid) != NULL;
}
