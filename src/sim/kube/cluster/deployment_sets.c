/* The ReplicaSets of a Deployment: which one has its template, how they are made, scaled and forgotten. */
#include "sim/kube/cluster/deployment.h"

#define REVISION "deployment.kubernetes.io/revision"
#define HISTORY "deployment.kubernetes.io/revision-history"
#define DESIRED "deployment.kubernetes.io/desired-replicas"
#define MAX_REPLICAS "deployment.kubernetes.io/max-replicas"
#define HASH "pod-template-hash"
#define RETRY_US 5000000ll

/* ---- reading ---- */

static int64_t annotation_i64(const struct tree *annotations, const char *key)
{
    int64_t v;

    return str_to_i64(tree_str(tree_get(annotations, key)), &v) ? v : 0;
}

static struct tree *annotations_of(struct arena *a, const struct reading *r)
{
    const struct tree *t = tree_get(r->meta, "annotations");

    return t ? tree_copy(a, t) : tree_new_map(a);
}

static void read_set(struct rollout *r, struct replica_set *rs, const struct object *o)
{
    struct reading *reading = reading_of(r->s.c->readings, o);
    struct tree *annotations = annotations_of(r->s.a, reading);
    const struct tree *status = kube_part(r->s.a, o, "status");

    *rs = (struct replica_set){
        .o = o,
        .reading = reading,
        .annotations = annotations,
        .status = status,
        .replicas = field_i64(tree_get(reading->spec, "replicas"), 1),
        .revision = annotation_i64(annotations, REVISION),
        .desired = annotation_i64(annotations, DESIRED),
        .max = annotation_i64(annotations, MAX_REPLICAS),
        .n = field_i64(tree_get(status, "replicas"), 0),
        .ready = field_i64(tree_get(status, "readyReplicas"), 0),
        .available = field_i64(tree_get(status, "availableReplicas"), 0),
        .terminating = field_i64(tree_get(status, "terminatingReplicas"), 0),
        .settled =
            field_i64(tree_get(reading->meta, "generation"), 0) <= field_i64(tree_get(status, "observedGeneration"), 0),
        .failed = cond_is(tree_get(status, "conditions"), STR("ReplicaFailure"), STR("True")),
    };
}

static int compare_age(const void *x, const void *y, void *ctx)
{
    const struct object *a = *(const struct object *const *)x, *b = *(const struct object *const *)y;

    (void)ctx;
    if (a->created_ms != b->created_ms)
        return a->created_ms < b->created_ms ? -1 : 1;
    return str_cmp(a->name, b->name);
}

static void read_strategy(struct rollout *r)
{
    const struct tree *spec = r->s.spec, *rolling = tree_at(spec, "strategy", "rollingUpdate", NULL);

    r->replicas = field_i64(tree_get(spec, "replicas"), 1);
    r->min_ready_s = field_i64(tree_get(spec, "minReadySeconds"), 0);
    r->deadline_s = field_i64(tree_get(spec, "progressDeadlineSeconds"), INT32_MAX);
    r->paused = tree_is_true(tree_get(spec, "paused"));
    r->recreate = str_is(tree_str(tree_at(spec, "strategy", "type", NULL)), "Recreate");
    if (r->recreate)
        return;
    r->max_surge = field_scaled(tree_get(rolling, "maxSurge"), r->replicas, true, 0);
    r->max_unavailable = field_scaled(tree_get(rolling, "maxUnavailable"), r->replicas, false, 0);
    if (r->max_surge == 0 && r->max_unavailable == 0)
        r->max_unavailable = 1; /* percentages of few replicas: something must give */
    r->max_unavailable = MIN(r->max_unavailable, r->replicas);
}

static void add_orphan(void *ctx, const struct object *o)
{
    objects *list = ctx;

    if (!is_orphan(o))
        return;
    object_ref(o);
    vec_push(list, o);
}

/* Sets that nobody controls and that the selector matches were left behind by a Deployment of this name. */
static void adopt_sets(struct rollout *r)
{
    struct subject *s = &r->s;
    const struct selector *sel;
    objects list = {0};
    struct err e;

    kube_each(s->c->k, s->c->kinds.replica_set, s->o->ns, add_orphan, &list);
    if (list.n && !s->o->deleted_ms && selector_from_tree(s->a, tree_get(s->spec, "selector"), &sel, &e))
        for (uint32_t i = 0; i < list.n; i++)
            if (selector_matches_labels(sel, list.v[i]->labels, list.v[i]->n_labels))
                claim_object(s, list.v[i], true);
    objects_fini(&list);
}

