/* What scheduling looks at in a spec is written out as a key first; only a key that was not seen before is decoded.
 * Claims differ between the pods of a StatefulSet, so they have a key of their own: such pods share all but the list
 * of volumes. The values of matchFields, which pin each daemon pod to its node, are nobody's business here and stay
 * out of the key. */
#include "k8s/podspec.h"

#include "k8s/affinity.h"

#define SPEC_ROOM 1024 /* for an ordinary spec and its key */

static void key_text(struct sb *b, char tag, str s)
{
    sb_char(b, tag);
    sb_u64(b, s.n);
    sb_char(b, ':');
    sb_str(b, s);
}

static void key_tree(struct sb *b, const struct tree *t)
{
    if (!t)
        return;
    switch (t->kind) {
    case TREE_NULL:
        sb_char(b, '~');
        return;
    case TREE_BOOL:
    case TREE_NUMBER:
        key_text(b, '#', t->text);
        return;
    case TREE_STRING:
        key_text(b, '"', t->text);
        return;
    case TREE_LIST:
    case TREE_MAP:
        break;
    }
    sb_char(b, t->kind == TREE_LIST ? '[' : '{');
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->kind == TREE_MAP) {
            key_text(b, '.', t->keys[i]);
            if (str_is(t->keys[i], "matchFields") && t->items[i].kind == TREE_LIST && t->items[i].n)
                continue;
        }
        key_tree(b, &t->items[i]);
    }
    sb_char(b, t->kind == TREE_LIST ? ']' : '}');
}

static void key_field(struct sb *b, const struct tree *t, const char *name)
{
    const struct tree *f = tree_get(t, name);

    if (!f)
        return;
    key_text(b, '.', str_c(name));
    key_tree(b, f);
}

static bool has_host_ports(const struct tree *container)
{
    const struct tree *ports = tree_get(container, "ports");

    for (uint32_t i = 0; ports && i < ports->n; i++)
        if (tree_get(&ports->items[i], "hostPort"))
            return true;
    return false;
}

static void key_containers(struct sb *b, const struct tree *spec, const char *name, bool with_names)
{
    const struct tree *list = tree_get(spec, name);
    bool host_network = tree_is_true(tree_get(spec, "hostNetwork"));

    key_text(b, 'C', str_c(name));
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *c = &list->items[i];

        sb_char(b, c->kind == TREE_MAP ? 'c' : '?');
        if (with_names)
            key_field(b, c, "name");
        key_field(b, c, "resources");
        key_field(b, c, "restartPolicy");
        if (host_network || has_host_ports(c))
            key_field(b, c, "ports");
    }
}

/* Only what an in-place resize leaves there. */
static bool key_statuses(struct sb *b, const struct tree *status, const char *name)
{
    const struct tree *list = tree_get(status, name);
    bool any = false;

    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *cs = &list->items[i];

        if (!tree_get(cs, "resources"))
            continue;
        any = true;
        sb_char(b, 'S');
        key_field(b, cs, "name");
        key_field(b, tree_get(cs, "resources"), "requests");
        key_field(b, cs, "allocatedResources");
    }
    return any;
}

static void key_resize(struct sb *b, const struct tree *status)
{
    const struct tree *list = tree_get(status, "conditions");

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), "PodResizePending"))
            key_field(b, &list->items[i], "reason");
}

static void key_spec(struct sb *b, const struct pod_source *p, lset_id labels)
{
    static const char *const fields[] = {"nodeSelector", "affinity",  "tolerations", "topologySpreadConstraints",
                                         "overhead",     "resources", "hostNetwork"};
    const struct tree *spec = p->spec, *affinity = tree_get(spec, "affinity");

    sb_reset(b);
    sb_char(b, p->fill_in ? '+' : '-');
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        key_field(b, spec, fields[i]);
    if (affinity_uses_labels(affinity)) {
        sb_char(b, 'L');
        sb_u64(b, labels.v);
    }
    bool resized = key_statuses(b, p->status, "containerStatuses");
    resized = key_statuses(b, p->status, "initContainerStatuses") || resized;
    if (resized)
        key_resize(b, p->status);
    key_containers(b, spec, "containers", resized);
    key_containers(b, spec, "initContainers", resized);
    const struct tree *claims = tree_get(spec, "resourceClaims");
    if (claims)
        sb_c(b, claims->n ? "R+" : "R-");
}

static bool dec_node_selector(struct decoder *d, const struct tree *spec, struct podspec *s, struct err *e)
{
    const struct tree *map;

    if (!dec_map(d, spec, "nodeSelector", &map, e))
        return false;
    s->n_node_selector = map ? map->n : 0;
    s->node_selector = arena_new_array(d->o->arena, struct req_expr, s->n_node_selector);
    for (uint32_t i = 0; i < s->n_node_selector; i++) {
        struct req_expr *x = &s->node_selector[i];

        if (!dec_is_str(d, &map->items[i], e))
            return false;
        x->key = sym_of(d->o->syms, label_key_normalise(map->keys[i]));
        x->op = OP_IN;
        x->n_vals = 1;
        x->vals = arena_new_one(d->o->arena, sym);
        x->vals[0] = sym_of(d->o->syms, map->items[i].text);
    }
    return true;
}

