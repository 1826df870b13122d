/* From a snapshot to numbers: label space, resources, instance types, templates, shapes. */
#include "plan/problem.h"

#include <stdlib.h>

static void add_dim(struct problem *p, sym name)
{
    if (u64map_get(&p->dim_of_sym, name.v) != MAP_NONE)
        return;
    u64map_put(&p->dim_of_sym, name.v, p->dim_words.n);
    vec_push(&p->dim_words, name);
}

static void add_dims(struct problem *p, const struct reslist *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        add_dim(p, l->q[i].name);
}

void problem_mention_dim(struct problem *p, sym name)
{
    vec_push(&p->dim_words, name);
}

static void add_fixed_dims(struct problem *p)
{
    const struct catalog *c = p->snap->catalog;

    add_dim(p, SYM(CPU));
    add_dim(p, SYM(MEMORY));
    add_dim(p, SYM(PODS));
    for (uint32_t i = 0; i < c->n; i++) {
        add_dims(p, &c->types[i].capacity);
        for (uint32_t j = 0; j < c->types[i].n_offerings; j++)
            add_dims(p, &c->types[i].offerings[j].capacity_override);
    }
}

typedef void (*dims_fn)(struct problem *p, const struct reslist *l);

static bool same_names(const struct reslist *a, const struct reslist *b)
{
    for (uint32_t i = 0; a->n == b->n && i < a->n; i++)
        if (!sym_eq(a->q[i].name, b->q[i].name))
            return false;
    return a->n == b->n;
}

/* What is offered, asked for or limited, but by types. */
static void each_dims(struct problem *p, dims_fn fn)
{
    const struct snapshot *s = p->snap;

    for (uint32_t i = 0; i < s->n_pools; i++)
        fn(p, &s->pools[i].limits);
    for (uint32_t i = 0; i < s->n_nodes; i++) /* many of a kind: neighbours often have the same */
        if (i == 0 || !same_names(&s->nodes[i].allocatable, &s->nodes[i - 1].allocatable))
            fn(p, &s->nodes[i].allocatable);
    for (uint32_t i = 0; i < s->n_daemons; i++) {
        fn(p, &s->daemons[i].spec->requests);
        if (s->daemon_pods[i])
            fn(p, &s->daemon_pods[i]->spec->requests);
    }
    for (uint32_t i = 0; i < p->specs.n; i++)
        fn(p, &p->specs.v[i]->requests);
}

static int cmp_names(const void *a, const void *b, void *ctx)
{
    const struct syms *t = ctx;

    return str_cmp(sym_str(t, *(const sym *)a), sym_str(t, *(const sym *)b));
}

/* Every resource that anybody offers, asks for or limits, in an order that more of them do not change. */
static void collect_dims(struct problem *p)
{
    VEC(sym) words = {p->dim_words.v, p->dim_words.n, p->dim_words.cap};

    p->dim_words.v = NULL;
    p->dim_words.n = p->dim_words.cap = 0;
    add_fixed_dims(p);
    uint32_t fixed = p->dim_words.n;
    for (uint32_t i = 0; i < words.n; i++)
        add_dim(p, words.v[i]);
    vec_fini(&words);
    each_dims(p, add_dims);
    p->n_dims = p->dim_words.n;
    p->dims = arena_dup_array(p->lasting, sym, p->dim_words.v, p->n_dims);
    sort_stable(p->dims + fixed, p->n_dims - fixed, sizeof(*p->dims), cmp_names, (void *)(uintptr_t)p->snap->syms);
    for (uint32_t i = fixed; i < p->n_dims; i++)
        u64map_put(&p->dim_of_sym, p->dims[i].v, i);
    vec_fini(&p->dim_words);
}

static void look_for_dims(struct problem *p, const struct reslist *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        p->space.lacks |= problem_dim(p, l->q[i].name) == NONE;
}

uint32_t problem_dim(const struct problem *p, sym name)
{
    return u64map_get(&p->dim_of_sym, name.v);
}

