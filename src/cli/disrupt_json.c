/* Removals for programs. The format is a contract (docs/plan.md): fields are added, none changes its meaning. */
#include <stdalign.h>

#include "base/arena.h"
#include "base/vec.h"
#include "cli/disrupt_text.h"
#include "cli/plan_view.h"
#include "data/json.h"

static void print_text(struct jw *w, const char *key, str s)
{
    if (s.n == 0)
        return;
    jw_key(w, key);
    jw_str(w, s);
}

static void print_price(struct jw *w, double usd_per_h)
{
    if (usd_per_h <= 0)
        return;
    jw_key(w, "price");
    jw_double(w, usd_per_h);
}

static void print_moves(struct jw *w, const struct plan_view *v, const struct disrupt_command *c)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct snapshot *s = v->snap;
    struct plan_move *sorted = arena_memdup(a, c->moves, c->n_moves * sizeof(*sorted), alignof(struct plan_move));
    struct sb to = {0};

    sort_stable(sorted, c->n_moves, sizeof(*sorted), pods_by_name, (void *)(uintptr_t)s);
    jw_key(w, "moves");
    jw_list(w);
    for (uint32_t i = 0; i < c->n_moves; i++) {
        const struct plan_move *m = &sorted[i];

        sb_reset(&to);
        if (m->node == UINT32_MAX)
            sb_printf(&to, "replacement:%u", m->claim);
        else
            sb_str(&to, node_title(&s->nodes[m->node]));
        jw_map(w);
        jw_key(w, "pod");
        print_pod(w, s, m->pod);
        jw_key(w, "to");
        jw_str(w, sb_view(&to));
        jw_end(w);
        view_flush(w, v);
    }
    jw_end(w);
    sb_fini(&to);
}

static void print_command(struct jw *w, const struct plan_view *v, const struct disrupt_command *c)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const uint32_t *nodes = nodes_by_title(a, v->snap, c->nodes, c->n_nodes);
    struct sb text = {0};

    jw_map(w);
    jw_key(w, "method");
    jw_c(w, disrupt_reason_name(c->method));
    jw_key(w, "consolidationType");
    jw_c(w, consolidation_type(c->method));
    jw_key(w, "decision");
    jw_c(w, command_decision(c));
    jw_key(w, "nodes");
    jw_list(w);
    for (uint32_t i = 0; i < c->n_nodes; i++)
        jw_str(w, node_title(&v->snap->nodes[nodes[i]]));
    jw_end(w);
    jw_key(w, "replacements");
    jw_list(w);
    for (uint32_t i = 0; i < c->n_claims; i++) {
        print_claim(w, v->snap, &c->claims[i]);
        view_flush(w, v);
    }
    jw_end(w);
    jw_key(w, "pods");
    jw_i64(w, c->n_pods);
    print_moves(w, v, c);
    jw_key(w, "price");
    jw_double(w, c->price);
    jw_key(w, "savings");
    jw_double(w, c->savings);
    command_text(&text, v->snap, c, nodes);
    print_text(w, "text", sb_view(&text));
    jw_end(w);
    sb_fini(&text);
}

static void print_candidate(struct jw *w, const struct plan_view *v, uint32_t node)
{
    const struct disrupt_node *n = &v->disruption->nodes[node];

    jw_map(w);
    jw_key(w, "node");
    jw_str(w, node_title(&v->snap->nodes[node]));
    jw_key(w, "eligible");
    jw_bool(w, n->eligible);
    if (n->command != UINT32_MAX) {
        jw_key(w, "command");
        jw_i64(w, n->command);
    } else {
        print_text(w, "reason", blocker_reason(&n->why));
        print_text(w, "kind", str_c(blocker_name(n->why.kind)));
        print_text(w, "object", n->why.object);
        print_text(w, "unblock", n->why.fix);
    }
    print_price(w, n->price);
    jw_end(w);
}

static void print_summary(struct jw *w, const struct plan_view *v)
{
    const struct disruption *d = v->disruption;
    int64_t removed = 0, added = 0, pods = 0;

    for (uint32_t i = 0; i < d->n_commands; i++) {
        removed += d->commands[i].n_nodes;
        added += d->commands[i].n_claims;
        pods += d->commands[i].n_pods;
    }
    const struct {
        const char *key;
        int64_t n;
    } counts[] = {{"nodes", v->snap->n_nodes}, {"candidates", d->n_candidates}, {"commands", d->n_commands},
                  {"nodesRemoved", removed},   {"nodesAdded", added},           {"podsMoved", pods}};

    jw_key(w, "summary");
    jw_map(w);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        jw_key(w, counts[i].key);
        jw_i64(w, counts[i].n);
    }
    jw_key(w, "hourlyCostBefore");
    jw_double(w, d->cost_before);
    jw_key(w, "hourlyCostAfter");
    jw_double(w, d->cost_after);
    jw_key(w, "savings");
    jw_double(w, d->cost_before - d->cost_after);
    jw_key(w, "scanMicros");
    jw_i64(w, v->micros);
    jw_end(w);
}

void disrupt_print_json(struct sb *b, const struct plan_view *v, bool yaml)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const uint32_t *order = nodes_by_title(a, v->snap, NULL, v->snap->n_nodes);
    struct jw w = {.out = b, .indent = 2, .yaml = yaml};

    jw_map(&w);
    jw_key(&w, "apiVersion");
    jw_c(&w, "plan.karpenter.sh/v1");
    jw_key(&w, "commands");
    jw_list(&w);
    for (uint32_t i = 0; i < v->disruption->n_commands; i++) {
        print_command(&w, v, &v->disruption->commands[i]);
        view_flush(&w, v);
    }
    jw_end(&w);
    jw_key(&w, "candidates");
    jw_list(&w);
    for (uint32_t i = 0; i < v->snap->n_nodes; i++) {
        print_candidate(&w, v, order[i]);
        view_flush(&w, v);
    }
    jw_end(&w);
    print_summary(&w, v);
    jw_end(&w);
    sb_char(b, '\n');
}
