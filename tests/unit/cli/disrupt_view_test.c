/* Removals as documents and tables, from made-up results: what the planner decides is tested elsewhere. */
#include "base/arena.h"
#include "base/vec.h"
#include "cli/plan_view.h"
#include "support/check.h"

#define MANY 500

struct world {
    struct arena *a;
    struct syms *syms;
    struct catalog catalog;
    struct snapshot s;
    struct disruption d;
    struct plan_view v;
    struct sb out;
};

/* `n` nodes node-000, node-001, … of type t-1 that stay for no reason, in the opposite order. */
static void make_nodes(struct world *w, uint32_t n)
{
    struct label labels[] = {{SYM(ITYPE), sym_of(w->syms, STR("t-1"))}, {SYM(CT), sym_of(w->syms, STR("spot"))}};
    lset_id set = lset_of(w->syms, labels, ARRAY_LEN(labels));

    w->s.nodes = arena_new_array(w->a, struct state_node, n);
    w->s.n_nodes = n;
    w->d.nodes = arena_new_array(w->a, struct disrupt_node, n);
    for (uint32_t i = 0; i < n; i++) {
        struct node *node = arena_new_one(w->a, struct node);

        node->name = arena_printf(w->a, "node-%03u", n - 1 - i);
        w->s.nodes[i] = (struct state_node){.node = node, .name = node->name, .labels = set};
        w->d.nodes[i] = (struct disrupt_node){.command = UINT32_MAX, .price = 0.5};
    }
    w->d.cost_before = w->d.cost_after = 0.5 * n;
}

static int set_up(void **state)
{
    struct world *w = xcalloc(1, sizeof(*w));

    w->a = arena_new(0);
    w->syms = syms_new();
    w->catalog.origin = STR("made up");
    w->s = (struct snapshot){.syms = w->syms, .catalog = &w->catalog};
    w->v = (struct plan_view){.snap = &w->s, .disruption = &w->d, .micros = 7};
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    sb_fini(&w->out);
    syms_free(w->syms);
    arena_free(w->a);
    free(w);
    return 0;
}

static str table(struct world *w)
{
    sb_reset(&w->out);
    disrupt_print_table(&w->out, &w->v);
    return sb_view(&w->out);
}

static void add_command(struct world *w, enum disrupt_method m, uint32_t first, uint32_t n)
{
    struct disrupt_command *all = arena_new_array(w->a, struct disrupt_command, w->d.n_commands + 1);
    struct disrupt_command *c = &all[w->d.n_commands];

    if (w->d.n_commands)
        memcpy(all, w->d.commands, w->d.n_commands * sizeof(*all));
    *c = (struct disrupt_command){.method = m, .nodes = arena_new_array(w->a, uint32_t, n), .n_nodes = n};
    for (uint32_t i = 0; i < n; i++) {
        c->nodes[i] = first + i;
        c->price += w->d.nodes[first + i].price;
        w->d.nodes[first + i].command = w->d.n_commands;
        w->d.nodes[first + i].eligible = true;
    }
    c->savings = c->price;
    w->d.cost_after -= c->savings;
    w->d.n_candidates += n;
    w->d.commands = all;
    w->d.n_commands++;
}

static void document(void **state)
{
    struct world *w = *state;

    make_nodes(w, 3);
    add_command(w, METHOD_EMPTINESS, 0, 2);
    w->d.nodes[2].why = (struct blocker){
        .kind = BLOCK_PDB,
        .object = STR("PodDisruptionBudget default/web"),
        .text = STR("Pdb prevents pod evictions (PodDisruptionBudget=[default/web])"),
        .fix = STR("allow one"),
    };
    disrupt_print_json(&w->out, &w->v, true);
    check_str("yaml", sb_view(&w->out),
              "apiVersion: plan.karpenter.sh/v1\n"
              "commands:\n"
              "- method: Empty\n"
              "  consolidationType: empty\n"
              "  decision: delete\n"
              "  nodes:\n"
              "  - node-001\n"
              "  - node-002\n"
              "  replacements: []\n"
              "  pods: 0\n"
              "  moves: []\n"
              "  price: 1\n"
              "  savings: 1\n"
              "  text: \"delete: [node-001, node-002]\"\n"
              "candidates:\n"
              "- node: node-000\n"
              "  eligible: false\n"
              "  reason: Pdb prevents pod evictions (PodDisruptionBudget=[default/web])\n"
              "  kind: pdb\n"
              "  object: PodDisruptionBudget default/web\n"
              "  unblock: allow one\n"
              "  price: 0.5\n"
              "- node: node-001\n"
              "  eligible: true\n"
              "  command: 0\n"
              "  price: 0.5\n"
              "- node: node-002\n"
              "  eligible: true\n"
              "  command: 0\n"
              "  price: 0.5\n"
              "summary:\n"
              "  nodes: 3\n"
              "  candidates: 2\n"
              "  commands: 1\n"
              "  nodesRemoved: 2\n"
              "  nodesAdded: 0\n"
              "  podsMoved: 0\n"
              "  hourlyCostBefore: 1.5\n"
              "  hourlyCostAfter: 0.5\n"
              "  savings: 1\n"
              "  scanMicros: 7\n");
}

