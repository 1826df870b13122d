/* launch - may this machine be, and if so: making it. What it was asked for (a template, an override, a request) becomes the doc that EC2 describes. */
#include <math.h>
#include <stdio.h>

#include "base/b64.h"
#include "sim/aws/call.h"

#define SPREAD_PER_ZONE 7

static const struct tree *network(const struct launch *l)
{
    const struct tree *n = tree_get(l->data, "NetworkInterfaces");

    return n && n->kind == TREE_LIST && n->n ? n : NULL;
}

static str reservation_id(const struct launch *l)
{
    return tree_str(tree_at(l->data, "CapacityReservationSpecification", "CapacityReservationTarget",
                            "CapacityReservationId", NULL));
}

static bool is_spot(const struct launch *l)
{
    return str_is(l->capacity_type, "spot");
}

static const struct tree *profile_spec(const struct launch *l)
{
    return tree_get(l->data, "IamInstanceProfile");
}

/* By name, or by the name at the end of an ARN. */
static struct profile *profile_of(const struct sim_aws *s, const struct launch *l)
{
    str name = tree_str(tree_get(profile_spec(l), "Name")), arn = tree_str(tree_get(profile_spec(l), "Arn"));

    for (str rest = arn; name.n == 0 && rest.n;) {
        str head;

        if (!str_cut(rest, '/', &head, &rest))
            name = head;
    }
    return account_profile(s, name);
}

static str group_name(const struct tree *doc)
{
    return tree_str(tree_get(doc, "GroupName"));
}

static const struct tree *placement_group(const struct sim_aws *s, const struct launch *l)
{
    const struct tree *p = tree_get(l->data, "Placement");
    str id = tree_str(tree_get(p, "GroupId")), name = tree_str(tree_get(p, "GroupName"));

    if (id.n)
        return docs_find(&s->placement_groups, "GroupId", id);
    return name.n ? docs_find(&s->placement_groups, "GroupName", name) : NULL;
}

/* Security groups: of the first interface, or of the template itself. */
static const struct tree *group_ids(const struct launch *l)
{
    const struct tree *net = network(l);
    const struct tree *ids = net ? tree_get(&net->items[0], "Groups") : tree_get(l->data, "SecurityGroupIds");

    return ids && ids->kind == TREE_LIST ? ids : NULL;
}

static str one_or(const struct tree *o, const char *key, str otherwise)
{
    str v = tree_str(tree_get(o, key));

    return v.n ? v : otherwise;
}

/* The subnet that a launch without one gets: of its template, or the first in its zone. */
static str default_subnet(const struct sim_aws *s, const struct tree *data, str zone)
{
    const struct tree *nets = tree_get(data, "NetworkInterfaces");
    str given = nets && nets->kind == TREE_LIST && nets->n ? tree_str(tree_get(&nets->items[0], "SubnetId"))
                                                           : tree_str(tree_get(data, "SubnetId"));

    for (uint32_t i = 0; given.n == 0 && i < s->subnets.n; i++)
        if (zone.n == 0 || str_eq(tree_str(tree_get(s->subnets.v[i]->doc, "AvailabilityZone")), zone))
            return tree_str(tree_get(s->subnets.v[i]->doc, "SubnetId"));
    return given;
}

void launch_place(const struct sim_aws *s, struct launch *l, const struct tree *o)
{
    l->type = one_or(o, "InstanceType", tree_str(tree_get(l->data, "InstanceType")));
    l->image = one_or(o, "ImageId", tree_str(tree_get(l->data, "ImageId")));
    l->zone = one_or(o, "AvailabilityZone", tree_str(tree_at(l->data, "Placement", "AvailabilityZone", NULL)));
    l->subnet = one_or(o, "SubnetId", default_subnet(s, l->data, l->zone));
    const struct subnet *net = account_subnet(s, l->subnet);

    if (net)
        l->zone = tree_str(tree_get(net->doc, "AvailabilityZone"));
}

/* ---- refusals ---- */

#define REFUSE(c, ...) (*ret = (struct refusal){STR(c), arena_printf(a, __VA_ARGS__)}, true)

