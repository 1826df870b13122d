/* live - what a pass of one method finds and says, as lines of text. Names of nodes that begin with `busy` are under way in
 * a command, `told` have heard why they stay, `nominated` and `buffer` are what they are called. Pods that wait and whose
 * names begin with `spare` are of a capacity buffer. */
#pragma once

#include "base/bits.h"
#include "base/sb.h"
#include "disrupt/pass.h"
#include "support/check.h"
#include "support/scenario.h"

struct live {
    struct scene s;
    struct pass_options o;
};

static inline void live_open(struct live *l, const char *text, enum disrupt_method m, bool compat)
{
    scene_open(&l->s, text);
    struct snapshot *s = l->s.snap;
    uint64_t *busy = arena_new_array(l->s.a, uint64_t, BITS_WORDS(s->n_nodes)),
             *told = arena_new_array(l->s.a, uint64_t, BITS_WORDS(s->n_nodes));

    for (uint32_t i = 0; i < s->n_nodes; i++) {
        str name = node_title(&s->nodes[i]);

        if (str_starts(name, STR("busy")))
            bit_set(busy, i);
        if (str_starts(name, STR("told")))
            bit_set(told, i);
        s->nodes[i].nominated = str_starts(name, STR("nominated"));
        s->nodes[i].n_buffer_pods = str_starts(name, STR("buffer"));
    }
    for (uint32_t i = 0; i < s->n_pods; i++)
        s->pods[i].of_buffer = str_starts(s->pods[i].name, STR("spare"));
    l->o = (struct pass_options){.method = m, .compat = compat, .busy = busy, .told = told};
}

static inline void live_put_remark(struct sb *b, const struct snapshot *s, const struct remark *x)
{
    static const char *const kinds[] = {"blocked", "unconsolidatable", "candidate", "approved"};

    if (x->node == UINT32_MAX)
        sb_printf(b, "%s pool " STR_FMT ": " STR_FMT, kinds[x->kind], STR_ARG(s->pools[x->pool].name),
                  STR_ARG(x->text));
    else
        sb_printf(b, "%s " STR_FMT ": " STR_FMT, kinds[x->kind], STR_ARG(node_title(&s->nodes[x->node])),
                  STR_ARG(x->text));
    if (x->kind == REMARK_CANDIDATE)
        sb_printf(b, " saves %.2f", x->savings);
    sb_char(b, '\n');
}

/* Commands, then remarks, then moves, then what else is to be known; a line each. */
static inline str live_text(const struct live *l, const struct pass *p, struct arena *a)
{
    const struct snapshot *s = l->s.snap;
    struct sb b = {0};

    for (uint32_t i = 0; i < p->n_commands; i++) {
        sb_printf(&b, "%s ", disrupt_method_name(p->commands[i].method));
        command_text(&b, s, &p->commands[i], p->commands[i].nodes);
        sb_char(&b, '\n');
    }
    for (uint32_t i = 0; i < p->n_remarks; i++)
        live_put_remark(&b, s, &p->remarks[i]);
    for (uint32_t i = 0; i < p->n_moves; i++) {
        sb_printf(&b, "move " STR_FMT " %s", STR_ARG(s->pools[p->moves[i].pool].name),
                  p->moves[i].approved ? "approved" : "rejected");
        if (p->moves[i].scored)
            sb_printf(&b, " %.2f", p->moves[i].score);
        sb_char(&b, '\n');
    }
    if (p->constrained)
        sb_c(&b, "constrained\n");
    if (p->error.n)
        sb_printf(&b, "error: " STR_FMT "\n", STR_ARG(p->error));
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}
