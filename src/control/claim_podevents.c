/* nodeclaim.podevents: when pods last came to the claim's Node or left it, which is what consolidateAfter counts from (lifecycle 4.3).
 *
 * The queue holds names of Nodes: of a thousand pods that come at once one word remains. Every pod that is there when the program starts counts as having come,
 * as upstream (quirk, lifecycle 4.3). */
#include "control/claim_int.h"
#include "data/edit.h"
#include "model/duration.h"

#define EVENT_WINDOW_MS 10000

static bool is_finished(const struct pod *p)
{
    return p->phase == PHASE_SUCCEEDED || p->phase == PHASE_FAILED;
}

/* Whether the event says that a pod has come to its node, or is on its way out. */
bool podevent_counts(const struct pod *was, const struct pod *is)
{
    if (!is || !sym_some(is->node) || is->owner == OWNER_DAEMONSET)
        return false;
    /* quirk: a pod without grace has gone before anybody can look, so that its going does not count */
    return !was || !sym_some(was->node) || (!is_finished(was) && is_finished(is)) ||
           (!was->terminating && is->terminating && is->grace_s != 0);
}

/* The last one is long enough ago for another to be written down. Far ahead it is when the clock was set back. */
static bool is_due(int64_t last_ms, int64_t now_ms)
{
    int64_t since_ms = sat_sub(now_ms, last_ms);

    return last_ms == INT64_MIN || since_ms >= EVENT_WINDOW_MS || since_ms <= -EVENT_WINDOW_MS;
}

/* Says whether the claim changed. */
bool podevent_decide(struct arena *a, struct tree *claim, int64_t last_ms, int64_t now_ms)
{
    struct sb b = {0};

    if (!is_due(last_ms, now_ms))
        return false;
    time_print_rfc3339(&b, now_ms);
    tree_set_str(a, tree_sub(a, claim, "status"), "lastPodEventTime", sb_dup(&b, a));
    sb_fini(&b);
    return true;
}

static struct result reconcile(struct reconcile *r)
{
    struct claims *s = r->ctx;
    struct store *store = s->c->store;
    const struct node *node = store_node(store, r->name);
    struct draft d;
    struct err e;

    struct names n = node ? store_claims_by_id(store, node->provider_id) : (struct names){0};
    if (n.n != 1)
        return RESULT_OK;
    const struct nodeclaim *c = store_claim(store, n.v[0]);
    int64_t now_ms = world_now_ms(s->c->world);
    if (!claim_meta(s, n.v[0]) || !c || !is_due(c->last_pod_event_ms, now_ms) ||
        !draft_open(&d, s->c, r->arena, OBJ_NODECLAIM, n.v[0]))
        return RESULT_OK;
    (void)podevent_decide(r->arena, d.obj, c->last_pod_event_ms, now_ms);
    return draft_patch(&d, DRAFT_STATUS, &e) ? RESULT_OK : write_failed(r, &e);
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct claims *s = ctx;
    const struct pod *is = ev->is;

    if (ev->kind == OBJ_POD && podevent_counts(ev->was, is))
        queue_add(s->podevents, STR(""), sym_str(s->c->syms, is->node));
}

void claim_podevents_register(struct claims *s)
{
    s->podevents = manager_add(s->c->manager, &(struct controller_spec){
                                                  .name = "nodeclaim.podevents",
                                                  .group = "",
                                                  .kind = "Node",
                                                  .workers = 1,
                                                  .limit = limiter_default,
                                                  .fn = reconcile,
                                                  .ctx = s,
                                              });
    store_subscribe(s->c->store, hear, s);
}
