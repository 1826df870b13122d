/* selector - label and field selectors as they stand in queries: "app=web,tier in (a,b),!x", "spec.nodeName=n1". */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct label;
struct object;
struct selector;

/* Either text may be empty. Field names must be metadata.name, metadata.namespace or one of `selectable` (NULL-terminated).
 * Others are refused as a real server does: 'field label not supported: x', or, when `selectable` is NULL (built-in kinds without
 * any), '"x" is not a known field selector: …'. Errors are the sentences of a real server. */
bool selector_parse_query(struct arena *a, str labels, str fields, const char *const *selectable,
                          const struct selector **ret, struct err *e);
bool selector_matches_object(const struct selector *s, const struct object *o);
bool selector_is_empty(const struct selector *s);

/* spec.selector of workloads and budgets: matchLabels and matchExpressions, or a plain map (Services, ReplicationControllers). */
struct tree;
bool selector_from_tree(struct arena *a, const struct tree *t, const struct selector **ret, struct err *e);
bool selector_matches_labels(const struct selector *s, const struct label *labels, uint32_t n);
