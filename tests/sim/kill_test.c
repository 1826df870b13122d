/* kill -9 at every call to the API server, in a scale-up, in the removal of a node and while a node is replaced by a cheaper one: right before the server does what it is
 * asked, and right after, when the answer never arrives. A second process finishes the job, with as many machines as one alone would have made; of a replacement that nobody waits
 * for any more there may be one too many for a while.
 */
#include <stdio.h>

#include "support/check.h"
#include "support/fleet.h"

#define N_PODS 3
#define N_NODES 3      /* pods are spread over hosts */
#define PATIENCE_S 240 /* a lease that runs out, back-offs, a drain */
#define N_MAX 400      /* calls: more are not believed */

static const char *const settings[] = {"LOG_LEVEL", "error", NULL};

static const char workload[] =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n"
    "  replicas: 3\n  selector: {matchLabels: {app: web}}\n"
    "  template:\n    metadata: {labels: {app: web}}\n    spec:\n      terminationGracePeriodSeconds: 1\n"
    "      topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, minDomains: 2, "
    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]\n"
    "      containers: [{name: app, image: app, resources: {requests: {cpu: '7', memory: 1Gi}}}]\n";

static const char large[] =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: large}\nspec:\n"
    "  replicas: 1\n  selector: {matchLabels: {app: large}}\n"
    "  template:\n    metadata: {labels: {app: large}}\n    spec:\n      terminationGracePeriodSeconds: 0\n"
    "      containers: [{name: app, image: app, resources: {requests: {cpu: '6', memory: 1Gi}}}]\n"
    "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: small}\nspec:\n"
    "  replicas: 1\n  selector: {matchLabels: {app: small}}\n"
    "  template:\n    metadata: {labels: {app: small}}\n    spec:\n      terminationGracePeriodSeconds: 0\n"
    "      containers: [{name: app, image: app, resources: {requests: {cpu: 500m, memory: 1Gi}}}]\n";

enum job { SCALE_UP, REMOVAL, REPLACEMENT };

struct trial {
    struct rig *r;
    enum job job;
    bool armed;
    bool after;       /* dies when the call has been done */
    uint32_t victim;  /* dies at its call of this number, from 1 on; 0: nobody dies */
    uint32_t n_calls; /* since armed; watches do not count, they only look */
    bool dead;
    uint32_t n_made; /* NodeClaims and Nodes, ever */
    uint32_t n_nodes_made;
    char first[256]; /* NodeClaim */
    char at[160];    /* the call */
};

static bool is_watch(const struct exchange *x)
{
    return strcmp(x->method, "GET") == 0 && str_contains(x->query, STR("watch="));
}

static bool on_arrival(void *ctx, uint32_t replica, const struct exchange *x)
{
    struct trial *t = ctx;

    if (!t->armed || t->dead || replica != 0 || is_watch(x))
        return true;
    if (++t->n_calls != t->victim)
        return true;
    (void)snprintf(t->at, sizeof(t->at), "%s " STR_FMT, x->method, STR_ARG(x->path));
    t->dead = true;
    if (t->after)
        return true;
    rig_strike(t->r, 0);
    return false;
}

static void on_done(void *ctx, uint32_t replica)
{
    struct trial *t = ctx;

    if (replica == 0 && t->dead && t->after)
        rig_strike(t->r, 0);
}

static void on_claim(void *ctx, const struct change *c)
{
    struct trial *t = ctx;

    t->n_made += !c->old;
}

static void on_node(void *ctx, const struct change *c)
{
    struct trial *t = ctx;

    t->n_nodes_made += !c->old;
}

static void name_of(void *ctx, const struct object *o)
{
    (void)snprintf(ctx, 256, STR_FMT, STR_ARG(o->name));
}

static void claim_name(struct rig *r, char name[256])
{
    kube_each(r->l->s->k, server_kind(r->l->s, "nodeclaims"), (str){0}, name_of, name);
}

static bool is_replaced(struct rig *r, const struct trial *t, const struct fleet *f)
{
    char claim[256] = "";

    claim_name(r, claim);
    return f->n_pods == 1 && f->n_running == 1 && f->n_claims == 1 && f->n_nodes == 1 && f->n_ready == 1 &&
           f->n_leaving == 0 && strcmp(claim, t->first) != 0;
}

static bool is_done(struct rig *r, const void *arg)
{
    const struct trial *t = arg;
    struct fleet f;

    if (t->dead && r->replicas[0] && r->replicas[1] == NULL)
        return true; /* time for the next one */
    fleet_look(r, &f);
    if (t->job == REPLACEMENT)
        return is_replaced(r, t, &f);
    return f.n_pods == N_PODS && f.n_running == N_PODS && f.n_claims == N_NODES && f.n_nodes == N_NODES &&
           f.n_ready == N_NODES && f.n_leaving == 0 && (t->job == SCALE_UP || !t->armed || t->n_made > N_NODES);
}

