/* NodePools and workloads: how they are made, and what people change about them. */
#include <stdio.h>
#include <string.h>

#include "sim/chaos_int.h"
#include "support/check.h"

#define LIMIT_CPU 20
#define MAX_PODS 6 /* of an app */
#define MAX_JOBS 5
#define STARTUP_TAINT "example.com/starting"

/* ---- pools ---- */

static const char *const disruption[] = {
    "consolidationPolicy: WhenEmpty, consolidateAfter: Never",
    "consolidationPolicy: WhenEmpty, consolidateAfter: 30s",
    "consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s",
    "consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 5m",
};

static void patch_pool(struct chaos *c, struct chaos_pool *p, str patch)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const char *text = arena_printf(a, STR_FMT "%c", STR_ARG(patch), 0).p;

    if (!exists(c, "nodepools", p->name))
        return;
    deed(c, text, p->name);
    lab_patch(c->r->l, "nodepools", p->name, text);
}

static const char *kwok_requirements(bool is_static)
{
    if (!is_static)
        return "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]},\n"
               "    {key: karpenter.kwok.sh/instance-size, operator: Lt, values: ['32']}";
    /* kwok makes what it is told to */
    return "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]},\n"
           "    {key: karpenter.kwok.sh/instance-size, operator: Lt, values: ['32']},\n"
           "    {key: node.kubernetes.io/instance-type, operator: In, values: [s-4x-amd64-linux]}";
}

void pool_make(struct chaos *c, struct chaos_pool *p)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str text =
        arena_printf(a,
                     "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: %s}\nspec:\n"
                     "  disruption: {%s}\n"
                     "  %s\n"
                     "  template: {spec: {expireAfter: Never, %s%s\n"
                     "    nodeClassRef: {group: %s, name: default}, requirements: [\n"
                     "    {key: kubernetes.io/os, operator: In, values: [linux]}, %s]}}\n%c",
                     p->name, disruption[0],
                     p->is_static                ? "replicas: 1"
                     : has_part(c, CHAOS_LIMITS) ? "limits: {cpu: 20}"
                                                 : "",
                     has_part(c, CHAOS_GRACE) ? "terminationGracePeriod: 10m, " : "",
                     has_part(c, CHAOS_STARTUP) ? "startupTaints: [{key: " STARTUP_TAINT ", effect: NoSchedule}]," : "",
                     c->aws ? "karpenter.k8s.aws, kind: EC2NodeClass" : "karpenter.kwok.sh, kind: KWOKNodeClass",
                     c->aws ? aws_requirements(c, p->is_static) : kwok_requirements(p->is_static), 0);

    p->tainted = false;
    setting_set(c, &p->limit_milli, has_part(c, CHAOS_LIMITS) && !p->is_static ? LIMIT_CPU * 1000 : INT64_MAX);
    setting_set(c, &p->budget, 10);
    lab_apply(c->r->l, text.p);
}

void pools_make(struct chaos *c)
{
    static const char *const names[CHAOS_POOLS] = {"a", "b", "s"};

    for (uint32_t i = 0; i < CHAOS_POOLS; i++) {
        c->pools[i].name = names[i];
        c->pools[i].is_static = i == 2;
        if (i < 2 || has_part(c, CHAOS_STATIC))
            pool_make(c, &c->pools[i]);
    }
}

static void change_limits(struct chaos *c, struct chaos_pool *p)
{
    AUTO(arena) struct arena *a = arena_new(0);
    uint32_t cpu = 4 + below(c, 2 * LIMIT_CPU);

    if (p->is_static || !has_part(c, CHAOS_LIMITS) || !exists(c, "nodepools", p->name))
        return;
    setting_set(c, &p->limit_milli, (int64_t)cpu * 1000);
    patch_pool(c, p, arena_printf(a, "{spec: {limits: {cpu: '%u'}}}", cpu));
}

