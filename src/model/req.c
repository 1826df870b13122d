/* The algebra of scheduling 3.1-3.5 on bit sets. Numbers stand for content, so every question about two sets is
 * asked once and remembered; the tables only grow during a pass. */
#include "model/req.h"

#include <stdlib.h>

#include "base/bits.h"

void reqspace_init(struct reqspace *s, struct arena *a, const struct syms *syms, const struct label_rules *rules)
{
    *s = (struct reqspace){.arena = a, .syms = syms, .rules = rules};
}

void reqspace_fini(struct reqspace *s)
{
    vec_fini(&s->keys);
    vec_fini(&s->reqs);
    vec_fini(&s->sets);
    vec_fini(&s->announced);
    u64map_fini(&s->key_of_sym);
    u64map_fini(&s->val_of_pair);
    u64map_fini(&s->intersect_memo);
    u64map_fini(&s->union_memo);
    u64map_fini(&s->add_memo);
    for (size_t i = 0; i < ARRAY_LEN(s->compat_memo); i++)
        u64map_fini(&s->compat_memo[i]);
    u64map_fini(&s->req_hash);
    u64map_fini(&s->set_hash);
}

void reqspace_key(struct reqspace *s, sym key)
{
    if (u64map_get(&s->key_of_sym, key.v) != MAP_NONE)
        return;
    if (s->frozen) {
        s->lacks = true;
        return;
    }
    u64map_put(&s->key_of_sym, key.v, s->keys.n);
    struct label_key *k = vec_add(&s->keys);
    k->name = key;
    k->other = VAL_NONE;
    k->well_known = label_is_well_known(s->rules, key);
}

void reqspace_value(struct reqspace *s, sym key, sym val)
{
    reqspace_key(s, key);
    if (u64map_get(&s->val_of_pair, u64_pair(key.v, val.v)) != MAP_NONE)
        return;
    if (s->frozen) {
        s->lacks = true;
        return;
    }
    u64map_put(&s->val_of_pair, u64_pair(key.v, val.v), 0);
    s->keys.v[u64map_get(&s->key_of_sym, key.v)].n_vals++;
    vec_push(&s->announced, (struct label){key, val});
}

void reqspace_expr(struct reqspace *s, const struct req_expr *x)
{
    reqspace_key(s, x->key);
    if (x->op == OP_IN || x->op == OP_NOT_IN)
        for (uint32_t i = 0; i < x->n_vals; i++)
            reqspace_value(s, x->key, x->vals[i]);
}

static int cmp_announced(const void *a, const void *b, void *ctx)
{
    const struct reqspace *s = ctx;
    const struct label *x = a, *y = b;
    uint32_t kx = u64map_get(&s->key_of_sym, x->key.v), ky = u64map_get(&s->key_of_sym, y->key.v);

    if (kx != ky)
        return kx < ky ? -1 : 1;
    return str_cmp(sym_str(s->syms, x->val), sym_str(s->syms, y->val));
}

static int cmp_keys(const void *a, const void *b, void *ctx)
{
    const struct reqspace *s = ctx;

    return str_cmp(sym_str(s->syms, ((const struct label_key *)a)->name),
                   sym_str(s->syms, ((const struct label_key *)b)->name));
}

static uint32_t rs_intern(struct reqspace *s, const struct rs_entry *e, uint32_t n);

void reqspace_freeze(struct reqspace *s)
{
    reqspace_key(s, SYM(HOST));
    sort_stable(s->keys.v, s->keys.n, sizeof(*s->keys.v), cmp_keys, s);
    for (uint32_t i = 0; i < s->keys.n; i++)
        u64map_put(&s->key_of_sym, s->keys.v[i].name.v, i);
    sort_stable(s->announced.v, s->announced.n, sizeof(*s->announced.v), cmp_announced, s);

    uint32_t at = 0;
    for (uint32_t i = 0; i < s->keys.n; i++) {
        struct label_key *k = &s->keys.v[i];
        uint32_t named = k->n_vals;

        if (sym_eq(k->name, SYM(HOST)))
            k->other = k->n_vals++;
        k->n_words = MAX(BITS_WORDS(k->n_vals), 1u);
        k->vals = arena_new_array(s->arena, sym, k->n_vals);
        k->ints = arena_new_array(s->arena, int64_t, k->n_vals);
        k->is_int = arena_new_array(s->arena, uint64_t, k->n_words);
        k->single = arena_new_array(s->arena, uint32_t, k->n_vals);
        memset(k->single, 0xff, k->n_vals * sizeof(*k->single));
        for (uint32_t v = 0; v < named; v++) {
            struct label l = s->announced.v[at++];

            k->vals[v] = l.val;
            u64map_put(&s->val_of_pair, u64_pair(l.key.v, l.val.v), v);
            if (str_to_i64(sym_str(s->syms, l.val), &k->ints[v]))
                bit_set(k->is_int, v);
        }
    }
    s->draft = arena_new_array(s->arena, struct rs_entry, s->keys.n);
    s->frozen = true;
    (void)rs_intern(s, NULL, 0); /* RS_EMPTY */
}

