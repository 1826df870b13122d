#include "base/vec.h"
#include "cli/plan_view.h"
#include "data/json.h"

#define FLUSH_AT (1u << 20)

static void flush(struct jw *w, const struct plan_view *v)
{
    if (v->flush && w->out->n >= FLUSH_AT)
        (void)v->flush(w->out);
}

static void print_pod(struct jw *w, const struct plan_view *v, uint32_t pod)
{
    const struct pod *p = &v->snap->pods[pod];
    struct sb name = {0};

    sb_str(&name, sym_str(v->snap->syms, p->ns));
    sb_char(&name, '/');
    sb_str(&name, p->name);
    jw_str(w, sb_view(&name));
    sb_fini(&name);
}

static int cmp_pods(const void *a, const void *b, void *ctx)
{
    const struct plan_view *v = ctx;
    const struct pod *x = &v->snap->pods[*(const uint32_t *)a], *y = &v->snap->pods[*(const uint32_t *)b];

    if (x->ns.v != y->ns.v)
        return str_cmp(sym_str(v->snap->syms, x->ns), sym_str(v->snap->syms, y->ns));
    return str_cmp(x->name, y->name);
}

static void print_pods(struct jw *w, const struct plan_view *v, const uint32_t *pods, uint32_t n)
{
    uint32_t *sorted = xmalloc(n * sizeof(*sorted));

    memcpy(sorted, pods, n * sizeof(*sorted));
    sort_stable(sorted, n, sizeof(*sorted), cmp_pods, (void *)(uintptr_t)v);
    jw_key(w, "pods");
    jw_list(w);
    for (uint32_t i = 0; i < n; i++)
        print_pod(w, v, sorted[i]);
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
    const struct plan_view *v = ctx;
    const struct itype *t = v->snap->catalog->types;

    return str_cmp(sym_str(v->snap->syms, t[*(const uint32_t *)a].name),
                   sym_str(v->snap->syms, t[*(const uint32_t *)b].name));
}

static void print_type_names(struct jw *w, const struct plan_view *v, const struct plan_claim *c)
{
    uint32_t *sorted = xmalloc((c->n_types + 1) * sizeof(*sorted));

    memcpy(sorted, c->types, c->n_types * sizeof(*sorted));
    sort_stable(sorted, c->n_types, sizeof(*sorted), cmp_type_names, (void *)(uintptr_t)v);
    for (uint32_t i = 0; i < c->n_types; i++)
        jw_str(w, sym_str(v->snap->syms, v->snap->catalog->types[sorted[i]].name));
    free(sorted);
}

