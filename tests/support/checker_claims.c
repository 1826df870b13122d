/* One new NodeClaim against the catalogue, its pool and its pods.
 *
 * Claims of a large plan repeat each other: texts of requirements and of type lists are known by their hash, and a
 * verdict on (requirements, shape of pod), (requirements, type) or (pool, shape) is reached once. */
#include "checker_int.h"

#include "data/reader.h"

#define MAX_LISTED 600

struct claim {
    uint32_t pool, reqset, list, first_pod, n_pods;
    str where; /* for messages: the first pod */
    struct rvec sum;
    struct rvec printed;
    str capacity_type, zone, instance_type;
    double price;
    bool priced;
};

static str text_key(struct checker *c, str raw)
{
    uint64_t h[2] = {hash_bytes(raw.p, raw.n, 1), hash_bytes(raw.p, raw.n, 0x9e3779b97f4a7c15u)};

    return (str){arena_memdup(c->scratch, h, sizeof(h), 8), sizeof(h)};
}

/* A replacement is pinned to spot after its types were chosen and put in order (spec: lifecycle 8.10). */
static bool only_spot(const struct creqs *r)
{
    const struct creq *ct = creqs_get(r, STR(K_CT));

    return ct && !ct->open && ct->n_vals == 1 && str_is(ct->vals[0], "spot");
}

static uint32_t reqset_of(struct checker *c, str raw)
{
    str key = text_key(c, raw);
    uint32_t ix = strmap_get(&c->reqset_ix, key);
    const struct tree *t;
    struct err e = {0};

    if (ix != MAP_NONE)
        return ix;
    struct reqset s = {0};
    if (tree_parse_json(c->scratch, "requirements", raw, &t, &e))
        s.r = creqs_of_list(c, t);
    else
        checker_fail(c, "requirements cannot be read: %s", e.msg);
    s.before_narrowed = s.r;
    const struct creq *ct = creqs_get(&s.r, STR(K_CT));
    /* A claim with reservations is narrowed to them in the end, its list of types is not (scheduling 18). */
    s.reserved = !c->no_reserved && ct && !ct->open && ct->n_vals == 1 && str_is(ct->vals[0], "reserved") &&
                 creqs_get(&s.r, STR(K_RESERVATION));
    s.pinned = c->disrupting && only_spot(&s.r);
    if (s.reserved || s.pinned) {
        s.before_narrowed = (struct creqs){0};
        for (uint32_t i = 0; i < s.r.n; i++)
            if (!str_is(s.r.v[i].key, K_CT) && !str_is(s.r.v[i].key, K_RESERVATION))
                creqs_add(c, &s.before_narrowed, s.r.v[i]);
    }
    s.price = arena_new_array(c->a, double, c->types.n + 1);
    s.compatible = arena_new_array(c->a, uint8_t, c->types.n + 1);
    for (uint32_t i = 0; i < c->types.n; i++)
        s.price[i] = NAN;
    vec_push(&c->reqsets, s);
    strmap_put(&c->reqset_ix, keep(c, key), c->reqsets.n - 1);
    return c->reqsets.n - 1;
}

static uint32_t list_of(struct checker *c, str raw)
{
    str key = text_key(c, raw), rest = raw, item;
    uint32_t ix = strmap_get(&c->list_ix, key);
    VEC(uint32_t) types = {0};

    if (ix != MAP_NONE)
        return ix;
    (void)json_open(&rest, '[');
    while (json_element(&rest, &item)) {
        str name = json_text(c, item);
        uint32_t t = strmap_get(&c->type_ix, name);

        if (t == MAP_NONE)
            checker_fail(c, "instance type " STR_FMT " is not in the catalogue", STR_ARG(name));
        else
            vec_push(&types, t);
    }
    struct type_list l = {.v = vec_to_arena(&types, c->a), .n = types.n};
    vec_fini(&types);
    vec_push(&c->lists, l);
    strmap_put(&c->list_ix, keep(c, key), c->lists.n - 1);
    return c->lists.n - 1;
}

