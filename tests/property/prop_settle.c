/* Passes: what disruption proposes is carried out, and the cluster looked at again, until nothing is left to do.
 *
 * Nodes that go are taken out of the objects, pods move to where the command puts them, replacements come up at once
 * with the type, zone and capacity type that a launch would pick, and count as settled. */
#include <math.h>
#include <stdio.h>

#include "prop.h"

#include "../support/plan_dump.h"

#define MAX_PASSES 50
#define CENT 1e-6

struct settling {
    struct tally *t;
    struct cluster *k;
    struct arena *a; /* of one pass */
    uint32_t pass, n_new;
    VEC(sym) fresh;               /* nodes that came in the pass before … */
    VEC(sym) coming;              /* … and in this one */
    VEC(sym) took;                /* nodes with new pods */
    VEC(struct node) nodes;       /* what is added when the pass is over, … */
    VEC(struct nodeclaim) claims; /* … side by side */
};

/* --- the same twice ------------------------------------------------------------------------------------------------------- */

static str text_of(struct settling *s, const struct disruption *d)
{
    return commands_text(s->a, s->k->syms, d->commands, d->n_commands);
}

static struct disruption *plan_twice(struct settling *s, const struct disrupt_options *o)
{
    struct disruption *d = disrupt_plan(s->a, s->k->snap, o);

    check_same(s->t, PROP_AGAIN, o->compat ? "one pass of Karpenter's, twice" : "the whole plan, twice",
               text_of(s, disrupt_plan(s->a, s->k->snap, o)), text_of(s, d));
    return d;
}

/* --- replacements ------------------------------------------------------------------------------------------------------------ */

typedef VEC(struct label) label_list;

static void label(label_list *l, sym key, sym val)
{
    vec_push(l, (struct label){key, val});
}

static lset_id labels_of(struct settling *s, const struct plan_claim *c, sym name)
{
    const struct nodepool *p = &s->k->snap->pools[c->pool];
    const struct itype *type = &s->k->catalog->types[c->type];
    label_list l = {0};
    uint32_t n;
    const struct label *own = lset_get(s->k->syms, p->tmpl.labels, &n);

    for (uint32_t i = 0; i < c->n_reqs; i++)
        if (c->reqs[i].op == OP_IN && c->reqs[i].n_vals == 1)
            label(&l, c->reqs[i].key, sym_of(s->k->syms, c->reqs[i].vals[0]));
    for (uint32_t i = 0; i < type->n_requirements; i++)
        if (type->requirements[i].op == OP_IN && type->requirements[i].n_vals == 1)
            label(&l, type->requirements[i].key, type->requirements[i].vals[0]);
    for (uint32_t i = 0; i < n; i++)
        label(&l, own[i].key, own[i].val);
    label(&l, SYM(ITYPE), type->name);
    label(&l, SYM(ZONE), c->zone);
    label(&l, SYM(CT), c->capacity_type);
    label(&l, SYM(NP), p->name_sym);
    label(&l, SYM(HOST), name);
    label(&l, SYM(REGISTERED), SYM(TRUE));
    label(&l, SYM(INITIALIZED), SYM(TRUE));
    lset_id id = lset_of(s->k->syms, l.v, l.n);
    vec_fini(&l);
    return id;
}

static sym launch(struct settling *s, const struct plan_claim *c)
{
    const struct snapshot *snap = s->k->snap;
    const struct nodepool *p = &snap->pools[c->pool];
    const struct itype *type = &s->k->catalog->types[c->type];
    struct arena *a = s->k->arena;
    str name = arena_printf(a, "new-%03u", s->n_new++);
    sym id = sym_of(s->k->syms, name);
    struct node n = {
        .name = name,
        .name_sym = id,
        .uid = name,
        .provider_id = arena_printf(a, "kwok://" STR_FMT, STR_ARG(name)),
        .created_ms = snap->now_ms,
        .taints = p->tmpl.taints,
        .capacity = type->capacity,
        .allocatable = reslist_dup(a, &type->capacity),
        .ready = true,
    };

    reslist_sub(&n.allocatable, &type->overhead);
    n.labels = labels_of(s, c, id);
    vec_push(&s->nodes, n);
    vec_push(&s->claims, (struct nodeclaim){
                             .name = arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(p->name), STR_ARG(name)),
                             .uid = name,
                             .provider_id = n.provider_id,
                             .node_name = name,
                             .created_ms = snap->now_ms,
                             .labels = n.labels,
                             .taints = p->tmpl.taints,
                             .capacity = n.capacity,
                             .allocatable = n.allocatable,
                             .class_ref = p->tmpl.class_ref,
                             .launched = COND_TRUE,
                             .registered = COND_TRUE,
                             .initialized = COND_TRUE,
                             .consolidatable = COND_TRUE,
                             .initialized_ms = 0,
                             .drifted_ms = INT64_MIN,
                             .last_pod_event_ms = INT64_MIN,
                             .expire_after_ns = p->tmpl.expire_after_ns,
                         });
    vec_push(&s->coming, id);
    return id;
}

