/* interruption.instancestatus: machines that AWS finds unwell, or has plans with (aws 7.4). */
#include "control/aws/machines_int.h"

#define IMPAIRED_MS (120 * 1000ll) /* a check that fails for less does not count */

#define BIT(kind) (1u << (unsigned)(kind))

static bool has_failed(const struct ec2_check *v, uint32_t n, int64_t now_ms)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_is(v[i].status, "failed") && sat_sub(now_ms, v[i].since_ms) >= IMPAIRED_MS)
            return true;
    return false;
}

unsigned status_kinds(const struct ec2_status *s, int64_t now_ms)
{
    unsigned kinds = 0;

    if (has_failed(s->instance, s->n_instance, now_ms))
        kinds |= BIT(INTERRUPTION_INSTANCE_STATUS);
    if (has_failed(s->system, s->n_system, now_ms))
        kinds |= BIT(INTERRUPTION_SYSTEM_STATUS);
    if (s->n_events)
        kinds |= BIT(INTERRUPTION_EVENT_STATUS);
    return kinds; /* volumes that do not answer are nobody's business here */
}

/* Adds to what was found those that are not there yet: the first word about a machine counts. */
static bool ask(struct aws_machines *s, struct reconcile *r, const char *filter, const str *values, uint32_t n_values,
                struct unwell **found, uint32_t *n_found, struct err *e)
{
    const struct ec2_filter f = {filter, values, n_values};
    struct ec2_status *v;
    uint32_t n;

    if (!ec2_describe_status(s->o.aws, r->arena, &f, &v, &n, e))
        return err_wrap(e, "describing instance status");
    struct unwell *all = arena_new_array(r->arena, struct unwell, *n_found + n);
    uint32_t before = *n_found, k = before;
    if (before)
        memcpy(all, *found, before * sizeof(*all));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = 0;

        while (j < before && !str_eq(all[j].id, v[i].id))
            j++;
        if (j == before)
            all[k++] = (struct unwell){v[i].id, status_kinds(&v[i], world_now_ms(s->c->world))};
    }
    *found = all;
    *n_found = k;
    return true;
}

static bool ask_all(struct aws_machines *s, struct reconcile *r, struct unwell **found, uint32_t *n, struct err *e)
{
    const str impaired[] = {STR("impaired")};
    const str events[] = {STR("instance-reboot"), STR("system-reboot"), STR("system-maintenance"),
                          STR("instance-retirement"), STR("instance-stop")};

    return ask(s, r, "instance-status.status", impaired, 1, found, n, e) &&
           ask(s, r, "system-status.status", impaired, 1, found, n, e) &&
           ask(s, r, "event.code", events, ARRAY_LEN(events), found, n, e);
}

static unsigned was_unwell(const struct aws_machines *s, str id)
{
    for (uint32_t i = 0; i < s->unwell.n; i++)
        if (str_eq(s->unwell.v[i].id, id))
            return s->unwell.v[i].kinds;
    return 0;
}

/* *now: what has been counted of it, with what is counted here. */
static void act(struct aws_machines *s, struct reconcile *r, const struct unwell *u, unsigned *now)
{
    static const struct {
        enum interruption_kind kind;
        const char *category;
    } kinds[] = {
        {INTERRUPTION_INSTANCE_STATUS, "InstanceStatus"},
        {INTERRUPTION_SYSTEM_STATUS, "SystemStatus"},
        {INTERRUPTION_EVENT_STATUS, "EventStatus"},
    };
    unsigned counted = was_unwell(s, u->id);

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        bool any;
        struct err e;

        if (!(u->kinds & BIT(kinds[i].kind)))
            continue;
        if (!interruption_act(s, r, kinds[i].kind, u->id, &any, &e))
            reconcile_fail(r, &e);
        if (!any)
            continue;
        if (!(counted & BIT(kinds[i].kind)))
            metric_inc(s->c->metrics->interruption_instance_status_unhealthy_total, 1,
                       METRIC_VALS(str_c(kinds[i].category)));
        *now |= BIT(kinds[i].kind);
    }
}

static struct result reconcile(struct reconcile *r)
{
    struct aws_machines *s = r->ctx;
    struct unwell *found = NULL;
    uint32_t n = 0;

    if (!ask_all(s, r, &found, &n, &r->err)) {
        if (!str_is(str_c(r->err.code), "UnauthorizedOperation"))
            return result_error();
        log_error(r->log, "statuses of instances may not be read, not asking again", &r->err);
        r->err = (struct err){0};
        return RESULT_OK;
    }
    struct arena *keep = arena_new(0);
    VEC(struct unwell) next = {0};
    for (uint32_t i = 0; i < n; i++) {
        unsigned now = 0;

        act(s, r, &found[i], &now);
        if (now)
            vec_push(&next, (struct unwell){arena_strdup(keep, found[i].id), now});
    }
    arena_free(s->unwell_in);
    s->unwell_in = keep;
    s->unwell.n = 0;
    for (uint32_t i = 0; i < next.n; i++)
        vec_push(&s->unwell, next.v[i]);
    vec_fini(&next);
    return r->err.kind != ERR_NONE ? result_error() : result_after_ms(MINUTE_MS);
}

void instance_status_register(struct aws_machines *s)
{
    (void)machines_singleton(s, "interruption.instancestatus", reconcile);
}
