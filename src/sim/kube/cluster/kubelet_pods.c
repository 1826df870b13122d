/* Pods on their machines: from bound to Running, from Running to done, from deleted to gone.
 *
 * What is under way with a pod is one pod_run: the next step and when it is due. It is made up again from the pod's status when the
 * cluster starts. A pod whose machine has no power stays as it is. */
#include "sim/kube/cluster/fields.h"
#include "sim/kube/cluster/kubelet.h"

enum step { STEP_BEGIN, STEP_START, STEP_EXIT, STEP_STOP, STEP_NONE };

struct pod_run {
    str uid; /* first: the key */
    enum step step;
    int64_t due_us;
};

struct kubelet *kubelet_of_pod(const struct kubelets *k, const struct pod_entry *e)
{
    struct kubelet *n = table_get(&k->by_name, pod_node(e));

    return n && (n->state == KUBELET_STARTING || n->state == KUBELET_UP) ? n : NULL;
}

/* ---- statuses ---- */

enum container_state { STATE_WAITING, STATE_RUNNING, STATE_EXITED };

static void set_state(struct arena *a, struct tree *t, enum container_state s, const char *why, int64_t code, str start,
                      str now)
{
    struct tree *state = tree_sub(a, t, "state"), *in;

    switch (s) {
    case STATE_WAITING:
        tree_set_str(a, tree_sub(a, state, "waiting"), "reason", str_c(why));
        break;
    case STATE_RUNNING:
        tree_set_str(a, tree_sub(a, state, "running"), "startedAt", start);
        break;
    case STATE_EXITED:
        in = tree_sub(a, state, "terminated");
        tree_set_i64(a, in, "exitCode", code);
        tree_set_str(a, in, "finishedAt", now);
        tree_set_str(a, in, "reason", str_c(why));
        tree_set_str(a, in, "startedAt", start);
        break;
    }
}

struct painting { /* how all containers of a pod look */
    enum container_state init, sidecar, main;
    const char *init_why, *why;
    int64_t code;
    str start, now;
};

static void paint(struct arena *a, struct tree *status, const struct tree *spec, const char *from, const char *to,
                  const struct painting *p, bool init)
{
    const struct tree *list = tree_get(spec, from);

    if (!list || list->n == 0)
        return;
    struct tree *out = tree_new_list(a);
    for (uint32_t i = 0; i < list->n; i++) {
        const struct tree *c = &list->items[i];
        bool sidecar = init && str_is(tree_str(tree_get(c, "restartPolicy")), "Always");
        enum container_state s = !init ? p->main : sidecar ? p->sidecar : p->init;
        const char *why = s == STATE_EXITED && p->code && !init ? "Error" : s == STATE_EXITED ? "Completed" : p->why;
        struct tree *t = tree_push(a, out, *tree_new_map(a));

        tree_set_str(a, t, "image", tree_str(tree_get(c, "image")));
        tree_set_str(a, t, "imageID", STR(""));
        tree_set(a, t, "lastState", *tree_new_map(a));
        tree_set_str(a, t, "name", tree_str(tree_get(c, "name")));
        tree_set_bool(a, t, "ready", s == STATE_RUNNING || (init && s == STATE_EXITED));
        tree_set_i64(a, t, "restartCount", 0);
        tree_set_bool(a, t, "started", s == STATE_RUNNING);
        set_state(a, t, s, s == STATE_WAITING && init ? p->init_why : why, init ? 0 : p->code, p->start, p->now);
    }
    tree_set(a, status, to, *out);
}

static void paint_all(struct arena *a, struct tree *status, const struct tree *spec, const struct painting *p)
{
    paint(a, status, spec, "initContainers", "initContainerStatuses", p, true);
    paint(a, status, spec, "containers", "containerStatuses", p, false);
}

/* Conditions in a kubelet's order, PodScheduled and others' after them; each keeps the time of its last transition. */
static void set_conditions(struct arena *a, struct tree *status, const struct condition *own, uint32_t n, str now)
{
    struct tree *old = tree_sublist(a, status, "conditions"), *list = tree_new_list(a);

    for (uint32_t i = 0; i < n; i++) {
        struct condition c = own[i];
        const struct tree *was = cond_find(old, c.type);

        c.flavour = CONDITION_POD;
        if (was)
            tree_push(a, list, *was);
        cond_set(a, list, &c, now);
    }
    for (uint32_t i = 0; i < old->n; i++)
        if (!cond_find(list, tree_str(tree_get(&old->items[i], "type"))))
            tree_push(a, list, old->items[i]);
    tree_set(a, status, "conditions", *list);
}

