/* plan_table - the parts of a plan as people see it. Internal to cli/. */
#pragma once

#include "cli/plan_view.h"
#include "cli/pod_groups.h"
#include "cli/text.h"

struct view {
    const struct plan_view *v;
    const struct snapshot *s;
    struct arena *a;
    struct text_style style;
    struct sb *out;
    struct pod_groups groups;
};

void view_heading(struct view *w, enum tone tone, str text);
const char *plural(uint64_t n); /* "s", or nothing for one */

/* plan_nodes.c; both print nothing when there is nothing to say. */
void view_new_nodes(struct view *w);
void view_existing_nodes(struct view *w);
