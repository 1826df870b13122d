/* plan_dump - a plan in full as text, to compare two of them line by line. */
#pragma once

#include "plan/plan.h"

/* `reasons`: with what is said of pods without a place. */
str plan_dump(struct arena *a, const struct syms *t, const struct plan *p, bool reasons);
/* The first line in which two texts differ; both empty: none. */
void text_difference(str x, str y, str *ret_x, str *ret_y);
