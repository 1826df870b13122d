/* Claims and volumes: binding what is there, making what is not, letting go of what is no longer wanted. */
#include "sim/kube/cluster/volumes.h"

#include "sim/kube/cluster/amounts.h"
#include "sim/kube/cluster/sched.h"

#define COMPONENT "persistentvolume-controller"
#define RETRY_US 15000000ll
#define PROVISION_US 1000000ll
#define BOUND_BY "pv.kubernetes.io/bound-by-controller"

/* ---- binding ---- */

static str class_of(const struct tree *claim)
{
    return tree_str(tree_at(claim, "spec", "storageClassName", NULL));
}

static bool modes_cover(const struct tree *have, const struct tree *want)
{
    for (uint32_t i = 0; want && i < want->n; i++)
        if (!list_has(have, tree_str(&want->items[i])))
            return false;
    return true;
}

struct search {
    struct subject *s;
    str node;                  /* must be reachable from here; empty: anywhere */
    const struct object *best; /* referenced */
    str size;
};

static void consider(void *ctx, const struct object *o)
{
    struct search *x = ctx;
    struct subject *s = x->s;
    struct tree *t = kube_tree(s->a, o);
    const struct tree *spec = tree_get(t, "spec"), *ref = tree_get(spec, "claimRef");
    str phase = tree_str(tree_at(t, "status", "phase", NULL)),
        size = tree_str(tree_at(spec, "capacity", "storage", NULL));
    bool mine = ref && str_eq(tree_str(tree_get(ref, "name")), s->o->name) &&
                str_eq(tree_str(tree_get(ref, "namespace")), s->o->ns);
    str wanted = tree_str(tree_get(s->spec, "volumeName"));

    if (o->deleted_ms || (ref && !mine) || str_is(phase, "Released") || str_is(phase, "Failed"))
        return;
    if (wanted.n ? !str_eq(wanted, o->name) : !str_eq(tree_str(tree_get(spec, "storageClassName")), class_of(s->t)))
        return;
    if (amount_cmp(size, tree_scalar(tree_at(s->spec, "resources", "requests", "storage", NULL))) < 0 ||
        !modes_cover(tree_get(spec, "accessModes"), tree_get(s->spec, "accessModes")))
        return;
    if (x->node.n && !sched_volume_reaches(scheduler_state(s->c->scheduler), o->name, x->node))
        return;
    if (x->best && !mine && amount_cmp(size, x->size) >= 0)
        return; /* the smallest that is large enough */
    if (x->best)
        object_unref(x->best);
    x->best = o;
    x->size = arena_strdup(s->a, size);
    object_ref(o);
}

static void bind_volume(struct subject *s, const struct object *pv)
{
    struct arena *a = s->a;
    struct tree *t = kube_tree(a, pv), *ref = tree_path(a, t, "spec", "claimRef", NULL);

    if (!tree_str(tree_get(ref, "uid")).n) {
        tree_set_str(a, ref, "kind", STR("PersistentVolumeClaim"));
        tree_set_str(a, ref, "apiVersion", STR("v1"));
        tree_set_str(a, ref, "namespace", s->o->ns);
        tree_set_str(a, ref, "name", s->o->name);
        tree_set_str(a, ref, "uid", s->o->uid);
        tree_set_str(a, ref, "resourceVersion", arena_printf(a, "%llu", (unsigned long long)s->o->rv));
        tree_set_str(a, tree_path(a, t, "metadata", "annotations", NULL), BOUND_BY, STR("yes"));
        cluster_update(s->c, s->c->kinds.volume, NULL, t);
        pv = kube_get(s->c->k, s->c->kinds.volume, (str){0}, pv->name);
        if (!pv)
            return;
        t = kube_tree(a, pv);
    }
    struct tree *status = tree_sub(a, t, "status");
    tree_set_str(a, status, "phase", STR("Bound"));
    tree_set_str(a, status, "lastPhaseTransitionTime", s->now);
    cluster_update(s->c, s->c->kinds.volume, "status", t);
}

