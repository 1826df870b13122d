/* The status of a node class: what is found, what is said about it, when it is looked at again (aws 2.6, 2.7, 7.1, 7.2; 11.6 N1 to N18). */
#include "cloud/ec2/reconcile.h"

#include "base/sb.h"
#include "cloud/ec2/labels.h"
#include "data/edit.h"
#include "data/json.h"
#include "support/check.h"
#include "support/class_lab.h"

#define MINUTE 60000

struct scene {
    struct class_lab lab; /* whose own provider is not used */
    struct ec2 *p;
    struct nodepool pool;
    bool has_pool;
    bool started;
    struct err e;
};

/* ---- a provider that has started ---- */

static void each_pool(void *ctx, void (*fn)(void *arg, const struct nodepool *p), void *arg)
{
    struct scene *s = ctx;

    if (s->has_pool)
        fn(arg, &s->pool);
}

static void each_class(void *ctx UNUSED, void (*fn)(void *arg, str name) UNUSED, void *arg UNUSED) {}

static struct tree *class_object(void *ctx UNUSED, struct arena *a UNUSED, str name UNUSED)
{
    return NULL;
}

static uint64_t news(void *ctx UNUSED)
{
    return 1;
}

static bool kube_dns(void *ctx UNUSED, struct arena *a UNUSED, str *ret, struct err *e UNUSED)
{
    *ret = STR("10.0.100.10");
    return true;
}

static bool kube_version(void *ctx UNUSED, struct arena *a UNUSED, str *ret, struct err *e UNUSED)
{
    *ret = STR("1.32");
    return true;
}

static void warn(void *ctx UNUSED, enum ec2_subject s UNUSED, str name UNUSED, const char *message UNUSED) {}

static void start(void *arg)
{
    struct scene *s = arg;

    s->started = ec2_start(s->p, &s->e);
}

static void scene_open(struct scene *s, const char *members)
{
    *s = (struct scene){0};
    class_lab_open(&s->lab, members);
    s->p = ec2_new(&(struct ec2_options){
        .world = s->lab.near,
        .aws = s->lab.aws,
        .syms = s->lab.p.syms,
        .settings = {.cluster_name = STR("test-cluster"),
                     .ca_bundle = STR("Y2E="),
                     .eks_control_plane = true,
                     .disable_dry_run = true,
                     .reserved_capacity = true,
                     .memory_overhead = 0.075,
                     .ami_refresh_ms = MINUTE,
                     .subnet_refresh_ms = MINUTE},
        .host = {.ctx = s,
                 .class_object = class_object,
                 .each_class = each_class,
                 .each_pool = each_pool,
                 .news = news,
                 .kube_dns = kube_dns,
                 .kube_version = kube_version,
                 .warn = warn},
    });
    class_lab_go(&s->lab, start, s);
    check_ok("started", s->started, &s->e);
}

static void scene_close(struct scene *s)
{
    class_lab_stop(&s->lab);
    ec2_cloud(s->p)->free(s->p);
    class_lab_close(&s->lab);
}

/* A NodePool of the class: this type only, and this tenancy ("": no word about it). */
static void want_type(struct scene *s, const char *type, const char *tenancy)
{
    struct syms *t = s->lab.p.syms;
    struct req_expr *x = arena_new_array(s->lab.a, struct req_expr, 2);
    sym *values = arena_new_array(s->lab.a, sym, 3);
    str first, second;
    bool both = str_cut(str_c(tenancy), ' ', &first, &second);

    values[0] = sym_of(t, str_c(type));
    values[1] = sym_of(t, both ? first : str_c(tenancy));
    values[2] = sym_of(t, both ? second : STR(""));
    x[0] = (struct req_expr){.key = SYM(ITYPE), .op = OP_IN, .vals = &values[0], .n_vals = 1};
    x[1] = (struct req_expr){
        .key = ec2_label_key(t, EC2_L_TENANCY), .op = OP_IN, .vals = &values[1], .n_vals = both ? 2 : 1};
    s->pool = (struct nodepool){
        .name = STR("pool"),
        .tmpl = {.class_ref = {STR("karpenter.k8s.aws"), STR("EC2NodeClass"), STR("default")},
                 .requirements = x,
                 .n_requirements = tenancy[0] ? 2 : 1},
    };
    s->has_pool = true;
}

