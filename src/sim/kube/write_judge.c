/* What a write has to pass before anything is made of it: decoding, defaults, admission, validation. */
#include "sim/kube/write_judge.h"
#include "data/edit.h"
#include "data/json.h"
#include "sim/kube/patch.h"
#include "sim/kube/rules/rule.h"
#include "sim/kube/schema.h"

/* ---- what a client sent ---- */

static str joined(struct arena *a, const struct causes *c)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < c->list.n; i++) {
        sb_c(&b, i ? ", " : "");
        sb_str(&b, c->list.v[i].message);
    }
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

/* The object with its own members in order of their names, as a patched object of a built-in kind is shown. */
static const struct tree *sorted_members(struct arena *a, struct tree *t)
{
    uint32_t *order = arena_new_array(a, uint32_t, t->n);
    struct tree *sorted = tree_new_map(a);

    for (uint32_t i = 0; i < t->n; i++)
        order[i] = i;
    sort_stable(order, t->n, sizeof(*order), by_key, t);
    for (uint32_t i = 0; i < t->n; i++)
        *tree_put(a, sorted, t->keys[order[i]]) = t->items[order[i]];
    return sorted;
}

/* quirk: what is wrong with a patched object is said of a field "patch", with all of the object before the reason. */
static bool refuse_patched(struct write *w, str why)
{
    struct sb text = {0};
    struct jw jw = {.out = &text};

    if (w->kind->crd)
        json_sorted(&jw, w->obj);
    else
        jw_tree(&jw, sorted_members(w->a, w->obj));
    (void)patch_misfits(w->a, w->st, sb_view(&text), why);
    sb_fini(&text);
    return false;
}

static bool refuse_decoding(struct write *w, str why)
{
    const struct kind *k = w->kind;

    if (w->patch)
        return refuse_patched(w, why);
    return status_bad_request(w->a, w->st, 400,
                              STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT ": " STR_FMT,
                              STR_ARG(k->name), STR_ARG(k->version), STR_ARG(k->name), STR_ARG(why));
}

/* Those members that are not as they are in `known`, which was decoded before; NULL: all. */
static struct tree *news_of(struct write *w, const struct tree *known)
{
    if (!known)
        return w->obj;
    struct tree *news = tree_new_map(w->a);

    for (uint32_t i = 0; i < w->obj->n; i++) {
        const struct tree *was = tree_find((struct tree *)known, w->obj->keys[i]);

        if (!was || !tree_same(&w->obj->items[i], was))
            *tree_put(w->a, news, w->obj->keys[i]) = w->obj->items[i];
    }
    return news;
}

static bool has_unknown_fields(struct write *w, struct tree *news)
{
    struct causes unknown = {.a = w->a};

    schema_unknown(w->a, w->kind->schema, news, /* prune= */ false, &unknown);
    bool any = unknown.list.n > 0;
    causes_fini(&unknown);
    return any;
}

static bool known_fields(struct write *w, struct tree *news)
{
    struct causes unknown = {.a = w->a};
    bool ok = true;

    if (!has_unknown_fields(w, news))
        return true;
    schema_unknown(w->a, w->kind->schema, w->obj, /* prune= */ w->o->fields != FIELDS_STRICT, &unknown);
    if (unknown.list.n && w->o->fields == FIELDS_STRICT)
        ok = refuse_decoding(w, arena_printf(w->a, "strict decoding error: " STR_FMT, STR_ARG(joined(w->a, &unknown))));
    else if (w->o->fields == FIELDS_WARN && w->o->warnings)
        for (uint32_t i = 0; i < unknown.list.n; i++)
            vec_push(&w->o->warnings->list, unknown.list.v[i].message);
    causes_fini(&unknown);
    return ok;
}

/* known: the object before, all of whose fields this schema knows; NULL: there is none. */
bool judge_decode(struct write *w, const struct tree *known)
{
    struct err e;

    if (w->obj->kind != TREE_MAP)
        return refuse_decoding(w, STR("json: cannot unmarshal array into Go value of type map[string]interface {}"));
    if (!meta_decodes(w->a, w->kind, w->obj, w->st))
        return false;
    str kind = tree_str(tree_get(w->obj, "kind"));
    if (w->patch && kind.n && !str_eq(kind, w->kind->name))
        return refuse_decoding(
            w,
            arena_printf(w->a, "converting (" STR_FMT "." STR_FMT ") to (" STR_FMT "." STR_FMT "): unknown conversion",
                         STR_ARG(w->kind->version), STR_ARG(kind),
                         STR_ARG(w->kind->group.n ? w->kind->group : STR("core")), STR_ARG(w->kind->name)));
    if (!w->o || !w->kind->schema)
        return true;
    struct tree *news = news_of(w, known);
    if (!known_fields(w, news))
        return false;
    if (!w->kind->crd && !schema_decodes(w->kind->schema, news, &e))
        return refuse_decoding(w, arena_strdup(w->a, str_c(e.msg)));
    return true;
}

