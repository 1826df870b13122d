/* The workload as objects, who makes machines for it, and the least that any new nodes for it cost. Apart from the world, because the far end of the wire has names
 * of its own. */
#include "scale_in.h"

#include "app/providers.h"
#include "cli/cli.h"
#include "cloud/catalog.h"
#include "control/autoscaler.h"
#include "data/reader.h"
#include "k8s/decode.h"
#include "k8s/settings.h"
#include "model/objects.h"
#include "plan/plan.h"
#include "state/state.h"

void apps_init(struct app apps[APPS])
{
    static const int64_t cpu_m[] = {100, 250, 500, 500, 1000, 1000, 1500, 2000, 3000, 4000};
    static const int64_t mib_per_cpu[] = {1900, 3900, 3900, 7800, 3900, 1900, 7800};

    for (uint32_t i = 0; i < APPS; i++) {
        struct app *x = &apps[i];

        x->cpu_m = cpu_m[i % ARRAY_LEN(cpu_m)];
        x->memory_mi = x->cpu_m * mib_per_cpu[i % ARRAY_LEN(mib_per_cpu)] / 1000;
        x->share = 1 + APPS / (2 * (i + 2));
        x->replicas = 0;
    }
}

void write_pool(struct sb *out, const struct trial *o)
{
    sb_printf(
        out,
        "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n---\n"
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec:\n"
        "  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: %s, budgets: [{nodes: '%s'}]}\n"
        "  template: {spec: {expireAfter: Never, nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, requirements: [\n"
        "    {key: kubernetes.io/os, operator: In, values: [linux]}, {key: kubernetes.io/arch, operator: In, values: [amd64]},\n"
        "    {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]},\n"
        "    {key: karpenter.kwok.sh/instance-cpu, operator: Lt, values: ['17']}]}}\n---\n",
        o->after, o->budget);
}

void write_app(struct sb *out, const struct app *x, uint32_t ix)
{
    sb_printf(
        out,
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app%u, namespace: default, labels: {app: app%u}}\n"
        "spec: {replicas: %lld, selector: {matchLabels: {app: app%u}}, template: {metadata: {labels: {app: app%u}}, "
        "spec: {containers: [{name: app, image: 'registry.example/app:1', resources: {requests: {cpu: %lldm, memory: %lldMi}}}]}}}\n---\n",
        ix, ix, (long long)x->replicas, ix, ix, (long long)x->cpu_m, (long long)x->memory_mi);
}

const struct cli_env *kwok_env(void)
{
    static const struct provider_source providers[] = {{"kwok", provider_kwok, NULL, NULL}};
    static const struct cli_env env = {.providers = providers, .n_providers = ARRAY_LEN(providers)};

    return &env;
}

/* ---- the bound ---- */

static void decode_all(struct objects *to, str text)
{
    struct err e;
    AUTO(decoder) struct decoder *d = decoder_new(to);
    AUTO(reader) struct reader *r = reader_open_bytes("bench", text, &e);
    const struct tree *t = NULL;

    if (!r)
        die("the workload", e.msg);
    for (;;) {
        if (!reader_next(r, &t, &e))
            die("the workload", e.msg);
        if (!t)
            return;
        if (!k8s_decode(d, t, &e))
            die("the workload", e.msg);
    }
}

double bound_of(const struct trial *o, const struct app apps[APPS], double *ret_fresh)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct syms *syms = syms_new();
    struct objects *objects = objects_new(syms);
    struct settings settings;
    struct sb text = {0};
    struct err e;

    write_pool(&text, o);
    for (uint32_t i = 0; i < APPS; i++)
        write_app(&text, &apps[i], i);
    settings_defaults(&settings);
    decode_all(objects, sb_view(&text));
    const struct catalog *catalog = catalog_builtin(a, syms, STR("kwok"), &e);
    const struct snapshot *s = catalog ? state_build(a, objects, catalog, &settings, 0, &e) : NULL;
    if (!s)
        die("the workload", e.msg);
    struct plan *p = plan_make(a, s);
    plan_add_bound(s, p);
    if (!p->has_bound || p->n_failures)
        die("there is no lower bound", NULL);
    double bound = p->lower_bound;
    *ret_fresh = p->hourly_cost;
    sb_fini(&text);
    objects_free(objects);
    syms_free(syms);
    return bound;
}
