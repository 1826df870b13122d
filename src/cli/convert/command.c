/* karpenter convert: older manifests and node groups in, NodePools and EC2NodeClasses out. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/convert/convert.h"
#include "cli/input.h"
#include "cloud/catalog.h"
#include "data/edit.h"
#include "data/json.h"

#define LOSSY 2 /* exit status: done, and something has no equal */

struct convert_args {
    VEC(const char *) files;
    struct convert_settings set;
    bool json, check, help;
};

/* Sizes of instance types, read when the first one is asked for. */
struct sizes {
    const struct cli_env *env;
    struct arena *a;
    struct syms *syms;
    struct catalog *types;
    bool tried;
};

static void print_help(void)
{
    (void)printf(
        "usage: karpenter convert -f FILE|DIR|- [-f ...] [OPTIONS]\n"
        "\n"
        "Prints today's NodePools and EC2NodeClasses for manifests of older releases (Provisioner, AWSNodeTemplate, v1beta1)\n"
        "and for node groups of Cluster Autoscaler (an eksctl file, or what `aws autoscaling describe-auto-scaling-groups`\n"
        "prints). Comments say what became of what, and what has no equal. Other objects are passed on, with today's names of labels\n"
        "and annotations; nothing is changed anywhere.\n"
        "\n"
        "  -f, --filename FILE|DIR|-      objects as YAML or JSON; repeatable\n"
        "      --role NAME                role of nodes, where a manifest does not say it\n"
        "      --instance-profile NAME    or their instance profile\n"
        "      --cluster NAME             name of the cluster, for node groups that do not say it\n"
        "      --check                    print no objects, only what would become of them\n"
        "  -o, --output FORMAT            yaml (default), json: a List; what has no equal is on standard error\n"
        "  -h, --help                     this text\n"
        "\n"
        "Exit status: 0 all is said; 1 bad input, and nothing is printed; 2 something has no equal, or with --check:\n"
        "something is to be converted.\n");
}

static bool parse_args(int argc, char **argv, struct convert_args *ret)
{
    enum { ROLE = 1000, PROFILE, CLUSTER, CHECK };
    static const struct option options[] = {
        {"filename", required_argument, NULL, 'f'},
        {"role", required_argument, NULL, ROLE},
        {"instance-profile", required_argument, NULL, PROFILE},
        {"cluster", required_argument, NULL, CLUSTER},
        {"check", no_argument, NULL, CHECK},
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct err e;
    int c;

    optind = 0; /* start afresh: another command may have parsed before */
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":f:o:h", options, NULL)) != -1) {
        switch (c) {
        case 'f':
            vec_push(&ret->files, optarg);
            break;
        case 'o':
            if (strcmp(optarg, "yaml") != 0 && strcmp(optarg, "json") != 0)
                return cli_fail("-o %s: the formats are yaml and json", optarg), false;
            ret->json = strcmp(optarg, "json") == 0;
            break;
        case ROLE:
            ret->set.role = str_c(optarg);
            break;
        case PROFILE:
            ret->set.profile = str_c(optarg);
            break;
        case CLUSTER:
            ret->set.cluster = str_c(optarg);
            break;
        case CHECK:
            ret->check = true;
            break;
        case 'h':
            ret->help = true;
            break;
        default:
            (void)cli_bad_option("convert", c, argv, &e);
            return cli_fail("%s", e.msg), false;
        }
    }
    if (ret->help)
        return true;
    if (optind < argc)
        return cli_fail("%s: files are given with -f; try: karpenter convert --help", argv[optind]), false;
    if (!ret->files.n)
        return cli_fail("-f is missing: which files?"), false;
    if (ret->set.role.n && ret->set.profile.n)
        return cli_fail("--role and --instance-profile: nodes have one of them"), false;
    return true;
}

static int64_t cpus_of(void *ctx, str type)
{
    struct sizes *s = ctx;
    struct err e;
    bool known;

    if (!s->tried && s->env->n_catalogs)
        s->types = s->env->catalogs[0].load(s->a, s->syms, (str){0}, &e);
    s->tried = true;
    sym name = sym_find(s->syms, type, &known);
    for (uint32_t i = 0; s->types && known && i < s->types->n; i++)
        if (sym_eq(s->types->types[i].name, name))
            return reslist_value(&s->types->types[i].capacity, SYM(CPU)) / CPU_NANO;
    return 0;
}

static bool take(void *ctx, const char *file, const struct tree *t, struct err *e)
{
    (void)e;
    conversion_add(ctx, file, t);
    return true;
}

