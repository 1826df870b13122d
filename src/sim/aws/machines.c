/* machines - pending, running, shutting-down, terminated, forgotten: what happens to a machine, who is told, what it costs. */
#include <math.h>

#include "sim/aws/account.h"

const char *machine_state_name(enum machine_state st)
{
    static const char *const names[] = {"pending", "running", "shutting-down", "terminated"};

    return names[st];
}

int machine_state_code(enum machine_state st)
{
    static const int codes[] = {0, 16, 32, 48};

    return codes[st];
}

struct machine *machine_find(const struct sim_aws *s, str id)
{
    struct machine *m = HTAB_THING(htab_get(&s->machines, id), struct machine, by_id);

    return m && m->visible_ms <= account_mono_ms(s) ? m : NULL;
}

double machine_price(const struct machine *m)
{
    double usd = !m->pool ? 0 : m->spot ? m->pool->spot : m->pool->on_demand;

    return isnan(usd) ? 0 : usd;
}

void machine_settle(struct machine *m)
{
    int64_t now = account_now_ms(m->s);

    if (m->state == RUNNING && now > m->settled_ms) {
        double hours = (double)(now - m->settled_ms) / 3.6e6;

        m->hours += hours;
        m->usd += hours * machine_price(m);
    }
    m->settled_ms = now;
}

static void set_state(struct machine *m, enum machine_state st)
{
    struct tree *state = tree_sub(m->a, m->doc, "State"), *detail;
    AUTO(arena) struct arena *tmp = arena_new(0);

    machine_settle(m);
    m->state = st;
    tree_set_str(m->a, state, "Name", str_c(machine_state_name(st)));
    tree_set_i64(m->a, state, "Code", machine_state_code(st));
    detail = tree_new_map(tmp);
    tree_set_str(tmp, detail, "instance-id", m->m.id);
    tree_set_str(tmp, detail, "state", str_c(machine_state_name(st)));
    event_emit(m->s, "aws.ec2", "EC2 Instance State-change Notification",
               account_arn(m->s, tmp, "ec2", "instance/", m->m.id), detail);
}

/* What it held is free again. A pool that took its machine back keeps it. */
static void give_back(struct machine *m)
{
    if (m->has_ip)
        htab_del(&m->s->ips, &m->by_ip);
    m->has_ip = false;
    if (m->s->o.loose)
        return;
    if (m->subnet)
        live_number_set(&m->subnet->free, m->subnet->free.v + 1);
    if (m->reservation)
        live_number_set(&m->reservation->available, m->reservation->available.v + 1);
    else if (m->pool && m->pool->more[m->spot] >= 0 && m->reclaim_ms == 0)
        m->pool->more[m->spot]++;
}

static void forget(struct machine *m)
{
    struct sim_aws *s = m->s;
    struct fleet *f = m->fleet;

    s->past_hours += m->hours;
    s->past_usd += m->usd;
    htab_del(&s->machines, &m->by_id);
    for (uint32_t i = 0; i < s->machine_list.n; i++)
        if (s->machine_list.v[i] == m) {
            memmove(&s->machine_list.v[i], &s->machine_list.v[i + 1],
                    (s->machine_list.n - i - 1) * sizeof(s->machine_list.v[0]));
            s->machine_list.n--;
            break;
        }
    arena_free(m->a);
    if (!f || --f->n_machines > 0)
        return;
    for (uint32_t i = 0; i < s->fleets.n; i++)
        if (s->fleets.v[i] == f) {
            memmove(&s->fleets.v[i], &s->fleets.v[i + 1], (s->fleets.n - i - 1) * sizeof(s->fleets.v[0]));
            s->fleets.n--;
            break;
        }
    fleet_free(f);
}

/* The next step of its life. */
static void live_on(void *ctx)
{
    struct machine *m = ctx;
    struct sim_aws *s = m->s;

    switch (m->state) {
    case PENDING:
        set_state(m, RUNNING);
        m->ran = true;
        if (s->o.on_running)
            s->o.on_running(s->o.ctx, &m->m);
        break;
    case SHUTTING_DOWN:
        set_state(m, TERMINATED);
        give_back(m);
        s->ended++;
        timer_set(s->w, &m->life, AWS_FORGET_MS * 1000);
        if (m->ran && s->o.on_gone)
            s->o.on_gone(s->o.ctx, &m->m);
        break;
    case TERMINATED:
        forget(m);
        break;
    case RUNNING:
        break;
    }
}

void machine_end(struct machine *m, const char *reason)
{
    if (m->state == SHUTTING_DOWN || m->state == TERMINATED)
        return;
    timer_stop(m->s->w, &m->reclaim);
    tree_set_str(m->a, m->doc, "StateTransitionReason", str_c(reason));
    set_state(m, SHUTTING_DOWN);
    timer_set(m->s->w, &m->life, m->s->o.stop_ms * 1000);
}

static void reclaimed(void *ctx)
{
    machine_end(ctx, "Server.SpotInstanceTermination");
}

void machine_add(struct machine *m)
{
    struct sim_aws *s = m->s;

    m->by_id.key = m->m.id;
    htab_put(&s->machines, &m->by_id);
    vec_push(&s->machine_list, m);
    s->launched++;
    m->life = (struct timer){.fn = live_on, .ctx = m};
    m->reclaim = (struct timer){.fn = reclaimed, .ctx = m};
    m->settled_ms = account_now_ms(s);
    set_state(m, PENDING);
    timer_set(s->w, &m->life, s->o.boot_ms * 1000);
}

