/* CapacityBuffers: how they are made and what people change about them, and what must be so of them in the end.
 *
 * Their deeds are drawn beside those of the table in chaos_deeds.c, from a seed of their own, so that a case without them is what it was. Limits of NodePools hold for their machines as for
 * all others (chaos_rules.c), and so does that a cluster with them comes to rest (chaos_end.c). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "data/edit.h"
#include "sim/chaos_int.h"

#define BUFFERS 3
#define DEED_SEED 79
#define ONE_DEED_IN 6 /* of others */
#define MAX_REPLICAS 5

/* ---- what people do ---- */

static const char *buffer_name(uint32_t i, char name[16])
{
    (void)snprintf(name, 16, "buf%u", i);
    return name;
}

static void template_change(struct chaos *c, const char *name)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str containers = arena_printf(a,
                                  "containers: [{name: app, image: app, resources: {requests: {cpu: %um, memory: "
                                  "256Mi}}}]",
                                  200 + below(c, 2500));

    deed(c, "template of", name);
    if (exists(c, "podtemplates", name))
        lab_patch(c->r->l, "podtemplates", name,
                  arena_printf(a, "{template: {spec: {" STR_FMT "}}}%c", STR_ARG(containers), 0).p);
    else
        lab_apply(c->r->l, arena_printf(a,
                                        "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: %s}\n"
                                        "template: {metadata: {labels: {spare: %s}}, spec: {" STR_FMT "}}\n%c",
                                        name, name, STR_ARG(containers), 0)
                               .p);
}

/* As many as they say, a share of a Deployment, either with a limit, or whatever a limit has room for. */
static void buffer_make(struct chaos *c, const char *name)
{
    AUTO(arena) struct arena *a = arena_new(0);
    uint32_t replicas = below(c, MAX_REPLICAS + 1), limit = 1 + below(c, 8);
    str ref, much;

    if (one_in(c, 2)) {
        ref = arena_printf(a, "podTemplateRef: {name: %s}", name);
        much = one_in(c, 4) ? arena_printf(a, "limits: {cpu: '%u'}", limit) : arena_printf(a, "replicas: %u", replicas);
        if (!one_in(c, 8)) /* else somebody forgot it */
            template_change(c, name);
    } else {
        ref = arena_printf(a, "scalableRef: {apiGroup: apps, kind: Deployment, name: app%u}", below(c, c->n_apps));
        much = one_in(c, 3) ? arena_printf(a, "replicas: %u", replicas)
                            : arena_printf(a, "percentage: %u%s", 1 + below(c, 150),
                                           one_in(c, 3) ? arena_printf(a, ", limits: {cpu: '%u'}%c", limit, 0).p : "");
    }
    deed(c, "create", name);
    lab_apply(c->r->l, arena_printf(a,
                                    "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\n"
                                    "metadata: {name: %s}\nspec: {" STR_FMT ", " STR_FMT "}\n%c",
                                    name, STR_ARG(ref), STR_ARG(much), 0)
                           .p);
}

static void buffer_change(struct chaos *c, const char *name)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str patch = one_in(c, 3) ? arena_printf(a, "{spec: {limits: {cpu: '%u'}}}%c", 1 + below(c, 8), 0)
                             : arena_printf(a, "{spec: {replicas: %u, limits: null}}%c", below(c, MAX_REPLICAS + 1), 0);

    deed(c, patch.p, name);
    lab_patch(c->r->l, "capacitybuffers", name, patch.p);
}

static void act_on(struct chaos *c, uint32_t i)
{
    char name[16];

    (void)buffer_name(i, name);
    if (!exists(c, "capacitybuffers", name)) {
        buffer_make(c, name);
    } else if (one_in(c, 3)) {
        deed(c, "delete", name);
        lab_delete(c->r->l, "capacitybuffers", name);
    } else if (exists(c, "podtemplates", name) && one_in(c, 2)) {
        template_change(c, name);
    } else {
        buffer_change(c, name);
    }
}

