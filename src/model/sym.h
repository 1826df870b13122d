/* sym - interned strings and label sets: after decoding nothing compares strings.
 *
 * One table per process (or per `plan` call). A symbol is a small number that stands for a string; equal strings
 * have equal symbols. SYM_NONE stands for the empty string. A label set is a sorted list of labels with a number
 * of its own, so that two objects with the same labels share it.
 */
#pragma once

#include "base/arena.h"

typedef struct {
    uint32_t v;
} sym;

typedef struct {
    uint32_t v;
} lset_id; /* 0 is the empty set */

/* Symbols that the program itself names, interned first so that they are constants. */
#define SYM_TABLE(X)                                                                                                   \
    X(NONE, "")                                                                                                        \
    X(CPU, "cpu")                                                                                                      \
    X(MEMORY, "memory")                                                                                                \
    X(EPHEMERAL, "ephemeral-storage")                                                                                  \
    X(PODS, "pods")                                                                                                    \
    X(NODES, "nodes")                                                                                                  \
    X(ZONE, "topology.kubernetes.io/zone")                                                                             \
    X(REGION, "topology.kubernetes.io/region")                                                                         \
    X(ITYPE, "node.kubernetes.io/instance-type")                                                                       \
    X(ARCH, "kubernetes.io/arch")                                                                                      \
    X(OS, "kubernetes.io/os")                                                                                          \
    X(HOST, "kubernetes.io/hostname")                                                                                  \
    X(CT, "karpenter.sh/capacity-type")                                                                                \
    X(NP, "karpenter.sh/nodepool")                                                                                     \
    X(WINBUILD, "node.kubernetes.io/windows-build")                                                                    \
    X(REGISTERED, "karpenter.sh/registered")                                                                           \
    X(INITIALIZED, "karpenter.sh/initialized")                                                                         \
    X(TRUE, "true")                                                                                                    \
    X(ON_DEMAND, "on-demand")                                                                                          \
    X(SPOT, "spot")                                                                                                    \
    X(RESERVED, "reserved")                                                                                            \
    X(DEFAULT, "default")                                                                                              \
    X(DISRUPTED, "karpenter.sh/disrupted")                                                                             \
    X(KWOK_RESERVATION_ID, "karpenter.kwok.sh/reservation-id")                                                         \
    X(AWS_RESERVATION_ID, "karpenter.k8s.aws/capacity-reservation-id")

enum {
#define X(name, text) SYM_IX_##name,
    SYM_TABLE(X)
#undef X
        SYM_N_FIXED
};

#define SYM(name) ((sym){SYM_IX_##name})

struct label {
    sym key, val;
};

struct syms;

struct syms *syms_new(void);
void syms_free(struct syms *t);
AUTO_DEFINE(syms)

sym sym_of(struct syms *t, str s);                          /* copies s when it is new */
sym sym_find(const struct syms *t, str s, bool *ret_known); /* never adds */
str sym_str(const struct syms *t, sym s);
uint32_t syms_count(const struct syms *t); /* symbols are 0 … count-1 */

static inline bool sym_eq(sym a, sym b)
{
    return a.v == b.v;
}

static inline bool sym_some(sym a)
{
    return a.v != 0;
}

/* Sorts by key and keeps the last of equal keys; the input is scratch. */
lset_id lset_of(struct syms *t, struct label *labels, uint32_t n);
const struct label *lset_get(const struct syms *t, lset_id id, uint32_t *ret_n);
bool lset_value(const struct syms *t, lset_id id, sym key, sym *ret_val);
uint32_t lsets_count(const struct syms *t);