bool rollout_begin(struct rollout *r, struct cluster *c, str key, bool orphans)
{
    objects list = {0};

    *r = (struct rollout){0};
    if (!subject_look(&r->s, c, c->kinds.deployment, key))
        return false;
    r->annotations = annotations_of(r->s.a, r->s.reading);
    read_strategy(r);
    if (orphans)
        adopt_sets(r);
    children_of(&r->s, c->kinds.replica_set, &list);
    sort_stable(list.v, list.n, sizeof(*list.v), compare_age, NULL);
    r->n = list.n;
    r->sets = arena_new_array(r->s.a, struct replica_set, list.n + 1); /* room for one more */
    for (uint32_t i = 0; i < list.n; i++)
        read_set(r, &r->sets[i], list.v[i]);
    vec_fini(&list); /* the references are ours now */
    return true;
}

void rollout_end(struct rollout *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        object_unref(r->sets[i].o);
    subject_end(&r->s);
}

int64_t rollout_total(const struct rollout *r, bool old_only)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (!old_only || &r->sets[i] != r->fresh)
            sum += r->sets[i].replicas;
    return sum;
}

int64_t rollout_available(const struct rollout *r, bool old_only)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (!old_only || &r->sets[i] != r->fresh)
            sum += r->sets[i].available;
    return sum;
}

/* ---- the set of the current template ---- */

/* Maps that are equal but for one key, which either may have. */
static bool equal_without(const struct tree *x, const struct tree *y, str key)
{
    uint32_t nx = 0, ny = 0;

    for (uint32_t i = 0; y && i < y->n; i++)
        ny += !str_eq(y->keys[i], key);
    for (uint32_t i = 0; x && i < x->n; i++) {
        if (str_eq(x->keys[i], key))
            continue;
        const struct tree *other = tree_find((struct tree *)y, x->keys[i]);
        if (!other || !tree_equal(&x->items[i], other))
            return false;
        nx++;
    }
    return nx == ny;
}

static bool same_template(const struct tree *x, const struct tree *y)
{
    const struct tree *mx = tree_get(x, "metadata"), *my = tree_get(y, "metadata");

    return equal_without(tree_get(mx, "labels"), tree_get(my, "labels"), STR(HASH)) &&
           equal_without(mx, my, STR("labels")) && equal_without(x, y, STR("metadata"));
}

/* Asked at every look, and answered anew when either has changed. */
static bool has_template(struct reading *set, const struct reading *deployment)
{
    if (set->asked != deployment->serial) {
        set->said = same_template(tree_get(deployment->spec, "template"), tree_get(set->spec, "template"));
        set->asked = deployment->serial;
    }
    return set->said;
}

static struct replica_set *find_fresh(struct rollout *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (has_template(r->sets[i].reading, r->s.reading))
            return &r->sets[i];
    return NULL;
}

static int64_t next_revision(const struct rollout *r)
{
    int64_t max = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (&r->sets[i] != r->fresh)
            max = MAX(max, r->sets[i].revision);
    return max + 1;
}

static bool copied_annotation(str key)
{
    static const char *const own[] = {"kubectl.kubernetes.io/last-applied-configuration",
                                      REVISION,
                                      HISTORY,
                                      DESIRED,
                                      MAX_REPLICAS,
                                      "deprecated.deployment.rollback.to"};

    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (str_is(key, own[i]))
            return false;
    return true;
}

/* A map's member as text; true when that changes it. */
static bool put_text(struct arena *a, struct tree *map, str key, str value)
{
    struct tree *t = tree_put(a, map, key);

    if (str_eq(tree_str(t), value) && t->kind == TREE_STRING)
        return false;
    *t = tree_of_str(value);
    return true;
}

static bool copy_annotations(struct rollout *r, struct tree *to)
{
    const struct tree *from = r->annotations;
    bool changed = false;

    for (uint32_t i = 0; from && i < from->n; i++)
        if (copied_annotation(from->keys[i]))
            changed |= put_text(r->s.a, to, from->keys[i], tree_str(&from->items[i]));
    return changed;
}

