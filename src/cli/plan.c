/* karpenter plan: manifests in, plan out, no cluster needed. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/input.h"
#include "cli/plan_view.h"
#include "cli/text.h"
#include "cloud/catalog.h"
#include "k8s/decode.h"
#include "k8s/itypes.h"
#include "k8s/settings.h"
#include "model/duration.h"
#include "state/state.h"

enum output { OUT_TABLE, OUT_JSON, OUT_YAML };

struct plan_args {
    VEC(const char *) files;
    VEC(const char *) settings;
    const char *instance_types, *catalog, *now;
    enum output output;
    bool help, print_catalog, disrupt;
    bool one_pass;    /* --method was given */
    unsigned methods; /* bit set over enum disrupt_method; 0: all */
};

/* One line on the terminal that says how far a long run has come; it is wiped before anything else is printed. */
struct progress {
    bool on; /* standard error is a terminal */
    bool shown;
    uint64_t n_objects;
    int64_t next_us; /* when to show it again */
};

struct plan_run {
    const struct cli_env *env;
    struct arena *arena;
    struct syms *syms;
    struct objects *objects;
    struct decoder *decoder;
    struct settings settings;
    struct catalog *catalog;
    int64_t now_ms;
    struct progress progress;
};

static void print_help(void)
{
    uint32_t n;
    const struct setting_doc *docs = settings_docs(&n);

    (void)printf(
        "usage: karpenter plan -f FILE|DIR|- [-f ...] [OPTIONS]\n"
        "       karpenter plan --disrupt [--method NAME] -f FILE|DIR|- [-f ...] [OPTIONS]\n"
        "       karpenter plan --print-catalog [--catalog NAME | --instance-types FILE]\n"
        "\n"
        "Says where the pending pods of a cluster go: onto nodes it has, onto new nodes (which type, zone, price),\n"
        "or nowhere and why. With --disrupt: which nodes are empty, out of date or not worth their price, what would take\n"
        "their place, and what keeps the others. Reads ordinary manifests or what `kubectl get ... -o yaml` prints;\n"
        "changes nothing.\n"
        "\n"
        "  -f, --filename FILE|DIR|-   objects as YAML or JSON: NodePools, Pods, Deployments, Nodes, ...; repeatable\n"
        "      --catalog NAME          instance types: aws[:REGION] (default; us-east-1), kwok, fake:N\n"
        "      --instance-types FILE   instance types from a JSON file as Karpenter's kwok provider reads it\n"
        "      --print-catalog         print these instance types as such a file, and plan nothing\n"
        "      --disrupt               plan which nodes to remove instead\n"
        "      --method NAME           one pass of it as Karpenter would make it: emptiness, drift, multi, single, or\n"
        "                              all of them in this order up to the first that finds something\n"
        "      --settings KEY=VALUE    a setting of the controller; repeatable\n"
        "      --now TIME              plan as of this time (RFC 3339); default: now\n"
        "  -o, --output FORMAT         table (default), json, yaml\n"
        "  -h, --help                  this text\n"
        "\n"
        "Settings:\n");
    for (uint32_t i = 0; i < n; i++)
        (void)printf("  %-22s %s (default: %s)\n  %-22s   %s\n", docs[i].key, docs[i].choices,
                     *docs[i].fallback ? docs[i].fallback : "empty", "", docs[i].help);
    (void)printf("\n"
                 "Exit status: 0 every pod has a place, 2 some pod has none, 1 the input or the call was wrong;\n"
                 "with --disrupt 0 whatever is planned.\n"
                 "\n"
                 "Examples:\n"
                 "  karpenter plan -f nodepool.yaml -f app.yaml\n"
                 "  kubectl get nodepools,nodeclaims,nodes,pods,ds,pvc,pv,sc -A -o json | karpenter plan -f -\n"
                 "  " DISRUPT_DUMP " | karpenter plan --disrupt -f -\n"
                 "  karpenter plan -f cluster/ --catalog aws:eu-west-1 -o json | jq .summary\n");
}

