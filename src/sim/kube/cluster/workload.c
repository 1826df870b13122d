#include "sim/kube/cluster/workload.h"

static bool take(struct subject *s, struct cluster *c, const struct kind *kind, str key)
{
    const struct object *o = key_get(c, kind, key);

    if (!o)
        return false;
    *s = (struct subject){.c = c, .a = cluster_begin(c), .o = o, .now_ms = cluster_now_ms(c)};
    s->now = time_text(s->a, s->now_ms);
    object_ref(o);
    return true;
}

bool subject_begin(struct subject *s, struct cluster *c, const struct kind *kind, str key)
{
    if (!take(s, c, kind, key))
        return false;
    s->t = kube_tree(s->a, s->o);
    s->spec = tree_sub(s->a, s->t, "spec");
    s->status = tree_sub(s->a, s->t, "status");
    s->generation = field_i64(tree_at(s->t, "metadata", "generation", NULL), 0);
    return true;
}

bool subject_look(struct subject *s, struct cluster *c, const struct kind *kind, str key)
{
    if (!take(s, c, kind, key))
        return false;
    s->reading = reading_of(c->readings, s->o);
    s->spec = s->reading->spec;
    s->status = kube_part(s->a, s->o, "status");
    if (!s->status)
        s->status = tree_new_map(s->a);
    s->generation = field_i64(tree_get(s->reading->meta, "generation"), 0);
    return true;
}

void subject_end(struct subject *s)
{
    object_unref(s->o);
}

/* On what is there now: we may have written in the meantime. */
bool subject_write_status(struct subject *s)
{
    const struct object *now = kube_get(s->c->k, s->o->kind, s->o->ns, s->o->name);

    if (!now || !str_eq(now->uid, s->o->uid))
        return false;
    s->c->quiet = s->o->kind;
    bool ok = cluster_update_part(s->c, now, "status", s->status);
    s->c->quiet = NULL;
    return ok;
}

void status_count(struct subject *s, const char *key, int64_t n)
{
    if (n)
        tree_set_i64(s->a, s->status, key, n);
    else
        tree_drop(s->status, str_c(key));
}

/* ---- whose pods ---- */

void claim_object(struct subject *s, const struct object *o, bool adopt)
{
    struct tree *t = kube_tree(s->a, o), *meta = tree_sub(s->a, t, "metadata");
    struct tree *refs = tree_sublist(s->a, meta, "ownerReferences");

    if (adopt) {
        set_controller(s->a, meta, s->o);
    } else {
        for (uint32_t i = refs->n; i-- > 0;)
            if (str_eq(tree_str(tree_get(&refs->items[i], "uid")), s->o->uid))
                tree_remove(refs, i);
    }
    cluster_update(s->c, o->kind, NULL, t);
}

typedef VEC(struct pod_entry *) entries;

/* Pods of ours whose labels were not looked at yet and no longer match. */
static void find_strangers(const struct pod_group *own, const struct selector *sel, entries *ret)
{
    uint32_t left = own ? own->n_relabelled : 0;

    for (struct pod_entry *e = left ? own->last : NULL; e && left; e = e->by_owner.prev) { /* mostly the newest */
        if (!e->relabelled)
            continue;
        left--;
        if (!selector_matches_labels(sel, e->o->labels, e->o->n_labels))
            vec_push(ret, e);
        pod_labels_seen(e);
    }
}

void claim_pods(struct subject *s)
{
    const struct pod_group *orphans = pods_without_owner(s->c->pods, s->o->ns);
    const struct pod_group *own = pods_of_owner(s->c->pods, s->o->uid);
    const struct selector *sel;
    struct err err;
    entries adopt = {0}, release = {0};

    if ((!orphans && (!own || own->n_relabelled == 0)) ||
        !selector_from_tree(s->a, tree_get(s->spec, "selector"), &sel, &err))
        return;
    find_strangers(own, sel, &release);
    for (struct pod_entry *e = orphans && !s->o->deleted_ms ? orphans->first : NULL; e; e = e->by_owner.next)
        if (pod_is_active(e) && selector_matches_labels(sel, e->o->labels, e->o->n_labels))
            vec_push(&adopt, e);
    for (uint32_t i = 0; i < release.n; i++)
        claim_object(s, release.v[i]->o, false);
    for (uint32_t i = 0; i < adopt.n; i++)
        claim_object(s, adopt.v[i]->o, true);
    vec_fini(&adopt);
    vec_fini(&release);
}

