/* nodeclaim.consistency: whether the Node is the machine that was promised (lifecycle 4.6). */
#include "control/claim_int.h"

#define SCAN_MS (10 * MINUTE_MS)
#define LEAST_SHARE 0.90

static str quantity_text(struct arena *a, const struct resq *q)
{
    struct sb b = {0};

    quantity_print(&b, q->name, q->v, q->binary);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static int by_text(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(*(const str *)a, *(const str *)b);
}

/* One sentence for each resource of which the Node has far less than the claim, sorted. */
str *consistency_issues(struct arena *a, const struct syms *t, const struct nodeclaim *c, const struct node *n,
                        uint32_t *ret_n)
{
    str *v = arena_new_array(a, str, c->requests.n);

    *ret_n = 0;
    if (c->deleting || c->initialized != COND_TRUE)
        return v;
    for (uint32_t i = 0; i < c->requests.n; i++) {
        const struct resq *want = reslist_get(&c->capacity, c->requests.q[i].name);
        const struct resq *have = reslist_get(&n->capacity, c->requests.q[i].name);
        struct resq none = {.name = c->requests.q[i].name, .binary = want && want->binary};

        if (c->requests.q[i].v == 0 || !want || want->v == 0)
            continue;
        if (!have)
            have = &none;
        double share = (double)have->v / (double)want->v;
        if (share < LEAST_SHARE)
            v[(*ret_n)++] = arena_printf(
                a, "expected " STR_FMT " of resource " STR_FMT ", but found " STR_FMT " (%.1f%% of expected)",
                STR_ARG(quantity_text(a, want)), STR_ARG(sym_str(t, want->name)), STR_ARG(quantity_text(a, have)),
                share * 100);
    }
    sort_stable(v, *ret_n, sizeof(*v), by_text, NULL);
    return v;
}

static void tell(struct claims *s, struct log *log, const struct tree *claim, str issue)
{
    str key[] = {obj_uid(claim), issue};

    log_info(log, "failed consistency check", LOG_STR("error", issue));
    recorder_publish(s->c->recorder, &(struct event){
                                         .object = claim_event_object(claim),
                                         .warning = true,
                                         .reason = "FailedConsistencyCheck",
                                         .message = issue,
                                         .dedupe = key,
                                         .n_dedupe = ARRAY_LEN(key),
                                     });
}

/* What was found is told, and becomes a condition. */
static struct result conclude(struct claims *s, struct reconcile *r, const str *issues, uint32_t n, bool *ret_changed)
{
    struct draft draft, *d = &draft;
    struct err e;

    *ret_changed = true;
    if (!claim_open(d, s, r))
        return RESULT_OK;
    struct log *log = claim_log(r->arena, r->log, d->obj);
    struct cond_object conds = draft_conds(d);
    for (uint32_t i = 0; i < n; i++)
        tell(s, log, d->obj, issues[i]);
    conds_init(&conds);
    if (n)
        conds_false(&conds, "ConsistentStateFound", STR("ConsistencyCheckFailed"), STR("Consistency Check Failed"));
    else
        conds_true(&conds, "ConsistentStateFound");
    *ret_changed = draft_changed(d);
    if (!draft_patch(d, DRAFT_LOCKED | DRAFT_STATUS, &e))
        return write_failed(r, &e);
    return result_after_ms(SCAN_MS);
}

static struct result scan(struct claims *s, struct reconcile *r, const struct nodeclaim *c, struct claim_note *note)
{
    uint64_t digest = claim_meta(s, r->name)->digest;
    bool several, changed;
    str name = claim_node_name(s, c->provider_id, &several);
    const struct node *node = name.n ? store_node(s->c->store, name) : NULL;
    uint32_t n;

    if (!node)
        return RESULT_OK;
    str *issues = consistency_issues(r->arena, s->c->syms, c, node, &n);
    if (n == 0 && digest && note->consistent == digest)
        return result_after_ms(SCAN_MS);
    struct result res = conclude(s, r, issues, n, &changed);
    if (!changed) /* nothing was sent, so nobody else has had a turn */
        note->consistent = n == 0 ? digest : 0;
    return res;
}

/* A claim that cannot be read has no Node to be compared with. */
static struct result reconcile(struct reconcile *r)
{
    struct claims *s = r->ctx;
    int64_t now_ms = world_now_ms(s->c->world);
    const struct nodeclaim *c = store_claim(s->c->store, r->name);

    if (!c || !claim_meta(s, r->name) || c->provider_id.n == 0)
        return RESULT_OK;
    struct claim_note *n = claim_note(s, c->uid);
    int64_t since_ms = sat_sub(now_ms, n->scanned_ms);
    if (since_ms >= 0 && since_ms < SCAN_MS) /* below 0: the clock was set back */
        return result_after_ms(SCAN_MS - since_ms);
    n->scanned_ms = now_ms; /* quirk: a look that finds no Node is spent (lifecycle 4.6) */
    return scan(s, r, c, n);
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct claims *s = ctx;

    claims_queue_by_node(s, s->consistency, ev);
}

void claim_consistency_register(struct claims *s)
{
    s->consistency = claims_controller(s, "nodeclaim.consistency", reconcile);
    store_subscribe(s->c->store, hear, s);
}
