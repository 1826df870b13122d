/* disruption - nodes that are empty, out of date or not worth their price go (lifecycle 8): a loop that decides and a queue that carries out.
 *
 * The loop, controller `disruption`, asks one method after the other (disrupt/pass.h). What is decided is written down as removals, which hold nothing of the snapshot; most of
 * them are looked at again fifteen seconds later. A removal that starts is the business of the queue, controller `disruption.queue`: it waits for the replacements, deletes the
 * NodeClaims, or puts everything back. What is under way is known in memory only. A process that takes over finds taints that belong to nobody and takes them off; the nodes are
 * candidates like any other, and replacements that were made are capacity like any other.
 */
#pragma once

#include "control/control.h"

struct disruptor;

struct disruptor *disruptor_new(
    struct control *c); /* adds both controllers to the manager, which ends before disruptor_free() */
void disruptor_free(struct disruptor *d);
AUTO_DEFINE(disruptor)
