/* From packed bins to a plan: launch order, truncation, requirements and requests as a NodeClaim would carry them
 * (scheduling 12.4, 16.4, 24.1). Claims that ended up alike share their lists. */
#include <math.h>

#include "plan/pack.h"

/* Requirements as printed, for one set and one choice of capacity types. */
struct printed {
    uint32_t rs;
    struct plan_req *reqs;
    uint32_t n;
};

/* What claims with the same requirements and types have in common. */
struct outcome {
    uint32_t rs; /* final, with reservations */
    uint64_t *rows;
    struct plan_claim shared;
    bool min_values_broken; /* by cutting the list */
};

struct finisher {
    struct packer *k;
    struct arena *a;
    VEC(struct printed) printed;
    VEC(struct outcome) outcomes;
    struct u64map printed_of_rs, outcome_of_hash;
    uint64_t *cts;         /* scratch */
    struct resq *summands; /* scratch [n_dims] */
    uint32_t *dims_by_sym; /* [n_dims] */
};

static bool type_is_left(const struct problem *p, const uint64_t *rows, uint32_t type)
{
    for (uint32_t r = p->first_row[type]; r < p->first_row[type + 1]; r++)
        if (bit_test(rows, r))
            return true;
    return false;
}

static sym offering_value(struct problem *p, const struct row_offering *o, uint32_t key)
{
    uint32_t val, req = rs_get(&p->space, p->off_classes.v[o->cls].rs, key);

    return req_is_single(&p->space, req, &val) ? p->space.keys.v[key].vals[val] : SYM(NONE);
}

/* The cheapest offering of the listed types that belongs to a row that is left. */
static void choose_offering(struct finisher *f, struct outcome *o, const struct price_book *k)
{
    struct problem *p = &f->k->p;
    struct plan_claim *c = &o->shared;

    c->price_usd_per_h = -1;
    c->type = c->n_types ? c->types[0] : NONE;
    for (uint32_t t = 0; t < c->n_types; t++) {
        if (c->price_usd_per_h >= 0 && k->price[c->types[t]] >= c->price_usd_per_h)
            break; /* the rest is no cheaper */
        for (uint32_t i = p->row_offering[p->first_row[c->types[t]]];
             i < p->row_offering[p->first_row[c->types[t] + 1]]; i++) {
            const struct row_offering *x = &p->offerings.v[i];

            if (!x->available || !bit_test(k->classes, x->cls) || !bit_test(o->rows, x->row) ||
                (c->price_usd_per_h >= 0 && x->price >= c->price_usd_per_h))
                continue;
            c->price_usd_per_h = x->price;
            c->type = c->types[t];
            c->zone = offering_value(p, x, p->zone_key);
            c->capacity_type = offering_value(p, x, p->ct_key);
        }
    }
}

static str int_text(struct arena *a, int64_t v)
{
    return arena_printf(a, "%lld", (long long)v);
}

static void add_bound(struct finisher *f, struct plan_req *out, sym key, enum req_op op, int64_t v, int32_t min_values)
{
    *out = (struct plan_req){
        .key = key, .op = op, .vals = arena_new_array(f->a, str, 1), .n_vals = 1, .min_values = min_values};
    out->vals[0] = int_text(f->a, v);
}

/* One requirement as the API has it; a doubly bounded one becomes two (scheduling 3.4). */
static uint32_t serialise(struct finisher *f, uint32_t req, struct plan_req *out)
{
    const struct reqspace *s = &f->k->p.space;
    const struct req *q = &s->reqs.v[req];
    const struct label_key *key = &s->keys.v[q->key];
    uint32_t n = 0;

    if (q->gte != INT64_MIN)
        add_bound(f, &out[n++], key->name, OP_GTE, q->gte, q->min_values);
    if (q->lte != INT64_MAX)
        add_bound(f, &out[n++], key->name, OP_LTE, q->lte, q->min_values);
    if (n)
        return n; /* quirk: exclusions next to a bound are lost */

    uint64_t *raw = xcalloc(key->n_words, sizeof(*raw));
    req_raw(s, req, raw);
    out[0] = (struct plan_req){.key = key->name, .op = req_op(s, req), .min_values = q->min_values};
    out[0].vals = arena_new_array(f->a, str, bits_count(raw, key->n_words));
    for (BITS_EACH(v, raw, key->n_words))
        out[0].vals[out[0].n_vals++] = sym_str(s->syms, key->vals[v]);
    free(raw);
    return 1;
}

