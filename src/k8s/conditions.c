/* Status conditions on trees. The one rule behind all of it: a condition that is set goes to the end of the list, and the list is then put in the order of
 * transition times, equal ones as they stand. Objects of the real thing carry the traces of that order, so ours do too. */
#include "k8s/conditions.h"

#include "base/vec.h"
#include "data/edit.h"
#include "model/duration.h"

static const char *const claim_dependents[] = {"Launched", "Registered", "Initialized"};
static const char *const overlay_dependents[] = {"ValidationSucceeded"};
static const char *const pool_dependents[] = {"ValidationSucceeded", "NodeClassReady"};

const struct cond_set conds_nodeclaim = {claim_dependents, ARRAY_LEN(claim_dependents), false};
const struct cond_set conds_nodepool = {pool_dependents, ARRAY_LEN(pool_dependents), false};
const struct cond_set conds_overlay = {overlay_dependents, ARRAY_LEN(overlay_dependents), false};
const struct cond_set conds_buffer = {NULL, 0, true};

#define ROOT "Ready"

/* ---- reading ---- */

static const struct tree *find(const struct tree *obj, const char *type)
{
    const struct tree *list = tree_at(obj, "status", "conditions", NULL);

    for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), type))
            return &list->items[i];
    return NULL;
}

static int64_t time_of(const struct tree *t)
{
    int64_t ms = INT64_MIN;
    struct err e;

    return time_parse_rfc3339(tree_str(t), &ms, &e) ? ms : INT64_MIN;
}

static struct cond view(const struct tree *c)
{
    struct cond v = {
        .present = c != NULL,
        .status = tree_str(tree_get(c, "status")),
        .reason = tree_str(tree_get(c, "reason")),
        .message = tree_str(tree_get(c, "message")),
        .since_ms = time_of(tree_get(c, "lastTransitionTime")),
    };
    const struct tree *g = tree_get(c, "observedGeneration");

    if (!g || !tree_to_i64(g, &v.observed))
        v.observed = 0;
    return v;
}

struct cond cond_get(const struct tree *obj, const char *type)
{
    return view(find(obj, type));
}

bool cond_is_true(const struct tree *obj, const char *type)
{
    return str_is(cond_get(obj, type).status, "True");
}

bool cond_is_false(const struct tree *obj, const char *type)
{
    return str_is(cond_get(obj, type).status, "False");
}

bool cond_is_unknown(const struct tree *obj, const char *type)
{
    struct cond c = cond_get(obj, type);

    return !c.present || str_is(c.status, "Unknown");
}

/* ---- writing ---- */

static bool is_dependent(const struct cond_set *s, str type)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (str_is(type, s->dependents[i]))
            return true;
    return false;
}

static int64_t generation_of(const struct tree *obj)
{
    const struct tree *g = tree_at(obj, "metadata", "generation", NULL);
    int64_t v = 0;

    return g && tree_to_i64(g, &v) ? v : 0;
}

