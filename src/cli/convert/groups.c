/* Node groups of Cluster Autoscaler: an eksctl file, or what `aws autoscaling describe-auto-scaling-groups` prints. */
#include "cli/convert/convert_int.h"
#include "data/edit.h"

#define LABEL_TAG "k8s.io/cluster-autoscaler/node-template/label/"
#define TAINT_TAG "k8s.io/cluster-autoscaler/node-template/taint/"
#define RESOURCE_TAG "k8s.io/cluster-autoscaler/node-template/resources/"
#define OWNER_TAG "kubernetes.io/cluster/"

/* A group, whoever described it. */
struct group {
    str name, cluster;
    struct tree *types, *zones, *subnets; /* lists of strings */
    struct tree *labels, *taints;         /* as in a NodePool */
    bool spot, on_demand;
    int64_t min, max; /* -1: not said */
    struct converted *pool, *class;
};

/* ---- a group becomes a NodePool and a node class ---- */

/* Names of groups may have letters that names of objects must not have. */
static str object_name(struct conversion *c, str name)
{
    char *p = arena_memdup(c->a, name.p, name.n, 1);

    for (size_t i = 0; i < name.n; i++) {
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] = (char)(p[i] - 'A' + 'a');
        else if (!((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= '0' && p[i] <= '9') || p[i] == '-' || p[i] == '.'))
            p[i] = '-';
    }
    return (str){p, name.n};
}

static struct group group_new(struct conversion *c, uint32_t in, str name, str cluster)
{
    struct group g = {.name = object_name(c, name),
                      .cluster = cluster.n ? cluster : c->set->cluster,
                      .types = tree_new_list(c->a),
                      .zones = tree_new_list(c->a),
                      .subnets = tree_new_list(c->a),
                      .labels = tree_new_map(c->a),
                      .taints = tree_new_list(c->a),
                      .min = -1,
                      .max = -1};

    g.class = convert_new(c, in, CLASS_VERSION, "EC2NodeClass", NULL);
    g.pool = convert_new(c, in, POOL_VERSION, "NodePool", NULL);
    tree_set_str(c->a, tree_sub(c->a, g.class->object, "metadata"), "name", g.name);
    tree_set_str(c->a, tree_sub(c->a, g.pool->object, "metadata"), "name", g.name);
    return g;
}

static void require(struct conversion *c, struct tree *list, const char *key, const struct tree *values)
{
    if (values->n)
        *convert_requirement(c->a, list, key, "In") = *tree_copy(c->a, values);
}

static void set_limits(struct conversion *c, const struct group *g)
{
    int64_t most = 0;

    for (uint32_t i = 0; i < g->types->n; i++) {
        int64_t cpus = c->set->cpus ? c->set->cpus(c->set->ctx, g->types->items[i].text) : 0;

        most = cpus > most ? cpus : most;
    }
    if (g->max > 0 && most > 0) {
        tree_set_str(c->a, tree_path(c->a, g->pool->object, "spec", "limits", NULL), "cpu",
                     arena_printf(c->a, "%lld", (long long)(g->max * most)));
        convert_note(c, g->pool, "limits.cpu: at most %lld nodes of %lld CPUs, as the group had", (long long)g->max,
                     (long long)most);
    } else if (g->max > 0) {
        convert_lost(c, g->pool,
                     "at most %lld nodes: the size of the instance types is not known, so put limits.cpu yourself",
                     (long long)g->max);
    }
    if (g->min > 0)
        convert_lost(c, g->pool,
                     "at least %lld nodes: a NodePool has as many as pods need. A NodePool with spec.replicas (gate "
                     "StaticCapacity) or a CapacityBuffer keeps some",
                     (long long)g->min);
}

static void discover(struct conversion *c, struct tree *spec, const char *key, str cluster)
{
    struct tree *term = tree_push(c->a, tree_sublist(c->a, spec, key), *tree_new_map(c->a));

    tree_set_str(c->a, tree_sub(c->a, term, "tags"), "karpenter.sh/discovery", cluster);
}

