/* Replays what a real API server did with objects of the built-in kinds: what it stored, what it refused and in which words,
 * and how `kubectl get` shows the result. The cases are in rules/, one file per family; rules/record made them. */
#include <stdio.h>

#include "base/sb.h"
#include "base/vec.h"
#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "model/duration.h"
#include "sim/kube/kind.h"
#include "sim/kube/status.h"
#include "support/check.h"

#define UID "00000000-0000-0000-0000-000000000000"
#define NOW "2026-01-01T00:00:00Z"

/* ---- changes of an object, a line for each field, as the recorder writes them ---- */

struct line {
    str path, value;
};

struct lines {
    struct arena *a;
    VEC(struct line) v;
};

static str compact_json(struct arena *a, const struct tree *t)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_tree(&w, t);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static bool is_ours(str path, str key)
{
    static const char *const ours[] = {"uid",           "resourceVersion", "creationTimestamp",
                                       "managedFields", "generation",      "namespace"};

    for (size_t i = 0; str_is(path, "metadata") && i < ARRAY_LEN(ours); i++)
        if (str_is(key, ours[i]))
            return true;
    return false;
}

static void flatten(struct lines *out, str path, const struct tree *t)
{
    if (t->kind == TREE_MAP && t->n) {
        for (uint32_t i = 0; i < t->n; i++) {
            str key = t->keys[i];

            if (!is_ours(path, key))
                flatten(out, arena_printf(out->a, STR_FMT "%s" STR_FMT, STR_ARG(path), path.n ? "." : "", STR_ARG(key)),
                        &t->items[i]);
        }
    } else if (t->kind == TREE_LIST && t->n) {
        for (uint32_t i = 0; i < t->n; i++)
            flatten(out, arena_printf(out->a, STR_FMT "[%u]", STR_ARG(path), i), &t->items[i]);
    } else if (!str_is(path, "metadata")) {
        vec_push(&out->v, (struct line){path, compact_json(out->a, t)});
    }
}

static int by_path(const void *x, const void *y, void *ctx)
{
    (void)ctx;
    return str_cmp(((const struct line *)x)->path, ((const struct line *)y)->path);
}

static void flatten_sorted(struct lines *out, const struct tree *t)
{
    flatten(out, (str){0}, t);
    sort_stable(out->v.v, out->v.n, sizeof(*out->v.v), by_path, NULL);
}

/* Names that are invented, like those of the recorder. */
static str steady(struct arena *a, str s)
{
    struct sb b = {0};

    for (size_t i = 0; i < s.n; i++) {
        str rest = str_sub(s, i, s.n);

        if (str_starts(rest, STR("kube-api-access-"))) {
            sb_c(&b, "kube-api-access-xxxxx");
            i += sizeof("kube-api-access-xxxxx") - 2;
        } else if (str_starts(rest, STR("\"10.96."))) {
            sb_c(&b, "\"10.96.0.99\"");
            while (++i < s.n && s.p[i] != '"')
                continue;
        } else {
            sb_char(&b, s.p[i]);
        }
    }
    str out = sb_dup(&b, a);
    sb_fini(&b);
    return out;
}

static bool has_line(str text, str line)
{
    str head;

    while (text.n) {
        (void)str_cut(text, '\n', &head, &text);
        if (str_eq(head, line))
            return true;
    }
    return false;
}

static void add_line(struct lines *l, struct sb *out, char sign, const struct line *x, str known)
{
    str value = str_ends(x->path, STR(".nodePort")) ? STR("30000") : x->value;
    str line = steady(l->a, arena_printf(l->a, "%c " STR_FMT ": " STR_FMT, sign, STR_ARG(x->path), STR_ARG(value)));

    if (has_line(known, line))
        return;
    sb_str(out, line);
    sb_char(out, '\n');
}

static str changes(struct arena *a, const struct tree *old, const struct tree *new, str known)
{
    struct lines x = {.a = a}, y = {.a = a};
    struct sb out = {0};
    uint32_t i = 0, j = 0;

    flatten_sorted(&x, old);
    flatten_sorted(&y, new);
    while (i < x.v.n || j < y.v.n) {
        int cmp = i == x.v.n ? 1 : j == y.v.n ? -1 : str_cmp(x.v.v[i].path, y.v.v[j].path);

        if (cmp == 0 && str_eq(x.v.v[i].value, y.v.v[j].value)) {
            i++, j++;
            continue;
        }
        if (cmp <= 0)
            add_line(&x, &out, '-', &x.v.v[i++], known);
        if (cmp >= 0)
            add_line(&y, &out, '+', &y.v.v[j++], known);
    }
    str s = sb_dup(&out, a);
    sb_fini(&out);
    vec_fini(&x.v);
    vec_fini(&y.v);
    return s;
}

