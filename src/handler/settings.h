/* settings - what the termination handler can be told: flags and variables of aws-node-termination-handler, by the same names and with the same defaults.
 *
 * Read once, at start. A value that makes no sense is an error, in the environment too. What belongs to the mode with a queue is refused where it would change something:
 * the controller of this program does that.
 */
#pragma once

#include "control/flags.h"
#include "obs/log.h"

struct handler_settings {
    const char *node_name; /* may be empty with use_provider_id */
    bool use_provider_id;
    const char *kubeconfig, *context, *service_host, *service_port; /* "": not said */
    const char *metadata_url;
    int64_t metadata_tries;

    bool spot, scheduled, rebalance, rebalance_drain,
        asg; /* what is listened for; rebalance_drain includes rebalance */
    bool dry_run, cordon_only, ignore_daemon_sets, delete_local_data;
    int64_t pod_grace_s;  /* negative: each pod's own */
    int64_t node_grace_s; /* how long a drain may take; so long before an event it begins */
    bool taint_node, out_of_service_taint, exclude_from_load_balancers;
    const char *taint_effect;
    const char *uptime_file; /* "": the system's */

    const char *webhook_url, *webhook_proxy, *webhook_headers, *webhook_template, *webhook_template_file;

    bool json_logging;
    enum log_level log_level;
    bool prometheus, probes;
    int64_t prometheus_port, probes_port;
    const char *probes_endpoint;
    bool emit_events;
    const char *event_annotations; /* key=value, comma separated */

    bool help;

    /* Read, and then either refused or of no consequence. */
    int64_t old_grace_s, heartbeat_interval, heartbeat_until, unused_number;
    bool sqs, unused_bool;
    const char *queue_url, *unused_text;
};

/* env: name, value, …, NULL; or NULL for the process' own. Texts refer to argv and environment. */
bool handler_settings_parse(struct handler_settings *s, int argc, char **argv, const char *const *env, struct err *e);
const struct flag_table *handler_settings_table(void);
