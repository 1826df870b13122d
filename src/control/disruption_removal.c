/* Commands as they are carried out: names, ids and bodies, in an arena of their own. */
#include "base/sb.h"
#include "control/disruption_int.h"
#include "data/json.h"
#include "net/uuid.h"

#define NAMES_SHOWN 5

/* ---- written down ---- */

static str label_text(struct arena *a, const struct snapshot *s, const struct state_node *n, sym key)
{
    sym val;

    return lset_value(s->syms, n->labels, key, &val) ? arena_strdup(a, sym_str(s->syms, val)) : (str){0};
}

static bool is_static_pool(const struct snapshot *s, sym pool)
{
    for (uint32_t i = 0; i < s->n_pools; i++)
        if (sym_eq(s->pools[i].name_sym, pool))
            return s->pools[i].is_static;
    return false;
}

static struct leaver leaver_of(struct arena *a, const struct snapshot *s, uint32_t ix)
{
    const struct state_node *n = &s->nodes[ix];

    return (struct leaver){
        .node = arena_strdup(a, n->node->name),
        .node_uid = arena_strdup(a, n->node->uid),
        .claim = arena_strdup(a, n->claim->name),
        .claim_uid = arena_strdup(a, n->claim->uid),
        .provider_id = arena_strdup(a, n->node->provider_id),
        .pool = arena_strdup(a, sym_str(s->syms, n->pool)),
        .type = label_text(a, s, n, SYM(ITYPE)),
        .capacity_type = label_text(a, s, n, SYM(CT)),
        .price = node_price(s, ix),
        .is_static = is_static_pool(s, n->pool),
    };
}

/* Whether every requirement of the NodeClaim for the key lets it have the value. */
static bool body_allows(const struct tree *body, const char *key, const char *value)
{
    const struct tree *reqs = tree_at(body, "spec", "requirements", NULL);

    for (uint32_t i = 0; reqs && i < reqs->n; i++) {
        const struct tree *vals = tree_get(&reqs->items[i], "values");
        str op = tree_str(tree_get(&reqs->items[i], "operator"));
        bool named = false;

        if (!str_is(tree_str(tree_get(&reqs->items[i], "key")), key))
            continue;
        for (uint32_t k = 0; vals && k < vals->n; k++)
            named = named || str_is(tree_str(&vals->items[k]), value);
        if (str_is(op, "In") ? !named : str_is(op, "NotIn") ? named : !str_is(op, "Exists"))
            return false;
    }
    return true;
}

static str first_capacity_type(const struct tree *body)
{
    static const char *const order[] = {"reserved", "spot"};

    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (body_allows(body, "karpenter.sh/capacity-type", order[i]))
            return str_c(order[i]);
    return STR("on-demand");
}

static void write_types(struct arena *a, const struct snapshot *s, const struct plan_claim *c, struct replacement *ret)
{
    struct sb b = {0};

    ret->type_names = arena_new_array(a, str, c->n_types);
    for (; ret->n_types < c->n_types; ret->n_types++) {
        str name = arena_strdup(a, sym_str(s->syms, s->catalog->types[c->types[ret->n_types]].name));

        ret->type_names[ret->n_types] = name;
        if (ret->n_types < NAMES_SHOWN)
            sb_printf(&b, "%s" STR_FMT, ret->n_types ? ", " : "", STR_ARG(name));
    }
    if (c->n_types > NAMES_SHOWN)
        sb_printf(&b, " and %u other(s)", c->n_types - NAMES_SHOWN);
    ret->types = sb_dup(&b, a);
    sb_fini(&b);
}

static struct replacement replacement_of(struct control *c, struct arena *a, const struct snapshot *s,
                                         const struct plan_claim *p, enum disrupt_method m)
{
    struct replacement ret = {0};

    if (m == METHOD_STATIC_DRIFT) {
        ret.claim = round_claim_static(a, c->store, s->syms, &s->pools[p->pool]);
    } else {
        ret.claim = round_claim_of(a, c->store, s, p, world_random(c->world));
        write_types(a, s, p, &ret);
    }
    ret.capacity_type = first_capacity_type(ret.claim.body);
    return ret;
}

/* Moves to machines that there are, by machine, in the order in which they come first. */
static void write_targets(struct control *c, struct removal *r, const struct snapshot *s,
                          const struct disrupt_command *d)
{
    AUTO(arena) struct arena *tmp = arena_new(0);
    uint32_t *at = arena_new_array(tmp, uint32_t, s->n_nodes);
    struct plan_node *nodes = arena_new_array(tmp, struct plan_node, d->n_moves);
    uint32_t n = 0;

    for (uint32_t i = 0; i < d->n_moves; i++) {
        uint32_t to = d->moves[i].node;

        if (to == UINT32_MAX)
            continue;
        if (at[to] == 0) {
            at[to] = ++n;
            nodes[n - 1].node = to;
        }
        nodes[at[to] - 1].n_pods++;
    }
    for (uint32_t i = 0; i < n; i++) {
        nodes[i].pods = arena_new_array(tmp, uint32_t, nodes[i].n_pods);
        nodes[i].n_pods = 0;
    }
    for (uint32_t i = 0; i < d->n_moves; i++) {
        struct plan_node *to = d->moves[i].node == UINT32_MAX ? NULL : &nodes[at[d->moves[i].node] - 1];

        if (to)
            to->pods[to->n_pods++] = d->moves[i].pod;
    }
    r->targets = arena_new_array(r->arena, struct round_node, n);
    for (; r->n_targets < n; r->n_targets++)
        r->targets[r->n_targets] = round_node_of(r->arena, c->store, s, &nodes[r->n_targets]);
}