static void waiting_conditions(struct arena *a, struct tree *status, const struct tree *spec, str now)
{
    const struct tree *init = tree_get(spec, "initContainers"), *main = tree_get(spec, "containers");
    struct sb names = {0}, inits = {0};
    bool has_init = init && init->n;

    for (uint32_t i = 0; main && i < main->n; i++)
        sb_printf(&names, "%s" STR_FMT, i ? " " : "", STR_ARG(tree_str(tree_get(&main->items[i], "name"))));
    for (uint32_t i = 0; has_init && i < init->n; i++)
        sb_printf(&inits, "%s" STR_FMT, i ? " " : "", STR_ARG(tree_str(tree_get(&init->items[i], "name"))));
    str unready = arena_printf(a, "containers with unready status: [" STR_FMT "]", STR_ARG(sb_view(&names)));
    str incomplete = arena_printf(a, "containers with incomplete status: [" STR_FMT "]", STR_ARG(sb_view(&inits)));
    sb_fini(&names);
    sb_fini(&inits);

    const struct condition own[] = {
        {.type = STR("PodReadyToStartContainers"), .status = STR("False")},
        {.type = STR("Initialized"),
         .status = has_init ? STR("False") : STR("True"),
         .reason = has_init ? STR("ContainersNotInitialized") : STR(""),
         .message = has_init ? incomplete : STR("")},
        {.type = STR("Ready"), .status = STR("False"), .reason = STR("ContainersNotReady"), .message = unready},
        {.type = STR("ContainersReady"),
         .status = STR("False"),
         .reason = STR("ContainersNotReady"),
         .message = unready},
    };
    set_conditions(a, status, own, ARRAY_LEN(own), now);
}

/* The condition that a readiness gate asks for and that is not true; empty: none. */
static str closed_gate(const struct tree *spec, const struct tree *status)
{
    const struct tree *gates = tree_get(spec, "readinessGates");

    for (uint32_t i = 0; gates && i < gates->n; i++) {
        str type = tree_str(tree_get(&gates->items[i], "conditionType"));

        if (!cond_is(tree_get(status, "conditions"), type, STR("True")))
            return type;
    }
    return (str){0};
}

static void running_conditions(struct arena *a, struct tree *status, const struct tree *spec, str now)
{
    str gate = closed_gate(spec, status);
    struct condition ready = {.type = STR("Ready"), .status = STR("True")};

    if (gate.n) {
        ready.status = STR("False");
        ready.reason = STR("ReadinessGatesNotReady");
        ready.message = arena_printf(a, "corresponding condition of pod readiness gate \"" STR_FMT "\" does not exist.",
                                     STR_ARG(gate));
    }
    const struct condition own[] = {
        {.type = STR("PodReadyToStartContainers"), .status = STR("True")},
        {.type = STR("Initialized"), .status = STR("True")},
        ready,
        {.type = STR("ContainersReady"), .status = STR("True")},
    };
    set_conditions(a, status, own, ARRAY_LEN(own), now);
}

static void done_conditions(struct arena *a, struct tree *status, bool failed, str now)
{
    str reason = failed ? STR("PodFailed") : STR("PodCompleted");
    const struct condition own[] = {
        {.type = STR("PodReadyToStartContainers"), .status = STR("False")},
        {.type = STR("Initialized"), .status = STR("True"), .reason = failed ? STR("") : reason},
        {.type = STR("Ready"), .status = STR("False"), .reason = reason},
        {.type = STR("ContainersReady"), .status = STR("False"), .reason = reason},
    };

    set_conditions(a, status, own, ARRAY_LEN(own), now);
}

/* ---- steps ---- */

/* What a kubelet looks at, which is less than half of it. */
static const struct tree *spec_of(struct arena *a, const struct object *o)
{
    static const char *const names[] = {"containers", "initContainers", "readinessGates", "hostNetwork", NULL};

    return kube_members(a, o, "spec", names);
}

static struct tree *status_of(struct arena *a, const struct object *o)
{
    struct tree *t = kube_part(a, o, "status");

    return t ? t : tree_new_map(a);
}

static void events_of_start(struct cluster *c, const struct object *o, const struct tree *spec)
{
    static const char *const lists[] = {"initContainers", "containers"};

    for (size_t l = 0; c->o.container_events && l < ARRAY_LEN(lists); l++) {
        const struct tree *list = tree_get(spec, lists[l]);

        for (uint32_t i = 0; list && i < list->n; i++) {
            cluster_event(c, o, "kubelet", "Normal", "Pulled",
                          "Container image \"" STR_FMT "\" already present on machine",
                          STR_ARG(tree_str(tree_get(&list->items[i], "image"))));
            cluster_event(c, o, "kubelet", "Normal", "Created", "Container created");
            cluster_event(c, o, "kubelet", "Normal", "Started", "Container started");
        }
    }
}