struct job {
    struct scene *s;
    struct tree *obj;
    struct ec2_reconciled out;
    bool finalize, ok;
};

static void work(void *arg)
{
    struct job *j = arg;

    if (j->finalize)
        j->ok = ec2_class_finalize(j->s->p, j->s->lab.a, j->obj, &j->out.err);
    else
        j->out = ec2_class_reconcile(j->s->p, j->s->lab.a, j->obj);
}

static struct ec2_reconciled reconcile(struct scene *s, struct tree *obj)
{
    struct job j = {.s = s, .obj = obj};

    class_lab_go(&s->lab, work, &j);
    return j.out;
}

static bool finalize(struct scene *s, struct tree *obj)
{
    struct job j = {.s = s, .obj = obj, .finalize = true};

    class_lab_go(&s->lab, work, &j);
    return j.ok;
}

/* Conditions that are not True, in the order of ec2_class_conds(), and then Ready. */
static str troubles(struct scene *s, const struct tree *obj)
{
    const struct cond_set *set = ec2_class_conds(s->p->settings.reserved_capacity);
    struct sb b = {0};

    for (uint32_t i = 0; i <= set->n; i++) {
        const char *type = i < set->n ? set->dependents[i] : "Ready";
        struct cond c = cond_get(obj, type);

        if (!str_is(c.status, "True"))
            sb_printf(&b, "%s%s=" STR_FMT "/" STR_FMT, b.n ? " " : "", type, STR_ARG(c.status), STR_ARG(c.reason));
    }
    str text = sb_dup(&b, s->lab.a);
    sb_fini(&b);
    return text;
}

static str json(struct scene *s, const struct tree *obj, const char *key)
{
    return json_text(s->lab.a, tree_at(obj, "status", key, NULL));
}

/* ---- a class that is well ---- */

#define SUBNETS "\"subnetSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],"
#define GROUPS "\"securityGroupSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],"
#define ALIAS(a) "\"amiSelectorTerms\":[{\"alias\":\"" a "\"}]"
#define SPEC(more) "{\"role\":\"test-role\"," SUBNETS GROUPS more "}"
#define GOOD SPEC(ALIAS("al2023@latest"))
#define KUBELET(alias, k) SPEC(ALIAS(alias) ",\"kubelet\":" k)

static void all_is_well(void **state UNUSED)
{
    struct scene s;

    scene_open(&s, NULL);
    struct tree *obj = class_lab_object(&s.lab, GOOD);
    struct ec2_reconciled out = reconcile(&s, obj);
    check_true("no error", !out.failed);
    check_i64("the shortest of all", out.after_ms, MINUTE);
    check_str("ready", troubles(&s, obj), "");
    check_u64("N5 eight conditions", tree_at(obj, "status", "conditions", NULL)->n, 8);
    check_str("subnets", json(&s, obj, "subnets"),
              "[{\"id\":\"subnet-test1\",\"zone\":\"test-zone-1a\",\"zoneID\":\"tstz1-1a\"},"
              "{\"id\":\"subnet-test2\",\"zone\":\"test-zone-1b\",\"zoneID\":\"tstz1-1b\"},"
              "{\"id\":\"subnet-test3\",\"zone\":\"test-zone-1c\",\"zoneID\":\"tstz1-1c\"}]");
    check_str("groups", json(&s, obj, "securityGroups"),
              "[{\"id\":\"sg-test1\",\"name\":\"securityGroup-test1\"},{\"id\":\"sg-test2\",\"name\":\"securityGroup-"
              "test2\"},{\"id\":\"sg-test3\",\"name\":\"securityGroup-test3\"}]");
    check_u64("images", tree_at(obj, "status", "amis", NULL)->n, 5);
    check_true("profile", tree_str(tree_at(obj, "status", "instanceProfile", NULL)).n > 0);
    struct tree *before = tree_copy(s.lab.a, obj);
    (void)reconcile(&s, obj);
    check_true("a second look changes nothing", tree_equal(before, obj));
    scene_close(&s);
}

