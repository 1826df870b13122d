/* The provider's life, and its answers to the controller (aws 4.1, 4.10, 4.11). */
#include "cloud/ec2/provider.h"

#include <stdlib.h>

#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/labels.h"
#include "cloud/ec2/reconcile.h"

#define LAUNCH_RETRY_MS 1000 /* of the hook: EC2 does not know the partition yet */

/* ---- what classes say ---- */

struct ec2_class *ec2_class_of(struct ec2 *p, struct arena *a, str name, struct err *e)
{
    const struct tree *object = p->host.class_object(p->host.ctx, a, name);

    if (object)
        return ec2_class_decode(a, p->syms, object, p->cluster.name, e);
    (void)err_set(e, ERR_NOT_FOUND, "ec2nodeclasses.karpenter.k8s.aws \"" STR_FMT "\" not found", STR_ARG(name));
    return NULL;
}

str ec2_instance_id(str provider_id)
{
    size_t at = provider_id.n;

    if (!str_contains(provider_id, STR(":///")))
        return (str){0};
    while (at > 0 && provider_id.p[at - 1] != '/')
        at--;
    return str_sub(provider_id, at, provider_id.n);
}

bool ec2_zone_is_shifted(const struct ec2 *p, str zone_id)
{
    for (uint32_t i = 0; i < p->shifts.n; i++) {
        const struct zonal_shift *s = &p->shifts.v[i];

        if (s->applied && s->expires_ms > world_now_ms(p->world) && str_eq(s->zone_id, zone_id))
            return zone_id.n > 0;
    }
    return false;
}

void ec2_mark_unavailable(struct ec2 *p, str capacity_type, str type, str zone)
{
    struct ec2_offering_key key = {.capacity_type = capacity_type, .type = type, .zone = zone};

    ec2_unavailable_mark(p->unavailable, &key, ec2_clock_ms(p));
}

void ec2_mark_reservation(struct ec2 *p, str id)
{
    ec2_reserved_none(p, id);
}

/* ---- machines for the controller ---- */

static bool create(void *self, struct arena *a, struct syms *t, const struct nodeclaim *c,
                   const struct nodeclass *k UNUSED, struct machine *ret, struct err *e)
{
    struct ec2 *p = self;

    assert(t == p->syms);
    return ec2_launch(p, a, c, ret, e);
}

static bool destroy(void *self, struct arena *a, const struct nodeclaim *c, struct err *e)
{
    struct ec2 *p = self;
    str id = ec2_instance_id(c->provider_id);
    sym reservation;

    if (id.n == 0)
        return err_set(e, ERR_INVALID, "parsing instance id \"" STR_FMT "\"", STR_ARG(c->provider_id));
    if (ec2_instance_end(p, a, id, e))
        return true;
    if (e->kind == ERR_NOT_FOUND && lset_value(p->syms, c->labels, SYM(AWS_RESERVATION_ID), &reservation))
        ec2_reserved_ended(p, sym_str(p->syms, reservation));
    return false;
}

static const struct itype *type_of(struct ec2 *p, const struct ec2_class *k, str name)
{
    struct ec2_types types;
    struct err e;

    if (!k || !ec2_market_types(p->market, k, &types, &e))
        return NULL;
    for (uint32_t i = 0; i < types.n; i++)
        if (str_eq(sym_str(p->syms, types.v[i].name), name))
            return &types.v[i];
    return NULL;
}

/* A class that is missing or on its way out leaves the machine with less to tell. */
static void describe(struct ec2 *p, struct arena *a, const struct ec2_instance *i, struct machine *ret)
{
    struct ec2_facts f = ec2_facts_of(p, a, i);
    struct ec2_placement_group group;
    bool known;
    struct err e;
    str name = ec2_instance_tag_value(i, "karpenter.k8s.aws/ec2nodeclass", &known);
    const struct ec2_class *k = known ? ec2_class_of(p, a, name, &e) : NULL;

    if (k && k->deleting)
        k = NULL;
    bool placed = k && k->has_placement && ec2_placement_known(p, k, &group);
    ec2_machine_of(p, a, &f, type_of(p, k, i->type), k, placed ? &group : NULL, ret);
}

static bool get(void *self, struct arena *a, str provider_id, struct machine *ret, struct err *e)
{
    struct ec2 *p = self;
    struct ec2_instance i;
    str id = ec2_instance_id(provider_id);

    if (id.n == 0)
        return err_set(e, ERR_INVALID, "parsing instance id \"" STR_FMT "\"", STR_ARG(provider_id));
    if (!ec2_instance_get(p, a, id, /* fresh= */ false, &i, e))
        return false;
    describe(p, a, &i, ret);
    return true;
}

