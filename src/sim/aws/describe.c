/* describe - the EC2 calls that only look at what was given: zones, networks, images, types, reservations, groups, prices. */
#include <math.h>

#include "model/duration.h"
#include "sim/aws/call.h"

struct describe {
    const char *member; /* of the answer */
    const char *key;    /* what names one */
    const char *ids;    /* the parameter with names; NULL: there is none */
    const char *unknown,
        *what;     /* AWS's code for a name that is not there, and what that is; NULL: it is simply not described */
    uint32_t most; /* on one page */
    const char *const *filters;
};

#define NAMES(...)                                                                                                     \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }

static bool wanted(const struct tree *ids, const struct tree *doc, const char *key)
{
    str id = tree_str(tree_get(doc, key));

    for (uint32_t i = 0; ids && i < ids->n; i++)
        if (str_eq(tree_str(&ids->items[i]), id))
            return true;
    return !ids;
}

/* Every name that was asked for must be there. */
static bool names_known(struct call *c, const struct listing *all, const struct describe *d, const struct tree *ids)
{
    for (uint32_t i = 0; ids && d->unknown && i < ids->n; i++) {
        bool found = false;

        for (uint32_t j = 0; !found && j < all->docs.n; j++)
            found = str_eq(tree_str(tree_get(all->docs.v[j], d->key)), tree_str(&ids->items[i]));
        if (!found)
            return call_fail(c, d->unknown, "%s '" STR_FMT "' does not exist", d->what,
                             STR_ARG(tree_str(&ids->items[i])));
    }
    return true;
}

/* Of all docs those that are wanted, a page of them. */
static void describe_listing(struct call *c, const struct listing *all, const struct describe *d)
{
    const struct tree *ids = d->ids ? in_list(c, d->ids) : NULL;
    struct listing chosen = {0};

    if (!filters_check(c, d->filters) || !names_known(c, all, d, ids))
        return;
    for (uint32_t i = 0; i < all->docs.n; i++)
        if (wanted(ids, all->docs.v[i], d->key) && filters_match(c, all->docs.v[i]))
            listing_add(&chosen, all->serials.v[i], all->docs.v[i]);
    page_reply(c, &chosen, d->member, d->most);
    listing_fini(&chosen);
}

static void describe_docs(struct call *c, const struct docs *docs, const struct describe *d)
{
    struct listing all = {0};

    for (uint32_t i = 0; i < docs->v.n; i++)
        listing_add(&all, i + 1, docs->v.v[i]);
    describe_listing(c, &all, d);
    listing_fini(&all);
}

/* ---- places and networks ---- */

void serve_describe_availability_zones(struct call *c)
{
    bool by_id = in_list(c, "ZoneIds") != NULL;
    struct describe d = {
        .member = "AvailabilityZones",
        .key = by_id ? "ZoneId" : "ZoneName",
        .ids = by_id ? "ZoneIds" : "ZoneNames",
        .unknown = "InvalidParameterValue",
        .what = "The availability zone",
        .most = 1000,
        .filters = NAMES("group-name", "opt-in-status", "region-name", "state", "zone-id", "zone-name", "zone-type"),
    };

    describe_docs(c, &c->s->zones, &d);
}

void serve_describe_regions(struct call *c)
{
    struct tree *doc = tree_new_map(c->a);
    struct listing all = {0};
    struct describe d = {
        .member = "Regions",
        .key = "RegionName",
        .ids = "RegionNames",
        .unknown = "InvalidParameterValue",
        .what = "The region",
        .most = 1000,
        .filters = NAMES("region-name", "endpoint", "opt-in-status"),
    };

    tree_set_str(c->a, doc, "RegionName", c->s->region);
    tree_set_str(c->a, doc, "Endpoint", arena_printf(c->a, "ec2." STR_FMT ".amazonaws.com", STR_ARG(c->s->region)));
    tree_set_str(c->a, doc, "OptInStatus", STR("opt-in-not-required"));
    listing_add(&all, 1, doc);
    describe_listing(c, &all, &d);
    listing_fini(&all);
}

void serve_describe_vpcs(struct call *c)
{
    struct describe d = {
        .member = "Vpcs",
        .key = "VpcId",
        .ids = "VpcIds",
        .unknown = "InvalidVpcID.NotFound",
        .what = "The vpc ID",
        .most = 1000,
        .filters = NAMES("cidr", "is-default", "owner-id", "state", "vpc-id"),
    };

    describe_docs(c, &c->s->vpcs, &d);
}

