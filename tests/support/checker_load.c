/* What a cluster's objects say, reduced to what the checks need: quantities (spec: scheduling 5), pods as shapes,
 * constraints as groups. Pods that differ in name only share a shape, which keeps a million of them small. */
#include "checker_int.h"

str keep(struct checker *c, str s)
{
    return arena_strdup(c->a, s);
}

uint32_t resource_ix(struct checker *c, str name)
{
    for (uint32_t i = 0; i < c->resources.n; i++)
        if (str_eq(c->resources.v[i], name))
            return i;
    assert(c->resources.n < MAX_RES);
    vec_push(&c->resources, keep(c, name));
    return c->resources.n - 1;
}

static quantity suffix_scale(str s, bool *ret_ok)
{
    static const struct {
        const char *name;
        unsigned bits, tens;
        bool down;
    } table[] = {
        {"", 0, 0, false},    {"n", 0, 9, true},    {"u", 0, 6, true},    {"m", 0, 3, true},
        {"k", 0, 3, false},   {"M", 0, 6, false},   {"G", 0, 9, false},   {"T", 0, 12, false},
        {"P", 0, 15, false},  {"E", 0, 18, false},  {"Ki", 10, 0, false}, {"Mi", 20, 0, false},
        {"Gi", 30, 0, false}, {"Ti", 40, 0, false}, {"Pi", 50, 0, false}, {"Ei", 60, 0, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (!str_is(s, table[i].name))
            continue;
        quantity q = 1000000000;

        for (unsigned t = 0; t < table[i].tens; t++)
            q = table[i].down ? q / 10 : q * 10;
        *ret_ok = true;
        return q << table[i].bits;
    }
    *ret_ok = false;
    return 0;
}

static quantity exponent_scale(str s, bool *ret_ok)
{
    int64_t e;
    quantity q = 1000000000;

    *ret_ok = s.n > 1 && (s.p[0] == 'e' || s.p[0] == 'E') && str_to_i64(str_sub(s, 1, s.n), &e) && e >= -9 && e <= 18;
    for (int64_t i = 0; *ret_ok && i < (e < 0 ? -e : e); i++)
        q = e < 0 ? q / 10 : q * 10;
    return q;
}

/* Digits with at most one dot, then a suffix. What is finer than a unit is rounded up. Unreadable text counts 0: the
 * program under test refuses such input itself. */
quantity quantity_parse(str s)
{
    size_t i = 0;
    bool negative = false, ok;
    quantity digits = 0, divide = 1;

    if (s.n && (s.p[0] == '+' || s.p[0] == '-'))
        negative = s.p[i++] == '-';
    for (bool dot = false; i < s.n && ((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] == '.' && !dot)); i++) {
        if (s.p[i] == '.') {
            dot = true;
        } else if (digits < (quantity)1 << 80) {
            digits = digits * 10 + (s.p[i] - '0');
            divide = dot ? divide * 10 : divide;
        }
    }
    str rest = str_sub(s, i, s.n);
    quantity scale = suffix_scale(rest, &ok);
    if (!ok)
        scale = exponent_scale(rest, &ok);
    if (!ok)
        return 0;
    quantity q = digits * scale, whole = q / divide;
    whole += whole * divide != q;
    return negative ? -whole : whole;
}

void rvec_read(struct checker *c, const struct tree *list, struct rvec *ret)
{
    for (uint32_t i = 0; list && list->kind == TREE_MAP && i < list->n; i++)
        ret->v[resource_ix(c, list->keys[i])] = quantity_parse(tree_scalar(&list->items[i]));
}

void rvec_add(const struct checker *c, struct rvec *a, const struct rvec *b)
{
    for (uint32_t i = 0; i < c->resources.n; i++)
        a->v[i] += b->v[i];
}

bool rvec_fits(const struct checker *c, const struct rvec *need, const struct rvec *room, uint32_t *ret_resource)
{
    for (uint32_t i = 0; i < c->resources.n; i++)
        if (need->v[i] > room->v[i] || room->v[i] < 0) {
            *ret_resource = i;
            return false;
        }
    return true;
}

static void rvec_max(const struct checker *c, struct rvec *a, const struct rvec *b)
{
    for (uint32_t i = 0; i < c->resources.n; i++)
        a->v[i] = MAX(a->v[i], b->v[i]);
}

