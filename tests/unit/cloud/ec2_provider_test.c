/* The provider as the controller sees it: launch, look, drift, end; the catalogue (aws 2.9.4, 3.4, 4.1, 4.10; 11.5 C1, C4, C7, C9). */
#include "data/edit.h"
#include "support/check.h"
#include "support/provider_lab.h"

static void a_machine_from_birth_to_end(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_class(x, "default", LAB_SPEC("al2023@latest"), "pool");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    provider_lab_launch(x);
    check_str("type", provider_lab_of(&x->machine, "node.kubernetes.io/instance-type"), "m5.large");
    check_true("id", str_starts(x->claim.provider_id, STR("aws:///test-zone-1")));
    check_u64("annotations", x->machine.n_annotations, 3);
    check_ok("get", provider_lab_go(x, LAB_GET), &x->e);
    check_str("the same", x->machine.provider_id, arena_strdup(x->l->a, x->claim.provider_id).p);
    check_str("its pool", provider_lab_of(&x->machine, "karpenter.sh/nodepool"), "pool");
    check_true("its size", reslist_value(&x->machine.capacity, SYM(CPU)) == INT64_C(2000000000));
    check_ok("list", provider_lab_go(x, LAB_LIST), &x->e);
    check_u64("list", x->all.n, 1);
    check_true("not on its way out", !x->all.v[0].deleting);
    check_ok("destroy", provider_lab_go(x, LAB_DESTROY), &x->e);
    class_lab_run(x->l, 60000);
    check_true("gone", !provider_lab_go(x, LAB_DESTROY) && x->e.kind == ERR_NOT_FOUND);
    check_true("gone", !provider_lab_go(x, LAB_GET) && x->e.kind == ERR_NOT_FOUND);
}

