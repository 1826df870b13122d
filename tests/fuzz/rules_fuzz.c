/* Rules of the built-in kinds: any object can be given to them; what they let pass stays as it is when it is written again. */
#include "data/edit.h"
#include "data/reader.h"
#include "sim/kube/kind.h"
#include "sim/kube/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The object as it is stored, or NULL when it is refused. */
static struct tree *write_object(struct rule_context *c, struct tree *obj, const struct tree *old)
{
    const struct kind_rules *r = c->kind->rules;
    struct causes causes = {.a = c->a};
    str denied = {0};

    if (r->defaults)
        r->defaults(c->a, obj);
    if (!old && r->on_create)
        r->on_create(c, obj, &denied);
    if (old && r->on_update)
        r->on_update(c, obj, old, &denied);
    if (!denied.n && r->validate)
        r->validate(c, obj, old, &causes);
    bool ok = !denied.n && causes.list.n == 0;
    causes_fini(&causes);
    return ok ? obj : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e;
    const struct tree *t;
    str group = {0}, rest;

    if (!tree_parse_json(a, "input", (str){(const char *)data, size}, &t, &e) || t->kind != TREE_MAP)
        return 0;
    if (!str_cut(tree_str(tree_get(t, "apiVersion")), '/', &group, &rest))
        group = (str){0};
    struct kind k = {.group = group, .name = tree_str(tree_get(t, "kind"))};
    k.rules = kind_rules_of(k.group, k.name);
    k.columns = kind_columns_of(k.group, k.name);
    if (!k.rules)
        return 0;

    struct rule_context c = {.a = a, .kind = &k, .now_ms = 1767225600000};
    struct tree *first = write_object(&c, tree_copy(a, t), NULL);
    if (!first)
        return 0;
    struct tree *again = write_object(&c, tree_copy(a, first), first);
    assert(again && tree_equal(first, again));
    struct tree cells = {.kind = TREE_LIST};
    k.columns->cells(a, first, c.now_ms, &cells);
    assert(cells.n == k.columns->n);
    return 0;
}
