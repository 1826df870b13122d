#include "cloud/ec2/kubelet_fields.h"

#include "model/duration.h"
#include "model/quantity.h"

enum type {
    BOOL,
    STRING,
    DURATION, /* Go's: "1m30s" */
    PERIOD,   /* the same, or nanoseconds */
    QUANTITY,
    TIME,
    INT32,
    INT64,
    UINT32,
    NUMBER,
    STRINGS,
    INTS32,
    STRING_MAP,
    BOOL_MAP,
    STRINGS_MAP,
    QUANTITY_MAP,
    OBJECT,
    OBJECTS,
};

struct field {
    const char *name;
    enum type type;
    const struct field *fields; /* OBJECT, OBJECTS; the last one has no name */
};

static const struct field x509[] = {{"clientCAFile", STRING, NULL}, {0}};
static const struct field authn_webhook[] = {{"cacheTTL", DURATION, NULL}, {"enabled", BOOL, NULL}, {0}};
static const struct field anonymous[] = {{"enabled", BOOL, NULL}, {0}};
static const struct field authentication[] = {
    {"anonymous", OBJECT, anonymous}, {"webhook", OBJECT, authn_webhook}, {"x509", OBJECT, x509}, {0}};
static const struct field authz_webhook[] = {
    {"cacheAuthorizedTTL", DURATION, NULL}, {"cacheUnauthorizedTTL", DURATION, NULL}, {0}};
static const struct field authorization[] = {{"mode", STRING, NULL}, {"webhook", OBJECT, authz_webhook}, {0}};
static const struct field memory_swap[] = {{"swapBehavior", STRING, NULL}, {0}};
static const struct field log_stream[] = {{"infoBufferSize", QUANTITY, NULL}, {"splitStream", BOOL, NULL}, {0}};
static const struct field log_options[] = {{"json", OBJECT, log_stream}, {"text", OBJECT, log_stream}, {0}};
static const struct field vmodule[] = {{"filePattern", STRING, NULL}, {"verbosity", UINT32, NULL}, {0}};
static const struct field logging[] = {{"flushFrequency", PERIOD, NULL}, {"format", STRING, NULL},
                                       {"options", OBJECT, log_options}, {"verbosity", UINT32, NULL},
                                       {"vmodule", OBJECTS, vmodule},    {0}};
static const struct field crash_loop[] = {{"maxContainerRestartPeriod", DURATION, NULL}, {0}};
static const struct field tracing[] = {{"endpoint", STRING, NULL}, {"samplingRatePerMillion", INT32, NULL}, {0}};
static const struct field user_namespaces[] = {{"idsPerPod", INT64, NULL}, {0}};
static const struct field shutdown[] = {{"priority", INT32, NULL}, {"shutdownGracePeriodSeconds", INT64, NULL}, {0}};
static const struct field reserved_memory[] = {{"limits", QUANTITY_MAP, NULL}, {"numaNode", INT32, NULL}, {0}};
static const struct field taint[] = {
    {"effect", STRING, NULL}, {"key", STRING, NULL}, {"timeAdded", TIME, NULL}, {"value", STRING, NULL}, {0}};

