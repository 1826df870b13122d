/* Columns of claims, volumes and storage drivers. */
#include "base/sb.h"
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/rule.h"
#include "sim/kube/rules/rules.h"

static void cell_modes(struct cells *c, const struct tree *modes)
{
    static const struct {
        const char *mode, *word;
    } words[] = {
        {"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
    struct sb b = {0};

    for (size_t w = 0; w < ARRAY_LEN(words); w++)
        for (uint32_t i = 0; i < list_len(modes); i++)
            if (str_is(tree_str(&modes->items[i]), words[w].mode)) {
                sb_printf(&b, "%s%s", b.n ? "," : "", words[w].word);
                break;
            }
    cell_str(c, sb_dup(&b, c->a));
    sb_fini(&b);
}

static void cell_phase(struct cells *c, const struct tree *obj)
{
    bool deleted = has(tree_get(obj, "metadata"), "deletionTimestamp");

    cell_str(c, deleted ? STR("Terminating") : tree_str(tree_at(obj, "status", "phase", NULL)));
}

static str class_of(const struct tree *obj)
{
    const struct tree *old = tree_at(obj, "metadata", "annotations", "volume.beta.kubernetes.io/storage-class", NULL);

    return tree_str(old ? old : tree_at(obj, "spec", "storageClassName", NULL));
}

/* ---- PersistentVolumeClaim ---- */

static const struct column pvc_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", "Pending, Bound, Lost or Terminating", 0},
    {"Volume", "string", "", "Volume that it is bound to", 0},
    {"Capacity", "string", "", "Size of the volume", 0},
    {"Access Modes", "string", "", "How the volume may be mounted", 0},
    {"StorageClass", "string", "", "Class of the claim", 0},
    {"VolumeAttributesClass", "string", "", "Class of the volume's attributes", 0},
    COLUMN_AGE,
    {"VolumeMode", "string", "", "Filesystem or Block", 1},
};

static void pvc_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *spec = tree_get(obj, "spec"), *status = tree_get(obj, "status");
    str volume = tree_str(tree_get(spec, "volumeName"));

    cell_name(c, obj);
    cell_phase(c, obj);
    cell_str(c, volume);
    if (volume.n) {
        cell_str(c, tree_scalar(tree_at(status, "capacity", "storage", NULL)));
        cell_modes(c, tree_get(status, "accessModes"));
    } else {
        cell_c(c, "");
        cell_c(c, "");
    }
    cell_str(c, class_of(obj));
    cell_or(c, tree_str(tree_get(spec, "volumeAttributesClassName")), "<unset>");
    cell_age(c, obj);
    cell_or(c, tree_str(tree_get(spec, "volumeMode")), "<unset>");
}

KIND_COLUMNS(pvc);

/* ---- PersistentVolume ---- */

static const struct column pv_columns[] = {
    COLUMN_NAME,
    {"Capacity", "string", "", "Size", 0},
    {"Access Modes", "string", "", "How it may be mounted", 0},
    {"Reclaim Policy", "string", "", "What becomes of it when its claim goes", 0},
    {"Status", "string", "", "Available, Bound, Released, Failed or Terminating", 0},
    {"Claim", "string", "", "Claim that it is bound to", 0},
    {"StorageClass", "string", "", "Class of the volume", 0},
    {"VolumeAttributesClass", "string", "", "Class of its attributes", 0},
    {"Reason", "string", "", "Why it is in this state", 0},
    COLUMN_AGE,
    {"VolumeMode", "string", "", "Filesystem or Block", 1},
};

static void pv_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *spec = tree_get(obj, "spec"), *claim = tree_get(spec, "claimRef");
    str ns = tree_str(tree_get(claim, "namespace")), name = tree_str(tree_get(claim, "name"));

    cell_name(c, obj);
    cell_str(c, tree_scalar(tree_at(spec, "capacity", "storage", NULL)));
    cell_modes(c, tree_get(spec, "accessModes"));
    cell_str(c, tree_str(tree_get(spec, "persistentVolumeReclaimPolicy")));
    cell_phase(c, obj);
    cell_str(c, claim ? arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name)) : (str){0});
    cell_str(c, class_of(obj));
    cell_or(c, tree_str(tree_get(spec, "volumeAttributesClassName")), "<unset>");
    cell_str(c, tree_str(tree_at(obj, "status", "reason", NULL)));
    cell_age(c, obj);
    cell_or(c, tree_str(tree_get(spec, "volumeMode")), "<unset>");
}

