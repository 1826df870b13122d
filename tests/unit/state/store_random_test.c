/* Random events against a model: whatever order they come in, repeated, late, lost and made good by a new list, the store
 * plans like a snapshot that is built from scratch of the objects as they are, and finds what a search would find. */
#include <stdio.h>

#include "base/rng.h"
#include "cloud/catalog.h"
#include "data/edit.h"
#include "data/reader.h"
#include "disrupt/pass.h"
#include "k8s/decode.h"
#include "model/evict.h"
#include "plan/plan.h"
#include "state/state.h"
#include "support/check.h"
#include "support/cluster_feed.h"
#include "support/plan_dump.h"

#define N_NODES 6
#define N_PODS 40
#define STEPS 400
#define EVERY 8 /* steps between two looks */
#define SEEDS 12

enum slot {
    AT_POOL = 0,
    AT_NODE = 3,
    AT_CLAIM = AT_NODE + N_NODES,
    AT_DAEMON = AT_CLAIM + N_NODES,
    AT_PVC = AT_DAEMON + 2,
    AT_PV = AT_PVC + 4,
    AT_CLASS = AT_PV + 2,
    AT_PDB = AT_CLASS + 2,
    AT_CSI = AT_PDB + 2,
    AT_POD = AT_CSI + N_NODES,
    N_SLOTS = AT_POD + N_PODS
};

struct version {
    str text; /* empty: it is not there */
    uint64_t number;
};

struct sim {
    struct cluster_feed *w;
    struct rng r;
    struct catalog *catalog;
    struct version now[N_SLOTS], before[N_SLOTS];
    uint32_t lives[N_SLOTS]; /* how often it was made */
    uint64_t clock;
    struct sb b;
    struct frame *frame; /* of all plans of the store */
    bool calm;
};

static uint32_t pick(struct sim *m, uint32_t n)
{
    return rng_below(&m->r, n);
}

static bool maybe(struct sim *m, uint32_t percent)
{
    return pick(m, 100) < percent;
}

/* In a calm cluster most machines are whole, so that some may go. */
static bool likely(struct sim *m, uint32_t percent)
{
    return maybe(m, m->calm ? 98 : percent);
}

static enum object_kind kind_at(uint32_t at)
{
    static const struct {
        uint32_t from;
        enum object_kind kind;
    } parts[] = {{AT_POD, OBJ_POD},   {AT_CSI, OBJ_CSINODE},  {AT_PDB, OBJ_PDB},          {AT_CLASS, OBJ_STORAGECLASS},
                 {AT_PV, OBJ_PV},     {AT_PVC, OBJ_PVC},      {AT_DAEMON, OBJ_DAEMONSET}, {AT_CLAIM, OBJ_NODECLAIM},
                 {AT_NODE, OBJ_NODE}, {AT_POOL, OBJ_NODEPOOL}};
    size_t i = 0;

    while (at < parts[i].from)
        i++;
    return parts[i].kind;
}

/* --- objects --------------------------------------------------------------------------------------------------------- */

static void head(struct sim *m, const char *api, const char *kind, uint32_t at, const char *name, uint32_t n)
{
    sb_reset(&m->b);
    sb_printf(
        &m->b,
        "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s%u\",\"uid\":\"u-%u-%u\",\"resourceVersion\":"
        "\"%llu\",\"generation\":%u,\"creationTimestamp\":\"2026-01-15T0%u:00:00Z\"",
        api, kind, name, n, at, m->lives[at], (unsigned long long)m->clock, pick(m, 3), at % 7);
    if (kind_at(at) == OBJ_POD || kind_at(at) == OBJ_DAEMONSET || kind_at(at) == OBJ_PVC || kind_at(at) == OBJ_PDB)
        sb_c(&m->b, ",\"namespace\":\"default\"");
}

#define CLASS_REF "\"nodeClassRef\":{\"group\":\"karpenter.kwok.sh\",\"kind\":\"KWOKNodeClass\",\"name\":\"default\"}"

