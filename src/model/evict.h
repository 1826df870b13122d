/* evict - which pods may be moved off their node, what keeps them there, and what moving them costs (lifecycle 1.2-1.4).
 *
 * Pure functions on a snapshot's pods and disruption budgets.
 */
#pragma once

#include "model/snapshot.h"

bool pod_is_finished(const struct pod *p); /* Succeeded or Failed */
bool pod_is_active(const struct pod *p);   /* neither finished nor terminating */

/* Waits for capacity (lifecycle 1.2): kube-scheduler found no place, none is being made by pre-emption, and it is not
 * tied to a node. A pod that has finished never gets one, so it does not wait. */
bool pod_is_provisionable(const struct pod *p);

/* Annotation karpenter.sh/do-not-disrupt is in force: `true`, or a positive duration that has not passed since the pod
 * started. A pod whose start is unknown stays protected. Values that are neither have no effect. */
bool pod_is_protected(const struct pod *p, int64_t now_ms);
/* The annotation speaks against taking the node away: the pod is active and protected. */
bool pod_is_undisruptable(const struct pod *p, int64_t now_ms);
/* When the protection ends; INT64_MAX when it does not. For pods that are protected. */
int64_t pod_protected_until(const struct pod *p);
/* Eviction is what would remove it: active, not static, not protected, and not tolerating the disruption taint. */
bool pod_is_evictable(const struct pod *p, const struct syms *syms, int64_t now_ms);
/* Its node does not go before it has gone: neither static, nor tolerating the disruption taint, nor a minute over the time
 * that it was given to end. */
bool pod_is_drainable(const struct pod *p, const struct syms *syms, int64_t now_ms);
bool pod_is_waiting_eviction(const struct pod *p, const struct syms *syms, int64_t now_ms); /* … and not finished */
/* Wants a new place when its node goes: active, or leaving as part of a StatefulSet, and not tied to the node. */
bool pod_is_reschedulable(const struct pod *p);
/* What evicting it costs: 1 for ordinary pods, more or less by deletion cost and priority, within -10 and 10. May be
 * NaN, when the annotation says so. */
double pod_eviction_cost(const struct pod *p);

/* --- disruption budgets ----------------------------------------------------------------------------------------------
 *
 * Which budgets cover a pod is found out once for each namespace and set of labels. The snapshot outlives the index. */

struct pdb_index;

struct pdb_index *pdb_index_new(const struct snapshot *s);
void pdb_index_free(struct pdb_index *x);
AUTO_DEFINE(pdb_index)

enum pdb_mode {
    PDB_NOW,  /* no eviction is allowed at the moment */
    PDB_EVER, /* the budget is written such that it never allows one */
};

struct pdb_list { /* indexes into snapshot.pdbs, by name; valid until the index is gone */
    const uint32_t *v;
    uint32_t n;
};

/* The budgets that refuse to let the pod be evicted: none, one, or several, as the eviction API handles only one. */
struct pdb_list pdb_refusing(struct pdb_index *x, const struct pod *p, enum pdb_mode mode);
/* status.disruptionsAllowed, or what the disruption controller would write there when the input has no status. */
int64_t pdb_allowed(struct pdb_index *x, uint32_t pdb);

struct pdb_counts {
    int64_t expected; /* pods that the budget covers and that are not finished */
    int64_t healthy;  /* of these: running and ready */
    int64_t desired;  /* how many of them the budget wants */
};

struct pdb_counts pdb_count(struct pdb_index *x, uint32_t pdb);
/* One pod less (before it is marked as finished) or more. False: a budget without status has come to refuse evictions by
 * it, or to allow them, which is news for other pods too. */
bool pdb_recount(struct pdb_index *x, const struct pod *p, int change);

/* Reschedulable, and nothing keeps it where it is: no do-not-disrupt, no budget that never allows an eviction. */
bool pod_is_movable(struct pdb_index *x, const struct pod *p);
