/* karpenter simulate: the whole controller against a simulated cluster, in virtual time. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/plan_view.h"
#include "cli/simulate/live.h"
#include "cli/simulate/progress.h"
#include "cli/simulate/report.h"
#include "cli/simulate/run.h"
#include "cli/text.h"
#include "cloud/catalog.h"
#include "k8s/itypes.h"
#include "model/sym.h"

#define FOR_US (24 * 3600 * INT64_C(1000000))
#define FOR_MAX_US (10 * 366 * FOR_US)
#define BOOT_MS 45000
#define START_MS 3000
#define MAX_COMPARE 7
#define STATUS_BAD_INPUT 2
#define TYPES_PATH "/proc/self/fd/%d"

enum output { OUT_TEXT, OUT_JSON, OUT_HTML };

struct simulate_args {
    VEC(const char *) files;
    VEC(const char *) settings;
    VEC(const char *) compare;
    const char *trace, *instance_types, *catalog, *report, *log, *kubeconfig, *context, *name;
    int64_t for_us, boot_us, start_us;
    int64_t seed;
    enum output output;
    bool help, from_cluster;
};

struct config { /* one that is simulated */
    const char *name;
    struct manifests manifests;
    const char *setting; /* KEY=VALUE that it adds; NULL: none */
    struct tally *tally;
};

struct simulate {
    const struct cli_env *env;
    struct simulate_args args;
    struct arena *arena;
    struct trace trace;
    struct manifests base;
    struct config configs[MAX_COMPARE + 1];
    uint32_t n_configs;
    const char *origin; /* of the prices */
    int types_fd;       /* the catalogue as a file for the provider */
    FILE *log, *report;
    struct progress progress;
};

static void print_help(void)
{
    (void)printf(
        "usage: karpenter simulate -f FILE|DIR|- [-f ...] [--trace FILE] [--for 30d] [OPTIONS]\n"
        "       karpenter simulate --from-cluster [--trace FILE] [OPTIONS]\n"
        "       karpenter simulate ... --compare FILE|KEY=VALUE [--compare ...]\n"
        "\n"
        "Runs the controller, the same code that runs in a cluster, against a simulated one: API server, scheduler,\n"
        "kubelets, workload controllers and a cloud with prices, in virtual time. A day takes seconds, a month minutes. Says what\n"
        "it would have cost, how long pods would have waited, and what was moved around; and the same for other\n"
        "configurations beside it. Touches no cluster.\n"
        "\n"
        "  -f, --filename FILE|DIR|-   what the cluster begins with: NodePools, node classes, Deployments, Jobs, DaemonSets,\n"
        "                              PodDisruptionBudgets, ... as YAML or JSON; repeatable\n"
        "      --from-cluster          the same from a live cluster, which is only read; adds to what -f names\n"
        "      --kubeconfig FILE       of that cluster; --context NAME: its context\n"
        "      --trace FILE            what happens: replicas over the day, jobs, changes (docs/simulate.md)\n"
        "      --for DURATION          how long to simulate: 6h, 30d, 2w; default: 1d\n"
        "      --seed N                of everything that is left to chance; the same seed gives the same report; default: 1\n"
        "      --compare FILE|DIR      once more with these NodePools and node classes in the place of the first ones;\n"
        "                              or KEY=VALUE: once more with this setting; repeatable\n"
        "      --settings KEY=VALUE    a setting of the controller (karpenter controller --help); repeatable\n"
        "      --catalog NAME          instance types and prices: aws[:REGION], kwok, fake:N; default: aws when a NodePool\n"
        "                              names an EC2NodeClass, else kwok\n"
        "      --instance-types FILE   instance types from a JSON file, as for karpenter plan\n"
        "      --boot DURATION         from a launch until the node is ready, about; default: 45s\n"
        "      --start DURATION        from a pod's place until it runs, about; default: 3s\n"
        "  -o, --output FORMAT         text (default), json, html\n"
        "      --report FILE           the HTML report with charts into this file, besides\n"
        "      --log FILE              the controller's log of the first configuration into this file\n"
        "      --name NAME             of the first configuration in reports; default: now\n"
        "  -h, --help                  this text\n"
        "\n"
        "Ctrl-C ends it early; the report then says how far it came.\n"
        "\n"
        "Exit status: 0 simulated, 2 the input or the call was wrong and nothing was simulated, 1 a report could not be\n"
        "written, 130 stopped early.\n"
        "\n"
        "Examples:\n"
        "  karpenter simulate -f examples/simulate/cluster --trace examples/simulate/trace.yaml --for 7d\n"
        "  karpenter simulate -f nodepool.yaml -f apps/ --for 30d --compare cheaper.yaml --report report.html\n"
        "  karpenter simulate --from-cluster --for 7d --compare CONSOLIDATION_MIN_SAVINGS=5%%\n");
}