static void set_places(struct conversion *c, const struct group *g)
{
    struct tree *spec = tree_sub(c->a, g->class->object, "spec");

    for (uint32_t i = 0; i < g->subnets->n; i++) {
        struct tree *term = tree_push(c->a, tree_sublist(c->a, spec, "subnetSelectorTerms"), *tree_new_map(c->a));

        tree_set_str(c->a, term, "id", g->subnets->items[i].text);
    }
    if (!g->subnets->n)
        discover(c, spec, "subnetSelectorTerms", g->cluster);
    discover(c, spec, "securityGroupSelectorTerms", g->cluster);
    convert_note(c, g->class,
                 "subnets and security groups are found by the tag karpenter.sh/discovery=" STR_FMT "; put it on them",
                 STR_ARG(g->cluster));
}

/* Everything but images and identity, which the two descriptions say in ways of their own. */
static bool finish(struct conversion *c, uint32_t in, const struct group *g, struct err *e)
{
    struct tree *template = tree_path(c->a, g->pool->object, "spec", "template", NULL);

    if (!g->cluster.n)
        return convert_bad(c, in, e, "node group " STR_FMT " does not say whose it is: say --cluster NAME",
                           STR_ARG(g->name));
    if (g->labels->n)
        tree_set(c->a, tree_sub(c->a, template, "metadata"), "labels", *g->labels);
    struct tree *inner = tree_sub(c->a, template, "spec");
    convert_ref(c, g->pool, g->name);
    struct tree *list = tree_sublist(c->a, inner, "requirements");
    struct tree *capacity = convert_requirement(c->a, list, "karpenter.sh/capacity-type", "In");
    if (g->spot)
        (void)tree_push(c->a, capacity, tree_of_str(STR("spot")));
    if (g->on_demand || !g->spot)
        (void)tree_push(c->a, capacity, tree_of_str(STR("on-demand")));
    require(c, list, "node.kubernetes.io/instance-type", g->types);
    require(c, list, "topology.kubernetes.io/zone", g->zones);
    if (g->taints->n)
        tree_set(c->a, inner, "taints", *g->taints);
    tree_set_str(c->a, inner, "expireAfter", STR("Never"));
    set_limits(c, g);
    struct tree *disruption = tree_path(c->a, g->pool->object, "spec", "disruption", NULL);
    tree_set_str(c->a, disruption, "consolidationPolicy", STR("WhenEmptyOrUnderutilized"));
    tree_set_str(c->a, disruption, "consolidateAfter", STR("10m"));
    convert_note(c, g->pool, "consolidateAfter: 10m is what Cluster Autoscaler waits before it takes an unneeded node");
    convert_note(
        c, g->pool,
        "more instance types find cheaper and more spot capacity: consider instance-category and -generation instead of names");
    set_places(c, g);
    return true;
}

/* Each once. */
static void push_string(struct conversion *c, struct tree *to, str s)
{
    for (uint32_t i = 0; i < to->n; i++)
        if (str_eq(to->items[i].text, s))
            return;
    if (s.n)
        (void)tree_push(c->a, to, tree_of_str(s));
}

/* Of a list of strings, or of the member `key` of maps. */
static void push_strings(struct conversion *c, struct tree *to, const struct tree *from, const char *key)
{
    for (uint32_t i = 0; from && from->kind == TREE_LIST && i < from->n; i++)
        push_string(c, to, tree_str(key ? tree_get(&from->items[i], key) : &from->items[i]));
}

static void push_taint(struct conversion *c, const struct group *g, str key, str value, str effect)
{
    struct tree *taint = tree_push(c->a, g->taints, *tree_new_map(c->a));

    tree_set_str(c->a, taint, "key", key);
    if (value.n)
        tree_set_str(c->a, taint, "value", value);
    tree_set_str(c->a, taint, "effect", effect);
}

static int64_t number(const struct tree *t)
{
    int64_t v;

    return t && tree_to_i64(t, &v) ? v : -1;
}

/* ---- eksctl ---- */

