/* Pods placed on nodes that exist already (spec: scheduling 10): taints, labels, room, ports, volumes. */
#include "checker_int.h"

static bool term_met(struct checker *c, const struct creqs *have, const struct creqs *term, str *ret_key)
{
    return creqs_compatible(c, have, term, /* lenient= */ false, ret_key);
}

/* quirk: what a placed pod asks for becomes part of what the node offers, so `NotIn` on a label that the node lacks
 * lets a later pod ask for that label with any other value (scheduling 10). */
static struct creqs offered(struct checker *c, const struct cnode *n)
{
    struct creqs have = creqs_copy(c, &n->reqs);

    for (uint32_t i = n->first_pod; i != NONE; i = c->pods.v[i].next) {
        const struct shape *s = &c->shapes.v[c->pods.v[i].shape];

        for (uint32_t t = 0; c->pods.v[i].seen && t < s->n_terms + s->n_preferred; t++) {
            const struct creqs *term = t < s->n_terms ? &s->terms[t] : &s->preferred[t - s->n_terms];

            for (uint32_t k = 0; k < term->n; k++)
                if (term->v[k].open && term->v[k].n_vals && !creqs_get(&have, term->v[k].key)) {
                    struct creq any = {.key = term->v[k].key, .open = true, .gte = INT64_MIN, .lte = INT64_MAX};

                    creqs_add(c, &have, any);
                }
        }
    }
    return have;
}

static void pod_check(struct checker *c, const struct cnode *n, const struct creqs *have, uint32_t pod)
{
    const struct shape *s = &c->shapes.v[c->pods.v[pod].shape];
    str id = c->pods.v[pod].id, key = {0};
    const char *why = "";

    if (!tolerates(s, &n->taints, /* hard_only= */ true, &key))
        checker_fail(c, "node " STR_FMT ": pod " STR_FMT " does not tolerate " STR_FMT, STR_ARG(n->name), STR_ARG(id),
                     STR_ARG(key));
    if (!any_term(c, s, have, term_met, &key) && !any_term(c, s, &n->reqs, term_met, &key))
        checker_fail(c, "node " STR_FMT ": its labels do not meet pod " STR_FMT " (" STR_FMT ")", STR_ARG(n->name),
                     STR_ARG(id), STR_ARG(key));
    if (s->n_claims && !volumes_allow(c, s, &n->reqs, /* strict= */ true, &why))
        checker_fail(c, "node " STR_FMT ": holds pod " STR_FMT " %s", STR_ARG(n->name), STR_ARG(id), why);
}

void node_check(struct checker *c, str raw)
{
    str key, value, item, name = {0}, pods = {0}, before = {0};

    (void)json_open(&raw, '{');
    while (json_member(&raw, &key, &value)) {
        if (str_is(key, "name"))
            name = json_text(c, value);
        else if (str_is(key, "pods"))
            pods = value;
    }
    uint32_t ix = strmap_get(&c->node_by_plan_name, name);
    if (ix == MAP_NONE || c->nodes.v[ix].deleting || c->nodes.v[ix].ignored) {
        checker_fail(c, "node " STR_FMT ": does not exist or is going away", STR_ARG(name));
        return;
    }
    struct cnode *n = &c->nodes.v[ix];
    (void)json_open(&pods, '[');
    while (json_element(&pods, &item)) {
        str id = json_text(c, item);
        uint32_t p = pod_place(c, item, ix, n->name);

        if (before.p && str_cmp(before, id) >= 0)
            checker_fail(c, "node " STR_FMT ": pods are not sorted", STR_ARG(name));
        before = id;
        c->n_existing++;
        if (p == NONE)
            continue;
        c->pods.v[p].next = n->first_pod;
        n->first_pod = p;
        rvec_add(c, &n->placed, &c->shapes.v[c->pods.v[p].shape].requests);
    }
}

/* What daemons that do not run there yet will need: the certain ones only. */
static struct rvec daemon_room(struct checker *c, const struct cnode *n)
{
    struct rvec need = {0};
    str key;

    for (uint32_t d = 0; d < c->daemons.n; d++) {
        const struct shape *s = &c->shapes.v[c->daemons.v[d].shape];

        if (!c->daemons.v[d].unclear && tolerates(s, &n->taints, /* hard_only= */ false, &key) &&
            creqs_compatible(c, &n->reqs, &s->terms[0], /* lenient= */ false, &key))
            rvec_add(c, &need, &s->requests);
    }
    for (uint32_t r = 0; r < c->resources.n; r++)
        need.v[r] = MAX(0, need.v[r] - n->bound_daemons.v[r]);
    return need;
}

