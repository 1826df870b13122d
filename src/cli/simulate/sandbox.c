#include "cli/simulate/sandbox.h"

#include <stdlib.h>

#include "data/edit.h"
#include "sim/kube/crds.h"
#include "sim/kube/store.h"

#define KUBE_VERSION "v1.36.3"
#define STEP_US 100000
#define UNWIND_US 1000

/* Nobody pulls a plug here: kubelets that report as seldom as this change nothing but the time it takes. */
#define LEASE_RENEW_MS (60 * 60 * 1000)
#define HEARTBEAT_MS (24 * 60 * 60 * 1000)
#define NODE_GRACE_MS (4 * 60 * 60 * 1000)

/* What the controller says about its work is not kept, but for why a pod has no place: nobody reads it here, and an idle cluster would do little else. */
static bool is_small_talk(const struct exchange *x)
{
    return strcmp(x->method, "GET") != 0 && str_starts(x->path, STR("/api/v1/namespaces/")) &&
           str_contains(x->path, STR("/events")) && !str_contains(x->body, STR("FailedScheduling"));
}

static void serve(void *kube, struct exchange *x)
{
    if (is_small_talk(x))
        reply_all(x, 201, "application/json", x->body);
    else
        kube_serve(kube, x);
}

struct sandbox *sandbox_new(const struct sandbox_setup *s, struct err *e)
{
    struct sandbox *g = xcalloc(1, sizeof(*g));

    g->arena = arena_new(64 << 10);
    g->sim = sim_new(s->seed, s->start_ms - SANDBOX_SETUP_US / 1000);
    sim_untraced(g->sim);
    g->servers = sim_process(g->sim, "kube");
    g->kube = kube_new(g->servers, &(struct kube_options){.version = KUBE_VERSION});
    g->cluster = cluster_new(g->kube, &(struct cluster_options){.lean = true,
                                                                .told_once = true,
                                                                .node_ready = s->node_ready,
                                                                .pod_start = s->pod_start,
                                                                .lease_renew_ms = LEASE_RENEW_MS,
                                                                .heartbeat_ms = HEARTBEAT_MS,
                                                                .node_grace_ms = NODE_GRACE_MS});
    sim_mount(g->sim, SANDBOX_SERVER, g->servers, serve, g->kube);
    if (kube_load_crds(g->kube, e)) {
        sim_run_for(g->sim, STEP_US); /* service accounts */
        return g;
    }
    sandbox_free(g);
    return NULL;
}

bool sandbox_open(struct sandbox *g, const struct sandbox_setup *s, struct err *e)
{
    g->mind = sim_process(g->sim, "controller");
    g->controller = sandbox_controller_new(&(struct sandbox_controller_setup){.world = g->mind,
                                                                              .server = SANDBOX_SERVER,
                                                                              .env = s->env,
                                                                              .settings = s->settings,
                                                                              .n_settings = s->n_settings,
                                                                              .on_line = s->on_line,
                                                                              .ctx = s->ctx},
                                           e);
    if (!g->controller)
        return false;
    sim_run_for(g->sim, SANDBOX_SETUP_US - sim_now_us(g->sim));
    return sandbox_controller_acts(g->controller) ||
           err_set(e, ERR_TIMEOUT, "the controller has not begun to act %lld s after its start",
                   (long long)(SANDBOX_SETUP_US / 1000000));
}

void sandbox_free(struct sandbox *g)
{
    if (!g)
        return;
    if (g->mind) {
        sim_kill(g->mind);
        sim_run_for(g->sim, UNWIND_US); /* what was under way unwinds */
    }
    sandbox_controller_free(g->controller);
    cluster_free(g->cluster);
    kube_free(g->kube);
    sim_free(g->sim);
    arena_free(g->arena);
    free(g);
}

int64_t sandbox_now_us(const struct sandbox *s)
{
    return sim_now_us(s->sim) - SANDBOX_SETUP_US;
}

/* ---- kinds ---- */

static bool same_word(str a, str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++) {
        char x = a.p[i], y = b.p[i];

        if ((x >= 'A' && x <= 'Z' ? x + 32 : x) != (y >= 'A' && y <= 'Z' ? y + 32 : y))
            return false;
    }
    return true;
}

static bool answers_to(const struct kind *k, str word)
{
    if (same_word(k->name, word) || same_word(k->plural, word) || same_word(k->singular, word))
        return true;
    for (uint32_t i = 0; i < k->n_short_names; i++)
        if (same_word(k->short_names[i], word))
            return true;
    return false;
}

