/* What a pod asks for, decoded once for all pods that ask for the same. */
#include "data/json.h"
#include "model/quantity.h"
#include "sim/kube/cluster/sched_int.h"

#define DEFAULT_MILLI_CPU 100 /* what scores take a container to need when it does not say */
#define DEFAULT_MEMORY (200ll << 20)

/* ---- amounts ---- */

static int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

struct amounts amounts_of(struct sched *s, struct arena *a, const struct tree *list)
{
    struct amounts r = {.ext = arena_new_array(a, struct extended, list ? list->n : 0)};

    for (uint32_t i = 0; list && i < list->n; i++) {
        sym name = sym_of(s->syms, list->keys[i]);
        bool binary;
        int64_t v;
        struct err e;

        if (!quantity_parse(tree_scalar(&list->items[i]), name, &v, &binary, &e) || v < 0)
            continue;
        if (sym_eq(name, SYM(CPU))) {
            r.v[RES_CPU] = ceil_div(v, 1000000);
            continue;
        }
        v = ceil_div(v, 1000);
        if (sym_eq(name, SYM(MEMORY)))
            r.v[RES_MEMORY] = v;
        else if (sym_eq(name, SYM(EPHEMERAL)))
            r.v[RES_EPHEMERAL] = v;
        else if (!sym_eq(name, SYM(PODS)))
            r.ext[r.n_ext++] = (struct extended){name, v};
    }
    return r;
}

static struct extended *ext_slot(struct arena *a, struct amounts *r, sym name)
{
    for (uint32_t i = 0; i < r->n_ext; i++)
        if (sym_eq(r->ext[i].name, name))
            return &r->ext[i];
    struct extended *more = arena_new_array(a, struct extended, r->n_ext + 1);
    if (r->n_ext)
        memcpy(more, r->ext, r->n_ext * sizeof(*more));
    r->ext = more;
    r->ext[r->n_ext] = (struct extended){.name = name};
    return &r->ext[r->n_ext++];
}

static void amounts_join(struct arena *a, struct amounts *to, const struct amounts *from, bool add)
{
    for (int i = 0; i < RES_N; i++)
        to->v[i] = add ? sat_add(to->v[i], from->v[i]) : MAX(to->v[i], from->v[i]);
    for (uint32_t i = 0; i < from->n_ext; i++) {
        struct extended *x = ext_slot(a, to, from->ext[i].name);

        x->v = add ? sat_add(x->v, from->ext[i].v) : MAX(x->v, from->ext[i].v);
    }
}

static struct amounts container_asks(struct sched *s, struct arena *a, const struct tree *c, bool nonzero)
{
    struct amounts r = amounts_of(s, a, tree_at(c, "resources", "requests", NULL));

    if (nonzero && r.v[RES_CPU] == 0)
        r.v[RES_CPU] = DEFAULT_MILLI_CPU;
    if (nonzero && r.v[RES_MEMORY] == 0)
        r.v[RES_MEMORY] = DEFAULT_MEMORY;
    return r;
}

/* Containers run together, init containers one after the other beside the sidecars that were started before them. */
static struct amounts pod_asks(struct sched *s, struct arena *a, const struct tree *spec, bool nonzero)
{
    const struct tree *main = tree_get(spec, "containers"), *init = tree_get(spec, "initContainers");
    const struct tree *whole = tree_at(spec, "resources", "requests", NULL);
    struct amounts sum = {0}, sidecars = {0}, peak = {0};

    for (uint32_t i = 0; main && i < main->n; i++) {
        struct amounts c = container_asks(s, a, &main->items[i], nonzero);

        amounts_join(a, &sum, &c, true);
    }
    for (uint32_t i = 0; init && i < init->n; i++) {
        struct amounts c = container_asks(s, a, &init->items[i], nonzero);

        if (str_is(tree_str(tree_get(&init->items[i], "restartPolicy")), "Always")) {
            amounts_join(a, &sidecars, &c, true);
            amounts_join(a, &peak, &sidecars, false);
        } else {
            amounts_join(a, &c, &sidecars, true);
            amounts_join(a, &peak, &c, false);
        }
    }
    amounts_join(a, &sum, &sidecars, true);
    amounts_join(a, &sum, &peak, false);
    if (whole) { /* asked for by the pod as a whole */
        struct amounts w = amounts_of(s, a, whole);

        for (int i = 0; i < RES_N; i++)
            if (w.v[i])
                sum.v[i] = w.v[i];
    }
    struct amounts overhead = amounts_of(s, a, tree_get(spec, "overhead"));
    amounts_join(a, &sum, &overhead, true);
    return sum;
}

