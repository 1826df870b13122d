/* What keeps a node, in words: Karpenter's own sentence where it has one, the object in the way, and the cheapest thing
 * that would clear it. Made only for the nodes somebody asks about. */
#include "base/sb.h"
#include "disrupt/candidate.h"

struct words {
    const struct candidates *c;
    const struct snapshot *s;
    const struct state_node *n;
    const struct candidate *x;
    struct blocker b;
};

#define SAY(w, ...) arena_printf((w)->c->a, __VA_ARGS__)

static str pod_name(const struct words *w, uint32_t ix)
{
    const struct pod *p = &w->s->pods[ix];

    return SAY(w, STR_FMT "/" STR_FMT, STR_ARG(sym_str(w->s->syms, p->ns)), STR_ARG(p->name));
}

static str pdb_name(const struct words *w, uint32_t ix)
{
    const struct pdb *b = &w->s->pdbs[ix];

    return SAY(w, STR_FMT "/" STR_FMT, STR_ARG(sym_str(w->s->syms, b->ns)), STR_ARG(b->name));
}

static str pool_name(const struct words *w)
{
    return sym_str(w->s->syms, w->n->pool);
}

/* 90000 ms as "1m30s", 7200000 as "2h"; whole seconds, rounded up. */
static str wait_of(const struct words *w, int64_t ms)
{
    static const char *const zeros[] = {"m0s", "h0m"};
    struct sb b = {0};

    duration_print(&b, sat_mul((ms + 999) / 1000, 1000000000));
    for (size_t i = 0; i < ARRAY_LEN(zeros); i++)
        if (str_ends(sb_view(&b), str_c(zeros[i])))
            b.n -= 2;
    str text = sb_dup(&b, w->c->a);
    sb_fini(&b);
    return text;
}

static void say_pool_missing(struct words *w)
{
    str pool = pool_name(w);

    w->b.object = SAY(w, "NodePool " STR_FMT, STR_ARG(pool));
    w->b.text = SAY(w, "NodePool not found (NodePool=" STR_FMT ")", STR_ARG(pool));
    w->b.fix = w->x->pool == NO_INDEX ? SAY(w, "create NodePool " STR_FMT ", or delete the node", STR_ARG(pool))
                                      : STR("give the NodePool instance types");
}

static void say_protected(struct words *w)
{
    str name = pod_name(w, w->x->protected_pod);
    int64_t until_ms = pod_protected_until(&w->s->pods[w->x->protected_pod]);

    w->b.object = SAY(w, "Pod " STR_FMT, STR_ARG(name));
    w->b.text = SAY(w, "Pod has \"karpenter.sh/do-not-disrupt\" annotation (Pod=" STR_FMT ")", STR_ARG(name));
    if (until_ms == INT64_MAX)
        w->b.fix = SAY(w, "remove the annotation from Pod " STR_FMT, STR_ARG(name));
    else
        w->b.fix = SAY(w, "wait " STR_FMT ": the do-not-disrupt of Pod " STR_FMT " ends then",
                       STR_ARG(wait_of(w, sat_sub(until_ms, w->s->now_ms))), STR_ARG(name));
}

static void say_budget(struct words *w, uint32_t pdb)
{
    struct pdb_counts n = pdb_count(w->c->pdbs, pdb);
    str name = pdb_name(w, pdb);

    w->b.object = SAY(w, "PodDisruptionBudget " STR_FMT, STR_ARG(name));
    w->b.text = SAY(w, "Pdb prevents pod evictions (PodDisruptionBudget=[" STR_FMT "])", STR_ARG(name));
    if (n.desired >= n.expected)
        w->b.fix =
            SAY(w, "let PodDisruptionBudget " STR_FMT " allow a disruption (it wants %lld of %lld pods available)",
                STR_ARG(name), (long long)n.desired, (long long)n.expected);
    else if (n.healthy <= n.desired)
        w->b.fix =
            SAY(w, "wait for pods of PodDisruptionBudget " STR_FMT " to become ready (%lld of %lld are, it wants %lld)",
                STR_ARG(name), (long long)n.healthy, (long long)n.expected, (long long)n.desired);
    else
        w->b.fix = SAY(w, "wait until PodDisruptionBudget " STR_FMT " allows a disruption", STR_ARG(name));
}

