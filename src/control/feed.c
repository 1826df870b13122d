#include "control/feed.h"

#include <stdlib.h>

#include "base/map.h"
#include "control/feed_int.h"
#include "data/edit.h"

#define MAX_COMPLAINTS 1024u

struct feed *feed_new(const struct feed_options *o)
{
    struct feed *f = xcalloc(1, sizeof(*f));

    f->o = *o;
    f->store = o->store;
    f->decoder = decoder_new_single(store_syms(o->store), store_specs(o->store));
    f->scratch = arena_new(0);
    return f;
}

void feed_free(struct feed *f)
{
    if (!f)
        return;
    if (f->end_watches)
        f->end_watches(f);
    decoder_free(f->decoder);
    arena_free(f->scratch);
    sb_fini(&f->text);
    vec_fini(&f->complaints);
    free(f);
}

bool feed_listed(const struct feed *f)
{
    return f->listed;
}

/* --- what cannot be read --------------------------------------------------------------------------------------------- */

static uint64_t identity(enum object_kind kind, const struct object_meta *m)
{
    return hash_mix(hash_bytes(m->name.p, m->name.n, hash_bytes(m->ns.p, m->ns.n, 0)), (uint64_t)kind);
}

static struct complaint *complaint_about(struct feed *f, uint64_t object)
{
    for (uint32_t i = 0; i < f->complaints.n; i++)
        if (f->complaints.v[i].object == object)
            return &f->complaints.v[i];
    return NULL;
}

static void complain(struct feed *f, enum object_kind kind, const struct object_meta *m, const struct err *e)
{
    struct complaint c = {identity(kind, m), hash_bytes(e->msg, strlen(e->msg), 0)},
                     *had = complaint_about(f, c.object);

    if (had && had->what == c.what)
        return;
    if (had)
        *had = c;
    else if (f->complaints.n < MAX_COMPLAINTS)
        vec_push(&f->complaints, c);
    else
        f->complaints.v[f->next_complaint++ % MAX_COMPLAINTS] = c;
    f->o.on_error(f->o.ctx, kind, m->ns, m->name, e);
}

/* It can be read again, or it is gone. */
static void forgive(struct feed *f, enum object_kind kind, const struct object_meta *m)
{
    struct complaint *had = f->complaints.n ? complaint_about(f, identity(kind, m)) : NULL;

    if (had)
        had->what = 0;
}

/* --- in and out ------------------------------------------------------------------------------------------------------ */

static bool know(struct feed *f, enum object_kind kind, const struct tree *obj, struct object_meta *ret)
{
    uint32_t n;
    const struct nodeclass_ref *classes = store_classes(f->store, &n);
    struct err e;

    arena_reset(f->scratch);
    if (k8s_meta(f->scratch, obj, kind, classes, n, ret, &e))
        return true;
    f->o.on_error(f->o.ctx, kind, (str){0}, (str){0}, &e);
    return false;
}

/* Goes on from `h` over the text up to the value of a member, which is a string and is left out, if the text has such a member. */
static uint64_t digest_up_to(uint64_t h, str *text, const char *member)
{
    const char *at = memmem(text->p, text->n, member, strlen(member));

    if (!at)
        return h;
    size_t n = (size_t)(at - text->p) + strlen(member);
    const char *end = memchr(text->p + n, '"', text->n - n);
    h = hash_bytes(text->p, n, h);
    *text = str_sub(*text, end ? (size_t)(end - text->p) : text->n, text->n);
    return h;
}

/* Every write changes the version. Claims on which pods come and go change once in ten seconds, and most who hear of it do not care when that was. */
static uint64_t digest_of(str text)
{
    uint64_t h = 0;

    if (text.n == 0)
        return 0;
    h = digest_up_to(h, &text, "\"resourceVersion\":\"");
    h = digest_up_to(h, &text, "\"lastPodEventTime\":\"");
    h = hash_bytes(text.p, text.n, h);
    return h ? h : 1;
}

/* Those strings of a map that are there under these names. */
static void copy_strings(struct arena *a, struct tree *to, const struct tree *from, const char *const *names)
{
    for (; *names; names++) {
        str v = tree_str(tree_get(from, *names));

        if (v.n)
            tree_set_str(a, to, *names, v);
    }
}