static bool names_refused(struct sim_aws *s, struct arena *a, const struct launch *l, struct refusal *ret)
{
    const struct tree *image = docs_find(&s->images, "ImageId", l->image), *ids = group_ids(l);
    const struct subnet *net = account_subnet(s, l->subnet);
    str vpc = tree_str(tree_get(net ? net->doc : NULL, "VpcId"));

    if (!docs_find(&s->types, "InstanceType", l->type))
        return REFUSE("InvalidParameterValue", "Invalid value '" STR_FMT "' for InstanceType.", STR_ARG(l->type));
    if (!net)
        return REFUSE("InvalidSubnetID.NotFound", "The subnet ID '" STR_FMT "' does not exist", STR_ARG(l->subnet));
    if (!str_starts(l->image, STR("ami-")))
        return REFUSE("InvalidAMIID.Malformed", "Invalid id: \"" STR_FMT "\" (expecting \"ami-...\")",
                      STR_ARG(l->image));
    if (!image || !str_is(tree_str(tree_get(image, "State")), "available"))
        return REFUSE("InvalidAMIID.NotFound", "The image id '[" STR_FMT "]' does not exist", STR_ARG(l->image));
    for (uint32_t i = 0; ids && i < ids->n; i++) {
        str id = tree_str(&ids->items[i]);
        const struct tree *group = docs_find(&s->groups, "GroupId", id);

        if (!group)
            return REFUSE("InvalidGroup.NotFound", "The security group '" STR_FMT "' does not exist", STR_ARG(id));
        if (!str_eq(tree_str(tree_get(group, "VpcId")), vpc))
            return REFUSE("InvalidParameter",
                          "Security group " STR_FMT " and subnet " STR_FMT " belong to different networks.",
                          STR_ARG(id), STR_ARG(l->subnet));
    }
    if (profile_spec(l) && !profile_of(s, l))
        return REFUSE("InvalidParameterValue",
                      "Value (" STR_FMT
                      ") for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",
                      STR_ARG(tree_str(tree_get(profile_spec(l), "Name"))));
    return false;
}

static bool supported(const struct tree *list, str value)
{
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(tree_str(&list->items[i]), value))
            return true;
    return !list;
}

static bool kind_refused(struct sim_aws *s, struct arena *a, const struct launch *l, struct refusal *ret)
{
    const struct tree *type = docs_find(&s->types, "InstanceType", l->type);
    str arch = tree_str(tree_get(docs_find(&s->images, "ImageId", l->image), "Architecture"));

    if (!account_pool(s, l->type, l->zone))
        return REFUSE("Unsupported",
                      "Your requested instance type (" STR_FMT
                      ") is not supported in your requested Availability Zone (" STR_FMT ").",
                      STR_ARG(l->type), STR_ARG(l->zone));
    if (arch.n && !supported(tree_at(type, "ProcessorInfo", "SupportedArchitectures", NULL), arch))
        return REFUSE("InvalidParameterValue",
                      "The architecture '" STR_FMT
                      "' of the specified AMI does not match that of the instance type '" STR_FMT "'",
                      STR_ARG(arch), STR_ARG(l->type));
    if (is_spot(l) && !supported(tree_get(type, "SupportedUsageClasses"), STR("spot")))
        return REFUSE("Unsupported", "The instance type " STR_FMT " is not available as spot", STR_ARG(l->type));
    return false;
}

static int64_t type_vcpus(const struct sim_aws *s, str type)
{
    int64_t n = 0;

    (void)tree_to_i64(tree_at(docs_find(&s->types, "InstanceType", type), "VCpuInfo", "DefaultVCpus", NULL), &n);
    return n;
}

/* What bounds a launch, and how many more machines it lets through. */
struct bounds {
    int64_t quota, spread, addresses, pool;
};

static struct bounds bounds_of(const struct sim_aws *s, const struct launch *l)
{
    struct bounds b = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    const struct tree *group = placement_group(s, l);
    bool spread = str_is(tree_str(tree_get(group, "Strategy")), "spread");
    int64_t quota = is_spot(l) ? s->spot_vcpus : s->demand_vcpus, used = 0, together = 0;
    const struct subnet *net = account_subnet(s, l->subnet);
    const struct pool *p = account_pool(s, l->type, l->zone);
    const struct reservation *r = account_reservation(s, reservation_id(l));