/* A set that comes back with a later revision remembers the ones it had. */
static bool set_revision(struct arena *a, struct tree *annotations, int64_t revision)
{
    str was = tree_str(tree_get(annotations, REVISION)), history = tree_str(tree_get(annotations, HISTORY));
    int64_t old;

    if (was.n && str_to_i64(was, &old) && old >= revision)
        return false;
    if (was.n)
        put_text(a, annotations, STR(HISTORY),
                 history.n ? arena_printf(a, STR_FMT "," STR_FMT, STR_ARG(history), STR_ARG(was)) : was);
    return put_text(a, annotations, STR(REVISION), arena_printf(a, "%lld", (long long)revision));
}

static bool set_sizes(const struct rollout *r, struct tree *annotations)
{
    struct arena *a = r->s.a;
    bool changed = put_text(a, annotations, STR(DESIRED), arena_printf(a, "%lld", (long long)r->replicas));

    return put_text(a, annotations, STR(MAX_REPLICAS),
                    arena_printf(a, "%lld", (long long)(r->replicas + r->max_surge))) ||
           changed;
}

/* The object as it was read, but for these. */
static struct tree *with_annotations(struct arena *a, const struct object *o, const struct tree *annotations)
{
    struct tree *t = kube_tree(a, o);

    tree_set(a, tree_sub(a, t, "metadata"), "annotations", *tree_copy(a, annotations));
    return t;
}

/* The Deployment carries the revision of its newest set. */
static bool set_own_revision(struct rollout *r, str revision)
{
    struct subject *s = &r->s;

    if (!put_text(s->a, r->annotations, STR(REVISION), revision))
        return false;
    return cluster_update(s->c, s->c->kinds.deployment, NULL, with_annotations(s->a, s->o, r->annotations));
}

static bool refresh(struct rollout *r)
{
    struct arena *a = r->s.a;
    struct replica_set *rs = r->fresh;
    bool wait = field_i64(tree_get(rs->reading->spec, "minReadySeconds"), 0) != r->min_ready_s;
    bool changed = copy_annotations(r, rs->annotations);

    changed |= set_revision(a, rs->annotations, next_revision(r));
    if (changed || wait) {
        struct tree *t = with_annotations(a, rs->o, rs->annotations);

        if (wait)
            tree_set_i64(a, tree_sub(a, t, "spec"), "minReadySeconds", r->min_ready_s);
        cluster_update(r->s.c, r->s.c->kinds.replica_set, NULL, t);
        return false;
    }
    bool wrote = set_own_revision(r, tree_str(tree_get(rs->annotations, REVISION)));
    if (rollout_has_deadline(r) && !cond_find(tree_get(r->s.status, "conditions"), STR("Progressing"))) {
        rollout_progress(r, STR("True"), STR("FoundNewReplicaSet"),
                         arena_printf(a, "Found new replica set \"" STR_FMT "\"", STR_ARG(rs->o->name)));
        subject_write_status(&r->s);
    }
    if (wrote)
        key_add(r->q, r->s.o);
    return !wrote;
}

/* How large the set of the current template should be now. */
static int64_t fresh_size(const struct rollout *r)
{
    int64_t have = r->fresh ? r->fresh->replicas : 0, room = r->replicas + r->max_surge - rollout_total(r, false);

    if (r->recreate)
        return r->replicas;
    return room <= 0 ? have : have + MIN(room, r->replicas - have);
}

static struct tree *new_set(struct rollout *r, str hash)
{
    struct arena *a = r->s.a;
    const struct kind *kind = r->s.c->kinds.replica_set;
    struct tree *template = tree_copy(a, tree_get(r->s.spec, "template"));
    struct tree *t =
        object_new(a, kind, r->s.o->ns, arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(r->s.o->name), STR_ARG(hash)));
    struct tree *meta = tree_sub(a, t, "metadata"), *spec = tree_sub(a, t, "spec");
    struct tree *labels = tree_path(a, template, "metadata", "labels", NULL);
    struct tree *selector = tree_copy(a, tree_get(r->s.spec, "selector"));

    tree_set_str(a, labels, HASH, hash);
    strings_merge(a, tree_sub(a, meta, "labels"), labels);
    set_controller(a, meta, r->s.o);
    tree_set_str(a, tree_sub(a, selector, "matchLabels"), HASH, hash);
    tree_set(a, spec, "selector", *selector);
    tree_set(a, spec, "template", *template);
    if (r->min_ready_s)
        tree_set_i64(a, spec, "minReadySeconds", r->min_ready_s);
    tree_set_i64(a, spec, "replicas", fresh_size(r));
    struct tree *annotations = tree_sub(a, meta, "annotations");
    copy_annotations(r, annotations);
    set_revision(a, annotations, next_revision(r));
    set_sizes(r, annotations);
    return t;
}