KIND_COLUMNS(pv);

/* ---- StorageClass ---- */

static const struct column storage_class_columns[] = {
    COLUMN_NAME,
    {"Provisioner", "string", "", "Who makes the volumes", 0},
    {"ReclaimPolicy", "string", "", "What becomes of volumes when their claims go", 0},
    {"VolumeBindingMode", "string", "", "When claims are bound", 0},
    {"AllowVolumeExpansion", "string", "", "Whether volumes may grow", 0},
    COLUMN_AGE,
};

static void storage_class_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *notes = tree_at(obj, "metadata", "annotations", NULL);
    bool is_default = str_is(tree_str(tree_get(notes, "storageclass.kubernetes.io/is-default-class")), "true") ||
                      str_is(tree_str(tree_get(notes, "storageclass.beta.kubernetes.io/is-default-class")), "true");
    str name = object_name(obj);

    cell_str(c, arena_printf(a, STR_FMT "%s", STR_ARG(name), is_default ? " (default)" : ""));
    cell_str(c, tree_str(tree_get(obj, "provisioner")));
    cell_str(c, tree_str(tree_get(obj, "reclaimPolicy")));
    cell_str(c, tree_str(tree_get(obj, "volumeBindingMode")));
    cell_bool(c, tree_is_true(tree_get(obj, "allowVolumeExpansion")));
    cell_age(c, obj);
}

KIND_COLUMNS(storage_class);

/* ---- CSINode, CSIDriver, VolumeAttachment ---- */

static const struct column csi_node_columns[] = {
    COLUMN_NAME,
    {"Drivers", "integer", "", "How many drivers run on the node", 0},
    COLUMN_AGE,
};

static void csi_node_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, obj);
    cell_i64(c, list_len(tree_at(obj, "spec", "drivers", NULL)));
    cell_age(c, obj);
}

KIND_COLUMNS(csi_node);

static const struct column csi_driver_columns[] = {
    COLUMN_NAME,
    {"AttachRequired", "boolean", "", "Whether volumes are attached first", 0},
    {"PodInfoOnMount", "boolean", "", "Whether it is told about the pod", 0},
    {"StorageCapacity", "boolean", "", "Whether it says how much room it has", 0},
    {"TokenRequests", "string", "", "Tokens that it needs", 0},
    {"RequiresRepublish", "boolean", "", "Whether volumes are published again and again", 0},
    {"Modes", "string", "", "Kinds of volumes that it serves", 0},
    COLUMN_AGE,
};

static void cell_list(struct cells *c, const struct tree *list, const char *field, const char *otherwise)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < list_len(list); i++) {
        str s = tree_str(field ? tree_get(&list->items[i], field) : &list->items[i]);

        sb_printf(&b, "%s" STR_FMT, i ? "," : "", STR_ARG(s));
    }
    cell_or(c, sb_dup(&b, c->a), otherwise);
    sb_fini(&b);
}

static void csi_driver_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *spec = tree_get(obj, "spec");

    cell_name(c, obj);
    cell_bool(c, tree_is_true(tree_get(spec, "attachRequired")));
    cell_bool(c, tree_is_true(tree_get(spec, "podInfoOnMount")));
    cell_bool(c, tree_is_true(tree_get(spec, "storageCapacity")));
    cell_list(c, tree_get(spec, "tokenRequests"), "audience", "<unset>");
    cell_bool(c, tree_is_true(tree_get(spec, "requiresRepublish")));
    cell_list(c, tree_get(spec, "volumeLifecycleModes"), NULL, "<none>");
    cell_age(c, obj);
}

KIND_COLUMNS(csi_driver);

static const struct column volume_attachment_columns[] = {
    COLUMN_NAME,
    {"Attacher", "string", "name", "Driver that attaches the volume", 0},
    {"PV", "string", "", "Volume", 0},
    {"Node", "string", "", "Node", 0},
    {"Attached", "boolean", "", "Whether it is attached", 0},
    COLUMN_AGE,
};

static void volume_attachment_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *spec = tree_get(obj, "spec");

    cell_name(c, obj);
    cell_str(c, tree_str(tree_get(spec, "attacher")));
    cell_str(c, tree_str(tree_at(spec, "source", "persistentVolumeName", NULL)));
    cell_str(c, tree_str(tree_get(spec, "nodeName")));
    cell_bool(c, tree_is_true(tree_at(obj, "status", "attached", NULL)));
    cell_age(c, obj);
}

KIND_COLUMNS(volume_attachment);
