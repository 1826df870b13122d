/* Node groups of an eksctl file. */
#include "cli/convert/groups_int.h"

static void eksctl_taints(struct conversion *c, const struct group *g, const struct tree *taints)
{
    for (uint32_t i = 0; taints && taints->kind == TREE_LIST && i < taints->n; i++)
        group_taint(c, g, tree_str(tree_get(&taints->items[i], "key")),
                    tree_scalar(tree_get(&taints->items[i], "value")), tree_str(tree_get(&taints->items[i], "effect")));
    for (uint32_t i = 0; taints && taints->kind == TREE_MAP && i < taints->n; i++)
        group_taint_of(c, g, taints->keys[i], tree_scalar(&taints->items[i]));
}

static void eksctl_capacity(struct conversion *c, struct group *g, const struct tree *t)
{
    static const char *const known[] = {"instanceTypes", "onDemandPercentageAboveBaseCapacity", "onDemandBaseCapacity",
                                        NULL};
    const struct tree *mix = tree_get(t, "instancesDistribution");
    str type = tree_str(tree_get(t, "instanceType"));

    if (type.n && !str_is(type, "mixed"))
        group_push(c, g->types, type);
    group_push_all(c, g->types, tree_get(t, "instanceTypes"), NULL);
    group_push_all(c, g->types, tree_get(mix, "instanceTypes"), NULL);
    if (!g->types->n && !tree_get(t, "instanceSelector"))
        group_push(c, g->types, STR("m5.large")); /* eksctl's default */
    g->spot = tree_is_true(tree_get(t, "spot"));
    g->on_demand = !g->spot && !mix;
    if (mix)
        group_mix(c, g, group_number(tree_get(mix, "onDemandPercentageAboveBaseCapacity")),
                  group_number(tree_get(mix, "onDemandBaseCapacity")) > 0);
    convert_rest(c, g->pool, "instancesDistribution.", mix, known);
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

static const char *root_device(str family)
{
    if (str_is(family, "Bottlerocket"))
        return "/dev/xvdb"; /* the one with images and logs */
    return str_starts(family, STR("Windows")) ? "/dev/sda1" : "/dev/xvda";
}

static void eksctl_disk(struct conversion *c, const struct group *g, const struct tree *t)
{
    static const char *const renamed[][2] = {
        {"volumeIOPS", "iops"}, {"volumeThroughput", "throughput"}, {"volumeKmsKeyID", "kmsKeyID"}};
    str family = tree_str(tree_get(t, "amiFamily"));
    int64_t size = group_number(tree_get(t, "volumeSize"));
    str type = tree_str(tree_get(t, "volumeType")), name = tree_str(tree_get(t, "volumeName"));
    struct tree *disk = tree_push(
        c->a, tree_sublist(c->a, tree_sub(c->a, g->class->object, "spec"), "blockDeviceMappings"), *tree_new_map(c->a));

    tree_set_str(c->a, disk, "deviceName", name.n ? name : str_c(root_device(family)));
    struct tree *ebs = tree_sub(c->a, disk, "ebs");
    tree_set_str(c->a, ebs, "volumeSize", arena_printf(c->a, "%lldGi", (long long)(size > 0 ? size : 80)));
    tree_set_str(c->a, ebs, "volumeType", type.n ? type : STR("gp3"));
    tree_set_bool(c->a, ebs, "encrypted", tree_is_true(tree_get(t, "volumeEncrypted")));
    tree_set_bool(c->a, ebs, "deleteOnTermination", true);
    for (size_t i = 0; i < ARRAY_LEN(renamed); i++)
        if (tree_get(t, renamed[i][0]))
            tree_set(c->a, ebs, renamed[i][1], *tree_copy(c->a, tree_get(t, renamed[i][0])));
}

/* Tokens are required today; of a group that was told otherwise they are not. */
static void eksctl_metadata(struct conversion *c, const struct group *g, const struct tree *t)
{
    struct tree *spec = tree_sub(c->a, g->class->object, "spec");
    const struct tree *strict = tree_get(t, "disableIMDSv1");

    if (strict && !tree_is_true(strict))
        tree_set_str(c->a, tree_sub(c->a, spec, "metadataOptions"), "httpTokens", STR("optional"));
    if (!tree_is_true(tree_get(t, "disablePodIMDS")))
        convert_hops(c, g->class);
    if (tree_get(t, "enableDetailedMonitoring"))
        tree_set_bool(c->a, spec, "detailedMonitoring", tree_is_true(tree_get(t, "enableDetailedMonitoring")));
}

/* Groups beside the cluster's own. */
static void eksctl_security_groups(struct conversion *c, const struct group *g, const struct tree *said)
{
    static const char *const known[] = {"attachIDs", NULL};
    struct tree *ids = tree_new_list(c->a), *spec = tree_sub(c->a, g->class->object, "spec");

    group_push_all(c, ids, tree_get(said, "attachIDs"), NULL);
    for (uint32_t i = 0; i < ids->n; i++)
        tree_set_str(c->a, tree_push(c->a, tree_sublist(c->a, spec, "securityGroupSelectorTerms"), *tree_new_map(c->a)),
                     "id", ids->items[i].text);
    convert_rest(c, g->class, "securityGroups.", said, known);
}

static void eksctl_kubelet(struct conversion *c, const struct group *g, const struct tree *t)
{
    const struct tree *said = tree_get(t, "kubeletExtraConfig");
    struct tree *told = said && said->kind == TREE_MAP ? tree_copy(c->a, said) : tree_new_map(c->a);
    str dns = tree_str(tree_get(t, "clusterDNS"));

    if (group_number(tree_get(t, "maxPodsPerNode")) > 0)
        tree_set_i64(c->a, told, "maxPods", group_number(tree_get(t, "maxPodsPerNode")));
    if (dns.n)
        (void)tree_push(c->a, tree_sublist(c->a, told, "clusterDNS"), tree_of_str(dns));
    convert_kubelet(c, g->pool, told);
}

static void eksctl_tags(struct conversion *c, const struct group *g, const struct tree *tags)
{
    for (uint32_t i = 0; tags && tags->kind == TREE_MAP && i < tags->n; i++)
        group_tag(c, g, tags->keys[i], tree_scalar(&tags->items[i]));
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
    static const char *const known[] = {"instanceRoleARN", "instanceProfileARN", NULL};
    str role = arn_name(tree_str(tree_at(t, "iam", "instanceRoleARN", NULL)));
    str profile = arn_name(tree_str(tree_at(t, "iam", "instanceProfileARN", NULL)));

    if (!role.n && !profile.n && !c->set->role.n && !c->set->profile.n) {
        role = arena_printf(c->a, "KarpenterNodeRole-" STR_FMT, STR_ARG(g->cluster));
        convert_note(c, g->class, "role: the group's was eksctl's own; make this one, or say --role NAME");
    }
    convert_rest(c, g->class, "iam.", tree_get(t, "iam"), known);
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
                                        "volumeIOPS",
                                        "volumeThroughput",
                                        "volumeKmsKeyID",
                                        "maxPodsPerNode",
                                        "maxInstanceLifetime",
                                        "kubeletExtraConfig",
                                        "clusterDNS",
                                        "disableIMDSv1",
                                        "disablePodIMDS",
                                        "enableDetailedMonitoring",
                                        "securityGroups",
                                        "iam",
                                        "tags",
                                        "privateNetworking",
                                        "propagateASGTags",
                                        NULL};
    const struct tree *labels = tree_get(t, "labels");
    str name = tree_str(tree_get(t, "name"));

    if (!name.n)
        return convert_bad(c, in, e, "a node group has no name");
    struct group g = group_new(c, in, name, cluster);
    eksctl_capacity(c, &g, t);
    group_push_all(c, g.zones, tree_get(t, "availabilityZones"), NULL);
    group_push_all(c, g.subnets, tree_get(t, "subnets"), NULL);
    g.min = group_number(tree_get(t, "minSize"));
    g.max = group_number(tree_get(t, "maxSize"));
    g.lifetime_s = group_number(tree_get(t, "maxInstanceLifetime"));
    for (uint32_t i = 0; labels && labels->kind == TREE_MAP && i < labels->n; i++)
        *tree_put(c->a, g.labels, labels->keys[i]) = tree_of_str(tree_scalar(&labels->items[i]));
    eksctl_taints(c, &g, tree_get(t, "taints"));
    if (!eksctl_identity(c, in, &g, t, e))
        return false;
    eksctl_images(c, &g, t);
    if (!group_finish(c, in, &g, e))
        return false;
    eksctl_selector(c, &g, tree_get(t, "instanceSelector"));
    eksctl_security_groups(c, &g, tree_get(t, "securityGroups"));
    eksctl_disk(c, &g, t);
    eksctl_metadata(c, &g, t);
    eksctl_kubelet(c, &g, t);
    eksctl_tags(c, &g, tree_get(t, "tags"));
    if (tree_is_true(tree_get(t, "privateNetworking")))
        convert_note(c, g.class, "privateNetworking: put the tag on private subnets only");
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
