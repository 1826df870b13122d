/* The whole controller with the provider aws, between a simulated cluster and a simulated account: a pod becomes a machine, a warning takes it away, nothing is left behind. */
#include "app/providers.h"
#include "aws/config.h"
#include "base/file.h"
#include "control/autoscaler.h"
#include "data/reader.h"
#include "sim/aws/aws.h"
#include "sim/world.h"
#include "support/check.h"
#include "support/far.h"

#include <stdlib.h>

#define WORLD "tests/vectors/aws/world.json"

struct lab {
    struct far *far;
    struct sim_aws *account;
    struct kube_config *config;
    struct syms *syms;
    struct options options;
    struct log *log;
    struct sb lines;
    struct autoscaler *op;
    int status; /* -1: it runs */
};

static void keep_line(void *ctx, str line)
{
    sb_str(ctx, line);
}

static int64_t now_ms(void *w)
{
    return world_now_ms(w);
}

static void on_end(void *ctx, int status)
{
    ((struct lab *)ctx)->status = status;
}

static struct cloud *make(struct control *c, struct err *e)
{
    static const char *const vars[] = {"AWS_ENDPOINT_URL=https://aws.test", "AWS_ACCESS_KEY_ID=AKIDEXAMPLE",
                                       "AWS_SECRET_ACCESS_KEY=x", "AWS_REGION=us-west-2", NULL};

    return provider_aws_in(c, &(struct aws_environment){.vars = vars}, e);
}

static const struct provider_source source = {"aws", make, provider_aws_attach, provider_aws_detach};

static void open_account(struct lab *l)
{
    struct sim_aws_options o = {.any_signature = true, .unlimited = true, .boot_ms = 2000, .stop_ms = 2000};
    struct err e;
    str text;

    check_ok("the account", file_read(l->far->a, WORLD, 64u << 20, &text, &e), &e);
    check_ok("the account", tree_parse_json(l->far->a, WORLD, text, &o.account, &e), &e);
    o.world = sim_process(l->far->sim, "aws");
    l->account = sim_aws_new(&o, &e);
    check_ok("the account", l->account != NULL, &e);
    sim_mount(l->far->sim, "https://aws.test", o.world, sim_aws_serve, l->account);
}

static int setup(void **state)
{
    static const char *const env[] = {"KARPENTER_PROVIDER",
                                      "aws",
                                      "CLUSTER_NAME",
                                      "test-cluster",
                                      "INTERRUPTION_QUEUE",
                                      "test-cluster",
                                      "CLUSTER_CA_BUNDLE",
                                      "Y2E=",
                                      "LEADER_ELECTION_NAMESPACE",
                                      "default",
                                      "EKS_CONTROL_PLANE",
                                      "true",
                                      "FEATURE_GATES",
                                      "NodeOverlay=true",
                                      NULL};
    char *argv[] = {(char *)(uintptr_t) "controller", NULL};
    struct lab *l = xcalloc(1, sizeof(*l));
    struct err e;

    l->far = far_new(1);
    l->status = -1;
    l->syms = syms_new();
    open_account(l);
    check_ok("options", options_parse(&l->options, l->far->a, l->syms, 1, argv, env, &e), &e);
    l->config = kube_config_fixed(STR("https://kube"), STR(""), NULL);
    l->log = log_new(LOG_INFO, &(struct log_sink){&l->lines, keep_line}, now_ms, l->far->world);
    l->op = autoscaler_new(&(struct autoscaler_setup){.world = l->far->world,
                                                      .config = l->config,
                                                      .options = &l->options,
                                                      .syms = l->syms,
                                                      .log = l->log,
                                                      .provider = &source,
                                                      .identity = STR("one"),
                                                      .on_end = on_end,
                                                      .ctx = l},
                           &e);
    check_ok("autoscaler", l->op != NULL, &e);
    *state = l;
    return 0;
}

static int teardown(void **state)
{
    struct lab *l = *state;

    far_kill(l->far);
    autoscaler_free(l->op);
    kube_config_free(l->config);
    sim_aws_free(l->account);
    far_free(l->far);
    log_free(l->log);
    syms_free(l->syms);
    sb_fini(&l->lines);
    free(l);
    return 0;
}