static bool compatible(struct checker *c, struct reqset *s, uint32_t type)
{
    str key;

    if (!s->compatible[type])
        s->compatible[type] = creqs_meet(&c->types.v[type].reqs, &s->before_narrowed, &key) ? 1 : 2;
    return s->compatible[type] == 1;
}

/* The cheapest available offering of the type that the requirements allow; INFINITY when there is none. */
static double price_of(struct checker *c, struct reqset *s, uint32_t type)
{
    const struct ctype *t = &c->types.v[type];
    str key;

    if (!isnan(s->price[type]))
        return s->price[type];
    s->price[type] = INFINITY;
    for (uint32_t i = 0; i < t->n_offerings; i++)
        if (t->offerings[i].available && t->offerings[i].price < s->price[type] &&
            creqs_compatible(c, &s->r, &t->offerings[i].reqs, /* lenient= */ true, &key))
            s->price[type] = t->offerings[i].price;
    return s->price[type];
}

uint32_t pod_place(struct checker *c, str raw, uint32_t host, str where)
{
    str id = json_text(c, raw);
    uint32_t ix = strmap_get(&c->pod_ix, id);

    if (ix == MAP_NONE || c->pods.v[ix].role == POD_BOUND || c->pods.v[ix].role == POD_OTHER) {
        if (!c->partial)
            checker_fail(c, STR_FMT ": pod " STR_FMT " was not to be placed", STR_ARG(where), STR_ARG(id));
        return NONE;
    }
    struct cpod *p = &c->pods.v[ix];
    if (c->disrupting && p->role != POD_LEAVING)
        return ix; /* waits for a place: every command may have one for it */
    if (p->seen) {
        checker_fail(c, STR_FMT ": pod " STR_FMT " is in the plan twice", STR_ARG(where), STR_ARG(id));
        return NONE;
    }
    p->seen = 1;
    p->host = host;
    p->next = NONE;
    return ix;
}

/* Some required term of the pod must be part of what the claim asks for. */
static bool term_met(struct checker *c, const struct creqs *have, const struct creqs *term, str *ret_key)
{
    if (!creqs_compatible(c, have, term, /* lenient= */ true, ret_key))
        return false;
    for (uint32_t i = 0; i < term->n; i++) {
        const struct creq *h = creqs_get(have, term->v[i].key);

        *ret_key = term->v[i].key;
        if (str_is(term->v[i].key, K_REGISTERED) || str_is(term->v[i].key, K_INITIALIZED))
            continue;
        if (!h || !creq_within(h, &term->v[i]))
            return false;
    }
    return true;
}

static void pod_check(struct checker *c, const struct claim *k, uint32_t pod)
{
    uint32_t shape = c->pods.v[pod].shape;
    const struct shape *s = &c->shapes.v[shape];
    const struct creqs *have = &c->reqsets.v[k->reqset].r;
    const char *why = "";
    str key = {0};

    uint32_t met = u64map_get(&c->pod_verdicts, u64_pair(k->reqset, shape));
    if (met == MAP_NONE) {
        met = any_term(c, s, have, term_met, &key);
        u64map_put(&c->pod_verdicts, u64_pair(k->reqset, shape), met);
    }
    if (!met)
        checker_fail(c, "claim of " STR_FMT ": the node requirements of pod " STR_FMT " are not kept (" STR_FMT ")",
                     STR_ARG(k->where), STR_ARG(c->pods.v[pod].id), STR_ARG(key));
    uint32_t ok = u64map_get(&c->tolerance, u64_pair(k->pool, shape));
    if (ok == MAP_NONE) {
        ok = tolerates(s, &c->pools.v[k->pool].taints, /* hard_only= */ true, &key);
        u64map_put(&c->tolerance, u64_pair(k->pool, shape), ok);
    }
    if (!ok)
        checker_fail(c, "claim of " STR_FMT ": pod " STR_FMT " does not tolerate a taint of the pool",
                     STR_ARG(k->where), STR_ARG(c->pods.v[pod].id));
    if (s->n_claims && !volumes_allow(c, s, have, /* strict= */ false, &why))
        checker_fail(c, "claim of " STR_FMT ": holds pod " STR_FMT " %s", STR_ARG(k->where), STR_ARG(c->pods.v[pod].id),
                     why);
}

