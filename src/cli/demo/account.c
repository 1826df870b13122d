/* The account: one virtual private cloud with subnets in three zones, the roles and the queue of Karpenter's own set-up guides, images of every family. Subnets and groups are there twice, because
 * a tag has one value, and manifests select them by the name of the cluster or by the placeholder my-cluster. */
#include "cli/demo/account.h"

#include "base/map.h"
#include "base/sb.h"
#include "cli/cli.h"
#include "data/edit.h"
#include "data/reader.h"

#define ACCOUNT "123456789012"
#define VPC "vpc-0dea0000000000001"
#define N_ZONES 3

/* ---- images ---- */

static const struct row {
    const char *family, *arch;
    const char *name;      /* $K: version of Kubernetes; $V: of the image */
    const char *parameter; /* $X: "recommended" or the image's own name, "latest" or its version */
    const char *newest, *own;
} rows[] = {
#define AL2023(arch, kind)                                                                                             \
    {                                                                                                                  \
        "al2023", arch, "amazon-eks-node-al2023-" arch "-" kind "-$K-$V",                                              \
            "/aws/service/eks/optimized-ami/$K/amazon-linux-2023/" arch "/" kind "/$X/image_id", "recommended",        \
            "amazon-eks-node-al2023-" arch "-" kind "-$K-$V"                                                           \
    }
#define BOTTLEROCKET(arch, kind)                                                                                       \
    {                                                                                                                  \
        "bottlerocket", arch, "bottlerocket-aws-k8s-$K" kind "-" arch "-v$V-0a1b2c3d",                                 \
            "/aws/service/bottlerocket/aws-k8s-$K" kind "/" arch "/$X/image_id", "latest", "$V"                        \
    }
#define WINDOWS(year)                                                                                                  \
    {                                                                                                                  \
        "windows", "x86_64", "Windows_Server-" year "-English-Core-EKS_Optimized-$K-$V",                               \
            "/aws/service/ami-windows-latest/Windows_Server-" year "-English-Core-EKS_Optimized-$K/image_id", "", NULL \
    }
#define AL2(arch, dir, name)                                                                                           \
    {                                                                                                                  \
        "al2", arch, name "-$K-$V", "/aws/service/eks/optimized-ami/$K/" dir "/$X/image_id", "recommended",            \
            name "-$K-$V"                                                                                              \
    }
    AL2023("x86_64", "standard"),
    AL2023("x86_64", "nvidia"),
    AL2023("x86_64", "neuron"),
    AL2023("arm64", "standard"),
    AL2023("arm64", "nvidia"),
    BOTTLEROCKET("x86_64", ""),
    BOTTLEROCKET("arm64", ""),
    BOTTLEROCKET("x86_64", "-nvidia"),
    BOTTLEROCKET("arm64", "-nvidia"),
    WINDOWS("2019"),
    WINDOWS("2022"),
    WINDOWS("2025"),
    AL2("x86_64", "amazon-linux-2", "amazon-eks-node"),
    AL2("arm64", "amazon-linux-2-arm64", "amazon-eks-arm64-node"),
    AL2("x86_64", "amazon-linux-2-gpu", "amazon-eks-gpu-node"),
};

/* What there is at the beginning, the newest last. The last Kubernetes that AL2 has images for is older than the demo's. */
static const struct {
    const char *family, *kube, *version, *created;
} published[] = {
    {"al2023", "", "v20260605", "2026-06-06T12:00:00.000Z"},
    {"al2023", "", "v20260702", "2026-07-03T12:00:00.000Z"},
    {"bottlerocket", "", "1.58.0", "2026-05-20T12:00:00.000Z"},
    {"bottlerocket", "", "1.60.1", "2026-07-01T12:00:00.000Z"},
    {"windows", "", "2026.06.10", "2026-06-10T12:00:00.000Z"},
    {"al2", "1.32", "v20251209", "2025-12-10T12:00:00.000Z"},
};

/* $K, $V and $X of a pattern filled in. */
static str fill(struct arena *a, const char *pattern, str k, str v, str x)
{
    struct sb b = {0};

    for (const char *p = pattern; *p; p++) {
        if (*p != '$') {
            sb_char(&b, *p);
            continue;
        }
        p++;
        sb_str(&b, *p == 'K' ? k : *p == 'V' ? v : x);
    }
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static struct tree *image_of(struct arena *a, const struct row *r, str name, str created)
{
    struct tree *t = tree_new_map(a);

    tree_set_str(a, t, "ImageId", arena_printf(a, "ami-0%016llx", (unsigned long long)hash_bytes(name.p, name.n, 7)));
    tree_set_str(a, t, "Name", name);
    tree_set_str(a, t, "Architecture", str_c(r->arch));
    tree_set_str(a, t, "CreationDate", created);
    tree_set_str(a, t, "ImageOwnerAlias", STR("amazon"));
    tree_set_str(a, t, "OwnerId", STR("602401143452"));
    tree_set_str(a, t, "State", STR("available"));
    if (strcmp(r->family, "windows") == 0)
        tree_set_str(a, t, "Platform", STR("windows"));
    return t;
}

bool account_images(struct arena *a, str family, str kube_version, str version, str created,
                    void (*fn)(void *ctx, const struct account_image *i), void *ctx)
{
    bool any = false;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *r = &rows[i];

        if (!str_is(family, r->family))
            continue;
        str name = fill(a, r->name, kube_version, version, STR(""));
        struct account_image x = {.image = image_of(a, r, name, created)};

        any = true;
        x.parameters[0] = fill(a, r->parameter, kube_version, version, str_c(r->newest));
        if (r->own)
            x.parameters[1] =
                fill(a, r->parameter, kube_version, version, fill(a, r->own, kube_version, version, STR("")));
        fn(ctx, &x);
    }
    return any;
}

