/* Registration: the machine has joined the cluster as a Node, which becomes what its claim says (lifecycle 3.3). The provider may want to know more of the machine
 * first: until then the Node has all that the claim says and is kept for itself by its taint. */
#include "control/claim_int.h"
#include "data/edit.h"

/* ---- what becomes of the Node ---- */

static bool has_taint_like(const struct tree *node, const struct tree *taint)
{
    const struct tree *l = tree_at(node, "spec", "taints", NULL);
    str key = tree_str(tree_get(taint, "key")), effect = tree_str(tree_get(taint, "effect"));

    for (uint32_t i = 0; l && l->kind == TREE_LIST && i < l->n; i++)
        if (taint_tree_is(&l->items[i], key, effect))
            return true;
    return false;
}

static void sync_taints(struct arena *a, struct tree *node, const struct tree *claim, const char *field)
{
    const struct tree *l = tree_at(claim, "spec", field, NULL);

    for (uint32_t i = 0; l && l->kind == TREE_LIST && i < l->n; i++)
        if (!has_taint_like(node, &l->items[i]))
            tree_push(a, tree_sublist(a, tree_sub(a, node, "spec"), "taints"), *tree_copy(a, &l->items[i]));
}

static void sync_map(struct arena *a, struct tree *node, const struct tree *claim, const char *map)
{
    const struct tree *from = tree_at(claim, "metadata", map, NULL);

    for (uint32_t i = 0; from && from->kind == TREE_MAP && i < from->n; i++)
        *tree_put(a, tree_path(a, node, "metadata", map, NULL), arena_strdup(a, from->keys[i])) =
            *tree_copy(a, &from->items[i]);
}

static bool is_owned_by(const struct tree *node, const struct tree *claim)
{
    const struct tree *l = tree_at(node, "metadata", "ownerReferences", NULL);

    for (uint32_t i = 0; l && l->kind == TREE_LIST && i < l->n; i++) {
        const struct tree *o = &l->items[i];

        if (str_is(tree_str(tree_get(o, "apiVersion")), GROUP "/v1") &&
            str_is(tree_str(tree_get(o, "kind")), "NodeClaim") && str_eq(tree_str(tree_get(o, "uid")), obj_uid(claim)))
            return true;
    }
    return false;
}

static void sync_owner(struct arena *a, struct tree *node, const struct tree *claim)
{
    struct tree *o = tree_new_map(a);

    if (is_owned_by(node, claim))
        return;
    tree_set_str(a, o, "apiVersion", STR(GROUP "/v1"));
    tree_set_bool(a, o, "blockOwnerDeletion", true);
    tree_set_str(a, o, "kind", STR("NodeClaim"));
    tree_set_str(a, o, "name", arena_strdup(a, obj_name(claim)));
    tree_set_str(a, o, "uid", arena_strdup(a, obj_uid(claim)));
    tree_push(a, tree_sublist(a, tree_sub(a, node, "metadata"), "ownerReferences"), *o);
}

void node_sync(struct arena *a, struct tree *node, const struct tree *claim)
{
    obj_add_finalizer(a, node, TERMINATION_FINALIZER);
    sync_owner(a, node, claim);
    if (!str_is(obj_label(node, NO_TAINT_SYNC_LABEL), "true")) {
        sync_taints(a, node, claim, "taints");
        sync_taints(a, node, claim, "startupTaints");
    }
    sync_map(a, node, claim, "annotations");
    sync_map(a, node, claim, "labels");
}

bool node_has_taint(const struct tree *node, str key, str effect)
{
    const struct tree *l = tree_at(node, "spec", "taints", NULL);

    for (uint32_t i = 0; l && l->kind == TREE_LIST && i < l->n; i++)
        if (taint_tree_is(&l->items[i], key, effect))
            return true;
    return false;
}

void node_set_registered(struct arena *a, struct tree *node)
{
    struct tree *spec = tree_find(node, STR("spec"));
    struct tree *l = spec ? tree_find(spec, STR("taints")) : NULL;

    for (uint32_t i = l && l->kind == TREE_LIST ? l->n : 0; i-- > 0;)
        if (taint_tree_is(&l->items[i], STR(UNREGISTERED_TAINT), STR("NoExecute")))
            tree_remove(l, i);
    if (l && l->kind == TREE_LIST && l->n == 0)
        tree_drop(spec, STR("taints")); /* the patch says null */
    obj_set_label(a, node, STR(REGISTERED_LABEL), STR("true"));
}

/* ---- the step ---- */

