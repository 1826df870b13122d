/* disrupt_table - the parts of a plan of removals as people see it. Internal to cli/. */
#pragma once

#include "cli/plan_table.h"

/* disrupt_stay.c: the nodes that stay, and why; nothing when all go. `order`: all nodes by title. */
void view_staying_nodes(struct view *w, const uint32_t *order);