void host_ports_check(struct checker *c, uint32_t first_pod, str where)
{
    for (uint32_t i = first_pod; i != NONE; i = c->pods.v[i].next) {
        const struct shape *s = &c->shapes.v[c->pods.v[i].shape];

        for (uint32_t j = c->pods.v[i].next; s->n_ports && j != NONE; j = c->pods.v[j].next) {
            const struct shape *o = &c->shapes.v[c->pods.v[j].shape];

            if (!c->pods.v[i].seen && !c->pods.v[j].seen) /* both were there before */
                continue;
            for (uint32_t a = 0; a < s->n_ports; a++)
                for (uint32_t b = 0; b < o->n_ports; b++)
                    if (ports_collide(&s->ports[a], &o->ports[b]))
                        checker_fail(c, STR_FMT ": pods " STR_FMT " and " STR_FMT " want host port %lld",
                                     STR_ARG(where), STR_ARG(c->pods.v[i].id), STR_ARG(c->pods.v[j].id),
                                     (long long)s->ports[a].port);
        }
    }
}

static bool daemon_port_conflict(struct checker *c, const struct claim *k, uint32_t type)
{
    uint64_t set = c->pools.v[k->pool].daemon_sets[type];

    for (; set; set &= set - 1) {
        const struct shape *d = &c->shapes.v[c->daemons.v[__builtin_ctzll(set)].shape];

        for (uint32_t i = k->first_pod; d->n_ports && i != NONE; i = c->pods.v[i].next) {
            const struct shape *s = &c->shapes.v[c->pods.v[i].shape];

            for (uint32_t a = 0; a < s->n_ports; a++)
                for (uint32_t b = 0; b < d->n_ports; b++)
                    if (ports_collide(&s->ports[a], &d->ports[b]))
                        return true;
        }
    }
    return false;
}

static void types_check(struct checker *c, const struct claim *k)
{
    const struct type_list *l = &c->lists.v[k->list];
    struct reqset *s = &c->reqsets.v[k->reqset];
    const struct cpool *p = &c->pools.v[k->pool];
    double before = 0;
    uint32_t r = 0;

    for (uint32_t i = 0; i < l->n; i++) {
        const struct ctype *t = &c->types.v[l->v[i]];
        struct rvec need = k->sum;
        double price = price_of(c, s, l->v[i]);

        rvec_add(c, &need, &p->overhead[l->v[i]]);
        if (!compatible(c, s, l->v[i]))
            checker_fail(c, "claim of " STR_FMT ": type " STR_FMT " does not meet the requirements", STR_ARG(k->where),
                         STR_ARG(t->name));
        else if (price == INFINITY && !s->reserved && !s->pinned)
            checker_fail(c, "claim of " STR_FMT ": type " STR_FMT " has nothing on offer", STR_ARG(k->where),
                         STR_ARG(t->name));
        else if (!rvec_fits(c, &need, &t->allocatable, &r))
            checker_fail(c, "claim of " STR_FMT ": type " STR_FMT " has too little " STR_FMT, STR_ARG(k->where),
                         STR_ARG(t->name), STR_ARG(c->resources.v[r]));
        else if (daemon_port_conflict(c, k, l->v[i]))
            checker_fail(c, "claim of " STR_FMT ": on type " STR_FMT " a daemon holds a host port", STR_ARG(k->where),
                         STR_ARG(t->name));
        else if (price < before && !s->pinned)
            checker_fail(c, "claim of " STR_FMT ": type " STR_FMT " is out of price order", STR_ARG(k->where),
                         STR_ARG(t->name));
        before = price;
    }
    if (l->n == 0 || l->n > MAX_LISTED)
        checker_fail(c, "claim of " STR_FMT ": %u instance types", STR_ARG(k->where), l->n);
    const struct creq *names = creqs_get(&s->r, STR(K_ITYPE));
    if (!names || names->open || names->n_vals != l->n)
        checker_fail(c, "claim of " STR_FMT ": the requirement on instance types is not the list", STR_ARG(k->where));
}

