/* options - flags and environment variables of the controller (lifecycle 9.1). Read once at start-up.
 *
 * An unknown flag or a value that cannot be is an error; numbers, durations and truth values in the environment that cannot be read count as absent, as they do upstream.
 */
#pragma once

#include "control/flags.h"
#include "model/snapshot.h"
#include "obs/log.h"

/* Of the provider aws (aws 9.1); looked at by nobody else. */
struct options_aws {
    const char *cluster_name, *cluster_endpoint, *cluster_ca_bundle, *interruption_queue; /* "": not said */
    bool isolated_vpc, eks_control_plane, disable_dry_run, enable_zonal_shift;
    bool gate_nodeclass_cel;
    double memory_overhead;
    int64_t reserved_enis;
    int64_t ami_refresh_ms, subnet_refresh_ms;
};

struct options {
    const char *provider; /* "kwok", "aws" */
    const char *kubeconfig, *context;
    const char *karpenter_service;
    int64_t metrics_port, health_probe_port; /* 0: not served */
    int64_t kube_client_qps, kube_client_burst;
    bool enable_profiling, disable_controller_warmup, disable_leader_election, disable_cluster_state_observability;
    const char *leader_election_name, *leader_election_namespace;
    int64_t memory_limit, cpu_milli;
    enum log_level log_level;
    const char *log_output_paths, *log_error_output_paths;
    int64_t batch_max_ms, batch_idle_ms;
    bool gate_node_repair, gate_static_capacity; /* the others are settings */
    const char *instance_types_path;
    struct options_aws aws;
    struct settings settings;       /* what planning looks at */
    bool help;                      /* --help was given */
    const char *const *environment; /* what options_parse() was given */
};

/* What is wrong with the settings of the provider that was chosen is said all together. env: name, value, …, NULL; or NULL for the process' own environment. Texts refer to argv and environment. */
bool options_parse(struct options *o, struct arena *a, struct syms *t, int argc, char **argv, const char *const *env,
                   struct err *e);
const struct flag_table *options_table(void);
const struct option_doc *options_docs(uint32_t *ret_n);