static void set_host(struct kubelet *n, struct arena *a, struct tree *status, str now)
{
    tree_set_str(a, status, "hostIP", n->ip);
    tree_set_str(a, tree_push(a, tree_sublist(a, status, "hostIPs"), *tree_new_map(a)), "ip", n->ip);
    tree_set_str(a, status, "startTime", now);
}

static void begin(struct kubelet *n, const struct pod_entry *e, struct arena *a)
{
    struct cluster *c = n->all->c;
    struct tree *status = status_of(a, e->o);
    const struct tree *spec = spec_of(a, e->o);
    bool has_init = tree_get(spec, "initContainers") && tree_get(spec, "initContainers")->n;
    str now = time_text(a, cluster_now_ms(c));

    waiting_conditions(a, status, spec, now);
    tree_set_str(a, status, "phase", STR("Pending"));
    set_host(n, a, status, now);
    paint_all(
        a, status, spec,
        &(struct painting){.init_why = "PodInitializing", .why = has_init ? "PodInitializing" : "ContainerCreating"});
    cluster_update_part(c, e->o, "status", status);
}

static void run(struct kubelet *n, const struct pod_entry *e, struct arena *a)
{
    struct cluster *c = n->all->c;
    struct tree *status = status_of(a, e->o);
    const struct tree *spec = spec_of(a, e->o);
    str now = time_text(a, cluster_now_ms(c));

    if (e->started_ms == 0)
        set_host(n, a, status, now);
    if (tree_str(tree_get(status, "podIP")).n == 0) {
        uint32_t i = ++n->all->n_ips;
        str ip = tree_is_true(tree_get(spec, "hostNetwork"))
                     ? n->ip
                     : arena_printf(a, "10.%u.%u.%u", 64 + (i >> 16) % 128, i >> 8 & 255, i & 255);

        tree_set_str(a, status, "podIP", ip);
        tree_set_str(a, tree_push(a, tree_sublist(a, status, "podIPs"), *tree_new_map(a)), "ip", ip);
    }
    tree_set_str(a, status, "phase", STR("Running"));
    running_conditions(a, status, spec, now);
    paint_all(a, status, spec,
              &(struct painting){
                  .init = STATE_EXITED, .sidecar = STATE_RUNNING, .main = STATE_RUNNING, .start = now, .now = now});
    if (cluster_update_part(c, e->o, "status", status))
        events_of_start(c, e->o, spec);
}

static void finish(struct kubelet *n, const struct pod_entry *e, int64_t code, struct arena *a)
{
    struct cluster *c = n->all->c;
    struct tree *status = status_of(a, e->o);
    str now = time_text(a, cluster_now_ms(c)), start = tree_str(tree_get(status, "startTime"));

    tree_set_str(a, status, "phase", code ? STR("Failed") : STR("Succeeded"));
    done_conditions(a, status, code != 0, now);
    paint_all(a, status, spec_of(a, e->o),
              &(struct painting){.init = STATE_EXITED,
                                 .sidecar = STATE_EXITED,
                                 .main = STATE_EXITED,
                                 .code = code,
                                 .start = start.n ? start : now,
                                 .now = now});
    cluster_update_part(c, e->o, "status", status);
}

/* SIGTERM ends a container with 143. Only who counts finished pods (a Job) needs to hear of it; others just see the pod go. */
static void end(struct kubelet *n, struct pod_entry *e, struct arena *a)
{
    str uid = arena_strdup(a, e->uid);

    if (e->tracked && !pod_is_over(e))
        finish(n, e, 143, a);
    e = pods_get(n->all->c->pods, uid);
    if (e)
        cluster_delete(n->all->c, e->o, 0);
}

/* Readiness gates are others' conditions: when they change, so may Ready. */
static void review_gates(struct kubelet *n, const struct pod_entry *e, struct arena *a)
{
    struct cluster *c = n->all->c;
    struct tree *status = status_of(a, e->o);
    const struct tree *spec = spec_of(a, e->o);
    bool open = closed_gate(spec, status).n == 0;

    if (open == e->ready)
        return;
    running_conditions(a, status, spec, time_text(a, cluster_now_ms(c)));
    cluster_update_part(c, e->o, "status", status);
}

/* ---- when ---- */

static int64_t stop_us(struct kubelets *k, const struct pod_entry *e)
{
    int64_t us = e->phase == POD_RUNNING ? cluster_draw_us(k->c, k->c->o.pod_stop, 200) : 0;

    return MIN(us, sat_mul(e->grace_s, 1000000));
}

