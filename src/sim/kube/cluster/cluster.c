/* Puts the parts together, and what they share: seeing changes, keys, simple writes. */
#include <stdarg.h>
#include <stdio.h>

#include "sim/kube/cluster/fields.h"
#include "sim/kube/cluster/parts.h"
#include "sim/kube/cluster/readings.h"

#define SCRATCH ((size_t)256 << 10) /* what one piece of work takes, but for bursts: the block is kept */

/* ---- seeing ---- */

struct sight {
    struct cluster *c;
    seen_fn fn;
    void *ctx;
};

const struct tree *seen_tree(struct seen *s)
{
    if (s->change)
        return s->new ? change_new(s->change) : change_old(s->change);
    if (!s->tree)
        s->tree = kube_tree(s->a, s->new);
    return s->tree;
}

const struct tree *seen_part(struct seen *s, const char *name)
{
    return s->change ? change_part(s->change, name) : tree_get(seen_tree(s), name);
}

bool seen_only(const struct seen *s, const char *name)
{
    return s->change && str_is(s->change->only, name);
}

static void on_change(void *ctx, const struct change *change)
{
    struct sight *sight = ctx;
    struct seen s = {.old = change->old, .new = change->new, .change = change};

    sight->fn(sight->ctx, &s);
}

static void on_present(void *ctx, const struct object *o)
{
    struct sight *sight = ctx;
    struct arena *a = sight->c->scratch;
    struct arena_mark m = arena_mark(a);
    struct seen s = {.new = o, .a = a};

    sight->fn(sight->ctx, &s);
    arena_rewind(a, m);
}

void see(struct cluster *c, const struct kind *kind, seen_fn fn, void *ctx)
{
    struct sight *s = xmalloc(sizeof(*s));

    *s = (struct sight){c, fn, ctx};
    vec_push(&c->sights, s);
    kube_each(c->k, kind, (str){0}, on_present, s);
    kube_subscribe(c->k, kind, on_change, s);
}

/* ---- time and chance ---- */

struct arena *cluster_begin(struct cluster *c)
{
    arena_reset(c->scratch);
    return c->scratch;
}

int64_t cluster_now_ms(const struct cluster *c)
{
    return world_now_ms(c->w);
}

/* Leases are written all the time: what is the same for a second is made once. */
str cluster_micro_time(struct cluster *c)
{
    int64_t ms = cluster_now_ms(c), at = ms / 1000;
    char *text = arena_new_array(c->scratch, char, 28);

    if (at != c->second_at) {
        str s = time_text(c->scratch, ms);

        memcpy(c->second, s.p, MIN(s.n - 1, sizeof(c->second)));
        c->second_at = at;
    }
    memcpy(text, c->second, 19);
    memcpy(text + 19, ".000000Z", 8);
    text[20] = (char)('0' + ms / 100 % 10);
    text[21] = (char)('0' + ms / 10 % 10);
    text[22] = (char)('0' + ms % 10);
    return (str){text, 27};
}

int64_t cluster_draw_us(struct cluster *c, struct span s, int64_t def_ms)
{
    if (s.from_ms == 0 && s.to_ms == 0)
        s.from_ms = s.to_ms = def_ms;
    int64_t us = s.from_ms * 1000, width = (s.to_ms - s.from_ms) * 1000;

    if (width > 0)
        us += (int64_t)(world_random(c->w) % (uint64_t)width);
    return (int64_t)((double)us / c->o.speed);
}

/* ---- keys ---- */

str key_of(struct arena *a, str ns, str name)
{
    if (ns.n == 0)
        return arena_strdup(a, name);
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name));
}

/* Names and namespaces have at most 253 characters. */
static str key_in(char *buf, size_t size, str ns, str name)
{
    size_t n = 0;

    assert(ns.n + 1 + name.n <= size);
    if (ns.n) {
        memcpy(buf, ns.p, ns.n);
        n = ns.n;
        buf[n++] = '/';
    }
    memcpy(buf + n, name.p, name.n);
    return (str){buf, n + name.n};
}

void key_add_name(struct work *q, str ns, str name)
{
    char buf[600];

    work_add(q, key_in(buf, sizeof(buf), ns, name));
}

void key_add_name_after(struct work *q, str ns, str name, int64_t us)
{
    char buf[600];

    work_add_after(q, key_in(buf, sizeof(buf), ns, name), us);
}

void key_add(struct work *q, const struct object *o)
{
    key_add_name(q, o->ns, o->name);
}

void key_split(str key, str *ret_ns, str *ret_name)
{
    str head, tail;

    if (str_cut(key, '/', &head, &tail)) {
        *ret_ns = head;
        *ret_name = tail;
    } else {
        *ret_ns = (str){0};
        *ret_name = key;
    }
}

const struct object *key_get(struct cluster *c, const struct kind *kind, str key)
{
    str ns, name;

    key_split(key, &ns, &name);
    return kube_get(c->k, kind, ns, name);
}

/* ---- writes ---- */

