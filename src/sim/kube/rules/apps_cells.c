/* Columns of what keeps pods running. */
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/rule.h"
#include "sim/kube/rules/rules.h"

static void cell_ready(struct cells *c, const struct tree *obj)
{
    int64_t ready = number_of(tree_at(obj, "status", "readyReplicas", NULL));
    int64_t wanted = number_of(tree_at(obj, "spec", "replicas", NULL));

    cell_str(c, arena_printf(c->a, "%lld/%lld", (long long)ready, (long long)wanted));
}

static const struct column deployment_columns[] = {
    COLUMN_NAME,
    {"Ready", "string", "", "Pods that are ready, of those wanted", 0},
    {"Up-to-date", "string", "", "Pods of the newest template", 0},
    {"Available", "string", "", "Pods that have been ready for long enough", 0},
    COLUMNS_OF_PODS,
};

static void deployment_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *status = tree_get(obj, "status");

    cell_name(c, obj);
    cell_ready(c, obj);
    cell_count(c, tree_get(status, "updatedReplicas"));
    cell_count(c, tree_get(status, "availableReplicas"));
    cell_of_pods(c, obj);
}

KIND_COLUMNS(deployment);

/* Of ReplicationControllers too. */
static const struct column replica_set_columns[] = {
    COLUMN_NAME,
    {"Desired", "integer", "", "Pods wanted", 0},
    {"Current", "integer", "", "Pods there are", 0},
    {"Ready", "integer", "", "Pods that are ready", 0},
    COLUMNS_OF_PODS,
};

static void replica_set_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *spec = tree_get(obj, "spec"), *status = tree_get(obj, "status");

    cell_name(c, obj);
    cell_count(c, tree_get(spec, "replicas"));
    cell_count(c, tree_get(status, "replicas"));
    cell_count(c, tree_get(status, "readyReplicas"));
    cell_of_pods(c, obj);
}

KIND_COLUMNS(replica_set);

static const struct column stateful_set_columns[] = {
    COLUMN_NAME,   {"Ready", "string", "", "Pods that are ready, of those wanted", 0}, COLUMN_AGE, COLUMN_CONTAINERS,
    COLUMN_IMAGES,
};

static void stateful_set_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, obj);
    cell_ready(c, obj);
    cell_age(c, obj);
    cell_containers(c, tree_at(obj, "spec", "template", "spec", NULL));
}

KIND_COLUMNS(stateful_set);

static const struct column daemon_set_columns[] = {
    COLUMN_NAME,
    {"Desired", "integer", "", "Nodes that should run a pod of it", 0},
    {"Current", "integer", "", "Nodes that should and do", 0},
    {"Ready", "integer", "", "Nodes whose pod is ready", 0},
    {"Up-to-date", "integer", "", "Nodes whose pod is of the newest template", 0},
    {"Available", "integer", "", "Nodes whose pod has been ready for long enough", 0},
    {"Node Selector", "string", "", "Labels that nodes must have", 0},
    COLUMNS_OF_PODS,
};

static void daemon_set_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *status = tree_get(obj, "status");

    cell_name(c, obj);
    cell_count(c, tree_get(status, "desiredNumberScheduled"));
    cell_count(c, tree_get(status, "currentNumberScheduled"));
    cell_count(c, tree_get(status, "numberReady"));
    cell_count(c, tree_get(status, "updatedNumberScheduled"));
    cell_count(c, tree_get(status, "numberAvailable"));
    cell_labels(c, tree_at(obj, "spec", "template", "spec", "nodeSelector", NULL));
    cell_of_pods(c, obj);
}

KIND_COLUMNS(daemon_set);

static const struct column pod_template_columns[] = {
    COLUMN_NAME,
    {"Containers", "string", "", "Containers of the template", 0},
    {"Images", "string", "", "Images of the template", 0},
    {"Pod Labels", "string", "", "Labels of its pods", 0},
};

static void pod_template_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, obj);
    cell_containers(c, tree_at(obj, "template", "spec", NULL));
    cell_labels(c, tree_at(obj, "template", "metadata", "labels", NULL));
}

KIND_COLUMNS(pod_template);