static void without_the_gate(void **state UNUSED)
{
    struct scene s;

    scene_open(&s, NULL);
    s.p->settings.reserved_capacity = false;
    struct tree *obj = class_lab_object(&s.lab, GOOD);
    (void)reconcile(&s, obj);
    check_str("ready", troubles(&s, obj), "");
    check_u64("N5 seven conditions", tree_at(obj, "status", "conditions", NULL)->n, 7);
    scene_close(&s);
}

/* ---- what can be wrong ---- */

#define NOT_READY " ValidationSucceeded=False/DependenciesNotReady Ready=False/UnhealthyDependents"
#define INVALID(reason) "ValidationSucceeded=False/" reason " Ready=False/UnhealthyDependents"

static const struct {
    const char *name, *members, *spec, *want;
    bool failed, terminal, expressions;
} cases[] = {
    {"N2 no image", NULL, SPEC("\"amiFamily\":\"Custom\",\"amiSelectorTerms\":[{\"id\":\"ami-0\"}]"),
     "AMIsReady=False/AMINotFound" NOT_READY, false, false, false},
    {"N2 an alias that this version does not have", NULL, SPEC(ALIAS("windows2025@latest")),
     "AMIsReady=False/UnsupportedAlias" NOT_READY, true, true, false},
    {"N9 an alias that stands for nothing leaves the condition alone", NULL, SPEC(ALIAS("al2023@v20200101")),
     "AMIsReady=Unknown/AwaitingReconciliation ValidationSucceeded=Unknown/DependenciesNotReady "
     "Ready=Unknown/ReconcilingDependents",
     true, false, false},
    {"N3 no subnet", NULL,
     "{\"role\":\"test-role\",\"subnetSelectorTerms\":[{\"id\":\"subnet-0\"}]," GROUPS ALIAS("al2023@latest") "}",
     "SubnetsReady=False/SubnetsNotFound" NOT_READY, false, false, false},
    {"N4 no security group", NULL,
     "{\"role\":\"test-role\"," SUBNETS
     "\"securityGroupSelectorTerms\":[{\"id\":\"sg-0\"}]," ALIAS("al2023@latest") "}",
     "SecurityGroupsReady=False/SecurityGroupsNotFound" NOT_READY, false, false, false},
    {"N6 no placement group", NULL,
     SPEC(ALIAS("al2023@latest") ",\"placementGroupSelector\":{\"name\":\"pending-one\"}"),
     "PlacementGroupReady=False/PlacementGroupNotFound Ready=False/UnhealthyDependents", false, false, false},
    {"N6 placement groups cannot be asked for",
     "{\"faults\":{\"calls\":{\"DescribePlacementGroups\":[{\"code\":\"UnauthorizedOperation\"}]}}}",
     SPEC(ALIAS("al2023@latest") ",\"placementGroupSelector\":{\"name\":\"cluster-one\"}"),
     "PlacementGroupReady=False/PlacementGroupResolutionFailed Ready=False/UnhealthyDependents", true, false, false},
    {"N7 no such role", NULL, "{\"role\":\"no-such-role\"," SUBNETS GROUPS ALIAS("al2023@latest") "}",
     "InstanceProfileReady=Unknown/AwaitingReconciliation ValidationSucceeded=Unknown/DependenciesNotReady "
     "Ready=Unknown/ReconcilingDependents",
     true, false, false},
    {"N10 the service CIDR cannot be had",
     "{\"faults\":{\"calls\":{\"DescribeCluster\":[{},{},{\"code\":\"AccessDeniedException\"}]}}}", GOOD, NULL, true,
     false, false},
    {"N11 a tag of Karpenter's own", NULL, SPEC(ALIAS("al2023@latest") ",\"tags\":{\"karpenter.sh/nodepool\":\"x\"}"),
     INVALID("TagValidationFailed"), true, true, false},
    {"N11 another one", NULL, SPEC(ALIAS("al2023@latest") ",\"tags\":{\"kubernetes.io/cluster/x\":\"owned\"}"),
     INVALID("TagValidationFailed"), true, true, false},
    {"N11 tags of the user's", NULL, SPEC(ALIAS("al2023@latest") ",\"tags\":{\"team\":\"blue\"}"), "", false, false,
     false},
    {"N12 AL2 has one address for DNS", NULL, KUBELET("al2@latest", "{\"clusterDNS\":[\"10.0.0.1\",\"10.0.0.2\"]}"),
     INVALID("UnsupportedKubeletConfiguration"), true, true, false},
    {"N12 Windows takes what Karpenter knows", NULL, KUBELET("windows2022@latest", "{\"shutdownGracePeriod\":\"30s\"}"),
     INVALID("UnsupportedKubeletConfiguration"), true, true, false},
    {"N12 Custom is its owner's business", NULL,
     SPEC("\"amiFamily\":\"Custom\",\"amiSelectorTerms\":[{\"id\":\"ami-1a87131df27c78482\"}],\"kubelet\":{"
          "\"shutdownGracePeriod\":\"30s\",\"clusterDNS\":[\"10.0.0.1\",\"10.0.0.2\"]}"),
     "", false, false, false},
    {"N12 a kubelet that makes no sense", NULL, KUBELET("al2023@latest", "{\"evictionHard\":{\"bread\":\"5%\"}}"),
     INVALID("InvalidKubeletConfiguration"), false, false, false},
    {"N12 Bottlerocket has no podsPerCore", NULL, KUBELET("bottlerocket@latest", "{\"podsPerCore\":2}"),
     INVALID("UnsupportedKubeletConfiguration"), true, true, false},
    {"N12 AL2023 takes all keys", NULL, KUBELET("al2023@latest", "{\"shutdownGracePeriod\":\"30s\"}"), "", false, false,
     false},
    {"N14 an expression without the gate", NULL, KUBELET("al2023@latest", "{\"maxPods\":\"vcpus * 10\"}"),
     INVALID("KubeletExpressionsDisabled"), true, true, false},
    {"N14 one for kubeReserved without the gate", NULL,
     KUBELET("al2023@latest", "{\"kubeReserved\":{\"cpu\":\"vcpus * 10\"}}"), INVALID("KubeletExpressionsDisabled"),
     true, true, false},
    {"N14 one for systemReserved without the gate", NULL,
     KUBELET("al2023@latest", "{\"systemReserved\":{\"cpu\":\"vcpus * 10\"}}"), INVALID("KubeletExpressionsDisabled"),
     true, true, false},
    {"N14 plain values need no gate", NULL,
     KUBELET("al2023@latest", "{\"maxPods\":20,\"kubeReserved\":{\"cpu\":\"100m\"}}"), "", false, false, false},
    {"N14 an unknown variable", NULL, KUBELET("al2023@latest", "{\"maxPods\":\"cpus * 10\"}"),
     INVALID("KubeletExpressionInvalid"), true, true, true},
    {"N14 a truth is no number", NULL, KUBELET("al2023@latest", "{\"maxPods\":\"vcpus > 2\"}"),
     INVALID("KubeletExpressionInvalid"), true, true, true},
    {"N14 kubeReserved that does not compile", NULL,
     KUBELET("al2023@latest", "{\"kubeReserved\":{\"memory\":\"memory_mib *\"}}"), INVALID("KubeletExpressionInvalid"),
     true, true, true},
    {"N14 systemReserved that does not compile", NULL,
     KUBELET("al2023@latest", "{\"systemReserved\":{\"memory\":\"nope\"}}"), INVALID("KubeletExpressionInvalid"), true,
     true, true},
    {"N14 fewer than no pods", NULL, KUBELET("al2023@latest", "{\"maxPods\":\"0 - vcpus\"}"),
     INVALID("KubeletExpressionEvaluationFailed"), true, true, true},
    {"N14 an expression", NULL, KUBELET("al2023@latest", "{\"maxPods\":\"vcpus * 10\"}"), "", false, false, true},
    {"N14 one that does not compile", NULL, KUBELET("al2023@latest", "{\"maxPods\":\"vcpus *\"}"),
     INVALID("KubeletExpressionInvalid"), true, true, true},
    {"K17 an empty one", NULL, KUBELET("al2023@latest", "{\"maxPods\":\"\"}"), INVALID("KubeletExpressionInvalid"),
     true, true, true},
    {"K17 an empty one for kubeReserved", NULL, KUBELET("al2023@latest", "{\"kubeReserved\":{\"cpu\":\"\"}}"),
     INVALID("KubeletExpressionInvalid"), true, true, true},
    {"N14 one that fails", NULL, KUBELET("al2023@latest", "{\"maxPods\":\"100 / (vcpus - 2)\"}"),
     INVALID("KubeletExpressionEvaluationFailed"), true, true, true},
    {"N14 a negative reservation", NULL, KUBELET("al2023@latest", "{\"kubeReserved\":{\"cpu\":\"0 - vcpus\"}}"),
     INVALID("KubeletExpressionEvaluationFailed"), true, true, true},
};

