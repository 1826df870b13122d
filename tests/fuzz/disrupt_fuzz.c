/* Any input that can be read and made a snapshot of can be asked what may go: a pass ends, no node goes twice or without
 * being a candidate, every node that stays has a reason, and the cost does not rise. The same of every method alone, as a
 * controller asks, with some node under way and what it found looked at again. */
#include "base/bits.h"
#include "cluster.h"
#include "disrupt/pass.h"

#define CENT 1e-6

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_command(const struct snapshot *s, const struct disruption *d, uint32_t at)
{
    const struct disrupt_command *c = &d->commands[at];

    assert(c->n_nodes > 0);
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        const struct state_node *n = &s->nodes[c->nodes[i]];

        assert(d->nodes[c->nodes[i]].command == at && n->claim && n->node && n->initialized && !n->deleting);
    }
    for (uint32_t i = 0; i < c->n_moves; i++) {
        assert(c->moves[i].pod < s->n_pods);
        assert(c->moves[i].node != UINT32_MAX ? d->nodes[c->moves[i].node].command == UINT32_MAX
                                              : c->moves[i].claim < c->n_claims);
    }
    assert(c->method == METHOD_DRIFT || c->savings >= -CENT);
}

static void check_pass(struct arena *a, const struct snapshot *s, bool compat)
{
    struct disrupt_options o = {.compat = compat, .explain = true};
    const struct disruption *d = disrupt_plan(a, s, &o);
    uint32_t goes = 0;

    for (uint32_t i = 0; i < d->n_commands; i++) {
        check_command(s, d, i);
        goes += d->commands[i].n_nodes;
    }
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        goes -= d->nodes[i].command != UINT32_MAX;
        assert(d->nodes[i].command != UINT32_MAX || d->nodes[i].why.kind != BLOCK_NONE);
    }
    assert(goes == 0 && (!compat || d->n_commands <= 1));
}

static void check_again(struct arena *a, const struct snapshot *s, const struct pass_options *o,
                        const struct disrupt_command *c)
{
    const uint32_t **types = arena_new_array(a, const uint32_t *, c->n_claims);
    uint32_t *n_types = arena_new_array(a, uint32_t, c->n_claims), failed;
    struct earlier e = {.n_nodes = c->n_nodes, .n_claims = c->n_claims, .types = types, .n_types = n_types};

    e.nodes = arena_memdup(a, c->nodes, c->n_nodes * sizeof(*c->nodes), alignof(uint32_t));
    for (uint32_t i = 0; i < c->n_claims; i++) {
        types[i] = c->claims[i].types;
        n_types[i] = c->claims[i].n_types;
    }
    enum recheck v = disrupt_recheck(a, s, o, &e, &failed);
    assert(failed <= c->n_nodes && e.n_nodes <= c->n_nodes && (v != RECHECK_GOOD || e.n_nodes > 0));
}

static void check_live(struct arena *a, const struct snapshot *s, const struct pass_options *o)
{
    const struct pass *p = disrupt_pass(a, s, o);
    uint64_t *gone = arena_new_array(a, uint64_t, BITS_WORDS(s->n_nodes));

    for (uint32_t i = 0; i < p->n_commands; i++) {
        for (uint32_t k = 0; k < p->commands[i].n_nodes; k++) {
            uint32_t node = p->commands[i].nodes[k];

            assert(!bit_test(gone, node) && !bit_test(o->busy, node));
            bit_set(gone, node);
        }
        check_again(a, s, o, &p->commands[i]);
    }
    for (uint32_t i = 0; i < p->n_remarks; i++)
        assert(p->remarks[i].text.n && (p->remarks[i].node < s->n_nodes || p->remarks[i].pool < s->n_pools));
}

static void check_methods(struct arena *a, const struct snapshot *s)
{
    uint64_t *busy = arena_new_array(a, uint64_t, BITS_WORDS(s->n_nodes));
    int64_t *room = arena_new_array(a, int64_t, s->n_pools);

    for (uint32_t i = 0; i < s->n_pools; i++)
        room[i] = i;
    for (unsigned m = 0; m < 2 * N_METHODS; m++) {
        struct pass_options o = {
            .method = (enum disrupt_method)(m / 2), .compat = m % 2, .busy = busy, .static_room = room};

        check_live(a, s, &o);
        if (s->n_nodes)
            bit_set(busy, m * 7 % s->n_nodes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cluster c;
    struct snapshot *s = cluster_open(&c, data, size);

    if (s) {
        check_pass(c.a, s, /* compat= */ true);
        check_pass(c.a, s, /* compat= */ false);
        check_methods(c.a, s);
    }
    cluster_close(&c);
    return 0;
}
