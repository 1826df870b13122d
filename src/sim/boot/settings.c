/* Settings of Bottlerocket: TOML. */
#include "data/edit.h"
#include "data/toml.h"
#include "sim/boot/told.h"

static bool read_labels(struct arena *a, const struct tree *map, struct told *t, struct err *e)
{
    for (uint32_t i = 0; map && i < map->n; i++)
        if (!told_label(a, t, map->keys[i], tree_scalar(&map->items[i]), e))
            return false;
    return true;
}

/* "value:Effect" */
static bool read_taint(struct arena *a, str key, const struct tree *v, struct told *t, struct err *e)
{
    str value, effect;

    if (!str_cut(tree_str(v), ':', &value, &effect))
        return err_set(e, ERR_INVALID, "settings.kubernetes.node-taints: not value:effect");
    return told_taint(a, t, key, value, effect, e);
}

static bool read_taints(struct arena *a, const struct tree *map, struct told *t, struct err *e)
{
    for (uint32_t i = 0; map && i < map->n; i++) {
        const struct tree *list = &map->items[i];

        if (list->kind == TREE_STRING && !read_taint(a, map->keys[i], list, t, e))
            return false;
        for (uint32_t k = 0; k < list->n; k++)
            if (!read_taint(a, map->keys[i], &list->items[k], t, e))
                return false;
    }
    return true;
}

/* [settings.bootstrap-commands.x] with `apiclient ephemeral-storage bind`: pods live on the machine's own disks. */
static bool binds_disks(const struct tree *commands)
{
    for (uint32_t i = 0; commands && i < commands->n; i++) {
        const struct tree *lines = tree_get(&commands->items[i], "commands");

        for (uint32_t k = 0; lines && k < lines->n; k++) {
            const struct tree *words = &lines->items[k];

            if (words->n >= 3 && str_is(tree_str(&words->items[1]), "ephemeral-storage") &&
                str_is(tree_str(&words->items[2]), "bind"))
                return true;
        }
    }
    return false;
}

bool told_settings(struct arena *a, str toml, struct told *t, struct err *e)
{
    const struct tree *all = toml_read(a, toml, e), *kube = tree_at(all, "settings", "kubernetes", NULL);

    if (!all)
        return err_wrap(e, "neither a message, a script, a NodeConfig nor TOML");
    t->by_interfaces = t->reserve_by_pods = true;
    t->disk = STR("/dev/xvdb");
    t->cluster = tree_str(tree_get(kube, "cluster-name"));
    t->endpoint = tree_str(tree_get(kube, "api-server"));
    t->local_disks = binds_disks(tree_at(all, "settings", "bootstrap-commands", NULL));
    return read_labels(a, tree_get(kube, "node-labels"), t, e) && read_taints(a, tree_get(kube, "node-taints"), t, e) &&
           told_count(tree_get(kube, "max-pods"), "max-pods", &t->max_pods, e) &&
           told_merge(a, &t->kube, tree_get(kube, "kube-reserved"), "kube-reserved", e) &&
           told_merge(a, &t->system, tree_get(kube, "system-reserved"), "system-reserved", e) &&
           told_merge(a, &t->hard, tree_get(kube, "eviction-hard"), "eviction-hard", e);
}
