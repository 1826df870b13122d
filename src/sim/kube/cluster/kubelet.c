/* Machines: Node objects, leases, conditions.
 *
 * A kubelet comes with a Node that has the annotation kwok.x-k8s.io/node, or with cluster_boot(); it goes with the Node. Leases are
 * most of what an idle cluster writes, so renewing one writes its spec and reads nothing back. */
#include "sim/kube/cluster/kubelet.h"

#include "sim/kube/cluster/fields.h"

#define LEASE_S 40
#define LEASE_NS "kube-node-lease"

static void stop(struct kubelet *n)
{
    timer_stop(n->all->c->w, &n->boot);
    timer_stop(n->all->c->w, &n->lease);
    timer_stop(n->all->c->w, &n->heartbeat);
}

static void kubelet_free(struct kubelet *n)
{
    stop(n);
    arena_free(n->a);
    free(n);
}

static void drop(struct kubelets *k, struct kubelet *n)
{
    table_take(&k->by_name, n->name);
    for (uint32_t i = 0; i < k->list.n; i++)
        if (k->list.v[i] == n) {
            memmove(&k->list.v[i], &k->list.v[i + 1], (k->list.n - i - 1) * sizeof(n));
            k->list.n--;
            break;
        }
    kubelet_free(n);
}

/* ---- leases ---- */

static struct tree *lease_of(struct kubelet *n)
{
    struct arena *a = n->a;
    struct tree *t = object_new(a, n->all->c->kinds.lease, STR(LEASE_NS), n->name);
    struct tree *owner = tree_push(a, tree_sublist(a, tree_sub(a, t, "metadata"), "ownerReferences"), *tree_new_map(a));
    struct tree *spec = tree_sub(a, t, "spec");

    tree_set_str(a, owner, "apiVersion", STR("v1"));
    tree_set_str(a, owner, "kind", STR("Node"));
    tree_set_str(a, owner, "name", n->name);
    tree_set_str(a, owner, "uid", n->uid);
    tree_set_str(a, spec, "holderIdentity", n->name);
    tree_set_i64(a, spec, "leaseDurationSeconds", LEASE_S);
    tree_set_str(a, spec, "renewTime", STR(""));
    return t;
}

/* The spec without what hangs on its members, which nobody edits. */
static struct tree *spec_of_renewal(const struct kubelet *n, struct arena *a)
{
    struct tree *t = arena_dup_array(a, struct tree, tree_get(n->renewal, "spec"), 1);

    t->items = arena_dup_array(a, struct tree, t->items, t->n);
    t->keys = arena_dup_array(a, str, t->keys, t->n);
    t->cap = t->n;
    return t;
}

static void renew(void *ctx)
{
    struct kubelet *n = ctx;
    struct cluster *c = n->all->c;
    struct arena *a = cluster_begin(c);
    const struct object *o = kube_get(c->k, c->kinds.lease, STR(LEASE_NS), n->name);
    struct tree *t = o ? NULL : tree_copy(a, n->renewal), *spec = spec_of_renewal(n, a);
    struct status st;

    tree_set_str(a, spec, "renewTime", cluster_micro_time(c));
    timer_set(c->w, &n->lease, c->o.lease_renew_ms * 1000);
    if (o) {
        cluster_update_part(c, o, "spec", spec);
        return;
    }
    tree_set(a, t, "spec", *spec);
    kube_create(c->k, a, c->kinds.lease, t, NULL, &st);
}

/* ---- the Node's status ---- */

static str next_address(struct kubelet *n, struct arena *a)
{
    uint32_t host = ++n->all->n_hosts;

    return arena_printf(a, "10.0.%u.%u", host / 254 % 256, host % 254 + 1);
}

