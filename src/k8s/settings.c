/* One table: the name, what it may be, what it means, how it is read. Help and documentation print the same table. */
#include "k8s/settings.h"

#include <math.h>

#include "data/reader.h"

#define MAX_REPLACEMENTS 16

struct ctx {
    struct settings *s;
    struct arena *a;
    struct syms *t;
};

static bool bad(struct err *e, const char *key, const char *choices, str value)
{
    return err_set(e, ERR_INVALID, "%s: \"" STR_FMT "\" is not one of %s", key, STR_ARG(value), choices);
}

static bool set_preferences(struct ctx *c, str v, struct err *e)
{
    if (str_is(v, "Respect"))
        c->s->preferences = PREF_RESPECT;
    else if (str_is(v, "Ignore"))
        c->s->preferences = PREF_IGNORE;
    else
        return bad(e, "PREFERENCE_POLICY", "Respect, Ignore", v);
    return true;
}

static bool set_min_values(struct ctx *c, str v, struct err *e)
{
    if (str_is(v, "Strict"))
        c->s->min_values = MINVALUES_STRICT;
    else if (str_is(v, "BestEffort"))
        c->s->min_values = MINVALUES_BEST_EFFORT;
    else
        return bad(e, "MIN_VALUES_POLICY", "Strict, BestEffort", v);
    return true;
}

static bool set_packing(struct ctx *c, str v, struct err *e)
{
    if (!str_is(v, "compat"))
        return bad(e, "PACKING", "compat", v);
    c->s->packing = PACKING_COMPAT;
    return true;
}

static bool set_weight_order(struct ctx *c, str v, struct err *e)
{
    if (!str_is(v, "descending") && !str_is(v, "ascending"))
        return bad(e, "NODEPOOL_WEIGHT_ORDER", "descending, ascending", v);
    c->s->weight_ascending = str_is(v, "ascending");
    return true;
}

bool go_bool_parse(str v, bool *ret)
{
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True"};
    static const char *const no[] = {"0", "f", "F", "FALSE", "false", "False"};

    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        if (str_is(v, yes[i]))
            return *ret = true, true;
        if (str_is(v, no[i]))
            return *ret = false, true;
    }
    return false;
}

static bool parse_bool(const char *key, str v, bool *ret, struct err *e)
{
    return go_bool_parse(v, ret) || bad(e, key, "true, false", v);
}

static bool set_ignore_dra(struct ctx *c, str v, struct err *e)
{
    if (!parse_bool("IGNORE_DRA_REQUESTS", v, &c->s->ignore_dra, e))
        return false;
    if (!c->s->ignore_dra)
        return err_set(e, ERR_INVALID,
                       "IGNORE_DRA_REQUESTS: false is not possible: this version does not allocate dynamic resources");
    return true;
}

/* name=bool, comma separated, white space tolerated, unknown names ignored as Karpenter does. */
static bool set_gates(struct ctx *c, str v, struct err *e)
{
    str one, name, value;

    while (v.n) {
        (void)str_cut(v, ',', &one, &v);
        one = str_trim(one);
        if (one.n == 0)
            continue;
        if (!str_cut(one, '=', &name, &value))
            return err_set(e, ERR_INVALID, "FEATURE_GATES: \"" STR_FMT "\" is not name=true or name=false",
                           STR_ARG(one));
        bool on = false;
        if (!parse_bool("FEATURE_GATES", str_trim(value), &on, e))
            return false;
        name = str_trim(name);
        if (str_is(name, "ReservedCapacity"))
            c->s->reserved_capacity = on;
        else if (str_is(name, "SpotToSpotConsolidation"))
            c->s->spot_to_spot = on;
        else if (str_is(name, "CapacityBuffer"))
            c->s->capacity_buffers = on;
        else if (str_is(name, "NodeOverlay"))
            c->s->node_overlays = on;
    }
    return true;
}

static bool set_consolidation(struct ctx *c, str v, struct err *e)
{
    if (!str_is(v, "thorough") && !str_is(v, "compat"))
        return bad(e, "CONSOLIDATION", "thorough, compat", v);
    c->s->consolidation = str_is(v, "compat") ? CONSOLIDATION_COMPAT : CONSOLIDATION_THOROUGH;
    return true;
}

