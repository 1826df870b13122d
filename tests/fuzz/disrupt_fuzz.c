/* Any input that can be read and made a snapshot of can be asked what may go: a pass ends, no node goes twice or without
 * being a candidate, every node that stays has a reason, and the cost does not rise. */
#include "cluster.h"
#include "disrupt/disrupt.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cluster c;
    struct snapshot *s = cluster_open(&c, data, size);

    if (s) {
        check_pass(c.a, s, /* compat= */ true);
        check_pass(c.a, s, /* compat= */ false);
    }
    cluster_close(&c);
    return 0;
}
