/* Volumes as the scheduler sees them: claims, what they are bound to, where that can be reached, how many a node can have. */
#include "base/sb.h"
#include "model/quantity.h"
#include "sim/kube/cluster/sched_int.h"

/* ---- the state ---- */

static uint32_t decode_modes(const struct tree *list)
{
    static const char *const names[] = {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"};
    uint32_t set = 0;

    for (uint32_t i = 0; list && i < list->n; i++)
        for (uint32_t k = 0; k < ARRAY_LEN(names); k++)
            if (str_is(tree_str(&list->items[i]), names[k]))
                set |= 1u << k;
    return set;
}

static int64_t decode_size(struct sched *s, const struct tree *t)
{
    struct err e;
    int64_t v;
    bool binary;

    return quantity_parse(tree_scalar(t), sym_of(s->syms, STR("storage")), &v, &binary, &e) ? v : 0;
}

static str claim_key(struct sched *s, str ns, str name)
{
    return arena_printf(s->tmp, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
}

unsigned sched_claim(struct sched *s, str ns, str name, const struct tree *t)
{
    arena_reset(s->tmp);
    str key = claim_key(s, ns, name);
    const struct tree *spec = tree_get(t, "spec");
    str phase = tree_str(tree_at(t, "status", "phase", NULL));

    free(table_take(&s->claims, key));
    if (!t)
        return 0;
    struct sclaim *c = xcalloc(1, sizeof(*c) + key.n);
    c->key = (str){memcpy(c + 1, key.p, key.n), key.n};
    c->volume = decode_sym(s, tree_get(spec, "volumeName"));
    c->class = decode_sym(s, tree_get(spec, "storageClassName"));
    c->selected = decode_sym(s, tree_at(t, "metadata", "annotations", "volume.kubernetes.io/selected-node", NULL));
    c->bound = str_is(phase, "Bound") && sym_some(c->volume);
    c->lost = str_is(phase, "Lost");
    c->modes = decode_modes(tree_get(spec, "accessModes"));
    c->once_pod = c->modes == 1u << 3;
    c->size = decode_size(s, tree_at(spec, "resources", "requests", "storage", NULL));
    table_put(&s->claims, c);
    return NEWS_VOLUME;
}

static void volume_drop(struct sched *s, str name)
{
    struct svolume *v = table_take(&s->volumes, name);

    for (uint32_t i = 0; v && i < s->volume_list.n; i++)
        if (s->volume_list.v[i] == v) {
            memmove(&s->volume_list.v[i], &s->volume_list.v[i + 1], (s->volume_list.n - i - 1) * sizeof(v));
            s->volume_list.n--;
            break;
        }
    if (v)
        arena_free(v->a);
}

/* Old volumes say where they are by labels; several zones are joined by "__". */
static void decode_zones(struct sched *s, struct svolume *v, const struct tree *labels)
{
    static const char *const keys[] = {"topology.kubernetes.io/zone", "topology.kubernetes.io/region",
                                       "failure-domain.beta.kubernetes.io/zone",
                                       "failure-domain.beta.kubernetes.io/region"};

    v->zones.exprs = arena_new_array(v->a, struct req_expr, ARRAY_LEN(keys));
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        str left = tree_str(tree_get(labels, keys[i]));
        struct req_expr *x = &v->zones.exprs[v->zones.n_exprs];

        if (left.n == 0)
            continue;
        *x = (struct req_expr){.key = sym_of(s->syms, label_key_normalise(str_c(keys[i]))), .op = OP_IN};
        x->vals = arena_new_array(v->a, sym, left.n);
        while (left.n) {
            size_t end = 0;

            while (end < left.n && !str_starts(str_sub(left, end, left.n), STR("__")))
                end++;
            x->vals[x->n_vals++] = sym_of(s->syms, str_sub(left, 0, end));
            left = str_sub(left, end + 2, left.n);
        }
        v->zones.n_exprs++;
        v->zones.present = true;
    }
}

unsigned sched_volume(struct sched *s, str name, const struct tree *t)
{
    arena_reset(s->tmp);
    volume_drop(s, name);
    if (!t)
        return 0;
    struct arena *a = arena_new(512);
    struct svolume *v = arena_new_one(a, struct svolume);
    const struct tree *spec = tree_get(t, "spec"), *required = tree_at(spec, "nodeAffinity", "required", NULL);
    str phase = tree_str(tree_at(t, "status", "phase", NULL));

    v->a = a;
    v->key = arena_strdup(a, name);
    v->class = decode_sym(s, tree_get(spec, "storageClassName"));
    v->driver = decode_sym(s, tree_at(spec, "csi", "driver", NULL));
    v->handle = decode_sym(s, tree_at(spec, "csi", "volumeHandle", NULL));
    v->claim_ns = decode_sym(s, tree_at(spec, "claimRef", "namespace", NULL));
    v->claim = decode_sym(s, tree_at(spec, "claimRef", "name", NULL));
    v->available = phase.n == 0 || str_is(phase, "Available") || str_is(phase, "Pending");
    v->size = decode_size(s, tree_at(spec, "capacity", "storage", NULL));
    v->modes = decode_modes(tree_get(spec, "accessModes"));
    v->has_terms = required != NULL;
    decode_node_terms(s, a, tree_get(required, "nodeSelectorTerms"), &v->terms, &v->n_terms);
    decode_zones(s, v, tree_at(t, "metadata", "labels", NULL));
    table_put(&s->volumes, v);

    uint32_t at = 0;
    while (at < s->volume_list.n && str_cmp(s->volume_list.v[at]->key, name) < 0)
        at++;
    vec_push(&s->volume_list, v);
    memmove(&s->volume_list.v[at + 1], &s->volume_list.v[at], (s->volume_list.n - at - 1) * sizeof(v));
    s->volume_list.v[at] = v;
    return NEWS_VOLUME;
}

static void class_drop(struct sched *s, str name)
{
    struct sclass *c = table_take(&s->classes, name);

    if (c)
        arena_free(c->a);
}

unsigned sched_class(struct sched *s, str name, const struct tree *t)
{
    class_drop(s, name);
    if (!t)
        return 0;
    struct arena *a = arena_new(512);
    struct sclass *c = arena_new_one(a, struct sclass);
    const struct tree *list = tree_get(t, "allowedTopologies");

    c->a = a;
    c->key = arena_strdup(a, name);
    c->provisioner = decode_sym(s, tree_get(t, "provisioner"));
    c->provisions = !str_is(tree_str(tree_get(t, "provisioner")), "kubernetes.io/no-provisioner");
    c->waits = str_is(tree_str(tree_get(t, "volumeBindingMode")), "WaitForFirstConsumer");
    c->n_topologies = list ? list->n : 0;
    c->topologies = arena_new_array(a, struct node_term, c->n_topologies);
    for (uint32_t i = 0; i < c->n_topologies; i++) {
        const struct tree *exprs = tree_get(&list->items[i], "matchLabelExpressions");
        struct node_term *term = &c->topologies[i];

        term->labels = (struct selector){.present = true};
        term->labels.exprs = arena_new_array(a, struct req_expr, exprs ? exprs->n : 0);
        for (uint32_t k = 0; exprs && k < exprs->n; k++) {
            const struct tree *values = tree_get(&exprs->items[k], "values");
            struct req_expr *x = &term->labels.exprs[term->labels.n_exprs++];

            *x = (struct req_expr){.key = decode_sym(s, tree_get(&exprs->items[k], "key")), .op = OP_IN};
            x->vals = arena_new_array(a, sym, values ? values->n : 0);
            for (uint32_t m = 0; values && m < values->n; m++)
                x->vals[x->n_vals++] = decode_sym(s, &values->items[m]);
        }
    }
    table_put(&s->classes, c);
    return NEWS_VOLUME;
}

static void csi_drop(struct sched *s, str name)
{
    struct scsi *n = table_take(&s->csi_nodes, name);

    if (n)
        arena_free(n->a);
}

unsigned sched_csi_node(struct sched *s, str name, const struct tree *t)
{
    const struct tree *drivers = tree_at(t, "spec", "drivers", NULL);

    csi_drop(s, name);
    if (!t)
        return 0;
    struct arena *a = arena_new(256);
    struct scsi *n = arena_new_one(a, struct scsi);
    n->a = a;
    n->key = arena_strdup(a, name);
    n->limits = arena_new_array(a, struct driver_limit, drivers ? drivers->n : 0);
    for (uint32_t i = 0; drivers && i < drivers->n; i++) {
        int64_t count;

        if (str_to_i64(tree_scalar(tree_at(&drivers->items[i], "allocatable", "count", NULL)), &count))
            n->limits[n->n++] = (struct driver_limit){decode_sym(s, tree_get(&drivers->items[i], "name")), count};
    }
    table_put(&s->csi_nodes, n);
    return NEWS_VOLUME;
}

static void release_claim(void *ctx, void *entry)
{
    (void)ctx;
    free(entry);
}

static void release_class(void *ctx, void *entry)
{
    (void)ctx;
    arena_free(((struct sclass *)entry)->a);
}

static void release_csi(void *ctx, void *entry)
{
    (void)ctx;
    arena_free(((struct scsi *)entry)->a);
}

void volumes_fini(struct sched *s)
{
    for (uint32_t i = 0; i < s->volume_list.n; i++)
        arena_free(s->volume_list.v[i]->a);
    vec_fini(&s->volume_list);
    table_fini(&s->volumes);
    table_drain(&s->claims, release_claim, NULL);
    table_drain(&s->classes, release_class, NULL);
    table_drain(&s->csi_nodes, release_csi, NULL);
}

/* ---- questions ---- */

static const struct sclaim *claim_of(struct sched *s, const struct spod *p, uint32_t i)
{
    return table_get(&s->claims, claim_key(s, sym_str(s->syms, p->shape->ns), sym_str(s->syms, p->claims[i])));
}

static const struct sclass *class_of(const struct sched *s, const struct sclaim *c)
{
    return table_get(&s->classes, sym_str(s->syms, c->class));
}

bool sched_claims_bound(const struct sched *s, str uid)
{
    const struct spod *p = table_get(&s->pods, uid);

    for (uint32_t i = 0; p && i < p->n_claims; i++) {
        const struct sclaim *c = claim_of((struct sched *)s, p, i);

        if (!c || !c->bound)
            return false;
    }
    return true;
}

static bool reaches(const struct sched *s, const struct svolume *v, const struct snode *n)
{
    return !v->has_terms || node_terms_match(s, v->terms, v->n_terms, n);
}

bool sched_volume_reaches(struct sched *s, str volume, str node)
{
    const struct svolume *v = table_get(&s->volumes, volume);
    uint32_t at = node_find(s, node);

    return v && at != NONE && reaches(s, v, &s->nodes.v[at]);
}

bool volumes_prefilter(const struct attempt *t, struct sb *ret_message)
{
    struct sched *s = t->s;

    for (uint32_t i = 0; i < t->pod->n_claims; i++) {
        const struct sclaim *c = claim_of(s, t->pod, i);
        str name = sym_str(s->syms, t->pod->claims[i]);

        if (!c) {
            sb_printf(ret_message, "persistentvolumeclaim \"" STR_FMT "\" not found", STR_ARG(name));
            return false;
        }
        if (c->lost) {
            sb_printf(ret_message,
                      "persistentvolumeclaim \"" STR_FMT "\" bound to non-existent persistentvolume \"" STR_FMT "\"",
                      STR_ARG(name), STR_ARG(sym_str(s->syms, c->volume)));
            return false;
        }
        const struct sclass *class = class_of(s, c);
        if (!c->bound && !(class && class->waits && !sym_some(c->volume))) {
            sb_c(ret_message, "pod has unbound immediate PersistentVolumeClaims");
            return false;
        }
    }
    return true;
}

/* ---- the filters ---- */

static bool claim_in_use(const struct attempt *t, sym claim)
{
    const struct sched *s = t->s;

    for (uint32_t i = 0; i < s->order.n; i++) {
        const struct snode *n = &s->nodes.v[s->order.v[i]];

        for (uint32_t k = 0; k < n->pods.n; k++)
            for (uint32_t m = 0; m < n->pods.v[k]->n_claims; m++)
                if (n->pods.v[k] != t->pod && sym_eq(n->pods.v[k]->shape->ns, t->p->ns) &&
                    sym_eq(n->pods.v[k]->claims[m], claim))
                    return true;
    }
    return false;
}

/* What a claim attaches: a driver and something that tells its volumes apart. */
static bool attaches(struct sched *s, const struct sclaim *c, sym *ret_driver, sym *ret_volume)
{
    const struct svolume *v = c->bound ? table_get(&s->volumes, sym_str(s->syms, c->volume)) : NULL;
    const struct sclass *class = class_of(s, c);

    if (v) {
        *ret_driver = v->driver;
        *ret_volume = v->handle;
        return sym_some(v->driver);
    }
    if (!class || !class->provisions)
        return false;
    *ret_driver = class->provisioner;
    *ret_volume = sym_of(s->syms, c->key);
    return true;
}

struct attached {
    VEC(struct label) v; /* driver, volume */
};

static bool attached_has(const struct attached *x, struct label l)
{
    for (uint32_t i = 0; i < x->v.n; i++)
        if (sym_eq(x->v.v[i].key, l.key) && sym_eq(x->v.v[i].val, l.val))
            return true;
    return false;
}

static void attached_add(struct sched *s, struct attached *x, const struct spod *p)
{
    for (uint32_t i = 0; i < p->n_claims; i++) {
        const struct sclaim *c = claim_of(s, p, i);
        struct label l;

        if (c && attaches(s, c, &l.key, &l.val) && !attached_has(x, l))
            vec_push(&x->v, l);
    }
}

static bool within_limits(const struct attempt *t, const struct snode *n)
{
    struct sched *s = t->s;
    const struct scsi *csi = table_get(&s->csi_nodes, sym_str(s->syms, n->name));
    struct attached x = {0};
    bool ok = true;

    if (!csi || csi->n == 0)
        return true;
    for (uint32_t i = 0; i < n->pods.n; i++)
        attached_add(s, &x, n->pods.v[i]);
    uint32_t before = x.v.n;
    attached_add(s, &x, t->pod);
    for (uint32_t i = 0; i < csi->n && ok; i++) {
        int64_t count = 0;
        bool more = false;

        for (uint32_t k = 0; k < x.v.n; k++)
            if (sym_eq(x.v.v[k].key, csi->limits[i].driver)) {
                count++;
                more |= k >= before;
            }
        ok = !more || count <= csi->limits[i].n;
    }
    vec_fini(&x.v);
    return ok;
}

static bool volume_suits(const struct svolume *v, const struct sclaim *c, sym ns, sym name)
{
    if (!v->available || !sym_eq(v->class, c->class) || v->size < c->size || (c->modes & ~v->modes))
        return false;
    return !sym_some(v->claim) || (sym_eq(v->claim, name) && sym_eq(v->claim_ns, ns));
}

/* Whether what the claim needs can be had on the node: a volume that is there, or a new one. */
static bool can_bind(const struct attempt *t, uint32_t i, const struct sclaim *c, const struct snode *n)
{
    const struct sched *s = t->s;
    const struct sclass *class = class_of(s, c);

    if (sym_some(c->selected) && !sym_eq(c->selected, n->name))
        return false;
    for (uint32_t k = 0; k < s->volume_list.n; k++)
        if (volume_suits(s->volume_list.v[k], c, t->p->ns, t->pod->claims[i]) && reaches(s, s->volume_list.v[k], n))
            return true;
    return class && class->provisions &&
           (class->n_topologies == 0 || node_terms_match(s, class->topologies, class->n_topologies, n));
}

enum why volumes_filter(const struct attempt *t, uint32_t node)
{
    struct sched *s = t->s;
    const struct snode *n = &s->nodes.v[node];
    enum why zone = WHY_FITS;

    for (uint32_t i = 0; i < t->pod->n_claims; i++) {
        const struct sclaim *c = claim_of(s, t->pod, i);

        if (c && c->once_pod && claim_in_use(t, t->pod->claims[i]))
            return WHY_ONCE_POD;
    }
    if (!within_limits(t, n))
        return WHY_VOLUME_LIMIT;
    for (uint32_t i = 0; i < t->pod->n_claims; i++) {
        const struct sclaim *c = claim_of(s, t->pod, i);
        const struct svolume *v = c && c->bound ? table_get(&s->volumes, sym_str(s->syms, c->volume)) : NULL;

        if (!c || (c->bound && !v))
            return WHY_VOLUME_BIND;
        if (v && !reaches(s, v, n))
            return WHY_VOLUME_NODE;
        if (!v && !can_bind(t, i, c, n))
            return WHY_VOLUME_BIND;
        if (v && v->zones.present && !selector_matches(&v->zones, s->syms, n->labels))
            zone = WHY_VOLUME_ZONE;
    }
    return zone;
}

void volumes_to_bind(const struct attempt *t, const str **ret, uint32_t *ret_n)
{
    struct sched *s = t->s;
    str *names = arena_new_array(s->tmp, str, t->pod->n_claims);

    *ret = names;
    *ret_n = 0;
    for (uint32_t i = 0; i < t->pod->n_claims; i++) {
        const struct sclaim *c = claim_of(s, t->pod, i);

        if (c && !c->bound)
            names[(*ret_n)++] = sym_str(s->syms, t->pod->claims[i]);
    }
}