/* A price an hour, or a share of what the nodes that go cost. */
static bool set_min_savings(struct ctx *c, str v, struct err *e)
{
    bool percent = str_ends(v, STR("%"));
    double n;

    if (!str_to_double(percent ? str_sub(v, 0, v.n - 1) : v, &n) || !(n >= 0) || isinf(n) || (percent && n > 100))
        return err_set(e, ERR_INVALID,
                       "CONSOLIDATION_MIN_SAVINGS: \"" STR_FMT
                       "\" is neither a price an hour nor a percentage up to 100%%",
                       STR_ARG(v));
    c->s->min_savings_usd = percent ? 0 : n;
    c->s->min_savings_share = percent ? n / 100 : 0;
    return true;
}

static bool set_max_replacements(struct ctx *c, str v, struct err *e)
{
    int64_t n;

    if (!str_to_i64(v, &n) || n < 1 || n > MAX_REPLACEMENTS)
        return err_set(e, ERR_INVALID, "CONSOLIDATION_MAX_REPLACEMENTS: \"" STR_FMT "\" is not a number from 1 to %d",
                       STR_ARG(v), MAX_REPLACEMENTS);
    c->s->max_replacements = (uint32_t)n;
    return true;
}

/* --- SCHEDULER_CONFIG -------------------------------------------------------------------------------------------- */

static bool spread_field(struct ctx *c, struct spread *s, str key, const struct tree *t, struct err *e)
{
    str text = tree_scalar(t);
    int64_t n = 0;

    if (str_is(key, "maxSkew") || str_is(key, "minDomains")) {
        if (t->kind != TREE_NUMBER || !str_to_i64(text, &n) || n < 1 || n > INT32_MAX)
            return err_set(e, ERR_INVALID, "SCHEDULER_CONFIG: " STR_FMT " must be a positive integer", STR_ARG(key));
        *(str_is(key, "maxSkew") ? &s->max_skew : &s->min_domains) = (int32_t)n;
    } else if (str_is(key, "topologyKey")) {
        if (!label_is_qualified_name(text))
            return err_set(e, ERR_INVALID, "SCHEDULER_CONFIG: topologyKey \"" STR_FMT "\" is not a label key",
                           STR_ARG(text));
        s->key = sym_of(c->t, label_key_normalise(text));
    } else if (str_is(key, "whenUnsatisfiable")) {
        if (!str_is(text, "DoNotSchedule") && !str_is(text, "ScheduleAnyway"))
            return bad(e, "SCHEDULER_CONFIG: whenUnsatisfiable", "DoNotSchedule, ScheduleAnyway", text);
        s->when = str_is(text, "ScheduleAnyway") ? SPREAD_ANYWAY : SPREAD_DO_NOT_SCHEDULE;
    } else if (str_is(key, "nodeAffinityPolicy") || str_is(key, "nodeTaintsPolicy")) {
        if (!str_is(text, "Honor") && !str_is(text, "Ignore"))
            return bad(e, "SCHEDULER_CONFIG: node policy", "Honor, Ignore", text);
        if (str_is(key, "nodeAffinityPolicy"))
            s->ignore_affinity = str_is(text, "Ignore");
        else
            s->honor_taints = str_is(text, "Honor");
    } else if (str_is(key, "labelSelector") || (str_is(key, "matchLabelKeys") && t->n)) {
        return err_set(e, ERR_INVALID, "SCHEDULER_CONFIG: a default constraint must not have %s: it is deduced per pod",
                       str_is(key, "labelSelector") ? "labelSelector" : "matchLabelKeys");
    } else if (!str_is(key, "matchLabelKeys")) {
        return err_set(e, ERR_INVALID, "SCHEDULER_CONFIG: unknown field \"" STR_FMT "\"", STR_ARG(key));
    }
    return true;
}

static bool one_spread(struct ctx *c, const struct tree *t, struct spread *s, struct err *e)
{
    bool has_when = false;

    if (t->kind != TREE_MAP)
        return err_set(e, ERR_INVALID, "SCHEDULER_CONFIG: a default constraint must be a map");
    for (uint32_t i = 0; i < t->n; i++) {
        has_when |= str_is(t->keys[i], "whenUnsatisfiable");
        if (!spread_field(c, s, t->keys[i], &t->items[i], e))
            return false;
    }
    if (s->max_skew < 1 || !sym_some(s->key) || !has_when)
        return err_set(e, ERR_INVALID,
                       "SCHEDULER_CONFIG: a default constraint needs maxSkew, topologyKey and whenUnsatisfiable");
    return true;
}