void serve_describe_subnets(struct call *c)
{
    struct listing all = {0};
    struct describe d = {
        .member = "Subnets",
        .key = "SubnetId",
        .ids = "SubnetIds",
        .unknown = "InvalidSubnetID.NotFound",
        .what = "The subnet ID",
        .most = 1000,
        .filters = NAMES("availability-zone", "availability-zone-id", "available-ip-address-count", "cidr-block",
                         "default-for-az", "map-public-ip-on-launch", "owner-id", "state", "subnet-arn", "subnet-id",
                         "vpc-id"),
    };

    for (uint32_t i = 0; i < c->s->subnets.n; i++)
        listing_add(&all, i + 1, c->s->subnets.v[i]->doc);
    describe_listing(c, &all, &d);
    listing_fini(&all);
}

void serve_describe_security_groups(struct call *c)
{
    bool by_name = in_list(c, "GroupNames") != NULL;
    struct describe d = {
        .member = "SecurityGroups",
        .key = by_name ? "GroupName" : "GroupId",
        .ids = by_name ? "GroupNames" : "GroupIds",
        .unknown = "InvalidGroup.NotFound",
        .what = "The security group",
        .most = 1000,
        .filters = NAMES("description", "group-id", "group-name", "owner-id", "vpc-id"),
    };

    describe_docs(c, &c->s->groups, &d);
}

/* ---- images ---- */

static bool owned(const struct call *c, const struct tree *doc)
{
    const struct tree *owners = in_list(c, "Owners");
    str owner = tree_str(tree_get(doc, "OwnerId")), alias = tree_str(tree_get(doc, "ImageOwnerAlias"));

    for (uint32_t i = 0; owners && i < owners->n; i++) {
        str want = tree_str(&owners->items[i]);

        if (str_eq(want, owner) || (want.n && str_eq(want, alias)) ||
            (str_is(want, "self") && str_eq(owner, c->s->account_id)))
            return true;
    }
    return !owners;
}

static bool deprecated(const struct call *c, const struct tree *doc)
{
    struct err e;
    int64_t at;
    str text = tree_str(tree_get(doc, "DeprecationTime"));

    return text.n && time_parse_rfc3339(text, &at, &e) && at <= account_now_ms(c->s) &&
           !str_eq(tree_str(tree_get(doc, "OwnerId")), c->s->account_id);
}

void serve_describe_images(struct call *c)
{
    struct listing all = {0};
    bool named = in_list(c, "ImageIds") != NULL, old = tree_is_true(tree_get(c->in, "IncludeDeprecated")) || named;
    struct describe d = {
        .member = "Images",
        .key = "ImageId",
        .ids = "ImageIds",
        .unknown = "InvalidAMIID.NotFound",
        .what = "The image id",
        .most = 1000,
        .filters = NAMES("architecture", "creation-date", "description", "image-id", "image-type", "is-public", "name",
                         "owner-alias", "owner-id", "platform", "root-device-type", "state", "virtualization-type"),
    };

    for (uint32_t i = 0; i < c->s->images.v.n; i++)
        if (owned(c, c->s->images.v.v[i]) && (old || !deprecated(c, c->s->images.v.v[i])))
            listing_add(&all, i + 1, c->s->images.v.v[i]);
    describe_listing(c, &all, &d);
    listing_fini(&all);
}

/* ---- what can be had ---- */

void serve_describe_instance_types(struct call *c)
{
    struct describe d = {
        .member = "InstanceTypes",
        .key = "InstanceType",
        .ids = "InstanceTypes",
        .unknown = "InvalidInstanceType",
        .what = "The instance type",
        .most = 100,
        .filters =
            NAMES("bare-metal", "burstable-performance-supported", "current-generation", "hypervisor", "instance-type",
                  "memory-info.size-in-mib", "nitro-enclaves-support", "processor-info.supported-architecture",
                  "supported-usage-class", "supported-virtualization-type", "vcpu-info.default-vcpus"),
    };

    describe_docs(c, &c->s->types, &d);
}

/* The same offering by the zone's id, or by region: then once for all zones. */
static void offerings_elsewhere(struct call *c, struct listing *all, bool region)
{
    const struct docs *docs = &c->s->offerings;

    for (uint32_t i = 0; i < docs->v.n; i++) {
        str type = tree_str(tree_get(docs->v.v[i], "InstanceType"));
        str zone = tree_str(tree_get(docs->v.v[i], "Location"));

        if (region && i > 0 && str_eq(type, tree_str(tree_get(docs->v.v[i - 1], "InstanceType"))))
            continue;
        struct tree *doc = tree_copy(c->a, docs->v.v[i]);

        tree_set_str(c->a, doc, "LocationType", region ? STR("region") : STR("availability-zone-id"));
        tree_set_str(c->a, doc, "Location", region ? c->s->region : account_zone_id(c->s, zone));
        listing_add(all, i + 1, doc);
    }
}