static void make_pool(struct sim *m, uint32_t at)
{
    head(m, "karpenter.sh/v1", "NodePool", at, "pool", at - AT_POOL);
    sb_printf(&m->b, "},\"spec\":{\"weight\":%u,", likely(m, 90) ? 1 + pick(m, 3) : 1000); /* 1000: cannot be read */
    if (maybe(m, 30))
        sb_printf(&m->b, "\"limits\":{\"cpu\":\"%u\"},", 4 + pick(m, 40));
    sb_c(&m->b, "\"disruption\":{\"consolidateAfter\":\"0s\",\"budgets\":[{\"nodes\":\"100%\"}]},");
    sb_printf(&m->b,
              "\"template\":{\"spec\":{\"requirements\":[]," CLASS_REF "}}},\"status\":{\"conditions\":[{\"type\":"
              "\"Ready\",\"status\":\"%s\"}]}}",
              likely(m, 85) ? "True" : "False");
}

static void make_node(struct sim *m, uint32_t at)
{
    uint32_t n = at - AT_NODE;

    head(m, "v1", "Node", at, "node", n);
    if (!likely(m, 90))
        sb_c(&m->b, ",\"deletionTimestamp\":\"2026-01-15T11:00:00Z\",\"finalizers\":[\"x\"]");
    sb_printf(&m->b,
              ",\"labels\":{\"kubernetes.io/hostname\":\"node%u\",\"topology.kubernetes.io/zone\":\"test-zone-%u\"", n,
              1 + n % 3);
    if (likely(m, 80))
        sb_printf(&m->b, ",\"karpenter.sh/nodepool\":\"pool%u\"", m->calm ? n % 2 : pick(m, 2));
    if (likely(m, 90))
        sb_c(&m->b, ",\"node.kubernetes.io/instance-type\":\"fake-it-3\",\"karpenter.sh/capacity-type\":\"on-demand\"");
    if (likely(m, 80))
        sb_c(&m->b, ",\"karpenter.sh/registered\":\"true\"");
    if (likely(m, 70))
        sb_c(&m->b, ",\"karpenter.sh/initialized\":\"true\"");
    sb_c(&m->b, "}},\"spec\":{");
    if (likely(m, 90))
        sb_printf(&m->b, "\"providerID\":\"id-%u\"", n);
    else
        sb_c(&m->b, "\"unschedulable\":true");
    if (!likely(m, 80))
        sb_c(&m->b, ",\"taints\":[{\"key\":\"node.kubernetes.io/not-ready\",\"effect\":\"NoSchedule\"}]");
    sb_printf(
        &m->b,
        "},\"status\":{\"capacity\":{\"cpu\":\"%u\",\"memory\":\"16Gi\",\"pods\":\"20\"},\"allocatable\":{\"cpu\":"
        "\"4\",\"memory\":\"15Gi\",\"pods\":\"20\"}}}",
        4 + pick(m, 3));
}

static void make_claim(struct sim *m, uint32_t at)
{
    uint32_t n = at - AT_CLAIM;

    head(m, "karpenter.sh/v1", "NodeClaim", at, "claim", n);
    if (!likely(m, 90))
        sb_c(&m->b, ",\"deletionTimestamp\":\"2026-01-15T11:00:00Z\",\"finalizers\":[\"x\"]");
    sb_printf(&m->b,
              ",\"labels\":{\"karpenter.sh/nodepool\":\"pool%u\",\"topology.kubernetes.io/zone\":\"test-zone-%u\"}},",
              m->calm ? n % 2 : pick(m, 2), 1 + n % 3);
    sb_c(&m->b, "\"spec\":{\"requirements\":[]," CLASS_REF
                "},\"status\":{\"capacity\":{\"cpu\":\"5\"},\"allocatable\":{\"cpu\":"
                "\"4\",\"memory\":\"8Gi\",\"pods\":\"20\"}");
    if (likely(m, 85))
        sb_printf(&m->b, ",\"providerID\":\"id-%u\"", n);
    sb_printf(&m->b, ",\"conditions\":[{\"type\":\"Launched\",\"status\":\"%s\"}", likely(m, 60) ? "True" : "Unknown");
    if (likely(m, 70))
        sb_c(&m->b,
             ",{\"type\":\"Initialized\",\"status\":\"True\"},{\"type\":\"Consolidatable\",\"status\":\"True\"}");
    sb_c(&m->b, "]}}");
}

static void make_daemon(struct sim *m, uint32_t at)
{
    head(m, "apps/v1", "DaemonSet", at, "ds", at - AT_DAEMON);
    sb_printf(&m->b,
              "},\"spec\":{\"selector\":{},\"template\":{\"spec\":{%s\"containers\":[{\"name\":\"c\",\"resources\":{"
              "\"requests\":{\"cpu\":\"%um\"}}}]}}}}",
              maybe(m, 30) ? "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                             "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/zone\","
                             "\"operator\":\"In\",\"values\":[\"test-zone-1\"]}]}]}}},"
                           : "",
              100 * (1 + pick(m, 3)));
}

