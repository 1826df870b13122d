#include "cloud/ec2/unavailable.h"

#include <stdlib.h>

#include "base/htab.h"
#include "base/sb.h"
#include "base/vec.h"

struct mark {
    struct htab_node node;
    int64_t until_ms;
    char key[];
};

enum { OFFERINGS, CAPACITY_TYPES, SUBNETS, N_TABLES };

struct ec2_unavailable {
    struct htab tables[N_TABLES];
    uint64_t version;
    struct sb *key; /* of the mark that is being looked for */
};

struct ec2_unavailable *ec2_unavailable_new(void)
{
    struct ec2_unavailable *u = xcalloc(1, sizeof(*u));

    u->key = xcalloc(1, sizeof(*u->key));
    u->version = 1;
    return u;
}

void ec2_unavailable_free(struct ec2_unavailable *u)
{
    if (!u)
        return;
    for (int i = 0; i < N_TABLES; i++) {
        struct htab_walk w = {0};

        for (struct htab_node *n; (n = htab_next(&u->tables[i], &w));)
            free(HTAB_THING(n, struct mark, node));
        htab_fini(&u->tables[i]);
    }
    sb_fini(u->key);
    free(u->key);
    free(u);
}

static str offering_text(struct sb *b, const struct ec2_offering_key *k)
{
    sb_reset(b);
    sb_str(b, k->capacity_type);
    sb_char(b, ':');
    sb_str(b, k->type);
    sb_char(b, ':');
    sb_str(b, k->zone);
    if (k->placement.n) {
        sb_char(b, ':');
        sb_str(b, k->placement);
        if (k->partition.n) {
            sb_char(b, ':');
            sb_str(b, k->partition);
        }
    }
    return sb_view(b);
}

static void mark(struct ec2_unavailable *u, int table, str key, int64_t now_ms)
{
    struct mark *m = HTAB_THING(htab_get(&u->tables[table], key), struct mark, node);

    if (!m) {
        m = xcalloc(1, sizeof(*m) + key.n);
        memcpy(m->key, key.p, key.n);
        m->node.key = (str){m->key, key.n};
        htab_put(&u->tables[table], &m->node);
    }
    m->until_ms = sat_add(now_ms, EC2_UNAVAILABLE_MS);
    u->version++;
}

void ec2_unavailable_mark(struct ec2_unavailable *u, const struct ec2_offering_key *k, int64_t now_ms)
{
    mark(u, OFFERINGS, offering_text(u->key, k), now_ms);
}

void ec2_unavailable_mark_capacity_type(struct ec2_unavailable *u, str capacity_type, int64_t now_ms)
{
    mark(u, CAPACITY_TYPES, capacity_type, now_ms);
}

void ec2_unavailable_mark_subnet(struct ec2_unavailable *u, str subnet, int64_t now_ms)
{
    mark(u, SUBNETS, subnet, now_ms);
}

static bool holds(const struct ec2_unavailable *u, int table, str key, int64_t now_ms)
{
    if (u->tables[table].n == 0)
        return false;
    const struct mark *m = HTAB_THING(htab_get(&u->tables[table], key), struct mark, node);
    return m && now_ms < m->until_ms;
}

static bool offering_holds(const struct ec2_unavailable *u, const struct ec2_offering_key *k, int64_t now_ms)
{
    struct ec2_offering_key general = *k, group = *k;

    if (u->tables[OFFERINGS].n == 0)
        return false;
    general.placement = group.partition = (str){0};
    return holds(u, OFFERINGS, offering_text(u->key, &general), now_ms) ||
           (k->placement.n && holds(u, OFFERINGS, offering_text(u->key, &group), now_ms));
}

bool ec2_unavailable_is(const struct ec2_unavailable *u, const struct ec2_offering_key *k, const str *subnets,
                        uint32_t n_subnets, int64_t now_ms)
{
    uint32_t gone = 0;

    if (offering_holds(u, k, now_ms) || holds(u, CAPACITY_TYPES, k->capacity_type, now_ms))
        return true;
    while (gone < n_subnets && holds(u, SUBNETS, subnets[gone], now_ms))
        gone++;
    return n_subnets > 0 && gone == n_subnets;
}

int64_t ec2_unavailable_sweep(struct ec2_unavailable *u, int64_t now_ms)
{
    for (int i = 0; i < N_TABLES; i++) {
        struct htab_walk w = {0};

        for (struct htab_node *n; (n = htab_next(&u->tables[i], &w));) {
            struct mark *m = HTAB_THING(n, struct mark, node);

            if (now_ms < m->until_ms)
                continue;
            htab_del(&u->tables[i], n);
            free(m);
            u->version++;
        }
    }
    return ec2_unavailable_until_ms(u);
}

uint64_t ec2_unavailable_version(const struct ec2_unavailable *u)
{
    return u->version;
}

int64_t ec2_unavailable_until_ms(const struct ec2_unavailable *u)
{
    int64_t next = INT64_MAX;

    for (int i = 0; i < N_TABLES; i++) {
        struct htab_walk w = {0};

        for (struct htab_node *n; (n = htab_next(&u->tables[i], &w));) {
            const struct mark *m = HTAB_THING(n, struct mark, node);

            next = MIN(next, m->until_ms);
        }
    }
    return next;
}

bool ec2_unavailable_none(const struct ec2_unavailable *u)
{
    for (int i = 0; i < N_TABLES; i++)
        if (u->tables[i].n)
            return false;
    return true;
}

static int by_text(const void *a, const void *b, void *ctx UNUSED)
{
    const str *x = a, *y = b;

    return str_cmp(*x, *y);
}

static uint32_t list(const struct htab *t, struct arena *a, int64_t now_ms, str **ret)
{
    struct htab_walk w = {0};
    uint32_t n = 0;

    *ret = arena_new_array(a, str, t->n);
    for (struct htab_node *at; (at = htab_next(t, &w));) {
        const struct mark *m = HTAB_THING(at, struct mark, node);

        if (now_ms < m->until_ms)
            (*ret)[n++] = arena_strdup(a, at->key);
    }
    sort_stable(*ret, n, sizeof(**ret), by_text, NULL);
    return n;
}

void ec2_unavailable_list(const struct ec2_unavailable *u, struct arena *a, int64_t now_ms, str **ret_offerings,
                          uint32_t *ret_n_offerings, str **ret_types, uint32_t *ret_n_types, str **ret_subnets,
                          uint32_t *ret_n_subnets)
{
    *ret_n_offerings = list(&u->tables[OFFERINGS], a, now_ms, ret_offerings);
    *ret_n_types = list(&u->tables[CAPACITY_TYPES], a, now_ms, ret_types);
    *ret_n_subnets = list(&u->tables[SUBNETS], a, now_ms, ret_subnets);
}