void serve_describe_instance_type_offerings(struct call *c)
{
    str by = in_str(c, "LocationType");
    struct listing all = {0};
    struct describe d = {
        .member = "InstanceTypeOfferings",
        .key = "InstanceType",
        .most = 1000,
        .filters = NAMES("instance-type", "location"),
    };

    if (str_is(by, "availability-zone")) {
        describe_docs(c, &c->s->offerings, &d);
        return;
    }
    if (by.n && !str_is(by, "region") && !str_is(by, "availability-zone-id")) {
        (void)call_fail(c, "InvalidParameterValue", "The location type '" STR_FMT "' is not valid", STR_ARG(by));
        return;
    }
    offerings_elsewhere(c, &all, !str_is(by, "availability-zone-id"));
    describe_listing(c, &all, &d);
    listing_fini(&all);
}

void serve_describe_capacity_reservations(struct call *c)
{
    struct listing all = {0};
    struct describe d = {
        .member = "CapacityReservations",
        .key = "CapacityReservationId",
        .ids = "CapacityReservationIds",
        .unknown = "InvalidCapacityReservationId.NotFound",
        .what = "The capacity reservation",
        .most = 1000,
        .filters = NAMES("availability-zone", "availability-zone-id", "instance-match-criteria", "instance-platform",
                         "instance-type", "owner-id", "placement-group-arn", "reservation-type", "state", "tenancy"),
    };

    for (uint32_t i = 0; i < c->s->reservations.n; i++)
        listing_add(&all, i + 1, c->s->reservations.v[i]->doc);
    describe_listing(c, &all, &d);
    listing_fini(&all);
}

void serve_describe_placement_groups(struct call *c)
{
    bool by_name = in_list(c, "GroupNames") != NULL;
    struct describe d = {
        .member = "PlacementGroups",
        .key = by_name ? "GroupName" : "GroupId",
        .ids = by_name ? "GroupNames" : "GroupIds",
        .unknown = c->s->o.loose ? NULL : "InvalidPlacementGroup.Unknown",
        .what = "The placement group",
        .most = 1000,
        .filters = NAMES("group-arn", "group-name", "spread-level", "state", "strategy"),
    };

    describe_docs(c, &c->s->placement_groups, &d);
}

/* ---- spot prices ---- */

static void spot_entry(struct call *c, struct listing *all, const struct pool *p, const struct spot_price *at)
{
    struct tree *doc = tree_new_map(c->a);

    tree_set_str(c->a, doc, "InstanceType", p->type);
    tree_set_str(c->a, doc, "AvailabilityZone", p->zone);
    tree_set_str(c->a, doc, "ProductDescription", STR("Linux/UNIX"));
    tree_set_str(c->a, doc, "SpotPrice", arena_printf(c->a, "%.6f", at->usd));
    tree_set_str(c->a, doc, "Timestamp", account_time(c->a, at->at_ms));
    listing_add(all, all->docs.n + 1, doc);
}

/* Prices of the time that was asked for: the one that held at its beginning, and every change after it; the newest comes first. */
static void spot_history(struct call *c, struct listing *all, const struct pool *p, int64_t from_ms, int64_t to_ms)
{
    for (uint32_t i = p->n_past; i-- > 0;) {
        if (p->past[i].at_ms > to_ms)
            continue;
        spot_entry(c, all, p, &p->past[i]);
        if (p->past[i].at_ms <= from_ms)
            return;
    }
}

static bool time_param(struct call *c, const char *key, int64_t *ret)
{
    struct err e;
    str text = in_str(c, key);

    return text.n == 0 || time_parse_rfc3339(text, ret, &e) ||
           call_fail(c, "InvalidParameterValue", "Invalid value for %s", key);
}

static bool product_wanted(const struct call *c)
{
    const struct tree *products = in_list(c, "ProductDescriptions");

    for (uint32_t i = 0; products && i < products->n; i++)
        if (str_starts(tree_str(&products->items[i]), STR("Linux/UNIX")))
            return true;
    return !products;
}

void serve_describe_spot_price_history(struct call *c)
{
    struct listing all = {0};
    int64_t from = INT64_MIN, to = account_now_ms(c->s);
    str zone = in_str(c, "AvailabilityZone");
    const struct tree *types = in_list(c, "InstanceTypes");
    struct describe d = {
        .member = "SpotPriceHistory",
        .most = 2000,
        .filters = NAMES("availability-zone", "instance-type", "product-description", "spot-price", "timestamp"),
    };

    if (!time_param(c, "StartTime", &from) || !time_param(c, "EndTime", &to))
        return;
    for (uint32_t i = 0; i < c->s->pools.n && product_wanted(c); i++) {
        const struct pool *p = &c->s->pools.v[i];
        bool named = !types;

        for (uint32_t j = 0; types && j < types->n; j++)
            named = named || str_eq(tree_str(&types->items[j]), p->type);
        if (named && !isnan(p->spot) && (zone.n == 0 || str_eq(zone, p->zone)))
            spot_history(c, &all, p, from, to);
    }
    describe_listing(c, &all, &d);
    listing_fini(&all);
}
