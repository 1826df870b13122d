/* State nodes: a Node and a NodeClaim with the same provider id are one machine. What a machine is called, which
 * labels, taints and sizes it has depends on how far its registration got (scheduling 7). */

#include "model/change.h"
#include "model/evict.h"
#include "state/build.h"

#define ONE 1000 /* of a resource that is counted */

typedef VEC(struct state_node) state_nodes;

static bool label_some(const struct syms *t, lset_id labels, sym key)
{
    sym val;

    return lset_value(t, labels, key, &val) && sym_some(val);
}

static bool label_true(const struct syms *t, lset_id labels, sym key)
{
    sym val;

    return lset_value(t, labels, key, &val) && sym_eq(val, SYM(TRUE));
}

/* What identifies the machine of a Node; empty when the Node is not looked at yet. */
str build_machine_id(const struct syms *t, const struct node *n)
{
    sym val;
    bool ours = lset_value(t, n->labels, SYM(NP), &val);

    if (!ours)
        return n->provider_id.n ? n->provider_id : n->name;
    if (!lset_value(t, n->labels, SYM(ITYPE), &val) && !label_some(t, n->labels, SYM(INITIALIZED)))
        return (str){0};
    return n->provider_id;
}

static struct state_node *machine(state_nodes *v, struct strmap *by_id, str id)
{
    uint32_t ix = strmap_get(by_id, id);

    if (ix != MAP_NONE)
        return &v->v[ix];
    strmap_put(by_id, id, v->n);
    return vec_add(v);
}

static void collect(const struct build *b, state_nodes *v)
{
    struct strmap by_id = {0};

    for (uint32_t i = 0; i < b->o->nodes.n; i++) {
        const struct node *n = &b->o->nodes.v[i];
        str id = build_machine_id(b->syms, n);

        if (id.n)
            machine(v, &by_id, id)->node = n;
    }
    for (uint32_t i = 0; i < b->o->claims.n; i++) {
        const struct nodeclaim *c = &b->o->claims.v[i];

        if (c->provider_id.n)
            machine(v, &by_id, c->provider_id)->claim = c;
    }
    strmap_fini(&by_id);
}

static bool taint_is_due(const struct syms *syms, const struct state_node *s, const struct taint *t)
{
    if (taint_is_ephemeral(t, syms))
        return false;
    for (uint32_t i = 0; i < s->claim->startup_taints.n; i++)
        if (taint_matches(t, &s->claim->startup_taints.v[i]))
            return false;
    return true;
}

static void set_taints(struct arena *a, const struct syms *t, struct state_node *s, bool registered)
{
    const struct taints *from = s->node && registered ? &s->node->taints : &s->claim->taints;

    if (!s->claim || s->initialized) {
        s->taints = *from;
        return;
    }
    s->taints.v = arena_new_array(a, struct taint, from->n);
    for (uint32_t i = 0; i < from->n; i++)
        if (taint_is_due(t, s, &from->v[i]))
            s->taints.v[s->taints.n++] = from->v[i];
}

/* Until a node is initialized its kubelet may not have told all it has: the NodeClaim's estimate fills the gaps. */
static struct reslist filled(struct arena *a, const struct state_node *s, const struct reslist *node,
                             const struct reslist *claim)
{
    struct reslist l = {0};

    if (node)
        l = reslist_dup(a, node);
    if (!claim || s->initialized)
        return l;
    for (uint32_t i = 0; i < claim->n; i++)
        if (reslist_value(&l, claim->q[i].name) == 0)
            reslist_set(a, &l, claim->q[i].name, claim->q[i].v, claim->q[i].binary);
    return l;
}

void build_machine(struct arena *a, struct syms *t, struct state_node *s)
{
    const struct nodeclaim *c = s->claim;
    const struct node *n = s->node;
    bool registered = !c || (n && label_true(t, n->labels, SYM(REGISTERED)));
    sym val;

    assert(c || n); /* whatever made the machine known */
    s->initialized = !c || (n && label_true(t, n->labels, SYM(INITIALIZED)));
    s->name = n && registered ? n->name : c->name;
    s->labels = n && registered ? n->labels : c->labels;
    s->hostname = lset_value(t, s->labels, SYM(HOST), &val) && sym_some(val) ? val : sym_of(t, s->name);
    s->pool = lset_value(t, s->labels, SYM(NP), &val) ? val : SYM(NONE);
    s->capacity = filled(a, s, n ? &n->capacity : NULL, c ? &c->capacity : NULL);
    s->allocatable = filled(a, s, n ? &n->allocatable : NULL, c ? &c->allocatable : NULL);
    reslist_set(a, &s->capacity, SYM(NODES), ONE, /* binary= */ false);
    s->deleting = c ? c->deleting || c->instance_terminating == COND_TRUE : n->deleting;
    set_taints(a, t, s, registered);
}

/* Index of the state node that a pod occupies room on, or MAP_NONE. */
static uint32_t home_of(const struct u64map *by_name, const struct pod *p)
{
    return sym_some(p->node) && !pod_is_finished(p) ? u64map_get(by_name, p->node.v) : MAP_NONE;
}

static void assign_pods(const struct build *b, const struct u64map *by_name)
{
    struct snapshot *s = b->s;

    for (uint32_t i = 0; i < s->n_pods; i++) {
        uint32_t home = home_of(by_name, &s->pods[i]);

        if (home != MAP_NONE)
            s->nodes[home].n_pods++;
    }
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        s->nodes[i].pods = arena_new_array(b->arena, uint32_t, s->nodes[i].n_pods);
        s->nodes[i].n_pods = 0;
    }
    for (uint32_t i = 0; i < s->n_pods; i++) {
        uint32_t home = home_of(by_name, &s->pods[i]);

        if (home != MAP_NONE)
            s->nodes[home].pods[s->nodes[home].n_pods++] = i;
    }
}

void build_nodes(struct build *b)
{
    struct u64map by_name = {0};
    state_nodes v = {0};

    collect(b, &v);
    b->s->nodes = arena_dup_array(b->arena, struct state_node, v.v, v.n);
    b->s->n_nodes = v.n;
    vec_fini(&v);
    for (uint32_t i = 0; i < b->s->n_nodes; i++) {
        struct state_node *n = &b->s->nodes[i];

        build_machine(b->arena, b->syms, n);
        if (n->node)
            u64map_put(&by_name, n->node->name_sym.v, i);
    }
    assign_pods(b, &by_name);
    for (uint32_t i = 0; i < b->s->n_nodes; i++)
        node_sum_requests(b->arena, b->s, &b->s->nodes[i]);
    u64map_fini(&by_name);
}