static void say_budgets(struct words *w, struct pdb_list l)
{
    str pod = pod_name(w, w->x->refused_pod);
    struct sb names = {0};

    for (uint32_t i = 0; i < l.n; i++) {
        if (i)
            sb_char(&names, ' ');
        sb_str(&names, pdb_name(w, l.v[i]));
    }
    w->b.object = SAY(w, "Pod " STR_FMT, STR_ARG(pod));
    w->b.text = SAY(w, "Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[" STR_FMT "])",
                    STR_ARG(sb_view(&names)));
    w->b.fix = SAY(w, "leave Pod " STR_FMT " to one PodDisruptionBudget", STR_ARG(pod));
    sb_fini(&names);
}

static void say_refused(struct words *w)
{
    struct pdb_list l = pdb_refusing(w->c->pdbs, &w->s->pods[w->x->refused_pod], PDB_NOW);

    if (l.n == 1)
        say_budget(w, l.v[0]);
    else
        say_budgets(w, l);
}

/* Text around the key of the label. */
static void say_label(struct words *w, const char *before, const char *key, const char *after)
{
    w->b.object = SAY(w, "Node " STR_FMT, STR_ARG(w->n->name));
    w->b.text = SAY(w, "%s%s%s", before, key, after);
    w->b.fix = SAY(w, "add the label %s to Node " STR_FMT, key, STR_ARG(w->n->name));
}

static void say_no_pool_label(struct words *w)
{
    say_label(w, "Node doesn't have required label (label=", "karpenter.sh/nodepool", ")");
}

static void say_no_capacity_type(struct words *w)
{
    say_label(w, "Node does not have label \"", "karpenter.sh/capacity-type", "\"");
}

static void say_no_zone(struct words *w)
{
    say_label(w, "Node does not have label \"", "topology.kubernetes.io/zone", "\"");
}

static void say_annotated(struct words *w)
{
    w->b.object = SAY(w, "Node " STR_FMT, STR_ARG(w->n->name));
    w->b.fix = SAY(w, "remove the annotation from Node " STR_FMT, STR_ARG(w->n->name));
}

static void say_unknown_type(struct words *w)
{
    sym type = SYM(NONE);

    (void)lset_value(w->s->syms, w->n->labels, SYM(ITYPE), &type);
    w->b.object = SAY(w, "Node " STR_FMT, STR_ARG(w->n->name));
    w->b.text = SAY(w, "Instance Type \"" STR_FMT "\" not found", STR_ARG(sym_str(w->s->syms, type)));
}

/* What the NodePool says about itself, and the field that could say something else. */
static void say_pool(struct words *w, const char *says, const char *field, const char *value)
{
    str pool = pool_name(w);

    w->b.object = SAY(w, "NodePool " STR_FMT, STR_ARG(pool));
    w->b.text = SAY(w, "NodePool \"" STR_FMT "\" has %s", STR_ARG(pool), says);
    w->b.fix = SAY(w, "set %s of NodePool " STR_FMT " to %s", field, STR_ARG(pool), value);
}

static void say_never(struct words *w)
{
    say_pool(w, "consolidation disabled", "consolidateAfter", "a duration");
}

static void say_policy(struct words *w)
{
    say_pool(w, "consolidation policy WhenEmpty, but node is not empty", "consolidationPolicy",
             "WhenEmptyOrUnderutilized");
}

static void say_static(struct words *w)
{
    w->b.object = SAY(w, "NodePool " STR_FMT, STR_ARG(pool_name(w)));
    w->b.text = SAY(w, "NodePool \"" STR_FMT "\" has replicas", STR_ARG(pool_name(w)));
}