static bool is_simulation_key(sym key)
{
    return sym_eq(key, SYM(HOST)) || sym_eq(key, SYM(REGISTERED)) || sym_eq(key, SYM(INITIALIZED));
}

/* The set as printed; instance types are added by name when it is printed. */
static const struct printed *print_set(struct finisher *f, uint32_t rs)
{
    struct reqspace *s = &f->k->p.space;
    uint32_t ix = u64map_get(&f->printed_of_rs, rs);

    if (ix != MAP_NONE)
        return &f->printed.v[ix];
    u64map_put(&f->printed_of_rs, rs, f->printed.n);
    struct printed *out = vec_add(&f->printed);
    struct plan_req names = {.key = SYM(ITYPE), .op = OP_IN, .of_types = true};
    bool listed = false;
    out->reqs = arena_new_array(f->a, struct plan_req, s->sets.v[rs].n * 2 + 1);
    for (uint32_t i = 0; i < s->sets.v[rs].n; i++) { /* keys are numbered in byte order of their text */
        const struct rs_entry *e = &s->sets.v[rs].e[i];
        int c = str_cmp(sym_str(s->syms, s->keys.v[e->key].name), sym_str(s->syms, SYM(ITYPE)));

        if (c == 0)
            names.min_values = s->reqs.v[e->req].min_values;
        if (c >= 0 && !listed) {
            out->reqs[out->n++] = names;
            listed = true;
        }
        if (c != 0 && !is_simulation_key(s->keys.v[e->key].name))
            out->n += serialise(f, e->req, out->reqs + out->n);
    }
    if (!listed)
        out->reqs[out->n++] = names;
    return out;
}

static void fill_requirements(struct finisher *f, struct outcome *o, const struct price_book *k)
{
    struct problem *p = &f->k->p;
    struct reqspace *s = &p->space;
    uint32_t words = s->keys.v[p->ct_key].n_words, rs = o->rs;

    bits_zero(f->cts, words);
    for (uint32_t i = 0; i < o->shared.n_types; i++)
        bits_or(f->cts, k->cts + (size_t)o->shared.types[i] * words, words);
    if (bits_any(f->cts, words))
        rs = rs_add(s, rs, req_in(s, p->ct_key, f->cts));
    const struct printed *t = print_set(f, rs);
    o->shared.reqs = t->reqs;
    o->shared.n_reqs = t->n;
}

/* Key-wise minimum over the daemon groups that still have a type. quirk: an empty intermediate result starts afresh. */
static struct reslist daemon_minimum(struct finisher *f, const struct bin *b)
{
    struct problem *p = &f->k->p;
    const struct tmpl *t = &p->tmpls[b->tmpl];
    struct reslist acc = {0};

    for (uint32_t i = 0; i < t->n_groups; i++) {
        const struct daemon_group *g = &t->groups[i];

        if (!bits_meet(g->rows, b->rows, p->row_words))
            continue;
        if (acc.n == 0) {
            acc = reslist_dup(f->a, &g->requests);
            continue;
        }
        uint32_t kept = 0;
        for (uint32_t q = 0; q < acc.n; q++) {
            const struct resq *o = reslist_get(&g->requests, acc.q[q].name);

            if (!o)
                continue;
            acc.q[kept] = acc.q[q];
            acc.q[kept].v = MIN(acc.q[q].v, o->v);
            kept++;
        }
        acc.n = kept;
    }
    return acc;
}

/* The sum is what the bin counted; what is left to find out is which resources were named, and how they were written:
 * a sum is printed like its first summand that is not zero. */
static struct reslist claim_requests(struct finisher *f, const struct bin *b, struct reslist *ret_daemons)
{
    struct packer *k = f->k;
    struct problem *p = &k->p;
    struct resq *q = f->summands;
    uint32_t last = NONE, n = 0;

    for (uint32_t d = 0; d < p->n_dims; d++)
        q[d] = (struct resq){0};
    q[DIM_PODS].name = SYM(PODS);
    for (uint32_t pod = b->first; pod != NONE; pod = k->next[pod]) {
        if (k->shape_of[pod] == last)
            continue;
        last = k->shape_of[pod];
        const struct shape *sh = &p->shapes.v[last];
        for (uint32_t i = 0; i < sh->spec->requests.n; i++) {
            const struct resq *r = &sh->spec->requests.q[i];
            struct resq *to = &q[sh->request_dims[i]];

            if (to->v == 0 && r->v != 0) {
                to->v = 1;
                to->binary = r->binary;
            }
            to->name = r->name;
        }
    }
    struct reslist l = {arena_new_array(f->a, struct resq, p->n_dims), 0};
    for (uint32_t i = 0; i < p->n_dims; i++) { /* lists are sorted by symbol */
        uint32_t d = f->dims_by_sym[i];

        if (sym_some(q[d].name))
            l.q[n++] = (struct resq){q[d].name, q[d].binary, b->vec[d]};
    }
    l.n = n;
    *ret_daemons = daemon_minimum(f, b);
    reslist_add(f->a, &l, ret_daemons);
    return l;
}

