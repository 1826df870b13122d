/* gen - what the files of the workload generator share; see gen.c. Nothing else includes this. */
#pragma once

#include "../tests/support/emit.h"

#define ZONE "topology.kubernetes.io/zone"
#define HOST "kubernetes.io/hostname"
#define IN(key, values) "{\"key\":\"" key "\",\"operator\":\"In\",\"values\":[" values "]}"
#define MAX_ZONES 8
#define N_DIVERSE_CPU 5
#define N_DIVERSE_MEM 6

struct options {
    const char *workload;
    const char *kind;
    uint32_t pods, nodes, pools, scale, shapes;
    uint32_t removed; /* per cent of the pods */
    uint64_t seed;
    const char *zones[MAX_ZONES];
    uint32_t n_zones;
    bool catalog;
};

struct gen {
    struct emitter e;
    struct rng rng;
    const struct options *o;
};

#define PICK(g, array) ((array)[rng_below(&(g)->rng, (uint32_t)ARRAY_LEN(array))])

/* Sizes of pods: W1's, and those of every workload that does not need others. */
extern const uint32_t diverse_cpu_m[N_DIVERSE_CPU], diverse_mem_mi[N_DIVERSE_MEM];

/* One constraint or term with a selector on a single label, ready to stand in a pod's spec. */
void spread_fragment(char *to, size_t size, const char *topology, const char *label, const char *value,
                     const char *unmet);
void affinity_fragment(char *to, size_t size, const char *kind, const char *topology, const char *label,
                       const char *value);
void label_fragment(char *to, size_t size, const char *label, const char *value);

/* A machine of kwok's catalogue, before its place and pods. */
struct kwok_machine {
    uint32_t cpu, mem_mi, pods; /* cpu in whole ones: capacity. mem_mi, pods: capacity */
    char type[32], labels[256], capacity[128], allocatable[128];
};

/* Family c, s or m: 2, 4 or 8 GiB a cpu. */
void kwok_machine(struct kwok_machine *m, char family, uint32_t cpu);

void w10(struct gen *g); /* gen_scale_in.c */