static void say_buffered(struct words *w)
{
    w->b.object = SAY(w, "Node " STR_FMT, STR_ARG(w->n->name));
    w->b.text = SAY(w, "Node \"" STR_FMT "\" has buffer pods", STR_ARG(node_title(w->n)));
}

static void say_unsettled(struct words *w)
{
    int64_t due_ms = nodeclaim_settled_ms(&w->s->pools[w->x->pool], w->n->claim);

    w->b.object = SAY(w, "NodeClaim " STR_FMT, STR_ARG(w->n->claim->name));
    if (due_ms > w->s->now_ms)
        w->b.fix = SAY(w, "wait " STR_FMT ": the consolidateAfter of NodePool " STR_FMT " has passed then",
                       STR_ARG(wait_of(w, sat_sub(due_ms, w->s->now_ms))), STR_ARG(pool_name(w)));
    else
        w->b.fix = STR("wait until the condition Consolidatable is True");
}

/* Obstacles of construction and filters; those that a decision finds have their words where it is made. */
static const struct {
    const char *text, *fix;
    void (*say)(struct words *w); /* what names objects */
} sentences[] = {
    [BLOCK_UNMANAGED] = {.text = "Node isn't managed by karpenter"},
    [BLOCK_NO_NODE] = {.text = "Nodeclaim does not have an associated node",
                       .fix = "wait until the node has joined the cluster"},
    [BLOCK_UNINITIALIZED] = {.text = "Node isn't initialized", .fix = "wait until the node is initialized"},
    [BLOCK_DELETING] = {.text = "Node is deleting or marked for deletion"},
    [BLOCK_NOMINATED] = {.text = "Node is nominated for a pending pod", .fix = "wait until the pod runs"},
    [BLOCK_NODE_ANNOTATION] = {.text = "Disruption is blocked through the \"karpenter.sh/do-not-disrupt\" annotation",
                               .say = say_annotated},
    [BLOCK_NO_POOL_LABEL] = {.say = say_no_pool_label},
    [BLOCK_POOL_MISSING] = {.say = say_pool_missing},
    [BLOCK_POD_ANNOTATION] = {.say = say_protected},
    [BLOCK_PDB] = {.say = say_refused},
    [BLOCK_PDBS] = {.say = say_refused},
    [BLOCK_STATIC] = {.say = say_static},
    [BLOCK_UNKNOWN_TYPE] = {.say = say_unknown_type, .fix = "delete the node: its instance type is no longer known"},
    [BLOCK_NO_CAPACITY_TYPE] = {.say = say_no_capacity_type},
    [BLOCK_NO_ZONE] = {.say = say_no_zone},
    [BLOCK_NEVER] = {.say = say_never},
    [BLOCK_BUFFERED] = {.say = say_buffered},
    [BLOCK_EMPTY] = {.text = "Node is empty"},
    [BLOCK_NOT_EMPTY] = {.text = "Node is not empty"},
    [BLOCK_POLICY] = {.say = say_policy},
    [BLOCK_NOT_CONSOLIDATABLE] = {.text = "Node is not consolidatable", .say = say_unsettled},
    [BLOCK_NOT_DRIFTED] = {.text = "Node is not drifted"},
};

struct blocker candidate_blocker(const struct candidates *c, uint32_t node, enum disrupt_method m)
{
    struct words w = {.c = c, .s = c->s, .n = &c->s->nodes[node], .x = &c->all[node]};
    enum blocker_kind kind = candidate_obstacle(c, node, m);

    if (kind == BLOCK_NONE)
        return (struct blocker){0};
    assert(kind < ARRAY_LEN(sentences));
    w.b = (struct blocker){.kind = kind, .text = str_c(sentences[kind].text), .fix = str_c(sentences[kind].fix)};
    if (sentences[kind].say)
        sentences[kind].say(&w);
    return w.b;
}