/* {podTopologySpread: {defaultConstraints: […]}} as YAML or JSON text; other fields are refused. */
static bool set_scheduler_config(struct ctx *c, str v, struct err *e)
{
    const struct tree *root, *spread, *list;

    c->s->default_spreads = NULL;
    c->s->n_default_spreads = 0;
    if (str_trim(v).n == 0)
        return true;
    if (!tree_parse_yaml(c->a, "SCHEDULER_CONFIG", v, &root, e))
        return false;
    spread = tree_get(root, "podTopologySpread");
    list = tree_get(spread, "defaultConstraints");
    if (!root || root->kind != TREE_MAP || root->n > (spread ? 1u : 0u) ||
        (spread && (spread->kind != TREE_MAP || spread->n > (list ? 1u : 0u))) || (list && list->kind != TREE_LIST))
        return err_set(e, ERR_INVALID, "SCHEDULER_CONFIG: only podTopologySpread.defaultConstraints is understood");
    struct spread *s = arena_new_array(c->a, struct spread, list ? list->n : 0);
    for (uint32_t i = 0; list && i < list->n; i++) {
        if (!one_spread(c, &list->items[i], &s[i], e))
            return false;
        for (uint32_t j = 0; j < i; j++)
            if (sym_eq(s[i].key, s[j].key) && s[i].when == s[j].when)
                return err_set(e, ERR_INVALID, "SCHEDULER_CONFIG: two default constraints for topologyKey " STR_FMT,
                               STR_ARG(sym_str(c->t, s[i].key)));
    }
    c->s->default_spreads = s;
    c->s->n_default_spreads = list ? list->n : 0;
    return true;
}

/* --- the table ------------------------------------------------------------------------------------------------------ */

static const struct setting {
    struct setting_doc doc;
    bool (*set)(struct ctx *c, str v, struct err *e);
} table[] = {
    {{"PREFERENCE_POLICY", "Respect|Ignore", "Respect", "whether preferred affinities and soft spreads are honoured"},
     set_preferences},
    {{"MIN_VALUES_POLICY", "Strict|BestEffort", "Strict", "whether minValues may be lowered to what there is"},
     set_min_values},
    {{"PACKING", "compat", "compat", "compat makes Karpenter's own choices"}, set_packing},
    {{"NODEPOOL_WEIGHT_ORDER", "descending|ascending", "descending",
      "which NodePools are tried first: the heaviest, as Karpenter does, or the lightest"},
     set_weight_order},
    {{"FEATURE_GATES",
      "ReservedCapacity=true|false,SpotToSpotConsolidation=true|false,CapacityBuffer=true|false,NodeOverlay=true|false",
      "ReservedCapacity=true,SpotToSpotConsolidation=false,CapacityBuffer=false,NodeOverlay=false",
      "comma separated; unknown gates are ignored"},
     set_gates},
    {{"CONSOLIDATION", "thorough|compat", "thorough",
      "how far consolidation looks: at every node, or as far as Karpenter does"},
     set_consolidation},
    {{"CONSOLIDATION_MIN_SAVINGS", "0.01|5%", "0",
      "what replacing nodes must save: USD an hour, or a share of their price"},
     set_min_savings},
    {{"CONSOLIDATION_MAX_REPLACEMENTS", "1...16", "8", "how many new nodes may take the place of those that go"},
     set_max_replacements},
    {{"IGNORE_DRA_REQUESTS", "true", "true", "pods with resource claims are not planned for"}, set_ignore_dra},
    {{"SCHEDULER_CONFIG", "YAML or JSON text", "", "default topology spread constraints of the cluster's scheduler"},
     set_scheduler_config},
};

void settings_defaults(struct settings *s)
{
    *s = (struct settings){.reserved_capacity = true, .ignore_dra = true, .max_replacements = 8};
}

bool settings_set(struct settings *s, struct arena *a, struct syms *t, str key, str value, struct err *e)
{
    struct ctx c = {s, a, t};

    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_is(key, table[i].doc.key))
            return table[i].set(&c, value, e);
    return err_set(e, ERR_INVALID, "there is no setting " STR_FMT "; `karpenter plan --help` lists them", STR_ARG(key));
}

const struct setting_doc *settings_docs(uint32_t *ret_n)
{
    static struct setting_doc docs[ARRAY_LEN(table)];

    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        docs[i] = table[i].doc;
    *ret_n = ARRAY_LEN(table);
    return docs;
}
