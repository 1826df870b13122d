/* Everything goes over the wire, as it would with kubectl. A step is a sentence, the command that a person would type, the call that does the same, and a
 * condition that has to come true within its time. */
#include "cli/demo/tour.h"

#include <stdio.h>
#include <stdlib.h>

#include "data/edit.h"
#include "data/reader.h"
#include "k8s/api.h"
#include "net/fiber.h"

#define POLL_US 50000
#define PATIENCE_US (60 * 1000000ll)

struct tour {
    struct tour_setup s;
    struct kube_config *config;
    struct api *api;
    struct arena *a; /* of the step */
    struct err e;
    uint32_t most_going; /* nodes on their way out at once, in the step */
};

struct sight { /* what there is at the moment */
    struct tree *claims, *pods;
    uint32_t n_claims, n_ready; /* NodeClaims, and those that are Ready */
    uint32_t n_pods, n_running;
    uint32_t n_nodes; /* that belong to a NodePool */
    uint32_t n_going; /* of these: tainted or being deleted */
    uint32_t n_spot;  /* NodeClaims of spot capacity */
    double price;     /* of all NodeClaims, an hour */
};

static bool list(struct tour *t, const struct api_kind *k, const char *ns, struct tree **ret)
{
    struct tree *l;

    if (!api_get(t->api, t->a, &(struct api_ref){k, str_c(ns), {0}}, &l, &t->e))
        return false;
    *ret = tree_find(l, STR("items"));
    return *ret != NULL || err_set(&t->e, ERR_INVALID, "the server's list of %s has no items", k->plural);
}

static bool is_ready(const struct tree *claim)
{
    const struct tree *list = tree_at(claim, "status", "conditions", NULL);

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), "Ready"))
            return str_is(tree_str(tree_get(&list->items[i], "status")), "True");
    return false;
}

static bool is_going(const struct tree *node)
{
    const struct tree *taints = tree_at(node, "spec", "taints", NULL);

    for (uint32_t i = 0; taints && i < taints->n; i++)
        if (str_is(tree_str(tree_get(&taints->items[i], "key")), "karpenter.sh/disrupted"))
            return true;
    return tree_at(node, "metadata", "deletionTimestamp", NULL) != NULL;
}

static double price_of(const struct tree *claim)
{
    double price;

    return str_to_double(tree_str(tree_at(claim, "metadata", "labels", "eks-node-viewer/instance-price", NULL)), &price)
               ? price
               : 0;
}

static bool look(struct tour *t, struct sight *s)
{
    struct tree *nodes;

    *s = (struct sight){0};
    arena_reset(t->a);
    if (!list(t, &api_nodeclaims, "", &s->claims) || !list(t, &api_pods, "default", &s->pods) ||
        !list(t, &api_nodes, "", &nodes))
        return false;
    s->n_claims = s->claims->n;
    for (uint32_t i = 0; i < s->claims->n; i++) {
        const struct tree *c = &s->claims->items[i];

        s->n_ready += is_ready(c);
        s->n_spot += str_is(tree_str(tree_at(c, "metadata", "labels", "karpenter.sh/capacity-type", NULL)), "spot");
        s->price += price_of(c);
    }
    for (uint32_t i = 0; i < s->pods->n; i++) {
        const struct tree *p = &s->pods->items[i];

        if (tree_at(p, "metadata", "deletionTimestamp", NULL))
            continue;
        s->n_pods++;
        s->n_running += str_is(tree_str(tree_at(p, "status", "phase", NULL)), "Running");
    }
    for (uint32_t i = 0; i < nodes->n; i++)
        if (tree_get(tree_at(&nodes->items[i], "metadata", "labels", NULL), "karpenter.sh/nodepool")) {
            s->n_nodes++;
            s->n_going += is_going(&nodes->items[i]);
        }
    t->most_going = MAX(t->most_going, s->n_going);
    return true;
}

typedef bool (*holds_fn)(const struct sight *s, uint32_t n, str name);

