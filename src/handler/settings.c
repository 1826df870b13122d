#include "handler/settings.h"

#include <stddef.h>
#include <strings.h>

#define MAX_GRACE_S (7 * 24 * 3600)
#define MAX_TRIES 100
#define WEBHOOK_HEADERS "{\"Content-type\":\"application/json\"}"
#define WEBHOOK_TEMPLATE                                                                                               \
    "{\"text\":\"[NTH][Instance Interruption] EventID: {{ .EventID }} - Kind: {{ .Kind }} - Instance: "                \
    "{{ .InstanceID }} - Node: {{ .NodeName }} - Description: {{ .Description }} - Start Time: {{ .StartTime }}\"}"

static bool set_log_level(void *ctx, str v, struct err *e)
{
    static const struct {
        const char *name;
        enum log_level level;
    } levels[] = {{"info", LOG_INFO}, {"debug", LOG_DEBUG}, {"error", LOG_ERROR}};
    struct handler_settings *s = ctx;

    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        if (v.n == strlen(levels[i].name) && strncasecmp(v.p, levels[i].name, v.n) == 0) {
            s->log_level = levels[i].level;
            return true;
        }
    return err_set(e, ERR_INVALID, "log-level \"" STR_FMT "\" is not one of info, debug, error", STR_ARG(v));
}

#define FIELD(name) offsetof(struct handler_settings, name), NULL
#define UNUSED_HELP "accepted and not used: it is about the mode with a queue"

