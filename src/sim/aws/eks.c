/* eks - the cluster as EKS describes it, and zonal shifts of it (ARC). */
#include <stdio.h>

#include "sim/aws/call.h"

static str cluster_member(const struct call *c, const char *key)
{
    return tree_str(tree_get(c->s->cluster, key));
}

static void set_known(struct call *c, struct tree *t, const char *key, str value)
{
    if (value.n)
        tree_set_str(c->a, t, key, value);
}

void serve_list_clusters(struct call *c)
{
    struct tree *list = tree_sublist(c->a, c->out, "clusters");

    if (cluster_member(c, "name").n)
        (void)tree_push(c->a, list, tree_of_str(cluster_member(c, "name")));
}

void serve_describe_cluster(struct call *c)
{
    str name = in_str(c, "name");

    if (name.n == 0 || !str_eq(name, cluster_member(c, "name"))) {
        (void)call_fail(c, "ResourceNotFoundException", "No cluster found for name: " STR_FMT ".", STR_ARG(name));
        return;
    }
    struct tree *t = tree_sub(c->a, c->out, "cluster");

    tree_set_str(c->a, t, "name", name);
    tree_set_str(c->a, t, "arn", account_arn(c->s, c->a, "eks", "cluster/", name));
    tree_set_i64(c->a, t, "createdAt", 1577836800);
    tree_set_str(c->a, t, "status", STR("ACTIVE"));
    set_known(c, t, "version", cluster_member(c, "version"));
    set_known(c, t, "endpoint", cluster_member(c, "endpoint"));
    set_known(c, t, "roleArn", account_arn(c->s, c->a, "iam", "role/", STR("eks-cluster")));
    set_known(c, tree_sub(c->a, t, "certificateAuthority"), "data", cluster_member(c, "caBundle"));
    struct tree *net = tree_sub(c->a, t, "kubernetesNetworkConfig");
    bool six = cluster_member(c, "serviceIpv4Cidr").n == 0 && cluster_member(c, "serviceIpv6Cidr").n > 0;

    set_known(c, net, "serviceIpv4Cidr", cluster_member(c, "serviceIpv4Cidr"));
    set_known(c, net, "serviceIpv6Cidr", cluster_member(c, "serviceIpv6Cidr"));
    tree_set_str(c->a, net, "ipFamily", six ? STR("ipv6") : STR("ipv4"));
    struct tree *vpc = tree_sub(c->a, t, "resourcesVpcConfig");
    struct tree *subnets = tree_sublist(c->a, vpc, "subnetIds");

    for (uint32_t i = 0; i < c->s->subnets.n; i++)
        (void)tree_push(c->a, subnets, *tree_get(c->s->subnets.v[i]->doc, "SubnetId"));
    if (c->s->vpcs.v.n)
        tree_set(c->a, vpc, "vpcId", *tree_get(c->s->vpcs.v.v[0], "VpcId"));
    tree_set_bool(c->a, tree_sub(c->a, t, "zonalShiftConfig"), "enabled", true);
}

/* ---- zonal shift ---- */

void sim_aws_shift_zone(struct sim_aws *s, str zone_id, int64_t for_ms)
{
    int64_t now = account_now_ms(s);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->shifts.n; i++)
        if (s->shifts.v[i].until_ms > now && !str_eq(s->shifts.v[i].zone_id, zone_id))
            s->shifts.v[kept++] = s->shifts.v[i];
    s->shifts.n = kept;
    if (for_ms <= 0)
        return;
    struct shift *sh = vec_add(&s->shifts);

    sh->zone_id = arena_strdup(s->a, zone_id);
    (void)snprintf(sh->id, sizeof(sh->id), "%08llx-0000-4000-8000-%012llx",
                   (unsigned long long)(world_random(s->w) & 0xffffffff), (unsigned long long)++s->serial);
    sh->from_ms = now;
    sh->until_ms = now + for_ms;
}

void serve_get_managed_resource(struct call *c)
{
    str arn = account_arn(c->s, c->a, "eks", "cluster/", cluster_member(c, "name"));
    str asked = in_str(c, "resourceIdentifier");

    if (!str_eq(arn, asked)) {
        (void)call_fail(c, "ResourceNotFoundException", "The resource " STR_FMT " is not managed.", STR_ARG(asked));
        return;
    }
    struct tree *weights = tree_new_map(c->a), *shifts = tree_new_list(c->a);

    for (uint32_t i = 0; i < c->s->zones.v.n; i++)
        *tree_put(c->a, weights, tree_str(tree_get(c->s->zones.v.v[i], "ZoneId"))) = tree_of_i64(c->a, 1);
    for (uint32_t i = 0; i < c->s->shifts.n; i++) {
        const struct shift *sh = &c->s->shifts.v[i];

        if (sh->until_ms <= account_now_ms(c->s))
            continue;
        struct tree *t = tree_push(c->a, shifts, *tree_new_map(c->a));

        *tree_put(c->a, weights, sh->zone_id) = tree_of_i64(c->a, 0);
        tree_set_str(c->a, t, "appliedStatus", STR("APPLIED"));
        tree_set_str(c->a, t, "awayFrom", sh->zone_id);
        tree_set_str(c->a, t, "comment", STR(""));
        tree_set_i64(c->a, t, "startTime", sh->from_ms / 1000);
        tree_set_i64(c->a, t, "expiryTime", sh->until_ms / 1000);
        tree_set_str(c->a, t, "resourceIdentifier", arn);
        tree_set_str(c->a, t, "zonalShiftId", arena_strdup(c->a, str_c(sh->id)));
    }
    tree_set_str(c->a, c->out, "arn", arn);
    tree_set_str(c->a, c->out, "name", cluster_member(c, "name"));
    tree_set(c->a, c->out, "appliedWeights", *weights);
    (void)tree_sublist(c->a, c->out, "autoshifts");
    tree_set(c->a, c->out, "zonalShifts", *shifts);
}