int64_t *problem_vector_in(const struct problem *p, struct arena *a, const struct reslist *l)
{
    int64_t *v = arena_new_array(a, int64_t, p->n_dims);

    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t d = problem_dim(p, l->q[i].name);

        if (d != NONE)
            v[d] = l->q[i].v;
    }
    return v;
}

int64_t *problem_vector(struct problem *p, const struct reslist *l)
{
    return problem_vector_in(p, p->arena, l);
}

/* The number of a list by its content; `next` when it is new. Lists have no padding, and live as long as the problem. */
static uint32_t list_number(struct strmap *ix, const void *v, size_t size, uint32_t next)
{
    str key = size ? (str){v, size} : STR("");
    uint32_t known = strmap_get(ix, key);

    if (known != MAP_NONE)
        return known;
    strmap_put(ix, key, next);
    return next;
}

uint32_t problem_taint_set(struct problem *p, const struct taints *t)
{
    uint32_t ix = list_number(&p->taint_set_ix, t->v, t->n * sizeof(*t->v), p->taint_sets.n);

    if (ix == p->taint_sets.n)
        vec_push(&p->taint_sets, (struct taint_set){*t});
    return ix;
}

uint32_t problem_tol_set(struct problem *p, const struct tolerations *t)
{
    uint32_t ix = list_number(&p->tol_set_ix, t->v, t->n * sizeof(*t->v), p->tol_sets.n);

    if (ix == p->tol_sets.n)
        vec_push(&p->tol_sets, *t);
    return ix;
}

bool problem_tolerates(struct problem *p, uint32_t tol_set, uint32_t taint_set)
{
    const struct taints *taints = &p->taint_sets.v[taint_set].taints;

    if (taints->n == 0)
        return true;
    uint32_t known = u64map_get(&p->tolerated, u64_pair(tol_set, taint_set));
    if (known != MAP_NONE)
        return known;
    bool ok = !taints_untolerated(taints, &p->tol_sets.v[tol_set], p->snap->syms);
    u64map_put(&p->tolerated, u64_pair(tol_set, taint_set), ok);
    return ok;
}

static sym class_label_key(const struct problem *p, const struct nodepool *np)
{
    const struct nodeclass_ref *ref = &np->tmpl.class_ref;
    struct sb b = {0};

    sb_str(&b, ref->group);
    sb_char(&b, '/');
    for (size_t i = 0; i < ref->kind.n; i++)
        sb_char(&b, ref->kind.p[i] >= 'A' && ref->kind.p[i] <= 'Z' ? (char)(ref->kind.p[i] + 32) : ref->kind.p[i]);
    sym key = sym_of(p->snap->syms, sb_view(&b));
    sb_fini(&b);
    return key;
}

/* The template's labels under the keys that requirements use. */
static uint32_t template_labels(const struct problem *p, const struct nodepool *np, struct label **ret)
{
    uint32_t n;
    const struct label *l = lset_get(p->snap->syms, np->tmpl.labels, &n);

    *ret = arena_dup_array(p->arena, struct label, l, n);
    for (uint32_t i = 0; i < n; i++)
        (*ret)[i].key = sym_of(p->snap->syms, label_key_normalise(sym_str(p->snap->syms, l[i].key)));
    return n;
}

static struct label pool_label(const struct nodepool *np)
{
    return (struct label){SYM(NP), np->name_sym};
}

static struct label class_label(const struct problem *p, const struct nodepool *np)
{
    return (struct label){class_label_key(p, np), sym_of(p->snap->syms, np->tmpl.class_ref.name)};
}

static void announce_pools(struct problem *p)
{
    const struct snapshot *s = p->snap;

    for (uint32_t i = 0; i < s->n_pools; i++) {
        const struct nodepool *np = &s->pools[i];
        struct label *l, cl = class_label(p, np);
        uint32_t n = template_labels(p, np, &l);

        for (uint32_t j = 0; j < n; j++)
            reqspace_value(&p->space, l[j].key, l[j].val);
        reqspace_value(&p->space, SYM(NP), np->name_sym);
        reqspace_value(&p->space, cl.key, cl.val);
        for (uint32_t j = 0; j < np->tmpl.n_requirements; j++)
            reqspace_expr(&p->space, &np->tmpl.requirements[j]);
    }
}

