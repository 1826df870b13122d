/* Liveness: a claim that does not get anywhere is given up (lifecycle 3.5). */
#include "control/claim_int.h"
#include "model/duration.h"

#define LAUNCH_TIMEOUT_MS (5 * MINUTE_MS)
#define REGISTRATION_TIMEOUT_MS (15 * MINUTE_MS)

enum liveness liveness_decide(const struct tree *claim, int64_t launch_timeout_ms, bool after_launch, int64_t now_ms,
                              int64_t *ret_left_ms)
{
    if (cond_is_true(claim, "Registered"))
        return LIVE_WELL;
    if (!after_launch && !cond_is_true(claim, "Launched")) {
        *ret_left_ms = launch_timeout_ms - sat_sub(now_ms, cond_get(claim, "Launched").since_ms);
        return *ret_left_ms > 0 ? LIVE_WAIT : LIVE_NOT_LAUNCHED;
    }
    *ret_left_ms = REGISTRATION_TIMEOUT_MS - sat_sub(now_ms, cond_get(claim, "Registered").since_ms);
    return *ret_left_ms > 0 ? LIVE_WAIT : LIVE_NOT_REGISTERED;
}

/* Says what becomes of the run: false ends it. */
static bool give_up(struct visit *p, const char *reason, int64_t timeout_ms)
{
    struct sb b = {0};
    struct err e;

    if (!pool_health_report(p->s, p->r->arena, p->d.obj, /* failed= */ true, &e) && e.kind != ERR_NOT_FOUND) {
        if (e.kind == ERR_CONFLICT)
            visit_add(p, result_requeue());
        else
            reconcile_fail(p->r, &e);
        return false;
    }
    duration_print(&b, timeout_ms * 1000000);
    log_debug(p->log, "terminating due to timeout", LOG_STR("timeout", sb_view(&b)), LOG_STR("reason", str_c(reason)));
    sb_fini(&b);
    if (visit_delete(p, reason, &e))
        return true;
    if (e.kind != ERR_NOT_FOUND)
        reconcile_fail(p->r, &e);
    return false;
}

void liveness_run(struct visit *p)
{
    int64_t now_ms = world_now_ms(p->c->world), left_ms = 0;
    int64_t launch_ms = p->c->cloud->launch_timeout_ms ? p->c->cloud->launch_timeout_ms : LAUNCH_TIMEOUT_MS;
    enum liveness l = liveness_decide(p->d.obj, launch_ms, /* after_launch= */ false, now_ms, &left_ms);

    if (l == LIVE_NOT_LAUNCHED) {
        if (!give_up(p, "launch_timeout", launch_ms))
            return;
        /* quirk: the registration is looked at as well; when it is overdue too, all is done and counted twice (lifecycle 3.5) */
        l = liveness_decide(p->d.obj, launch_ms, /* after_launch= */ true, now_ms, &left_ms);
    }
    if (l == LIVE_WAIT)
        visit_add(p, result_after_ms(left_ms));
    if (l == LIVE_NOT_REGISTERED)
        (void)give_up(p, "registration_timeout", REGISTRATION_TIMEOUT_MS);
}