static void bind_claim(struct subject *s, const struct object *pv)
{
    struct arena *a = s->a;
    struct tree *annotations = tree_path(a, s->t, "metadata", "annotations", NULL), *volume = kube_tree(a, pv);
    bool chosen = tree_str(tree_get(s->spec, "volumeName")).n == 0;

    bind_volume(s, pv);
    tree_set_str(a, tree_sub(a, s->t, "spec"), "volumeName", pv->name);
    tree_set_str(a, annotations, "pv.kubernetes.io/bind-completed", STR("yes"));
    if (chosen)
        tree_set_str(a, annotations, BOUND_BY, STR("yes"));
    if (!tree_at(volume, "metadata", "annotations", "pv.kubernetes.io/provisioned-by", NULL))
        tree_drop(annotations, STR("volume.kubernetes.io/selected-node")); /* only those who make volumes ask for it */
    cluster_update(s->c, s->c->kinds.claim, NULL, tree_copy(a, s->t));
    tree_set_str(a, s->status, "phase", STR("Bound"));
    tree_set(a, s->status, "accessModes", *tree_copy(a, tree_at(volume, "spec", "accessModes", NULL)));
    tree_set(a, s->status, "capacity", *tree_copy(a, tree_at(volume, "spec", "capacity", NULL)));
    subject_write_status(s);
}

/* ---- making volumes ---- */

static void require(struct arena *a, struct tree *pv, str key, str value)
{
    struct tree *terms =
        tree_sublist(a, tree_path(a, pv, "spec", "nodeAffinity", "required", NULL), "nodeSelectorTerms");
    struct tree *term = terms->n ? &terms->items[0] : tree_push(a, terms, *tree_new_map(a));
    struct tree *expr = tree_push(a, tree_sublist(a, term, "matchExpressions"), *tree_new_map(a));

    tree_set_str(a, expr, "key", key);
    tree_set_str(a, expr, "operator", STR("In"));
    tree_push(a, tree_sublist(a, expr, "values"), tree_of_str(value));
}

/* Where the new volume can be reached from: the topology of the selected node, in the keys that the class or the driver use. */
static void set_topology(struct subject *s, struct tree *pv, const struct tree *class, const struct object *node)
{
    const struct tree *allowed = tree_get(class, "allowedTopologies");
    const struct tree *exprs = allowed && allowed->n ? tree_get(&allowed->items[0], "matchLabelExpressions") : NULL;
    str ebs = STR("topology.ebs.csi.aws.com/zone"), plain = STR("topology.kubernetes.io/zone");
    bool is_ebs =
        node && object_label(node, ebs).n && str_is(tree_str(tree_get(class, "provisioner")), "ebs.csi.aws.com");
    str key_of_zone = is_ebs ? ebs : plain, zone = node ? object_label(node, key_of_zone) : (str){0};

    for (uint32_t i = 0; exprs && i < exprs->n; i++) {
        str key = tree_str(tree_get(&exprs->items[i], "key"));
        const struct tree *values = tree_get(&exprs->items[i], "values");
        str value = node ? object_label(node, key) : values && values->n ? tree_str(&values->items[0]) : (str){0};

        if (value.n)
            require(s->a, pv, key, value);
    }
    if (!exprs && zone.n)
        require(s->a, pv, key_of_zone, zone);
}