static void print_requirements(struct jw *w, const struct plan_view *v, const struct plan_claim *c)
{
    jw_key(w, "requirements");
    jw_list(w);
    for (uint32_t i = 0; i < c->n_reqs; i++) {
        const struct plan_req *r = &c->reqs[i];

        jw_map(w);
        jw_key(w, "key");
        jw_str(w, sym_str(v->snap->syms, r->key));
        jw_key(w, "operator");
        jw_c(w, req_op_name(r->op));
        if (r->n_vals || r->of_types) {
            jw_key(w, "values");
            jw_list(w);
            if (r->of_types)
                print_type_names(w, v, c);
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

static void print_taints(struct jw *w, const struct plan_view *v, const char *key, const struct taints *t)
{
    jw_key(w, key);
    jw_list(w);
    for (uint32_t i = 0; i < t->n; i++) {
        jw_map(w);
        jw_key(w, "key");
        jw_str(w, sym_str(v->snap->syms, t->v[i].key));
        if (sym_some(t->v[i].value)) {
            jw_key(w, "value");
            jw_str(w, sym_str(v->snap->syms, t->v[i].value));
        }
        jw_key(w, "effect");
        jw_c(w, taint_effect_name(t->v[i].effect));
        jw_end(w);
    }
    jw_end(w);
}

static void print_choice(struct jw *w, const struct plan_view *v, const struct plan_claim *c)
{
    if (c->price_usd_per_h < 0)
        return;
    jw_key(w, "capacityType");
    jw_str(w, sym_str(v->snap->syms, c->capacity_type));
    jw_key(w, "zone");
    jw_str(w, sym_str(v->snap->syms, c->zone));
    jw_key(w, "instanceType");
    jw_str(w, sym_str(v->snap->syms, v->snap->catalog->types[c->type].name));
    jw_key(w, "price");
    jw_double(w, c->price_usd_per_h);
}

static void print_claim(struct jw *w, const struct plan_view *v, const struct plan_claim *c)
{
    const struct nodepool *np = &v->snap->pools[c->pool];

    jw_map(w);
    jw_key(w, "nodePool");
    jw_str(w, np->name);
    print_pods(w, v, c->pods, c->n_pods);
    jw_key(w, "instanceTypes");
    jw_list(w);
    for (uint32_t i = 0; i < c->n_types; i++)
        jw_str(w, sym_str(v->snap->syms, v->snap->catalog->types[c->types[i]].name));
    jw_end(w);
    print_requirements(w, v, c);
    jw_key(w, "requests");
    print_resources(w, v->snap->syms, &c->requests);
    print_taints(w, v, "taints", &np->tmpl.taints);
    print_taints(w, v, "startupTaints", &np->tmpl.startup_taints);
    if (c->min_values_relaxed) {
        jw_key(w, "minValuesRelaxed");
        jw_bool(w, true);
    }
    print_choice(w, v, c);
    jw_end(w);
}

static void print_near(struct jw *w, const struct plan_view *v, const struct plan_near *n)
{
    const struct {
        const char *key;
        str val;
    } texts[] = {{"key", n->key}, {"needs", n->needs}, {"has", n->has}, {"hint", n->hint}};

    if (!n->present)
        return;
    jw_key(w, "nearest");
    jw_map(w);
    jw_key(w, "nodePool");
    jw_str(w, v->snap->pools[n->pool].name);
    if (n->type != UINT32_MAX) {
        jw_key(w, "instanceType");
        jw_str(w, sym_str(v->snap->syms, v->snap->catalog->types[n->type].name));
    }
    jw_key(w, "constraint");
    jw_c(w, n->constraint);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i].val.n) {
            jw_key(w, texts[i].key);
            jw_str(w, texts[i].val);
        }
    jw_end(w);
}

static void print_failures(struct jw *w, const struct plan_view *v)
{
    jw_key(w, "unschedulable");
    jw_list(w);
    for (uint32_t i = 0; i < v->plan->n_failures; i++) {
        const struct plan_failure *f = &v->plan->failures[i];

        jw_map(w);
        jw_key(w, "pod");
        print_pod(w, v, f->pod);
        jw_key(w, "reason");
        jw_str(w, f->why->reason);
        if (f->why->deferred) {
            jw_key(w, "deferred");
            jw_bool(w, true);
        }
        print_near(w, v, &f->why->near);
        jw_end(w);
        flush(w, v);
    }
    jw_end(w);
}

static void print_summary(struct jw *w, const struct plan_view *v)
{
    const struct plan *p = v->plan;
    int64_t on_new = 0, on_old = 0;

    for (uint32_t i = 0; i < p->n_claims; i++)
        on_new += p->claims[i].n_pods;
    for (uint32_t i = 0; i < p->n_nodes; i++)
        on_old += p->nodes[i].n_pods;
    jw_key(w, "summary");
    jw_map(w);
    jw_key(w, "pods");
    jw_i64(w, on_new + on_old + p->n_failures);
    jw_key(w, "placedOnExisting");
    jw_i64(w, on_old);
    jw_key(w, "placedOnNew");
    jw_i64(w, on_new);
    jw_key(w, "unschedulable");
    jw_i64(w, p->n_failures);
    jw_key(w, "newNodes");
    jw_i64(w, p->n_claims);
    jw_key(w, "hourlyCost");
    jw_double(w, p->hourly_cost);
    jw_key(w, "lowerBound");
    if (p->has_bound)
        jw_double(w, p->lower_bound);
    else
        jw_null(w);
    jw_key(w, "solveMicros");
    jw_i64(w, v->solve_micros);
    jw_end(w);
}

void plan_print_json(struct sb *b, const struct plan_view *v, bool yaml)
{
    struct jw w = {.out = b, .indent = 2, .yaml = yaml};

    jw_map(&w);
    jw_key(&w, "apiVersion");
    jw_c(&w, "plan.karpenter.sh/v1");
    jw_key(&w, "newNodeClaims");
    jw_list(&w);
    for (uint32_t i = 0; i < v->plan->n_claims; i++) {
        print_claim(&w, v, &v->plan->claims[i]);
        flush(&w, v);
    }
    jw_end(&w);
    jw_key(&w, "existingNodes");
    jw_list(&w);
    for (uint32_t i = 0; i < v->plan->n_nodes; i++) {
        jw_map(&w);
        jw_key(&w, "name");
        jw_str(&w, v->snap->nodes[v->plan->nodes[i].node].name);
        print_pods(&w, v, v->plan->nodes[i].pods, v->plan->nodes[i].n_pods);
        jw_end(&w);
        flush(&w, v);
    }
    jw_end(&w);
    print_failures(&w, v);
    print_summary(&w, v);
    jw_end(&w);
    sb_char(b, '\n');
}