static void make_storage(struct sim *m, uint32_t at)
{
    if (at >= AT_CSI) {
        head(m, "storage.k8s.io/v1", "CSINode", at, "node", at - AT_CSI);
        sb_printf(&m->b, "},\"spec\":{\"drivers\":[{\"name\":\"csi.x\",\"allocatable\":{\"count\":%u}}]}}", pick(m, 3));
    } else if (at >= AT_CLASS) {
        head(m, "storage.k8s.io/v1", "StorageClass", at, "class", at - AT_CLASS);
        sb_printf(
            &m->b,
            ",\"annotations\":{\"storageclass.kubernetes.io/is-default-class\":\"%s\"}},\"provisioner\":\"csi.x\","
            "\"volumeBindingMode\":\"%s\"}",
            maybe(m, 50) ? "true" : "false", maybe(m, 80) ? "WaitForFirstConsumer" : "Immediate");
    } else if (at >= AT_PV) {
        head(m, "v1", "PersistentVolume", at, "pv", at - AT_PV);
        sb_printf(&m->b,
                  "},\"spec\":{\"csi\":{\"driver\":\"csi.x\"},\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"
                  "\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":"
                  "[\"test-zone-%u\"]}]}]}}}}",
                  1 + pick(m, 3));
    } else {
        head(m, "v1", "PersistentVolumeClaim", at, "pvc", at - AT_PVC);
        sb_c(&m->b, ",\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\"}},\"spec\":{");
        if (maybe(m, 30))
            sb_printf(&m->b, "\"volumeName\":\"pv%u\"", pick(m, 2));
        else if (maybe(m, 50))
            sb_printf(&m->b, "\"storageClassName\":\"class%u\"", pick(m, 2));
        sb_c(&m->b, "}}");
    }
}

static void make_pdb(struct sim *m, uint32_t at)
{
    head(m, "policy/v1", "PodDisruptionBudget", at, "pdb", at - AT_PDB);
    sb_printf(&m->b,
              "},\"spec\":{\"maxUnavailable\":%u,\"selector\":{\"matchLabels\":{\"app\":\"a%u\"}}},\"status\":{"
              "\"disruptionsAllowed\":%u}}",
              pick(m, 2), pick(m, 3), pick(m, 2));
}

static void pod_status(struct sim *m, bool bound, bool daemon)
{
    if (bound)
        sb_printf(&m->b, "\"status\":{\"phase\":\"%s\",\"startTime\":\"2026-01-15T11:59:00Z\"}}",
                  maybe(m, 80)   ? "Running"
                  : maybe(m, 50) ? "Succeeded"
                                 : "Failed");
    else
        sb_printf(&m->b, "\"status\":{\"phase\":\"Pending\"%s}}",
                  daemon ? ""
                         : ",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":"
                           "\"Unschedulable\"}]");
}

static void make_pod(struct sim *m, uint32_t at)
{
    uint32_t n = at - AT_POD, app = pick(m, 3);
    bool daemon = n < 8, bound = maybe(m, daemon ? 95 : 60);

    head(m, "v1", "Pod", at, "pod", n);
    if (bound && maybe(m, 10))
        sb_c(&m->b, ",\"deletionTimestamp\":\"2026-01-15T12:00:10Z\"");
    if (maybe(m, 10))
        sb_printf(&m->b, ",\"annotations\":{\"karpenter.sh/do-not-disrupt\":\"%s\"}", maybe(m, 50) ? "true" : "30s");
    sb_printf(&m->b,
              ",\"labels\":{\"app\":\"a%u\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"%s\",\"name\":"
              "\"%s%u\",\"controller\":true}]},\"spec\":{",
              app, daemon ? "DaemonSet" : "StatefulSet", daemon ? "ds" : "sts", app % 2);
    if (bound)
        sb_printf(&m->b, "\"nodeName\":\"node%u\",", pick(m, N_NODES));
    if (!daemon && maybe(m, 20))
        sb_printf(
            &m->b,
            "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
            "\"topologyKey\":\"kubernetes.io/hostname\",\"labelSelector\":{\"matchLabels\":{\"app\":\"a%u\"}}}]}},",
            app);
    if (!daemon && maybe(m, 20))
        sb_printf(&m->b,
                  "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"topology.kubernetes.io/zone\","
                  "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{\"app\":\"a%u\"}}}],",
                  app);
    if (!daemon && maybe(m, 10)) /* words that nobody has used before */
        sb_printf(&m->b, "\"nodeSelector\":{\"team-%u\":\"t%u\"},", pick(m, 3), pick(m, 40));
    if (!daemon && maybe(m, 20))
        sb_printf(&m->b, "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"pvc%u\"}}],",
                  pick(m, 5));
    sb_printf(&m->b,
              "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%um\",\"memory\":\"256Mi\"",
              250 * (1 + pick(m, 4)));
    if (!daemon && maybe(m, 5))
        sb_printf(&m->b, ",\"example.com/gadget-%u\":\"%u\"", pick(m, 6), 1 + pick(m, 2));
    sb_c(&m->b, "}}}]},");
    pod_status(m, bound, daemon);
}