/* ---- arguments ---- */

static bool parse_output(const char *s, enum output *ret)
{
    static const char *const names[] = {"text", "json", "html"};

    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(s, names[i]) == 0) {
            *ret = (enum output)i;
            return true;
        }
    return false;
}

static bool parse_span(const char *option, const char *text, int64_t min, int64_t max, int64_t *ret, struct err *e)
{
    return (trace_duration(str_c(text), ret) && *ret >= min && *ret <= max) ||
           err_set(e, ERR_INVALID, "%s %s: a duration such as 90s, 6h or 30d is needed%s", option, text,
                   max == FOR_MAX_US ? ", from a minute to ten years" : ", of a day at most");
}

enum option_id {
    SEED = 1000,
    FOR,
    TRACE,
    COMPARE,
    SETTINGS,
    CATALOG,
    TYPES,
    BOOT,
    START,
    REPORT,
    LOG,
    NAME,
    CLUSTER,
    KUBECONFIG,
    CONTEXT
};

static bool take_option(struct simulate_args *a, int c, struct err *e)
{
    switch (c) {
    case 'f':
        vec_push(&a->files, optarg);
        return true;
    case COMPARE:
        if (a->compare.n == MAX_COMPARE)
            return err_set(e, ERR_INVALID, "--compare: at most %d configurations beside the first", MAX_COMPARE);
        vec_push(&a->compare, optarg);
        return true;
    case SETTINGS:
        vec_push(&a->settings, optarg);
        return true;
    case SEED:
        return (str_to_i64(str_c(optarg), &a->seed) && a->seed >= 0) ||
               err_set(e, ERR_INVALID, "--seed %s: a whole number is needed", optarg);
    case FOR:
        return parse_span("--for", optarg, 60 * INT64_C(1000000), FOR_MAX_US, &a->for_us, e);
    case BOOT:
        return parse_span("--boot", optarg, 0, FOR_US, &a->boot_us, e);
    case START:
        return parse_span("--start", optarg, 0, FOR_US, &a->start_us, e);
    case 'o':
        return parse_output(optarg, &a->output) ||
               err_set(e, ERR_INVALID, "-o %s: the formats are text, json and html", optarg);
    case CLUSTER:
        return a->from_cluster = true;
    case 'h':
        return a->help = true;
    default:
        break;
    }
    const struct {
        int id;
        const char **to;
    } texts[] = {{TRACE, &a->trace}, {CATALOG, &a->catalog},       {TYPES, &a->instance_types}, {REPORT, &a->report},
                 {LOG, &a->log},     {KUBECONFIG, &a->kubeconfig}, {CONTEXT, &a->context},      {NAME, &a->name}};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i].id == c)
            *texts[i].to = optarg;
    return true;
}

static bool parse_args(int argc, char **argv, struct simulate_args *a, struct err *e)
{
    static const struct option options[] = {
        {"filename", required_argument, NULL, 'f'},
        {"from-cluster", no_argument, NULL, CLUSTER},
        {"kubeconfig", required_argument, NULL, KUBECONFIG},
        {"context", required_argument, NULL, CONTEXT},
        {"trace", required_argument, NULL, TRACE},
        {"for", required_argument, NULL, FOR},
        {"seed", required_argument, NULL, SEED},
        {"compare", required_argument, NULL, COMPARE},
        {"settings", required_argument, NULL, SETTINGS},
        {"catalog", required_argument, NULL, CATALOG},
        {"instance-types", required_argument, NULL, TYPES},
        {"boot", required_argument, NULL, BOOT},
        {"start", required_argument, NULL, START},
        {"output", required_argument, NULL, 'o'},
        {"report", required_argument, NULL, REPORT},
        {"log", required_argument, NULL, LOG},
        {"name", required_argument, NULL, NAME},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int c;

    optind = 0; /* start afresh: another command may have parsed before */
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":f:o:h", options, NULL)) != -1) {
        if (c == '?' || c == ':')
            return cli_bad_option("simulate", c, argv, e);
        if (!take_option(a, c, e))
            return false;
        if (a->help)
            return true;
    }
    if (optind < argc)
        return err_set(e, ERR_INVALID, "%s: files are named with -f; try: karpenter simulate --help", argv[optind]);
    if (a->catalog && a->instance_types)
        return err_set(e, ERR_INVALID, "--catalog and --instance-types exclude each other");
    if ((a->kubeconfig || a->context) && !a->from_cluster)
        return err_set(e, ERR_INVALID, "--kubeconfig and --context say which cluster --from-cluster reads");
    if (a->files.n == 0 && !a->from_cluster)
        return err_set(e, ERR_INVALID, "nothing to simulate: name files, directories or - with -f, or --from-cluster");
    return true;
}