static void eksctl_taints(struct conversion *c, const struct group *g, const struct tree *taints)
{
    for (uint32_t i = 0; taints && taints->kind == TREE_LIST && i < taints->n; i++)
        push_taint(c, g, tree_str(tree_get(&taints->items[i], "key")),
                   tree_scalar(tree_get(&taints->items[i], "value")), tree_str(tree_get(&taints->items[i], "effect")));
    for (uint32_t i = 0; taints && taints->kind == TREE_MAP && i < taints->n; i++) { /* key: "value:effect" */
        str value, effect;

        if (!str_cut(tree_scalar(&taints->items[i]), ':', &value, &effect)) {
            effect = value;
            value = (str){0};
        }
        push_taint(c, g, taints->keys[i], value, effect);
    }
}

static void eksctl_capacity(struct conversion *c, struct group *g, const struct tree *t)
{
    const struct tree *mix = tree_get(t, "instancesDistribution");
    str type = tree_str(tree_get(t, "instanceType"));

    if (type.n && !str_is(type, "mixed"))
        push_string(c, g->types, type);
    push_strings(c, g->types, tree_get(t, "instanceTypes"), NULL);
    push_strings(c, g->types, tree_get(mix, "instanceTypes"), NULL);
    if (!g->types->n && !tree_get(t, "instanceSelector"))
        push_string(c, g->types, STR("m5.large")); /* eksctl's default */
    g->spot = tree_is_true(tree_get(t, "spot"));
    g->on_demand = !g->spot && !mix;
    if (mix) {
        int64_t share = number(tree_get(mix, "onDemandPercentageAboveBaseCapacity"));

        g->spot = share != 100;
        g->on_demand = share != 0 || number(tree_get(mix, "onDemandBaseCapacity")) > 0;
        if (g->spot && g->on_demand)
            convert_lost(c, g->pool,
                         "a share of spot machines: a NodePool takes spot while it is cheaper and there is some");
    }
}

static void eksctl_selector(struct conversion *c, const struct group *g, const struct tree *selector)
{
    static const char *const known[] = {"vCPUs", "cpuArchitecture", NULL};
    struct tree *list = tree_path(c->a, g->pool->object, "spec", "template", "spec", NULL);
    str cpus = tree_scalar(tree_get(selector, "vCPUs")), arch = tree_str(tree_get(selector, "cpuArchitecture"));

    if (!selector)
        return;
    list = tree_sublist(c->a, list, "requirements");
    if (cpus.n)
        (void)tree_push(c->a, convert_requirement(c->a, list, "karpenter.k8s.aws/instance-cpu", "In"),
                        tree_of_str(cpus));
    if (arch.n)
        convert_in(c->a, list, "kubernetes.io/arch", str_is(arch, "arm64") ? "arm64" : "amd64");
    convert_rest(c, g->pool, "instanceSelector.", selector, known);
}

static const char *eksctl_family(str family)
{
    static const struct {
        const char *theirs, *ours;
    } families[] = {
        {"AmazonLinux2", "AL2"},
        {"AmazonLinux2023", "AL2023"},
        {"Bottlerocket", "Bottlerocket"},
        {"WindowsServer2019CoreContainer", "Windows2019"},
        {"WindowsServer2019FullContainer", "Windows2019"},
        {"WindowsServer2022CoreContainer", "Windows2022"},
        {"WindowsServer2022FullContainer", "Windows2022"},
    };

    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        if (str_is(family, families[i].theirs))
            return families[i].ours;
    return family.n ? NULL : "AL2023";
}

static void eksctl_images(struct conversion *c, const struct group *g, const struct tree *t)
{
    const char *family = eksctl_family(tree_str(tree_get(t, "amiFamily")));
    str ami = tree_str(tree_get(t, "ami"));
    struct tree *terms = tree_new_list(c->a);

    if (str_starts(ami, STR("ami-")))
        tree_set_str(c->a, tree_push(c->a, terms, *tree_new_map(c->a)), "id", ami);
    convert_images(c, g->class, family ? str_c(family) : tree_str(tree_get(t, "amiFamily")), terms);
}

