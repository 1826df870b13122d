/* What the provider finds out before it starts, and again now and then (aws 1.1, 5.9, 7.10 to 7.12, 9.6). */
#include <arpa/inet.h>
#include <stdio.h>

#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/images.h"

enum { OLDEST_MINOR = 26, NEWEST_MINOR = 36 }; /* of Kubernetes 1 */

/* ---- the cluster ---- */

static bool ask_cluster(struct ec2 *p, struct arena *a, struct eks_cluster *ret, struct aws_answer *f, struct err *e)
{
    return eks_describe_cluster(p->aws, a, p->cluster.name, ret, f, e) ||
           err_wrap(e, "describing cluster " STR_FMT, STR_ARG(p->cluster.name));
}

bool ec2_cluster_cidr(struct ec2 *p, struct arena *a, struct aws_answer *f, struct err *e)
{
    struct eks_cluster is;

    if (p->cluster.cidr.n)
        return true;
    if (!ask_cluster(p, a, &is, f, e))
        return false;
    str cidr = is.service_ipv4.n ? is.service_ipv4 : is.service_ipv6;
    if (cidr.n == 0)
        return err_set(e, ERR_INVALID, "no CIDR found in the cluster's network configuration");
    p->cluster.cidr = arena_strdup(p->arena, cidr);
    return true;
}

static bool find_endpoint(struct ec2 *p, struct arena *a, struct err *e)
{
    struct eks_cluster is;
    struct aws_answer f;

    if (p->cluster.endpoint.n)
        return true;
    if (!ask_cluster(p, a, &is, &f, e))
        return err_wrap(e, "detecting cluster endpoint");
    p->cluster.endpoint = arena_strdup(p->arena, is.endpoint);
    return true;
}

static bool is_address(str text)
{
    unsigned char bytes[16];
    char ip[64];

    if (text.n >= sizeof(ip))
        return false;
    (void)snprintf(ip, sizeof(ip), STR_FMT, STR_ARG(text));
    return inet_pton(AF_INET, ip, bytes) == 1 || inet_pton(AF_INET6, ip, bytes) == 1;
}

static void find_dns(struct ec2 *p, struct arena *a)
{
    struct err e;
    str ip;

    if (!p->host.kube_dns)
        return;
    bool ok = p->host.kube_dns(p->host.ctx, a, &ip, &e);
    if (ok && !is_address(ip)) /* "None": there is no one address */
        ok = err_set(&e, ERR_INVALID, "\"" STR_FMT "\" is no IP address", STR_ARG(ip));
    if (ok)
        p->cluster.dns = arena_strdup(p->arena, ip);
    else if (p->host.say)
        p->host.say(p->host.ctx, /* error= */ false, "unable to detect the IP of the kube-dns service", &e);
}

static bool is_supported(str version)
{
    str major, minor;
    int64_t n;

    return str_cut(version, '.', &major, &minor) && str_is(major, "1") && str_to_i64(minor, &n) && n >= OLDEST_MINOR &&
           n <= NEWEST_MINOR;
}

static bool find_version(struct ec2 *p, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct eks_cluster is;
    struct aws_answer f;
    str version;

    if (p->settings.eks_control_plane) {
        if (!ask_cluster(p, a, &is, &f, e))
            return err_wrap(e, "getting kubernetes version");
        version = is.version;
    } else if (!p->host.kube_version(p->host.ctx, a, &version, e)) {
        return err_wrap(e, "getting kubernetes version");
    }
    if (!str_eq(version, p->cluster.version))
        p->cluster.version = arena_strdup(p->arena, version);
    return true;
}

/* A version that nobody has tried is told once, and used nevertheless. */
bool ec2_refresh_version(struct ec2 *p, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);

    if (!find_version(p, e))
        return false;
    if (str_eq(p->cluster.version, p->judged_version))
        return true;
    p->judged_version = p->cluster.version;
    if (p->host.say)
        p->host.say(p->host.ctx, /* error= */ false,
                    arena_printf(a, "discovered kubernetes version " STR_FMT, STR_ARG(p->judged_version)).p, NULL);
    if (!is_supported(p->judged_version))
        return err_set(e, ERR_INVALID, "kubernetes version " STR_FMT " is not among those from 1.%d to 1.%d",
                       STR_ARG(p->judged_version), OLDEST_MINOR, NEWEST_MINOR);
    return true;
}

/* ---- zones that traffic is moved away from ---- */

static void keep_shift(struct ec2 *p, const struct zonal_shift *s)
{
    for (uint32_t i = 0; i < p->shifts.n; i++)
        if (str_eq(p->shifts.v[i].zone_id, s->zone_id)) {
            p->shifts.v[i].expires_ms = s->expires_ms;
            p->shifts.v[i].applied = s->applied;
            return;
        }
    vec_push(&p->shifts, (struct zonal_shift){arena_strdup(p->arena, s->zone_id), s->expires_ms, s->applied});
}