const struct kind *sandbox_kind(const struct sandbox *s, str word)
{
    for (uint32_t i = 0; i < kube_n_kinds(s->kube); i++) {
        const struct kind *k = kube_kind_at(s->kube, i);

        if (k && answers_to(k, word))
            return k;
    }
    return NULL;
}

const struct kind *sandbox_kind_of(const struct sandbox *s, const struct tree *obj)
{
    str group, version, api = tree_str(tree_get(obj, "apiVersion"));

    if (!str_cut(api, '/', &group, &version)) {
        version = group;
        group = (str){0};
    }
    const struct kind *k = kube_kind(s->kube, group, tree_str(tree_get(obj, "kind")));
    return k && str_eq(k->version, version) ? k : NULL;
}

/* ---- writes ---- */

static bool explain(struct err *e, const struct kind *k, str name, const struct status *st)
{
    return err_set(e, st->code == 404 ? ERR_NOT_FOUND : ERR_INVALID, STR_FMT " \"" STR_FMT "\": " STR_FMT,
                   STR_ARG(k->name), STR_ARG(name), STR_ARG(st->message));
}

static void need_namespace(struct sandbox *s, str ns)
{
    const struct kind *k = kube_kind(s->kube, STR(""), STR("Namespace"));
    struct tree *t = tree_new_map(s->arena);
    struct status st;

    if (ns.n == 0 || kube_get(s->kube, k, (str){0}, ns))
        return;
    tree_set_str(s->arena, t, "apiVersion", STR("v1"));
    tree_set_str(s->arena, t, "kind", STR("Namespace"));
    tree_set_str(s->arena, tree_sub(s->arena, t, "metadata"), "name", ns);
    (void)kube_create(s->kube, s->arena, k, t, NULL, &st); /* what comes next says why not */
}

bool sandbox_apply(struct sandbox *s, const struct tree *obj, bool only_try, str *ret_odd, struct err *e)
{
    const struct kind *k = sandbox_kind_of(s, obj);
    struct warnings warnings = {0};
    struct status st;

    arena_reset(s->arena);
    *ret_odd = (str){0};
    if (!k)
        return err_set(e, ERR_INVALID, "no kind \"" STR_FMT "\" in version \"" STR_FMT "\"",
                       STR_ARG(tree_str(tree_get(obj, "kind"))), STR_ARG(tree_str(tree_get(obj, "apiVersion"))));
    struct tree *t = tree_copy(s->arena, obj), *meta = tree_sub(s->arena, t, "metadata");
    str ns = tree_str(tree_get(meta, "namespace")), name = tree_str(tree_get(meta, "name"));
    if (meta && k->namespaced && ns.n == 0)
        tree_set_str(s->arena, meta, "namespace", ns = STR("default"));
    if (k->namespaced)
        need_namespace(s, ns);
    struct write_options o = {.dry_run = only_try, .fields = FIELDS_WARN, .warnings = &warnings};
    bool there = kube_get(s->kube, k, k->namespaced ? ns : (str){0}, name) != NULL;
    bool ok = (there ? kube_update_as(s->kube, s->arena, k, NULL, t, &o, NULL, &st)
                     : kube_create_as(s->kube, s->arena, k, t, &o, NULL, &st)) ||
              explain(e, k, name, &st);
    if (warnings.list.n)
        *ret_odd = warnings.list.v[0];
    vec_fini(&warnings.list);
    return ok;
}

bool sandbox_scale(struct sandbox *s, const struct kind *kind, str ns, str name, int64_t replicas, struct err *e)
{
    struct write_options o = {.fields = FIELDS_IGNORE};
    struct status st;

    arena_reset(s->arena);
    struct tree *patch = tree_new_map(s->arena);
    tree_set_i64(s->arena, tree_sub(s->arena, patch, "spec"), "replicas", replicas);
    return kube_patch(s->kube, s->arena, kind, ns, name, NULL, PATCH_MERGE, patch, false, &o, NULL, NULL, &st) ||
           explain(e, kind, name, &st);
}

bool sandbox_delete(struct sandbox *s, const struct kind *kind, str ns, str name, struct err *e)
{
    struct status st;

    arena_reset(s->arena);
    return kube_delete(s->kube, s->arena, kind, ns, name,
                       &(struct delete_options){.grace_s = -1, .propagation = "Background"}, &st) ||
           explain(e, kind, name, &st);
}
