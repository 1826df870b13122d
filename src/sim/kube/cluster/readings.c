#include "sim/kube/cluster/readings.h"

#include <stdlib.h>

#include "sim/kube/cluster/parts.h"
#include "sim/kube/cluster/table.h"

struct readings {
    struct table by_uid;
    uint64_t serial;
};

static void release(void *ctx, void *entry)
{
    struct reading *r = entry;

    (void)ctx;
    object_unref(r->o);
    arena_free(r->a);
    free(r);
}

static struct reading *reading_new(struct readings *p, str uid)
{
    struct reading *r = xcalloc(1, sizeof(*r) + uid.n);

    r->uid = (str){memcpy(r + 1, uid.p, uid.n), uid.n};
    r->a = arena_new(0);
    table_put(&p->by_uid, r);
    return r;
}

struct reading *reading_of(struct readings *p, const struct object *o)
{
    struct reading *r = table_get(&p->by_uid, o->uid);

    if (!r)
        r = reading_new(p, o->uid);
    if (r->o && object_same_but_status(r->o, o))
        return r;
    object_ref(o);
    object_unref(r->o);
    arena_reset(r->a);
    r->o = o;
    r->meta = kube_part(r->a, o, "metadata");
    r->spec = kube_part(r->a, o, "spec");
    r->serial = ++p->serial;
    return r;
}

static void on_change(void *ctx, struct seen *s)
{
    struct readings *p = ctx;
    struct reading *gone =
        s->old && (!s->new || !str_eq(s->new->uid, s->old->uid)) ? table_take(&p->by_uid, s->old->uid) : NULL;

    if (gone)
        release(NULL, gone);
}

struct readings *readings_new(struct cluster *c)
{
    struct readings *p = xcalloc(1, sizeof(*p));

    see(c, c->kinds.deployment, on_change, p);
    see(c, c->kinds.replica_set, on_change, p);
    return p;
}

void readings_free(struct readings *p)
{
    if (!p)
        return;
    table_drain(&p->by_uid, release, NULL);
    free(p);
}