static str make(struct sim *m, uint32_t at)
{
    enum object_kind kind = kind_at(at);

    if (kind == OBJ_POD)
        make_pod(m, at);
    else if (kind == OBJ_NODEPOOL)
        make_pool(m, at);
    else if (kind == OBJ_NODE)
        make_node(m, at);
    else if (kind == OBJ_NODECLAIM)
        make_claim(m, at);
    else if (kind == OBJ_DAEMONSET)
        make_daemon(m, at);
    else if (kind == OBJ_PDB)
        make_pdb(m, at);
    else
        make_storage(m, at);
    return sb_dup(&m->b, m->w->a);
}

/* --- events ---------------------------------------------------------------------------------------------------------- */

static const struct tree *parsed(struct sim *m, str text)
{
    const struct tree *t;
    struct err e;

    check_ok("json", tree_parse_json(m->w->a, "object", text, &t, &e), &e);
    return t;
}

static void change_it(struct sim *m, uint32_t at)
{
    m->clock++;
    m->before[at] = m->now[at];
    if (m->now[at].text.n == 0)
        m->lives[at]++;
    m->now[at] = (struct version){make(m, at), m->clock};
}

static void tell(struct sim *m, uint32_t at)
{
    feed_put(m->w->f, kind_at(at), parsed(m, m->now[at].text));
}

static void remove_it(struct sim *m, uint32_t at, bool told)
{
    m->clock++;
    if (told && m->now[at].text.n) {
        str name = tree_str(tree_at(parsed(m, m->now[at].text), "metadata", "name", NULL));
        str ns = tree_str(tree_at(parsed(m, m->now[at].text), "metadata", "namespace", NULL));

        store_remove(m->w->s, kind_at(at), ns, name, m->clock);
    }
    m->before[at] = m->now[at];
    m->now[at] = (struct version){{0}, m->clock};
}

static void list_again(struct sim *m, enum object_kind kind)
{
    store_list_begin(m->w->s, kind, (str){0});
    for (uint32_t at = 0; at < N_SLOTS; at++)
        if (kind_at(at) == kind && m->now[at].text.n)
            tell(m, at);
    store_list_end(m->w->s, kind, (str){0});
}

static void step(struct sim *m)
{
    uint32_t at = pick(m, N_SLOTS), what = pick(m, 100);

    if (what < 60) {
        change_it(m, at);
        tell(m, at);
    } else if (what < 75) {
        remove_it(m, at, /* told= */ true);
    } else if (what < 82) { /* again */
        if (m->now[at].text.n)
            tell(m, at);
    } else if (what < 90) { /* late: only what is not a recreation makes sense to a watch */
        if (m->before[at].text.n && m->now[at].text.n)
            feed_put(m->w->f, kind_at(at), parsed(m, m->before[at].text));
    } else { /* changes that nobody heard of, then a new list */
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t lost = pick(m, N_SLOTS);

            if (kind_at(lost) != kind_at(at))
                continue;
            if (maybe(m, 50))
                change_it(m, lost);
            else
                remove_it(m, lost, /* told= */ false);
        }
        list_again(m, kind_at(at));
    }
}

/* --- comparison ------------------------------------------------------------------------------------------------------ */

static void put_pods(struct sb *b, const struct snapshot *s, const uint32_t *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        sb_printf(b, " " STR_FMT, STR_ARG(s->pods[v[i]].name));
    sb_char(b, '\n');
}

