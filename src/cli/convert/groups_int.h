/* groups_int - what the two descriptions of node groups share. */
#pragma once

#include "cli/convert/convert_int.h"
#include "data/edit.h"

/* A group, whoever described it. */
struct group {
    str name, cluster;
    struct tree *types, *zones, *subnets; /* lists of strings */
    struct tree *labels, *taints;         /* as in a NodePool */
    bool spot, on_demand;
    int64_t min, max;   /* -1: not said */
    int64_t lifetime_s; /* after so long a machine is replaced; -1: never */
    struct converted *pool, *class;
};

/* With a name that no other has. */
struct group group_new(struct conversion *c, uint32_t in, str name, str cluster);
/* Everything but images and identity, which the two descriptions say in ways of their own. */
bool group_finish(struct conversion *c, uint32_t in, const struct group *g, struct err *e);

void group_push(struct conversion *c, struct tree *to, str s); /* each once, and none that is empty */
/* All of a list of strings, or of the member `key` of maps. */
void group_push_all(struct conversion *c, struct tree *to, const struct tree *from, const char *key);
void group_taint(struct conversion *c, const struct group *g, str key, str value, str effect);
void group_taint_of(struct conversion *c, const struct group *g, str key,
                    str told); /* told: value:effect, or an effect */
/* A tag that machines had; those of other owners are left out. */
void group_tag(struct conversion *c, const struct group *g, str key, str value);
/* How many per cent of the machines are on demand (-1: not said, which means all), and whether the first ones are. */
void group_mix(struct conversion *c, struct group *g, int64_t share, bool base);
int64_t group_number(const struct tree *t); /* -1: none */