static bool parse_output(const char *s, enum output *ret)
{
    static const char *const names[] = {"table", "json", "yaml"};

    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(s, names[i]) == 0) {
            *ret = (enum output)i;
            return true;
        }
    return false;
}

static bool parse_method(const char *s, struct plan_args *a)
{
    a->one_pass = true;
    a->methods = 0;
    if (strcmp(s, "all") == 0)
        return true;
    for (unsigned m = 0; m < N_METHODS; m++)
        if ((PLANNED_METHODS & 1u << m) && strcmp(s, disrupt_method_name((enum disrupt_method)m)) == 0)
            a->methods = 1u << m;
    return a->methods != 0;
}

static bool check_args(const struct plan_args *a, struct err *e)
{
    if (a->catalog && a->instance_types)
        return err_set(e, ERR_INVALID, "--catalog and --instance-types exclude each other");
    if (a->print_catalog && a->files.n)
        return err_set(e, ERR_INVALID, "--print-catalog plans nothing: leave out -f");
    if (a->print_catalog && a->disrupt)
        return err_set(e, ERR_INVALID, "--print-catalog plans nothing: leave out --disrupt");
    if (a->one_pass && !a->disrupt)
        return err_set(e, ERR_INVALID, "--method says how nodes are removed: it needs --disrupt");
    if (a->print_catalog && a->output == OUT_YAML)
        return err_set(e, ERR_INVALID, "--print-catalog writes JSON: an instance types file is nothing else");
    if (a->files.n == 0 && !a->print_catalog)
        return err_set(e, ERR_INVALID, "nothing to plan: name files, directories or - with -f");
    return true;
}

static bool parse_args(int argc, char **argv, struct plan_args *a, struct err *e)
{
    static const struct option options[] = {
        {"filename", required_argument, NULL, 'f'},
        {"instance-types", required_argument, NULL, 'i'},
        {"catalog", required_argument, NULL, 'c'},
        {"settings", required_argument, NULL, 's'},
        {"now", required_argument, NULL, 'n'},
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {"print-catalog", no_argument, NULL, 'p'},
        {"disrupt", no_argument, NULL, 'd'},
        {"method", required_argument, NULL, 'm'},
        {NULL, 0, NULL, 0},
    };
    int c;

    optind = 0; /* start afresh: another command may have parsed before */
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":f:o:h", options, NULL)) != -1)
        switch (c) {
        case 'f':
            vec_push(&a->files, optarg);
            break;
        case 'i':
            a->instance_types = optarg;
            break;
        case 'c':
            a->catalog = optarg;
            break;
        case 's':
            vec_push(&a->settings, optarg);
            break;
        case 'n':
            a->now = optarg;
            break;
        case 'o':
            if (!parse_output(optarg, &a->output))
                return err_set(e, ERR_INVALID, "-o %s: the formats are table, json and yaml", optarg);
            break;
        case 'p':
            a->print_catalog = true;
            break;
        case 'd':
            a->disrupt = true;
            break;
        case 'm':
            if (!parse_method(optarg, a))
                return err_set(e, ERR_INVALID, "--method %s: the methods are emptiness, drift, multi, single and all",
                               optarg);
            break;
        case 'h':
            a->help = true;
            return true;
        default:
            return cli_bad_option("plan", c, argv, e);
        }
    if (optind < argc)
        return err_set(e, ERR_INVALID, "%s: files are named with -f; try: karpenter plan --help", argv[optind]);
    return check_args(a, e);
}

static struct catalog *load_catalog(const struct plan_run *r, const struct plan_args *a, struct err *e)
{
    const struct cli_env *env = r->env;
    str name = str_c(a->catalog ? a->catalog : env->catalogs[0].name), head, argument;

    if (a->instance_types)
        return itypes_load(r->arena, r->syms, a->instance_types, e);
    (void)str_cut(name, ':', &head, &argument);
    for (uint32_t i = 0; i < env->n_catalogs; i++)
        if (str_is(head, env->catalogs[i].name))
            return env->catalogs[i].load(r->arena, r->syms, argument, e);
    return catalog_builtin(r->arena, r->syms, name, e);
}

