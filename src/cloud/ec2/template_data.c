/* What a launch template says (aws 4.6.4, 4.6.5, 6.5). */
#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/family.h"
#include "cloud/ec2/userdata.h"

#define USER_DATA_LARGE 14745 /* nine tenths of what EC2 takes */
#define GIB (INT64_C(1) << 30)

static const struct nodeclaim nobody; /* a template that is tried out has no claim */

/* ---- what the machine is told ---- */

static int by_key(const void *a, const void *b, void *ctx UNUSED)
{
    const struct ec2_kv *x = a, *y = b;

    return str_cmp(x->key, y->key);
}

static void put_label(struct ec2_boot *b, struct ec2_kv *v, str key, str value)
{
    uint32_t i = 0;

    if (!ec2_label_is_for_user_data(key))
        return;
    while (i < b->n_labels && !str_eq(v[i].key, key))
        i++;
    v[i] = (struct ec2_kv){key, value};
    b->n_labels = MAX(b->n_labels, i + 1);
}

static void put_labels(struct ec2 *p, struct arena *a, const struct ec2_template_request *r,
                       const struct nodeclaim *claim, struct ec2_boot *b)
{
    uint32_t n;
    const struct label *own = lset_get(p->syms, claim->labels, &n);
    struct ec2_kv *v = arena_new_array(a, struct ec2_kv, n + 2);

    for (uint32_t i = 0; i < n; i++)
        put_label(b, v, sym_str(p->syms, own[i].key), sym_str(p->syms, own[i].val));
    put_label(b, v, STR("karpenter.sh/capacity-type"), str_c(r->capacity_type));
    if (r->class->family != EC2_CUSTOM)
        put_label(b, v, STR("karpenter.sh/do-not-sync-taints"), STR("true"));
    sort_stable(v, b->n_labels, sizeof(*v), by_key, NULL);
    b->labels = v;
}

static void put_taints(struct ec2 *p, struct arena *a, const struct nodeclaim *claim, struct ec2_boot *b)
{
    const struct taints *lists[] = {&claim->taints, &claim->startup_taints};
    struct taint_text *v = arena_new_array(a, struct taint_text, claim->taints.n + claim->startup_taints.n + 1);
    struct taint_text unregistered = {STR("karpenter.sh/unregistered"), STR(""), STR("NoExecute")};
    bool known = false;

    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        for (uint32_t i = 0; i < lists[l]->n; i++) {
            const struct taint *t = &lists[l]->v[i];
            struct taint_text text = {sym_str(p->syms, t->key), sym_str(p->syms, t->value),
                                      str_c(taint_effect_name(t->effect))};

            known = known || (str_eq(text.key, unregistered.key) && str_eq(text.effect, unregistered.effect));
            v[b->n_taints++] = text;
        }
    if (!known)
        v[b->n_taints++] = unregistered;
    b->taints = v;
}

static bool user_data(struct ec2 *p, struct arena *a, const struct ec2_template_request *r,
                      const struct nodeclaim *claim, str *ret, struct err *e)
{
    const struct ec2_class *k = r->class;
    struct ec2_boot b = {
        .cluster = p->cluster.name,
        .endpoint = p->cluster.endpoint,
        .ca_bundle = p->cluster.ca_bundle,
        .cidr = p->cluster.cidr,
        .max_pods = r->type->pods,
        .kube_reserved = r->type->kube_reserved,
        .system_reserved = r->type->system_reserved,
        .dns = k->kubelet.n_dns ? k->kubelet.dns : &p->cluster.dns, /* an empty list is like none */
        .n_dns = k->kubelet.n_dns ? k->kubelet.n_dns : p->cluster.dns.n != 0,
        .ami_version = ec2_bottlerocket_version(k),
    };

    put_labels(p, a, r, claim, &b);
    put_taints(p, a, claim, &b);
    if (!ec2_user_data(a, k, &b, ret, e))
        return false;
    if (p->host.user_data_bytes)
        p->host.user_data_bytes(p->host.ctx, k->name, ret->n);
    if (ret->n >= USER_DATA_LARGE && p->host.say)
        p->host.say(p->host.ctx, /* error= */ false,
                    arena_printf(a, "user data of EC2NodeClass " STR_FMT " has %zu bytes; EC2 takes 16384",
                                 STR_ARG(k->name), ret->n)
                        .p,
                    NULL);
    return true;
}

