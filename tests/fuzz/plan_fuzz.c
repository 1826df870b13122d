/* Any input that can be read and made a snapshot of can be planned: the plan ends, twice the same, and every pod that
 * waits has exactly one place or one reason. The first byte chooses catalogue and settings. */
#include "cluster.h"
#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(uint8_t *seen, const struct snapshot *s, const uint32_t *pods, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        assert(pods[i] < s->n_pods && seen[pods[i]] == 0);
        seen[pods[i]] = 1;
    }
}

static void check_plan(struct arena *a, const struct snapshot *s, const struct plan *p)
{
    uint8_t *seen = arena_new_array(a, uint8_t, s->n_pods);

    for (uint32_t i = 0; i < p->n_claims; i++) {
        assert(p->claims[i].pool < s->n_pools && p->claims[i].n_pods > 0 && p->claims[i].n_types > 0);
        count(seen, s, p->claims[i].pods, p->claims[i].n_pods);
    }
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        assert(p->nodes[i].node < s->n_nodes && p->nodes[i].n_pods > 0);
        assert(!s->nodes[p->nodes[i].node].deleting);
        count(seen, s, p->nodes[i].pods, p->nodes[i].n_pods);
    }
    for (uint32_t i = 0; i < p->n_failures; i++) {
        assert(p->failures[i].why->reason.n > 0);
        count(seen, s, &p->failures[i].pod, 1);
    }
    for (uint32_t i = 0; i < s->n_pending; i++) {
        assert(seen[s->pending[i]] == 1);
        seen[s->pending[i]] = 0;
    }
    for (uint32_t i = 0; i < s->n_refused; i++) {
        assert(seen[s->refused[i].pod] == 1);
        seen[s->refused[i].pod] = 0;
    }
    for (uint32_t i = 0; i < s->n_pods; i++)
        assert(seen[i] == 0);
}

static void same_plan(const struct plan *x, const struct plan *y)
{
    assert(x->n_claims == y->n_claims && x->n_nodes == y->n_nodes && x->n_failures == y->n_failures);
    for (uint32_t i = 0; i < x->n_claims; i++) {
        assert(x->claims[i].n_pods == y->claims[i].n_pods && x->claims[i].n_types == y->claims[i].n_types);
        assert(memcmp(x->claims[i].pods, y->claims[i].pods, x->claims[i].n_pods * sizeof(uint32_t)) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cluster c;
    struct snapshot *s = cluster_open(&c, data, size);

    if (s) {
        struct plan *p = plan_make(c.a, s);

        check_plan(c.a, s, p);
        same_plan(p, plan_make(c.a, s));
    }
    cluster_close(&c);
    return 0;
}