static void small_table(void **state)
{
    struct world *w = *state;

    make_nodes(w, 4);
    add_command(w, METHOD_EMPTINESS, 0, 2);
    w->d.nodes[2].why = (struct blocker){.kind = BLOCK_NOT_CHEAPER};
    w->d.nodes[3].why =
        (struct blocker){.kind = BLOCK_POLICY, .text = STR("only empty ones"), .fix = STR("ask for more")};
    w->d.nodes[3].price = 0;
    check_str("table", table(w),
              "What would be removed\n"
              "  Empty: delete 2 nodes, no pods move\n"
              "      goes:   node-002, node-003 (2× t-1, spot, $0.5000 each)\n"
              "      saves:  $1.0000 an hour, $730.00 a month\n"
              "\n"
              "Nodes that stay\n"
              "  NODE      $/HOUR  WHY → WHAT WOULD CHANGE IT\n"
              "  node-000          only empty ones → ask for more\n"
              "  node-001  0.5000  nothing cheaper could take its place\n"
              "\n"
              "Total\n"
              "  nodes           4, 2 of them candidates: 2 go, 0 come\n"
              "  cost            $2.0000 → $1.0000 an hour, $1,460.00 → $730.00 a month (730 h)\n"
              "  saved           $1.0000 an hour, $730.00 a month, 50.0%\n"
              "  not counted     1 node without a known price\n"
              "  instance types  made up\n"
              "  solved in       7 µs\n");
}

static uint32_t count_lines(str s, const char *with)
{
    uint32_t n = 0;

    while (s.n) {
        str line;

        (void)str_cut(s, '\n', &line, &s);
        n += str_contains(line, str_c(with));
    }
    return n;
}

static void reasons_are_grouped(void **state)
{
    struct world *w = *state;

    make_nodes(w, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        w->d.nodes[i].why = (struct blocker){.kind = BLOCK_NOT_CHEAPER};
    check_u64("the same reason, one line", count_lines(table(w), "500×  node-000, node-001, node-002, …"), 1);

    for (uint32_t i = 0; i < MANY; i++)
        w->d.nodes[i].why = (struct blocker){
            .kind = i < 3 ? BLOCK_PDB : BLOCK_POD_ANNOTATION,
            .object = arena_printf(w->a, "Pod default/web-%u", i),
            .text = arena_printf(w->a, "pod web-%u", i),
            .fix = arena_printf(w->a, "change web-%u", i),
        };
    str t = table(w);
    check_u64("few of a kind, a line each", count_lines(t, "  pod web-"), 3);
    check_u64("many of a kind share one", count_lines(t, "497×  node-000, node-001, node-002, …"), 1);
    check_u64("with one of them", count_lines(t, "(Pod default/web-499, …) → for example: change web-499"), 1);
    assert_true(str_contains(t, STR("Nothing would be removed\n")));
}

static void commands_are_bounded(void **state)
{
    struct world *w = *state;

    make_nodes(w, MANY);
    for (uint32_t i = 0; i < 30; i++) /* the last six are alike, the others cost more and more */
        w->d.nodes[i].price = i < 24 ? i + 1 : 0.25;
    for (uint32_t i = 0; i < 30; i++)
        add_command(w, METHOD_SINGLE, i, 1);
    str t = table(w);
    check_u64("entries", count_lines(t, "Underutilized: delete "), 20);
    check_u64("the costliest first", count_lines(t, "goes:   node-476 (t-1, spot, $24.0000)"), 1);
    check_u64("those left out",
              count_lines(t, "… and 10 more commands for 10 nodes that save $11.5000 an hour; -o json"), 1);
    check_u64("a sum of all", count_lines(t, "All of it by type"), 1);
    check_u64("alike ones first",
              count_lines(t, "goes:   node-470, node-471, node-472, node-473, node-474, node-475 (6× "), 1);
}

static void nothing_to_remove(void **state)
{
    struct world *w = *state;
    str t = table(w);

    assert_true(str_contains(t, STR("There are no nodes in the input\n")));
    assert_true(str_contains(t, STR("kubectl get nodepools,nodeclaims,nodes,pods,pdb,ds,pvc,pv,sc -A -o yaml\n")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(document, set_up, tear_down),
        cmocka_unit_test_setup_teardown(small_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reasons_are_grouped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(commands_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_to_remove, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
