#include "cli/cli.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/sb.h"
#include "cli/text.h"
#include "control/autoscaler.h"

static int cli_version(const struct cli_env *env, int argc, char **argv)
{
    (void)env;
    bool help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);

    if (argc > 1 && !help)
        return cli_fail("%s: version takes no arguments", argv[1]);
    if (help)
        (void)printf("usage: karpenter version\n\nPrints the version.\n");
    else
        (void)printf("karpenter %s\n", KARPENTER_VERSION);
    return 0;
}

static int cli_help(const struct cli_env *env, int argc, char **argv);

static const struct subcommand commands[] = {
    {"plan",
     "where would pending pods go, at what price, and which nodes could go; works on manifests, without a cluster",
     cli_plan},
    {"simulate", "days of a cluster in seconds: what it would cost, how long pods would wait, and compared with what",
     cli_simulate},
    {"controller", "the autoscaler: in a pod, or anywhere with a kubeconfig", cli_controller},
    {"demo", "a Kubernetes cluster with Karpenter on this machine, in memory, for kubectl and helm", cli_demo},
    {"convert", "manifests of older releases and node groups of Cluster Autoscaler into NodePools and EC2NodeClasses",
     cli_convert},
    {"termination-handler", "on a node in EC2: drains it before spot interruptions and maintenance",
     cli_termination_handler},
    {"version", "print the version", cli_version},
    {"help", "this text, or the help of a command: karpenter help COMMAND", cli_help},
};

const struct subcommand *cli_commands(uint32_t *ret_n)
{
    *ret_n = ARRAY_LEN(commands);
    return commands;
}

/* One line whatever the message contains: it may quote a file. */
int cli_fail(const char *fmt, ...)
{
    char msg[1024];
    struct sb b = {0};
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(msg, sizeof(msg), fmt, ap);
    va_end(ap);
    sb_c(&b, "karpenter: ");
    text_put(&b, str_c(msg));
    sb_char(&b, '\n');
    (void)fputs(sb_cstr(&b), stderr);
    sb_fini(&b);
    return 1;
}

/* getopt steps on only after the last letter of "-xyz", so that letters are named by themselves. */
bool cli_bad_option(const char *command, int answer, char **argv, struct err *e)
{
    const char *arg = argv[optind - 1];

    if (answer == ':')
        return err_set(e, ERR_INVALID, "%s needs a value; try: karpenter %s --help", arg, command);
    if (optopt && strncmp(arg, "--", 2) != 0)
        return err_set(e, ERR_INVALID, "there is no option -%c; try: karpenter %s --help", optopt, command);
    return err_set(e, ERR_INVALID, "%s: there is no such option; try: karpenter %s --help", arg, command);
}

static const struct subcommand *find_command(const struct cli_env *env, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    for (const struct subcommand *c = env->hidden; c && c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static void print_commands(FILE *f)
{
    (void)fprintf(f, "karpenter: the right nodes for your pods\n\nusage: karpenter COMMAND [OPTIONS]\n\n");
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        (void)fprintf(f, "  %-19s %s\n", commands[i].name, commands[i].summary);
    (void)fprintf(f, "\n`karpenter COMMAND --help` tells more.\n");
}

static int cli_help(const struct cli_env *env, int argc, char **argv)
{
    const struct subcommand *c = argc > 1 ? find_command(env, argv[1]) : NULL;
    char help[] = "--help", *args[] = {argc > 1 ? argv[1] : help, help, NULL};

    if (argc > 1 && !c && strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0)
        return cli_fail("there is no command %s; try: karpenter help", argv[1]);
    if (c && c->run != cli_help)
        return c->run(env, 2, args);
    print_commands(stdout);
    return 0;
}

const struct provider_source *cli_provider(const struct cli_env *env, const char *name, struct err *e)
{
    struct sb known = {0};

    for (uint32_t i = 0; i < env->n_providers; i++)
        if (str_is(str_c(name), env->providers[i].name))
            return &env->providers[i];
    for (uint32_t i = 0; i < env->n_providers; i++)
        sb_printf(&known, "%s%s", i ? ", " : "", env->providers[i].name);
    (void)err_set(e, ERR_INVALID, "provider \"%s\" is not one of: %s", name, sb_cstr(&known));
    sb_fini(&known);
    return NULL;
}

int cli_main(const struct cli_env *env, int argc, char **argv)
{
    if (argc < 2) {
        print_commands(stderr);
        return 1;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return cli_help(env, 1, argv);
    if (strcmp(argv[1], "--version") == 0)
        return cli_version(env, 1, argv);
    const struct subcommand *c = find_command(env, argv[1]);
    if (!c)
        return cli_fail("there is no command %s; try: karpenter help", argv[1]);
    return c->run(env, argc - 1, argv + 1);
}
