/* Launches: what is asked of EC2, what its refusals teach, what a claim is told (aws 4; 11.5 C2 to C6, C12 to C16, 11.7 L2, L3, L6 to L8, 11.8 LT2, LT3, LT9). */
#include "data/edit.h"
#include "support/check.h"
#include "support/provider_lab.h"

static void begin(struct provider_lab *x, const char *spec)
{
    provider_lab_class(x, "default", spec, "pool");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    sb_reset(&x->told);
}

static bool said(const struct provider_lab *x, const char *what)
{
    return str_contains(sb_view(&x->told), str_c(what));
}

static struct tree *condition(struct provider_lab *x, const char *type)
{
    struct tree *list = tree_path(x->l->a, x->l->stored[0], "status", NULL);

    list = tree_find(list, STR("conditions"));
    for (uint32_t i = 0; i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), type))
            return &list->items[i];
    return NULL;
}

/* ---- C2 ---- */

static void c2_classes_that_are_not_ready(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC("al2023@latest"));
    tree_set_str(x->l->a, condition(x, "Ready"), "status", STR("False"));
    tree_set_str(x->l->a, condition(x, "Ready"), "message", STR("SubnetsReady=False"));
    check_true("not ready", !provider_lab_go(x, LAB_LAUNCH));
    check_str("the kind", str_c(x->e.code), CLOUD_NOT_READY);
    check_str("why", str_c(x->e.msg), "SubnetsReady=False");
    tree_set_str(x->l->a, condition(x, "Ready"), "status", STR("Unknown"));
    check_true("nobody knows", !provider_lab_go(x, LAB_LAUNCH));
    check_str("the kind", str_c(x->e.code), "NodeClassReadinessUnknown");
    tree_set_str(x->l->a, condition(x, "Ready"), "status", STR("True"));
    tree_set(x->l->a, tree_sub(x->l->a, x->l->stored[0], "metadata"), "generation",
             (struct tree){.kind = TREE_NUMBER, .text = STR("2")});
    check_true("of another generation", !provider_lab_go(x, LAB_LAUNCH));
    check_str("the kind", str_c(x->e.code), CLOUD_NOT_READY);
    tree_set(x->l->a, tree_sub(x->l->a, x->l->stored[0], "metadata"), "generation",
             (struct tree){.kind = TREE_NUMBER, .text = STR("1")});
    tree_set_str(x->l->a, tree_path(x->l->a, x->l->stored[0], "spec", "tags", NULL), "karpenter.sh/nodeclaim",
                 STR("mine"));
    check_true("a tag of ours", !provider_lab_go(x, LAB_LAUNCH));
    check_str("the kind", str_c(x->e.code), CLOUD_NOT_READY);
    check_u64("nothing was launched", class_lab_calls(x->l, "CreateFleet"), 0);
}

/* What only somebody who writes a status by hand gets to see. */
static void classes_without_security_groups(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC("al2023@latest"));
    (void)tree_drop(tree_sub(x->l->a, x->l->stored[0], "status"), STR("securityGroups"));
    check_true("no groups", !provider_lab_go(x, LAB_LAUNCH));
    check_str("the kind", str_c(x->e.code), "LaunchFailed");
    check_str("why", str_c(x->e.msg), "Error getting launch template configs: Instance launch failed");
    check_u64("nothing was made", class_lab_calls(x->l, "CreateLaunchTemplate"), 0);
}

/* Of any amount: what v1.14.1 calls it, and what later versions do. */
static void enclaves_by_request(void **state)
{
    static const char *const names[] = {"eks.amazonaws.com/nip-slots", "eks.amazonaws.com/nitro-sandbox"};
    struct provider_lab *x = *state;
    struct ec2_settings s = provider_lab_settings();

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        provider_lab_reopen(x, NULL, &s);
        begin(x, LAB_SPEC("al2023@latest"));
        provider_lab_ask(x, names[i], 0);
        check_ok(names[i], provider_lab_go(x, LAB_LAUNCH), &x->e);
        check_true(names[i], str_contains(x->l->template, STR("\"EnclaveOptions\":{\"Enabled\":true}")));
    }
}

/* ---- C3, C5, C6, L7 ---- */

static void c3_nothing_to_launch(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC("al2023@latest"));
    provider_lab_want(x, "node.kubernetes.io/instance-type", "no.such");
    check_true("a shortage", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind == ERR_CAPACITY);
    check_u64("nobody was asked", class_lab_calls(x->l, "CreateFleet"), 0);
}

