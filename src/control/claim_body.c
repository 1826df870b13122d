/* A claim is the pool's template, the requirements that the plan has left open, and what the pods ask for. Nothing of it
 * points into the snapshot: by the time it is sent, that may be gone. */
#include "control/claim_body.h"

#include "base/vec.h"
#include "data/edit.h"
#include "k8s/kinds.h"
#include "model/duration.h"

#define HASH_VERSION "v3"

static str keep(struct arena *a, str s)
{
    return arena_strdup(a, s);
}

/* The member of `from`, if there is one, as a member of `to`. */
static void copy_member(struct arena *a, struct tree *to, const struct tree *from, const char *key)
{
    const struct tree *t = tree_get(from, key);

    if (t && !((t->kind == TREE_LIST || t->kind == TREE_MAP) && t->n == 0))
        tree_set(a, to, key, *tree_copy(a, t));
}

/* Go prints a duration its own way, however it was written. */
static void copy_grace(struct arena *a, struct tree *spec, const struct tree *from)
{
    str text = tree_str(tree_get(from, "terminationGracePeriod"));
    struct sb b = {0};
    struct err e;
    int64_t ns;

    if (text.n == 0 || !duration_parse(text, &ns, &e))
        return;
    duration_print(&b, ns);
    tree_set_str(a, spec, "terminationGracePeriod", sb_dup(&b, a));
    sb_fini(&b);
}

static void set_owner(struct arena *a, struct tree *meta, const struct nodepool *pool)
{
    struct tree *owner = tree_push(a, tree_sublist(a, meta, "ownerReferences"), *tree_new_map(a));

    tree_set_str(a, owner, "apiVersion", STR("karpenter.sh/v1"));
    tree_set_bool(a, owner, "blockOwnerDeletion", true);
    tree_set_str(a, owner, "kind", STR("NodePool"));
    tree_set_str(a, owner, "name", keep(a, pool->name));
    tree_set_str(a, owner, "uid", keep(a, pool->uid));
}

/* When a claim of this pool ends. Manifests from before v1 say it under disruption: that counts where the template has nothing of its own, which after the API server's defaulting is the same as 720h. */
static void copy_expiry(struct arena *a, struct tree *spec, const struct tree *pool_obj, const struct tree *tmpl_spec)
{
    const struct tree *old = tree_at(pool_obj, "spec", "disruption", NULL);
    const struct tree *modern = tree_get(tmpl_spec, "expireAfter");
    struct err ignored;
    int64_t ns;

    bool is_default = !modern || (duration_parse(tree_str(modern), &ns, &ignored) && ns == DEFAULT_EXPIRY_NS);
    copy_member(a, spec, is_default && tree_get(old, "expireAfter") ? old : tmpl_spec, "expireAfter");
}

static struct tree *body_of_template(struct arena *a, const struct syms *t, const struct nodepool *pool,
                                     const struct tree *pool_obj)
{
    const struct tree *tmpl = tree_at(pool_obj, "spec", "template", NULL), *tmpl_spec = tree_get(tmpl, "spec");
    struct tree *body = tree_new_map(a), *meta, *labels, *notes, *spec, *ref;

    tree_set_str(a, body, "apiVersion", STR("karpenter.sh/v1"));
    tree_set_str(a, body, "kind", STR("NodeClaim"));
    meta = tree_sub(a, body, "metadata");
    copy_member(a, meta, tree_get(tmpl, "metadata"), "annotations");
    notes = tree_sub(a, meta, "annotations");
    tree_set_str(a, notes, "karpenter.sh/nodepool-hash",
                 arena_printf(a, "%llu", (unsigned long long)nodepool_hash(&pool->tmpl, t)));
    tree_set_str(a, notes, "karpenter.sh/nodepool-hash-version", STR(HASH_VERSION));
    tree_set_str(a, meta, "generateName", arena_printf(a, STR_FMT "-", STR_ARG(pool->name)));
    copy_member(a, meta, tree_get(tmpl, "metadata"), "labels");
    labels = tree_sub(a, meta, "labels");
    tree_set_str(a, labels, "karpenter.sh/nodepool", keep(a, pool->name));
    *tree_put(a, labels, nodeclass_label(a, &pool->tmpl.class_ref)) = tree_of_str(keep(a, pool->tmpl.class_ref.name));
    set_owner(a, meta, pool);

    spec = tree_sub(a, body, "spec");
    copy_expiry(a, spec, pool_obj, tmpl_spec);
    ref = tree_sub(a, spec, "nodeClassRef");
    tree_set_str(a, ref, "group", keep(a, pool->tmpl.class_ref.group));
    tree_set_str(a, ref, "kind", keep(a, pool->tmpl.class_ref.kind));
    tree_set_str(a, ref, "name", keep(a, pool->tmpl.class_ref.name));
    tree_sublist(a, spec, "requirements");
    tree_sub(a, spec, "resources");
    copy_member(a, spec, tmpl_spec, "startupTaints");
    copy_member(a, spec, tmpl_spec, "taints");
    copy_grace(a, spec, tmpl_spec);
    tree_sub(a, body, "status");
    return body;
}

