#include "cloud/ec2/selectors.h"

#include "base/vec.h"

/* ---- queries ---- */

typedef VEC(struct ec2_query) queries;
typedef VEC(str) texts;

static uint32_t keep(struct arena *a, queries *q, struct ec2_query **ret)
{
    uint32_t n = q->n;

    *ret = vec_to_arena(q, a);
    vec_fini(q);
    return n;
}

/* The filters of a term's tags, with room for `more`. */
static struct ec2_filter *tag_filters(struct arena *a, const struct ec2_term *t, uint32_t more)
{
    struct ec2_filter *f = arena_new_array(a, struct ec2_filter, t->n_tags + more);

    for (uint32_t i = 0; i < t->n_tags; i++)
        f[i] = ec2_filter_tag(a, t->tags[i].key, t->tags[i].value);
    return f;
}

static void by_tags(struct arena *a, queries *q, const struct ec2_term *t)
{
    vec_push(q, (struct ec2_query){.filters = tag_filters(a, t, 0), .n_filters = t->n_tags});
}

/* One query for all of them; the texts are gone. */
static void by_values(struct arena *a, queries *q, const char *name, texts *values)
{
    struct ec2_filter *f = arena_new_one(a, struct ec2_filter);

    if (values->n) {
        *f = (struct ec2_filter){.name = name, .values = vec_to_arena(values, a), .n = values->n};
        vec_push(q, (struct ec2_query){.filters = f, .n_filters = 1});
    }
    vec_fini(values);
}

static struct ec2_filter by_value(struct arena *a, const char *name, str value)
{
    return (struct ec2_filter){.name = name, .values = arena_dup_array(a, str, &value, 1), .n = 1};
}

uint32_t ec2_subnet_queries(struct arena *a, const struct ec2_class *k, struct ec2_query **ret)
{
    queries q = {0};
    texts ids = {0};

    for (uint32_t i = 0; i < k->subnets.n; i++) {
        const struct ec2_term *t = &k->subnets.v[i];

        if (t->id.n)
            vec_push(&ids, t->id);
        else
            by_tags(a, &q, t);
    }
    by_values(a, &q, "subnet-id", &ids);
    return keep(a, &q, ret);
}

uint32_t ec2_group_queries(struct arena *a, const struct ec2_class *k, struct ec2_query **ret)
{
    queries q = {0};
    texts ids = {0}, names = {0};

    for (uint32_t i = 0; i < k->groups.n; i++) {
        const struct ec2_term *t = &k->groups.v[i];

        if (t->id.n)
            vec_push(&ids, t->id);
        else if (t->name.n)
            vec_push(&names, t->name);
        else
            by_tags(a, &q, t);
    }
    by_values(a, &q, "group-id", &ids);
    by_values(a, &q, "group-name", &names);
    return keep(a, &q, ret);
}

uint32_t ec2_reservation_queries(struct arena *a, const struct ec2_class *k, struct ec2_query **ret)
{
    queries q = {0};

    for (uint32_t i = 0; i < k->reservations.n; i++) {
        const struct ec2_term *t = &k->reservations.v[i];

        if (t->id.n)
            vec_push(&q, (struct ec2_query){.id = t->id});
        if (t->n_tags == 0 && t->match.n == 0)
            continue; /* an owner alone asks for nothing */
        struct ec2_filter *f = tag_filters(a, t, 2);
        uint32_t n = t->n_tags;

        if (t->owner.n)
            f[n++] = by_value(a, "owner-id", t->owner);
        if (t->match.n)
            f[n++] = by_value(a, "instance-match-criteria", t->match);
        vec_push(&q, (struct ec2_query){.filters = f, .n_filters = n});
    }
    return keep(a, &q, ret);
}

/* Whoever names images without saying whose they are means his own, or Amazon's. */
static void by_name(struct arena *a, queries *q, const struct ec2_term *t)
{
    static const str usual[] = {STR_INIT("self"), STR_INIT("amazon")};
    struct ec2_filter *f = tag_filters(a, t, 1);
    struct ec2_query x = {.filters = f, .n_filters = t->n_tags};

    if (t->name.n)
        f[x.n_filters++] = by_value(a, "name", t->name);
    if (t->owner.n) {
        x.owners = arena_dup_array(a, str, &t->owner, 1);
        x.n_owners = 1;
    } else if (t->name.n) {
        x.owners = usual;
        x.n_owners = ARRAY_LEN(usual);
    }
    vec_push(q, x);
}

uint32_t ec2_image_queries(struct arena *a, const struct ec2_class *k, const str *ids, uint32_t n_ids,
                           struct ec2_query **ret)
{
    queries q = {0};
    texts all = {0};

