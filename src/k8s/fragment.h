/* fragment - the pieces of schema that many kinds share: labels, taints, requirements, selectors, resource lists.
 *
 * Like field.h. Results live in the arena of the objects unless an arena is asked for.
 */
#pragma once

#include "k8s/field.h"

/* A map of strings as labels. `node_keys`: alias keys become the key they stand for (scheduling 2.7). */
bool dec_labels(struct decoder *d, const struct tree *map, bool node_keys, lset_id *ret, struct err *e);
bool dec_annotations(struct decoder *d, const struct tree *map, struct annotation **ret, uint32_t *ret_n,
                     struct err *e);
str dec_annotation(const struct meta *m, const char *key); /* empty when absent */

bool dec_taints(struct decoder *d, const struct tree *parent, const char *key, struct taints *ret, struct err *e);

/* A resource list, none of it negative. */
bool dec_resources(struct decoder *d, struct arena *a, const struct tree *parent, const char *key, struct reslist *ret,
                   struct err *e);

enum req_flavour {
    REQ_NODE_AFFINITY, /* of pods and volumes */
    REQ_SELECTOR,      /* of label selectors: four operators, keys as written */
    REQ_POOL,          /* of NodePools: minValues; without operator it means In */
    REQ_CLAIM,         /* of NodeClaims: the same, but nobody wrote them by hand */
};

/* The list parent.key; absent and empty give none. */
bool dec_reqs(struct decoder *d, const struct tree *parent, const char *key, enum req_flavour f, struct req_expr **ret,
              uint32_t *ret_n, struct err *e);
bool dec_selector(struct decoder *d, const struct tree *parent, const char *key, struct selector *ret, struct err *e);
/* A node selector term: matchExpressions and whether there are matchFields. */
bool dec_term(struct decoder *d, const struct tree *t, struct req_term *ret, struct err *e);
bool dec_terms(struct decoder *d, const struct tree *parent, const char *key, struct req_term **ret, uint32_t *ret_n,
               struct err *e);

/* status.conditions[type]: COND_ABSENT when it is not there; the time is INT64_MIN when unknown. */
bool dec_condition(struct decoder *d, const struct tree *status, const char *type, enum cond_status *ret,
                   int64_t *ret_since_ms, struct err *e);
