/* Logs of a pod's container, and what else only a kubelet could do.
 *
 * Whoever plays the kubelets (kube_set_kubelets()) says which pods it runs; for all others the answer is that of a server whose
 * kubelets cannot be reached. A reader that follows takes lines from the log itself, as fast as its peer takes them, and holds
 * none: one that is too slow misses lines, as behind a kubelet that rotates its files. */
#include "sim/kube/front_int.h"

#include "data/edit.h"
#include "model/duration.h"
#include "sim/kube/podlog.h"

#define KUBELET_PORT 10250
#define MAX_QUEUED ((size_t)256 << 10) /* bytes that wait for a reader's peer */
#define AGAIN_US INT64_C(50000)        /* after this time a slow peer is looked at again */
#define FLUSH (32u << 10)

/* ---- which container ---- */

static void add_names(struct sb *b, const struct tree *list)
{
    for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n; i++) {
        sb_c(b, b->n ? " " : "");
        sb_str(b, tree_str(tree_get(&list->items[i], "name")));
    }
}

static bool pick_container(struct request *r, const struct tree *pod, str *ret, struct status *st)
{
    const struct tree *spec = tree_get(pod, "spec"), *all = tree_get(spec, "containers"),
                      *init = tree_get(spec, "initContainers"), *debug = tree_get(spec, "ephemeralContainers");
    str asked = query_get(r, "container");

    if (asked.n == 0 && all && all->n == 1) {
        *ret = tree_str(tree_get(&all->items[0], "name"));
        return true;
    }
    if (asked.n == 0) {
        struct sb names = {0};

        add_names(&names, init);
        add_names(&names, all);
        add_names(&names, debug);
        (void)status_bad_request(r->a, st, 400,
                                 "a container name must be specified for pod " STR_FMT ", choose one of: [" STR_FMT "]",
                                 STR_ARG(r->route.name), STR_ARG(names));
        sb_fini(&names);
        return false;
    }
    if (!pod_container(pod, asked))
        return status_bad_request(r->a, st, 400, "container " STR_FMT " is not valid for pod " STR_FMT, STR_ARG(asked),
                                  STR_ARG(r->route.name));
    *ret = asked;
    return true;
}

/* ---- options ---- */

struct log_options {
    int64_t tail, since_s, limit_bytes; /* -1: not given */
    int64_t since_ms;                   /* of the clock */
    bool follow, timestamps, previous;
};

static void check_number(struct causes *c, const char *name, int64_t v, int64_t min, bool given)
{
    if (given && v < min)
        cause_invalid(c, str_c(name), arena_printf(c->a, "%lld", (long long)v), "must be greater than %s",
                      min == 0 ? "or equal to 0" : "0");
}

static bool since(struct request *r, struct log_options *ret, struct status *st)
{
    str text = query_get(r, "sinceTime");
    struct err e;

    if (text.n == 0 || time_parse_rfc3339(text, &ret->since_ms, &e))
        return true;
    return status_bad_request(r->a, st, 400,
                              "parsing time \"" STR_FMT "\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"" STR_FMT
                              "\" as \"2006\"",
                              STR_ARG(text), STR_ARG(text));
}

static bool log_options(struct request *r, struct log_options *ret, struct status *st)
{
    static const struct kind options = {.name = STR_INIT("PodLogOptions")};
    struct causes c = {.a = r->a};

    *ret = (struct log_options){.tail = -1,
                                .since_s = -1,
                                .limit_bytes = -1,
                                .since_ms = INT64_MIN,
                                .follow = query_flag(r, "follow"),
                                .timestamps = query_flag(r, "timestamps"),
                                .previous = query_flag(r, "previous")};
    if (!query_number(r, "tailLines", &ret->tail, st) || !query_number(r, "sinceSeconds", &ret->since_s, st) ||
        !query_number(r, "limitBytes", &ret->limit_bytes, st) || !since(r, ret, st))
        return false;
    check_number(&c, "tailLines", ret->tail, 0, query_has(r, "tailLines"));
    check_number(&c, "limitBytes", ret->limit_bytes, 1, query_has(r, "limitBytes"));
    if (query_has(r, "sinceSeconds") && query_has(r, "sinceTime"))
        cause_forbidden(&c, STR("[]"), "at most one of `sinceTime` or `sinceSeconds` may be specified");
    else
        check_number(&c, "sinceSeconds", ret->since_s, 1, query_has(r, "sinceSeconds"));
    if (query_has(r, "stream"))
        cause_forbidden(&c, STR("stream"), "may not be specified");
    bool ok = c.list.n == 0;
    if (!ok)
        (void)status_invalid(r->a, st, &options, r->route.name, &c);
    causes_fini(&c);
    if (ret->since_s > 0)
        ret->since_ms = world_now_ms(kube_world(r->kube)) - MIN(ret->since_s, INT64_C(1) << 40) * 1000;
    return ok;
}

