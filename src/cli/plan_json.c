#include "cli/plan_view.h"
#include "data/json.h"

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
        print_pod(w, v->snap, f->pod);
        jw_key(w, "reason");
        jw_str(w, f->why->reason);
        if (f->why->deferred) {
            jw_key(w, "deferred");
            jw_bool(w, true);
        }
        print_near(w, v, &f->why->near);
        jw_end(w);
        view_flush(w, v);
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
    jw_i64(w, v->micros);
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
        print_claim(&w, v->snap, &v->plan->claims[i]);
        view_flush(&w, v);
    }
    jw_end(&w);
    jw_key(&w, "existingNodes");
    jw_list(&w);
    for (uint32_t i = 0; i < v->plan->n_nodes; i++) {
        jw_map(&w);
        jw_key(&w, "name");
        jw_str(&w, v->snap->nodes[v->plan->nodes[i].node].name);
        print_pods(&w, v->snap, v->plan->nodes[i].pods, v->plan->nodes[i].n_pods);
        jw_end(&w);
        view_flush(&w, v);
    }
    jw_end(&w);
    print_failures(&w, v);
    print_summary(&w, v);
    jw_end(&w);
    sb_char(b, '\n');
}
