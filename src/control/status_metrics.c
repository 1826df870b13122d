#include "control/status_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "control/metrics.h"
#include "data/json_own.h"
#include "k8s/conditions.h"

#define MAX_EXTRA 16u

/* One kind that is looked at. */
struct watched {
    struct status_watch *s;
    enum object_kind kind;
    const struct api_kind *api;
    const struct cond_set *set; /* NULL: not ours */
    const struct status_metrics *own;
    const struct status_metrics *any; /* of all kinds together; NULL: not for this one */
    sym extra[MAX_EXTRA];             /* keys of labels whose values the series carry */
};

struct status_watch {
    struct control *c;
    struct watched kinds[5];
    uint32_t n;
    struct api_kind class;
    struct arena *tmp;
};

/* ---- reading objects ---- */

static str after(str text, const char *what)
{
    const char *p = text.n ? memmem(text.p, text.n, what, strlen(what)) : NULL;

    return p ? str_sub(text, (size_t)(p - text.p), text.n) : (str){0};
}

/* The list that a member of this name holds, as text; empty when there is none. Texts of the store are compact, and a quote inside a string has a backslash before
 * it, so that the pattern cannot be met within one. */
static str list_text(str object, const char *member)
{
    str at = after(object, member);
    size_t i = strlen(member) - 1; /* the member's text ends with the bracket */
    bool quoted = false;
    int depth = 0;

    for (; i < at.n; i++) {
        char c = at.p[i];

        if (c == '"')
            quoted = !quoted;
        else if (c == '\\')
            i++;
        else if (!quoted && c == '[')
            depth++;
        else if (!quoted && c == ']' && --depth == 0)
            return str_sub(at, strlen(member) - 1, i + 1);
    }
    return (str){0};
}

static str conditions_text(str object)
{
    return list_text(after(object, "\"status\":{"), "\"conditions\":[");
}

static str finalizers_text(str object)
{
    return list_text(object, "\"finalizers\":[");
}

static const struct tree *read_list(struct arena *a, str text)
{
    return text.n ? json_read_own(a, text) : NULL;
}

/* As an object whose conditions these are, for conditions.h. */
static struct tree object_of(struct arena *a, const struct tree *list)
{
    struct tree *status = arena_new_one(a, struct tree), *items = arena_new_array(a, struct tree, 1);
    str *keys = arena_new_array(a, str, 2);

    keys[0] = STR("conditions");
    keys[1] = STR("status");
    items[0] = list ? *list : (struct tree){.kind = TREE_LIST};
    *status = (struct tree){.kind = TREE_MAP, .n = 1, .items = items, .keys = keys};
    return (struct tree){.kind = TREE_MAP, .n = 1, .items = status, .keys = keys + 1};
}

static const char *type_of(struct arena *a, const struct tree *cond)
{
    return arena_printf(a, STR_FMT "%c", STR_ARG(tree_str(tree_get(cond, "type"))), 0).p;
}

/* As people know it: buffers are kept as "namespace/name", node classes as "group/kind/name". */
static str name_of(const struct watched *w, const struct kept *k, str *ret_ns)
{
    str name = k->name, head;

    *ret_ns = STR("");
    if (w->kind == OBJ_BUFFER)
        (void)str_cut(k->name, '/', ret_ns, &name);
    if (w->kind == OBJ_NODECLASS) {
        (void)str_cut(name, '/', &head, &name);
        (void)str_cut(name, '/', &head, &name);
    }
    return name;
}

static lset_id labels_of(const struct watched *w, const void *decoded)
{
    if (!decoded || w->own->n_extra == 0)
        return (lset_id){0};
    return w->kind == OBJ_NODE ? ((const struct node *)decoded)->labels : ((const struct nodeclaim *)decoded)->labels;
}

/* Values of the labels that the kind's series have besides, put behind the n that are there. */
static uint32_t put_extra(const struct watched *w, lset_id labels, str *vals, uint32_t n)
{
    const struct syms *t = w->s->c->syms;
    sym v;

    for (uint32_t i = 0; i < w->own->n_extra; i++)
        vals[n++] = lset_value(t, labels, w->extra[i], &v) ? sym_str(t, v) : STR("");
    return n;
}

static uint32_t put_any(const struct watched *w, str *vals, uint32_t n)
{
    vals[n++] = str_c(w->api->group);
    vals[n++] = str_c(w->api->kind);
    return n;
}

/* ---- what changes ---- */