static bool offering_key_counts(const struct problem *p, sym key)
{
    return !label_is_well_known(&p->snap->catalog->rules, key) || space_key(&p->space, key) != KEY_NONE;
}

/* A key that no pod, pool or volume mentions cannot tell types or offerings apart: it stays out of the space, and
 * the most part of a large catalogue with it. */
static void announce_types(struct problem *p)
{
    const struct catalog *c = p->snap->catalog;
    struct u64map seen = {0}; /* by address: offerings with equal requirements usually share them */

    for (uint32_t i = 0; i < c->n; i++) {
        const struct itype *t = &c->types[i];

        for (uint32_t j = 0; j < t->n_requirements; j++)
            if (space_key(&p->space, t->requirements[j].key) != KEY_NONE)
                reqspace_expr(&p->space, &t->requirements[j]);
        for (uint32_t j = 0; j < t->n_offerings; j++) {
            const struct offering *o = &t->offerings[j];

            if (u64map_get(&seen, (uintptr_t)o->requirements) != MAP_NONE)
                continue;
            u64map_put(&seen, (uintptr_t)o->requirements, 1);
            for (uint32_t k = 0; k < o->n_requirements; k++)
                if (offering_key_counts(p, o->requirements[k].key))
                    reqspace_expr(&p->space, &o->requirements[k]);
        }
    }
    u64map_fini(&seen);
}

static bool lset_is_known(const struct problem *p, lset_id labels)
{
    return labels.v < p->lset_rs.n && p->lset_rs.v[labels.v].known;
}

/* Labels of nodes count as far as somebody asks about their key; hostnames only when named. */
static void announce_labels(struct problem *p, lset_id labels)
{
    uint32_t n;
    const struct label *l = lset_get(p->snap->syms, labels, &n);

    if (lset_is_known(p, labels))
        return;
    for (uint32_t j = 0; j < n; j++)
        if (!sym_eq(l[j].key, SYM(HOST)) && space_key(&p->space, l[j].key) != KEY_NONE)
            reqspace_value(&p->space, l[j].key, l[j].val);
}

static void announce_nodes(struct problem *p)
{
    const struct snapshot *s = p->snap;

    for (uint32_t i = 0; i < s->n_nodes; i++) {
        announce_labels(p, s->nodes[i].labels);
        if (s->nodes[i].node && s->nodes[i].node->labels.v != s->nodes[i].labels.v)
            announce_labels(p, s->nodes[i].node->labels);
    }
}

uint32_t problem_lset_rs(struct problem *p, lset_id labels)
{
    while (p->lset_rs.n <= labels.v)
        vec_push(&p->lset_rs, (struct lset_requirements){0});
    struct lset_requirements *x = &p->lset_rs.v[labels.v];
    if (!x->known) {
        uint32_t n;
        const struct label *l = lset_get(p->snap->syms, labels, &n);

        *x = (struct lset_requirements){rs_of_labels(&p->space, l, n), true};
    }
    return x->rs;
}

static bool pool_is_usable(const struct nodepool *np)
{
    return !np->is_static && !np->deleting && (np->ready == COND_ABSENT || np->ready == COND_TRUE);
}

static int cmp_pools(const void *a, const void *b, void *ctx)
{
    const struct snapshot *s = ctx;
    const struct nodepool *x = &s->pools[((const struct tmpl *)a)->pool],
                          *y = &s->pools[((const struct tmpl *)b)->pool];

    if (x->weight != y->weight)
        return (x->weight > y->weight) != s->settings.weight_ascending ? -1 : 1;
    return str_cmp(y->name, x->name); /* equal weights: names from Z to A */
}

void limits_refresh(const struct problem *p, struct tmpl *t)
{
    uint32_t nodes_dim = problem_dim(p, SYM(NODES));

    t->nodes_exhausted = nodes_dim != NONE && bit_test(t->limited, nodes_dim) && t->remaining[nodes_dim] == 0;
    t->within_valid = false;
}