static void min_values_check(struct checker *c, const struct claim *k)
{
    const struct type_list *l = &c->lists.v[k->list];
    const struct creqs *r = &c->reqsets.v[k->reqset].r;

    for (uint32_t i = 0; i < r->n; i++) {
        struct strmap seen = {0};
        bool sure = true;

        if (r->v[i].min_values <= 0)
            continue;
        for (uint32_t t = 0; t < l->n; t++) {
            const struct creq *has = creqs_get(&c->types.v[l->v[t]].reqs, r->v[i].key);

            sure &= has != NULL;

            for (uint32_t v = 0; has && v < has->n_vals; v++)
                if (strmap_get(&seen, has->vals[v]) == MAP_NONE)
                    strmap_put(&seen, has->vals[v], 1);
        }
        if (sure && seen.n < r->v[i].min_values && !(c->best_effort && l->n == MAX_LISTED))
            checker_fail(c, "claim of " STR_FMT ": %u values of " STR_FMT ", minValues is %lld", STR_ARG(k->where),
                         seen.n, STR_ARG(r->v[i].key), (long long)r->v[i].min_values);
        strmap_fini(&seen);
    }
}

static bool pool_kept(struct checker *c, const struct creqs *have, const struct cpool *p, str *ret_key)
{
    for (uint32_t i = 0; i < p->reqs.n; i++) {
        const struct creq *h = creqs_get(have, p->reqs.v[i].key);

        *ret_key = p->reqs.v[i].key;
        if (!h || !creq_within(h, &p->reqs.v[i]))
            return false;
        if (!c->best_effort && h->min_values < p->reqs.v[i].min_values)
            return false;
    }
    return true;
}

static void pool_check(struct checker *c, const struct claim *k)
{
    struct cpool *p = &c->pools.v[k->pool];
    str key = {0};

    pool_daemons(c, p);
    if (!p->usable)
        checker_fail(c, "claim of " STR_FMT ": NodePool " STR_FMT " takes no part", STR_ARG(k->where),
                     STR_ARG(p->name));
    if (u64map_get(&c->pool_verdicts, u64_pair(k->pool, k->reqset)) != MAP_NONE)
        return;
    u64map_put(&c->pool_verdicts, u64_pair(k->pool, k->reqset), 1);
    if (!pool_kept(c, &c->reqsets.v[k->reqset].r, p, &key))
        checker_fail(c, "claim of " STR_FMT ": a requirement of NodePool " STR_FMT " is not kept (" STR_FMT ")",
                     STR_ARG(k->where), STR_ARG(p->name), STR_ARG(key));
}

/* Claims come in the order of creation. Each took from the limits the largest type it could still become then, which is
 * at least the largest of those it lists now (spec: scheduling 17.2). */
static void limits_check(struct checker *c, const struct claim *k)
{
    const struct cpool *p = &c->pools.v[k->pool];
    const struct type_list *l = &c->lists.v[k->list];
    struct rvec *left = &c->remaining[k->pool];

    if (p->node_limit - p->nodes <= 0)
        checker_fail(c, "claim of " STR_FMT ": NodePool " STR_FMT " has no nodes left", STR_ARG(k->where),
                     STR_ARG(p->name));
    for (uint32_t r = 0; r < c->resources.n; r++) {
        quantity most = 0;

        if (!(p->limited >> r & 1))
            continue;
        for (uint32_t i = 0; i < l->n; i++)
            most = MAX(most, c->types.v[l->v[i]].capacity.v[r]);
        if (most > left->v[r] || left->v[r] < 0)
            checker_fail(c, "claim of " STR_FMT ": breaks the " STR_FMT " limit of NodePool " STR_FMT,
                         STR_ARG(k->where), STR_ARG(c->resources.v[r]), STR_ARG(p->name));
        left->v[r] -= most;
    }
}

