/* Provisioner (karpenter.sh/v1alpha5) and AWSNodeTemplate (karpenter.k8s.aws/v1alpha1). */
#include "cli/convert/convert_int.h"
#include "data/edit.h"
#include "model/labels.h"

#define MAX_TERMS 64 /* alternatives that a selector with commas comes to */

/* One alternative of a selector: a value for each of its keys. */
struct choice {
    const struct tree *selector;
    const str *values;
};

static str nth_value(str list, uint32_t n)
{
    str head, tail = list;

    do
        (void)str_cut(tail, ',', &head, &tail);
    while (n--);
    return str_trim(head);
}

static uint32_t count_values(str list)
{
    uint32_t n = 1;

    for (size_t i = 0; i < list.n; i++)
        n += list.p[i] == ',';
    return n;
}

/* Values with commas are alternatives, and all keys have to hold: each combination is a term of its own. */
static bool each_choice(struct conversion *c, const struct tree *selector, struct tree *ret,
                        void (*write)(struct conversion *c, struct tree *term, const struct choice *x))
{
    uint32_t total = 1;

    for (uint32_t i = 0; i < selector->n; i++) {
        total *= count_values(tree_scalar(&selector->items[i]));
        if (total > MAX_TERMS)
            return false;
    }
    str *values = arena_new_array(c->a, str, selector->n + 1);
    for (uint32_t at = 0; at < total; at++) {
        uint32_t rest = at;

        for (uint32_t i = 0; i < selector->n; i++) {
            str list = tree_scalar(&selector->items[i]);
            uint32_t n = count_values(list);

            values[i] = nth_value(list, rest % n);
            rest /= n;
        }
        write(c, tree_push(c->a, ret, *tree_new_map(c->a)), &(struct choice){selector, values});
    }
    return true;
}

static bool is_ids(str key)
{
    return str_is(key, "aws-ids") || str_is(key, "aws::ids");
}

static void write_term(struct conversion *c, struct tree *term, const struct choice *x)
{
    for (uint32_t i = 0; i < x->selector->n; i++) {
        str key = x->selector->keys[i];
        const char *name = is_ids(key)                  ? "id"
                           : str_is(key, "aws::name")   ? "name"
                           : str_is(key, "aws::owners") ? "owner"
                                                        : NULL;

        if (name)
            tree_set_str(c->a, term, name, x->values[i]);
        else
            *tree_put(c->a, tree_sub(c->a, term, "tags"), key) = tree_of_str(x->values[i]);
    }
}

static struct tree *terms_of(struct conversion *c, struct converted *class, const struct tree *spec, const char *key)
{
    const struct tree *selector = tree_get(spec, key);
    struct tree *terms = tree_new_list(c->a);

    if (!selector || selector->kind != TREE_MAP)
        return terms;
    if (!each_choice(c, selector, terms, write_term))
        convert_lost(c, class, "%s: more than %d combinations of values", key, MAX_TERMS);
    return terms;
}

static void set_terms(struct conversion *c, struct converted *class, const struct tree *spec, const char *from,
                      const char *to)
{
    struct tree *terms = terms_of(c, class, spec, from);

    if (terms->n)
        tree_set(c->a, tree_sub(c->a, class->object, "spec"), to, *terms);
    else
        convert_lost(c, class, "%s is missing; %s has to select something", from, to);
}

void convert_alpha_class(struct conversion *c, struct converted *class, const struct tree *spec)
{
    static const char *const copied[] = {"userData",           "tags",           "context", "blockDeviceMappings",
                                         "detailedMonitoring", "metadataOptions"};
    static const char *const known[] = {"amiFamily",
                                        "amiSelector",
                                        "subnetSelector",
                                        "securityGroupSelector",
                                        "instanceProfile",
                                        "launchTemplate",
                                        "metadataOptions",
                                        "userData",
                                        "tags",
                                        "context",
                                        "blockDeviceMappings",
                                        "detailedMonitoring",
                                        "apiVersion",
                                        "kind",
                                        NULL};
    str family = tree_str(tree_get(spec, "amiFamily"));
    struct tree *to = tree_sub(c->a, class->object, "spec");

    convert_images(c, class, family.n ? family : STR("AL2"), terms_of(c, class, spec, "amiSelector"));
    set_terms(c, class, spec, "subnetSelector", "subnetSelectorTerms");
    set_terms(c, class, spec, "securityGroupSelector", "securityGroupSelectorTerms");
    for (size_t i = 0; i < ARRAY_LEN(copied); i++)
        if (tree_get(spec, copied[i]))
            tree_set(c->a, to, copied[i], *tree_copy(c->a, tree_get(spec, copied[i])));
    convert_hops(c, class);
    str template = tree_scalar(tree_get(spec, "launchTemplate"));
    if (template.n)
        convert_lost(c, class,
                     "launchTemplate " STR_FMT
                     ": its image, groups, disks and user data are said in the EC2NodeClass now",
                     STR_ARG(template));
    convert_rest(c, class, "spec.", spec, known);
}

