/* diff - the JSON merge patch that makes one object of another (RFC 7386).
 *
 * Maps are compared by member: what is new or different is in the patch, what is gone is null. Lists are replaced as a whole.
 */
#pragma once

#include "data/tree.h"

/* NULL when there is no difference. An absent member, null, an empty map and an empty list are not the same. */
struct tree *merge_diff(struct arena *a, const struct tree *from, const struct tree *to);
/* The same with metadata.resourceVersion of `from`, so that a write that came in between makes the server answer 409. */
struct tree *merge_diff_locked(struct arena *a, const struct tree *from, const struct tree *to);
