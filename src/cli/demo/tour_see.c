/* What there is, over the wire and in the account. */
#include <stdio.h>

#include "cli/demo/aws.h"
#include "cli/demo/tour_int.h"
#include "net/fiber.h"

#define POLL_US 50000
#define PATIENCE_US (60 * 1000000ll)

str claim_name(const struct tree *claim)
{
    return tree_str(tree_at(claim, "metadata", "name", NULL));
}

str claim_label(const struct tree *claim, const char *name)
{
    return tree_str(tree_get(tree_at(claim, "metadata", "labels", NULL), name));
}

int64_t claim_cpus(const struct tree *claim)
{
    str text = claim_label(claim, "karpenter.k8s.aws/instance-cpu");
    int64_t n = 0;

    (void)str_to_i64(text.n ? text : claim_label(claim, "karpenter.kwok.sh/instance-cpu"), &n);
    return n;
}

bool was_there(const struct tour *t, str name)
{
    for (uint32_t i = 0; i < t->n_before; i++)
        if (str_eq(t->before[i], name))
            return true;
    return false;
}

static bool list(struct tour *t, const struct api_kind *k, const char *ns, struct tree **ret)
{
    struct tree *l;

    if (!api_get(t->api, t->a, &(struct api_ref){k, str_c(ns), {0}}, &l, &t->e))
        return false;
    *ret = tree_find(l, STR("items"));
    return *ret != NULL || err_set(&t->e, ERR_INVALID, "the server's list of %s has no items", k->plural);
}

static bool has_condition(const struct tree *claim, const char *type)
{
    const struct tree *conditions = tree_at(claim, "status", "conditions", NULL);

    for (uint32_t i = 0; conditions && i < conditions->n; i++)
        if (str_is(tree_str(tree_get(&conditions->items[i], "type")), type))
            return str_is(tree_str(tree_get(&conditions->items[i], "status")), "True");
    return false;
}

static bool is_ready(const struct tree *claim)
{
    return has_condition(claim, "Ready");
}

/* Its machine has been given back already: budgets do not count it any more. */
static bool is_over(const struct sight *s, str node)
{
    for (uint32_t i = 0; i < s->n_claims; i++)
        if (str_eq(tree_str(tree_at(&s->claims->items[i], "status", "nodeName", NULL)), node))
            return has_condition(&s->claims->items[i], "InstanceTerminating");
    return true;
}

static bool is_going(const struct tree *node)
{
    const struct tree *taints = tree_at(node, "spec", "taints", NULL);

    for (uint32_t i = 0; taints && i < taints->n; i++)
        if (str_is(tree_str(tree_get(&taints->items[i], "key")), "karpenter.sh/disrupted"))
            return true;
    return tree_at(node, "metadata", "deletionTimestamp", NULL) != NULL;
}

/* The last part of aws:///us-west-2a/i-0123. */
static str machine_id(const struct tree *claim)
{
    str id = tree_str(tree_at(claim, "status", "providerID", NULL));

    for (size_t i = id.n; i-- > 0;)
        if (id.p[i] == '/')
            return str_sub(id, i + 1, id.n);
    return id;
}

/* Whether the account has it, with the image that the step is about. */
static bool has_machine(const struct tour *t, const struct tree *claim)
{
    const struct sim_machine *m = t->s.aws ? sim_aws_machine(t->s.aws->account, machine_id(claim)) : NULL;

    if (!t->s.aws)
        return true;
    return m && (t->image.n == 0 || str_eq(m->image, t->image)) &&
           str_eq(m->private_dns, tree_str(tree_at(claim, "status", "nodeName", NULL)));
}

static void see_claims(const struct tour *t, struct sight *s)
{
    double usd;

    s->n_claims = s->claims->n;
    for (uint32_t i = 0; i < s->n_claims; i++) {
        const struct tree *c = &s->claims->items[i];
        bool leaves = tree_at(c, "metadata", "deletionTimestamp", NULL) != NULL;

        s->n_ready += is_ready(c);
        s->n_leaving += leaves;
        s->n_machines += has_machine(t, c);
        if (!leaves && str_to_double(claim_label(c, "eks-node-viewer/instance-price"), &usd))
            s->price += usd;
    }
}

