/* load - an account's file into an account: checks what the services rely on, fills in what the file may leave out. */
#include <math.h>
#include <stdio.h>

#include "data/json.h"
#include "data/reader.h"
#include "sim/aws/account.h"

static const char *const karpenter_rules[][3] = {
    /* what Karpenter's stack makes (aws 9.5) */
    {"ScheduledChangeRule", "aws.health", "AWS Health Event"},
    {"SpotInterruptionRule", "aws.ec2", "EC2 Spot Instance Interruption Warning"},
    {"RebalanceRule", "aws.ec2", "EC2 Instance Rebalance Recommendation"},
    {"InstanceStateChangeRule", "aws.ec2", "EC2 Instance State-change Notification"},
    {"CapacityReservationInterruptionRule", "aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"},
};

/* A list of maps, each with a text under `key`, as copies. */
static bool load_docs(struct sim_aws *s, const struct tree *account, const char *member, const char *key,
                      struct docs *ret, struct err *e)
{
    const struct tree *list = tree_get(account, member);

    if (list && list->kind != TREE_LIST)
        return err_set(e, ERR_INVALID, "%s: want a list, got %s", member, tree_kind_name(list->kind));
    for (uint32_t i = 0; list && i < list->n; i++) {
        str id = tree_str(tree_get(&list->items[i], key));

        if (id.n == 0)
            return err_set(e, ERR_INVALID, "%s[%u]: %s is missing", member, i, key);
        if (docs_find(ret, key, id))
            return err_set(e, ERR_INVALID, "%s[%u]: %s " STR_FMT " is there twice", member, i, key, STR_ARG(id));
        vec_push(&ret->v, tree_copy(s->a, &list->items[i]));
    }
    return true;
}

static void doc_default(struct sim_aws *s, struct tree *doc, const char *key, str value)
{
    if (!tree_get(doc, key))
        tree_set_str(s->a, doc, key, value);
}

static bool cidr_read(str text, uint32_t *ret_net, uint32_t *ret_hosts)
{
    unsigned b[4], bits;
    char c[24];

    if (text.n == 0 || text.n >= sizeof(c))
        return false;
    memcpy(c, text.p, text.n);
    c[text.n] = 0;
    if (sscanf(c, "%3u.%3u.%3u.%3u/%2u", &b[0], &b[1], &b[2], &b[3], &bits) != 5 || bits < 8 || bits > 28)
        return false;
    for (int i = 0; i < 4; i++)
        if (b[i] > 255)
            return false;
    *ret_hosts = 1u << (32 - bits);
    *ret_net = (b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]) & ~(*ret_hosts - 1);
    return true;
}

static bool load_subnets(struct sim_aws *s, const struct tree *account, struct err *e)
{
    struct docs docs = {0};
    bool ok = load_docs(s, account, "subnets", "SubnetId", &docs, e);

    for (uint32_t i = 0; ok && i < docs.v.n; i++) {
        struct subnet *n = arena_new_one(s->a, struct subnet);
        str zone = tree_str(tree_get(docs.v.v[i], "AvailabilityZone"));

        n->doc = docs.v.v[i];
        if (!docs_find(&s->zones, "ZoneName", zone))
            ok = err_set(e, ERR_INVALID, "subnets[%u]: zone " STR_FMT " is not in zones", i, STR_ARG(zone));
        doc_default(s, n->doc, "AvailabilityZoneId", account_zone_id(s, zone));
        doc_default(s, n->doc, "CidrBlock", arena_printf(s->a, "10.%u.0.0/16", i & 255));
        doc_default(s, n->doc, "State", STR("available"));
        doc_default(s, n->doc, "OwnerId", s->account_id);
        str arn = account_arn(s, s->a, "ec2", "subnet/", tree_str(tree_get(n->doc, "SubnetId")));
        doc_default(s, n->doc, "SubnetArn", arn);
        if (ok && !cidr_read(tree_str(tree_get(n->doc, "CidrBlock")), &n->net, &n->hosts))
            ok = err_set(e, ERR_INVALID, "subnets[%u]: CidrBlock is none, or not from /8 to /28", i);
        n->next = 4; /* AWS keeps the first four and the last */
        live_number_init(&n->free, s->a, n->doc, "AvailableIpAddressCount", (int64_t)n->hosts - 5);
        vec_push(&s->subnets, n);
    }
    vec_fini(&docs.v);
    return ok;
}

static bool load_reservations(struct sim_aws *s, const struct tree *account, struct err *e)
{
    struct docs docs = {0};
    bool ok = load_docs(s, account, "capacityReservations", "CapacityReservationId", &docs, e);

    for (uint32_t i = 0; i < docs.v.n; i++)
        account_add_reservation(s, docs.v.v[i]);
    vec_fini(&docs.v);
    return ok;
}