static void note(struct provider_lab *x, const char *key, const char *val)
{
    x->claim.annotations = arena_new_one(x->l->a, struct annotation);
    *x->claim.annotations = (struct annotation){str_c(key), str_c(val)};
    x->claim.n_annotations = 1;
}

static void c5_l7_context_and_strategies(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC_WITH("\"context\":\"ctx-1\""));
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_true("C5 the context", str_contains(x->l->fleet, STR("\"Context\":\"ctx-1\"")));
    check_true("L7 spot comes first", str_contains(x->l->fleet, STR("\"price-capacity-optimized\"")));
    note(x, "karpenter.sh/nodeclaim-min-values-relaxed", "true");
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_true("C5 not when values were let go", !str_contains(x->l->fleet, STR("\"Context\"")));
    note(x, "karpenter.sh/price-overlay-applied", "true");
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_true("L7 spot with an overlay", str_contains(x->l->fleet, STR("\"capacity-optimized-prioritized\"")));
    provider_lab_want(x, "karpenter.sh/capacity-type", "on-demand");
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_true("L7 on demand with an overlay",
               str_contains(x->l->fleet, STR("\"OnDemandOptions\":{\"AllocationStrategy\":\"prioritized\"}")));
    x->claim.n_annotations = 0;
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_true("L7 on demand",
               str_contains(x->l->fleet, STR("\"OnDemandOptions\":{\"AllocationStrategy\":\"lowest-price\"}")));
}

static void c6_many_values(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC("al2023@latest"));
    provider_lab_want(x, "node.kubernetes.io/instance-type", "m5.large m5.xlarge c5.large");
    provider_lab_want(x, "karpenter.k8s.aws/instance-family", "m5 c5");
    for (uint32_t i = 0; i < x->claim.n_requirements; i++)
        x->claim.requirements[i].min_values = 2;
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_true("both families are asked for", str_contains(x->l->fleet, STR("\"c5.large\"")) &&
                                                  str_contains(x->l->fleet, STR("\"m5.large\"")) &&
                                                  str_contains(x->l->fleet, STR("\"m5.xlarge\"")));
    provider_lab_want(x, "karpenter.k8s.aws/instance-family", "m5");
    x->claim.requirements[x->claim.n_requirements - 1].min_values = 2;
    check_true("too few", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind == ERR_CAPACITY);
}

/* ---- overlays (aws 4.1) ---- */

static void overlays_count(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC("al2023@latest"));
    provider_lab_want(x, "node.kubernetes.io/instance-type", "m5.large m5.xlarge");
    provider_lab_want(x, "karpenter.sh/capacity-type", "on-demand");
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_str("the cheapest", provider_lab_of(&x->machine, "node.kubernetes.io/instance-type"), "m5.large");
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_u64("asked for once", x->n_overlaid, 1);
    x->dear = "m5.large";
    x->news++;
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_u64("and when something was heard of", x->n_overlaid, 2);
    check_str("the cheapest by what overlays say", provider_lab_of(&x->machine, "node.kubernetes.io/instance-type"),
              "m5.xlarge");
    check_true("priorities are prices", str_contains(x->l->fleet, STR("\"Priority\":96")));
    provider_lab_ask(x, "smarter-devices/fuse", 1000);
    check_true("nobody has that", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind == ERR_CAPACITY);
    x->dear = NULL;
    x->more = "m5.xlarge";
    x->news++;
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_str("what an overlay adds", provider_lab_of(&x->machine, "node.kubernetes.io/instance-type"), "m5.xlarge");
    check_i64("and the claim is told",
              reslist_value(&x->machine.capacity, sym_of(x->p->syms, STR("smarter-devices/fuse"))), 1000);
    ec2_mark_unavailable(x->p, STR("on-demand"), STR("m5.large"), STR("test-zone-1a"));
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_u64("and when offerings have changed", x->n_overlaid, 4);
    x->p->settings.node_overlays = false;
    x->news++;
    check_true("without the gate", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind == ERR_CAPACITY);
}

