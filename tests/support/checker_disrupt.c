/* Commands of a disruption plan, one after the other (spec: lifecycle 8): may these nodes go, do budgets allow it, is
 * what takes their place cheaper, and has every pod that runs there another place? Each command is carried out on the
 * cluster as it is read, so that the next one is judged by what this one leaves. */
#include "checker_int.h"

struct move {
    str pod, to;
};

struct command {
    str method, decision;
    str nodes, replacements, moves; /* raw */
    bool has_moves;
    double savings;
    VEC(uint32_t) gone;    /* nodes */
    VEC(uint32_t) leaving; /* pods that want a new place */
    VEC(uint32_t) touched; /* nodes that took some */
    uint32_t first_host;   /* of its replacements */
    double price;          /* of the nodes */
};

static void command_read(struct checker *c, struct command *k, str raw)
{
    str key, value;

    (void)json_open(&raw, '{');
    while (json_member(&raw, &key, &value)) {
        if (str_is(key, "method"))
            k->method = json_text(c, value);
        else if (str_is(key, "decision"))
            k->decision = json_text(c, value);
        else if (str_is(key, "nodes"))
            k->nodes = value;
        else if (str_is(key, "replacements"))
            k->replacements = value;
        else if (str_is(key, "savings"))
            k->savings = json_number(value);
        else if (str_is(key, "moves")) {
            k->moves = value;
            k->has_moves = true;
        }
    }
}

static void node_goes(struct checker *c, struct command *k, str name)
{
    uint32_t ix = strmap_get(&c->node_by_plan_name, name);

    if (ix == MAP_NONE) {
        checker_fail(c, "node " STR_FMT ": does not exist", STR_ARG(name));
        return;
    }
    struct cnode *n = &c->nodes.v[ix];
    const char *why = node_obstacle(c, n, k->method);
    if (n->gone)
        why = "another command takes it";
    else if (n->placed.v[c->res_pods] != 0)
        why = "an earlier command puts pods on it";
    if (why)
        checker_fail(c, "node " STR_FMT ": may not go as " STR_FMT ": %s", STR_ARG(name), STR_ARG(k->method), why);
    if (n->gone)
        return;
    n->gone = true;
    k->price += node_price(c, n);
    vec_push(&k->gone, ix);
}

static void nodes_go(struct checker *c, struct command *k)
{
    str item, rest = k->nodes;

    (void)json_open(&rest, '[');
    while (json_element(&rest, &item))
        node_goes(c, k, json_text(c, item));
    if (k->gone.n == 0)
        checker_fail(c, "a command without nodes");
}

/* Nodes that go count for every later command, whatever its reason. */
static void budgets_check(struct checker *c, struct command *k)
{
    for (uint32_t p = 0; p < c->pools.n; p++) {
        int64_t taken = 0, fresh = 0, allowed;

        for (uint32_t i = 0; i < k->gone.n; i++) {
            const struct cnode *n = &c->nodes.v[k->gone.v[i]];

            taken += n->pool == p;
            fresh += n->pool == p && !n->not_ready;
        }
        if (taken && !budget_allows(c, &c->pools.v[p], k->method, taken, &allowed))
            checker_fail(c,
                         "NodePool " STR_FMT ": %lld nodes go as " STR_FMT ", %lld of %lld are on their way, budgets "
                         "allow %lld",
                         STR_ARG(c->pools.v[p].name), (long long)taken, STR_ARG(k->method),
                         (long long)c->pools.v[p].disrupting, (long long)c->pools.v[p].counted, (long long)allowed);
        c->pools.v[p].disrupting += fresh;
    }
}

/* Karpenter does not look for places when it removes nodes as empty. A plan that does says so by its moves. */
static bool looks_for_places(const struct command *k)
{
    str item, rest = k->moves;

    return !str_is(k->method, "Empty") || (k->has_moves && json_open(&rest, '[') && json_element(&rest, &item));
}

