/* Host names are name.region.suffix; the suffix depends on the partition, which follows from the region's first letters. IAM is one for
 * a whole partition, with names of its own. The names are those that AWS publishes for its SDKs; tests/unit/aws/endpoints.txt
 * has all that we can ask for.
 */
#include "aws/endpoint.h"

#include "aws/url.h"

struct partition {
    const char *regions; /* how they begin */
    const char *suffix, *dual_suffix;
    const char *iam_region;
    const char *iam, *iam_fips, *iam_dual, *iam_both;
};

static const struct partition partitions[] = {
    {"cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn", "cn-north-1", "iam.cn-north-1.amazonaws.com.cn",
     "iam-fips.amazonaws.com.cn", "iam.global.api.amazonwebservices.com.cn", "iam-fips.api.amazonwebservices.com.cn"},
    {"us-gov-", "amazonaws.com", "api.aws", "us-gov-west-1", "iam.us-gov.amazonaws.com", "iam.us-gov.amazonaws.com",
     "iam.us-gov.api.aws", "iam.us-gov.api.aws"},
    {"us-iso-", "c2s.ic.gov", "api.aws.ic.gov", "us-iso-east-1", "iam.us-iso-east-1.c2s.ic.gov",
     "iam-fips.us-iso-east-1.c2s.ic.gov", "iam.api.aws.ic.gov", "iam-fips.api.aws.ic.gov"},
    {"us-isob-", "sc2s.sgov.gov", "api.aws.scloud", "us-isob-east-1", "iam.us-isob-east-1.sc2s.sgov.gov",
     "iam-fips.us-isob-east-1.sc2s.sgov.gov", "iam.api.aws.scloud", "iam-fips.api.aws.scloud"},
    {"eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk", "eu-isoe-west-1", "iam.eu-isoe-west-1.cloud.adc-e.uk",
     "iam-fips.cloud.adc-e.uk", "iam.api.cloud-aws.adc-e.uk", "iam-fips.api.cloud-aws.adc-e.uk"},
    {"us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov", "us-isof-south-1", "iam.us-isof-south-1.csp.hci.ic.gov",
     "iam-fips.csp.hci.ic.gov", "iam.api.aws.hci.ic.gov", "iam-fips.api.aws.hci.ic.gov"},
    {"eusc-", "amazonaws.eu", "api.amazonwebservices.eu", "eusc-de-east-1", "iam.eusc-de-east-1.amazonaws.eu",
     "iam-fips.amazonaws.eu", "iam.global.api.amazonwebservices.eu", "iam-fips.api.amazonwebservices.eu"},
    {"", "amazonaws.com", "api.aws", "us-east-1", "iam.amazonaws.com", "iam-fips.amazonaws.com", "iam.global.api.aws",
     "iam-fips.global.api.aws"},
};

static const struct {
    const char *name; /* first in the host name */
    const char *signed_as;
    const char *id; /* the SDKs' name */
} services[AWS_N_SERVICES] = {
    [AWS_EC2] = {"ec2", "ec2", "EC2"},
    [AWS_IAM] = {"iam", "iam", "IAM"},
    [AWS_STS] = {"sts", "sts", "STS"},
    [AWS_SSM] = {"ssm", "ssm", "SSM"},
    [AWS_SQS] = {"sqs", "sqs", "SQS"},
    [AWS_EKS] = {"eks", "eks", "EKS"},
    [AWS_PRICING] = {"api.pricing", "pricing", "Pricing"},
    [AWS_ZONAL_SHIFT] = {"arc-zonal-shift", "arc-zonal-shift", "ARC Zonal Shift"},
};

const char *aws_service_id(enum aws_service s)
{
    return services[s].id;
}

static const struct partition *partition_of(str region)
{
    const struct partition *p = partitions;

    while (!str_starts(region, str_c(p->regions)))
        p++;
    return p;
}

str pricing_region(str region)
{
    static const struct {
        const char *begins, *region;
    } table[] = {{"ap-", "ap-south-1"}, {"cn-", "cn-northwest-1"}, {"eu-", "eu-central-1"}};

    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_starts(region, str_c(table[i].begins)))
            return str_c(table[i].region);
    return STR("us-east-1");
}

/* Of the services that GovCloud has, most are FIPS ones there under their usual names. */
static bool is_fips_anyway(const struct partition *p, str name)
{
    return strcmp(p->regions, "us-gov-") == 0 && !str_is(name, "api.pricing") && !str_is(name, "arc-zonal-shift");
}

str endpoint_host(const struct aws_config *c, str region, const char *name, struct arena *a)
{
    const struct partition *p = partition_of(region);
    const char *suffix = c->dual_stack ? p->dual_suffix : p->suffix;
    bool fips = c->fips && (c->dual_stack || !is_fips_anyway(p, str_c(name)));

    if (fips && !c->dual_stack && strcmp(name, "eks") == 0 && !p->regions[0])
        return arena_printf(a, "fips.eks." STR_FMT ".%s", STR_ARG(region), suffix);
    return arena_printf(a, "%s%s." STR_FMT ".%s", name, fips ? "-fips" : "", STR_ARG(region), suffix);
}

static str iam_host(const struct aws_config *c, const struct partition *p)
{
    if (c->dual_stack)
        return str_c(c->fips ? p->iam_both : p->iam_dual);
    return str_c(c->fips ? p->iam_fips : p->iam);
}

static bool overridden(const struct aws_config *c, str url, struct aws_endpoint *ret, struct err *e)
{
    struct url_parts u;

    if (c->fips || c->dual_stack)
        return err_set(e, ERR_INVALID, "an endpoint of one's own (" STR_FMT ") cannot be had with %s", STR_ARG(url),
                       c->fips ? "AWS_USE_FIPS_ENDPOINT" : "AWS_USE_DUALSTACK_ENDPOINT");
    if (!url_split(url, &u))
        return err_set(e, ERR_INVALID, "not a url: " STR_FMT, STR_ARG(url));
    ret->url = url;
    ret->host = u.authority;
    ret->path = u.path;
    return true;
}

bool endpoint_of(const struct aws_config *c, str region, enum aws_service s, struct arena *a, struct aws_endpoint *ret,
                 struct err *e)
{
    struct aws_endpoint r = {.service = str_c(services[s].signed_as)};

    if (!region.n)
        return err_set(e, ERR_INVALID, "no region is known: set AWS_REGION");
    r.region = s == AWS_PRICING ? pricing_region(region) : region;
    if (c->urls[s].n) {
        if (!overridden(c, c->urls[s], &r, e))
            return false;
    } else if (s == AWS_IAM) {
        r.host = iam_host(c, partition_of(region));
        r.region = str_c(partition_of(region)->iam_region);
    } else {
        r.host = endpoint_host(c, r.region, services[s].name, a);
    }
    if (!r.url.n)
        r.url = arena_printf(a, "https://" STR_FMT, STR_ARG(r.host));
    *ret = r;
    return true;
}