static bool create_fresh(struct rollout *r)
{
    struct subject *s = &r->s;
    int64_t collisions = field_i64(tree_get(s->status, "collisionCount"), 0), size = fresh_size(r);
    str hash = template_hash(s->a, tree_get(s->spec, "template"), collisions);
    str revision = arena_printf(s->a, "%lld", (long long)next_revision(r));
    const struct object *o;
    struct status st;

    if (!kube_create(s->c->k, s->a, s->c->kinds.replica_set, new_set(r, hash), &o, &st)) {
        if (str_is(str_c(st.reason), "AlreadyExists")) {
            tree_set_i64(s->a, s->status, "collisionCount", collisions + 1);
            key_add(r->q, s->o);
        } else {
            str text = arena_printf(s->a, "Failed to create new replica set \"" STR_FMT "-" STR_FMT "\": " STR_FMT,
                                    STR_ARG(s->o->name), STR_ARG(hash), STR_ARG(st.message));

            if (rollout_has_deadline(r))
                rollout_progress(r, STR("False"), STR("ReplicaSetCreateError"), text);
            key_add_name_after(r->q, s->o->ns, s->o->name, RETRY_US);
            cluster_event(s->c, s->o, "deployment-controller", "Warning", "ReplicaSetCreateError", STR_FMT,
                          STR_ARG(text));
        }
        subject_write_status(s);
        return false;
    }
    str name = arena_strdup(s->a, o->name);
    if (size > 0)
        cluster_event(s->c, s->o, "deployment-controller", "Normal", "ScalingReplicaSet",
                      "Scaled up replica set " STR_FMT " from 0 to %lld", STR_ARG(name), (long long)size);
    set_own_revision(r, revision);
    if (rollout_has_deadline(r))
        rollout_progress(r, STR("True"), STR("NewReplicaSetCreated"),
                         arena_printf(s->a, "Created new replica set \"" STR_FMT "\"", STR_ARG(name)));
    subject_write_status(s);
    return false;
}

bool rollout_fresh(struct rollout *r, bool create)
{
    r->fresh = find_fresh(r);
    if (r->fresh)
        return refresh(r);
    return create ? create_fresh(r) : true;
}

/* ---- scaling ---- */

bool rollout_scale(struct rollout *r, struct replica_set *rs, int64_t to)
{
    struct subject *s = &r->s;
    int64_t from = rs->replicas;
    bool sized = set_sizes(r, rs->annotations);

    if (from == to && !sized)
        return false;
    struct tree *t = with_annotations(s->a, rs->o, rs->annotations);
    tree_set_i64(s->a, tree_sub(s->a, t, "spec"), "replicas", to);
    tree_drop(tree_sub(s->a, t, "metadata"), STR("resourceVersion"));
    rs->replicas = to;
    if (!cluster_update(s->c, s->c->kinds.replica_set, NULL, t))
        return false;
    if (from != to)
        cluster_event(s->c, s->o, "deployment-controller", "Normal", "ScalingReplicaSet",
                      "Scaled %s replica set " STR_FMT " from %lld to %lld", to > from ? "up" : "down",
                      STR_ARG(rs->o->name), (long long)from, (long long)to);
    return true;
}

static int compare_revision(const void *x, const void *y, void *ctx)
{
    const struct replica_set *a = *(struct replica_set *const *)x, *b = *(struct replica_set *const *)y;

    (void)ctx;
    return a->revision < b->revision ? -1 : a->revision > b->revision;
}

void rollout_cleanup(struct rollout *r)
{
    int64_t limit = field_i64(tree_get(r->s.spec, "revisionHistoryLimit"), INT32_MAX);
    struct replica_set **old = arena_new_array(r->s.a, struct replica_set *, r->n);
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n; i++)
        if (&r->sets[i] != r->fresh && !r->sets[i].o->deleted_ms)
            old[n++] = &r->sets[i];
    sort_stable(old, n, sizeof(*old), compare_revision, NULL);
    for (uint32_t i = 0; i + limit < n; i++)
        if (old[i]->n == 0 && old[i]->replicas == 0 && old[i]->settled)
            cluster_delete(r->s.c, old[i]->o, -1);
}
