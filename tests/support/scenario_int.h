/* scenario_int - what the parts of scenarios share: facts about a plan, and about removals. */
#pragma once

#include "base/sb.h"
#include "base/vec.h"
#include "disrupt/disrupt.h"
#include "support/scenario.h"

struct facts {
    const struct scene *s;
    const struct plan *p;
    struct arena *a;
};

typedef VEC(str) strs;

/* Writes the list, `-` when there is nothing in it, and frees it. */
void put_joined(struct sb *out, strs *v, char sep, bool sorted);
str short_type(str name);
void put_fact(const struct facts *f, struct sb *out, str key);
/* Calls `put` for every key of the facts that are wanted. */
str facts_text(str want, struct arena *a, void (*put)(const void *ctx, struct sb *out, str key), const void *ctx);