    for (uint32_t i = 0; i < s->machine_list.n && (quota >= 0 || spread); i++) {
        const struct machine *m = s->machine_list.v[i];

        if (m->state != PENDING && m->state != RUNNING)
            continue;
        used += m->spot == is_spot(l) ? m->vcpus : 0;
        together += spread && str_eq(m->group, tree_str(tree_get(group, "GroupId"))) && str_eq(m->m.zone, l->zone);
    }
    if (quota >= 0)
        b.quota = MAX(quota - used, 0) / MAX(type_vcpus(s, l->type), 1);
    if (spread)
        b.spread = MAX(SPREAD_PER_ZONE - together, 0);
    if (net)
        b.addresses = MAX(net->free.v, 0);
    if (r)
        b.pool = MAX(r->available.v, 0);
    else if (p && is_spot(l) && isnan(p->spot))
        b.pool = 0;
    else if (p && p->more[is_spot(l)] >= 0)
        b.pool = p->more[is_spot(l)];
    return b;
}

int64_t launch_room(const struct sim_aws *s, const struct launch *l)
{
    struct bounds b = bounds_of(s, l);

    return s->o.loose ? INT64_MAX : MIN(MIN(b.quota, b.spread), MIN(b.addresses, b.pool));
}

static bool room_refused(struct sim_aws *s, struct arena *a, const struct launch *l, struct refusal *ret)
{
    struct bounds b = bounds_of(s, l);

    if (b.quota == 0 && is_spot(l))
        return REFUSE("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded");
    if (b.quota == 0)
        return REFUSE("VcpuLimitExceeded",
                      "You have requested more vCPU capacity than your current vCPU limit of %lld allows",
                      (long long)s->demand_vcpus);
    if (b.spread == 0)
        return REFUSE("InsufficientInstanceCapacity",
                      "You've reached the limit of instances in this spread placement group. A spread placement group "
                      "can have up to seven instances per Availability Zone.");
    if (b.addresses == 0)
        return REFUSE("InsufficientFreeAddressesInSubnet",
                      "There are not enough free addresses in subnet '" STR_FMT
                      "' to satisfy the requested number of instances.",
                      STR_ARG(l->subnet));
    if (b.pool == 0)
        return REFUSE("InsufficientInstanceCapacity",
                      "We currently do not have sufficient " STR_FMT
                      " capacity in the Availability Zone you requested (" STR_FMT ").",
                      STR_ARG(l->type), STR_ARG(l->zone));
    return false;
}

bool launch_refused(struct sim_aws *s, struct arena *a, const struct launch *l, struct refusal *ret)
{
    str target = reservation_id(l);
    const struct reservation *r = target.n ? account_reservation(s, target) : NULL;

    for (uint32_t i = 0; l->fleet && i < s->fault_fleets.n; i++) {
        const struct fault_fleet *f = &s->fault_fleets.v[i];

        if ((f->capacity_type.n && !str_eq(f->capacity_type, l->capacity_type)) ||
            (f->type.n && !wild_match(f->type, l->type)) || (f->zone.n && !str_eq(f->zone, l->zone)) ||
            (f->subnet.n && !str_eq(f->subnet, l->subnet)))
            continue;
        *ret = (struct refusal){f->code, f->message};
        return true;
    }
    if (target.n && !r && !s->o.loose)
        return REFUSE("InvalidCapacityReservationId.NotFound", "The capacity reservation '" STR_FMT "' does not exist",
                      STR_ARG(target));
    if (r && r->available.v <= 0)
        return REFUSE(
            "ReservationCapacityExceeded",
            "The requested reservation does not have sufficient compatible and available capacity for this request.");
    if (account_chance(s, s->faults.no_capacity))
        return REFUSE("InsufficientInstanceCapacity", "There is no capacity available that matches your request.");
    return !s->o.loose && (names_refused(s, a, l, ret) || kind_refused(s, a, l, ret) || room_refused(s, a, l, ret));
}

/* ---- making it ---- */

