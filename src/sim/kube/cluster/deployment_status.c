/* What a Deployment says of itself: counts, whether it is available, whether it makes progress. */
#include "sim/kube/cluster/deployment.h"

static int64_t count(const struct rollout *r, const char *key)
{
    return field_i64(tree_get(r->s.status, key), 0);
}

void rollout_progress(struct rollout *r, str status, str reason, str message)
{
    struct condition c = {
        .type = STR("Progressing"), .status = status, .reason = reason, .message = message, .flavour = CONDITION_APPS};

    cond_set(r->s.a, tree_sublist(r->s.a, r->s.status, "conditions"), &c, r->s.now);
}

bool rollout_complete(const struct rollout *r)
{
    return count(r, "updatedReplicas") == r->replicas && count(r, "replicas") == r->replicas &&
           count(r, "availableReplicas") == r->replicas && count(r, "observedGeneration") >= r->s.generation;
}

bool rollout_paused_condition(struct rollout *r)
{
    const struct tree *c = cond_find(tree_get(r->s.status, "conditions"), STR("Progressing"));
    str reason = tree_str(tree_get(c, "reason"));
    bool said = str_is(reason, "DeploymentPaused");

    if (!rollout_has_deadline(r) || str_is(reason, "ProgressDeadlineExceeded") || said == r->paused)
        return false;
    if (r->paused)
        rollout_progress(r, STR("Unknown"), STR("DeploymentPaused"), STR("Deployment is paused"));
    else
        rollout_progress(r, STR("Unknown"), STR("DeploymentResumed"), STR("Deployment is resumed"));
    return subject_write_status(&r->s);
}

struct before { /* status as it was, for telling progress */
    int64_t updated, old, ready, available;
};

static struct before remember(const struct rollout *r)
{
    return (struct before){count(r, "updatedReplicas"), count(r, "replicas") - count(r, "updatedReplicas"),
                           count(r, "readyReplicas"), count(r, "availableReplicas")};
}

static void set_counts(struct rollout *r)
{
    struct subject *s = &r->s;
    int64_t n = 0, ready = 0, terminating = 0, available = rollout_available(r, false);
    bool enough = available >= r->replicas - r->max_unavailable;
    struct condition cond = {
        .type = STR("Available"),
        .status = enough ? STR("True") : STR("False"),
        .reason = enough ? STR("MinimumReplicasAvailable") : STR("MinimumReplicasUnavailable"),
        .message = enough ? STR("Deployment has minimum availability.")
                          : STR("Deployment does not have minimum availability."),
        .flavour = CONDITION_APPS,
    };

    for (uint32_t i = 0; i < r->n; i++) {
        n += r->sets[i].n;
        ready += r->sets[i].ready;
        terminating += r->sets[i].terminating;
    }
    status_count(s, "observedGeneration", s->generation);
    status_count(s, "replicas", n);
    status_count(s, "updatedReplicas", r->fresh ? r->fresh->n : 0);
    status_count(s, "readyReplicas", ready);
    status_count(s, "availableReplicas", available);
    status_count(s, "unavailableReplicas", MAX(rollout_total(r, false) - available, 0));
    tree_set_i64(s->a, s->status, "terminatingReplicas", terminating);
    cond_set(s->a, tree_sublist(s->a, s->status, "conditions"), &cond, s->now);
}

static bool timed_out(const struct rollout *r, const struct tree *cond)
{
    str reason = tree_str(tree_get(cond, "reason"));
    int64_t since_ms = field_time(tree_get(cond, "lastUpdateTime"), r->s.now_ms);

    if (!cond || str_is(reason, "NewReplicaSetAvailable"))
        return false;
    return str_is(reason, "ProgressDeadlineExceeded") || since_ms + r->deadline_s * 1000 < r->s.now_ms;
}

static str who(const struct rollout *r, const char *what)
{
    bool set = r->fresh != NULL;

    return arena_printf(r->s.a, "%s \"" STR_FMT "\" %s", set ? "ReplicaSet" : "Deployment",
                        STR_ARG(set ? r->fresh->o->name : r->s.o->name), what);
}

/* Nothing may happen until then, and that is what has to be noticed. */
static void wait_for_deadline(struct rollout *r, const struct tree *cond)
{
    str reason = tree_str(tree_get(cond, "reason"));
    int64_t since_ms = field_time(tree_get(cond, "lastUpdateTime"), r->s.now_ms);

    if (cond && !str_is(reason, "NewReplicaSetAvailable") && !str_is(reason, "ProgressDeadlineExceeded"))
        key_add_name_after(r->q, r->s.o->ns, r->s.o->name,
                           (since_ms + r->deadline_s * 1000 - r->s.now_ms + 1000) * 1000);
}

static void judge_progress(struct rollout *r, const struct before *b)
{
    struct tree *conditions = tree_sublist(r->s.a, r->s.status, "conditions");
    struct tree *cond = (struct tree *)cond_find(conditions, STR("Progressing"));

    if (!rollout_has_deadline(r)) {
        cond_drop(conditions, STR("Progressing"));
        return;
    }
    if (count(r, "replicas") == count(r, "updatedReplicas") &&
        str_is(tree_str(tree_get(cond, "reason")), "NewReplicaSetAvailable"))
        return;
    struct before now = remember(r);
    if (rollout_complete(r)) {
        rollout_progress(r, STR("True"), STR("NewReplicaSetAvailable"), who(r, "has successfully progressed."));
    } else if (now.updated > b->updated || now.old < b->old || now.ready > b->ready || now.available > b->available) {
        /* Every step counts, so the time of the last one is kept even if the words are the same. */
        bool was_true = str_is(tree_str(tree_get(cond, "status")), "True");
        str since = was_true ? tree_str(tree_get(cond, "lastTransitionTime")) : r->s.now;

        cond_drop(conditions, STR("Progressing"));
        rollout_progress(r, STR("True"), STR("ReplicaSetUpdated"), who(r, "is progressing."));
        tree_set_str(r->s.a, (struct tree *)cond_find(conditions, STR("Progressing")), "lastTransitionTime", since);
    } else if (timed_out(r, cond)) {
        rollout_progress(r, STR("False"), STR("ProgressDeadlineExceeded"), who(r, "has timed out progressing."));
    }
    wait_for_deadline(r, cond_find(conditions, STR("Progressing")));
}

static void judge_failure(struct rollout *r)
{
    struct tree *conditions = tree_sublist(r->s.a, r->s.status, "conditions");
    const struct tree *failure = NULL;

    for (uint32_t i = 0; i < r->n; i++)
        if (r->sets[i].failed && (!failure || &r->sets[i] == r->fresh))
            failure = cond_find(tree_get(r->sets[i].status, "conditions"), STR("ReplicaFailure"));
    if (!failure) {
        cond_drop(conditions, STR("ReplicaFailure"));
        return;
    }
    struct condition c = {.type = STR("ReplicaFailure"),
                          .status = STR("True"),
                          .reason = tree_str(tree_get(failure, "reason")),
                          .message = tree_str(tree_get(failure, "message")),
                          .flavour = CONDITION_APPS};
    cond_set(r->s.a, conditions, &c, r->s.now);
}

void rollout_status(struct rollout *r)
{
    struct before b = remember(r);

    set_counts(r);
    if (!r->paused)
        judge_progress(r, &b);
    judge_failure(r);
    subject_write_status(&r->s); /* which makes no revision when nothing has changed */
}
