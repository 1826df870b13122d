/* aws_account - see the header. */
#include "support/aws_account.h"

#include <stdio.h>

#include "data/edit.h"
#include "data/reader.h"
#include "data/xml.h"
#include "support/check.h"

static const char account_text[] =
    "{\"region\":\"us-west-2\",\"account\":\"123456789012\","
    "\"keys\":{\"AKIDEXAMPLE\":\"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\"},"
    "\"cluster\":{\"name\":\"c1\",\"endpoint\":\"https://c1\",\"caBundle\":\"Y2E=\",\"version\":\"1.32\",\"serviceIpv4Cidr\":\"10.100.0.0/16\"},"
    "\"zones\":[{\"ZoneName\":\"za\",\"ZoneId\":\"ida\",\"ZoneType\":\"availability-zone\"},"
    "{\"ZoneName\":\"zb\",\"ZoneId\":\"idb\",\"ZoneType\":\"availability-zone\"},"
    "{\"ZoneName\":\"zc\",\"ZoneId\":\"idc\",\"ZoneType\":\"availability-zone\"}],"
    "\"subnets\":[{\"SubnetId\":\"subnet-a\",\"AvailabilityZone\":\"za\",\"VpcId\":\"vpc-1\",\"AvailableIpAddressCount\":100,"
    "\"Tags\":[{\"Key\":\"Name\",\"Value\":\"net a\"},{\"Key\":\"team\"}]},"
    "{\"SubnetId\":\"subnet-b\",\"AvailabilityZone\":\"zb\",\"VpcId\":\"vpc-1\",\"AvailableIpAddressCount\":2,"
    "\"Tags\":[{\"Key\":\"Name\",\"Value\":\"net b\"}]},"
    "{\"SubnetId\":\"subnet-c\",\"AvailabilityZone\":\"zc\",\"VpcId\":\"vpc-2\",\"CidrBlock\":\"192.168.7.0/28\"}],"
    "\"securityGroups\":[{\"GroupId\":\"sg-1\",\"GroupName\":\"nodes\",\"VpcId\":\"vpc-1\"}],"
    "\"images\":[{\"ImageId\":\"ami-x86\",\"Name\":\"x86\",\"Architecture\":\"x86_64\",\"OwnerId\":\"123456789012\"},"
    "{\"ImageId\":\"ami-arm\",\"Name\":\"arm\",\"Architecture\":\"arm64\",\"OwnerId\":\"602401143452\",\"ImageOwnerAlias\":\"amazon\","
    "\"DeprecationTime\":\"2025-01-01T00:00:00.000Z\"}],"
    "\"placementGroups\":[{\"GroupId\":\"pg-1\",\"GroupName\":\"spread\",\"Strategy\":\"spread\",\"State\":\"available\"}],"
    "\"capacityReservations\":[{\"CapacityReservationId\":\"cr-1\",\"InstanceType\":\"m5.large\",\"AvailabilityZone\":\"za\","
    "\"TotalInstanceCount\":1,\"AvailableInstanceCount\":1}],"
    "\"instanceTypes\":[{\"InstanceType\":\"m5.large\",\"BareMetal\":false,\"SupportedVirtualizationTypes\":[\"hvm\"],\"SupportedUsageClasses\":[\"on-demand\",\"spot\"],"
    "\"ProcessorInfo\":{\"SupportedArchitectures\":[\"x86_64\"]},\"VCpuInfo\":{\"DefaultVCpus\":2,\"DefaultCores\":1},"
    "\"MemoryInfo\":{\"SizeInMiB\":8192}},"
    "{\"InstanceType\":\"c7g.large\",\"BareMetal\":false,\"SupportedVirtualizationTypes\":[\"hvm\"],\"SupportedUsageClasses\":[\"on-demand\"],"
    "\"ProcessorInfo\":{\"SupportedArchitectures\":[\"arm64\"]},\"VCpuInfo\":{\"DefaultVCpus\":2},\"MemoryInfo\":{\"SizeInMiB\":4096}}],"
    "\"instanceTypeOfferings\":{\"m5.large\":[\"za\",\"zb\",\"zc\"],\"c7g.large\":[\"za\"]},"
    "\"onDemandPrices\":{\"m5.large\":0.1,\"c7g.large\":0.07},"
    "\"spotPrices\":{\"m5.large\":{\"za\":0.03,\"zb\":0.02}},"
    "\"ssmParameters\":{\"/aws/service/x\":\"ami-x86\"},"
    "\"iam\":{\"roles\":[\"node\",\"controller\"],\"instanceProfiles\":{\"profile\":\"node\"}}}";

static struct tree *read_json(struct arena *a, str text)
{
    char *bytes = arena_alloc(a, text.n + 16, 16);
    struct tree *t = NULL;
    struct err e;

    if (text.n)
        memcpy(bytes, text.p, text.n);
    check_ok("the account's text", tree_read_json(a, "account", bytes, text.n, &t, &e), &e);
    return t;
}