static int by_name(const void *a, const void *b, void *ctx)
{
    const struct state_node *const *x = a, *const *y = b;

    (void)ctx;
    return str_cmp((*x)->name, (*y)->name);
}

static int by_pod_name(const void *a, const void *b, void *ctx)
{
    const struct snapshot *s = ctx;

    return str_cmp(s->pods[*(const uint32_t *)a].name, s->pods[*(const uint32_t *)b].name);
}

static void put_sorted(struct sb *b, const struct snapshot *s, const uint32_t *v, uint32_t n, struct arena *a)
{
    uint32_t *own = arena_dup_array(a, uint32_t, v, n);

    sort_stable(own, n, sizeof(*own), by_pod_name, (void *)(uintptr_t)s);
    put_pods(b, s, own, n);
}

static void dump_nodes(struct sb *b, const struct snapshot *s, struct arena *a)
{
    const struct state_node **v = arena_new_array(a, const struct state_node *, s->n_nodes);

    for (uint32_t i = 0; i < s->n_nodes; i++)
        v[i] = &s->nodes[i];
    sort_stable(v, s->n_nodes, sizeof(*v), by_name, NULL);
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        sb_printf(b, "machine " STR_FMT " pool " STR_FMT " %s%s taints %u ", STR_ARG(v[i]->name),
                  STR_ARG(sym_str(s->syms, v[i]->pool)), v[i]->deleting ? "deleting " : "",
                  v[i]->initialized ? "initialized" : "", v[i]->taints.n);
        reslist_print_json(b, s->syms, &v[i]->capacity);
        reslist_print_json(b, s->syms, &v[i]->allocatable);
        reslist_print_json(b, s->syms, &v[i]->requests);
        reslist_print_json(b, s->syms, &v[i]->daemon_requests);
        put_sorted(b, s, v[i]->pods, v[i]->n_pods, a);
    }
}

static void dump_claim(struct sb *b, const struct snapshot *s, const struct plan_claim *c)
{
    sb_printf(b, "claim " STR_FMT " type %u price %.17g ", STR_ARG(s->pools[c->pool].name), c->type,
              c->price_usd_per_h);
    for (uint32_t i = 0; i < c->n_reqs; i++) {
        sb_printf(b, STR_FMT " %s", STR_ARG(sym_str(s->syms, c->reqs[i].key)), req_op_name(c->reqs[i].op));
        for (uint32_t k = 0; k < c->reqs[i].n_vals; k++)
            sb_printf(b, " " STR_FMT, STR_ARG(c->reqs[i].vals[k]));
        sb_c(b, "; ");
    }
    reslist_print_json(b, s->syms, &c->requests);
    put_pods(b, s, c->pods, c->n_pods);
}

static str dump(struct arena *a, const struct snapshot *s, struct frame *f)
{
    struct plan *p = plan_make_in(f, a, s);
    struct sb b = {0};

    dump_nodes(&b, s, a);
    sb_c(&b, "pending");
    put_sorted(&b, s, s->pending, s->n_pending - s->n_moving, a);
    sb_c(&b, "moving");
    put_sorted(&b, s, s->pending + s->n_pending - s->n_moving, s->n_moving, a);
    sb_printf(&b, "refused %u\n", s->n_refused);
    for (uint32_t i = 0; i < p->n_claims; i++)
        dump_claim(&b, s, &p->claims[i]);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        sb_printf(&b, "on " STR_FMT, STR_ARG(s->nodes[p->nodes[i].node].name));
        put_pods(&b, s, p->nodes[i].pods, p->nodes[i].n_pods);
    }
    plan_sort_failures(s, p);
    for (uint32_t i = 0; i < p->n_failures; i++)
        sb_printf(&b, "failed " STR_FMT " " STR_FMT "\n", STR_ARG(s->pods[p->failures[i].pod].name),
                  STR_ARG(p->failures[i].why->reason));
    str ret = sb_dup(&b, a);
    sb_fini(&b);
    return ret;
}

