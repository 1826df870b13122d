/* chaos - a random cluster over simulated hours, with everything that goes wrong, and what may never happen meanwhile.
 *
 * A case is a seed and what is left out of it. The same case is the same run, byte for byte. Every deed (somebody scales, deletes, changes something; something breaks) has a
 * number and draws from a seed of its own, so that one can be left out and the others stay what they were: that is how a failing case is made smaller (shrink.h).
 */
#pragma once

#include "base/err.h"
#include "base/sb.h"
#include "base/str.h"

/* What a case is made of. Anything can be left out by its name. */
#define CHAOS_PARTS(X)                                                                                                 \
    X(PAIR, "pair")       /* two replicas with a lease instead of one without */                                       \
    X(GRACE, "grace")     /* pools have a terminationGracePeriod */                                                    \
    X(KEEP, "keep")       /* pods of one app do not want to be disrupted */                                            \
    X(LIMITS, "limits")   /* pools have limits, which change */                                                        \
    X(STATIC, "static")   /* a pool with replicas */                                                                   \
    X(STARTUP, "startup") /* nodes begin with a taint that somebody has to take away */                                \
    X(REPAIR, "repair")   /* the gate NodeRepair is open */                                                            \
    X(BUFFERS, "buffers") /* the gate CapacityBuffer is open, and people make buffers */                               \
    X(SCALE, "scale")     /* deeds of people, from here on */                                                          \
    X(ROLL, "roll")       /* a template changes, pods are replaced one by one */                                       \
    X(JOB, "job")                                                                                                      \
    X(DAEMON, "daemon") /* a DaemonSet comes, changes or goes */                                                       \
    X(BUDGET, "pdb")    /* a PodDisruptionBudget lets nobody go, or lets them go again */                              \
    X(DELETE_CLAIM, "delete-claim")                                                                                    \
    X(DELETE_NODE, "delete-node")                                                                                      \
    X(DELETE_POD, "delete-pod")                                                                                        \
    X(CLASS, "class") /* the node class goes or comes */                                                               \
    X(POOL, "pool")   /* a pool goes or comes */                                                                       \
    X(POOL_LIMITS, "pool-limits")                                                                                      \
    X(POOL_LABELS, "pool-labels")                                                                                      \
    X(POOL_TAINTS, "pool-taints")                                                                                      \
    X(POOL_DISRUPTION, "pool-disruption") /* budgets, policy, consolidateAfter */                                      \
    X(POOL_EXPIRY, "pool-expiry")                                                                                      \
    X(POOL_REPLICAS, "pool-replicas")                                                                                  \
    X(HOLD, "hold")         /* a finalizer of somebody else, for a while */                                            \
    X(PROCESS, "process")   /* what breaks, from here on: a process is killed, stopped, started */                     \
    X(RESTART, "restart")   /* the API server is away for a while */                                                   \
    X(CLOCK, "clock")       /* the wall clock jumps */                                                                 \
    X(POWER, "power")       /* a machine dies */                                                                       \
    X(NO_JOIN, "no-join")   /* some machines never become Nodes */                                                     \
    X(NO_START, "no-start") /* nobody takes startup taints away */                                                     \
    X(CONFLICT, "conflict") /* calls that go wrong, from here on */                                                    \
    X(GONE, "gone")                                                                                                    \
    X(THROTTLE, "throttle")                                                                                            \
    X(ERROR, "error")                                                                                                  \
    X(LOSE_REPLY, "lose-reply")                                                                                        \
    X(DUPLICATE, "duplicate")                                                                                          \
    X(DROP_WATCH, "drop-watch")                                                                                        \
    X(SERVER_DIES, "server-dies")                                                                                      \
    X(REFUSE, "refuse")                                                                                                \
    X(LOSE_ANSWER, "lose-answer")                                                                                      \
    X(CUT, "cut")                                                                                                      \
    X(STALL, "stall")                                                                                                  \
    X(SLOW, "slow")                                                                                                    \
    X(AWS_CLASS, "aws-class") /* of cases on AWS, from here on: tags, selectors, disks, role of the node class */      \
    X(AWS_IMAGE, "aws-image") /* a new image is published */                                                           \
    X(AWS_SPOT, "aws-spot")   /* AWS wants spot machines back: one, a zone, all */                                     \
    X(AWS_REBALANCE, "aws-rebalance")                                                                                  \
    X(AWS_HEALTH, "aws-health")     /* machines are to be retired */                                                   \
    X(AWS_IMPAIR, "aws-impair")     /* status checks fail */                                                           \
    X(AWS_CRASH, "aws-crash")       /* machines end without a warning, before or after they joined */                  \
    X(AWS_POOL, "aws-pool")         /* some offerings are sold out for a while */                                      \
    X(AWS_PRICE, "aws-price")       /* spot prices move */                                                             \
    X(AWS_KILL, "aws-kill")         /* the process dies when a machine has been launched and before it hears of it */  \
    X(AWS_KEYS, "aws-keys")         /* keys are over before their time */                                              \
    X(AWS_RESERVE, "aws-reserve")   /* capacity is reserved, taken back, cancelled; blocks end */                      \
    X(AWS_SHIFT, "aws-shift")       /* traffic is moved away from a zone */                                            \
    X(AWS_THROTTLE, "aws-throttle") /* calls that go wrong, from here on */                                            \
    X(AWS_ERROR, "aws-error")                                                                                          \
    X(AWS_LOSE, "aws-lose") /* done, and the answer breaks off */                                                      \
    X(AWS_ICE, "aws-ice")   /* no capacity, by chance */                                                               \
    X(AWS_LATE, "aws-late") /* what was made is seen later */                                                          \
    X(AWS_TWICE, "aws-twice")                                                                                          \
    X(AWS_ORDER, "aws-order")                                                                                          \
    X(AWS_NET, "aws-net") /* connections are refused, or slow */

