/* What there is of the user's in EC2, asked for when it is needed and remembered as long as aws 3.4 says: subnets with their free addresses, security groups, reservations
 * with the machines left in them, placement groups. Images are in found_images.c.
 *
 * Of fibers that miss at the same time one asks, and the others have its answer; when it fails, the next one asks again. Answers are copied out of the caches: what a caller gets
 * lives in its arena. */
#include "cloud/ec2/found_int.h"

#include <stdlib.h>

#include "base/sb.h"
#include "cloud/ec2/selectors.h"

#define COUNTS_MS (5 * 60 * 1000)
#define COUNTS_BEYOND_MS (4 * 60 * 1000) /* counts outlive the listing they came with */
#define DAY_MS (24 * 60 * 60 * 1000)

struct ec2_found *ec2_found_new(struct ec2 *p UNUSED)
{
    struct ec2_found *f = xcalloc(1, sizeof(*f));

    f->left_version = 1;
    return f;
}

void ec2_found_free(struct ec2_found *f)
{
    if (!f)
        return;
    memo_fini(&f->subnets);
    memo_fini(&f->groups);
    memo_fini(&f->images);
    memo_fini(&f->reservations);
    memo_fini(&f->placements);
    memo_fini(&f->looked);
    memo_fini(&f->parameters);
    vec_fini(&f->groups_seen);
    vec_fini(&f->counts);
    vec_fini(&f->left);
    vec_fini(&f->left_until_ms);
    free(f);
}

str ec2_class_key(struct arena *a, const struct ec2_class *k)
{
    return arena_printf(a, STR_FMT "-%lld", STR_ARG(k->uid), (long long)k->generation);
}

/* ---- asked for once ---- */

static bool found_known(const struct memo *m, const struct found_question *q, int64_t now_ms, struct arena *a,
                        void *ret)
{
    const void *known = memo_get(m, q->key, now_ms);

    if (known) {
        memcpy(ret, known, q->size);
        q->copy(a, ret);
    }
    return known != NULL;
}

static bool found_ask(struct ec2 *p, struct memo *m, const struct found_question *q, struct arena *a, void *ret,
                      struct err *e)
{
    memset(ret, 0, q->size);
    if (!q->ask(p, a, q, ret, e))
        return false;
    struct arena *into = memo_put(m, q->key, ec2_clock_ms(p), q->for_ms);
    void *keep = arena_alloc(into, q->size, alignof(max_align_t));

    memcpy(keep, ret, q->size);
    q->copy(into, keep);
    memo_set(m, q->key, keep);
    q->copy(a, ret);
    return true;
}

bool found_get(struct ec2 *p, struct memo *m, const struct found_question *q, struct arena *a, void *ret, struct err *e)
{
    struct turn mine;

    if (found_known(m, q, ec2_clock_ms(p), a, ret))
        return true;
    if (!turns_take(&m->asking, p->world, q->key, &mine))
        return err_set(e, ERR_IO, "shutting down");
    bool ok = found_known(m, q, ec2_clock_ms(p), a, ret) || found_ask(p, m, q, a, ret, e);
    turns_give(&m->asking, &mine);
    return ok;
}

/* ---- free addresses ---- */

static struct subnet_count *count_find(const struct ec2 *p, str id)
{
    for (uint32_t i = 0; i < p->found->counts.n; i++)
        if (str_eq(p->found->counts.v[i].id, id))
            return &p->found->counts.v[i];
    return NULL;
}

static struct subnet_count *count_of(struct ec2 *p, str id)
{
    struct subnet_count *c = count_find(p, id);

    if (!c) {
        c = vec_add(&p->found->counts);
        c->id = arena_strdup(p->arena, id);
        c->until_ms = INT64_MIN;
    }
    return c;
}

static void count_list(struct ec2 *p, str id, int64_t free_ips)
{
    struct subnet_count *c = count_of(p, id);

    c->listed = free_ips;
    c->until_ms = sat_add(ec2_clock_ms(p), MAX(COUNTS_MS, p->settings.subnet_refresh_ms + COUNTS_BEYOND_MS));
    c->taken = false;
}

int64_t ec2_subnet_listed(const struct ec2 *p, str subnet)
{
    const struct subnet_count *c = count_find(p, subnet);

    return c && ec2_clock_ms(p) < c->until_ms ? c->listed : -1;
}

bool ec2_subnet_has_inflight(const struct ec2 *p, str subnet)
{
    const struct subnet_count *c = count_find(p, subnet);

    return c && c->taken;
}

int64_t ec2_subnet_free(const struct ec2 *p, str subnet)
{
    const struct subnet_count *c = count_find(p, subnet);

    if (!c)
        return 0;
    return c->taken ? c->left : MAX(ec2_subnet_listed(p, subnet), 0);
}

