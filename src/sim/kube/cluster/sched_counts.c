/* Pods counted per node, for those who ask about other pods.
 *
 * A tally counts pods that somebody's selector matches; a holder counts pods that have a certain term themselves. Whether a shape matches is
 * worked out once per pair and remembered by the shape's number. */
#include "base/sb.h"
#include "sim/kube/cluster/sched_int.h"

/* ---- matching ---- */

static bool in_namespace(const struct sched *s, const struct whom *w, sym ns)
{
    for (uint32_t i = 0; i < w->n_namespaces; i++)
        if (sym_eq(w->namespaces[i], ns))
            return true;
    if (!w->in_namespaces.present)
        return false;
    uint32_t set = u64map_get(&s->ns_labels, ns.v);
    return set != MAP_NONE && set != 0 && selector_matches(&w->in_namespaces, s->syms, (lset_id){set - 1});
}

static bool whom_matches(const struct sched *s, const struct whom *w, uint32_t n, const struct shape *p)
{
    for (uint32_t i = 0; i < n; i++)
        if (!in_namespace(s, &w[i], p->ns) || !selector_matches(&w[i].pods, s->syms, p->labels))
            return false;
    return true;
}

bool tally_matches(struct sched *s, struct tally *t, const struct shape *p)
{
    while (t->shapes.n <= p->id)
        vec_push(&t->shapes, 0);
    uint8_t *known = &t->shapes.v[p->id];
    if (*known == 0)
        *known = whom_matches(s, t->whom, t->n_whom, p) ? 2 : 1;
    return *known == 2;
}

bool holder_matches(struct sched *s, struct holder *h, const struct shape *p)
{
    while (h->shapes.n <= p->id)
        vec_push(&h->shapes, 0);
    uint8_t *known = &h->shapes.v[p->id];
    if (*known == 0)
        *known = whom_matches(s, &h->whom, 1, p) ? 2 : 1;
    return *known == 2;
}

void counts_forget_shape(struct sched *s, uint32_t id)
{
    for (uint32_t i = 0; i < s->tallies.n; i++)
        if (id < s->tallies.v[i]->shapes.n)
            s->tallies.v[i]->shapes.v[id] = 0;
    for (uint32_t i = 0; i < s->holders.n; i++)
        if (id < s->holders.v[i]->shapes.n)
            s->holders.v[i]->shapes.v[id] = 0;
}

/* ---- keys and copies ---- */

static void print_selector(struct sb *b, const struct selector *x)
{
    sb_printf(b, "%d[", x->present);
    for (uint32_t i = 0; i < x->n_exprs; i++) {
        sb_printf(b, "%u %d", x->exprs[i].key.v, (int)x->exprs[i].op);
        for (uint32_t k = 0; k < x->exprs[i].n_vals; k++)
            sb_printf(b, " %u", x->exprs[i].vals[k].v);
        sb_char(b, ',');
    }
    sb_char(b, ']');
}

static void print_whom(struct sb *b, const struct whom *w)
{
    for (uint32_t i = 0; i < w->n_namespaces; i++)
        sb_printf(b, "%u ", w->namespaces[i].v);
    print_selector(b, &w->in_namespaces);
    print_selector(b, &w->pods);
}

static struct selector copy_selector(struct arena *a, const struct selector *x)
{
    struct selector r = *x;

    r.exprs = arena_dup_array(a, struct req_expr, x->exprs, x->n_exprs);
    for (uint32_t i = 0; i < x->n_exprs; i++)
        r.exprs[i].vals = arena_dup_array(a, sym, x->exprs[i].vals, x->exprs[i].n_vals);
    return r;
}

static struct whom copy_whom(struct arena *a, const struct whom *w)
{
    return (struct whom){arena_dup_array(a, sym, w->namespaces, w->n_namespaces), w->n_namespaces,
                         copy_selector(a, &w->in_namespaces), copy_selector(a, &w->pods)};
}

/* ---- tallies ---- */

static struct tally *tally_new(struct sched *s, str key)
{
    struct arena *a = arena_new(512);
    struct tally *t = arena_new_one(a, struct tally);

