/* One table of families. Those whose labels depend on the provider are made after it, with names in an arena. */
#include "control/metrics.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "control/metrics_int.h"

#define LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define AT(field) offsetof(struct control_metrics, field)

const double metrics_duration_buckets[METRICS_DURATION_BUCKETS] = {
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7,
    0.8,   0.9,  1,     1.25, 1.5, 1.75, 2,   2.5,  3,   3.5,  4,   4.5,  5,   6,   7,
    8,     9,    10,    15,   20,  25,   30,  40,   50,  60,   120, 150,  300, 450, 600};
const double metrics_default_buckets[METRICS_DEFAULT_BUCKETS] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                                 0.5,   1,    2.5,   5,    10};
static const double instance_buckets[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
static const double claim_buckets[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};
static const double score_buckets[] = {0.1, 0.25, 0.33, 0.5, 1, 2, 5, 10};
static const double lifetime_buckets[] = {900,    1800,   2700,   3600,    7200,    14400,   21600,
                                          28800,  36000,  43200,  57600,   72000,   86400,   172800,
                                          259200, 432000, 864000, 1296000, 1728000, 2160000, 2592000};
/* Each 1.5 times the one before it, in floating point: the bounds that are recorded of Karpenter. */
static const double request_buckets[] = {0.001,
                                         0.0015,
                                         0.0022500000000000003,
                                         0.0033750000000000004,
                                         0.005062500000000001,
                                         0.0075937500000000015,
                                         0.011390625000000001,
                                         0.017085937500000002,
                                         0.025628906250000003,
                                         0.03844335937500001,
                                         0.057665039062500006,
                                         0.08649755859375001,
                                         0.129746337890625,
                                         0.1946195068359375,
                                         0.29192926025390625,
                                         0.43789389038085935,
                                         0.656840835571289,
                                         0.9852612533569336,
                                         1.4778918800354004,
                                         2.2168378200531005};

static const double sdk_buckets[] = {0.01,
                                     0.015,
                                     0.0225,
                                     0.03375,
                                     0.050625,
                                     0.0759375,
                                     0.11390625000000001,
                                     0.17085937500000004,
                                     0.25628906250000005,
                                     0.3844335937500001,
                                     0.5766503906250001,
                                     0.8649755859375001,
                                     1.2974633789062502,
                                     1.9461950683593754,
                                     2.919292602539063,
                                     4.378938903808595,
                                     6.568408355712892,
                                     9.852612533569339,
                                     14.778918800354008,
                                     22.168378200531013};
static const double retry_buckets[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static const double batch_buckets[] = {1,   2,   4,   5,   10,  15,  20,  25,  30,  40,  50,  60,
                                       70,  80,  90,  100, 125, 150, 175, 200, 225, 250, 275, 300,
                                       350, 400, 450, 500, 550, 600, 700, 800, 900, 1000};

/* clang-format off */
#define COUNTER(field, name_, labels_, help_) \
    {AT(field), {.name = (name_), .help = (help_), .kind = METRIC_COUNTER, .labels = (labels_)}}
#define GAUGE(field, name_, labels_, help_) \
    {AT(field), {.name = (name_), .help = (help_), .kind = METRIC_GAUGE, .labels = (labels_)}}
#define SUMMARY(field, name_, labels_, help_) \
    {AT(field), {.name = (name_), .help = (help_), .kind = METRIC_SUMMARY, .labels = (labels_)}}
#define HISTOGRAM(field, name_, labels_, b, help_) \
    {AT(field), {.name = (name_), .help = (help_), .kind = METRIC_HISTOGRAM, .labels = (labels_), .buckets = (b), \
                 .n_buckets = ARRAY_LEN(b)}}
#define NONE NULL

static const struct family {
    size_t at;
    struct metric_spec spec;
} table[] = {
    COUNTER(nodeclaims_created_total, "karpenter_nodeclaims_created_total", LABELS("reason", "nodepool", "min_values_relaxed"),
            "NodeClaims that were created, by why: provisioned, drifted, underutilized."),
    COUNTER(nodeclaims_terminated_total, "karpenter_nodeclaims_terminated_total", LABELS("nodepool", "capacity_type", "zone"),
            "NodeClaims that are gone, machine and all."),
    COUNTER(nodeclaims_disrupted_total, "karpenter_nodeclaims_disrupted_total", LABELS("reason", "nodepool", "capacity_type"),
            "NodeClaims whose removal was begun, by why."),
    HISTOGRAM(nodeclaims_instance_termination_duration, "karpenter_nodeclaims_instance_termination_duration_seconds", LABELS("nodepool"), instance_buckets,
              "From the request to terminate a machine until it was gone."),
    HISTOGRAM(nodeclaims_termination_duration, "karpenter_nodeclaims_termination_duration_seconds", LABELS("nodepool"), claim_buckets,
              "From the deletion of a NodeClaim until it was gone."),
    COUNTER(nodeclaims_unhealthy_disrupted_total, "karpenter_nodeclaims_unhealthy_disrupted_total", LABELS("condition", "nodepool", "capacity_type", "image_id"),
            "NodeClaims that node repair removed, by the condition of their Node."),

    COUNTER(nodes_created_total, "karpenter_nodes_created_total", LABELS("nodepool", "zone"), "Nodes that have registered."),
    COUNTER(nodes_terminated_total, "karpenter_nodes_terminated_total", LABELS("nodepool", "zone"), "Nodes that were drained and are gone."),
    SUMMARY(nodes_termination_duration, "karpenter_nodes_termination_duration_seconds", LABELS("nodepool"),
            "From the deletion of a Node until it was gone."),
    COUNTER(nodes_drained_total, "karpenter_nodes_drained_total", LABELS("nodepool"), "Nodes that have been drained."),
    HISTOGRAM(nodes_lifetime_duration, "karpenter_nodes_lifetime_duration_seconds", LABELS("nodepool"), lifetime_buckets,
              "How old Nodes became."),
    GAUGE(cluster_utilization_percent, "karpenter_cluster_utilization_percent", LABELS("resource_type"),
          "Requests of pods, in percent of what the Nodes have to give."),

    GAUGE(nodepools_limit, "karpenter_nodepools_limit", LABELS("resource_type", "nodepool"), "What spec.limits of a NodePool allows. CPU in cores, memory in bytes."),
    GAUGE(nodepools_usage, "karpenter_nodepools_usage", LABELS("resource_type", "nodepool"), "What the machines of a NodePool have together. CPU in cores, memory in bytes."),
    GAUGE(nodepools_cost_total, "karpenter_nodepools_cost_total", LABELS("nodepool"), "What the machines of a NodePool cost together, in dollars an hour."),
    COUNTER(nodepools_cost_tracker_errors_total, "karpenter_nodepools_cost_tracker_errors_total", LABELS("nodepool"), "Machines of a NodePool whose price could not be told."),
    GAUGE(nodepools_allowed_disruptions, "karpenter_nodepools_allowed_disruptions", LABELS("nodepool", "reason"),
          "How many Nodes the budgets of a NodePool let be disrupted now."),
    GAUGE(nodepools_nodes_consuming_budgets, "karpenter_nodepools_nodes_consuming_budgets", LABELS("nodepool", "reason"),
          "How many Nodes of a NodePool count against its budgets now."),

    HISTOGRAM(voluntary_disruption_decision_evaluation_duration, "karpenter_voluntary_disruption_decision_evaluation_duration_seconds",
              LABELS("reason", "consolidation_type"), metrics_duration_buckets, "How long a method of disruption looked for something to do."),
    COUNTER(voluntary_disruption_decisions_total, "karpenter_voluntary_disruption_decisions_total", LABELS("decision", "reason", "consolidation_type"),
            "Commands of disruption that were begun: delete or replace."),
    COUNTER(voluntary_disruption_decisions_by_nodepool_total, "karpenter_voluntary_disruption_decisions_by_nodepool_total",
            LABELS("nodepool", "decision", "reason", "consolidation_type"), "Commands of disruption that were begun, for each NodePool they touch."),
    GAUGE(voluntary_disruption_eligible_nodes, "karpenter_voluntary_disruption_eligible_nodes", LABELS("reason"),
          "How many Nodes the last pass could have disrupted."),
    COUNTER(voluntary_disruption_consolidation_timeouts_total, "karpenter_voluntary_disruption_consolidation_timeouts_total", LABELS("consolidation_type"),
            "Passes of consolidation that ran out of time."),
    COUNTER(voluntary_disruption_failed_validations_total, "karpenter_voluntary_disruption_failed_validations_total", LABELS("consolidation_type"),
            "Candidates that no longer were any when they were looked at again before a command."),
    COUNTER(voluntary_disruption_queue_failures_total, "karpenter_voluntary_disruption_queue_failures_total", LABELS("decision", "reason", "consolidation_type"),
            "Commands of disruption that were given up. consolidation_type repeats the decision, as in Karpenter."),
    HISTOGRAM(consolidation_score, "karpenter_consolidation_score", LABELS("decision", "nodepool", "policy"), score_buckets,
              "Scores of moves under the policy Balanced: savings against disruption."),
    COUNTER(consolidation_moves_total, "karpenter_consolidation_moves_total", LABELS("decision", "nodepool", "policy"),
            "Moves that consolidation looked at, approved or rejected."),
    COUNTER(interruption_actions_performed, "karpenter_interruption_actions_performed", NONE,
            "NodeClaims that were deleted because their machine was about to be taken away. A name of older releases."),

    GAUGE(cluster_state_node_count, "karpenter_cluster_state_node_count", NONE, "Machines that are known: Nodes, and NodeClaims without one."),
    GAUGE(cluster_state_synced, "karpenter_cluster_state_synced", NONE, "1 when all NodeClaims and Nodes of the API server are known, else 0."),
    GAUGE(cluster_state_unsynced_time, "karpenter_cluster_state_unsynced_time_seconds", NONE, "For how long not all of them have been known."),

    GAUGE(pods_state, "karpenter_pods_state",
          LABELS("name", "namespace", "owner", "node", "scheduled", "nodepool", "zone", "arch", "capacity_type", "instance_type", "phase", "ready", "managed"),
          "1 for every pod; what is known about it is in the labels."),
    SUMMARY(pods_startup_duration, "karpenter_pods_startup_duration_seconds", NONE, "From the creation of a pod until it was ready."),
    HISTOGRAM(pods_bound_duration, "karpenter_pods_bound_duration_seconds", NONE, metrics_duration_buckets, "From the creation of a pod until it had a Node."),
    HISTOGRAM(pods_provisioning_bound_duration, "karpenter_pods_provisioning_bound_duration_seconds", NONE, metrics_duration_buckets,
              "From when a pod was found schedulable until it had a Node."),
    HISTOGRAM(pods_provisioning_startup_duration, "karpenter_pods_provisioning_startup_duration_seconds", NONE, metrics_duration_buckets,
              "From when a pod was found schedulable until it was ready."),
    HISTOGRAM(pods_scheduling_decision_duration, "karpenter_pods_scheduling_decision_duration_seconds", NONE, metrics_duration_buckets,
              "From when a pod was first seen pending until it was first decided about."),
    GAUGE(pods_unstarted_time, "karpenter_pods_unstarted_time_seconds", LABELS("name", "namespace"), "Age of pods that are not running yet."),
    GAUGE(pods_unbound_time, "karpenter_pods_unbound_time_seconds", LABELS("name", "namespace"), "Age of pods that have no Node yet."),
    GAUGE(pods_provisioning_unbound_time, "karpenter_pods_provisioning_unbound_time_seconds", LABELS("name", "namespace"),
          "For how long pods have been found schedulable and had no Node."),
    GAUGE(pods_provisioning_unstarted_time, "karpenter_pods_provisioning_unstarted_time_seconds", LABELS("name", "namespace"),
          "For how long pods have been found schedulable and were not running."),
    GAUGE(pods_provisioning_scheduling_undecided_time, "karpenter_pods_provisioning_scheduling_undecided_time_seconds", LABELS("name", "namespace"),
          "For how long pods have been seen pending and were not decided about."),
    COUNTER(pods_eviction_requests_total, "karpenter_pods_eviction_requests_total", LABELS("code"), "Evictions that were asked for, by the answer's status."),
    COUNTER(pods_drained_total, "karpenter_pods_drained_total", LABELS("reason"), "Pods that were evicted, by why their Node goes."),

    HISTOGRAM(scheduler_scheduling_duration, "karpenter_scheduler_scheduling_duration_seconds", LABELS("controller"), metrics_duration_buckets,
              "How long a round of planning took."),
    GAUGE(scheduler_queue_depth, "karpenter_scheduler_queue_depth", LABELS("controller", "scheduling_id"), "Pods that a round of planning still has to place."),
    GAUGE(scheduler_unfinished_work, "karpenter_scheduler_unfinished_work_seconds", LABELS("controller", "scheduling_id"),
          "For how long a round of planning has been under way."),
    GAUGE(scheduler_ignored_pods_count, "karpenter_scheduler_ignored_pods_count", NONE, "Pending pods that are not planned for, because something is wrong with them."),
    GAUGE(scheduler_unschedulable_pods_count, "karpenter_scheduler_unschedulable_pods_count", LABELS("controller"), "Pods that the last round found no place for."),
    GAUGE(scheduler_pending_pods_by_effective_zone_count, "karpenter_scheduler_pending_pods_by_effective_zone_count", LABELS("controller", "zone"),
          "Pending pods by the zone they need; flexible: any of several, none: there is none."),

    HISTOGRAM(cloudprovider_duration, "karpenter_cloudprovider_duration_seconds", LABELS("controller", "method", "provider"), metrics_default_buckets,
              "How long calls to the provider took."),
    COUNTER(cloudprovider_errors_total, "karpenter_cloudprovider_errors_total", LABELS("controller", "method", "provider", "error"),
            "Calls to the provider that failed, by what the error is; empty: something else."),
    GAUGE(leader_election_master_status, "leader_election_master_status", LABELS("name"), "1 while this replica leads, else 0."),
    HISTOGRAM(client_go_request_duration, "client_go_request_duration_seconds", LABELS("verb", "group", "version", "kind", "subresource"), request_buckets,
              "How long calls to the API server took."),
    GAUGE(cloudprovider_instance_type_cpu_cores, "karpenter_cloudprovider_instance_type_cpu_cores", LABELS("instance_type"), "VCPUs of an instance type."),
    GAUGE(cloudprovider_instance_type_memory, "karpenter_cloudprovider_instance_type_memory_bytes", LABELS("instance_type"), "Memory of an instance type, as AWS says it."),
    GAUGE(cloudprovider_instance_type_offering_available, "karpenter_cloudprovider_instance_type_offering_available", LABELS("instance_type", "capacity_type", "zone"),
          "1 when some NodePool can have the instance type there at the moment, else 0."),
    GAUGE(cloudprovider_instance_type_offering_price_estimate, "karpenter_cloudprovider_instance_type_offering_price_estimate", LABELS("instance_type", "capacity_type", "zone"),
          "What an instance type is thought to cost there, in dollars an hour."),
    COUNTER(cloudprovider_instance_launch_failures_total, "karpenter_cloudprovider_instance_launch_failures_total", LABELS("zone", "zone_id", "capacity_type", "reason"),
            "Errors that fleets were answered with, by why."),
    COUNTER(cloudprovider_instance_termination_failures_total, "karpenter_cloudprovider_instance_termination_failures_total", LABELS("zone", "zone_id"),
            "Machines that could not be terminated when it was asked for."),
    HISTOGRAM(cloudprovider_batcher_batch_time, "karpenter_cloudprovider_batcher_batch_time_seconds", LABELS("batcher"), metrics_duration_buckets,
              "For how long requests were collected to make one call."),
    HISTOGRAM(cloudprovider_batcher_batch_size, "karpenter_cloudprovider_batcher_batch_size", LABELS("batcher"), batch_buckets, "How many requests one call was made for."),
    COUNTER(interruption_received_messages_total, "karpenter_interruption_received_messages_total", LABELS("message_type"),
            "Messages of the interruption queue that could be read, by what they say."),
    COUNTER(interruption_deleted_messages_total, "karpenter_interruption_deleted_messages_total", NONE, "Messages that were deleted from the interruption queue."),
    HISTOGRAM(interruption_message_queue_duration, "karpenter_interruption_message_queue_duration_seconds", NONE, metrics_duration_buckets,
              "From what a message tells of until it was handled."),
    COUNTER(interruption_instance_status_unhealthy_total, "karpenter_interruption_instance_status_unhealthy_total", LABELS("category"),
            "Machines whose status was found to be bad, once for each time they fell ill."),
    GAUGE(ec2nodeclasses_userdata_bytes, "karpenter_ec2nodeclasses_userdata_bytes", LABELS("nodeclass"), "Size of the user data that machines of a node class get."),
    COUNTER(aws_sdk_go_request_total, "aws_sdk_go_request_total", LABELS("service", "action", "code"), "Calls to AWS, by the answer's status."),
    COUNTER(aws_sdk_go_request_attempt_total, "aws_sdk_go_request_attempt_total", LABELS("service", "action", "code"), "Attempts of calls to AWS, by the answer's status."),
    HISTOGRAM(aws_sdk_go_request_duration, "aws_sdk_go_request_duration_seconds", LABELS("service", "action", "code"), sdk_buckets, "How long calls to AWS took, retries and all."),
    HISTOGRAM(aws_sdk_go_request_attempt_duration, "aws_sdk_go_request_attempt_duration_seconds", LABELS("service", "action", "code"), sdk_buckets,
              "How long attempts of calls to AWS took."),
    HISTOGRAM(aws_sdk_go_request_retry_count, "aws_sdk_go_request_retry_count", LABELS("service", "action", "code"), retry_buckets, "How often calls to AWS were tried again."),
    COUNTER(client_go_request_total, "client_go_request_total", LABELS("code", "method"), "Calls to the API server, by the answer's status."),
};

/* Names that dashboards and alerts of older releases use, and what they show. */
static const struct {
    size_t of;
    struct metric_spec spec;
} aliases[] = {
    {AT(nodeclaims_created_total), {.name = "karpenter_nodeclaims_created", .kind = METRIC_COUNTER, .help = "NodeClaims that were created, all together."}},
    {AT(nodeclaims_disrupted_total), {.name = "karpenter_nodeclaims_disrupted", .kind = METRIC_COUNTER, .help = "NodeClaims whose removal was begun, all together."}},
    {AT(nodes_created_total), {.name = "karpenter_nodes_created", .kind = METRIC_COUNTER, .help = "Nodes that have registered, all together."}},
    {AT(nodes_terminated_total), {.name = "karpenter_nodes_terminated", .kind = METRIC_COUNTER, .help = "Nodes that were drained and are gone, all together."}},
    {AT(pods_startup_duration), {.name = "karpenter_pods_startup_time", .kind = METRIC_SUMMARY, .help = "From the creation of a pod until it was ready, in seconds."}},
};

static const struct family per_node[] = {
    GAUGE(nodes_allocatable, "karpenter_nodes_allocatable", NONE, "What a Node has to give to pods."),
    GAUGE(nodes_total_pod_requests, "karpenter_nodes_total_pod_requests", NONE, "Requests of the pods of a Node, those of DaemonSets too."),
    GAUGE(nodes_total_pod_limits, "karpenter_nodes_total_pod_limits", NONE, "Limits of the pods of a Node, those of DaemonSets too."),
    GAUGE(nodes_total_daemon_requests, "karpenter_nodes_total_daemon_requests", NONE, "Requests of the DaemonSets' pods of a Node."),
    GAUGE(nodes_total_daemon_limits, "karpenter_nodes_total_daemon_limits", NONE, "Limits of the DaemonSets' pods of a Node."),
    GAUGE(nodes_system_overhead, "karpenter_nodes_system_overhead", NONE, "What a Node has and does not give to pods."),
    GAUGE(nodes_current_lifetime, "karpenter_nodes_current_lifetime_seconds", NONE, "Age of a Node."),
};
/* clang-format on */

static const char *const well_known[] = {
    "karpenter.sh/nodepool",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "karpenter.sh/capacity-type",
    "node.kubernetes.io/windows-build",
};

static const char *const build_labels[] = {"version", "goversion", "goarch", "commit", NULL};
static const struct metric_spec build_info = {.name = "karpenter_build_info",
                                              .help = "1; what this program is, in labels.",
                                              .kind = METRIC_GAUGE,
                                              .labels = build_labels};

static struct metric **field(struct control_metrics *c, size_t at)
{
    return (struct metric **)(void *)((char *)c + at);
}

str metrics_short_name(struct arena *a, str key)
{
    str head, tail, name = str_cut(key, '/', &head, &tail) ? tail : key;
    char *p = arena_new_array(a, char, name.n + 1);

    for (size_t i = 0; i < name.n; i++)
        p[i] = name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] + 32) : name.p[i] == '-' ? '_' : name.p[i];
    return (str){p, name.n};
}