/* The nodes and what runs on them leave the cluster; they no longer count against limits (spec: lifecycle 8.9). */
static void pods_leave(struct checker *c, struct command *k)
{
    bool looks = looks_for_places(k);

    for (uint32_t i = 0; i < k->gone.n; i++) {
        const struct cnode *n = &c->nodes.v[k->gone.v[i]];

        if (n->pool != NONE) {
            rvec_add(c, &c->remaining[n->pool], &n->capacity);
            c->pools.v[n->pool].nodes--;
        }
        for (uint32_t p = n->first_pod; p != NONE; p = c->pods.v[p].next) {
            bool leaves = looks && pod_leaves(c, &c->pods.v[p]);

            shift_leave(c, p, k->gone.v[i], leaves);
            c->pods.v[p].role = leaves ? POD_LEAVING : POD_OTHER;
            if (leaves)
                vec_push(&k->leaving, p);
        }
    }
}

static void node_touch(struct checker *c, struct command *k, uint32_t node, uint32_t pod)
{
    struct cnode *n = &c->nodes.v[node];

    c->pods.v[pod].next = n->first_pod;
    n->first_pod = pod;
    rvec_add(c, &n->placed, &c->shapes.v[c->pods.v[pod].shape].requests);
    for (uint32_t i = 0; i < k->touched.n; i++)
        if (k->touched.v[i] == node)
            return;
    vec_push(&k->touched, node);
}

/* Inside the consolidateAfter window of its pool a node takes no running pods (spec: lifecycle 1.4, 8.9). */
static bool unsettled(const struct checker *c, const struct cnode *n)
{
    if (!n->has_claim || n->pool == NONE || !n->was_initialized || n->quiet_since_ms == INT64_MIN)
        return false;
    const struct cpool *p = &c->pools.v[n->pool];
    return p->usable && !p->never && p->consolidate_after_ms > 0 &&
           c->now_ms - n->quiet_since_ms < p->consolidate_after_ms;
}

static const char *host_obstacle(const struct checker *c, const struct command *k, const struct cnode *n)
{
    if (n->gone || n->deleting)
        return "which goes away";
    if (n->ignored)
        return "which does not count";
    if (!n->initialized)
        return "which is not initialized";
    if (str_is(k->method, "Underutilized") && unsettled(c, n))
        return "which is inside its consolidateAfter window";
    return NULL;
}

static void move_check(struct checker *c, struct command *k, const struct move *m, str raw_pod)
{
    uint32_t ix = strmap_get(&c->pod_ix, m->pod);
    int64_t i;

    if (str_starts(m->to, STR("replacement:"))) {
        if (!str_to_i64(str_sub(m->to, strlen("replacement:"), m->to.n), &i) || ix == MAP_NONE ||
            c->pods.v[ix].host != c->nodes.n + k->first_host + (uint64_t)i)
            checker_fail(c, "pod " STR_FMT ": does not go to " STR_FMT, STR_ARG(m->pod), STR_ARG(m->to));
        return;
    }
    uint32_t node = strmap_get(&c->node_by_plan_name, m->to);
    const char *why = node == MAP_NONE ? "which does not exist" : host_obstacle(c, k, &c->nodes.v[node]);
    if (why) {
        checker_fail(c, "pod " STR_FMT ": goes to node " STR_FMT ", %s", STR_ARG(m->pod), STR_ARG(m->to), why);
        if (node == MAP_NONE)
            return;
    }
    ix = pod_place(c, raw_pod, node, m->to);
    if (ix != NONE && c->pods.v[ix].role == POD_LEAVING)
        node_touch(c, k, node, ix);
}

static void moves_check(struct checker *c, struct command *k)
{
    str item, rest = k->moves, key, value;

    (void)json_open(&rest, '[');
    while (json_element(&rest, &item)) {
        struct move m = {0};
        str raw_pod = {0};

        (void)json_open(&item, '{');
        while (json_member(&item, &key, &value)) {
            if (str_is(key, "pod"))
                raw_pod = value;
            else if (str_is(key, "to"))
                m.to = json_text(c, value);
        }
        m.pod = json_text(c, raw_pod);
        move_check(c, k, &m, raw_pod);
    }
}