/* An address that nobody has. A subnet that is full (which launches that are not checked can make it) gives the same one again. */
static void take_address(struct machine *m, struct arena *a)
{
    struct sim_aws *s = m->s;
    struct subnet *n = m->subnet;
    uint32_t ip = 0;
    char text[24];

    for (uint32_t tries = 0; n && tries < n->hosts; tries++) {
        ip = n->net + n->next;
        n->next = n->next + 1 < n->hosts - 1 ? n->next + 1 : 4;
        int len = snprintf(text, sizeof(text), "%u.%u.%u.%u", ip >> 24, (ip >> 16) & 255, (ip >> 8) & 255, ip & 255);
        if (!htab_get(&s->ips, (str){text, (size_t)len}))
            break;
    }
    m->m.private_ip = arena_printf(a, "%u.%u.%u.%u", ip >> 24, (ip >> 16) & 255, (ip >> 8) & 255, ip & 255);
    bool classic = str_is(s->region, "us-east-1");
    m->m.private_dns =
        arena_printf(a, "ip-%u-%u-%u-%u." STR_FMT "%sinternal", ip >> 24, (ip >> 16) & 255, (ip >> 8) & 255, ip & 255,
                     STR_ARG(classic ? STR("ec2") : s->region), classic ? "." : ".compute.");
    m->by_ip.key = m->m.private_ip;
    m->has_ip = !htab_get(&s->ips, m->m.private_ip);
    if (m->has_ip)
        htab_put(&s->ips, &m->by_ip);
}

static void doc_place(struct machine *m, const struct launch *l)
{
    struct tree *p = tree_sub(m->a, m->doc, "Placement");
    const struct tree *given = tree_get(l->data, "Placement"), *group = placement_group(m->s, l);
    str tenancy = tree_str(tree_get(given, "Tenancy"));
    int64_t partition;

    tree_set_str(m->a, p, "AvailabilityZone", m->m.zone);
    tree_set_str(m->a, p, "AvailabilityZoneId", m->m.zone_id);
    tree_set_str(m->a, p, "GroupName", arena_strdup(m->a, group_name(group)));
    tree_set_str(m->a, p, "Tenancy", tenancy.n ? arena_strdup(m->a, tenancy) : STR("default"));
    if (!group)
        return;
    m->group = tree_str(tree_get(group, "GroupId"));
    tree_set_str(m->a, p, "GroupId", m->group);
    if (!tree_to_i64(tree_get(given, "PartitionNumber"), &partition)) {
        int64_t n = 0;

        (void)tree_to_i64(tree_get(group, "PartitionCount"), &n);
        partition = n > 0 ? 1 + (int64_t)(m->serial % (uint64_t)n) : 0;
    }
    if (partition > 0)
        tree_set_i64(m->a, p, "PartitionNumber", partition);
}

static void doc_interface(struct machine *m, const struct tree *given, uint32_t ix, const struct tree *groups)
{
    struct arena *a = m->a;
    struct tree *nic = tree_push(a, tree_sublist(a, m->doc, "NetworkInterfaces"), *tree_new_map(a));
    str kind = tree_str(tree_get(given, "InterfaceType"));
    int64_t device = ix, card = 0;

    (void)tree_to_i64(tree_get(given, "DeviceIndex"), &device);
    (void)tree_to_i64(tree_get(given, "NetworkCardIndex"), &card);
    tree_set_str(a, nic, "NetworkInterfaceId", account_hex_id(m->s, a, "eni-", 17));
    tree_set_str(a, nic, "InterfaceType", kind.n ? arena_strdup(a, kind) : STR("interface"));
    tree_set_str(a, nic, "SubnetId", m->m.subnet);
    tree_set_str(a, nic, "VpcId", tree_str(tree_get(m->doc, "VpcId")));
    tree_set_str(a, nic, "OwnerId", m->s->account_id);
    tree_set_str(a, nic, "Status", STR("in-use"));
    tree_set_bool(a, nic, "SourceDestCheck", true);
    tree_set(a, nic, "Groups", *tree_copy(a, groups));
    if (ix == 0) {
        tree_set_str(a, nic, "PrivateIpAddress", m->m.private_ip);
        tree_set_str(a, nic, "PrivateDnsName", m->m.private_dns);
        struct tree *ip = tree_push(a, tree_sublist(a, nic, "PrivateIpAddresses"), *tree_new_map(a));

        tree_set_bool(a, ip, "Primary", true);
        tree_set_str(a, ip, "PrivateIpAddress", m->m.private_ip);
        tree_set_str(a, ip, "PrivateDnsName", m->m.private_dns);
    }
    struct tree *at = tree_sub(a, nic, "Attachment");

    tree_set_str(a, at, "AttachmentId", account_hex_id(m->s, a, "eni-attach-", 17));
    tree_set_i64(a, at, "DeviceIndex", device);
    tree_set_i64(a, at, "NetworkCardIndex", card);
    tree_set_str(a, at, "Status", STR("attached"));
    tree_set_str(a, at, "AttachTime", account_time(a, m->m.launched_ms));
    tree_set_bool(a, at, "DeleteOnTermination", true);
}