static void build_limits(struct problem *p, struct tmpl *t, const struct nodepool *np)
{
    t->has_limits = np->limits.n > 0;
    if (!t->has_limits)
        return;
    t->remaining = problem_vector(p, &np->limits);
    t->limited = arena_new_array(p->arena, uint64_t, BITS_WORDS(p->n_dims));
    for (uint32_t i = 0; i < np->limits.n; i++)
        bit_set(t->limited, problem_dim(p, np->limits.q[i].name));
    uint32_t nodes_dim = problem_dim(p, SYM(NODES));
    for (uint32_t i = 0; i < p->snap->n_nodes; i++) {
        const struct state_node *n = &p->snap->nodes[i];

        if (n->deleting || !sym_eq(n->pool, np->name_sym))
            continue;
        for (uint32_t q = 0; q < n->capacity.n; q++) {
            uint32_t d = problem_dim(p, n->capacity.q[q].name);

            if (d != NONE && d != nodes_dim)
                t->remaining[d] = sat_sub(t->remaining[d], n->capacity.q[q].v);
        }
        if (nodes_dim != NONE)
            t->remaining[nodes_dim] = sat_sub(t->remaining[nodes_dim], 1000);
    }
    limits_refresh(p, t);
}

uint32_t problem_pool_rs(struct problem *p, const struct nodepool *np)
{
    struct label *l;
    uint32_t n = template_labels(p, np, &l);
    uint32_t rs = rs_of_exprs(&p->space, np->tmpl.requirements, np->tmpl.n_requirements);

    return rs_union(&p->space, rs, rs_of_labels(&p->space, l, n));
}

static uint32_t template_rs(struct problem *p, const struct nodepool *np)
{
    struct reqspace *s = &p->space;
    struct label own[] = {
        pool_label(np),
        class_label(p, np),
        {SYM(REGISTERED), SYM(TRUE)}, /* simulation only: daemons and pods may select on them */
        {SYM(INITIALIZED), SYM(TRUE)},
    };
    uint32_t rs = rs_union(s, problem_pool_rs(p, np), rs_of_labels(s, own, ARRAY_LEN(own)));

    return rs_add(s, rs, req_one(s, p->host_key, s->keys.v[p->host_key].other));
}

/* Types as other pools see them are not for this one. */
static void keep_own_types(const struct problem *p, uint64_t *rows, const struct nodepool *np)
{
    for (uint32_t i = 0; i < p->snap->catalog->n; i++)
        for (uint32_t r = p->first_row[i]; r < p->first_row[i + 1]; r++)
            if (!itype_is_for(&p->snap->catalog->types[i], np->name_sym))
                bit_clear(rows, r);
}

static void build_templates(struct problem *p)
{
    const struct snapshot *s = p->snap;

    p->tmpls = arena_new_array(p->arena, struct tmpl, s->n_pools);
    for (uint32_t i = 0; i < s->n_pools; i++)
        if (pool_is_usable(&s->pools[i]))
            p->tmpls[p->n_tmpls++] = (struct tmpl){.pool = i};
    sort_stable(p->tmpls, p->n_tmpls, sizeof(*p->tmpls), cmp_pools, (void *)(uintptr_t)s);
    for (uint32_t i = 0; i < p->n_tmpls; i++) {
        struct tmpl *t = &p->tmpls[i];
        const struct nodepool *np = &s->pools[t->pool];
        uint32_t relaxed;

        t->rs = template_rs(p, np);
        t->taint_set = problem_taint_set(p, &np->tmpl.taints);
        t->rows = arena_dup_array(p->arena, uint64_t, rows_of_rs(p, t->rs), p->row_words);
        keep_own_types(p, t->rows, np);
        rows_fit(p, t->rows, arena_new_array(p->arena, int64_t, p->n_dims));
        bool any = bits_any(t->rows, p->row_words);
        bool met = rows_min_values(p, t->rows, t->rs, &relaxed);
        t->min_values_failed = any && !met && s->settings.min_values == MINVALUES_STRICT;
        t->usable = any && !t->min_values_failed;
        for (uint32_t j = 0; j < np->tmpl.taints.n; j++)
            p->tolerate_prefer |= np->tmpl.taints.v[j].effect == EFFECT_PREFER_NO_SCHEDULE;
        build_limits(p, t, np);
    }
}

