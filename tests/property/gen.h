/* gen - what the files of the generator of random clusters share; see gen.c. Nothing else includes this. */
#pragma once

#include "base/sb.h"

#include "../support/emit.h"

#define ZONE "topology.kubernetes.io/zone"
#define HOST "kubernetes.io/hostname"
#define CT "karpenter.sh/capacity-type"
#define FAMILY "karpenter.kwok.sh/instance-family"
#define CPU "karpenter.kwok.sh/instance-cpu"
#define N_ZONES 3
#define N_FAMILIES 3
#define N_CPUS 4
#define N_CAPACITY_TYPES 2
#define MAX_POOLS 3
#define MAX_NODES 8
#define CROWD_NODES 60

extern const char *const zones[N_ZONES], *const families[N_FAMILIES], *const capacity_types[N_CAPACITY_TYPES];
extern const uint32_t gib_per_cpu[N_FAMILIES], cpus[N_CPUS];

struct gen {
    struct emitter e;
    struct rng rng;
    uint32_t n_pools, n_apps, n_volumes;
    struct {
        char name[24];
        const char *team; /* label, or NULL */
        bool tainted;
    } pools[MAX_POOLS];
    uint32_t n_nodes;
    struct gen_node {
        char name[16];
        uint32_t cpu_m, mem_mi; /* what is left */
    } nodes[CROWD_NODES];
    bool crowded; /* apps run on nodes; else all of their pods wait */
};

/* Writes a part of the cluster of a seed: "" or one of the options in gen_main.c; false: there is no such part. */
bool gen_write(FILE *out, uint64_t seed, const char *part);

uint32_t below(struct gen *g, uint32_t n);
bool chance(struct gen *g, uint32_t percent);

#define PICK(g, array) ((array)[below((g), (uint32_t)ARRAY_LEN(array))])

/* Appends an item to a comma-separated list. */
PRINTF(2, 3) void item(struct sb *b, const char *fmt, ...);
const char *text(struct sb *b);

/* A node's machine: one of the types that the generator offers. */
struct machine {
    char type[32], labels[256], capacity[128], allocatable[128];
};

void machine(struct machine *m, uint32_t family, uint32_t cpu);

void steady(struct gen *g); /* gen_steady.c */