bool cluster_update(struct cluster *c, const struct kind *kind, const char *sub, struct tree *obj)
{
    struct status st;

    return kube_update(c->k, c->scratch, kind, sub, obj, NULL, &st);
}

bool cluster_update_part(struct cluster *c, const struct object *o, const char *name, struct tree *part)
{
    struct status st;

    return kube_update_part(c->k, c->scratch, o, name, part, NULL, &st);
}

bool cluster_delete(struct cluster *c, const struct object *o, int64_t grace_s)
{
    struct status st;
    struct delete_options d = {.grace_s = grace_s, .uid = o->uid};

    return kube_delete(c->k, c->scratch, o->kind, o->ns, o->name, &d, &st);
}

void cluster_event(struct cluster *c, const struct object *about, const char *component, const char *type,
                   const char *reason, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    if (c->o.lean)
        return;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    kube_event(c->k, about, component, type, reason, (str){text, (size_t)MIN(MAX(n, 0), (int)sizeof(text) - 1)});
}

/* ---- the whole ---- */

static void find_kinds(struct cluster *c)
{
    struct kinds *k = &c->kinds;
    const struct {
        const struct kind **to;
        const char *group, *name;
    } wanted[] = {
        {&k->namespace_, "", "Namespace"},
        {&k->service_account, "", "ServiceAccount"},
        {&k->config_map, "", "ConfigMap"},
        {&k->pod, "", "Pod"},
        {&k->node, "", "Node"},
        {&k->lease, "coordination.k8s.io", "Lease"},
        {&k->claim, "", "PersistentVolumeClaim"},
        {&k->volume, "", "PersistentVolume"},
        {&k->storage_class, "storage.k8s.io", "StorageClass"},
        {&k->csi_node, "storage.k8s.io", "CSINode"},
        {&k->attachment, "storage.k8s.io", "VolumeAttachment"},
        {&k->deployment, "apps", "Deployment"},
        {&k->replica_set, "apps", "ReplicaSet"},
        {&k->stateful_set, "apps", "StatefulSet"},
        {&k->daemon_set, "apps", "DaemonSet"},
        {&k->revision, "apps", "ControllerRevision"},
        {&k->job, "batch", "Job"},
        {&k->cron_job, "batch", "CronJob"},
        {&k->budget, "policy", "PodDisruptionBudget"},
        {&k->cluster_role, "rbac.authorization.k8s.io", "ClusterRole"},
    };

    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        *wanted[i].to = kube_kind(c->k, str_c(wanted[i].group), str_c(wanted[i].name));
        assert(*wanted[i].to);
    }
}

struct cluster *cluster_new(struct kube *k, const struct cluster_options *o)
{
    struct cluster *c = xcalloc(1, sizeof(*c));

    c->k = k;
    c->w = kube_world(k);
    c->o = *o;
    if (c->o.speed <= 0)
        c->o.speed = 1;
    if (c->o.lease_renew_ms == 0)
        c->o.lease_renew_ms = 10000;
    if (c->o.node_grace_ms == 0)
        c->o.node_grace_ms = 40000;
    if (c->o.heartbeat_ms == 0)
        c->o.heartbeat_ms = 300000;
    c->scratch = arena_new(SCRATCH);
    find_kinds(c);
    c->pods = pods_new(c); /* first: the others look pods up when they are told of changes */
    c->readings = readings_new(c);
    c->accounts = accounts_new(c);
    c->roles = roles_new(c);
    c->nodelife = nodelife_new(c);
    c->kubelets = kubelets_new(c);
    c->podgc = podgc_new(c);
    c->scheduler = scheduler_new(c); /* knows nodes and volumes for others too, even if it decides nothing */
    c->volumes = volumes_new(c);
    if (!c->o.no_workloads) {
        c->deployments = deployments_new(c);
        c->replica_sets = replica_sets_new(c);
        c->stateful_sets = stateful_sets_new(c);
        c->daemon_sets = daemon_sets_new(c);
        c->jobs = jobs_new(c);
        c->cron_jobs = cron_jobs_new(c);
        c->budgets = budgets_new(c);
    }
    return c;
}

void cluster_free(struct cluster *c)
{
    if (!c)
        return;
    budgets_free(c->budgets);
    cron_jobs_free(c->cron_jobs);
    jobs_free(c->jobs);
    daemon_sets_free(c->daemon_sets);
    stateful_sets_free(c->stateful_sets);
    replica_sets_free(c->replica_sets);
    deployments_free(c->deployments);
    volumes_free(c->volumes);
    scheduler_free(c->scheduler);
    podgc_free(c->podgc);
    kubelets_free(c->kubelets);
    nodelife_free(c->nodelife);
    roles_free(c->roles);
    accounts_free(c->accounts);
    readings_free(c->readings);
    pods_free(c->pods);
    for (uint32_t i = 0; i < c->sights.n; i++)
        free(c->sights.v[i]);
    vec_fini(&c->sights);
    arena_free(c->scratch);
    free(c);
}