static void doc_network(struct machine *m, const struct launch *l)
{
    struct tree *groups = tree_sublist(m->a, m->doc, "SecurityGroups");
    const struct tree *ids = group_ids(l), *nets = network(l);

    for (uint32_t i = 0; ids && i < ids->n; i++) {
        struct tree *g = tree_push(m->a, groups, *tree_new_map(m->a));
        str id = tree_str(&ids->items[i]);

        tree_set_str(m->a, g, "GroupId", arena_strdup(m->a, id));
        tree_set_str(m->a, g, "GroupName", arena_strdup(m->a, group_name(docs_find(&m->s->groups, "GroupId", id))));
    }
    struct tree *copy = tree_copy(m->a, groups); /* the doc moves as it grows */

    for (uint32_t i = 0; i < (nets ? nets->n : 1); i++)
        doc_interface(m, nets ? &nets->items[i] : NULL, i, copy);
}

static void doc_disks(struct machine *m, const struct launch *l)
{
    const struct tree *given = tree_get(l->data, "BlockDeviceMappings");
    struct tree *list = tree_sublist(m->a, m->doc, "BlockDeviceMappings");
    uint32_t n = given && given->kind == TREE_LIST ? given->n : 0;

    for (uint32_t i = 0; i < MAX(n, 1u); i++) {
        struct tree *d = tree_push(m->a, list, *tree_new_map(m->a));
        str name = n ? tree_str(tree_get(&given->items[i], "DeviceName")) : STR("/dev/xvda");
        const struct tree *keep = n ? tree_at(&given->items[i], "Ebs", "DeleteOnTermination", NULL) : NULL;

        tree_set_str(m->a, d, "DeviceName", arena_strdup(m->a, name));
        struct tree *ebs = tree_sub(m->a, d, "Ebs");

        tree_set_str(m->a, ebs, "VolumeId", account_hex_id(m->s, m->a, "vol-", 17));
        tree_set_str(m->a, ebs, "Status", STR("attached"));
        tree_set_str(m->a, ebs, "AttachTime", account_time(m->a, m->m.launched_ms));
        tree_set_bool(m->a, ebs, "DeleteOnTermination", !keep || keep->truth);
    }
}

/* How it is paid for. */
static void doc_market(struct machine *m, const struct launch *l)
{
    const struct tree *r = tree_get(l->data, "CapacityReservationSpecification");
    str market = tree_str(tree_at(l->data, "InstanceMarketOptions", "MarketType", NULL));
    str target = reservation_id(l);

    if (m->spot) {
        tree_set_str(m->a, m->doc, "InstanceLifecycle", STR("spot"));
        tree_set_str(m->a, m->doc, "SpotInstanceRequestId", account_hex_id(m->s, m->a, "sir-", 8));
    } else if (market.n) {
        tree_set_str(m->a, m->doc, "InstanceLifecycle", arena_strdup(m->a, market));
    }
    if (target.n) {
        tree_set_str(m->a, m->doc, "CapacityReservationId", arena_strdup(m->a, target));
        m->reservation = account_reservation(m->s, target);
    }
    struct tree *spec = tree_new_map(m->a);

    if (r)
        spec = tree_copy(m->a, r);
    else
        tree_set_str(m->a, spec, "CapacityReservationPreference", STR("open"));
    tree_set(m->a, m->doc, "CapacityReservationSpecification", *spec);
}