void buffers_act(struct chaos *c, uint32_t number)
{
    struct rng of_the_deed = c->rng;

    if (!has_part(c, CHAOS_BUFFERS))
        return;
    rng_init(&c->rng, hash_mix(hash_mix(c->what->seed, DEED_SEED), number));
    if (one_in(c, ONE_DEED_IN))
        act_on(c, below(c, BUFFERS));
    c->rng = of_the_deed;
}

/* ---- what must be so in the end ---- */

static int64_t requests_of(const struct tree *spec)
{
    const struct tree *list = tree_get(spec, "containers");
    int64_t sum = 0;

    for (uint32_t i = 0; list && i < list->n; i++)
        sum += millicores(tree_at(&list->items[i], "resources", "requests", "cpu", NULL));
    return sum;
}

struct room {
    struct arena *a;
    VEC(str) names;
    VEC(int64_t) free; /* cpu of the Node, side by side */
};

static void note_node(void *ctx, const struct object *o)
{
    struct room *r = ctx;

    if (o->deleted_ms)
        return;
    vec_push(&r->names, o->name);
    vec_push(&r->free, millicores(tree_at(kube_part(r->a, o, "status"), "allocatable", "cpu", NULL)));
}

static void note_load(void *ctx, const struct object *o)
{
    struct room *r = ctx;
    str node = object_field(o, "spec.nodeName"), phase = object_field(o, "status.phase");

    if (node.n == 0 || str_is(phase, "Succeeded") || str_is(phase, "Failed"))
        return;
    for (uint32_t i = 0; i < r->names.n; i++)
        if (str_eq(r->names.v[i], node))
            r->free.v[i] -= requests_of(kube_part(r->a, o, "spec"));
}

/* How many pods as large as this have room, at most. */
static int64_t room_for(const struct room *r, int64_t cpu)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < r->free.n; i++)
        n += cpu > 0 && r->free.v[i] > 0 ? r->free.v[i] / cpu : 0;
    return n;
}

struct wanted {
    const struct tree *pod;  /* its spec; NULL: nobody knows */
    int64_t of_workload;     /* replicas; -1: there is no workload */
    const char *not_because; /* the reason, without a pod */
};

static struct wanted resolve(struct chaos *c, struct arena *a, const struct tree *spec)
{
    const struct tree *template = tree_get(spec, "podTemplateRef"), *scalable = tree_get(spec, "scalableRef");
    struct wanted w = {.of_workload = -1, .not_because = template ? "PodTemplateNotFound" : "ScalableRefNotFound"};
    const struct object *o = kube_get(chaos_kube(c), server_kind(c->r->l->s, template ? "podtemplates" : "deployments"),
                                      STR("default"), tree_str(tree_get(template ? template : scalable, "name")));

    if (!o)
        return w;
    const struct tree *t = kube_tree(a, o);
    if (template) {
        w.pod = tree_at(t, "template", "spec", NULL);
        return w;
    }
    w.pod = tree_at(t, "spec", "template", "spec", NULL);
    w.of_workload = 0;
    (void)tree_to_i64(tree_at(t, "spec", "replicas", NULL), &w.of_workload);
    return w;
}

/* Scheduling 21.1, step 4. */
static int64_t replicas_of(const struct tree *spec, const struct wanted *w)
{
    const struct tree *limit = tree_at(spec, "limits", "cpu", NULL);
    int64_t desired = 0, percent = 0, replicas = 0, cpu = requests_of(w->pod);
    bool any = false;

    if (tree_to_i64(tree_get(spec, "percentage"), &percent) && w->of_workload > 0) {
        desired = MAX((w->of_workload * percent + 99) / 100, percent > 0);
        any = true;
    }
    if (tree_to_i64(tree_get(spec, "replicas"), &replicas)) {
        desired = MAX(desired, replicas);
        any = true;
    }
    if (!limit || cpu == 0)
        return desired;
    int64_t most = millicores(limit) / cpu;
    return any ? MIN(desired, most) : most;
}