static int64_t micros_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

#define PROGRESS_AFTER_US 1000000
#define PROGRESS_EVERY_US 200000

static void progress_tick(void *ctx)
{
    struct progress *p = ctx;

    p->n_objects++;
    if (!p->on || p->n_objects % 64)
        return;
    int64_t now = micros_now();
    if (now < p->next_us)
        return;
    p->next_us = now + PROGRESS_EVERY_US;
    p->shown = true;
    (void)fprintf(stderr, "\r\033[Kreading: %llu objects", (unsigned long long)p->n_objects);
}

static void progress_planning(struct progress *p, const char *doing, uint32_t n, const char *what)
{
    if (p->shown)
        (void)fprintf(stderr, "\r\033[K%s: %u %s", doing, n, what);
}

static void progress_done(struct progress *p)
{
    if (p->shown)
        (void)fputs("\r\033[K", stderr);
    p->shown = false;
}

static bool load(struct plan_run *r, const struct plan_args *a, struct err *e)
{
    struct input_watch watch = {progress_tick, &r->progress};
    struct timespec now;

    settings_defaults(&r->settings);
    for (uint32_t i = 0; i < a->settings.n; i++) {
        str key, value;

        if (!str_cut(str_c(a->settings.v[i]), '=', &key, &value))
            return err_set(e, ERR_INVALID, "--settings %s: this is not KEY=VALUE", a->settings.v[i]);
        if (!settings_set(&r->settings, r->arena, r->syms, key, value, e))
            return err_wrap(e, "--settings");
    }
    (void)clock_gettime(CLOCK_REALTIME, &now);
    r->now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (a->now && !time_parse_rfc3339(str_c(a->now), &r->now_ms, e))
        return err_wrap(e, "--now");
    r->catalog = load_catalog(r, a, e);
    if (!r->catalog)
        return false;
    for (uint32_t i = 0; i < a->files.n; i++)
        if (!input_read(r->decoder, a->files.v[i], &watch, e))
            return false;
    if (r->progress.n_objects == 0)
        return err_set(e, ERR_INVALID, "%s%s: there are no objects in it",
                       strcmp(a->files.v[0], "-") ? a->files.v[0] : "stdin",
                       a->files.n > 1 ? " and the other files" : "");
    return true;
}

static bool write_out(struct sb *b)
{
    bool ok = fwrite(b->p, 1, b->n, stdout) == b->n;

    sb_reset(b);
    return ok;
}

static unsigned terminal_width(void)
{
    struct winsize ws;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 ? ws.ws_col : 0;
}

static void print_notes(const struct objects *o)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < o->notes.n; i++) {
        sb_c(&b, "note: ");
        text_put(&b, o->notes.v[i]);
        sb_char(&b, '\n');
    }
    for (uint32_t i = 0; i < o->ignored.n; i++) {
        sb_printf(&b, "ignored: %u %s of kind ", o->ignored.v[i].n, o->ignored.v[i].n == 1 ? "object" : "objects");
        text_put(&b, o->ignored.v[i].kind);
        sb_char(&b, '\n');
    }
    (void)fputs(sb_cstr(&b), stderr);
    sb_fini(&b);
}

static int print_catalog(struct plan_run *r, const struct plan_args *a, struct err *e)
{
    struct sb out = {0};

    r->catalog = load_catalog(r, a, e);
    if (!r->catalog)
        return cli_fail("%s", e->msg);
    catalog_print_json(&out, r->catalog, r->syms);
    bool ok = write_out(&out) && fflush(stdout) == 0;
    sb_fini(&out);
    return ok ? 0 : cli_fail("cannot write the catalogue: %s", strerror(errno));
}

