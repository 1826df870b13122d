#include "support/lab.h"

#include <stdio.h>
#include <stdlib.h>

#include "data/edit.h"
#include "data/json.h"
#include "support/check.h"

struct lab *lab_new(uint64_t seed, const struct cluster_options *o)
{
    struct lab *l = xcalloc(1, sizeof(*l));
    struct server *s = xcalloc(1, sizeof(*s));

    s->sim = sim_new(seed, INT64_C(1700000000000));
    s->world = sim_process(s->sim, "kube");
    s->k = kube_new(s->world, &(struct kube_options){.version = "v1.36.3"});
    s->a = arena_new(64 << 10);
    l->s = s;
    l->a = s->a;
    l->c = cluster_new(s->k, o);
    return l;
}

void lab_free(struct lab *l)
{
    cluster_free(l->c);
    kube_free(l->s->k);
    sim_free(l->s->sim);
    arena_free(l->s->a);
    free(l->s);
    free(l);
}

int lab_setup(void **state)
{
    struct lab *l = lab_new(1, &(struct cluster_options){0});

    lab_run(l, 0.1); /* service accounts */
    *state = l;
    return 0;
}

int lab_teardown(void **state)
{
    lab_free(*state);
    return 0;
}

void lab_apply(struct lab *l, const char *yaml)
{
    struct err e = {0};

    check_ok(yaml, kube_load(l->s->k, "test", str_c(yaml), &e), &e);
}

void lab_run(struct lab *l, double seconds)
{
    sim_run_for(l->s->sim, (int64_t)(seconds * 1e6));
}

void lab_nodes(struct lab *l, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        char text[600];

        snprintf(text, sizeof(text),
                 "apiVersion: v1\nkind: Node\nmetadata: {name: n%u, annotations: {kwok.x-k8s.io/node: fake}, "
                 "labels: {kubernetes.io/hostname: n%u, topology.kubernetes.io/zone: %c}}\n"
                 "status: {capacity: {cpu: '4', memory: 16Gi, pods: '110'}, "
                 "allocatable: {cpu: '4', memory: 16Gi, pods: '110'}}\n",
                 i, i, 'a' + (int)(i % 3));
        lab_apply(l, text);
    }
    lab_run(l, 2);
}

static const struct object *find(struct lab *l, const char *plural, const char *name)
{
    str ns = STR("default"), head, tail;

    if (str_cut(str_c(name), '/', &head, &tail)) {
        ns = head;
        name = tail.p;
    }
    const struct kind *kind = server_kind(l->s, plural);
    return kube_get(l->s->k, kind, kind->namespaced ? ns : (str){0}, str_c(name));
}

str lab_get(struct lab *l, const char *plural, const char *name, const char *path)
{
    return server_field(l->s, find(l, plural, name), path);
}

static void patch_part(struct lab *l, const char *plural, const char *name, const char *sub, const char *patch)
{
    const struct object *o = find(l, plural, name);
    const struct write_options w = {.user = STR("tester")};
    const struct object *ret = NULL;

    check_true(name, o != NULL);
    bool ok = kube_patch(l->s->k, l->a, o->kind, o->ns, o->name, sub, PATCH_MERGE, server_tree(l->s, patch), false, &w,
                         &ret, NULL, &l->s->st);
    if (!ok)
        check_str(patch, server_refusal(l->s), "");
}

void lab_patch(struct lab *l, const char *plural, const char *name, const char *patch)
{
    patch_part(l, plural, name, NULL, patch);
}

void lab_patch_status(struct lab *l, const char *plural, const char *name, const char *patch)
{
    patch_part(l, plural, name, "status", patch);
}

void lab_delete(struct lab *l, const char *plural, const char *name)
{
    const struct object *o = find(l, plural, name);
    const struct delete_options d = {.grace_s = -1};

    check_true(name, o && kube_delete(l->s->k, l->a, o->kind, o->ns, o->name, &d, &l->s->st));
}

/* ---- lists as text ---- */

struct listing_text {
    struct lab *l;
    str prefix;
    struct sb b;
    uint32_t n;
};

static void print_pod(void *ctx, const struct object *o)
{
    struct listing_text *x = ctx;

    if (!str_starts(o->name, x->prefix))
        return;
    const struct tree *t = kube_tree(x->l->a, o);
    str node = tree_str(tree_at(t, "spec", "nodeName", NULL));
    sb_printf(&x->b, "%s" STR_FMT " " STR_FMT " " STR_FMT, x->n++ ? "\n" : "", STR_ARG(o->name),
              STR_ARG(o->deleted_ms ? STR("Terminating") : tree_str(tree_at(t, "status", "phase", NULL))),
              STR_ARG(node.n ? node : STR("-")));
}

static void count_one(void *ctx, const struct object *o)
{
    struct listing_text *x = ctx;

    x->n += str_starts(o->name, x->prefix);
}

static str finish(struct listing_text *x)
{
    str s = sb_dup(&x->b, x->l->a);

    sb_fini(&x->b);
    return s;
}

str lab_pods(struct lab *l, const char *prefix)
{
    struct listing_text x = {.l = l, .prefix = str_c(prefix)};

    kube_each(l->s->k, server_kind(l->s, "pods"), STR("default"), print_pod, &x);
    return finish(&x);
}

uint32_t lab_count(struct lab *l, const char *plural, const char *prefix)
{
    struct listing_text x = {.l = l, .prefix = str_c(prefix)};

    kube_each(l->s->k, server_kind(l->s, plural), (str){0}, count_one, &x);
    return x.n;
}

str lab_condition(struct lab *l, const char *plural, const char *name, const char *type)
{
    const struct object *o = find(l, plural, name);
    const struct tree *list = o ? tree_at(kube_tree(l->a, o), "status", "conditions", NULL) : NULL;

    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct tree *c = &list->items[i];
        str message = tree_str(tree_get(c, "message")), reason = tree_str(tree_get(c, "reason"));

        if (str_is(tree_str(tree_get(c, "type")), type))
            return arena_printf(l->a, STR_FMT "%s" STR_FMT "%s" STR_FMT, STR_ARG(tree_str(tree_get(c, "status"))),
                                reason.n ? " " : "", STR_ARG(reason), message.n ? ": " : "", STR_ARG(message));
    }
    return STR("");
}

struct events_text {
    struct lab *l;
    str reason, prefix;
    VEC(str) lines;
};

static void add_event(void *ctx, const struct object *o)
{
    struct events_text *x = ctx;
    const struct tree *t = kube_tree(x->l->a, o);
    str message = tree_str(tree_get(t, "message"));

    if (!str_eq(tree_str(tree_get(t, "reason")), x->reason) ||
        !str_starts(tree_str(tree_at(t, "involvedObject", "name", NULL)), x->prefix))
        return;
    for (uint32_t i = 0; i < x->lines.n; i++)
        if (str_eq(x->lines.v[i], message))
            return;
    vec_push(&x->lines, message);
}

str lab_events(struct lab *l, const char *reason, const char *prefix)
{
    struct events_text x = {.l = l, .reason = str_c(reason), .prefix = str_c(prefix)};
    struct sb b = {0};

    kube_each(l->s->k, kube_kind(l->s->k, STR(""), STR("Event")), (str){0}, add_event, &x);
    for (uint32_t i = 0; i < x.lines.n; i++)
        sb_printf(&b, "%s" STR_FMT, i ? "\n" : "", STR_ARG(x.lines.v[i]));
    vec_fini(&x.lines);
    str s = sb_dup(&b, l->a);
    sb_fini(&b);
    return s;
}
