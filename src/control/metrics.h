/* metrics - every family that controllers fill, by name (lifecycle 10, docs/metrics.md).
 *
 * A field is called as its family is, without "karpenter_" and without a unit at the end: nodeclaims_created_total, nodes_termination_duration. Values of labels
 * are passed in the order of the comments. Made once at start, before the manager.
 */
#pragma once

#include "cloud/cloud.h"
#include "k8s/api.h"
#include "obs/metrics.h"

/* Of one kind of object (lifecycle 10.4). `extra` are labels that the kind has besides. */
struct status_metrics {
    struct metric *transition;           /* type, status, extra */
    struct metric *transitions_total;    /* type, status, reason, extra */
    struct metric *count;                /* namespace, name, type, status, reason, extra */
    struct metric *current_status;       /* namespace, name, type, status, reason, extra */
    struct metric *termination_current;  /* namespace, name, extra */
    struct metric *termination_duration; /* extra */
    uint32_t n_extra;
};

struct control_metrics {
    /* claims */
    struct metric *nodeclaims_created_total;                 /* reason, nodepool, min_values_relaxed */
    struct metric *nodeclaims_terminated_total;              /* nodepool, capacity_type, zone */
    struct metric *nodeclaims_disrupted_total;               /* reason, nodepool, capacity_type */
    struct metric *nodeclaims_instance_termination_duration; /* nodepool */
    struct metric *nodeclaims_termination_duration;          /* nodepool */
    struct metric *nodeclaims_unhealthy_disrupted_total;     /* condition, nodepool, capacity_type, image_id */
    /* nodes */
    struct metric *nodes_created_total;        /* nodepool, zone */
    struct metric *nodes_terminated_total;     /* nodepool, zone */
    struct metric *nodes_termination_duration; /* nodepool */
    struct metric *nodes_drained_total;        /* nodepool */
    struct metric *nodes_lifetime_duration;    /* nodepool */
    /* values of node_keys, then node_name, phase, managed, resource_type */
    struct metric *nodes_allocatable, *nodes_total_pod_requests, *nodes_total_pod_limits, *nodes_total_daemon_requests,
        *nodes_total_daemon_limits, *nodes_system_overhead;
    struct metric *nodes_current_lifetime; /* the same without resource_type */
    const char *const *node_keys;          /* keys of node labels, NULL-terminated */
    uint32_t n_node_keys;
    struct metric *cluster_utilization_percent; /* resource_type */
    /* NodePools */
    struct metric *nodepools_limit, *nodepools_usage; /* resource_type, nodepool */
    struct metric *nodepools_cost_total;              /* nodepool */
    struct metric *nodepools_cost_tracker_errors_total;
    struct metric *nodepools_allowed_disruptions, *nodepools_nodes_consuming_budgets; /* nodepool, reason */
    /* disruption */
    struct metric *voluntary_disruption_decision_evaluation_duration; /* reason, consolidation_type */
    struct metric *voluntary_disruption_decisions_total;              /* decision, reason, consolidation_type */
    struct metric *voluntary_disruption_decisions_by_nodepool_total;  /* nodepool, and the same */
    struct metric *voluntary_disruption_eligible_nodes;               /* reason */
    struct metric *voluntary_disruption_consolidation_timeouts_total; /* consolidation_type */
    struct metric *voluntary_disruption_failed_validations_total;     /* consolidation_type */
    struct metric *voluntary_disruption_queue_failures_total;         /* decision, reason, consolidation_type */
    struct metric *consolidation_score, *consolidation_moves_total;   /* decision, nodepool, policy */
    struct metric *interruption_actions_performed;                    /* none: a name of older releases */
    /* state */
    struct metric *cluster_state_node_count, *cluster_state_synced, *cluster_state_unsynced_time;
    /* pods */
    struct metric *pods_state; /* name, namespace, owner, node, scheduled, nodepool, zone, arch, capacity_type,
                                  instance_type, phase, ready, managed */
    struct metric *pods_startup_duration, *pods_bound_duration, *pods_provisioning_bound_duration,
        *pods_provisioning_startup_duration, *pods_scheduling_decision_duration;
    struct metric *pods_unstarted_time, *pods_unbound_time, *pods_provisioning_unbound_time,
        *pods_provisioning_unstarted_time, *pods_provisioning_scheduling_undecided_time; /* name, namespace */
    struct metric *pods_eviction_requests_total;                                         /* code */
    struct metric *pods_drained_total;                                                   /* reason */
    /* scheduling */
    struct metric *scheduler_scheduling_duration;                     /* controller */
    struct metric *scheduler_queue_depth, *scheduler_unfinished_work; /* controller, scheduling_id */
    struct metric *scheduler_ignored_pods_count;
    struct metric *scheduler_unschedulable_pods_count;             /* controller */
    struct metric *scheduler_pending_pods_by_effective_zone_count; /* controller, zone */
    /* providers and the API server */
    struct metric *cloudprovider_duration;        /* controller, method, provider */
    struct metric *cloudprovider_errors_total;    /* controller, method, provider, error */
    struct metric *leader_election_master_status; /* name */
    struct metric *client_go_request_duration;    /* verb, group, version, kind, subresource */
    struct metric *client_go_request_total;       /* code, method */

    /* the provider aws (aws 8.1.1) and its calls (aws 8.1.5) */
    struct metric *cloudprovider_instance_type_cpu_cores, *cloudprovider_instance_type_memory; /* instance_type */
    struct metric *cloudprovider_instance_type_offering_available,
        *cloudprovider_instance_type_offering_price_estimate;         /* instance_type, capacity_type, zone */
    struct metric *cloudprovider_instance_launch_failures_total;      /* zone, zone_id, capacity_type, reason */
    struct metric *cloudprovider_instance_termination_failures_total; /* zone, zone_id */
    struct metric *cloudprovider_batcher_batch_time, *cloudprovider_batcher_batch_size; /* batcher */
    struct metric *interruption_received_messages_total;                                /* message_type */
    struct metric *interruption_deleted_messages_total;
    struct metric *interruption_message_queue_duration;
    struct metric *interruption_instance_status_unhealthy_total; /* category */
    struct metric *ec2nodeclasses_userdata_bytes;                /* nodeclass */
    struct metric *aws_sdk_go_request_total, *aws_sdk_go_request_attempt_total, *aws_sdk_go_request_duration,
        *aws_sdk_go_request_attempt_duration, *aws_sdk_go_request_retry_count; /* service, action, code */

    /* operator_<kind>_…. extra of claims: the names of node_class_keys' labels, nodepool; of nodes: the same, initialized */
    struct status_metrics nodeclaim_status, nodepool_status, node_status, capacitybuffer_status, ec2nodeclass_status;
    struct status_metrics any_status; /* operator_…, for all kinds but Nodes. extra: group, kind */
    struct arena *arena;              /* of names */
};

struct control_metrics_options {
    const char *const
        *node_labels; /* keys that the provider puts on Nodes besides the well-known ones; NULL-terminated */
    const struct cloud_class *classes;
    uint32_t n_classes;
};

/* o NULL: nothing of a provider. The registry lives as long; its names must not have been taken. */
struct control_metrics *control_metrics_new(struct metrics *m, const struct control_metrics_options *o);
void control_metrics_free(struct control_metrics *c); /* after the registry, or when nobody asks it any more */
AUTO_DEFINE(control_metrics)

/* For api_options.on_call. */
void control_metrics_call(struct control_metrics *c, const struct api_call *call, int64_t now_ms);

/* A label's or resource's key as metrics name it: what is behind the slash, in lower case, with underscores. */
str metrics_short_name(struct arena *a, str key);
