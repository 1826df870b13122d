#include "control/nodes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "control/node_int.h"
#include "data/edit.h"

#define FAILED_DRAINING "FailedDraining"

bool node_claim_open(struct control *c, struct arena *a, const struct tree *node, struct draft *ret)
{
    struct names claims = store_claims_by_id(c->store, tree_str(tree_at(node, "spec", "providerID", NULL)));

    return claims.n == 1 && draft_open(ret, c, a, OBJ_NODECLAIM, claims.v[0]);
}

bool node_is_tainted_disrupted(const struct tree *node)
{
    return node_has_taint(node, STR(NODE_DISRUPTED_TAINT), STR("NoSchedule"));
}

void node_taint_disrupted(struct arena *a, struct tree *node)
{
    struct tree *taints = tree_sublist(a, tree_sub(a, node, "spec"), "taints");

    if (node_is_tainted_disrupted(node))
        return;
    for (uint32_t i = taints->n; i-- > 0;)
        if (str_is(tree_str(tree_get(&taints->items[i], "key")), NODE_DISRUPTED_TAINT))
            tree_remove(taints, i);
    struct tree *taint = tree_new_map(a);
    tree_set_str(a, taint, "effect", STR("NoSchedule"));
    tree_set_str(a, taint, "key", STR(NODE_DISRUPTED_TAINT));
    tree_push(a, taints, *taint);
}

void node_untaint_disrupted(struct tree *node)
{
    struct tree *spec = tree_find(node, STR("spec")), *taints = spec ? tree_find(spec, STR("taints")) : NULL;

    for (uint32_t i = taints ? taints->n : 0; i-- > 0;)
        if (taint_tree_is(&taints->items[i], STR(NODE_DISRUPTED_TAINT), STR("NoSchedule")))
            tree_remove(taints, i);
    if (taints && taints->n == 0)
        tree_drop(spec, STR("taints")); /* the patch says null */
}

struct event_object node_event_object(const struct tree *node)
{
    return (struct event_object){.kind = &api_nodes, .name = obj_name(node), .uid = obj_uid(node)};
}

bool node_failed_draining(struct control *c, str node, const char *fmt, ...)
{
    const struct kept *k = store_kept(c->store, OBJ_NODE, node);
    char why[1024]; /* longer than two names and what is said of them */
    va_list ap;

    if (!k)
        return false;
    if (recorder_knows(c->recorder, FAILED_DRAINING, &k->name, 1))
        return true;
    va_start(ap, fmt);
    (void)vsnprintf(why, sizeof(why), fmt, ap);
    va_end(ap);
    AUTO(arena) struct arena *tmp = arena_new(512);
    recorder_publish(c->recorder, &(struct event){.object = {.kind = &api_nodes, .name = k->name, .uid = k->uid},
                                                  .warning = true,
                                                  .reason = FAILED_DRAINING,
                                                  .message = arena_printf(tmp, "Failed to drain node, %s", why),
                                                  .dedupe = &k->name,
                                                  .n_dedupe = 1});
    return true;
}

struct result node_error(struct reconcile *r, const struct err *e, const char *what)
{
    r->err = *e;
    err_lead(&r->err, what);
    return result_error();
}

static void on_event(void *ctx, const struct store_event *ev)
{
    struct nodes *s = ctx;

    if (ev->kind != OBJ_NODE || ev->change == STORE_GONE)
        return;
    if (ev->kept_is->deleted_ms != INT64_MIN)
        queue_add(s->termination, (str){0}, ev->name);
    if (s->health)
        queue_add(s->health, (str){0}, ev->name);
}

struct nodes *nodes_new(struct control *c)
{
    struct nodes *s = xcalloc(1, sizeof(*s));

    s->c = c;
    s->evictions = evictions_new(c);
    termination_register(s);
    if (c->options->gate_node_repair && c->cloud->n_repairs)
        health_register(s);
    store_subscribe(c->store, on_event, s);
    return s;
}

void nodes_free(struct nodes *s)
{
    if (!s)
        return;
    evictions_free(s->evictions);
    lru_fini(&s->waiting);
    free(s);
}