static void change_disruption(struct chaos *c, struct chaos_pool *p)
{
    static const struct {
        const char *nodes;
        int64_t budget; /* as in struct chaos_pool */
    } budgets[] = {{"0", INT64_MIN}, {"1", -1}, {"3", -3}, {"10%", 10}, {"50%", 50}, {"100%", 100}};
    AUTO(arena) struct arena *a = arena_new(0);
    uint32_t b = below(c, ARRAY_LEN(budgets)), d = below(c, ARRAY_LEN(disruption));

    if (!exists(c, "nodepools", p->name))
        return;
    setting_set(c, &p->budget, budgets[b].budget);
    patch_pool(c, p,
               arena_printf(a, "{spec: {disruption: {%s, budgets: [{nodes: '%s'}]}}}",
                            p->is_static ? disruption[0] : disruption[d], budgets[b].nodes));
}

static void change_template(struct chaos *c, struct chaos_pool *p, enum chaos_part what)
{
    static const char *const expiry[] = {"Never", "20m", "1h", "6h"};
    AUTO(arena) struct arena *a = arena_new(0);
    str patch;

    if (what == CHAOS_POOL_LABELS) {
        patch = arena_printf(a, "{spec: {template: {metadata: {labels: {tier: v%u}}}}}", below(c, 4));
    } else if (what == CHAOS_POOL_EXPIRY) {
        patch = arena_printf(a, "{spec: {template: {spec: {expireAfter: %s}}}}", expiry[below(c, ARRAY_LEN(expiry))]);
    } else {
        p->tainted = !p->tainted;
        patch = p->tainted ? STR("{spec: {template: {spec: {taints: [{key: example.com/kept, effect: NoSchedule}]}}}}")
                           : STR("{spec: {template: {spec: {taints: null}}}}");
    }
    patch_pool(c, p, patch);
}

void pool_change(struct chaos *c, enum chaos_part what)
{
    struct chaos_pool *p = &c->pools[below(c, CHAOS_POOLS)];
    AUTO(arena) struct arena *a = arena_new(0);

    if (what == CHAOS_POOL_LIMITS)
        change_limits(c, p);
    else if (what == CHAOS_POOL_DISRUPTION)
        change_disruption(c, p);
    else if (what == CHAOS_POOL_REPLICAS)
        patch_pool(c, &c->pools[2], arena_printf(a, "{spec: {replicas: %u}}", below(c, 4)));
    else
        change_template(c, p, what);
}

void pools_calm(struct chaos *c)
{
    for (uint32_t i = 0; i < CHAOS_POOLS; i++) {
        struct chaos_pool *p = &c->pools[i];

        if (!exists(c, "nodepools", p->name) && (!p->is_static || has_part(c, CHAOS_STATIC)))
            pool_make(c, p);
        patch_pool(c, p, STR("{spec: {template: {spec: {expireAfter: Never, taints: null}}}}"));
        p->tainted = false;
    }
}

/* ---- workloads ---- */

static const char *app_name(uint32_t i, char name[16])
{
    (void)snprintf(name, 16, "app%u", i);
    return name;
}

void app_make(struct chaos *c, uint32_t i)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const char *note = has_part(c, CHAOS_KEEP) && i == 0 ? "annotations: {karpenter.sh/do-not-disrupt: 'true'}, " : "";
    str spread = arena_printf(a,
                              "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, "
                              "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: app%u}}}], ",
                              i);
    bool spreads = one_in(c, 2);
    str text = arena_printf(
        a,
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app%u}\nspec:\n"
        "  replicas: 0\n  selector: {matchLabels: {app: app%u}}\n"
        "  template: {metadata: {%slabels: {app: app%u}}, spec: {terminationGracePeriodSeconds: 2, " STR_FMT "\n"
        "    containers: [{name: app, image: app, resources: {requests: {cpu: %um, memory: 512Mi}}}]}}\n"
        "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: app%u}\n"
        "spec: {maxUnavailable: 1, selector: {matchLabels: {app: app%u}}}\n%c",
        i, i, note, i, STR_ARG(spreads ? spread : STR("")), 300 + below(c, 3000), i, i, 0);

    lab_apply(c->r->l, text.p);
}

