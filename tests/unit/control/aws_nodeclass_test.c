/* nodeclass and nodeclass.hash against a simulated cluster and the recorded AWS account: from a new EC2NodeClass to its end (aws 2.9.3, 7.1, 7.2; 11.1 H9 to H14, 11.6 N1, N8). */
#include <stdlib.h>

#include "base/file.h"
#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/reconcile.h"
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

/* ---- H9 to H14 ---- */

static str notes(struct scene *s, const char *plural, const char *name)
{
    return arena_strdup(s->far->a, far_get(s->far, plural, name, "metadata.annotations"));
}

static void h9_h10_hashes_follow_the_spec(void **state UNUSED)
{
    static const struct {
        const char *name, *patch;
        bool counts;
    } cases[] = {
        {"user data", "{\"spec\":{\"userData\":\"#!/bin/bash\"}}", true},
        {"tags", "{\"spec\":{\"tags\":{\"a\":\"b\"}}}", true},
        {"context", "{\"spec\":{\"context\":\"c\"}}", true},
        {"monitoring", "{\"spec\":{\"detailedMonitoring\":true}}", true},
        {"public address", "{\"spec\":{\"associatePublicIPAddress\":true}}", true},
        {"metadata", "{\"spec\":{\"metadataOptions\":{\"httpTokens\":\"optional\"}}}", true},
        {"disks", "{\"spec\":{\"instanceStorePolicy\":\"RAID0\"}}", true},
        {"subnets", "{\"spec\":{\"subnetSelectorTerms\":[{\"id\":\"subnet-test1\"}]}}", false},
        {"groups", "{\"spec\":{\"securityGroupSelectorTerms\":[{\"id\":\"sg-test1\"}]}}", false},
        {"images", "{\"spec\":{\"amiSelectorTerms\":[{\"alias\":\"al2023@v20251209\"}]}}", false},
    };
    struct scene s;

    scene_open(&s);
    far_apply(s.far, CLASS);
    far_run(s.far, 5);
    str was = notes(&s, "ec2nodeclasses", "default");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        far_patch(s.far, "ec2nodeclasses", "default", cases[i].patch);
        far_run(s.far, 5);
        str is = notes(&s, "ec2nodeclasses", "default");
        check_true(cases[i].name, str_eq(was, is) != cases[i].counts);
        was = is;
    }
    s.p->cluster.ca_bundle = STR("b3RoZXI=");
    far_patch(s.far, "ec2nodeclasses", "default", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    far_run(s.far, 5);
    check_true("H9 another CA bundle", !str_eq(was, notes(&s, "ec2nodeclasses", "default")));
    scene_close(&s);
}

#define NOTED(name, hash, version)                                                                                     \
    "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " name                                             \
    ", annotations: {karpenter.k8s.aws/ec2nodeclass-hash: \"" hash                                                     \
    "\", karpenter.k8s.aws/ec2nodeclass-hash-version: " version "}}\nspec:\n"                                          \
    "  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}\n"                                  \
    "  requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]\n"

static void h11_to_h14_another_way_to_hash(void **state UNUSED)
{
    struct scene s;

    scene_open(&s);
    far_apply(s.far, CLASS);
    far_run(s.far, 5);
    str good = notes(&s, "ec2nodeclasses", "default");
    far_apply(s.far, NOTED("old", "1", "v1"));
    far_apply(s.far, NOTED("gone", "2", "v1"));
    far_patch_status(s.far, "nodeclaims", "gone",
                     "{\"status\":{\"conditions\":[{\"type\":\"Drifted\",\"status\":\"True\",\"reason\":\"x\","
                     "\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}");
    far_apply(s.far, NOTED("same", "3", EC2_HASH_VERSION));
    far_run(s.far, 5);
    check_true("H13 nothing happens to claims by itself",
               str_contains(notes(&s, "nodeclaims", "old"), STR("-hash\":\"1\"")));
    far_patch(s.far, "ec2nodeclasses", "default",
              "{\"metadata\":{\"annotations\":{\"karpenter.k8s.aws/ec2nodeclass-hash\":\"9\","
              "\"karpenter.k8s.aws/ec2nodeclass-hash-version\":\"v1\"}}}");
    far_run(s.far, 5);
    check_true("H11 the class", str_eq(notes(&s, "ec2nodeclasses", "default"), good));
    check_true("H12 its claims", str_eq(notes(&s, "nodeclaims", "old"), good));
    check_true("H13 not those of this version", str_contains(notes(&s, "nodeclaims", "same"), STR("-hash\":\"3\"")));
    check_true("H14 not one that has drifted", str_contains(notes(&s, "nodeclaims", "gone"), STR("-hash\":\"2\"")));
    check_true("H14 but for its version",
               str_contains(notes(&s, "nodeclaims", "gone"), STR("-hash-version\":\"" EC2_HASH_VERSION "\"")));
    scene_close(&s);
}

/* N8: every half hour. */
static void n8_profiles_are_collected(void **state UNUSED)
{
    struct scene s;

    scene_open(&s);
    far_run(s.far, 5);
    uint64_t first = sim_aws_calls(s.server, "ListInstanceProfiles");
    check_true("at the start", first > 0);
    far_run(s.far, 29 * 60);
    check_u64("then not for a while", sim_aws_calls(s.server, "ListInstanceProfiles"), first);
    far_run(s.far, 2 * 60);
    check_u64("half an hour", sim_aws_calls(s.server, "ListInstanceProfiles"), first + 1);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_its_beginning_to_its_end),
        cmocka_unit_test(h9_h10_hashes_follow_the_spec),
        cmocka_unit_test(h11_to_h14_another_way_to_hash),
        cmocka_unit_test(n8_profiles_are_collected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