static void replacements_check(struct checker *c, struct command *k)
{
    str item, rest = k->replacements;

    k->first_host = c->hosts.n;
    (void)json_open(&rest, '[');
    while (json_element(&rest, &item))
        claim_check(c, item);
}

static int by_size(const void *a, const void *b, void *ctx)
{
    const struct checker *c = ctx;
    const struct rvec *x = &c->shapes.v[c->pods.v[*(const uint32_t *)a].shape].requests;
    const struct rvec *y = &c->shapes.v[c->pods.v[*(const uint32_t *)b].shape].requests;
    quantity xs[] = {x->v[c->res_cpu], x->v[c->res_memory]}, ys[] = {y->v[c->res_cpu], y->v[c->res_memory]};

    if (xs[0] != ys[0])
        return xs[0] > ys[0] ? -1 : 1;
    return xs[1] == ys[1] ? 0 : xs[1] > ys[1] ? -1 : 1;
}

static bool seek(struct checker *c, struct command *k, uint32_t pod)
{
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        if (host_obstacle(c, k, &c->nodes.v[i]) || !node_takes(c, i, pod) || !shift_admits(c, pod, i))
            continue;
        c->pods.v[pod].seen = 1;
        c->pods.v[pod].host = i;
        node_touch(c, k, i, pod);
        shift_arrive(c, pod);
        return true;
    }
    return false;
}

/* The command does not say where its pods go: first fit, largest first. A search that fails proves nothing. */
static void places_seek(struct checker *c, struct command *k)
{
    sort_stable(k->leaving.v, k->leaving.n, sizeof(*k->leaving.v), by_size, c);
    for (uint32_t i = 0; i < k->leaving.n; i++) {
        if (c->pods.v[k->leaving.v[i]].seen || seek(c, k, k->leaving.v[i]))
            continue;
        c->n_unverified++;
        (void)fprintf(c->out, "not verified: no place was found for pod " STR_FMT "\n",
                      STR_ARG(c->pods.v[k->leaving.v[i]].id));
    }
}

static void arrive(struct checker *c, struct command *k)
{
    for (uint32_t i = 0; i < k->leaving.n; i++)
        if (c->pods.v[k->leaving.v[i]].seen)
            shift_arrive(c, k->leaving.v[i]);
}

static void places_check(struct checker *c, struct command *k)
{
    for (uint32_t i = 0; i < k->leaving.n; i++) {
        struct cpod *p = &c->pods.v[k->leaving.v[i]];

        if (p->seen)
            shift_check(c, k->leaving.v[i]);
        else if (k->has_moves)
            checker_fail(c, "pod " STR_FMT ": its node goes and it has no place", STR_ARG(p->id));
    }
    for (uint32_t i = 0; i < k->leaving.n; i++) {
        struct cpod *p = &c->pods.v[k->leaving.v[i]];

        if (p->seen)
            shift_settle(c, k->leaving.v[i]);
        p->role = p->seen ? POD_BOUND : POD_OTHER;
    }
    for (uint32_t i = 0; i < k->touched.n; i++)
        node_recheck(c, k->touched.v[i]);
}

static bool all_spot(struct checker *c, const struct command *k)
{
    for (uint32_t i = 0; i < k->gone.n; i++)
        if (!str_is(labels_get(&c->nodes.v[k->gone.v[i]].labels, STR(K_CT)), "spot"))
            return false;
    return k->gone.n > 0;
}

static void consolidation_price_check(struct checker *c, const struct command *k, str first)
{
    uint32_t n = c->hosts.n - k->first_host;
    double worst = 0, launch = 0;

    for (uint32_t i = k->first_host; i < c->hosts.n; i++) {
        const struct creq *ct = creqs_get(&c->reqsets.v[c->hosts.v[i].reqset].r, STR(K_CT));

        worst += claim_worst(c, i);
        launch += claim_price(c, i);
        if (all_spot(c, k) && !c->spot_to_spot && (!ct || creq_has(ct, STR("spot"))))
            checker_fail(c, "node " STR_FMT ": spot is replaced with spot, which is switched off", STR_ARG(first));
    }
    if (n && (launch >= k->price || (n == 1 && worst >= k->price)))
        checker_fail(c, "node " STR_FMT ": the nodes cost %.6f, what replaces them %.6f, at worst %.6f", STR_ARG(first),
                     k->price, launch, worst);
}