/* What would be removed, and why the rest stays. */
static str dump_removals(struct arena *a, const struct snapshot *s, struct frame *f)
{
    static const enum disrupt_method methods[] = {METHOD_EMPTINESS, METHOD_DRIFT, METHOD_MULTI, METHOD_SINGLE};
    struct sb b = {0};

    for (uint32_t m = 0; m < ARRAY_LEN(methods); m++) {
        const struct pass *p = disrupt_pass(a, s, &(struct pass_options){.method = methods[m], .frame = f});

        for (uint32_t i = 0; i < p->n_commands; i++) {
            const struct disrupt_command *c = &p->commands[i];

            sb_printf(&b, "command %.17g", c->savings);
            for (uint32_t k = 0; k < c->n_nodes; k++)
                sb_printf(&b, " " STR_FMT, STR_ARG(s->nodes[c->nodes[k]].name));
            for (uint32_t k = 0; k < c->n_claims; k++)
                dump_claim(&b, s, &c->claims[k]);
            for (uint32_t k = 0; k < c->n_moves; k++)
                sb_printf(&b, " %u>%u/%u", c->moves[k].pod, c->moves[k].node, c->moves[k].claim);
        }
        for (uint32_t i = 0; i < p->n_remarks; i++)
            sb_printf(&b, "remark %u " STR_FMT "\n", p->remarks[i].node, STR_ARG(p->remarks[i].text));
    }
    str ret = sb_dup(&b, a);
    sb_fini(&b);
    return ret;
}

static struct snapshot *from_scratch(struct sim *m, struct arena *a, struct objects *o)
{
    const struct settings st = {0};
    struct err e;
    AUTO(decoder) struct decoder *d = decoder_new(o);

    for (uint32_t at = 0; at < N_SLOTS; at++)
        if (m->now[at].text.n && !k8s_decode(d, parsed(m, m->now[at].text), &e))
            check_true("only pools cannot be read", kind_at(at) == OBJ_NODEPOOL);
    struct snapshot *s = state_build(a, o, m->catalog, &st, FEED_NOW_MS, &e);
    check_ok("build", s != NULL, &e);
    return s;
}

static void check_usage(struct sim *m, struct arena *a, const struct snapshot *want, const char *pool)
{
    struct reslist sum = {0}, got = store_pool_usage(m->w->s, str_c(pool));
    struct sb x = {0}, y = {0};

    for (uint32_t i = 0; i < want->n_nodes; i++)
        if (!want->nodes[i].deleting && str_is(sym_str(want->syms, want->nodes[i].pool), pool))
            reslist_add(a, &sum, &want->nodes[i].capacity);
    reslist_print_json(&x, m->w->t, &got);
    reslist_print_json(&y, m->w->t, &sum);
    check_str(pool, sb_view(&x), sb_cstr(&y));
    sb_fini(&x);
    sb_fini(&y);
}

static void check_lookups(struct sim *m, const struct objects *o)
{
    struct store *s = m->w->s;
    uint32_t unlaunched = 0, pods = 0;

    for (uint32_t n = 0; n < N_NODES; n++) {
        char name[16], id[16];
        uint32_t on = 0, nodes = 0, claims = 0;

        (void)snprintf(name, sizeof(name), "node%u", n);
        (void)snprintf(id, sizeof(id), "id-%u", n);
        for (uint32_t i = 0; i < o->pods.n; i++)
            on += str_is(sym_str(o->syms, o->pods.v[i].node), name);
        for (uint32_t i = 0; i < o->nodes.n; i++)
            nodes += str_is(o->nodes.v[i].provider_id, id);
        for (uint32_t i = 0; i < o->claims.n; i++)
            claims += str_is(o->claims.v[i].provider_id, id);
        check_i64("pods on a node", store_pods_on(s, str_c(name)).n, on);
        check_i64("nodes by id", store_nodes_by_id(s, str_c(id)).n, nodes);
        check_i64("claims by id", store_claims_by_id(s, str_c(id)).n, claims);
    }
    for (uint32_t i = 0; i < o->claims.n; i++)
        unlaunched += o->claims.v[i].provider_id.n == 0;
    if (unlaunched)
        check_true("not synced", !store_synced(s));
    for (uint32_t i = 0; i < o->pods.n; i++) {
        const struct pod *p = store_pod(s, STR("default"), o->pods.v[i].name);

        check_true("pod", p && uid_eq(p->uid, o->pods.v[i].uid) && p->phase == o->pods.v[i].phase);
        pods++;
    }
    check_i64("all pods", store_pod_count(s), pods);
    check_i64("all nodes", store_names(s, OBJ_NODE).n, o->nodes.n);
}

