#include "control/buffers.h"

#include <stdlib.h>

#include "control/fan.h"
#include "control/feed.h"
#include "control/round.h"
#include "control/write.h"
#include "data/edit.h"

#define READY "ReadyForProvisioning"
#define PROVISIONING "Provisioning"

enum {
    POLL_MS = 30 * 1000,
    CONFLICT_MS = 1000,
    REPORT_WIDTH = 10, /* buffers that are written side by side */
};

struct buffers {
    struct control *c;
    struct queue *queue;
    void (*on_change)(void *ctx, str id);
    void *ctx;
    bool prepared; /* every buffer has had its pods once */
};

static str key_of(struct arena *a, str ns, str name)
{
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
}

static const struct buffer *find(struct buffers *s, str key)
{
    return store_object(s->c->store, OBJ_BUFFER, STR(""), key);
}

/* ---- what its pods look like ---- */

/* Why they are not known; empty: they are, and the store has them. */
struct trouble {
    const char *reason;
    str message;
    bool retry;   /* with the err of the run */
    bool changed; /* the buffer has: another look is due */
};

static struct trouble missing(struct arena *a, const char *reason, str kind, str name)
{
    return (struct trouble){
        .reason = reason,
        .message = arena_printf(a, STR_FMT " \"" STR_FMT "\" not found", STR_ARG(kind), STR_ARG(name)),
    };
}

static struct trouble failed(struct arena *a, struct reconcile *r, const struct err *e)
{
    r->err = *e;
    return (struct trouble){.reason = "ResolutionFailed", .message = arena_strdup(a, str_c(e->msg)), .retry = true};
}

/* How many, and what became of that. */
struct resolved {
    int64_t replicas;
    int64_t template_generation;
};

static void settle(struct buffers *s, str key, const struct workload *w, int64_t scale, struct resolved *ret)
{
    const struct buffer *b = find(s, key);

    ret->replicas = buffer_replicas(b, scale, &w->spec->requests);
    ret->template_generation = w->generation;
    store_set_buffer(s->c->store, key, b, w, ret->replicas);
}

static struct trouble from_template(struct buffers *s, struct reconcile *r, str key, struct resolved *ret)
{
    const struct buffer *b = find(s, key);
    str ns = sym_str(s->c->syms, b->ns);
    const struct workload *w = store_object(s->c->store, OBJ_PODTEMPLATE, ns, b->ref_name);

    if (!w)
        return missing(r->arena, "PodTemplateNotFound", STR("PodTemplate"), b->ref_name);
    settle(s, key, w, /* scale= */ 0, ret);
    return (struct trouble){0};
}

static const struct api_kind *scalable_kind(str kind)
{
    return str_is(kind, "Deployment")    ? &api_deployments
           : str_is(kind, "StatefulSet") ? &api_statefulsets
                                         : &api_replicasets;
}

/* Workloads are not watched for this: there are many, and a look every half minute is enough. */
static struct trouble from_workload(struct buffers *s, struct reconcile *r, str key, struct resolved *ret)
{
    const struct buffer *b = find(s, key);
    struct arena *a = r->arena;
    str kind = arena_strdup(a, b->ref_kind), name = arena_strdup(a, b->ref_name);
    struct api_ref ref = {.ns = arena_strdup(a, sym_str(s->c->syms, b->ns)), .name = name};
    struct decoded d = {0};
    struct tree *obj;
    int64_t scale = 1;
    struct err e;

    if (!buffer_ref_is_known(b->ref_group, kind)) {
        (void)err_set(&e, ERR_INVALID, "unsupported scalable reference, group \"" STR_FMT "\" kind \"" STR_FMT "\"",
                      STR_ARG(b->ref_group), STR_ARG(kind));
        return failed(a, r, &e);
    }
    ref.kind = scalable_kind(kind);
    if (!api_get(s->c->api, a, &ref, &obj, &e))
        return e.kind == ERR_NOT_FOUND ? missing(a, "ScalableRefNotFound", kind, name) : failed(a, r, &e);
    b = find(s, key);
    if (!b || !str_eq(b->ref_name, name) || !str_eq(b->ref_kind, kind))
        return (struct trouble){.changed = true};
    (void)tree_to_i64(tree_at(obj, "spec", "replicas", NULL), &scale);
    if (!feed_read_template(s->c->feed, obj, &d, &e))
        return failed(a, r, &e);
    settle(s, key, d.what, scale, ret);
    arena_free(d.box);
    return (struct trouble){0};
}