struct adding {
    struct arena *a;
    struct tree *account;
};

static void add_image(void *ctx, const struct account_image *i)
{
    struct adding *x = ctx;
    str id = tree_str(tree_get(i->image, "ImageId"));

    (void)tree_push(x->a, tree_sublist(x->a, x->account, "images"), *i->image);
    for (size_t k = 0; k < ARRAY_LEN(i->parameters); k++)
        if (i->parameters[k].n)
            *tree_put(x->a, tree_sub(x->a, x->account, "ssmParameters"), i->parameters[k]) = tree_of_str(id);
}

/* ---- all of it ---- */

static void put_subnets(struct sb *b)
{
    static const char *const names[] = {DEMO_CLUSTER, "my-cluster"};

    sb_c(b, "\"subnets\":[");
    for (uint32_t i = 0; i < ARRAY_LEN(names) * N_ZONES; i++) {
        uint32_t of = i / N_ZONES, zone = i % N_ZONES;

        sb_printf(b,
                  "%s{\"SubnetId\":\"subnet-0dea0%012x\",\"VpcId\":\"" VPC "\",\"AvailabilityZone\":\"" DEMO_REGION
                  "%c\",\"CidrBlock\":\"10.%u.%u.0/18\",\"MapPublicIpOnLaunch\":false,\"Tags\":["
                  "{\"Key\":\"Name\",\"Value\":\"%s-private-" DEMO_REGION "%c\"},"
                  "{\"Key\":\"karpenter.sh/discovery\",\"Value\":\"%s\"},"
                  "{\"Key\":\"kubernetes.io/role/internal-elb\",\"Value\":\"1\"}]}",
                  i ? "," : "", i + 1, (char)('a' + zone), of, zone * 64, names[of], (char)('a' + zone), names[of]);
    }
    sb_c(b, "],");
}

static void put_groups(struct sb *b)
{
    sb_c(b, "\"securityGroups\":["
            "{\"GroupId\":\"sg-0dea0000000000001\",\"GroupName\":\"eks-cluster-sg-" DEMO_CLUSTER "\",\"VpcId\":\"" VPC
            "\",\"Description\":\"the cluster's own\",\"Tags\":["
            "{\"Key\":\"Name\",\"Value\":\"eks-cluster-sg-" DEMO_CLUSTER "\"},"
            "{\"Key\":\"aws:eks:cluster-name\",\"Value\":\"" DEMO_CLUSTER "\"},"
            "{\"Key\":\"karpenter.sh/discovery\",\"Value\":\"" DEMO_CLUSTER "\"},"
            "{\"Key\":\"kubernetes.io/cluster/" DEMO_CLUSTER "\",\"Value\":\"owned\"}]},"
            "{\"GroupId\":\"sg-0dea0000000000002\",\"GroupName\":\"my-cluster-nodes\",\"VpcId\":\"" VPC
            "\",\"Description\":\"nodes\",\"Tags\":[{\"Key\":\"karpenter.sh/discovery\",\"Value\":\"my-cluster\"}]}],");
}

static str base_text(struct arena *a, const struct account_setup *s)
{
    struct sb b = {0};

    sb_printf(&b,
              "{\"region\":\"" DEMO_REGION "\",\"account\":\"" ACCOUNT "\",\"cluster\":{\"name\":\"" DEMO_CLUSTER
              "\",\"endpoint\":\"" STR_FMT "\",\"caBundle\":\"" STR_FMT "\",\"version\":\"" STR_FMT
              "\",\"serviceIpv4Cidr\":\"10.96.0.0/12\"},\"keys\":{\"" STR_FMT "\":\"" STR_FMT "\"},",
              STR_ARG(s->endpoint), STR_ARG(s->ca_bundle), STR_ARG(s->version), STR_ARG(s->key_id), STR_ARG(s->secret));
    sb_c(&b,
         "\"vpcs\":[{\"VpcId\":\"" VPC "\",\"CidrBlock\":\"10.0.0.0/15\",\"State\":\"available\",\"IsDefault\":false,"
         "\"OwnerId\":\"" ACCOUNT "\",\"Tags\":[{\"Key\":\"Name\",\"Value\":\"" DEMO_CLUSTER "\"}]}],");
    put_subnets(&b);
    put_groups(&b);
    sb_c(&b, "\"queues\":[\"" DEMO_QUEUE "\"],\"quotas\":{\"onDemandVcpus\":2000,\"spotVcpus\":2000},"
             "\"iam\":{\"roles\":[\"KarpenterNodeRole-" DEMO_CLUSTER "\",\"KarpenterNodeRole\","
             "\"KarpenterControllerRole-" DEMO_CLUSTER "\",\"" DEMO_CLUSTER "-bootstrap\"],"
             "\"instanceProfiles\":{\"KarpenterNodeInstanceProfile-" DEMO_CLUSTER "\":\"KarpenterNodeRole-" DEMO_CLUSTER
             "\"}}}");
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

struct tree *account_of(struct arena *a, const struct account_setup *s, struct err *e)
{
    const struct tree *base;

    if (!tree_parse_json(a, "account", base_text(a, s), &base, e))
        return NULL;
    struct tree *account = tree_copy(a, base);
    struct adding x = {a, account};

    if (!s->env->ec2_of(a, STR(DEMO_REGION), account, e))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(published); i++) {
        str kube = published[i].kube[0] ? str_c(published[i].kube) : s->version;

        (void)account_images(a, str_c(published[i].family), kube, str_c(published[i].version),
                             str_c(published[i].created), add_image, &x);
    }
    return account;
}