void ec2_subnet_take(struct ec2 *p, str subnet, int64_t n)
{
    int64_t left = ec2_subnet_free(p, subnet);
    struct subnet_count *c = count_of(p, subnet);

    c->left = sat_sub(left, n);
    c->taken = true;
}

void ec2_subnet_is_full(struct ec2 *p, str subnet)
{
    count_list(p, subnet, 0);
}

/* ---- subnets ---- */

struct subnets {
    struct ec2_class_subnet *v;
    uint32_t n;
};

static void subnets_copy(struct arena *a, void *answer)
{
    struct subnets *x = answer;

    x->v = arena_dup_array(a, struct ec2_class_subnet, x->v, x->n);
    for (uint32_t i = 0; i < x->n; i++)
        x->v[i] = (struct ec2_class_subnet){arena_strdup(a, x->v[i].id), arena_strdup(a, x->v[i].zone),
                                            arena_strdup(a, x->v[i].zone_id)};
}

static bool subnets_ask(struct ec2 *p, struct arena *a, const struct found_question *what, void *answer, struct err *e)
{
    VEC(struct ec2_subnet) all = {0};
    struct subnets *ret = answer;
    struct ec2_query *q;
    uint32_t n_q = ec2_subnet_queries(a, what->about, &q), n;
    bool ok = true;

    for (uint32_t i = 0; ok && i < n_q; i++) {
        struct ec2_subnet *v;

        ok = ec2_describe_subnets(p->aws, a, q[i].filters, q[i].n_filters, &v, &n, e);
        for (uint32_t x = 0; ok && x < n; x++)
            vec_push(&all, v[x]);
    }
    for (uint32_t i = 0; ok && i < all.n; i++)
        count_list(p, all.v[i].id, all.v[i].free_ips);
    if (ok)
        ret->n = ec2_subnets_found(a, all.v, all.n, &ret->v);
    vec_fini(&all);
    return ok;
}

bool ec2_find_subnets(struct ec2 *p, struct arena *a, const struct ec2_class *k, struct ec2_class_subnet **ret,
                      uint32_t *ret_n, struct err *e)
{
    const struct found_question q = {.key = ec2_class_key(a, k),
                                     .about = k,
                                     .size = sizeof(struct subnets),
                                     .for_ms = p->settings.subnet_refresh_ms,
                                     .ask = subnets_ask,
                                     .copy = subnets_copy};
    struct subnets x;

    if (!found_get(p, &p->found->subnets, &q, a, &x, e))
        return err_wrap(e, "getting subnets");
    *ret = x.v;
    *ret_n = x.n;
    return true;
}

/* ---- security groups ---- */

struct groups {
    struct ec2_group *v;
    uint32_t n;
};

static void groups_copy(struct arena *a, void *answer)
{
    struct groups *x = answer;

    x->v = arena_dup_array(a, struct ec2_group, x->v, x->n);
    for (uint32_t i = 0; i < x->n; i++)
        x->v[i] = (struct ec2_group){arena_strdup(a, x->v[i].id), arena_strdup(a, x->v[i].name)};
}

static bool groups_ask(struct ec2 *p, struct arena *a, const struct found_question *what, void *answer, struct err *e)
{
    VEC(struct ec2_group) all = {0};
    struct groups *ret = answer;
    struct ec2_query *q;
    uint32_t n_q = ec2_group_queries(a, what->about, &q), n;
    bool ok = true;

    for (uint32_t i = 0; ok && i < n_q; i++) {
        struct ec2_group *v;

        ok = ec2_describe_groups(p->aws, a, q[i].filters, q[i].n_filters, &v, &n, e);
        for (uint32_t x = 0; ok && x < n; x++)
            vec_push(&all, v[x]);
    }
    if (ok)
        ret->n = ec2_groups_found(a, all.v, all.n, &ret->v);
    vec_fini(&all);
    return ok;
}

bool ec2_find_groups(struct ec2 *p, struct arena *a, const struct ec2_class *k, struct ec2_group **ret, uint32_t *ret_n,
                     struct err *e)
{
    const struct found_question q = {.key = ec2_class_key(a, k),
                                     .about = k,
                                     .size = sizeof(struct groups),
                                     .for_ms = EC2_FOUND_MS,
                                     .ask = groups_ask,
                                     .copy = groups_copy};
    struct groups x;

    if (!found_get(p, &p->found->groups, &q, a, &x, e))
        return err_wrap(e, "getting security groups");
    *ret = x.v;
    *ret_n = x.n;
    return true;
}

/* ---- machines left in reservations ---- */

static uint32_t left_find(const struct ec2_found *f, str id)
{
    for (uint32_t i = 0; i < f->left.n; i++)
        if (str_eq(f->left.v[i].id, id))
            return i;
    return f->left.n;
}

