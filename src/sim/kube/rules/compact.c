/* What the server's decoder forgets. Its types leave out most fields when they are empty: null, "", [], {} for maps of strings,
 * and false or 0 where the type has no way to tell them from nothing. The tables name the exceptions and the fields of the
 * last sort; they go by the names of fields, which mean the same in all built-in kinds. */
#include "sim/kube/rules/rule.h"

static bool listed(const char *const *names, size_t n, str key)
{
    for (size_t i = 0; i < n && key.n; i++)
        if (names[i][0] == key.p[0] && str_is(key, names[i]))
            return true;
    return false;
}

#define LISTED(names, key) listed(names, ARRAY_LEN(names), key)

/* Maps whose keys are the user's: left out when empty, not looked into. */
static const char *const free_maps[] = {
    "annotations",  "binaryData", "data",       "labels",           "matchLabels",
    "nodeSelector", "parameters", "stringData", "volumeAttributes",
};

/* … and those whose values are quantities. */
static const char *const amount_maps[] = {
    "allocatable", "allocatedResources",   "capacity", "default",  "defaultRequest", "hard", "limits",
    "max",         "maxLimitRequestRatio", "min",      "overhead", "requests",       "used",
};

static const char *const amounts[] = {"divisor", "sizeLimit"};

/* Empty texts and lists that are kept: the field is always written, or tells "empty" from "absent". */
static const char *const kept_when_empty[] = {
    "acceptedNames",
    "containers",
    "drivers",
    "endpoints",
    "holderIdentity",
    "ingressClassName",
    "key",
    "name",
    "nodeSelectorTerms",
    "path",
    "rules",
    "runtimeClassName",
    "storageClassName",
    "topologyKey",
    "versions",
    "volumeAttributesClassName",
    "webhooks",
};

static const char *const false_is_nothing[] = {
    "globalDefault", "hostIPC", "hostNetwork", "hostPID", "paused",        "publishNotReadyAddresses",
    "readOnly",      "stdin",   "stdinOnce",   "tty",     "unschedulable",
};

static const char *const zero_is_nothing[] = {
    "active",
    "count",
    "currentReplicas",
    "failed",
    "fullyLabeledReplicas",
    "healthCheckNodePort",
    "hostPort",
    "initialDelaySeconds",
    "minReadySeconds",
    "nodePort",
    "numberAvailable",
    "numberUnavailable",
    "observedGeneration",
    "readyReplicas",
    "succeeded",
    "unavailableReplicas",
    "updatedNumberScheduled",
    "updatedReplicas",
};

static bool is_zero(const struct tree *t)
{
    int64_t i;

    return tree_to_i64(t, &i) && i == 0;
}

/* Whether a member is written at all. `in` is the field that holds it. */
static bool is_nothing(str in, str key, const struct tree *t)
{
    switch (t->kind) {
    case TREE_NULL:
        return true;
    case TREE_BOOL:
        return !t->truth && LISTED(false_is_nothing, key) && !str_is(in, "csi");
    case TREE_NUMBER:
        return is_zero(t) && LISTED(zero_is_nothing, key);
    case TREE_STRING:
        if (str_is(key, "type") && str_is(in, "hostPath"))
            return false;
        return t->text.n == 0 && !LISTED(kept_when_empty, key) && !str_is(in, "nodeInfo");
    case TREE_LIST:
        return t->n == 0 && !LISTED(kept_when_empty, key);
    case TREE_MAP:
        return t->n == 0 && (LISTED(free_maps, key) || LISTED(amount_maps, key));
    }
    return false;
}

/* Services and ReplicationControllers have selectors that are just labels. */
static bool is_free_map(str key, const struct tree *map)
{
    if (str_is(key, "selector"))
        return !has(map, "matchLabels") && !has(map, "matchExpressions");
    return LISTED(free_maps, key);
}

static void compact_in(struct arena *a, str in, struct tree *t)
{
    if (t->kind == TREE_LIST) {
        for (uint32_t i = 0; i < t->n; i++)
            compact_in(a, in, &t->items[i]);
        return;
    }
    if (t->kind != TREE_MAP)
        return;
    for (uint32_t i = t->n; i-- > 0;) {
        str key = t->keys[i];
        struct tree *x = &t->items[i];

        if (is_nothing(in, key, x)) {
            tree_drop(t, key);
            continue;
        }
        if (x->kind == TREE_LIST ? str_is(key, "managedFields") : x->kind == TREE_MAP && is_free_map(key, x))
            continue;
        if (x->kind == TREE_MAP && LISTED(amount_maps, key) && !str_is(in, "drivers"))
            amounts_canonical(a, x);
        else if (x->kind != TREE_LIST && x->kind != TREE_MAP && LISTED(amounts, key))
            *x = tree_of_str(amount_text(a, x));
        else
            compact_in(a, key, x);
    }
}

void compact(struct arena *a, struct tree *obj)
{
    compact_in(a, (str){0}, obj);
}