static void set_addresses(struct kubelet *n, struct arena *a, struct tree *status)
{
    struct tree *list = tree_sublist(a, status, "addresses");

    if (list->n == 0) {
        str ip = n->ip.n ? n->ip : next_address(n, a);
        struct tree *t = tree_push(a, list, *tree_new_map(a));

        tree_set_str(a, t, "type", STR("InternalIP"));
        tree_set_str(a, t, "address", ip);
        t = tree_push(a, list, *tree_new_map(a));
        tree_set_str(a, t, "type", STR("Hostname"));
        tree_set_str(a, t, "address", n->name);
    }
    for (uint32_t i = 0; i < list->n && n->ip.n == 0; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), "InternalIP"))
            n->ip = arena_strdup(n->a, tree_str(tree_get(&list->items[i], "address")));
}

static void set_capacity(struct kubelet *n, struct arena *a, struct tree *status)
{
    static const char *const names[] = {"capacity", "allocatable"};
    static const char *const def[][2] = {{"cpu", "1k"}, {"memory", "1Ti"}, {"pods", "1M"}};

    for (int i = 0; i < 2; i++) {
        struct tree *t = tree_sub(a, status, names[i]);

        if (t && n->capacity[i])
            strings_merge(a, t, n->capacity[i]);
        if (!t || t->n)
            continue;
        for (size_t k = 0; k < ARRAY_LEN(def); k++)
            tree_set_str(a, t, def[k][0], str_c(def[k][1]));
    }
}

static void set_node_info(struct kubelet *n, struct arena *a, const struct object *o, struct tree *status)
{
    struct cluster *c = n->all->c;
    struct tree *info = tree_sub(a, status, "nodeInfo");
    const char *version = c->o.kubelet_version ? c->o.kubelet_version : "v1.36.3";
    str arch = object_label(o, STR("kubernetes.io/arch")), os = object_label(o, STR("kubernetes.io/os"));
    const struct {
        const char *key;
        str value;
    } facts[] = {
        {"architecture", arch.n ? arch : STR("amd64")},
        {"bootID", n->uid},
        {"containerRuntimeVersion", STR("simulated://1")},
        {"kernelVersion", STR("simulated")},
        {"kubeProxyVersion", STR("")},
        {"kubeletVersion", str_c(version)},
        {"machineID", n->uid},
        {"operatingSystem", os.n ? os : STR("linux")},
        {"osImage", STR("Simulated Linux")},
        {"systemUUID", n->uid},
    };

    for (size_t i = 0; info && i < ARRAY_LEN(facts); i++)
        if (tree_str(tree_get(info, facts[i].key)).n == 0)
            tree_set_str(a, info, facts[i].key, facts[i].value);
}

static void set_conditions(struct kubelet *n, struct arena *a, struct tree *list, str now)
{
    bool up = n->state == KUBELET_UP;
    const struct condition own[] = {
        {.type = STR("MemoryPressure"),
         .status = STR("False"),
         .reason = STR("KubeletHasSufficientMemory"),
         .message = STR("kubelet has sufficient memory available")},
        {.type = STR("DiskPressure"),
         .status = STR("False"),
         .reason = STR("KubeletHasNoDiskPressure"),
         .message = STR("kubelet has no disk pressure")},
        {.type = STR("PIDPressure"),
         .status = STR("False"),
         .reason = STR("KubeletHasSufficientPID"),
         .message = STR("kubelet has sufficient PID available")},
        {.type = STR("Ready"),
         .status = up ? STR("True") : STR("False"),
         .reason = up ? STR("KubeletReady") : STR("KubeletNotReady"),
         .message = up ? STR("kubelet is posting ready status") : STR("container runtime network not ready")},
    };

    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        struct condition c = own[i];

        c.flavour = CONDITION_NODE;
        if (!cond_find(n->said, c.type))
            cond_set(a, list, &c, now);
    }
    for (uint32_t i = 0; i < n->said->n; i++) {
        const struct tree *said = &n->said->items[i];
        struct condition c = {.type = tree_str(tree_get(said, "type")),
                              .status = tree_str(tree_get(said, "status")),
                              .reason = tree_str(tree_get(said, "reason")),
                              .message = tree_str(tree_get(said, "message")),
                              .flavour = CONDITION_NODE};

        cond_set(a, list, &c, now);
    }
    for (uint32_t i = 0; i < list->n; i++)
        tree_set_str(a, &list->items[i], "lastHeartbeatTime", now);
}