bool ec2_refresh_shifts(struct ec2 *p, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct zonal_shift *v;
    uint32_t n;

    if (!p->settings.zonal_shift)
        return true;
    if (!zonal_shifts(p->aws, a, p->cluster.arn, &v, &n, e))
        return err_wrap(e, "getting zonal shifts");
    for (uint32_t i = 0; n == 0 && i < p->shifts.n; i++)
        p->shifts.v[i].applied = false; /* zone ids are kept: there are few, and they come again */
    for (uint32_t i = 0; i < n; i++)
        keep_shift(p, &v[i]);
    return true;
}

static bool find_shifts(struct ec2 *p, struct arena *a, struct err *e)
{
    struct eks_cluster is;
    struct aws_answer f;

    if (!p->settings.zonal_shift)
        return true;
    if (!ask_cluster(p, a, &is, &f, e))
        return err_wrap(e, "detecting cluster ARN");
    p->cluster.arn = arena_strdup(p->arena, is.arn);
    return ec2_refresh_shifts(p, e);
}

/* ---- what there is to buy ---- */

bool ec2_refresh_types(struct ec2 *p, struct err *e)
{
    struct arena *a = arena_new(0);
    struct ec2_type_infos infos;
    struct ec2_type_zone *offered;
    struct ec2_universe u;
    uint32_t n;

    if (!ec2_describe_types(p->aws, a, &infos, e) || !ec2_describe_type_zones(p->aws, a, &offered, &n, e) ||
        !ec2_universe_build(a, &infos, offered, n, &u, e)) {
        arena_free(a);
        return err_wrap(e, "updating instance types");
    }
    if (ec2_market_set(p->market, a, &u) && p->host.say)
        p->host.say(p->host.ctx, /* error= */ false, "discovered instance types", NULL);
    return true;
}

static bool refresh_on_demand(struct ec2 *p, struct arena *a, struct err *e)
{
    struct aws_price *v[2];
    uint32_t n[2];

    if (p->settings.isolated_vpc || str_starts(aws_region(p->aws), STR("us-gov")))
        return true;
    for (int metal = 0; metal < 2; metal++) {
        if (!pricing_on_demand(p->aws, a, metal == 1, &v[metal], &n[metal], e))
            return err_wrap(e, "retrieving on-demand pricing data");
        if (n[metal] == 0)
            return err_set(e, ERR_IO, "no on-demand pricing found");
    }
    for (int metal = 0; metal < 2; metal++)
        (void)ec2_prices_set_on_demand(p->prices, v[metal], n[metal]);
    return true;
}

static bool refresh_spot(struct ec2 *p, struct arena *a, struct err *e)
{
    struct ec2_spot_price *v;
    uint32_t n;

    if (!ec2_describe_spot_prices(p->aws, a, &v, &n, e))
        return err_wrap(e, "retrieving spot pricing data");
    if (!ec2_prices_set_spot(p->prices, v, n))
        return err_set(e, ERR_IO, "no spot pricing found");
    return true;
}

/* One does not wait for the other to go well. */
bool ec2_refresh_prices(struct ec2 *p, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct err other;
    bool on_demand = refresh_on_demand(p, a, e);

    if (refresh_spot(p, a, &other))
        return on_demand;
    if (on_demand)
        *e = other;
    return false;
}

bool ec2_refresh_parameters(struct ec2 *p, struct err *e)
{
    return ec2_parameters_check(p, e);
}

/* Only of a machine that has the image which the class would choose for it now. */
void ec2_learn_memory(struct ec2 *p, str type, str class, str image, int64_t bytes)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct ec2_types types;
    struct err e;
    const struct ec2_class *k = ec2_class_of(p, a, class, &e);

    if (!k || !ec2_market_types(p->market, k, &types, &e))
        return;
    for (uint32_t i = 0; i < types.n; i++) {
        const struct ec2_class_ami *ami;

        if (!str_eq(sym_str(p->syms, types.v[i].name), type))
            continue;
        ami = ec2_ami_for(k, &types.v[i]);
        if (ami && str_eq(ami->id, image))
            ec2_market_learn(p->market, type, ec2_amis_hash(k), bytes);
        return;
    }
}

/* ---- the start ---- */

bool ec2_start(struct ec2 *p, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);

    if (!aws_find_region(p->aws, e))
        return err_wrap(e, "unable to determine region");
    if (!ec2_probe(p->aws, a, e))
        return err_wrap(e, "ec2 api connectivity check failed");
    if (!find_endpoint(p, a, e))
        return false;
    find_dns(p, a);
    if (!find_shifts(p, a, e) || !find_version(p, e))
        return false;
    if (p->cluster.ca_bundle.n == 0)
        return err_set(e, ERR_INVALID, "the cluster's CA bundle is not known: set CLUSTER_CA_BUNDLE");
    if (!p->prices)
        p->prices = ec2_prices_new(aws_region(p->aws));
    return ec2_refresh_types(p, e);
}
