/* One table: flag, variable, default, what it means, how it is read. Help and documentation print the same table. */
#include "control/options.h"

#include <stdio.h>

#include "k8s/settings.h"

struct ctx {
    struct options *o;
    struct arena *a;
    struct syms *t;
};

static bool invalid(const char *name, str v, struct err *e)
{
    return err_set(e, ERR_INVALID, "validating cli flags / env vars, invalid %s \"" STR_FMT "\"", name, STR_ARG(v));
}

static bool set_log_level(void *ctx, str v, struct err *e)
{
    struct ctx *c = ctx;

    if (v.n == 0 || str_is(v, "info"))
        c->o->log_level = LOG_INFO;
    else if (str_is(v, "debug"))
        c->o->log_level = LOG_DEBUG;
    else if (str_is(v, "error"))
        c->o->log_level = LOG_ERROR;
    else
        return invalid("LOG_LEVEL", v, e);
    return true;
}

static bool set_planning(struct ctx *c, const char *key, str v, struct err *e)
{
    return settings_set(&c->o->settings, c->a, c->t, str_c(key), v, e);
}

static bool set_preferences(void *ctx, str v, struct err *e)
{
    struct err ignored;

    return set_planning(ctx, "PREFERENCE_POLICY", v, &ignored) || invalid("PREFERENCE_POLICY", v, e);
}

static bool set_min_values(void *ctx, str v, struct err *e)
{
    struct err ignored;

    return set_planning(ctx, "MIN_VALUES_POLICY", v, &ignored) || invalid("MIN_VALUES_POLICY", v, e);
}

static bool set_ignore_dra(void *ctx, str v, struct err *e)
{
    return set_planning(ctx, "IGNORE_DRA_REQUESTS", v, e);
}

static bool set_scheduler_config(void *ctx, str v, struct err *e)
{
    return set_planning(ctx, "SCHEDULER_CONFIG", v, e) || err_wrap(e, "parsing scheduler config");
}

static bool set_packing(void *ctx, str v, struct err *e)
{
    return set_planning(ctx, "PACKING", v, e);
}

static bool set_weight_order(void *ctx, str v, struct err *e)
{
    return set_planning(ctx, "NODEPOOL_WEIGHT_ORDER", v, e);
}

static bool set_consolidation(void *ctx, str v, struct err *e)
{
    return set_planning(ctx, "CONSOLIDATION", v, e);
}

static bool set_min_savings(void *ctx, str v, struct err *e)
{
    return set_planning(ctx, "CONSOLIDATION_MIN_SAVINGS", v, e);
}

static bool set_max_replacements(void *ctx, str v, struct err *e)
{
    return set_planning(ctx, "CONSOLIDATION_MAX_REPLACEMENTS", v, e);
}

#define GATES                                                                                                          \
    "NodeRepair=false,ReservedCapacity=true,SpotToSpotConsolidation=false,NodeOverlay=false,StaticCapacity=false,"     \
    "CapacityBuffer=false"

/* The gates that planning does not look at; settings_set() reads the others and checks the text. */
static bool put_gates(struct ctx *c, str v, struct err *e)
{
    const struct {
        const char *name;
        bool *on;
    } gates[] = {
        {"NodeRepair", &c->o->gate_node_repair},
        {"StaticCapacity", &c->o->gate_static_capacity},
    };
    str one, name, value, rest = v;
    bool on;

    if (!set_planning(c, "FEATURE_GATES", v, e))
        return err_wrap(e, "parsing feature gates");
    while (rest.n) {
        (void)str_cut(rest, ',', &one, &rest);
        if (!str_cut(one, '=', &name, &value) || !go_bool_parse(str_trim(value), &on))
            continue;
        for (size_t i = 0; i < ARRAY_LEN(gates); i++)
            if (str_is(str_trim(name), gates[i].name))
                *gates[i].on = on;
    }
    return true;
}

/* Gates that are not named are as if nobody had said anything: a flag takes the place of the whole variable. */
static bool set_gates(void *ctx, str v, struct err *e)
{
    return put_gates(ctx, STR(GATES), e) && put_gates(ctx, v, e);
}