static void templates_end_when_nobody_uses_them(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_class(x, "default", LAB_SPEC("al2023@latest"), "pool");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_ok("once", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_ok("again", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_u64("one template for both", class_lab_calls(x->l, "CreateLaunchTemplate"), 1);
    class_lab_run(x->l, 50000);
    check_u64("still there", class_lab_calls(x->l, "DeleteLaunchTemplate"), 0);
    class_lab_run(x->l, 120000);
    check_u64("ended", class_lab_calls(x->l, "DeleteLaunchTemplate"), 1);
    check_ok("again", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_u64("made again", class_lab_calls(x->l, "CreateLaunchTemplate"), 2);
}

#define BUSY "{\"code\":\"RequestLimitExceeded\",\"message\":\"slow down\"}"

/* EC2 has no time for it, three attempts long: it is tried again. */
static void templates_that_do_not_end_at_once(void **state)
{
    struct provider_lab *x = *state;
    struct ec2_settings settings = provider_lab_settings();

    provider_lab_reopen(x, "{\"faults\":{\"calls\":{\"DeleteLaunchTemplate\":[" BUSY "," BUSY "," BUSY "]}}}",
                        &settings);
    provider_lab_class(x, "default", LAB_SPEC("al2023@latest"), "pool");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    class_lab_run(x->l, 100000);
    check_u64("in vain", class_lab_calls(x->l, "DeleteLaunchTemplate"), 3);
    check_true("that is told", str_contains(sb_view(&x->told), STR("failed to delete launch template")));
    class_lab_run(x->l, 60000);
    check_u64("ended", class_lab_calls(x->l, "DeleteLaunchTemplate"), 4);
    class_lab_run(x->l, 180000);
    check_u64("once", class_lab_calls(x->l, "DeleteLaunchTemplate"), 4);
}

/* Whoever sets the clock makes nothing older or younger. */
static void a_clock_that_is_set(void **state)
{
    struct provider_lab *x = *state;
    const int64_t hour_ms = 3600 * 1000;

    provider_lab_class(x, "default", LAB_SPEC("al2023@latest"), "pool");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    ec2_mark_unavailable(x->p, STR("spot"), STR("m5.xlarge"), STR("test-zone-1a"));
    uint64_t looks = class_lab_calls(x->l, "DescribeLaunchTemplates"),
             version = x->cloud->catalog(x->cloud->self)->version;
    sim_jump(x->l->sim, hour_ms);
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_u64("the template is as young as it was", class_lab_calls(x->l, "DescribeLaunchTemplates"), looks);
    check_u64("the shortage, too", x->cloud->catalog(x->cloud->self)->version, version);
    sim_jump(x->l->sim, -2 * hour_ms);
    class_lab_run(x->l, 190000);
    check_u64("and it ends in its time", class_lab_calls(x->l, "DeleteLaunchTemplate"), 1);
    check_true("so does the shortage", x->cloud->catalog(x->cloud->self)->version > version);
    (void)provider_lab_go(x, LAB_RECONCILE);
    check_u64("subnets are listed again", class_lab_calls(x->l, "DescribeSubnets"), 2);
}

/* Made by a process that is no more: here it has forgotten its own. */
static void templates_of_others_end_too(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_class(x, "default", LAB_SPEC("al2023@latest"), "pool");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    provider_lab_launch(x);
    ec2_templates_free(x->p->templates);
    x->p->templates = ec2_templates_new(x->p);
    class_lab_run(x->l, 600000);
    check_u64("nobody knows of it", class_lab_calls(x->l, "DeleteLaunchTemplate"), 0);
    check_ok("adopt", provider_lab_go(x, LAB_ADOPT), &x->e);
    class_lab_run(x->l, 180000);
    check_u64("ended", class_lab_calls(x->l, "DeleteLaunchTemplate"), 1);
}

static str drift(struct provider_lab *x)
{
    check_ok("drift", provider_lab_go(x, LAB_DRIFT), &x->e);
    return x->drift;
}

static void drift_of_every_kind(void **state)
{
    struct provider_lab *x = *state;
    struct arena *a = x->l->a;

    provider_lab_class(x, "default", LAB_SPEC("al2023@latest"), "pool");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    provider_lab_launch(x);
    check_str("none", drift(x), "");
    struct tree *status = tree_sub(a, x->l->stored[0], "status");
    struct tree subnets = *tree_find(status, STR("subnets")), groups = *tree_find(status, STR("securityGroups"));
    struct tree *one = tree_new_map(a), *list = tree_new_list(a);

    tree_set_str(a, one, "id", STR("subnet-other"));
    tree_set_str(a, one, "zone", STR("test-zone-1a"));
    tree_push(a, list, *one);
    tree_set(a, status, "subnets", *list);
    check_str("subnet", drift(x), "SubnetDrift");
    tree_set_str(a, one, "id", STR("sg-other"));
    list = tree_new_list(a);
    tree_push(a, list, *one);
    tree_set(a, status, "securityGroups", *list);
    check_str("groups come first", drift(x), "SecurityGroupDrift");
    tree_set(a, status, "subnets", subnets);
    tree_set(a, status, "securityGroups", groups);
    check_str("none again", drift(x), "");
    x->claim.image_id = STR("ami-other");
    check_str("image", drift(x), "AMIDrift");
    struct tree *notes = tree_path(a, x->l->stored[0], "metadata", "annotations", NULL);
    tree_set_str(a, notes, EC2_HASH_ANNOTATION, STR("1"));
    tree_set_str(a, notes, EC2_HASH_VERSION_ANNOTATION, STR("v0"));
    check_str("another way to hash", drift(x), "AMIDrift");
    tree_set_str(a, notes, EC2_HASH_VERSION_ANNOTATION, STR(EC2_HASH_VERSION));
    check_str("what is written", drift(x), "NodeClassDrift");
    x->l->n_stored = 0;
    check_str("no class", drift(x), "");
}

static void a_catalogue_for_pools(void **state)
{
    struct provider_lab *x = *state;

    check_u64("nothing before the start", x->cloud->catalog(x->cloud->self)->n, 0);
    provider_lab_class(x, "default", LAB_SPEC("al2023@latest"), "pool");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    const struct catalog *c = x->cloud->catalog(x->cloud->self);
    uint32_t n = c->n;
    uint64_t version = c->version;
    check_true("there are types", n > 100);
    check_true("for all", c->types[0].pools == NULL);
    x->news++;
    check_u64("news that change nothing", x->cloud->catalog(x->cloud->self)->version, version);
    ec2_mark_unavailable(x->p, STR("spot"), STR("m5.large"), STR("test-zone-1a"));
    check_u64("a shortage", x->cloud->catalog(x->cloud->self)->version, version + 1);

    provider_lab_class(x, "other", LAB_SPEC("bottlerocket@latest"), "second");
    check_ok("again", provider_lab_go(x, LAB_START), &x->e);
    c = x->cloud->catalog(x->cloud->self);
    check_true("some differ", c->n > n);
    for (uint32_t i = 0; i < c->n; i++)
        check_true("each is for somebody", c->types[i].n_pools > 0);
    x->l->n_stored = 1;
    x->news++;
    c = x->cloud->catalog(x->cloud->self);
    check_u64("a pool without a class", c->n, n);
    check_true("sees nothing", c->types[0].n_pools == 1 && sym_eq(c->types[0].pools[0], x->pools[0].name_sym));
}

static void no_class_no_machine(void **state)
{
    struct provider_lab *x = *state;

    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_true("given up", !provider_lab_go(x, LAB_LAUNCH) && x->e.kind == ERR_CAPACITY);
    check_u64("nothing was launched", class_lab_calls(x->l, "CreateFleet"), 0);
}

/* Whatever a launch is waiting for when the process dies, it unwinds: the teardown finds nothing under way. */
static void killed_in_the_middle(void **state UNUSED)
{
    for (int64_t ms = 0; ms <= 60; ms += 20) {
        void *own;

        (void)provider_lab_setup(&own);
        struct provider_lab *x = own;

        provider_lab_class(x, "default", LAB_SPEC("al2023@latest"), "pool");
        check_ok("start", provider_lab_go(x, LAB_START), &x->e);
        x->step = LAB_LAUNCH;
        fiber_go(x->l->near, "first", provider_lab_work, x);
        fiber_go(x->l->near, "second", provider_lab_work, x);
        class_lab_run(x->l, ms);
        (void)provider_lab_teardown(&own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_machine_from_birth_to_end, provider_lab_setup, provider_lab_teardown),
        cmocka_unit_test_setup_teardown(templates_end_when_nobody_uses_them, provider_lab_setup, provider_lab_teardown),
        cmocka_unit_test_setup_teardown(templates_that_do_not_end_at_once, provider_lab_setup, provider_lab_teardown),
        cmocka_unit_test_setup_teardown(a_clock_that_is_set, provider_lab_setup, provider_lab_teardown),
        cmocka_unit_test_setup_teardown(templates_of_others_end_too, provider_lab_setup, provider_lab_teardown),
        cmocka_unit_test_setup_teardown(drift_of_every_kind, provider_lab_setup, provider_lab_teardown),
        cmocka_unit_test_setup_teardown(a_catalogue_for_pools, provider_lab_setup, provider_lab_teardown),
        cmocka_unit_test_setup_teardown(no_class_no_machine, provider_lab_setup, provider_lab_teardown),
        cmocka_unit_test(killed_in_the_middle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
