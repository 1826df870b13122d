/* One pod stands for each DaemonSet: its newest live one, or else what its template says (scheduling 16.1). */
#include "state/build.h"

const struct pod *build_representative(struct arena *a, const struct daemonset *ds, const struct pod *live)
{
    if (ds->spec->n_required == 0)
        return live;
    /* The controller pins each pod to its node by required affinity; the template knows what was meant. */
    struct podspec *spec = arena_dup_array(a, struct podspec, live->spec, 1);
    struct pod *copy = arena_dup_array(a, struct pod, live, 1);

    spec->required = ds->spec->required;
    spec->n_required = ds->spec->n_required;
    copy->spec = spec;
    return copy;
}

bool build_stands_for(const struct pod *p, const struct pod *than)
{
    if (!than || p->created_ms != than->created_ms)
        return !than || p->created_ms > than->created_ms;
    int order = uid_cmp(p->uid, than->uid);
    return order ? order < 0 : str_cmp(p->name, than->name) < 0;
}

void build_daemons(struct build *b)
{
    struct snapshot *s = b->s;
    struct u64map by_name = {0}; /* (namespace, name) -> index */

    s->daemon_pods = arena_new_array(b->arena, const struct pod *, s->n_daemons);
    for (uint32_t i = 0; i < s->n_daemons; i++)
        u64map_put(&by_name, u64_pair(s->daemons[i].ns.v, s->daemons[i].name.v), i);
    for (uint32_t i = 0; i < s->n_pods; i++) {
        const struct pod *p = &s->pods[i];

        if (p->owner != OWNER_DAEMONSET)
            continue;
        uint32_t ix = u64map_get(&by_name, u64_pair(p->ns.v, p->owner_name.v));
        if (ix != MAP_NONE && build_stands_for(p, s->daemon_pods[ix]))
            s->daemon_pods[ix] = p;
    }
    for (uint32_t i = 0; i < s->n_daemons; i++)
        if (s->daemon_pods[i])
            s->daemon_pods[i] = build_representative(b->arena, &s->daemons[i], s->daemon_pods[i]);
    u64map_fini(&by_name);
}
