/* Two objects, one after the other: the patch between them, applied to the first, gives the second. */
#include "data/edit.h"
#include "data/reader.h"
#include "k8s/diff.h"
#include "sim/kube/patch.h"
#include "sim/kube/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A merge patch cannot say null. */
static bool has_null(const struct tree *t)
{
    if (t->kind == TREE_NULL)
        return true;
    for (uint32_t i = 0; t->kind == TREE_MAP && i < t->n; i++)
        if (has_null(&t->items[i]))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *t;
    struct tree *v[2];
    struct status st;
    struct err e = {0};

    AUTO(reader) struct reader *r = reader_open_bytes("fuzz.json", (str){(const char *)data, size}, &e);
    for (int i = 0; i < 2; i++) {
        if (!reader_next(r, &t, &e) || !t)
            return 0;
        v[i] = tree_copy(a, t);
    }
    struct tree *patch = merge_diff(a, v[0], v[1]), *got = tree_copy(a, v[0]);
    assert(!patch == tree_equal(v[0], v[1]));
    (void)merge_diff_locked(a, v[0], v[1]);
    if (has_null(v[1]) || has_null(v[0]))
        return 0;
    if (patch)
        assert(patch_merge(a, got, patch, &st));
    assert(tree_equal(got, v[1]));
    return 0;
}