/* ---- kubelets ---- */

/* How a server fails that asks the node's kubelet and finds nobody there. */
static bool no_kubelet(struct request *r, str node_name, str path, struct status *st)
{
    const struct kind *nodes = kube_kind(r->kube, STR(""), STR("Node"));
    const struct object *node = kube_get(r->kube, nodes, STR(""), node_name);
    str ip = {0};

    if (!node) /* quirk: it says so of a pod */
        return status_not_found(r->a, st, r->route.kind, node_name);
    const struct tree *list = tree_at(kube_tree(r->a, node), "status", "addresses", NULL);
    for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n && !ip.n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), "InternalIP"))
            ip = tree_str(tree_get(&list->items[i], "address"));
    if (ip.n)
        (void)status_bad_request(r->a, st, 500,
                                 "Get \"https://" STR_FMT ":%d" STR_FMT "\": dial tcp " STR_FMT
                                 ":%d: connect: connection refused",
                                 STR_ARG(ip), KUBELET_PORT, STR_ARG(path), STR_ARG(ip), KUBELET_PORT);
    else
        (void)status_bad_request(r->a, st, 500, "no preferred addresses found; known addresses: []");
    st->reason = "";
    return false;
}

static const struct object *pod_of(struct request *r, struct status *st)
{
    const struct object *pod = kube_get(r->kube, r->route.kind, r->route.ns, r->route.name);

    if (!pod)
        (void)status_not_found(r->a, st, r->route.kind, r->route.name);
    return pod;
}

bool serve_kubelet(struct request *r, struct status *st)
{
    const struct object *pod = pod_of(r, st);
    str container = {0};

    if (!pod)
        return false;
    const struct tree *t = kube_tree(r->a, pod);
    str node = tree_str(tree_at(t, "spec", "nodeName", NULL));
    if (!str_is(r->route.sub, "portforward") && !pick_container(r, t, &container, st))
        return false;
    if (node.n == 0)
        return status_bad_request(r->a, st, 400, "pod " STR_FMT " does not have a host assigned", STR_ARG(pod->name));
    return no_kubelet(r, node,
                      arena_printf(r->a, "/" STR_FMT "/" STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(r->route.sub),
                                   STR_ARG(pod->ns), STR_ARG(pod->name), STR_ARG(container)),
                      st);
}

/* ---- readers ---- */

struct log_reader {
    struct front *front;
    struct exchange *x;
    struct log_reader *prev, *next;
    struct podlog_follower follower; /* of the log, to the end */
    struct timer timer;
    uint64_t at; /* number of the next line */
    int64_t since_ms;
    int64_t left; /* bytes that may still be sent */
    bool follow, timestamps, ended;
    struct sb buf;
};

static void forget(struct log_reader *l)
{
    *(l->prev ? &l->prev->next : &l->front->log_readers) = l->next;
    if (l->next)
        l->next->prev = l->prev;
    timer_stop(kube_world(l->front->kube), &l->timer);
    podlog_leave(&l->follower);
    sb_fini(&l->buf);
    free(l);
}

static void on_over(struct exchange *x)
{
    forget(x->ctx);
}

void log_readers_fini(struct front *f)
{
    while (f->log_readers) {
        struct log_reader *l = f->log_readers;

        l->x->on_over = NULL;
        if (!l->ended)
            reply_abort(l->x);
        forget(l);
    }
}

static void flush(struct log_reader *l)
{
    str text = str_sub(sb_view(&l->buf), 0, (size_t)MIN((int64_t)l->buf.n, l->left));

    if (text.n)
        reply_data(l->x, text);
    l->left -= (int64_t)text.n;
    sb_reset(&l->buf);
}

static void write_line(struct log_reader *l, str line, int64_t at_ms)
{
    if (l->timestamps) {
        time_print_rfc3339(&l->buf, at_ms);
        l->buf.n--; /* the Z */
        sb_printf(&l->buf, ".%03d000000Z ", (int)((at_ms % 1000 + 1000) % 1000));
    }
    sb_str(&l->buf, line);
    sb_char(&l->buf, '\n');
}

