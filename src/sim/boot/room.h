/* room - how much a machine has, and how much of that is for pods. */
#pragma once

#include "sim/aws/aws.h"
#include "sim/boot/told.h"

/* Resource lists as in a Node's status, in the arena. A machine whose type nobody knows has what simulated kubelets have by default: NULL. */
struct boot_room {
    struct tree *capacity, *allocatable;
};

struct boot_room boot_room_of(struct arena *a, const struct sim_machine *m, const struct told *t);