uint32_t space_key(const struct reqspace *s, sym key)
{
    return u64map_get(&s->key_of_sym, key.v);
}

uint32_t space_val(const struct reqspace *s, uint32_t key, sym val)
{
    const struct label_key *k = &s->keys.v[key];
    uint32_t v = u64map_get(&s->val_of_pair, u64_pair(k->name.v, val.v));

    return v == MAP_NONE ? k->other : v;
}

/* --- requirements ------------------------------------------------------------------------------------------------ */

static uint64_t req_content_hash(const struct req *r, uint32_t words)
{
    uint64_t h = hash_mix(r->key, (uint64_t)r->gte);

    h = hash_mix(h, (uint64_t)r->lte);
    h = hash_mix(h, (uint64_t)(uint32_t)r->min_values << 1 | r->open);
    return hash_bytes(r->allow, words * sizeof(uint64_t), h);
}

static bool req_same(const struct req *a, const struct req *b, uint32_t words)
{
    return a->key == b->key && a->gte == b->gte && a->lte == b->lte && a->min_values == b->min_values &&
           a->open == b->open && bits_equal(a->allow, b->allow, words);
}

static uint32_t req_intern(struct reqspace *s, const struct req *r)
{
    uint32_t words = s->keys.v[r->key].n_words;
    uint64_t h = req_content_hash(r, words);

    for (;; h++) { /* a hash that is taken by other content: the next one */
        uint32_t id = u64map_get(&s->req_hash, h);

        if (id == MAP_NONE)
            break;
        if (req_same(&s->reqs.v[id], r, words))
            return id;
    }
    struct req *copy = vec_add(&s->reqs);
    *copy = *r;
    copy->allow = arena_dup_array(s->arena, uint64_t, r->allow, words);
    u64map_put(&s->req_hash, h, s->reqs.n - 1);
    return s->reqs.n - 1;
}

static bool key_within(const struct label_key *k, uint32_t val, int64_t gte, int64_t lte)
{
    if (gte == INT64_MIN && lte == INT64_MAX)
        return true;
    return bit_test(k->is_int, val) && k->ints[val] >= gte && k->ints[val] <= lte;
}

static int64_t bound_value(const struct reqspace *s, const struct req_expr *x)
{
    int64_t v = 0; /* values that are no numbers are refused long before; here they count as 0 */

    if (x->n_vals)
        (void)str_to_i64(sym_str(s->syms, x->vals[0]), &v);
    return v;
}

uint32_t req_of(struct reqspace *s, const struct req_expr *x)
{
    uint32_t key = space_key(s, x->key);

    assert(key != KEY_NONE);
    const struct label_key *k = &s->keys.v[key];
    if (x->op == OP_IN && x->n_vals == 1 && x->min_values == 0)
        return req_one(s, key, space_val(s, key, x->vals[0]));
    struct arena_mark m = arena_mark(s->arena);
    struct req r = {
        .allow = arena_new_array(s->arena, uint64_t, k->n_words),
        .gte = INT64_MIN,
        .lte = INT64_MAX,
        .min_values = x->min_values,
        .key = key,
    };
    int64_t bound = bound_value(s, x);

    switch (x->op) {
    case OP_IN:
        for (uint32_t i = 0; i < x->n_vals; i++)
            bit_set(r.allow, space_val(s, key, x->vals[i]));
        break;
    case OP_DOES_NOT_EXIST:
        break;
    case OP_NOT_IN:
    case OP_EXISTS:
        r.open = true;
        break;
    case OP_GT:
        r.open = bound != INT64_MAX; /* nothing is greater than the greatest: DoesNotExist */
        if (r.open)
            r.gte = bound + 1;
        else
            r.min_values = 0;
        break;
    case OP_GTE:
        r.open = true;
        r.gte = bound;
        break;
    case OP_LT:
        r.open = bound != INT64_MIN;
        if (r.open)
            r.lte = bound - 1;
        break;
    case OP_LTE:
        r.open = true;
        r.lte = bound;
        break;
    }
    if (r.open) {
        for (uint32_t v = 0; v < k->n_vals; v++)
            if (key_within(k, v, r.gte, r.lte))
                bit_set(r.allow, v);
        if (x->op == OP_NOT_IN)
            for (uint32_t i = 0; i < x->n_vals; i++)
                bit_clear(r.allow, space_val(s, key, x->vals[i]));
    }
    uint64_t allow[64];
    if (k->n_words <= ARRAY_LEN(allow)) { /* the usual case leaves nothing behind in the arena */
        bits_copy(allow, r.allow, k->n_words);
        arena_rewind(s->arena, m);
        r.allow = allow;
    }
    return req_intern(s, &r);
}