/* Of Kubernetes 0.36. */
static const struct field kubelet[] = {
    {"address", STRING, NULL},
    {"allowedUnsafeSysctls", STRINGS, NULL},
    {"apiVersion", STRING, NULL},
    {"authentication", OBJECT, authentication},
    {"authorization", OBJECT, authorization},
    {"cgroupDriver", STRING, NULL},
    {"cgroupRoot", STRING, NULL},
    {"cgroupsPerQOS", BOOL, NULL},
    {"clusterDNS", STRINGS, NULL},
    {"clusterDomain", STRING, NULL},
    {"configMapAndSecretChangeDetectionStrategy", STRING, NULL},
    {"containerLogMaxFiles", INT32, NULL},
    {"containerLogMaxSize", STRING, NULL},
    {"containerLogMaxWorkers", INT32, NULL},
    {"containerLogMonitorInterval", DURATION, NULL},
    {"containerRuntimeEndpoint", STRING, NULL},
    {"contentType", STRING, NULL},
    {"cpuCFSQuota", BOOL, NULL},
    {"cpuCFSQuotaPeriod", DURATION, NULL},
    {"cpuManagerPolicy", STRING, NULL},
    {"cpuManagerPolicyOptions", STRING_MAP, NULL},
    {"cpuManagerReconcilePeriod", DURATION, NULL},
    {"crashLoopBackOff", OBJECT, crash_loop},
    {"enableContentionProfiling", BOOL, NULL},
    {"enableControllerAttachDetach", BOOL, NULL},
    {"enableDebugFlagsHandler", BOOL, NULL},
    {"enableDebuggingHandlers", BOOL, NULL},
    {"enableProfilingHandler", BOOL, NULL},
    {"enableServer", BOOL, NULL},
    {"enableSystemLogHandler", BOOL, NULL},
    {"enableSystemLogQuery", BOOL, NULL},
    {"enforceNodeAllocatable", STRINGS, NULL},
    {"eventBurst", INT32, NULL},
    {"eventRecordQPS", INT32, NULL},
    {"evictionHard", STRING_MAP, NULL},
    {"evictionMaxPodGracePeriod", INT32, NULL},
    {"evictionMinimumReclaim", STRING_MAP, NULL},
    {"evictionPressureTransitionPeriod", DURATION, NULL},
    {"evictionSoft", STRING_MAP, NULL},
    {"evictionSoftGracePeriod", STRING_MAP, NULL},
    {"failCgroupV1", BOOL, NULL},
    {"failSwapOn", BOOL, NULL},
    {"featureGates", BOOL_MAP, NULL},
    {"fileCheckFrequency", DURATION, NULL},
    {"hairpinMode", STRING, NULL},
    {"healthzBindAddress", STRING, NULL},
    {"healthzPort", INT32, NULL},
    {"httpCheckFrequency", DURATION, NULL},
    {"imageGCHighThresholdPercent", INT32, NULL},
    {"imageGCLowThresholdPercent", INT32, NULL},
    {"imageMaximumGCAge", DURATION, NULL},
    {"imageMinimumGCAge", DURATION, NULL},
    {"imagePullCredentialsVerificationPolicy", STRING, NULL},
    {"imageServiceEndpoint", STRING, NULL},
    {"iptablesDropBit", INT32, NULL},
    {"iptablesMasqueradeBit", INT32, NULL},
    {"kernelMemcgNotification", BOOL, NULL},
    {"kind", STRING, NULL},
    {"kubeAPIBurst", INT32, NULL},
    {"kubeAPIQPS", INT32, NULL},
    {"kubeReserved", STRING_MAP, NULL},
    {"kubeReservedCgroup", STRING, NULL},
    {"kubeletCgroups", STRING, NULL},
    {"localStorageCapacityIsolation", BOOL, NULL},
    {"logging", OBJECT, logging},
    {"makeIPTablesUtilChains", BOOL, NULL},
    {"maxOpenFiles", INT64, NULL},
    {"maxParallelImagePulls", INT32, NULL},
    {"maxPods", INT32, NULL},
    {"memoryManagerPolicy", STRING, NULL},
    {"memoryReservationPolicy", STRING, NULL},
    {"memorySwap", OBJECT, memory_swap},
    {"memoryThrottlingFactor", NUMBER, NULL},
    {"mergeDefaultEvictionSettings", BOOL, NULL},
    {"nodeLeaseDurationSeconds", INT32, NULL},
    {"nodeStatusMaxImages", INT32, NULL},
    {"nodeStatusReportFrequency", DURATION, NULL},
    {"nodeStatusUpdateFrequency", DURATION, NULL},
    {"oomScoreAdj", INT32, NULL},
    {"podCIDR", STRING, NULL},
    {"podLogsDir", STRING, NULL},
    {"podPidsLimit", INT64, NULL},
    {"podsPerCore", INT32, NULL},
    {"port", INT32, NULL},
    {"preloadedImagesVerificationAllowlist", STRINGS, NULL},
    {"protectKernelDefaults", BOOL, NULL},
    {"providerID", STRING, NULL},
    {"qosReserved", STRING_MAP, NULL},
    {"readOnlyPort", INT32, NULL},
    {"registerNode", BOOL, NULL},
    {"registerWithTaints", OBJECTS, taint},
    {"registryBurst", INT32, NULL},
    {"registryPullQPS", INT32, NULL},
    {"reservedMemory", OBJECTS, reserved_memory},
    {"reservedSystemCPUs", STRING, NULL},
    {"resolvConf", STRING, NULL},
    {"rotateCertificates", BOOL, NULL},
    {"runOnce", BOOL, NULL},
    {"runtimeRequestTimeout", DURATION, NULL},
    {"seccompDefault", BOOL, NULL},
    {"serializeImagePulls", BOOL, NULL},
    {"serverTLSBootstrap", BOOL, NULL},
    {"showHiddenMetricsForVersion", STRING, NULL},
    {"shutdownGracePeriod", DURATION, NULL},
    {"shutdownGracePeriodByPodPriority", OBJECTS, shutdown},
    {"shutdownGracePeriodCriticalPods", DURATION, NULL},
    {"singleProcessOOMKill", BOOL, NULL},
    {"staticPodPath", STRING, NULL},
    {"staticPodURL", STRING, NULL},
    {"staticPodURLHeader", STRINGS_MAP, NULL},
    {"streamingConnectionIdleTimeout", DURATION, NULL},
    {"syncFrequency", DURATION, NULL},
    {"systemCgroups", STRING, NULL},
    {"systemReserved", STRING_MAP, NULL},
    {"systemReservedCgroup", STRING, NULL},
    {"tlsCertFile", STRING, NULL},
    {"tlsCipherSuites", STRINGS, NULL},
    {"tlsCurvePreferences", INTS32, NULL},
    {"tlsMinVersion", STRING, NULL},
    {"tlsPrivateKeyFile", STRING, NULL},
    {"topologyManagerPolicy", STRING, NULL},
    {"topologyManagerPolicyOptions", STRING_MAP, NULL},
    {"topologyManagerScope", STRING, NULL},
    {"tracing", OBJECT, tracing},
    {"userNamespaces", OBJECT, user_namespaces},
    {"volumePluginDir", STRING, NULL},
    {"volumeStatsAggPeriod", DURATION, NULL},
    {0},
};