/* Writes what there is and what the peer takes; ends when no more can come. The reader is gone then, or will be. */
static void pump(struct log_reader *l)
{
    struct podlog *log = l->follower.log;
    struct world *w = kube_world(l->front->kube);
    int64_t at_ms;

    l->at = MAX(l->at, podlog_first(log));
    while (l->at < podlog_next(log) && l->left > 0 && (!l->follow || reply_queued(l->x) < MAX_QUEUED)) {
        str line = podlog_line(log, l->at++, &at_ms);

        if (at_ms >= l->since_ms)
            write_line(l, line, at_ms);
        if (l->buf.n >= FLUSH)
            flush(l);
    }
    flush(l);
    bool more = l->at < podlog_next(log) && l->left > 0;
    if (more) {
        timer_set(w, &l->timer, AGAIN_US);
    } else if (!l->follow || l->left <= 0 || podlog_has_ended(log)) {
        l->ended = true;
        reply_end(l->x);
    }
}

static void on_timer(void *ctx)
{
    struct log_reader *l = ctx;

    if (!l->ended)
        pump(l);
}

/* From the middle of a write to the log, or of a change of the pod. */
static void on_more(void *ctx)
{
    struct log_reader *l = ctx;

    if (!l->ended && !timer_is_set(&l->timer))
        timer_set(kube_world(l->front->kube), &l->timer, 0);
}

/* The number of the line with which a reader begins that wants the last `tail` ones. */
static uint64_t tail_of(const struct podlog *log, int64_t tail)
{
    uint64_t first = podlog_first(log), n = podlog_next(log) - first;

    return tail >= 0 && (uint64_t)tail < n ? first + n - (uint64_t)tail : first;
}

static void read_log(struct request *r, const struct log_options *o, struct podlog *log)
{
    struct log_reader *l = xcalloc(1, sizeof(*l));

    *l = (struct log_reader){.front = r->front,
                             .x = r->x,
                             .next = r->front->log_readers,
                             .follower = {.on_more = on_more, .ctx = l},
                             .timer = {.fn = on_timer, .ctx = l},
                             .at = tail_of(log, o->tail),
                             .since_ms = o->since_ms,
                             .left = o->limit_bytes > 0 ? o->limit_bytes : INT64_MAX,
                             .follow = o->follow,
                             .timestamps = o->timestamps};
    if (l->next)
        l->next->prev = l;
    r->front->log_readers = l;
    r->x->ctx = l;
    r->x->on_over = on_over;
    podlog_follow(log, &l->follower);
    reply_head(r, 200, "text/plain", NULL, 0);
    pump(l);
}

/* What a kubelet answers for a container that has no log. */
static bool has_log(struct request *r, const struct tree *pod, str container, bool previous, struct status *st)
{
    const struct tree *status = pod_container_status(pod, container), *state = tree_get(status, "state");
    str name = r->route.name, why = tree_str(tree_at(state, "waiting", "reason", NULL));

    if (!status)
        return status_bad_request(r->a, st, 400, "container \"" STR_FMT "\" in pod \"" STR_FMT "\" is not available",
                                  STR_ARG(container), STR_ARG(name));
    if (previous && !tree_at(status, "lastState", "terminated", NULL))
        return status_bad_request(r->a, st, 400,
                                  "previous terminated container \"" STR_FMT "\" in pod \"" STR_FMT "\" not found",
                                  STR_ARG(container), STR_ARG(name));
    if (!tree_get(state, "running") && !tree_get(state, "terminated"))
        return status_bad_request(r->a, st, 400,
                                  "container \"" STR_FMT "\" in pod \"" STR_FMT "\" is waiting to start: " STR_FMT,
                                  STR_ARG(container), STR_ARG(name), STR_ARG(why));
    return true;
}

bool serve_logs(struct request *r, struct status *st)
{
    struct log_options o;
    const struct object *pod;
    str container;

    if (!log_options(r, &o, st) || !(pod = pod_of(r, st)))
        return false;
    const struct tree *t = kube_tree(r->a, pod);
    str node = tree_str(tree_at(t, "spec", "nodeName", NULL));
    if (!pick_container(r, t, &container, st))
        return false;
    if (node.n == 0) { /* nothing runs yet, so nothing was said */
        reply_body(r, 204, NULL, (str){0});
        return true;
    }
    if (!kube_pod_runs(r->kube, pod))
        return no_kubelet(r, node,
                          arena_printf(r->a, "/containerLogs/" STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(pod->ns),
                                       STR_ARG(pod->name), STR_ARG(container)),
                          st);
    if (!has_log(r, t, container, o.previous, st))
        return false;
    struct podlog *log = kube_read_log(r->kube, pod, t, container, o.follow);
    read_log(r, &o, log);
    podlog_unref(log);
    return true;
}