uint32_t req_in(struct reqspace *s, uint32_t key, const uint64_t *allow)
{
    struct req r = {.allow = (uint64_t *)(uintptr_t)allow, .gte = INT64_MIN, .lte = INT64_MAX, .key = key};

    return req_intern(s, &r);
}

uint32_t req_one(struct reqspace *s, uint32_t key, uint32_t val)
{
    uint32_t words = s->keys.v[key].n_words;

    if (s->keys.v[key].single[val] != REQ_NONE)
        return s->keys.v[key].single[val];
    uint64_t *allow = xcalloc(words, sizeof(*allow));
    bit_set(allow, val);
    s->keys.v[key].single[val] = req_in(s, key, allow);
    free(allow);
    return s->keys.v[key].single[val];
}

uint32_t req_set_min_values(struct reqspace *s, uint32_t r, int32_t min_values)
{
    struct req copy = s->reqs.v[r];

    copy.min_values = min_values;
    return req_intern(s, &copy);
}

uint32_t req_intersect(struct reqspace *s, uint32_t a, uint32_t b)
{
    if (a == b)
        return a;
    uint64_t pair = a < b ? u64_pair(a, b) : u64_pair(b, a);
    uint32_t known = u64map_get(&s->intersect_memo, pair);
    if (known != MAP_NONE)
        return known;

    const struct req x = s->reqs.v[a], y = s->reqs.v[b];
    uint32_t words = s->keys.v[x.key].n_words;
    uint64_t small[64], *allow = words <= ARRAY_LEN(small) ? small : xmalloc(words * sizeof(*allow));
    struct req r = {
        .allow = allow,
        .gte = INT64_MIN,
        .lte = INT64_MAX,
        .min_values = MAX(x.min_values, y.min_values),
        .open = x.open && y.open,
        .key = x.key,
    };

    assert(x.key == y.key);
    bits_copy(allow, x.allow, words);
    bits_and(allow, y.allow, words);
    if (r.open) {
        r.gte = MAX(x.gte, y.gte);
        r.lte = MIN(x.lte, y.lte);
    }
    if (r.gte > r.lte) { /* crossed bounds leave nothing */
        r.open = false;
        r.gte = INT64_MIN;
        r.lte = INT64_MAX;
        bits_zero(allow, words);
    }
    uint32_t id = req_intern(s, &r);
    if (allow != small)
        free(allow);
    u64map_put(&s->intersect_memo, pair, id);
    return id;
}

/* Two open sets meet unless their bounds cross: the integers are endless (scheduling 3.2). */
bool req_intersects(const struct reqspace *s, uint32_t a, uint32_t b)
{
    const struct req *x = &s->reqs.v[a], *y = &s->reqs.v[b];

    if (x->open && y->open)
        return MAX(x->gte, y->gte) <= MIN(x->lte, y->lte);
    return bits_meet(x->allow, y->allow, s->keys.v[x->key].n_words);
}

bool req_has(const struct reqspace *s, uint32_t r, uint32_t val)
{
    return r == REQ_NONE || bit_test(s->reqs.v[r].allow, val);
}