/* IT18: AWS has no price for it. */
static void it18_prices_of_overlays_alone(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC("al2023@latest"));
    provider_lab_want(x, "node.kubernetes.io/instance-type", "x9z.xlarge");
    provider_lab_want(x, "karpenter.sh/capacity-type", "on-demand");
    check_true("nobody knows what it costs", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind == ERR_CAPACITY);
    x->unpriced = "x9z.xlarge";
    x->news++;
    check_ok("an overlay does", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_true("that is its priority", str_contains(x->l->fleet, STR("\"Priority\":0.001")));
    x->p->settings.node_overlays = false;
    x->news++;
    check_true("not without the gate", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind == ERR_CAPACITY);
}

/* IT20: nobody has types of a class that cannot be read; as soon as it can be, they are there. */
static void it20_until_it_can_be_read(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC("al2023@latest"));
    tree_set(x->l->a, tree_sub(x->l->a, x->l->stored[0], "spec"), "kubelet", *tree_new_list(x->l->a));
    x->news++;
    check_u64("no types", x->cloud->catalog(x->cloud->self)->n, 0);
    check_true("no launch", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind == ERR_INVALID);
    tree_drop(tree_sub(x->l->a, x->l->stored[0], "spec"), STR("kubelet"));
    x->news++;
    check_true("types", x->cloud->catalog(x->cloud->self)->n > 100);
    check_ok("a launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
}

/* ---- L2, L3 ---- */

#define REFUSED(fleet) "{\"faults\":{\"fleet\":[" fleet "]}}"
#define ALL(code) "{\"errorCode\":\"" code "\",\"errorMessage\":\"none\"}"

static void l2_what_is_a_shortage(void **state)
{
    static const struct {
        const char *name, *members;
        bool shortage;
        const char *told;
    } cases[] = {
        {"none left", REFUSED(ALL("InsufficientInstanceCapacity")), true, "LaunchFailed"},
        {"too many fleets", REFUSED(ALL("MaxFleetCountExceeded")), true, "FleetQuotaExceeded"},
        {"too many spot machines", REFUSED(ALL("MaxSpotInstanceCountExceeded")), true, "SpotQuotaExceeded"},
        {"too many vCPUs", REFUSED(ALL("VcpuLimitExceeded")), true, "VCPULimitExceeded"},
        {"not there", REFUSED(ALL("Unsupported")), true, "LaunchFailed"},
        {"no addresses", REFUSED(ALL("InsufficientFreeAddressesInSubnet")), true, "InsufficientFreeAddressesInSubnet"},
        {"no role for spot", REFUSED(ALL("AuthFailure.ServiceLinkedRoleCreationNotPermitted")), true,
         "SpotSLRCreationFailed"},
        {"too many calls", REFUSED(ALL("RequestLimitExceeded")), false, "RequestLimitExceeded"},
        {"a code that nobody knows", REFUSED(ALL("Sunspots")), false, "LaunchFailed"},
    };
    struct provider_lab *x = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        provider_lab_reopen(x, cases[i].members, NULL);
        begin(x, LAB_SPEC("al2023@latest"));
        check_true(cases[i].name, !provider_lab_go(x, LAB_LAUNCH));
        check_true(cases[i].name, (x->e.kind == ERR_CAPACITY) == cases[i].shortage);
        check_true(
            cases[i].name,
            said(x, arena_printf(x->l->a, "launch-failed [test-zone-1a] [tstz1-1a] spot %s\n", cases[i].told).p));
    }
}

