/* pods/eviction: a deletion that asks the pod's disruption budget first. */
#include "data/edit.h"
#include "sim/kube/kube_int.h"
#include "sim/kube/selector.h"

#define DISRUPTED_MAX 2000u /* evictions that the budget's controller has not seen yet */

struct eviction {
    struct kube *k;
    struct arena *a;
    const struct object *pod;
    const struct tree *tree; /* of the pod: its status and nothing else */
    struct status *st;
    const struct object *budget;
    uint32_t n_budgets;
};

static int64_t number(const struct tree *t, const char *key)
{
    int64_t v = 0;

    (void)tree_to_i64(tree_at(t, "status", key, NULL), &v);
    return v;
}

static bool is_ready(const struct tree *pod)
{
    return str_is(tree_str(tree_get(condition_get(pod, "Ready"), "status")), "True");
}

/* A pod that does not run disrupts nothing. */
static bool needs_no_budget(const struct eviction *v)
{
    str phase = tree_str(tree_at(v->tree, "status", "phase", NULL));

    return v->pod->deleted_ms || str_is(phase, "Succeeded") || str_is(phase, "Failed") || str_is(phase, "Pending");
}

static void match_budget(void *ctx, const struct object *budget)
{
    struct eviction *v = ctx;
    const struct selector *s;
    struct err e;

    if (selector_from_tree(v->a, tree_get(object_part_tree(v->a, budget, STR("spec")), "selector"), &s, &e) &&
        selector_matches_labels(s, v->pod->labels, v->pod->n_labels)) {
        v->budget = budget;
        v->n_budgets++;
    }
}

/* ---- refusals ---- */

static bool too_many(struct eviction *v, int retry_after_s, str why)
{
    struct cause *c = arena_new_one(v->a, struct cause);

    (void)status_too_many(v->a, v->st, retry_after_s,
                          "Cannot evict pod as it would violate the pod's disruption budget.");
    *c = (struct cause){STR("DisruptionBudget"), why, {0}};
    v->st->causes = c;
    v->st->n_causes = 1;
    return false;
}

static bool exhausted(struct eviction *v, const struct tree *budget)
{
    const struct tree *c = condition_get(budget, "DisruptionAllowed");
    str reason = tree_str(tree_get(c, "reason")), message = tree_str(tree_get(c, "message"));
    bool refused = c && str_is(tree_str(tree_get(c, "status")), "False") && message.n;
    int64_t healthy = number(budget, "currentHealthy"), desired = number(budget, "desiredHealthy");
    str name = v->budget->name, why;

    if (refused && str_is(reason, "SyncFailed"))
        why = arena_printf(v->a,
                           "The disruption budget " STR_FMT
                           " does not allow evicting pods currently because it failed sync: " STR_FMT,
                           STR_ARG(name), STR_ARG(message));
    else if (healthy <= desired)
        why = arena_printf(v->a, "The disruption budget " STR_FMT " needs %lld healthy pods and has %lld currently",
                           STR_ARG(name), (long long)desired, (long long)healthy);
    else if (refused)
        why = arena_printf(
            v->a, "The disruption budget " STR_FMT " does not allow evicting pods currently (" STR_FMT "): " STR_FMT,
            STR_ARG(name), STR_ARG(reason), STR_ARG(message));
    else
        why = arena_printf(v->a, "The disruption budget " STR_FMT " does not allow evicting pods currently",
                           STR_ARG(name));
    return too_many(v, 0, why);
}

static bool forbidden(struct eviction *v, const char *why)
{
    struct kind named = *v->k->budgets;

    named.plural = STR("poddisruptionbudget");
    return status_forbidden(v->a, v->st, &named, v->budget->name, "%s", why);
}

/* ---- the budget ---- */