static void eksctl_disk(struct conversion *c, const struct group *g, const struct tree *t, str family)
{
    int64_t size = number(tree_get(t, "volumeSize"));
    str type = tree_str(tree_get(t, "volumeType")), name = tree_str(tree_get(t, "volumeName"));
    struct tree *disk = tree_push(
        c->a, tree_sublist(c->a, tree_sub(c->a, g->class->object, "spec"), "blockDeviceMappings"), *tree_new_map(c->a));

    tree_set_str(c->a, disk, "deviceName",
                 name.n                           ? name
                 : str_is(family, "Bottlerocket") ? STR("/dev/xvdb")
                                                  : STR("/dev/xvda"));
    struct tree *ebs = tree_sub(c->a, disk, "ebs");
    tree_set_str(c->a, ebs, "volumeSize", arena_printf(c->a, "%lldGi", (long long)(size > 0 ? size : 80)));
    tree_set_str(c->a, ebs, "volumeType", type.n ? type : STR("gp3"));
    tree_set_bool(c->a, ebs, "encrypted", tree_is_true(tree_get(t, "volumeEncrypted")));
    tree_set_bool(c->a, ebs, "deleteOnTermination", true);
}

/* The last part of an ARN's path is the name. */
static str arn_name(str arn)
{
    str head, tail = arn;

    while (str_cut(tail, '/', &head, &tail))
        ;
    return head;
}

static bool eksctl_identity(struct conversion *c, uint32_t in, const struct group *g, const struct tree *t,
                            struct err *e)
{
    str role = arn_name(tree_str(tree_at(t, "iam", "instanceRoleARN", NULL)));
    str profile = arn_name(tree_str(tree_at(t, "iam", "instanceProfileARN", NULL)));

    if (!role.n && !profile.n && !c->set->role.n && !c->set->profile.n) {
        role = arena_printf(c->a, "KarpenterNodeRole-" STR_FMT, STR_ARG(g->cluster));
        convert_note(c, g->class, "role: the group's was eksctl's own; make this one, or say --role NAME");
    }
    return convert_identity(c, g->class, in, profile, role, e);
}

static bool eksctl_group(struct conversion *c, uint32_t in, const struct tree *t, str cluster, struct err *e)
{
    static const char *const known[] = {"name",
                                        "amiFamily",
                                        "ami",
                                        "instanceType",
                                        "instanceTypes",
                                        "instanceSelector",
                                        "instancesDistribution",
                                        "spot",
                                        "minSize",
                                        "maxSize",
                                        "desiredCapacity",
                                        "labels",
                                        "taints",
                                        "availabilityZones",
                                        "subnets",
                                        "volumeSize",
                                        "volumeType",
                                        "volumeName",
                                        "volumeEncrypted",
                                        "maxPodsPerNode",
                                        "kubeletExtraConfig",
                                        "iam",
                                        "tags",
                                        "privateNetworking",
                                        "propagateASGTags",
                                        NULL};
    const struct tree *labels = tree_get(t, "labels"), *kubelet = tree_get(t, "kubeletExtraConfig");
    str name = tree_str(tree_get(t, "name"));

    if (!name.n)
        return convert_bad(c, in, e, "a node group has no name");
    struct group g = group_new(c, in, name, cluster);
    eksctl_capacity(c, &g, t);
    push_strings(c, g.zones, tree_get(t, "availabilityZones"), NULL);
    push_strings(c, g.subnets, tree_get(t, "subnets"), NULL);
    g.min = number(tree_get(t, "minSize"));
    g.max = number(tree_get(t, "maxSize"));
    if (labels && labels->kind == TREE_MAP)
        g.labels = tree_copy(c->a, labels);
    eksctl_taints(c, &g, tree_get(t, "taints"));
    if (!eksctl_identity(c, in, &g, t, e))
        return false;
    eksctl_images(c, &g, t);
    if (!finish(c, in, &g, e))
        return false;
    eksctl_selector(c, &g, tree_get(t, "instanceSelector"));
    eksctl_disk(c, &g, t, tree_str(tree_get(t, "amiFamily")));
    struct tree *told = kubelet && kubelet->kind == TREE_MAP ? tree_copy(c->a, kubelet) : tree_new_map(c->a);
    if (number(tree_get(t, "maxPodsPerNode")) > 0)
        tree_set_i64(c->a, told, "maxPods", number(tree_get(t, "maxPodsPerNode")));
    convert_kubelet(c, g.pool, told->n ? told : NULL);
    if (tree_get(t, "tags"))
        tree_set(c->a, tree_sub(c->a, g.class->object, "spec"), "tags", *tree_copy(c->a, tree_get(t, "tags")));
    convert_rest(c, g.class, "", t, known);
    return true;
}