void machines_fini(struct sim_aws *s)
{
    for (uint32_t i = 0; i < s->machine_list.n; i++) {
        timer_stop(s->w, &s->machine_list.v[i]->life);
        timer_stop(s->w, &s->machine_list.v[i]->reclaim);
        arena_free(s->machine_list.v[i]->a);
    }
    for (uint32_t i = 0; i < s->fleets.n; i++)
        fleet_free(s->fleets.v[i]);
    vec_fini(&s->machine_list);
    vec_fini(&s->fleets);
    htab_fini(&s->machines);
    htab_fini(&s->ips);
}

/* ---- what fate and operators do ---- */

static struct machine *machine_there(struct sim_aws *s, str id)
{
    struct machine *m = HTAB_THING(htab_get(&s->machines, id), struct machine, by_id);

    return m && (m->state == PENDING || m->state == RUNNING) ? m : NULL;
}

/* What AWS Health says about a machine that has to go. */
static void health_event(struct sim_aws *s, struct arena *a, const struct machine *m)
{
    struct tree *d = tree_new_map(a);
    struct tree *entity = tree_push(a, tree_sublist(a, d, "affectedEntities"), *tree_new_map(a));

    tree_set_str(a, entity, "entityValue", m->m.id);
    tree_set_str(a, d, "eventArn",
                 account_arn(s, a, "health", "event/EC2/AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED/", m->m.id));
    tree_set_str(a, d, "service", STR("EC2"));
    tree_set_str(a, d, "eventTypeCode", STR("AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED"));
    tree_set_str(a, d, "eventTypeCategory", STR("scheduledChange"));
    tree_set_str(a, d, "startTime", account_time(a, account_now_ms(s)));
    event_emit(s, "aws.health", "AWS Health Event", account_arn(s, a, "ec2", "instance/", m->m.id), d);
}

bool sim_aws_notify(struct sim_aws *s, str instance, enum sim_aws_notice n)
{
    static const char *const types[] = {
        [SIM_AWS_SPOT_WARNING] = "EC2 Spot Instance Interruption Warning",
        [SIM_AWS_RESERVATION_WARNING] = "EC2 Capacity Reservation Instance Interruption Warning",
        [SIM_AWS_REBALANCE] = "EC2 Instance Rebalance Recommendation",
    };
    struct machine *m = machine_there(s, instance);
    AUTO(arena) struct arena *a = arena_new(0);
    int64_t now = account_now_ms(s);

    if (!m)
        return false;
    if (n == SIM_AWS_SCHEDULED_CHANGE) {
        health_event(s, a, m);
        return sim_aws_schedule(s, instance, "instance-retirement", "active");
    }
    struct tree *d = tree_new_map(a);

    tree_set_str(a, d, "instance-id", m->m.id);
    if (n == SIM_AWS_REBALANCE) {
        m->rebalance_ms = now;
    } else {
        tree_set_str(a, d, "instance-action", STR("terminate"));
        m->reclaim_ms = now + AWS_WARNING_MS;
        timer_set(s->w, &m->reclaim, AWS_WARNING_MS * 1000);
    }
    event_emit(s, "aws.ec2", types[n], account_arn(s, a, "ec2", "instance/", m->m.id), d);
    return true;
}

bool sim_aws_schedule(struct sim_aws *s, str instance, const char *code, const char *state)
{
    struct machine *m = machine_there(s, instance);

    if (!m)
        return false;
    m->event.from_ms = account_now_ms(s);
    m->event.code = code;
    m->event.state = state;
    return true;
}

str machine_event_id(struct arena *a, const struct machine *m)
{
    return arena_printf(a, "instance-event-" STR_FMT, STR_ARG(str_sub(m->m.id, 2, m->m.id.n)));
}

bool sim_aws_set_target_state(struct sim_aws *s, str instance, str state)
{
    struct machine *m = machine_there(s, instance);

    if (m)
        m->target_state = arena_strdup(m->a, state);
    return m != NULL;
}

bool sim_aws_interrupt(struct sim_aws *s, str instance)
{
    const struct machine *m = machine_there(s, instance);

    return m && m->spot && sim_aws_notify(s, instance, SIM_AWS_SPOT_WARNING);
}

bool sim_aws_crash(struct sim_aws *s, str instance)
{
    struct machine *m = machine_there(s, instance);

    if (m)
        machine_end(m, "Server.InternalError");
    return m != NULL;
}

bool sim_aws_impair(struct sim_aws *s, str instance, enum sim_aws_check c, bool impaired)
{
    struct machine *m = machine_there(s, instance);

    if (m)
        m->impaired_ms[c] = impaired ? account_now_ms(s) : 0;
    return m != NULL;
}

bool sim_aws_unreserve(struct sim_aws *s, str instance)
{
    struct machine *m = machine_there(s, instance);

    if (m)
        reservation_leave(m);
    return m != NULL;
}

const struct sim_machine *sim_aws_machine(struct sim_aws *s, str id)
{
    const struct machine *m = machine_there(s, id);

    return m ? &m->m : NULL;
}