/* ---- disks ---- */

static struct ec2_volume volume_of(const struct ec2_device *d)
{
    return (struct ec2_volume){
        .device = d->name,
        .has_ebs = d->has_ebs,
        .delete_on_termination = d->delete_on_termination,
        .encrypted = d->encrypted,
        .iops = d->iops,
        .throughput = d->throughput,
        .rate = d->rate,
        .size_gib = d->size_bytes / GIB + (d->size_bytes % GIB > 0),
        .kms_key = d->kms_key,
        .snapshot = d->snapshot,
        .type = d->type,
    };
}

static void put_volumes(struct arena *a, const struct ec2_class *k, struct ec2_template_data *ret)
{
    const struct ec2_family_traits *family = ec2_family_traits(k->family);
    struct ec2_volume *v = arena_new_array(a, struct ec2_volume, MAX(k->n_devices, ARRAY_LEN(family->volumes)));

    for (uint32_t i = 0; i < k->n_devices; i++)
        v[ret->n_volumes++] = volume_of(&k->devices[i]);
    for (size_t i = 0; k->n_devices == 0 && i < ARRAY_LEN(family->volumes) && family->volumes[i].device; i++)
        v[ret->n_volumes++] = (struct ec2_volume){.device = str_c(family->volumes[i].device),
                                                  .has_ebs = true,
                                                  .delete_on_termination = -1,
                                                  .encrypted = 1,
                                                  .type = STR("gp3"),
                                                  .size_gib = family->volumes[i].gib};
    ret->volumes = v;
}

/* ---- network ---- */

static bool is_ipv6(const struct ec2 *p)
{
    return str_contains(p->cluster.dns, STR(":"));
}

static int str_order(const void *a, const void *b, void *ctx UNUSED)
{
    const str *x = a, *y = b;

    return str_cmp(*x, *y);
}

/* What every interface that carries addresses has. */
static struct ec2_interface plain_interface(const struct ec2 *p, const struct ec2_class *k, const str *groups)
{
    bool v6 = is_ipv6(p);

    return (struct ec2_interface){
        .card = -1,
        .groups = groups,
        .n_groups = k->status.n_groups,
        .public_ip = k->public_ip,
        .ipv4_prefixes = v6 ? -1 : k->ip_prefixes,
        .ipv6_prefixes = v6 ? k->ip_prefixes : -1,
        .primary_ipv6 = v6,
        .ipv6_addresses = v6 ? 1 : 0,
        .tcp_established = k->has_tracking ? k->tcp_established : 0,
        .udp_stream = k->has_tracking ? k->udp_stream : 0,
        .udp = k->has_tracking ? k->udp : 0,
    };
}

static void put_interfaces(const struct ec2 *p, struct arena *a, const struct ec2_template_request *r,
                           struct ec2_template_data *ret)
{
    const struct ec2_class *k = r->class;
    uint32_t n = k->n_nics ? k->n_nics : MAX(r->n_efa, 1u);
    struct ec2_interface *v = arena_new_array(a, struct ec2_interface, n);
    str *groups = arena_new_array(a, str, k->status.n_groups);

    for (uint32_t i = 0; i < k->status.n_groups; i++)
        groups[i] = k->status.groups[i].id;
    sort_stable(groups, k->status.n_groups, sizeof(*groups), str_order, NULL);
    for (uint32_t i = 0; i < n; i++) {
        v[i] = plain_interface(p, k, groups);
        if (k->n_nics && str_is(k->nics[i].type, "efa-only"))
            v[i] = (struct ec2_interface){.groups = groups,
                                          .n_groups = k->status.n_groups,
                                          .public_ip = -1,
                                          .ipv4_prefixes = -1,
                                          .ipv6_prefixes = -1};
        if (k->n_nics) {
            v[i].card = k->nics[i].card;
            v[i].device = k->nics[i].device;
            v[i].type = k->nics[i].type;
        } else if (r->n_efa) {
            v[i].card = (int32_t)i;
            v[i].device = i ? 1 : 0;
            v[i].type = STR("efa");
        }
    }
    ret->interfaces = v;
    ret->n_interfaces = n;
}