static str condition(const struct tree *status, const char *type, const char *member)
{
    const struct tree *list = tree_get(status, "conditions");

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), type))
            return tree_str(tree_get(&list->items[i], member));
    return (str){0};
}

struct audit {
    struct chaos *c;
    struct arena *a;
    struct room room;
    struct sb *out; /* may be NULL */
    uint32_t n;     /* buffers that say what is not so */
};

PRINTF(3, 4) static void wrong(struct audit *x, str name, const char *fmt, ...)
{
    char text[200];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    x->n++;
    if (x->out)
        sb_printf(x->out, "CapacityBuffer " STR_FMT " %s\n", STR_ARG(name), text);
}

static void check_provisioning(struct audit *x, str name, const struct tree *status, int64_t n, int64_t cpu)
{
    str state = condition(status, "Provisioning", "status"), message = condition(status, "Provisioning", "message");
    str all = arena_printf(x->a, "All %lld virtual pods fit on existing capacity", (long long)n);

    if (str_is(state, "True")) {
        if (!str_eq(message, all))
            wrong(x, name, "has %lld pods and says: " STR_FMT, (long long)n, STR_ARG(message));
        if (room_for(&x->room, cpu) < n)
            wrong(x, name, "says that all %lld pods fit, and there is room for %lld", (long long)n,
                  (long long)room_for(&x->room, cpu));
    } else if (!has_part(x->c, CHAOS_LIMITS)) { /* with limits there may be no more machines for it */
        wrong(x, name, "gets no room for %lld pods, although nothing forbids it: " STR_FMT, (long long)n,
              STR_ARG(message));
    } else if (!str_ends(message, STR(" failed"))) {
        wrong(x, name, "has no room, and does not say why: " STR_FMT, STR_ARG(message));
    }
}

static void check_buffer(void *ctx, const struct object *o)
{
    struct audit *x = ctx;
    const struct tree *t = kube_tree(x->a, o), *spec = tree_get(t, "spec"), *status = tree_get(t, "status");
    str ready = condition(status, "ReadyForProvisioning", "status"),
        reason = condition(status, "ReadyForProvisioning", "reason");
    struct wanted w = resolve(x->c, x->a, spec);
    int64_t told = -1;

    if (!w.pod) {
        if (!str_is(ready, "False") || !str_is(reason, w.not_because))
            wrong(x, o->name, "says " STR_FMT " " STR_FMT " instead of %s", STR_ARG(ready), STR_ARG(reason),
                  w.not_because);
        return;
    }
    int64_t n = replicas_of(spec, &w);
    if (!str_is(ready, "True"))
        wrong(x, o->name, "is not ready: " STR_FMT, STR_ARG(reason));
    else if (!tree_to_i64(tree_get(status, "replicas"), &told) || told != n)
        wrong(x, o->name, "has %lld pods, and says %lld", (long long)n, (long long)told);
    else if (n > 0)
        check_provisioning(x, o->name, status, n, requests_of(w.pod));
}

uint32_t buffers_odd(struct chaos *c, struct sb *out)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct audit x = {.c = c, .a = a, .room = {.a = a}, .out = out};

    if (!has_part(c, CHAOS_BUFFERS))
        return 0;
    kube_each(chaos_kube(c), server_kind(c->r->l->s, "nodes"), (str){0}, note_node, &x.room);
    kube_each(chaos_kube(c), server_kind(c->r->l->s, "pods"), (str){0}, note_load, &x.room);
    kube_each(chaos_kube(c), server_kind(c->r->l->s, "capacitybuffers"), STR("default"), check_buffer, &x);
    vec_fini(&x.room.names);
    vec_fini(&x.room.free);
    return x.n;
}
