/* scenario - a cluster in a few lines, planned, against what should come out of it.
 *
 * The text is that of support/builder.h and these lines:
 *
 *   catalog kwok            instead of the fake provider's six types (scheduling 28.1); also fake:N, none
 *   set KEY=VALUE           a setting
 *   next                    another round: nodes exist for the claims of the last one, its pods run, and the lines
 *                           that follow are added
 *   nobind                  pods are not bound to the nodes that were made for them
 *   method WORDS            plan removals instead: one pass of Karpenter with emptiness, drift, multi, single, several
 *                           of them or all; with the word thorough, our own search
 *
 * `type` lines replace the catalogue, and `clear types` those of earlier rounds. What is wanted is a list of facts, one
 * list a round, separated by " / ":
 *
 *   nodes=2                 new NodeClaims            unschedulable=0     pods without a place
 *   existing=3              pods on existing nodes    lost=a,b            their names, sorted
 *   zones=1,1,2             live pods by zone, sorted; cts, archs likewise; by.KEY for any label
 *   at.zone=z1:2,z2:1       the same with names, sorted
 *   types=default,small     what each claim would launch, sorted, without "-instance-type"
 *   offers=a,b|c            instance types each claim lists, in launch order, claims in order of creation
 *   n.offers=6|2            how many
 *   pods=5,5                pods of each claim, sorted    where=a,b|c     their names, claims in order
 *   pools=a,b               pool of each claim            node.N=a,b      pods placed on an existing node
 *   needs=z1:2,flexible:1   pods by the zone that they need before anything is placed
 *   req.KEY=In:a,b|-        a requirement of each claim; ~2 after it: minValues
 *   ask.RESOURCE=1100m|2    requests of each claim        relaxed=1       claims whose minValues were lowered
 *   deferred=1              pods that wait for a reservation               cost=0.5    hourly cost
 *
 * Of removals; the facts about claims above are then those of the replacements:
 *
 *   commands=2              how many                  candidates=n1,n2    nodes that may be disrupted, sorted
 *   deletes=n1,n2|n3        nodes of each command without a replacement, sorted; commands in order
 *   replaces=n1,n2>big      of each with one or more, and what would be launched: n1>big+small
 *   by=emptiness|multi      method of each command    removed=3|1         how many nodes it takes
 *   saves=0.5000|0.1        dollars an hour           moves=4|0           pods that have to move
 *   why.n1=notCheaper       what keeps a node; `goes` when nothing does. Likewise text.n1, fix.n1 and object.n1, with
 *                           underscores for blanks
 */
#pragma once

#include "disrupt/disrupt.h"
#include "model/snapshot.h"

struct scenario {
    const char *name; /* begins with its line in the checklist */
    const char *text, *want;
};

struct scenarios {
    const struct scenario *v;
    size_t n;
};

#define SCENARIOS(table)                                                                                               \
    {                                                                                                                  \
        (table), ARRAY_LEN(table)                                                                                      \
    }

/* A program that runs every scenario of every table as a test of its own; what main() returns. */
int scenarios_main(const struct scenarios *tables, size_t n);

/* Within a test: every one of them; each failure is printed with the name of its scenario, then the test fails. */
void scenarios_check(const struct scenario *v, size_t n);

/* One text as a snapshot, for tests that do more than look at the plan. */
struct scene {
    struct arena *a;
    struct syms *t;
    struct objects *objects;
    struct catalog *catalog;
    struct settings settings;
    struct snapshot *snap;
};

void scene_open(struct scene *s, const char *text);
void scene_close(struct scene *s);
/* The facts of the plan that `want` asks for, in the same order and form; what comes after a key is not looked at. */
str scene_facts(const struct scene *s, const struct plan *p, str want, struct arena *a);
str scene_removals(const struct scene *s, const struct disruption *d, str want, struct arena *a);
/* Nothing goes twice, every node that stays has a reason, and no budget is exceeded. */
void check_removals(const char *name, const struct scene *s, const struct disruption *d);