bool convert_eksctl(struct conversion *c, uint32_t in, struct err *e)
{
    static const char *const lists[] = {"managedNodeGroups", "nodeGroups"};
    const struct tree *t = c->in.v[in].object;
    str cluster = tree_str(tree_at(t, "metadata", "name", NULL));

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const struct tree *groups = tree_get(t, lists[i]);

        for (uint32_t k = 0; groups && groups->kind == TREE_LIST && k < groups->n; k++)
            if (!eksctl_group(c, in, &groups->items[k], cluster, e))
                return false;
    }
    return true;
}

/* ---- auto scaling groups ---- */

static void asg_tag(struct conversion *c, struct group *g, str key, str value)
{
    if (str_starts(key, STR(LABEL_TAG))) {
        *tree_put(c->a, g->labels, str_sub(key, sizeof(LABEL_TAG) - 1, key.n)) = tree_of_str(value);
    } else if (str_starts(key, STR(TAINT_TAG))) { /* key = value:effect */
        str v, effect;

        if (!str_cut(value, ':', &v, &effect)) {
            effect = v;
            v = (str){0};
        }
        push_taint(c, g, str_sub(key, sizeof(TAINT_TAG) - 1, key.n), v, effect);
    } else if (str_starts(key, STR(OWNER_TAG)) && !g->cluster.n) {
        g->cluster = str_sub(key, sizeof(OWNER_TAG) - 1, key.n);
    } else if (str_starts(key, STR(RESOURCE_TAG))) {
        convert_note(c, g->pool, "resources of the machines are known from their types; tag " STR_FMT " is not needed",
                     STR_ARG(key));
    }
}

static void asg_types(struct conversion *c, struct group *g, const struct tree *t)
{
    const struct tree *policy = tree_get(t, "MixedInstancesPolicy");
    const struct tree *overrides = tree_at(policy, "LaunchTemplate", "Overrides", NULL);
    const struct tree *mix = tree_get(policy, "InstancesDistribution");
    int64_t share = number(tree_get(mix, "OnDemandPercentageAboveBaseCapacity"));

    push_strings(c, g->types, overrides, "InstanceType");
    if (!g->types->n)
        push_strings(c, g->types, tree_get(t, "Instances"), "InstanceType");
    if (!g->types->n)
        convert_lost(c, g->pool,
                     "instance types: they are in the group's launch template; without them every type is allowed");
    g->spot = mix && share != 100;
    g->on_demand = !mix || share != 0 || number(tree_get(mix, "OnDemandBaseCapacity")) > 0;
}

static bool asg_group(struct conversion *c, uint32_t in, const struct tree *t, struct err *e)
{
    const struct tree *tags = tree_get(t, "Tags");
    str name = tree_str(tree_get(t, "AutoScalingGroupName")), subnets = tree_str(tree_get(t, "VPCZoneIdentifier")), one;

    if (!name.n)
        return convert_bad(c, in, e, "an auto scaling group has no AutoScalingGroupName");
    struct group g = group_new(c, in, name, (str){0});
    for (uint32_t i = 0; tags && tags->kind == TREE_LIST && i < tags->n; i++)
        asg_tag(c, &g, tree_str(tree_get(&tags->items[i], "Key")), tree_str(tree_get(&tags->items[i], "Value")));
    asg_types(c, &g, t);
    push_strings(c, g.zones, tree_get(t, "AvailabilityZones"), NULL);
    while (subnets.n) {
        (void)str_cut(subnets, ',', &one, &subnets);
        push_string(c, g.subnets, str_trim(one));
    }
    g.min = number(tree_get(t, "MinSize"));
    g.max = number(tree_get(t, "MaxSize"));
    convert_lost(c, g.class,
                 "image, disks and user data are in the group's launch template; al2023@latest is what new nodes get");
    if (!convert_identity(c, g.class, in, (str){0}, (str){0}, e))
        return false;
    convert_images(c, g.class, STR("AL2023"), NULL);
    return finish(c, in, &g, e);
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
