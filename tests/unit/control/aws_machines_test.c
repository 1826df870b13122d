/* Orphans, tags, reservations, memory, prices, shifted zones: the other controllers of machines, with a provider that only notes what it is told (aws 7.5 to 7.8, 7.12, 7.13; 11.6 R1, R2, G1, G2, M1, M2,
 * P2, Z1). */
#include "model/duration.h"
#include "support/check.h"
#include "support/machines_lab.h"

/* ---- orphans, tags, reservations, memory ---- */

/* G1 */
static void orphans_go(void **state)
{
    struct machines_lab *l = *state;
    int64_t now = world_now_ms(l->far->world);

    machines_lab_claim(l, "owned", "i-owned", "");
    far_apply(l->far,
              "apiVersion: v1\nkind: Node\nmetadata: {name: lost}\nspec: {providerID: \"aws:///za/i-orphan\"}\n");
    l->p.n = 4;
    l->p.v[0] = (struct ec2_instance){
        .id = STR("i-owned"), .zone = STR("za"), .state = STR("running"), .launched_ms = now - 90000};
    l->p.v[1] = (struct ec2_instance){
        .id = STR("i-orphan"), .zone = STR("za"), .state = STR("running"), .launched_ms = now - 90000};
    l->p.v[2] = (struct ec2_instance){
        .id = STR("i-going"), .zone = STR("za"), .state = STR("shutting-down"), .launched_ms = now - 90000};
    l->p.v[3] =
        (struct ec2_instance){.id = STR("i-young"), .zone = STR("za"), .state = STR("running"), .launched_ms = now};
    sb_reset(&l->p.told);
    far_run(l->far, 11);
    check_true("the orphan", str_contains(sb_view(&l->p.told), STR("destroy aws:///za/i-orphan\n")));
    check_true("the others stay", !str_contains(sb_view(&l->p.told), STR("i-owned")) &&
                                      !str_contains(sb_view(&l->p.told), STR("i-going")) &&
                                      !str_contains(sb_view(&l->p.told), STR("i-young")));
    check_u64("its Node goes", far_count(l->far, "nodes", "lost"), 0);
    check_u64("the other's does not", far_count(l->far, "nodes", "node-owned"), 1);
    far_run(l->far, 60);
    check_true("older now", str_contains(sb_view(&l->p.told), STR("destroy aws:///za/i-young\n")));
}

/* G1: many at once; what no claim launched is never listed (unit/cloud/ec2_instances). */
static void many_orphans_go(void **state)
{
    struct machines_lab *l = *state;
    int64_t now = world_now_ms(l->far->world);

    l->p.n = MACHINES_LAB_MAX;
    for (uint32_t i = 0; i < l->p.n; i++)
        l->p.v[i] = (struct ec2_instance){.id = arena_printf(l->far->a, "i-%u", i),
                                          .zone = STR("za"),
                                          .state = STR("running"),
                                          .launched_ms = now - 90000};
    far_run(l->far, 11);
    for (uint32_t i = 0; i < l->p.n; i++)
        check_true("each of them",
                   str_contains(sb_view(&l->p.told), arena_printf(l->far->a, "destroy aws:///za/i-%u\n", i)));
}

/* Our clock was set back: what was launched before is in the future. */
static void orphans_of_the_future_go(void **state)
{
    struct machines_lab *l = *state;

    l->p.n = 1;
    l->p.v[0] = (struct ec2_instance){.id = STR("i-tomorrow"),
                                      .zone = STR("za"),
                                      .state = STR("running"),
                                      .launched_ms = world_now_ms(l->far->world) + 3600 * 1000};
    far_run(l->far, 25);
    check_true("its claim may not know yet", !str_contains(sb_view(&l->p.told), STR("i-tomorrow")));
    far_run(l->far, 30);
    check_true("nobody ever will", str_contains(sb_view(&l->p.told), STR("destroy aws:///za/i-tomorrow\n")));
}