    t->a = a;
    t->key = arena_strdup(a, key);
    t->on_node = xcalloc(MAX(s->node_cap, 1), sizeof(*t->on_node));
    table_put(&s->tallies_by_key, t);
    return t;
}

static void tally_add(struct tally *t, uint32_t node, int sign)
{
    t->on_node[node] = (uint16_t)(t->on_node[node] + sign);
    t->total += (uint32_t)sign;
}

/* Counts what is there already: the question is new, the pods are not. */
static void tally_fill(struct sched *s, struct tally *t)
{
    memset(t->on_node, 0, s->node_cap * sizeof(*t->on_node));
    t->total = 0;
    for (uint32_t i = 0; i < s->order.n; i++) {
        const struct snode *n = &s->nodes.v[s->order.v[i]];

        for (uint32_t k = 0; k < n->pods.n; k++)
            if (!(t->skip_leaving && n->pods.v[k]->leaving) && tally_matches(s, t, n->pods.v[k]->shape))
                tally_add(t, s->order.v[i], 1);
    }
}

struct tally *tally_of(struct sched *s, const struct whom *whom, uint32_t n, bool skip_leaving)
{
    struct sb b = {0};

    sb_char(&b, skip_leaving ? 's' : 'a');
    for (uint32_t i = 0; i < n; i++)
        print_whom(&b, &whom[i]);
    struct tally *t = table_get(&s->tallies_by_key, sb_view(&b));
    if (!t) {
        t = tally_new(s, sb_view(&b));
        t->skip_leaving = skip_leaving;
        t->n_whom = n;
        t->whom = arena_new_array(t->a, struct whom, n);
        for (uint32_t i = 0; i < n; i++)
            t->whom[i] = copy_whom(t->a, &whom[i]);
        t->at = s->tallies.n;
        vec_push(&s->tallies, t);
        tally_fill(s, t);
    }
    sb_fini(&b);
    t->refs++;
    return t;
}

struct tally *tally_of_owner(struct sched *s, str uid)
{
    struct sb b = {0};

    sb_char(&b, 'o');
    sb_str(&b, uid);
    struct tally *t = table_get(&s->tallies_by_key, sb_view(&b));
    if (!t) {
        t = tally_new(s, sb_view(&b));
        t->by_owner = t->skip_leaving = true;
        t->at = s->owners.n;
        vec_push(&s->owners, t);
    }
    sb_fini(&b);
    t->refs++;
    return t;
}

void tally_unref(struct sched *s, struct tally *t)
{
    if (--t->refs > 0)
        return;
    table_take(&s->tallies_by_key, t->key);
    struct tally **list = t->by_owner ? s->owners.v : s->tallies.v;
    uint32_t *n = t->by_owner ? &s->owners.n : &s->tallies.n;
    list[t->at] = list[--*n];
    list[t->at]->at = t->at;
    vec_fini(&t->shapes);
    free(t->on_node);
    arena_free(t->a);
}

/* ---- holders ---- */

struct holder *holder_of(struct sched *s, enum holds what, const struct whom *whom, sym topology, int32_t weight)
{
    struct sb b = {0};

    sb_printf(&b, "%d %u %d ", (int)what, topology.v, weight);
    print_whom(&b, whom);
    struct holder *h = table_get(&s->holders_by_key, sb_view(&b));
    if (!h) {
        struct arena *a = arena_new(512);

        h = arena_new_one(a, struct holder);
        h->a = a;
        h->key = arena_strdup(a, sb_view(&b));
        h->what = what;
        h->whom = copy_whom(a, whom);
        h->topology = topology;
        h->weight = weight;
        h->on_node = xcalloc(MAX(s->node_cap, 1), sizeof(*h->on_node));
        h->at = s->holders.n;
        vec_push(&s->holders, h);
        table_put(&s->holders_by_key, h);
    }
    sb_fini(&b);
    h->refs++;
    return h;
}

void holder_unref(struct sched *s, struct holder *h)
{
    if (--h->refs > 0)
        return;
    table_take(&s->holders_by_key, h->key);
    s->holders.v[h->at] = vec_last(&s->holders);
    s->holders.v[h->at]->at = h->at;
    s->holders.n--;
    vec_fini(&h->shapes);
    free(h->on_node);
    arena_free(h->a);
}

