/* nodeclass and nodeclass.hash against a simulated cluster and the recorded AWS account: from a new EC2NodeClass to its end (aws 2.9.3, 7.1, 7.2; 11.6 N1). */
#include <stdlib.h>

#include "base/file.h"
#include "control/aws/classes.h"
#include "control/feed.h"
#include "data/reader.h"
#include "sim/aws/aws.h"
#include "sim/world.h"
#include "support/check.h"
#include "support/far.h"

#define BASE_URL "https://aws.test"
#define CLASS                                                                                                          \
    "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\nspec:\n  role: test-role\n"      \
    "  amiSelectorTerms: [{alias: al2023@latest}]\n  subnetSelectorTerms: [{tags: {foo: bar}}]\n"                      \
    "  securityGroupSelectorTerms: [{tags: {foo: bar}}]\n"
#define CLAIM                                                                                                          \
    "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: c1}\nspec:\n"                                      \
    "  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}\n"                                  \
    "  requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]\n"

struct scene {
    struct far *far;
    struct sim_aws *server;
    struct aws_config *config;
    struct aws *aws;
    struct ec2 *p;
    struct options options;
    struct control c;
    struct metrics *registry;
    struct aws_classes *classes;
    bool started;
    struct err e;
};

static void each_class(void *ctx UNUSED, void (*fn)(void *arg, str name) UNUSED, void *arg UNUSED) {}
static void each_pool(void *ctx UNUSED, void (*fn)(void *arg, const struct nodepool *p) UNUSED, void *arg UNUSED) {}

static struct tree *class_object(void *ctx UNUSED, struct arena *a UNUSED, str name UNUSED)
{
    return NULL;
}

static uint64_t news(void *ctx UNUSED)
{
    return 1;
}

static bool kube_dns(void *ctx UNUSED, struct arena *a UNUSED, str *ret UNUSED, struct err *e)
{
    return err_set(e, ERR_NOT_FOUND, "there is none");
}

static void drop_line(void *ctx UNUSED, str line UNUSED) {}

static int64_t now_ms(void *w)
{
    return world_now_ms(w);
}

static void start(void *arg)
{
    struct scene *s = arg;

    s->started = ec2_start(s->p, &s->e);
}

static void open_account(struct scene *s)
{
    static const char *const vars[] = {("AWS_ENDPOINT_URL=" BASE_URL), "AWS_ACCESS_KEY_ID=AKIDEXAMPLE",
                                       "AWS_SECRET_ACCESS_KEY=secret", "AWS_REGION=us-west-2", NULL};
    struct sim_aws_options o = {.any_signature = true, .unlimited = true, .loose = true};
    str text;

    o.world = sim_process(s->far->sim, "aws");
    check_ok("read", file_read(s->far->a, "tests/vectors/aws/world.json", 64u << 20, &text, &s->e), &s->e);
    check_ok("JSON", tree_parse_json(s->far->a, "world", text, &o.account, &s->e), &s->e);
    s->server = sim_aws_new(&o, &s->e);
    check_ok("the account", s->server != NULL, &s->e);
    sim_mount(s->far->sim, BASE_URL, o.world, sim_aws_serve, s->server);
    s->config = aws_config_load(&(struct aws_environment){.vars = vars}, &s->e);
    check_ok("the configuration", s->config != NULL, &s->e);
    s->aws = aws_new(&(struct aws_options){.world = s->far->world, .config = s->config, .agent = "karpenter.sh"});
    s->p = ec2_new(&(struct ec2_options){
        .world = s->far->world,
        .aws = s->aws,
        .syms = s->c.syms,
        .settings = {.cluster_name = STR("test-cluster"),
                     .ca_bundle = STR("Y2E="),
                     .eks_control_plane = true,
                     .ami_refresh_ms = 60000,
                     .subnet_refresh_ms = 60000},
        .host = {.ctx = s,
                 .class_object = class_object,
                 .each_class = each_class,
                 .each_pool = each_pool,
                 .news = news,
                 .kube_dns = kube_dns},
    });
    far_do(s->far, start, s);
    check_ok("started", s->started, &s->e);
}

static void scene_open(struct scene *s)
{
    struct nodeclass_ref class = {.group = STR("karpenter.k8s.aws"), .kind = STR("EC2NodeClass")};

    *s = (struct scene){.far = far_new(1), .options = {.cpu_milli = 1000}};
    s->c = (struct control){.syms = syms_new(), .options = &s->options, .world = s->far->world, .api = s->far->api};
    open_account(s);
    s->c.cloud = ec2_cloud(s->p);
    s->c.log = log_new(LOG_ERROR, &(struct log_sink){NULL, drop_line}, now_ms, s->far->world);
    s->registry = metrics_new();
    s->c.store = store_new(
        &(struct store_options){.syms = s->c.syms, .classes = &class, .n_classes = 1, .nomination_ms = 20000});
    s->c.feed = feed_new(&(struct feed_options){
        .store = s->c.store, .classes = s->c.cloud->classes, .n_classes = s->c.cloud->n_classes});
    s->c.manager = manager_new(s->far->world, s->c.log, s->registry);
    s->c.recorder = recorder_new(s->c.api, STR("karpenter"), s->c.log);
    s->classes = aws_classes_new(&s->c, s->p, /* isolated_vpc= */ false);
    feed_watch(s->c.feed, s->c.api);
    far_run(s->far, 1);
    check_true("all is listed", feed_listed(s->c.feed));
    manager_start(s->c.manager);
}

static void scene_close(struct scene *s)
{
    feed_free(s->c.feed);
    far_kill(s->far);
    manager_free(s->c.manager);
    recorder_free(s->c.recorder);
    aws_classes_free(s->classes);
    store_free(s->c.store);
    metrics_free(s->registry);
    log_free(s->c.log);
    ec2_cloud(s->p)->free(s->p);
    aws_free(s->aws);
    aws_config_free(s->config);
    sim_aws_free(s->server);
    far_free(s->far);
    syms_free(s->c.syms);
}

static void from_its_beginning_to_its_end(void **state UNUSED)
{
    struct scene s;

    scene_open(&s);
    far_apply(s.far, CLASS);
    far_run(s.far, 5);
    check_str("ready", str_sub(far_condition(s.far, "ec2nodeclasses", "default", "Ready"), 0, 4), "True");
    check_str("finalizer", far_get(s.far, "ec2nodeclasses", "default", "metadata.finalizers"),
              "[\"karpenter.k8s.aws/termination\"]");
    check_true("hash", str_contains(far_get(s.far, "ec2nodeclasses", "default", "metadata.annotations"),
                                    STR("karpenter.k8s.aws/ec2nodeclass-hash\":\"")));
    check_u64("one profile", sim_aws_calls(s.server, "CreateInstanceProfile"), 1);
    (void)far_writes(s.far);
    far_run(s.far, 30);
    check_str("then it is quiet", far_writes(s.far), "");

    far_apply(s.far, CLAIM);
    far_run(s.far, 1);
    far_delete(s.far, "ec2nodeclasses", "default");
    far_run(s.far, 5);
    check_u64("N1 it waits for its claims", far_count(s.far, "ec2nodeclasses", "default"), 1);
    check_true("and says so", far_events(s.far, "WaitingOnNodeClaimTermination", "").n > 0);
    far_delete(s.far, "nodeclaims", "c1");
    far_run(s.far, 5);
    check_u64("N1 the last claim takes it along", far_count(s.far, "ec2nodeclasses", "default"), 0);
    check_u64("with its profile", sim_aws_calls(s.server, "DeleteInstanceProfile"), 1);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(from_its_beginning_to_its_end)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
