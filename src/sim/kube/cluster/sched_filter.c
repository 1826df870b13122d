/* Which nodes a pod may go to, in kube-scheduler's order of filters, and why not to the others. */
#include "base/sb.h"
#include "sim/kube/cluster/sched_int.h"

static const struct {
    const char *text;
    bool resolvable; /* removing pods may help */
} whys[] = {
    [WHY_UNSCHEDULABLE] = {"node(s) were unschedulable", false},
    [WHY_NODE_NAME] = {"node(s) didn't match the requested node name", false},
    [WHY_TAINT] = {"node(s) had untolerated taint(s)", false},
    [WHY_NODE_AFFINITY] = {"node(s) didn't match Pod's node affinity/selector", false},
    [WHY_PREFILTERED] = {"node(s) didn't satisfy plugin(s) [NodeAffinity]", false},
    [WHY_PORTS] = {"node(s) didn't have free ports for the requested pod ports", true},
    [WHY_PODS] = {"Too many pods", true},
    [WHY_RESOURCE] = {"Insufficient ", true},
    [WHY_ONCE_POD] = {"node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
                      true},
    [WHY_VOLUME_LIMIT] = {"node(s) exceed max volume count", true},
    [WHY_VOLUME_NODE] = {"node(s) didn't match PersistentVolume's node affinity", false},
    [WHY_VOLUME_BIND] = {"node(s) didn't find available persistent volumes to bind", false},
    [WHY_VOLUME_ZONE] = {"node(s) had no available volume zone", false},
    [WHY_SPREAD_LABEL] = {"node(s) didn't match pod topology spread constraints (missing required label)", false},
    [WHY_SPREAD] = {"node(s) didn't match pod topology spread constraints", true},
    [WHY_AFFINITY] = {"node(s) didn't match pod affinity rules", false},
    [WHY_ANTI] = {"node(s) didn't match pod anti-affinity rules", true},
    [WHY_EXISTING_ANTI] = {"node(s) didn't satisfy existing pods anti-affinity rules", true},
    [WHY_NO_VICTIMS] = {"No preemption victims found for incoming pod", false},
    [WHY_NOT_HELPFUL] = {"Preemption is not helpful for scheduling", false},
};

/* ---- reasons ---- */

void reason_add(struct reasons *r, enum why why, sym resource)
{
    for (uint32_t i = 0; i < r->v.n; i++)
        if (r->v.v[i].why == why && sym_eq(r->v.v[i].resource, resource)) {
            r->v.v[i].n++;
            return;
        }
    vec_push(&r->v, (struct reason){why, resource, 1});
}

static int compare_text(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(*(const str *)a, *(const str *)b);
}

void reasons_print(const struct sched *s, struct sb *b, const struct reasons *r, uint32_t n_nodes)
{
    str *texts = arena_new_array(s->tmp, str, r->v.n);

    for (uint32_t i = 0; i < r->v.n; i++)
        texts[i] = arena_printf(s->tmp, "%u %s" STR_FMT, r->v.v[i].n, whys[r->v.v[i].why].text,
                                STR_ARG(sym_str(s->syms, r->v.v[i].resource)));
    sort_stable(texts, r->v.n, sizeof(*texts), compare_text, NULL);
    sb_printf(b, "0/%u nodes are available: ", n_nodes);
    for (uint32_t i = 0; i < r->v.n; i++)
        sb_printf(b, "%s" STR_FMT, i ? ", " : "", STR_ARG(texts[i]));
    sb_char(b, '.');
}

/* ---- filters about the node itself ---- */

/* A node that is cordoned has a taint that says the same, and whoever tolerates that may go there. */
static bool tolerates_cordon(const struct sched *s, const struct shape *p)
{
    struct taint cordon = {.key = sym_of(s->syms, STR("node.kubernetes.io/unschedulable")),
                           .effect = EFFECT_NO_SCHEDULE};

    for (uint32_t i = 0; i < p->tolerations.n; i++)
        if (toleration_tolerates(&p->tolerations.v[i], &cordon, s->syms))
            return true;
    return false;
}

static enum why filter_node(const struct attempt *t, const struct snode *n)
{
    const struct shape *p = t->p;

    if (n->unschedulable && !tolerates_cordon(t->s, p))
        return WHY_UNSCHEDULABLE;
    if (untolerated(t->s, p, n, /* execute_only= */ false))
        return WHY_TAINT;
    if (!shape_fits_labels(t->s, p, n))
        return WHY_NODE_AFFINITY;
    return WHY_FITS;
}

static bool ports_clash(const struct port *a, const struct port *b)
{
    return a->port == b->port && sym_eq(a->protocol, b->protocol) &&
           (!sym_some(a->ip) || !sym_some(b->ip) || sym_eq(a->ip, b->ip));
}

static bool ports_free(const struct shape *p, const struct snode *n)
{
    for (uint32_t i = 0; p->n_ports && i < n->pods.n; i++) {
        const struct shape *other = n->pods.v[i]->shape;

        for (uint32_t k = 0; k < other->n_ports; k++)
            for (uint32_t m = 0; m < p->n_ports; m++)
                if (ports_clash(&other->ports[k], &p->ports[m]))
                    return false;
    }
    return true;
}

static int64_t ext_amount(const struct amounts *a, sym name)
{
    for (uint32_t i = 0; i < a->n_ext; i++)
        if (sym_eq(a->ext[i].name, name))
            return a->ext[i].v;
    return 0;
}

struct shortage {       /* of resources: several at once */
    bool any, hopeless; /* hopeless: more than the node has when it is empty */
};

