/* What a pass has to say: events of nodes and pools, gauges, counters. */
#include "base/bits.h"
#include "base/map.h"
#include "control/disruption_int.h"
#include "control/protection.h"
#include "data/json.h"
#include "disrupt/candidate.h"

#define UNCONSOLIDATABLE "Unconsolidatable"
#define UNCONSOLIDATABLE_MS (15 * 60 * 1000ll)
#define BUDGET_MS (60 * 1000ll)

/* ---- events ---- */

/* What makes an event another one than those before it. */
static uint32_t key_of(const struct saying *x, str ret[2])
{
    ret[0] = x->uid;
    ret[1] = x->more_key;
    return x->more_key.n ? 2 : 1;
}

int64_t disruption_said_until(struct control *c, const struct saying *x)
{
    str key[2];
    uint32_t n = key_of(x, key);

    return recorder_knows_until(c->recorder, x->reason, key, n);
}

void disruption_say(struct control *c, const struct saying *x)
{
    str key[2];
    uint32_t n = key_of(x, key);

    recorder_publish(c->recorder, &(struct event){
                                      .object = {.kind = x->kind, .name = x->name, .uid = x->uid},
                                      .reason = x->reason,
                                      .message = x->message,
                                      .dedupe = key,
                                      .n_dedupe = n,
                                      .dedupe_ms = x->dedupe_ms,
                                  });
}

static struct saying about(const struct saying *x, const struct api_kind *kind, str name, str uid)
{
    struct saying v = *x;

    v.kind = kind;
    v.name = name;
    v.uid = uid;
    return v;
}

uint32_t remark_sayings(struct arena *a, const struct snapshot *s, enum disrupt_method m, const struct remark *r,
                        struct saying ret[2])
{
    static const char *const reasons[] = {
        [REMARK_BLOCKED] = "DisruptionBlocked",
        [REMARK_UNCONSOLIDATABLE] = UNCONSOLIDATABLE,
        [REMARK_CANDIDATE] = "ConsolidationCandidate",
        [REMARK_APPROVED] = "ConsolidationApproved",
    };
    struct saying x = {.reason = reasons[r->kind], .message = r->text};
    uint32_t n = 0;

    if (r->kind == REMARK_CANDIDATE)
        x.message =
            arena_printf(a, "Consolidation candidate: " STR_FMT " (savings: $%.2f)", STR_ARG(r->text), r->savings);
    if (r->node == UINT32_MAX) {
        const struct nodepool *p = &s->pools[r->pool];

        x.more_key = r->kind == REMARK_BLOCKED ? str_c(disrupt_reason_name(m)) : (str){0};
        x.dedupe_ms = r->kind == REMARK_BLOCKED ? BUDGET_MS : 0;
        ret[n++] = about(&x, &api_nodepools, p->name, p->uid);
        return n;
    }
    const struct state_node *node = &s->nodes[r->node];
    x.more_key = r->kind == REMARK_CANDIDATE ? r->text : (str){0};
    x.dedupe_ms = r->kind == REMARK_UNCONSOLIDATABLE ? UNCONSOLIDATABLE_MS : 0;
    if (node->node)
        ret[n++] = about(&x, &api_nodes, node->node->name, node->node->uid);
    if (node->claim)
        ret[n++] = about(&x, &api_nodeclaims, node->claim->name, node->claim->uid);
    return n;
}

static void say(struct disruptor *d, struct arena *a, const struct snapshot *s, enum disrupt_method m,
                const struct remark *r)
{
    struct saying v[2];
    uint32_t n = remark_sayings(a, s, m, r, v);

    for (uint32_t i = 0; i < n; i++)
        disruption_say(d->c, &v[i]);
}

/* ---- pods that do not want to be disrupted (lifecycle 1.2) ---- */

/* Whose pods are looked at: nothing else keeps the node from being a candidate. */
static bool is_about_pods(const struct disruptor *d, const struct state_node *n)
{
    return n->node && n->claim && n->initialized && !n->deleting && !n->nominated && !n->node->do_not_disrupt &&
           !disruption_is_taken(d, n->node->provider_id);
}

void protections_report(struct disruptor *d, struct arena *a, const struct snapshot *s)
{
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const struct state_node *n = &s->nodes[i];
        bool blocked = !is_about_pods(d, n);

        for (uint32_t k = 0; k < n->n_pods && !blocked; k++) {
            const struct pod *p = &s->pods[n->pods[k]];

            if (p->do_not_disrupt.n == 0 || !pod_is_active(p))
                continue;
            protection_say(d->c->recorder, a, s->syms, p, s->now_ms);
            blocked = pod_is_protected(p, s->now_ms); /* no need to look any further */
        }
    }
}