static bool dec_toleration(struct decoder *d, const struct tree *t, struct toleration *ret, struct err *e)
{
    static const struct {
        const char *name;
        enum tol_op op;
    } ops[] = {{"", TOL_EQUAL}, {"Equal", TOL_EQUAL}, {"Exists", TOL_EXISTS}, {"Lt", TOL_LT}, {"Gt", TOL_GT}};
    str op, effect;

    if (!dec_is_map(d, t, e) || !dec_sym(d, t, "key", &ret->key, e) || !dec_sym(d, t, "value", &ret->value, e) ||
        !dec_str(d, t, "operator", &op, e) || !dec_str(d, t, "effect", &effect, e))
        return false;
    ret->op = TOL_UNKNOWN;
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (str_is(op, ops[i].name))
            ret->op = ops[i].op;
    if (ret->op == TOL_UNKNOWN)
        return dec_fail(d, tree_get(t, "operator"), NULL, e,
                        "\"" STR_FMT "\" is not an operator: use Equal, Exists, Lt or Gt", STR_ARG(op));
    if (!taint_effect_parse(effect, &ret->effect))
        return dec_fail(d, tree_get(t, "effect"), NULL, e, "must be NoSchedule, PreferNoSchedule or NoExecute");
    return true;
}

static bool dec_tolerations(struct decoder *d, const struct tree *spec, struct tolerations *ret, struct err *e)
{
    const struct tree *list;

    if (!dec_list(d, spec, "tolerations", &list, e))
        return false;
    ret->n = list ? list->n : 0;
    ret->v = arena_new_array(d->o->arena, struct toleration, ret->n);
    for (uint32_t i = 0; i < ret->n; i++)
        if (!dec_toleration(d, &list->items[i], &ret->v[i], e))
            return false;
    return true;
}

static bool dec_port(struct decoder *d, const struct tree *t, bool host_network, struct host_port *ret, struct err *e)
{
    int64_t container_port = 0, port = 0;

    if (!dec_is_map(d, t, e) || !dec_int(d, t, "containerPort", 0, 65535, &container_port, e) ||
        !dec_int(d, t, "hostPort", 0, 65535, &port, e) || !dec_sym(d, t, "hostIP", &ret->ip, e) ||
        !dec_sym(d, t, "protocol", &ret->proto, e))
        return false;
    ret->port = (uint16_t)(port == 0 && host_network ? container_port : port);
    if (!sym_some(ret->ip))
        ret->ip = sym_of(d->o->syms, STR("0.0.0.0"));
    if (!sym_some(ret->proto))
        ret->proto = sym_of(d->o->syms, STR("TCP"));
    return true;
}

static bool dec_host_ports(struct decoder *d, const struct tree *spec, struct podspec *s, struct err *e)
{
    VEC(struct host_port) found = {0};
    const struct tree *containers, *ports;
    bool host_network, ok = false;

    if (!dec_bool(d, spec, "hostNetwork", &host_network, e) || !dec_list(d, spec, "containers", &containers, e))
        return false;
    for (uint32_t i = 0; containers && i < containers->n; i++) {
        if (!dec_list(d, &containers->items[i], "ports", &ports, e))
            goto out;
        for (uint32_t j = 0; ports && j < ports->n; j++) {
            struct host_port p;

            if (!dec_port(d, &ports->items[j], host_network, &p, e))
                goto out;
            if (p.port)
                vec_push(&found, p);
        }
    }
    s->n_ports = found.n;
    s->ports = vec_to_arena(&found, d->o->arena);
    ok = true;
out:
    vec_fini(&found);
    return ok;
}

/* A pod uses dynamic resource allocation when it, or one of its containers, names a claim. */
static bool uses_claims(const struct tree *spec)
{
    static const char *const lists[] = {"containers", "initContainers"};
    const struct tree *claims = tree_get(spec, "resourceClaims");

    if (claims && claims->n)
        return true;
    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        const struct tree *list = tree_get(spec, lists[k]);

        for (uint32_t i = 0; list && i < list->n; i++) {
            claims = tree_at(&list->items[i], "resources", "claims", NULL);
            if (claims && claims->n)
                return true;
        }
    }
    return false;
}

static bool dec_new_spec(struct decoder *d, const struct pod_source *p, lset_id labels, struct podspec *s,
                         struct err *e)
{
    s->uses_dra = uses_claims(p->spec);
    return dec_node_selector(d, p->spec, s, e) && dec_affinity(d, p->spec, labels, s, e) &&
           dec_tolerations(d, p->spec, &s->tolerations, e) && dec_spreads(d, p->spec, s, e) &&
           dec_host_ports(d, p->spec, s, e) && dec_requests(d, p, &s->requests, e) &&
           dec_limits(d, p->spec, &s->limits, e);
}

