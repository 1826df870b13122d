/* Who uses which volume: attachments follow pods, claims in use stay, volumes without a claim are released or deleted. */
#include "sim/kube/cluster/volumes.h"

#define DETACH_US 1000000ll

/* ---- pods and their claims ---- */

/* The name of the claim of a pod's volume; empty: it has none. */
static str claim_of(struct arena *a, const struct tree *pod, const struct tree *volume)
{
    if (tree_get(volume, "ephemeral"))
        return arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(tree_str(tree_at(pod, "metadata", "name", NULL))),
                            STR_ARG(tree_str(tree_get(volume, "name"))));
    return tree_str(tree_at(volume, "persistentVolumeClaim", "claimName", NULL));
}

static bool uses_claim(struct arena *a, const struct tree *pod, str claim)
{
    const struct tree *volumes = tree_at(pod, "spec", "volumes", NULL);

    for (uint32_t i = 0; volumes && i < volumes->n; i++)
        if (str_eq(claim_of(a, pod, &volumes->items[i]), claim))
            return true;
    return false;
}

struct users {
    struct cluster *c;
    struct arena *a;
    str claim;
    bool any;
};

static void check_user(void *ctx, const struct object *o)
{
    struct users *x = ctx;
    const struct pod_entry *e = pods_get(x->c->pods, o->uid);

    if (!x->any && e && !pod_is_over(e))
        x->any = uses_claim(x->a, kube_tree(x->a, o), x->claim);
}

void claim_protection(struct subject *s)
{
    struct users x = {s->c, s->a, s->o->name, false};
    struct tree *list = tree_sublist(s->a, tree_sub(s->a, s->t, "metadata"), "finalizers");
    bool had = false;

    kube_each(s->c->k, s->c->kinds.pod, s->o->ns, check_user, &x);
    for (uint32_t i = list->n; !x.any && i-- > 0;)
        if (str_is(tree_str(&list->items[i]), "kubernetes.io/pvc-protection")) {
            tree_remove(list, i);
            had = true;
        }
    if (had)
        cluster_update(s->c, s->c->kinds.claim, NULL, tree_copy(s->a, s->t));
}

/* ---- volumes without a claim ---- */

static bool drop_protection(struct subject *s)
{
    struct tree *list = tree_sublist(s->a, tree_sub(s->a, s->t, "metadata"), "finalizers");

    for (uint32_t i = list->n; i-- > 0;)
        if (str_is(tree_str(&list->items[i]), "kubernetes.io/pv-protection")) {
            tree_remove(list, i);
            return cluster_update(s->c, s->c->kinds.volume, NULL, tree_copy(s->a, s->t));
        }
    return false;
}

static void set_phase(struct subject *s, str phase)
{
    if (str_eq(tree_str(tree_get(s->status, "phase")), phase))
        return;
    tree_set_str(s->a, s->status, "phase", phase);
    tree_set_str(s->a, s->status, "lastPhaseTransitionTime", s->now);
    subject_write_status(s);
}

static void review_volume(struct subject *s)
{
    const struct tree *ref = tree_get(s->spec, "claimRef");
    str phase = tree_str(tree_get(s->status, "phase")), uid = tree_str(tree_get(ref, "uid"));
    const struct object *claim =
        kube_get(s->c->k, s->c->kinds.claim, tree_str(tree_get(ref, "namespace")), tree_str(tree_get(ref, "name")));
    bool held = uid.n && claim && str_eq(claim->uid, uid);

    if (s->o->deleted_ms) {
        if (!held)
            drop_protection(s);
    } else if (uid.n == 0) {
        if (phase.n == 0 || str_is(phase, "Pending"))
            set_phase(s, STR("Available"));
    } else if (!held) {
        set_phase(s, STR("Released"));
        if (str_is(tree_str(tree_get(s->spec, "persistentVolumeReclaimPolicy")), "Delete"))
            cluster_delete(s->c, s->o, -1);
    }
}

static void on_release(void *ctx, str name)
{
    struct volumes *p = ctx;
    struct subject s;

    if (!subject_begin(&s, p->c, p->c->kinds.volume, name))
        return;
    review_volume(&s);
    subject_end(&s);
}

/* ---- attachments ---- */