static void decode_amounts(struct sched *s, struct shape *p, const struct tree *spec)
{
    struct amounts scored = pod_asks(s, p->a, spec, true);

    p->asks = pod_asks(s, p->a, spec, false);
    p->scored[0] = scored.v[RES_CPU];
    p->scored[1] = scored.v[RES_MEMORY];
    p->best_effort = p->asks.v[RES_CPU] == 0 && p->asks.v[RES_MEMORY] == 0;
}

/* ---- taints, ports ---- */

static void decode_tolerations(struct sched *s, struct shape *p, const struct tree *list)
{
    p->tolerations.v = arena_new_array(p->a, struct toleration, list ? list->n : 0);
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *t = &list->items[i];
        str op = tree_str(tree_get(t, "operator"));
        struct toleration o = {.key = decode_sym(s, tree_get(t, "key")), .value = decode_sym(s, tree_get(t, "value"))};

        if (!taint_effect_parse(tree_str(tree_get(t, "effect")), &o.effect))
            continue;
        o.op = op.n == 0 || str_is(op, "Equal") ? TOL_EQUAL
               : str_is(op, "Exists")           ? TOL_EXISTS
               : str_is(op, "Lt")               ? TOL_LT
               : str_is(op, "Gt")               ? TOL_GT
                                                : TOL_UNKNOWN;
        p->tolerations.v[p->tolerations.n++] = o;
    }
}

const struct taint *untolerated(const struct sched *s, const struct shape *p, const struct snode *n, bool execute_only)
{
    for (uint32_t i = 0; i < n->taints.n; i++) {
        const struct taint *t = &n->taints.v[i];
        bool ok = t->effect == EFFECT_PREFER_NO_SCHEDULE || (execute_only && t->effect != EFFECT_NO_EXECUTE);

        for (uint32_t k = 0; !ok && k < p->tolerations.n; k++)
            ok = toleration_tolerates(&p->tolerations.v[k], t, s->syms);
        if (!ok)
            return t;
    }
    return NULL;
}

static void decode_ports(struct sched *s, struct shape *p, const struct tree *spec)
{
    static const char *const lists[] = {"containers", "initContainers"};
    VEC(struct port) ports = {0};

    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        const struct tree *list = tree_get(spec, lists[l]);

        for (uint32_t i = 0; list && i < list->n; i++) {
            const struct tree *in = tree_get(&list->items[i], "ports");
            bool sidecar = str_is(tree_str(tree_get(&list->items[i], "restartPolicy")), "Always");

            for (uint32_t k = 0; in && (l == 0 || sidecar) && k < in->n; k++) {
                str protocol = tree_str(tree_get(&in->items[k], "protocol"));
                str ip = tree_str(tree_get(&in->items[k], "hostIP"));
                int64_t port;

                if (!str_to_i64(tree_scalar(tree_get(&in->items[k], "hostPort")), &port) || port <= 0)
                    continue;
                vec_push(&ports, (struct port){sym_of(s->syms, protocol.n ? protocol : STR("TCP")),
                                               sym_of(s->syms, str_is(ip, "0.0.0.0") ? STR("") : ip), (int32_t)port});
            }
        }
    }
    p->ports = arena_dup_array(p->a, struct port, ports.v, ports.n);
    p->n_ports = ports.n;
    vec_fini(&ports);
}

/* ---- node affinity ---- */