static str time_text(struct arena *a, int64_t ms)
{
    struct sb b = {0};
    int64_t fraction = (ms % 1000 + 1000) % 1000;

    time_print_rfc3339(&b, ms - fraction);
    if (fraction) {
        b.n--; /* the Z */
        sb_printf(&b, ".%03dZ", (int)fraction);
    }
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static struct tree make(const struct cond_object *o, const char *type, const struct cond *c)
{
    struct tree *t = tree_new_map(o->arena);

    tree_set_str(o->arena, t, "lastTransitionTime", time_text(o->arena, c->since_ms));
    tree_set_str(o->arena, t, "message", arena_strdup(o->arena, c->message));
    if (c->observed)
        tree_set_i64(o->arena, t, "observedGeneration", c->observed);
    tree_set_str(o->arena, t, "reason", arena_strdup(o->arena, c->reason));
    tree_set_str(o->arena, t, "status", arena_strdup(o->arena, c->status));
    tree_set_str(o->arena, t, "type", arena_strdup(o->arena, str_c(type)));
    return *t;
}

static str type_of(const struct tree *c)
{
    return tree_str(tree_get(c, "type"));
}

static int by_transition(const void *a, const void *b, void *ctx)
{
    bool last_a = str_is(type_of(a), ROOT), last_b = str_is(type_of(b), ROOT);
    int64_t ta = time_of(tree_get(a, "lastTransitionTime")), tb = time_of(tree_get(b, "lastTransitionTime"));

    (void)ctx;
    if (last_a || last_b)
        return last_a - last_b;
    return (ta > tb) - (ta < tb);
}

static int newest_first(const void *a, const void *b, void *ctx)
{
    const struct tree *const *x = a, *const *y = b;
    int64_t tx = time_of(tree_get(*x, "lastTransitionTime")), ty = time_of(tree_get(*y, "lastTransitionTime"));

    (void)ctx;
    return (tx < ty) - (tx > ty);
}

static int by_type(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(type_of(a), type_of(b));
}

/* Ready is what the dependents say: those that are not True, or were judged for an older spec, are named. */
static void recompute_root(const struct cond_object *o)
{
    const struct tree *list = tree_at(o->obj, "status", "conditions", NULL);
    int64_t generation = generation_of(o->obj);
    VEC(const struct tree *) sick = {0};
    struct sb b = {0};
    bool any_false = false;

    for (uint32_t i = 0; list && i < list->n; i++) {
        struct cond c = view(&list->items[i]);

        if (!is_dependent(o->set, type_of(&list->items[i])))
            continue;
        if (str_is(c.status, "True") && c.observed == generation)
            continue;
        any_false |= str_is(c.status, "False") && c.observed == generation;
        vec_push(&sick, &list->items[i]);
    }
    if (sick.n)
        sort_stable(sick.v, sick.n, sizeof(*sick.v), newest_first, NULL);
    for (uint32_t i = 0; i < sick.n; i++)
        sb_printf(&b, "%s" STR_FMT "=" STR_FMT, i ? ", " : "", STR_ARG(type_of(sick.v[i])),
                  STR_ARG(tree_str(tree_get(sick.v[i], "status"))));
    str message = sb_dup(&b, o->arena);
    sb_fini(&b);
    uint32_t n = sick.n;
    vec_fini(&sick);
    if (n == 0)
        conds_true(o, ROOT);
    else if (any_false)
        conds_false(o, ROOT, STR("UnhealthyDependents"), message);
    else
        conds_unknown(o, ROOT, STR("ReconcilingDependents"), message);
}

static int64_t transition_ms(const struct cond_object *o, const struct cond *was, const char *type, const char *status)
{
    if (was->present)
        return str_is(was->status, status) && was->since_ms != INT64_MIN ? was->since_ms : o->now_ms;
    if (!str_is(str_c(type), ROOT) && !is_dependent(o->set, str_c(type)))
        return o->now_ms;
    int64_t created = time_of(tree_at(o->obj, "metadata", "creationTimestamp", NULL));
    return created == INT64_MIN ? o->now_ms : created; /* an object that was never sent */
}

/* In the place that it has, or at the end. */
static void set_plain(const struct cond_object *o, struct tree *list, struct tree value)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(type_of(&list->items[i]), type_of(&value))) {
            list->items[i] = value;
            return;
        }
    tree_push(o->arena, list, value);
}

bool conds_set(const struct cond_object *o, const char *type, const char *status, str reason, str message)
{
    struct cond was = cond_get(o->obj, type);
    struct cond is = {.status = str_c(status), .reason = reason, .message = message};
    struct tree *list = tree_sublist(o->arena, tree_sub(o->arena, o->obj, "status"), "conditions");

    is.observed = generation_of(o->obj);
    is.since_ms = transition_ms(o, &was, type, status);
    if (was.present && str_eq(was.status, is.status) && str_eq(was.reason, reason) && str_eq(was.message, message) &&
        was.observed == is.observed)
        return false;
    struct tree value = make(o, type, &is);
    if (o->set->plain) {
        set_plain(o, list, value);
        return true;
    }
    bool deleting = tree_at(o->obj, "metadata", "deletionTimestamp", NULL) != NULL;
    for (uint32_t i = list->n; i-- > 0;)
        if (str_is(type_of(&list->items[i]), type))
            tree_remove(list, i);
        else if (deleting)
            tree_set_i64(o->arena, &list->items[i], "observedGeneration", is.observed);
    tree_push(o->arena, list, value);
    sort_stable(list->items, list->n, sizeof(*list->items), by_transition, NULL);
    if (!str_is(str_c(type), ROOT))
        recompute_root(o);
    return true;
}