struct check {
    struct sb *unknown;  /* fields that are not known, joined by "; " */
    struct sb *mismatch; /* the first value of a wrong type */
    struct arena *a;
};

static const struct field *find(const struct field *fields, str name)
{
    for (const struct field *f = fields; f->name; f++)
        if (str_is(name, f->name))
            return f;
    return NULL;
}

static bool is_int(const struct tree *t, int64_t min, int64_t max)
{
    int64_t v;

    return t->kind == TREE_NUMBER && str_to_i64(t->text, &v) && v >= min && v <= max;
}

static bool is_duration(const struct tree *t)
{
    struct err e;
    int64_t ns;

    return t->kind == TREE_STRING && duration_parse(t->text, &ns, &e);
}

static bool is_time(const struct tree *t)
{
    struct err e;
    int64_t ms;

    return t->kind == TREE_STRING && time_parse_rfc3339(t->text, &ms, &e);
}

static bool is_quantity(const struct tree *t)
{
    return (t->kind == TREE_STRING || t->kind == TREE_NUMBER) && quantity_is(t->text);
}

/* The kind of a value by itself; of a container only what kind of container it is. */
static bool fits(const struct tree *t, enum type type)
{
    switch (type) {
    case BOOL:
        return t->kind == TREE_BOOL;
    case STRING:
        return t->kind == TREE_STRING;
    case DURATION:
        return is_duration(t);
    case PERIOD:
        return is_duration(t) || is_int(t, INT64_MIN, INT64_MAX);
    case QUANTITY:
        return is_quantity(t);
    case TIME:
        return is_time(t);
    case INT32:
        return is_int(t, INT32_MIN, INT32_MAX);
    case INT64:
        return is_int(t, INT64_MIN, INT64_MAX);
    case UINT32:
        return is_int(t, 0, UINT32_MAX);
    case NUMBER:
        return t->kind == TREE_NUMBER;
    case STRINGS:
    case INTS32:
    case OBJECTS:
        return t->kind == TREE_LIST;
    case STRING_MAP:
    case BOOL_MAP:
    case STRINGS_MAP:
    case QUANTITY_MAP:
    case OBJECT:
        return t->kind == TREE_MAP;
    }
    return false;
}