struct removal *removal_of(struct control *c, const struct snapshot *s, const struct disrupt_command *d)
{
    struct arena *a = arena_new(0);
    struct removal *r = arena_new_one(a, struct removal);

    *r = (struct removal){
        .arena = a,
        .id = uuid_new(a, c->world),
        .method = d->method,
        .leavers = arena_new_array(a, struct leaver, d->n_nodes),
        .replacements = arena_new_array(a, struct replacement, d->n_claims),
        .n_pods = d->n_pods,
        .savings = d->savings,
    };
    for (; r->n_leavers < d->n_nodes; r->n_leavers++) {
        r->leavers[r->n_leavers] = leaver_of(a, s, d->nodes[r->n_leavers]);
        r->leavers[r->n_leavers].of = r;
    }
    for (; r->n_replacements < d->n_claims; r->n_replacements++)
        r->replacements[r->n_replacements] = replacement_of(c, a, s, &d->claims[r->n_replacements], d->method);
    write_targets(c, r, s, d);
    return r;
}

void removal_free(struct removal *r)
{
    if (r)
        arena_free(r->arena);
}

void removal_planned(struct removal *r, uint64_t number)
{
    for (uint32_t i = 0; i < r->n_replacements; i++)
        r->replacements[i].claim.plan = number;
}

void removal_keep(struct removal *r, const uint32_t *v, uint32_t n)
{
    double left = 0, all = 0;

    for (uint32_t i = 0; i < r->n_leavers; i++)
        all += r->leavers[i].price;
    for (uint32_t i = 0; i < n; i++) {
        r->leavers[i] = r->leavers[v[i]];
        left += r->leavers[i].price;
    }
    if (n < r->n_leavers)
        r->savings -= all - left;
    r->n_leavers = n;
}

/* ---- in words ---- */

const char *removal_decision(const struct removal *r)
{
    return r->n_replacements ? "replace" : "delete";
}

const char *method_label(enum disrupt_method m)
{
    static const char *const names[N_METHODS] = {"empty", "drifted", "drifted", "underutilized", "underutilized"};

    return names[m];
}

static void print_nodes(struct sb *b, const struct removal *r)
{
    sb_char(b, '[');
    for (uint32_t i = 0; i < r->n_leavers; i++)
        sb_printf(b, "%s" STR_FMT, i ? ", " : "", STR_ARG(r->leavers[i].node));
    sb_char(b, ']');
    if (r->n_replacements)
        sb_printf(b, " -> [%u replacement%s]", r->n_replacements, r->n_replacements == 1 ? "" : "s");
}

str removal_text(const struct removal *r, struct arena *a)
{
    struct sb b = {0};

    sb_printf(&b, "%s: ", removal_decision(r));
    print_nodes(&b, r);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

bool removal_is_first_of_pool(const struct removal *r, uint32_t ix)
{
    for (uint32_t i = 0; i < ix; i++)
        if (str_eq(r->leavers[i].pool, r->leavers[ix].pool))
            return false;
    return true;
}

str removal_title(const struct removal *r, struct arena *a)
{
    struct sb b = {0};

    sb_printf(&b, "%s/" STR_FMT ": %s: nodepools=[", disrupt_reason_name(r->method), STR_ARG(r->id),
              removal_decision(r));
    for (uint32_t i = 0; i < r->n_leavers; i++)
        if (removal_is_first_of_pool(r, i))
            sb_printf(&b, "%s" STR_FMT, i ? "," : "", STR_ARG(r->leavers[i].pool));
    sb_c(&b, "]: ");
    print_nodes(&b, r);
    sb_printf(&b, " (savings: $%.2f)", r->savings);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static void write_name(struct jw *w, const char *key, str name)
{
    jw_key(w, key);
    jw_map(w);
    jw_key(w, "name");
    jw_str(w, name);
    jw_end(w);
}

static str leavers_json(const struct removal *r, struct arena *a)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_list(&w);
    for (uint32_t i = 0; i < r->n_leavers; i++) {
        const struct leaver *l = &r->leavers[i];

        jw_map(&w);
        write_name(&w, "Node", l->node);
        write_name(&w, "NodeClaim", l->claim);
        jw_key(&w, "capacity-type");
        jw_str(&w, l->capacity_type);
        jw_key(&w, "instance-type");
        jw_str(&w, l->type);
        jw_end(&w);
    }
    jw_end(&w);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static str replacements_json(const struct removal *r, struct arena *a)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_list(&w);
    for (uint32_t i = 0; i < r->n_replacements; i++) {
        jw_map(&w);
        jw_key(&w, "capacity-type");
        jw_str(&w, r->replacements[i].capacity_type);
        if (r->n_replacements == 1) {
            jw_key(&w, "instance-types");
            jw_str(&w, r->replacements[i].types);
        }
        jw_end(&w);
    }
    jw_end(&w);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

void removal_fields(const struct removal *r, struct arena *a, struct log_field f[REMOVAL_FIELDS])
{
    f[0] = LOG_STR("decision", str_c(removal_decision(r)));
    f[1] = LOG_I64("disrupted-node-count", r->n_leavers);
    f[2] = LOG_I64("replacement-node-count", r->n_replacements);
    f[3] = LOG_I64("pod-count", r->n_pods);
    f[4] = LOG_JSON("disrupted-nodes", leavers_json(r, a));
    f[5] = LOG_JSON("replacement-nodes", replacements_json(r, a));
}
