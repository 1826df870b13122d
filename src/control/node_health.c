/* node.health: a Node that has been broken for longer than its provider puts up with is replaced (lifecycle 7).
 *
 * It goes at once, whatever budgets and annotations say: its claim gets a deadline that has come. When too many are broken the fault lies elsewhere, and nothing is done. */
#include "control/node_int.h"
#include "data/json_own.h"
#include "model/duration.h"

enum {
    BREAKER_PERCENT = 20,
    BREAKER_RETRY_MS = 5 * 60 * 1000,
    BREAKER_EVENT_MS = 15 * 60 * 1000,
};

/* One look at one Node. */
struct checkup {
    struct control *c;
    struct reconcile *r;
    struct log *log;
    struct draft node, claim;
    const struct repair_policy *policy; /* the first that is due, or will be */
    int64_t due_ms;
};

static bool matches(const struct tree *node, const struct repair_policy *p, int64_t *ret_since_ms)
{
    struct cond c = cond_get(node, p->condition);

    *ret_since_ms = c.since_ms;
    return c.present && str_is(c.status, p->status);
}

static bool find_policy(struct checkup *k)
{
    const struct cloud *cloud = k->c->cloud;
    int64_t since;

    for (uint32_t i = 0; i < cloud->n_repairs; i++) {
        const struct repair_policy *p = &cloud->repairs[i];

        if (!matches(k->node.obj, p, &since))
            continue;
        int64_t due = sat_add(since == INT64_MIN ? 0 : since, p->toleration_ms);
        if (!k->policy || due < k->due_ms) {
            k->policy = p;
            k->due_ms = due;
        }
    }
    return k->policy != NULL;
}

static bool is_broken(const struct cloud *cloud, const struct tree *node)
{
    int64_t since;

    for (uint32_t i = 0; i < cloud->n_repairs; i++)
        if (matches(node, &cloud->repairs[i], &since))
            return true;
    return false;
}

/* Of the pool's Nodes, or of all when the pool is empty: more than a fifth is broken, rounded up. */
static bool too_many_broken(const struct control *c, str pool)
{
    struct names all = store_names(c->store, OBJ_NODE);
    AUTO(arena) struct arena *tmp = arena_new(0);
    uint32_t n = 0, broken = 0;

    for (uint32_t i = 0; i < all.n; i++) {
        const struct tree *node = json_read_own(tmp, store_kept(c->store, OBJ_NODE, all.v[i])->text);

        if (!pool.n || str_eq(obj_label(node, POOL_LABEL), pool)) {
            n++;
            broken += is_broken(c->cloud, node);
        }
        arena_reset(tmp);
    }
    return broken > (n * BREAKER_PERCENT + 99) / 100;
}

/* quirk: all of them are about the Node, and only differ in what they are told apart by. */
static void tell_blocked(struct checkup *k, str pool)
{
    const struct kept *p = pool.n ? store_kept(k->c->store, OBJ_NODEPOOL, pool) : NULL;
    str uids[] = {obj_uid(k->node.obj), obj_uid(k->claim.obj), p ? p->uid : (str){0}};

    if (pool.n && !p)
        return;
    for (size_t i = 0; i < (p ? 3 : 2); i++)
        recorder_publish(k->c->recorder,
                         &(struct event){.object = node_event_object(k->node.obj),
                                         .warning = true,
                                         .reason = "NodeRepairBlocked",
                                         .message = p ? STR("more than 20% nodes are unhealthy in the nodepool")
                                                      : STR("more then 20% nodes are unhealthy in the cluster"),
                                         .dedupe = &uids[i],
                                         .n_dedupe = 1,
                                         .dedupe_ms = BREAKER_EVENT_MS});
}