/* ---- families of nodes ---- */

struct node_labels {
    VEC(const char *) keys, names;
};

/* Of two keys with one short name the first counts. */
static void add_key(struct control_metrics *c, struct node_labels *l, const char *key)
{
    const char *name = metrics_short_name(c->arena, str_c(key)).p;

    for (uint32_t i = 0; i < l->names.n; i++)
        if (strcmp(l->names.v[i], name) == 0)
            return;
    vec_push(&l->keys, key);
    vec_push(&l->names, name);
}

static void add_node_families(struct control_metrics *c, struct metrics *m, const char *const *own)
{
    static const char *const more[] = {"node_name", "phase", "managed", "resource_type"};
    struct node_labels l = {0};

    for (size_t i = 0; i < ARRAY_LEN(well_known); i++)
        add_key(c, &l, well_known[i]);
    for (; own && *own; own++)
        add_key(c, &l, *own);
    c->n_node_keys = l.keys.n;
    vec_push(&l.keys, NULL);
    c->node_keys = vec_to_arena(&l.keys, c->arena);
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        vec_push(&l.names, more[i]);
    vec_push(&l.names, NULL);
    for (size_t i = 0; i < ARRAY_LEN(per_node); i++) {
        struct metric_spec *s = arena_new_one(c->arena, struct metric_spec);
        const char **labels = vec_to_arena(&l.names, c->arena);

        if (per_node[i].at == AT(nodes_current_lifetime))
            labels[l.names.n - 2] = NULL; /* no resource_type */
        *s = per_node[i].spec;
        s->labels = labels;
        *field(c, per_node[i].at) = metrics_add(m, s);
    }
    vec_fini(&l.keys);
    vec_fini(&l.names);
}