static bool dec_volume(struct decoder *d, const struct tree *t, bool *ret_counts, struct pod_volume *ret, struct err *e)
{
    const struct tree *pvc, *ephemeral;
    str name;

    *ret_counts = false;
    if (!dec_is_map(d, t, e) || !dec_map(d, t, "persistentVolumeClaim", &pvc, e) ||
        !dec_map(d, t, "ephemeral", &ephemeral, e))
        return false;
    if (pvc) {
        if (!dec_need_str(d, pvc, "claimName", &name, e))
            return false;
    } else if (ephemeral) {
        if (!dec_need_str(d, t, "name", &name, e))
            return false;
    } else {
        return true;
    }
    *ret = (struct pod_volume){sym_of(d->o->syms, name), !pvc};
    *ret_counts = true;
    return true;
}

static struct podspec *add_volumes(struct decoder *d, const struct podspec *base, const struct pod_volume *v,
                                   uint32_t n)
{
    struct arena *own = podspecs_arena(d->specs, sizeof(*base) + n * sizeof(*v) + d->key.n);
    struct podspec *s = arena_dup_array(own, struct podspec, base, 1);

    s->volumes = arena_dup_array(own, struct pod_volume, v, n);
    s->n_volumes = n;
    s->base = base;
    podspecs_ref(d->specs, base);
    podspecs_add(d->specs, sb_view(&d->key), own, s);
    return s;
}

static bool with_volumes(struct decoder *d, const struct tree *spec, struct podspec *base, struct podspec **ret,
                         struct err *e)
{
    const struct tree *list;
    uint32_t n = 0;

    if (!dec_list(d, spec, "volumes", &list, e))
        return false;
    struct pod_volume *v = arena_new_array(d->tmp, struct pod_volume, list ? list->n : 0);
    sb_reset(&d->key);
    sb_printf(&d->key, "V%u", base->number);
    for (uint32_t i = 0; list && i < list->n; i++) {
        bool counts;

        if (!dec_volume(d, &list->items[i], &counts, &v[n], e))
            return false;
        if (counts)
            sb_printf(&d->key, " %u%c", v[n].name.v, v[n].ephemeral ? 'e' : 'c'), n++;
    }
    if (n == 0) {
        *ret = base;
        return true;
    }
    struct podspec *known = podspecs_find(d->specs, sb_view(&d->key));
    *ret = known ? known : add_volumes(d, base, v, n);
    return true;
}

/* A new spec is decoded like part of the object at hand, but it outlives the object. */
static struct podspec *add_spec(struct decoder *d, const struct pod_source *p, lset_id labels, struct err *e)
{
    struct arena *object = d->o->arena, *own = podspecs_arena(d->specs, SPEC_ROOM);
    struct podspec *s = arena_new_one(own, struct podspec);

    d->o->arena = own;
    bool ok = dec_new_spec(d, p, labels, s, e);
    d->o->arena = object;
    if (!ok) {
        podspecs_give_back(d->specs, own);
        return NULL;
    }
    podspecs_add(d->specs, sb_view(&d->key), own, s);
    return s;
}

bool dec_podspec(struct decoder *d, const struct pod_source *p, lset_id labels, struct podspec **ret, struct err *e)
{
    key_spec(&d->key, p, labels);
    struct podspec *s = podspecs_find(d->specs, sb_view(&d->key));

    if (!s)
        s = add_spec(d, p, labels, e);
    return s && with_volumes(d, p->spec, s, ret, e);
}

bool dec_scheduler(struct decoder *d, const struct tree *spec, bool *ret_foreign, struct err *e)
{
    str name;

    if (!dec_str(d, spec, "schedulerName", &name, e))
        return false;
    *ret_foreign = name.n && !str_is(name, "default-scheduler");
    return true;
}

bool dec_priority(struct decoder *d, const struct tree *spec, int32_t *ret, struct err *e)
{
    int64_t v = 0;

    if (!dec_int(d, spec, "priority", INT32_MIN, INT32_MAX, &v, e))
        return false;
    *ret = (int32_t)v;
    return true;
}

double dec_deletion_cost(struct decoder *d, const struct tree *annotations, const char *kind, const struct meta *m)
{
    str text = tree_str(tree_get(annotations, "controller.kubernetes.io/pod-deletion-cost"));
    double cost = 0;

    if (text.n && !str_to_double(text, &cost))
        objects_note(d->o,
                     "%s " STR_FMT "/" STR_FMT ": pod-deletion-cost \"" STR_FMT "\" is no number and does not count",
                     kind, STR_ARG(sym_str(d->o->syms, m->ns)), STR_ARG(m->name), STR_ARG(text));
    return cost;
}