#define CLASS                                                                                                          \
    "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\n"                                \
    "spec: {role: test-role, amiSelectorTerms: [{alias: al2023@latest}], "                                             \
    "subnetSelectorTerms: [{tags: {foo: bar}}], securityGroupSelectorTerms: [{tags: {foo: bar}}]}\n"
#define POOL                                                                                                           \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: {spec: {requirements: "  \
    "[{key: karpenter.sh/capacity-type, operator: In, values: [spot]}], nodeClassRef: {group: karpenter.k8s.aws, "     \
    "kind: EC2NodeClass, name: default}}}}\n"
#define POD                                                                                                            \
    "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: default}\n"                                           \
    "spec: {containers: [{name: a, image: b, resources: {requests: {cpu: \"1\"}}}]}\n"

static void note_instance(void *ctx, const struct sim_aws_resource *r)
{
    if (strcmp(r->kind, "instance") == 0 && strcmp(r->state, "running") == 0)
        *(str *)ctx = r->id;
}

static void pod_to_machine_and_back(void **state)
{
    struct lab *l = *state;
    str id = {0};

    far_run(l->far, 30);
    check_i64("it runs", l->status, -1);
    check_true("it leads", autoscaler_leads(l->op));
    far_apply(l->far, CLASS);
    far_run(l->far, 30);
    check_str("the class can be used", far_condition(l->far, "ec2nodeclasses", "default", "Ready"), "True Ready");
    far_apply(l->far, POOL);
    far_apply(l->far, POD);
    far_run(l->far, 60);
    check_u64("one claim", far_count(l->far, "nodeclaims", "default-"), 1);
    check_u64("one machine", sim_aws_bill(l->account).launched, 1);
    sim_aws_each(l->account, note_instance, &id);
    check_true("it runs",
               id.n && str_contains(
                           far_get(l->far, "nodeclaims",
                                   arena_printf(l->far->a, STR_FMT "%c", STR_ARG(far_first(l->far, "nodeclaims")), 0).p,
                                   "status.providerID"),
                           id));
    far_delete(l->far, "pods", "web");
    check_true("AWS wants it back", sim_aws_interrupt(l->account, id));
    far_run(l->far, 60);
    check_u64("the claim has gone", far_count(l->far, "nodeclaims", "default-"), 0);
    check_u64("and the machine", sim_aws_bill(l->account).ended, 1);
    autoscaler_stop(l->op);
    far_run(l->far, 2);
    check_i64("it ends without waiting for the queue", l->status, 0);
    check_true("the log says why", str_contains(sb_view(&l->lines), STR("\"interruption received\"")));
}

static bool shows(struct lab *l, const char *what)
{
    struct sb out = {0};

    autoscaler_metrics(l->op, &out);
    bool yes = str_contains(sb_view(&out), str_c(what));
    sb_fini(&out);
    return yes;
}

#define OF(type) "name=\"default\",namespace=\"\",reason=\"" type "\",status=\"True\",type=\"" type "\""

