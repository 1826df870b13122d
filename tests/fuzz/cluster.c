#include "cluster.h"

#include "cloud/catalog.h"
#include "data/reader.h"
#include "k8s/decode.h"
#include "k8s/settings.h"
#include "state/state.h"

#define PODS_MAX 2000 /* what workloads may expand to */
#define NOW_MS 1768478400000

static bool read_all(struct objects *o, str bytes)
{
    const struct tree *t = NULL;
    struct err e = {0};

    AUTO(decoder) struct decoder *d = decoder_new(o);
    AUTO(reader) struct reader *r = reader_open_bytes("fuzz", bytes, &e);
    if (!r)
        return false;
    do
        if (!reader_next(r, &t, &e) || (t && !k8s_decode(d, t, &e))) {
            assert(e.kind != ERR_NONE && e.msg[0]);
            return false;
        }
    while (t);
    return true;
}

static bool too_many_pods(const struct objects *o)
{
    int64_t n = o->pods.n;

    for (uint32_t i = 0; i < o->workloads.n; i++)
        n = sat_add(n, MAX(o->workloads.v[i].replicas, 0));
    return n > PODS_MAX;
}

struct snapshot *cluster_open(struct cluster *c, const uint8_t *data, size_t size)
{
    struct settings settings;
    struct err e = {0};

    *c = (struct cluster){.a = arena_new(0), .t = syms_new()};
    c->o = objects_new(c->t);
    if (size == 0 || !read_all(c->o, (str){(const char *)data + 1, size - 1}) || too_many_pods(c->o))
        return NULL;
    settings_defaults(&settings);
    settings.preferences = data[0] & 1 ? PREF_IGNORE : PREF_RESPECT;
    settings.min_values = data[0] & 2 ? MINVALUES_BEST_EFFORT : MINVALUES_STRICT;
    settings.spot_to_spot = data[0] & 8;
    settings.max_replacements = data[0] & 16 ? 3 : 1;
    struct catalog *types = catalog_builtin(c->a, c->t, data[0] & 4 ? STR("kwok") : STR("fake:20"), &e);
    assert(types);
    return state_build(c->a, c->o, types, &settings, NOW_MS, &e);
}

void cluster_close(struct cluster *c)
{
    objects_free(c->o);
    syms_free(c->t);
    arena_free(c->a);
}
