/* What a claim gets to hear when its machine is, or will be, taken away (aws 7.3.2). */
#include "base/sb.h"
#include "control/aws/machines_int.h"
#include "control/node_int.h"
#include "model/duration.h"

enum deed { DEED_NONE, DEED_DELETE, DEED_FORCE /* with a deadline that has come */ };

static const struct {
    enum deed deed;
    bool warning;
    const char *reason, *message;
} deeds[INTERRUPTION_KINDS] = {
    [INTERRUPTION_SPOT] = {DEED_DELETE, true, "SpotInterrupted", "Spot interruption warning was triggered"},
    [INTERRUPTION_REBALANCE] = {DEED_NONE, false, "SpotRebalanceRecommendation",
                                "Spot rebalance recommendation was triggered"},
    [INTERRUPTION_STOPPED] = {DEED_DELETE, true, "InstanceStopping", "Instance is stopping"},
    [INTERRUPTION_TERMINATED] = {DEED_DELETE, true, "InstanceTerminating", "Instance is terminating"},
    [INTERRUPTION_SCHEDULED_CHANGE] = {DEED_DELETE, true, "InstanceUnhealthy",
                                       "An unhealthy warning was triggered for the instance"},
    [INTERRUPTION_RESERVATION] = {DEED_DELETE, true, "CapacityReservationInstanceInterrupted",
                                  "Capacity Reservation interruption warning was triggered"},
    [INTERRUPTION_INSTANCE_STATUS] = {DEED_FORCE, true, "InstanceUnhealthy",
                                      "An unhealthy warning was triggered for the instance"},
    [INTERRUPTION_SYSTEM_STATUS] = {DEED_FORCE, true, "InstanceUnhealthy",
                                    "An unhealthy warning was triggered for the instance"},
    [INTERRUPTION_EVENT_STATUS] = {DEED_DELETE, true, "InstanceUnhealthy",
                                   "An unhealthy warning was triggered for the instance"},
};

/* One claim of one machine. */
struct blow {
    struct aws_machines *s;
    struct reconcile *r;
    enum interruption_kind kind;
    str instance_id;
    struct draft claim, node;
    bool has_node;
};

static void publish(const struct blow *b, bool warning, const char *reason, const char *of_claim, const char *of_node)
{
    machine_event(b->s, claim_event_object(b->claim.obj), warning, reason, of_claim, STR(""));
    if (b->has_node)
        machine_event(b->s, node_event_object(b->node.obj), warning, reason, of_node, STR(""));
}

static void mark(const struct blow *b)
{
    const struct aws_provider *p = &b->s->o.provider;
    str type = obj_label(b->claim.obj, ITYPE_LABEL), zone = obj_label(b->claim.obj, ZONE_LABEL);
    str reservation = obj_label(b->claim.obj, RESERVATION_LABEL);

    if (b->kind == INTERRUPTION_SPOT && type.n && zone.n)
        p->mark_unavailable(p->p, STR("spot"), type, zone);
    if (b->kind == INTERRUPTION_RESERVATION && reservation.n)
        p->mark_reservation(p->p, reservation);
}

/* Its pods have no time left, unless somebody has said how much they have. */
static bool set_deadline(struct blow *b, struct err *e)
{
    struct sb text = {0};

    if (obj_annotation(b->claim.obj, TERMINATION_TIME_ANNOTATION).n)
        return true;
    time_print_rfc3339(&text, world_now_ms(b->s->c->world));
    obj_set_annotation(b->r->arena, b->claim.obj, STR(TERMINATION_TIME_ANNOTATION), sb_dup(&text, b->r->arena));
    sb_fini(&text);
    return draft_patch(&b->claim, DRAFT_PLAIN, e) || e->kind == ERR_NOT_FOUND;
}

static bool delete_claim(struct blow *b, struct err *e)
{
    const struct control_metrics *m = b->s->c->metrics;
    const struct tree *claim = b->claim.obj;

    if (obj_is_deleting(claim))
        return true;
    if (!write_delete(b->s->c, b->r->arena, OBJ_NODECLAIM, obj_name(claim), e))
        return e->kind == ERR_NOT_FOUND || err_wrap(e, "deleting nodeclaim on interruption message");
    log_info(machine_log(b->r->arena, b->r->log, claim), "initiating delete from interruption message",
             LOG_STR("messageKind", str_c(interruption_kind_name(b->kind))),
             LOG_OBJ("NodeClaim", STR(""), obj_name(claim)));
    publish(b, true, "TerminatingOnInterruption", "Interruption triggered termination for the NodeClaim",
            "Interruption triggered termination for the Node");
    metric_inc(m->nodeclaims_disrupted_total, 1,
               METRIC_VALS(str_c(interruption_kind_name(b->kind)), obj_label(claim, POOL_LABEL),
                           obj_label(claim, CAPACITY_LABEL)));
    metric_inc(m->interruption_actions_performed, 1, NULL);
    return true;
}

static bool strike(struct blow *b, struct err *e)
{
    enum deed deed = deeds[b->kind].deed;

    log_warn(b->r->log, "interruption received", LOG_STR("node", b->instance_id),
             LOG_STR("action", deed == DEED_NONE ? STR("none") : STR("terminate")));
    publish(b, deeds[b->kind].warning, deeds[b->kind].reason, deeds[b->kind].message, deeds[b->kind].message);
    mark(b);
    if (deed == DEED_NONE)
        return true;
    return (deed != DEED_FORCE || set_deadline(b, e)) && delete_claim(b, e);
}

bool interruption_act(struct aws_machines *s, struct reconcile *r, enum interruption_kind kind, str instance_id,
                      bool *ret_any, struct err *e)
{
    str id = arena_strdup(r->arena, machine_provider_id(s, instance_id));
    struct names claims = machine_claims(s, r->arena, id), nodes = machine_nodes(s, r->arena, id);
    bool ok = true;

    *ret_any = claims.n != 0;
    for (uint32_t i = 0; i < claims.n && deeds[kind].reason; i++) {
        struct blow b = {.s = s, .r = r, .kind = kind, .instance_id = instance_id};
        struct err one;

        if (!draft_open(&b.claim, s->c, r->arena, OBJ_NODECLAIM, claims.v[i]))
            continue;
        b.has_node = nodes.n && draft_open(&b.node, s->c, r->arena, OBJ_NODE, nodes.v[0]);
        if (!strike(&b, &one)) {
            *e = one;
            ok = false;
        }
    }
    return ok;
}