/* A claim with reservations is pinned to them. */
uint32_t claim_rs(struct packer *k, const struct bin *b)
{
    struct problem *p = &k->p;
    struct reqspace *s = &p->space;
    uint32_t rs = b->rs, key;

    if (!b->held || !bits_any(b->held, BITS_WORDS(p->reservations.n)))
        return rs;
    rs = rs_put(s, rs, req_one(s, p->ct_key, space_val(s, p->ct_key, SYM(RESERVED))));
    key = space_key(s, p->snap->catalog->rules.reservation_id);
    if (key == KEY_NONE)
        return rs;
    uint64_t *ids = arena_new_array(p->arena, uint64_t, s->keys.v[key].n_words);
    for (BITS_EACH(i, b->held, BITS_WORDS(p->reservations.n)))
        bit_set(ids, space_val(s, key, p->reservations.v[i].id));
    return rs_add(s, rs, req_in(s, key, ids));
}

/* All rows of the types. */
static void rows_of_types(const struct problem *p, const uint32_t *types, uint32_t n, uint64_t *out)
{
    bits_zero(out, p->row_words);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t r = p->first_row[types[i]]; r < p->first_row[types[i] + 1]; r++)
            bit_set(out, r);
}

bool types_meet_min_values(struct problem *p, uint32_t rs, const uint32_t *types, uint32_t n, uint32_t *ret_lowered)
{
    *ret_lowered = rs;
    if (!rs_has_min_values(&p->space, rs))
        return true;
    uint64_t *rows = xmalloc((p->row_words + 1) * sizeof(*rows));
    rows_of_types(p, types, n, rows);
    bool met = rows_min_values(p, rows, rs, ret_lowered);
    free(rows);
    return met;
}

/* The types of a claim, cheapest first, cut to what a NodeClaim may list. False: cutting broke minValues, so that the
 * claim is not made. */
bool claim_types(struct packer *k, uint32_t rs, const uint64_t *rows, struct arena *a, uint32_t **ret, uint32_t *ret_n)
{
    struct problem *p = &k->p;
    const struct price_book *book = price_book_of(k, rs);
    uint32_t *types = xmalloc((book->n + 1) * sizeof(*types)), n = 0, lowered;

    for (uint32_t i = 0; i < book->n; i++)
        if (type_is_left(p, rows, book->order[i]))
            types[n++] = book->order[i];
    *ret_n = MIN(n, (uint32_t)MAX_TYPES);
    *ret = arena_dup_array(a, uint32_t, types, *ret_n);
    free(types);
    return n <= MAX_TYPES || p->snap->settings.min_values != MINVALUES_STRICT ||
           types_meet_min_values(p, rs, *ret, *ret_n, &lowered);
}

static void fill_outcome(struct finisher *f, struct outcome *o)
{
    const struct price_book *k = price_book_of(f->k, o->rs);

    choose_offering(f, o, k);
    fill_requirements(f, o, k);
}

static uint32_t outcome_of(struct finisher *f, const struct bin *b)
{
    struct problem *p = &f->k->p;
    uint32_t rs = claim_rs(f->k, b);
    uint64_t h = hash_bytes(b->rows, p->row_words * sizeof(uint64_t), rs);

    for (;; h++) {
        uint32_t ix = u64map_get(&f->outcome_of_hash, h);

        if (ix == MAP_NONE)
            break;
        if (f->outcomes.v[ix].rs == rs && bits_equal(f->outcomes.v[ix].rows, b->rows, p->row_words))
            return ix;
    }
    struct outcome *o = vec_add(&f->outcomes);
    o->rs = rs;
    o->rows = b->rows;
    o->min_values_broken = !claim_types(f->k, rs, b->rows, f->a, &o->shared.types, &o->shared.n_types);
    fill_outcome(f, o);
    u64map_put(&f->outcome_of_hash, h, f->outcomes.n - 1);
    return f->outcomes.n - 1;
}

