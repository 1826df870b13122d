/* nodes - the controllers that take Nodes away: node.termination with its eviction queue, and node.health, which replaces broken ones (lifecycle 6, 7). */
#pragma once

#include "control/control.h"
#include "data/tree.h"

struct nodes;

/* Adds the controllers to the manager; they begin when it does. The manager ends before nodes_free(). */
struct nodes *nodes_new(struct control *c);
void nodes_free(struct nodes *s);
AUTO_DEFINE(nodes)

/* The taint karpenter.sh/disrupted:NoSchedule of a Node: nothing new is to be put there. */
bool node_is_tainted_disrupted(const struct tree *node);
void node_taint_disrupted(struct arena *a, struct tree *node);
void node_untaint_disrupted(struct tree *node);