static struct rvec container_requests(struct checker *c, const struct tree *container, bool from_limits)
{
    const struct tree *resources = tree_get(container, "resources");
    struct rvec r = {0};

    if (from_limits)
        rvec_read(c, tree_get(resources, "limits"), &r);
    rvec_read(c, tree_get(resources, "requests"), &r);
    return r;
}

void pod_requests(struct checker *c, const struct tree *spec, bool default_from_limits, struct rvec *ret)
{
    const struct tree *containers = tree_get(spec, "containers"), *inits = tree_get(spec, "initContainers");
    const struct tree *level = tree_at(spec, "resources", "requests", NULL);
    struct rvec sum = {0}, sidecars = {0}, peak = {0}, overhead = {0};

    for (uint32_t i = 0; containers && i < containers->n; i++) {
        struct rvec r = container_requests(c, &containers->items[i], default_from_limits);

        rvec_add(c, &sum, &r);
    }
    for (uint32_t i = 0; inits && i < inits->n; i++) {
        struct rvec r = container_requests(c, &inits->items[i], default_from_limits);

        if (str_is(tree_str(tree_get(&inits->items[i], "restartPolicy")), "Always")) {
            rvec_add(c, &sum, &r);
            rvec_add(c, &sidecars, &r);
            r = sidecars;
        } else {
            rvec_add(c, &r, &sidecars);
        }
        rvec_max(c, &peak, &r);
    }
    rvec_max(c, &sum, &peak);
    for (uint32_t i = 0; level && level->kind == TREE_MAP && i < level->n; i++)
        if (str_is(level->keys[i], "cpu") || str_is(level->keys[i], "memory") ||
            str_starts(level->keys[i], STR("hugepages-")))
            sum.v[resource_ix(c, level->keys[i])] = quantity_parse(tree_scalar(&level->items[i]));
    rvec_read(c, tree_get(spec, "overhead"), &overhead);
    rvec_add(c, &sum, &overhead);
    sum.v[c->res_pods] = 1000000000;
    *ret = sum;
}

struct clabels labels_read(struct checker *c, const struct tree *t)
{
    struct clabels l = {0};

    if (!t || t->kind != TREE_MAP)
        return l;
    l.v = arena_new_array(c->a, struct clabel, t->n + 1);
    for (uint32_t i = 0; i < t->n; i++)
        l.v[l.n++] = (struct clabel){keep(c, t->keys[i]), keep(c, tree_scalar(&t->items[i]))};
    return l;
}

str labels_get(const struct clabels *l, str key)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (str_eq(l->v[i].key, key))
            return l->v[i].value.p ? l->v[i].value : STR("");
    return (str){0};
}

/* One text for equal trees with the same order of keys. */
void tree_dump(struct sb *b, const struct tree *t)
{
    if (!t)
        return;
    switch (t->kind) {
    case TREE_NULL:
        sb_c(b, "null");
        return;
    case TREE_BOOL:
    case TREE_NUMBER:
        sb_str(b, t->text);
        return;
    case TREE_STRING:
        sb_printf(b, "%zu:", t->text.n);
        sb_str(b, t->text);
        return;
    case TREE_LIST:
    case TREE_MAP:
        sb_char(b, t->kind == TREE_LIST ? '[' : '{');
        for (uint32_t i = 0; i < t->n; i++) {
            if (t->kind == TREE_MAP)
                sb_str(b, t->keys[i]);
            sb_char(b, '=');
            tree_dump(b, &t->items[i]);
            sb_char(b, ',');
        }
        sb_char(b, t->kind == TREE_LIST ? ']' : '}');
        return;
    }
}

struct cselector selector_read(struct checker *c, const struct tree *t)
{
    const struct tree *labels = tree_get(t, "matchLabels"), *exprs = tree_get(t, "matchExpressions");
    uint32_t n_labels = labels ? labels->n : 0, n_exprs = exprs ? exprs->n : 0;
    struct cselector s = {.nil = !t};

    s.v = arena_new_array(c->a, struct creq, n_labels + n_exprs + 8);
    for (uint32_t i = 0; i < n_labels; i++)
        s.v[s.n++] = creq_in(c, labels->keys[i], tree_scalar(&labels->items[i]));
    for (uint32_t i = 0; i < n_exprs; i++) {
        const struct tree *x = &exprs->items[i];

        s.v[s.n++] =
            creq_make(c, tree_str(tree_get(x, "key")), tree_str(tree_get(x, "operator")), tree_get(x, "values"));
    }
    return s;
}