static void left_set(struct ec2_found *f, uint32_t i, int32_t left)
{
    if (f->left.v[i].left == left)
        return;
    f->left.v[i].left = left;
    f->left_version++;
}

static void left_list(struct ec2 *p, const struct ec2_reservation *r)
{
    struct ec2_found *f = p->found;
    uint32_t i = left_find(f, r->id);

    if (i == f->left.n) {
        vec_push(&f->left, (struct ec2_reserved){arena_strdup(p->arena, r->id), -1});
        vec_push(&f->left_until_ms, 0);
    }
    left_set(f, i, MAX(r->available, 0));
    f->left_until_ms.v[i] = sat_add(ec2_clock_ms(p), DAY_MS);
}

/* What was not listed for a day has none left any more. */
static void left_sweep(struct ec2 *p)
{
    for (uint32_t i = 0; i < p->found->left.n; i++)
        if (p->found->left_until_ms.v[i] <= ec2_clock_ms(p))
            left_set(p->found, i, 0);
}

const struct ec2_reserved *ec2_reserved_left(const struct ec2 *p, uint32_t *ret_n)
{
    *ret_n = p->found->left.n;
    return p->found->left.v;
}

uint64_t ec2_reserved_version(const struct ec2 *p)
{
    return p->found->left_version;
}

static void left_add(struct ec2 *p, str id, int32_t n)
{
    struct ec2_found *f = p->found;
    uint32_t i = left_find(f, id);

    if (i < f->left.n && f->left.v[i].left < INT32_MAX)
        left_set(f, i, MAX(f->left.v[i].left + n, 0));
}

void ec2_reserved_launched(struct ec2 *p, str id)
{
    left_add(p, id, -1);
}

void ec2_reserved_ended(struct ec2 *p, str id)
{
    left_add(p, id, 1);
}

void ec2_reserved_none(struct ec2 *p, str id)
{
    uint32_t i = left_find(p->found, id);

    if (i < p->found->left.n)
        left_set(p->found, i, 0);
}

/* ---- reservations ---- */

struct reservations {
    struct ec2_reservation *v;
    uint32_t n;
};

static void reservations_copy(struct arena *a, void *answer)
{
    struct reservations *x = answer;

    x->v = arena_dup_array(a, struct ec2_reservation, x->v, x->n);
    for (uint32_t i = 0; i < x->n; i++) {
        struct ec2_reservation *r = &x->v[i];

        r->id = arena_strdup(a, r->id);
        r->owner = arena_strdup(a, r->owner);
        r->type = arena_strdup(a, r->type);
        r->zone = arena_strdup(a, r->zone);
        r->match = arena_strdup(a, r->match);
        r->kind = arena_strdup(a, r->kind);
    }
}

/* A query as a text; parts that may hold anything are led by their lengths. */
static str query_key(struct arena *a, const struct ec2_query *q)
{
    struct sb b = {0};

    sb_printf(&b, "%zu:" STR_FMT, q->id.n, STR_ARG(q->id));
    for (uint32_t i = 0; i < q->n_filters; i++) {
        sb_printf(&b, "|%zu:%s", strlen(q->filters[i].name), q->filters[i].name);
        for (uint32_t v = 0; v < q->filters[i].n; v++)
            sb_printf(&b, "=%zu:" STR_FMT, q->filters[i].values[v].n, STR_ARG(q->filters[i].values[v]));
    }
    str key = sb_dup(&b, a);
    sb_fini(&b);
    return key;
}

/* Only a fresh answer counts machines. */
static bool reservations_ask(struct ec2 *p, struct arena *a, const struct found_question *what, void *answer,
                             struct err *e)
{
    const struct ec2_query *q = what->about;
    struct reservations *ret = answer;

    if (!ec2_describe_reservations(p->aws, a, q->id, q->filters, q->n_filters, &ret->v, &ret->n, e))
        return err_wrap(e, "getting capacity reservations");
    for (uint32_t i = 0; i < ret->n; i++)
        left_list(p, &ret->v[i]);
    return true;
}

static bool reservations_of(struct ec2 *p, struct arena *a, const struct ec2_query *one, struct reservations *ret,
                            struct err *e)
{
    const struct found_question q = {.key = query_key(a, one),
                                     .about = one,
                                     .size = sizeof(struct reservations),
                                     .for_ms = EC2_FOUND_MS,
                                     .ask = reservations_ask,
                                     .copy = reservations_copy};

    return found_get(p, &p->found->reservations, &q, a, ret, e);
}

static bool reservations_all(struct ec2 *p, struct arena *a, const struct ec2_query *q, uint32_t n_q,
                             struct ec2_class_reservation **ret, uint32_t *ret_n, struct err *e)
{
    VEC(struct ec2_reservation) all = {0};
    bool ok = true;

