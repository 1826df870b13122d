/* Node groups of Cluster Autoscaler, whoever described them, become a NodePool and a node class each. */
#include "cli/convert/groups_int.h"

static bool is_alnum(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9');
}

/* Names of groups may have letters that names of objects must not have. */
static str object_name(struct conversion *c, str name)
{
    char *p = arena_memdup(c->a, name.p, name.n, 1);
    size_t from = 0, to = name.n;

    for (size_t i = 0; i < name.n; i++) {
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] = (char)(p[i] - 'A' + 'a');
        else if (!is_alnum(p[i]) && p[i] != '.')
            p[i] = '-';
    }
    while (from < to && !is_alnum(p[from]))
        from++;
    while (to > from && !is_alnum(p[to - 1]))
        to--;
    return to > from ? (str){p + from, to - from} : STR("group");
}

struct group group_new(struct conversion *c, uint32_t in, str name, str cluster)
{
    static const char *const kinds[] = {"EC2NodeClass", "NodePool", NULL};
    struct group g = {.name = convert_free_name(c, object_name(c, name), kinds),
                      .cluster = cluster.n ? cluster : c->set->cluster,
                      .types = tree_new_list(c->a),
                      .zones = tree_new_list(c->a),
                      .subnets = tree_new_list(c->a),
                      .labels = tree_new_map(c->a),
                      .taints = tree_new_list(c->a),
                      .min = -1,
                      .max = -1,
                      .lifetime_s = -1};

    g.class = convert_new(c, in, CLASS_VERSION, "EC2NodeClass", NULL);
    g.pool = convert_new(c, in, POOL_VERSION, "NodePool", NULL);
    tree_set_str(c->a, tree_sub(c->a, g.class->object, "metadata"), "name", g.name);
    tree_set_str(c->a, tree_sub(c->a, g.pool->object, "metadata"), "name", g.name);
    if (!str_eq(g.name, name))
        convert_note(c, g.pool, "the group was called " STR_FMT, STR_ARG(name));
    return g;
}

static void require(struct conversion *c, struct tree *list, const char *key, const struct tree *values)
{
    if (values->n)
        *convert_requirement(c->a, list, key, "In") = *tree_copy(c->a, values);
}

static void set_limits(struct conversion *c, const struct group *g)
{
    int64_t most = 0;

    for (uint32_t i = 0; i < g->types->n; i++) {
        int64_t cpus = c->set->cpus ? c->set->cpus(c->set->ctx, g->types->items[i].text) : 0;

        most = cpus > most ? cpus : most;
    }
    if (g->max > 0 && most > 0) {
        tree_set_str(c->a, tree_path(c->a, g->pool->object, "spec", "limits", NULL), "cpu",
                     arena_printf(c->a, "%lld", (long long)(g->max * most)));
        convert_note(c, g->pool, "limits.cpu: at most %lld nodes of %lld CPUs, as the group had", (long long)g->max,
                     (long long)most);
    } else if (g->max > 0) {
        convert_lost(c, g->pool,
                     "at most %lld nodes: the size of the instance types is not known, so put limits.cpu yourself",
                     (long long)g->max);
    }
    if (g->min > 0)
        convert_lost(c, g->pool,
                     "at least %lld node%s: a NodePool has as many as pods need. A NodePool with spec.replicas (gate "
                     "StaticCapacity) or a CapacityBuffer keeps some",
                     (long long)g->min, g->min == 1 ? "" : "s");
}

static void discover(struct conversion *c, struct tree *spec, const char *key, str cluster)
{
    struct tree *term = tree_push(c->a, tree_sublist(c->a, spec, key), *tree_new_map(c->a));

    tree_set_str(c->a, tree_sub(c->a, term, "tags"), "karpenter.sh/discovery", cluster);
}

static void set_places(struct conversion *c, const struct group *g)
{
    struct tree *spec = tree_sub(c->a, g->class->object, "spec");

    for (uint32_t i = 0; i < g->subnets->n; i++) {
        struct tree *term = tree_push(c->a, tree_sublist(c->a, spec, "subnetSelectorTerms"), *tree_new_map(c->a));

        tree_set_str(c->a, term, "id", g->subnets->items[i].text);
    }
    if (!g->subnets->n)
        discover(c, spec, "subnetSelectorTerms", g->cluster);
    discover(c, spec, "securityGroupSelectorTerms", g->cluster);
    convert_note(c, g->class,
                 "%ssecurity groups are found by the tag karpenter.sh/discovery=" STR_FMT "; put it on them",
                 g->subnets->n ? "" : "subnets and ", STR_ARG(g->cluster));
}