static void l2_spot_without_its_role(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_reopen(x,
                        REFUSED("{\"capacityType\":\"spot\",\"errorCode\":"
                                "\"AuthFailure.ServiceLinkedRoleCreationNotPermitted\",\"errorMessage\":\"no\"}"),
                        NULL);
    begin(x, LAB_SPEC("al2023@latest"));
    check_true("a shortage", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind == ERR_CAPACITY);
    check_true("somebody is told", said(x, "warn claim claim-1: Attempted to launch a spot instance but failed"));
    check_ok("no spot for a while: on demand", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_str("on demand", provider_lab_of(&x->machine, "karpenter.sh/capacity-type"), "on-demand");
    class_lab_run(x->l, 3 * 60000 + 1000);
    check_true("then spot again", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind == ERR_CAPACITY);
}

/* L3: an error that EC2 tells of a zone where the class has no subnet. */
static void l3_zones_that_nobody_chose(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_reopen(x,
                        REFUSED("{\"availabilityZone\":\"test-zone-1a\",\"errorCode\":\"InternalError\","
                                "\"errorMessage\":\"x\"}"),
                        NULL);
    begin(x, LAB_SPEC("al2023@latest"));
    check_ok("another zone has one", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_true("counted all the same", said(x, "launch-failed [test-zone-1a] [tstz1-1a] spot InternalError\n"));
    check_true("the others are not", !said(x, "[test-zone-1b]"));
}

/* ---- reservations: L2, C15, S4 ---- */

#define RESERVED                                                                                                       \
    LAB_SPEC_WITH("\"capacityReservationSelectorTerms\":[{\"id\":\"cr-m5large1a\"},{\"id\":\"cr-m5large1b\"}]")

static int32_t left(const struct provider_lab *x, const char *id)
{
    uint32_t n;
    const struct ec2_reserved *v = ec2_reserved_left(x->p, &n);

    for (uint32_t i = 0; i < n; i++)
        if (str_is(v[i].id, id))
            return v[i].left;
    return -1;
}

static void c15_reservations_are_counted(void **state)
{
    struct provider_lab *x = *state;

    begin(x, RESERVED);
    check_i64("listed", left(x, "cr-m5large1a"), 10);
    provider_lab_launch(x);
    check_str("reserved", provider_lab_of(&x->machine, "karpenter.sh/capacity-type"), "reserved");
    str id = arena_printf(x->l->a, STR_FMT,
                          STR_ARG(provider_lab_of(&x->machine, "karpenter.k8s.aws/capacity-reservation-id")));
    check_str("its kind", provider_lab_of(&x->machine, "karpenter.k8s.aws/capacity-reservation-type"), "default");
    check_str("it stays", provider_lab_of(&x->machine, "karpenter.k8s.aws/capacity-reservation-interruptible"),
              "false");
    check_true("one of the two", str_is(id, "cr-m5large1a") || str_is(id, "cr-m5large1b"));
    int32_t was = left(x, id.p);
    check_true("one fewer", was == 9 || was == 5);
    check_ok("on its way", provider_lab_go(x, LAB_DESTROY), &x->e);
    check_i64("not yet back", left(x, id.p), was);
    class_lab_run(x->l, 10000);
    check_true("gone", !provider_lab_go(x, LAB_DESTROY) && x->e.kind == ERR_NOT_FOUND);
    check_i64("back", left(x, id.p), was + 1);
}

static void l2_reservations_that_are_used_up(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_reopen(x, REFUSED(ALL("ReservationCapacityExceeded")), NULL);
    begin(x, RESERVED);
    provider_lab_want(x, "karpenter.sh/capacity-type", "reserved");
    check_true("a shortage", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind == ERR_CAPACITY);
    check_i64("none left", left(x, "cr-m5large1a"), 0);
    check_i64("nor here", left(x, "cr-m5large1b"), 0);
    provider_lab_reopen(x, REFUSED(ALL("RequestLimitExceeded")), NULL);
    begin(x, RESERVED);
    provider_lab_want(x, "karpenter.sh/capacity-type", "reserved");
    check_true("too many calls is no shortage", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind != ERR_CAPACITY);
    check_i64("as before", left(x, "cr-m5large1a"), 10);
}

/* ---- subnets: L6, C12 ---- */

#define FULL(subnet)                                                                                                   \
    "{\"subnetId\":\"" subnet                                                                                          \
    "\",\"errorCode\":\"InsufficientFreeAddressesInSubnet\",\"errorMessage\":\"There are not enough free addresses\"}"
#define ONE_ZONE(more)                                                                                                 \
    "{\"role\":\"test-role\",\"subnetSelectorTerms\":[{\"id\":\"subnet-test1\"}" more                                  \
    "],\"securityGroupSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],\"amiSelectorTerms\":[{\"alias\":"                \
    "\"al2023@latest\"}]}"

static void l6_subnets_that_are_full(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_reopen(x, REFUSED(FULL("subnet-test1") "," FULL("subnet-test5")), NULL);
    begin(x, ONE_ZONE(""));
    check_true("its only subnet", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind == ERR_CAPACITY);
    check_true("and the zone is gone", !provider_lab_go(x, LAB_LAUNCH));
    check_u64("without asking", class_lab_calls(x->l, "CreateFleet"), 1);

    provider_lab_reopen(x, REFUSED(FULL("subnet-test5")), NULL);
    begin(x, ONE_ZONE(",{\"id\":\"subnet-test5\"}"));
    check_true("the larger one is tried first", !provider_lab_go(x, LAB_LAUNCH));
    check_true("it was", str_contains(x->l->fleet, STR("subnet-test5")));
    provider_lab_want(x, "karpenter.sh/capacity-type", "on-demand"); /* spot was marked with the offering */
    check_ok("the other one next", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_true("not the full one",
               str_contains(x->l->fleet, STR("subnet-test1")) && !str_contains(x->l->fleet, STR("subnet-test5")));

    provider_lab_reopen(x, REFUSED(FULL("subnet-test1") "," FULL("subnet-test5")), NULL);
    begin(x, ONE_ZONE(",{\"id\":\"subnet-test5\"}"));
    check_true("one", !provider_lab_go(x, LAB_LAUNCH));
    provider_lab_want(x, "karpenter.sh/capacity-type", "on-demand");
    check_true("and the other", !provider_lab_go(x, LAB_LAUNCH));
    provider_lab_want(x, "node.kubernetes.io/instance-type", "m5.xlarge");
    check_true("both: nothing is left there", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind == ERR_CAPACITY);
    check_u64("without asking", class_lab_calls(x->l, "CreateFleet"), 2);
}

static void c12_addresses_come_back(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC("al2023@latest"));
    provider_lab_want(x, "karpenter.sh/capacity-type", "on-demand");
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_str("where it landed", provider_lab_of(&x->machine, "topology.kubernetes.io/zone"), "test-zone-1a");
    check_i64("taken there", ec2_subnet_free(x->p, STR("subnet-test1")), 100 - 29);
    check_i64("given back elsewhere", ec2_subnet_free(x->p, STR("subnet-test2")), 100);
    provider_lab_reopen(x, REFUSED(ALL("InsufficientInstanceCapacity")), NULL);
    begin(x, LAB_SPEC("al2023@latest"));
    check_true("launch", !provider_lab_go(x, LAB_LAUNCH));
    check_i64("given back", ec2_subnet_free(x->p, STR("subnet-test1")), 100);
    provider_lab_reopen(
        x, "{\"faults\":{\"calls\":{\"CreateFleet\":[{\"code\":\"UnauthorizedOperation\",\"message\":\"no\"}]}}}",
        NULL);
    begin(x, LAB_SPEC("al2023@latest"));
    check_true("launch", !provider_lab_go(x, LAB_LAUNCH));
    check_i64("given back, too", ec2_subnet_free(x->p, STR("subnet-test1")), 100);
}

/* ---- C13 ---- */

static void c13_pools_by_themselves(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_class(x, "default", ONE_ZONE(""), "pool");
    provider_lab_class(x, "none",
                       "{\"role\":\"test-role\",\"subnetSelectorTerms\":[{\"id\":\"subnet-0\"}],"
                       "\"securityGroupSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],\"amiSelectorTerms\":[{\"alias\":"
                       "\"al2023@latest\"}]}",
                       "other");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    const struct catalog *c = x->cloud->catalog(x->cloud->self);
    check_true("there are types", c->n > 100);
    for (uint32_t i = 0; i < c->n; i++)
        check_true("for the pool whose class has subnets", itype_is_for(&c->types[i], x->pools[0].name_sym) &&
                                                               !itype_is_for(&c->types[i], x->pools[1].name_sym));
    check_ok("which gets machines", provider_lab_go(x, LAB_LAUNCH), &x->e);
}

/* ---- C14, L8 ---- */

static int64_t efa_of(const struct provider_lab *x)
{
    return reslist_value(&x->machine.capacity, sym_of(x->p->syms, STR("vpc.amazonaws.com/efa"))) / 1000;
}

static void c14_l8_interfaces_for_efa(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC("al2023@latest"));
    provider_lab_want(x, "node.kubernetes.io/instance-type", "dl1.24xlarge");
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_i64("nobody asked for it", efa_of(x), 0);
    provider_lab_ask(x, "vpc.amazonaws.com/efa", 1000);
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_i64("as many as the type has", efa_of(x), 4);
    provider_lab_reopen(x, NULL, NULL);
    begin(x,
          LAB_SPEC_WITH("\"networkInterfaces\":[{\"networkCardIndex\":0,\"deviceIndex\":0,\"interfaceType\":"
                        "\"interface\"},{\"networkCardIndex\":1,\"deviceIndex\":1,\"interfaceType\":\"efa-only\"}]"));
    provider_lab_want(x, "node.kubernetes.io/instance-type", "dl1.24xlarge");
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_i64("as many as the class says", efa_of(x), 1);
    provider_lab_reopen(x, NULL, NULL);
    begin(x, LAB_SPEC_WITH("\"networkInterfaces\":[{\"networkCardIndex\":0,\"deviceIndex\":0,\"interfaceType\":"
                           "\"interface\"}]"));
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_i64("plain interfaces are none", efa_of(x), 0);
}

/* ---- C16 ---- */

static void c16_partitions(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC_WITH("\"placementGroupSelector\":{\"name\":\"partition-one\"}"));
    check_ok("no label", provider_lab_go(x, LAB_HOOK), &x->e);
    check_true("passes", !x->hook.pending && x->hook.label.key.n == 0);
    provider_lab_launch(x);
    check_str("its group", provider_lab_of(&x->machine, "karpenter.k8s.aws/placement-group-id"), "pg-part1");
    check_str("EC2 will choose", provider_lab_of(&x->machine, "karpenter.k8s.aws/placement-group-partition"), "");
    str id = x->claim.provider_id;
    x->claim.provider_id = (str){0};
    check_ok("no machine yet", provider_lab_go(x, LAB_HOOK), &x->e);
    check_true("is waited for", x->hook.pending);
    x->claim.provider_id = id;
    check_ok("asked", provider_lab_go(x, LAB_HOOK), &x->e);
    check_true("told, or waited for", x->hook.pending || x->hook.label.val.n);
    provider_lab_label(x, "karpenter.k8s.aws/placement-group-partition", STR("2"));
    check_ok("known already", provider_lab_go(x, LAB_HOOK), &x->e);
    check_true("passes", !x->hook.pending && x->hook.label.key.n == 0);
    provider_lab_label(x, "karpenter.k8s.aws/placement-group-partition", STR(""));
    x->claim.provider_id = STR("aws:///test-zone-1a/i-00000000deadbeef0");
    check_true("a machine that is not there", !provider_lab_go(x, LAB_HOOK) && x->e.kind == ERR_NOT_FOUND);
}