/* Writes the whole status as a kubelet does: what it knows, over what is there. */
static void report(struct kubelet *n, struct arena *a)
{
    struct cluster *c = n->all->c;
    const struct object *o = kube_get(c->k, c->kinds.node, (str){0}, n->name);

    if (!o)
        return;
    struct tree *status = kube_part(a, o, "status");
    if (!status)
        status = tree_new_map(a);
    struct tree *port = tree_path(a, status, "daemonEndpoints", "kubeletEndpoint", NULL);
    if (port)
        tree_set_i64(a, port, "Port", 10250);
    set_addresses(n, a, status);
    set_capacity(n, a, status);
    set_node_info(n, a, o, status);
    set_conditions(n, a, tree_sublist(a, status, "conditions"), time_text(a, cluster_now_ms(c)));
    cluster_update_part(c, o, "status", status);
}

static void beat(void *ctx)
{
    struct kubelet *n = ctx;

    timer_set(n->all->c->w, &n->heartbeat, n->all->c->o.heartbeat_ms * 1000);
    report(n, cluster_begin(n->all->c));
}

/* ---- life ---- */

static void on_node_ready(void *ctx)
{
    struct kubelet *n = ctx;

    n->state = KUBELET_UP;
    n->heartbeat.fn = beat;
    beat(n);
    pod_runs_of_node(n->all, n->name);
}

static void join(struct kubelet *n, str uid)
{
    struct cluster *c = n->all->c;

    n->uid = arena_strdup(n->a, uid);
    n->state = KUBELET_STARTING;
    n->renewal = lease_of(n);
    n->heartbeat = (struct timer){.fn = on_node_ready, .ctx = n};
    timer_set(c->w, &n->lease, 0);
    timer_set(c->w, &n->heartbeat, cluster_draw_us(c, c->o.node_ready, 1000));
}

static struct kubelet *kubelet_new(struct kubelets *k, str name)
{
    struct kubelet *n = xcalloc(1, sizeof(*n));

    n->a = arena_new(1024);
    n->name = arena_strdup(n->a, name);
    n->all = k;
    n->said = tree_new_list(n->a);
    n->lease = (struct timer){.fn = renew, .ctx = n};
    table_put(&k->by_name, n);
    vec_push(&k->list, n);
    return n;
}

/* The machine has booted: its kubelet makes the Node. */
static void on_boot(void *ctx)
{
    struct kubelet *n = ctx;
    struct cluster *c = n->all->c;
    struct arena *a = cluster_begin(c);
    const struct object *o = kube_get(c->k, c->kinds.node, (str){0}, n->name);
    struct status st;

    if (!o && !kube_create(c->k, a, c->kinds.node, tree_copy(a, n->node), &o, &st))
        return; /* somebody's rules refuse the Node: the machine never joins */
    join(n, o->uid);
    report(n, a);
}

static void on_node(void *ctx, struct seen *s)
{
    struct kubelets *k = ctx;
    struct kubelet *n = table_get(&k->by_name, seen_object(s)->name);

    if (s->old && n && n->uid.n && (!s->new || !str_eq(s->new->uid, n->uid))) {
        drop(k, n);
        n = NULL;
    }
    if (!s->new || n)
        return;
    const struct tree *annotations = tree_get(seen_part(s, "metadata"), "annotations");
    if (tree_get(annotations, "kwok.x-k8s.io/node"))
        key_add(k->nodes, s->new);
}