/* Looks until the condition holds; says how long it took. */
static bool wait_for(struct tour *t, holds_fn holds, uint32_t n, str name, const char *what, struct sight *s)
{
    int64_t began = world_mono_us(t->s.world);

    for (;;) {
        int64_t took = world_mono_us(t->s.world) - began;

        if (!look(t, s))
            return false;
        if (holds(s, n, name)) {
            (void)printf("   %.1f s later: %s\n", (double)took / 1e6, what);
            return true;
        }
        if (took > PATIENCE_US || world_dead(t->s.world))
            return err_set(&t->e, ERR_TIMEOUT,
                           "waited %lld s for: %s; there are %u NodeClaims (%u ready), %u nodes, %u of %u pods running",
                           PATIENCE_US / 1000000, what, s->n_claims, s->n_ready, s->n_nodes, s->n_running, s->n_pods);
        fiber_sleep_us(t->s.world, POLL_US);
    }
}

static void say(const char *what, const char *command)
{
    (void)printf("\n-- %s\n   $ kubectl %s\n", what, command);
    (void)fflush(stdout);
}

static void say_claims(const struct sight *s)
{
    for (uint32_t i = 0; i < s->n_claims; i++) {
        const struct tree *c = &s->claims->items[i], *labels = tree_at(c, "metadata", "labels", NULL);
        str price = tree_str(tree_get(labels, "eks-node-viewer/instance-price"));

        (void)printf("   " STR_FMT "  " STR_FMT "  " STR_FMT "  " STR_FMT "%s" STR_FMT "\n",
                     STR_ARG(tree_str(tree_at(c, "metadata", "name", NULL))),
                     STR_ARG(tree_str(tree_get(labels, "node.kubernetes.io/instance-type"))),
                     STR_ARG(tree_str(tree_get(labels, "karpenter.sh/capacity-type"))),
                     STR_ARG(tree_str(tree_get(labels, "topology.kubernetes.io/zone"))), price.n ? "  $/h " : "",
                     STR_ARG(price));
    }
    (void)fflush(stdout);
}

static bool scale(struct tour *t, int64_t replicas)
{
    struct tree *patch = tree_new_map(t->a);

    tree_set_i64(t->a, tree_sub(t->a, patch, "spec"), "replicas", replicas);
    return api_patch(t->api, t->a, &(struct api_ref){&api_deployments, STR("default"), STR("inflate")}, NULL, API_MERGE,
                     patch, NULL, &t->e);
}

/* ---- conditions ---- */

static bool all_run(const struct sight *s, uint32_t n, str name UNUSED)
{
    return s->n_pods == n && s->n_running == n && s->n_claims > 0 && s->n_ready == s->n_claims &&
           s->n_nodes == s->n_claims;
}

static bool gone_and_all_run(const struct sight *s, uint32_t n, str name)
{
    for (uint32_t i = 0; i < s->n_claims; i++)
        if (str_eq(tree_str(tree_at(&s->claims->items[i], "metadata", "name", NULL)), name))
            return false;
    return all_run(s, n, name);
}

static bool none_is_spot(const struct sight *s, uint32_t n, str name)
{
    return s->n_spot == 0 && s->n_going == 0 && all_run(s, n, name);
}

/* Three pods of a CPU each fit on four CPUs, and no other node was left. */
static bool one_is_enough(const struct sight *s, uint32_t n, str name)
{
    str cpus;

    if (s->n_claims != 1 || s->n_going || !all_run(s, n, name))
        return false;
    cpus = tree_str(tree_at(s->claims->items, "metadata", "labels", "karpenter.kwok.sh/instance-cpu", NULL));
    return str_is(cpus, "4");
}

static bool nothing_left(const struct sight *s, uint32_t n UNUSED, str name UNUSED)
{
    return s->n_claims == 0 && s->n_nodes == 0 && s->n_pods == 0;
}

/* ---- steps ---- */

static bool lose_a_node(struct tour *t, uint32_t n, struct sight *s)
{
    str name = tree_str(tree_at(&s->claims->items[0], "metadata", "name", NULL));
    char kept[256], command[300];

    (void)snprintf(kept, sizeof(kept), STR_FMT, STR_ARG(name));
    (void)snprintf(command, sizeof(command), "delete nodeclaim %s", kept);
    say("One NodeClaim is deleted: its node is tainted and drained, a new one takes the pods, then the machine goes.",
        command);
    return api_delete(t->api, t->a, &(struct api_ref){&api_nodeclaims, {0}, str_c(kept)}, NULL, &t->e) &&
           wait_for(t, gone_and_all_run, n, str_c(kept), "it is gone, with its node; every pod runs", s);
}