/* ---- what can be had where, and for how much ---- */

static double price_of(const struct tree *t)
{
    double v;

    return t && str_to_double(tree_scalar(t), &v) && v >= 0 ? v : (double)NAN;
}

static int64_t pool_size(const struct tree *account, str type, str zone, const char *capacity_type)
{
    const struct tree *by_zone = tree_get_str(tree_get(account, "capacity"), type);
    int64_t n = -1;

    (void)tree_to_i64(tree_get(tree_get_str(by_zone, zone), capacity_type), &n);
    return MAX(n, -1);
}

static int by_type_and_zone(const void *a, const void *b, void *ctx)
{
    const struct pool *x = a, *y = b;
    int c = str_cmp(x->type, y->type);

    (void)ctx;
    return c ? c : str_cmp(x->zone, y->zone);
}

static bool load_pools(struct sim_aws *s, const struct tree *account, struct err *e)
{
    const struct tree *offered = tree_get(account, "instanceTypeOfferings");
    const struct tree *demand = tree_get(account, "onDemandPrices"), *spot = tree_get(account, "spotPrices");

    for (uint32_t i = 0; offered && offered->kind == TREE_MAP && i < offered->n; i++) {
        const struct tree *zones = &offered->items[i];
        str type = arena_strdup(s->a, offered->keys[i]);

        if (zones->kind != TREE_LIST)
            return err_set(e, ERR_INVALID, "instanceTypeOfferings." STR_FMT ": want a list", STR_ARG(type));
        for (uint32_t j = 0; j < zones->n; j++) {
            struct pool *p = vec_add(&s->pools);
            struct tree *doc = tree_new_map(s->a);

            p->type = type;
            p->zone = arena_strdup(s->a, tree_str(&zones->items[j]));
            p->on_demand = price_of(tree_get_str(demand, type));
            p->spot = p->spot_given = price_of(tree_get_str(tree_get_str(spot, type), p->zone));
            p->more[0] = pool_size(account, type, p->zone, "on-demand");
            p->more[1] = pool_size(account, type, p->zone, "spot");
            if (!isnan(p->spot))
                p->past[p->n_past++] = (struct spot_price){.at_ms = account_now_ms(s), .usd = p->spot};
            tree_set_str(s->a, doc, "InstanceType", type);
            tree_set_str(s->a, doc, "LocationType", STR("availability-zone"));
            tree_set_str(s->a, doc, "Location", p->zone);
            vec_push(&s->offerings.v, doc);
        }
    }
    sort_stable(s->pools.v, s->pools.n, sizeof(struct pool), by_type_and_zone, NULL);
    return true;
}

/* ---- IAM, SSM, EKS ---- */

static void load_iam(struct sim_aws *s, const struct tree *account)
{
    const struct tree *roles = tree_at(account, "iam", "roles", NULL);
    const struct tree *profiles = tree_at(account, "iam", "instanceProfiles", NULL);

    for (uint32_t i = 0; roles && roles->kind == TREE_LIST && i < roles->n; i++)
        vec_push(&s->roles, arena_strdup(s->a, tree_str(&roles->items[i])));
    for (uint32_t i = 0; profiles && profiles->kind == TREE_MAP && i < profiles->n; i++)
        (void)profile_new(s, profiles->keys[i], STR("/"), tree_str(&profiles->items[i]), true);
}

static void load_parameters(struct sim_aws *s, const struct tree *account)
{
    const struct tree *given = tree_get(account, "ssmParameters");

    s->parameters = tree_new_map(s->a);
    for (uint32_t i = 0; given && given->kind == TREE_MAP && i < given->n; i++)
        parameter_put(s, given->keys[i], tree_str(&given->items[i]));
}

static bool load_keys(struct sim_aws *s, const struct tree *account, struct err *e)
{
    const struct tree *keys = tree_get(account, "keys");

    for (uint32_t i = 0; keys && keys->kind == TREE_MAP && i < keys->n; i++) {
        str secret = tree_str(&keys->items[i]);
        struct access_key *k = xcalloc(1, sizeof(*k));

        vec_push(&s->keys, k);
        if (keys->keys[i].n >= sizeof(k->id) || secret.n >= sizeof(k->secret) || secret.n == 0)
            return err_set(e, ERR_INVALID, "keys[%u]: id or secret is empty or too long", i);
        memcpy(k->id, keys->keys[i].p, keys->keys[i].n);
        memcpy(k->secret, secret.p, secret.n);
        (void)snprintf(k->arn, sizeof(k->arn), "arn:" STR_FMT ":iam::" STR_FMT ":user/operator", STR_ARG(s->partition),
                       STR_ARG(s->account_id));
        k->expires_ms = INT64_MAX;
    }
    return true;
}