void req_raw(const struct reqspace *s, uint32_t r, uint64_t *out)
{
    const struct req *q = &s->reqs.v[r];
    const struct label_key *k = &s->keys.v[q->key];

    bits_copy(out, q->allow, k->n_words);
    if (!q->open)
        return;
    for (uint32_t v = 0; v < k->n_vals; v++)
        if (bit_test(q->allow, v) || !key_within(k, v, q->gte, q->lte))
            bit_clear(out, v);
        else
            bit_set(out, v);
}

uint32_t req_raw_count(const struct reqspace *s, uint32_t r)
{
    const struct req *q = &s->reqs.v[r];
    const struct label_key *k = &s->keys.v[q->key];
    uint32_t n = 0;

    if (!q->open)
        return bits_count(q->allow, k->n_words);
    for (uint32_t v = 0; v < k->n_vals; v++)
        n += !bit_test(q->allow, v) && key_within(k, v, q->gte, q->lte);
    return n;
}

enum req_op req_op(const struct reqspace *s, uint32_t r)
{
    bool any = req_raw_count(s, r) > 0;

    if (s->reqs.v[r].open)
        return any ? OP_NOT_IN : OP_EXISTS;
    return any ? OP_IN : OP_DOES_NOT_EXIST;
}

bool req_is_single(const struct reqspace *s, uint32_t r, uint32_t *ret_val)
{
    if (r == REQ_NONE || s->reqs.v[r].open)
        return false;
    const struct req *q = &s->reqs.v[r];
    uint32_t words = s->keys.v[q->key].n_words;
    uint32_t at = bits_next(q->allow, words, 0);
    if (at == UINT32_MAX || bits_next(q->allow, words, at + 1) != UINT32_MAX)
        return false;
    *ret_val = at;
    return true;
}

/* --- requirement sets -------------------------------------------------------------------------------------------- */

static uint32_t rs_intern(struct reqspace *s, const struct rs_entry *e, uint32_t n)
{
    uint64_t h = hash_bytes(e, n * sizeof(*e), n);

    for (;; h++) {
        uint32_t id = u64map_get(&s->set_hash, h);

        if (id == MAP_NONE)
            break;
        if (s->sets.v[id].n == n && (n == 0 || memcmp(s->sets.v[id].e, e, n * sizeof(*e)) == 0))
            return id;
    }
    vec_push(&s->sets, (struct rs){arena_dup_array(s->arena, struct rs_entry, e, n), n});
    u64map_put(&s->set_hash, h, s->sets.n - 1);
    return s->sets.n - 1;
}

uint32_t rs_get(const struct reqspace *s, uint32_t set, uint32_t key)
{
    const struct rs *r = &s->sets.v[set];

    for (uint32_t i = 0; i < r->n && r->e[i].key <= key; i++)
        if (r->e[i].key == key)
            return r->e[i].req;
    return REQ_NONE;
}

static uint32_t rs_insert(struct reqspace *s, uint32_t set, uint32_t req, bool replace)
{
    struct rs_entry *e = s->draft;
    uint32_t key = s->reqs.v[req].key, n = 0;
    const struct rs r = s->sets.v[set];
    bool done = false;

    for (uint32_t i = 0; i < r.n; i++) {
        if (!done && r.e[i].key >= key) {
            bool there = r.e[i].key == key;

            e[n++] = (struct rs_entry){key, there && !replace ? req_intersect(s, req, r.e[i].req) : req};
            done = true;
            if (there)
                continue;
        }
        e[n++] = r.e[i];
    }
    if (!done)
        e[n++] = (struct rs_entry){key, req};
    return rs_intern(s, e, n);
}

uint32_t rs_add(struct reqspace *s, uint32_t set, uint32_t req)
{
    uint32_t known = u64map_get(&s->add_memo, u64_pair(set, req));

    if (known == MAP_NONE) {
        known = rs_insert(s, set, req, /* replace= */ false);
        u64map_put(&s->add_memo, u64_pair(set, req), known);
    }
    return known;
}

uint32_t rs_put(struct reqspace *s, uint32_t set, uint32_t req)
{
    return rs_insert(s, set, req, /* replace= */ true);
}