    left_sweep(p);
    for (uint32_t i = 0; ok && i < n_q; i++) {
        struct reservations x = {0};

        ok = reservations_of(p, a, &q[i], &x, e);
        for (uint32_t r = 0; ok && r < x.n; r++)
            vec_push(&all, x.v[r]);
    }
    if (ok)
        *ret_n = ec2_reservations_found(a, all.v, all.n, world_now_ms(p->world), ret);
    vec_fini(&all);
    return ok;
}

bool ec2_find_reservations(struct ec2 *p, struct arena *a, const struct ec2_class *k,
                           struct ec2_class_reservation **ret, uint32_t *ret_n, struct err *e)
{
    struct ec2_query *q;
    uint32_t n_q = ec2_reservation_queries(a, k, &q);

    return reservations_all(p, a, q, n_q, ret, ret_n, e);
}

/* ---- placement groups ---- */

static str placement_key(struct arena *a, const struct ec2_class *k)
{
    bool by_id = k->placement_id.n > 0;

    return arena_printf(a, "%s=" STR_FMT, by_id ? "id" : "name", STR_ARG(by_id ? k->placement_id : k->placement_name));
}

static bool placement_same(const struct ec2_placement_group *x, const struct ec2_placement_group *y)
{
    return str_eq(x->id, y->id) && str_eq(x->name, y->name) && str_eq(x->strategy, y->strategy) &&
           str_eq(x->spread_level, y->spread_level) && x->partitions == y->partitions;
}

/* A copy that lives as long as the provider; there are few groups, and they do not change. */
static const struct ec2_placement_group *placement_of(struct ec2 *p, const struct ec2_placement_group *g)
{
    for (uint32_t i = 0; i < p->found->groups_seen.n; i++)
        if (placement_same(p->found->groups_seen.v[i], g))
            return p->found->groups_seen.v[i];
    struct ec2_placement_group *copy = arena_new_one(p->arena, struct ec2_placement_group);

    *copy = (struct ec2_placement_group){
        .id = arena_strdup(p->arena, g->id),
        .name = arena_strdup(p->arena, g->name),
        .strategy = arena_strdup(p->arena, g->strategy),
        .spread_level = arena_strdup(p->arena, g->spread_level),
        .partitions = g->partitions,
    };
    vec_push(&p->found->groups_seen, copy);
    return copy;
}

static const struct ec2_placement_group *placement_kept(const struct ec2 *p, const struct ec2_class *k)
{
    AUTO(arena) struct arena *scratch = arena_new(256);

    return k->has_placement ? memo_get(&p->found->placements, placement_key(scratch, k), ec2_clock_ms(p)) : NULL;
}

bool ec2_placement_known(const struct ec2 *p, const struct ec2_class *k, struct ec2_placement_group *ret)
{
    const struct ec2_placement_group *g = placement_kept(p, k);

    if (g)
        *ret = *g;
    return g != NULL;
}

static void placement_keep(struct ec2 *p, str key, const struct ec2_placement_group *g)
{
    (void)memo_put(&p->found->placements, key, ec2_clock_ms(p), DAY_MS);
    memo_set(&p->found->placements, key, placement_of(p, g));
}

static bool placement_ask(struct ec2 *p, struct arena *a, const struct ec2_class *k, str key, struct err *e)
{
    struct ec2_placement_group g;
    bool ok = ec2_describe_placement_group(p->aws, a, k->placement_id, k->placement_name, &g, e);

    if (ok)
        placement_keep(p, key, &g);
    else if (e->kind == ERR_NOT_FOUND)
        memo_drop(&p->found->placements, key);
    if (ok || e->kind == ERR_NOT_FOUND)
        memo_put_text(&p->found->looked, key, STR("asked"), ec2_clock_ms(p), EC2_FOUND_MS);
    return ok;
}

/* Whether EC2 was asked a minute ago and what it said then are remembered apart: what is older is still better than nothing when EC2 does not answer. */
bool ec2_find_placement(struct ec2 *p, struct arena *a, const struct ec2_class *k, struct ec2_placement_group *ret,
                        bool *ret_known, struct err *e)
{
    str key = placement_key(a, k);
    struct memo *looked = &p->found->looked;
    struct turn mine;
    bool ok = true;

    *ret_known = false;
    *e = (struct err){0};
    if (k->has_placement && !memo_get(looked, key, ec2_clock_ms(p))) {
        if (!turns_take(&looked->asking, p->world, key, &mine))
            return err_set(e, ERR_IO, "shutting down");
        ok = memo_get(looked, key, ec2_clock_ms(p)) || placement_ask(p, a, k, key, e);
        turns_give(&looked->asking, &mine);
    }
    const struct ec2_placement_group *g = placement_kept(p, k);
    if (g) {
        *ret = *g;
        *ret_known = true;
    }
    if (ok && !g)
        return err_set(e, ERR_NOT_FOUND, "there is no placement group " STR_FMT, STR_ARG(key));
    return ok;
}