static const struct flag flags[] = {
    {{"node-name", "NODE_NAME", "", "name of the Node that this program runs on; required, unless use-provider-id"},
     FLAG_TEXT,
     FIELD(node_name)},
    {{"use-provider-id", "USE_PROVIDER_ID", "false",
      "the Node is the one whose spec.providerID has the machine's id; needs the right to list nodes"},
     FLAG_BOOL,
     FIELD(use_provider_id)},
    {{"kubeconfig", NULL, "",
      "file that says where the API server is; otherwise $KUBECONFIG, the pod's service account, ~/.kube/config"},
     FLAG_TEXT,
     FIELD(kubeconfig)},
    {{"context", NULL, "", "context of the kubeconfig; otherwise its current one"}, FLAG_TEXT, FIELD(context)},
    {{"kubernetes-service-host", "KUBERNETES_SERVICE_HOST", "", "in a pod: another address of the API server"},
     FLAG_TEXT,
     FIELD(service_host)},
    {{"kubernetes-service-port", "KUBERNETES_SERVICE_PORT", "", "in a pod: another port of the API server"},
     FLAG_TEXT,
     FIELD(service_port)},
    {{"metadata-url", "INSTANCE_METADATA_URL", "http://169.254.169.254", "where the instance metadata service is"},
     FLAG_TEXT,
     FIELD(metadata_url)},
    {{"metadata-tries", "METADATA_TRIES", "3", "how often a question to it is asked before that counts as a failure"},
     FLAG_NUMBER,
     FIELD(metadata_tries)},
    {{"enable-spot-interruption-draining", "ENABLE_SPOT_INTERRUPTION_DRAINING", "true",
      "drain the node when EC2 takes a spot machine back"},
     FLAG_BOOL,
     FIELD(spot)},
    {{"enable-scheduled-event-draining", "ENABLE_SCHEDULED_EVENT_DRAINING", "true",
      "drain the node when EC2 has scheduled maintenance for the machine; after a reboot it is uncordoned"},
     FLAG_BOOL,
     FIELD(scheduled)},
    {{"enable-rebalance-monitoring", "ENABLE_REBALANCE_MONITORING", "false",
      "cordon the node when EC2 recommends to rebalance"},
     FLAG_BOOL,
     FIELD(rebalance)},
    {{"enable-rebalance-draining", "ENABLE_REBALANCE_DRAINING", "false",
      "drain the node when EC2 recommends to rebalance"},
     FLAG_BOOL,
     FIELD(rebalance_drain)},
    {{"enable-asg-lifecycle-draining", "ENABLE_ASG_LIFECYCLE_DRAINING", "false",
      "drain the node when its Auto Scaling group wants the machine terminated"},
     FLAG_BOOL,
     FIELD(asg)},
    {{"dry-run", "DRY_RUN", "false", "say what would be done, and change nothing in the cluster"},
     FLAG_BOOL,
     FIELD(dry_run)},
    {{"cordon-only", "CORDON_ONLY", "false", "cordon, and leave the pods where they are"},
     FLAG_BOOL,
     FIELD(cordon_only)},
    {{"ignore-daemon-sets", "IGNORE_DAEMON_SETS", "true",
      "pods of DaemonSets stay; otherwise a node that has some is cordoned and not drained, as kubectl drain does"},
     FLAG_BOOL,
     FIELD(ignore_daemon_sets)},
    {{"delete-local-data", "DELETE_LOCAL_DATA", "true",
      "evict pods with emptyDir volumes, too; otherwise a node that has some is cordoned and not drained"},
     FLAG_BOOL,
     FIELD(delete_local_data)},
    {{"pod-termination-grace-period", "POD_TERMINATION_GRACE_PERIOD", "-1",
      "seconds that every pod has to end; negative: what the pod itself says"},
     FLAG_NUMBER,
     FIELD(pod_grace_s)},
    {{"grace-period", "GRACE_PERIOD", "-1", "the old name of pod-termination-grace-period, which wins over it"},
     FLAG_NUMBER,
     FIELD(old_grace_s)},
    {{"node-termination-grace-period", "NODE_TERMINATION_GRACE_PERIOD", "120",
      "seconds that a drain may take (0: no end), and before an event that it begins"},
     FLAG_NUMBER,
     FIELD(node_grace_s)},
    {{"taint-node", "TAINT_NODE", "false", "taint the node with what is going to happen to it"},
     FLAG_BOOL,
     FIELD(taint_node)},
    {{"taint-effect", "TAINT_EFFECT", "NoSchedule", "of that taint: NoSchedule, PreferNoSchedule or NoExecute"},
     FLAG_TEXT,
     FIELD(taint_effect)},
    {{"enable-out-of-service-taint", "ENABLE_OUT_OF_SERVICE_TAINT", "false",
      "taint the drained node with node.kubernetes.io/out-of-service: its volumes are detached at once"},
     FLAG_BOOL,
     FIELD(out_of_service_taint)},
    {{"exclude-from-load-balancers", "EXCLUDE_FROM_LOAD_BALANCERS", "false",
      "label the node with node.kubernetes.io/exclude-from-external-load-balancers"},
     FLAG_BOOL,
     FIELD(exclude_from_load_balancers)},
    {{"uptime-from-file", "UPTIME_FROM_FILE", "", "read the seconds since the last boot here; otherwise /proc/uptime"},
     FLAG_TEXT,
     FIELD(uptime_file)},
    {{"webhook-url", "WEBHOOK_URL", "", "where an event is posted to, after the node was cordoned or drained"},
     FLAG_TEXT,
     FIELD(webhook_url)},
    {{"webhook-proxy", "WEBHOOK_PROXY", "", "proxy for that"}, FLAG_TEXT, FIELD(webhook_proxy)},
    {{"webhook-headers", "WEBHOOK_HEADERS", WEBHOOK_HEADERS, "headers of what is posted, as JSON"},
     FLAG_TEXT,
     FIELD(webhook_headers)},
    {{"webhook-template", "WEBHOOK_TEMPLATE", WEBHOOK_TEMPLATE, "what is posted; {{ .Field }} stands for a value"},
     FLAG_TEXT,
     FIELD(webhook_template)},
    {{"webhook-template-file", "WEBHOOK_TEMPLATE_FILE", "", "file with that template"},
     FLAG_TEXT,
     FIELD(webhook_template_file)},
    {{"json-logging", "JSON_LOGGING", "false", "log lines are JSON"}, FLAG_BOOL, FIELD(json_logging)},
    {{"log-level", "LOG_LEVEL", "info", "debug, info or error"}, FLAG_CHOICE, 0, set_log_level},
    {{"log-format-version", "LOG_FORMAT_VERSION", "1", "accepted and not used"}, FLAG_NUMBER, FIELD(unused_number)},
    {{"enable-prometheus-server", "ENABLE_PROMETHEUS_SERVER", "false", "serve /metrics"}, FLAG_BOOL, FIELD(prometheus)},
    {{"prometheus-server-port", "PROMETHEUS_SERVER_PORT", "9092", "port of /metrics"},
     FLAG_NUMBER,
     FIELD(prometheus_port)},
    {{"enable-probes-server", "ENABLE_PROBES_SERVER", "false", "answer probes of the kubelet"},
     FLAG_BOOL,
     FIELD(probes)},
    {{"probes-server-port", "PROBES_SERVER_PORT", "8080", "port for these"}, FLAG_NUMBER, FIELD(probes_port)},
    {{"probes-server-endpoint", "PROBES_SERVER_ENDPOINT", "/healthz", "path for these"},
     FLAG_TEXT,
     FIELD(probes_endpoint)},
    {{"emit-kubernetes-events", "EMIT_KUBERNETES_EVENTS", "false", "write Events about the node"},
     FLAG_BOOL,
     FIELD(emit_events)},
    {{"kubernetes-events-extra-annotations", "KUBERNETES_EVENTS_EXTRA_ANNOTATIONS", "",
      "annotations of these Events besides those about the machine: key=value, comma separated"},
     FLAG_TEXT,
     FIELD(event_annotations)},
    {{"pod-name", "POD_NAME", "", "accepted and not used"}, FLAG_TEXT, FIELD(unused_text)},
    {{"pod-namespace", "NAMESPACE", "", "accepted and not used"}, FLAG_TEXT, FIELD(unused_text)},
    {{"use-apiserver-cache", "USE_APISERVER_CACHE", "false", "accepted and not used"}, FLAG_BOOL, FIELD(unused_bool)},
    {{"enable-sqs-termination-draining", "ENABLE_SQS_TERMINATION_DRAINING", "false",
      "refused: the controller listens to the queue (interruption-queue)"},
     FLAG_BOOL,
     FIELD(sqs)},
    {{"queue-url", "QUEUE_URL", "", "refused likewise"}, FLAG_TEXT, FIELD(queue_url)},
    {{"heartbeat-interval", "HEARTBEAT_INTERVAL", "-1", "refused likewise"}, FLAG_NUMBER, FIELD(heartbeat_interval)},
    {{"heartbeat-until", "HEARTBEAT_UNTIL", "-1", "refused likewise"}, FLAG_NUMBER, FIELD(heartbeat_until)},
    {{"workers", "WORKERS", "10", UNUSED_HELP}, FLAG_NUMBER, FIELD(unused_number)},
    {{"check-tag-before-draining", "CHECK_TAG_BEFORE_DRAINING", "true", UNUSED_HELP}, FLAG_BOOL, FIELD(unused_bool)},
    {{"check-asg-tag-before-draining", "CHECK_ASG_TAG_BEFORE_DRAINING", "true", UNUSED_HELP},
     FLAG_BOOL,
     FIELD(unused_bool)},
    {{"managed-tag", "MANAGED_TAG", "aws-node-termination-handler/managed", UNUSED_HELP},
     FLAG_TEXT,
     FIELD(unused_text)},
    {{"managed-asg-tag", "MANAGED_ASG_TAG", "aws-node-termination-handler/managed", UNUSED_HELP},
     FLAG_TEXT,
     FIELD(unused_text)},
    {{"complete-lifecycle-action-delay-seconds", "COMPLETE_LIFECYCLE_ACTION_DELAY_SECONDS", "-1", UNUSED_HELP},
     FLAG_NUMBER,
     FIELD(unused_number)},
    {{"delete-sqs-msg-if-node-not-found", "DELETE_SQS_MSG_IF_NODE_NOT_FOUND", "false", UNUSED_HELP},
     FLAG_BOOL,
     FIELD(unused_bool)},
    {{"aws-region", "AWS_REGION", "", UNUSED_HELP}, FLAG_TEXT, FIELD(unused_text)},
    {{"aws-endpoint", "AWS_ENDPOINT", "", UNUSED_HELP}, FLAG_TEXT, FIELD(unused_text)},
};