static void what_can_be_wrong(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scene s;

        scene_open(&s, cases[i].members);
        s.p->settings.expressions = cases[i].expressions;
        struct tree *obj = class_lab_object(&s.lab, cases[i].spec);
        struct ec2_reconciled out = reconcile(&s, obj);
        if (cases[i].want)
            check_str(cases[i].name, troubles(&s, obj), cases[i].want);
        check_true(cases[i].name, out.failed == cases[i].failed);
        check_true(cases[i].name, out.failed ? out.terminal == cases[i].terminal : true);
        scene_close(&s);
    }
}

/* ---- dry runs ---- */

#define REFUSED(call, code, message)                                                                                   \
    "{\"faults\":{\"calls\":{\"" call "\":[{\"code\":\"" code "\",\"message\":\"" message "\"}]}}}"
#define NO_PROFILE "{\"code\":\"InvalidParameterValue\",\"message\":\"Invalid IAM Instance Profile name\"}"

static const struct {
    const char *name, *members, *spec, *want;
    bool failed;
    int64_t after_ms;
} dry_cases[] = {
    {"all works", NULL, GOOD, "", false, MINUTE},
    {"N15 no templates", REFUSED("CreateLaunchTemplate", "UnauthorizedOperation", "no"), GOOD,
     INVALID("CreateLaunchTemplateAuthCheckFailed"), false, MINUTE},
    {"N15 no fleets", REFUSED("CreateFleet/dry-run", "UnauthorizedOperation", "no"), GOOD,
     INVALID("CreateFleetAuthCheckFailed"), false, MINUTE},
    {"N15 no instances",
     "{\"faults\":{\"calls\":{\"RunInstances/dry-run\":[{\"code\":\"UnauthorizedOperation\"},{\"code\":"
     "\"UnauthorizedOperation\"},{\"code\":\"UnauthorizedOperation\"}]}}}",
     GOOD, INVALID("RunInstancesAuthCheckFailed"), false, MINUTE},
    {"N15 one subnet that does not work", REFUSED("RunInstances/dry-run", "UnauthorizedOperation", "no"), GOOD, "",
     false, MINUTE},
    {"N15 one subnet that EC2 stumbles over",
     "{\"faults\":{\"calls\":{\"RunInstances/dry-run\":[{\"code\":\"InternalError\",\"message\":\"x\"}]}}}", GOOD, "",
     false, MINUTE},
    {"N13 user data that are too large",
     REFUSED("CreateLaunchTemplate", "InvalidUserData.Malformed", "User data is limited to 16384 bytes"), GOOD,
     INVALID("UserDataSizeLimitExceeded"), false, MINUTE},
    {"N13 other user data", REFUSED("CreateLaunchTemplate", "InvalidUserData.Malformed", "bad base64"), GOOD,
     "ValidationSucceeded=Unknown/AwaitingReconciliation Ready=Unknown/ReconcilingDependents", true, 0},
    {"too many calls", REFUSED("CreateFleet/dry-run", "RequestLimitExceeded", "slow down"), GOOD,
     "ValidationSucceeded=Unknown/AwaitingReconciliation Ready=Unknown/ReconcilingDependents", false, 0},
    {"N15 a profile that EC2 does not know yet",
     "{\"faults\":{\"calls\":{\"RunInstances/dry-run\":[" NO_PROFILE "," NO_PROFILE "," NO_PROFILE "]}}}", GOOD,
     "ValidationSucceeded=Unknown/AwaitingReconciliation Ready=Unknown/ReconcilingDependents", false, 0},
    {"N15 a profile of the user's that is not there",
     "{\"faults\":{\"calls\":{\"RunInstances/dry-run\":[" NO_PROFILE "," NO_PROFILE "," NO_PROFILE "]}}}",
     "{\"instanceProfile\":\"own\"," SUBNETS GROUPS ALIAS("al2023@latest") "}", INVALID("InstanceProfileNotFound"),
     false, 0},
};

