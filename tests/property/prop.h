/* prop - what the properties of what-ifs and of disruption share: a random cluster in memory, and how failures are told. */
#pragma once

#include "base/rng.h"
#include "disrupt/candidate.h"
#include "model/objects.h"

enum property {
    PROP_UNDO,     /* undoing a question, open or kept, leaves no trace */
    PROP_ORACLE,   /* a question is answered as if the cluster had been planned from scratch without the nodes */
    PROP_EARLY,    /* a question that may end early ends where the full one would have been refused anyway */
    PROP_LEAST,    /* the bound is one */
    PROP_FEW,      /* pods that stay need not be compiled */
    PROP_INDEX,    /* the index changes no answer */
    PROP_AGAIN,    /* the same snapshot gives the same commands */
    PROP_MOVES,    /* every pod of a node that goes has a place, and no other pod moves */
    PROP_COST,     /* consolidation never makes a cluster dearer, and costs what it said it would */
    PROP_END,      /* carried out pass by pass, commands come to an end */
    PROP_EVENTS,   /* what is compiled follows events as if it had been compiled after them */
    PROP_STANDING, /* remembered answers are those of a fresh scan */
    PROP_PASS,     /* the commands of a live pass are disjoint, within budgets, and leave the snapshot alone */
    PROP_RECHECK,  /* what a live pass has found is good when nothing has changed */
    N_PROPERTIES,
};

struct tally {
    uint64_t seed; /* at work */
    uint64_t clusters, questions, passes, commands;
    uint64_t checked[N_PROPERTIES], failed[N_PROPERTIES];
    uint64_t restless;         /* nodes that came in one pass and went in the next */
    uint64_t started, refused; /* commands of live passes, after those before them had started */
    uint64_t events, recompiled, judged, asked;
    bool verbose; /* says which */
};

/* One more case of the property; when it does not hold, the seed is printed with the rest. */
PRINTF(4, 5) void check(struct tally *t, enum property p, bool holds, const char *fmt, ...);
/* The same for two texts: prints the first line that differs. */
void check_same(struct tally *t, enum property p, const char *what, str got, str want);

struct cluster {
    struct arena *arena; /* of the catalogue, the settings and the generator's text */
    struct syms *syms;
    struct objects *objects;
    const struct catalog *catalog;
    struct settings settings;
    struct arena *pass; /* of the snapshot; reset when it is built again */
    struct snapshot *snap;
    struct candidates c;
};

/* `part`, `types`: see gen_main.c. */
void cluster_open(struct cluster *k, uint64_t seed, const char *part, const char *types);
void cluster_build(struct cluster *k); /* the snapshot anew, after the objects have changed */
void cluster_close(struct cluster *k);

/* Commands in full. */
str commands_text(struct arena *a, const struct syms *syms, const struct disrupt_command *v, uint32_t n);

void prop_events(struct tally *t);
void prop_pass(struct tally *t);
void prop_whatif(struct tally *t);
void prop_settle(struct tally *t);