static bool is_told(struct disruptor *d, const struct snapshot *s, uint32_t node)
{
    const struct state_node *n = &s->nodes[node];

    if (!n->node || !n->claim)
        return false;
    while (d->told.n <= node)
        vec_push(&d->told, (struct told){0});
    struct told *t = &d->told.v[node];
    str x = n->node->uid, y = n->claim->uid;
    uint64_t who = hash_bytes(x.p, x.n, hash_bytes(y.p, y.n, 0));
    int64_t now_us = world_mono_us(d->c->world);
    if (t->who != who || t->until_us <= now_us)
        *t = (struct told){who, MIN(recorder_knows_until(d->c->recorder, UNCONSOLIDATABLE, &x, 1),
                                    recorder_knows_until(d->c->recorder, UNCONSOLIDATABLE, &y, 1))};
    return t->until_us > now_us;
}

uint64_t *pass_told(struct disruptor *d, struct arena *a, const struct snapshot *s)
{
    uint64_t *told = arena_new_array(a, uint64_t, (s->n_nodes + 63) / 64 + 1);

    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (is_told(d, s, i))
            bit_set(told, i);
    return told;
}

void pass_told_more(struct disruptor *d, const struct snapshot *s, const struct pass *p, uint64_t *told)
{
    for (uint32_t i = 0; i < p->n_remarks; i++) {
        uint32_t node = p->remarks[i].node;

        if (p->remarks[i].kind == REMARK_UNCONSOLIDATABLE && node != UINT32_MAX && is_told(d, s, node))
            bit_set(told, node);
    }
}

void removal_rejected(struct disruptor *d, struct arena *a, const struct removal *x, enum recheck why,
                      uint32_t n_failed)
{
    static const char *const whys[] = {[RECHECK_GOOD] = "unknown",
                                       [RECHECK_CHURN] = "churn",
                                       [RECHECK_BUDGET] = "budget",
                                       [RECHECK_SCHEDULING] = "scheduling"};
    str text = removal_text(x, a);

    if (n_failed)
        metric_inc(d->c->metrics->voluntary_disruption_failed_validations_total, n_failed,
                   METRIC_VALS(str_c(consolidation_type(x->method))));
    if (x->method != METHOD_SINGLE) /* quirk: of several nodes nothing is said (lifecycle 8.10) */
        return;
    str message = arena_printf(a, "Consolidation rejected: " STR_FMT ", reason: %s (savings: $%.2f)", STR_ARG(text),
                               whys[why], x->savings);
    str key = arena_printf(a, STR_FMT "-%s", STR_ARG(text), whys[why]);
    for (uint32_t i = 0; i < x->n_leavers; i++) {
        const struct leaver *l = &x->leavers[i];

        const struct saying said = {.reason = "ConsolidationRejected", .message = message, .more_key = key};
        struct saying v[] = {about(&said, &api_nodes, l->node, l->node_uid),
                             about(&said, &api_nodeclaims, l->claim, l->claim_uid)};

        disruption_say(d->c, &v[0]);
        disruption_say(d->c, &v[1]);
    }
}

/* ---- figures ---- */

static str policy_name(enum consolidation_policy p)
{
    switch (p) {
    case CONSOLIDATE_EMPTY:
        return STR("WhenEmpty");
    case CONSOLIDATE_BALANCED:
        return STR("Balanced");
    case CONSOLIDATE_EMPTY_OR_UNDERUTILIZED:
        break;
    }
    return STR("WhenEmptyOrUnderutilized");
}

static str names_json(struct arena *a, const struct snapshot *s, const uint32_t *nodes, uint32_t n)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_list(&w);
    for (uint32_t i = 0; i < n; i++)
        jw_str(&w, node_title(&s->nodes[nodes[i]]));
    jw_end(&w);
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static void log_score(struct reconcile *r, const struct snapshot *s, const struct pass_move *m)
{
    if (!log_wants(r->log, LOG_DEBUG))
        return;
    log_debug(r->log, "consolidation score", LOG_STR("nodepool", s->pools[m->pool].name), LOG_DOUBLE("score", m->score),
              LOG_DOUBLE("savings_fraction", m->saved), LOG_DOUBLE("disruption_fraction", m->disrupted),
              LOG_DOUBLE("savings", m->savings), LOG_DOUBLE("disruption_cost", m->disruption),
              LOG_DOUBLE("nodepool_total_cost", m->pool_cost),
              LOG_DOUBLE("nodepool_total_disruption_cost", m->pool_disruption),
              LOG_DOUBLE("threshold", BALANCE_THRESHOLD), LOG_I64("k", 2), LOG_BOOL("approved", m->approved),
              LOG_STR("decision", m->replaces ? STR("replace") : STR("delete")),
              LOG_JSON("candidates", names_json(r->arena, s, m->nodes, m->n_nodes)));
}