/* Nothing is ended in a zone that is shifted away from; that holds up no other. */
static void orphans_of_shifted_zones_wait(void **state)
{
    struct machines_lab *l = *state;
    int64_t now = world_now_ms(l->far->world);

    l->p.shifted = true;
    l->p.n = 2;
    l->p.v[0] = (struct ec2_instance){.id = STR("i-a"),
                                      .zone = STR("za"),
                                      .zone_id = STR("ida"),
                                      .state = STR("running"),
                                      .launched_ms = now - 90000};
    l->p.v[1] = (struct ec2_instance){.id = STR("i-b"),
                                      .zone = STR("zb"),
                                      .zone_id = STR("idb"),
                                      .state = STR("running"),
                                      .launched_ms = now - 90000};
    far_run(l->far, 11);
    check_true("not there", !str_contains(sb_view(&l->p.told), STR("destroy aws:///za/i-a\n")));
    check_true("elsewhere", str_contains(sb_view(&l->p.told), STR("destroy aws:///zb/i-b\n")));
    l->p.shifted = false;
    far_run(l->far, 11);
    check_true("when it is over", str_contains(sb_view(&l->p.told), STR("destroy aws:///za/i-a\n")));
}

/* G2: who is not tagged. */
static void claims_that_are_not_tagged(void **state)
{
    struct machines_lab *l = *state;

    l->p.n = 3;
    for (uint32_t i = 0; i < l->p.n; i++)
        l->p.v[i] = (struct ec2_instance){.id = arena_printf(l->far->a, "i-%u", i),
                                          .zone = STR("za"),
                                          .state = STR("running"),
                                          .launched_ms = world_now_ms(l->far->world)};
    machines_lab_claim(l, "going", "i-0", "");
    far_delete(l->far, "nodeclaims", "going");
    far_patch_status(l->far, "nodeclaims", "going", "{\"status\":{\"nodeName\":\"node-going\"}}");
    machines_lab_claim(l, "odd", "i-1", "");
    far_patch_status(l->far, "nodeclaims", "odd", "{\"status\":{\"providerID\":\"x\",\"nodeName\":\"node-odd\"}}");
    machines_lab_claim(l, "done", "i-2", "");
    far_patch(l->far, "nodeclaims", "done",
              "{\"metadata\":{\"annotations\":{\"karpenter.k8s.aws/tagged\":\"true\","
              "\"compatibility.karpenter.k8s.aws/cluster-name-tagged\":\"true\"}}}");
    far_patch_status(l->far, "nodeclaims", "done", "{\"status\":{\"nodeName\":\"node-done\"}}");
    far_run(l->far, 5);
    check_true("none of them", !str_contains(sb_view(&l->p.told), STR("tag ")));
    check_true("the odd one is told of", str_contains(sb_view(&l->log), STR("failed parsing instance id")));
    far_patch(l->far, "nodeclaims", "done",
              "{\"metadata\":{\"annotations\":{\"compatibility.karpenter.k8s.aws/cluster-name-tagged\":null}}}");
    far_run(l->far, 5);
    check_true("one mark of two is not enough", str_contains(sb_view(&l->p.told), STR("tag i-2 Name=node-done")));
}

/* G2: which tags are written. */
static void only_what_is_missing(void **state UNUSED)
{
    static const char *const keys[] = {"Name", "karpenter.sh/nodeclaim", "eks:eks-cluster-name"};

    for (unsigned have = 0; have < 8; have++) {
        struct ec2_tag own[3], missing[3];
        uint32_t n = 0, n_missing;

        for (unsigned k = 0; k < 3; k++)
            if (have & 1u << k)
                own[n++] = (struct ec2_tag){str_c(keys[k]), STR("x")};
        struct ec2_instance i = {.tags = own, .n_tags = n};
        n_missing = tags_missing(&i, STR("node"), STR("claim"), STR("cluster"), missing);
        check_u64("the others", n_missing, 3 - n);
        for (uint32_t m = 0; m < n_missing; m++)
            for (uint32_t o = 0; o < n; o++)
                check_true("none twice", !str_eq(missing[m].key, own[o].key));
    }
}

