/* What kubelets answer when somebody asks for the log of a container: that it was started, with what, and how it ended. Nothing
 * runs in it, so there is nothing else to tell; who wants its pods to say more writes into their logs (kube_pod_log()). */
#include "data/json.h"
#include "model/duration.h"
#include "sim/kube/cluster/kubelet.h"
#include "sim/kube/podlog.h"

static bool runs(void *ctx, const struct object *pod)
{
    const struct kubelets *k = ctx;
    const struct pod_entry *e = pods_get(k->c->pods, pod->uid);

    return e && kubelet_of_pod(k, e);
}

static int64_t time_of(const struct tree *state, const char *key)
{
    int64_t ms = 0;
    struct err e;

    return time_parse_rfc3339(tree_str(tree_get(state, key)), &ms, &e) ? ms : 0;
}

static void add_member(struct sb *b, struct arena *a, const struct tree *container, const char *key)
{
    const struct tree *v = tree_get(container, key);

    if (v)
        sb_printf(b, ", %s " STR_FMT, key, STR_ARG(json_text(a, v)));
}

static void words(void *ctx, const struct tree *container, const struct tree *status, struct podlog *out)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *ended = tree_at(status, "state", "terminated", NULL);
    const struct tree *state = ended ? ended : tree_at(status, "state", "running", NULL);
    struct sb b = {0};

    (void)ctx;
    if (!state)
        return;
    sb_c(&b, "started by a simulated kubelet, nothing runs in it: image ");
    sb_str(&b, json_text(a, tree_get(container, "image")));
    add_member(&b, a, container, "command");
    add_member(&b, a, container, "args");
    podlog_add(out, time_of(state, "startedAt"), sb_view(&b));
    sb_fini(&b);
    if (ended)
        podlog_add(out, time_of(ended, "finishedAt"),
                   arena_printf(a, "exited with code " STR_FMT, STR_ARG(tree_scalar(tree_get(ended, "exitCode")))));
}

void kubelet_logs_init(struct kubelets *k)
{
    kube_set_kubelets(k->c->k, &(struct kube_kubelets){.ctx = k, .runs = runs, .words = words});
}

void kubelet_logs_fini(struct kubelets *k)
{
    kube_set_kubelets(k->c->k, &(struct kube_kubelets){0});
}
