/* Requests to an AWS account with a few things in it. A file holds one or more, separated by lines of "%%": a target or "METHOD /path" in the first line (empty: a query
 * service), a body after it. Whatever they ask: there is an answer, which can be read, and a refusal launches nothing. The account's file is fuzzed too: what begins with "{" is one. */
#include <string.h>

#include "base/sb.h"
#include "data/reader.h"
#include "data/xml.h"
#include "sim/aws/aws.h"
#include "sim/world.h"

#define MAX_REQUESTS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char account[] =
    "{\"region\":\"r\",\"account\":\"1\",\"cluster\":{\"name\":\"c\"},\"zones\":[{\"ZoneName\":\"za\",\"ZoneId\":\"a\"}],"
    "\"subnets\":[{\"SubnetId\":\"subnet-a\",\"AvailabilityZone\":\"za\",\"VpcId\":\"v\",\"Tags\":[{\"Key\":\"k\",\"Value\":\"v\"},{\"Key\":\"e\"}]}],"
    "\"securityGroups\":[{\"GroupId\":\"sg-1\",\"GroupName\":\"g\",\"VpcId\":\"v\"}],\"images\":[{\"ImageId\":\"ami-1\",\"Architecture\":\"x86_64\"}],"
    "\"instanceTypes\":[{\"InstanceType\":\"t\",\"VCpuInfo\":{\"DefaultVCpus\":2}}],\"instanceTypeOfferings\":{\"t\":[\"za\"]},"
    "\"onDemandPrices\":{\"t\":1},\"spotPrices\":{\"t\":{\"za\":0.5}},\"iam\":{\"roles\":[\"r\"],\"instanceProfiles\":{\"p\":\"r\"}},"
    "\"placementGroups\":[{\"GroupId\":\"pg-1\",\"GroupName\":\"g\",\"Strategy\":\"partition\",\"PartitionCount\":3}],"
    "\"capacityReservations\":[{\"CapacityReservationId\":\"cr-1\"}]}";

static struct tree *read_json(struct arena *a, str text)
{
    char *bytes = arena_alloc(a, text.n + 16, 16);
    struct tree *t;
    struct err e;

    if (text.n)
        memcpy(bytes, text.p, text.n);
    return tree_read_json(a, "x", bytes, text.n, &t, &e) ? t : NULL;
}

struct asking {
    int status;
    struct sb body;
    bool over;
};

static void on_head(void *ctx, int status, const struct http_header *h, uint32_t n)
{
    (void)h;
    (void)n;
    ((struct asking *)ctx)->status = status;
}

static void on_data(void *ctx, str bytes)
{
    sb_str(&((struct asking *)ctx)->body, bytes);
}

static void on_end(void *ctx, const struct err *e)
{
    assert(!e || ((struct asking *)ctx)->status == 0);
    ((struct asking *)ctx)->over = true;
}

/* The next text up to a line of "%%". */
static str cut_request(str *rest)
{
    for (size_t i = 0; i + 4 <= rest->n; i++)
        if (memcmp(rest->p + i, "\n%%\n", 4) == 0) {
            str head = str_sub(*rest, 0, i);

            *rest = str_sub(*rest, i + 4, rest->n);
            return head;
        }
    str all = *rest;
    *rest = (str){0};
    return all;
}

static bool printable(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == '#')
            return false;
    return s.n < 4096;
}

static void check_reply(struct arena *a, const struct asking *q, uint64_t launched)
{
    str text = sb_view(&q->body), root;
    struct err e;

    assert(q->over && q->status >= 200 && q->status < 600);
    if (str_starts(text, STR("<")))
        assert(xml_read(a, text, &root, &e));
    else
        assert(read_json(a, text));
    assert(q->status == 200 || launched == 0);
}

static void ask(struct sim *sim, struct world *near, struct sim_aws *aws, struct arena *a, str request)
{
    str line, body, method, path;
    struct asking q = {0};

    (void)str_cut(request, '\n', &line, &body);
    bool get = str_cut(line, ' ', &method, &path) && str_is(method, "GET");
    struct http_header target = {STR("X-Amz-Target"), line};
    struct http_request r = {.method = get ? "GET" : "POST",
                             .url = STR("https://aws/"),
                             .headers = &target,
                             .n_headers = line.n && !get,
                             .body = get ? STR("") : body};

    if (!printable(get ? path : line) || (get && (path.n == 0 || path.p[0] != '/')))
        return;
    if (get)
        r.url = arena_printf(a, "https://aws" STR_FMT, STR_ARG(path));
    uint64_t before = sim_aws_bill(aws).launched;

    (void)http_start(near, &r,
                     &(struct http_events){.ctx = &q, .on_head = on_head, .on_data = on_data, .on_end = on_end});
    while (!q.over && sim_step(sim))
        ;
    check_reply(a, &q, sim_aws_bill(aws).launched - before);
    sb_fini(&q.body);
}

static void nothing(void *ctx, const struct sim_aws_resource *r)
{
    (void)ctx;
    (void)r;
}

static void recorder(void *ctx, const struct sim_aws_call *c)
{
    (void)ctx;
    assert(c->input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sim *sim = sim_new(1, 1768478400000);
    struct world *far = sim_process(sim, "far"), *near = sim_process(sim, "near");
    str rest = {(const char *)data, size};
    bool own = str_starts(rest, STR("{"));
    struct tree *t = read_json(a, own ? cut_request(&rest) : STR(account));
    struct err e;
    struct sim_aws *aws =
        t ? sim_aws_new(
                &(struct sim_aws_options){
                    .world = far, .account = t, .any_signature = true, .on_call = recorder, .unlimited = true},
                &e)
          : NULL;

    if (aws) {
        sim_mount(sim, "https://aws", far, sim_aws_serve, aws);
        for (int i = 0; i < MAX_REQUESTS && rest.n; i++)
            ask(sim, near, aws, a, cut_request(&rest));
        sim_run_for(sim, 2LL * 3600 * 1000000);
        sim_aws_each(aws, nothing, NULL);
    }
    sim_aws_free(aws);
    sim_free(sim);
    return 0;
}
