#include "plan_dump.h"

#include "base/sb.h"

static void dump_claim(struct sb *out, const struct syms *t, const struct plan_claim *c)
{
    sb_printf(out, "claim of %u:", c->pool);
    for (uint32_t i = 0; i < c->n_pods; i++)
        sb_printf(out, " %u", c->pods[i]);
    sb_c(out, "\n  types");
    for (uint32_t i = 0; i < c->n_types; i++)
        sb_printf(out, " %u", c->types[i]);
    for (uint32_t i = 0; i < c->n_reqs; i++) {
        sb_printf(out, "\n  " STR_FMT " %s", STR_ARG(sym_str(t, c->reqs[i].key)), req_op_name(c->reqs[i].op));
        for (uint32_t k = 0; k < c->reqs[i].n_vals; k++)
            sb_printf(out, " " STR_FMT, STR_ARG(c->reqs[i].vals[k]));
        sb_printf(out, " %d", c->reqs[i].min_values);
    }
    sb_c(out, "\n  ");
    reslist_print_json(out, t, &c->requests);
    sb_printf(out, " %d %u %u %u %.17g\n", c->min_values_relaxed, c->type, c->zone.v, c->capacity_type.v,
              c->price_usd_per_h);
}

str plan_dump(struct arena *a, const struct syms *t, const struct plan *p, bool reasons)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < p->n_claims; i++)
        dump_claim(&b, t, &p->claims[i]);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        sb_printf(&b, "node %u:", p->nodes[i].node);
        for (uint32_t k = 0; k < p->nodes[i].n_pods; k++)
            sb_printf(&b, " %u", p->nodes[i].pods[k]);
        sb_char(&b, '\n');
    }
    for (uint32_t i = 0; i < p->n_failures; i++) {
        sb_printf(&b, "failure %u %d ", p->failures[i].pod, p->failures[i].why->deferred);
        if (reasons)
            sb_str(&b, p->failures[i].why->reason);
        sb_char(&b, '\n');
    }
    str ret = sb_dup(&b, a);
    sb_fini(&b);
    return ret;
}

void text_difference(str x, str y, str *ret_x, str *ret_y)
{
    do {
        (void)str_cut(x, '\n', ret_x, &x);
        (void)str_cut(y, '\n', ret_y, &y);
    } while (str_eq(*ret_x, *ret_y) && (x.n || y.n));
}
