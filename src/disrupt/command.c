/* Commands and methods in Karpenter's words (lifecycle 8.1, 8.14). */
#include "base/sb.h"
#include "disrupt/disrupt.h"

const char *disrupt_method_name(enum disrupt_method m)
{
    static const char *const names[N_METHODS] = {"emptiness", "static-drift", "drift", "multi", "single"};

    return names[m];
}

const char *disrupt_reason_name(enum disrupt_method m)
{
    static const char *const names[N_METHODS] = {"Empty", "Drifted", "Drifted", "Underutilized", "Underutilized"};

    return names[m];
}

const char *consolidation_type(enum disrupt_method m)
{
    static const char *const names[N_METHODS] = {"empty", "", "", "multi", "single"};

    return names[m];
}

str node_title(const struct state_node *n)
{
    return n->node ? n->node->name : n->claim->name;
}

const char *command_decision(const struct disrupt_command *c)
{
    return c->n_claims ? "replace" : "delete";
}

void command_text(struct sb *out, const struct snapshot *s, const struct disrupt_command *c, const uint32_t *nodes)
{
    sb_printf(out, "%s: [", command_decision(c));
    for (uint32_t i = 0; i < c->n_nodes; i++)
        sb_printf(out, "%s" STR_FMT, i ? ", " : "", STR_ARG(node_title(&s->nodes[nodes[i]])));
    sb_char(out, ']');
    if (c->n_claims)
        sb_printf(out, " -> [%u replacement%s]", c->n_claims, c->n_claims == 1 ? "" : "s");
}