static void dry_runs(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(dry_cases); i++) {
        struct scene s;

        scene_open(&s, dry_cases[i].members);
        s.p->settings.disable_dry_run = false;
        want_type(&s, "m5.large", "");
        struct tree *obj = class_lab_object(&s.lab, dry_cases[i].spec);
        struct ec2_reconciled out = reconcile(&s, obj);
        check_str(dry_cases[i].name, troubles(&s, obj), dry_cases[i].want);
        check_true(dry_cases[i].name, out.failed == dry_cases[i].failed);
        if (!out.failed)
            check_i64(dry_cases[i].name, out.after_ms, dry_cases[i].after_ms);
        scene_close(&s);
    }
}

/* ---- N16, N17 ---- */

static const struct {
    const char *name, *spec, *pool, *tenancy, *want_type, *want_tenancy, *want_pods;
} choices[] = {
    {"N16 what the pool wants", GOOD, "c5.xlarge", "", "c5.xlarge", "default", "maxPods: 58"},
    {"N16 a machine with GPUs as the last resort", GOOD, "g4dn.xlarge", "", "g4dn.xlarge", "default", "maxPods: "},
    {"N16 Windows has its own", SPEC(ALIAS("windows2022@latest")), "c5.xlarge", "", "m5.large", "default",
     "--max-pods=0"},
    {"N16 no image for what the pool wants",
     SPEC("\"amiFamily\":\"AL2023\",\"amiSelectorTerms\":[{\"id\":\"ami-9e88df1dcd1e93485\"}]"), "c5.xlarge", "",
     "m6g.large", "default", "maxPods: 0"},
    {"N16 no pool", GOOD, NULL, "", "m5.large", "default", "maxPods: 0"},
    {"N16 the image decides between architectures",
     SPEC("\"amiFamily\":\"AL2023\",\"amiSelectorTerms\":[{\"id\":\"ami-9e88df1dcd1e93485\"}]"), NULL, "", "m6g.large",
     "default", "maxPods: 0"},
    {"N16 interfaces and no pool",
     SPEC(ALIAS("al2023@latest") ",\"networkInterfaces\":[{\"networkCardIndex\":0,\"deviceIndex\":0,"
                                 "\"interfaceType\":\"interface\"}]"),
     NULL, "", "m5.large", "default", "maxPods: 0"},
    {"a class that says how many pods", KUBELET("al2023@latest", "{\"maxPods\":20}"), NULL, "", "m5.large", "default",
     "maxPods: 20"},
    {"N17 dedicated only", GOOD, "m5.large", "dedicated", "m5.large", "dedicated", "maxPods: 29"},
    {"N17 default only", GOOD, "m5.large", "default", "m5.large", "default", "maxPods: 29"},
    {"N17 both", GOOD, "m5.large", "default dedicated", "m5.large", "dedicated", "maxPods: 29"},
    {"N17 no pool", GOOD, NULL, "", "m5.large", "default", "maxPods: 0"},
};

