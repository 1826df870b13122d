/* Flags and environment variables: precedence, Go's ways of writing flags, what is fatal and what is not. docs/controller.md lists them; UPDATE_DOCS=1 writes that
 * table anew. */
#include "control/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

struct lab {
    struct arena *a;
    struct syms *t;
    struct options o;
    struct err e;
};

static bool parse(struct lab *l, const char *const *env, const char *args)
{
    char *argv[16] = {(char *)(uintptr_t) "controller"}, *at;
    int argc = 1;

    *l = (struct lab){.a = arena_new(0), .t = syms_new()};
    at = (char *)(uintptr_t)arena_printf(l->a, "%s%c", args, 0).p;
    for (char *save = NULL, *word = strtok_r(at, " ", &save); word; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    static const char *const none[] = {NULL};

    return options_parse(&l->o, l->a, l->t, argc, argv, env ? env : none, &l->e);
}

static void lab_fini(struct lab *l)
{
    syms_free(l->t);
    arena_free(l->a);
}

static void defaults(void **state UNUSED)
{
    struct lab l;

    check_ok("no flags", parse(&l, NULL, ""), &l.e);
    check_str("provider", str_c(l.o.provider), "kwok");
    check_i64("metrics port", l.o.metrics_port, 8080);
    check_i64("probe port", l.o.health_probe_port, 8081);
    check_i64("qps", l.o.kube_client_qps, 200);
    check_i64("burst", l.o.kube_client_burst, 300);
    check_i64("batch max", l.o.batch_max_ms, 10000);
    check_i64("batch idle", l.o.batch_idle_ms, 1000);
    check_str("lease", str_c(l.o.leader_election_name), "karpenter-leader-election");
    check_true("warm-up is off", l.o.disable_controller_warmup);
    check_true("reserved capacity", l.o.settings.reserved_capacity);
    check_true("no repair", !l.o.gate_node_repair && !l.o.gate_static_capacity && !l.o.settings.capacity_buffers &&
                                !l.o.settings.node_overlays);
    check_i64("info", l.o.log_level, LOG_INFO);
    lab_fini(&l);
}

static void ways_of_writing(void **state UNUSED)
{
    static const char *const args[] = {"--batch-idle-duration 2s", "-batch-idle-duration 2s",
                                       "--batch-idle-duration=2s", "-batch-idle-duration=2s"};
    struct lab l;

    for (size_t i = 0; i < ARRAY_LEN(args); i++) {
        check_ok(args[i], parse(&l, NULL, args[i]), &l.e);
        check_i64(args[i], l.o.batch_idle_ms, 2000);
        lab_fini(&l);
    }
    check_ok("a flag without value", parse(&l, NULL, "--disable-leader-election --log-level debug"), &l.e);
    check_true("is true", l.o.disable_leader_election);
    check_i64("the next one is a flag of its own", l.o.log_level, LOG_DEBUG);
    lab_fini(&l);
    check_ok("off", parse(&l, NULL, "--disable-controller-warmup=false"), &l.e);
    check_true("off", !l.o.disable_controller_warmup);
    lab_fini(&l);
    check_ok("help", parse(&l, NULL, "--help"), &l.e);
    check_true("help", l.o.help);
    lab_fini(&l);
}

static void precedence(void **state UNUSED)
{
    static const char *const env[] = {
        "METRICS_PORT", "9000", "HEALTH_PROBE_PORT", "9001", "FEATURE_GATES", " NodeRepair = true ,Unknown=true", NULL};
    struct lab l;

    check_ok("environment", parse(&l, env, "--metrics-port 9100"), &l.e);
    check_i64("a flag wins", l.o.metrics_port, 9100);
    check_i64("over the environment", l.o.health_probe_port, 9001);
    check_true("gates", l.o.gate_node_repair);
    check_true("gates that are not named stay", l.o.settings.reserved_capacity);
    lab_fini(&l);
    check_ok("gates twice", parse(&l, env, "--feature-gates=StaticCapacity=true"), &l.e);
    check_true("the flag's", l.o.gate_static_capacity);
    check_true("and none of the variable's", !l.o.gate_node_repair);
    lab_fini(&l);
}

/* As Go reads them. */
static void spellings_of_truth(void **state UNUSED)
{
    static const char *const env[] = {"FEATURE_GATES",
                                      "NodeRepair=1,StaticCapacity=True,CapacityBuffer=t,ReservedCapacity=F",
                                      "IGNORE_DRA_REQUESTS",
                                      "TRUE",
                                      "DISABLE_LEADER_ELECTION",
                                      "T",
                                      "METRICS_PORT",
                                      "many",
                                      "BATCH_IDLE_DURATION",
                                      "soon",
                                      NULL};
    struct lab l;

    check_ok("environment", parse(&l, env, ""), &l.e);
    check_true("gates", l.o.gate_node_repair && l.o.gate_static_capacity && l.o.settings.capacity_buffers &&
                            !l.o.settings.reserved_capacity);
    check_true("a variable", l.o.disable_leader_election);
    check_i64("a number that is none", l.o.metrics_port, 8080);
    check_i64("a duration that is none", l.o.batch_idle_ms, 1000);
    lab_fini(&l);
}

/* OP-2: each gate by itself, the others as they were. */
static void gates_one_by_one(void **state UNUSED)
{
    static const struct {
        const char *args;
        bool repair, is_static, buffers, overlays, reserved, spot;
    } cases[] = {
        {"", false, false, false, false, true, false},
        {"--feature-gates=NodeRepair=true", true, false, false, false, true, false},
        {"--feature-gates=StaticCapacity=true", false, true, false, false, true, false},
        {"--feature-gates=CapacityBuffer=true", false, false, true, false, true, false},
        {"--feature-gates=NodeOverlay=true", false, false, false, true, true, false},
        {"--feature-gates=ReservedCapacity=false", false, false, false, false, false, false},
        {"--feature-gates=SpotToSpotConsolidation=true", false, false, false, false, true, true},
        {"--feature-gates=Nobody=true,NodeRepair=true,StaticCapacity=false", true, false, false, false, true, false},
    };
    struct lab l;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        check_ok(cases[i].args, parse(&l, NULL, cases[i].args), &l.e);
        check_u64(cases[i].args, l.o.gate_node_repair, cases[i].repair);
        check_u64(cases[i].args, l.o.gate_static_capacity, cases[i].is_static);
        check_u64(cases[i].args, l.o.settings.capacity_buffers, cases[i].buffers);
        check_u64(cases[i].args, l.o.settings.node_overlays, cases[i].overlays);
        check_u64(cases[i].args, l.o.settings.reserved_capacity, cases[i].reserved);
        check_u64(cases[i].args, l.o.settings.spot_to_spot, cases[i].spot);
        lab_fini(&l);
    }
}