static void launch_check(struct checker *c, const struct claim *k)
{
    const struct type_list *l = &c->lists.v[k->list];
    struct reqset *s = &c->reqsets.v[k->reqset];
    double best = INFINITY;
    uint32_t t = strmap_get(&c->type_ix, k->instance_type);
    str key;

    if (!k->priced)
        return;
    for (uint32_t i = 0; i < l->n; i++)
        best = fmin(best, price_of(c, s, l->v[i]));
    if (fabs(best - k->price) > 1e-9 * (1 + best))
        checker_fail(c, "claim of " STR_FMT ": price %.9g, the cheapest offer costs %.9g", STR_ARG(k->where), k->price,
                     best);
    for (uint32_t i = 0; t != MAP_NONE && i < c->types.v[t].n_offerings; i++) {
        const struct coffering *o = &c->types.v[t].offerings[i];
        const struct creq *zone = creqs_get(&o->reqs, STR(K_ZONE)), *ct = creqs_get(&o->reqs, STR(K_CT));

        if (o->available && zone && ct && creq_has(zone, k->zone) && creq_has(ct, k->capacity_type) &&
            fabs(o->price - k->price) <= 1e-9 * (1 + best) &&
            creqs_compatible(c, &s->r, &o->reqs, /* lenient= */ true, &key))
            return;
    }
    checker_fail(c, "claim of " STR_FMT ": there is no such offer as " STR_FMT " " STR_FMT " in " STR_FMT,
                 STR_ARG(k->where), STR_ARG(k->capacity_type), STR_ARG(k->instance_type), STR_ARG(k->zone));
}

static void reservations_check(struct checker *c, const struct claim *k)
{
    const struct creqs *r = &c->reqsets.v[k->reqset].r;
    const struct creq *ct = creqs_get(r, STR(K_CT)), *ids = creqs_get(r, STR(K_RESERVATION));

    if (c->no_reserved || !ids || ids->open || !ct || ct->open || ct->n_vals != 1 || !str_is(ct->vals[0], "reserved"))
        return;
    for (uint32_t i = 0; i < ids->n_vals; i++) {
        uint32_t ix = strmap_get(&c->reservations, ids->vals[i]);

        if (ix == MAP_NONE || --c->reservations_left.v[ix] < 0)
            checker_fail(c, "claim of " STR_FMT ": reservation " STR_FMT " is used up", STR_ARG(k->where),
                         STR_ARG(ids->vals[i]));
    }
}

/* Pods and daemons; the daemons exactly where every listed type would run the same ones. */
static void requests_check(struct checker *c, const struct claim *k)
{
    const struct type_list *l = &c->lists.v[k->list];
    const struct cpool *p = &c->pools.v[k->pool];
    bool same = l->n > 0;

    for (uint32_t i = 0; i < c->daemons.n; i++)
        same &= !c->daemons.v[i].unclear;
    for (uint32_t i = 1; i < l->n && same; i++)
        same = p->daemon_sets[l->v[i]] == p->daemon_sets[l->v[0]];
    for (uint32_t r = 0; r < c->resources.n; r++) {
        quantity low = k->sum.v[r], extra = same ? p->overhead[l->v[0]].v[r] : 0;

        if (same ? k->printed.v[r] != low + extra : k->printed.v[r] < low)
            checker_fail(c, "claim of " STR_FMT ": requests." STR_FMT " is not the sum of its pods and daemons",
                         STR_ARG(k->where), STR_ARG(c->resources.v[r]));
    }
}

static void requests_read(struct checker *c, struct claim *k, str raw)
{
    str key, value;

    (void)json_open(&raw, '{');
    while (json_member(&raw, &key, &value))
        k->printed.v[resource_ix(c, key)] = quantity_parse(value.n && value.p[0] == '"' ? json_text(c, value) : value);
}

static void pods_read(struct checker *c, struct claim *k, str raw)
{
    uint32_t host = c->nodes.n + c->hosts.n, last = NONE;
    str item, before = {0};

    (void)json_open(&raw, '[');
    while (json_element(&raw, &item)) {
        str id = json_text(c, item);

        if (k->n_pods++ == 0)
            k->where = id;
        if (before.p && str_cmp(before, id) >= 0)
            checker_fail(c, "claim of " STR_FMT ": pods are not sorted", STR_ARG(k->where));
        before = id;
        uint32_t ix = pod_place(c, item, host, k->where);
        if (ix == NONE)
            continue;
        if (last == NONE)
            k->first_pod = ix;
        else
            c->pods.v[last].next = ix;
        last = ix;
        c->pods.v[ix].next = NONE;
        rvec_add(c, &k->sum, &c->shapes.v[c->pods.v[ix].shape].requests);
    }
}