static void doc_options(struct machine *m, const struct launch *l)
{
    struct arena *a = m->a;
    const struct tree *type = docs_find(&m->s->types, "InstanceType", m->m.type);
    const struct tree *meta = tree_get(l->data, "MetadataOptions");
    const struct profile *p = profile_of(m->s, l);
    int64_t cores = 1;

    tree_set_str(a, tree_sub(a, m->doc, "Monitoring"), "State",
                 tree_is_true(tree_at(l->data, "Monitoring", "Enabled", NULL)) ? STR("enabled") : STR("disabled"));
    if (p) {
        struct tree *ip = tree_sub(a, m->doc, "IamInstanceProfile");

        tree_set_str(a, ip, "Arn", arena_strdup(a, tree_str(tree_get(p->doc, "Arn"))));
        tree_set_str(a, ip, "Id", arena_strdup(a, tree_str(tree_get(p->doc, "InstanceProfileId"))));
    }
    (void)tree_to_i64(tree_at(type, "VCpuInfo", "DefaultCores", NULL), &cores);
    struct tree *cpu = tree_sub(a, m->doc, "CpuOptions");

    tree_set_i64(a, cpu, "CoreCount", MAX(cores, 1));
    tree_set_i64(a, cpu, "ThreadsPerCore", MAX(m->vcpus / MAX(cores, 1), 1));
    tree_set(a, m->doc, "MetadataOptions", meta ? *tree_copy(a, meta) : *tree_new_map(a));
    tree_set_str(a, tree_sub(a, m->doc, "MetadataOptions"), "State", STR("applied"));
    tree_set_bool(a, tree_sub(a, m->doc, "EnclaveOptions"), "Enabled",
                  tree_is_true(tree_at(l->data, "EnclaveOptions", "Enabled", NULL)));
    tree_set_bool(a, tree_sub(a, m->doc, "HibernationOptions"), "Configured", false);
    tree_set_str(a, tree_sub(a, m->doc, "MaintenanceOptions"), "AutoRecovery", STR("default"));
}

static void doc_tags(struct machine *m, const struct launch *l)
{
    struct tree *tags = tree_sublist(m->a, m->doc, "Tags");

    tags_from(m->a, tree_get(l->data, "TagSpecifications"), "instance", tags);
    tags_from(m->a, l->tags, "instance", tags);
    if (l->fleet)
        tags_set(m->a, tags, STR("aws:ec2:fleet-id"), l->fleet->id);
    if (l->template_id.n) {
        tags_set(m->a, tags, STR("aws:ec2launchtemplate:id"), l->template_id);
        tags_set(m->a, tags, STR("aws:ec2launchtemplate:version"), arena_printf(m->a, "%u", l->template_version));
    }
}

static void doc_identity(struct machine *m, const struct launch *l)
{
    struct arena *a = m->a;

    tree_set_str(a, m->doc, "InstanceId", m->m.id);
    tree_set_str(a, m->doc, "ImageId", m->m.image);
    (void)tree_sub(a, m->doc, "State");
    tree_set_str(a, m->doc, "InstanceType", m->m.type);
    tree_set_str(a, m->doc, "LaunchTime", account_time(a, m->m.launched_ms));
    tree_set_str(a, m->doc, "PrivateDnsName", m->m.private_dns);
    tree_set_str(a, m->doc, "PrivateIpAddress", m->m.private_ip);
    tree_set_str(a, m->doc, "PublicDnsName", STR(""));
    tree_set_str(a, m->doc, "StateTransitionReason", STR(""));
    tree_set_i64(a, m->doc, "AmiLaunchIndex", 0);
    tree_set_str(a, m->doc, "SubnetId", m->m.subnet);
    tree_set_str(a, m->doc, "VpcId", m->subnet ? tree_str(tree_get(m->subnet->doc, "VpcId")) : STR(""));
    tree_set_str(a, m->doc, "Architecture", m->m.arch);
    tree_set_str(a, m->doc, "ClientToken", arena_strdup(a, l->client_token));
    tree_set_str(a, m->doc, "RootDeviceType", STR("ebs"));
    tree_set_str(a, m->doc, "RootDeviceName", STR("/dev/xvda"));
    tree_set_str(a, m->doc, "VirtualizationType", STR("hvm"));
    tree_set_str(a, m->doc, "Hypervisor", STR("xen"));
    tree_set_str(a, m->doc, "PlatformDetails", STR("Linux/UNIX"));
    tree_set_str(a, m->doc, "UsageOperation", STR("RunInstances"));
    tree_set_bool(a, m->doc, "EbsOptimized", false);
    tree_set_bool(a, m->doc, "EnaSupport", true);
    tree_set_bool(a, m->doc, "SourceDestCheck", true);
}

