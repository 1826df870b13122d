/* instances - RunInstances, and what is said of machines: descriptions, states, health. */
#include "sim/aws/call.h"

#define MAX_RUN 1000

/* ---- RunInstances ---- */

/* What the request says goes over what the template says. */
static const struct tree *run_data(struct call *c, struct launch *l)
{
    static const char *const own[] = {
        "BlockDeviceMappings",
        "CapacityReservationSpecification",
        "CpuOptions",
        "EnclaveOptions",
        "IamInstanceProfile",
        "ImageId",
        "InstanceType",
        "InstanceMarketOptions",
        "MetadataOptions",
        "Monitoring",
        "NetworkInterfaces",
        "Placement",
        "SecurityGroupIds",
        "SubnetId",
        "UserData",
    };
    const struct tree *spec = tree_get(c->in, "LaunchTemplate");
    struct tree *data = tree_new_map(c->a);
    struct launch_template *t;

    if (spec) {
        const struct template_version *v = template_resolve(c, spec, &t);

        if (!v)
            return NULL;
        data = tree_copy(c->a, v->data);
        l->template_id = t->id;
        l->template_version = (uint32_t)(v - t->versions.v) + 1;
    }
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        const struct tree *v = tree_get(c->in, own[i]);

        if (v)
            tree_set(c->a, data, own[i], *v);
    }
    return data;
}

static struct tree *reservation_doc(struct call *c, const struct machine *m)
{
    struct tree *r = tree_new_map(c->a);

    tree_set_str(c->a, r, "ReservationId", arena_printf(c->a, "r-" STR_FMT, STR_ARG(str_sub(m->m.id, 2, m->m.id.n))));
    tree_set_str(c->a, r, "OwnerId", c->s->account_id);
    (void)tree_sublist(c->a, r, "Groups");
    (void)tree_push(c->a, tree_sublist(c->a, r, "Instances"), *m->doc);
    return r;
}

