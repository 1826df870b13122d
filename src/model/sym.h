/* sym - interned strings and label sets: after decoding nothing compares strings.
 *
 * One table per process (or per `plan` call). A symbol is a small number that stands for a string; equal strings
 * have equal symbols. SYM_NONE stands for the empty string. A label set is a sorted list of labels with a number
 * of its own, so that two objects with the same labels share it.
 *
 * Symbols stay for as long as the table does, with one exception: those that only objects of a watched cluster ever
 * named (a job's own labels, the names of nodes) pass with them. They are made while syms_set_passing() is on. Whoever
 * asks for one with sym_of() at any other time makes it stay. Whoever merely finds one in an object must not keep it for
 * longer than the object: he writes down its text.
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

/* --- symbols that pass ----------------------------------------------------------------------------------------------- */

/* From now on new symbols and sets pass, or stay; the answer is how it was. */
bool syms_set_passing(struct syms *t, bool on);

/* Time for a sweep: more was added since the last one than was in use then. So there is never more than a few times of
 * what is in use. */
bool syms_want_sweep(const struct syms *t);
/* Whoever keeps objects marks everything they name, then sweeps. What passes and was marked neither this time nor the
 * last time is gone, and its number may stand for something else from then on. */
void sym_mark(struct syms *t, sym s);
void text_mark(struct syms *t, str text);   /* text that came from the table */
void lset_mark(struct syms *t, lset_id id); /* and its labels */
uint32_t syms_sweep(struct syms *t);        /* how many are gone */
uint64_t syms_sweeps(
    const struct syms *t); /* that there were: numbers stand for the same as long as there is no further one */
size_t syms_bytes(const struct syms *t);