#define SPREADS(list) "{podTopologySpread: {defaultConstraints: [" list "]}}"
#define SPREAD(key, when) "{maxSkew: 1, topologyKey: " key ", whenUnsatisfiable: " when "}"

/* OP-3 */
static void scheduler_config(void **state UNUSED)
{
    static const struct {
        const char *text, *want; /* NULL: taken */
        uint32_t n;
    } cases[] = {
        {"", NULL, 0},
        {"{}", NULL, 0},
        {"podTopologySpread: {}", NULL, 0},
        {SPREADS(""), NULL, 0},
        {"{\"podTopologySpread\": {\"defaultConstraints\": []}}", NULL, 0},
        {SPREADS(SPREAD("zone", "DoNotSchedule")), NULL, 1},
        {SPREADS(SPREAD("zone", "DoNotSchedule") "," SPREAD("zone", "ScheduleAnyway")), NULL, 2},
        {SPREADS(SPREAD("zone", "DoNotSchedule") "," SPREAD("zone", "DoNotSchedule")),
         "two default constraints for topologyKey zone", 0},
        {SPREADS("{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}"),
         "maxSkew must be a positive integer", 0},
        {SPREADS("{topologyKey: zone, whenUnsatisfiable: DoNotSchedule}"),
         "needs maxSkew, topologyKey and whenUnsatisfiable", 0},
        {SPREADS("{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}"), "needs maxSkew, topologyKey and whenUnsatisfiable",
         0},
        {SPREADS("{maxSkew: 1, topologyKey: zone}"), "needs maxSkew, topologyKey and whenUnsatisfiable", 0},
        {SPREADS(SPREAD("-zone", "DoNotSchedule")), "topologyKey \"-zone\" is not a label key", 0},
        {SPREADS(SPREAD("zone", "Perhaps")), "\"Perhaps\" is not one of DoNotSchedule, ScheduleAnyway", 0},
        {SPREADS("{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}"),
         "must not have labelSelector", 0},
        {SPREADS("{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]}"),
         "must not have matchLabelKeys", 0},
        {SPREADS("{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, colour: blue}"),
         "unknown field \"colour\"", 0},
        {"{other: {}}", "only podTopologySpread.defaultConstraints is understood", 0},
        {"{podTopologySpread: {other: 1}}", "only podTopologySpread.defaultConstraints is understood", 0},
        {"[1, 2]", "only podTopologySpread.defaultConstraints is understood", 0},
        {"{podTopologySpread: {", "SCHEDULER_CONFIG", 0},
    };
    struct lab l;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *const env[] = {"SCHEDULER_CONFIG", cases[i].text, NULL};
        bool ok = parse(&l, env, "");

        check_true(cases[i].text, ok == !cases[i].want);
        if (ok)
            check_u64(cases[i].text, l.o.settings.n_default_spreads, cases[i].n);
        else
            check_true(cases[i].text, str_starts(str_c(l.e.msg), STR("parsing scheduler config")) &&
                                          str_contains(str_c(l.e.msg), str_c(cases[i].want)));
        lab_fini(&l);
    }
}

