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

static struct result reconcile(struct reconcile *r)
{
    struct aws_machines *s = r->ctx;
    struct handful h = {.s = s, .r = r};
    struct sqs_message *v;
    uint32_t n;

    if (!find_queue(s, r, &r->err))
        return result_error();
    h.url = s->queue_url;
    if (!sqs_receive(s->o.aws, r->arena, h.url, &v, &n, &r->err)) {
        (void)err_wrap(&r->err, "getting messages from queue");
        return result_error();
    }
    h.v = v;
    fan_out(s->c->world, "interruption", n, WORKERS, handle_one, &h);
    return r->err.kind != ERR_NONE ? result_error() : result_after_ms(0);
}

void interruption_register(struct aws_machines *s)
{
    machines_singleton(s, "interruption", reconcile);
}