/* G2 */
static void tags_that_are_missing(void **state)
{
    struct machines_lab *l = *state;
    static const struct ec2_tag name[] = {{STR_INIT("Name"), STR_INIT("mine")}};

    l->p.n = 1;
    l->p.v[0] = (struct ec2_instance){.id = STR("i-1"),
                                      .zone = STR("za"),
                                      .state = STR("running"),
                                      .tags = name,
                                      .n_tags = 1,
                                      .launched_ms = world_now_ms(l->far->world)};
    machines_lab_claim(l, "one", "i-1", "");
    far_run(l->far, 1);
    check_true("no Node yet", !str_contains(sb_view(&l->p.told), STR("tag ")));
    far_patch_status(l->far, "nodeclaims", "one", "{\"status\":{\"nodeName\":\"node-one\"}}");
    far_run(l->far, 3);
    check_true("what it lacks",
               str_contains(sb_view(&l->p.told), STR("tag i-1 karpenter.sh/nodeclaim=one eks:eks-cluster-name=c1\n")));
    str notes = far_get(l->far, "nodeclaims", "one", "metadata.annotations");
    check_true("noted",
               str_contains(notes, STR("\"karpenter.k8s.aws/tagged\":\"true\"")) &&
                   str_contains(notes, STR("\"compatibility.karpenter.k8s.aws/cluster-name-tagged\":\"true\"")));
    sb_reset(&l->p.told);
    machines_lab_claim(l, "lost", "i-lost", "");
    far_patch_status(l->far, "nodeclaims", "lost", "{\"status\":{\"nodeName\":\"node-lost\"}}");
    far_run(l->far, 3);
    check_true("a machine that is gone has none", !str_contains(sb_view(&l->p.told), STR("tag ")));
}

/* R2 */
static void demotion(void **state)
{
    struct machines_lab *l = *state;

    machines_lab_claim(
        l, "one", "i-1",
        ", karpenter.sh/capacity-type: reserved, karpenter.k8s.aws/capacity-reservation-id: cr-1, "
        "karpenter.k8s.aws/capacity-reservation-type: default, karpenter.k8s.aws/capacity-reservation-interruptible: \"false\"");
    l->p.n = 1;
    l->p.v[0] = (struct ec2_instance){
        .id = STR("i-1"), .zone = STR("za"), .state = STR("running"), .launched_ms = world_now_ms(l->far->world)};
    far_run(l->far, 61);
    for (int i = 0; i < 2; i++) {
        str labels = far_get(l->far, i ? "nodes" : "nodeclaims", i ? "node-one" : "one", "metadata.labels");

        check_true("on demand", str_contains(labels, STR("\"karpenter.sh/capacity-type\":\"on-demand\"")));
        check_true("of no reservation", !str_contains(labels, STR("capacity-reservation-id")) &&
                                            !str_contains(labels, STR("capacity-reservation-type")));
        check_true("quirk: this one stays", str_contains(labels, STR("capacity-reservation-interruptible")));
    }
    far_patch(l->far, "nodes", "node-one", "{\"metadata\":{\"labels\":{\"karpenter.sh/capacity-type\":\"reserved\"}}}");
    far_run(l->far, 61);
    check_true("R2 a Node that was missed, whatever its claim says",
               str_contains(far_get(l->far, "nodes", "node-one", "metadata.labels"),
                            STR("\"karpenter.sh/capacity-type\":\"on-demand\"")));
    struct ec2_instance spot = {.spot_request = STR("sir-1")},
                        reserved = {.reservation = STR("cr"),
                                    .reservation_preference = STR("capacity-reservations-only")},
                        open = {.reservation = STR("cr"), .reservation_preference = STR("open")};
    check_true("kinds", !instance_is_on_demand(&spot, true) && !instance_is_on_demand(&reserved, true) &&
                            instance_is_on_demand(&reserved, false) && instance_is_on_demand(&open, true));
}