/* ---- a server as small as possible ---- */

static const struct {
    const char *kind, *plural;
    bool cluster;
} plurals[] = {
    {"Pod", "pods", false},
    {"Node", "nodes", true},
    {"Namespace", "namespaces", true},
};

static void merge(struct arena *a, struct tree *into, const struct tree *patch)
{
    for (uint32_t i = 0; i < patch->n; i++) {
        const struct tree *x = &patch->items[i];

        if (x->kind == TREE_NULL) {
            tree_drop(into, patch->keys[i]);
            continue;
        }
        struct tree *t = tree_put(a, into, patch->keys[i]);
        if (x->kind != TREE_MAP) {
            *t = *tree_copy(a, x);
            continue;
        }
        if (t->kind != TREE_MAP)
            *t = *tree_new_map(a);
        merge(a, t, x);
    }
}

struct answer {
    struct tree *obj;
    str error; /* empty: stored */
};

static struct answer refused(struct rule_context *c, const struct tree *obj, str denied, const struct causes *causes)
{
    struct status st;
    str name = tree_str(tree_at(obj, "metadata", "name", NULL));

    if (denied.n)
        (void)status_forbidden(c->a, &st, c->kind, name, STR_FMT, STR_ARG(denied));
    else
        (void)status_invalid(c->a, &st, c->kind, name, causes);
    return (struct answer){.error = st.message};
}

static struct answer write_object(struct rule_context *c, struct tree *obj, const struct tree *old)
{
    const struct kind_rules *r = c->kind->rules;
    struct causes causes = {.a = c->a};
    struct answer answer = {.obj = obj};
    str denied = {0};

    if (r->defaults)
        r->defaults(c->a, obj);
    if (old && r->on_update)
        r->on_update(c, obj, old, &denied);
    if (!old && r->on_create)
        r->on_create(c, obj, &denied);
    if (!denied.n && r->validate)
        r->validate(c, obj, old, &causes);
    if (denied.n || causes.list.n)
        answer = refused(c, obj, denied, &causes);
    causes_fini(&causes);
    return answer;
}

static void set_meta(struct arena *a, struct tree *obj, bool cluster)
{
    struct tree *meta = tree_sub(a, obj, "metadata");

    tree_set_str(a, meta, "uid", STR(UID));
    tree_set_str(a, meta, "creationTimestamp", STR(NOW));
    if (!cluster)
        tree_set_str(a, meta, "namespace", STR("default"));
}

static struct kind kind_of(const struct tree *obj)
{
    str version = tree_str(tree_get(obj, "apiVersion")), group, rest;
    struct kind k = {.name = tree_str(tree_get(obj, "kind")), .namespaced = true};

    if (str_cut(version, '/', &group, &rest))
        k.group = group;
    for (size_t i = 0; i < ARRAY_LEN(plurals); i++)
        if (str_is(k.name, plurals[i].kind)) {
            k.plural = str_c(plurals[i].plural);
            k.namespaced = !plurals[i].cluster;
        }
    k.rules = kind_rules_of(k.group, k.name);
    k.columns = kind_columns_of(k.group, k.name);
    return k;
}

/* ---- the cases ---- */

static uint32_t n_differences; /* all of a file are shown before it fails */

static void expect(str name, const char *what, str got, str want)
{
    if (str_eq(got, want))
        return;
    n_differences++;
    (void)fprintf(stderr, "%.*s: %s\n  got:  %.*s\n  want: %.*s\n", STR_ARG(name), what, STR_ARG(got), STR_ARG(want));
}

static str want_of(const struct tree *all, str name)
{
    for (uint32_t i = 0; name.n && i < all->n; i++)
        if (str_eq(tree_str(tree_get(&all->items[i], "case")), name))
            return tree_str(tree_get(&all->items[i], "want"));
    return (str){0};
}