/* Hands the pods of the buffer, which is there, to the store, or takes them away. Parks when it names a workload. */
static struct trouble resolve(struct buffers *s, struct reconcile *r, str key, struct resolved *ret)
{
    static const struct trouble nothing = {.reason = "ResolutionFailed",
                                           .message = STR_INIT("neither podTemplateRef nor scalableRef is set")};
    enum buffer_ref ref = find(s, key)->ref;
    struct trouble t = ref == BUFFER_REF_TEMPLATE   ? from_template(s, r, key, ret)
                       : ref == BUFFER_REF_SCALABLE ? from_workload(s, r, key, ret)
                                                    : nothing;

    if (t.reason || t.changed)
        store_drop_buffer(s->c->store, key);
    return t;
}

/* ---- what is said of it ---- */

static void describe(struct draft *d, const struct trouble *t, const struct resolved *found)
{
    struct tree *status = tree_sub(d->arena, d->obj, "status");
    struct cond_object conds = draft_conds(d);
    str template = tree_str(tree_at(d->obj, "spec", "podTemplateRef", "name", NULL));

    if (t->reason) {
        conds_false(&conds, READY, str_c(t->reason), t->message);
    } else {
        conds_true_because(&conds, READY, STR("Resolved"), STR("Pod template resolved successfully"));
        tree_drop(status, STR("podTemplateRef"));
        tree_drop(status, STR("podTemplateGeneration"));
        if (template.n) {
            tree_set_str(d->arena, tree_sub(d->arena, status, "podTemplateRef"), "name", template);
            tree_set_i64(d->arena, status, "podTemplateGeneration", found->template_generation);
        }
        tree_set_i64(d->arena, status, "replicas", found->replicas);
    }
    tree_set_str(d->arena, status, "provisioningStrategy",
                 tree_str(tree_at(d->obj, "spec", "provisioningStrategy", NULL)));
}

static struct result reconcile(struct reconcile *r)
{
    struct buffers *s = r->ctx;
    str key = key_of(r->arena, r->ns, r->name);
    struct resolved found = {0};
    struct draft d;
    struct err e;

    if (!find(s, key)) {
        store_drop_buffer(s->c->store, key); /* its room stays counted until the next round (scheduling 21.1) */
        return RESULT_OK;
    }
    struct trouble t = resolve(s, r, key, &found);
    if (t.changed || !draft_open(&d, s->c, r->arena, OBJ_BUFFER, key))
        return RESULT_OK;
    describe(&d, &t, &found);
    if (!draft_patch(&d, DRAFT_STATUS | DRAFT_LOCKED, &e)) {
        if (e.kind == ERR_CONFLICT || e.kind == ERR_NOT_FOUND)
            return result_after_ms(CONFLICT_MS);
        r->err = e;
        return result_error();
    }
    if (t.retry)
        return result_error();
    if (!t.reason)
        s->on_change(s->ctx, obj_uid(d.obj));
    return result_after_ms(POLL_MS);
}

/* ---- rounds ---- */

void buffers_prepare(struct buffers *s, struct reconcile *r)
{
    struct names n = store_names(s->c->store, OBJ_BUFFER);
    bool all = true;

    if (s->prepared)
        return;
    str *names = arena_dup_array(r->arena, str, n.v, n.n);
    for (uint32_t i = 0; i < n.n; i++)
        names[i] = arena_strdup(r->arena, names[i]);
    for (uint32_t i = 0; i < n.n; i++) {
        const struct buffer *b = find(s, names[i]);
        struct resolved found;

        if (!b || b->ready != COND_TRUE || store_has_buffer(s->c->store, names[i]))
            continue;
        all &= !resolve(s, r, names[i], &found).retry;
    }
    s->prepared = all;
    r->err = (struct err){0}; /* its own turn tells */
}

struct report {
    struct buffers *s;
    struct reconcile *r;
    const str *keys;
    struct buffer_places *places;
};

static void put_in(const struct report *p, uint32_t n, const struct round_pod *pod, size_t where)
{
    for (uint32_t i = 0; pod->buffer.n && i < n; i++) {
        str ns, name;

        (void)str_cut(p->keys[i], '/', &ns, &name);
        if (str_eq(name, pod->buffer) && str_eq(ns, pod->ns))
            ++*(uint32_t *)(void *)((char *)&p->places[i] + where);
    }
}