/* --- one command ------------------------------------------------------------------------------------------------------------- */

static void check_moves(struct settling *s, const struct disrupt_command *c)
{
    const struct snapshot *snap = s->k->snap;
    uint64_t *leaves = arena_new_array(s->a, uint64_t, BITS_WORDS(snap->n_pods));

    for (uint32_t i = 0; i < c->n_nodes; i++)
        for (uint32_t p = 0; p < snap->nodes[c->nodes[i]].n_pods; p++)
            if (bit_test(s->k->c.movable, snap->nodes[c->nodes[i]].pods[p]))
                bit_set(leaves, snap->nodes[c->nodes[i]].pods[p]);
    uint32_t due = bits_count(leaves, BITS_WORDS(snap->n_pods));
    bool right = due == c->n_moves;
    for (uint32_t m = 0; m < c->n_moves; m++) {
        right &= bit_test(leaves, c->moves[m].pod);
        bit_clear(leaves, c->moves[m].pod);
    }
    check(s->t, PROP_MOVES, right, "pass %u: %u pods leave, %u have a place", s->pass, due, c->n_moves);
}

static bool holds(const sym *v, uint32_t n, sym x)
{
    for (uint32_t i = 0; i < n; i++)
        if (sym_eq(v[i], x))
            return true;
    return false;
}

static void carry_out(struct settling *s, const struct disrupt_command *c, uint64_t *gone)
{
    const struct snapshot *snap = s->k->snap;
    struct pod *pods = s->k->objects->pods.v;
    sym *names = arena_new_array(s->a, sym, c->n_claims);

    for (uint32_t i = 0; i < c->n_claims; i++)
        names[i] = launch(s, &c->claims[i]);
    for (uint32_t i = 0; i < c->n_nodes; i++) {
        const struct state_node *n = &snap->nodes[c->nodes[i]];

        bit_set(gone, c->nodes[i]);
        if (holds(s->fresh.v, s->fresh.n, sym_of(s->k->syms, n->name))) {
            s->t->restless++;
            if (s->t->verbose)
                (void)printf("# seed %llu, pass %u: " STR_FMT " came in the pass before, goes by %s for %u\n",
                             (unsigned long long)s->t->seed, s->pass, STR_ARG(n->name), disrupt_method_name(c->method),
                             c->n_claims);
        }
        for (uint32_t p = 0; p < n->n_pods; p++)
            if (!bit_test(s->k->c.movable, n->pods[p]))
                pods[n->pods[p]].phase = PHASE_SUCCEEDED; /* went with its node */
    }
    for (uint32_t m = 0; m < c->n_moves; m++) {
        const struct plan_move *move = &c->moves[m];

        sym to = move->node == UINT32_MAX ? names[move->claim] : sym_of(s->k->syms, snap->nodes[move->node].node->name);
        pods[move->pod].node = to;
        vec_push(&s->took, to);
    }
}

/* --- one pass ----------------------------------------------------------------------------------------------------------------- */

