/* The families are Karpenter's, and docs/metrics.md says what they are. UPDATE_DOCS=1 writes that file anew. */
#include "control/metrics.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/vec.h"
#include "control/manager.h"
#include "obs/process.h"
#include "sim/world.h"
#include "support/check.h"
#include "support/prom.h"

static const char *const kind_names[] = {"counter", "gauge", "histogram", "summary"};
static const char *const kwok_labels[] = {"karpenter.kwok.sh/instance-size", "karpenter.kwok.sh/instance-family",
                                          "karpenter.kwok.sh/instance-cpu",  "karpenter.kwok.sh/instance-memory",
                                          "karpenter.sh/capacity-type",      NULL};
static const struct cloud_class kwok_class = {"karpenter.kwok.sh", "v1alpha1", "KWOKNodeClass", "kwoknodeclasses",
                                              NULL};
static const struct control_metrics_options kwok = {kwok_labels, &kwok_class, 1};

/* All that a program registers. */
struct all {
    struct sim *sim;
    struct metrics *m;
    struct control_metrics *c;
    struct manager *manager;
    struct log *log;
    struct arena *a;
};

static void nowhere(UNUSED void *ctx, UNUSED str line) {}

static int64_t never(UNUSED void *clock)
{
    return 0;
}

static void all_init(struct all *x, const struct control_metrics_options *o)
{
    x->sim = sim_new(1, 0);
    x->m = metrics_new();
    x->c = control_metrics_new(x->m, o);
    x->log = log_new(LOG_ERROR, &(struct log_sink){NULL, nowhere}, never, NULL);
    x->manager = manager_new(sim_process(x->sim, "p"), x->log, x->m);
    x->a = arena_new(0);
    process_metrics(x->m);
}

static void all_fini(struct all *x)
{
    manager_free(x->manager);
    log_free(x->log);
    metrics_free(x->m);
    control_metrics_free(x->c);
    arena_free(x->a);
    sim_free(x->sim);
}

static str slurp(struct arena *a, const char *path)
{
    FILE *f = fopen(path, "re");
    char *text = arena_new_array(a, char, 1 << 20);
    size_t n;

    check_true(path, f != NULL);
    n = fread(text, 1, 1 << 20, f);
    (void)fclose(f);
    return (str){text, n};
}

static bool name_before(const str *a, const str *b, UNUSED const void *ctx)
{
    return str_cmp(*a, *b) < 0;
}

SORT_DEFINE(sort_names, str, name_before)

static void put_labels(struct sb *out, const struct metric_spec *s, const char *sep, bool sorted)
{
    str names[METRIC_LABELS];
    uint32_t n = 0;

    for (; s->labels && s->labels[n]; n++)
        names[n] = str_c(s->labels[n]);
    if (sorted)
        sort_names(names, n, NULL);
    for (uint32_t i = 0; i < n; i++)
        sb_printf(out, "%s" STR_FMT, i ? sep : "", STR_ARG(names[i]));
}

/* ---- compared with the original ---- */

static void put_line(void *ctx, const struct metric_spec *s, UNUSED const struct metric_spec *of)
{
    struct sb *out = ctx;

    sb_printf(out, "%s %s ", s->name, kind_names[s->kind]);
    if (s->labels)
        put_labels(out, s, ",", true);
    if (!s->labels || !s->labels[0])
        sb_char(out, '-');
    for (uint32_t i = 0; i < s->n_buckets; i++) {
        sb_char(out, ' ');
        sb_double(out, s->buckets[i]);
    }
    sb_char(out, '\n');
}

static void families_are_those_of_karpenter(UNUSED void **state)
{
    struct all x;
    struct sb ours = {0};
    uint32_t n = 0;

    all_init(&x, &kwok);
    sb_char(&ours, '\n');
    metrics_each(x.m, put_line, &ours);
    str rest = slurp(x.a, "tests/vectors/metrics.txt"), line;
    for (; str_cut(rest, '\n', &line, &rest);) {
        if (line.p[0] == '#')
            continue;
        str want = arena_printf(x.a, "\n" STR_FMT "\n", STR_ARG(line));
        check_str("a family", str_contains(sb_view(&ours), want) ? STR("") : line, "");
        n++;
    }
    check_true("all were read", n == 100);
    sb_fini(&ours);
    all_fini(&x);
}

/* ---- the reference ---- */

struct doc {
    struct sb rows, aliases;
};

static void put_row(void *ctx, const struct metric_spec *s, const struct metric_spec *of)
{
    struct doc *d = ctx;

    if (of) {
        sb_printf(&d->aliases, "| `%s` | %s | `%s`%s |\n", s->name, kind_names[s->kind], of->name,
                  of->labels ? ", added up" : "");
        return;
    }
    sb_printf(&d->rows, "| `%s` | %s | ", s->name, kind_names[s->kind]);
    put_labels(&d->rows, s, ", ", false);
    sb_printf(&d->rows, " | %s |\n", s->help);
}