/* ---- input ---- */

/* The provider reads its types from a file: the catalogue becomes one that nobody else sees. */
static bool load_catalog(struct simulate *s, struct err *e)
{
    AUTO(syms) struct syms *t = syms_new();
    AUTO(arena) struct arena *a = arena_new(0);
    str name = str_c(s->args.catalog ? s->args.catalog : s->base.aws ? "aws" : "kwok"), head, argument;
    struct catalog *c = NULL;
    struct sb text = {0};

    (void)str_cut(name, ':', &head, &argument);
    for (uint32_t i = 0; i < s->env->n_catalogs && !s->args.instance_types && !c; i++)
        if (str_is(head, s->env->catalogs[i].name) && !(c = s->env->catalogs[i].load(a, t, argument, e)))
            return false;
    if (!c)
        c = s->args.instance_types ? itypes_load(a, t, s->args.instance_types, e) : catalog_builtin(a, t, name, e);
    if (!c)
        return false;
    s->origin = arena_printf(s->arena, STR_FMT "%c", STR_ARG(c->origin), 0).p;
    catalog_print_json(&text, c, t);
    s->types_fd = memfd_create("instance-types", MFD_CLOEXEC);
    bool ok = s->types_fd >= 0 && write(s->types_fd, text.p, text.n) == (ssize_t)text.n;
    sb_fini(&text);
    return ok || err_set(e, ERR_IO, "cannot keep the instance types: %s", strerror(errno));
}

static const char *base_name(struct arena *a, const char *path)
{
    str s = str_c(path);

    while (s.n > 1 && s.p[s.n - 1] == '/')
        s.n--;
    for (size_t i = s.n; i > 0; i--)
        if (s.p[i - 1] == '/') {
            s = str_sub(s, i, s.n);
            break;
        }
    if (str_ends(s, STR(".yaml")))
        s.n -= 5;
    return arena_printf(a, STR_FMT "%c", STR_ARG(s), 0).p;
}

/* A setting, and no file that happens to be called like one. */
static bool is_setting(const char *s)
{
    const char *eq = strchr(s, '=');

    for (const char *p = s; eq && p < eq; p++)
        if (!(*p == '_' || (*p >= 'A' && *p <= 'Z')))
            return false;
    return eq && eq != s;
}

static bool add_config(struct simulate *s, const char *what, struct err *e)
{
    struct config *c = &s->configs[s->n_configs++];
    struct manifests other;
    bool any = false;

    manifests_init(&c->manifests, s->arena);
    if (!what || is_setting(what)) {
        *c = (struct config){.name = what           ? what
                                     : s->args.name ? s->args.name
                                                    : "now",
                             .setting = what,
                             .manifests = c->manifests};
        manifests_with_config(&c->manifests, &s->base, &s->base);
        return true;
    }
    c->name = base_name(s->arena, what);
    manifests_init(&other, s->arena);
    bool ok = manifests_read(&other, what, e);
    for (uint32_t i = 0; i < other.v.n; i++)
        any = any || manifest_is_config(&other.v.v[i]);
    if (ok && !any)
        ok = err_set(e, ERR_INVALID, "--compare %s: there are no NodePools in it", what);
    if (ok)
        manifests_with_config(&c->manifests, &s->base, &other);
    s->base.aws = s->base.aws || other.aws;
    manifests_fini(&other);
    return ok;
}

