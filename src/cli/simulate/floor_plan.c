#include "cli/simulate/floor_plan.h"

#include <stdlib.h>

#include "base/sb.h"
#include "data/reader.h"
#include "k8s/decode.h"
#include "k8s/itypes.h"
#include "k8s/settings.h"
#include "model/objects.h"
#include "plan/plan.h"
#include "state/state.h"

struct floor_plan {
    const struct manifests *manifests;
    struct arena *arena; /* as long as it lives */
    struct syms *syms;
    const struct catalog *catalog;
    struct settings settings;
};

/* Of the controller's settings those that planning has. */
static bool take_settings(struct floor_plan *p, const char *const *v, uint32_t n, struct err *e)
{
    uint32_t n_docs;
    const struct setting_doc *docs = settings_docs(&n_docs);

    settings_defaults(&p->settings);
    for (uint32_t i = 0; i < n; i++) {
        str key, value;

        (void)str_cut(str_c(v[i]), '=', &key, &value);
        for (uint32_t k = 0; k < n_docs; k++)
            if (str_is(key, docs[k].key) && !settings_set(&p->settings, p->arena, p->syms, key, value, e))
                return false;
    }
    return true;
}

struct floor_plan *floor_plan_new(const struct manifests *m, const char *types, const char *const *settings,
                                  uint32_t n_settings, struct err *e)
{
    struct floor_plan *p = xcalloc(1, sizeof(*p));

    p->manifests = m;
    p->arena = arena_new(0);
    p->syms = syms_new();
    p->catalog = itypes_load(p->arena, p->syms, types, e);
    if (p->catalog && take_settings(p, settings, n_settings, e))
        return p;
    floor_plan_free(p);
    return NULL;
}

void floor_plan_free(struct floor_plan *p)
{
    if (!p)
        return;
    syms_free(p->syms);
    arena_free(p->arena);
    free(p);
}

static bool counts(const struct manifest *m)
{
    return manifest_is_config(m) || str_is(tree_str(tree_get(m->obj, "kind")), "DaemonSet");
}

/* Limits only forbid, and a pool with replicas has nodes like any other: without either no plan becomes dearer. */
static void unbind(struct objects *o)
{
    for (uint32_t i = 0; i < o->pools.n; i++) {
        o->pools.v[i].has_limits = false;
        o->pools.v[i].limits = (struct reslist){0};
        o->pools.v[i].is_static = false;
    }
}

static bool decode_group(struct decoder *d, struct arena *a, const struct floor_group *g, uint32_t i, struct err *e)
{
    const struct tree *t;
    str text = arena_printf(a,
                            "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"g%u\","
                            "\"namespace\":\"default\"},\"spec\":{\"replicas\":%u,\"selector\":{\"matchLabels\":"
                            "{\"floor\":\"x\"}},\"template\":" STR_FMT "}}",
                            i, g->n, STR_ARG(g->pod));

    return tree_parse_json(a, "pods", text, &t, e) && k8s_decode(d, t, e);
}

static bool decode_all(struct floor_plan *p, struct arena *a, struct objects *o, const struct floor_group *v,
                       uint32_t n, struct err *e)
{
    AUTO(decoder) struct decoder *d = decoder_new(o);

    for (uint32_t i = 0; i < p->manifests->v.n; i++)
        if (counts(&p->manifests->v.v[i]) && !k8s_decode(d, p->manifests->v.v[i].obj, e))
            return err_wrap(e, "%s", p->manifests->v.v[i].file);
    unbind(o);
    for (uint32_t i = 0; i < n; i++)
        if (v[i].n && !decode_group(d, a, &v[i], i, e))
            return false;
    return true;
}

bool floor_plan_least(struct floor_plan *p, const struct floor_group *v, uint32_t n, double *ret, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct objects *o = objects_new(p->syms);
    const struct snapshot *s = NULL;

    if (decode_all(p, a, o, v, n, e) && (s = state_build(a, o, p->catalog, &p->settings, 0, e))) {
        struct plan *plan = plan_make(a, s);

        plan_add_bound(s, plan);
        *ret = plan->has_bound ? plan->lower_bound : 0;
    }
    objects_free(o);
    return s != NULL;
}
