/* Many machines at once on AWS: how often EC2 is asked, whether that is ever too often, what becomes of it when much of what there is to buy is sold out, and when AWS takes half of it back. */
#include <math.h>
#include <stdio.h>

#include "support/check.h"
#include "support/fleet.h"
#include "support/sky.h"

#define N 1000
#define LARGE "c5.large,c6a.large,m5.large,m6i.large,r5.large" /* two cores each */

struct stage {
    const char *env[SKY_ENV + 8];
    struct rig *r;
    struct sky *sky;
    double first_s, last_s; /* NodeClaims were made */
    uint32_t n_claims;      /* ever */
    uint32_t n_deleted;     /* NodeClaims that were told to go */
    double deleted_s;       /* the last of them */
};

static void on_claim(void *ctx, const struct change *ch)
{
    struct stage *t = ctx;

    if (ch->old && ch->new && !ch->old->deleted_ms && ch->new->deleted_ms) {
        t->n_deleted++;
        t->deleted_s = rig_now(t->r);
    }
    if (ch->old || !ch->new)
        return;
    t->last_s = rig_now(t->r);
    if (t->n_claims++ == 0)
        t->first_s = t->last_s;
}

static void stage_open(struct stage *t, const char *types)
{
    uint32_t n = sky_env(SKY_IRSA, t->env);

    t->env[n++] = "LOG_LEVEL";
    t->env[n++] = "error";
    t->env[n++] = "DISABLE_LEADER_ELECTION";
    t->env[n++] = "true";
    t->env[n] = NULL;
    t->r =
        rig_new(1, t->env, &(struct cluster_options){.lean = true, .lease_renew_ms = 60000, .node_grace_ms = 240000});
    t->r->forgetful = true;
    t->sky =
        sky_new(t->r, &(struct sky_options){.types = types, .boot_ms = 8000, .stop_ms = 20000, .agent = {5000, 30000}});
    kube_subscribe(t->r->l->s->k, server_kind(t->r->l->s, "nodeclaims"), on_claim, t);
    lab_apply(t->r->l, "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\n"
                       "spec: {amiSelectorTerms: [{alias: al2023@latest}], " SKY_CLASS_TERMS "}\n");
    lab_apply(t->r->l, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec:\n"
                       "  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never}\n"
                       "  template: {spec: {expireAfter: Never, "
                       "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [\n"
                       "    {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]},\n"
                       "    {key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ['9']}]}}\n");
    rig_start(t->r, 0);
    lab_run(t->r->l, 60);
}

static void stage_close(struct stage *t)
{
    sky_free(t->sky);
    rig_free(t->r);
}

static void deploy(struct stage *t, const char *name, uint32_t n, const char *cpu, const char *spec)
{
    char text[900];

    (void)snprintf(text, sizeof(text),
                   "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s}\nspec:\n"
                   "  replicas: %u\n  selector: {matchLabels: {app: %s}}\n"
                   "  template: {metadata: {labels: {app: %s}}, spec: {%s terminationGracePeriodSeconds: 1,\n"
                   "    containers: [{name: app, image: app, resources: {requests: {cpu: %s, memory: 512Mi}}}]}}\n",
                   name, n, name, name, spec, cpu);
    lab_apply(t->r->l, text);
}

/* Looks now and then: a look at a thousand nodes takes its time. */
static bool until(struct stage *t, double seconds, bool (*holds)(struct stage *t, uint32_t n), uint32_t n)
{
    for (double end = rig_now(t->r) + seconds; rig_now(t->r) < end;) {
        lab_run(t->r->l, 2);
        if (holds(t, n))
            return true;
    }
    return false;
}

static bool all_run(struct stage *t, uint32_t n)
{
    struct fleet f;

    fleet_look(t->r, &f);
    return f.n_running == n && f.n_ready == f.n_claims && f.n_nodes == f.n_claims;
}

static bool none_left(struct stage *t, uint32_t n UNUSED)
{
    struct sky_stock left;

    sky_look(t->sky, &left);
    return left.n_machines == 0 && lab_count(t->r->l, "nodeclaims", "") == 0;
}

