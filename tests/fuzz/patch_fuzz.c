/* {"obj":…, "patch":…}: the patch in all four ways, and the object as a write over nothing. Refusals have a sentence, outcomes can be
 * written and read again, and what has been applied once changes nothing when it is applied again. */
#include <stdlib.h>

#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "sim/kube/patch.h"
#include "sim/kube/status.h"
#include "support/thing.h"

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_outcome(struct arena *a, bool ok, const struct tree *t, const struct status *st)
{
    struct sb b = {0};
    struct jw w = {.out = &b};
    const struct tree *again;
    struct err e;

    if (!ok) {
        must(st->code >= 400 && st->message.n);
        return;
    }
    jw_tree(&w, t);
    must(tree_parse_json(a, "again", sb_view(&b), &again, &e));
    sb_fini(&b);
}

static void check_apply(struct arena *a, const struct schema *s, const struct tree *live, const struct tree *config)
{
    struct apply_options o = {.api_version = STR("v1"), .has_status = true, .force = true};
    struct tree *obj = live ? tree_copy(a, live) : NULL;
    struct status st = {0};

    o.manager = live ? STR("kubectl") : STR("A"); /* kubectl's annotation may change what kubectl applies */
    bool ok = apply_patch(a, s, &obj, config, &o, &st);

    check_outcome(a, ok, obj, &st);
    if (!ok || live)
        return;
    struct tree *once = tree_copy(a, obj);
    o.now_ms = 5000;
    must(apply_patch(a, s, &obj, config, &o, &st));
    must(tree_equal(once, obj));
}

static void check_write(struct arena *a, const struct schema *s, const struct tree *old, const struct tree *new)
{
    struct apply_options o = {.manager = STR("U"), .api_version = STR("v1"), .has_status = true};
    struct tree *obj = tree_copy(a, new);

    managed_after_update(a, s, old, obj, &o);
    check_outcome(a, true, obj, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct schema *pod;
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *in, *obj, *patch;
    struct status st = {0};
    struct tree *t;
    struct err e;

    if (!pod)
        pod = schema_builtin(STR(""), STR("v1"), STR("Pod"));
    if (!tree_parse_json(a, "fuzz", (str){(const char *)data, size}, &in, &e))
        return 0;
    obj = tree_get(in, "obj");
    patch = tree_get(in, "patch");
    if (!obj || !patch || obj->kind != TREE_MAP)
        return 0;
    t = tree_copy(a, obj);
    check_outcome(a, patch_json(a, t, patch, &st), t, &st);
    t = tree_copy(a, obj);
    check_outcome(a, patch_merge(a, t, patch, &st), t, &st);
    t = tree_copy(a, obj);
    check_outcome(a, patch_strategic(a, pod, t, patch, &st), t, &st);
    if (patch->kind != TREE_MAP)
        return 0;
    for (int i = 0; i < 2; i++) {
        const struct schema *s = i ? pod : &thing_schema;

        check_apply(a, s, obj, patch);
        check_apply(a, s, NULL, patch);
        check_write(a, s, obj, patch);
        check_write(a, s, NULL, patch);
    }
    return 0;
}
