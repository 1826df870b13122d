#include "control/claims.h"

#include <stdlib.h>

#include "control/claim_int.h"
#include "data/edit.h"

/* ---- notes ---- */

/* A thing of this size with its key behind it. */
static void *note_new(size_t size, size_t node, str uid)
{
    char *n = xcalloc(1, size + uid.n);
    struct htab_node *h = (struct htab_node *)(n + node);

    if (uid.n)
        memcpy(n + size, uid.p, uid.n);
    h->key = (str){n + size, uid.n};
    return n;
}

struct claim_note *claim_note(struct claims *s, str uid)
{
    struct claim_note *n = HTAB_THING(htab_get(&s->notes, uid), struct claim_note, node);

    if (n)
        return n;
    n = note_new(sizeof(*n), offsetof(struct claim_note, node), uid);
    n->scanned_ms = n->type_found_ms = INT64_MIN;
    htab_put(&s->notes, &n->node);
    return n;
}

struct pool_note *pool_note(struct claims *s, str uid)
{
    struct pool_note *n = HTAB_THING(htab_get(&s->pool_notes, uid), struct pool_note, node);

    if (n)
        return n;
    n = note_new(sizeof(*n), offsetof(struct pool_note, node), uid);
    htab_put(&s->pool_notes, &n->node);
    return n;
}

static void forget_claim(struct claims *s, str uid)
{
    struct claim_note *n = HTAB_THING(htab_get(&s->notes, uid), struct claim_note, node);

    if (!n)
        return;
    htab_del(&s->notes, &n->node);
    launch_free(n->launch);
    free(n);
}

static void forget_pool(struct claims *s, str uid)
{
    struct pool_note *n = HTAB_THING(htab_get(&s->pool_notes, uid), struct pool_note, node);

    if (!n)
        return;
    htab_del(&s->pool_notes, &n->node);
    free(n);
}

static void forget_gone(void *ctx, const struct store_event *ev)
{
    if (ev->change != STORE_GONE)
        return;
    if (ev->kind == OBJ_NODECLAIM)
        forget_claim(ctx, ev->kept_was->uid);
    if (ev->kind == OBJ_NODEPOOL)
        forget_pool(ctx, ev->kept_was->uid);
}

/* ---- all of them ---- */

struct claims *claims_new(struct control *c)
{
    struct claims *s = xcalloc(1, sizeof(*s));

    s->c = c;
    store_subscribe(c->store, forget_gone, s);
    /* Before lifecycle: it is the first to say of a new claim that nothing is known yet, and who waits for Launched to become True must have seen it Unknown. */
    claim_disruption_register(s);
    claim_lifecycle_register(s);
    claim_podevents_register(s);
    claim_expiration_register(s);
    claim_gc_register(s);
    claim_consistency_register(s);
    claim_static_register(s);
    hydration_register(s);
    pool_counter_register(s);
    pool_hash_register(s);
    pool_readiness_register(s);
    pool_health_register(s);
    pool_validation_register(s);
    return s;
}

void claims_free(struct claims *s)
{
    if (!s)
        return;
    struct htab_walk w = {0};
    for (struct htab_node *n = htab_next(&s->notes, &w); n; n = htab_next(&s->notes, &w)) {
        struct claim_note *c = HTAB_THING(n, struct claim_note, node);

        launch_free(c->launch);
        free(c);
    }
    htab_fini(&s->notes);
    w = (struct htab_walk){0};
    for (struct htab_node *n = htab_next(&s->pool_notes, &w); n; n = htab_next(&s->pool_notes, &w))
        free(HTAB_THING(n, struct pool_note, node));
    htab_fini(&s->pool_notes);
    free(s);
}

/* ---- what they have in common ---- */

const struct kept *claim_meta(struct claims *s, str name)
{
    const struct kept *k = store_meta(s->c->store, OBJ_NODECLAIM, name);

    return k && k->managed ? k : NULL;
}

static bool open_managed(struct draft *d, struct claims *s, struct reconcile *r, enum object_kind kind)
{
    const struct kept *k = store_meta(s->c->store, kind, r->name);

    return k && k->managed && draft_open(d, s->c, r->arena, kind, r->name);
}

bool claim_open(struct draft *d, struct claims *s, struct reconcile *r)
{
    return open_managed(d, s, r, OBJ_NODECLAIM);
}

bool pool_open(struct draft *d, struct claims *s, struct reconcile *r)
{
    return open_managed(d, s, r, OBJ_NODEPOOL);
}

struct log *claim_log(struct arena *a, const struct log *l, const struct tree *claim)
{
    str node = tree_str(tree_at(claim, "status", "nodeName", NULL));

    return log_with(a, l, &LOG_OBJ("Node", STR(""), node), node.n != 0);
}

struct log *machine_log(struct arena *a, const struct log *l, const struct tree *claim)
{
    str id = tree_str(tree_at(claim, "status", "providerID", NULL));