/* Words that somebody outside of the types has for labels, values and resources. */
static void announce_cluster(struct problem *p)
{
    announce_pools(p);
    shapes_announce(p);
}

static void make_tables(struct problem *p, struct frame *f)
{
    frame_begin(f, p);
    reqspace_value(&p->space, SYM(REGISTERED), SYM(TRUE));
    reqspace_value(&p->space, SYM(INITIALIZED), SYM(TRUE));
    reqspace_key(&p->space, SYM(ZONE));
    reqspace_key(&p->space, SYM(CT));
    reqspace_value(&p->space, SYM(CT), SYM(RESERVED));
    reqspace_value(&p->space, SYM(CT), SYM(SPOT));
    reqspace_value(&p->space, SYM(CT), SYM(ON_DEMAND));
    if (sym_some(p->snap->catalog->rules.reservation_id))
        reqspace_key(&p->space, p->snap->catalog->rules.reservation_id);
    announce_cluster(p);
    announce_types(p); /* after everybody who asks about labels */
    announce_nodes(p);
    reqspace_freeze(&p->space);
    collect_dims(p);
    p->host_key = space_key(&p->space, SYM(HOST));
    p->zone_key = space_key(&p->space, SYM(ZONE));
    p->ct_key = space_key(&p->space, SYM(CT));
    rows_build(p);
    frame_end(p);
}

/* Whether the tables of the frame know everything that the snapshot mentions. If so they are the problem's until it ends. */
static bool borrow_tables(struct problem *p, struct frame *f)
{
    if (!frame_lend(f, p))
        return false;
    announce_cluster(p);
    announce_nodes(p);
    each_dims(p, look_for_dims);
    return !p->space.lacks;
}

static void begin(struct problem *p, struct arena *a, const struct snapshot *s, const uint32_t *pods, uint32_t n)
{
    *p = (struct problem){.arena = a, .scratch = arena_new(0), .snap = s, .pods = pods, .n_pods = n};
}

void problem_init(struct problem *p, struct arena *a, const struct snapshot *s, struct frame *f, const uint32_t *pods,
                  uint32_t n)
{
    begin(p, a, s, pods, n);
    if (!borrow_tables(p, f)) {
        if (p->frame) {
            problem_fini(p);
            begin(p, a, s, pods, n);
        }
        make_tables(p, f);
    }
    build_templates(p);
    shapes_build(p);
    daemons_build(p);
}

void problem_fini(struct problem *p)
{
    arena_free(p->scratch);
    if (p->frame)
        frame_return(p);
    else
        tables_fini(p);
    u64map_fini(&p->tolerated);
    vec_fini(&p->taint_sets);
    vec_fini(&p->tol_sets);
    for (uint32_t i = 0; i < p->classes.n; i++) {
        vec_fini(&p->classes.v[i].selected);
        vec_fini(&p->classes.v[i].inverse);
        vec_fini(&p->classes.v[i].bound);
    }
    vec_fini(&p->classes);
    vec_fini(&p->shapes);
    for (uint32_t i = 0; i < p->variants.n; i++)
        vec_fini(&p->variants.v[i].groups);
    vec_fini(&p->variants);
    vec_fini(&p->vols);
    vec_fini(&p->specs);
    vec_fini(&p->runs);
    vec_fini(&p->defaulted);
    strmap_fini(&p->taint_set_ix);
    strmap_fini(&p->tol_set_ix);
    strmap_fini(&p->defaulted_ix);
    u64map_fini(&p->spec_ix);
    free(p->projected);
    strmap_fini(&p->projections);
    u64map_fini(&p->class_ix);
    u64map_fini(&p->shape_ix[0]);
    u64map_fini(&p->shape_ix[1]);
    u64map_fini(&p->shape_quick);
    strmap_fini(&p->pvc_ix);
    strmap_fini(&p->pv_ix);
    strmap_fini(&p->sc_ix);
    strmap_fini(&p->vols_ix);
    u64map_fini(&p->daemon_memo);
    vec_fini(&p->daemon_sums);
}