static void odd_environment(void **state UNUSED)
{
    static const char *const env[] = {"METRICS_PORT",
                                      "many",
                                      "BATCH_MAX_DURATION",
                                      "soon",
                                      "DISABLE_LEADER_ELECTION",
                                      "perhaps",
                                      "ENABLE_PROFILING",
                                      "T",
                                      "CPU_REQUESTS",
                                      "-5",
                                      NULL};
    struct lab l;

    check_ok("what cannot be read counts as absent", parse(&l, env, ""), &l.e);
    check_i64("number", l.o.metrics_port, 8080);
    check_i64("duration", l.o.batch_max_ms, 10000);
    check_true("truth", !l.o.disable_leader_election);
    check_true("Go's spellings", l.o.enable_profiling);
    check_i64("cpu", l.o.cpu_milli, 1000);
    lab_fini(&l);
}

static void refusals(void **state UNUSED)
{
    static const struct {
        const char *name, *env[3], *args, *want;
    } cases[] = {
        {"level", {"LOG_LEVEL", "loud"}, "", "validating cli flags / env vars, invalid LOG_LEVEL \"loud\""},
        {"policy",
         {0},
         "--preference-policy=Maybe",
         "validating cli flags / env vars, invalid PREFERENCE_POLICY \"Maybe\""},
        {"min values",
         {"MIN_VALUES_POLICY", "x"},
         "",
         "validating cli flags / env vars, invalid MIN_VALUES_POLICY \"x\""},
        {"unknown", {0}, "--no-such-flag", "parsing flags, flag provided but not defined: -no-such-flag"},
        {"no value", {0}, "--metrics-port", "parsing flags, flag needs an argument: -metrics-port"},
        {"bad number", {0}, "--metrics-port=x", "parsing flags, invalid value \"x\" for flag -metrics-port"},
        {"bad truth", {0}, "--enable-profiling=1", "parsing flags, invalid value \"1\" for flag -enable-profiling"},
        {"not a flag", {0}, "now", "parsing flags, \"now\" is not a flag"},
        {"gates",
         {"FEATURE_GATES", "NodeRepair"},
         "",
         "parsing feature gates: FEATURE_GATES: \"NodeRepair\" is not name=true or name=false"},
        {"port", {0}, "--metrics-port=70000", "a port is a number from 1 to 65535, or 0 for none"},
    };
    struct lab l;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        check_true(cases[i].name, !parse(&l, cases[i].env, cases[i].args));
        check_str(cases[i].name, str_c(l.e.msg), cases[i].want);
        lab_fini(&l);
    }
}