struct children {
    const struct object *owner;
    const struct kind *kind;
    objects *out;
};

static void add_child(void *ctx, const struct object *o)
{
    struct children *x = ctx;
    const struct owner *owner = controller_of(o);

    if (o->kind != x->kind || !str_eq(o->ns, x->owner->ns) || !owner || !str_eq(owner->uid, x->owner->uid))
        return;
    object_ref(o);
    vec_push(x->out, o);
}

static int by_name(const void *x, const void *y, void *ctx)
{
    (void)ctx;
    return str_cmp((*(const struct object *const *)x)->name, (*(const struct object *const *)y)->name);
}

void children_of(struct subject *s, const struct kind *kind, objects *ret)
{
    struct children x = {s->o, kind, ret};

    kube_each_owned(s->c->k, s->o->uid, add_child, &x);
    sort_stable(ret->v, ret->n, sizeof(*ret->v), by_name, NULL);
}

void objects_fini(objects *list)
{
    for (uint32_t i = 0; i < list->n; i++)
        object_unref(list->v[i]);
    vec_fini(list);
}

/* ---- making and removing pods ---- */

struct tree *pod_of_template(struct subject *s, const struct tree *template, str name)
{
    struct arena *a = s->a;
    struct tree *t = object_new(a, s->c->kinds.pod, s->o->ns, name), *meta = tree_sub(a, t, "metadata");
    const struct tree *from = tree_get(template, "metadata"), *finalizers = tree_get(from, "finalizers");

    /* StatefulSets name their pods and still say what the name was made from. */
    tree_set_str(a, meta, "generateName", arena_printf(a, STR_FMT "-", STR_ARG(s->o->name)));
    strings_merge(a, tree_sub(a, meta, "labels"), tree_get(from, "labels"));
    if (tree_get(from, "annotations"))
        strings_merge(a, tree_sub(a, meta, "annotations"), tree_get(from, "annotations"));
    if (finalizers)
        tree_set(a, meta, "finalizers", *tree_copy(a, finalizers));
    set_controller(a, meta, s->o);
    if (tree_get(template, "spec"))
        tree_set(a, t, "spec", *tree_copy(a, tree_get(template, "spec")));
    return t;
}

bool create_pod(struct subject *s, const char *component, struct tree *pod, const struct object **ret,
                struct status *st)
{
    const struct object *o;

    if (!kube_create(s->c->k, s->a, s->c->kinds.pod, pod, &o, st)) {
        cluster_event(s->c, s->o, component, "Warning", "FailedCreate", "Error creating: " STR_FMT,
                      STR_ARG(st->message));
        return false;
    }
    str name = arena_strdup(s->a, o->name);
    if (ret)
        *ret = o;
    cluster_event(s->c, s->o, component, "Normal", "SuccessfulCreate", "Created pod: " STR_FMT, STR_ARG(name));
    return true;
}

bool delete_pod(struct subject *s, const char *component, const struct pod_entry *e)
{
    str name = arena_strdup(s->a, e->o->name);

    if (!cluster_delete(s->c, e->o, -1))
        return false;
    cluster_event(s->c, s->o, component, "Normal", "SuccessfulDelete", "Deleted pod: " STR_FMT, STR_ARG(name));
    return true;
}

/* ---- who must look ---- */

void wake_owner(struct work *q, const struct kind *kind, const struct object *pod)
{
    const struct owner *owner = controller_of(pod);

    if (owner && str_eq(owner->kind, kind->name))
        key_add_name(q, pod->ns, owner->name);
}

static void add_to(void *ctx, const struct object *o)
{
    key_add(ctx, o);
}

void wake_owners(struct cluster *c, struct work *q, const struct kind *kind, const struct seen *pod)
{
    const struct pod_entry *e = pods_seen(c->pods, pod);

    if (pod->new && !(e->news & POD_COUNTS))
        return; /* nothing that anybody counts */
    if (pod->old)
        wake_owner(q, kind, pod->old);
    if (!pod->new)
        return;
    if (controller_of(pod->new))
        wake_owner(q, kind, pod->new);
    else if (e->news & (POD_IS_NEW | POD_OWNER | POD_LABELS))
        kube_each(c->k, kind, pod->new->ns, add_to, q);
}