struct tree *account_tree(struct arena *a, const char *members)
{
    struct tree *t = read_json(a, STR(account_text));

    if (members) {
        const struct tree *more = read_json(a, str_c(members));

        for (uint32_t i = 0; i < more->n; i++)
            *tree_put(a, t, more->keys[i]) = more->items[i];
    }
    return t;
}

void account_open(struct aws_account *t, uint64_t seed, const char *members, const struct sim_aws_options *o)
{
    struct sim_aws_options options = o ? *o : (struct sim_aws_options){.any_signature = true};
    struct err e = {0};

    t->sim = sim_new(seed, ACCOUNT_START_MS);
    t->far = sim_process(t->sim, "aws");
    t->near = sim_process(t->sim, "client");
    t->a = arena_new(0);
    options.world = t->far;
    options.account = account_tree(t->a, members);
    t->aws = sim_aws_new(&options, &e);
    check_ok("the account", t->aws != NULL, &e);
    sim_mount(t->sim, ACCOUNT_URL, t->far, sim_aws_serve, t->aws);
}

void account_close(struct aws_account *t)
{
    sim_aws_free(t->aws);
    sim_free(t->sim);
    arena_free(t->a);
}

void account_run(struct aws_account *t, int64_t ms)
{
    sim_run_for(t->sim, ms * 1000);
}

/* ---- asking ---- */

struct asking {
    int status;
    struct sb body;
    bool over, broken;
};

static void on_head(void *ctx, int status, const struct http_header *headers, uint32_t n)
{
    (void)headers;
    (void)n;
    ((struct asking *)ctx)->status = status;
}

static void on_data(void *ctx, str bytes)
{
    sb_str(&((struct asking *)ctx)->body, bytes);
}

static void on_end(void *ctx, const struct err *e)
{
    struct asking *q = ctx;

    q->over = true;
    q->broken = e != NULL;
}

static struct asking send_it(struct aws_account *t, const struct http_request *r)
{
    struct asking q = {0};

    (void)http_start(t->near, r,
                     &(struct http_events){.ctx = &q, .on_head = on_head, .on_data = on_data, .on_end = on_end});
    while (!q.over && sim_step(t->sim))
        ;
    check_true("the call has ended", q.over);
    return q;
}

static void read_reply(struct aws_account *t, struct aws_reply *r)
{
    struct err e;
    str root;

    if (str_starts(r->body, STR("<")))
        r->tree = xml_read(t->a, r->body, &root, &e);
    else if (str_starts(r->body, STR("{")))
        r->tree = read_json(t->a, r->body);
    if (r->status == 200 || !r->tree)
        return;
    const struct tree *errors = tree_get(r->tree, "Errors"), *error = tree_get(r->tree, "Error");

    if (errors)
        error = errors->kind == TREE_LIST ? &errors->items[0] : tree_get(errors, "Error");
    r->code = tree_str(error ? tree_get(error, "Code") : tree_get(r->tree, "__type"));
    r->message = tree_str(error ? tree_get(error, "Message") : tree_get(r->tree, "message"));
}

struct aws_reply account_ask(struct aws_account *t, const char *what, const char *body)
{
    static const char *const versions[][2] = {{"ec2", "2016-11-15"}, {"iam", "2010-05-08"}, {"sts", "2011-06-15"}};
    struct http_header target = {STR("X-Amz-Target"), str_c(what)};
    struct http_request r = {
        .method = "POST", .url = STR(ACCOUNT_URL "/"), .headers = &target, .n_headers = 1, .body = str_c(body)};

    for (size_t i = 0; i < ARRAY_LEN(versions); i++)
        if (strcmp(what, versions[i][0]) == 0) {
            r.body = arena_printf(t->a, "Version=%s&%s", versions[i][1], body);
            r.n_headers = 0;
        }
    if (strncmp(what, "GET ", 4) == 0) {
        r.method = "GET";
        r.url = arena_printf(t->a, ACCOUNT_URL "%s", what + 4);
        r.n_headers = 0;
        r.body = STR("");
    }
    struct asking q = send_it(t, &r);
    struct aws_reply reply = {.status = q.broken ? 0 : q.status, .body = sb_dup(&q.body, t->a)};

    sb_fini(&q.body);
    if (!q.broken)
        read_reply(t, &reply);
    return reply;
}

const struct tree *account_do(struct aws_account *t, const char *what, const char *body)
{
    struct aws_reply r = account_ask(t, what, body);

    if (r.status != 200)
        print_error("%s %s: " STR_FMT "\n", what, body, STR_ARG(r.body));
    check_i64(body, r.status, 200);
    return r.tree;
}

const char *account_line(struct aws_account *t, const char *fmt, ...)
{
    char text[2048];
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    check_true("it fits", n >= 0 && (size_t)n < sizeof(text));
    return arena_memdup(t->a, text, (size_t)n + 1, 1);
}