/* Says whether the pod belongs to its node: such a pod keeps no node from going. */
static bool copy_owners(struct arena *a, struct tree *to, const struct tree *from)
{
    static const char *const kept[] = {"apiVersion", "kind", "name", NULL};
    const struct tree *l = tree_get(from, "ownerReferences");
    struct tree *owners = tree_sublist(a, to, "ownerReferences");
    bool of_node = false;

    for (uint32_t i = 0; l && l->kind == TREE_LIST && i < l->n; i++) {
        str kind = tree_str(tree_get(&l->items[i], "kind"));

        copy_strings(a, tree_push(a, owners, *tree_new_map(a)), &l->items[i], kept);
        of_node |= str_is(kind, "DaemonSet") || str_is(kind, "Node");
    }
    return of_node;
}

/* Nobody knows what such a pod needs, but it runs: its node is not empty, and must not go because somebody thinks it were. It is as if it had asked to be left alone. NULL: it does not run. */
static struct tree *stand_in(struct arena *a, const struct tree *pod)
{
    static const char *const kept[] = {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", NULL};
    struct tree *ret = tree_new_map(a), *meta = tree_sub(a, ret, "metadata"), *spec = tree_sub(a, ret, "spec");
    str node = tree_str(tree_at(pod, "spec", "nodeName", NULL)),
        phase = tree_str(tree_at(pod, "status", "phase", NULL));

    if (!node.n)
        return NULL;
    copy_strings(a, meta, tree_get(pod, "metadata"), kept);
    if (!copy_owners(a, meta, tree_get(pod, "metadata")))
        tree_set_str(a, tree_sub(a, meta, "annotations"), "karpenter.sh/do-not-disrupt", STR("true"));
    tree_set_str(a, spec, "nodeName", node);
    (void)tree_sublist(a, spec, "containers");
    if (str_is(phase, "Succeeded") || str_is(phase, "Failed"))
        tree_set_str(a, tree_sub(a, ret, "status"), "phase", phase);
    return ret;
}

static void decode_stand_in(struct feed *f, const struct tree *pod, struct decoded *ret)
{
    const struct tree *t = stand_in(f->scratch, pod);
    struct err ignored;

    if (t)
        (void)k8s_decode_one(f->decoder, t, OBJ_POD, ret, &ignored);
}

void feed_put(struct feed *f, enum object_kind kind, const struct tree *obj)
{
    struct object_meta m;
    struct decoded d = {0};
    struct err e;

    if (!know(f, kind, obj, &m) || store_touch(f->store, kind, m.ns, m.name, m.version))
        return;
    bool passing = syms_set_passing(store_syms(f->store), true); /* what only objects name goes with them */
    bool read = k8s_decode_one(f->decoder, obj, kind, &d, &e);
    if (!read && kind == OBJ_POD)
        decode_stand_in(f, obj, &d);
    (void)syms_set_passing(store_syms(f->store), passing);
    if (read)
        forgive(f, kind, &m);
    else
        complain(f, kind, &m, &e);
    sb_reset(&f->text);
    if (k8s_keeps_text(kind))
        k8s_keep_text(&f->text, kind, obj);
    store_put(f->store, &(struct store_object){.kind = kind,
                                               .box = d.box,
                                               .meta = &m,
                                               .decoded = d.what,
                                               .text = sb_view(&f->text),
                                               .digest = digest_of(sb_view(&f->text))});
    podspecs_drop_unused(store_specs(f->store));
}

bool feed_read_template(struct feed *f, const struct tree *workload, struct decoded *ret, struct err *e)
{
    const struct tree *template = tree_at(workload, "spec", "template", NULL);
    struct tree *obj;

    if (!template)
        return err_set(e, ERR_INVALID, "spec.template: required");
    arena_reset(f->scratch);
    obj = tree_new_map(f->scratch);
    *tree_put(f->scratch, obj, STR("metadata")) = *tree_get(workload, "metadata");
    *tree_put(f->scratch, obj, STR("template")) = *template;
    bool passing = syms_set_passing(store_syms(f->store), true);
    bool read = k8s_decode_one(f->decoder, obj, OBJ_PODTEMPLATE, ret, e);
    (void)syms_set_passing(store_syms(f->store), passing);
    return read;
}

void feed_gone(struct feed *f, enum object_kind kind, const struct tree *obj)
{
    struct object_meta m;

    if (!know(f, kind, obj, &m))
        return;
    forgive(f, kind, &m);
    store_remove(f->store, kind, m.ns, m.name, m.version);
}

static bool is_over(const struct tree *obj)
{
    const struct tree *m = tree_get(obj, "metadata"), *finalizers = tree_get(m, "finalizers");

    return tree_get(m, "deletionTimestamp") && (!finalizers || finalizers->n == 0);
}

void feed_answer(struct feed *f, enum object_kind kind, const struct tree *obj)
{
    if (k8s_keeps_text(kind) && is_over(obj))
        feed_gone(f, kind, obj);
    else
        feed_put(f, kind, obj);
}