/* ---- calls ---- */

#define ACTIONS(X)                                                                                                     \
    X(CreateFleet)                                                                                                     \
    X(CreateLaunchTemplate)                                                                                            \
    X(CreateTags)                                                                                                      \
    X(DescribeInstances)                                                                                               \
    X(DescribeLaunchTemplates)                                                                                         \
    X(TerminateInstances)

struct calls {
    double at_s;
#define X(name) uint64_t name;
    ACTIONS(X)
#undef X
};

static struct calls calls_now(const struct stage *t)
{
    struct calls c = {.at_s = rig_now(t->r)};

#define X(name) c.name = sim_aws_calls(t->sky->aws, #name);
    ACTIONS(X)
#undef X
    return c;
}

static struct calls calls_since(const struct stage *t, const struct calls *was, const char *what)
{
    struct calls c = calls_now(t);

    c.at_s -= was->at_s;
    print_message("# %s: %.0f s", what, c.at_s);
#define X(name)                                                                                                        \
    c.name -= was->name;                                                                                               \
    print_message(", " #name " %llu", (unsigned long long)c.name);
    ACTIONS(X)
#undef X
    print_message("\n");
    return c;
}

static void check_most(const char *what, uint64_t n, double most)
{
    if ((double)n > most)
        print_error("%s: %llu calls, and %.0f would be the most\n", what, (unsigned long long)n, most);
    check_true(what, (double)n <= most);
}

/* Machines are listed by the garbage collection of instances (every 10 s for its first 20 runs, then every 2 min; aws 7.5), by whoever compares capacity types (every minute; 7.8) and by the
 * garbage collection of claims (every 2 min); a page has 1,000 of them. */
static double listings(double seconds)
{
    return (fmin(20, seconds / 10) + seconds / 120 + seconds / 60 + seconds / 120 + 4) * ceil((N + 1) / 1000.0);
}

/* ---- a thousand at once ---- */

/* Windows (aws 3.3): a call to CreateFleet is for all that came within 35 ms of the one before, for at most a second, and at most 1,000. Before it is launched, a NodeClaim is written twice, created and given its
 * finalizer, with 200 writes a second after a burst of 300. While they come more often than every 35 ms only the second counts: so there is one call for each of the (2 N - 300) / 200 s that this takes, and one more. */
static double fleets_most(uint32_t n)
{
    return fmax(ceil(n / 1000.0), 1 + ceil((2.0 * n - 300) / 200));
}

struct ledger {
    struct stage *t;
    uint32_t n_right;
};

static str tag_of(const struct tree *tags, const char *key)
{
    for (uint32_t i = 0; tags && i < tags->n; i++)
        if (str_is(tree_str(tree_get(&tags->items[i], "Key")), key))
            return tree_str(tree_get(&tags->items[i], "Value"));
    return (str){0};
}

/* A machine's tags name its pool, its class, its cluster, its NodeClaim and its Node, and these know of it. */
static void check_machine(void *ctx, const struct sim_aws_resource *r)
{
    struct ledger *g = ctx;
    struct lab *l = g->t->r->l;
    char claim[128], node[128];

    if (strcmp(r->kind, "instance") != 0 || strcmp(r->state, "running") != 0)
        return;
    (void)snprintf(claim, sizeof(claim), STR_FMT, STR_ARG(tag_of(r->tags, "karpenter.sh/nodeclaim")));
    (void)snprintf(node, sizeof(node), STR_FMT, STR_ARG(tag_of(r->tags, "Name")));
    g->n_right += str_is(tag_of(r->tags, "karpenter.sh/nodepool"), "default") &&
                  str_is(tag_of(r->tags, "karpenter.k8s.aws/ec2nodeclass"), "default") &&
                  str_is(tag_of(r->tags, "eks:eks-cluster-name"), SKY_CLUSTER) &&
                  str_is(tag_of(r->tags, "kubernetes.io/cluster/" SKY_CLUSTER), "owned") &&
                  str_contains(lab_get(l, "nodeclaims", claim, "status.providerID"), r->id) &&
                  str_contains(lab_get(l, "nodes", node, "spec.providerID"), r->id);
}

static void check_up(struct stage *t, const struct calls *was)
{
    struct calls up = calls_since(t, was, "up");
    struct sky_stock there;

    sky_look(t->sky, &there);
    check_u64("NodeClaims", t->n_claims, N);
    check_u64("machines", there.n_machines, N);
    check_u64("without an owner", there.n_unowned, 0);
    check_most("CreateFleet", up.CreateFleet, fleets_most(N));
    check_most("CreateLaunchTemplate: one for each", up.CreateLaunchTemplate, there.n_templates);
    check_most("DescribeLaunchTemplates: one for each", up.DescribeLaunchTemplates, there.n_templates);
}

/* One after the other, a second each (aws 7.6): looked at, tagged. */
static void check_tags(struct stage *t, const struct calls *was)
{
    struct calls all = calls_since(t, was, "up and tagged");
    struct ledger g = {.t = t};

    sim_aws_each(t->sky->aws, check_machine, &g);
    check_u64("machines that are what their tags say", g.n_right, N);
    check_u64("CreateTags", all.CreateTags, N);
    check_most("DescribeInstances", all.DescribeInstances, N + listings(all.at_s));
}

/* Every NodeClaim is looked after every five seconds until its machine is gone; windows are of a second, and of 500. */
static void check_down(struct stage *t, const struct calls *was)
{
    struct calls down = calls_since(t, was, "down");

    check_most("TerminateInstances", down.TerminateInstances, 1 + ceil(down.at_s) + N / 500.0);
    check_most("DescribeInstances", down.DescribeInstances, 1 + ceil(down.at_s) + N / 500.0 + listings(down.at_s));
}

static void a_thousand_at_once(void **state UNUSED)
{
    struct stage t = {0};

    stage_open(&t, LARGE);
    struct calls was = calls_now(&t);
    deploy(&t, "web", N, "1500m", "");
    check_true("they run", until(&t, 300, all_run, N));
    check_up(&t, &was);
    lab_run(t.r->l, N + 100);
    check_tags(&t, &was);
    was = calls_now(&t);
    lab_delete(t.r->l, "nodepools", "default");
    check_true("they go", until(&t, 600, none_left, 0));
    check_down(&t, &was);
    check_u64("calls that were too many", sim_aws_throttled(t.sky->aws, "ec2"), 0);
    check_u64("calls that were not believed", t.sky->n_refused, 0);
    stage_close(&t);
}

/* ---- much is sold out ---- */

/* Two of five offerings, on demand and spot. */
static void sell_out(struct stage *t, uint32_t *ret_sold, uint32_t *ret_all)
{
    static const char *const types[] = {"c5.large",    "c5.xlarge",  "c5.2xlarge",  "c6a.large", "c6a.xlarge",
                                        "c6g.large",   "c6g.xlarge", "m5.large",    "m5.xlarge", "m5.2xlarge",
                                        "m6i.large",   "m6i.xlarge", "m6i.2xlarge", "m6g.large", "m6g.xlarge",
                                        "m7g.2xlarge", "r5.large",   "r5.xlarge",   "t3.medium"};
    static const char *const zones[] = {"test-zone-1a", "test-zone-1b", "test-zone-1c"};
    static const char *const markets[] = {"spot", "on-demand"};

    for (size_t i = 0; i < ARRAY_LEN(types) * ARRAY_LEN(zones) * ARRAY_LEN(markets); i++) {
        const char *market = markets[i % 2], *zone = zones[i / 2 % 3], *type = types[i / 6];

        *ret_all += 1;
        if (i % 5 >= 2)
            continue;
        sim_aws_drain_pool(t->sky->aws, str_c(type), str_c(zone), str_c(market));
        *ret_sold += 1;
    }
}

static void two_of_five_are_sold_out(void **state UNUSED)
{
    struct stage t = {0};
    uint32_t n_sold = 0, n_all = 0;
    struct fleet f;

    stage_open(&t, NULL);
    sell_out(&t, &n_sold, &n_all);
    check_true("two of five", n_sold * 5 >= n_all * 2);
    deploy(&t, "any", 150, "700m", "");
    deploy(&t, "spread", 60, "1300m",
           "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: "
           "DoNotSchedule, labelSelector: {matchLabels: {app: spread}}}],");
    deploy(&t, "arm", 40, "900m", "nodeSelector: {kubernetes.io/arch: arm64},");
    deploy(&t, "paid", 40, "1700m", "nodeSelector: {karpenter.sh/capacity-type: on-demand},");
    deploy(&t, "narrow", 20, "1500m",
           "nodeSelector: {karpenter.k8s.aws/instance-family: m5, topology.kubernetes.io/zone: test-zone-1b},");
    check_true("all of them run", until(&t, 1200, all_run, 150 + 60 + 40 + 40 + 20));
    fleet_look(t.r, &f);
    print_message("# %u of %u offerings are sold out: %u NodeClaims were made for %u nodes, after %.0f s\n", n_sold,
                  n_all, t.n_claims, f.n_nodes, rig_now(t.r));
    check_most("NodeClaims", t.n_claims, 1.2 * f.n_nodes);
    check_u64("calls that were too many", sim_aws_throttled(t.sky->aws, "ec2"), 0);
    stage_close(&t);
}

/* ---- AWS takes half of it back ---- */

#define N_SPOT 60
#define WARNING_S 120.0

struct storm {
    struct stage *t;
    uint32_t n, n_warned;
};

static void warn_every_other(void *ctx, const struct sim_aws_resource *r)
{
    struct storm *w = ctx;

    if (strcmp(r->kind, "instance") == 0 && strcmp(r->state, "running") == 0 && w->n++ % 2 == 0)
        w->n_warned += sim_aws_interrupt(w->t->sky->aws, r->id);
}

static void a_storm(void **state UNUSED)
{
    struct stage t = {0};
    struct storm w = {.t = &t};
    struct fleet f;

    stage_open(&t, LARGE);
    deploy(&t, "web", N_SPOT, "1500m", "");
    check_true("they run", until(&t, 300, all_run, N_SPOT));
    sim_aws_set_faults(t.sky->aws, &(struct sim_aws_faults){.duplicate = 20000, .reorder = 20000});
    double warned_s = rig_now(t.r);
    sim_aws_each(t.sky->aws, warn_every_other, &w);
    check_u64("half of them", w.n_warned, N_SPOT / 2);
    lab_run(t.r->l, 10);
    print_message("# %u NodeClaims were deleted within %.1f s, %u were made\n", t.n_deleted, t.deleted_s - warned_s,
                  t.n_claims - N_SPOT);
    check_u64("NodeClaims that go", t.n_deleted, N_SPOT / 2);
    check_true("within seconds", t.deleted_s - warned_s <= 5);
    check_u64("others are on order", t.n_claims, N_SPOT + N_SPOT / 2);
    lab_run(t.r->l, WARNING_S - 15);
    fleet_look(t.r, &f);
    check_u64("before the machines are gone all pods run", f.n_running, N_SPOT);
    lab_run(t.r->l, 120);
    fleet_look(t.r, &f);
    check_u64("and stay", f.n_running, N_SPOT);
    check_u64("nodes", f.n_nodes, N_SPOT);
    check_u64("machines that ended", sim_aws_bill(t.sky->aws).ended, N_SPOT / 2);
    check_u64("messages that are left", sim_aws_messages(t.sky->aws, STR(SKY_CLUSTER), NULL), 0);
    stage_close(&t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_thousand_at_once), cmocka_unit_test(two_of_five_are_sold_out),
                                       cmocka_unit_test(a_storm)};

    cmocka_set_test_filter(argc > 1 ? argv[1] : NULL);
    return cmocka_run_group_tests_name("sim/aws_scale", tests, NULL, NULL);
}
