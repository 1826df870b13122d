/* A plan as a list of things to do. */
#include "control/round.h"

#include "control/claim_body.h"
#include "data/json_own.h"

#define NAMES_SHOWN 5

static struct round_pod pod_of(struct arena *a, const struct snapshot *s, uint32_t ix)
{
    const struct pod *p = &s->pods[ix];

    return (struct round_pod){arena_strdup(a, sym_str(s->syms, p->ns)), arena_strdup(a, p->name),
                              arena_strdup(a, UID_STR(p->uid)), sym_some(p->node),
                              p->of_buffer ? arena_strdup(a, sym_str(s->syms, p->owner_name)) : (str){0}};
}

struct round_pod *round_pods(struct arena *a, const struct snapshot *s, const uint32_t *ix, uint32_t n)
{
    struct round_pod *v = arena_new_array(a, struct round_pod, n);

    for (uint32_t i = 0; i < n; i++)
        v[i] = pod_of(a, s, ix[i]);
    return v;
}

static bool pool_is_healthy(const struct store *st, str pool)
{
    const struct nodepool *p = store_pool(st, pool);

    return p && p->registers == COND_TRUE;
}

/* "a, b, c, d, e and 7 other(s)" of the instance types that the body names. */
static str types_shown(struct arena *a, const struct tree *body)
{
    const struct tree *reqs = tree_at(body, "spec", "requirements", NULL), *values = NULL;
    struct sb b = {0};
    str text;

    for (uint32_t i = 0; i < reqs->n && !values; i++)
        if (str_is(tree_str(tree_get(&reqs->items[i], "key")), "node.kubernetes.io/instance-type"))
            values = tree_get(&reqs->items[i], "values");
    for (uint32_t i = 0; values && i < MIN(values->n, NAMES_SHOWN); i++) {
        sb_c(&b, i ? ", " : "");
        sb_str(&b, values->items[i].text);
    }
    if (values && values->n > NAMES_SHOWN)
        sb_printf(&b, " and %u other(s)", values->n - NAMES_SHOWN);
    text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static struct tree *pool_object(struct arena *a, const struct store *st, str pool)
{
    const struct kept *kept = store_kept(st, OBJ_NODEPOOL, pool);

    assert(kept); /* the snapshot is the store's */
    return json_read_own(a, arena_strdup(a, kept->text));
}

struct round_claim round_claim_of(struct arena *a, const struct store *st, const struct snapshot *s,
                                  const struct plan_claim *c, uint64_t random)
{
    str pool = s->pools[c->pool].name;
    struct sb b = {0};
    struct round_claim ret = {
        .pool = arena_strdup(a, pool),
        .body = claim_body(a, s, c, pool_object(a, st, pool), random),
        .min_values_relaxed = c->min_values_relaxed,
        .healthy_pool = pool_is_healthy(st, pool),
        .pods = round_pods(a, s, c->pods, c->n_pods),
        .n_pods = c->n_pods,
    };

    reslist_print_json(&b, s->syms, &c->requests);
    ret.requests = sb_dup(&b, a);
    sb_fini(&b);
    ret.types = types_shown(a, ret.body);
    return ret;
}

struct round_claim round_claim_static(struct arena *a, const struct store *st, const struct syms *t,
                                      const struct nodepool *p)
{
    struct round_claim ret = {
        .pool = arena_strdup(a, p->name),
        .body = claim_body_static(a, t, p, pool_object(a, st, p->name)),
        .requests = STR("null"),
        .healthy_pool = pool_is_healthy(st, p->name),
    };

    ret.types = types_shown(a, ret.body);
    return ret;
}

struct round_node round_node_of(struct arena *a, const struct store *st, const struct snapshot *s,
                                const struct plan_node *n)
{
    const struct state_node *m = &s->nodes[n->node];
    str pool = sym_str(s->syms, m->pool);
    struct round_node ret = {
        .node = m->node ? arena_strdup(a, m->node->name) : (str){0},
        .claim = m->claim ? arena_strdup(a, m->claim->name) : (str){0},
        .provider_id = arena_strdup(a, m->node ? m->node->provider_id : m->claim->provider_id),
        .pool = arena_strdup(a, pool),
        .healthy_pool = pool_is_healthy(st, pool),
        .pods = round_pods(a, s, n->pods, n->n_pods),
        .n_pods = n->n_pods,
    };

    if (ret.provider_id.n == 0)
        ret.provider_id = ret.node;
    return ret;
}

/* Pods of one workload fail alike, and share the text. */
static str keep_reason(struct arena *a, str reason, str *last_seen, str *last_kept)
{
    if (last_seen->p != reason.p || last_seen->n != reason.n) {
        *last_seen = reason;
        *last_kept = arena_strdup(a, reason);
    }
    return *last_kept;
}

struct round *round_of(struct arena *a, const struct store *st, const struct snapshot *s, const struct plan *p,
                       uint64_t random)
{
    struct round *r = arena_new_one(a, struct round);
    str seen = {0}, kept = {0};

    r->n_pending = s->n_pending - s->n_moving;
    r->n_moving = s->n_moving;
    r->n_ignored = s->n_refused;
    r->claims = arena_new_array(a, struct round_claim, p->n_claims);
    for (; r->n_claims < p->n_claims; r->n_claims++)
        r->claims[r->n_claims] = round_claim_of(a, st, s, &p->claims[r->n_claims], random + r->n_claims);
    r->nodes = arena_new_array(a, struct round_node, p->n_nodes);
    for (; r->n_nodes < p->n_nodes; r->n_nodes++)
        r->nodes[r->n_nodes] = round_node_of(a, st, s, &p->nodes[r->n_nodes]);
    r->exclusions = arena_new_array(a, struct round_exclusion, p->n_exclusions);
    for (; r->n_exclusions < p->n_exclusions; r->n_exclusions++)
        r->exclusions[r->n_exclusions] = (struct round_exclusion){
            arena_strdup(a, sym_str(s->syms, s->pools[p->exclusions[r->n_exclusions].pool].name_sym)),
            p->exclusions[r->n_exclusions].n_excluded,
            p->exclusions[r->n_exclusions].n_types,
        };
    r->dropped = arena_new_array(a, struct round_dropped, p->n_dropped);
    for (; r->n_dropped < p->n_dropped; r->n_dropped++) {
        const struct nodepool *np = &s->pools[p->dropped[r->n_dropped].pool];

        r->dropped[r->n_dropped] = (struct round_dropped){arena_strdup(a, np->name), arena_strdup(a, np->uid),
                                                          p->dropped[r->n_dropped].by_min_values};
    }
    r->zones = arena_new_array(a, struct round_zone, p->n_zones);
    for (; r->n_zones < p->n_zones; r->n_zones++)
        r->zones[r->n_zones] =
            (struct round_zone){arena_strdup(a, p->zones[r->n_zones].name), p->zones[r->n_zones].n_pods};
    r->refusals = arena_new_array(a, struct round_refusal, s->n_refused + p->n_failures);
    for (uint32_t i = 0; i < s->n_refused; i++)
        r->refusals[r->n_refusals++] = (struct round_refusal){
            .pod = pod_of(a, s, s->refused[i].pod),
            .reason = keep_reason(a, s->refused[i].reason, &seen, &kept),
            .silent = str_starts(s->refused[i].reason, STR(REFUSED_NOT_OURS)),
        };
    for (uint32_t i = 0; i < p->n_failures; i++)
        r->refusals[r->n_refusals++] = (struct round_refusal){
            .pod = pod_of(a, s, p->failures[i].pod),
            .reason = keep_reason(a, p->failures[i].why->reason, &seen, &kept),
            .deferred = p->failures[i].why->deferred,
        };
    return r;
}
