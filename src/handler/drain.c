#include "handler/drain.h"

#include "base/sb.h"
#include "base/vec.h"
#include "control/fan.h"
#include "control/write.h"

#define SECOND_US INT64_C(1000000)
#define LOOK_EVERY_US SECOND_US
#define ASK_EVERY_US (5 * SECOND_US)
#define SIDE_BY_SIDE 16u
#define MAX_NAMED 5u

/* ---- who has to go ---- */

static bool is_of_daemonset(const struct tree *pod)
{
    const struct tree *owners = tree_at(pod, "metadata", "ownerReferences", NULL);

    for (uint32_t i = 0; owners && i < owners->n; i++)
        if (tree_is_true(tree_get(&owners->items[i], "controller")))
            return str_is(tree_str(tree_get(&owners->items[i], "kind")), "DaemonSet");
    return false;
}

static bool has_local_data(const struct tree *pod)
{
    const struct tree *volumes = tree_at(pod, "spec", "volumes", NULL);

    for (uint32_t i = 0; volumes && i < volumes->n; i++)
        if (tree_get(&volumes->items[i], "emptyDir"))
            return true;
    return false;
}

static bool is_finished(const struct tree *pod)
{
    str phase = tree_str(tree_at(pod, "status", "phase", NULL));

    return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

struct leavers leavers_of(struct arena *a, const struct tree *pods, const struct handler_settings *s)
{
    const struct tree *items = tree_get(pods, "items");
    uint32_t n = items && items->kind == TREE_LIST ? items->n : 0;
    struct leavers l = {.v = arena_new_array(a, struct leaver, n)};

    for (uint32_t i = 0; i < n; i++) {
        const struct tree *pod = &items->items[i];
        struct leaver x = {obj_namespace(pod), obj_name(pod), obj_uid(pod), obj_is_deleting(pod)};
        const char *why = NULL;

        if (obj_annotation(pod, "kubernetes.io/config.mirror").n)
            continue;
        if (is_of_daemonset(pod) && !is_finished(pod)) {
            if (s->ignore_daemon_sets)
                continue;
            why = "belongs to a DaemonSet (ignore-daemon-sets is false)";
        } else if (has_local_data(pod) && !is_finished(pod) && !s->delete_local_data) {
            why = "has an emptyDir volume (delete-local-data is false)";
        }
        if (why && l.refusal.n == 0)
            l.refusal = arena_printf(a, "pod " STR_FMT "/" STR_FMT " %s", STR_ARG(x.ns), STR_ARG(x.name), why);
        l.v[l.n++] = x;
    }
    return l;
}

/* ---- asking them ---- */

struct asked {
    char uid[40];
    int64_t again_us;
    int code; /* of the last answer that was told of */
};

struct drain {
    const struct drain_job *job;
    VEC(struct asked) asked;
    /* of one look */
    const struct leavers *l;
    uint32_t *who; /* indexes of those who are asked now */
    uint32_t n_who;
};

static struct asked *asked_of(struct drain *d, str uid)
{
    str key = str_sub(uid, 0, sizeof(d->asked.v->uid) - 1);
    struct asked *x;

    for (uint32_t i = 0; i < d->asked.n; i++)
        if (str_is(key, d->asked.v[i].uid))
            return &d->asked.v[i];
    x = vec_add(&d->asked);
    memcpy(x->uid, key.p, key.n);
    return x;
}

static void tell_evicted(const struct drain_job *j, struct arena *a, const struct leaver *x)
{
    log_info(j->log, "evicted pod", LOG_OBJ("Pod", x->ns, x->name));
    if (j->recorder)
        recorder_publish(
            j->recorder,
            &(struct event){.object = {.kind = &api_pods, .ns = x->ns, .name = x->name, .uid = x->uid},
                            .reason = "PodEviction",
                            .message = arena_printf(a, "Pod evicted: node " STR_FMT " is drained", STR_ARG(j->node)),
                            .dedupe = &x->uid,
                            .n_dedupe = 1});
}

static void ask_one(void *ctx, uint32_t i)
{
    struct drain *d = ctx;
    const struct drain_job *j = d->job;
    const struct leaver *x = &d->l->v[d->who[i]];
    AUTO(arena) struct arena *a = arena_new(0);
    struct api_delete_options o = {
        .uid = x->uid, .has_grace = j->settings->pod_grace_s >= 0, .grace_s = j->settings->pod_grace_s};
    struct err e = {0};
    int code;

    bool ok = api_evict(j->api, a, x->ns, x->name, &o, &code, &e);
    if (world_dead(api_world(j->api)))
        return;
    struct asked *k = asked_of(d, x->uid); /* not before the call: others have come in */
    k->again_us = world_mono_us(api_world(j->api)) + ASK_EVERY_US;
    if (ok)
        tell_evicted(j, a, x);
    else if (code != 404 && code != 409 && k->code != code) /* gone, or another one has its name */
        log_write(j->log, LOG_WARN,
                  code == 429 ? "a disruption budget does not let a pod go yet" : "a pod cannot be evicted", &e,
                  &LOG_OBJ("Pod", x->ns, x->name), 1);
    k->code = ok ? 0 : code;
}

static void ask_all(struct drain *d, struct arena *a, const struct leavers *l)
{
    struct world *w = api_world(d->job->api);

    d->l = l;
    d->who = arena_new_array(a, uint32_t, l->n);
    d->n_who = 0;
    for (uint32_t i = 0; i < l->n; i++)
        if (!l->v[i].leaving && asked_of(d, l->v[i].uid)->again_us <= world_mono_us(w))
            d->who[d->n_who++] = i;
    if (d->n_who)
        fan_out(w, "evict", d->n_who, SIDE_BY_SIDE, ask_one, d);
}

/* ---- until nobody is left ---- */

static bool look(const struct drain_job *j, struct arena *a, struct leavers *ret, struct err *e)
{
    struct tree *pods;

    if (!api_list(j->api, a, &api_pods, arena_printf(a, "spec.nodeName=" STR_FMT, STR_ARG(j->node)), &pods, e))
        return err_wrap(e, "pods of node " STR_FMT, STR_ARG(j->node));
    *ret = leavers_of(a, pods, j->settings);
    return ret->refusal.n == 0 || err_set(e, ERR_INVALID, "it is not drained: " STR_FMT, STR_ARG(ret->refusal));
}

static bool still_there(const struct leavers *l, struct err *e)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < l->n && i < MAX_NAMED; i++)
        sb_printf(&b, "%s" STR_FMT "/" STR_FMT, i ? ", " : "", STR_ARG(l->v[i].ns), STR_ARG(l->v[i].name));
    if (l->n > MAX_NAMED)
        sb_c(&b, ", ...");
    (void)err_set(e, ERR_TIMEOUT, "%u pods are still there when the node's grace period is over: %s", l->n,
                  sb_cstr(&b));
    sb_fini(&b);
    return false;
}