static void see_pods(struct sight *s, const struct tree *pods)
{
    for (uint32_t i = 0; i < pods->n; i++) {
        const struct tree *p = &pods->items[i];

        if (tree_at(p, "metadata", "deletionTimestamp", NULL))
            continue;
        s->n_pods++;
        s->n_running += str_is(tree_str(tree_at(p, "status", "phase", NULL)), "Running");
    }
}

/* Whether a NodeClaim that is new is ready while the one that is lost still has its Node and, in AWS, its machine. */
static bool overlaps(const struct tour *t, const struct sight *s, bool node_is_there)
{
    if (!node_is_there || (t->lost_id.n && !sim_aws_machine(t->s.aws->account, t->lost_id)))
        return false;
    for (uint32_t i = 0; i < s->n_claims; i++)
        if (!was_there(t, claim_name(&s->claims->items[i])) && is_ready(&s->claims->items[i]))
            return true;
    return false;
}

static bool look(struct tour *t, struct sight *s)
{
    struct tree *nodes, *pods;
    bool lost_is_there = false;
    uint32_t going = 0;

    *s = (struct sight){0};
    arena_reset(t->a);
    if (!list(t, &api_nodeclaims, "", &s->claims) || !list(t, &api_pods, "default", &pods) ||
        !list(t, &api_nodes, "", &nodes))
        return false;
    see_claims(t, s);
    see_pods(s, pods);
    for (uint32_t i = 0; i < nodes->n; i++) {
        const struct tree *meta = tree_get(&nodes->items[i], "metadata");
        str name = tree_str(tree_get(meta, "name"));

        if (tree_get(tree_get(meta, "labels"), "karpenter.sh/nodepool")) {
            bool goes = is_going(&nodes->items[i]);

            s->n_nodes++;
            s->n_going += goes;
            going += goes && !is_over(s, name);
        }
        lost_is_there |= t->lost_node.n && str_eq(name, t->lost_node);
    }
    t->most_going = MAX(t->most_going, going);
    t->overlapped |= overlaps(t, s, lost_is_there);
    return true;
}

void tour_begin(struct tour *t, const struct sight *s)
{
    arena_reset(t->keep);
    t->n_before = MIN(s->n_claims, (uint32_t)TOUR_MAX_CLAIMS);
    for (uint32_t i = 0; i < t->n_before; i++)
        t->before[i] = arena_strdup(t->keep, claim_name(&s->claims->items[i]));
    t->lost_node = t->lost_id = t->image = (str){0};
    t->most_going = 0;
    t->overlapped = false;
}

bool tour_wait(struct tour *t, holds_fn holds, const char *what, struct sight *s)
{
    int64_t began = world_mono_us(t->s.world);

    for (;;) {
        int64_t took = world_mono_us(t->s.world) - began;

        if (!look(t, s))
            return false;
        if (holds(t, s)) {
            (void)printf("   %.1f s later: %s\n", (double)took / 1e6, what);
            return true;
        }
        if (took > PATIENCE_US || world_dead(t->s.world))
            return err_set(
                &t->e, ERR_TIMEOUT,
                "waited %lld s for: %s; there are %u NodeClaims (%u ready, %u with a machine), %u nodes, %u of %u pods running",
                PATIENCE_US / 1000000, what, s->n_claims, s->n_ready, s->n_machines, s->n_nodes, s->n_running,
                s->n_pods);
        fiber_sleep_us(t->s.world, POLL_US);
    }
}

void tour_say_claims(const struct sight *s)
{
    for (uint32_t i = 0; i < s->n_claims; i++) {
        const struct tree *c = &s->claims->items[i];
        str price = claim_label(c, "eks-node-viewer/instance-price");
        str image = tree_str(tree_at(c, "status", "imageID", NULL));

        if (tree_at(c, "metadata", "deletionTimestamp", NULL))
            continue;
        (void)printf("   " STR_FMT "  " STR_FMT "  " STR_FMT "  " STR_FMT "%s" STR_FMT "%s" STR_FMT "\n",
                     STR_ARG(claim_name(c)), STR_ARG(claim_label(c, "node.kubernetes.io/instance-type")),
                     STR_ARG(claim_label(c, "karpenter.sh/capacity-type")),
                     STR_ARG(claim_label(c, "topology.kubernetes.io/zone")), price.n ? "  $/h " : "", STR_ARG(price),
                     image.n ? "  " : "", STR_ARG(image));
    }
    (void)fflush(stdout);
}