static void room_check(struct checker *c, const struct cnode *n)
{
    struct rvec daemons = daemon_room(c, n);

    for (uint32_t r = 0; r < c->resources.n; r++) {
        quantity left = n->allocatable.v[r] - n->bound.v[r] - daemons.v[r];

        if (n->placed.v[r] > 0 && n->placed.v[r] > left)
            checker_fail(c, "node " STR_FMT ": too little " STR_FMT, STR_ARG(n->name), STR_ARG(c->resources.v[r]));
    }
}

static void volume_limit_check(struct checker *c, const struct cnode *n, const struct csi_limit *l)
{
    struct strmap used = {0};
    bool added = false;

    for (uint32_t i = n->first_pod; i != NONE; i = c->pods.v[i].next) {
        const struct shape *s = &c->shapes.v[c->pods.v[i].shape];

        for (uint32_t k = 0; k < s->n_claims; k++) {
            if (!str_eq(volume_driver(c, s->claims[k]), l->driver))
                continue;
            added |= c->pods.v[i].seen;
            if (strmap_get(&used, s->claims[k]) == MAP_NONE)
                strmap_put(&used, s->claims[k], 1);
        }
    }
    if (added && used.n > l->count)
        checker_fail(c, "node " STR_FMT ": %u volumes of " STR_FMT ", it can attach %lld", STR_ARG(n->name), used.n,
                     STR_ARG(l->driver), (long long)l->count);
    strmap_fini(&used);
}

/* Everything that pods placed there have to find. */
void node_recheck(struct checker *c, uint32_t node)
{
    struct cnode *n = &c->nodes.v[node];
    struct creqs have = offered(c, n);

    for (uint32_t p = n->first_pod; p != NONE; p = c->pods.v[p].next)
        if (c->pods.v[p].seen)
            pod_check(c, n, &have, p);
    room_check(c, n);
    host_ports_check(c, n->first_pod, n->name);
    for (uint32_t i = 0; c->disrupting && i < c->n_csi; i++)
        if (str_eq(c->csi[i].node, n->node_name))
            volume_limit_check(c, n, &c->csi[i]);
}

static bool ports_free(struct checker *c, const struct cnode *n, const struct shape *s)
{
    for (uint32_t i = n->first_pod; s->n_ports && i != NONE; i = c->pods.v[i].next) {
        const struct shape *o = &c->shapes.v[c->pods.v[i].shape];

        for (uint32_t a = 0; a < s->n_ports; a++)
            for (uint32_t b = 0; b < o->n_ports; b++)
                if (ports_collide(&s->ports[a], &o->ports[b]))
                    return false;
    }
    return true;
}

bool node_takes(struct checker *c, uint32_t node, uint32_t pod)
{
    const struct cnode *n = &c->nodes.v[node];
    const struct shape *s = &c->shapes.v[c->pods.v[pod].shape];
    struct rvec daemons, room = n->allocatable;
    const char *why;
    uint32_t r;
    str key;

    if (!tolerates(s, &n->taints, /* hard_only= */ true, &key) || !any_term(c, s, &n->reqs, term_met, &key) ||
        !volumes_allow(c, s, &n->reqs, /* strict= */ true, &why) || !ports_free(c, n, s))
        return false;
    daemons = daemon_room(c, n);
    for (r = 0; r < c->resources.n; r++)
        room.v[r] -= n->bound.v[r] + n->placed.v[r] + daemons.v[r];
    for (r = 0; r < c->resources.n; r++)
        if (s->requests.v[r] > MAX(0, room.v[r]))
            return false;
    return true;
}

void existing_check(struct checker *c)
{
    for (uint32_t i = 0; i < c->nodes.n; i++)
        if (!c->nodes.v[i].deleting && c->nodes.v[i].placed.v[c->res_pods] != 0)
            node_recheck(c, i);
    for (uint32_t i = 0; i < c->n_csi; i++) {
        uint32_t ix = strmap_get(&c->node_by_name, c->csi[i].node);

        if (ix != MAP_NONE && !c->nodes.v[ix].deleting)
            volume_limit_check(c, &c->nodes.v[ix], &c->csi[i]);
    }
}