static bool set_aws_gates(void *ctx, str v, struct err *e)
{
    struct ctx *c = ctx;
    str one, name, value;

    c->o->aws.gate_nodeclass_cel = false;
    while (v.n) {
        bool on;

        (void)str_cut(v, ',', &one, &v);
        one = str_trim(one);
        if (one.n == 0)
            continue;
        if (!str_cut(one, '=', &name, &value) || !go_bool_parse(str_trim(value), &on))
            return err_set(e, ERR_INVALID,
                           "parsing aws feature gates: AWS_FEATURE_GATES: \"" STR_FMT
                           "\" is not name=true or name=false",
                           STR_ARG(one));
        if (str_is(str_trim(name), "NodeClassCEL"))
            c->o->aws.gate_nodeclass_cel = on;
    }
    return true;
}

#define FIELD(name) offsetof(struct options, name), NULL

static const struct flag flags[] = {
    {{"provider", "KARPENTER_PROVIDER", "kwok",
      "who makes machines: aws launches them in EC2 (the chart says so), kwok makes Node objects without machines"},
     FLAG_TEXT,
     FIELD(provider)},
    {{"kubeconfig", NULL, "",
      "file that says where the API server is; otherwise $KUBECONFIG, the pod's service account, ~/.kube/config"},
     FLAG_TEXT,
     FIELD(kubeconfig)},
    {{"context", NULL, "", "context of the kubeconfig; otherwise its current one"}, FLAG_TEXT, FIELD(context)},
    {{"karpenter-service", "KARPENTER_SERVICE", "", "accepted and not used"}, FLAG_TEXT, FIELD(karpenter_service)},
    {{"metrics-port", "METRICS_PORT", "8080", "port of /metrics; 0: none"}, FLAG_NUMBER, FIELD(metrics_port)},
    {{"health-probe-port", "HEALTH_PROBE_PORT", "8081", "port of /healthz and /readyz; 0: none"},
     FLAG_NUMBER,
     FIELD(health_probe_port)},
    {{"kube-client-qps", "KUBE_CLIENT_QPS", "200", "calls a second to the API server"},
     FLAG_NUMBER,
     FIELD(kube_client_qps)},
    {{"kube-client-burst", "KUBE_CLIENT_BURST", "300", "how many may come at once"},
     FLAG_NUMBER,
     FIELD(kube_client_burst)},
    {{"enable-profiling", "ENABLE_PROFILING", "false", "accepted; there are no profiling handlers"},
     FLAG_BOOL,
     FIELD(enable_profiling)},
    {{"disable-controller-warmup", "DISABLE_CONTROLLER_WARMUP", "true",
      "accepted and not used: watches begin at once, leading or not"},
     FLAG_BOOL,
     FIELD(disable_controller_warmup)},
    {{"disable-leader-election", "DISABLE_LEADER_ELECTION", "false", "act without holding the lease"},
     FLAG_BOOL,
     FIELD(disable_leader_election)},
    {{"disable-cluster-state-observability", "DISABLE_CLUSTER_STATE_OBSERVABILITY", "false",
      "no metrics of single pods, nodes, pools and conditions"},
     FLAG_BOOL,
     FIELD(disable_cluster_state_observability)},
    {{"leader-election-name", "LEADER_ELECTION_NAME", "karpenter-leader-election", "name of the lease"},
     FLAG_TEXT,
     FIELD(leader_election_name)},
    {{"leader-election-namespace", "LEADER_ELECTION_NAMESPACE", "",
      "where the lease is; otherwise the pod's own namespace"},
     FLAG_TEXT,
     FIELD(leader_election_namespace)},
    {{"memory-limit", "MEMORY_LIMIT", "-1",
      "bytes; above nine tenths of them what planning remembers is given up; -1: none"},
     FLAG_NUMBER,
     FIELD(memory_limit)},
    {{"cpu-requests", "CPU_REQUESTS", "1000",
      "millicores that the pod has; decides how many NodeClaims and Nodes are worked on side by side"},
     FLAG_NUMBER,
     FIELD(cpu_milli)},
    {{"log-level", "LOG_LEVEL", "info", "debug, info or error"}, FLAG_CHOICE, 0, set_log_level},
    {{"log-output-paths", "LOG_OUTPUT_PATHS", "stdout", "stdout, stderr or files, comma separated"},
     FLAG_TEXT,
     FIELD(log_output_paths)},
    {{"log-error-output-paths", "LOG_ERROR_OUTPUT_PATHS", "stderr", "where it is told that the log cannot be written"},
     FLAG_TEXT,
     FIELD(log_error_output_paths)},
    {{"batch-max-duration", "BATCH_MAX_DURATION", "10s", "how long pods are waited for at most before planning"},
     FLAG_DURATION,
     FIELD(batch_max_ms)},
    {{"batch-idle-duration", "BATCH_IDLE_DURATION", "1s", "planning begins when no pod has come for so long"},
     FLAG_DURATION,
     FIELD(batch_idle_ms)},
    {{"preference-policy", "PREFERENCE_POLICY", "Respect", "Respect or Ignore preferred affinities and soft spreads"},
     FLAG_CHOICE,
     0,
     set_preferences},
    {{"min-values-policy", "MIN_VALUES_POLICY", "Strict",
      "Strict, or BestEffort: minValues may be lowered to what there is"},
     FLAG_CHOICE,
     0,
     set_min_values},
    {{"ignore-dra-requests", "IGNORE_DRA_REQUESTS", "true",
      "pods with resource claims are not planned for; must be true"},
     FLAG_SWITCH,
     0,
     set_ignore_dra},
    {{"feature-gates", "FEATURE_GATES", GATES,
      "Name=true|false, comma separated; docs/feature-gates.md says what they do"},
     FLAG_CHOICE,
     0,
     set_gates},
    {{"scheduler-config", "SCHEDULER_CONFIG", "",
      "default topology spread constraints of the cluster's scheduler, as YAML or JSON"},
     FLAG_CHOICE,
     0,
     set_scheduler_config},
    {{"instance-types-file-path", "INSTANCE_TYPES_FILE_PATH", "", "kwok: JSON file with the instance types"},
     FLAG_TEXT,
     FIELD(instance_types_path)},
    {{"cluster-name", "CLUSTER_NAME", "", "aws: name of the cluster, which is in the tags of what is made; required"},
     FLAG_TEXT,
     FIELD(aws.cluster_name)},
    {{"cluster-endpoint", "CLUSTER_ENDPOINT", "",
      "aws: URL of the API server for new nodes; otherwise EKS is asked for it"},
     FLAG_TEXT,
     FIELD(aws.cluster_endpoint)},
    {{"cluster-ca-bundle", "CLUSTER_CA_BUNDLE", "",
      "aws: certificates that new nodes believe, base64 of PEM; otherwise those that the controller believes itself"},
     FLAG_TEXT,
     FIELD(aws.cluster_ca_bundle)},
    {{"isolated-vpc", "ISOLATED_VPC", "false",
      "aws: services without an endpoint in the VPC (IAM, prices on demand) are not asked"},
     FLAG_BOOL,
     FIELD(aws.isolated_vpc)},
    {{"eks-control-plane", "EKS_CONTROL_PLANE", "false", "aws: the cluster's version is asked of EKS"},
     FLAG_BOOL,
     FIELD(aws.eks_control_plane)},
    {{"vm-memory-overhead-percent", "VM_MEMORY_OVERHEAD_PERCENT", "0.075",
      "aws: share of the memory that a virtual machine does not give to its kernel"},
     FLAG_DECIMAL,
     FIELD(aws.memory_overhead)},
    {{"interruption-queue", "INTERRUPTION_QUEUE", "",
      "aws: name of the SQS queue with news of interruptions; empty: none"},
     FLAG_TEXT,
     FIELD(aws.interruption_queue)},
    {{"reserved-enis", "RESERVED_ENIS", "0", "aws: network interfaces of a machine that pods do not get"},
     FLAG_NUMBER,
     FIELD(aws.reserved_enis)},
    {{"disable-dry-run", "DISABLE_DRY_RUN", "false",
      "aws: node classes are not tried by dry runs before they are ready"},
     FLAG_BOOL,
     FIELD(aws.disable_dry_run)},
    {{"enable-zonal-shift", "ENABLE_ZONAL_SHIFT", "false",
      "aws: nothing is launched in zones that ARC has shifted away from"},
     FLAG_BOOL,
     FIELD(aws.enable_zonal_shift)},
    {{"ami-refresh-interval", "AMI_REFRESH_INTERVAL", "1m", "aws: for how long found images are believed; at least 1m"},
     FLAG_DURATION,
     FIELD(aws.ami_refresh_ms)},
    {{"subnet-refresh-interval", "SUBNET_REFRESH_INTERVAL", "1m",
      "aws: for how long found subnets are believed; at least 1m"},
     FLAG_DURATION,
     FIELD(aws.subnet_refresh_ms)},
    {{"aws-feature-gates", "AWS_FEATURE_GATES", "NodeClassCEL=false",
      "aws: Name=true|false, comma separated; NodeClassCEL: expressions in spec.kubelet of node classes"},
     FLAG_CHOICE,
     0,
     set_aws_gates},
    {{"packing", "PACKING", "compat", "compat makes Karpenter's own choices"}, FLAG_CHOICE, 0, set_packing},
    {{"nodepool-weight-order", "NODEPOOL_WEIGHT_ORDER", "descending",
      "descending: the heaviest NodePool first; or ascending"},
     FLAG_CHOICE,
     0,
     set_weight_order},
    {{"consolidation", "CONSOLIDATION", "thorough", "thorough looks at every node, compat as far as Karpenter does"},
     FLAG_CHOICE,
     0,
     set_consolidation},
    {{"consolidation-min-savings", "CONSOLIDATION_MIN_SAVINGS", "0",
      "what replacing nodes must save: USD an hour, or a share (5%)"},
     FLAG_CHOICE,
     0,
     set_min_savings},
    {{"consolidation-max-replacements", "CONSOLIDATION_MAX_REPLACEMENTS", "8",
      "how many new nodes may take the place of those that go"},
     FLAG_CHOICE,
     0,
     set_max_replacements},
};