static void decode_node_affinity(struct sched *s, struct shape *p, const struct tree *spec)
{
    const struct tree *plain = tree_get(spec, "nodeSelector"), *in = tree_at(spec, "affinity", "nodeAffinity", NULL);
    const struct tree *required = tree_get(in, "requiredDuringSchedulingIgnoredDuringExecution");
    const struct tree *preferred = tree_get(in, "preferredDuringSchedulingIgnoredDuringExecution");

    if (plain) {
        struct tree as_labels = {
            .kind = TREE_MAP, .n = 1, .items = (struct tree *)plain, .keys = (str[]){STR("matchLabels")}};

        decode_selector(s, p->a, &as_labels, &p->node_selector);
    }
    p->has_required = required != NULL;
    decode_node_terms(s, p->a, tree_get(required, "nodeSelectorTerms"), &p->required, &p->n_required);
    p->preferred = arena_new_array(p->a, struct node_term, preferred ? preferred->n : 0);
    for (uint32_t i = 0; preferred && i < preferred->n; i++) {
        struct node_term *t = &p->preferred[p->n_preferred];
        int64_t weight;

        if (!decode_node_term(s, p->a, tree_get(&preferred->items[i], "preference"), t) ||
            !str_to_i64(tree_scalar(tree_get(&preferred->items[i], "weight")), &weight))
            continue;
        t->weight = (int32_t)MIN(MAX(weight, 0), 100);
        p->n_preferred++;
    }
}

bool shape_fits_labels(const struct sched *s, const struct shape *p, const struct snode *n)
{
    if (p->node_selector.present && !selector_matches(&p->node_selector, s->syms, n->labels))
        return false;
    return !p->has_required || node_terms_match(s, p->required, p->n_required, n);
}

/* ---- other pods ---- */

/* matchLabelKeys and mismatchLabelKeys: the pod's own values become part of the selector. */
static void add_label_keys(struct sched *s, struct shape *p, const struct tree *keys, enum req_op op,
                           struct selector *sel)
{
    if (!keys || keys->n == 0 || !sel->present)
        return;
    struct req_expr *more = arena_new_array(p->a, struct req_expr, sel->n_exprs + keys->n);
    if (sel->n_exprs)
        memcpy(more, sel->exprs, sel->n_exprs * sizeof(*more));
    sel->exprs = more;
    for (uint32_t i = 0; i < keys->n; i++) {
        sym key = decode_sym(s, &keys->items[i]), value;

        if (!lset_value(s->syms, p->labels, key, &value))
            continue;
        struct req_expr *x = &sel->exprs[sel->n_exprs++];
        *x = (struct req_expr){.key = key, .op = op, .n_vals = 1, .vals = arena_new_one(p->a, sym)};
        x->vals[0] = value;
    }
}

static struct whom whom_here(struct shape *p)
{
    struct whom w = {.namespaces = arena_new_one(p->a, sym), .n_namespaces = 1};

    w.namespaces[0] = p->ns;
    return w;
}

static struct whom decode_whom(struct sched *s, struct shape *p, const struct tree *term)
{
    const struct tree *names = tree_get(term, "namespaces"), *in = tree_get(term, "namespaceSelector");
    struct whom w = {0};

    if (names && names->n) {
        w.n_namespaces = names->n;
        w.namespaces = arena_new_array(p->a, sym, names->n);
        for (uint32_t i = 0; i < names->n; i++)
            w.namespaces[i] = decode_sym(s, &names->items[i]);
    } else if (!in) {
        w = whom_here(p);
    }
    decode_selector(s, p->a, in, &w.in_namespaces);
    decode_selector(s, p->a, tree_get(term, "labelSelector"), &w.pods);
    add_label_keys(s, p, tree_get(term, "matchLabelKeys"), OP_IN, &w.pods);
    add_label_keys(s, p, tree_get(term, "mismatchLabelKeys"), OP_NOT_IN, &w.pods);
    return w;
}