/* What the members of a container are; of others the type itself. */
static enum type member_type(enum type type)
{
    switch (type) {
    case STRINGS:
    case STRING_MAP:
        return STRING;
    case INTS32:
        return INT32;
    case BOOL_MAP:
        return BOOL;
    case STRINGS_MAP:
        return STRINGS;
    case QUANTITY_MAP:
        return QUANTITY;
    case OBJECTS:
        return OBJECT;
    case BOOL:
    case STRING:
    case DURATION:
    case PERIOD:
    case QUANTITY:
    case TIME:
    case INT32:
    case INT64:
    case UINT32:
    case NUMBER:
    case OBJECT:
        break;
    }
    return type;
}

static const char *type_name(enum type type)
{
    static const char *const names[] = {
        [BOOL] = "a boolean",         [STRING] = "a string",     [DURATION] = "a duration such as 1m30s",
        [PERIOD] = "a duration",      [QUANTITY] = "a quantity", [TIME] = "a time",
        [INT32] = "a 32-bit integer", [INT64] = "an integer",    [UINT32] = "a non-negative 32-bit integer",
        [NUMBER] = "a number",        [STRINGS] = "a list",      [INTS32] = "a list",
        [STRING_MAP] = "a map",       [BOOL_MAP] = "a map",      [STRINGS_MAP] = "a map",
        [QUANTITY_MAP] = "a map",     [OBJECT] = "a map",        [OBJECTS] = "a list",
    };

    return names[type];
}

static void check_fields(struct check *c, str path, const struct tree *t, const struct field *fields);

static void check_value(struct check *c, str path, const struct tree *t, enum type type, const struct field *fields)
{
    if (c->mismatch->n || t->kind == TREE_NULL)
        return;
    if (!fits(t, type)) {
        sb_printf(c->mismatch, "spec.kubelet." STR_FMT ": must be %s, not %s", STR_ARG(path), type_name(type),
                  t->kind == TREE_NUMBER || t->kind == TREE_STRING ? "" : tree_kind_name(t->kind));
        if (t->kind == TREE_NUMBER || t->kind == TREE_STRING)
            sb_printf(c->mismatch, t->kind == TREE_NUMBER ? "%.*s" : "\"%.*s\"", (int)MIN(t->text.n, (size_t)80),
                      t->text.p);
        return;
    }
    if (type == OBJECT) {
        check_fields(c, path, t, fields);
        return;
    }
    if (t->kind != TREE_LIST && t->kind != TREE_MAP)
        return;
    uint32_t *order = t->kind == TREE_MAP ? tree_key_order(c->a, t) : NULL;
    for (uint32_t i = 0; i < t->n; i++) {
        str at = order ? arena_printf(c->a, STR_FMT "[" STR_FMT "]", STR_ARG(path), STR_ARG(t->keys[order[i]]))
                       : arena_printf(c->a, STR_FMT "[%u]", STR_ARG(path), i);

        check_value(c, at, &t->items[order ? order[i] : i], member_type(type), fields);
    }
}

static void check_fields(struct check *c, str path, const struct tree *t, const struct field *fields)
{
    uint32_t *order = tree_key_order(c->a, t);

    for (uint32_t i = 0; i < t->n; i++) {
        str key = t->keys[order[i]];
        const struct tree *value = &t->items[order[i]];
        const struct field *f = find(fields, key);
        str at = path.n ? arena_printf(c->a, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(key)) : key;

        if (!f)
            sb_printf(c->unknown, "%sspec.kubelet: unknown field \"" STR_FMT "\"", c->unknown->n ? "; " : "",
                      STR_ARG(at));
        else if (!(fields == kubelet && str_is(key, "maxPods") && value->kind == TREE_STRING)) /* an expression */
            check_value(c, at, value, f->type, f->fields);
    }
}

void ec2_kubelet_check_fields(struct sb *b, struct arena *a, const struct tree *raw)
{
    struct sb unknown = {0}, mismatch = {0};

    check_fields(&(struct check){&unknown, &mismatch, a}, STR(""), raw, kubelet);
    sb_str(b, sb_view(mismatch.n ? &mismatch : &unknown));
    sb_fini(&unknown);
    sb_fini(&mismatch);
}