/* From here on the object is in the shape in which it is stored. */
void judge_shape(struct write *w)
{
    w->asked = w->kind->shape_of ? w->kind : NULL;
    w->kind = shape_to_stored(w->a, w->kind, w->obj);
}

const struct kind *judge_asked(const struct write *w)
{
    return w->asked ? w->asked : w->kind;
}

void judge_defaults(struct write *w)
{
    if (w->kind->crd && w->kind->schema)
        schema_default(w->a, w->kind->schema, w->obj);
    if (w->kind->rules && w->kind->rules->defaults)
        w->kind->rules->defaults(w->a, w->obj);
}

struct tree *judge_meta(struct write *w)
{
    return tree_sub(w->a, w->obj, "metadata");
}

str judge_name(struct write *w)
{
    return tree_str(tree_get(judge_meta(w), "name"));
}

/* ---- admission and validation ---- */

bool judge_namespace(struct write *w)
{
    str ns = tree_str(tree_get(judge_meta(w), "namespace"));

    if (!w->kind->namespaced || ns.n == 0)
        return true;
    const struct object *o = kube_get(w->k, w->k->namespaces, (str){0}, ns);
    if (!o)
        return status_not_found(w->a, w->st, w->k->namespaces, ns);
    if (!o->deleted_ms)
        return true;
    struct cause *c = arena_new_one(w->a, struct cause);
    *c = (struct cause){STR("NamespaceTerminating"),
                        arena_printf(w->a, "namespace " STR_FMT " is being terminated", STR_ARG(ns)),
                        STR("metadata.namespace")};
    (void)status_forbidden(w->a, w->st, judge_asked(w), judge_name(w),
                           "unable to create new content in namespace " STR_FMT " because it is being terminated",
                           STR_ARG(ns));
    w->st->causes = c;
    w->st->n_causes = 1;
    return false;
}

static struct rule_context rule_context(struct write *w)
{
    return (struct rule_context){.a = w->a,
                                 .kube = w->k,
                                 .kind = judge_asked(w),
                                 .sub = w->sub,
                                 .user = w->o ? w->o->user : (str){0},
                                 .now_ms = world_now_ms(w->k->world)};
}

bool judge_admit(struct write *w, const struct tree *old)
{
    const struct kind_rules *r = w->kind->rules;
    struct rule_context c = rule_context(w);
    str denied = {0};

    if (r && !old && r->on_create)
        r->on_create(&c, w->obj, &denied);
    else if (r && old && r->on_update)
        r->on_update(&c, w->obj, old, &denied);
    if (denied.n)
        return status_forbidden(w->a, w->st, judge_asked(w), judge_name(w), STR_FMT, STR_ARG(denied));
    return true;
}

void judge_by_rules(struct write *w, const struct tree *old, struct causes *out)
{
    struct rule_context rc = rule_context(w);

    if (rc.kind->rules && rc.kind->rules->validate)
        rc.kind->rules->validate(&rc, w->obj, old, out);
}

/* Ends a validation: false, and the refusal is written, when something is wrong. */
bool judge_ends(struct write *w, str name, struct causes *c)
{
    bool ok = c->list.n == 0 || status_invalid(w->a, w->st, w->kind, name, c);

    causes_fini(c);
    return ok;
}

bool judge_validate(struct write *w, const struct object *was, const struct tree *old)
{
    bool was_valid = was && revision_of(was)->valid_by == w->kind->schema;
    struct causes c = {.a = w->a};
    const struct tree *meta = judge_meta(w);

    if (old)
        meta_validate_update(&c, w->kind, meta, tree_get(old, "metadata"));
    else
        meta_validate(&c, w->kind, meta);
    if (w->kind->crd && w->kind->schema)
        schema_validate(w->a, w->kind->schema, w->obj, old, was_valid, &c);
    if (w->kind->crd && w->kind->has_scale)
        scale_validate(&c, w->kind, w->obj);
    judge_by_rules(w, old, &c);
    return judge_ends(w, judge_name(w), &c);
}