#define RESERVATION(id, type)                                                                                          \
    "{\"CapacityReservationId\":\"" id                                                                                 \
    "\",\"InstanceType\":\"m5.large\",\"AvailabilityZone\":\"za\",\"TotalInstanceCount\":1,"                           \
    "\"AvailableInstanceCount\":1,\"InstanceMatchCriteria\":\"targeted\",\"ReservationType\":\"" type                  \
    "\",\"EndDate\":\"%.*s\"}"

/* R1 */
static void blocks_that_end(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct far *clock = far_new(1);
    struct sb at = {0};

    time_print_rfc3339(&at, world_now_ms(clock->world) + 42 * 60000);
    far_free(clock);
    str end = sb_dup(&at, a);
    sb_fini(&at);
    struct machines_lab *l =
        machines_lab_new("", arena_printf(a,
                                          "{\"capacityReservations\":[" RESERVATION(
                                              "cr-1", "capacity-block") "," RESERVATION("cr-2", "default") "]}%c",
                                          STR_ARG(end), STR_ARG(end), 0)
                                 .p);
    machines_lab_claim(l, "block", "i-1", ", karpenter.k8s.aws/capacity-reservation-id: cr-1");
    machines_lab_claim(l, "plain", "i-2", ", karpenter.k8s.aws/capacity-reservation-id: cr-2");
    machines_lab_claim(l, "none", "i-3", "");
    far_run(l->far, 61);
    check_true("more than 40 minutes are left", !machines_lab_deleting(l, "block"));
    far_run(l->far, 120);
    check_true("it drains before the block ends", machines_lab_deleting(l, "block"));
    check_true("ordinary reservations are left alone",
               !machines_lab_deleting(l, "plain") && !machines_lab_deleting(l, "none"));
    machines_lab_free(l);
}

/* M1, M2: for all NodePools together, and nothing where there is no reservation. */
static void offerings_as_gauges(void **state)
{
    struct machines_lab *l = *state;
    struct syms *t = l->c.syms;
    sym spot = sym_of(t, STR("spot")), za = sym_of(t, STR("za")), zb = sym_of(t, STR("zb")), two = sym_of(t, STR("2")),
        mib = sym_of(t, STR("8192"));
    struct req_expr size[] = {{.key = ec2_label_key(t, EC2_L_CPU), .op = OP_IN, .n_vals = 1, .vals = &two},
                              {.key = ec2_label_key(t, EC2_L_MEMORY), .op = OP_IN, .n_vals = 1, .vals = &mib}};
    struct req_expr in_a[] = {{.key = SYM(CT), .op = OP_IN, .n_vals = 1, .vals = &spot},
                              {.key = SYM(ZONE), .op = OP_IN, .n_vals = 1, .vals = &za}};
    struct req_expr in_b[] = {{.key = SYM(CT), .op = OP_IN, .n_vals = 1, .vals = &spot},
                              {.key = SYM(ZONE), .op = OP_IN, .n_vals = 1, .vals = &zb}};
    struct offering one[] = {{.requirements = in_a, .n_requirements = 2, .price_usd_per_h = 0.5},
                             {.requirements = in_b, .n_requirements = 2, .price_usd_per_h = 0.25}};
    struct offering other[] = {{.requirements = in_a, .n_requirements = 2, .price_usd_per_h = 0.5, .available = true}};
    sym name = sym_of(t, STR("m5.large"));
    struct itype types[] = {
        {.name = name, .requirements = size, .n_requirements = 2, .offerings = one, .n_offerings = 2},
        {.name = name, .requirements = size, .n_requirements = 2, .offerings = other, .n_offerings = 1}};
    struct catalog c = {.types = types, .n = 2};
    const struct control_metrics *m = l->c.metrics;
    const str *at_a = METRIC_VALS(STR("m5.large"), STR("spot"), STR("za")),
              *at_b = METRIC_VALS(STR("m5.large"), STR("spot"), STR("zb"));

    l->p.catalog = &c;
    far_run(l->far, 61);
    check_true("one pool can have it", metric_value(m->cloudprovider_instance_type_offering_available, at_a) == 1);
    check_true("none can", metric_value(m->cloudprovider_instance_type_offering_available, at_b) == 0);
    check_true("and yet it has a price",
               metric_value(m->cloudprovider_instance_type_offering_price_estimate, at_b) == 0.25);
    check_u64("the gate is closed", metric_count(m->cloudprovider_instance_type_offering_available), 2);
    check_true("vCPUs", metric_value(m->cloudprovider_instance_type_cpu_cores, METRIC_VALS(STR("m5.large"))) == 2);
    check_true("bytes",
               metric_value(m->cloudprovider_instance_type_memory, METRIC_VALS(STR("m5.large"))) == 8589934592.0);
    l->options.settings.reserved_capacity = true;
    far_run(l->far, 61);
    check_u64("the gate is open", metric_count(m->cloudprovider_instance_type_offering_available), 4);
    l->p.catalog = NULL;
}

