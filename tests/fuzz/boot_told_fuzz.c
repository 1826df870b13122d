/* User data as a machine reads it: refused with a sentence, or read, twice the same; then it names a cluster, taints have an effect, and there is room for pods. */
#include "data/json.h"
#include "sim/boot/room.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static str print(struct arena *a, const struct told *t)
{
    const struct tree *const trees[] = {t->labels, t->taints, t->kube.of, t->system.of, t->hard.of};
    struct sb b = {0};

    for (size_t i = 0; i < ARRAY_LEN(trees); i++)
        sb_str(&b, json_text(a, trees[i]));
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree info = {.kind = TREE_MAP};
    struct told t, again;
    struct err e = {0};
    str text = {(const char *)data, size};
    bool ok = told_read(a, text, &t, &e);

    if (!ok) {
        assert(e.kind == ERR_INVALID && e.msg[0]);
        assert(!told_read(a, text, &again, &e));
        return 0;
    }
    assert(told_read(a, text, &again, &e) && str_eq(print(a, &t), print(a, &again)));
    assert(t.cluster.n && t.max_pods >= -1 && t.pods_per_core >= 0);
    for (uint32_t i = 0; i < t.taints->n; i++)
        assert(tree_str(tree_get(&t.taints->items[i], "effect")).n);
    struct boot_room r = boot_room_of(a, &(struct sim_machine){.info = &info}, &t);
    assert(tree_str(tree_get(r.capacity, "pods")).n && tree_str(tree_get(r.allocatable, "memory")).n);
    return 0;
}