bool convert_template(struct conversion *c, uint32_t in, struct err *e)
{
    const struct tree *t = c->in.v[in].object, *spec = tree_get(t, "spec");
    struct converted *class = convert_new(c, in, CLASS_VERSION, "EC2NodeClass", tree_get(t, "metadata"));

    if (!convert_identity(c, class, in, tree_str(tree_get(spec, "instanceProfile")), (str){0}, e))
        return false;
    convert_alpha_class(c, class, spec);
    return true;
}

/* ---- Provisioner ---- */

static bool asks_for(const struct tree *spec, const char *key)
{
    const struct tree *requirements = tree_get(spec, "requirements"), *labels = tree_get(spec, "labels");

    for (uint32_t i = 0; requirements && requirements->kind == TREE_LIST && i < requirements->n; i++)
        if (str_is(label_key_normalise(tree_str(tree_get(&requirements->items[i], "key"))), key))
            return true;
    for (uint32_t i = 0; labels && labels->kind == TREE_MAP && i < labels->n; i++)
        if (str_is(label_key_normalise(labels->keys[i]), key))
            return true;
    return false;
}

/* What a server of then added to every Provisioner that did not say it. */
static void add_defaults(struct conversion *c, struct converted *pool, const struct tree *spec, struct tree *list)
{
    static const struct {
        const char *key, *value;
    } defaults[] = {
        {"kubernetes.io/os", "linux"},
        {"kubernetes.io/arch", "amd64"},
        {"karpenter.sh/capacity-type", "on-demand"},
    };
    static const char *const kinds[] = {"node.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-family",
                                        "karpenter.k8s.aws/instance-category", "karpenter.k8s.aws/instance-generation"};
    bool typed = false;

    for (size_t i = 0; i < ARRAY_LEN(defaults); i++)
        if (!asks_for(spec, defaults[i].key)) {
            convert_in(c->a, list, defaults[i].key, defaults[i].value);
            convert_note(c, pool, "%s: %s was the default then", defaults[i].key, defaults[i].value);
        }
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        typed = typed || asks_for(spec, kinds[i]);
    if (typed)
        return;
    struct tree *categories = convert_requirement(c->a, list, "karpenter.k8s.aws/instance-category", "In");
    for (const char *p = "cmr"; *p; p++)
        (void)tree_push(c->a, categories, tree_of_str((str){p, 1}));
    (void)tree_push(c->a, convert_requirement(c->a, list, "karpenter.k8s.aws/instance-generation", "Gt"),
                    tree_of_str(STR("2")));
    convert_note(c, pool, "instance categories c, m, r after generation 2 were the default then");
}

static void set_disruption(struct conversion *c, struct converted *pool, const struct tree *spec)
{
    struct tree *to = tree_path(c->a, pool->object, "spec", "disruption", NULL);
    bool consolidates = tree_is_true(tree_at(spec, "consolidation", "enabled", NULL));
    str empty = tree_scalar(tree_get(spec, "ttlSecondsAfterEmpty"));

    if (consolidates) {
        tree_set_str(c->a, to, "consolidationPolicy", STR("WhenEmptyOrUnderutilized"));
        tree_set_str(c->a, to, "consolidateAfter", STR("0s"));
        convert_note(c, pool,
                     "consolidation.enabled: consolidateAfter 0s acts at once, as then; 1m and more is calmer");
        if (empty.n)
            convert_lost(c, pool, "ttlSecondsAfterEmpty " STR_FMT ": consolidation takes empty nodes, too",
                         STR_ARG(empty));
        return;
    }
    tree_set_str(c->a, to, "consolidationPolicy", STR("WhenEmpty"));
    tree_set_str(c->a, to, "consolidateAfter",
                 empty.n ? arena_printf(c->a, STR_FMT "s", STR_ARG(empty)) : STR("Never"));
    if (!empty.n)
        convert_note(c, pool,
                     "neither ttlSecondsAfterEmpty nor consolidation: nodes stay when they are empty, as then");
}