static void on_work(void *ctx, str name)
{
    struct kubelets *k = ctx;
    struct kubelet *n = table_get(&k->by_name, name);
    struct arena *a = cluster_begin(k->c);
    const struct object *o = kube_get(k->c->k, k->c->kinds.node, (str){0}, name);

    if (!o)
        return;
    if (!n) {
        n = kubelet_new(k, name);
        join(n, o->uid);
    } else if (n->state == KUBELET_STARTING || n->state == KUBELET_UP) {
        report(n, a);
    }
}

struct kubelets *kubelets_new(struct cluster *c)
{
    struct kubelets *k = xcalloc(1, sizeof(*k));

    k->c = c;
    k->nodes = work_new(c->w, "kubelet-nodes", on_work, k);
    see(c, c->kinds.node, on_node, k);
    pod_runs_init(k);
    kubelet_logs_init(k);
    return k;
}

void kubelets_free(struct kubelets *k)
{
    if (!k)
        return;
    kubelet_logs_fini(k);
    pod_runs_fini(k);
    for (uint32_t i = 0; i < k->list.n; i++)
        kubelet_free(k->list.v[i]);
    vec_fini(&k->list);
    table_fini(&k->by_name);
    work_free(k->nodes);
    free(k);
}

/* ---- cluster.h ---- */

static struct tree *node_of_machine(struct kubelet *n, const struct cluster *c, const struct machine *m)
{
    struct arena *a = n->a;
    struct tree *t = object_new(a, c->kinds.node, (str){0}, n->name), *meta = tree_sub(a, t, "metadata");
    struct tree *labels = tree_sub(a, meta, "labels"), *spec = tree_sub(a, t, "spec");

    tree_set_str(a, labels, "kubernetes.io/hostname", n->name);
    tree_set_str(a, labels, "kubernetes.io/os", STR("linux"));
    tree_set_str(a, labels, "kubernetes.io/arch", STR("amd64"));
    strings_merge(a, labels, m->labels);
    if (m->annotations)
        strings_merge(a, tree_sub(a, meta, "annotations"), m->annotations);
    if (m->provider_id.n)
        tree_set_str(a, spec, "providerID", arena_strdup(a, m->provider_id));
    if (m->taints)
        tree_set(a, spec, "taints", *tree_copy(a, m->taints));
    return t;
}

void cluster_boot(struct cluster *c, const struct machine *m)
{
    struct kubelets *k = c->kubelets;
    struct kubelet *n = table_get(&k->by_name, m->name);

    if (n)
        drop(k, n); /* a machine of that name was there before: this one takes its place */
    n = kubelet_new(k, m->name);
    n->node = node_of_machine(n, c, m);
    n->ip = arena_strdup(n->a, m->ip);
    n->capacity[0] = m->capacity ? tree_copy(n->a, m->capacity) : NULL;
    n->capacity[1] = m->allocatable ? tree_copy(n->a, m->allocatable) : n->capacity[0];
    n->boot = (struct timer){.fn = on_boot, .ctx = n};
    timer_set(c->w, &n->boot, m->boot_ms * 1000);
}

void cluster_power_off(struct cluster *c, str name)
{
    struct kubelet *n = table_get(&c->kubelets->by_name, name);

    if (!n)
        return;
    stop(n);
    if (n->state == KUBELET_BOOTING)
        drop(c->kubelets, n);
    else
        n->state = KUBELET_OFF;
}

void cluster_set_condition(struct cluster *c, str node, const char *type, const char *status, const char *reason,
                           const char *message)
{
    struct kubelet *n = table_get(&c->kubelets->by_name, node);

    if (!n)
        return;
    struct condition said = {.type = arena_strdup(n->a, str_c(type)),
                             .status = arena_strdup(n->a, str_c(status)),
                             .reason = arena_strdup(n->a, str_c(reason)),
                             .message = arena_strdup(n->a, str_c(message))};
    cond_set(n->a, n->said, &said, STR(""));
    work_add(c->kubelets->nodes, n->name);
}