static bool patch_pool(struct tour *t, const char *text)
{
    const struct tree *patch;

    return tree_parse_json(t->a, "patch", str_c(text), &patch, &t->e) &&
           api_patch(t->api, t->a, &(struct api_ref){&api_nodepools, {0}, STR("default")}, NULL, API_MERGE, patch, NULL,
                     &t->e);
}

/* From here on nodes may go as soon as they are not needed. */
static bool out_of_date(struct tour *t, uint32_t n, struct sight *s)
{
    static const char *const patch =
        "{\"spec\":{\"disruption\":{\"consolidateAfter\":\"0s\",\"budgets\":["
        "{\"nodes\":\"1\",\"reasons\":[\"Drifted\"]},{\"nodes\":\"100%\"}]},"
        "\"template\":{\"spec\":{\"requirements\":["
        "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"on-demand\"]},"
        "{\"key\":\"kubernetes.io/arch\",\"operator\":\"In\",\"values\":[\"amd64\"]},"
        "{\"key\":\"karpenter.kwok.sh/instance-cpu\",\"operator\":\"Lt\",\"values\":[\"33\"]}]}}}}";
    char command[600];

    (void)snprintf(command, sizeof(command), "patch nodepool default --type merge -p '%s'", patch);
    say("Spot capacity is not wanted any more: the nodes have drifted. Each is replaced first and drained then, one "
        "at a time,\n   because the NodePool's budget says so.",
        command);
    t->most_going = 0;
    if (!patch_pool(t, patch) || !wait_for(t, none_is_spot, n, STR(""), "every node is on-demand, every pod runs", s))
        return false;
    return t->most_going <= 1 ||
           err_set(&t->e, ERR_INVALID, "the budget allows one node at a time, and %u went", t->most_going);
}

static bool too_large(struct tour *t, struct sight *s)
{
    double before = s->price;

    say("Most pods go. Nodes that others have room for are removed; one that is too large is replaced by a cheaper one, "
        "which is ready\n   before the pods move.",
        "scale deployment inflate --replicas 3");
    if (!scale(t, 3) || !wait_for(t, one_is_enough, 3, STR(""), "three pods run on one node of four CPUs", s))
        return false;
    (void)printf("   $ %.2f an hour instead of $ %.2f\n", s->price, before);
    return true;
}

static bool steps(struct tour *t)
{
    struct sight s;

    say("Five pods that want a CPU each. No node has room: Karpenter picks one that has.",
        "scale deployment inflate --replicas 5");
    if (!scale(t, 5) || !wait_for(t, all_run, 5, STR(""), "five pods run", &s))
        return false;
    say_claims(&s);
    say("Twenty of them.", "scale deployment inflate --replicas 20");
    if (!scale(t, 20) || !wait_for(t, all_run, 20, STR(""), "twenty pods run", &s))
        return false;
    say_claims(&s);
    if (!lose_a_node(t, 20, &s))
        return false;
    say_claims(&s);
    if (!out_of_date(t, 20, &s))
        return false;
    say_claims(&s);
    if (!too_large(t, &s))
        return false;
    say_claims(&s);
    say("Nobody needs anything any more. Empty nodes go by themselves.", "scale deployment inflate --replicas 0");
    return scale(t, 0) &&
           wait_for(t, nothing_left, 0, STR(""), "no pods, no NodeClaims, no nodes but the bootstrap group", &s);
}

static void run(void *arg)
{
    struct tour *t = arg;
    bool ok = steps(t);

    if (ok)
        (void)printf("\nEvery step happened.\n");
    else
        (void)fprintf(stderr, "karpenter: tour: %s\n", t->e.msg);
    (void)fflush(stdout);
    t->s.on_end(t->s.ctx, ok);
    api_free(t->api);
    kube_config_free(t->config);
    arena_free(t->a);
    free(t);
}

void tour_go(const struct tour_setup *s)
{
    struct tour *t = xcalloc(1, sizeof(*t));

    t->s = *s;
    t->a = arena_new(0);
    t->config = kube_config_fixed(s->server, s->token, s->ca_pem);
    t->api = api_new(s->world, t->config, &(struct api_options){.user_agent = "karpenter-tour/" KARPENTER_VERSION});
    fiber_go(s->world, "tour", run, t);
}
