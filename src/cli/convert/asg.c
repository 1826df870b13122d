/* What `aws autoscaling describe-auto-scaling-groups` prints. */
#include "cli/convert/groups_int.h"

#define LABEL_TAG "k8s.io/cluster-autoscaler/node-template/label/"
#define TAINT_TAG "k8s.io/cluster-autoscaler/node-template/taint/"
#define RESOURCE_TAG "k8s.io/cluster-autoscaler/node-template/resources/"
#define OPTION_TAG "k8s.io/cluster-autoscaler/node-template/autoscaling-options/"
#define OWNER_TAG "kubernetes.io/cluster/"

static void asg_tag(struct conversion *c, struct group *g, str key, str value, bool of_machines)
{
    if (str_starts(key, STR(LABEL_TAG))) {
        *tree_put(c->a, g->labels, str_sub(key, sizeof(LABEL_TAG) - 1, key.n)) = tree_of_str(value);
    } else if (str_starts(key, STR(TAINT_TAG))) { /* key = value:effect */
        group_taint_of(c, g, str_sub(key, sizeof(TAINT_TAG) - 1, key.n), value);
    } else if (str_starts(key, STR(OWNER_TAG)) && !g->cluster.n) {
        g->cluster = str_sub(key, sizeof(OWNER_TAG) - 1, key.n);
    } else if (str_is(key, "eks:cluster-name") && !g->cluster.n) {
        g->cluster = value;
    } else if (str_starts(key, STR(OPTION_TAG))) {
        convert_lost(c, g->pool, "tag " STR_FMT ": " STR_FMT "; disruption of the NodePool says when nodes go",
                     STR_ARG(key), STR_ARG(value));
    } else if (str_starts(key, STR(RESOURCE_TAG))) {
        convert_note(c, g->pool, "resources of the machines are known from their types; tag " STR_FMT " is not needed",
                     STR_ARG(key));
    } else if (of_machines) {
        group_tag(c, g, key, value);
    }
}

/* What else a group may have been told. Most of it is there in every group and says nothing. */
static void asg_rest(struct conversion *c, const struct group *g, const struct tree *t)
{
    static const struct {
        const char *key, *why;
    } told[] = {
        {"TargetGroupARNs", "a controller for load balancers finds nodes by itself"},
        {"LoadBalancerNames", "a controller for load balancers finds nodes by itself"},
        {"NewInstancesProtectedFromScaleIn", "pods and nodes with the annotation karpenter.sh/do-not-disrupt are"},
        {"WarmPoolConfiguration", "a CapacityBuffer keeps room"},
        {"PlacementGroup", "spec.placementGroupSelector of the EC2NodeClass names one"},
        {"CapacityReservationSpecification", "spec.capacityReservationSelectorTerms of the EC2NodeClass select some"},
    };
    str price = tree_scalar(tree_at(t, "MixedInstancesPolicy", "InstancesDistribution", "SpotMaxPrice", NULL));

    for (size_t i = 0; i < ARRAY_LEN(told); i++) {
        const struct tree *said = tree_get(t, told[i].key);

        if (said && (said->n || said->text.n) && (said->kind != TREE_BOOL || said->truth))
            convert_lost(c, g->pool, "%s: %s", told[i].key, told[i].why);
    }
    if (price.n)
        convert_lost(c, g->pool, "SpotMaxPrice " STR_FMT ": spot machines cost at most what they cost on demand",
                     STR_ARG(price));
    if (tree_is_true(tree_get(t, "CapacityRebalance")))
        convert_note(c, g->pool, "CapacityRebalance: the controller hears of it by the interruption queue");
}

static void asg_types(struct conversion *c, struct group *g, const struct tree *t)
{
    const struct tree *policy = tree_get(t, "MixedInstancesPolicy");
    const struct tree *overrides = tree_at(policy, "LaunchTemplate", "Overrides", NULL);
    const struct tree *mix = tree_get(policy, "InstancesDistribution");

    group_push_all(c, g->types, overrides, "InstanceType");
    if (!g->types->n)
        group_push_all(c, g->types, tree_get(t, "Instances"), "InstanceType");
    if (!g->types->n)
        convert_lost(
            c, g->pool,
            "instance types: they are in the group's launch template, or said by InstanceRequirements; without "
            "them every type is allowed");
    group_mix(c, g, group_number(tree_get(mix, "OnDemandPercentageAboveBaseCapacity")),
              group_number(tree_get(mix, "OnDemandBaseCapacity")) > 0);
}

static bool asg_group(struct conversion *c, uint32_t in, const struct tree *t, struct err *e)
{
    const struct tree *tags = tree_get(t, "Tags");
    str name = tree_str(tree_get(t, "AutoScalingGroupName")), subnets = tree_str(tree_get(t, "VPCZoneIdentifier")), one;

    if (!name.n)
        return convert_bad(c, in, e, "an auto scaling group has no AutoScalingGroupName");
    struct group g = group_new(c, in, name, (str){0});
    for (uint32_t i = 0; tags && tags->kind == TREE_LIST && i < tags->n; i++)
        asg_tag(c, &g, tree_str(tree_get(&tags->items[i], "Key")), tree_str(tree_get(&tags->items[i], "Value")),
                tree_is_true(tree_get(&tags->items[i], "PropagateAtLaunch")));
    asg_types(c, &g, t);
    group_push_all(c, g.zones, tree_get(t, "AvailabilityZones"), NULL);
    while (subnets.n) {
        (void)str_cut(subnets, ',', &one, &subnets);
        group_push(c, g.subnets, str_trim(one));
    }
    g.min = group_number(tree_get(t, "MinSize"));
    g.max = group_number(tree_get(t, "MaxSize"));
    g.lifetime_s = group_number(tree_get(t, "MaxInstanceLifetime"));
    asg_rest(c, &g, t);
    convert_lost(c, g.class,
                 "image, disks and user data are in the group's launch template; al2023@latest is what new nodes get");
    if (!convert_identity(c, g.class, in, (str){0}, (str){0}, e))
        return false;
    convert_images(c, g.class, STR("AL2023"), NULL);
    return group_finish(c, in, &g, e);
}

bool convert_asgs(struct conversion *c, uint32_t in, struct err *e)
{
    const struct tree *groups = tree_get(c->in.v[in].object, "AutoScalingGroups");

    if (groups->kind != TREE_LIST)
        return convert_bad(c, in, e, "AutoScalingGroups is not a list");
    for (uint32_t i = 0; i < groups->n; i++)
        if (!asg_group(c, in, &groups->items[i], e))
            return false;
    return true;
}