static void claim_read(struct checker *c, struct claim *k, str raw)
{
    str key, value;
    char number[64];

    (void)json_open(&raw, '{');
    while (json_member(&raw, &key, &value)) {
        if (str_is(key, "nodePool"))
            k->pool = strmap_get(&c->pool_ix, json_text(c, value));
        else if (str_is(key, "pods"))
            pods_read(c, k, value);
        else if (str_is(key, "instanceTypes"))
            k->list = list_of(c, value);
        else if (str_is(key, "requirements"))
            k->reqset = reqset_of(c, value);
        else if (str_is(key, "requests"))
            requests_read(c, k, value);
        else if (str_is(key, "capacityType"))
            k->capacity_type = json_text(c, value);
        else if (str_is(key, "zone"))
            k->zone = json_text(c, value);
        else if (str_is(key, "instanceType"))
            k->instance_type = json_text(c, value);
        else if (str_is(key, "price") && value.n < sizeof(number)) {
            (void)snprintf(number, sizeof(number), STR_FMT, STR_ARG(value));
            k->price = strtod(number, NULL);
            k->priced = true;
        }
    }
}

void claim_check(struct checker *c, str raw)
{
    struct claim k = {.pool = NONE, .reqset = NONE, .list = NONE, .first_pod = NONE};

    claim_read(c, &k, raw);
    if (k.pool == NONE || k.reqset == NONE || k.list == NONE || (k.n_pods == 0 && !c->partial)) {
        checker_fail(c, "claim of " STR_FMT ": no such NodePool, no pods, requirements or types", STR_ARG(k.where));
        return;
    }
    struct chost h = {.reqset = k.reqset, .pool = k.pool, .list = k.list, .first_pod = k.first_pod};
    vec_push(&c->hosts, h);
    c->n_new += k.n_pods;
    c->cost += k.price;
    pool_check(c, &k);
    for (uint32_t i = k.first_pod; i != NONE; i = c->pods.v[i].next)
        pod_check(c, &k, i);
    host_ports_check(c, k.first_pod, k.where);
    types_check(c, &k);
    min_values_check(c, &k);
    limits_check(c, &k);
    launch_check(c, &k);
    reservations_check(c, &k);
    if (!c->partial)
        requests_check(c, &k);
}

double claim_price(struct checker *c, uint32_t host)
{
    const struct chost *h = &c->hosts.v[host];
    const struct type_list *l = &c->lists.v[h->list];
    double price = l->n ? price_of(c, &c->reqsets.v[h->reqset], l->v[0]) : INFINITY;

    return price == INFINITY ? 0 : price;
}

/* What a launch of the type may cost at most: the dearest offer of the first capacity type that has any. */
static double worst_of(struct checker *c, const struct creqs *r, const struct ctype *t)
{
    static const char *const order[] = {"reserved", "spot", "on-demand"};
    double worst = -1;
    str key;

    for (size_t k = 0; k < ARRAY_LEN(order) && worst < 0; k++)
        for (uint32_t i = 0; i < t->n_offerings; i++) {
            const struct coffering *o = &t->offerings[i];
            const struct creq *ct = creqs_get(&o->reqs, STR(K_CT));

            if (o->available && ct && creq_has(ct, str_c(order[k])) &&
                creqs_compatible(c, r, &o->reqs, /* lenient= */ true, &key))
                worst = fmax(worst, o->price);
        }
    return worst;
}

double claim_worst(struct checker *c, uint32_t host)
{
    const struct chost *h = &c->hosts.v[host];
    const struct type_list *l = &c->lists.v[h->list];
    double worst = -1;

    for (uint32_t i = 0; i < l->n; i++)
        worst = fmax(worst, worst_of(c, &c->reqsets.v[h->reqset].r, &c->types.v[l->v[i]]));
    return worst;
}