enum chaos_part {
#define X(id, name) CHAOS_##id,
    CHAOS_PARTS(X)
#undef X
        CHAOS_N_PARTS
};

/* A set of them. */
typedef struct {
    uint64_t word[(CHAOS_N_PARTS + 63) / 64];
} chaos_parts;

static inline bool parts_has(const chaos_parts *s, uint32_t p)
{
    return s->word[p / 64] >> (p % 64) & 1;
}

static inline void parts_put(chaos_parts *s, uint32_t p)
{
    s->word[p / 64] |= UINT64_C(1) << (p % 64);
}

static inline void parts_drop(chaos_parts *s, uint32_t p)
{
    s->word[p / 64] &= ~(UINT64_C(1) << (p % 64));
}

struct chaos_range { /* of deeds, both ends included */
    uint32_t from, to;
};

#define CHAOS_SKIPS 64

struct chaos_case {
    uint64_t seed;
    chaos_parts without;
    double hours;    /* of deeds; 0: as long as the seed says */
    uint32_t n_apps; /* 0: as many as the seed says */
    struct chaos_range skip[CHAOS_SKIPS];
    uint32_t n_skip;
    bool aws; /* machines come from EC2 (sky.h) instead of kwok; all else that the seed says is as it would be there */
    bool verbose; /* deeds and logs are told, too */
};

struct chaos_tally {
    double hours; /* simulated */
    double cpu_s;
    uint64_t n_deeds, n_faults, n_requests;
    uint64_t n_placed, n_claims, n_nodes, n_nodes_gone, n_evicted, n_disrupted;
    uint64_t n_machines, n_warned,
        n_orphans; /* of EC2: launched; taken back by AWS; whose NodeClaim never knew of them */
    uint64_t n_aws_calls;
    double orphan_s; /* for so long machines ran for nobody */
    uint64_t n_hung; /* clusters whose drains ended only when budgets were given up */
    uint64_t trace;  /* of all that happened (sim_trace()); of several runs the sum, in whatever order they came */
};

struct chaos_result {
    bool ok;
    struct chaos_tally tally;
    uint32_t n_deeds; /* numbers of deeds so far */
    double deeds_s;   /* when the last of them was */
    char what[400];   /* what broke, first line */
};

/* What went wrong is also written to `out` (NULL: stderr). */
void chaos_run(const struct chaos_case *c, struct sb *out, struct chaos_result *ret);
void chaos_add(struct chaos_tally *sum, const struct chaos_tally *t);

const char *chaos_part_name(enum chaos_part p);
/* Reads "--seed 7 --aws --without kill,clock --hours 2 --apps 1 --skip 3-9,12 --verbose", the form chaos_print() writes. Other arguments are left, in order: *argc. */
bool chaos_parse(struct chaos_case *c, int *argc, char **argv, struct err *e);
bool chaos_read(struct chaos_case *c, const char *line, struct err *e); /* all of it */
void chaos_print(const struct chaos_case *c, struct sb *out);
