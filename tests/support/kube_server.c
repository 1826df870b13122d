#include "support/kube_server.h"

#include <stdlib.h>

#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "support/check.h"

#define START_MS INT64_C(1700000000000) /* 2023-11-14T22:13:20Z */

int server_setup(void **state)
{
    struct server *s = xcalloc(1, sizeof(*s));

    s->sim = sim_new(1, START_MS);
    s->world = sim_process(s->sim, "kube");
    s->k = kube_new(s->world, &(struct kube_options){.version = "v1.36.3"});
    s->a = arena_new(64 << 10);
    *state = s;
    /* without it no pod is let in */
    check_true("account", server_create(s, "serviceaccounts", "{metadata: {name: default}}"));
    return 0;
}

int server_teardown(void **state)
{
    struct server *s = *state;

    kube_free(s->k);
    sim_free(s->sim);
    arena_free(s->a);
    free(s);
    return 0;
}

void server_settle(struct server *s)
{
    sim_run_for(s->sim, 200000);
}

const struct kind *server_kind(struct server *s, const char *name)
{
    for (uint32_t i = 0; i < kube_n_kinds(s->k); i++) {
        const struct kind *k = kube_kind_at(s->k, i);

        if (k && str_is(k->plural, name))
            return k;
    }
    check_true(name, false);
    return NULL;
}

struct tree *server_tree(struct server *s, const char *yaml)
{
    const struct tree *t;
    struct err e = {0};

    check_ok(yaml, tree_parse_yaml(s->a, "test", str_c(yaml), &t, &e), &e);
    return tree_copy(s->a, t);
}

static struct tree *with_namespace(struct server *s, const struct kind *kind, const char *yaml)
{
    struct tree *t = server_tree(s, yaml), *meta = tree_sub(s->a, t, "metadata");

    if (kind->namespaced && meta && !tree_get(meta, "namespace"))
        tree_set_str(s->a, meta, "namespace", STR("default"));
    return t;
}

const struct object *server_create(struct server *s, const char *plural, const char *yaml)
{
    const struct kind *kind = server_kind(s, plural);
    const struct object *o = NULL;

    return kube_create(s->k, s->a, kind, with_namespace(s, kind, yaml), &o, &s->st) ? o : NULL;
}

const struct object *server_update(struct server *s, const char *plural, const char *sub, const char *yaml)
{
    const struct kind *kind = server_kind(s, plural);
    const struct object *o = NULL;

    return kube_update(s->k, s->a, kind, sub, with_namespace(s, kind, yaml), &o, &s->st) ? o : NULL;
}

const struct object *server_get(struct server *s, const char *plural, const char *name)
{
    return kube_get(s->k, server_kind(s, plural), STR("default"), str_c(name));
}

bool server_delete(struct server *s, const char *plural, const char *name, const struct delete_options *d)
{
    return kube_delete(s->k, s->a, server_kind(s, plural), STR("default"), str_c(name), d, &s->st);
}

const struct object *server_patch(struct server *s, const char *plural, const char *name, const char *sub,
                                  const char *patch)
{
    const struct write_options o = {.user = STR("tester")};
    const struct object *ret = NULL;
    bool ok = kube_patch(s->k, s->a, server_kind(s, plural), STR("default"), str_c(name), sub, PATCH_MERGE,
                         server_tree(s, patch), false, &o, &ret, NULL, &s->st);

    return ok ? ret : NULL;
}

str server_field(struct server *s, const struct object *o, const char *path)
{
    const struct tree *t = o ? kube_tree(s->a, o) : NULL;
    str rest = str_c(path), key;
    struct sb b = {0};
    struct jw w = {.out = &b};
    int64_t ix;

    while (t && rest.n) {
        (void)str_cut(rest, '.', &key, &rest);
        if (t->kind == TREE_LIST)
            t = str_to_i64(key, &ix) && ix < t->n ? &t->items[ix] : NULL;
        else
            t = tree_find((struct tree *)t, key);
    }
    if (t)
        jw_tree(&w, t);
    str text = sb_dup(&b, s->a);
    sb_fini(&b);
    return text;
}

str server_refusal(struct server *s)
{
    return arena_printf(s->a, "%d %s: " STR_FMT, s->st.code, s->st.reason, STR_ARG(s->st.message));
}
