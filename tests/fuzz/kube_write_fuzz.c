/* Documents as clients may send them: created, replaced, patched, deleted. Whatever they hold, the server refuses them or keeps an
 * object whose text reads back as itself. */
#include "data/edit.h"
#include "data/json.h"
#include "data/json_own.h"
#include "data/reader.h"
#include "sim/kube/store.h"
#include "sim/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    struct kube *k;
    struct arena *a;
};

static const struct kind *kind_of(struct kube *k, const struct tree *t)
{
    str kind = tree_str(tree_get(t, "kind"));

    for (uint32_t i = 0; i < kube_n_kinds(k); i++)
        if (kube_kind_at(k, i) && str_eq(kube_kind_at(k, i)->name, kind))
            return kube_kind_at(k, i);
    return kube_kind(k, STR(""), STR("ConfigMap"));
}

static void is_sound(struct run *r, const struct object *o)
{
    struct sb again = {0};

    jw_tree(&(struct jw){.out = &again}, json_read_own(r->a, o->json));
    assert(str_eq(sb_view(&again), o->json));
    assert(o->name.n && o->uid.n && kube_get(r->k, o->kind, o->ns, o->name) == o);
    sb_fini(&again);
}

static struct tree *prepared(struct run *r, const struct kind *kind, const struct tree *t)
{
    struct tree *obj = tree_copy(r->a, t), *meta = tree_sub(r->a, obj, "metadata");

    if (meta && kind->namespaced)
        tree_set_str(r->a, meta, "namespace", STR("default"));
    return obj;
}

static void send(struct run *r, const struct tree *t)
{
    const struct kind *kind = kind_of(r->k, t);
    const struct write_options o = {.manager = STR("fuzz"), .fields = t->n % 3};
    str name = tree_str(tree_at(t, "metadata", "name", NULL));
    const struct object *ret;
    struct status st = {0};

    if (kube_create_as(r->k, r->a, kind, prepared(r, kind, t), &o, &ret, &st))
        is_sound(r, ret);
    else
        assert(st.code >= 400 && st.message.n);
    if (kube_update_as(r->k, r->a, kind, NULL, prepared(r, kind, t), &o, &ret, &st) && !ret->deleted_ms)
        is_sound(r, ret);
    if (kind->has_status && kube_update_as(r->k, r->a, kind, "status", prepared(r, kind, t), &o, &ret, &st) &&
        !ret->deleted_ms)
        is_sound(r, ret);
    (void)kube_patch(r->k, r->a, kind, STR("default"), name, NULL, t->n % 2 ? PATCH_MERGE : PATCH_STRATEGIC, t, false,
                     &o, &ret, NULL, &st);
    if (t->n % 2)
        (void)kube_delete_as(r->k, r->a, kind, STR("default"), name, NULL, &o, &ret, &st);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sim *sim = sim_new(1, 1700000000000);
    struct world *w = sim_process(sim, "kube");
    struct run r = {kube_new(w, &(struct kube_options){.version = "v1.36.3"}), a};
    struct err e = {0};
    const struct tree *t;
    struct reader *in = reader_open_bytes("fuzz.json", (str){(const char *)data, size}, &e);

    for (int i = 0; i < 20 && in && reader_next(in, &t, &e) && t; i++) {
        send(&r, t);
        sim_run_for(sim, 100000);
    }
    reader_free(in);
    kube_free(r.k);
    sim_free(sim);
    return 0;
}