static void what_is_tried(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(choices); i++) {
        struct scene s;

        scene_open(&s, NULL);
        s.p->settings.disable_dry_run = false;
        if (choices[i].pool)
            want_type(&s, choices[i].pool, choices[i].tenancy);
        struct tree *obj = class_lab_object(&s.lab, choices[i].spec);
        (void)reconcile(&s, obj);
        check_str(choices[i].name, troubles(&s, obj), "");
        check_true(choices[i].name,
                   str_contains(s.lab.run, arena_printf(s.lab.a, "\"InstanceType\":\"%s\"", choices[i].want_type)));
        check_true(choices[i].name,
                   str_contains(s.lab.template, arena_printf(s.lab.a, "\"Tenancy\":\"%s\"", choices[i].want_tenancy)));
        check_true(choices[i].name, str_contains(s.lab.template, str_c(choices[i].want_pods)));
        scene_close(&s);
    }
}

static void verdicts_are_remembered(void **state UNUSED)
{
    struct scene s;

    scene_open(
        &s, REFUSED("CreateFleet/dry-run", "UnauthorizedOperation", "with an explicit deny in a permissions boundary"));
    s.p->settings.disable_dry_run = false;
    struct tree *obj = class_lab_object(&s.lab, GOOD);
    (void)reconcile(&s, obj);
    check_str(
        "N15 which policy it is", cond_get(obj, "ValidationSucceeded").message,
        "Controller isn't authorized to call ec2:CreateFleet: User is not authorized to perform this operation due to "
        "a permission boundary");
    (void)reconcile(&s, obj);
    check_str("said again", troubles(&s, obj), INVALID("CreateFleetAuthCheckFailed"));
    check_u64("without asking", class_lab_calls(&s.lab, "CreateFleet"), 1);
    struct tree *notes = tree_path(s.lab.a, obj, "metadata", "annotations", NULL);
    tree_set_str(s.lab.a, notes, "karpenter.sh/note", STR("x"));
    (void)reconcile(&s, obj);
    check_u64("N18 an annotation is a change", class_lab_calls(&s.lab, "CreateFleet"), 2);
    check_str("allowed by now", troubles(&s, obj), "");
    (void)reconcile(&s, obj);
    check_u64("remembered", class_lab_calls(&s.lab, "CreateFleet"), 2);
    check_true("deleted", finalize(&s, obj));
    check_u64("N1 with its template", class_lab_calls(&s.lab, "DeleteLaunchTemplate"), 1);
    tree_drop(tree_sub(s.lab.a, obj, "status"), STR("instanceProfile"));
    (void)reconcile(&s, obj);
    check_u64("N18 forgotten with the class", class_lab_calls(&s.lab, "CreateFleet"), 3);
    scene_close(&s);
}