static void tell_transition(const struct watched *w, const struct kept *k, const char *type, struct cond old,
                            struct cond now)
{
    struct arena *a = w->s->tmp;
    str message = arena_printf(
        a, "Status condition transitioned, Type: %s, Status: " STR_FMT " -> " STR_FMT ", Reason: " STR_FMT "%s" STR_FMT,
        type, STR_ARG(old.status), STR_ARG(now.status), STR_ARG(now.reason), now.message.n ? ", Message: " : "",
        STR_ARG(now.message));
    str ns, name = name_of(w, k, &ns);

    recorder_publish(w->s->c->recorder,
                     &(struct event){.object = {.kind = w->api, .ns = ns, .name = name, .uid = k->uid},
                                     .reason = type,
                                     .message = message});
}

static void count_transition(const struct watched *w, lset_id labels, const char *type, struct cond now)
{
    str vals[MAX_EXTRA + 8] = {str_c(type), now.status, now.reason};

    (void)put_extra(w, labels, vals, 3);
    metric_inc(w->own->transitions_total, 1, vals);
    if (!w->any)
        return;
    (void)put_any(w, vals, 3);
    metric_inc(w->any->transitions_total, 1, vals);
}

static void time_transition(const struct watched *w, lset_id labels, const char *type, struct cond old, struct cond now)
{
    str vals[MAX_EXTRA + 8] = {str_c(type), old.status};
    double took = (double)(now.since_ms - old.since_ms) / 1e3;
    int64_t at = world_now_ms(w->s->c->world);

    if (now.since_ms == INT64_MIN || old.since_ms == INT64_MIN)
        return;
    (void)put_extra(w, labels, vals, 2);
    metric_observe(w->own->transition, took, vals, at);
    if (!w->any)
        return;
    (void)put_any(w, vals, 2);
    metric_observe(w->any->transition, took, vals, at);
}

static void compare_conditions(const struct watched *w, const struct store_event *ev)
{
    struct arena *a = w->s->tmp;
    str was = ev->kept_was ? conditions_text(ev->kept_was->text) : (str){0}, is = conditions_text(ev->kept_is->text);

    if (str_eq(was, is))
        return;
    const struct tree *list = read_list(a, is);
    struct tree before = object_of(a, read_list(a, was)), now = object_of(a, list);
    lset_id labels = labels_of(w, ev->is);
    for (uint32_t i = 0; list && i < list->n; i++) {
        const char *type = type_of(a, &list->items[i]);
        struct cond old = cond_get(&before, type), new = cond_get(&now, type);

        if (!old.present && ev->kept_was && w->set && conds_has_always(w->set, type))
            old = (struct cond){.present = true, .status = STR("Unknown"), .since_ms = ev->kept_was->created_ms};
        if (!old.present && !str_is(new.status, "Unknown")) {
            count_transition(w, labels, type, new);
        } else if (old.present && !str_eq(old.status, new.status)) {
            count_transition(w, labels, type, new);
            time_transition(w, labels, type, old, new);
            tell_transition(w, ev->kept_is, type, old, new);
        }
    }
}

static bool has(const struct tree *list, str s)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(tree_str(&list->items[i]), s))
            return true;
    return false;
}

/* quirk: the event about an object that is gone says only of which kind it was, so that all of a kind fall into one. An answer to a write of our own may tell us of
 * the last finalizer's removal before the watch tells that the object is gone. */
static void compare_finalizers(const struct watched *w, const struct store_event *ev)
{
    struct arena *a = w->s->tmp;
    str was = ev->kept_was ? finalizers_text(ev->kept_was->text) : (str){0};
    str is = ev->kept_is ? finalizers_text(ev->kept_is->text) : (str){0};

    if (str_eq(was, is))
        return;
    const struct tree *old = read_list(a, was), *now = read_list(a, is);
    bool gone = !ev->kept_is || (ev->kept_is->deleted_ms != INT64_MIN && !now);
    for (uint32_t i = 0; old && i < old->n; i++) {
        str name = tree_str(&old->items[i]);

        if (has(now, name))
            continue;
        struct event e = {.object = {.kind = w->api},
                          .reason = "Finalized",
                          .message = arena_printf(a, "Finalized " STR_FMT, STR_ARG(name))};
        if (!gone) {
            e.object.name = name_of(w, ev->kept_is, &e.object.ns);
            e.object.uid = ev->kept_is->uid;
        }
        recorder_publish(w->s->c->recorder, &e);
    }
}

