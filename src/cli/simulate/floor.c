#include "cli/simulate/floor.h"

#include <math.h>
#include <stdlib.h>

#include "base/htab.h"
#include "base/map.h"
#include "base/sb.h"
#include "data/json.h"
#include "sim/kube/kube.h"

struct heard_pod { /* on a node of a NodePool */
    struct htab_node by_uid;
    uint32_t group;
};

struct heard_group {
    str pod;
    uint32_t n, least; /* now, and the fewest since the piece began */
};

struct floor {
    struct kube *kube;
    struct floor_plan *plan;
    struct arena *arena;
    const struct kind *nodes;
    struct htab pods;
    struct strmap group_ix; /* by pod */
    VEC(struct heard_group) groups;
    struct strmap asked; /* by the numbers of a question */
    VEC(double) answers; /* USD an hour */
    int64_t since_us;
    double usd;
    bool begun, changed;
};

/* ---- what a pod is ---- */

static bool is_one_of(str key, const char *const *names)
{
    for (; *names; names++)
        if (str_is(key, *names))
            return true;
    return false;
}

static void put_members(struct jw *w, const struct tree *t, const char *const *names)
{
    jw_map(w);
    for (uint32_t i = 0; t && i < t->n; i++)
        if (is_one_of(t->keys[i], names)) {
            jw_key_str(w, t->keys[i]);
            jw_tree(w, &t->items[i]);
        }
    jw_end(w);
}

static void put_containers(struct jw *w, const struct tree *list)
{
    static const char *const names[] = {"name", "image", "resources", "ports", "restartPolicy", NULL};

    jw_list(w);
    for (uint32_t i = 0; list && i < list->n; i++)
        put_members(w, &list->items[i], names);
    jw_end(w);
}

/* A template with what decides on which nodes a pod may be, however full of others they are. Other wishes only forbid. */
static void put_template(struct sb *out, const struct tree *spec)
{
    static const char *const plain[] = {"nodeSelector", "tolerations", "overhead", "resources", NULL},
                             *const node[] = {"nodeAffinity", NULL};
    struct jw w = {.out = out};

    jw_map(&w);
    jw_key(&w, "metadata");
    jw_map(&w);
    jw_key(&w, "labels");
    jw_map(&w);
    jw_key(&w, "floor");
    jw_c(&w, "x");
    jw_end(&w);
    jw_end(&w);
    jw_key(&w, "spec");
    jw_map(&w);
    for (uint32_t i = 0; i < spec->n; i++) {
        if (is_one_of(spec->keys[i], plain)) {
            jw_key_str(&w, spec->keys[i]);
            jw_tree(&w, &spec->items[i]);
        } else if (str_is(spec->keys[i], "affinity")) {
            jw_key(&w, "affinity");
            put_members(&w, &spec->items[i], node);
        } else if (str_is(spec->keys[i], "containers") || str_is(spec->keys[i], "initContainers")) {
            jw_key_str(&w, spec->keys[i]);
            put_containers(&w, &spec->items[i]);
        }
    }
    jw_end(&w);
    jw_end(&w);
}

static uint32_t group_of(struct floor *f, const struct tree *spec)
{
    struct sb b = {0};

    put_template(&b, spec);
    uint32_t ix = strmap_get(&f->group_ix, sb_view(&b));
    if (ix == MAP_NONE) {
        ix = f->groups.n;
        vec_push(&f->groups, (struct heard_group){.pod = arena_strdup(f->arena, sb_view(&b))});
        strmap_put(&f->group_ix, f->groups.v[ix].pod, ix);
    }
    sb_fini(&b);
    return ix;
}

/* ---- where it is ---- */

static bool is_daemon(const struct object *o)
{
    for (uint32_t i = 0; i < o->n_owners; i++)
        if (o->owners[i].controller && (str_is(o->owners[i].kind, "DaemonSet") || str_is(o->owners[i].kind, "Node")))
            return true;
    return false;
}

/* On a node that somebody pays for. One that is on its way out may outlive its node. */
static bool is_there(const struct floor *f, const struct object *o)
{
    str node = o ? object_field(o, "spec.nodeName") : (str){0}, phase;

    if (node.n == 0 || o->deleted_ms || is_daemon(o))
        return false;
    phase = object_field(o, "status.phase");
    if (str_is(phase, "Succeeded") || str_is(phase, "Failed"))
        return false;
    const struct object *n = kube_get(f->kube, f->nodes, (str){0}, node);
    return n && object_label(n, STR("karpenter.sh/nodepool")).n;
}

