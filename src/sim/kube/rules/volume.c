/* Rules of claims, volumes, and what storage drivers say about themselves. */
#include "base/sb.h"
#include "model/duration.h"
#include "sim/kube/rules/around.h"
#include "sim/kube/rules/podspec.h"
#include "sim/kube/rules/rules.h"
#include "sim/kube/rules/view.h"

static const char *const volume_modes[] = {"Block", "Filesystem", NULL};

static void add_finalizer(struct arena *a, struct tree *obj, const char *name)
{
    struct tree *list = tree_sublist(a, tree_sub(a, obj, "metadata"), "finalizers");

    for (uint32_t i = 0; i < list_len(list); i++)
        if (str_is(tree_str(&list->items[i]), name))
            return;
    if (list)
        tree_push(a, list, tree_of_str(str_c(name)));
}

/* ---- PersistentVolumeClaim ---- */

static void pvc_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    claim_spec_defaults(a, tree_sub(a, obj, "spec"));
    struct tree *status = tree_sub(a, obj, "status");
    if (status)
        default_str(a, status, "phase", "Pending");
}

struct default_storage {
    const struct object *best;
};

/* The newest of the default classes; of equally new ones the first by name. */
static void look_for_default(void *ctx, const struct object *o)
{
    struct default_storage *d = ctx;
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *notes = tree_at(kube_tree(a, o), "metadata", "annotations", NULL);

    if (str_is(tree_str(tree_get(notes, "storageclass.kubernetes.io/is-default-class")), "true") &&
        (!d->best || o->created_ms > d->best->created_ms))
        d->best = o;
}

static void pvc_on_create(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    struct default_storage d = {0};

    (void)ret_denied;
    add_finalizer(c->a, obj, "kubernetes.io/pvc-protection");
    struct tree *status = tree_new_map(c->a);
    tree_set_str(c->a, status, "phase", STR("Pending"));
    tree_set(c->a, obj, "status", *status);
    struct tree *spec = edit_map(obj, "spec");
    if (!spec || has(spec, "storageClassName") ||
        tree_at(obj, "metadata", "annotations", "volume.beta.kubernetes.io/storage-class", NULL))
        return;
    around_each(c, "storage.k8s.io", "StorageClass", look_for_default, &d);
    if (d.best)
        tree_set_str(c->a, spec, "storageClassName", arena_strdup(c->a, d.best->name));
}

static void check_claim_spec(struct flaws *f, const struct at *at, const struct tree *spec)
{
    const struct tree *modes = tree_get(spec, "accessModes"), *class = tree_get(spec, "storageClassName");
    const struct tree *size = tree_at(spec, "resources", "requests", "storage", NULL);
    const struct at *at_size = AT_IN(AT(at, "resources"), STR("storage"));
    amount n = 0;

    if (list_len(modes) == 0)
        flaw_required(f, AT(at, "accessModes"), "at least 1 access mode is required");
    selector_check(f, AT(at, "selector"), tree_get(spec, "selector"));
    access_modes_check(f, AT(at, "accessModes"), modes);
    if (!size)
        flaw_required(f, at_size, "%s", "");
    else if (amount_of(size, &n) && n <= 0)
        flaw_invalid(f, at_size, json_quoted(f->a, amount_text(f->a, size)), "must be greater than zero");
    if (tree_str(class).n)
        check_subdomain(f, AT(at, "storageClassName"), tree_str(class));
    check_word(f, AT(at, "volumeMode"), tree_get(spec, "volumeMode"), volume_modes);
}

/* A claim may be bound once; a bound one may ask for more. */
static void check_claim_stays(struct flaws *f, const struct tree *obj, const struct tree *old)
{
    const struct tree *was = tree_get(old, "spec");
    const struct at *at = AT(NULL, "spec");
    struct tree *rest = tree_copy(f->a, tree_get(obj, "spec"));
    bool bound = str_is(tree_str(tree_at(old, "status", "phase", NULL)), "Bound");
    amount now, before;

    if (!has(was, "volumeName"))
        keep(f->a, rest, was, "volumeName");
    if (bound && amount_of(tree_at(rest, "resources", "requests", "storage", NULL), &now) &&
        amount_of(tree_at(was, "resources", "requests", "storage", NULL), &before)) {
        if (now < before)
            flaw_forbidden(f, AT(AT(AT(at, "resources"), "requests"), "storage"),
                           "field can not be less than status.capacity");
        keep(f->a, rest, was, "resources");
        keep(f->a, rest, was, "volumeAttributesClassName");
    }
    if (tree_equal(rest, was))
        return;
    str diff = view_diff(f->a, view_claim_spec, was, tree_get(obj, "spec"));
    flaw_add(f, "FieldValueForbidden", at,
             arena_printf(f->a,
                          "Forbidden: spec is immutable after creation except resources.requests and "
                          "volumeAttributesClassName for bound claims\n" STR_FMT,
                          STR_ARG(diff)));
}