bool group_finish(struct conversion *c, uint32_t in, const struct group *g, struct err *e)
{
    struct tree *template = tree_path(c->a, g->pool->object, "spec", "template", NULL);

    if (!g->cluster.n)
        return convert_bad(c, in, e, "node group " STR_FMT " does not say whose it is: say --cluster NAME",
                           STR_ARG(g->name));
    if (g->labels->n)
        tree_set(c->a, tree_sub(c->a, template, "metadata"), "labels", *g->labels);
    struct tree *inner = tree_sub(c->a, template, "spec");
    convert_ref(c, g->pool, g->name);
    struct tree *list = tree_sublist(c->a, inner, "requirements");
    struct tree *capacity = convert_requirement(c->a, list, "karpenter.sh/capacity-type", "In");
    if (g->spot)
        (void)tree_push(c->a, capacity, tree_of_str(STR("spot")));
    if (g->on_demand || !g->spot)
        (void)tree_push(c->a, capacity, tree_of_str(STR("on-demand")));
    require(c, list, "node.kubernetes.io/instance-type", g->types);
    require(c, list, "topology.kubernetes.io/zone", g->zones);
    if (g->taints->n)
        tree_set(c->a, inner, "taints", *g->taints);
    tree_set_str(c->a, inner, "expireAfter",
                 g->lifetime_s > 0 ? arena_printf(c->a, "%llds", (long long)g->lifetime_s) : STR("Never"));
    set_limits(c, g);
    struct tree *disruption = tree_path(c->a, g->pool->object, "spec", "disruption", NULL);
    tree_set_str(c->a, disruption, "consolidationPolicy", STR("WhenEmptyOrUnderutilized"));
    tree_set_str(c->a, disruption, "consolidateAfter", STR("10m"));
    convert_note(c, g->pool, "consolidateAfter: 10m is what Cluster Autoscaler waits before it takes an unneeded node");
    convert_note(
        c, g->pool,
        "more instance types find cheaper and more spot capacity: consider instance-category and -generation instead of names");
    set_places(c, g);
    return true;
}

void group_push(struct conversion *c, struct tree *to, str s)
{
    for (uint32_t i = 0; i < to->n; i++)
        if (str_eq(to->items[i].text, s))
            return;
    if (s.n)
        (void)tree_push(c->a, to, tree_of_str(s));
}

void group_push_all(struct conversion *c, struct tree *to, const struct tree *from, const char *key)
{
    for (uint32_t i = 0; from && from->kind == TREE_LIST && i < from->n; i++)
        group_push(c, to, tree_str(key ? tree_get(&from->items[i], key) : &from->items[i]));
}

void group_taint(struct conversion *c, const struct group *g, str key, str value, str effect)
{
    struct tree *taint = tree_push(c->a, g->taints, *tree_new_map(c->a));

    tree_set_str(c->a, taint, "key", key);
    if (value.n)
        tree_set_str(c->a, taint, "value", value);
    tree_set_str(c->a, taint, "effect", effect);
}

void group_taint_of(struct conversion *c, const struct group *g, str key, str told)
{
    str value, effect;

    if (str_cut(told, ':', &value, &effect))
        group_taint(c, g, key, value, effect);
    else
        group_taint(c, g, key, (str){0}, told);
}

/* EC2NodeClasses refuse tags of the cluster's own, and AWS those that begin with its name; the rest are for Cluster Autoscaler and eksctl. */
static bool is_owned(str key)
{
    static const char *const owned[] = {
        "aws:", "eks:", "kubernetes.io/cluster", "k8s.io/cluster-autoscaler/", "karpenter.", "alpha.eksctl.io/"};

    for (size_t i = 0; i < ARRAY_LEN(owned); i++)
        if (str_starts(key, str_c(owned[i])))
            return true;
    return !key.n;
}

void group_tag(struct conversion *c, const struct group *g, str key, str value)
{
    if (!is_owned(key))
        *tree_put(c->a, tree_path(c->a, g->class->object, "spec", "tags", NULL), key) = tree_of_str(value);
}

void group_mix(struct conversion *c, struct group *g, int64_t share, bool base)
{
    g->spot = share >= 0 && share < 100;
    g->on_demand = !g->spot || share > 0 || base;
    if (g->spot && g->on_demand)
        convert_lost(c, g->pool,
                     "a share of spot machines: a NodePool takes spot while it is cheaper and there is some");
}

int64_t group_number(const struct tree *t)
{
    int64_t v;

    return t && tree_to_i64(t, &v) ? v : -1;
}