static void take_from_account(struct machine *m)
{
    if (m->s->o.loose)
        return;
    if (m->subnet)
        live_number_set(&m->subnet->free, m->subnet->free.v - 1);
    if (m->reservation)
        live_number_set(&m->reservation->available, m->reservation->available.v - 1);
    else if (m->pool && m->pool->more[m->spot] > 0)
        m->pool->more[m->spot]--;
}

/* Of the image, or else the first that the type has. */
static str arch_of(const struct sim_aws *s, const struct launch *l)
{
    const struct tree *type = docs_find(&s->types, "InstanceType", l->type);
    const struct tree *archs = tree_at(type, "ProcessorInfo", "SupportedArchitectures", NULL);
    str arch = tree_str(tree_get(docs_find(&s->images, "ImageId", l->image), "Architecture"));

    return arch.n == 0 && archs && archs->kind == TREE_LIST && archs->n ? tree_str(&archs->items[0]) : arch;
}

/* The doc is put together elsewhere and copied: what grows leaves gaps, and there may be thousands of machines. */
static void doc_write(struct machine *m, const struct launch *l)
{
    AUTO(arena) struct arena *scratch = arena_new(32u << 10);
    struct arena *own = m->a;

    m->a = scratch;
    m->doc = tree_new_map(scratch);
    doc_identity(m, l);
    doc_place(m, l);
    doc_network(m, l);
    doc_disks(m, l);
    doc_market(m, l);
    doc_options(m, l);
    doc_tags(m, l);
    m->a = own;
    m->doc = tree_copy(own, m->doc);
}

struct machine *launch_one(struct sim_aws *s, const struct launch *l)
{
    struct arena *a = arena_new(0);
    struct machine *m = arena_new_one(a, struct machine);
    struct sb text = {0};
    const struct profile *p = profile_of(s, l);
    const struct tree *disks = tree_get(l->data, "BlockDeviceMappings");

    arena_limit_blocks(a, 4096);
    m->s = s;
    m->a = a;
    m->serial = ++s->serial;
    m->visible_ms = account_visible_ms(s);
    m->subnet = account_subnet(s, l->subnet);
    m->pool = account_pool(s, l->type, l->zone);
    m->spot = is_spot(l);
    m->vcpus = type_vcpus(s, l->type);
    m->fleet = l->fleet;
    if (l->fleet)
        l->fleet->n_machines++;
    bool plain = b64url_decode(&text, tree_str(tree_get(l->data, "UserData")));
    m->m = (struct sim_machine){
        .id = account_hex_id(s, a, "i-", 17),
        .type = arena_strdup(a, l->type),
        .zone = arena_strdup(a, l->zone),
        .zone_id = account_zone_id(s, l->zone),
        .image = arena_strdup(a, l->image),
        .subnet = arena_strdup(a, l->subnet),
        .capacity_type = m->spot               ? STR("spot")
                         : reservation_id(l).n ? STR("reserved")
                                               : STR("on-demand"),
        .region = s->region,
        .profile = p ? arena_strdup(a, p->name) : STR(""),
        .user_data = plain ? sb_dup(&text, a) : STR(""),
        .arch = arch_of(s, l),
        .info = docs_find(&s->types, "InstanceType", l->type),
        .disks = disks ? tree_copy(a, disks) : NULL,
        .launched_ms = account_now_ms(s),
    };
    sb_fini(&text);
    take_address(m, a);
    doc_write(m, l);
    take_from_account(m);
    machine_add(m);
    return m;
}