static bool say_only(const struct drain_job *j, const struct leavers *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        log_info(j->log, "dry run: would evict pod", LOG_OBJ("Pod", l->v[i].ns, l->v[i].name));
    return true;
}

bool drain_node(const struct drain_job *j, struct err *e)
{
    struct drain d = {.job = j};
    struct world *w = api_world(j->api);
    int64_t grace_us = j->settings->node_grace_s * SECOND_US;
    int64_t until_us = grace_us ? world_mono_us(w) + grace_us : INT64_MAX; /* 0: no end, as with kubectl */
    struct arena *a = arena_new(0);
    bool ok = false;

    for (;;) {
        struct leavers l = {0};
        bool seen = look(j, a, &l, e), late = world_mono_us(w) >= until_us;

        if (world_dead(w)) {
            ok = err_set(e, ERR_IO, "the program ends");
            break;
        }
        if (!seen && (e->kind == ERR_INVALID || e->kind == ERR_DENIED || late))
            break;
        if (seen && (l.n == 0 || j->settings->dry_run)) {
            ok = say_only(j, &l);
            break;
        }
        if (seen && late) {
            ok = still_there(&l, e);
            break;
        }
        if (seen)
            ask_all(&d, a, &l);
        fiber_sleep_us(w, MIN(LOOK_EVERY_US, MAX(until_us - world_mono_us(w), 0)));
        arena_reset(a);
    }
    vec_fini(&d.asked);
    arena_free(a);
    return ok;
}