/* ---- LT2, LT3: what has its own template ---- */

static str template_of(struct provider_lab *x)
{
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    str name, rest = x->l->fleet;

    while (str_cut(rest, '"', &name, &rest))
        if (str_starts(name, STR("karpenter.k8s.aws/")) && !str_contains(name, STR("ec2nodeclass")))
            return arena_strdup(x->l->a, name);
    return STR("");
}

#define OWN_PROFILE                                                                                                    \
    "{\"instanceProfile\":\"own-profile\",\"subnetSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],"                     \
    "\"securityGroupSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],\"amiSelectorTerms\":[{\"alias\":\"al2023@latest\"}]}"
#define ONE_GROUP                                                                                                      \
    "{\"role\":\"test-role\",\"subnetSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],"                                  \
    "\"securityGroupSelectorTerms\":[{\"id\":\"sg-test1\"}],\"amiSelectorTerms\":[{\"alias\":\"al2023@latest\"}]}"

static void lt2_lt3_names_of_templates(void **state)
{
    static const char *const specs[] = {
        LAB_SPEC("al2023@latest"),
        LAB_SPEC("bottlerocket@latest"),
        LAB_SPEC_WITH("\"userData\":\"#!/bin/bash\\necho\""),
        LAB_SPEC_WITH("\"kubelet\":{\"maxPods\":20}"),
        LAB_SPEC_WITH("\"kubelet\":{\"shutdownGracePeriod\":\"30s\"}"),
        LAB_SPEC_WITH("\"tags\":{\"team\":\"blue\"}"),
        LAB_SPEC_WITH("\"instanceStorePolicy\":\"RAID0\""),
        LAB_SPEC_WITH("\"associatePublicIPAddress\":true"),
        LAB_SPEC_WITH("\"ipPrefixCount\":1"),
        LAB_SPEC_WITH("\"detailedMonitoring\":true"),
        LAB_SPEC_WITH("\"metadataOptions\":{\"httpPutResponseHopLimit\":3}"),
        LAB_SPEC_WITH("\"connectionTracking\":{\"udpTimeout\":45}"),
        LAB_SPEC_WITH("\"cpuOptions\":{\"nestedVirtualization\":\"disabled\"}"),
        LAB_SPEC_WITH("\"blockDeviceMappings\":[{\"deviceName\":\"/dev/xvda\",\"ebs\":{\"volumeSize\":\"30Gi\"}}]"),
        LAB_SPEC_WITH("\"placementGroupSelector\":{\"name\":\"cluster-one\"}"),
        OWN_PROFILE,
        ONE_GROUP,
    };
    struct provider_lab *x = *state;
    struct sb seen = {0};

    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        provider_lab_reopen(x, NULL, NULL);
        begin(x, specs[i]);
        str name = template_of(x);
        check_true("LT3 a name", name.n);
        check_true(specs[i], !str_contains(sb_view(&seen), name));
        sb_printf(&seen, STR_FMT "\n", STR_ARG(name));
        check_str("LT3 the same again", template_of(x), arena_printf(x->l->a, STR_FMT, STR_ARG(name)).p);
    }
    sb_fini(&seen);
    provider_lab_reopen(x, NULL, NULL);
    begin(x, LAB_SPEC("al2023@latest"));
    str one = template_of(x);
    provider_lab_label(x, "team", STR("blue"));
    str other = template_of(x);
    check_true("LT3 labels are in the user data", !str_eq(one, other));
    provider_lab_want(x, "node.kubernetes.io/instance-type", "m5.large m5a.large");
    check_str("LT3 types do not count", template_of(x), arena_printf(x->l->a, STR_FMT, STR_ARG(other)).p);
    tree_set_str(x->l->a, tree_sub(x->l->a, x->l->stored[0], "metadata"), "name", STR("twin"));
    x->claim.class_ref.name = STR("twin");
    check_true("LT2 of a class of another name", !str_eq(template_of(x), other));
}

