/* How `kubectl get pods` shows a pod: one word for the state of all its containers. */
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/rule.h"
#include "sim/kube/rules/rules.h"

struct summary {
    struct arena *a;
    const struct tree *pod;
    str reason;
    int64_t ready, total, restarts;
    int64_t last_restart_ms; /* INT64_MIN: none */
    bool initializing;
};

static bool condition_is(const struct tree *pod, str type, const char *status)
{
    return str_is(tree_str(tree_get(condition(pod, type), "status")), status);
}

static bool restarts_always(const struct tree *pod, str init_name)
{
    const struct tree *list = tree_at(pod, "spec", "initContainers", NULL);

    for (uint32_t i = 0; i < list_len(list); i++)
        if (str_eq(tree_str(tree_get(&list->items[i], "name")), init_name))
            return str_is(tree_str(tree_get(&list->items[i], "restartPolicy")), "Always");
    return false;
}

static void count_restarts(struct summary *s, const struct tree *status)
{
    int64_t finished;

    s->restarts += number_of(tree_get(status, "restartCount"));
    if (time_of(tree_at(status, "lastState", "terminated", "finishedAt", NULL), &finished))
        s->last_restart_ms = MAX(s->last_restart_ms, finished);
}

/* A reason, or how the container ended. */
static str ending(struct arena *a, const struct tree *terminated)
{
    str reason = tree_str(tree_get(terminated, "reason"));

    if (reason.n)
        return reason;
    if (number_of(tree_get(terminated, "signal")))
        return arena_printf(a, "Signal:%lld", (long long)number_of(tree_get(terminated, "signal")));
    return arena_printf(a, "ExitCode:%lld", (long long)number_of(tree_get(terminated, "exitCode")));
}

static void look_at_init(struct summary *s, uint32_t n_init)
{
    const struct tree *list = tree_at(s->pod, "status", "initContainerStatuses", NULL);

    for (uint32_t i = 0; i < list_len(list) && !s->initializing; i++) {
        const struct tree *x = &list->items[i], *terminated = tree_at(x, "state", "terminated", NULL);
        str waiting = tree_str(tree_at(x, "state", "waiting", "reason", NULL)), word;
        bool always = restarts_always(s->pod, tree_str(tree_get(x, "name")));

        count_restarts(s, x);
        if (terminated && number_of(tree_get(terminated, "exitCode")) == 0)
            continue;
        if (always && tree_is_true(tree_get(x, "started"))) {
            s->ready += tree_is_true(tree_get(x, "ready"));
            continue;
        }
        if (terminated)
            word = ending(s->a, terminated);
        else if (waiting.n && !str_is(waiting, "PodInitializing"))
            word = waiting;
        else
            word = arena_printf(s->a, "%u/%u", i, n_init);
        s->reason = arena_printf(s->a, "Init:" STR_FMT, STR_ARG(word));
        s->initializing = true;
    }
}

/* Restarts of init containers no longer count once they are done; those that run beside the others do. */
static void recount_restarts(struct summary *s)
{
    const struct tree *list = tree_at(s->pod, "status", "initContainerStatuses", NULL);

    s->restarts = 0;
    s->last_restart_ms = INT64_MIN;
    for (uint32_t i = 0; i < list_len(list); i++)
        if (restarts_always(s->pod, tree_str(tree_get(&list->items[i], "name"))))
            count_restarts(s, &list->items[i]);
}

static void look_at_containers(struct summary *s)
{
    const struct tree *list = tree_at(s->pod, "status", "containerStatuses", NULL);
    bool running = false;

    recount_restarts(s);
    for (uint32_t i = list_len(list); i-- > 0;) {
        const struct tree *x = &list->items[i], *terminated = tree_at(x, "state", "terminated", NULL);
        str waiting = tree_str(tree_at(x, "state", "waiting", "reason", NULL));

        count_restarts(s, x);
        if (waiting.n) {
            s->reason = waiting;
        } else if (terminated) {
            s->reason = ending(s->a, terminated);
        } else if (tree_is_true(tree_get(x, "ready")) && tree_at(x, "state", "running", NULL)) {
            running = true;
            s->ready++;
        }
    }
    if (str_is(s->reason, "Completed") && running)
        s->reason = condition_is(s->pod, STR("Ready"), "True") ? STR("Running") : STR("NotReady");
}