/* Who compares machines with claims asks for their names only: types are not looked up for thousands of them. */
static bool list(void *self, struct arena *a, struct machines *ret, struct err *e)
{
    struct ec2 *p = self;
    struct ec2_instances all;

    if (!ec2_instance_list(p, a, &all, e))
        return false;
    ret->n = all.n;
    ret->v = arena_new_array(a, struct machine, all.n);
    for (uint32_t i = 0; i < all.n; i++) {
        struct ec2_facts f = ec2_facts_of(p, a, &all.v[i]);

        ec2_machine_of(p, a, &f, NULL, NULL, NULL, &ret->v[i]);
    }
    return true;
}

static const struct catalog *catalog(void *self)
{
    struct ec2 *p = self;

    return ec2_market_catalog(p->market);
}

static bool drifted(void *self, struct arena *a, const struct nodeclaim *c, str *ret_reason, struct err *e)
{
    return ec2_drifted(self, a, c, ret_reason, e);
}

/* A machine in a group with partitions counts when its partition is known. */
static bool hook(void *self, struct arena *a, const struct nodeclaim *c, struct cloud_hook *ret, struct err *e)
{
    struct ec2 *p = self;
    struct ec2_instance i;
    sym group, partition;
    str id = ec2_instance_id(c->provider_id);

    *ret = (struct cloud_hook){0};
    if (!lset_value(p->syms, c->labels, ec2_label_key(p->syms, EC2_L_PLACEMENT_GROUP), &group) ||
        !lset_value(p->syms, c->labels, ec2_label_key(p->syms, EC2_L_PLACEMENT_PARTITION), &partition) ||
        sym_some(partition))
        return true;
    ret->pending = true;
    ret->after_ms = LAUNCH_RETRY_MS;
    if (id.n == 0)
        return true;
    if (!ec2_instance_get(p, a, id, /* fresh= */ true, &i, e))
        return false;
    if (i.partition == 0)
        return true;
    *ret =
        (struct cloud_hook){.label = {ec2_label_name(EC2_L_PLACEMENT_PARTITION), arena_printf(a, "%d", i.partition)}};
    return true;
}

/* ---- life ---- */

static const struct repair_policy repairs[] = {
    {"Ready", "False", 30 * 60000},
    {"Ready", "Unknown", 30 * 60000},
    {"AcceleratedHardwareReady", "False", 10 * 60000},
    {"StorageReady", "False", 30 * 60000},
    {"NetworkingReady", "False", 30 * 60000},
    {"KernelReady", "False", 30 * 60000},
    {"ContainerRuntimeReady", "False", 30 * 60000},
};

static const char *const node_labels[] = {
#define X(name, text) text,
    EC2_LABELS(X)
#undef X
        NULL,
};

static bool start(void *self, struct err *e)
{
    return ec2_start(self, e);
}

static void provider_free(void *self)
{
    struct ec2 *p = self;
    struct ec2_host host = p->host;

    ec2_machines_free(p->machines);
    ec2_templates_free(p->templates);
    ec2_market_free(p->market);
    ec2_verdicts_free(p->verdicts);
    ec2_profiles_free(p->profiles);
    ec2_found_free(p->found);
    ec2_unavailable_free(p->unavailable);
    ec2_prices_free(p->prices);
    vec_fini(&p->shifts);
    arena_free(p->arena);
    free(p);
    if (host.gone)
        host.gone(host.ctx);
}

static struct cloud cloud_of(struct ec2 *p)
{
    return (struct cloud){
        .name = "aws",
        .self = p,
        .classes = &p->class_kind,
        .n_classes = 1,
        .repairs = repairs,
        .n_repairs = ARRAY_LEN(repairs),
        .node_labels = node_labels,
        .start = start,
        .create = create,
        .destroy = destroy,
        .get = get,
        .list = list,
        .catalog = catalog,
        .drifted = drifted,
        .hook_name = "PlacementGroupRegistrationHook",
        .hook = hook,
        .free = provider_free,
    };
}

struct ec2 *ec2_new(const struct ec2_options *o)
{
    struct ec2 *p = xcalloc(1, sizeof(*p));

    p->world = o->world;
    p->aws = o->aws;
    p->syms = o->syms;
    p->arena = arena_new(0);
    p->settings = o->settings;
    p->host = o->host;
    p->class_kind = (struct cloud_class){"karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses",
                                         ec2_class_conds(o->settings.reserved_capacity)};
    p->cloud = cloud_of(p);
    p->cluster = (struct ec2_cluster){
        .name = arena_strdup(p->arena, o->settings.cluster_name),
        .endpoint = arena_strdup(p->arena, o->settings.cluster_endpoint),
        .ca_bundle = arena_strdup(p->arena, o->settings.ca_bundle.n ? o->settings.ca_bundle : o->host.kube_ca),
    };
    p->unavailable = ec2_unavailable_new();
    p->found = ec2_found_new(p);
    p->profiles = ec2_profiles_new();
    p->verdicts = ec2_verdicts_new();
    p->market = ec2_market_new(p);
    p->templates = ec2_templates_new(p);
    p->machines = ec2_machines_new(p);
    return p;
}

struct cloud *ec2_cloud(struct ec2 *p)
{
    return &p->cloud;
}