static void time_termination(const struct watched *w, const struct store_event *ev)
{
    str vals[MAX_EXTRA + 8];
    int64_t now = world_now_ms(w->s->c->world);
    double took = (double)(now - ev->kept_was->deleted_ms) / 1e3;

    if (ev->kept_was->deleted_ms == INT64_MIN)
        return;
    (void)put_extra(w, labels_of(w, ev->was), vals, 0);
    metric_observe(w->own->termination_duration, took, vals, now);
    if (!w->any)
        return;
    (void)put_any(w, vals, 0);
    metric_observe(w->any->termination_duration, took, vals, now);
}

/* Nothing but its version, or when pods last came. */
static bool is_alike(const struct store_event *ev)
{
    return ev->kept_was && ev->kept_is && ev->kept_is->digest && ev->kept_was->digest == ev->kept_is->digest;
}

static void on_event(void *ctx, const struct store_event *ev)
{
    struct status_watch *s = ctx;

    for (uint32_t i = 0; i < s->n && !is_alike(ev); i++) {
        const struct watched *w = &s->kinds[i];

        if (w->kind != ev->kind)
            continue;
        if (ev->kept_is)
            compare_conditions(w, ev);
        else
            time_termination(w, ev);
        compare_finalizers(w, ev);
        arena_reset(s->tmp);
    }
}

/* ---- how things are ---- */

static const void *decoded_of(const struct watched *w, str name)
{
    struct store *s = w->s->c->store;

    return w->kind == OBJ_NODE ? (const void *)store_node(s, name) : store_claim(s, name);
}

/* One object's conditions: how they are, or since when. */
static void emit_conditions(const struct watched *w, const struct metric *f, const struct kept *k, bool any,
                            struct sb *out)
{
    struct arena *a = w->s->tmp;
    const struct tree *list = read_list(a, conditions_text(k->text));
    struct tree obj = object_of(a, list);
    bool ages = f == w->own->current_status || (w->any && f == w->any->current_status);
    lset_id labels = any || w->own->n_extra == 0 ? (lset_id){0} : labels_of(w, decoded_of(w, k->name));
    str ns, name = name_of(w, k, &ns);

    for (uint32_t i = 0; list && i < list->n; i++) {
        struct cond c = cond_get(&obj, type_of(a, &list->items[i]));
        str vals[MAX_EXTRA + 8] = {ns, name, tree_str(tree_get(&list->items[i], "type")), c.status, c.reason};

        if (any)
            (void)put_any(w, vals, 5);
        else
            (void)put_extra(w, labels, vals, 5);
        if (!ages)
            metric_emit(out, f, 1, vals);
        else if (c.since_ms != INT64_MIN)
            metric_emit(out, f, (double)(world_now_ms(w->s->c->world) - c.since_ms) / 1e3, vals);
    }
}

static void emit_termination(const struct watched *w, const struct metric *f, const struct kept *k, bool any,
                             struct sb *out)
{
    str ns, name = name_of(w, k, &ns), vals[MAX_EXTRA + 8] = {ns, name};

    if (k->deleted_ms == INT64_MIN)
        return;
    if (any)
        (void)put_any(w, vals, 2);
    else
        (void)put_extra(w, w->own->n_extra == 0 ? (lset_id){0} : labels_of(w, decoded_of(w, k->name)), vals, 2);
    metric_emit(out, f, (double)(world_now_ms(w->s->c->world) - k->deleted_ms) / 1e3, vals);
}

static bool collect_one(const struct watched *w, const struct metric *f, bool any, uint32_t i, struct sb *out)
{
    const struct status_metrics *m = any ? w->any : w->own;
    struct store *s = w->s->c->store;

    if (i >= store_numbers(s, w->kind))
        return false;
    const struct kept *k = store_kept(s, w->kind, store_name_at(s, w->kind, i));
    if (!k)
        return true; /* a gap */
    if (f == m->termination_current)
        emit_termination(w, f, k, any, out);
    else
        emit_conditions(w, f, k, any, out);
    arena_reset(w->s->tmp);
    return true;
}

static bool collect(void *ctx, const struct metric *f, uint32_t i, struct sb *out)
{
    return collect_one(ctx, f, /* any= */ false, i, out);
}

/* The number says of which kind the object is, too: kinds take turns, so that it does not change when one has more of them. */
static bool collect_any(void *ctx, const struct metric *f, uint32_t i, struct sb *out)
{
    struct status_watch *s = ctx;
    const uint32_t n = s->n;
    bool more = false;

    for (uint32_t k = 0; k < n; k++)
        more = more || (s->kinds[k].any && i / n < store_numbers(s->c->store, s->kinds[k].kind));
    if (s->kinds[i % n].any)
        (void)collect_one(&s->kinds[i % n], f, /* any= */ true, i / n, out);
    return more;
}

