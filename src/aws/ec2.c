/* Parts that requests to EC2 have in common. */
#include "aws/ec2_int.h"
#include "model/uid.h"
#include "net/world.h"

struct ec2_filter ec2_filter_tag(struct arena *a, str key, str value)
{
    bool any = str_is(value, "*");
    str *v = arena_new_one(a, str);

    *v = arena_strdup(a, any ? key : value);
    if (any)
        return (struct ec2_filter){.name = "tag-key", .values = v, .n = 1};
    return (struct ec2_filter){.name = arena_printf(a, "tag:" STR_FMT, STR_ARG(key)).p, .values = v, .n = 1};
}

void ec2_put_filters(struct query *q, uint32_t first, const struct ec2_filter *f, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        query_in(q, "Filter", first + i);
        query_c(q, "Name", f[i].name);
        query_strs(q, "Value", f[i].values, f[i].n);
        query_out(q);
    }
}

void ec2_put_tag_list(struct query *q, const struct ec2_tag *tags, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        query_in(q, "Tag", i + 1);
        query_str(q, "Key", tags[i].key);
        query_str(q, "Value", tags[i].value);
        query_out(q);
    }
}

void ec2_put_tags(struct query *q, const struct ec2_tags *tags, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        query_in(q, "TagSpecification", i + 1);
        query_c(q, "ResourceType", tags[i].resource);
        ec2_put_tag_list(q, tags[i].v, tags[i].n);
        query_out(q);
    }
}

static void put_interface(struct query *q, const struct ec2_interface *i)
{
    if (i->card >= 0)
        query_i64(q, "NetworkCardIndex", i->card);
    query_i64(q, "DeviceIndex", i->device);
    query_some(q, "InterfaceType", i->type);
    query_strs(q, "SecurityGroupId", i->groups, i->n_groups);
    query_some(q, "SubnetId", i->subnet);
    if (i->public_ip >= 0)
        query_bool(q, "AssociatePublicIpAddress", i->public_ip);
    if (i->ipv4_prefixes >= 0)
        query_i64(q, "Ipv4PrefixCount", i->ipv4_prefixes);
    if (i->ipv6_prefixes >= 0)
        query_i64(q, "Ipv6PrefixCount", i->ipv6_prefixes);
    if (i->primary_ipv6)
        query_bool(q, "PrimaryIpv6", true);
    if (i->ipv6_addresses)
        query_i64(q, "Ipv6AddressCount", i->ipv6_addresses);
    query_in(q, "ConnectionTrackingSpecification", 0);
    if (i->tcp_established)
        query_i64(q, "TcpEstablishedTimeout", i->tcp_established);
    if (i->udp_stream)
        query_i64(q, "UdpStreamTimeout", i->udp_stream);
    if (i->udp)
        query_i64(q, "UdpTimeout", i->udp);
    query_out(q);
}

void ec2_put_interfaces(struct query *q, const struct ec2_interface *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        query_in(q, "NetworkInterface", i + 1);
        put_interface(q, &v[i]);
        query_out(q);
    }
}

str ec2_token(struct arena *a, struct world *w)
{
    uint64_t hi = world_random(w), lo = world_random(w);
    struct uid u = {(hi & ~0xf000ull) | 0x4000, lo >> 2 | 2ull << 62}; /* version 4 of RFC 9562 */

    return arena_strdup(a, UID_STR(u));
}