/* N10: only AL2023 tells its machines. */
static void n10_the_service_cidr(void **state UNUSED)
{
    static const char v6[] =
        "{\"cluster\":{\"name\":\"test-cluster\",\"endpoint\":\"https://test-cluster\",\"caBundle\":"
        "\"Y2E=\",\"version\":\"1.32\",\"serviceIpv6Cidr\":\"fd00::/108\"}}";
    struct scene s;

    scene_open(&s, NULL);
    uint64_t before = class_lab_calls(&s.lab, "DescribeCluster");
    (void)reconcile(&s, class_lab_object(&s.lab, SPEC(ALIAS("bottlerocket@latest"))));
    check_u64("N10 Bottlerocket does not ask", class_lab_calls(&s.lab, "DescribeCluster"), before);
    (void)reconcile(&s, class_lab_object(&s.lab, GOOD));
    (void)reconcile(&s, class_lab_object(&s.lab, GOOD));
    check_u64("N10 AL2023 does, once", class_lab_calls(&s.lab, "DescribeCluster"), before + 1);
    check_str("N10 IPv4", s.p->cluster.cidr, "10.100.0.0/16");
    scene_close(&s);
    scene_open(&s, v6);
    (void)reconcile(&s, class_lab_object(&s.lab, GOOD));
    check_str("N10 IPv6", s.p->cluster.cidr, "fd00::/108");
    scene_close(&s);
}

