/* Series for every pod, and how long pods took. */
#include <stdlib.h>

#include "control/metrics_objects_int.h"
#include "model/evict.h"

/* ---- how long they took ---- */

struct started {
    struct htab_node node;
    char uid[];
};

static struct started *started_find(const struct object_metrics *m, str uid)
{
    return HTAB_THING(htab_get(&m->started, uid), struct started, node);
}

static void started_add(struct object_metrics *m, str uid)
{
    struct started *s = xmalloc(sizeof(*s) + uid.n);

    if (uid.n)
        memcpy(s->uid, uid.p, uid.n);
    s->node.key = (str){s->uid, uid.n};
    htab_put(&m->started, &s->node);
}

static void started_drop(struct object_metrics *m, struct started *s)
{
    if (!s)
        return;
    htab_del(&m->started, &s->node);
    free(s);
}

void pod_metrics_forget(struct object_metrics *m)
{
    struct htab_walk w = {0};
    struct htab_node *n;

    while ((n = htab_next(&m->started, &w)))
        free(HTAB_THING(n, struct started, node));
    htab_fini(&m->started);
}

static struct pod_times times_of(const struct object_metrics *m, const struct pod *p)
{
    return m->book ? podbook_get(m->book, UID_STR(p->uid)) : (struct pod_times){0};
}

/* Since it was made, and since there was a place for it. Its times have whole seconds: it may seem to have been ready before it was placed. */
static void observe(struct object_metrics *m, struct metric *all, struct metric *placed, const struct pod *p, moment at)
{
    int64_t now = world_now_ms(m->c->world), since = times_of(m, p).schedulable_ms;

    if (!at.v)
        return;
    metric_observe(all, (double)(moment_ms(at) - p->created_ms) / 1e3, NULL, now);
    if (since)
        metric_observe(placed, (double)MAX(moment_ms(at) - since, 0) / 1e3, NULL, now);
}

/* A pod counts when it was seen waiting: those that ran before we came do not. */
static void on_event(void *ctx, const struct store_event *ev)
{
    struct object_metrics *m = ctx;
    const struct pod *was = ev->was, *is = ev->is;
    struct control_metrics *x = m->c->metrics;

    if (ev->kind != OBJ_POD || (!was && !is))
        return;
    struct started *s = was ? started_find(m, UID_STR(was->uid)) : NULL;
    if (!is || pod_is_finished(is)) {
        started_drop(m, s);
        return;
    }
    bool waited = was && was->phase == PHASE_PENDING;
    if (waited && is->phase != PHASE_PENDING) {
        if (sym_some(is->node))
            observe(m, x->pods_bound_duration, x->pods_provisioning_bound_duration, is, is->scheduled);
        if (!is->ready && !s)
            started_add(m, UID_STR(is->uid));
    }
    if (is->ready && (s || waited) && is->phase != PHASE_PENDING) {
        observe(m, x->pods_startup_duration, x->pods_provisioning_startup_duration, is, is->readied);
        started_drop(m, s);
    }
}

/* ---- how they are ---- */

static const char *phase_name(enum pod_phase p)
{
    switch (p) {
    case PHASE_PENDING:
        return "Pending";
    case PHASE_RUNNING:
        return "Running";
    case PHASE_SUCCEEDED:
        return "Succeeded";
    case PHASE_FAILED:
        return "Failed";
    case PHASE_UNKNOWN:
        return "Unknown";
    }
    return "";
}

/* As a path of the API. Of owners that are none of these the store knows only the name. */
static str owner_path(struct object_metrics *m, const struct pod *p)
{
    static const char *const kinds[] = {
        [OWNER_DAEMONSET] = "apps/v1 daemonsets",     [OWNER_NODE] = "v1 nodes",
        [OWNER_STATEFULSET] = "apps/v1 statefulsets", [OWNER_REPLICASET] = "apps/v1 replicasets",
        [OWNER_RC] = "v1 replicationcontrollers",     [OWNER_JOB] = "batch/v1 jobs",
    };
    const struct syms *t = m->c->syms;
    str version, plural;

    if (p->owner >= ARRAY_LEN(kinds) || !kinds[p->owner])
        return STR("");
    (void)str_cut(str_c(kinds[p->owner]), ' ', &version, &plural);
    return arena_printf(m->tmp, "/apis/" STR_FMT "/namespaces/" STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(version),
                        STR_ARG(sym_str(t, p->ns)), STR_ARG(plural), STR_ARG(sym_str(t, p->owner_name)));
}

