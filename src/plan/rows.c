/* Which instance types are left: the planner asks this once per requirement set, not once per type and pod.
 *
 * Rows are computed lazily per requirement and per requirement set and remembered by number. Resources use one
 * table per dimension: rows sorted by what they offer, and for every distinct value the set of rows that have at
 * least that much; fitting is then one AND per requested resource. */
#include "plan/problem.h"

static struct reslist sum_lists(struct arena *a, const struct reslist *x, const struct reslist *y)
{
    struct reslist l = reslist_dup(a, x);

    reslist_add(a, &l, y);
    return l;
}

static bool same_lists(const struct reslist *x, const struct reslist *y)
{
    if (x->n != y->n)
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (!sym_eq(x->q[i].name, y->q[i].name) || x->q[i].v != y->q[i].v)
            return false;
    return true;
}

/* Capacity − overhead, huge pages taken out of memory (scheduling 4.2). */
static int64_t *row_alloc(struct problem *p, const struct itype *t, const struct offering *o)
{
    struct arena *a = p->lasting;
    struct reslist cap = o ? sum_lists(a, &t->capacity, &o->capacity_override) : t->capacity;
    struct reslist over = o ? sum_lists(a, &t->overhead, &o->overhead_override) : t->overhead;
    struct reslist left = reslist_dup(a, &cap);
    int64_t huge = 0;

    reslist_sub(&left, &over);
    for (uint32_t i = 0; i < cap.n; i++)
        if (str_starts(sym_str(p->snap->syms, cap.q[i].name), STR("hugepages-")))
            huge = sat_add(huge, cap.q[i].v);
    int64_t *v = problem_vector_in(p, a, &left);
    if (huge > 0)
        v[DIM_MEMORY] = MAX((int64_t)0, sat_sub(v[DIM_MEMORY], huge));
    return v;
}

static uint32_t add_row(struct problem *p, uint32_t type, const struct offering *o)
{
    struct row r = {.type = type, .alloc = row_alloc(p, &p->snap->catalog->types[type], o), .usable = true};

    for (uint32_t d = 0; d < p->n_dims; d++)
        r.usable &= r.alloc[d] >= 0;
    vec_push(&p->rows, r);
    return p->rows.n - 1;
}

static bool is_overridden(const struct offering *o)
{
    return o->capacity_override.n || o->overhead_override.n;
}

/* The row of an offering: the type's first, unless it overrides capacity or overhead. */
static uint32_t row_of_offering(struct problem *p, uint32_t type, const struct offering *o)
{
    const struct itype *t = &p->snap->catalog->types[type];
    uint32_t row = p->first_row[type];

    if (!is_overridden(o))
        return row;
    for (uint32_t i = 0; i < t->n_offerings; i++) {
        const struct offering *x = &t->offerings[i];

        if (!x->available || !is_overridden(x))
            continue;
        bool first_of_its_kind = true;
        for (uint32_t j = 0; j < i && first_of_its_kind; j++)
            first_of_its_kind = !(t->offerings[j].available && is_overridden(&t->offerings[j]) &&
                                  same_lists(&t->offerings[j].capacity_override, &x->capacity_override) &&
                                  same_lists(&t->offerings[j].overhead_override, &x->overhead_override));
        row += first_of_its_kind;
        if (same_lists(&x->capacity_override, &o->capacity_override) &&
            same_lists(&x->overhead_override, &o->overhead_override)) {
            if (row == p->rows.n)
                (void)add_row(p, type, o);
            return row;
        }
    }
    return p->first_row[type]; /* an override nobody can buy */
}

static uint32_t reservation_of(struct problem *p, const struct offering *o)
{
    sym key = p->snap->catalog->rules.reservation_id, id = SYM(NONE);
    bool reserved = false;

    for (uint32_t i = 0; i < o->n_requirements; i++) {
        const struct req_expr *x = &o->requirements[i];

        if (sym_eq(x->key, SYM(CT)) && x->n_vals == 1 && sym_eq(x->vals[0], SYM(RESERVED)))
            reserved = true;
        if (sym_some(key) && sym_eq(x->key, key) && x->n_vals)
            id = x->vals[0];
    }
    if (!reserved || !p->snap->settings.reserved_capacity)
        return NONE;
    for (uint32_t i = 0; i < p->reservations.n; i++)
        if (sym_eq(p->reservations.v[i].id, id)) {
            p->reservations.v[i].left = MIN(p->reservations.v[i].left, o->reservation_capacity);
            return i;
        }
    vec_push(&p->reservations, (struct reservation){id, o->reservation_capacity});
    return p->reservations.n - 1;
}