/* ---- set-up ---- */

/* What is there already is seen for the first time. */
static void see_all(struct status_watch *s, const struct watched *w)
{
    struct store *store = s->c->store;

    for (uint32_t i = 0; i < store_numbers(store, w->kind); i++) {
        const struct kept *k = store_kept(store, w->kind, store_name_at(store, w->kind, i));
        const void *decoded = k && w->own->n_extra ? decoded_of(w, k->name) : NULL;

        if (k)
            compare_conditions(w, &(struct store_event){.kind = w->kind, .kept_is = k, .is = decoded});
        arena_reset(s->tmp);
    }
}

static void watch_kind(struct status_watch *s, struct watched *w, bool with_labels, bool initialized)
{
    struct control *c = s->c;
    uint32_t n = 0;

    w->s = s;
    for (uint32_t i = 0; with_labels && i < c->cloud->n_classes; i++) {
        const struct cloud_class *k = &c->cloud->classes[i];
        struct nodeclass_ref ref = {.group = str_c(k->group), .kind = str_c(k->kind)};

        w->extra[n++] = sym_of(c->syms, nodeclass_label(s->tmp, &ref));
    }
    if (with_labels)
        w->extra[n++] = SYM(NP);
    if (initialized)
        w->extra[n++] = SYM(INITIALIZED);
    assert(n == w->own->n_extra);
    metrics_collector_by_one(
        (struct metric *const[]){w->own->count, w->own->current_status, w->own->termination_current}, 3, collect, w);
}

static void add_plain(struct status_watch *s, const struct watched *w)
{
    s->kinds[s->n] = *w;
    watch_kind(s, &s->kinds[s->n++], /* with_labels= */ false, /* initialized= */ false);
}

/* Node classes of a provider that says something about them. There is one kind of them then. */
static void add_class(struct status_watch *s)
{
    const struct control *c = s->c;
    const struct cloud_class *k = &c->cloud->classes[0];

    if (c->cloud->n_classes == 0 || !k->conditions)
        return;
    assert(c->cloud->n_classes == 1);
    s->class = (struct api_kind){.group = k->group, .version = k->version, .plural = k->plural, .kind = k->kind};
    add_plain(s, &(struct watched){.kind = OBJ_NODECLASS,
                                   .api = &s->class,
                                   .set = k->conditions,
                                   .own = &c->metrics->ec2nodeclass_status,
                                   .any = &c->metrics->any_status});
}

struct status_watch *status_watch_new(struct control *c)
{
    struct status_watch *s = xcalloc(1, sizeof(*s));
    struct control_metrics *m = c->metrics;

    *s = (struct status_watch){
        .c = c,
        .tmp = arena_new(0),
        .kinds = {{.kind = OBJ_NODECLAIM,
                   .api = &api_nodeclaims,
                   .set = &conds_nodeclaim,
                   .own = &m->nodeclaim_status,
                   .any = &m->any_status},
                  {.kind = OBJ_NODEPOOL,
                   .api = &api_nodepools,
                   .set = &conds_nodepool,
                   .own = &m->nodepool_status,
                   .any = &m->any_status},
                  {.kind = OBJ_NODE, .api = &api_nodes, .own = &m->node_status}},
        .n = 3,
    };
    assert(c->cloud->n_classes + 2 <= MAX_EXTRA);
    watch_kind(s, &s->kinds[0], /* with_labels= */ true, /* initialized= */ false);
    watch_kind(s, &s->kinds[1], /* with_labels= */ false, /* initialized= */ false);
    watch_kind(s, &s->kinds[2], /* with_labels= */ true, /* initialized= */ true);
    if (c->options->settings.capacity_buffers)
        add_plain(s, &(struct watched){.kind = OBJ_BUFFER,
                                       .api = &api_capacitybuffers,
                                       .own = &m->capacitybuffer_status,
                                       .any = &m->any_status});
    add_class(s);
    metrics_collector_by_one(
        (struct metric *const[]){m->any_status.count, m->any_status.current_status, m->any_status.termination_current},
        3, collect_any, s);
    for (uint32_t i = 0; i < s->n; i++)
        see_all(s, &s->kinds[i]);
    store_subscribe(c->store, on_event, s);
    return s;
}

void status_watch_free(struct status_watch *s)
{
    if (!s)
        return;
    arena_free(s->tmp);
    free(s);
}