static void reference_is_current(UNUSED void **state)
{
    struct all x;
    struct doc d = {{0}, {0}};
    struct sb text = {0};

    all_init(&x, NULL);
    metrics_each(x.m, put_row, &d);
    sb_c(
        &text,
        "# Metrics\n\n"
        "The controller shows these on `/metrics`, port 8080 (`METRICS_PORT`), in Prometheus' text format. Names, types, labels and buckets are Karpenter's. A series with "
        "labels\nis there from its first use on. Durations are in seconds. Summaries have the quantiles 0, 0.5, 0.9, 0.99 and 1 of the last ten minutes.\n\n"
        "Families of single Nodes (`karpenter_nodes_allocatable` and those like it) have one more label for each label that the provider puts on Nodes, and those of conditions of\n"
        "NodeClaims and Nodes one for each kind of node class, named after its key: `karpenter_k8s_aws_ec2nodeclass`.\n\n"
        "<!-- This file is written by a test: UPDATE_DOCS=1 build/tests/unit/control_metrics_test -->\n\n"
        "| family | type | labels | |\n|---|---|---|---|\n");
    sb_str(&text, sb_view(&d.rows));
    sb_c(
        &text,
        "\n## Names of older releases\n\n"
        "Dashboards and alerts in use know these. The counters have one series without labels that is there from the start, so that they can be compared with each other:\n"
        "`karpenter_nodeclaims_created - karpenter_nodes_created > 5`. So is `karpenter_interruption_actions_performed`, which newer releases do not have at all.\n\n"
        "| name | type | shows |\n|---|---|---|\n");
    sb_str(&text, sb_view(&d.aliases));
    if (getenv("UPDATE_DOCS")) {
        FILE *f = fopen("docs/metrics.md", "we");

        check_true("docs/metrics.md can be written", f && fwrite(text.p, 1, text.n, f) == text.n && fclose(f) == 0);
    }
    check_str("docs/metrics.md", slurp(x.a, "docs/metrics.md"), sb_cstr(&text));
    sb_fini(&text);
    sb_fini(&d.rows);
    sb_fini(&d.aliases);
    all_fini(&x);
}

/* ---- the few that do something ---- */

static void calls_are_counted(UNUSED void **state)
{
    struct all x;
    struct metric *n, *t;

    all_init(&x, &kwok);
    n = x.c->client_go_request_total;
    t = x.c->client_go_request_duration;
    control_metrics_call(x.c, &(struct api_call){"POST", &api_pods, "eviction", 429, 1500}, 0);
    control_metrics_call(x.c, &(struct api_call){"PATCH", &api_nodeclaims, "status", 200, 1500}, 0);
    control_metrics_call(x.c, &(struct api_call){"GET", &api_leases, "", 0, 1500}, 0);
    check_double("by status", metric_value(n, METRIC_VALS(STR("429"), STR("POST"))), 1);
    check_double("no answer", metric_value(n, METRIC_VALS(STR("<error>"), STR("GET"))), 1);
    check_double("eviction",
                 metric_value(t, METRIC_VALS(STR("CREATE"), STR(""), STR("v1"), STR("pods"), STR("eviction"))), 1);
    check_double(
        "status",
        metric_value(t, METRIC_VALS(STR("PATCH"), STR("karpenter.sh"), STR("v1"), STR("nodeclaims"), STR("status"))),
        1);
    all_fini(&x);
}

static void text_from_the_start(UNUSED void **state)
{
    static const char *const lines[] = {
        "\nkarpenter_build_info{commit=\"unknown\",",
        "\nkarpenter_nodeclaims_created 0\n",
        "\nkarpenter_nodes_created 0\n",
        "\nkarpenter_nodes_terminated 0\n",
        "\nkarpenter_nodeclaims_disrupted 0\n",
        "\nkarpenter_interruption_actions_performed 0\n",
        "\nkarpenter_voluntary_disruption_consolidation_timeouts_total{consolidation_type=\"multi\"} 0\n",
        "\nkarpenter_voluntary_disruption_consolidation_timeouts_total{consolidation_type=\"single\"} 0\n",
    };
    struct all x;
    struct sb out = {0};
    struct err e;

    all_init(&x, &kwok);
    metrics_text(x.m, 0, &out);
    check_ok("readable", prom_check(sb_view(&out), &e), &e);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        check_true(lines[i], strstr(sb_cstr(&out), lines[i]) != NULL);
    check_u64("a key that is known already is taken once", x.c->n_node_keys, 12);
    check_str("resources", metrics_short_name(x.a, STR("ephemeral-storage")), "ephemeral_storage");
    check_str("of others", metrics_short_name(x.a, STR("nvidia.com/GPU-count")), "gpu_count");
    sb_fini(&out);
    all_fini(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_are_those_of_karpenter),
        cmocka_unit_test(reference_is_current),
        cmocka_unit_test(calls_are_counted),
        cmocka_unit_test(text_from_the_start),
    };

    return cmocka_run_group_tests_name("control/metrics", tests, NULL, NULL);
}