static bool may_take(struct eviction *v, const struct tree *budget)
{
    const struct tree *disrupted = tree_at(budget, "status", "disruptedPods", NULL);
    int64_t generation = 0;

    (void)tree_to_i64(tree_at(budget, "metadata", "generation", NULL), &generation);
    if (number(budget, "observedGeneration") < generation)
        return too_many(v, 10,
                        arena_printf(v->a, "The disruption budget " STR_FMT " is still being processed by the server.",
                                     STR_ARG(v->budget->name)));
    if (number(budget, "disruptionsAllowed") < 0)
        return forbidden(v, "pdb disruptions allowed is negative");
    if (disrupted && disrupted->n > DISRUPTED_MAX)
        return forbidden(v, "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
    return number(budget, "disruptionsAllowed") > 0 || exhausted(v, budget);
}

/* One disruption less, and a note for the budget's controller that this pod is on its way out. */
static void take(struct eviction *v, struct tree *budget)
{
    struct arena *a = v->a;
    struct tree *status = tree_sub(a, budget, "status"), *disrupted = tree_sub(a, status, "disruptedPods");
    int64_t allowed = number(budget, "disruptionsAllowed") - 1, now_ms = world_now_ms(v->k->world);

    tree_set_i64(a, status, "disruptionsAllowed", allowed);
    *tree_put(a, disrupted, v->pod->name) = tree_of_str(meta_time(a, now_ms));
    if (allowed == 0) {
        const struct tree *seen = tree_at(budget, "metadata", "generation", NULL);

        condition_set(a, budget, "DisruptionAllowed", "False", "InsufficientPods", "", now_ms);
        struct tree *c = (struct tree *)condition_get(budget, "DisruptionAllowed");
        tree_set_str(a, c, "message", STR(""));
        if (seen)
            tree_set(a, c, "observedGeneration", *seen);
    }
    object_ref(v->budget);
    (void)write_revision(v->k, a, v->budget, budget);
    object_unref(v->budget);
}

static bool unready_may_go(const struct eviction *v, const struct tree *budget)
{
    str policy = tree_str(tree_at(budget, "spec", "unhealthyPodEvictionPolicy", NULL));
    int64_t desired = number(budget, "desiredHealthy");

    return !is_ready(v->tree) &&
           (str_is(policy, "AlwaysAllow") || (number(budget, "currentHealthy") >= desired && desired > 0));
}

static bool ask_budget(struct eviction *v, bool dry_run)
{
    kube_each(v->k, v->k->budgets, v->pod->ns, match_budget, v);
    if (v->n_budgets > 1) {
        (void)status_internal(v->a, v->st,
                              "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
                              "support.");
        v->st->reason = "";
        return false;
    }
    if (v->n_budgets == 0)
        return true;
    struct tree *budget = object_tree(v->a, v->budget);
    if (unready_may_go(v, budget))
        return true;
    if (!may_take(v, budget))
        return false;
    if (!dry_run)
        take(v, budget);
    return true;
}

/* ---- the pod ---- */

static bool preconditions_hold(const struct eviction *v, const struct delete_options *d, const struct write_options *o)
{
    struct write_options dry = {.dry_run = true};

    if (o)
        dry.user = o->user;
    return kube_delete_as(v->k, v->a, v->k->pods, v->pod->ns, v->pod->name, d, &dry, NULL, v->st);
}

static bool delete_pod(struct eviction *v, const struct delete_options *d, const struct write_options *o)
{
    struct delete_options rest = *d;
    struct tree *obj = object_tree(v->a, v->pod);

    if (!preconditions_hold(v, d, o))
        return false;
    if (o && o->dry_run)
        return true;
    condition_set(v->a, obj, "DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting",
                  world_now_ms(v->k->world));
    (void)write_revision(v->k, v->a, v->pod, obj);
    rest.rv = 0; /* it was met, and has moved on since */
    return kube_delete_as(v->k, v->a, v->k->pods, v->pod->ns, v->pod->name, &rest, o, NULL, v->st);
}

static const struct tree *status_alone(struct arena *a, const struct object *o)
{
    struct tree *t = tree_new_map(a), *status = object_part_tree(a, o, STR("status"));

    if (status)
        tree_set(a, t, "status", *status);
    return t;
}

bool kube_evict_as(struct kube *k, struct arena *a, str ns, str name, const struct delete_options *d,
                   const struct write_options *o, struct status *st)
{
    static const struct delete_options usual = {.grace_s = -1};
    const struct object *pod = kube_get(k, k->pods, ns, name);

    if (!pod)
        return status_not_found(a, st, k->pods, name);
    struct eviction v = {.k = k, .a = a, .pod = pod, .tree = status_alone(a, pod), .st = st};
    object_ref(pod);
    bool ok = (needs_no_budget(&v) || ask_budget(&v, o && o->dry_run)) && delete_pod(&v, d ? d : &usual, o);
    object_unref(pod);
    return ok;
}

bool kube_evict(struct kube *k, struct arena *a, str ns, str name, const struct delete_options *o, struct status *st)
{
    return kube_evict_as(k, a, ns, name, o, NULL, st);
}