static bool is_port(int64_t n)
{
    return n >= 1 && n <= 65535;
}

static bool is_http(const char *url)
{
    return str_starts(str_c(url), STR("http://")) || str_starts(str_c(url), STR("https://"));
}

static bool is_effect(const char *effect)
{
    return str_is(str_c(effect), "NoSchedule") || str_is(str_c(effect), "PreferNoSchedule") ||
           str_is(str_c(effect), "NoExecute");
}

static bool check(const struct handler_settings *s, struct err *e)
{
    const struct {
        bool wrong;
        const char *text;
    } rules[] = {
        {s->sqs || s->queue_url[0],
         "there is no mode with a queue here: karpenter controller listens to it, see its flag interruption-queue"},
        {s->heartbeat_interval != -1 || s->heartbeat_until != -1,
         "heartbeat-interval and heartbeat-until are about the mode with a queue, which is not here"},
        {s->node_name[0] == 0 && !s->use_provider_id, "node-name (NODE_NAME) is missing: the Node to look after"},
        {!s->spot && !s->scheduled && !s->rebalance && !s->rebalance_drain && !s->asg,
         "there is nothing to listen for: all of enable-...-draining and enable-rebalance-monitoring are false"},
        {!is_http(s->metadata_url), "metadata-url must begin with http:// or https://"},
        {s->metadata_tries < 1 || s->metadata_tries > MAX_TRIES, "metadata-tries must be from 1 to 100"},
        {s->pod_grace_s > MAX_GRACE_S, "pod-termination-grace-period is more than a week"},
        {s->node_grace_s < 0 || s->node_grace_s > MAX_GRACE_S,
         "node-termination-grace-period must be from 0 to a week, in seconds"},
        {!is_effect(s->taint_effect), "taint-effect must be NoSchedule, PreferNoSchedule or NoExecute"},
        {s->webhook_url[0] && !is_http(s->webhook_url), "webhook-url must begin with http:// or https://"},
        {s->prometheus && !is_port(s->prometheus_port), "prometheus-server-port must be from 1 to 65535"},
        {s->probes && !is_port(s->probes_port), "probes-server-port must be from 1 to 65535"},
        {s->probes_endpoint[0] != '/', "probes-server-endpoint must begin with a slash"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (rules[i].wrong)
            return err_set(e, ERR_INVALID, "%s", rules[i].text);
    return true;
}

bool handler_settings_parse(struct handler_settings *s, int argc, char **argv, const char *const *env, struct err *e)
{
    *s = (struct handler_settings){0};
    if (!flags_read(handler_settings_table(), s, s, argc, argv, env, &s->help, e))
        return false;
    if (s->help)
        return true;
    if (s->pod_grace_s < 0)
        s->pod_grace_s = s->old_grace_s;
    s->rebalance = s->rebalance || s->rebalance_drain;
    return check(s, e);
}

const struct flag_table *handler_settings_table(void)
{
    static const struct flag_table table = {.v = flags, .n = ARRAY_LEN(flags), .strict = true};

    return &table;
}