void conds_init(const struct cond_object *o)
{
    for (uint32_t i = 0; i <= o->set->n; i++) {
        const char *type = i == 0 ? ROOT : o->set->dependents[i - 1];

        if (!cond_get(o->obj, type).present)
            conds_unknown(o, type, STR("AwaitingReconciliation"), STR("object is awaiting reconciliation"));
    }
}

bool conds_true(const struct cond_object *o, const char *type)
{
    return conds_set(o, type, "True", str_c(type), STR(""));
}

bool conds_true_because(const struct cond_object *o, const char *type, str reason, str message)
{
    return conds_set(o, type, "True", reason, message);
}

bool conds_false(const struct cond_object *o, const char *type, str reason, str message)
{
    return conds_set(o, type, "False", reason, message);
}

bool conds_unknown(const struct cond_object *o, const char *type, str reason, str message)
{
    return conds_set(o, type, "Unknown", reason, message);
}

bool conds_refresh(const struct cond_object *o, const char *type)
{
    struct cond c = cond_get(o->obj, type);
    const char *status = str_is(c.status, "True") ? "True" : str_is(c.status, "False") ? "False" : "Unknown";

    return c.present && conds_set(o, type, status, c.reason, c.message);
}

bool conds_clear(const struct cond_object *o, const char *type)
{
    struct tree *status = tree_find(o->obj, STR("status"));
    struct tree *list = status ? tree_find(status, STR("conditions")) : NULL;
    bool found = false;

    assert(!is_dependent(o->set, str_c(type)) && !str_is(str_c(type), ROOT));
    for (uint32_t i = list && list->kind == TREE_LIST ? list->n : 0; i-- > 0;)
        if (str_is(type_of(&list->items[i]), type)) {
            tree_remove(list, i);
            found = true;
        }
    if (!found)
        return false;
    /* quirk: by name and not by time, Ready among the others, until the next condition is set (lifecycle 1.1 rule 4) */
    sort_stable(list->items, list->n, sizeof(*list->items), by_type, NULL);
    return true;
}

void conds_round(struct arena *a, struct tree *obj)
{
    struct tree *status = tree_find(obj, STR("status"));
    struct tree *list = status && status->kind == TREE_MAP ? tree_find(status, STR("conditions")) : NULL;

    for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n; i++) {
        int64_t ms = time_of(tree_get(&list->items[i], "lastTransitionTime"));

        if (ms != INT64_MIN && ms % 1000 != 0)
            tree_set_str(a, &list->items[i], "lastTransitionTime", time_text(a, ms - (ms % 1000 + 1000) % 1000));
    }
}

bool conds_has_always(const struct cond_set *s, const char *type)
{
    return str_is(str_c(type), ROOT) || is_dependent(s, str_c(type));
}

/* ---- two writers ---- */

static uint32_t index_of(const struct tree *list, str type)
{
    for (uint32_t i = 0; list && list->kind == TREE_LIST && i < list->n; i++)
        if (str_eq(type_of(&list->items[i]), type))
            return i;
    return UINT32_MAX;
}

static const struct tree *at(const struct tree *list, uint32_t ix)
{
    return ix == UINT32_MAX ? NULL : &list->items[ix];
}

static bool same(const struct tree *a, const struct tree *b)
{
    return a && b ? tree_equal(a, b) : a == b;
}

static void merge_one(struct arena *a, struct tree *list, const struct tree *before, const struct tree *latest,
                      str type)
{
    uint32_t ours_ix = index_of(list, type);
    const struct tree *ours = at(list, ours_ix), *was = at(before, index_of(before, type)),
                      *theirs = at(latest, index_of(latest, type));

    if (!same(ours, was) || same(ours, theirs))
        return; /* we changed it, or they did not */
    if (ours)
        tree_remove(list, ours_ix);
    if (theirs)
        tree_push(a, list, *tree_copy(a, theirs));
}

void conds_merge(struct arena *a, struct tree *list, const struct tree *before, const struct tree *latest)
{
    for (uint32_t i = 0; before && i < before->n; i++)
        merge_one(a, list, before, latest, type_of(&before->items[i]));
    for (uint32_t i = 0; latest && i < latest->n; i++)
        merge_one(a, list, before, latest, type_of(&latest->items[i]));
    sort_stable(list->items, list->n, sizeof(*list->items), by_transition, NULL);
}