static void add_requirement(struct arena *a, struct tree *list, str key, enum req_op op, const str *vals, uint32_t n,
                            int32_t min_values)
{
    struct tree *r = tree_push(a, list, *tree_new_map(a));

    tree_set_str(a, r, "key", keep(a, key));
    if (min_values)
        tree_set_i64(a, r, "minValues", min_values);
    tree_set_str(a, r, "operator", str_c(req_op_name(op)));
    if (n == 0)
        return;
    struct tree *values = tree_sublist(a, r, "values");
    for (uint32_t i = 0; i < n; i++)
        tree_push(a, values, tree_of_str(keep(a, vals[i])));
}

static int cmp_strs(const void *a, const void *b, void *ctx UNUSED)
{
    return str_cmp(*(const str *)a, *(const str *)b);
}

/* Names of the types that a launch may choose from, in byte order. */
static str *type_names(struct arena *a, const struct snapshot *s, const struct plan_claim *c)
{
    str *names = arena_new_array(a, str, c->n_types + 1);

    for (uint32_t i = 0; i < c->n_types; i++)
        names[i] = sym_str(s->syms, s->catalog->types[c->types[i]].name);
    sort_stable(names, c->n_types, sizeof(*names), cmp_strs, NULL);
    return names;
}

static bool is_listed(const struct plan_req *r, str val)
{
    for (uint32_t i = 0; i < r->n_vals; i++)
        if (str_eq(r->vals[i], val))
            return true;
    return false;
}

/* Some value that the requirement allows; empty when it wants the label to be absent. */
static str some_value(struct arena *a, const struct plan_req *r, uint64_t random)
{
    int64_t bound = 0;
    str text;

    switch (r->op) {
    case OP_IN:
        return r->n_vals ? r->vals[0] : STR("");
    case OP_DOES_NOT_EXIST:
        return STR("");
    case OP_GT:
    case OP_GTE:
        (void)str_to_i64(r->n_vals ? r->vals[0] : STR(""), &bound);
        return arena_printf(a, "%lld", (long long)sat_add(sat_add(bound, r->op == OP_GT), (int64_t)(random % 1000000)));
    case OP_LT:
    case OP_LTE:
        (void)str_to_i64(r->n_vals ? r->vals[0] : STR(""), &bound);
        bound = sat_sub(bound, r->op == OP_LT);
        return arena_printf(a, "%lld", bound > 0 ? (long long)(random % ((uint64_t)bound + 1)) : (long long)bound);
    case OP_NOT_IN:
    case OP_EXISTS:
        for (;; random++) {
            text = arena_printf(a, "%llu", (unsigned long long)(random % 1000000000));
            if (!is_listed(r, text))
                return text;
        }
    }
    return STR("");
}

/* A label for what pods or pool ask of keys that no provider sets by itself (scheduling 24.1). */
static void label_from(struct arena *a, struct tree *labels, const struct snapshot *s, const struct plan_req *r,
                       uint64_t random)
{
    const struct label_rules *rules = &s->catalog->rules;
    str val;

    if (label_is_well_known(rules, r->key) || label_is_restricted(rules, s->syms, r->key) ||
        sym_eq(r->key, SYM(REGISTERED)) || sym_eq(r->key, SYM(INITIALIZED)))
        return;
    val = some_value(a, r, random);
    if (val.n)
        *tree_put(a, labels, keep(a, sym_str(s->syms, r->key))) = tree_of_str(keep(a, val));
}