/* ---- the provider aws (aws 9.1, 11.10 O1) ---- */

static void aws_defaults(void **state UNUSED)
{
    struct lab l;

    check_ok("a name is enough", parse(&l, NULL, "--provider=aws --cluster-name=c"), &l.e);
    check_str("name", str_c(l.o.aws.cluster_name), "c");
    check_str("endpoint", str_c(l.o.aws.cluster_endpoint), "");
    check_str("queue", str_c(l.o.aws.interruption_queue), "");
    check_true("overhead", l.o.aws.memory_overhead == 0.075);
    check_i64("interfaces", l.o.aws.reserved_enis, 0);
    check_i64("images", l.o.aws.ami_refresh_ms, 60000);
    check_i64("subnets", l.o.aws.subnet_refresh_ms, 60000);
    check_true("all off", !l.o.aws.isolated_vpc && !l.o.aws.eks_control_plane && !l.o.aws.disable_dry_run &&
                              !l.o.aws.enable_zonal_shift && !l.o.aws.gate_nodeclass_cel);
    lab_fini(&l);
    check_ok("another provider needs none", parse(&l, NULL, "--reserved-enis=-1"), &l.e);
    lab_fini(&l);
}

static void aws_precedence(void **state UNUSED)
{
    static const char *const env[] = {"KARPENTER_PROVIDER",
                                      "aws",
                                      "CLUSTER_NAME",
                                      "env",
                                      "CLUSTER_ENDPOINT",
                                      "https://env:6443",
                                      "RESERVED_ENIS",
                                      "many",
                                      "ISOLATED_VPC",
                                      "T",
                                      "AMI_REFRESH_INTERVAL",
                                      "2h",
                                      "AWS_FEATURE_GATES",
                                      "NodeClassCEL=true,Nobody=true",
                                      NULL};
    struct lab l;

    check_ok("flags and environment",
             parse(&l, env, "--cluster-name flag --vm-memory-overhead-percent=0.1 --interruption-queue q"), &l.e);
    check_str("a flag wins", str_c(l.o.aws.cluster_name), "flag");
    check_str("over the environment", str_c(l.o.aws.cluster_endpoint), "https://env:6443");
    check_i64("what cannot be read counts as absent", l.o.aws.reserved_enis, 0);
    check_true("truth", l.o.aws.isolated_vpc);
    check_i64("duration", l.o.aws.ami_refresh_ms, 7200000);
    check_true("decimal", l.o.aws.memory_overhead == 0.1);
    check_str("queue", str_c(l.o.aws.interruption_queue), "q");
    check_true("gate", l.o.aws.gate_nodeclass_cel);
    lab_fini(&l);
    check_ok("gates", parse(&l, env, "--aws-feature-gates=NodeClassCEL=false"), &l.e);
    check_true("a flag closes it again", !l.o.aws.gate_nodeclass_cel);
    lab_fini(&l);
}

