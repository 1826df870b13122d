/* A schema and an object as two members of a YAML list: a schema that was taken can prune, fill in, validate and describe any object;
 * what was pruned has nothing unknown any more, and defaults are complete after the first time. */
#include "base/sb.h"
#include "data/edit.h"
#include "data/reader.h"
#include "sim/kube/kind.h"
#include "sim/kube/openapi.h"
#include "sim/kube/schema.h"
#include "sim/kube/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t unknown(struct arena *a, const struct schema *s, struct tree *obj, bool prune)
{
    struct causes out = {.a = a};

    schema_unknown(a, s, obj, prune, &out);
    uint32_t n = out.list.n;
    causes_fini(&out);
    return n;
}

static void use(struct arena *a, const struct schema *s, const struct tree *input)
{
    struct tree *obj = tree_copy(a, input);
    struct causes out = {.a = a};
    struct err e;

    unknown(a, s, obj, /* prune= */ true);
    assert(unknown(a, s, obj, /* prune= */ false) == 0);
    schema_default(a, s, obj);
    struct tree *once = tree_copy(a, obj);
    schema_default(a, s, obj);
    assert(tree_equal(once, obj));
    schema_validate(a, s, obj, input, /* old_is_valid= */ false, &out);
    for (uint32_t i = 0; i < out.list.n; i++)
        assert(out.list.v[i].message.n && out.list.v[i].reason.n);
    causes_fini(&out);
    (void)schema_decodes(s, input, &e);
    (void)schema_decodes(schema_builtin(STR(""), STR("v1"), STR("Pod")), input, &e);
}

static void describe(const struct schema *s, const struct tree *crd)
{
    struct kind k = {
        .group = STR("a.b"), .version = STR("v1"), .name = STR("K"), .plural = STR("ks"), .schema = s, .crd = crd};
    const struct kind *kinds[] = {&k};
    struct sb b = {0};

    assert(openapi_v3(&b, kinds, 1, k.group, k.version, STR("v1")));
    sb_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *t;
    struct err e;
    struct causes out = {.a = a};

    if (!tree_parse_yaml(a, "fuzz", (str){(const char *)data, size}, &t, &e) || t->kind != TREE_LIST || t->n < 2)
        return 0;
    const struct schema *s = schema_from_openapi(a, &t->items[0], STR("s"), &out);
    assert((s == NULL) == (out.list.n > 0));
    causes_fini(&out);
    if (!s)
        return 0;
    use(a, s, &t->items[1]);
    describe(s, &t->items[0]);
    return 0;
}
