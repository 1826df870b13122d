/* Drift: what makes a machine another one than its class asks for, and what cannot be told (aws 2.9.4; 11.5 C7 to C11). */
#include "data/edit.h"
#include "support/check.h"
#include "support/provider_lab.h"

static void begin(struct provider_lab *x, const char *spec)
{
    provider_lab_class(x, "default", spec, "pool");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    provider_lab_launch(x);
}

static str drift(struct provider_lab *x)
{
    check_ok("drift", provider_lab_go(x, LAB_DRIFT), &x->e);
    return x->drift;
}

/* "" : it can be told. */
static str trouble(struct provider_lab *x)
{
    return provider_lab_go(x, LAB_DRIFT) ? STR("") : str_c(x->e.msg);
}

static struct tree *status(struct provider_lab *x)
{
    return tree_sub(x->l->a, x->l->stored[0], "status");
}

/* A list of one entry with this id. */
static struct tree only(struct provider_lab *x, const char *id)
{
    struct tree *list = tree_new_list(x->l->a), *one = tree_push(x->l->a, list, *tree_new_map(x->l->a));

    tree_set_str(x->l->a, one, "id", str_c(id));
    tree_set_str(x->l->a, one, "zone", STR("test-zone-1a"));
    return *list;
}

static void c7_nothing_to_compare_with(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC("al2023@latest"));
    check_str("as it should be", drift(x), "");
    x->claim.image_id = STR("ami-other");
    x->n_pools = 0;
    check_str("no pool", drift(x), "");
    x->n_pools = 1;
    x->pools[0].tmpl.class_ref.name = STR("");
    check_str("a pool of no class", drift(x), "");
    x->pools[0].tmpl.class_ref.name = STR("default");
    tree_set_str(x->l->a, tree_sub(x->l->a, x->l->stored[0], "metadata"), "deletionTimestamp",
                 STR("2026-01-15T12:00:00Z"));
    sb_reset(&x->told);
    check_str("a class on its way out", drift(x), "");
    check_true("the pool is told",
               str_contains(sb_view(&x->told), STR("warn pool pool: Failed resolving NodeClass\n")));
    tree_drop(tree_sub(x->l->a, x->l->stored[0], "metadata"), STR("deletionTimestamp"));
    check_str("it is back", drift(x), "AMIDrift");
}

static void c7_security_groups(void **state)
{
    struct provider_lab *x = *state;
    struct tree all;

    begin(x, LAB_SPEC("al2023@latest"));
    all = *tree_find(status(x), STR("securityGroups"));
    tree_set(x->l->a, status(x), "securityGroups", only(x, "sg-other"));
    check_str("others", drift(x), "SecurityGroupDrift");
    tree_set(x->l->a, status(x), "securityGroups", only(x, "sg-test1"));
    check_str("the machine has more", drift(x), "SecurityGroupDrift");
    struct tree more = *tree_copy(x->l->a, &all);
    tree_push(x->l->a, &more, *tree_copy(x->l->a, &only(x, "sg-test4").items[0]));
    tree_set(x->l->a, status(x), "securityGroups", more);
    check_str("the class has more", drift(x), "SecurityGroupDrift");
    tree_set(x->l->a, status(x), "subnets", only(x, "subnet-other"));
    check_str("the first of several", drift(x), "SecurityGroupDrift");
    tree_set(x->l->a, status(x), "securityGroups", all);
    check_str("then the next", drift(x), "SubnetDrift");
}

static void c8_what_cannot_be_told(void **state)
{
    struct provider_lab *x = *state;
    struct tree subnets, groups, amis;
    str id;

    begin(x, LAB_SPEC("al2023@latest"));
    subnets = *tree_find(status(x), STR("subnets"));
    groups = *tree_find(status(x), STR("securityGroups"));
    amis = *tree_find(status(x), STR("amis"));
    tree_drop(status(x), STR("securityGroups"));
    check_true("no groups", str_contains(trouble(x), STR("no security groups")));
    tree_set(x->l->a, status(x), "securityGroups", groups);
    tree_drop(status(x), STR("subnets"));
    check_true("no subnets", trouble(x).n > 0);
    tree_set(x->l->a, status(x), "subnets", subnets);
    tree_drop(status(x), STR("amis"));
    check_true("no images", str_contains(trouble(x), STR("no amis")));
    tree_set(x->l->a, status(x), "amis", amis);
    id = x->claim.image_id;
    x->claim.image_id = (str){0};
    check_true("no image of its own", str_contains(trouble(x), STR("has no image")));
    x->claim.image_id = id;
    id = x->claim.provider_id;
    x->claim.provider_id = (str){0};
    check_true("no machine", str_contains(trouble(x), STR("parsing instance id")));
    x->claim.provider_id = STR("aws:///test-zone-1a/i-00000000deadbeef0");
    check_true("a machine that is not there", trouble(x).n && x->e.kind == ERR_NOT_FOUND);
    x->claim.provider_id = id;
    check_str("all is there", drift(x), "");
    provider_lab_label(x, "node.kubernetes.io/instance-type", STR("no.such"));
    check_true("a type that is not there", str_contains(trouble(x), STR("finding node instance type")));
    x->claim.labels = (lset_id){0};
    provider_lab_label(x, "karpenter.sh/nodepool", STR("pool"));
    check_true("no type", str_contains(trouble(x), STR("names no instance type")));
}