static void count_moves(struct disruptor *d, struct reconcile *r, const struct snapshot *s, const struct pass *p)
{
    for (uint32_t i = 0; i < p->n_moves; i++) {
        const struct pass_move *m = &p->moves[i];
        const str *vals = METRIC_VALS(m->approved ? STR("approved") : STR("rejected"), s->pools[m->pool].name,
                                      policy_name(s->pools[m->pool].policy));

        metric_inc(d->c->metrics->consolidation_moves_total, 1, vals);
        if (!m->scored)
            continue;
        metric_observe(d->c->metrics->consolidation_score, m->score, vals, s->now_ms);
        log_score(r, s, m);
    }
}

static void show_budgets(struct disruptor *d, const struct snapshot *s, enum disrupt_method m, const struct pass *p)
{
    for (uint32_t i = 0; p->budgets && i < s->n_pools; i++) {
        const str *vals = METRIC_VALS(s->pools[i].name, str_c(disrupt_reason_name(m)));

        metric_set(d->c->metrics->nodepools_allowed_disruptions, (double)p->budgets[i].allowed, vals);
        metric_set(d->c->metrics->nodepools_nodes_consuming_budgets, p->budgets[i].disrupting, vals);
    }
}

void pass_report(struct disruptor *d, struct reconcile *r, const struct snapshot *s, enum disrupt_method m,
                 const struct pass *p)
{
    metric_set(d->c->metrics->voluntary_disruption_eligible_nodes, p->n_candidates,
               METRIC_VALS(str_c(method_label(m))));
    show_budgets(d, s, m, p);
    for (uint32_t i = 0; i < p->n_remarks; i++)
        say(d, r->arena, s, m, &p->remarks[i]);
    count_moves(d, r, s, p);
}

void pass_took(struct disruptor *d, enum disrupt_method m, int64_t began_us)
{
    metric_observe(d->c->metrics->voluntary_disruption_decision_evaluation_duration,
                   (double)(world_mono_us(d->c->world) - began_us) / 1e6,
                   METRIC_VALS(str_c(method_label(m)), str_c(consolidation_type(m))), world_now_ms(d->c->world));
}

/* One for a search, however many questions it asks; empty nodes and those of static pools ask none. */
void pass_solved(struct disruptor *d, struct arena *a, enum disrupt_method m, int64_t began_us)
{
    struct control_metrics *x = d->c->metrics;
    str by = STR("disruption");

    if (m == METHOD_EMPTINESS || m == METHOD_STATIC_DRIFT)
        return;
    metric_observe(x->scheduler_scheduling_duration, (double)(world_mono_us(d->c->world) - began_us) / 1e6,
                   METRIC_VALS(by), world_now_ms(d->c->world));
    metric_drop_where(x->scheduler_queue_depth, /* at= */ 0, by);
    metric_set(x->scheduler_queue_depth, 0,
               METRIC_VALS(by, arena_printf(a, "%llu", (unsigned long long)++d->n_solved)));
}

/* A pool whose budgets cannot be read stays as it is, and somebody should know. */
void budgets_report(struct reconcile *r, const struct snapshot *s)
{
    const struct pool_budget *v = budgets_of(r->arena, s, BUDGET_UNDERUTILIZED);
    struct sb b = {0};

    for (uint32_t i = 0; i < s->n_pools; i++)
        if (v[i].error.n)
            sb_printf(&b, "%sinvalid disruption budgets in nodepool " STR_FMT ", " STR_FMT, b.n ? "; " : "",
                      STR_ARG(s->pools[i].name), STR_ARG(v[i].error));
    if (b.n)
        log_write(r->log, LOG_ERROR, "detected disruption budget errors", NULL,
                  LOG_FIELDS(LOG_STR("error", sb_view(&b))));
    sb_fini(&b);
}

void pass_forget_pool(struct disruptor *d, str pool)
{
    metric_drop_where(d->c->metrics->nodepools_allowed_disruptions, 0, pool);
    metric_drop_where(d->c->metrics->nodepools_nodes_consuming_budgets, 0, pool);
}