static void decode_spreads(struct sched *s, struct shape *p, const struct tree *list)
{
    p->spreads = arena_new_array(p->a, struct spread, list ? list->n : 0);
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *t = &list->items[i];
        struct spread *x = &p->spreads[p->n_spreads++];
        struct whom w = whom_here(p);
        int64_t skew = 1, domains = 1;

        if (!str_to_i64(tree_scalar(tree_get(t, "maxSkew")), &skew))
            skew = 1;
        if (!str_to_i64(tree_scalar(tree_get(t, "minDomains")), &domains))
            domains = 1;
        decode_selector(s, p->a, tree_get(t, "labelSelector"), &w.pods);
        add_label_keys(s, p, tree_get(t, "matchLabelKeys"), OP_IN, &w.pods);
        *x = (struct spread){
            .key = decode_sym(s, tree_get(t, "topologyKey")),
            .max_skew = (int32_t)skew,
            .min_domains = (int32_t)domains,
            .hard = !str_is(tree_str(tree_get(t, "whenUnsatisfiable")), "ScheduleAnyway"),
            .honor_affinity = !str_is(tree_str(tree_get(t, "nodeAffinityPolicy")), "Ignore"),
            .honor_taints = str_is(tree_str(tree_get(t, "nodeTaintsPolicy")), "Honor"),
            .self = selector_matches(&w.pods, s->syms, p->labels),
        };
        x->topology = topology_of(s, x->key);
        x->tally = tally_of(s, &w, 1, true);
        p->n_hard += x->hard;
    }
}

static void add_holder(struct shape *p, struct holder *h)
{
    struct holder **more = arena_new_array(p->a, struct holder *, p->n_holders + 1);

    if (p->n_holders)
        memcpy(more, p->holders, p->n_holders * sizeof(*more));
    p->holders = more;
    p->holders[p->n_holders++] = h;
}

static void decode_required(struct sched *s, struct shape *p, const struct tree *list, bool anti)
{
    uint32_t n = list ? list->n : 0;
    struct affinity_term *terms = arena_new_array(p->a, struct affinity_term, n);
    struct whom *all = arena_new_array(p->a, struct whom, n);

    p->affine_to_itself = n > 0;
    for (uint32_t i = 0; i < n; i++) {
        all[i] = decode_whom(s, p, &list->items[i]);
        terms[i].key = decode_sym(s, tree_get(&list->items[i], "topologyKey"));
        terms[i].topology = topology_of(s, terms[i].key);
        if (anti)
            terms[i].tally = tally_of(s, &all[i], 1, false);
        add_holder(p, holder_of(s, anti ? HOLDS_ANTI : HOLDS_AFFINITY, &all[i], terms[i].key, 1));
    }
    if (anti) {
        p->anti = terms;
        p->n_anti = n;
    } else {
        p->affinity = terms;
        p->n_affinity = n;
        if (n)
            p->all_affinity = tally_of(s, all, n, false);
    }
}

static void decode_preferred(struct sched *s, struct shape *p, const struct tree *list, int sign)
{
    uint32_t n = list ? list->n : 0;
    struct affinity_term *terms = arena_new_array(p->a, struct affinity_term, p->n_likes + n);

    if (p->n_likes)
        memcpy(terms, p->likes, p->n_likes * sizeof(*terms));
    p->likes = terms;
    for (uint32_t i = 0; i < n; i++) {
        const struct tree *term = tree_get(&list->items[i], "podAffinityTerm");
        struct affinity_term *x = &p->likes[p->n_likes++];
        struct whom w = decode_whom(s, p, term);
        int64_t weight = 0;

        if (!str_to_i64(tree_scalar(tree_get(&list->items[i], "weight")), &weight))
            weight = 0;
        x->key = decode_sym(s, tree_get(term, "topologyKey"));
        x->topology = topology_of(s, x->key);
        x->weight = sign * (int32_t)MIN(MAX(weight, 0), 100);
        x->tally = tally_of(s, &w, 1, false);
        add_holder(p, holder_of(s, HOLDS_PREFERENCE, &w, x->key, x->weight));
    }
}

static void decode_others(struct sched *s, struct shape *p, const struct tree *spec)
{
    const struct tree *with = tree_at(spec, "affinity", "podAffinity", NULL);
    const struct tree *without = tree_at(spec, "affinity", "podAntiAffinity", NULL);

    decode_spreads(s, p, tree_get(spec, "topologySpreadConstraints"));
    decode_required(s, p, tree_get(without, "requiredDuringSchedulingIgnoredDuringExecution"), true);
    decode_required(s, p, tree_get(with, "requiredDuringSchedulingIgnoredDuringExecution"), false);
    decode_preferred(s, p, tree_get(with, "preferredDuringSchedulingIgnoredDuringExecution"), 1);
    decode_preferred(s, p, tree_get(without, "preferredDuringSchedulingIgnoredDuringExecution"), -1);
}