/* LT2: what EC2 has lost is made again. */
static void lt2_templates_that_are_gone(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_reopen(
        x, "{\"faults\":{\"calls\":{\"CreateFleet\":[{},{\"code\":\"InvalidLaunchTemplateName.NotFoundException\"}]}}}",
        NULL);
    begin(x, LAB_SPEC("al2023@latest"));
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_ok("launched in the second try", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_u64("three requests", class_lab_calls(x->l, "CreateFleet"), 3);
    check_u64("looked for again", class_lab_calls(x->l, "DescribeLaunchTemplates"), 2);
}

/* Somebody else makes it between our look and our call. */
static void templates_that_others_make(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_reopen(x,
                        "{\"faults\":{\"calls\":{\"DescribeLaunchTemplates\":[{},{\"code\":"
                        "\"InvalidLaunchTemplateName.NotFoundException\"}]}}}",
                        NULL);
    begin(x, LAB_SPEC("al2023@latest"));
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    ec2_templates_free(x->p->templates);
    x->p->templates = ec2_templates_new(x->p);
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_u64("tried to make it", class_lab_calls(x->l, "CreateLaunchTemplate"), 2);
    check_u64("and found it", class_lab_calls(x->l, "DescribeLaunchTemplates"), 3);
}

/* LT9 */
static void lt9_sizes_of_user_data(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC("al2023@latest"));
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_true("told", said(x, "user-data default some\n"));
    check_ok("the end of the class", provider_lab_go(x, LAB_FINALIZE), &x->e);
    check_true("told", said(x, "gone default\n"));
}

