/* The cluster, as EKS knows it. */
#include "aws/services_int.h"
#include "net/http.h"

static const struct wire_field cluster_fields[] = {
    WIRE(eks_cluster, name, WIRE_TEXT, "cluster/name"),
    WIRE(eks_cluster, arn, WIRE_TEXT, "cluster/arn"),
    WIRE(eks_cluster, endpoint, WIRE_TEXT, "cluster/endpoint"),
    WIRE(eks_cluster, version, WIRE_TEXT, "cluster/version"),
    WIRE(eks_cluster, ca_data, WIRE_TEXT, "cluster/certificateAuthority/data"),
    WIRE(eks_cluster, service_ipv4, WIRE_TEXT, "cluster/kubernetesNetworkConfig/serviceIpv4Cidr"),
    WIRE(eks_cluster, service_ipv6, WIRE_TEXT, "cluster/kubernetesNetworkConfig/serviceIpv6Cidr"),
};
const struct wire_shape eks_cluster_shape = WIRE_SHAPE(eks_cluster, cluster_fields);

bool eks_describe_cluster(struct aws *c, struct arena *a, str name, struct eks_cluster *ret, struct aws_answer *f,
                          struct err *e)
{
    struct sb path = {0};

    sb_c(&path, "/clusters/");
    url_encode(&path, name);
    struct aws_call call = {.service = AWS_EKS, .action = "DescribeCluster", .method = "GET", .path = sb_view(&path)};
    bool ok = aws_ask(c, a, &call, &eks_cluster_shape, ret, f, e);
    sb_fini(&path);
    return ok;
}