/* ---- pods come and go ---- */

void counts_add(struct sched *s, struct spod *p, uint32_t node, int sign)
{
    for (uint32_t i = 0; i < s->tallies.n; i++) {
        struct tally *t = s->tallies.v[i];

        if (!(t->skip_leaving && p->leaving) && tally_matches(s, t, p->shape))
            tally_add(t, node, sign);
    }
    if (p->owner && !p->leaving)
        tally_add(p->owner, node, sign);
    for (uint32_t i = 0; i < p->shape->n_holders; i++) {
        struct holder *h = p->shape->holders[i];

        h->on_node[node] = (uint16_t)(h->on_node[node] + sign);
        h->total += (uint32_t)sign;
    }
}

void counts_recount(struct sched *s)
{
    for (uint32_t i = 0; i < s->tallies.n; i++) {
        struct tally *t = s->tallies.v[i];
        bool by_labels = false;

        for (uint32_t k = 0; k < t->n_whom; k++)
            by_labels |= t->whom[k].in_namespaces.present;
        if (!by_labels)
            continue;
        if (t->shapes.n)
            memset(t->shapes.v, 0, t->shapes.n);
        tally_fill(s, t);
    }
    for (uint32_t i = 0; i < s->holders.n; i++)
        if (s->holders.v[i]->whom.in_namespaces.present && s->holders.v[i]->shapes.n)
            memset(s->holders.v[i]->shapes.v, 0, s->holders.v[i]->shapes.n);
}

static uint16_t *grown(uint16_t *v, uint32_t from, uint32_t to)
{
    v = xrealloc(v, to * sizeof(*v));
    memset(v + from, 0, (to - from) * sizeof(*v));
    return v;
}

void counts_grow(struct sched *s, uint32_t cap)
{
    for (uint32_t i = 0; i < s->tallies.n; i++)
        s->tallies.v[i]->on_node = grown(s->tallies.v[i]->on_node, s->node_cap, cap);
    for (uint32_t i = 0; i < s->owners.n; i++)
        s->owners.v[i]->on_node = grown(s->owners.v[i]->on_node, s->node_cap, cap);
    for (uint32_t i = 0; i < s->holders.n; i++)
        s->holders.v[i]->on_node = grown(s->holders.v[i]->on_node, s->node_cap, cap);
    for (uint32_t i = 0; i < s->topologies.n; i++) {
        struct topology *t = &s->topologies.v[i];

        t->domain = xrealloc(t->domain, cap * sizeof(*t->domain));
        for (uint32_t k = s->node_cap; k < cap; k++)
            t->domain[k] = NONE;
    }
    s->node_cap = cap;
}

/* ---- topologies ---- */

static void topology_node(struct sched *s, struct topology *t, uint32_t node)
{
    const struct snode *n = &s->nodes.v[node];
    sym value;

    t->domain[node] = NONE;
    if (!n->live || !lset_value(s->syms, n->labels, t->key, &value))
        return;
    uint32_t number = u64map_get(&t->number, value.v);
    if (number == MAP_NONE) {
        number = t->n++;
        u64map_put(&t->number, value.v, number);
    }
    t->domain[node] = number;
}

void topologies_node(struct sched *s, uint32_t node)
{
    for (uint32_t i = 0; i < s->topologies.n; i++)
        topology_node(s, &s->topologies.v[i], node);
}

uint32_t topology_of(struct sched *s, sym key)
{
    for (uint32_t i = 0; i < s->topologies.n; i++)
        if (sym_eq(s->topologies.v[i].key, key))
            return i;
    struct topology *t = vec_add(&s->topologies);
    t->key = key;
    t->domain = xmalloc(MAX(s->node_cap, 1) * sizeof(*t->domain));
    for (uint32_t i = 0; i < s->node_cap; i++)
        t->domain[i] = NONE;
    for (uint32_t i = 0; i < s->order.n; i++)
        topology_node(s, t, s->order.v[i]);
    return s->topologies.n - 1;
}
