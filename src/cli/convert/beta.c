/* NodePool and EC2NodeClass of v1beta1. */
#include "cli/convert/convert_int.h"
#include "data/edit.h"

bool convert_beta_class(struct conversion *c, uint32_t in, struct err *e)
{
    const struct tree *t = c->in.v[in].object, *spec = tree_get(t, "spec"), *terms = tree_get(spec, "amiSelectorTerms");
    struct converted *class = convert_new(c, in, CLASS_VERSION, "EC2NodeClass", tree_get(t, "metadata"));
    struct tree *to = tree_sub(c->a, class->object, "spec");
    str family = tree_str(tree_get(spec, "amiFamily"));

    if (!convert_identity(c, class, in, tree_str(tree_get(spec, "instanceProfile")), tree_str(tree_get(spec, "role")),
                          e))
        return false;
    convert_images(c, class, family.n ? family : STR("AL2"),
                   terms && terms->kind == TREE_LIST ? tree_copy(c->a, terms) : NULL);
    for (uint32_t i = 0; spec && spec->kind == TREE_MAP && i < spec->n; i++) {
        struct tree *there = tree_find(to, spec->keys[i]);

        if (there || str_is(spec->keys[i], "amiFamily") || str_is(spec->keys[i], "role") ||
            str_is(spec->keys[i], "instanceProfile"))
            continue;
        *tree_put(c->a, to, spec->keys[i]) = *tree_copy(c->a, &spec->items[i]);
    }
    convert_hops(c, class);
    return true;
}

static bool set_ref(struct conversion *c, struct converted *pool, uint32_t in, struct tree *inner, struct err *e)
{
    const struct tree *said = tree_get(inner, "nodeClassRef");
    str name = tree_str(tree_get(said, "name")), version = tree_str(tree_get(said, "apiVersion")), group, rest;
    str kind = tree_str(tree_get(said, "kind"));

    if (!name.n)
        return convert_bad(c, in, e, "NodePool " STR_FMT " has no nodeClassRef with a name",
                           STR_ARG(convert_name(pool)));
    if (!str_cut(version, '/', &group, &rest))
        group = STR(CLASS_GROUP);
    struct tree *ref = tree_put(c->a, inner, STR("nodeClassRef"));
    *ref = *tree_new_map(c->a);
    tree_set_str(c->a, ref, "group", group);
    tree_set_str(c->a, ref, "kind", kind.n ? kind : STR("EC2NodeClass"));
    tree_set_str(c->a, ref, "name", name);
    return true;
}

static void set_disruption(struct conversion *c, struct converted *pool, struct tree *spec, struct tree *inner)
{
    struct tree *to = tree_sub(c->a, spec, "disruption");
    str policy = tree_str(tree_get(to, "consolidationPolicy")), expires = tree_scalar(tree_get(to, "expireAfter"));
    bool empty = str_is(policy, "WhenEmpty");

    tree_set_str(c->a, to, "consolidationPolicy", empty ? STR("WhenEmpty") : STR("WhenEmptyOrUnderutilized"));
    if (!tree_get(to, "consolidateAfter")) {
        tree_set_str(c->a, to, "consolidateAfter", STR("0s"));
        convert_note(c, pool, "consolidateAfter: 0s acts at once, as then; 1m and more is calmer");
    }
    (void)tree_drop(to, STR("expireAfter"));
    tree_set_str(c->a, inner, "expireAfter", expires.n ? expires : STR("720h"));
}

bool convert_beta_pool(struct conversion *c, uint32_t in, struct err *e)
{
    const struct tree *t = c->in.v[in].object, *said = tree_get(t, "spec");
    struct converted *pool = convert_new(c, in, POOL_VERSION, "NodePool", tree_get(t, "metadata"));

    if (!said || said->kind != TREE_MAP)
        return convert_bad(c, in, e, "NodePool " STR_FMT " has no spec", STR_ARG(convert_name(pool)));
    tree_set(c->a, pool->object, "spec", *tree_copy(c->a, said));
    struct tree *spec = tree_sub(c->a, pool->object, "spec");
    struct tree *inner = tree_path(c->a, spec, "template", "spec", NULL);
    if (!inner)
        return convert_bad(c, in, e, "NodePool " STR_FMT ": spec.template.spec is not a map",
                           STR_ARG(convert_name(pool)));
    const struct tree *kubelet = tree_get(inner, "kubelet");
    struct tree *told = kubelet ? tree_copy(c->a, kubelet) : NULL;
    (void)tree_drop(inner, STR("kubelet"));
    if (tree_drop(inner, STR("resources")))
        convert_lost(c, pool, "template.spec.resources: requests are the pods' own");
    if (!set_ref(c, pool, in, inner, e))
        return false;
    if (!tree_sub(c->a, spec, "disruption"))
        return convert_bad(c, in, e, "NodePool " STR_FMT ": spec.disruption is not a map", STR_ARG(convert_name(pool)));
    set_disruption(c, pool, spec, inner);
    convert_kubelet(c, pool, told);
    return true;
}