/* B4: batches are observed. */
static void b4_batches_are_told(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC("al2023@latest"));
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_true("a fleet", said(x, "batch create_fleet 1 35000\n"));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, provider_lab_setup, provider_lab_teardown)
    const struct CMUnitTest tests[] = {
        T(c2_classes_that_are_not_ready),
        T(c3_nothing_to_launch),
        T(c5_l7_context_and_strategies),
        T(c6_many_values),
        T(classes_without_security_groups),
        T(enclaves_by_request),
        T(overlays_count),
        T(it18_prices_of_overlays_alone),
        T(it20_until_it_can_be_read),
        T(l2_what_is_a_shortage),
        T(l2_spot_without_its_role),
        T(l3_zones_that_nobody_chose),
        T(c15_reservations_are_counted),
        T(l2_reservations_that_are_used_up),
        T(l6_subnets_that_are_full),
        T(c12_addresses_come_back),
        T(c13_pools_by_themselves),
        T(c14_l8_interfaces_for_efa),
        T(c16_partitions),
        T(lt2_lt3_names_of_templates),
        T(lt2_templates_that_are_gone),
        T(templates_that_others_make),
        T(lt9_sizes_of_user_data),
        T(b4_batches_are_told),
    };

    return cmocka_run_group_tests_name("cloud/ec2_launch", tests, NULL, NULL);
}