static void set_template(struct conversion *c, struct converted *pool, const struct tree *spec)
{
    static const char *const meta[] = {"labels", "annotations"}, *const lists[] = {"taints", "startupTaints"};
    struct tree *to = tree_path(c->a, pool->object, "spec", "template", NULL);

    for (size_t i = 0; i < ARRAY_LEN(meta); i++)
        if (tree_get(spec, meta[i]))
            tree_set(c->a, tree_sub(c->a, to, "metadata"), meta[i], *tree_copy(c->a, tree_get(spec, meta[i])));
    struct tree *inner = tree_sub(c->a, to, "spec");
    const struct tree *said = tree_get(spec, "requirements");
    struct tree *list = said && said->kind == TREE_LIST ? tree_copy(c->a, said) : tree_new_list(c->a);
    add_defaults(c, pool, spec, list);
    tree_set(c->a, inner, "requirements", *list);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (tree_get(spec, lists[i]))
            tree_set(c->a, inner, lists[i], *tree_copy(c->a, tree_get(spec, lists[i])));
    str ttl = tree_scalar(tree_get(spec, "ttlSecondsUntilExpired"));
    tree_set_str(c->a, inner, "expireAfter", ttl.n ? arena_printf(c->a, STR_FMT "s", STR_ARG(ttl)) : STR("Never"));
    if (!ttl.n)
        convert_note(c, pool, "no ttlSecondsUntilExpired: nodes do not expire, as then; today's default is 720h");
}

static void set_limits(struct conversion *c, struct converted *pool, const struct tree *limits)
{
    static const char *const known[] = {"resources", NULL};
    const struct tree *resources = tree_get(limits, "resources");

    if (resources)
        tree_set(c->a, tree_sub(c->a, pool->object, "spec"), "limits", *tree_copy(c->a, resources));
    convert_rest(c, pool, "spec.limits.", limits, known);
}

/* What was written into the Provisioner itself becomes a node class of its name. */
static bool inline_class(struct conversion *c, struct converted *pool, uint32_t in, const struct tree *provider,
                         struct err *e)
{
    static const char *const kinds[] = {"EC2NodeClass", NULL};
    str name = convert_free_name(c, convert_name(pool), kinds);
    struct converted *class = convert_new(c, in, CLASS_VERSION, "EC2NodeClass", NULL);

    tree_set_str(c->a, tree_sub(c->a, class->object, "metadata"), "name", name);
    if (!convert_identity(c, class, in, tree_str(tree_get(provider, "instanceProfile")), (str){0}, e))
        return false;
    convert_alpha_class(c, class, provider);
    convert_note(c, class, "spec.provider of Provisioner " STR_FMT, STR_ARG(convert_name(pool)));
    convert_ref(c, pool, name);
    return true;
}

bool convert_provisioner(struct conversion *c, uint32_t in, struct err *e)
{
    static const char *const known[] = {"labels",
                                        "annotations",
                                        "taints",
                                        "startupTaints",
                                        "requirements",
                                        "kubeletConfiguration",
                                        "provider",
                                        "providerRef",
                                        "ttlSecondsAfterEmpty",
                                        "ttlSecondsUntilExpired",
                                        "limits",
                                        "weight",
                                        "consolidation",
                                        NULL};
    const struct tree *t = c->in.v[in].object, *spec = tree_get(t, "spec"), *provider = tree_get(spec, "provider");
    struct converted *pool = convert_new(c, in, POOL_VERSION, "NodePool", tree_get(t, "metadata"));
    str class = tree_str(tree_at(spec, "providerRef", "name", NULL));

    set_template(c, pool, spec);
    set_limits(c, pool, tree_get(spec, "limits"));
    set_disruption(c, pool, spec);
    if (tree_get(spec, "weight"))
        tree_set(c->a, tree_sub(c->a, pool->object, "spec"), "weight", *tree_copy(c->a, tree_get(spec, "weight")));
    if (provider ? !inline_class(c, pool, in, provider, e) : !class.n)
        return provider ? false
                        : convert_bad(c, in, e, "Provisioner " STR_FMT " has neither providerRef nor provider",
                                      STR_ARG(convert_name(pool)));
    if (!provider)
        convert_ref(c, pool, class);
    if (!provider && !convert_find(c, "EC2NodeClass", class))
        convert_note(c, pool, "EC2NodeClass " STR_FMT " is not among the files", STR_ARG(class));
    convert_kubelet(c, pool, tree_get(spec, "kubeletConfiguration"));
    convert_rest(c, pool, "spec.", spec, known);
    return true;
}