static void on_pod(void *ctx, const struct change *c)
{
    struct floor *f = ctx;
    str uid = (c->new ? c->new : c->old)->uid;
    struct heard_pod *p = HTAB_THING(htab_get(&f->pods, uid), struct heard_pod, by_uid);
    bool there = is_there(f, c->new);

    if (there && !p) {
        p = xcalloc(1, sizeof(*p) + uid.n);
        p->by_uid.key = (str){memcpy(p + 1, uid.p, uid.n), uid.n};
        p->group = group_of(f, change_part(c, "spec"));
        f->groups.v[p->group].n++;
        htab_put(&f->pods, &p->by_uid);
    } else if (!there && p) {
        struct heard_group *g = &f->groups.v[p->group];

        g->n--;
        g->least = MIN(g->least, g->n);
        htab_del(&f->pods, &p->by_uid);
        free(p);
    }
}

static void on_config(void *ctx, const struct change *c)
{
    struct floor *f = ctx;

    if (f->begun && !(c->old && c->new &&object_same_but_status(c->old, c->new)))
        f->changed = true;
}

/* ---- pieces of time ---- */

struct floor *floor_new(struct kube *k, struct floor_plan *p)
{
    static const struct {
        const char *group, *kind;
    } config[] = {{"karpenter.sh", "NodePool"}, {"karpenter.sh", "NodeOverlay"}, {"apps", "DaemonSet"}};
    struct floor *f = xcalloc(1, sizeof(*f));

    f->kube = k;
    f->plan = p;
    f->arena = arena_new(0);
    f->nodes = kube_kind(k, STR(""), STR("Node"));
    kube_subscribe(k, kube_kind(k, STR(""), STR("Pod")), on_pod, f);
    for (size_t i = 0; i < ARRAY_LEN(config); i++) {
        const struct kind *kind = kube_kind(k, str_c(config[i].group), str_c(config[i].kind));

        if (kind) /* NULL would be all */
            kube_subscribe(k, kind, on_config, f);
    }
    return f;
}

void floor_free(struct floor *f)
{
    struct htab_walk walk = {0};
    struct htab_node *n;

    if (!f)
        return;
    while ((n = htab_next(&f->pods, &walk)))
        free(HTAB_THING(n, struct heard_pod, by_uid));
    htab_fini(&f->pods);
    strmap_fini(&f->group_ix);
    strmap_fini(&f->asked);
    vec_fini(&f->groups);
    vec_fini(&f->answers);
    floor_plan_free(f->plan);
    arena_free(f->arena);
    free(f);
}

static void next_piece(struct floor *f)
{
    f->since_us = world_mono_us(kube_world(f->kube));
    for (uint32_t i = 0; i < f->groups.n; i++)
        f->groups.v[i].least = f->groups.v[i].n;
}

void floor_begin(struct floor *f)
{
    f->begun = true;
    next_piece(f);
}

/* The same numbers have the same answer: most pieces of a quiet night are asked about once. */
static bool ask(struct floor *f, const struct floor_group *v, uint32_t n, double *ret, struct err *e)
{
    struct sb key = {0};
    double usd = 0;

    for (uint32_t i = 0; i < n; i++)
        sb_printf(&key, "%.0u,", v[i].n);
    while (key.n && key.p[key.n - 1] == ',')
        key.n--; /* kinds that came later are not there */
    uint32_t ix = strmap_get(&f->asked, sb_view(&key));
    bool ok = ix != MAP_NONE || floor_plan_least(f->plan, v, n, &usd, e);
    if (ok && ix == MAP_NONE) {
        ix = f->answers.n;
        vec_push(&f->answers, usd);
        strmap_put(&f->asked, sb_dup(&key, f->arena), ix);
    }
    if (ok)
        *ret = f->answers.v[ix];
    sb_fini(&key);
    return ok;
}

bool floor_piece(struct floor *f, struct err *e)
{
    struct floor_group *v = xmalloc((f->groups.n + 1) * sizeof(*v));
    double usd_per_h = 0;
    bool any = false, ok = true;

    for (uint32_t i = 0; i < f->groups.n; i++) {
        v[i] = (struct floor_group){f->groups.v[i].pod, f->groups.v[i].least};
        any |= v[i].n > 0;
    }
    if (any && !f->changed)
        ok = ask(f, v, f->groups.n, &usd_per_h, e);
    f->usd += usd_per_h * (double)(world_mono_us(kube_world(f->kube)) - f->since_us) / 3600e6;
    next_piece(f);
    free(v);
    return ok;
}

double floor_usd(const struct floor *f)
{
    return f->changed ? NAN : f->usd;
}