static void aws_refusals(void **state UNUSED)
{
    static const struct {
        const char *name, *args, *want;
    } cases[] = {
        {"no name", "", "validating options, missing field, cluster-name"},
        {"no scheme", "--cluster-name=c --cluster-endpoint=api.example.com",
         "validating options, cluster endpoint URL is not valid"},
        {"no host", "--cluster-name=c --cluster-endpoint=https:///x",
         "validating options, cluster endpoint URL is not valid"},
        {"a path", "--cluster-name=c --cluster-endpoint=/api", "validating options, cluster endpoint URL is not valid"},
        {"overhead", "--cluster-name=c --vm-memory-overhead-percent=-0.1",
         "validating options, vm-memory-overhead-percent cannot be negative"},
        {"interfaces", "--cluster-name=c --reserved-enis=-1", "validating options, reserved-enis cannot be negative"},
        {"images", "--cluster-name=c --ami-refresh-interval=59s",
         "validating options, ami-refresh-interval must be at least 1m"},
        {"subnets", "--cluster-name=c --subnet-refresh-interval=1s",
         "validating options, subnet-refresh-interval must be at least 1m"},
        {"all of it",
         "--cluster-endpoint=x --vm-memory-overhead-percent=-1 --reserved-enis=-1 --ami-refresh-interval=1s "
         "--subnet-refresh-interval=1s",
         "validating options, cluster endpoint URL is not valid; vm-memory-overhead-percent cannot be negative; "
         "reserved-enis cannot be negative; missing field, cluster-name; ami-refresh-interval must be at least 1m; "
         "subnet-refresh-interval must be at least 1m"},
        {"gates", "--cluster-name=c --aws-feature-gates=NodeClassCEL",
         "parsing aws feature gates: AWS_FEATURE_GATES: \"NodeClassCEL\" is not name=true or name=false"},
        {"a truth", "--cluster-name=c --isolated-vpc=1", "parsing flags, invalid value \"1\" for flag -isolated-vpc"},
    };
    static const char *const env[] = {"KARPENTER_PROVIDER", "aws", NULL};
    struct lab l;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        check_true(cases[i].name, !parse(&l, env, cases[i].args));
        check_str(cases[i].name, str_c(l.e.msg), cases[i].want);
        lab_fini(&l);
    }
}

/* ---- the reference ---- */

#define TABLE_BEGINS "<!-- settings: written by UPDATE_DOCS=1 build/tests/unit/control_options_test -->\n"
#define TABLE_ENDS "<!-- settings end -->\n"
#define MAX_PAGE (1u << 20)

/* A bar would end the cell. */
static void put_cell(struct sb *out, const char *text)
{
    for (; *text; text++)
        sb_printf(out, *text == '|' ? "\\%c" : "%c", *text);
}

static void put_table(struct sb *out)
{
    uint32_t n;
    const struct option_doc *docs = options_docs(&n);

    sb_c(out, "| flag | variable | default | |\n|---|---|---|---|\n");
    for (uint32_t i = 0; i < n; i++) {
        sb_printf(out, "| `--%s` | ", docs[i].flag);
        if (docs[i].env)
            sb_printf(out, "`%s`", docs[i].env);
        sb_c(out, " | ");
        if (docs[i].fallback[0])
            sb_printf(out, "`%s`", docs[i].fallback);
        sb_c(out, " | ");
        put_cell(out, docs[i].help);
        sb_c(out, " |\n");
    }
}

static void reference_is_current(void **state UNUSED)
{
    static const char path[] = "docs/controller.md";
    char *page = calloc(1, MAX_PAGE), *from, *to;
    struct sb want = {0};
    FILE *f = fopen(path, "re");

    check_true(path, f && page && fread(page, 1, MAX_PAGE - 1, f) > 0 && fclose(f) == 0);
    from = strstr(page, TABLE_BEGINS);
    to = strstr(page, TABLE_ENDS);
    check_true("the place of the table", from && to && from < to);
    sb_bytes(&want, page, (size_t)(from - page) + strlen(TABLE_BEGINS));
    put_table(&want);
    sb_c(&want, to);
    if (getenv("UPDATE_DOCS")) {
        f = fopen(path, "we");
        check_true("it can be written", f && fwrite(want.p, 1, want.n, f) == want.n && fclose(f) == 0);
    } else {
        check_str(path, str_c(page), sb_cstr(&want));
    }
    sb_fini(&want);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),         cmocka_unit_test(ways_of_writing),
        cmocka_unit_test(precedence),       cmocka_unit_test(spellings_of_truth),
        cmocka_unit_test(gates_one_by_one), cmocka_unit_test(scheduler_config),
        cmocka_unit_test(odd_environment),  cmocka_unit_test(refusals),
        cmocka_unit_test(aws_defaults),     cmocka_unit_test(aws_precedence),
        cmocka_unit_test(aws_refusals),     cmocka_unit_test(reference_is_current),
    };

    return cmocka_run_group_tests_name("control/options", tests, NULL, NULL);
}