/* ---- all ---- */

static void add_build_info(struct metrics *m)
{
#ifdef __aarch64__
    str arch = STR("arm64");
#else
    str arch = STR("amd64");
#endif

    metric_set(metrics_add(m, &build_info), 1, METRIC_VALS(STR(KARPENTER_VERSION), STR("none"), arch, STR("unknown")));
}

struct control_metrics *control_metrics_new(struct metrics *m, const struct control_metrics_options *o)
{
    static const struct control_metrics_options none;
    struct control_metrics *c = xcalloc(1, sizeof(*c));

    o = o ? o : &none;
    c->arena = arena_new(0);
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        *field(c, table[i].at) = metrics_add(m, &table[i].spec);
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        metrics_alias(m, &aliases[i].spec, *field(c, aliases[i].of));
    add_node_families(c, m, o->node_labels);
    status_metrics_add(c, m, o);
    add_build_info(m);
    metric_inc(c->interruption_actions_performed, 0, NULL);
    metric_inc(c->voluntary_disruption_consolidation_timeouts_total, 0, METRIC_VALS(STR("multi")));
    metric_inc(c->voluntary_disruption_consolidation_timeouts_total, 0, METRIC_VALS(STR("single")));
    return c;
}

void control_metrics_free(struct control_metrics *c)
{
    if (!c)
        return;
    arena_free(c->arena);
    free(c);
}

static str verb(const char *method)
{
    static const char *const verbs[][2] = {{"POST", "CREATE"}, {"PUT", "UPDATE"}};

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (strcmp(method, verbs[i][0]) == 0)
            return str_c(verbs[i][1]);
    return str_c(method);
}

void control_metrics_call(struct control_metrics *c, const struct api_call *call, int64_t now_ms)
{
    const struct api_kind *k = call->kind;
    char code[16] = "<error>";

    if (call->code)
        (void)snprintf(code, sizeof(code), "%d", call->code);
    metric_inc(c->client_go_request_total, 1, METRIC_VALS(str_c(code), str_c(call->method)));
    metric_observe(
        c->client_go_request_duration, (double)call->took_us / 1e6,
        METRIC_VALS(verb(call->method), str_c(k->group), str_c(k->version), str_c(k->plural), str_c(call->sub)),
        now_ms);
}