static void find_places(const struct report *p, uint32_t n, const struct round *d)
{
    for (uint32_t i = 0; i < d->n_claims; i++)
        for (uint32_t k = 0; k < d->claims[i].n_pods; k++)
            put_in(p, n, &d->claims[i].pods[k], offsetof(struct buffer_places, n_new));
    for (uint32_t i = 0; i < d->n_nodes; i++)
        for (uint32_t k = 0; k < d->nodes[i].n_pods; k++)
            put_in(p, n, &d->nodes[i].pods[k], offsetof(struct buffer_places, n_there));
    for (uint32_t i = 0; i < d->n_refusals; i++)
        put_in(p, n, &d->refusals[i].pod, offsetof(struct buffer_places, n_failed));
}

static void report_one(void *ctx, uint32_t i)
{
    struct report *p = ctx;
    struct control *c = p->s->c;
    const struct buffer *b = find(p->s, p->keys[i]);
    struct draft d;
    struct err e;

    if (!b || !draft_open(&d, c, p->r->arena, OBJ_BUFFER, p->keys[i]))
        return;
    struct buffer_verdict v = buffer_judge(p->r->arena, b, &p->places[i]);
    struct cond_object conds = draft_conds(&d);
    if (!v.reason || !conds_set(&conds, PROVISIONING, v.fits ? "True" : "False", str_c(v.reason), v.message))
        return;
    if (!draft_patch(&d, DRAFT_STATUS | DRAFT_LOCKED, &e) && e.kind != ERR_CONFLICT && e.kind != ERR_NOT_FOUND)
        log_error(p->r->log, "failed updating capacity buffer", &e,
                  LOG_OBJ("CapacityBuffer", obj_namespace(d.before), obj_name(d.before)));
}

static void count_on_nodes(struct buffers *s, struct arena *a, const struct round *d)
{
    struct buffer_count *v = arena_new_array(a, struct buffer_count, d->n_nodes);
    uint32_t n = 0;

    for (uint32_t i = 0; i < d->n_nodes; i++) {
        struct buffer_count x = {.provider_id = d->nodes[i].provider_id};

        for (uint32_t k = 0; k < d->nodes[i].n_pods; k++)
            x.n += d->nodes[i].pods[k].buffer.n != 0;
        if (x.n)
            v[n++] = x;
    }
    store_count_buffers(s->c->store, v, n);
}

void buffers_report(struct buffers *s, struct reconcile *r, const struct round *d)
{
    struct names n = store_names(s->c->store, OBJ_BUFFER);
    str *keys = arena_dup_array(r->arena, str, n.v, n.n);
    struct report p = {s, r, keys, arena_new_array(r->arena, struct buffer_places, n.n)};

    for (uint32_t i = 0; i < n.n; i++)
        keys[i] = arena_strdup(r->arena, keys[i]);
    count_on_nodes(s, r->arena, d);
    find_places(&p, n.n, d);
    fan_out(s->c->world, "report buffer", n.n, REPORT_WIDTH, report_one, &p);
}

/* ---- when ---- */

static void ask(struct buffers *s, str key)
{
    str ns, name;

    (void)str_cut(key, '/', &ns, &name);
    queue_add(s->queue, ns, name);
}

static void on_template(struct buffers *s, const struct store_event *ev)
{
    struct names n = store_names(s->c->store, OBJ_BUFFER);

    for (uint32_t i = 0; i < n.n; i++) {
        const struct buffer *b = find(s, n.v[i]);

        if (b && b->ref == BUFFER_REF_TEMPLATE && str_eq(b->ref_name, ev->name) &&
            str_eq(sym_str(s->c->syms, b->ns), ev->ns))
            ask(s, n.v[i]);
    }
}

static void on_event(void *ctx, const struct store_event *ev)
{
    struct buffers *s = ctx;

    if (ev->kind == OBJ_BUFFER)
        ask(s, ev->name);
    else if (ev->kind == OBJ_PODTEMPLATE)
        on_template(s, ev);
}

struct buffers *buffers_new(struct control *c, void (*on_change)(void *ctx, str id), void *ctx)
{
    struct buffers *s = xcalloc(1, sizeof(*s));

    *s = (struct buffers){.c = c, .on_change = on_change, .ctx = ctx};
    s->queue = manager_add(c->manager, &(struct controller_spec){.name = "capacitybuffer",
                                                                 .group = "autoscaling.x-k8s.io",
                                                                 .kind = "CapacityBuffer",
                                                                 .workers = 10,
                                                                 .limit = limiter_reasonable,
                                                                 .fn = reconcile,
                                                                 .ctx = s});
    store_subscribe(c->store, on_event, s);
    return s;
}

void buffers_free(struct buffers *s)
{
    free(s);
}