uint32_t group_of(struct checker *c, struct group g, str text, str alike, uint32_t shape)
{
    uint32_t ix = strmap_get(&c->group_ix, text);

    if (ix != MAP_NONE)
        return ix;
    ix = c->groups.n;
    g.first_owner = shape;
    g.first_count = NONE;
    g.host_key = str_is(g.key, K_HOST);
    uint32_t other = strmap_get(&c->group_alike, alike);
    if (other != MAP_NONE) {
        g.unclear = true;
        c->groups.v[other].unclear = true;
    } else {
        strmap_put(&c->group_alike, keep(c, alike), ix);
    }
    vec_push(&c->groups, g);
    strmap_put(&c->group_ix, keep(c, text), ix);
    return ix;
}

static void own(struct checker *c, struct shape *s, uint32_t group)
{
    uint32_t *v = arena_new_array(c->a, uint32_t, s->n_owns + 1);

    for (uint32_t i = 0; i < s->n_owns; i++) {
        if (s->owns[i] == group)
            return;
        v[i] = s->owns[i];
    }
    v[s->n_owns] = group;
    s->owns = v;
    s->n_owns++;
}

/* matchLabelKeys: the pod's own value joins the selector. */
static void selector_narrow(struct checker *c, struct cselector *sel, const struct tree *keys, const struct clabels *l,
                            struct sb *b)
{
    for (uint32_t i = 0; keys && keys->kind == TREE_LIST && i < keys->n && i < 8; i++) {
        str key = tree_str(&keys->items[i]), v = labels_get(l, key);

        if (!v.p)
            continue;
        sel->v[sel->n++] = creq_in(c, key, v);
        sb_printf(b, "|" STR_FMT "=" STR_FMT, STR_ARG(key), STR_ARG(v));
    }
}