static void write_notes(struct sb *b, const struct converted *o, const char *indent)
{
    for (uint32_t i = 0; i < o->notes.n; i++)
        sb_printf(b, "%s" STR_FMT "\n", indent, STR_ARG(o->notes.v[i]));
}

static void write_yaml(struct sb *b, const struct conversion *c)
{
    for (uint32_t i = 0; i < c->out.n; i++) {
        struct jw w = {.out = b, .yaml = true, .indent = 2};

        if (i)
            sb_c(b, "---\n");
        write_notes(b, c->out.v[i], "# ");
        jw_tree(&w, c->out.v[i]->object);
        sb_char(b, '\n');
    }
}

static void write_json(struct sb *b, const struct conversion *c)
{
    struct jw w = {.out = b, .indent = 2};

    jw_map(&w);
    jw_key(&w, "apiVersion");
    jw_c(&w, "v1");
    jw_key(&w, "kind");
    jw_c(&w, "List");
    jw_key(&w, "items");
    jw_list(&w);
    for (uint32_t i = 0; i < c->out.n; i++)
        jw_tree(&w, c->out.v[i]->object);
    jw_end(&w);
    jw_end(&w);
    sb_char(b, '\n');
}

/* file:line: Kind name -> Kind name, and the notes below. */
static void write_check(struct sb *b, const struct conversion *c)
{
    for (uint32_t i = 0; i < c->out.n; i++) {
        const struct converted *o = c->out.v[i];
        const struct convert_input *in = &c->in.v[o->from];
        str was = tree_str(tree_get(in->object, "kind")), is = tree_str(tree_get(o->object, "kind"));
        str name = tree_str(tree_at(o->object, "metadata", "name", NULL));

        if (!o->changed)
            continue;
        sb_printf(b, "%s:%u: %.*s -> %.*s %.*s\n", in->file, in->object->line, was.n ? (int)was.n : 18,
                  was.n ? was.p : "auto scaling group", STR_ARG(is), STR_ARG(name));
        write_notes(b, o, "    ");
    }
}

/* JSON has no comments: what has no equal is said on standard error. */
static void warn_of_losses(const struct conversion *c)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < c->out.n; i++)
        if (c->out.v[i]->lossy) {
            str kind = tree_str(tree_get(c->out.v[i]->object, "kind"));
            str name = tree_str(tree_at(c->out.v[i]->object, "metadata", "name", NULL));

            sb_printf(&b, STR_FMT " " STR_FMT ":\n", STR_ARG(kind), STR_ARG(name));
            write_notes(&b, c->out.v[i], "    ");
        }
    (void)fputs(sb_cstr(&b), stderr);
    sb_fini(&b);
}

static int print(const struct conversion *c, const struct convert_args *args)
{
    struct sb b = {0};
    bool lossy = false, changed = false;

    for (uint32_t i = 0; i < c->out.n; i++) {
        lossy = lossy || c->out.v[i]->lossy;
        changed = changed || c->out.v[i]->changed;
    }
    if (args->check)
        write_check(&b, c);
    else if (args->json)
        write_json(&b, c);
    else
        write_yaml(&b, c);
    if (args->json && !args->check)
        warn_of_losses(c);
    bool ok = fputs(sb_cstr(&b), stdout) >= 0 && fflush(stdout) == 0;
    sb_fini(&b);
    if (!ok)
        return cli_fail("standard output: cannot be written");
    return lossy || (args->check && changed) ? LOSSY : 0;
}

int cli_convert(const struct cli_env *env, int argc, char **argv)
{
    struct convert_args args = {0};
    struct arena *a = arena_new(0);
    struct sizes sizes = {.env = env, .a = a, .syms = syms_new()};
    struct conversion c = {.a = a, .set = &args.set};
    struct err e;
    int status = 1;

    if (!parse_args(argc, argv, &args))
        goto out;
    if (args.help) {
        print_help();
        status = 0;
        goto out;
    }
    args.set.cpus = cpus_of;
    args.set.ctx = &sizes;
    for (uint32_t i = 0; i < args.files.n; i++)
        if (!input_each(args.files.v[i], &(struct input_taker){take, &c}, &e)) {
            (void)cli_fail("%s", e.msg);
            goto out;
        }
    if (conversion_run(&c, &e))
        status = print(&c, &args);
    else
        (void)cli_fail("%s", e.msg);
out:
    conversion_fini(&c);
    vec_fini(&args.files);
    syms_free(sizes.syms);
    arena_free(a);
    return status;
}
