#include "handler/marks.h"

#include "control/write.h"
#include "data/edit.h"

#define EVENT_ID "aws-node-termination-handler/event-id"
#define ACTION "aws-node-termination-handler/action"
#define ACTION_TIME "aws-node-termination-handler/action-time"
#define UNCORDON_AFTER_REBOOT "UncordonAfterReboot"
#define NO_BALANCER "node.kubernetes.io/exclude-from-external-load-balancers"
#define NO_BALANCER_VALUE "aws-node-termination-handler" /* says that we have put it there */
#define OUT_OF_SERVICE "node.kubernetes.io/out-of-service"
#define OUT_OF_SERVICE_VALUE "nodeshutdown"

static bool is_cordoned(const struct tree *node)
{
    return tree_is_true(tree_at(node, "spec", "unschedulable", NULL));
}

bool marks_cordoned_by_others(const struct tree *node)
{
    return is_cordoned(node) && obj_label(node, ACTION).n == 0;
}

/* ---- taints ---- */

static bool has_taint(const struct tree *node, const char *key)
{
    const struct tree *taints = tree_at(node, "spec", "taints", NULL);

    for (uint32_t i = 0; taints && i < taints->n; i++)
        if (str_is(tree_str(tree_get(&taints->items[i], "key")), key))
            return true;
    return false;
}

static void put_taint(struct arena *a, struct tree *node, const char *key, str value, const char *effect)
{
    struct tree *taint;

    if (has_taint(node, key))
        return;
    taint = tree_push(a, tree_sublist(a, tree_sub(a, node, "spec"), "taints"), *tree_new_map(a));
    tree_set_str(a, taint, "key", str_c(key));
    tree_set_str(a, taint, "value", value);
    tree_set_str(a, taint, "effect", str_c(effect));
}

static bool is_ours(const struct tree *taint)
{
    str key = tree_str(tree_get(taint, "key"));

    for (int k = 0; k < NOTICE_KINDS; k++)
        if (str_is(key, notice_words[k].taint))
            return true;
    return str_is(key, OUT_OF_SERVICE) && str_is(tree_str(tree_get(taint, "value")), OUT_OF_SERVICE_VALUE);
}

/* ---- all of it ---- */

void marks_put(struct arena *a, struct tree *node, const struct handler_settings *s, const struct notice *n,
               int64_t now_ms)
{
    if (n->restarts) {
        obj_set_label(a, node, STR(EVENT_ID), n->id);
        if (!is_cordoned(node)) { /* otherwise somebody has a reason of his own to keep it cordoned */
            obj_set_label(a, node, STR(ACTION), STR(UNCORDON_AFTER_REBOOT));
            obj_set_label(a, node, STR(ACTION_TIME), arena_printf(a, "%lld", (long long)(now_ms / 1000)));
        }
    }
    if (s->taint_node)
        put_taint(a, node, notice_words[n->kind].taint, n->id, s->taint_effect);
    if (s->exclude_from_load_balancers && obj_label(node, NO_BALANCER).n == 0)
        obj_set_label(a, node, STR(NO_BALANCER), STR(NO_BALANCER_VALUE));
    tree_set_bool(a, tree_sub(a, node, "spec"), "unschedulable", true);
}

void marks_out_of_service(struct arena *a, struct tree *node)
{
    put_taint(a, node, OUT_OF_SERVICE, STR(OUT_OF_SERVICE_VALUE), "NoExecute");
}

void marks_take(struct tree *node, bool uncordon)
{
    static const char *const labels[] = {EVENT_ID, ACTION, ACTION_TIME};
    struct tree *meta = tree_find(node, STR("metadata")), *spec = tree_find(node, STR("spec"));
    struct tree *own = meta ? tree_find(meta, STR("labels")) : NULL;
    struct tree *taints = spec ? tree_find(spec, STR("taints")) : NULL;

    for (size_t i = 0; own && i < ARRAY_LEN(labels); i++)
        (void)tree_drop(own, str_c(labels[i]));
    if (own && str_is(obj_label(node, NO_BALANCER), NO_BALANCER_VALUE))
        (void)tree_drop(own, STR(NO_BALANCER));
    for (uint32_t i = taints && taints->kind == TREE_LIST ? taints->n : 0; i-- > 0;)
        if (is_ours(&taints->items[i]))
            tree_remove(taints, i);
    if (spec && uncordon)
        (void)tree_drop(spec, STR("unschedulable"));
}

/* ---- after a reboot ---- */

enum reboot marks_reboot(const struct tree *node, int64_t now_ms, int64_t uptime_s, str *ret_event)
{
    int64_t since_s;

    *ret_event = (str){0};
    if (!str_is(obj_label(node, ACTION), UNCORDON_AFTER_REBOOT) || obj_label(node, EVENT_ID).n == 0 ||
        !str_to_i64(obj_label(node, ACTION_TIME), &since_s) || since_s < 0 || since_s > now_ms / 1000)
        return REBOOT_NONE;
    *ret_event = obj_label(node, EVENT_ID);
    return now_ms / 1000 - since_s < uptime_s ? REBOOT_AWAITED : REBOOT_DONE;
}

bool uptime_parse(str text, int64_t *ret_s)
{
    str first, rest, whole;

    (void)str_cut(str_trim(text), ' ', &first, &rest);
    (void)str_cut(first, '.', &whole, &rest);
    return str_to_i64(whole, ret_s) && *ret_s >= 0;
}
