/* interruption: the queue with news of EventBridge (aws 7.3). A message is deleted when all that it asks for has been done; one that could not be handled comes again. */
#include "control/aws/machines_int.h"
#include "control/fan.h"

#include <stdlib.h>

#define WORKERS 10

struct handful { /* of messages */
    struct aws_machines *s;
    struct reconcile *r;
    const struct sqs_message *v;
    str url;
};

static bool find_queue(struct aws_machines *s, struct reconcile *r, struct err *e)
{
    str url;

    if (s->queue_url.n)
        return true;
    if (!sqs_queue_url(s->o.aws, r->arena, s->o.interruption_queue, &url, e))
        return err_wrap(e, "getting queue url");
    char *copy = xcalloc(1, url.n + 1);
    memcpy(copy, url.p, url.n);
    s->queue_url = (str){copy, url.n};
    return true;
}

static bool delete_message(const struct handful *h, const struct sqs_message *m, struct err *e)
{
    if (!sqs_delete(h->s->o.aws, h->r->arena, h->url, m->receipt, e))
        return err_wrap(e, "deleting message from queue");
    metric_inc(h->s->c->metrics->interruption_deleted_messages_total, 1, NULL);
    return true;
}

static bool handle(const struct handful *h, const struct sqs_message *m, struct err *e)
{
    const struct control_metrics *x = h->s->c->metrics;
    int64_t now_ms = world_now_ms(h->s->c->world);
    struct interruption what;
    struct err bad;
    bool any, ok = true;

    if (!interruption_parse(h->r->arena, m->body, &what, &bad)) {
        log_error(h->r->log, "failed parsing interruption message", &bad);
        return delete_message(h, m, e);
    }
    metric_inc(x->interruption_received_messages_total, 1, METRIC_VALS(str_c(interruption_kind_name(what.kind))));
    for (uint32_t i = 0; i < what.n; i++)
        ok &= interruption_act(h->s, h->r, what.kind, what.instances[i], &any, e);
    if (!ok)
        return err_wrap(e, "handling message");
    if (what.at_ms != INT64_MIN)
        metric_observe(x->interruption_message_queue_duration, (double)sat_sub(now_ms, what.at_ms) / 1000, NULL,
                       now_ms);
    return delete_message(h, m, e);
}

static void handle_one(void *ctx, uint32_t i)
{
    const struct handful *h = ctx;
    struct err e;

    if (!handle(h, &h->v[i], &e))
        reconcile_fail(h->r, &e);
}

/* ---- looking ---- */

static void look(struct aws_machines *s)
{
    struct queue_look *k = &s->look;

    arena_free(k->arena);
    k->arena = arena_new(0);
    k->state = LOOK_UNDER_WAY;
    k->ok = sqs_receive(s->o.aws, k->arena, s->queue_url, &k->v, &k->n, &k->e);
    k->state = LOOK_DONE;
}

static void look_ahead(void *arg)
{
    struct aws_machines *s = arg;

    look(s);
    if (!world_dead(s->c->world))
        queue_add(s->interruption, STR(""), STR(""));
}

/* SQS answers when there is something to tell, or after 20 s. That is waited for outside of runs, so that nobody who wants to end has to wait too; only
 * the first time, and after an error, does a run look itself: so errors have their back-off. */
static struct result reconcile(struct reconcile *r)
{
    struct aws_machines *s = r->ctx;
    struct handful h = {.s = s, .r = r};

    if (s->look.state == LOOK_UNDER_WAY)
        return RESULT_OK;
    if (!find_queue(s, r, &r->err))
        return result_error();
    if (s->look.state == LOOK_NONE)
        look(s);
    s->look.state = LOOK_NONE;
    if (!s->look.ok) {
        r->err = s->look.e;
        (void)err_wrap(&r->err, "getting messages from queue");
        return result_error();
    }
    h.url = s->queue_url;
    h.v = s->look.v;
    fan_out(s->c->world, "interruption", s->look.n, WORKERS, handle_one, &h);
    if (r->err.kind != ERR_NONE)
        return result_error();
    if (!world_dead(s->c->world)) {
        s->look.state = LOOK_UNDER_WAY;
        fiber_go(s->c->world, "interruption", look_ahead, s);
    }
    return RESULT_OK;
}

void interruption_register(struct aws_machines *s)
{
    s->interruption = machines_singleton(s, "interruption", reconcile);
}
