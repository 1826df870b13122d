#include "cli/demo/args.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"
#include "cli/demo/ask.h"

#define MAX_NODES 10000

void demo_print_help(void)
{
    (void)printf(
        "usage: karpenter demo [OPTIONS]\n"
        "       karpenter demo VERB ARGUMENTS\n"
        "\n"
        "Starts a Kubernetes cluster with Karpenter in it, and an AWS account that it launches machines in, in this process,\n"
        "and serves both on loopback ports: API server, scheduler, kubelets without machines, the usual controllers; EC2,\n"
        "SQS, SSM, IAM, EKS, EventBridge. Plain kubectl, helm and aws work against it. Everything is in memory and gone after\n"
        "Ctrl-C, unless --data keeps the cluster.\n"
        "\n"
        "      --tour              scale a deployment up, interrupt and lose nodes, change their image, scale down again, say\n"
        "                          what happens, and end; the exit status is 0 when every step really happened\n"
        "      --provider NAME     who makes machines: aws (default), or kwok: Node objects without machines, and no AWS\n"
        "      --bare              the cluster alone: no controller, no NodePool, no AWS, machines without taints\n"
        "      --kubeconfig FILE   where to write the way in; default: karpenter-demo.kubeconfig in the user's runtime\n"
        "                          directory, or in /tmp. Readable by you only; removed at the end. With AWS there is FILE.env\n"
        "                          as well (default: karpenter-demo.env), for your shell to read: credentials and endpoint\n"
        "      --port N            serve on this port; default: any free one\n"
        "      --nodes N           machines of the bootstrap group; default: 2, with --bare 3\n"
        "      --speed N           machines boot, pods start and stop N times as fast; default: 1\n"
        "      --data FILE         begin with the cluster in this file if it exists; keep it there, every 30 s and at the end\n"
        "      --from FILE         begin with the cluster in this file, and leave the file as it is\n"
        "  -h, --help              this text\n"
        "\n"
        "What may happen to an AWS account, asked of the demo that runs, in another terminal:\n"
        "\n");
    ask_print_help();
}

static bool parse_number(const char *text, long min, long max, long *ret)
{
    char *end;

    errno = 0;
    *ret = strtol(text, &end, 10);
    return end != text && *end == 0 && errno == 0 && *ret >= min && *ret <= max;
}

bool demo_args_parse(int argc, char **argv, struct demo_args *ret)
{
    enum { KUBECONFIG = 1000, PORT, NODES, SPEED, DATA, FROM, BARE, TOUR, PROVIDER };
    static const struct option options[] = {
        {"kubeconfig", required_argument, NULL, KUBECONFIG},
        {"provider", required_argument, NULL, PROVIDER},
        {"port", required_argument, NULL, PORT},
        {"nodes", required_argument, NULL, NODES},
        {"speed", required_argument, NULL, SPEED},
        {"data", required_argument, NULL, DATA},
        {"from", required_argument, NULL, FROM},
        {"bare", no_argument, NULL, BARE},
        {"tour", no_argument, NULL, TOUR},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct err e;
    int c;

    *ret = (struct demo_args){.provider = "aws", .nodes = -1, .speed = 1};
    optind = 0; /* start afresh: another command may have parsed before */
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        switch (c) {
        case KUBECONFIG:
            ret->kubeconfig = optarg;
            break;
        case PROVIDER:
            if (strcmp(optarg, "aws") != 0 && strcmp(optarg, "kwok") != 0)
                return cli_fail("--provider %s: the demo has aws and kwok", optarg), false;
            ret->provider = optarg;
            break;
        case DATA:
            ret->data = optarg;
            break;
        case FROM:
            ret->from = optarg;
            break;
        case PORT:
            if (!parse_number(optarg, 1, 65535, &ret->port))
                return cli_fail("--port %s: a port is a number from 1 to 65535", optarg), false;
            break;
        case NODES:
            if (!parse_number(optarg, 0, MAX_NODES, &ret->nodes))
                return cli_fail("--nodes %s: a number from 0 to %d is needed", optarg, MAX_NODES), false;
            break;
        case SPEED:
            if (!str_to_double(str_c(optarg), &ret->speed) || !(ret->speed >= 0.01 && ret->speed <= 1000))
                return cli_fail("--speed %s: a number from 0.01 to 1000 is needed", optarg), false;
            break;
        case BARE:
            ret->bare = true;
            break;
        case TOUR:
            ret->tour = true;
            break;
        case 'h':
            ret->help = true;
            break;
        default:
            (void)cli_bad_option("demo", c, argv, &e);
            return cli_fail("%s", e.msg), false;
        }
    }
    if (optind < argc)
        return cli_fail("%s: there is no such verb; try: karpenter demo --help", argv[optind]), false;
    if (ret->data && ret->from)
        return cli_fail("--data and --from: the cluster begins with one file"), false;
    if (ret->bare && ret->tour)
        return cli_fail("--tour needs the controller: it does not go with --bare"), false;
    if (ret->nodes < 0)
        ret->nodes = ret->bare ? 3 : 2;
    return true;
}