static bool has_two_pods(struct rig *r, const void *arg UNUSED)
{
    struct fleet f;

    fleet_look(r, &f);
    return f.n_running == 2 && f.n_ready == 1 && f.n_nodes == 1;
}

static void begin(struct trial *t)
{
    uint32_t first = 0;

    fleet_class(t->r);
    fleet_pool(t->r, "default",
               t->job == REPLACEMENT ? "disruption: {consolidateAfter: 0s, budgets: [{nodes: '1'}]}" : "", "");
    rig_start(t->r, 0);
    rig_await_lead(t->r, first, 30);
    if (t->job == REMOVAL) {
        lab_apply(t->r->l, workload);
        check_true("pods run", rig_until(t->r, 60, is_done, t));
        lab_run(t->r->l, 20);
        claim_name(t->r, t->first);
        t->armed = true;
        lab_delete(t->r->l, "nodeclaims", t->first);
    } else if (t->job == REPLACEMENT) {
        lab_apply(t->r->l, large);
        check_true("pods run", rig_until(t->r, 60, has_two_pods, NULL));
        claim_name(t->r, t->first);
        lab_delete(t->r->l, "deployments", "large");
        lab_run(t->r->l, 5);
        t->armed = true;
    } else {
        t->armed = true;
        lab_apply(t->r->l, workload);
    }
}

/* Whoever lives takes over, finishes, and leaves nothing behind. */
static bool finish(struct trial *t, const char *name)
{
    struct sb odd = {0};
    static const uint32_t machines[] = {[SCALE_UP] = N_NODES, [REMOVAL] = N_NODES + 1, [REPLACEMENT] = 2};
    uint32_t n_machines = machines[t->job], spare;
    bool done = rig_until(t->r, PATIENCE_S, is_done, t);

    if (t->dead) {
        rig_kill(t->r, 0);
        rig_start(t->r, 1);
        done = rig_until(t->r, PATIENCE_S, is_done, t);
    }
    lab_run(t->r->l, 30); /* nothing more comes of it */
    done = done && is_done(t->r, t);
    fleet_faults(t->r, &odd);
    spare = t->job == REPLACEMENT && t->dead;
    done = done && odd.n == 0 && t->n_made - n_machines <= spare && t->n_nodes_made - n_machines <= spare;
    if (!done)
        print_error("%s: %s: %u NodeClaims and %u Nodes were made, want %u\n" STR_FMT STR_FMT "\n" STR_FMT, name, t->at,
                    t->n_made, t->n_nodes_made, n_machines, STR_ARG(sb_view(&odd)), STR_ARG(lab_pods(t->r->l, "")),
                    STR_ARG(sb_view(&t->r->logs[1])));
    sb_fini(&odd);
    return done;
}

/* Whether it ended well. */
static bool run(enum job job, uint32_t victim, bool after, uint32_t *ret_calls)
{
    static const char *const jobs[] = {"scale-up", "removal", "replacement"};
    struct trial t = {.job = job, .victim = victim, .after = after};
    char name[64];
    bool ok;

    (void)snprintf(name, sizeof(name), "%s, killed %s call %u", jobs[job], after ? "after" : "before", victim);
    t.r = rig_new(1, settings, &(struct cluster_options){.lean = true});
    t.r->forgetful = true;
    t.r->watch_ctx = &t;
    t.r->before = on_arrival;
    t.r->after = on_done;
    kube_subscribe(t.r->l->s->k, server_kind(t.r->l->s, "nodeclaims"), on_claim, &t);
    kube_subscribe(t.r->l->s->k, server_kind(t.r->l->s, "nodes"), on_node, &t);
    begin(&t);
    ok = finish(&t, name);
    rig_free(t.r);
    *ret_calls = t.n_calls;
    return ok;
}

/* The calls up to the one with which all is done are each somebody's last. */
static void every_call(enum job job)
{
    uint32_t n, ignored, n_bad = 0;

    check_true("nobody is killed", run(job, 0, false, &n));
    check_true("a job takes some calls", n > 10 && n < N_MAX);
    for (uint32_t k = 1; k <= n; k++) {
        n_bad += !run(job, k, /* after= */ false, &ignored);
        n_bad += !run(job, k, /* after= */ true, &ignored);
    }
    print_message("# %u calls, killed before and after each\n", n);
    check_u64("jobs that were not finished", n_bad, 0);
}

static void scale_up(void **state UNUSED)
{
    every_call(SCALE_UP);
}

static void removal(void **state UNUSED)
{
    every_call(REMOVAL);
}

static void replacement(void **state UNUSED)
{
    every_call(REPLACEMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scale_up), cmocka_unit_test(removal),
                                       cmocka_unit_test(replacement)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