static void pvc_validate(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out)
{
    struct flaws *f = FLAWS(c, out);

    if (c->sub)
        return;
    check_claim_spec(f, AT(NULL, "spec"), tree_get(obj, "spec"));
    if (old)
        check_claim_stays(f, obj, old);
}

const struct kind_rules rules_pvc = {pvc_defaults, pvc_on_create, keep_other_half, pvc_validate, NULL};

/* ---- PersistentVolume ---- */

static void pv_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    struct tree *spec = tree_sub(a, obj, "spec");
    if (!spec)
        return;
    default_str(a, spec, "persistentVolumeReclaimPolicy", "Retain");
    default_str(a, spec, "volumeMode", "Filesystem");
    volume_source_defaults(a, spec);
    struct tree *status = tree_sub(a, obj, "status");
    if (status)
        default_str(a, status, "phase", "Pending");
}

static void note_phase(struct rule_context *c, struct tree *status)
{
    struct sb b = {0};

    time_print_rfc3339(&b, c->now_ms);
    tree_set_str(c->a, status, "lastPhaseTransitionTime", sb_dup(&b, c->a));
    sb_fini(&b);
}

static void pv_on_create(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    (void)ret_denied;
    add_finalizer(c->a, obj, "kubernetes.io/pv-protection");
    struct tree *status = tree_new_map(c->a);
    tree_set_str(c->a, status, "phase", STR("Pending"));
    note_phase(c, status);
    tree_set(c->a, obj, "status", *status);
}

static void pv_on_update(struct rule_context *c, struct tree *obj, const struct tree *old, str *ret_denied)
{
    keep_other_half(c, obj, old, ret_denied);
    struct tree *status = edit_map(obj, "status");
    if (c->sub && status && !same(tree_get(status, "phase"), tree_at(old, "status", "phase", NULL)))
        note_phase(c, status);
}

static void check_source_stays(struct flaws *f, const struct tree *spec, const struct tree *was)
{
    str diff = view_diff(f->a, view_volume_source, was, spec);

    if (diff.n)
        flaw_add(f, "FieldValueForbidden", AT(AT(NULL, "spec"), "persistentvolumesource"),
                 arena_printf(f->a, "Forbidden: spec.persistentvolumesource is immutable after creation\n" STR_FMT,
                              STR_ARG(diff)));
}

static void pv_validate(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out)
{
    static const char *const policies[] = {"Delete", "Recycle", "Retain", NULL};
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec"), *capacity = tree_get(spec, "capacity");
    const struct at *at = AT(NULL, "spec");
    amount size;

    if (c->sub)
        return;
    if (list_len(tree_get(spec, "accessModes")) == 0)
        flaw_required(f, AT(at, "accessModes"), "%s", "");
    access_modes_check(f, AT(at, "accessModes"), tree_get(spec, "accessModes"));
    if (is_empty(capacity))
        flaw_required(f, AT(at, "capacity"), "%s", "");
    if (!tree_get(capacity, "storage"))
        flaw_unsupported(f, AT(at, "capacity"), json_sorted_text(c->a, capacity), "\"storage\"");
    else if (amount_of(tree_get(capacity, "storage"), &size) && size <= 0)
        flaw_invalid(f, AT_IN(AT(at, "capacity"), STR("storage")),
                     json_quoted(c->a, amount_text(c->a, tree_get(capacity, "storage"))), "must be greater than zero");
    check_word(f, AT(at, "persistentVolumeReclaimPolicy"), tree_get(spec, "persistentVolumeReclaimPolicy"), policies);
    if (tree_at(spec, "nodeAffinity", "required", NULL))
        node_selector_check(f, AT(AT(at, "nodeAffinity"), "required"), tree_at(spec, "nodeAffinity", "required", NULL));
    volume_source_check(f, at, spec, /* pv= */ true);
    if (has(spec, "local") && !has(spec, "nodeAffinity"))
        flaw_required(f, AT(at, "nodeAffinity"), "Local volume requires node affinity");
    check_word(f, AT(at, "volumeMode"), tree_get(spec, "volumeMode"), volume_modes);
    if (old)
        check_source_stays(f, spec, tree_get(old, "spec"));
}

const struct kind_rules rules_pv = {pv_defaults, pv_on_create, pv_on_update, pv_validate, NULL};

/* ---- StorageClass ---- */