/* The image is still there, for other machines. */
static void c9_images_of_other_types(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC("al2023@latest"));
    struct tree *list = tree_find(status(x), STR("amis"));
    for (uint32_t i = 0; i < list->n; i++)
        if (str_eq(tree_str(tree_get(&list->items[i], "id")), x->claim.image_id)) {
            struct tree *reqs = tree_find(&list->items[i], STR("requirements"));
            struct tree *arm = tree_push(x->l->a, reqs, *tree_new_map(x->l->a));

            tree_set_str(x->l->a, arm, "key", STR("karpenter.k8s.aws/instance-cpu"));
            tree_set_str(x->l->a, arm, "operator", STR("In"));
            tree_push(x->l->a, tree_sublist(x->l->a, arm, "values"), tree_of_str(STR("4096")));
        }
    check_str("not for this type any more", drift(x), "AMIDrift");
}

#define RESERVED LAB_SPEC_WITH("\"capacityReservationSelectorTerms\":[{\"id\":\"cr-m5large1a\"}]")

static void c10_reservations(void **state)
{
    struct provider_lab *x = *state;

    begin(x, RESERVED);
    check_str("reserved", provider_lab_of(&x->machine, "karpenter.sh/capacity-type"), "reserved");
    check_str("selected", drift(x), "");
    tree_drop(status(x), STR("capacityReservations"));
    check_str("not any more", drift(x), "CapacityReservationDrift");
    x->p->settings.reserved_capacity = false;
    check_str("nobody looks without the gate", drift(x), "");
}

/* What is remembered says that it is reserved; EC2 is asked before anybody believes that. */
static void c10_fell_back(void **state)
{
    struct provider_lab *x = *state;

    begin(x, RESERVED);
    check_ok("it is remembered", provider_lab_go(x, LAB_GET), &x->e);
    check_true("cancelled", sim_aws_unreserve(x->l->server, ec2_instance_id(x->claim.provider_id)));
    tree_drop(status(x), STR("capacityReservations"));
    check_str("on demand by now", drift(x), "");
    check_ok("looked at", provider_lab_go(x, LAB_GET), &x->e);
    check_str("as EC2 says", provider_lab_of(&x->machine, "karpenter.sh/capacity-type"), "on-demand");
}

static void c11_hashes(void **state)
{
    static const struct {
        const char *name, *class_hash, *class_version, *hash, *version, *want;
    } cases[] = {
        {"equal", "1", "v6", "1", "v6", ""},
        {"another hash", "1", "v6", "2", "v6", "NodeClassDrift"},
        {"another version", "1", "v6", "2", "v5", ""},
        {"no hash of the class", NULL, "v6", "2", "v6", ""},
        {"no version of the class", "1", NULL, "2", "v6", ""},
        {"no hash of the claim", "1", "v6", NULL, "v6", ""},
        {"no version of the claim", "1", "v6", "2", NULL, ""},
        {"nothing", NULL, NULL, NULL, NULL, ""},
    };
    struct provider_lab *x = *state;
    struct annotation notes[2];

    begin(x, LAB_SPEC("al2023@latest"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tree *meta = tree_sub(x->l->a, x->l->stored[0], "metadata");
        struct tree *of_class;

        tree_drop(meta, STR("annotations"));
        of_class = tree_sub(x->l->a, meta, "annotations");
        if (cases[i].class_hash)
            tree_set_str(x->l->a, of_class, EC2_HASH_ANNOTATION, str_c(cases[i].class_hash));
        if (cases[i].class_version)
            tree_set_str(x->l->a, of_class, EC2_HASH_VERSION_ANNOTATION, str_c(cases[i].class_version));
        x->claim.annotations = notes;
        x->claim.n_annotations = 0;
        if (cases[i].hash)
            notes[x->claim.n_annotations++] = (struct annotation){STR(EC2_HASH_ANNOTATION), str_c(cases[i].hash)};
        if (cases[i].version)
            notes[x->claim.n_annotations++] =
                (struct annotation){STR(EC2_HASH_VERSION_ANNOTATION), str_c(cases[i].version)};
        check_str(cases[i].name, drift(x), cases[i].want);
    }
}

static void placement_groups(void **state)
{
    struct provider_lab *x = *state;

    begin(x, LAB_SPEC_WITH("\"placementGroupSelector\":{\"name\":\"cluster-one\"}"));
    check_str("in its group", drift(x), "");
    provider_lab_label(x, "karpenter.k8s.aws/placement-group-id", STR("pg-other"));
    check_str("in another", drift(x), "PlacementGroupDrift");
    tree_drop(tree_sub(x->l->a, x->l->stored[0], "spec"), STR("placementGroupSelector"));
    check_str("there is none any more", drift(x), "PlacementGroupDrift");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, provider_lab_setup, provider_lab_teardown)
    const struct CMUnitTest tests[] = {
        T(c7_nothing_to_compare_with),
        T(c7_security_groups),
        T(c8_what_cannot_be_told),
        T(c9_images_of_other_types),
        T(c10_reservations),
        T(c10_fell_back),
        T(c11_hashes),
        T(placement_groups),
    };

    return cmocka_run_group_tests_name("cloud/ec2_drift", tests, NULL, NULL);
}
