/* plan_table - the parts of plans as people see them. Internal to cli/. */
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

#define HOURS_A_MONTH 730

void view_heading(struct view *w, enum tone tone, str text);
void view_total(struct view *w, const char *what, str text); /* a line below "Total" */
void view_origin(struct view *w);                            /* the last of them: instance types, time */
str view_cost(struct view *w, double usd_per_h);             /* "$0.1360 an hour, $99.28 a month" */
/* Karpenter's reasons, without the requirements they end in: those go on by the hundred, and -o json has them whole. */
str view_short_reason(struct view *w, str s);
str view_label(const struct view *w, lset_id labels, sym key); /* empty when it is not there */
const char *plural(uint64_t n);                                /* "s", or nothing for one */

/* plan_nodes.c; both print nothing when there is nothing to say. */
void view_new_nodes(struct view *w);
void view_existing_nodes(struct view *w);