static void storage_class_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    default_str(a, obj, "reclaimPolicy", "Delete");
    default_str(a, obj, "volumeBindingMode", "Immediate");
}

static void storage_class_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                   struct causes *out)
{
    static const char *const fixed[] = {"parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"};
    static const char *const policies[] = {"Delete", "Retain", NULL};
    static const char *const modes[] = {"Immediate", "WaitForFirstConsumer", NULL};
    struct flaws *f = FLAWS(c, out);

    if (tree_str(tree_get(obj, "provisioner")).n == 0)
        flaw_required(f, AT(NULL, "provisioner"), "%s", "");
    check_word(f, AT(NULL, "reclaimPolicy"), tree_get(obj, "reclaimPolicy"), policies);
    check_word(f, AT(NULL, "volumeBindingMode"), tree_get(obj, "volumeBindingMode"), modes);
    for (size_t i = 0; old && i < ARRAY_LEN(fixed); i++)
        check_immutable(f, AT_STR(NULL, str_c(fixed[i])), tree_get(obj, fixed[i]), tree_get(old, fixed[i]));
}

const struct kind_rules rules_storage_class = {storage_class_defaults, NULL, NULL, storage_class_validate, NULL};

/* ---- CSINode, CSIDriver ---- */

static void csi_node_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                              struct causes *out)
{
    struct flaws *f = FLAWS(c, out);
    const struct tree *drivers = tree_at(obj, "spec", "drivers", NULL);

    (void)old;
    for (uint32_t i = 0; i < list_len(drivers); i++) {
        const struct at *at = AT_IX(AT(AT(NULL, "spec"), "drivers"), i);
        str name = tree_str(tree_get(&drivers->items[i], "name"));

        if (name.n == 0)
            flaw_required(f, AT(at, "name"), "%s", "");
        if (tree_str(tree_get(&drivers->items[i], "nodeID")).n == 0)
            flaw_required(f, AT(at, "nodeID"), "%s", "");
        for (uint32_t j = 0; j < i; j++)
            if (str_eq(tree_str(tree_get(&drivers->items[j], "name")), name)) {
                flaw_duplicate(f, AT(at, "name"), json_quoted(c->a, name));
                break;
            }
    }
}

const struct kind_rules rules_csi_node = {compact, NULL, NULL, csi_node_validate, NULL};

static void csi_driver_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    struct tree *spec = tree_sub(a, obj, "spec");
    if (!spec)
        return;
    default_bool(a, spec, "attachRequired", true);
    default_bool(a, spec, "podInfoOnMount", false);
    default_bool(a, spec, "requiresRepublish", false);
    default_bool(a, spec, "seLinuxMount", false);
    default_bool(a, spec, "storageCapacity", false);
    default_str(a, spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    if (!has(spec, "volumeLifecycleModes"))
        tree_push(a, tree_sublist(a, spec, "volumeLifecycleModes"), tree_of_str(STR("Persistent")));
}

const struct kind_rules rules_csi_driver = {csi_driver_defaults, NULL, NULL, NULL, NULL};

/* ---- VolumeAttachment ---- */

static void attachment_on_create(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    (void)ret_denied;
    struct tree *status = tree_new_map(c->a);
    tree_set_bool(c->a, status, "attached", false);
    tree_set(c->a, obj, "status", *status);
}

static const struct view view_attachment_source[] = {
    {"PersistentVolumeName", "persistentVolumeName", VIEW_ANY, NULL},
    {"InlineVolumeSpec", "inlineVolumeSpec", VIEW_ANY, NULL},
    {0},
};

static const struct view view_attachment_spec[] = {
    {"Attacher", "attacher", VIEW_STR, NULL},
    {"Source", "source", VIEW_STRUCT, view_attachment_source},
    {"NodeName", "nodeName", VIEW_STR, NULL},
    {0},
};

static void attachment_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                struct causes *out)
{
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec"), *source = tree_get(spec, "source");
    const struct at *at = AT(NULL, "spec");

    if (c->sub)
        return;
    if (tree_str(tree_get(spec, "attacher")).n == 0)
        flaw_required(f, AT(at, "attacher"), "%s", "");
    if (has(source, "persistentVolumeName") == has(source, "inlineVolumeSpec"))
        flaw_required(f, AT(at, "source"), "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
    check_subdomain(f, AT(at, "nodeName"), tree_str(tree_get(spec, "nodeName")));
    if (old && !same(spec, tree_get(old, "spec")))
        flaw_invalid(f, at, view_text(c->a, view_attachment_spec, spec), "field is immutable");
}

const struct kind_rules rules_volume_attachment = {compact, attachment_on_create, keep_other_half, attachment_validate,
                                                   NULL};