void serve_run_instances(struct call *c)
{
    struct launch l = {
        .capacity_type = STR("on-demand"),
        .client_token = in_str(c, "ClientToken"),
        .tags = tree_get(c->in, "TagSpecifications"),
    };
    int64_t most = in_i64(c, "MaxCount", 1), least = in_i64(c, "MinCount", 1);
    struct refusal why = {0};

    l.data = run_data(c, &l);
    if (!l.data)
        return;
    if (least < 1 || most < least || most > MAX_RUN) {
        (void)call_fail(c, "InvalidParameterValue", "MinCount and MaxCount must be from 1 to %d", MAX_RUN);
        return;
    }
    if (str_is(tree_str(tree_at(l.data, "InstanceMarketOptions", "MarketType", NULL)), "spot"))
        l.capacity_type = STR("spot");
    launch_place(c->s, &l, NULL);
    if (!(c->dry_run && c->s->o.loose) && launch_refused(c->s, c->a, &l, &why)) {
        c->code = why.code;
        c->message = why.message;
        return;
    }
    if (c->dry_run) {
        (void)call_fail(c, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.");
        return;
    }
    most = MIN(most, launch_room(c->s, &l));
    if (most < least) {
        (void)call_fail(c, "InsufficientInstanceCapacity", "There is room for %lld of the instances you requested",
                        (long long)most);
        return;
    }
    if (!call_units(c, (uint32_t)most))
        return;
    for (int64_t made = 0; made < most; made++) {
        const struct machine *m = launch_one(c->s, &l);

        if (made == 0)
            *c->out = *reservation_doc(c, m);
        else
            (void)tree_push(c->a, tree_sublist(c->a, c->out, "Instances"), *m->doc);
    }
}

/* ---- which machines ---- */

static const char *const instance_filters[] = {
    "architecture",
    "availability-zone",
    "availability-zone-id",
    "capacity-reservation-id",
    "client-token",
    "dns-name",
    "image-id",
    "instance-id",
    "instance-lifecycle",
    "instance-state-code",
    "instance-state-name",
    "instance-type",
    "instance.group-id",
    "instance.group-name",
    "launch-time",
    "network-interface.network-interface-id",
    "network-interface.private-dns-name",
    "network-interface.subnet-id",
    "owner-id",
    "placement-group-name",
    "private-dns-name",
    "private-ip-address",
    "spot-instance-request-id",
    "subnet-id",
    "tenancy",
    "vpc-id",
    NULL,
};

static bool well_formed(str id)
{
    return str_starts(id, STR("i-")) && id.n > 2 && id.n <= 19;
}

/* The machines that are named, all of which must be there; or all. */
static bool machines_of(struct call *c, struct machine ***ret, uint32_t *ret_n)
{
    const struct tree *ids = in_list(c, "InstanceIds");
    uint32_t n = ids ? ids->n : c->s->machine_list.n, kept = 0;
    struct machine **v = arena_new_array(c->a, struct machine *, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        struct machine *m;

        if (ids) {
            str id = tree_str(&ids->items[i]);

            m = machine_find(c->s, id);
            if (!well_formed(id))
                return call_fail(c, "InvalidInstanceID.Malformed", "Invalid id: \"" STR_FMT "\"", STR_ARG(id));
            if (!m)
                return call_fail(c, "InvalidInstanceID.NotFound", "The instance ID '" STR_FMT "' does not exist",
                                 STR_ARG(id));
        } else {
            m = c->s->machine_list.v[i];
            if (m->visible_ms > account_mono_ms(c->s))
                continue;
        }
        v[kept++] = m;
    }
    *ret = v;
    *ret_n = kept;
    return true;
}

void serve_describe_instances(struct call *c)
{
    struct listing chosen = {0};
    struct machine **v;
    uint32_t n;

    if (!filters_check(c, instance_filters) || !machines_of(c, &v, &n))
        return;
    if (in_list(c, "InstanceIds") && tree_get(c->in, "MaxResults")) {
        (void)call_fail(c, "InvalidParameterCombination",
                        "The parameter instancesSet cannot be used with the parameter maxResults");
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        if (filters_match(c, v[i]->doc))
            listing_add(&chosen, v[i]->serial, reservation_doc(c, v[i]));
    page_reply(c, &chosen, "Reservations", 1000);
    listing_fini(&chosen);
}

void serve_terminate_instances(struct call *c)
{
    struct tree *list = tree_sublist(c->a, c->out, "TerminatingInstances");
    struct machine **v;
    uint32_t n;

    if (!in_list(c, "InstanceIds")) {
        (void)call_fail(c, "MissingParameter", "The request must contain the parameter InstanceId");
        return;
    }
    if (!machines_of(c, &v, &n) || !call_units(c, n))
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct tree *t = tree_push(c->a, list, *tree_new_map(c->a));
        struct tree was = *tree_copy(c->a, tree_get(v[i]->doc, "State"));

        machine_end(v[i], "User initiated");
        tree_set_str(c->a, t, "InstanceId", arena_strdup(c->a, v[i]->m.id));
        tree_set(c->a, t, "CurrentState", *tree_copy(c->a, tree_get(v[i]->doc, "State")));
        tree_set(c->a, t, "PreviousState", was);
    }
}

/* ---- health ---- */

static void check_doc(struct call *c, struct tree *doc, const char *key, const struct machine *m,
                      enum sim_aws_check check)
{
    struct tree *t = tree_sub(c->a, doc, key);
    int64_t since = m->impaired_ms[check];
    struct tree *d = tree_push(c->a, tree_sublist(c->a, t, "Details"), *tree_new_map(c->a));

    tree_set_str(c->a, t, "Status", m->state != RUNNING ? STR("initializing") : since ? STR("impaired") : STR("ok"));
    tree_set_str(c->a, d, "Name", STR("reachability"));
    tree_set_str(c->a, d, "Status", m->state != RUNNING ? STR("initializing") : since ? STR("failed") : STR("passed"));
    if (since)
        tree_set_str(c->a, d, "ImpairedSince", account_time(c->a, since));
}

static struct tree *status_doc(struct call *c, const struct machine *m)
{
    struct tree *doc = tree_new_map(c->a);

    tree_set_str(c->a, doc, "InstanceId", m->m.id);
    tree_set_str(c->a, doc, "AvailabilityZone", m->m.zone);
    tree_set_str(c->a, doc, "AvailabilityZoneId", m->m.zone_id);
    tree_set(c->a, doc, "InstanceState", *tree_get(m->doc, "State"));
    check_doc(c, doc, "InstanceStatus", m, SIM_AWS_CHECK_INSTANCE);
    check_doc(c, doc, "SystemStatus", m, SIM_AWS_CHECK_SYSTEM);
    check_doc(c, doc, "AttachedEbsStatus", m, SIM_AWS_CHECK_EBS);
    if (m->event.from_ms) {
        struct tree *e = tree_push(c->a, tree_sublist(c->a, doc, "Events"), *tree_new_map(c->a));

        tree_set_str(c->a, e, "InstanceEventId", machine_event_id(c->a, m));
        tree_set_str(c->a, e, "Code", str_c(m->event.code));
        tree_set_str(c->a, e, "Description", STR("The instance is running on degraded hardware"));
        tree_set_str(c->a, e, "NotBefore", account_time(c->a, m->event.from_ms));
    }
    return doc;
}

void serve_describe_instance_status(struct call *c)
{
    static const char *const filters[] = {
        "attached-ebs-status.status", "availability-zone",    "event.code",
        "event.description",          "instance-state-code",  "instance-state-name",
        "instance-status.status",     "system-status.status", NULL,
    };
    bool all = tree_is_true(tree_get(c->in, "IncludeAllInstances"));
    struct listing chosen = {0};
    struct machine **v;
    uint32_t n;

    if (!filters_check(c, filters) || !machines_of(c, &v, &n))
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct tree *doc = status_doc(c, v[i]);

        if ((all || v[i]->state == RUNNING) && filters_match(c, doc))
            listing_add(&chosen, v[i]->serial, doc);
    }
    page_reply(c, &chosen, "InstanceStatuses", 1000);
    listing_fini(&chosen);
}