/* ---- queues and rules ---- */

static void load_queue(struct sim_aws *s, str name)
{
    struct queue *q = xcalloc(1, sizeof(*q));

    q->name = arena_strdup(s->a, name);
    q->url = arena_printf(s->a, "https://sqs." STR_FMT ".amazonaws.com/" STR_FMT "/" STR_FMT, STR_ARG(s->region),
                          STR_ARG(s->account_id), STR_ARG(name));
    q->arn = account_arn(s, s->a, "sqs", "", name);
    q->last = &q->first;
    q->retention_ms = 300 * 1000; /* as Karpenter's stack sets it */
    q->visibility_ms = 30 * 1000;
    q->created_ms = account_now_ms(s);
    vec_push(&s->queues, q);
}

static bool load_rule(struct sim_aws *s, str name, const struct tree *pattern, str queue, struct err *e)
{
    struct queue *q = account_queue(s, queue);

    if (!q)
        return err_set(e, ERR_INVALID, "rule " STR_FMT ": no queue " STR_FMT, STR_ARG(name), STR_ARG(queue));
    struct rule *r = vec_add(&s->rules);

    r->name = arena_strdup(s->a, name);
    r->arn = account_arn(s, s->a, "events", "rule/", name);
    r->pattern = tree_copy(s->a, pattern);
    r->pattern_text = json_text(s->a, r->pattern);
    r->doc = tree_new_map(s->a);
    tree_set_str(s->a, r->doc, "Name", r->name);
    tree_set_str(s->a, r->doc, "Arn", r->arn);
    tree_set_str(s->a, r->doc, "EventPattern", r->pattern_text);
    tree_set_str(s->a, r->doc, "State", STR("ENABLED"));
    tree_set_str(s->a, r->doc, "EventBusName", STR("default"));
    r->targets = tree_new_list(s->a);
    struct tree *t = tree_push(s->a, r->targets, *tree_new_map(s->a));

    tree_set_str(s->a, t, "Id", STR("KarpenterInterruptionQueueTarget"));
    tree_set_str(s->a, t, "Arn", q->arn);
    return true;
}

static bool load_own_rules(struct sim_aws *s, str cluster, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(karpenter_rules); i++) {
        struct tree *pattern = tree_new_map(s->a);
        str name = arena_printf(s->a, "Karpenter-" STR_FMT "-%s", STR_ARG(cluster), karpenter_rules[i][0]);

        (void)tree_push(s->a, tree_sublist(s->a, pattern, "source"), tree_of_str(str_c(karpenter_rules[i][1])));
        (void)tree_push(s->a, tree_sublist(s->a, pattern, "detail-type"), tree_of_str(str_c(karpenter_rules[i][2])));
        if (!load_rule(s, name, pattern, s->queues.v[0]->name, e))
            return false;
    }
    return true;
}

static bool load_plumbing(struct sim_aws *s, const struct tree *account, struct err *e)
{
    const struct tree *queues = tree_get(account, "queues"), *rules = tree_get(account, "rules");
    str cluster = tree_str(tree_get(s->cluster, "name"));

    for (uint32_t i = 0; queues && queues->kind == TREE_LIST && i < queues->n; i++)
        load_queue(s, tree_str(&queues->items[i]));
    if (!queues && cluster.n)
        load_queue(s, cluster);
    if (!rules)
        return s->queues.n == 0 || load_own_rules(s, cluster, e);
    for (uint32_t i = 0; rules->kind == TREE_LIST && i < rules->n; i++) {
        const struct tree *r = &rules->items[i], *pattern = tree_get(r, "EventPattern");

        if (!pattern || pattern->kind != TREE_MAP)
            return err_set(e, ERR_INVALID, "rules[%u]: EventPattern is no map", i);
        if (!load_rule(s, tree_str(tree_get(r, "Name")), pattern, tree_str(tree_get(r, "queue")), e))
            return false;
    }
    return true;
}

/* ---- faults ---- */