static void summarise(struct summary *s)
{
    const struct tree *spec = tree_get(s->pod, "spec"), *status = tree_get(s->pod, "status");
    const struct tree *init = tree_get(spec, "initContainers");
    str phase = tree_str(tree_get(status, "phase")), why = tree_str(tree_get(status, "reason"));

    s->last_restart_ms = INT64_MIN;
    s->total = list_len(tree_get(spec, "containers"));
    for (uint32_t i = 0; i < list_len(init); i++)
        s->total += str_is(tree_str(tree_get(&init->items[i], "restartPolicy")), "Always");
    s->reason = why.n ? why : phase;

    if (str_is(tree_str(tree_get(condition(s->pod, STR("PodScheduled")), "reason")), "SchedulingGated"))
        s->reason = STR("SchedulingGated");
    look_at_init(s, list_len(init));
    if (!s->initializing || condition_is(s->pod, STR("Initialized"), "True"))
        look_at_containers(s);

    bool over = str_is(phase, "Succeeded") || str_is(phase, "Failed");
    if (has(tree_get(s->pod, "metadata"), "deletionTimestamp")) {
        if (str_is(why, "NodeLost"))
            s->reason = STR("Unknown");
        else if (!over)
            s->reason = STR("Terminating");
    }
}

static const struct column pod_columns[] = {
    COLUMN_NAME,
    {"Ready", "string", "", "Containers that are ready, of all", 0},
    {"Status", "string", "", "State of the containers in one word", 0},
    {"Restarts", "string", "", "How often containers were restarted, and when last", 0},
    COLUMN_AGE,
    {"IP", "string", "", "Address of the pod", 1},
    {"Node", "string", "", "Node that it is bound to", 1},
    {"Nominated Node", "string", "", "Node on which others are preempted for it", 1},
    {"Readiness Gates", "string", "", "Gates that are open, of all", 1},
};

static void cell_gates(struct cells *c, const struct tree *pod)
{
    const struct tree *gates = tree_at(pod, "spec", "readinessGates", NULL);
    uint32_t open = 0;

    for (uint32_t i = 0; i < list_len(gates); i++)
        open += condition_is(pod, tree_str(tree_get(&gates->items[i], "conditionType")), "True");
    if (list_len(gates))
        cell_str(c, arena_printf(c->a, "%u/%u", open, list_len(gates)));
    else
        cell_c(c, "<none>");
}

static void pod_cells(struct arena *a, const struct tree *pod, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    struct summary s = {.a = a, .pod = pod};
    const struct tree *ips = tree_at(pod, "status", "podIPs", NULL);
    str ip = tree_str(list_len(ips) ? tree_get(&ips->items[0], "ip") : tree_at(pod, "status", "podIP", NULL));

    summarise(&s);
    cell_name(c, pod);
    cell_str(c, arena_printf(a, "%lld/%lld", (long long)s.ready, (long long)s.total));
    cell_str(c, s.reason);
    if (s.restarts && s.last_restart_ms != INT64_MIN) {
        str ago = age_text(a, sat_sub(now_ms, s.last_restart_ms));

        cell_str(c, arena_printf(a, "%lld (" STR_FMT " ago)", (long long)s.restarts, STR_ARG(ago)));
    } else {
        cell_str(c, arena_printf(a, "%lld", (long long)s.restarts));
    }
    cell_age(c, pod);
    cell_or(c, ip, "<none>");
    cell_or(c, tree_str(tree_at(pod, "spec", "nodeName", NULL)), "<none>");
    cell_or(c, tree_str(tree_at(pod, "status", "nominatedNodeName", NULL)), "<none>");
    cell_gates(c, pod);
}

KIND_COLUMNS(pod);