static void check_cells(struct arena *a, str name, int64_t now_ms, const struct kind *k, const struct tree *obj,
                        const struct tree *want)
{
    struct tree cells = {.kind = TREE_LIST};

    k->columns->cells(a, obj, now_ms, &cells);
    assert_int_equal(cells.n, k->columns->n);
    expect(name, "cells", steady(a, compact_json(a, &cells)), compact_json(a, want));
}

static void check_columns(struct arena *a, str name, const struct kind *k, const struct tree *want)
{
    struct tree list = {.kind = TREE_LIST};

    for (uint32_t i = 0; i < k->columns->n; i++) {
        const struct column *c = &k->columns->columns[i];

        tree_push(a, &list,
                  tree_of_str(arena_printf(a, "%s: %s%s%s%s", c->name, c->type, c->format[0] ? ", " : "", c->format,
                                           c->priority ? ", wide" : "")));
        assert_true(c->description[0]);
    }
    expect(name, "columns", compact_json(a, &list), compact_json(a, want));
}

static void replay(struct arena *a, const struct tree *all, const struct tree *c)
{
    const struct tree *create = tree_get(c, "create"), *update = tree_get(c, "update");
    str name = tree_str(tree_get(c, "case")), sub = tree_str(tree_get(c, "sub"));
    struct kind k = kind_of(create);
    struct rule_context rc = {.a = a, .kind = &k, .user = STR("admin")};
    struct tree *obj = tree_copy(a, create);
    const struct tree *before = create;
    struct err e;

    assert_true(k.rules && k.columns);
    assert_true(time_parse_rfc3339(STR(NOW), &rc.now_ms, &e));
    set_meta(a, obj, !k.namespaced);
    struct answer answer = write_object(&rc, obj, NULL);
    if (!answer.error.n && update) {
        before = answer.obj;
        obj = tree_copy(a, before);
        merge(a, obj, update);
        rc.sub = sub.n ? arena_printf(a, STR_FMT, STR_ARG(sub)).p : NULL;
        answer = write_object(&rc, obj, before);
    }
    expect(name, "error", steady(a, answer.error), tree_str(tree_get(c, "error")));
    if (answer.error.n)
        return;
    str known = want_of(all, tree_str(tree_get(c, "like")));
    expect(name, "changes", changes(a, before, answer.obj, known), tree_str(tree_get(c, "want")));
    if (tree_get(c, "cells"))
        check_cells(a, name, rc.now_ms, &k, answer.obj, tree_get(c, "cells"));
    if (tree_get(c, "columns"))
        check_columns(a, name, &k, tree_get(c, "columns"));
}

static void replay_file(const char *family)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e = {0};
    char path[200];
    struct tree all = {.kind = TREE_LIST};
    const struct tree *doc;

    (void)snprintf(path, sizeof(path), "tests/unit/sim/kube/rules/%s.yaml", family);
    AUTO(reader) struct reader *r = reader_open(path, &e);
    check_ok(family, r != NULL, &e);
    for (;;) {
        check_ok(family, reader_next(r, &doc, &e), &e);
        if (!doc)
            break;
        tree_push(a, &all, *tree_copy(a, doc));
    }
    check_true(family, all.n > 0);
    n_differences = 0;
    for (uint32_t i = 0; i < all.n; i++) {
        AUTO(arena) struct arena *scratch = arena_new(0);

        replay(scratch, &all, &all.items[i]);
    }
    check_u64(family, n_differences, 0);
}

#define FAMILY(name)                                                                                                   \
    static void name##_family(void **state)                                                                            \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        replay_file(#name);                                                                                            \
    }

FAMILY(apps)
FAMILY(batch)
FAMILY(config)
FAMILY(crd)
FAMILY(node)
FAMILY(pod)
FAMILY(policy)
FAMILY(rbac)
FAMILY(rows)
FAMILY(service)
FAMILY(volume)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apps_family),    cmocka_unit_test(batch_family),  cmocka_unit_test(config_family),
        cmocka_unit_test(crd_family),     cmocka_unit_test(node_family),   cmocka_unit_test(pod_family),
        cmocka_unit_test(policy_family),  cmocka_unit_test(rbac_family),   cmocka_unit_test(rows_family),
        cmocka_unit_test(service_family), cmocka_unit_test(volume_family),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