/* P2 */
static void memory_is_learnt(void **state)
{
    struct machines_lab *l = *state;

    machines_lab_claim(l, "one", "i-1", "");
    far_run(l->far, 1);
    check_true("what the Node has",
               str_contains(sb_view(&l->p.told), STR("memory m5.large default ami-x86 8589934592\n")));
}

/* Z1 */
static void shifts_are_told(void **state)
{
    struct machines_lab *l = *state;

    far_apply(l->far,
              "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\n"
              "spec: {role: r, amiSelectorTerms: [{alias: al2023@latest}], subnetSelectorTerms: [{id: subnet-1}], "
              "securityGroupSelectorTerms: [{id: sg-1}]}\n");
    far_patch_status(l->far, "ec2nodeclasses", "default",
                     "{\"status\":{\"subnets\":[{\"id\":\"subnet-1\",\"zone\":\"za\",\"zoneID\":\"ida\"}]}}");
    far_apply(
        l->far,
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: there}\nspec: {template: {spec: {requirements: [], "
        "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}\n");
    far_apply(
        l->far,
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: elsewhere}\nspec: {template: {spec: {requirements: "
        "[{key: topology.kubernetes.io/zone, operator: NotIn, values: [za]}], "
        "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}\n");
    far_run(l->far, 31);
    check_true("nothing to tell", far_events(l->far, "ZonalShiftActive", "there").n == 0);
    l->p.shifted = true;
    far_run(l->far, 31);
    check_true("away",
               str_contains(far_events(l->far, "ZonalShiftActive", "there"),
                            STR("Zonal shift detected: offerings in zone za (ida) are unavailable for this NodePool")));
    check_true("not for those that cannot be there", far_events(l->far, "ZonalShiftActive", "elsewhere").n == 0);
    l->p.shifted = false;
    far_run(l->far, 31);
    check_true("back",
               str_contains(far_events(l->far, "ZonalShiftCleared", "there"),
                            STR("Zonal shift cleared: offerings in zone za (ida) are restored for this NodePool")));
}

int main(void)
{
#define LAB(fn) cmocka_unit_test_setup_teardown(fn, machines_lab_setup, machines_lab_teardown)
    const struct CMUnitTest tests[] = {
        LAB(orphans_go),
        LAB(many_orphans_go),
        LAB(orphans_of_the_future_go),
        LAB(orphans_of_shifted_zones_wait),
        LAB(claims_that_are_not_tagged),
        cmocka_unit_test(only_what_is_missing),
        LAB(tags_that_are_missing),
        LAB(demotion),
        cmocka_unit_test(blocks_that_end),
        LAB(offerings_as_gauges),
        LAB(memory_is_learnt),
        LAB(shifts_are_told),
    };

    return cmocka_run_group_tests_name("control/aws_machines", tests, NULL, NULL);
}