/* An absolute URL with a host, as Go reads it: any scheme will do. */
static bool is_url(str v)
{
    str scheme, rest, host;

    if (!str_cut(v, ':', &scheme, &rest) || scheme.n == 0 || !str_starts(rest, STR("//")))
        return false;
    for (size_t i = 0; i < v.n; i++)
        if ((unsigned char)v.p[i] <= ' ' || v.p[i] == 0x7f)
            return false;
    for (size_t i = 0; i < scheme.n; i++) {
        char c = scheme.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.')))
            return false;
    }
    host = str_sub(rest, 2, rest.n);
    for (size_t i = 0; i < host.n; i++)
        if (host.p[i] == '/' || host.p[i] == '?' || host.p[i] == '#')
            host.n = i;
    return host.n > 0;
}

/* aws 9.1: all that is wrong, at once. */
static bool check_aws(const struct options_aws *o, struct err *e)
{
    const struct {
        bool wrong;
        const char *text;
    } rules[] = {
        {o->cluster_endpoint[0] && !is_url(str_c(o->cluster_endpoint)), "cluster endpoint URL is not valid"},
        {!(o->memory_overhead >= 0), "vm-memory-overhead-percent cannot be negative"},
        {o->reserved_enis < 0, "reserved-enis cannot be negative"},
        {o->reserved_enis > INT32_MAX, "reserved-enis is too large"},
        {o->cluster_name[0] == 0, "missing field, cluster-name"},
        {o->ami_refresh_ms < 60000, "ami-refresh-interval must be at least 1m"},
        {o->subnet_refresh_ms < 60000, "subnet-refresh-interval must be at least 1m"},
    };
    char all[sizeof(e->msg)] = "";
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (rules[i].wrong && n < sizeof(all))
            n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", n ? "; " : "", rules[i].text);
    return n == 0 || err_set(e, ERR_INVALID, "validating options, %s", all);
}