    for (uint32_t i = 0; i < k->images.n; i++) {
        const struct ec2_term *t = &k->images.v[i];

        if (t->alias.n)
            continue;
        if (t->id.n)
            vec_push(&all, t->id);
        else if (t->ssm.n == 0)
            by_name(a, &q, t);
    }
    for (uint32_t i = 0; i < n_ids; i++)
        vec_push(&all, ids[i]);
    by_values(a, &q, "image-id", &all);
    return keep(a, &q, ret);
}

/* ---- answers ---- */

static int subnet_by_id(const void *a, const void *b, void *ctx UNUSED)
{
    const struct ec2_subnet *x = a, *y = b;

    return str_cmp(x->id, y->id);
}

static int subnet_order(const void *a, const void *b, void *ctx UNUSED)
{
    const struct ec2_subnet *x = a, *y = b;

    if (x->free_ips != y->free_ips)
        return x->free_ips > y->free_ips ? -1 : 1;
    return str_cmp(x->id, y->id);
}

/* Several terms may find one subnet, with fewer addresses each time: the last word counts, as it does for those that are free (found.c). */
uint32_t ec2_subnets_found(struct arena *a, const struct ec2_subnet *v, uint32_t n, struct ec2_class_subnet **ret)
{
    struct ec2_subnet *all = arena_dup_array(a, struct ec2_subnet, v, n);
    uint32_t n_out = 0;

    sort_stable(all, n, sizeof(*all), subnet_by_id, NULL);
    for (uint32_t i = 0; i < n; i++)
        if (i + 1 == n || !str_eq(all[i].id, all[i + 1].id))
            all[n_out++] = all[i];
    sort_stable(all, n_out, sizeof(*all), subnet_order, NULL);
    *ret = arena_new_array(a, struct ec2_class_subnet, n_out);
    for (uint32_t i = 0; i < n_out; i++)
        (*ret)[i] = (struct ec2_class_subnet){all[i].id, all[i].zone, all[i].zone_id};
    return n_out;
}

static int group_order(const void *a, const void *b, void *ctx UNUSED)
{
    const struct ec2_group *x = a, *y = b;

    return str_cmp(x->id, y->id);
}

uint32_t ec2_groups_found(struct arena *a, const struct ec2_group *v, uint32_t n, struct ec2_group **ret)
{
    struct ec2_group *all = arena_dup_array(a, struct ec2_group, v, n);
    uint32_t n_out = 0;

    sort_stable(all, n, sizeof(*all), group_order, NULL);
    for (uint32_t i = 0; i < n; i++)
        if (n_out == 0 || !str_eq(all[n_out - 1].id, all[i].id))
            all[n_out++] = all[i];
    *ret = all;
    return n_out;
}

static int reservation_order(const void *a, const void *b, void *ctx UNUSED)
{
    const struct ec2_reservation *x = a, *y = b;

    return str_cmp(x->id, y->id);
}

static bool convert(const struct ec2_reservation *r, int64_t now_ms, struct ec2_class_reservation *ret)
{
    str kind = r->kind.n ? r->kind : STR("default");
    bool block = str_is(kind, "capacity-block"), ends = r->ends_ms != INT64_MIN;

    if ((!block && !str_is(kind, "default")) || (!str_is(r->match, "open") && !str_is(r->match, "targeted")))
        return false;
    if (ends && r->ends_ms <= now_ms)
        return false;
    *ret = (struct ec2_class_reservation){
        .id = r->id,
        .zone = r->zone,
        .type = r->type,
        .owner = r->owner,
        .match = r->match,
        .kind = kind,
        .state = block && ends && now_ms >= sat_sub(r->ends_ms, EC2_BLOCK_EXPIRES_MS) ? STR("expiring") : STR("active"),
        .ends_ms = r->ends_ms,
        .interruptible = r->interruptible,
    };
    return true;
}

uint32_t ec2_reservations_found(struct arena *a, const struct ec2_reservation *v, uint32_t n, int64_t now_ms,
                                struct ec2_class_reservation **ret)
{
    struct ec2_reservation *all = arena_dup_array(a, struct ec2_reservation, v, n);
    uint32_t n_out = 0;

    sort_stable(all, n, sizeof(*all), reservation_order, NULL);
    *ret = arena_new_array(a, struct ec2_class_reservation, n);
    for (uint32_t i = 0; i < n; i++)
        if ((i == 0 || !str_eq(all[i - 1].id, all[i].id)) && convert(&all[i], now_ms, &(*ret)[n_out]))
            n_out++;
    return n_out;
}
