#include "cli/disrupt_text.h"

#include "base/arena.h"
#include "base/vec.h"

static int cmp_titles(const void *a, const void *b, void *ctx)
{
    const struct state_node *nodes = ctx;

    return str_cmp(node_title(&nodes[*(const uint32_t *)a]), node_title(&nodes[*(const uint32_t *)b]));
}

uint32_t *nodes_by_title(struct arena *a, const struct snapshot *s, const uint32_t *nodes, uint32_t n)
{
    uint32_t *sorted = arena_new_array(a, uint32_t, n);

    for (uint32_t i = 0; i < n; i++)
        sorted[i] = nodes ? nodes[i] : i;
    sort_stable(sorted, n, sizeof(*sorted), cmp_titles, s->nodes);
    return sorted;
}

/* --- what keeps a node ---------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *sentence;
} kinds[] = {
    [BLOCK_NONE] = {"none", "nothing is in the way, and nothing asks for it to go"},
    [BLOCK_UNMANAGED] = {"unmanaged", "it has no NodeClaim: somebody else runs it"},
    [BLOCK_NO_NODE] = {"noNode", "its NodeClaim has no Node yet"},
    [BLOCK_UNINITIALIZED] = {"uninitialized", "it is not initialized yet"},
    [BLOCK_DELETING] = {"deleting", "it is being deleted already"},
    [BLOCK_NOMINATED] = {"nominated", "a pending pod is on its way to it"},
    [BLOCK_NODE_ANNOTATION] = {"nodeAnnotation", "the node has karpenter.sh/do-not-disrupt"},
    [BLOCK_NO_POOL_LABEL] = {"noNodePoolLabel", "it has no label karpenter.sh/nodepool"},
    [BLOCK_POOL_MISSING] = {"nodePoolMissing", "its NodePool is not there, or has no instance types"},
    [BLOCK_POD_ANNOTATION] = {"podAnnotation", "a pod has karpenter.sh/do-not-disrupt"},
    [BLOCK_PDB] = {"pdb", "a PodDisruptionBudget allows no eviction now"},
    [BLOCK_PDBS] = {"severalPdbs", "a pod has several PodDisruptionBudgets: it cannot be evicted"},
    [BLOCK_STATIC] = {"staticCapacity", "its NodePool keeps a fixed number of nodes"},
    [BLOCK_UNKNOWN_TYPE] = {"unknownInstanceType", "its instance type is not known"},
    [BLOCK_NO_CAPACITY_TYPE] = {"noCapacityType", "it has no label karpenter.sh/capacity-type"},
    [BLOCK_NO_ZONE] = {"noZone", "it has no label topology.kubernetes.io/zone"},
    [BLOCK_NEVER] = {"consolidateAfterNever", "its NodePool has consolidateAfter: Never"},
    [BLOCK_BUFFERED] = {"bufferPods", "pods of a capacity buffer count on it"},
    [BLOCK_EMPTY] = {"empty", "it is empty: another method removes it"},
    [BLOCK_NOT_EMPTY] = {"notEmpty", "it is not empty"},
    [BLOCK_POLICY] = {"consolidationPolicy", "its NodePool gives up empty nodes only, and it is not empty"},
    [BLOCK_NOT_CONSOLIDATABLE] = {"notConsolidatable", "its pods changed less than consolidateAfter ago"},
    [BLOCK_NOT_DRIFTED] = {"notDrifted", "it is up to date"},
    [BLOCK_BUDGET] = {"budget", "the disruption budget of its NodePool is used up"},
    [BLOCK_NO_POOL_READY] = {"noNodePoolReady", "no NodePool is ready"},
    [BLOCK_PODS] = {"podsWithoutPlace", "its pods would have no other place"},
    [BLOCK_SEVERAL] = {"severalReplacements", "its pods would need more than one new node"},
    [BLOCK_MIN_VALUES] = {"minValues", "the cheaper instance types do not meet minValues"},
    [BLOCK_NOT_CHEAPER] = {"notCheaper", "nothing cheaper could take its place"},
    [BLOCK_SPOT_OFF] = {"spotToSpotDisabled", "spot nodes are not replaced by cheaper spot nodes here"},
    [BLOCK_SPOT_FEW] = {"spotToSpotFewTypes", "too few cheaper instance types to replace spot by spot"},
    [BLOCK_BALANCE] = {"balance", "what it would save is not worth the disruption"},
    [BLOCK_SAVINGS] = {"minSavings", "it would save less than CONSOLIDATION_MIN_SAVINGS asks for"},
    [BLOCK_TAKES_PODS] = {"takesPods", "it takes pods of a node that goes"},
    [BLOCK_LATER] = {"later", "another command came first: one a pass"},
};

_Static_assert(ARRAY_LEN(kinds) == N_BLOCKER_KINDS, "every kind has its words");

const char *blocker_name(enum blocker_kind k)
{
    return kinds[k].name;
}

const char *blocker_sentence(enum blocker_kind k)
{
    return kinds[k].sentence;
}

str blocker_reason(const struct blocker *b)
{
    return b->text.n ? b->text : str_c(blocker_sentence(b->kind));
}