static bool check(const struct options *o, struct err *e)
{
    if (o->metrics_port < 0 || o->metrics_port > 65535 || o->health_probe_port < 0 || o->health_probe_port > 65535)
        return err_set(e, ERR_INVALID, "a port is a number from 1 to 65535, or 0 for none");
    if (o->kube_client_qps < 0 || o->kube_client_burst < 0 || o->kube_client_burst > UINT32_MAX)
        return err_set(e, ERR_INVALID, "kube-client-qps and kube-client-burst cannot be negative");
    if (o->batch_idle_ms < 0 || o->batch_max_ms < 0)
        return err_set(e, ERR_INVALID, "batch-idle-duration and batch-max-duration cannot be negative");
    return strcmp(o->provider, "aws") != 0 || check_aws(&o->aws, e);
}

bool options_parse(struct options *o, struct arena *a, struct syms *t, int argc, char **argv, const char *const *env,
                   struct err *e)
{
    struct ctx c = {o, a, t};

    *o = (struct options){.environment = env};
    settings_defaults(&o->settings);
    if (!flags_read(options_table(), o, &c, argc, argv, env, &o->help, e) || !check(o, e))
        return false;
    if (o->cpu_milli <= 0)
        o->cpu_milli = 1000;
    return true;
}

const struct flag_table *options_table(void)
{
    static const struct flag_table table = {.v = flags, .n = ARRAY_LEN(flags)};

    return &table;
}

const struct option_doc *options_docs(uint32_t *ret_n)
{
    static struct option_doc docs[ARRAY_LEN(flags)];

    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        docs[i] = flags[i].doc;
    *ret_n = ARRAY_LEN(flags);
    return docs;
}
