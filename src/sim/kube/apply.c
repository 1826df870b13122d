/* Server-side apply: merge the configuration, take out what its manager no longer configures and nobody else owns, see whom the
 * outcome would offend, and note who owns what. */
#include "base/vec.h"
#include "data/edit.h"
#include "data/reader.h"
#include "sim/kube/apply_impl.h"
#include "sim/kube/managed.h"
#include "sim/kube/patch.h"
#include "sim/kube/patch_impl.h"
#include "sim/kube/status.h"
#include "sim/kube/typed.h"

#define LAST_APPLIED STR("kubectl.kubernetes.io/last-applied-configuration")
#define KUBECTL STR("kubectl")

struct apply {
    struct arena *a;
    const struct schema *s;
    const struct tree *live, *config;
    const struct apply_options *o;
    struct managed owners;
};

/* ---- conflicts ---- */

struct conflicts {
    struct arena *a;
    const struct owner_entry *with;
    VEC(struct cause) list;
    struct sb several; /* the list form of the sentence */
};

static str name_of(struct arena *a, const struct owner_entry *e)
{
    struct sb b = {0};

    sb_printf(&b, "\"" STR_FMT "\"", STR_ARG(e->manager));
    if (e->subresource.n)
        sb_printf(&b, " with subresource \"" STR_FMT "\"", STR_ARG(e->subresource));
    if (!e->applies)
        sb_printf(&b, " using " STR_FMT, STR_ARG(e->version));
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static void add_conflict(void *ctx, str path)
{
    struct conflicts *c = ctx;
    str name = name_of(c->a, c->with);

    vec_push(&c->list, (struct cause){.reason = STR("FieldManagerConflict"),
                                      .message = arena_printf(c->a, "conflict with " STR_FMT, STR_ARG(name)),
                                      .field = path});
    sb_printf(&c->several, "\n- " STR_FMT, STR_ARG(path));
}

static bool refuse_conflicts(struct conflicts *c, struct status *st)
{
    str several = sb_view(&c->several);

    if (c->list.n == 1) {
        const struct cause *only = &c->list.v[0];

        (void)refuse(c->a, st, 409, "Conflict", "Apply failed with 1 conflict: " STR_FMT ": " STR_FMT,
                     STR_ARG(only->message), STR_ARG(only->field));
    } else {
        (void)refuse(c->a, st, 409, "Conflict", "Apply failed with %u conflicts: " STR_FMT, c->list.n,
                     STR_ARG(several));
    }
    st->causes = arena_dup_array(c->a, struct cause, c->list.v, c->list.n);
    st->n_causes = c->list.n;
    return false;
}

static int by_identity(const void *a, const void *b, void *ctx)
{
    const struct owner_entry *x = *(struct owner_entry *const *)a, *y = *(struct owner_entry *const *)b;
    int c = str_cmp(x->manager, y->manager);

    (void)ctx;
    if (c == 0)
        c = (int)y->applies - (int)x->applies;
    if (c == 0)
        c = str_cmp(x->version, y->version);
    return c ? c : str_cmp(x->subresource, y->subresource);
}

/* Fields of others that the outcome would change, besides those that are allowed. */
static bool has_no_conflicts(struct apply *p, const struct owner_entry *own, const struct tree *taken,
                             const struct tree *allowed, struct status *st)
{
    struct conflicts c = {.a = p->a};
    VEC(struct owner_entry *) order = {0};

    for (uint32_t i = 0; i < p->owners.list.n; i++)
        vec_push(&order, &p->owners.list.v[i]);
    sort_stable(order.v, order.n, sizeof(*order.v), by_identity, NULL);
    for (uint32_t i = 0; i < order.n; i++) {
        if (order.v[i] == own)
            continue;
        const struct tree *both = fields_common(p->a, order.v[i]->fields, taken);
        const struct tree *bad = fields_minus(p->a, both, allowed);
        if (fields_empty(bad))
            continue;
        str name = name_of(p->a, order.v[i]);
        sb_printf(&c.several, "%sconflicts with " STR_FMT ":", c.several.n ? "\n" : "", STR_ARG(name));
        c.with = order.v[i];
        fields_each(p->a, bad, add_conflict, &c);
    }
    bool ok = c.list.n == 0 || refuse_conflicts(&c, st);
    vec_fini(&order);
    vec_fini(&c.list);
    sb_fini(&c.several);
    return ok;
}

/* ---- objects that kubectl applied on its own side before ---- */

static str last_applied(const struct tree *obj)
{
    const struct tree *annotations = tree_at(obj, "metadata", "annotations", NULL);

    return tree_str(tree_find((struct tree *)annotations, LAST_APPLIED));
}

/* What kubectl once applied and is still as it was: kubectl may take that from whoever owns it. */
static const struct tree *allowed_conflicts(struct apply *p)
{
    const struct tree *config;
    struct err e;
    str text = p->live ? last_applied(p->live) : (str){0};

    if (!str_eq(p->o->manager, KUBECTL) || !text.n || !tree_parse_json(p->a, "last-applied", text, &config, &e) ||
        config->kind != TREE_MAP || !str_eq(tree_str(tree_get(config, "apiVersion")), p->o->api_version))
        return &fields_none;
    struct difference d = typed_compare(p->a, p->s, config, p->live, p->o);
    const struct tree *all = typed_fields(p->a, p->s, config, p->o);
    return fields_minus(p->a, fields_minus(p->a, all, d.taken), d.removed);
}

/* Where there is an annotation of client-side apply, it is kept up to date for kubectl. */
static void sync_last_applied(struct apply *p, struct tree *obj)
{
    struct sb b = {0};

    if (!str_eq(p->o->manager, KUBECTL) || p->o->subresource.n || !last_applied(obj).n)
        return;
    struct tree *config = tree_copy(p->a, p->config), *meta = tree_find(config, STR("metadata"));
    struct tree *annotations = tree_find(meta, STR("annotations"));
    if (annotations && tree_drop(annotations, LAST_APPLIED) && annotations->n == 0)
        (void)tree_drop(meta, STR("annotations"));
    fields_json(&b, config);
    sb_char(&b, '\n');
    struct tree *to = tree_sub(p->a, tree_sub(p->a, obj, "metadata"), "annotations");
    *tree_put(p->a, to, LAST_APPLIED) = tree_of_str(sb_dup(&b, p->a));
    sb_fini(&b);
}

/* ---- the steps ---- */

/* An object that nobody is noted for has been written by somebody. */
static void own_before_first_apply(struct apply *p)
{
    struct apply_options before = *p->o;

    if (!p->live || p->owners.list.n)
        return;
    before.manager = STR("before-first-apply");
    before.subresource = (str){0};
    const struct tree *taken = typed_compare(p->a, p->s, NULL, p->live, &before).taken;
    struct owner_entry *e = managed_add(&p->owners, &before, false);
    e->fields = taken;
    e->time = managed_time(p->a, p->o->now_ms);
}

/* Fields that the manager applied before and does not apply any more, if nobody else has them. */
static struct tree without_abandoned(struct apply *p, const struct tree *merged, const struct tree *before)
{
    const struct tree *kept = typed_fields(p->a, p->s, p->config, NULL); /* metadata stays for the name's sake */
    const struct tree *gone = typed_with_structs(p->a, p->s, before);

    if (fields_empty(before))
        return *merged;
    gone = fields_minus(p->a, gone, typed_with_structs(p->a, p->s, kept));
    for (uint32_t i = 0; i < p->owners.list.n; i++)
        gone = fields_minus(p->a, gone, typed_with_structs(p->a, p->s, p->owners.list.v[i].fields));
    return typed_without(p->a, p->s, merged, gone);
}

static bool run(struct apply *p, struct tree **ret, struct status *st)
{
    static const struct tree blank = {.kind = TREE_MAP};
    const struct tree *live = p->live ? p->live : &blank;
    struct tree merged = typed_merge(p->a, p->s, live, p->config);

    own_before_first_apply(p);
    struct owner_entry *own = managed_find(&p->owners, p->o, true);
    if (!own)
        own = managed_add(&p->owners, p->o, true);
    const struct tree *before = own->fields, *fields = typed_fields(p->a, p->s, p->config, p->o);
    if (!tree_equal(before, fields) || !str_eq(own->version, p->o->api_version))
        managed_touch(own, fields);
    own->version = arena_strdup(p->a, p->o->api_version);

    merged = without_abandoned(p, &merged, before);
    struct difference d = typed_compare(p->a, p->s, p->live, &merged, p->o);
    if (!p->o->force && !has_no_conflicts(p, own, d.taken, &fields_none, st)) {
        const struct tree *allowed = allowed_conflicts(p);

        if (fields_empty(allowed) || !has_no_conflicts(p, own, d.taken, allowed, st))
            return false;
    }
    managed_take(&p->owners, d.taken, own);
    managed_take(&p->owners, d.removed, own);
    *ret = tree_copy(p->a, &merged);
    if (!p->live || !tree_equal(p->live, *ret)) {
        own->time = managed_time(p->a, p->o->now_ms);
        own->source = NULL;
    }
    sync_last_applied(p, *ret);
    managed_write(&p->owners, *ret);
    return true;
}

bool apply_patch(struct arena *a, const struct schema *s, struct tree **live, const struct tree *config,
                 const struct apply_options *o, struct status *st)
{
    struct apply p = {.a = a, .s = typed_object(a, s), .live = *live, .config = config, .o = o, .owners = {.a = a}};

    if (tree_find(tree_find((struct tree *)config, STR("metadata")), STR("managedFields")))
        return refuse(a, st, 400, "BadRequest", "metadata.managedFields must be nil");
    if (!config_fits(a, p.s, config, o, st))
        return false;
    if (p.live && !managed_read(&p.owners, p.live))
        p.owners.list.n = 0;
    bool ok = run(&p, live, st);
    managed_fini(&p.owners);
    return ok;
}