static void patch_app(struct chaos *c, uint32_t i, const char *plural, const char *patch)
{
    char name[16];

    deed(c, patch, app_name(i, name));
    lab_patch(c->r->l, plural, name, patch);
}

void app_scale(struct chaos *c)
{
    uint32_t i = below(c, c->n_apps);
    char patch[64];

    c->replicas[i] = below(c, MAX_PODS + 1);
    (void)snprintf(patch, sizeof(patch), "{spec: {replicas: %u}}", c->replicas[i]);
    patch_app(c, i, "deployments", patch);
}

void app_roll(struct chaos *c)
{
    uint32_t i = below(c, c->n_apps);
    char patch[200];

    (void)snprintf(patch, sizeof(patch),
                   "{spec: {template: {metadata: {labels: {version: v%u}}, spec: {containers: [{name: app, image: app, "
                   "resources: {requests: {cpu: %um, memory: 512Mi}}}]}}}}",
                   ++c->version[i], 300 + below(c, 3000));
    patch_app(c, i, "deployments", patch);
}

void app_budget(struct chaos *c)
{
    patch_app(c, below(c, c->n_apps), "poddisruptionbudgets",
              one_in(c, 2) ? "{spec: {maxUnavailable: 0}}" : "{spec: {maxUnavailable: 1}}");
}

void job_make(struct chaos *c)
{
    AUTO(arena) struct arena *a = arena_new(0);
    uint32_t n = 1 + below(c, 4), number = c->n_jobs++ % MAX_JOBS;
    char name[16];
    str text =
        arena_printf(a,
                     "apiVersion: batch/v1\nkind: Job\nmetadata: {name: job%u}\n"
                     "spec:\n  completions: %u\n  parallelism: %u\n"
                     "  template: {metadata: {labels: {job: job%u}, annotations: {sim.karpenter.sh/run-for: %us}}, "
                     "spec: {restartPolicy: Never, terminationGracePeriodSeconds: 2,\n"
                     "    containers: [{name: job, image: job, resources: {requests: {cpu: %um}}}]}}\n%c",
                     number, n, n, number, 5 + below(c, 900), 200 + below(c, 2000), 0);

    (void)snprintf(name, sizeof(name), "job%u", number);
    deed(c, "a job", name);
    if (exists(c, "jobs", name)) /* the one of this name is taken away first, and replaced next time */
        lab_delete(c->r->l, "jobs", name);
    else
        lab_apply(c->r->l, text.p);
}

void daemon_change(struct chaos *c)
{
    AUTO(arena) struct arena *a = arena_new(0);
    uint32_t milli = 20 + below(c, 180);

    if (exists(c, "daemonsets", "agent") && one_in(c, 2)) {
        deed(c, "delete", "agent");
        lab_delete(c->r->l, "daemonsets", "agent");
        return;
    }
    str text =
        arena_printf(a,
                     "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\n"
                     "spec:\n  selector: {matchLabels: {daemon: agent}}\n"
                     "  template: {metadata: {labels: {daemon: agent}}, spec: {terminationGracePeriodSeconds: 2,\n"
                     "    containers: [{name: agent, image: agent, resources: {requests: {cpu: %um}}}]}}\n%c",
                     milli, 0);
    deed(c, exists(c, "daemonsets", "agent") ? "change" : "create", "agent");
    if (!exists(c, "daemonsets", "agent")) {
        lab_apply(c->r->l, text.p);
        return;
    }
    str patch = arena_printf(a,
                             "{spec: {template: {spec: {containers: [{name: agent, image: agent, "
                             "resources: {requests: {cpu: %um}}}]}}}}%c",
                             milli, 0);
    lab_patch(c->r->l, "daemonsets", "agent", patch.p);
}
