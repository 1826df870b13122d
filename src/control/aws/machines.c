/* All of them together, and which claims and Nodes a machine has: AWS names machines by their id, the cluster by zone and id. */
#include <stdio.h>
#include <stdlib.h>

#include "control/aws/machines_int.h"

/* ---- machines by their id ---- */

struct known_id {
    struct htab_node node; /* by instance id */
    str provider_id;
};

static void learn_id(struct aws_machines *s, str provider_id)
{
    str id = s->o.provider.instance_id(provider_id);

    if (id.n == 0 || htab_get(&s->ids, id))
        return;
    char *p = xcalloc(1, sizeof(struct known_id) + provider_id.n);
    struct known_id *k = (void *)p;
    char *text = p + sizeof(struct known_id);
    memcpy(text, provider_id.p, provider_id.n);
    k->provider_id = (str){text, provider_id.n};
    k->node.key = (str){text + (id.p - provider_id.p), id.n};
    htab_put(&s->ids, &k->node);
}

static void forget_id(struct aws_machines *s, str provider_id)
{
    struct known_id *k = HTAB_THING(htab_get(&s->ids, s->o.provider.instance_id(provider_id)), struct known_id, node);

    if (!k || !str_eq(k->provider_id, provider_id) || store_claims_by_id(s->c->store, provider_id).n ||
        store_nodes_by_id(s->c->store, provider_id).n)
        return;
    htab_del(&s->ids, &k->node);
    free(k);
}

str machine_provider_id(const struct aws_machines *s, str instance_id)
{
    const struct known_id *k = HTAB_THING(htab_get(&s->ids, instance_id), struct known_id, node);

    return k ? k->provider_id : (str){0};
}

static struct names copy_names(struct arena *a, struct names n)
{
    str *v = arena_new_array(a, str, n.n);

    for (uint32_t i = 0; i < n.n; i++)
        v[i] = arena_strdup(a, n.v[i]);
    return (struct names){v, n.n};
}

struct names machine_claims(struct aws_machines *s, struct arena *a, str provider_id)
{
    return copy_names(a, store_claims_by_id(s->c->store, provider_id));
}

struct names machine_nodes(struct aws_machines *s, struct arena *a, str provider_id)
{
    return copy_names(a, store_nodes_by_id(s->c->store, provider_id));
}

static str id_of(enum object_kind kind, const void *object)
{
    if (!object)
        return (str){0};
    return kind == OBJ_NODE ? ((const struct node *)object)->provider_id
                            : ((const struct nodeclaim *)object)->provider_id;
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct aws_machines *s = ctx;

    if (ev->kind != OBJ_NODE && ev->kind != OBJ_NODECLAIM)
        return;
    str was = id_of(ev->kind, ev->was), is = id_of(ev->kind, ev->is);
    if (is.n)
        learn_id(s, is);
    if (was.n && !str_eq(was, is))
        forget_id(s, was);
    if (ev->kind == OBJ_NODECLAIM)
        tagging_hear(s, ev);
    else
        memory_hear(s, ev);
}

/* ---- what they have in common ---- */

struct queue *machines_singleton(struct aws_machines *s, const char *name, reconcile_fn fn)
{
    return manager_add(s->c->manager, &(struct controller_spec){
                                          .name = name,
                                          .workers = 1,
                                          .limit = limiter_singleton,
                                          .fn = fn,
                                          .ctx = s,
                                      });
}

void machine_event(struct aws_machines *s, struct event_object object, bool warning, const char *reason,
                   const char *message, str dedupe)
{
    const str key[] = {object.uid, dedupe};

    recorder_publish(s->c->recorder, &(struct event){.object = object,
                                                     .warning = warning,
                                                     .reason = reason,
                                                     .message = str_c(message),
                                                     .dedupe = key,
                                                     .n_dedupe = dedupe.n ? 2 : 1});
}

/* ---- calls to AWS ---- */

static str code_of(char *buf, size_t n, int status)
{
    (void)snprintf(buf, n, "%d", status);
    return str_c(buf);
}

void aws_count_attempt(void *ctx, enum aws_service s, const char *action, int status, int64_t took_us)
{
    const struct control *c = ctx;
    const struct control_metrics *m = c->metrics;
    char buf[16];

    if (!m)
        return;
    const str vals[] = {str_c(aws_service_id(s)), str_c(action), code_of(buf, sizeof(buf), status)};
    metric_inc(m->aws_sdk_go_request_attempt_total, 1, vals);
    metric_observe(m->aws_sdk_go_request_attempt_duration, (double)took_us / 1e6, vals, world_now_ms(c->world));
}

void aws_count_call(void *ctx, enum aws_service s, const char *action, int status, int64_t took_us, uint32_t retries)
{
    const struct control *c = ctx;
    const struct control_metrics *m = c->metrics;
    char buf[16];

    if (!m)
        return;
    const str vals[] = {str_c(aws_service_id(s)), str_c(action), code_of(buf, sizeof(buf), status)};
    int64_t now_ms = world_now_ms(c->world);
    metric_inc(m->aws_sdk_go_request_total, 1, vals);
    metric_observe(m->aws_sdk_go_request_duration, (double)took_us / 1e6, vals, now_ms);
    metric_observe(m->aws_sdk_go_request_retry_count, retries, vals, now_ms);
}

/* ---- life ---- */

struct aws_machines *aws_machines_new(struct control *c, const struct aws_machines_options *o)
{
    struct aws_machines *s = xcalloc(1, sizeof(*s));

    s->c = c;
    s->o = *o;
    instance_gc_register(s);
    tagging_register(s);
    memory_register(s);
    refreshes_register(s);
    zonal_shift_register(s);
    reservations_register(s);
    offering_metrics_register(s);
    instance_status_register(s);
    if (o->interruption_queue.n)
        interruption_register(s);
    store_subscribe(c->store, hear, s);
    return s;
}

void aws_machines_free(struct aws_machines *s)
{
    struct htab_walk w = {0};

    if (!s)
        return;
    for (struct htab_node *n; (n = htab_next(&s->ids, &w));)
        free(HTAB_THING(n, struct known_id, node));
    htab_fini(&s->ids);
    free((char *)(uintptr_t)s->queue_url.p);
    arena_free(s->look.arena);
    arena_free(s->unwell_in);
    vec_fini(&s->unwell);
    arena_free(s->strangers_in);
    vec_fini(&s->strangers);
    for (uint32_t i = 0; i < s->shifted.n; i++)
        free((char *)(uintptr_t)s->shifted.v[i].p);
    vec_fini(&s->shifted);
    free(s);
}
