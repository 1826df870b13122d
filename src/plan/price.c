/* What instance types cost under a set of requirements (scheduling 4.4). */
#include <math.h>

#include "plan/pack.h"

static int cmp_prices(const void *a, const void *b, void *ctx)
{
    const double *price = ctx;
    double x = price[*(const uint32_t *)a], y = price[*(const uint32_t *)b];

    return x < y ? -1 : x > y;
}

/* Which capacity type a launch prefers; the higher the better, 0: none of those that have a name. */
static int launch_rank(const struct problem *p, uint32_t ct)
{
    const sym order[] = {SYM(ON_DEMAND), SYM(SPOT), SYM(RESERVED)};

    for (unsigned i = 0; i < ARRAY_LEN(order); i++)
        if (sym_eq(p->space.keys.v[p->ct_key].vals[ct], order[i]))
            return (int)i + 1;
    return 0;
}

/* All offerings of a type count, not only those of rows that are left. */
static void price_type(struct problem *p, struct price_book *k, uint32_t type)
{
    uint32_t words = p->space.keys.v[p->ct_key].n_words;
    int best = 0;

    k->price[type] = k->worst[type] = INFINITY;
    for (uint32_t i = p->row_offering[p->first_row[type]]; i < p->row_offering[p->first_row[type + 1]]; i++) {
        const struct row_offering *o = &p->offerings.v[i];
        uint32_t ct;

        if (!o->available || !bit_test(k->classes, o->cls))
            continue;
        k->price[type] = MIN(k->price[type], o->price);
        if (!req_is_single(&p->space, rs_get(&p->space, p->off_classes.v[o->cls].rs, p->ct_key), &ct))
            continue;
        bit_set(k->cts + (size_t)type * words, ct);
        int rank = launch_rank(p, ct);
        if (rank > best || (rank && rank == best && o->price > k->worst[type]))
            k->worst[type] = o->price;
        best = MAX(best, rank);
    }
}

void price_sort(const struct price_book *k, uint32_t *types, uint32_t n)
{
    sort_stable(types, n, sizeof(*types), cmp_prices, k->price);
}

static struct price_book new_book(struct problem *p, const uint64_t *classes)
{
    uint32_t n_types = p->snap->catalog->n;
    struct price_book k = {
        .classes = classes,
        .order = arena_new_array(p->arena, uint32_t, n_types),
        .price = arena_new_array(p->arena, double, n_types),
        .worst = arena_new_array(p->arena, double, n_types),
        .cts = arena_new_array(p->arena, uint64_t, (size_t)n_types * p->space.keys.v[p->ct_key].n_words),
    };

    for (uint32_t t = 0; t < n_types; t++) {
        price_type(p, &k, t);
        k.order[k.n++] = t;
    }
    price_sort(&k, k.order, k.n);
    return k;
}

const struct price_book *price_book_of(struct packer *k, uint32_t rs)
{
    struct problem *p = &k->p;
    struct price_books *b = &k->books;
    uint32_t ix = u64map_get(&b->of_rs, rs), words = BITS_WORDS(p->off_classes.n) + 1;

    if (ix != MAP_NONE)
        return &b->v.v[ix];
    uint64_t *classes = arena_new_array(p->arena, uint64_t, words);
    for (uint32_t i = 0; i < p->off_classes.n; i++)
        if (rs_compatible(&p->space, rs, p->off_classes.v[i].rs, COMPAT_LENIENT))
            bit_set(classes, i);
    str key = {(const char *)classes, words * sizeof(*classes)};
    ix = strmap_get(&b->of_classes, key);
    if (ix == MAP_NONE) {
        ix = b->v.n;
        vec_push(&b->v, new_book(p, classes));
        strmap_put(&b->of_classes, key, ix);
    }
    u64map_put(&b->of_rs, rs, ix);
    return &b->v.v[ix];
}

void price_books_fini(struct price_books *b)
{
    vec_fini(&b->v);
    strmap_fini(&b->of_classes);
    u64map_fini(&b->of_rs);
}
