/* account - reading an account's tree into what the services keep, and finding things in it. */
#include "sim/aws/account.h"

#include <math.h>
#include <stdio.h>

#include "data/json.h"
#include "model/duration.h"

/* ---- numbers, ids, times ---- */

void live_number_set(struct live_number *n, int64_t v)
{
    n->v = v;
    int len = snprintf(n->text, sizeof(n->text), "%lld", (long long)v);

    *n->node = (struct tree){.kind = TREE_NUMBER, .text = {n->text, (size_t)len}};
}

void live_number_init(struct live_number *n, struct arena *a, struct tree *map, const char *key, int64_t absent)
{
    int64_t v = absent;

    n->node = tree_put(a, map, str_c(key));
    if (!tree_to_i64(n->node, &v))
        v = absent;
    live_number_set(n, v);
}

int64_t account_now_ms(const struct sim_aws *s)
{
    return world_now_ms(s->w);
}

int64_t account_mono_ms(const struct sim_aws *s)
{
    return world_mono_us(s->w) / 1000;
}

bool account_chance(struct sim_aws *s, uint32_t per_64k)
{
    return per_64k != 0 && (world_random(s->w) & 0xffff) < per_64k;
}

int64_t account_visible_ms(struct sim_aws *s)
{
    int64_t now = account_mono_ms(s);

    if (s->faults.consistency_ms <= 0)
        return now;
    return now + (int64_t)(world_random(s->w) % (uint64_t)(s->faults.consistency_ms + 1));
}

str account_hex_id(struct sim_aws *s, struct arena *a, const char *prefix, unsigned digits)
{
    char hex[33];

    assert(digits <= 32);
    (void)snprintf(hex, sizeof(hex), "%016llx%016llx", (unsigned long long)world_random(s->w),
                   (unsigned long long)world_random(s->w));
    return arena_printf(a, "%s%.*s", prefix, (int)digits, hex);
}

str account_uuid(struct sim_aws *s, struct arena *a)
{
    unsigned long long hi = world_random(s->w), lo = world_random(s->w);

    return arena_printf(a, "%08llx-%04llx-4%03llx-8%03llx-%012llx", hi >> 32, (hi >> 16) & 0xffff, hi & 0xfff, lo >> 52,
                        lo & 0xffffffffffffULL);
}

str account_arn(struct sim_aws *s, struct arena *a, const char *service, const char *kind, str id)
{
    bool global = strcmp(service, "iam") == 0 || strcmp(service, "sts") == 0;
    str region = global ? STR("") : s->region;

    return arena_printf(a, "arn:" STR_FMT ":%s:" STR_FMT ":" STR_FMT ":%s" STR_FMT, STR_ARG(s->partition), service,
                        STR_ARG(region), STR_ARG(s->account_id), kind, STR_ARG(id));
}

str account_time(struct arena *a, int64_t ms)
{
    struct sb b = {0};

    time_print_rfc3339(&b, ms - ((ms % 1000) + 1000) % 1000);
    str text = arena_printf(a, "%.*s.%03dZ", (int)b.n - 1, b.p, (int)(((ms % 1000) + 1000) % 1000));
    sb_fini(&b);
    return text;
}

/* ---- tags ---- */

void tags_set(struct arena *a, struct tree *tags, str key, str value)
{
    for (uint32_t i = 0; i < tags->n; i++) {
        if (!str_eq(tree_str(tree_get(&tags->items[i], "Key")), key))
            continue;
        if (!str_eq(tree_str(tree_get(&tags->items[i], "Value")), value))
            tree_set_str(a, &tags->items[i], "Value", arena_strdup(a, value));
        return;
    }
    struct tree *tag = tree_push(a, tags, *tree_new_map(a));

    tree_set_str(a, tag, "Key", arena_strdup(a, key));
    tree_set_str(a, tag, "Value", arena_strdup(a, value));
}

str tags_get(const struct tree *tags, str key, bool *ret_found)
{
    for (uint32_t i = 0; tags && i < tags->n; i++)
        if (str_eq(tree_str(tree_get(&tags->items[i], "Key")), key)) {
            *ret_found = true;
            return tree_str(tree_get(&tags->items[i], "Value"));
        }
    *ret_found = false;
    return STR("");
}

void tags_from(struct arena *a, const struct tree *specs, const char *resource, struct tree *tags)
{
    for (uint32_t i = 0; specs && specs->kind == TREE_LIST && i < specs->n; i++) {
        const struct tree *given = tree_get(&specs->items[i], "Tags");

        if (!str_is(tree_str(tree_get(&specs->items[i], "ResourceType")), resource))
            continue;
        for (uint32_t j = 0; given && j < given->n; j++)
            tags_set(a, tags, tree_str(tree_get(&given->items[j], "Key")),
                     tree_str(tree_get(&given->items[j], "Value")));
    }
}

/* ---- lookups ---- */

struct tree *docs_find(const struct docs *d, const char *key, str value)
{
    for (uint32_t i = 0; i < d->v.n; i++)
        if (str_eq(tree_str(tree_get(d->v.v[i], key)), value))
            return d->v.v[i];
    return NULL;
}

struct subnet *account_subnet(const struct sim_aws *s, str id)
{
    for (uint32_t i = 0; i < s->subnets.n; i++)
        if (str_eq(tree_str(tree_get(s->subnets.v[i]->doc, "SubnetId")), id))
            return s->subnets.v[i];
    return NULL;
}

struct reservation *account_reservation(const struct sim_aws *s, str id)
{
    for (uint32_t i = 0; i < s->reservations.n; i++)
        if (str_eq(tree_str(tree_get(s->reservations.v[i]->doc, "CapacityReservationId")), id))
            return s->reservations.v[i];
    return NULL;
}

static int pool_cmp(str type, str zone, const struct pool *p)
{
    int c = str_cmp(type, p->type);

    return c ? c : str_cmp(zone, p->zone);
}

struct pool *account_pool(const struct sim_aws *s, str type, str zone)
{
    for (uint32_t lo = 0, hi = s->pools.n; lo < hi;) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = pool_cmp(type, zone, &s->pools.v[mid]);

        if (c == 0)
            return &s->pools.v[mid];
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

struct launch_template *account_template(const struct sim_aws *s, str id, str name)
{
    for (uint32_t i = 0; i < s->templates.n; i++) {
        struct launch_template *t = s->templates.v[i];

        if ((id.n ? str_eq(t->id, id) : str_eq(t->name, name)) && t->visible_ms <= account_mono_ms(s))
            return t;
    }
    return NULL;
}

struct profile *account_profile(const struct sim_aws *s, str name)
{
    for (uint32_t i = 0; i < s->profiles.n; i++)
        if (str_eq(s->profiles.v[i]->name, name))
            return s->profiles.v[i];
    return NULL;
}

bool account_has_role(const struct sim_aws *s, str name)
{
    for (uint32_t i = 0; i < s->roles.n; i++)
        if (str_eq(s->roles.v[i], name))
            return true;
    return false;
}

struct queue *account_queue(const struct sim_aws *s, str name)
{
    for (uint32_t i = 0; i < s->queues.n; i++)
        if (str_eq(s->queues.v[i]->name, name))
            return s->queues.v[i];
    return NULL;
}

str account_zone_id(const struct sim_aws *s, str zone)
{
    return tree_str(tree_get(docs_find(&s->zones, "ZoneName", zone), "ZoneId"));
}
