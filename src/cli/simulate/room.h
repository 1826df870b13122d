/* room - how much of a node, or how much a pod asks for: the two resources that reports speak of. */
#pragma once

#include "data/tree.h"

struct room {
    int64_t cpu, memory; /* millicores, bytes */
};

struct room room_of(const struct tree *resource_list); /* what cannot be read counts as none */
bool room_is_quantity(str text);                       /* a quantity that is not negative */