static void lacks(struct attempt *t, struct shortage *x, enum why why, sym resource, bool hopeless, bool note)
{
    x->any = true;
    x->hopeless |= hopeless;
    if (note)
        reason_add(&t->why, why, resource);
}

static struct shortage filter_room(struct attempt *t, const struct snode *n, bool note)
{
    static const uint32_t names[] = {SYM_IX_CPU, SYM_IX_MEMORY, SYM_IX_EPHEMERAL};
    const struct amounts *asks = &t->p->asks;
    struct shortage x = {0};

    if ((int64_t)n->pods.n + 1 > n->pods_alloc)
        lacks(t, &x, WHY_PODS, SYM(NONE), false, note);
    for (int i = 0; i < RES_N; i++)
        if (asks->v[i] > 0 && asks->v[i] > n->alloc.v[i] - n->used.v[i])
            lacks(t, &x, WHY_RESOURCE, (sym){names[i]}, asks->v[i] > n->alloc.v[i], note);
    for (uint32_t i = 0; i < asks->n_ext; i++) {
        int64_t have = ext_amount(&n->alloc, asks->ext[i].name), used = ext_amount(&n->used, asks->ext[i].name);

        if (asks->ext[i].v > 0 && asks->ext[i].v > have - used)
            lacks(t, &x, WHY_RESOURCE, asks->ext[i].name, asks->ext[i].v > have, note);
    }
    return x;
}

/* ---- all filters ---- */

static enum why filter_rest(const struct attempt *t, uint32_t node)
{
    enum why why = t->pod->n_claims ? volumes_filter(t, node) : WHY_FITS;

    if (why == WHY_FITS && t->p->n_hard)
        why = spread_filter(t, node);
    if (why == WHY_FITS && (t->p->n_affinity || t->p->n_anti || t->n_forbidden))
        why = affinity_filter(t, node);
    return why;
}

static bool filter_once(struct attempt *t, uint32_t node, bool note, bool *ret_resolvable)
{
    struct snode *n = &t->s->nodes.v[node];
    enum why why = filter_node(t, n);

    if (why == WHY_FITS && !ports_free(t->p, n))
        why = WHY_PORTS;
    if (why == WHY_FITS) {
        struct shortage x = filter_room(t, n, note);

        if (x.any) {
            *ret_resolvable = !x.hopeless;
            return false;
        }
        why = filter_rest(t, node);
    }
    if (why == WHY_FITS)
        return true;
    if (note)
        reason_add(&t->why, why, SYM(NONE));
    *ret_resolvable = whys[why].resolvable;
    return false;
}

/* Pods that were promised this node and matter at least as much count as if they were here. */
static uint32_t place_nominated(struct attempt *t, uint32_t node, struct spod **placed, uint32_t max)
{
    const struct snode *n = &t->s->nodes.v[node];
    uint32_t k = 0;

    for (uint32_t i = 0; i < n->nominated.n && k < max; i++) {
        struct spod *other = n->nominated.v[i];

        if (other != t->pod && other->node == NONE && other->shape->priority >= t->p->priority)
            placed[k++] = other;
    }
    for (uint32_t i = 0; i < k; i++)
        pod_place(t->s, placed[i], node);
    return k;
}

bool filter(struct attempt *t, uint32_t node, bool note, bool *ret_resolvable)
{
    struct spod *placed[16];
    uint32_t n = t->s->nodes.v[node].nominated.n ? place_nominated(t, node, placed, ARRAY_LEN(placed)) : 0;

    if (n && t->asks_others)
        attempt_count_others(t);
    bool fits = filter_once(t, node, note, ret_resolvable);
    if (n) {
        for (uint32_t i = 0; i < n; i++)
            pod_place(t->s, placed[i], NONE);
        if (t->asks_others)
            attempt_count_others(t);
        if (fits) /* it must fit without them too: affinity to one that never comes is none */
            fits = filter_once(t, node, note, ret_resolvable);
    }
    return fits;
}

/* ---- an attempt ---- */

void attempt_count_others(struct attempt *t)
{
    spread_count(t);
    affinity_count(t);
    t->asks_others = t->p->n_hard || t->p->n_affinity || t->p->n_anti || t->n_forbidden;
}

void attempt_begin(struct attempt *t, struct sched *s, struct spod *pod)
{
    *t = (struct attempt){.s = s, .pod = pod, .p = pod->shape};
    t->verdicts = arena_new_array(s->tmp, uint8_t, s->nodes.n);
    t->feasible = arena_new_array(s->tmp, uint32_t, s->order.n);
    attempt_count_others(t);
}

/* ---- questions of others ---- */

void sched_daemon(struct sched *s, const struct tree *pod, void (*fn)(void *ctx, str node, struct daemon_fit fit),
                  void *ctx)
{
    arena_reset(s->tmp);
    struct shape *p = pod_shape(s, pod);

    for (uint32_t i = 0; i < s->order.n; i++) {
        const struct snode *n = &s->nodes.v[s->order.v[i]];
        struct daemon_fit fit = {
            .affinity = shape_fits_labels(s, p, n),
            .schedule = !untolerated(s, p, n, false),
            .execute = !untolerated(s, p, n, true),
        };

        fn(ctx, sym_str(s->syms, n->name), fit);
    }
    shape_unref(s, p);
}

bool sched_might_fit(struct sched *s, str uid, str node)
{
    struct spod *pod = table_get(&s->pods, uid);
    uint32_t at = node_find(s, node);

    arena_reset(s->tmp);
    if (!pod || at == NONE)
        return false;
    struct attempt t = {.s = s, .pod = pod, .p = pod->shape};
    const struct snode *n = &s->nodes.v[at];
    return filter_node(&t, n) == WHY_FITS && ports_free(t.p, n) && !filter_room(&t, n, false).any;
}