static void plan_step(struct kubelets *k, struct pod_run *r, const struct pod_entry *e)
{
    int64_t ran_ms = e->started_ms ? cluster_now_ms(k->c) - e->started_ms : 0;

    r->due_us = world_mono_us(k->c->w);
    if (e->o->deleted_ms) {
        r->step = STEP_STOP;
        r->due_us += stop_us(k, e);
    } else if (pod_is_over(e)) {
        r->step = STEP_NONE;
    } else if (e->phase == POD_RUNNING) {
        r->step = e->run_ms < 0 ? STEP_NONE : STEP_EXIT;
        r->due_us += (int64_t)((double)MAX(e->run_ms - ran_ms, 0) * 1000 / k->c->o.speed);
    } else if (e->started_ms == 0 && !k->c->o.lean) {
        r->step = STEP_BEGIN;
    } else {
        r->step = STEP_START;
        r->due_us += cluster_draw_us(k->c, k->c->o.pod_start, 1000);
    }
}

static void take_step(struct kubelet *n, enum step step, struct pod_entry *e, struct arena *a)
{
    switch (step) {
    case STEP_BEGIN:
        begin(n, e, a);
        break;
    case STEP_START:
        run(n, e, a);
        break;
    case STEP_EXIT:
        finish(n, e, e->exit_code, a);
        break;
    case STEP_STOP:
        end(n, e, a);
        break;
    case STEP_NONE:
        if (e->phase == POD_RUNNING && e->has_gates)
            review_gates(n, e, a);
        break;
    }
}

static struct pod_run *run_of(struct kubelets *k, const struct pod_entry *e)
{
    struct pod_run *r = table_get(&k->containers, e->uid);

    if (!r) {
        r = xmalloc(sizeof(*r) + e->uid.n);
        *r = (struct pod_run){.uid = {memcpy(r + 1, e->uid.p, e->uid.n), e->uid.n}};
        table_put(&k->containers, r);
        plan_step(k, r, e);
    } else if ((e->o->deleted_ms != 0) != (r->step == STEP_STOP)) {
        plan_step(k, r, e);
    }
    return r;
}

static void on_work(void *ctx, str uid)
{
    struct kubelets *k = ctx;
    struct pod_entry *e = pods_get(k->c->pods, uid);
    struct kubelet *n = e ? kubelet_of_pod(k, e) : NULL;

    if (!n)
        return;
    struct pod_run *r = run_of(k, e);
    if ((r->step == STEP_BEGIN || r->step == STEP_START) && n->state != KUBELET_UP && !e->host_network)
        return; /* looked at again when the node is ready */
    int64_t wait_us = r->due_us - world_mono_us(k->c->w);
    if (wait_us > 0) {
        work_add_after(k->pods, uid, wait_us);
        return;
    }
    /* The pod may be gone after the step, and the run with it. */
    enum step step = r->step;
    take_step(n, step, e, cluster_begin(k->c));
    r = table_get(&k->containers, uid);
    e = pods_get(k->c->pods, uid);
    if (!r || !e || step == STEP_NONE || step == STEP_STOP)
        return;
    plan_step(k, r, e);
    if (r->step != STEP_NONE && r->step != step)
        work_add_after(k->pods, uid, MAX(r->due_us - world_mono_us(k->c->w), 0));
}

static void on_pod(void *ctx, struct seen *s)
{
    struct kubelets *k = ctx;

    if (s->old && (!s->new || !str_eq(s->new->uid, s->old->uid)))
        free(table_take(&k->containers, s->old->uid));
    if (!s->new)
        return;
    const struct pod_entry *e = pods_get(k->c->pods, s->new->uid);
    if (!kubelet_of_pod(k, e))
        return;
    /* Most changes of a running pod are the kubelet's own: only those that ask something of it wake it. */
    const struct pod_run *r = table_get(&k->containers, e->uid);
    bool stopping = s->new->deleted_ms && (!r || r->step != STEP_STOP);
    if (!r || stopping || (r->step == STEP_NONE && e->has_gates))
        work_add(k->pods, e->uid);
}

void pod_runs_of_node(struct kubelets *k, str node)
{
    const struct pod_group *g = pods_of_node(k->c->pods, node);

    for (const struct pod_entry *e = g ? g->first : NULL; e; e = e->by_node.next)
        work_add(k->pods, e->uid);
}

void pod_runs_init(struct kubelets *k)
{
    k->pods = work_new(k->c->w, "kubelet-pods", on_work, k);
    see(k->c, k->c->kinds.pod, on_pod, k);
}

static void release_run(void *ctx, void *run)
{
    (void)ctx;
    free(run);
}

void pod_runs_fini(struct kubelets *k)
{
    table_drain(&k->containers, release_run, NULL);
    work_free(k->pods);
}
