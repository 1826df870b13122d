/* write_judge - the steps of a write up to the point where it is known to be good, for those who put them in order (write.c, write_part.c). Those that answer false
 * have written the refusal. */
#pragma once

#include "sim/kube/kube_int.h"

/* known: the object before, all of whose fields the schema knows; NULL: there is none. */
bool judge_decode(struct write *w, const struct tree *known);
/* From here on the object is in the shape in which it is stored. */
void judge_shape(struct write *w);
const struct kind *judge_asked(const struct write *w); /* the kind that the client speaks of */
void judge_defaults(struct write *w);
struct tree *judge_meta(struct write *w);
str judge_name(struct write *w);
bool judge_namespace(struct write *w); /* it is there, and not about to go */
bool judge_admit(struct write *w, const struct tree *old);
bool judge_validate(struct write *w, const struct object *was, const struct tree *old);
void judge_by_rules(struct write *w, const struct tree *old, struct causes *out);
/* Ends a validation: false when something is wrong. */
bool judge_ends(struct write *w, str name, struct causes *c);