static str truth(bool v)
{
    return v ? STR("true") : STR("false");
}

static void emit_state(struct object_metrics *m, const struct metric *f, const struct pod *p, struct sb *out)
{
    const struct syms *t = m->c->syms;
    const struct node *n = sym_some(p->node) ? store_node(m->c->store, sym_str(t, p->node)) : NULL;
    lset_id labels = n ? n->labels : (lset_id){0};
    str vals[] = {p->name,
                  sym_str(t, p->ns),
                  owner_path(m, p),
                  sym_str(t, p->node),
                  truth(sym_some(p->node)),
                  metric_label(m, labels, SYM(NP)),
                  metric_label(m, labels, SYM(ZONE)),
                  metric_label(m, labels, SYM(ARCH)),
                  metric_label(m, labels, SYM(CT)),
                  metric_label(m, labels, SYM(ITYPE)),
                  str_c(phase_name(p->phase)),
                  truth(p->ready),
                  truth(n && store_claims_by_id(m->c->store, n->provider_id).n)};

    metric_emit(out, f, 1, vals);
}

/* Since when the pod has waited for this; 0: it does not. */
static int64_t waits_since(const struct object_metrics *m, const struct metric *f, const struct pod *p)
{
    const struct control_metrics *x = m->c->metrics;
    bool pending = p->phase == PHASE_PENDING, unbound = pending && !sym_some(p->node);
    bool unstarted = pending || started_find(m, UID_STR(p->uid));
    struct pod_times t = times_of(m, p);

    if (f == x->pods_unbound_time)
        return unbound ? p->created_ms : 0;
    if (f == x->pods_unstarted_time)
        return unstarted ? p->created_ms : 0;
    if (f == x->pods_provisioning_unbound_time)
        return unbound ? t.schedulable_ms : 0;
    if (f == x->pods_provisioning_unstarted_time)
        return unstarted ? t.schedulable_ms : 0;
    return unbound && !t.decided_ms ? t.acked_ms : 0;
}

static void emit_wait(struct object_metrics *m, const struct metric *f, const struct pod *p, struct sb *out)
{
    int64_t since = waits_since(m, f, p);

    if (since)
        metric_emit(out, f, (double)(world_now_ms(m->c->world) - since) / 1e3,
                    METRIC_VALS(p->name, sym_str(m->c->syms, p->ns)));
}

static bool collect(void *ctx, const struct metric *f, uint32_t i, struct sb *out)
{
    struct object_metrics *m = ctx;
    const struct pod *pods = store_pods(m->c->store);

    if (i >= store_pods_room(m->c->store))
        return false;
    if (!pods[i].spec || pods[i].of_buffer)
        return true; /* a gap; not a pod */
    if (f == m->c->metrics->pods_state)
        emit_state(m, f, &pods[i], out);
    else
        emit_wait(m, f, &pods[i], out);
    arena_reset(m->tmp);
    return true;
}

void pod_metrics_register(struct object_metrics *m)
{
    struct control_metrics *x = m->c->metrics;

    struct metric *const families[] = {x->pods_state,
                                       x->pods_unstarted_time,
                                       x->pods_unbound_time,
                                       x->pods_provisioning_unbound_time,
                                       x->pods_provisioning_unstarted_time,
                                       x->pods_provisioning_scheduling_undecided_time};

    metrics_collector_by_one(families, ARRAY_LEN(families), collect, m);
    store_subscribe(m->c->store, on_event, m);
}