static bool provision(struct subject *s, const struct tree *class, str node_name)
{
    struct cluster *c = s->c;
    struct arena *a = s->a;
    str name = arena_printf(a, "pvc-" STR_FMT, STR_ARG(s->o->uid)), driver = tree_str(tree_get(class, "provisioner"));
    str reclaim = tree_str(tree_get(class, "reclaimPolicy"));
    const struct object *node = node_name.n ? kube_get(c->k, c->kinds.node, (str){0}, node_name) : NULL;
    struct tree *t = object_new(a, c->kinds.volume, (str){0}, name), *spec = tree_sub(a, t, "spec");
    struct tree *ref = tree_sub(a, spec, "claimRef"), *csi = tree_sub(a, spec, "csi");
    struct status st;

    tree_set_str(a, tree_path(a, t, "metadata", "annotations", NULL), "pv.kubernetes.io/provisioned-by", driver);
    tree_set(a, spec, "accessModes", *tree_copy(a, tree_get(s->spec, "accessModes")));
    tree_set_str(a, tree_sub(a, spec, "capacity"), "storage",
                 tree_scalar(tree_at(s->spec, "resources", "requests", "storage", NULL)));
    tree_set_str(a, ref, "kind", STR("PersistentVolumeClaim"));
    tree_set_str(a, ref, "apiVersion", STR("v1"));
    tree_set_str(a, ref, "namespace", s->o->ns);
    tree_set_str(a, ref, "name", s->o->name);
    tree_set_str(a, ref, "uid", s->o->uid);
    tree_set_str(a, csi, "driver", driver);
    tree_set_str(a, csi, "volumeHandle", arena_printf(a, "vol-" STR_FMT, STR_ARG(s->o->uid)));
    tree_set_str(a, spec, "persistentVolumeReclaimPolicy", reclaim.n ? reclaim : STR("Delete"));
    tree_set_str(a, spec, "storageClassName", class_of(s->t));
    if (tree_get(s->spec, "volumeMode"))
        tree_set_str(a, spec, "volumeMode", tree_str(tree_get(s->spec, "volumeMode")));
    set_topology(s, t, class, node);
    if (!kube_create(c->k, a, c->kinds.volume, t, NULL, &st)) {
        cluster_event(c, s->o, "simulated-provisioner", "Warning", "ProvisioningFailed", STR_FMT, STR_ARG(st.message));
        return false;
    }
    cluster_event(c, s->o, "simulated-provisioner", "Normal", "ProvisioningSucceeded",
                  "Successfully provisioned volume " STR_FMT, STR_ARG(name));
    return true;
}

/* ---- claims ---- */

static const struct object *find_volume(struct subject *s, str node)
{
    struct search x = {.s = s, .node = node};

    kube_each(s->c->k, s->c->kinds.volume, (str){0}, consider, &x);
    return x.best;
}

/* The class of a claim; an event when it names one that is not there. */
static const struct tree *load_class(struct volumes *p, struct subject *s)
{
    str name = class_of(s->t);
    const struct object *o = name.n ? kube_get(s->c->k, s->c->kinds.storage_class, (str){0}, name) : NULL;

    if (o)
        return kube_tree(s->a, o);
    if (name.n) {
        cluster_event(s->c, s->o, COMPONENT, "Warning", "ProvisioningFailed",
                      "storageclass.storage.k8s.io \"" STR_FMT "\" not found", STR_ARG(name));
        key_add_name_after(p->claims, s->o->ns, s->o->name, RETRY_US);
    }
    return NULL;
}

static void bind_or_make(struct volumes *p, struct subject *s)
{
    str node = tree_str(tree_at(s->t, "metadata", "annotations", "volume.kubernetes.io/selected-node", NULL));
    bool named = tree_str(tree_get(s->spec, "volumeName")).n > 0;
    const struct tree *class = named ? NULL : load_class(p, s);
    bool waits = str_is(tree_str(tree_get(class, "volumeBindingMode")), "WaitForFirstConsumer");
    str driver = tree_str(tree_get(class, "provisioner"));

    if (waits && node.n == 0) {
        cluster_event(s->c, s->o, COMPONENT, "Normal", "WaitForFirstConsumer",
                      "waiting for first consumer to be created before binding");
        return;
    }
    const struct object *pv = find_volume(s, node);
    if (pv) {
        bind_claim(s, pv);
        object_unref(pv);
        return;
    }
    if (!class || str_is(driver, "kubernetes.io/no-provisioner")) {
        if (!named && class_of(s->t).n == 0)
            cluster_event(s->c, s->o, COMPONENT, "Normal", "FailedBinding",
                          "no persistent volumes available for this claim and no storage class is set");
        return;
    }
    struct making *m = table_get(&p->making, s->o->uid);
    int64_t now_us = world_mono_us(s->c->w);
    if (!m) { /* a driver takes its time */
        m = xcalloc(1, sizeof(*m) + s->o->uid.n);
        m->uid = (str){memcpy(m + 1, s->o->uid.p, s->o->uid.n), s->o->uid.n};
        m->due_us = now_us + (int64_t)((double)PROVISION_US / s->c->o.speed);
        table_put(&p->making, m);
        cluster_event(
            s->c, s->o, COMPONENT, "Normal", "ExternalProvisioning",
            "Waiting for a volume to be created either by the external provisioner '" STR_FMT
            "' or manually by the system administrator. If volume creation is delayed, please verify that the "
            "provisioner is running and correctly registered.",
            STR_ARG(driver));
    }
    if (now_us < m->due_us) {
        key_add_name_after(p->claims, s->o->ns, s->o->name, m->due_us - now_us);
        return;
    }
    free(table_take(&p->making, s->o->uid));
    if (provision(s, class, node))
        key_add(p->claims, s->o); /* to be bound */
    else
        key_add_name_after(p->claims, s->o->ns, s->o->name, RETRY_US);
}