static void set_requests(struct arena *a, struct tree *spec, const struct snapshot *s, const struct reslist *l)
{
    struct tree *requests = tree_path(a, spec, "resources", "requests", NULL);
    struct sb b = {0};

    for (uint32_t i = 0; i < l->n; i++) {
        sb_reset(&b);
        quantity_print(&b, l->q[i].name, l->q[i].v, l->q[i].binary);
        *tree_put(a, requests, keep(a, sym_str(s->syms, l->q[i].name))) = tree_of_str(sb_dup(&b, a));
    }
    sb_fini(&b);
}

/* Some type that it may become is not what the provider says. */
static void note_overlays(struct arena *a, struct tree *notes, const struct snapshot *s, const struct plan_claim *c)
{
    bool price = false, capacity = false;

    for (uint32_t i = 0; i < c->n_types; i++) {
        price |= s->catalog->types[c->types[i]].price_overlaid;
        capacity |= s->catalog->types[c->types[i]].capacity_overlaid;
    }
    if (price)
        tree_set_str(a, notes, "karpenter.sh/price-overlay-applied", STR("true"));
    if (capacity)
        tree_set_str(a, notes, "karpenter.sh/capacity-overlay-applied", STR("true"));
}

struct tree *claim_body(struct arena *a, const struct snapshot *s, const struct plan_claim *c,
                        const struct tree *pool_obj, uint64_t random)
{
    struct tree *body = body_of_template(a, s->syms, &s->pools[c->pool], pool_obj);
    struct tree *spec = tree_sub(a, body, "spec"), *meta = tree_sub(a, body, "metadata");
    struct tree *list = tree_sublist(a, spec, "requirements"), *labels = tree_sub(a, meta, "labels");

    tree_set_str(a, tree_sub(a, meta, "annotations"), "karpenter.sh/nodeclaim-min-values-relaxed",
                 c->min_values_relaxed ? STR("true") : STR("false"));
    note_overlays(a, tree_sub(a, meta, "annotations"), s, c);
    for (uint32_t i = 0; i < c->n_reqs; i++) {
        const struct plan_req *r = &c->reqs[i];
        str key = sym_str(s->syms, r->key);

        if (r->of_types)
            add_requirement(a, list, key, r->op, type_names(a, s, c), c->n_types, r->min_values);
        else
            add_requirement(a, list, key, r->op, r->vals, r->n_vals, r->min_values);
        label_from(a, labels, s, r, random);
    }
    set_requests(a, spec, s, &c->requests);
    return body;
}

/* Bounds are written inclusively, as in claims of plans. */
static void add_expr(struct arena *a, struct tree *list, const struct syms *t, const struct req_expr *x)
{
    str *vals = arena_new_array(a, str, x->n_vals + 1);
    enum req_op op = x->op;
    int64_t bound;

    for (uint32_t i = 0; i < x->n_vals; i++)
        vals[i] = sym_str(t, x->vals[i]);
    sort_stable(vals, x->n_vals, sizeof(*vals), cmp_strs, NULL);
    if ((op == OP_GT || op == OP_LT) && x->n_vals == 1 && str_to_i64(vals[0], &bound)) {
        vals[0] = arena_printf(a, "%lld", (long long)(op == OP_GT ? sat_add(bound, 1) : sat_sub(bound, 1)));
        op = op == OP_GT ? OP_GTE : OP_LTE;
    }
    add_requirement(a, list, sym_str(t, x->key), op, vals, x->n_vals, x->min_values);
}

struct tree *claim_body_static(struct arena *a, const struct syms *t, const struct nodepool *pool,
                               const struct tree *pool_obj)
{
    struct tree *body = body_of_template(a, t, pool, pool_obj);
    struct tree *list = tree_sublist(a, tree_sub(a, body, "spec"), "requirements");
    const struct tree *labels = tree_at(body, "metadata", "labels", NULL);

    for (uint32_t i = 0; i < pool->tmpl.n_requirements; i++)
        add_expr(a, list, t, &pool->tmpl.requirements[i]);
    for (uint32_t i = 0; i < labels->n; i++) {
        str val = tree_str(&labels->items[i]);

        add_requirement(a, list, labels->keys[i], OP_IN, &val, 1, 0);
    }
    return body;
}
