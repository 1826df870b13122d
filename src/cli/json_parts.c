/* What the documents share: pods, resources, NodeClaims as they would be written, and when to let go of text. */
#include "base/vec.h"
#include "cli/plan_view.h"
#include "data/json.h"

#define FLUSH_AT (1u << 20)

void view_flush(struct jw *w, const struct plan_view *v)
{
    if (v->flush && w->out->n >= FLUSH_AT)
        (void)v->flush(w->out);
}

void print_pod(struct jw *w, const struct snapshot *s, uint32_t pod)
{
    const struct pod *p = &s->pods[pod];
    struct sb name = {0};

    sb_str(&name, sym_str(s->syms, p->ns));
    sb_char(&name, '/');
    sb_str(&name, p->name);
    jw_str(w, sb_view(&name));
    sb_fini(&name);
}

int pods_by_name(const void *a, const void *b, void *ctx)
{
    const struct snapshot *s = ctx;
    const struct pod *x = &s->pods[*(const uint32_t *)a], *y = &s->pods[*(const uint32_t *)b];

    if (x->ns.v != y->ns.v)
        return str_cmp(sym_str(s->syms, x->ns), sym_str(s->syms, y->ns));
    return str_cmp(x->name, y->name);
}

void print_pods(struct jw *w, const struct snapshot *s, const uint32_t *pods, uint32_t n)
{
    uint32_t *sorted = xmalloc((n + 1) * sizeof(*sorted));

    if (n)
        memcpy(sorted, pods, n * sizeof(*sorted));
    sort_stable(sorted, n, sizeof(*sorted), pods_by_name, (void *)(uintptr_t)s);
    jw_key(w, "pods");
    jw_list(w);
    for (uint32_t i = 0; i < n; i++)
        print_pod(w, s, sorted[i]);
    jw_end(w);
    free(sorted);
}

void print_resources(struct jw *w, const struct syms *t, const struct reslist *l)
{
    struct sb q = {0};
    uint32_t *order = xmalloc((l->n + 1) * sizeof(*order));

    jw_map(w);
    for (uint32_t i = 0; i < l->n; i++) { /* by name: an insertion sort of a handful */
        uint32_t at = i;

        for (; at > 0 && str_cmp(sym_str(t, l->q[order[at - 1]].name), sym_str(t, l->q[i].name)) > 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (uint32_t i = 0; i < l->n; i++) {
        const struct resq *r = &l->q[order[i]];

        sb_reset(&q);
        quantity_print(&q, r->name, r->v, r->binary);
        jw_key_str(w, sym_str(t, r->name));
        jw_str(w, sb_view(&q));
    }
    jw_end(w);
    free(order);
    sb_fini(&q);
}

static int cmp_type_names(const void *a, const void *b, void *ctx)
{
    const struct snapshot *s = ctx;
    const struct itype *t = s->catalog->types;

    return str_cmp(sym_str(s->syms, t[*(const uint32_t *)a].name), sym_str(s->syms, t[*(const uint32_t *)b].name));
}

static void print_type_names(struct jw *w, const struct snapshot *s, const struct plan_claim *c)
{
    uint32_t *sorted = xmalloc((c->n_types + 1) * sizeof(*sorted));

    if (c->n_types)
        memcpy(sorted, c->types, c->n_types * sizeof(*sorted));
    sort_stable(sorted, c->n_types, sizeof(*sorted), cmp_type_names, (void *)(uintptr_t)s);
    for (uint32_t i = 0; i < c->n_types; i++)
        jw_str(w, sym_str(s->syms, s->catalog->types[sorted[i]].name));
    free(sorted);
}

static void print_requirements(struct jw *w, const struct snapshot *s, const struct plan_claim *c)
{
    jw_key(w, "requirements");
    jw_list(w);
    for (uint32_t i = 0; i < c->n_reqs; i++) {
        const struct plan_req *r = &c->reqs[i];

        jw_map(w);
        jw_key(w, "key");
        jw_str(w, sym_str(s->syms, r->key));
        jw_key(w, "operator");
        jw_c(w, req_op_name(r->op));
        if (r->n_vals || r->of_types) {
            jw_key(w, "values");
            jw_list(w);
            if (r->of_types)
                print_type_names(w, s, c);
            for (uint32_t k = 0; k < r->n_vals; k++)
                jw_str(w, r->vals[k]);
            jw_end(w);
        }
        if (r->min_values) {
            jw_key(w, "minValues");
            jw_i64(w, r->min_values);
        }
        jw_end(w);
    }
    jw_end(w);
}

static void print_taints(struct jw *w, const struct snapshot *s, const char *key, const struct taints *t)
{
    jw_key(w, key);
    jw_list(w);
    for (uint32_t i = 0; i < t->n; i++) {
        jw_map(w);
        jw_key(w, "key");
        jw_str(w, sym_str(s->syms, t->v[i].key));
        if (sym_some(t->v[i].value)) {
            jw_key(w, "value");
            jw_str(w, sym_str(s->syms, t->v[i].value));
        }
        jw_key(w, "effect");
        jw_c(w, taint_effect_name(t->v[i].effect));
        jw_end(w);
    }
    jw_end(w);
}

static void print_choice(struct jw *w, const struct snapshot *s, const struct plan_claim *c)
{
    if (c->price_usd_per_h < 0)
        return;
    jw_key(w, "capacityType");
    jw_str(w, sym_str(s->syms, c->capacity_type));
    jw_key(w, "zone");
    jw_str(w, sym_str(s->syms, c->zone));
    jw_key(w, "instanceType");
    jw_str(w, sym_str(s->syms, s->catalog->types[c->type].name));
    jw_key(w, "price");
    jw_double(w, c->price_usd_per_h);
}

void print_claim(struct jw *w, const struct snapshot *s, const struct plan_claim *c)
{
    const struct nodepool *np = &s->pools[c->pool];

    jw_map(w);
    jw_key(w, "nodePool");
    jw_str(w, np->name);
    print_pods(w, s, c->pods, c->n_pods);
    jw_key(w, "instanceTypes");
    jw_list(w);
    for (uint32_t i = 0; i < c->n_types; i++)
        jw_str(w, sym_str(s->syms, s->catalog->types[c->types[i]].name));
    jw_end(w);
    print_requirements(w, s, c);
    jw_key(w, "requests");
    print_resources(w, s->syms, &c->requests);
    print_taints(w, s, "taints", &np->tmpl.taints);
    print_taints(w, s, "startupTaints", &np->tmpl.startup_taints);
    if (c->min_values_relaxed) {
        jw_key(w, "minValuesRelaxed");
        jw_bool(w, true);
    }
    print_choice(w, s, c);
    jw_end(w);
}