static void on_claim_work(void *ctx, str key)
{
    struct volumes *p = ctx;
    struct subject s;

    if (!subject_begin(&s, p->c, p->c->kinds.claim, key))
        return;
    str phase = tree_str(tree_get(s.status, "phase"));
    const struct tree *made = tree_at(s.t, "metadata", "annotations", "pv.kubernetes.io/bind-completed", NULL);
    if (s.o->deleted_ms) {
        claim_protection(&s);
    } else if (made && !kube_get(p->c->k, p->c->kinds.volume, (str){0}, tree_str(tree_get(s.spec, "volumeName")))) {
        if (!str_is(phase, "Lost")) {
            tree_set_str(s.a, s.status, "phase", STR("Lost"));
            subject_write_status(&s);
            cluster_event(p->c, s.o, COMPONENT, "Warning", "ClaimLost",
                          "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
        }
    } else if (!str_is(phase, "Bound")) {
        if (phase.n == 0) {
            tree_set_str(s.a, s.status, "phase", STR("Pending"));
            subject_write_status(&s);
        }
        bind_or_make(p, &s);
    }
    subject_end(&s);
}

/* ---- seeing ---- */

static void on_claim(void *ctx, struct seen *s)
{
    struct volumes *p = ctx;

    if (s->new) {
        key_add(p->claims, s->new);
        return;
    }
    free(table_take(&p->making, s->old->uid));
    str volume = tree_str(tree_at(seen_tree(s), "spec", "volumeName", NULL));
    if (volume.n)
        work_add(p->releases, volume);
}

static void wake_pending(void *ctx, const struct object *o)
{
    key_add(((struct volumes *)ctx)->claims, o);
}

/* A volume that has come may be what some claim waits for; one that went leaves its claim lost. */
static void on_volume(void *ctx, struct seen *s)
{
    struct volumes *p = ctx;
    const struct tree *ref = tree_at(seen_tree(s), "spec", "claimRef", NULL);

    if (ref)
        key_add_name(p->claims, tree_str(tree_get(ref, "namespace")), tree_str(tree_get(ref, "name")));
    else if (s->new)
        kube_each(p->c->k, p->c->kinds.claim, (str){0}, wake_pending, p);
    if (s->new)
        work_add(p->releases, s->new->name);
}

static void on_class(void *ctx, struct seen *s)
{
    struct volumes *p = ctx;

    if (s->new && !s->old)
        kube_each(p->c->k, p->c->kinds.claim, (str){0}, wake_pending, p);
}

struct volumes *volumes_new(struct cluster *c)
{
    struct volumes *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->claims = work_new(c->w, "claims", on_claim_work, p);
    volume_uses_init(p);
    see(c, c->kinds.claim, on_claim, p);
    see(c, c->kinds.volume, on_volume, p);
    see(c, c->kinds.storage_class, on_class, p);
    return p;
}

static void release_making(void *ctx, void *entry)
{
    (void)ctx;
    free(entry);
}

void volumes_free(struct volumes *p)
{
    if (!p)
        return;
    volume_uses_fini(p);
    work_free(p->claims);
    table_drain(&p->making, release_making, NULL);
    free(p);
}