/* N14: nothing is known of types yet. N1: templates of other classes stay. N6: what is asked for follows the spec. */
static void other_things(void **state UNUSED)
{
    struct scene s;

    scene_open(&s, NULL);
    s.p->settings.expressions = true;
    ec2_market_free(s.p->market);
    s.p->market = ec2_market_new(s.p);
    struct tree *obj = class_lab_object(&s.lab, KUBELET("al2023@latest", "{\"maxPods\":\"vcpus * 10\"}"));
    struct ec2_reconciled out = reconcile(&s, obj);
    check_true("N14 looked at again", !out.failed && out.after_ms == 0);
    scene_close(&s);

    scene_open(&s, NULL);
    s.p->settings.disable_dry_run = false;
    obj = class_lab_object(&s.lab, GOOD);
    struct tree *other = class_lab_object(&s.lab, GOOD);
    tree_set_str(s.lab.a, tree_sub(s.lab.a, other, "metadata"), "name", STR("other"));
    tree_set_str(s.lab.a, tree_sub(s.lab.a, other, "metadata"), "uid", STR("uid-2"));
    (void)reconcile(&s, obj);
    (void)reconcile(&s, other);
    check_u64("one each", class_lab_calls(&s.lab, "CreateLaunchTemplate"), 2);
    check_true("deleted", finalize(&s, obj));
    check_u64("N1 its own alone", class_lab_calls(&s.lab, "DeleteLaunchTemplate"), 1);

    struct tree *spec = tree_sub(s.lab.a, other, "spec"), *pg = tree_sub(s.lab.a, spec, "placementGroupSelector");
    tree_set_str(s.lab.a, pg, "name", STR("cluster-one"));
    (void)reconcile(&s, other);
    check_str("N6 found", troubles(&s, other), "");
    tree_set_str(s.lab.a, pg, "name", STR("no-such"));
    (void)reconcile(&s, other);
    check_str("N6 another one", troubles(&s, other),
              "PlacementGroupReady=False/PlacementGroupNotFound Ready=False/UnhealthyDependents");
    tree_drop(spec, STR("placementGroupSelector"));
    (void)reconcile(&s, other);
    check_str("N6 none", troubles(&s, other), "");
    scene_close(&s);
}

static void templates_that_stay(void **state UNUSED)
{
    struct scene s;

    scene_open(&s, REFUSED("DeleteLaunchTemplate", "UnauthorizedOperation", "no"));
    s.p->settings.disable_dry_run = false;
    struct tree *obj = class_lab_object(&s.lab, GOOD);
    (void)reconcile(&s, obj);
    check_true("N1 a template that stays keeps the class", !finalize(&s, obj));
    check_true("the next time", finalize(&s, obj));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_well),         cmocka_unit_test(without_the_gate),
        cmocka_unit_test(what_can_be_wrong),   cmocka_unit_test(dry_runs),
        cmocka_unit_test(templates_that_stay), cmocka_unit_test(verdicts_are_remembered),
        cmocka_unit_test(what_is_tried),       cmocka_unit_test(n10_the_service_cidr),
        cmocka_unit_test(other_things),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