/* ---- the rest ---- */

static bool lacks_ipv6_metadata(str region)
{
    static const char *const regions[] = {"us-iso-east-1",  "us-iso-west-1",   "us-isob-east-1",
                                          "us-isob-west-1", "us-isof-south-1", "us-isof-east-1"};

    for (size_t i = 0; i < ARRAY_LEN(regions); i++)
        if (str_is(region, regions[i]))
            return true;
    return false;
}

static void put_metadata(const struct ec2 *p, const struct ec2_class *k, struct ec2_template_data *ret)
{
    const struct ec2_metadata_options *m = &k->metadata;

    if (m->present) {
        ret->metadata_endpoint = m->endpoint;
        ret->metadata_ipv6 = m->ipv6;
        ret->metadata_tokens = m->tokens;
        ret->metadata_hops = m->hops;
    } else { /* quirk: not what the CRD fills in (aws 12, 7) */
        ret->metadata_endpoint = STR("disabled");
        ret->metadata_ipv6 = is_ipv6(p) ? STR("enabled") : STR("disabled");
        ret->metadata_tokens = STR("required");
        ret->metadata_hops = 2;
    }
    if (lacks_ipv6_metadata(aws_region(p->aws)))
        ret->metadata_ipv6 = STR("");
}

static void put_tags(struct arena *a, const struct ec2_template_request *r, struct ec2_template_data *ret)
{
    struct ec2_tags *v = arena_new_array(a, struct ec2_tags, 2);

    v[0] = (struct ec2_tags){"network-interface", r->tags, r->n_tags};
    v[1] = (struct ec2_tags){"spot-instances-request", r->tags, r->n_tags};
    ret->tags = v;
    ret->n_tags = str_is(str_c(r->capacity_type), "spot") ? 2 : 1;
}

static void put_reservation(const struct ec2 *p, const struct ec2_template_request *r, struct ec2_template_data *ret)
{
    if (!p->settings.reserved_capacity)
        return;
    ret->reservation_preference = r->reservation ? STR("capacity-reservations-only") : STR("none");
    if (!r->reservation)
        return;
    ret->reservation_id = r->reservation->id;
    if (str_is(r->reservation->kind, "capacity-block"))
        ret->market = STR("capacity-block");
    else if (r->reservation->interruptible)
        ret->market = STR("interruptible-capacity-reservation");
}

/* Whoever asks for either: v1.14.1 knows the second name, later ones the first. */
static bool wants_enclaves(struct ec2 *p, const struct nodeclaim *claim)
{
    return reslist_get(&claim->requests, sym_of(p->syms, STR("eks.amazonaws.com/nitro-sandbox"))) ||
           reslist_get(&claim->requests, sym_of(p->syms, STR("eks.amazonaws.com/nip-slots")));
}

bool ec2_template_data(struct ec2 *p, struct arena *a, const struct ec2_template_request *r,
                       struct ec2_template_data *ret, struct err *e)
{
    const struct ec2_class *k = r->class;
    const struct nodeclaim *claim = r->claim ? r->claim : &nobody;
    struct ec2_template_data d = {
        .image = r->ami->id,
        .profile = k->status.profile,
        .monitoring = k->monitoring == 1,
        .tenancy = str_c(r->tenancy),
        .nested_virtualization = k->nested_virtualization,
        .enclaves = wants_enclaves(p, claim),
    };
    struct aws_answer f;

    if (k->family == EC2_AL2023 && p->cluster.cidr.n == 0 && !ec2_cluster_cidr(p, a, &f, e))
        return err_wrap(e, "resolving the cluster's CIDR");
    if (!user_data(p, a, r, claim, &d.user_data, e))
        return false;
    put_volumes(a, k, &d);
    put_interfaces(p, a, r, &d);
    put_metadata(p, k, &d);
    put_tags(a, r, &d);
    put_reservation(p, r, &d);
    if (r->placement) {
        d.placement_group = r->placement->id;
        d.partition = r->partition;
    }
    *ret = d;
    return true;
}
