/* args - what `karpenter demo` was asked for. */
#pragma once

#include <stdbool.h>

struct demo_args {
    const char *kubeconfig, *data, *from;
    const char *provider; /* "aws", "kwok" */
    long port, nodes;
    double speed;
    bool bare, tour, help;
};

/* false: it was said on standard error. */
bool demo_args_parse(int argc, char **argv, struct demo_args *ret);
void demo_print_help(void);