static uint32_t offering_class_of(struct problem *p, uint32_t rs, bool reserved)
{
    for (uint32_t i = 0; i < p->off_classes.n; i++)
        if (p->off_classes.v[i].rs == rs && p->off_classes.v[i].reserved == reserved)
            return i;
    vec_push(&p->off_classes, (struct offering_class){.rs = rs, .reserved = reserved});
    return p->off_classes.n - 1;
}

static int cmp_offerings(const void *a, const void *b, void *ctx)
{
    const struct row_offering *x = a, *y = b;

    (void)ctx;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int cmp_i64(const void *a, const void *b, void *ctx)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    (void)ctx;
    return x < y ? -1 : x > y;
}

static uint32_t fit_rank(const struct fit_table *t, int64_t need)
{
    uint32_t lo = 0, hi = t->n;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (t->sorted[mid] >= need)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

static void build_fit_table(struct problem *p, uint32_t dim)
{
    struct fit_table *t = &p->fits[dim];
    uint32_t words = p->row_words;

    t->sorted = arena_new_array(p->lasting, int64_t, p->rows.n);
    for (uint32_t i = 0; i < p->rows.n; i++)
        t->sorted[i] = p->rows.v[i].alloc[dim];
    sort_stable(t->sorted, p->rows.n, sizeof(int64_t), cmp_i64, NULL);
    for (uint32_t i = 0; i < p->rows.n; i++)
        if (t->n == 0 || t->sorted[i] != t->sorted[t->n - 1])
            t->sorted[t->n++] = t->sorted[i];
    t->at_least = arena_new_array(p->lasting, uint64_t, (size_t)t->n * words);
    for (uint32_t i = 0; i < p->rows.n; i++)
        if (p->rows.v[i].usable)
            bit_set(t->at_least + (size_t)fit_rank(t, p->rows.v[i].alloc[dim]) * words, i);
    for (uint32_t k = t->n; k-- > 1;)
        bits_or(t->at_least + (size_t)(k - 1) * words, t->at_least + (size_t)k * words, words);
}

/* Offerings with equal requirements usually share them: known by their address. */
static uint32_t offering_rs(struct problem *p, struct u64map *known, const struct offering *o)
{
    uint32_t rs = u64map_get(known, (uintptr_t)o->requirements);

    if (rs == MAP_NONE) {
        rs = rs_of_known(&p->space, o->requirements, o->n_requirements);
        u64map_put(known, (uintptr_t)o->requirements, rs);
    }
    return rs;
}

void rows_build(struct problem *p)
{
    const struct catalog *c = p->snap->catalog;
    struct u64map known = {0};

    p->first_row = arena_new_array(p->lasting, uint32_t, c->n + 1);
    p->type_rs = arena_new_array(p->lasting, uint32_t, c->n);
    p->type_capacity = arena_new_array(p->lasting, int64_t, (size_t)c->n * p->n_dims);
    for (uint32_t i = 0; i < c->n; i++) {
        const struct itype *t = &c->types[i];

        p->first_row[i] = add_row(p, i, NULL);
        p->type_rs[i] = rs_of_known(&p->space, t->requirements, t->n_requirements);
        for (uint32_t q = 0; q < t->capacity.n; q++)
            p->type_capacity[(size_t)i * p->n_dims + problem_dim(p, t->capacity.q[q].name)] = t->capacity.q[q].v;
        for (uint32_t j = 0; j < t->n_offerings; j++) {
            const struct offering *o = &t->offerings[j];
            uint32_t reservation = reservation_of(p, o);
            uint32_t rs = offering_rs(p, &known, o);

            vec_push(&p->offerings, (struct row_offering){
                                        .row = row_of_offering(p, i, o),
                                        .cls = offering_class_of(p, rs, reservation != NONE),
                                        .price = o->price_usd_per_h,
                                        .available = o->available,
                                        .reservation = reservation,
                                    });
        }
    }
    u64map_fini(&known);
    p->first_row[c->n] = p->rows.n;
    p->row_words = MAX(BITS_WORDS(p->rows.n), 1u);
    for (uint32_t i = 0; i < p->off_classes.n; i++)
        p->off_classes.v[i].rows = arena_new_array(p->lasting, uint64_t, p->row_words);
    sort_stable(p->offerings.v, p->offerings.n, sizeof(*p->offerings.v), cmp_offerings, NULL);
    p->row_offering = arena_new_array(p->lasting, uint32_t, p->rows.n + 1);
    for (uint32_t i = 0; i < p->offerings.n; i++) {
        const struct row_offering *o = &p->offerings.v[i];

        p->row_offering[o->row + 1] = i + 1;
        if (o->available)
            bit_set(p->off_classes.v[o->cls].rows, o->row);
    }
    for (uint32_t i = 1; i <= p->rows.n; i++)
        p->row_offering[i] = MAX(p->row_offering[i], p->row_offering[i - 1]);
    p->fits = arena_new_array(p->lasting, struct fit_table, p->n_dims);
    for (uint32_t d = 0; d < p->n_dims; d++)
        build_fit_table(p, d);
}

static uint64_t **memo_slot(struct row_memo *m, uint32_t ix)
{
    while (m->n <= ix)
        vec_push(m, NULL);
    return &m->v[ix];
}

static bool accepts_absence(enum req_op op)
{
    return op == OP_NOT_IN || op == OP_DOES_NOT_EXIST;
}

const uint64_t *rows_of_req(struct problem *p, uint32_t req)
{
    uint64_t **slot = memo_slot(&p->req_rows, req);

    if (*slot)
        return *slot;
    uint64_t *rows = arena_new_array(p->lasting, uint64_t, p->row_words);
    bool want_absence = accepts_absence(req_op(&p->space, req));
    uint32_t key = p->space.reqs.v[req].key;
    uint32_t last = REQ_NONE; /* neighbouring types often say the same */
    bool last_ok = true;

    for (uint32_t i = 0; i < p->rows.n; i++) {
        uint32_t have = rs_get(&p->space, p->type_rs[p->rows.v[i].type], key);

        if (have != last || have == REQ_NONE) {
            last = have;
            last_ok = have == REQ_NONE || req_intersects(&p->space, have, req) ||
                      (want_absence && accepts_absence(req_op(&p->space, have)));
        }
        if (last_ok)
            bit_set(rows, i);
    }
    *slot = rows;
    return rows;
}

const uint64_t *rows_with_offering(struct problem *p, uint32_t rs, uint64_t *scratch)
{
    bits_zero(scratch, p->row_words);
    for (uint32_t i = 0; i < p->off_classes.n; i++)
        if (rs_compatible(&p->space, rs, p->off_classes.v[i].rs, COMPAT_LENIENT))
            bits_or(scratch, p->off_classes.v[i].rows, p->row_words);
    return scratch;
}

const uint64_t *rows_of_rs(struct problem *p, uint32_t rs)
{
    uint64_t **slot = memo_slot(&p->rs_rows, rs);

    if (*slot)
        return *slot;
    uint64_t *rows = arena_new_array(p->lasting, uint64_t, p->row_words);

    (void)rows_with_offering(p, rs, rows);
    for (uint32_t i = 0; i < p->space.sets.v[rs].n; i++)
        bits_and(rows, rows_of_req(p, p->space.sets.v[rs].e[i].req), p->row_words);
    *slot = rows;
    return rows;
}

void rows_fit(const struct problem *p, uint64_t *rows, const int64_t *need)
{
    /* DIM_PODS is always asked for, so rows with something negative, which are in no table, never pass. */
    for (uint32_t d = 0; d < p->n_dims; d++) {
        if (need[d] <= 0 && d != DIM_PODS)
            continue;
        const struct fit_table *t = &p->fits[d];
        if (d != DIM_PODS && t->n && need[d] <= t->sorted[0])
            continue; /* every type has that much */
        uint32_t rank = fit_rank(t, need[d]);

        if (rank == t->n) {
            bits_zero(rows, p->row_words);
            return;
        }
        bits_and(rows, t->at_least + (size_t)rank * p->row_words, p->row_words);
    }
}

bool rows_min_values(struct problem *p, const uint64_t *rows, uint32_t rs, uint32_t *ret_relaxed)
{
    struct reqspace *s = &p->space;
    bool met = true;

    *ret_relaxed = rs;
    if (!bits_any(rows, p->row_words))
        return true; /* quirk: of no types nothing is missing (scheduling 4.5) */
    for (uint32_t i = 0; i < s->sets.v[rs].n; i++) {
        uint32_t req = s->sets.v[rs].e[i].req, key = s->sets.v[rs].e[i].key;
        int32_t want = s->reqs.v[req].min_values;

        if (!want)
            continue;
        uint32_t words = s->keys.v[key].n_words;
        struct arena_mark m = arena_mark(p->arena);
        uint64_t *seen = arena_new_array(p->arena, uint64_t, words), *raw = arena_new_array(p->arena, uint64_t, words);
        uint32_t type = NONE;
        for (BITS_EACH(r, rows, p->row_words)) {
            uint32_t have = rs_get(s, p->type_rs[p->rows.v[r].type], key);

            if (p->rows.v[r].type == type || have == REQ_NONE)
                continue;
            type = p->rows.v[r].type;
            req_raw(s, have, raw);
            bits_or(seen, raw, words);
        }
        int32_t n = (int32_t)bits_count(seen, words);
        arena_rewind(p->arena, m);
        if (n < want) {
            met = false;
            *ret_relaxed = rs_put(s, *ret_relaxed, req_set_min_values(s, req, n));
        }
    }
    return met;
}