/* ---- shapes ---- */

static void write_containers(struct jw *w, const struct tree *list)
{
    jw_list(w);
    for (uint32_t i = 0; list && i < list->n; i++) {
        jw_tree(w, tree_get(&list->items[i], "resources"));
        jw_tree(w, tree_get(&list->items[i], "ports"));
        jw_tree(w, tree_get(&list->items[i], "restartPolicy"));
    }
    jw_end(w);
}

/* Everything that the decoding below looks at, as text. */
static void write_key(struct sb *b, const struct tree *pod)
{
    static const char *const fields[] = {
        "nodeSelector", "affinity",         "tolerations",     "topologySpreadConstraints",
        "priority",     "preemptionPolicy", "schedulingGates", "schedulerName",
        "overhead",     "resources"};
    const struct tree *spec = tree_get(pod, "spec");
    struct jw w = {.out = b};

    jw_list(&w);
    jw_tree(&w, tree_at(pod, "metadata", "namespace", NULL));
    jw_tree(&w, tree_at(pod, "metadata", "labels", NULL));
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        jw_tree(&w, tree_get(spec, fields[i]));
    write_containers(&w, tree_get(spec, "containers"));
    write_containers(&w, tree_get(spec, "initContainers"));
    jw_end(&w);
}

static struct shape *shape_new(struct sched *s, str key, const struct tree *pod)
{
    struct arena *a = arena_new(1024);
    struct shape *p = arena_new_one(a, struct shape);
    const struct tree *spec = tree_get(pod, "spec"), *gates = tree_get(spec, "schedulingGates");
    str scheduler = tree_str(tree_get(spec, "schedulerName"));
    int64_t priority;

    p->a = a;
    p->key = arena_strdup(a, key);
    p->id = s->free_shapes.n ? s->free_shapes.v[--s->free_shapes.n] : s->n_shapes++;
    p->ns = decode_sym(s, tree_at(pod, "metadata", "namespace", NULL));
    p->labels = decode_labels(s, tree_at(pod, "metadata", "labels", NULL));
    if (str_to_i64(tree_scalar(tree_get(spec, "priority")), &priority))
        p->priority = (int32_t)MIN(MAX(priority, INT32_MIN), INT32_MAX);
    p->never_preempts = str_is(tree_str(tree_get(spec, "preemptionPolicy")), "Never");
    p->gated = gates && gates->n;
    p->ours = scheduler.n == 0 || str_is(scheduler, "default-scheduler");
    decode_amounts(s, p, spec);
    decode_tolerations(s, p, tree_get(spec, "tolerations"));
    decode_ports(s, p, spec);
    decode_node_affinity(s, p, spec);
    decode_others(s, p, spec);
    if (p->all_affinity)
        p->affine_to_itself = tally_matches(s, p->all_affinity, p);
    table_put(&s->shapes, p);
    return p;
}

struct shape *pod_shape(struct sched *s, const struct tree *pod)
{
    struct sb b = {0};

    write_key(&b, pod);
    struct shape *p = table_get(&s->shapes, sb_view(&b));
    if (!p)
        p = shape_new(s, sb_view(&b), pod);
    sb_fini(&b);
    p->refs++;
    return p;
}

void shape_unref(struct sched *s, struct shape *p)
{
    if (--p->refs > 0)
        return;
    table_take(&s->shapes, p->key);
    for (uint32_t i = 0; i < p->n_spreads; i++)
        tally_unref(s, p->spreads[i].tally);
    for (uint32_t i = 0; i < p->n_anti; i++)
        tally_unref(s, p->anti[i].tally);
    for (uint32_t i = 0; i < p->n_likes; i++)
        tally_unref(s, p->likes[i].tally);
    if (p->all_affinity)
        tally_unref(s, p->all_affinity);
    for (uint32_t i = 0; i < p->n_holders; i++)
        holder_unref(s, p->holders[i]);
    counts_forget_shape(s, p->id);
    vec_push(&s->free_shapes, p->id);
    arena_free(p->a);
}
