/* A look around ten times a second compares the pods that run with the replicas there are. That is simpler than following every change, and the work of one look is nothing. */
#include "cli/demo/pods.h"

#include <stdlib.h>

#include "base/b64.h"
#include "base/sb.h"
#include "base/vec.h"
#include "cli/demo/replica.h"
#include "sim/kube/podlog.h"

#define LOOK_US 100000
#define NAMESPACE "karpenter"

struct pod_replica {
    struct demo_pods *owner;
    char *pod, *uid;
    struct arena *arena; /* of its environment */
    struct demo_replica *replica;
    bool stopping;
};

struct demo_pods {
    struct demo_pods_setup s;
    struct world *world;
    const struct kind *pods;
    struct timer look;
    VEC(struct pod_replica *) replicas;
    bool led;
};

static void on_line(void *ctx, str line)
{
    struct pod_replica *r = ctx;
    struct podlog *log = kube_pod_log(r->owner->s.kube, STR(NAMESPACE), str_c(r->pod), STR("controller"));

    if (log)
        podlog_add(log, world_now_ms(r->owner->world), line);
}

static void say(struct pod_replica *r, const struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);

    on_line(r, arena_printf(a, "karpenter: %s\n", e->msg));
}

static void drop(struct pod_replica *r)
{
    demo_replica_free(r->replica);
    arena_free(r->arena);
    free(r->pod);
    free(r->uid);
    free(r);
}

static char *copy(str s)
{
    char *p = xmalloc(s.n + 1);

    memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return p;
}

struct variables {
    struct arena *a;
    VEC(const char *) v; /* name, value, … */
};

static void add_variable(struct variables *x, str name, str value)
{
    vec_push(&x->v, arena_printf(x->a, STR_FMT "%c", STR_ARG(name), 0).p);
    vec_push(&x->v, arena_printf(x->a, STR_FMT "%c", STR_ARG(value), 0).p);
}

/* The first of a name counts for the settings, so what is written down comes before what is taken from elsewhere. */
static void add_secret(struct variables *x, struct demo_pods *p, str name)
{
    const struct object *o = kube_get(p->s.kube, kube_kind(p->s.kube, STR(""), STR("Secret")), STR(NAMESPACE), name);
    const struct tree *data = o ? tree_get(kube_tree(x->a, o), "data") : NULL;

    for (uint32_t i = 0; data && i < data->n; i++) {
        struct sb text = {0};

        if (b64url_decode(&text, tree_str(&data->items[i])))
            add_variable(x, data->keys[i], sb_view(&text));
        sb_fini(&text);
    }
}

/* Values that are written down, and Secrets; other sources do not exist for a process that is no container. */
static const char *const *environment(struct demo_pods *p, struct arena *a, const struct object *pod)
{
    const struct tree *containers = tree_at(kube_tree(a, pod), "spec", "containers", NULL);
    const struct tree *env = containers && containers->n ? tree_get(containers->items, "env") : NULL;
    const struct tree *from = containers && containers->n ? tree_get(containers->items, "envFrom") : NULL;
    struct variables x = {.a = a};

    for (uint32_t i = 0; env && i < env->n; i++)
        if (tree_get(&env->items[i], "value"))
            add_variable(&x, tree_str(tree_get(&env->items[i], "name")), tree_str(tree_get(&env->items[i], "value")));
    for (uint32_t i = 0; from && i < from->n; i++)
        add_secret(&x, p, tree_str(tree_at(&from->items[i], "secretRef", "name", NULL)));
    vec_push(&x.v, NULL);
    const char *const *all = vec_to_arena(&x.v, a);
    vec_fini(&x.v);
    return all;
}

static void begin(struct demo_pods *p, const struct object *pod)
{
    struct pod_replica *r = xcalloc(1, sizeof(*r));
    struct err e;

    *r = (struct pod_replica){.owner = p, .pod = copy(pod->name), .uid = copy(pod->uid), .arena = arena_new(0)};
    r->replica = demo_replica_new(&(struct demo_replica_setup){.loop = p->world,
                                                               .env = p->s.env,
                                                               .server = p->s.server,
                                                               .token = p->s.token,
                                                               .ca_pem = p->s.ca_pem,
                                                               .environment = environment(p, r->arena, pod),
                                                               .pod = pod->name,
                                                               .on_line = on_line,
                                                               .ctx = r},
                                  &e);
    if (!r->replica)
        say(r, &e);
    vec_push(&p->replicas, r);
}

static bool is_running(const struct object *pod)
{
    AUTO(arena) struct arena *a = arena_new(0);

    return str_is(tree_str(tree_at(kube_tree(a, pod), "status", "phase", NULL)), "Running");
}

static bool is_known(const struct demo_pods *p, str uid)
{
    for (uint32_t i = 0; i < p->replicas.n; i++)
        if (str_is(uid, p->replicas.v[i]->uid))
            return true;
    return false;
}

struct found {
    struct demo_pods *p;
    VEC(const struct object *) pods;
};

static void consider(void *ctx, const struct object *pod)
{
    struct found *f = ctx;

    if (str_is(object_label(pod, STR("app.kubernetes.io/name")), "karpenter") && !pod->deleted_ms &&
        !is_known(f->p, pod->uid) && is_running(pod)) {
        object_ref(pod);
        vec_push(&f->pods, pod);
    }
}

/* A replica whose pod is on its way out is told so, and forgotten when it has ended. */
static void tend(struct demo_pods *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->replicas.n; i++) {
        struct pod_replica *r = p->replicas.v[i];
        const struct object *pod = kube_by_uid(p->s.kube, str_c(r->uid));
        bool leaves = !pod || pod->deleted_ms;

        if (r->replica && leaves && !r->stopping) {
            r->stopping = true;
            demo_replica_stop(r->replica);
        }
        if (leaves && (!r->replica || (demo_replica_ended(r->replica) && demo_replica_bury(r->replica)))) {
            r->replica = NULL;
            drop(r);
        } else {
            p->replicas.v[n++] = r;
        }
    }
    p->replicas.n = n;
}

static void look(void *ctx)
{
    struct demo_pods *p = ctx;
    struct found f = {.p = p};

    tend(p);
    kube_each(p->s.kube, p->pods, STR(NAMESPACE), consider, &f);
    for (uint32_t i = 0; i < f.pods.n; i++) {
        begin(p, f.pods.v[i]);
        object_unref(f.pods.v[i]);
    }
    vec_fini(&f.pods);
    for (uint32_t i = 0; i < p->replicas.n && !p->led; i++)
        if (p->replicas.v[i]->replica && demo_replica_leads(p->replicas.v[i]->replica)) {
            p->led = true;
            if (p->s.on_lead)
                p->s.on_lead(p->s.ctx);
        }
    timer_set(p->world, &p->look, LOOK_US);
}

struct demo_pods *demo_pods_new(const struct demo_pods_setup *s)
{
    struct demo_pods *p = xcalloc(1, sizeof(*p));

    p->s = *s;
    p->world = kube_world(s->kube);
    p->pods = kube_kind(s->kube, STR(""), STR("Pod"));
    p->look = (struct timer){.fn = look, .ctx = p};
    timer_set(p->world, &p->look, 0);
    return p;
}

void demo_pods_free(struct demo_pods *p)
{
    if (!p)
        return;
    timer_stop(p->world, &p->look);
    for (uint32_t i = 0; i < p->replicas.n; i++)
        drop(p->replicas.v[i]);
    vec_fini(&p->replicas);
    free(p);
}
