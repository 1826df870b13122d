/* Labels, taints, amounts, and the flags of a kubelet that say them. */
#include "data/edit.h"
#include "sim/boot/told.h"
#include "sim/boot/words.h"

/* ---- labels and taints ---- */

static bool is_domain(str domain, str of)
{
    return str_eq(domain, of) || (domain.n > of.n && str_ends(domain, of) && domain.p[domain.n - of.n - 1] == '.');
}

/* Of kubernetes.io and k8s.io a kubelet may give itself a few, and refuses to start with others. */
static bool may_have(str name)
{
    static const char *const own[] = {
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    };
    str domain, rest;

    if (!str_cut(name, '/', &domain, &rest) ||
        (!is_domain(domain, STR("k8s.io")) && !is_domain(domain, STR("kubernetes.io"))) ||
        is_domain(domain, STR("kubelet.kubernetes.io")) || is_domain(domain, STR("node.kubernetes.io")))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (str_is(name, own[i]))
            return true;
    return false;
}

bool told_label(struct arena *a, struct told *t, str name, str value, struct err *e)
{
    if (!may_have(name))
        return err_set(e, ERR_INVALID, "a kubelet may not give itself the label %.*s", (int)MIN(name.n, (size_t)100),
                       name.p);
    *tree_put(a, t->labels, name) = tree_of_str(value);
    return true;
}

bool told_taint(struct arena *a, struct told *t, str key, str value, str effect, struct err *e)
{
    if (!str_is(effect, "NoSchedule") && !str_is(effect, "PreferNoSchedule") && !str_is(effect, "NoExecute"))
        return err_set(e, ERR_INVALID, "taint %.*s: %.*s is no effect", (int)MIN(key.n, (size_t)100), key.p,
                       (int)MIN(effect.n, (size_t)40), effect.p);
    struct tree *taint = tree_push(a, t->taints, *tree_new_map(a));

    tree_set_str(a, taint, "key", key);
    if (value.n)
        tree_set_str(a, taint, "value", value);
    tree_set_str(a, taint, "effect", effect);
    return true;
}

static bool read_labels(struct arena *a, struct told *t, str text, struct err *e)
{
    str one, name, value;

    while (text.n) {
        (void)str_cut(text, ',', &one, &text);
        (void)str_cut(str_trim(one), '=', &name, &value);
        if (name.n && !told_label(a, t, name, value, e))
            return false;
    }
    return true;
}

/* key=value:Effect, or key:Effect. */
static bool read_taints(struct arena *a, struct told *t, str text, struct err *e)
{
    str one, head, key, value, effect;

    t->taints = tree_new_list(a);
    while (text.n) {
        (void)str_cut(text, ',', &one, &text);
        (void)str_cut(str_trim(one), ':', &head, &effect);
        (void)str_cut(head, '=', &key, &value);
        if (one.n && !told_taint(a, t, key, value, effect, e))
            return false;
    }
    return true;
}

/* ---- numbers and amounts ---- */

bool told_count(const struct tree *v, const char *name, int64_t *ret, struct err *e)
{
    int64_t n;

    if (!v)
        return true;
    if (!str_to_i64(tree_scalar(v), &n) || n < 0 || n > INT32_MAX)
        return err_set(e, ERR_INVALID, "%s: not a number of pods", name);
    *ret = n;
    return true;
}

bool told_merge(struct arena *a, struct told_amounts *into, const struct tree *map, const char *name, struct err *e)
{
    if (!map)
        return true;
    if (map->kind != TREE_MAP)
        return err_set(e, ERR_INVALID, "%s: not a map", name);
    for (uint32_t i = 0; i < map->n; i++) {
        if (map->items[i].kind == TREE_LIST || map->items[i].kind == TREE_MAP)
            return err_set(e, ERR_INVALID, "%s: not a map of texts", name);
        *tree_put(a, into->of, map->keys[i]) = tree_of_str(tree_scalar(&map->items[i]));
    }
    return true;
}

/* name=text,name=text, or with < between: all there is. */
static void read_amounts(struct arena *a, struct told_amounts *into, str text, char between)
{
    str one, name, value;

    *into = (struct told_amounts){tree_new_map(a), true};
    while (text.n) {
        (void)str_cut(text, ',', &one, &text);
        (void)str_cut(str_trim(one), between, &name, &value);
        if (name.n)
            *tree_put(a, into->of, name) = tree_of_str(value);
    }
}

/* ---- flags ---- */

static bool read_flag(struct arena *a, struct told *t, str name, str value, struct err *e)
{
    struct tree v = tree_of_str(value);

    if (str_is(name, "--node-labels"))
        return read_labels(a, t, value, e);
    if (str_is(name, "--register-with-taints"))
        return read_taints(a, t, value, e);
    if (str_is(name, "--max-pods"))
        return told_count(&v, "--max-pods", &t->max_pods, e);
    if (str_is(name, "--pods-per-core"))
        return told_count(&v, "--pods-per-core", &t->pods_per_core, e);
    if (str_is(name, "--kube-reserved"))
        read_amounts(a, &t->kube, value, '=');
    else if (str_is(name, "--system-reserved"))
        read_amounts(a, &t->system, value, '=');
    else if (str_is(name, "--eviction-hard"))
        read_amounts(a, &t->hard, value, '<');
    return true;
}

bool told_flags(struct arena *a, struct told *t, str flags, struct err *e)
{
    struct words w = {.a = a, .rest = flags, .escape = '\\'};
    str word, name = {0}, value;
    bool first;

    while (words_next(&w, &word, &first)) {
        bool named = str_starts(word, STR("--")), whole = named && str_cut(word, '=', &name, &value);

        if (named && !whole)
            name = word; /* its value is the next word, if that is no flag */
        else if (!named)
            value = word;
        if ((whole || !named) && name.n) {
            if (!read_flag(a, t, name, value, e))
                return false;
            name = (str){0};
        }
    }
    return !w.unclosed || err_set(e, ERR_INVALID, "the kubelet's flags end inside of quotes");
}