static void price_check(struct checker *c, const struct command *k)
{
    str first = k->gone.n ? c->nodes.v[k->gone.v[0]].name : (str){0};
    double launch = 0;

    for (uint32_t i = k->first_host; i < c->hosts.n; i++)
        launch += claim_price(c, i);
    if (str_is(k->method, "Underutilized"))
        consolidation_price_check(c, k, first);
    if (fabs(k->price - launch - k->savings) > 1e-6 * (1 + k->price))
        checker_fail(c, "node " STR_FMT ": savings are %.6f, not %.6f", STR_ARG(first), k->price - launch, k->savings);
    c->savings += k->savings;
}

static void form_check(struct checker *c, const struct command *k)
{
    bool replaces = c->hosts.n > k->first_host;

    if (!str_is(k->method, "Empty") && !str_is(k->method, "Drifted") && !str_is(k->method, "Underutilized"))
        checker_fail(c, "there is no method " STR_FMT, STR_ARG(k->method));
    if (!str_is(k->decision, replaces ? "replace" : "delete"))
        checker_fail(c, "a command with%s replacements is called " STR_FMT, replaces ? "" : "out",
                     STR_ARG(k->decision));
    if (replaces && str_is(k->method, "Empty"))
        checker_fail(c, "empty nodes are replaced");
}

void command_check(struct checker *c, str raw)
{
    struct command k = {0};

    command_read(c, &k, raw);
    nodes_go(c, &k);
    budgets_check(c, &k);
    pods_leave(c, &k);
    replacements_check(c, &k);
    form_check(c, &k);
    if (k.has_moves)
        moves_check(c, &k);
    arrive(c, &k);
    if (!k.has_moves)
        places_seek(c, &k);
    places_check(c, &k);
    price_check(c, &k);
    vec_fini(&k.gone);
    vec_fini(&k.leaving);
    vec_fini(&k.touched);
}

void candidate_check(struct checker *c, str raw)
{
    static const char *const methods[] = {"Empty", "Drifted", "Underutilized"};
    str key, value, name = {0};
    bool eligible = false, possible = false;

    (void)json_open(&raw, '{');
    while (json_member(&raw, &key, &value)) {
        if (str_is(key, "node"))
            name = json_text(c, value);
        else if (str_is(key, "eligible"))
            eligible = str_is(value, "true");
    }
    uint32_t ix = strmap_get(&c->node_by_plan_name, name);
    if (ix == MAP_NONE) {
        checker_fail(c, "candidate " STR_FMT ": does not exist", STR_ARG(name));
        return;
    }
    const struct cnode *n = &c->nodes.v[ix];
    if (n->gone && !eligible)
        checker_fail(c, "candidate " STR_FMT ": is not eligible, but a command takes it", STR_ARG(name));
    if (n->gone || !eligible || n->placed.v[c->res_pods] != 0)
        return;
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        possible |= node_obstacle(c, n, str_c(methods[i])) == NULL;
    if (!possible)
        checker_fail(c, "candidate " STR_FMT ": is called eligible, but %s", STR_ARG(name),
                     node_obstacle(c, n, STR("Underutilized")));
}

void disruption_summary_check(struct checker *c, str raw)
{
    str key, value;
    double before = NAN, after = NAN;

    (void)json_open(&raw, '{');
    while (json_member(&raw, &key, &value)) {
        if (str_is(key, "hourlyCostBefore"))
            before = json_number(value);
        else if (str_is(key, "hourlyCostAfter"))
            after = json_number(value);
    }
    if (fabs(before - after - c->savings) > 1e-6 * (1 + before))
        checker_fail(c, "summary: the cost falls from %.6f to %.6f, the commands save %.6f", before, after, c->savings);
}