/* Prints in the format that was asked for; the status. */
static int print_view(struct plan_view *v, enum output output)
{
    bool tty = isatty(STDOUT_FILENO), yaml = output == OUT_YAML;
    struct sb out = {0};

    v->colour = tty && !getenv("NO_COLOR");
    v->width = tty ? terminal_width() : 0;
    v->flush = write_out;
    if (output == OUT_TABLE)
        (v->disruption ? disrupt_print_table : plan_print_table)(&out, v);
    else
        (v->disruption ? disrupt_print_json : plan_print_json)(&out, v, yaml);
    bool ok = write_out(&out) && fflush(stdout) == 0;
    sb_fini(&out);
    return ok ? 0 : cli_fail("cannot write the plan: %s", strerror(errno));
}

static int plan_and_print(struct plan_run *r, const struct plan_args *a, const struct snapshot *s)
{
    progress_planning(&r->progress, "planning", s->n_pending, "pods");
    int64_t start = micros_now();
    struct plan *p = plan_make(r->arena, s);
    int64_t solved = micros_now();
    plan_sort_failures(s, p);
    plan_add_bound(s, p);
    progress_done(&r->progress);
    print_notes(r->objects);
    struct plan_view view = {.snap = s, .plan = p, .micros = solved - start};
    int status = print_view(&view, a->output);
    return status == 0 && p->n_failures ? 2 : status;
}

/* A method by name is one pass of Karpenter, unless a setting asks for more; without a name it is the other way round. */
static bool wants_compat(const struct plan_args *a, const struct settings *s)
{
    return s->consolidation == CONSOLIDATION_COMPAT || (a->one_pass && s->consolidation == CONSOLIDATION_AUTO);
}

static int disrupt_and_print(struct plan_run *r, const struct plan_args *a, const struct snapshot *s)
{
    struct disrupt_options options = {
        .methods = a->methods,
        .compat = wants_compat(a, &s->settings),
        .explain = true,
    };

    progress_planning(&r->progress, "disrupting", s->n_nodes, "nodes");
    int64_t start = micros_now();
    struct disruption *d = disrupt_plan(r->arena, s, &options);
    int64_t solved = micros_now();
    progress_done(&r->progress);
    print_notes(r->objects);
    if (s->n_nodes == 0 && a->output != OUT_TABLE) /* the table says it itself */
        (void)fputs("note: there are no nodes in the input; " DISRUPT_DUMP " prints them\n", stderr);
    struct plan_view view = {.snap = s, .disruption = d, .micros = solved - start};
    return print_view(&view, a->output);
}

static int build_and_print(struct plan_run *r, const struct plan_args *a, struct err *e)
{
    struct snapshot *s = state_build(r->arena, r->objects, r->catalog, &r->settings, r->now_ms, e);

    if (!s) {
        progress_done(&r->progress);
        return cli_fail("%s", e->msg);
    }
    return a->disrupt ? disrupt_and_print(r, a, s) : plan_and_print(r, a, s);
}

int cli_plan(const struct cli_env *env, int argc, char **argv)
{
    struct plan_args args = {0};
    struct plan_run r = {.env = env, .arena = arena_new(1u << 20), .syms = syms_new()};
    struct err e = {0};
    int status = 0;

    r.progress = (struct progress){.on = isatty(STDERR_FILENO) == 1, .next_us = micros_now() + PROGRESS_AFTER_US};
    r.objects = objects_new(r.syms);
    r.decoder = decoder_new(r.objects);
    if (!parse_args(argc, argv, &args, &e))
        status = cli_fail("%s", e.msg);
    else if (args.help)
        print_help();
    else if (args.print_catalog)
        status = print_catalog(&r, &args, &e);
    else if (load(&r, &args, &e))
        status = build_and_print(&r, &args, &e);
    else {
        progress_done(&r.progress);
        status = cli_fail("%s", e.msg);
    }
    vec_fini(&args.files);
    vec_fini(&args.settings);
    decoder_free(r.decoder);
    objects_free(r.objects);
    syms_free(r.syms);
    arena_free(r.arena);
    return status;
}