static void spread_read(struct checker *c, struct shape *s, uint32_t shape, const struct tree *t,
                        const struct tree *spec)
{
    if (str_is(tree_str(tree_get(t, "whenUnsatisfiable")), "ScheduleAnyway"))
        return;
    struct group g = {.kind = SPREAD, .key = keep(c, tree_str(tree_get(t, "topologyKey"))), .max_skew = 1};
    struct sb b = {0}, alike = {0};

    (void)str_to_i64(tree_scalar(tree_get(t, "maxSkew")), &g.max_skew);
    (void)str_to_i64(tree_scalar(tree_get(t, "minDomains")), &g.min_domains);
    g.honor_affinity = !str_is(tree_str(tree_get(t, "nodeAffinityPolicy")), "Ignore");
    g.honor_taints = str_is(tree_str(tree_get(t, "nodeTaintsPolicy")), "Honor");
    g.namespaces = arena_new_one(c->a, str);
    g.namespaces[g.n_namespaces++] = s->ns;
    g.selector = selector_read(c, tree_get(t, "labelSelector"));
    g.unclear = s->n_terms > 1 || g.selector.nil;

    sb_printf(&b, "spread|" STR_FMT "|" STR_FMT "|%lld|%d%d|", STR_ARG(g.key), STR_ARG(s->ns), (long long)g.max_skew,
              g.honor_affinity, g.honor_taints);
    tree_dump(&b, tree_get(t, "labelSelector"));
    selector_narrow(c, &g.selector, tree_get(t, "matchLabelKeys"), &s->labels, &b);
    sb_str(&alike, sb_view(&b));
    tree_dump(&alike, tree_get(spec, "tolerations"));
    for (uint32_t i = 0; g.honor_affinity && s->n_terms && i < s->terms[0].n; i++)
        sb_str(&alike, s->terms[0].v[i].key);
    sb_printf(&b, "|%lld|", (long long)g.min_domains);
    tree_dump(&b, tree_get(spec, "tolerations"));
    tree_dump(&b, tree_get(spec, "nodeSelector"));
    tree_dump(&b, tree_at(spec, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", NULL));
    own(c, s, group_of(c, g, sb_view(&b), sb_view(&alike), shape));
    sb_fini(&b);
    sb_fini(&alike);
}

static int by_str(const void *a, const void *b)
{
    return str_cmp(*(const str *)a, *(const str *)b);
}

/* Whom an affinity term looks at: the pod's own namespace, those listed, those selected (spec: scheduling 13.3). */
static void term_namespaces(struct checker *c, struct group *g, const struct tree *t, str own_ns)
{
    const struct tree *names = tree_get(t, "namespaces"), *selector = tree_get(t, "namespaceSelector");
    uint32_t n = names && names->kind == TREE_LIST ? names->n : 0;

    g->namespaces = arena_new_array(c->a, str, n + 1);
    for (uint32_t i = 0; i < n; i++)
        g->namespaces[g->n_namespaces++] = keep(c, tree_str(&names->items[i]));
    if (selector)
        g->ns_selector = selector_read(c, selector);
    else if (n == 0)
        g->namespaces[g->n_namespaces++] = own_ns;
    g->ns_selector.nil = !selector;
    qsort(g->namespaces, g->n_namespaces, sizeof(str), by_str);
}

static void term_read(struct checker *c, struct shape *s, uint32_t shape, enum group_kind kind, const struct tree *t)
{
    struct group g = {.kind = kind, .key = keep(c, tree_str(tree_get(t, "topologyKey")))};
    struct sb b = {0};

    term_namespaces(c, &g, t, s->ns);
    g.selector = selector_read(c, tree_get(t, "labelSelector"));
    sb_printf(&b, "%d|" STR_FMT "|", (int)kind, STR_ARG(g.key));
    tree_dump(&b, tree_get(t, "namespaceSelector"));
    for (uint32_t i = 0; i < g.n_namespaces; i++)
        sb_printf(&b, "|" STR_FMT, STR_ARG(g.namespaces[i]));
    tree_dump(&b, tree_get(t, "labelSelector"));
    own(c, s, group_of(c, g, sb_view(&b), sb_view(&b), shape));
    sb_fini(&b);
}

static void constraints_read(struct checker *c, struct shape *s, uint32_t shape, const struct tree *spec)
{
    static const char required[] = "requiredDuringSchedulingIgnoredDuringExecution";
    const struct tree *spreads = tree_get(spec, "topologySpreadConstraints");
    const struct tree *to = tree_at(spec, "affinity", "podAffinity", required, NULL);
    const struct tree *from = tree_at(spec, "affinity", "podAntiAffinity", required, NULL);

    for (uint32_t i = 0; spreads && i < spreads->n; i++)
        spread_read(c, s, shape, &spreads->items[i], spec);
    for (uint32_t i = 0; to && i < to->n; i++)
        term_read(c, s, shape, AFFINITY, &to->items[i]);
    for (uint32_t i = 0; from && i < from->n; i++)
        term_read(c, s, shape, ANTI_AFFINITY, &from->items[i]);
}

static void node_terms_read(struct checker *c, struct shape *s, const struct tree *spec)
{
    const struct tree *terms = tree_at(spec, "affinity", "nodeAffinity",
                                       "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms", NULL);
    struct clabels selector = labels_read(c, tree_get(spec, "nodeSelector"));
    struct creqs base = creqs_of_labels(c, &selector);
    uint32_t n = terms && terms->n ? terms->n : 1;

    s->terms = arena_new_array(c->a, struct creqs, n);
    for (uint32_t i = 0; i < n; i++) {
        s->terms[i] = creqs_copy(c, &base);
        if (!terms || terms->n == 0)
            continue;
        struct creqs extra = creqs_of_list(c, tree_get(&terms->items[i], "matchExpressions"));
        for (uint32_t k = 0; k < extra.n; k++)
            creqs_add(c, &s->terms[i], extra.v[k]);
        s->match_fields |= tree_get(&terms->items[i], "matchFields") != NULL;
    }
    s->n_terms = n;
    const struct tree *soft =
        tree_at(spec, "affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution", NULL);
    s->preferred = arena_new_array(c->a, struct creqs, (soft ? soft->n : 0) + 1);
    for (uint32_t i = 0; soft && i < soft->n; i++)
        s->preferred[s->n_preferred++] =
            creqs_of_list(c, tree_at(&soft->items[i], "preference", "matchExpressions", NULL));
}

static void tolerations_read(struct checker *c, struct shape *s, const struct tree *list)
{
    s->tolerations = arena_new_array(c->a, struct ctoleration, (list ? list->n : 0) + 1);
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *t = &list->items[i];

        s->tolerations[s->n_tolerations++] = (struct ctoleration){
            .key = keep(c, tree_str(tree_get(t, "key"))),
            .value = keep(c, tree_scalar(tree_get(t, "value"))),
            .effect = keep(c, tree_str(tree_get(t, "effect"))),
            .op = keep(c, tree_str(tree_get(t, "operator"))),
        };
    }
}

static void ports_read(struct checker *c, struct shape *s, const struct tree *containers)
{
    VEC(struct cport) ports = {0};

    for (uint32_t i = 0; containers && i < containers->n; i++) {
        const struct tree *list = tree_get(&containers->items[i], "ports");

        for (uint32_t k = 0; list && k < list->n; k++) {
            struct cport p = {.ip = keep(c, tree_str(tree_get(&list->items[k], "hostIP"))),
                              .proto = keep(c, tree_str(tree_get(&list->items[k], "protocol")))};

            if (p.proto.n == 0)
                p.proto = STR("TCP");
            if (str_to_i64(tree_scalar(tree_get(&list->items[k], "hostPort")), &p.port) && p.port)
                vec_push(&ports, p);
        }
    }
    s->n_ports = ports.n;
    s->ports = vec_to_arena(&ports, c->a);
    vec_fini(&ports);
}

static void claims_read(struct checker *c, struct shape *s, str pod_name, const struct tree *volumes)
{
    s->claims = arena_new_array(c->a, str, (volumes ? volumes->n : 0) + 1);
    for (uint32_t i = 0; volumes && i < volumes->n; i++) {
        const struct tree *v = &volumes->items[i];
        str claim = tree_str(tree_at(v, "persistentVolumeClaim", "claimName", NULL));

        if (claim.n)
            s->claims[s->n_claims++] = arena_printf(c->a, STR_FMT "/" STR_FMT, STR_ARG(s->ns), STR_ARG(claim));
        else if (tree_get(v, "ephemeral"))
            s->claims[s->n_claims++] = arena_printf(c->a, STR_FMT "/" STR_FMT "-" STR_FMT, STR_ARG(s->ns),
                                                    STR_ARG(pod_name), STR_ARG(tree_str(tree_get(v, "name"))));
    }
}

/* What scheduling looks at in a pod, as one text: equal texts are one shape. */
static void shape_text(struct sb *b, str ns, str pod_name, const struct tree *labels, const struct tree *spec)
{
    const struct tree *volumes = tree_get(spec, "volumes");

    sb_reset(b);
    sb_str(b, ns);
    tree_dump(b, labels);
    for (uint32_t i = 0; spec && spec->kind == TREE_MAP && i < spec->n; i++) {
        if (str_is(spec->keys[i], "nodeName") || str_is(spec->keys[i], "hostname"))
            continue;
        sb_str(b, spec->keys[i]);
        tree_dump(b, &spec->items[i]);
    }
    for (uint32_t i = 0; volumes && i < volumes->n; i++)
        if (tree_get(&volumes->items[i], "ephemeral")) {
            sb_str(b, pod_name);
            break;
        }
}

uint32_t shape_of(struct checker *c, str ns, str pod_name, const struct tree *labels, const struct tree *spec,
                  bool template_limits)
{
    shape_text(&c->tmp, ns, pod_name, labels, spec);
    sb_char(&c->tmp, template_limits ? '+' : '.');
    uint32_t ix = strmap_get(&c->shape_ix, sb_view(&c->tmp));
    if (ix != MAP_NONE)
        return ix;

    ix = c->shapes.n;
    strmap_put(&c->shape_ix, sb_dup(&c->tmp, c->a), ix);
    struct shape s = {.ns = keep(c, ns), .labels = labels_read(c, labels)};
    node_terms_read(c, &s, spec);
    tolerations_read(c, &s, tree_get(spec, "tolerations"));
    ports_read(c, &s, tree_get(spec, "containers"));
    claims_read(c, &s, pod_name, tree_get(spec, "volumes"));
    pod_requests(c, spec, template_limits, &s.requests);
    if (!template_limits) /* the constraints of daemons are not looked at */
        constraints_read(c, &s, ix, spec);
    vec_push(&c->shapes, s);
    return ix;
}
