/* Any input that can be read and made a snapshot of can be planned: the plan ends, twice the same, and every pod that
 * waits has exactly one place or one reason. The first byte chooses catalogue and settings. */
#include "cloud/catalog.h"
#include "data/reader.h"
#include "k8s/decode.h"
#include "k8s/settings.h"
#include "plan/plan.h"
#include "state/state.h"

#define PODS_MAX 2000 /* what workloads may expand to */
#define NOW_MS 1768478400000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_all(struct objects *o, str bytes)
{
    const struct tree *t = NULL;
    struct err e = {0};

    AUTO(decoder) struct decoder *d = decoder_new(o);
    AUTO(reader) struct reader *r = reader_open_bytes("fuzz", bytes, &e);
    if (!r)
        return false;
    do
        if (!reader_next(r, &t, &e) || (t && !k8s_decode(d, t, &e))) {
            assert(e.kind != ERR_NONE && e.msg[0]);
            return false;
        }
    while (t);
    return true;
}

static bool too_many_pods(const struct objects *o)
{
    int64_t n = o->pods.n;

    for (uint32_t i = 0; i < o->workloads.n; i++)
        n = sat_add(n, MAX(o->workloads.v[i].replicas, 0));
    return n > PODS_MAX;
}

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
    AUTO(arena) struct arena *a = arena_new(0);
    AUTO(syms) struct syms *t = syms_new();
    AUTO(objects) struct objects *o = objects_new(t);
    struct settings settings;
    struct err e = {0};

    if (size == 0 || !read_all(o, (str){(const char *)data + 1, size - 1}) || too_many_pods(o))
        return 0;
    settings_defaults(&settings);
    settings.preferences = data[0] & 1 ? PREF_IGNORE : PREF_RESPECT;
    settings.min_values = data[0] & 2 ? MINVALUES_BEST_EFFORT : MINVALUES_STRICT;
    struct catalog *c = catalog_builtin(a, t, data[0] & 4 ? STR("kwok") : STR("fake:20"), &e);
    assert(c);
    struct snapshot *s = state_build(a, o, c, &settings, NOW_MS, &e);
    if (!s)
        return 0;
    struct plan *p = plan_make(a, s);
    check_plan(a, s, p);
    same_plan(p, plan_make(a, s));
    return 0;
}
