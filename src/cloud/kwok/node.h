/* node - which machine a NodeClaim gets from kwok, and what its Node looks like (scheduling 28.2).
 *
 * Pure: the same claim and the same catalogue give the same machine, name included. So a launch that is asked for twice, by this process or by the next
 * one, finds what was made the first time. Inner header of cloud/kwok.
 */
#pragma once

#include "base/map.h"
#include "cloud/cloud.h"
#include "data/tree.h"

#define KWOK_PREFIX "kwok://"

struct kwok_types {
    const struct catalog *catalog;
    struct u64map by_name; /* symbol of the name -> index */
};

void kwok_types_init(struct kwok_types *k, const struct catalog *c); /* which outlives it */
void kwok_types_fini(struct kwok_types *k);

struct kwok_choice {
    const struct itype *type;
    const struct offering *offering;
};

/* The cheapest available offering that the claim's requirements allow, over the types it lists; the first of equal ones. */
bool kwok_choose(const struct kwok_types *k, const struct syms *t, const struct nodeclaim *claim,
                 struct kwok_choice *ret, struct err *e);
/* Name of the Node: unique to the claim's uid. */
str kwok_node_name(struct arena *a, const struct nodeclaim *claim);
str kwok_node_of(str provider_id); /* the name in a provider id; empty when it is not one of ours */
struct machine kwok_machine(struct arena *a, const struct syms *t, const struct nodeclaim *claim,
                            const struct kwok_choice *x);
/* The machine of a claim that was launched before: the claim says all of it. */
struct machine kwok_machine_again(struct arena *a, const struct syms *t, const struct nodeclaim *claim);
/* The Node to be created for the machine, and the machine that such a Node stands for. */
struct tree *kwok_node(struct arena *a, const struct syms *t, const struct machine *m);
struct machine kwok_machine_of(struct arena *a, struct syms *t, const struct tree *node);