/* Adds to a list sorted by key that is not a set yet: one interning for many requirements. */
static uint32_t entries_add(struct reqspace *s, struct rs_entry *e, uint32_t n, uint32_t req)
{
    uint32_t key = s->reqs.v[req].key, at = n;

    while (at > 0 && e[at - 1].key > key)
        at--;
    if (at > 0 && e[at - 1].key == key) {
        e[at - 1].req = req_intersect(s, req, e[at - 1].req);
        return n;
    }
    assert(n < s->keys.n);
    memmove(e + at + 1, e + at, (n - at) * sizeof(*e));
    e[at] = (struct rs_entry){key, req};
    return n + 1;
}

uint32_t rs_union(struct reqspace *s, uint32_t a, uint32_t b)
{
    if (a == b || b == RS_EMPTY)
        return a;
    uint32_t known = u64map_get(&s->union_memo, u64_pair(a, b));
    if (known != MAP_NONE)
        return known;

    struct rs_entry *e = s->draft;
    uint32_t n = s->sets.v[a].n, out;

    if (n)
        memcpy(e, s->sets.v[a].e, n * sizeof(*e));
    for (uint32_t i = 0; i < s->sets.v[b].n; i++)
        n = entries_add(s, e, n, s->sets.v[b].e[i].req);
    out = rs_intern(s, e, n);
    u64map_put(&s->union_memo, u64_pair(a, b), out);
    return out;
}

uint32_t rs_of_exprs(struct reqspace *s, const struct req_expr *x, uint32_t n)
{
    struct rs_entry *e = s->draft;
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++)
        count = entries_add(s, e, count, req_of(s, &x[i]));
    return rs_intern(s, e, count);
}

uint32_t rs_of_known(struct reqspace *s, const struct req_expr *x, uint32_t n)
{
    struct rs_entry *e = s->draft;
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++)
        if (space_key(s, x[i].key) != KEY_NONE)
            count = entries_add(s, e, count, req_of(s, &x[i]));
    return rs_intern(s, e, count);
}

uint32_t rs_of_labels(struct reqspace *s, const struct label *labels, uint32_t n)
{
    struct rs_entry *e = s->draft;
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t key = space_key(s, labels[i].key);
        uint32_t val = key == KEY_NONE ? VAL_NONE : space_val(s, key, labels[i].val);

        if (val != VAL_NONE)
            count = entries_add(s, e, count, req_one(s, key, val));
    }
    return rs_intern(s, e, count);
}

static bool op_accepts_absence(const struct reqspace *s, uint32_t r)
{
    enum req_op op = req_op(s, r);

    return op == OP_NOT_IN || op == OP_DOES_NOT_EXIST;
}

uint32_t rs_incompatible_key(struct reqspace *s, uint32_t have, uint32_t want, enum compat mode, bool *ret_undefined)
{
    const struct rs *h = &s->sets.v[have], *w = &s->sets.v[want];
    uint32_t bad = KEY_NONE;

    *ret_undefined = false;
    for (uint32_t i = 0, j = 0; i < w->n; i++) {
        while (j < h->n && h->e[j].key < w->e[i].key)
            j++;
        if (j < h->n && h->e[j].key == w->e[i].key) {
            if (bad == KEY_NONE && !req_intersects(s, h->e[j].req, w->e[i].req) &&
                !(op_accepts_absence(s, w->e[i].req) && op_accepts_absence(s, h->e[j].req)))
                bad = w->e[i].key;
            continue;
        }
        /* An undefined key is what upstream complains about first, whatever else is wrong. */
        bool may_be_undefined =
            mode == COMPAT_INTERSECTS || (mode == COMPAT_LENIENT && s->keys.v[w->e[i].key].well_known);
        if (!may_be_undefined && !op_accepts_absence(s, w->e[i].req)) {
            *ret_undefined = true;
            return w->e[i].key;
        }
    }
    return bad;
}

bool rs_compatible(struct reqspace *s, uint32_t have, uint32_t want, enum compat mode)
{
    if (want == RS_EMPTY)
        return true;
    uint32_t known = u64map_get(&s->compat_memo[mode], u64_pair(have, want));
    if (known != MAP_NONE)
        return known;

    bool undefined;
    bool ok = rs_incompatible_key(s, have, want, mode, &undefined) == KEY_NONE;
    u64map_put(&s->compat_memo[mode], u64_pair(have, want), ok);
    return ok;
}

bool rs_has_min_values(const struct reqspace *s, uint32_t set)
{
    for (uint32_t i = 0; i < s->sets.v[set].n; i++)
        if (s->reqs.v[s->sets.v[set].e[i].req].min_values)
            return true;
    return false;
}