/* The time by which its pods have to be gone is now, unless it was earlier. */
static bool set_deadline(struct checkup *k, struct result *ret)
{
    struct arena *a = k->r->arena;
    str there = obj_annotation(k->claim.obj, TERMINATION_TIME_ANNOTATION);
    int64_t now = world_now_ms(k->c->world), at;
    struct sb b = {0};
    struct err e;

    if (there.n && time_parse_rfc3339(there, &at, &e) && at < now)
        return true;
    time_print_rfc3339(&b, now);
    str text = sb_dup(&b, a);
    sb_fini(&b);
    obj_set_annotation(a, k->claim.obj, STR(TERMINATION_TIME_ANNOTATION), text);
    if (!draft_patch(&k->claim, DRAFT_PLAIN, &e)) {
        *ret = write_failed(k->r, &e);
        return false;
    }
    log_info(k->log, "annotated nodeclaim", LOG_STR(TERMINATION_TIME_ANNOTATION, text));
    return true;
}

/* "BadNode" -> "bad_node" (lifecycle 1.5) */
static str snake_case(struct arena *a, const char *s)
{
    struct sb b = {0};

    for (const char *p = s; *p; p++) {
        bool upper = *p >= 'A' && *p <= 'Z', after = p > s && (p[-1] < 'A' || p[-1] > 'Z');

        if (upper && p > s && (after || (p[1] >= 'a' && p[1] <= 'z')))
            sb_char(&b, '_');
        sb_char(&b, upper ? (char)(*p - 'A' + 'a') : *p);
    }
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static struct result replace(struct checkup *k)
{
    struct arena *a = k->r->arena;
    struct control_metrics *m = k->c->metrics;
    str pool = obj_label(k->node.obj, POOL_LABEL), capacity = obj_label(k->node.obj, CAPACITY_LABEL);
    struct result ret;
    struct err e;

    if (!set_deadline(k, &ret))
        return ret;
    if (obj_is_deleting(k->claim.obj))
        return RESULT_OK;
    if (!write_delete(k->c, a, OBJ_NODECLAIM, obj_name(k->claim.obj), &e))
        return e.kind == ERR_NOT_FOUND ? RESULT_OK : node_error(k->r, &e, "deleting nodeclaim");
    log_info(k->log, "deleting unhealthy node");
    metric_inc(m->nodeclaims_disrupted_total, 1, METRIC_VALS(STR("unhealthy"), pool, capacity));
    metric_inc(m->nodeclaims_unhealthy_disrupted_total, 1,
               METRIC_VALS(snake_case(a, k->policy->condition), pool, capacity,
                           tree_str(tree_at(k->claim.obj, "status", "imageID", NULL))));
    return RESULT_OK;
}

static struct result check(struct reconcile *r)
{
    struct nodes *s = r->ctx;
    const struct kept *kept = store_kept(s->c->store, OBJ_NODE, r->name);
    struct checkup k = {.c = s->c, .r = r};
    int64_t now = world_now_ms(s->c->world);

    if (!kept || !kept->managed || !draft_open(&k.node, s->c, r->arena, OBJ_NODE, r->name) || !find_policy(&k) ||
        !node_claim_open(s->c, r->arena, k.node.obj, &k.claim))
        return RESULT_OK;
    k.log = log_with(r->arena, r->log, LOG_FIELDS(LOG_OBJ("NodeClaim", STR(""), obj_name(k.claim.obj))));
    if (now < k.due_ms)
        return result_after_ms(k.due_ms - now);
    str pool = obj_label(k.claim.obj, POOL_LABEL);
    if (too_many_broken(s->c, pool)) {
        tell_blocked(&k, pool);
        return result_after_ms(BREAKER_RETRY_MS);
    }
    return replace(&k);
}

void health_register(struct nodes *s)
{
    s->health = manager_add(s->c->manager,
                            &(struct controller_spec){.name = "node.health",
                                                      .group = "",
                                                      .kind = "Node",
                                                      .workers = workers_linear(10, 1000, s->c->options->cpu_milli),
                                                      .limit = limiter_reasonable,
                                                      .fn = check,
                                                      .ctx = s});
}