static bool load(struct simulate *s, struct err *e)
{
    const struct simulate_args *a = &s->args;
    bool any = false;

    manifests_init(&s->base, s->arena);
    for (uint32_t i = 0; i < a->files.n; i++)
        if (!manifests_read(&s->base, a->files.v[i], e))
            return false;
    if (a->from_cluster && !live_read(&s->base, a->kubeconfig, a->context, e))
        return err_wrap(e, "--from-cluster");
    for (uint32_t i = 0; i < s->base.v.n; i++)
        any = any || manifest_is_config(&s->base.v.v[i]);
    if (!any)
        return err_set(e, ERR_INVALID, "there is no NodePool in the input: nothing would launch a node");
    if (a->trace && !trace_load(&s->trace, s->arena, a->trace, e))
        return false;
    if (!add_config(s, NULL, e))
        return false;
    for (uint32_t i = 0; i < a->compare.n; i++)
        if (!add_config(s, a->compare.v[i], e))
            return false;
    for (uint32_t i = 0; i < s->n_configs; i++)
        manifests_finish(&s->configs[i].manifests);
    return load_catalog(s, e);
}

/* ---- running ---- */

static volatile sig_atomic_t stopped;

static void on_signal(int signo UNUSED)
{
    stopped = 1;
}

static void write_line(void *ctx, str line)
{
    (void)fwrite(line.p, 1, line.n, ctx);
}

static bool on_progress(void *ctx, int64_t done_us)
{
    progress_show(ctx, done_us);
    return !stopped;
}

static struct run_setup setup_of(struct simulate *s, const struct config *c, const char **settings, uint32_t n)
{
    struct run_setup r = {
        .env = s->env,
        .manifests = &c->manifests,
        .trace = s->args.trace ? &s->trace : NULL,
        .for_us = s->args.for_us,
        .seed = (uint64_t)s->args.seed,
        .boot_ms = s->args.boot_us / 1000,
        .start_ms = s->args.start_us / 1000,
        .settings = settings,
        .n_settings = n,
        .types = arena_printf(s->arena, TYPES_PATH "%c", s->types_fd, 0).p,
        .on_progress = on_progress,
        .progress_ctx = &s->progress,
    };

    if (s->log && c == &s->configs[0]) {
        r.on_line = write_line;
        r.line_ctx = s->log;
    }
    return r;
}

static void print_notes(const struct simulate *s, const struct run_notes *n)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < s->base.ignored.n; i++)
        sb_printf(&b, "ignored: %u %s of kind " STR_FMT "\n", s->base.ignored.v[i].n,
                  s->base.ignored.v[i].n == 1 ? "object" : "objects", STR_ARG(s->base.ignored.v[i].kind));
    for (uint32_t i = 0; i < n->odd.n; i++)
        sb_printf(&b, "note: " STR_FMT "\n", STR_ARG(n->odd.v[i]));
    for (size_t i = 0; i < b.n; i++)
        if (b.p[i] != '\n' && (unsigned char)b.p[i] < 0x20)
            b.p[i] = '?';
    (void)fputs(sb_cstr(&b), stderr);
    sb_fini(&b);
}

/* The settings of a configuration: the provider's types, those of all, its own. */
static uint32_t settings_of(const struct simulate *s, const struct config *c, const char **ret)
{
    uint32_t n = 0;

    ret[n++] = arena_printf(s->arena, "INSTANCE_TYPES_FILE_PATH=" TYPES_PATH "%c", s->types_fd, 0).p;
    for (uint32_t i = 0; i < s->args.settings.n; i++)
        ret[n++] = s->args.settings.v[i];
    if (c->setting)
        ret[n++] = c->setting;
    return n;
}

/* All of them before the first minute of any: a mistake is found before the time is spent. */
static bool check_all(struct simulate *s, struct err *e)
{
    for (uint32_t i = 0; i < s->n_configs; i++) {
        struct run_notes notes = {0};
        const char **settings = arena_new_array(s->arena, const char *, s->args.settings.n + 2);
        struct run_setup r = setup_of(s, &s->configs[i], settings, settings_of(s, &s->configs[i], settings));
        bool ok = run_check(&r, s->arena, &notes, e);

        if (ok && i == 0)
            print_notes(s, &notes);
        vec_fini(&notes.odd);
        if (!ok)
            return false;
    }
    return true;
}

static bool run_all(struct simulate *s, struct err *e)
{
    for (uint32_t i = 0; i < s->n_configs && !stopped; i++) {
        struct config *c = &s->configs[i];
        struct run_notes notes = {0};
        const char **settings = arena_new_array(s->arena, const char *, s->args.settings.n + 2);
        struct run_setup r = setup_of(s, c, settings, settings_of(s, c, settings));

        progress_begin(&s->progress, c->name, i, s->n_configs, s->args.for_us);
        c->tally = run_simulation(&r, s->arena, &notes, e);
        progress_end(&s->progress);
        vec_fini(&notes.odd);
        if (!c->tally)
            return false;
        if (notes.n_missed)
            (void)fprintf(stderr, "note: %u events of the trace could not be carried out, the first: %s\n",
                          notes.n_missed, notes.first_missed);
    }
    return true;
}