static uint32_t *bin_pods(struct finisher *f, const struct bin *b)
{
    uint32_t *pods = arena_new_array(f->a, uint32_t, b->n), n = 0;

    for (uint32_t pod = b->first; pod != NONE; pod = f->k->next[pod])
        pods[n++] = f->k->pod_of[pod];
    return pods;
}

static void fill_claim(struct finisher *f, const struct bin *b, const struct outcome *o, struct plan_claim *c)
{
    *c = o->shared;
    c->pool = f->k->p.tmpls[b->tmpl].pool;
    c->pods = bin_pods(f, b);
    c->n_pods = b->n;
    c->requests = claim_requests(f, b, &c->daemon_requests);
    c->min_values_relaxed = b->relaxed;
}

static void finish_claim(struct finisher *f, const struct bin *b, struct plan *out)
{
    uint32_t ix = outcome_of(f, b);
    const struct outcome *o = &f->outcomes.v[ix];

    if (o->min_values_broken) { /* the claim is not made; its pods stay where they are */
        for (uint32_t pod = b->first; pod != NONE; pod = f->k->next[pod])
            f->k->placed[pod] = false;
        return;
    }
    struct plan_claim *c = &out->claims[out->n_claims++];
    fill_claim(f, b, o, c);
    out->hourly_cost += MAX(c->price_usd_per_h, 0.0);
}

static int cmp_dims(const void *a, const void *b, void *ctx)
{
    const struct problem *p = ctx;
    uint32_t x = p->dims[*(const uint32_t *)a].v, y = p->dims[*(const uint32_t *)b].v;

    return x < y ? -1 : x > y;
}

static int cmp_plan_nodes(const void *a, const void *b, void *ctx)
{
    const struct snapshot *s = ctx;

    return str_cmp(s->nodes[((const struct plan_node *)a)->node].name,
                   s->nodes[((const struct plan_node *)b)->node].name);
}

static void finisher_init(struct finisher *f, struct packer *k, struct arena *a)
{
    struct problem *p = &k->p;

    *f = (struct finisher){.k = k, .a = a};
    f->cts = arena_new_array(p->scratch, uint64_t, p->space.keys.v[p->ct_key].n_words);
    f->summands = arena_new_array(p->scratch, struct resq, p->n_dims);
    f->dims_by_sym = arena_new_array(p->scratch, uint32_t, p->n_dims);
    for (uint32_t i = 0; i < p->n_dims; i++)
        f->dims_by_sym[i] = i;
    sort_stable(f->dims_by_sym, p->n_dims, sizeof(*f->dims_by_sym), cmp_dims, p);
}

static void finisher_fini(struct finisher *f)
{
    vec_fini(&f->printed);
    vec_fini(&f->outcomes);
    u64map_fini(&f->printed_of_rs);
    u64map_fini(&f->outcome_of_hash);
    arena_reset(f->k->p.scratch);
}

void packer_claim(struct packer *k, const struct bin *b, uint32_t rs, const uint32_t *types, uint32_t n,
                  struct plan_claim *ret, struct arena *a)
{
    uint64_t *rows = arena_new_array(a, uint64_t, k->p.row_words);
    struct outcome o = {.rs = rs, .rows = rows};
    struct finisher f;

    finisher_init(&f, k, a);
    rows_of_types(&k->p, types, n, rows);
    bits_and(rows, b->rows, k->p.row_words);
    o.shared.types = arena_dup_array(a, uint32_t, types, n);
    o.shared.n_types = n;
    price_sort(price_book_of(k, rs), o.shared.types, n);
    fill_outcome(&f, &o);
    fill_claim(&f, b, &o, ret);
    finisher_fini(&f);
}

void packer_finish(struct packer *k, struct plan *out, struct arena *a)
{
    struct finisher f;

    finisher_init(&f, k, a);
    out->nodes = arena_new_array(a, struct plan_node, k->n_node_bins);
    for (uint32_t i = 0; i < k->n_node_bins; i++) {
        const struct bin *b = &k->bins.v[i];

        if (b->n)
            out->nodes[out->n_nodes++] = (struct plan_node){b->node, bin_pods(&f, b), b->n};
    }
    sort_stable(out->nodes, out->n_nodes, sizeof(*out->nodes), cmp_plan_nodes, (void *)(uintptr_t)k->p.snap);
    out->claims = arena_new_array(a, struct plan_claim, k->bins.n - k->n_node_bins);
    for (uint32_t i = k->n_node_bins; i < k->bins.n; i++)
        finish_claim(&f, &k->bins.v[i], out);
    finisher_fini(&f);
}