static void warn_taint_missing(struct visit *p)
{
    str uid = obj_uid(p->d.obj);
    struct err e;

    (void)err_set(&e, ERR_INVALID, "missing taint " UNREGISTERED_TAINT);
    log_error(p->log, "node claim registration error", &e, LOG_STR("taint", STR(UNREGISTERED_TAINT)));
    recorder_publish(
        p->c->recorder,
        &(struct event){
            .object = claim_event_object(p->d.obj),
            .warning = true,
            .reason = "UnregisteredTaintMissing",
            .message = STR("Missing karpenter.sh/unregistered taint which prevents registration related race "
                           "conditions on Karpenter-managed nodes"),
            .dedupe = &uid,
            .n_dedupe = 1,
        });
}

/* Asks the provider. Its label goes to the claim. */
static struct cloud_hook ask_provider(struct visit *p)
{
    const struct cloud *cloud = p->c->cloud;
    struct arena *a = p->r->arena;
    struct cloud_hook ret = {0};
    const struct nodeclaim *c = cloud->hook ? store_claim(p->c->store, obj_name(p->d.obj)) : NULL;
    struct err e;

    if (!c)
        return ret;
    if (!cloud->hook(cloud->self, a, nodeclaim_dup(a, c), &ret, &e)) {
        (void)err_wrap(&e, "registration hook \"%s\" failed", cloud->hook_name);
        reconcile_fail(p->r, &e);
        return (struct cloud_hook){.pending = true};
    }
    if (ret.pending)
        visit_add(p, ret.after_ms ? result_after_ms(ret.after_ms) : result_requeue());
    else if (ret.label.key.n)
        obj_set_label(a, p->d.obj, arena_strdup(a, ret.label.key), arena_strdup(a, ret.label.val));
    return ret;
}

/* false: the run ends here, for now. */
static bool write_node(struct visit *p, struct draft *node)
{
    struct arena *a = p->r->arena;
    struct err e;
    struct cloud_hook hook = ask_provider(p);

    if (obj_label(node->obj, REGISTERED_LABEL).n == 0 &&
        !node_has_taint(node->obj, STR(UNREGISTERED_TAINT), STR("NoExecute")))
        warn_taint_missing(p);
    node_sync(a, node->obj, p->d.obj);
    if (!hook.pending)
        node_set_registered(a, node->obj);
    if (draft_patch(node, DRAFT_LOCKED, &e)) {
        if (hook.pending) {
            struct cond_object conds = draft_conds(&p->d);

            conds_unknown(&conds, "Registered", STR("RegistrationHookPending"), str_c(p->c->cloud->hook_name));
        }
        return !hook.pending;
    }
    if (e.kind == ERR_CONFLICT) {
        visit_add(p, result_requeue());
        return false;
    }
    err_lead(&e, "syncing node");
    reconcile_fail(p->r, &e);
    return false;
}

static void report_health(struct visit *p)
{
    struct err e;

    if (pool_health_report(p->s, p->r->arena, p->d.obj, /* failed= */ false, &e) || e.kind == ERR_NOT_FOUND)
        return;
    if (e.kind == ERR_CONFLICT)
        visit_add(p, result_requeue());
    else
        reconcile_fail(p->r, &e);
}

static void resume(struct visit *p)
{
    struct control *c = p->c;
    const struct nodeclaim *claim = store_claim(c->store, obj_name(p->d.obj));

    if (c->cloud->resume && claim && claim->provider_id.n)
        c->cloud->resume(c->cloud->self, c->syms, claim, store_class(c->store, &claim->class_ref));
}

void register_run(struct visit *p)
{
    struct cond_object conds = draft_conds(&p->d);
    struct draft node;
    bool several;

    if (!cond_is_unknown(p->d.obj, "Registered")) {
        conds_refresh(&conds, "Registered");
        return;
    }
    str name = claim_node_name(p->s, tree_str(tree_at(p->d.obj, "status", "providerID", NULL)), &several);
    if (several) {
        conds_false(&conds, "Registered", STR("MultipleNodesFound"), STR("Invariant violated, matched multiple nodes"));
        return;
    }
    if (name.n == 0 || !draft_open(&node, p->c, p->r->arena, OBJ_NODE, name)) {
        conds_unknown(&conds, "Registered", STR("NodeNotFound"), STR("Node not registered with cluster"));
        resume(p);
        return;
    }
    if (!write_node(p, &node))
        return;
    name = obj_name(node.obj); /* the store's copy may be another one by now */
    conds = draft_conds(&p->d);
    conds_true(&conds, "Registered");
    tree_set_str(p->r->arena, tree_sub(p->r->arena, p->d.obj, "status"), "nodeName", name);
    log_info(p->log, "registered nodeclaim", LOG_OBJ("Node", STR(""), name));
    metric_inc(p->c->metrics->nodes_created_total, 1,
               METRIC_VALS(obj_label(p->d.obj, POOL_LABEL), obj_label(p->d.obj, ZONE_LABEL)));
    report_health(p);
}