static str volume_of(struct cluster *c, struct arena *a, str ns, str claim)
{
    const struct object *o = kube_get(c->k, c->kinds.claim, ns, claim);

    return o ? tree_str(tree_at(kube_tree(a, o), "spec", "volumeName", NULL)) : (str){0};
}

static bool node_uses(struct volumes *p, struct arena *a, str node, str volume)
{
    const struct pod_group *g = pods_of_node(p->c->pods, node);

    for (const struct pod_entry *e = g ? g->first : NULL; e; e = e->by_node.next) {
        const struct tree *t = pod_is_over(e) ? NULL : kube_tree(a, e->o);
        const struct tree *volumes = tree_at(t, "spec", "volumes", NULL);

        for (uint32_t i = 0; volumes && i < volumes->n; i++) {
            str claim = claim_of(a, t, &volumes->items[i]);

            if (claim.n && str_eq(volume_of(p->c, a, e->o->ns, claim), volume))
                return true;
        }
    }
    return false;
}

static void attach(struct volumes *p, struct arena *a, str name, str node, str volume)
{
    struct cluster *c = p->c;
    const struct object *pv = kube_get(c->k, c->kinds.volume, (str){0}, volume), *o;
    str driver = pv ? tree_str(tree_at(kube_tree(a, pv), "spec", "csi", "driver", NULL)) : (str){0};
    struct tree *t = object_new(a, c->kinds.attachment, (str){0}, name), *spec = tree_sub(a, t, "spec");
    struct status st;

    if (driver.n == 0)
        return; /* only drivers attach */
    tree_set_str(a, spec, "attacher", driver);
    tree_set_str(a, spec, "nodeName", node);
    tree_set_str(a, tree_sub(a, spec, "source"), "persistentVolumeName", volume);
    if (!kube_create(c->k, a, c->kinds.attachment, t, &o, &st))
        return;
    t = kube_tree(a, o);
    tree_set_bool(a, tree_sub(a, t, "status"), "attached", true);
    cluster_update(c, c->kinds.attachment, "status", t);
}

static void on_attachment(void *ctx, str key)
{
    struct volumes *p = ctx;
    struct cluster *c = p->c;
    struct arena *a = cluster_begin(c);
    struct tree of_key = tree_of_str(key);
    str node, volume, name = arena_printf(a, "csi-" STR_FMT, STR_ARG(template_hash(a, &of_key, 0)));
    const struct object *o = kube_get(c->k, c->kinds.attachment, (str){0}, name);

    key_split(key, &node, &volume);
    bool used = node_uses(p, a, node, volume);
    if (used && !o)
        attach(p, a, name, node, volume);
    else if (!used && o)
        cluster_delete(c, o, -1);
}

/* Every volume of the pod on its node is worth a look. */
static void look_at(struct volumes *p, const struct tree *pod, int64_t after_us)
{
    const struct tree *volumes = tree_at(pod, "spec", "volumes", NULL);
    str node = tree_str(tree_at(pod, "spec", "nodeName", NULL)),
        ns = tree_str(tree_at(pod, "metadata", "namespace", NULL));
    struct arena *a = NULL;

    for (uint32_t i = 0; volumes && i < volumes->n; i++) {
        if (!tree_get(&volumes->items[i], "persistentVolumeClaim") && !tree_get(&volumes->items[i], "ephemeral"))
            continue;
        if (!a)
            a = arena_new(0);
        str claim = claim_of(a, pod, &volumes->items[i]), volume = volume_of(p->c, a, ns, claim);
        if (node.n && volume.n)
            key_add_name_after(p->attachments, node, volume, after_us);
        key_add_name(p->claims, ns, claim); /* it may wait for the last user to go */
    }
    arena_free(a);
}

static void on_pod(void *ctx, struct seen *s)
{
    struct volumes *p = ctx;
    const struct pod_entry *e = pods_seen(p->c->pods, s);

    if (e && e->has_claims && (!s->new || e->news &(POD_IS_NEW | POD_NODE | POD_PHASE)))
        look_at(p, seen_tree(s), s->new ? 0 : DETACH_US);
}

void volume_uses_init(struct volumes *p)
{
    p->releases = work_new(p->c->w, "volumes", on_release, p);
    p->attachments = work_new(p->c->w, "attachments", on_attachment, p);
    see(p->c, p->c->kinds.pod, on_pod, p);
}

void volume_uses_fini(struct volumes *p)
{
    work_free(p->releases);
    work_free(p->attachments);
}