static void look(struct sim *m, uint64_t seed, uint32_t steps)
{
    AUTO(arena) struct arena *a = arena_new(0);
    AUTO(objects) struct objects *o = objects_new(m->w->t);
    const struct settings st = {0};
    struct snapshot *want = from_scratch(m, a, o), *now = store_snapshot(m->w->s, &st, m->catalog, FEED_NOW_MS);
    str x = dump(a, now, m->frame), y = dump(a, want, NULL), dx, dy;

    if (!str_eq(x, y)) {
        text_difference(x, y, &dx, &dy);
        fail_msg("seed %llu, step %u:\nstore   " STR_FMT "\nscratch " STR_FMT, (unsigned long long)seed, steps,
                 STR_ARG(dx), STR_ARG(dy));
    }
    check_usage(m, a, want, "pool0");
    str removals = dump_removals(a, now, NULL);
    check_true("removals", str_eq(dump_removals(a, now, m->frame), removals));
    check_usage(m, a, want, "pool1");
    check_lookups(m, o);
}

static void sim_init(struct sim *m, uint64_t seed)
{
    struct err e;
    void *w;

    (void)cluster_feed_setup(&w);
    *m = (struct sim){.w = w, .frame = frame_new(), .calm = seed % 2};
    rng_init(&m->r, seed);
    m->catalog = catalog_builtin(m->w->a, m->w->t, STR("fake:12"), &e);
}

static void sim_fini(struct sim *m)
{
    void *w = m->w;

    sb_fini(&m->b);
    frame_free(m->frame);
    (void)cluster_feed_teardown(&w);
}

static void plans_as_from_scratch(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sim m;

        sim_init(&m, seed);
        for (uint32_t i = 1; i <= STEPS; i++) {
            step(&m);
            if (i % EVERY == 0)
                look(&m, seed, i);
        }
        sim_fini(&m);
    }
}

/* Pods of jobs that come and go, each with labels, an owner and a claim of its own. */
static void churn(struct sim *m, uint32_t n)
{
    static const char pod[] =
        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"job\",\"namespace\":\"default\",\"uid\":\"u\","
        "\"labels\":{\"run\":\"\"},\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\","
        "\"name\":\"\",\"controller\":true}]},\"spec\":{\"containers\":[],\"volumes\":[{\"name\":\"v\","
        "\"persistentVolumeClaim\":{\"claimName\":\"\"}}]}}";
    struct tree *t = tree_copy(m->w->a, parsed(m, STR(pod)));
    struct tree *label = (struct tree *)(uintptr_t)tree_at(t, "metadata", "labels", "run", NULL);
    struct tree *owners = (struct tree *)(uintptr_t)tree_at(t, "metadata", "ownerReferences", NULL);
    struct tree *volumes = (struct tree *)(uintptr_t)tree_at(t, "spec", "volumes", NULL);
    struct tree *owner = tree_find(&owners->items[0], STR("name"));
    struct tree *claim = tree_find(tree_find(&volumes->items[0], STR("persistentVolumeClaim")), STR("claimName"));
    const struct settings st = {0};

    for (uint32_t i = 0; i < n; i++) {
        char text[3][32];

        for (uint32_t k = 0; k < 3; k++)
            (void)snprintf(text[k], sizeof(text[k]), "%c-%llu", (int)('x' + k), (unsigned long long)++m->clock);
        label->text = str_c(text[0]);
        owner->text = str_c(text[1]);
        claim->text = str_c(text[2]);
        feed_put(m->w->f, OBJ_POD, t);
        store_remove(m->w->s, OBJ_POD, STR("default"), STR("job"), 0);
        if (i % 500 == 0)
            (void)store_snapshot(m->w->s, &st, m->catalog, FEED_NOW_MS);
    }
}

static void sweeps_lose_nothing_that_is_there(void **state)
{
    struct sim m;

    (void)state;
    sim_init(&m, 99);
    for (uint32_t i = 1; i <= 5; i++) {
        for (uint32_t k = 0; k < 100; k++)
            step(&m);
        churn(&m, 16000);
        look(&m, 99, i);
        check_true("few symbols", syms_count(m.w->t) < 70000 && lsets_count(m.w->t) < 30000);
        check_true("no specs are left over", podspecs_count(store_specs(m.w->s)) < 60);
    }
    sim_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_as_from_scratch),
                                       cmocka_unit_test(sweeps_lose_nothing_that_is_there)};

    return cmocka_run_group_tests_name("state/store_random", tests, NULL, NULL);
}
