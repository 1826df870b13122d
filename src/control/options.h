/* options - flags and environment variables of the controller (lifecycle 9.1). Read once at start-up. */
#pragma once

#include "model/snapshot.h"
#include "obs/log.h"

struct options {
    const char *provider; /* "kwok", "aws" */
    const char *karpenter_service;
    uint16_t metrics_port, health_probe_port;
    double kube_client_qps;
    uint32_t kube_client_burst;
    bool enable_profiling, disable_controller_warmup, disable_leader_election, disable_cluster_state_observability;
    const char *leader_election_name, *leader_election_namespace;
    int64_t memory_limit, cpu_milli;
    enum log_level log_level;
    const char *log_output_paths, *log_error_output_paths;
    int64_t batch_max_ms, batch_idle_ms;
    bool gate_node_repair, gate_node_overlay, gate_static_capacity, gate_capacity_buffer;
    const char *instance_types_path;
    struct settings settings; /* what planning looks at: preference policy, reserved capacity, spot to spot, … */
};