/* Takes the nodes out of the objects and adds the new ones. */
static void change_nodes(struct settling *s, const uint64_t *gone)
{
    struct objects *o = s->k->objects;
    const struct snapshot *snap = s->k->snap;
    uint64_t *nodes = arena_new_array(s->a, uint64_t, BITS_WORDS(o->nodes.n)),
             *claims = arena_new_array(s->a, uint64_t, BITS_WORDS(o->claims.n));
    uint32_t n = 0;

    for (BITS_EACH(i, gone, BITS_WORDS(snap->n_nodes))) {
        bit_set(nodes, (uint32_t)(snap->nodes[i].node - o->nodes.v));
        bit_set(claims, (uint32_t)(snap->nodes[i].claim - o->claims.v));
    }
    for (uint32_t i = 0; i < o->nodes.n; i++)
        if (!bit_test(nodes, i))
            o->nodes.v[n++] = o->nodes.v[i];
    o->nodes.n = n;
    n = 0;
    for (uint32_t i = 0; i < o->claims.n; i++)
        if (!bit_test(claims, i))
            o->claims.v[n++] = o->claims.v[i];
    o->claims.n = n;
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        vec_push(&o->nodes, s->nodes.v[i]);
        vec_push(&o->claims, s->claims.v[i]);
    }
    s->nodes.n = s->claims.n = 0;
}

/* In the new snapshot. */
static void check_room(struct settling *s)
{
    const struct snapshot *snap = s->k->snap;

    for (uint32_t i = 0; i < snap->n_nodes; i++) {
        const struct state_node *n = &snap->nodes[i];
        bool fits = true;

        if (!holds(s->took.v, s->took.n, sym_of(s->k->syms, n->name)))
            continue;
        for (uint32_t q = 0; q < n->requests.n; q++)
            fits &= n->requests.q[q].v <= reslist_value(&n->allocatable, n->requests.q[q].name);
        check(s->t, PROP_MOVES, fits, "pass %u: " STR_FMT " has more pods than room", s->pass, STR_ARG(n->name));
    }
    s->took.n = 0;
}

static bool pass(struct settling *s, double *cost)
{
    static const struct disrupt_options all = {0}, compat = {.compat = true};
    struct disruption *d = plan_twice(s, &all);
    uint64_t *gone = arena_new_array(s->a, uint64_t, BITS_WORDS(s->k->snap->n_nodes));
    bool drift = false;

    (void)plan_twice(s, &compat);
    s->t->passes++;
    s->t->commands += d->n_commands;
    check(s->t, PROP_COST, isnan(*cost) || fabs(d->cost_before - *cost) < CENT,
          "pass %u: the pass before ended at $%.6f, this one begins at $%.6f", s->pass, *cost, d->cost_before);
    for (uint32_t i = 0; i < d->n_commands; i++) {
        drift |= d->commands[i].method == METHOD_DRIFT;
        check_moves(s, &d->commands[i]);
        carry_out(s, &d->commands[i], gone);
    }
    if (s->t->verbose)
        (void)printf("# pass %u: $%.6f to $%.6f\n" STR_FMT "\n", s->pass, d->cost_before, d->cost_after,
                     STR_ARG(text_of(s, d)));
    check(s->t, PROP_COST, drift || d->cost_after <= d->cost_before + CENT, "pass %u: from $%.6f to $%.6f", s->pass,
          d->cost_before, d->cost_after);
    *cost = d->cost_after;
    change_nodes(s, gone);
    return d->n_commands > 0;
}

static void settle(struct tally *t, const char *part)
{
    struct cluster k;
    struct settling s = {.t = t, .k = &k, .a = arena_new(1u << 16)};
    double cost = NAN;
    bool more = true;

    cluster_open(&k, t->seed, part, "--types"); /* without reservations, which would have to be used up */
    for (s.pass = 1; more && s.pass <= MAX_PASSES; s.pass++) {
        more = pass(&s, &cost);
        cluster_build(&k);
        check_room(&s);
        s.fresh.n = 0;
        for (uint32_t i = 0; i < s.coming.n; i++)
            vec_push(&s.fresh, s.coming.v[i]);
        s.coming.n = 0;
        arena_reset(s.a);
    }
    check(t, PROP_END, !more, "%s: no end after %d passes", part, MAX_PASSES);
    vec_fini(&s.fresh);
    vec_fini(&s.coming);
    vec_fini(&s.took);
    vec_fini(&s.nodes);
    vec_fini(&s.claims);
    arena_free(s.a);
    cluster_close(&k);
}

void prop_settle(struct tally *t)
{
    settle(t, "--steady");
    settle(t, "--crowd");
}