    return claim_log(a, log_with(a, l, &LOG_STR("provider-id", id), id.n != 0), claim);
}

str class_name_of(struct arena *a, const struct nodeclass_ref *r)
{
    return arena_printf(a, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(r->group), STR_ARG(r->kind), STR_ARG(r->name));
}

str claim_node_name(struct claims *s, str provider_id, bool *ret_several)
{
    struct names n = store_nodes_by_id(s->c->store, provider_id);

    *ret_several = n.n > 1;
    return n.n == 1 ? n.v[0] : (str){0};
}

static void queue_claims_of(struct claims *s, struct queue *q, const struct node *n)
{
    struct names v = n ? store_claims_by_id(s->c->store, n->provider_id) : (struct names){0};

    for (uint32_t i = 0; i < v.n; i++)
        queue_add(q, STR(""), v.v[i]);
}

void claims_queue_by_node(struct claims *s, struct queue *q, const struct store_event *ev)
{
    const struct node *was = ev->was, *is = ev->is;

    if (ev->kind == OBJ_NODECLAIM)
        queue_add(q, STR(""), ev->name);
    if (ev->kind != OBJ_NODE)
        return;
    queue_claims_of(s, q, is);
    if (was && (!is || !str_eq(was->provider_id, is->provider_id)))
        queue_claims_of(s, q, was);
}

/* The store's name of a class is "group/kind/name". */
static bool names_class(const struct nodeclass_ref *r, str name)
{
    str group, kind, rest;

    return str_cut(name, '/', &group, &rest) && str_cut(rest, '/', &kind, &rest) && str_eq(group, r->group) &&
           str_eq(kind, r->kind) && str_eq(rest, r->name);
}

bool claim_names_class(struct claims *s, str claim, str class)
{
    const struct nodeclaim *c = store_claim(s->c->store, claim);

    return c && names_class(&c->class_ref, class);
}

void pools_queue_by_class(struct claims *s, struct queue *q, const struct store_event *ev)
{
    if (ev->kind == OBJ_NODEPOOL)
        queue_add(q, STR(""), ev->name);
    if (ev->kind != OBJ_NODECLASS)
        return;
    struct names n = store_names(s->c->store, OBJ_NODEPOOL);
    for (uint32_t i = 0; i < n.n; i++) {
        const struct nodepool *p = store_pool(s->c->store, n.v[i]);

        if (p && names_class(&p->tmpl.class_ref, ev->name))
            queue_add(q, STR(""), n.v[i]);
    }
}

static struct queue *controller(struct claims *s, const char *name, const char *kind, reconcile_fn fn)
{
    return manager_add(s->c->manager, &(struct controller_spec){
                                          .name = name,
                                          .group = GROUP,
                                          .kind = kind,
                                          .workers = workers_linear(10, 1000, s->c->options->cpu_milli),
                                          .limit = limiter_default,
                                          .fn = fn,
                                          .ctx = s,
                                      });
}

struct queue *claims_controller(struct claims *s, const char *name, reconcile_fn fn)
{
    return controller(s, name, "NodeClaim", fn);
}

struct queue *pools_controller(struct claims *s, const char *name, reconcile_fn fn)
{
    return controller(s, name, "NodePool", fn);
}

void claims_count_disrupted(struct claims *s, const struct tree *claim, const char *reason)
{
    metric_inc(s->c->metrics->nodeclaims_disrupted_total, 1,
               METRIC_VALS(str_c(reason), obj_label(claim, POOL_LABEL), obj_label(claim, CAPACITY_LABEL)));
}

struct event_object claim_event_object(const struct tree *claim)
{
    return (struct event_object){.kind = &api_nodeclaims,
                                 .name = obj_name(claim),
                                 .uid = obj_uid(claim),
                                 .resource_version = tree_str(tree_at(claim, "metadata", "resourceVersion", NULL))};
}

str error_text(struct arena *a, const char *msg)
{
    str s = str_c(msg);

    return s.n < 300 ? arena_strdup(a, s) : arena_printf(a, "%.300s...", msg);
}

/* As much as there is room for. */
static void append(struct err *e, const char *text)
{
    size_t n = strlen(e->msg), more = MIN(strlen(text), sizeof(e->msg) - 1 - n);

    memcpy(e->msg + n, text, more);
    e->msg[n + more] = '\0';
}

void err_lead(struct err *e, const char *what)
{
    struct err inner = *e;

    e->msg[0] = '\0';
    append(e, what);
    append(e, ", ");
    append(e, inner.msg);
}

void reconcile_fail(struct reconcile *r, const struct err *e)
{
    if (r->err.kind == ERR_NONE) {
        r->err = *e;
        return;
    }
    append(&r->err, "; ");
    append(&r->err, e->msg);
}

bool taint_tree_is(const struct tree *taint, str key, str effect)
{
    return str_eq(tree_str(tree_get(taint, "key")), key) && str_eq(tree_str(tree_get(taint, "effect")), effect);
}
