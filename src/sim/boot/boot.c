/* Machines that join: told by their user data, labelled by what they are.
 *
 * Names of machines are used again when their addresses are: `here` says which machine has a name now, so that the end of one that is long gone does not end its
 * successor. */
#include "sim/boot/boot.h"

#include <stdlib.h>

#include "base/htab.h"
#include "data/edit.h"
#include "sim/boot/room.h"

struct joined {
    struct htab_node by_name;
    str id;
};

struct boot {
    struct boot_options o;
    struct arena *a;
    struct htab here;
};

struct boot *boot_new(const struct boot_options *o)
{
    struct boot *b = xcalloc(1, sizeof(*b));

    b->a = arena_new(256);
    b->o = *o;
    b->o.cluster_name = arena_strdup(b->a, o->cluster_name);
    b->o.endpoint = arena_strdup(b->a, o->endpoint);
    return b;
}

static void forget(struct boot *b, struct joined *j)
{
    htab_del(&b->here, &j->by_name);
    free(j);
}

void boot_free(struct boot *b)
{
    struct htab_walk w = {0};
    struct htab_node *n;

    if (!b)
        return;
    while ((n = htab_next(&b->here, &w)))
        free(HTAB_THING(n, struct joined, by_name));
    htab_fini(&b->here);
    arena_free(b->a);
    free(b);
}

void boot_set_never(struct boot *b, uint32_t never)
{
    b->o.never = never;
}

/* ---- joining ---- */

static bool may_join(const struct boot *b, const struct told *t)
{
    if (b->o.cluster_name.n && !str_eq(t->cluster, b->o.cluster_name))
        return false;
    return !b->o.endpoint.n || !t->endpoint.n || str_eq(t->endpoint, b->o.endpoint);
}

/* The cloud's labels over the kubelet's own: a machine cannot lie about its zone. */
static struct tree *labels_of(struct arena *a, const struct sim_machine *m, const struct told *t)
{
    str os = t->windows ? STR("windows") : STR("linux");
    str arch = str_is(m->arch, "arm64") ? STR("arm64") : STR("amd64");
    const struct {
        const char *name;
        str value;
    } facts[] = {
        {"beta.kubernetes.io/arch", arch},
        {"beta.kubernetes.io/instance-type", m->type},
        {"beta.kubernetes.io/os", os},
        {"failure-domain.beta.kubernetes.io/region", m->region},
        {"failure-domain.beta.kubernetes.io/zone", m->zone},
        {"kubernetes.io/arch", arch},
        {"kubernetes.io/hostname", m->private_dns},
        {"kubernetes.io/os", os},
        {"node.kubernetes.io/instance-type", m->type},
        {"topology.k8s.aws/zone-id", m->zone_id},
        {"topology.kubernetes.io/region", m->region},
        {"topology.kubernetes.io/zone", m->zone},
    };
    struct tree *labels = tree_copy(a, t->labels);

    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        if (facts[i].value.n)
            tree_set_str(a, labels, facts[i].name, facts[i].value);
    return labels;
}

static int64_t draw_ms(struct boot *b)
{
    int64_t from = b->o.agent.from_ms, to = b->o.agent.to_ms;

    return to <= from ? from : from + (int64_t)(world_random(b->o.world) % (uint64_t)(to - from + 1));
}

static void take_name(struct boot *b, const struct sim_machine *m)
{
    struct joined *j = HTAB_THING(htab_get(&b->here, m->private_dns), struct joined, by_name);

    if (j)
        forget(b, j);
    j = xcalloc(1, sizeof(*j) + m->id.n + m->private_dns.n);
    char *p = memcpy(j + 1, m->id.p, m->id.n);
    j->id = (str){p, m->id.n};
    j->by_name.key = (str){memcpy(p + m->id.n, m->private_dns.p, m->private_dns.n), m->private_dns.n};
    htab_put(&b->here, &j->by_name);
}

void boot_running(void *boot, const struct sim_machine *m)
{
    struct boot *b = boot;
    AUTO(arena) struct arena *a = arena_new(0);
    struct told t;
    struct err e;

    if (b->o.never && world_random(b->o.world) % 65536 < b->o.never)
        return;
    if (m->private_dns.n == 0 || !told_read(a, m->user_data, &t, &e) || !may_join(b, &t))
        return; /* as in AWS: a machine that runs and that nobody hears of */
    struct boot_room room = boot_room_of(a, m, &t);

    take_name(b, m);
    cluster_boot(b->o.cluster,
                 &(struct machine){
                     .name = m->private_dns,
                     .provider_id = arena_printf(a, "aws:///" STR_FMT "/" STR_FMT, STR_ARG(m->zone), STR_ARG(m->id)),
                     .ip = m->private_ip,
                     .labels = labels_of(a, m, &t),
                     .taints = t.taints->n ? t.taints : NULL,
                     .capacity = room.capacity,
                     .allocatable = room.allocatable,
                     .boot_ms = draw_ms(b),
                 });
}

void boot_gone(void *boot, const struct sim_machine *m)
{
    struct boot *b = boot;
    struct joined *j = HTAB_THING(htab_get(&b->here, m->private_dns), struct joined, by_name);

    if (!j || !str_eq(j->id, m->id))
        return;
    cluster_power_off(b->o.cluster, m->private_dns);
    forget(b, j);
}