static void load_faults(struct sim_aws *s, const struct tree *account)
{
    const struct tree *calls = tree_at(account, "faults", "calls", NULL);
    const struct tree *fleet = tree_at(account, "faults", "fleet", NULL);

    for (uint32_t i = 0; calls && calls->kind == TREE_MAP && i < calls->n; i++)
        for (uint32_t j = 0; j < calls->items[i].n; j++) {
            const struct tree *f = &calls->items[i].items[j];

            vec_push(&s->fault_calls, (struct fault_call){
                                          .key = arena_strdup(s->a, calls->keys[i]),
                                          .code = arena_strdup(s->a, tree_str(tree_get(f, "code"))),
                                          .message = arena_strdup(s->a, tree_str(tree_get(f, "message"))),
                                      });
        }
    for (uint32_t i = 0; fleet && fleet->kind == TREE_LIST && i < fleet->n; i++) {
        const struct tree *f = tree_copy(s->a, &fleet->items[i]);

        vec_push(&s->fault_fleets, (struct fault_fleet){
                                       .capacity_type = tree_str(tree_get(f, "capacityType")),
                                       .type = tree_str(tree_get(f, "instanceType")),
                                       .zone = tree_str(tree_get(f, "availabilityZone")),
                                       .subnet = tree_str(tree_get(f, "subnetId")),
                                       .code = tree_str(tree_get(f, "errorCode")),
                                       .message = tree_str(tree_get(f, "errorMessage")),
                                   });
    }
}

/* Virtual private clouds that subnets name exist. */
static void load_vpcs(struct sim_aws *s)
{
    for (uint32_t i = 0; i < s->subnets.n; i++) {
        str id = tree_str(tree_get(s->subnets.v[i]->doc, "VpcId"));

        if (id.n == 0 || docs_find(&s->vpcs, "VpcId", id))
            continue;
        struct tree *v = tree_new_map(s->a);

        tree_set_str(s->a, v, "VpcId", id);
        tree_set_str(s->a, v, "CidrBlock", STR("10.0.0.0/8"));
        tree_set_str(s->a, v, "State", STR("available"));
        tree_set_str(s->a, v, "OwnerId", s->account_id);
        tree_set_bool(s->a, v, "IsDefault", false);
        vec_push(&s->vpcs.v, v);
    }
}

static void load_docs_defaults(struct sim_aws *s)
{
    for (uint32_t i = 0; i < s->zones.v.n; i++) {
        doc_default(s, s->zones.v.v[i], "State", STR("available"));
        doc_default(s, s->zones.v.v[i], "OptInStatus", STR("opt-in-not-required"));
        doc_default(s, s->zones.v.v[i], "RegionName", s->region);
        doc_default(s, s->zones.v.v[i], "GroupName", s->region);
    }
    for (uint32_t i = 0; i < s->groups.v.n; i++) {
        doc_default(s, s->groups.v.v[i], "OwnerId", s->account_id);
        doc_default(s, s->groups.v.v[i], "Description", STR("security group"));
    }
    for (uint32_t i = 0; i < s->images.v.n; i++)
        doc_default(s, s->images.v.v[i], "State", STR("available"));
}

bool account_load(struct sim_aws *s, const struct tree *account, struct err *e)
{
    str region = tree_str(tree_get(account, "region")), id = tree_str(tree_get(account, "account"));
    const struct tree *quotas = tree_get(account, "quotas");

    if (region.n == 0 || id.n == 0)
        return err_set(e, ERR_INVALID, "an AWS account needs `region` and `account`");
    s->region = arena_strdup(s->a, region);
    s->account_id = arena_strdup(s->a, id);
    s->partition = str_starts(region, STR("cn-"))       ? STR("aws-cn")
                   : str_starts(region, STR("us-gov-")) ? STR("aws-us-gov")
                                                        : STR("aws");
    s->spot_vcpus = s->demand_vcpus = -1;
    (void)tree_to_i64(tree_get(quotas, "spotVcpus"), &s->spot_vcpus);
    (void)tree_to_i64(tree_get(quotas, "onDemandVcpus"), &s->demand_vcpus);
    s->container_token = arena_strdup(s->a, tree_str(tree_get(account, "containerToken")));
    const struct tree *cluster = tree_get(account, "cluster");

    s->cluster = cluster ? tree_copy(s->a, cluster) : tree_new_map(s->a);
    if (!load_docs(s, account, "zones", "ZoneName", &s->zones, e) ||
        !load_docs(s, account, "vpcs", "VpcId", &s->vpcs, e) ||
        !load_docs(s, account, "securityGroups", "GroupId", &s->groups, e) ||
        !load_docs(s, account, "images", "ImageId", &s->images, e) ||
        !load_docs(s, account, "placementGroups", "GroupId", &s->placement_groups, e) ||
        !load_docs(s, account, "instanceTypes", "InstanceType", &s->types, e) || !load_subnets(s, account, e) ||
        !load_reservations(s, account, e) || !load_pools(s, account, e) || !load_keys(s, account, e))
        return false;
    load_vpcs(s);
    load_docs_defaults(s);
    load_iam(s, account);
    load_parameters(s, account);
    load_faults(s, account);
    return load_plumbing(s, account, e);
}