/* ---- output ---- */

static bool put(FILE *f, const struct sb *b)
{
    return fwrite(b->p, 1, b->n, f) == b->n && fflush(f) == 0;
}

static struct report report_of(struct simulate *s)
{
    struct outcome *v = arena_new_array(s->arena, struct outcome, s->n_configs);
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_configs; i++)
        if (s->configs[i].tally)
            v[n++] = (struct outcome){s->configs[i].name, s->configs[i].tally};
    return (struct report){.v = v,
                           .n = n,
                           .origin = s->origin,
                           .seed = (uint64_t)s->args.seed,
                           .start_ms = s->args.trace ? s->trace.start_ms : TRACE_START_MS,
                           .wanted_s = (double)s->args.for_us / 1e6,
                           .arena = s->arena};
}

static int print_reports(struct simulate *s)
{
    struct report r = report_of(s);
    bool tty = isatty(STDOUT_FILENO) == 1;
    struct winsize ws = {0};
    struct sb out = {0};

    if (tty)
        (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws);
    struct text_style st = {.colour = tty && !getenv("NO_COLOR"), .width = ws.ws_col};
    if (s->args.output == OUT_JSON)
        report_json(&out, &r);
    else if (s->args.output == OUT_HTML)
        report_html(&out, &r);
    else
        report_text(&out, &st, &r);
    int status = put(stdout, &out) ? 0 : cli_fail("cannot write the report: %s", strerror(errno));
    if (s->report) {
        sb_reset(&out);
        report_html(&out, &r);
        if (!put(s->report, &out))
            status = cli_fail("--report %s: %s", s->args.report, strerror(errno));
    }
    sb_fini(&out);
    return status;
}

/* Before the time is spent: somewhere to write to. */
static bool open_file(const char *option, const char *path, FILE **ret, struct err *e)
{
    return !path || (*ret = fopen(path, "we")) || err_set(e, ERR_IO, "%s %s: %s", option, path, strerror(errno));
}

static int simulate(struct simulate *s, struct err *e)
{
    if (!load(s, e) || !check_all(s, e) || !open_file("--log", s->args.log, &s->log, e) ||
        !open_file("--report", s->args.report, &s->report, e))
        return cli_fail("%s", e->msg), STATUS_BAD_INPUT;
    (void)signal(SIGINT, on_signal);
    (void)signal(SIGTERM, on_signal);
    if (!run_all(s, e))
        return cli_fail("%s", e->msg), STATUS_BAD_INPUT;
    int status = print_reports(s);
    if (!stopped)
        return status;
    (void)fprintf(stderr, "karpenter: stopped early: the report covers what was simulated until then%s\n",
                  s->configs[s->n_configs - 1].tally ? "" : ", and not every configuration");
    return status ? status : 128 + SIGINT;
}

int cli_simulate(const struct cli_env *env, int argc, char **argv)
{
    struct simulate s = {.env = env,
                         .arena = arena_new(1u << 20),
                         .types_fd = -1,
                         .args = {.for_us = FOR_US, .seed = 1, .boot_us = BOOT_MS * 1000, .start_us = START_MS * 1000}};
    struct err e = {0};
    int status = 0;

    progress_init(&s.progress);
    if (!parse_args(argc, argv, &s.args, &e)) {
        status = STATUS_BAD_INPUT;
        (void)cli_fail("%s", e.msg);
    } else if (s.args.help) {
        print_help();
    } else {
        status = simulate(&s, &e);
    }
    for (uint32_t i = 0; i < s.n_configs; i++) {
        tally_free(s.configs[i].tally);
        manifests_fini(&s.configs[i].manifests);
    }
    manifests_fini(&s.base);
    vec_fini(&s.args.files);
    vec_fini(&s.args.settings);
    vec_fini(&s.args.compare);
    if (s.log)
        (void)fclose(s.log);
    if (s.report)
        (void)fclose(s.report);
    if (s.types_fd >= 0)
        (void)close(s.types_fd);
    arena_free(s.arena);
    return status;
}