/* aws 8.1.4 */
static void conditions_of_classes_as_metrics(void **state)
{
    struct lab *l = *state;

    far_run(l->far, 30);
    far_apply(l->far, CLASS);
    far_run(l->far, 30);
    check_true("how it is", shows(l, "operator_ec2nodeclass_status_condition_count{" OF("Ready") "} 1\n"));
    check_true("every part", shows(l, "operator_ec2nodeclass_status_condition_count{" OF("SubnetsReady") "} 1\n"));
    check_true("since when",
               shows(l, "operator_ec2nodeclass_status_condition_current_status_seconds{" OF("Ready") "} 30"));
    check_true("how it became so", shows(l, "operator_ec2nodeclass_status_condition_transitions_total{reason=\"Ready\","
                                            "status=\"True\",type=\"Ready\"} 1\n"));
    check_true("how long it took",
               shows(l, "operator_ec2nodeclass_status_condition_transition_seconds_count{status=\"Unknown\","
                        "type=\"Ready\"} 1\n"));
    check_true("among all kinds",
               shows(l, "operator_status_condition_count{group=\"karpenter.k8s.aws\",kind=\"EC2NodeClass\"," OF(
                            "Ready") "} 1\n"));
    check_true("an Event tells of it", far_events(l->far, "Ready", "default").n > 0);
    check_true("user data have a size", shows(l, "karpenter_ec2nodeclasses_userdata_bytes{nodeclass=\"default\"} "));
    far_delete(l->far, "ec2nodeclasses", "default");
    far_run(l->far, 30);
    check_u64("the class has gone", far_count(l->far, "ec2nodeclasses", "default"), 0);
    check_true("with all that was shown of it", !shows(l, OF("SubnetsReady")));
    check_true("but for how long that took", shows(l, "operator_ec2nodeclass_termination_duration_seconds_count 1\n"));
    check_true("and the size", !shows(l, "karpenter_ec2nodeclasses_userdata_bytes{"));
}

#define OVERLAY(name, type, more)                                                                                      \
    "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: " name "}\nspec: {requirements: [{key: "   \
    "node.kubernetes.io/instance-type, operator: In, values: [" type "]}], " more "}\n"
#define TWO_TYPES                                                                                                      \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec: {template: {spec: {requirements: "  \
    "[{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}, {key: node.kubernetes.io/instance-type, "  \
    "operator: In, values: [%s]}], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}\n%c"

static str type_of_claim(struct lab *l)
{
    str name = far_first(l->far, "nodeclaims");

    check_true("a claim", name.n > 0);
    str labels =
        far_get(l->far, "nodeclaims", arena_printf(l->far->a, STR_FMT "%c", STR_ARG(name), 0).p, "metadata.labels");
    return str_contains(labels, STR("\"m5.xlarge\""))    ? STR("m5.xlarge")
           : str_contains(labels, STR("\"m5.large\""))   ? STR("m5.large")
           : str_contains(labels, STR("\"x9z.xlarge\"")) ? STR("x9z.xlarge")
                                                         : labels;
}

/* aws 4.1: what overlays say counts for the plan and for the launch alike. */
static void overlays_at_launch(void **state)
{
    struct lab *l = *state;

    far_run(l->far, 30);
    far_apply(l->far, CLASS);
    far_apply(l->far, OVERLAY("dear", "m5.large", "price: '1000'"));
    far_apply(l->far, arena_printf(l->far->a, TWO_TYPES, "m5.large, m5.xlarge", 0).p);
    far_run(l->far, 30);
    check_str("it counts", far_condition(l->far, "nodeoverlays", "dear", "Ready"), "True Ready");
    far_apply(l->far, POD);
    far_run(l->far, 60);
    check_str("not the one that is said to be dear", type_of_claim(l), "m5.xlarge");
}

/* aws 5.6: AWS has no price for it. */
static void types_that_only_overlays_price(void **state)
{
    struct lab *l = *state;

    far_run(l->far, 30);
    far_apply(l->far, CLASS);
    far_apply(l->far, arena_printf(l->far->a, TWO_TYPES, "x9z.xlarge", 0).p);
    far_apply(l->far, POD);
    far_run(l->far, 60);
    check_u64("nobody knows what it costs", far_count(l->far, "nodeclaims", "default-"), 0);
    far_apply(l->far, OVERLAY("price", "x9z.xlarge", "price: '0.5'"));
    far_run(l->far, 90);
    check_str("now somebody does", type_of_claim(l), "x9z.xlarge");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pod_to_machine_and_back, setup, teardown),
        cmocka_unit_test_setup_teardown(conditions_of_classes_as_metrics, setup, teardown),
        cmocka_unit_test_setup_teardown(overlays_at_launch, setup, teardown),
        cmocka_unit_test_setup_teardown(types_that_only_overlays_price, setup, teardown),
    };

    return cmocka_run_group_tests_name("sim/aws", tests, NULL, NULL);
}
