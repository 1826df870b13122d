/* What selector terms ask EC2 for (aws 2.3), and what becomes of the answers (aws 2.6). */
#include "cloud/ec2/selectors.h"

#include "support/check.h"
#include "support/fixture.h"

#define TAGS(...)                                                                                                      \
    .has_tags = true, .tags = (struct ec2_tag[]){__VA_ARGS__},                                                         \
    .n_tags = sizeof((struct ec2_tag[]){__VA_ARGS__}) / sizeof(struct ec2_tag)
#define TAG(k, v)                                                                                                      \
    {                                                                                                                  \
        STR_INIT(k), STR_INIT(v)                                                                                       \
    }

/* One line per query: "id cr-1", or its filters, then owners after "@". */
static str print(struct fixture *f, const struct ec2_query *q, uint32_t n)
{
    sb_reset(&f->b);
    for (uint32_t i = 0; i < n; i++) {
        if (q[i].id.n)
            sb_printf(&f->b, "id " STR_FMT, STR_ARG(q[i].id));
        for (uint32_t j = 0; j < q[i].n_filters; j++) {
            sb_printf(&f->b, "%s%s=", j ? " " : "", q[i].filters[j].name);
            for (uint32_t k = 0; k < q[i].filters[j].n; k++)
                sb_printf(&f->b, "%s" STR_FMT, k ? "," : "", STR_ARG(q[i].filters[j].values[k]));
        }
        for (uint32_t j = 0; j < q[i].n_owners; j++)
            sb_printf(&f->b, "%s" STR_FMT, j ? "," : " @", STR_ARG(q[i].owners[j]));
        sb_char(&f->b, '\n');
    }
    return sb_view(&f->b);
}

static void subnets(void **state)
{
    struct fixture *f = *state;
    struct ec2_term terms[] = {
        {.id = STR("subnet-1"), TAGS(TAG("ignored", "x"))},
        {TAGS(TAG("team", "a*"), TAG("tier", "*"))},
        {.id = STR("subnet-2")},
        {.has_tags = true},
    };
    struct ec2_class k = {.subnets = {terms, ARRAY_LEN(terms)}};
    struct ec2_query *q;

    uint32_t n = ec2_subnet_queries(f->a, &k, &q);

    check_str("queries", print(f, q, n),
              "tag:team=a* tag-key=tier\n"
              "\n" /* an empty map: all there are */
              "subnet-id=subnet-1,subnet-2\n");
}

static void groups(void **state)
{
    struct fixture *f = *state;
    struct ec2_term terms[] = {
        {.id = STR("sg-1"), .name = STR("ignored")},
        {.name = STR("nodes-*"), TAGS(TAG("ignored", "x"))},
        {TAGS(TAG("*", "*"))},
        {.name = STR("other")},
    };
    struct ec2_class k = {.groups = {terms, ARRAY_LEN(terms)}};
    struct ec2_query *q;
    uint32_t n = ec2_group_queries(f->a, &k, &q);

    check_str("queries", print(f, q, n), "tag-key=*\ngroup-id=sg-1\ngroup-name=nodes-*,other\n");
}

static void reservations(void **state)
{
    struct fixture *f = *state;
    struct ec2_term terms[] = {
        {.id = STR("cr-1")},
        {.owner = STR("1")},
        {.owner = STR("2"), TAGS(TAG("a", "b"))},
        {.match = STR("open")},
        {.id = STR("cr-2"), .match = STR("targeted")},
    };
    struct ec2_class k = {.reservations = {terms, ARRAY_LEN(terms)}};
    struct ec2_query *q;
    uint32_t n = ec2_reservation_queries(f->a, &k, &q);

    check_str("queries", print(f, q, n),
              "id cr-1\n"
              "tag:a=b owner-id=2\n"
              "instance-match-criteria=open\n"
              "id cr-2\n"
              "instance-match-criteria=targeted\n");
}

static void images(void **state)
{
    struct fixture *f = *state;
    struct ec2_term terms[] = {
        {.id = STR("ami-1"), .name = STR("ignored")},
        {.name = STR("mine-*")},
        {.name = STR("theirs"), .owner = STR("3"), TAGS(TAG("a", "b"))},
        {TAGS(TAG("c", "d"))},
        {.ssm = STR("/some/parameter")},
    };
    struct ec2_term alias = {.alias = STR("al2023@latest")};
    struct ec2_class k = {.images = {terms, ARRAY_LEN(terms)}}, aliased = {.images = {&alias, 1}};
    str ids[] = {STR("ami-8"), STR("ami-9")};
    struct ec2_query *q;
    uint32_t n = ec2_image_queries(f->a, &k, ids, 1, &q);

    check_str("queries", print(f, q, n),
              "name=mine-* @self,amazon\n"
              "tag:a=b name=theirs @3\n"
              "tag:c=d\n"
              "image-id=ami-1,ami-8\n");
    n = ec2_image_queries(f->a, &aliased, ids, 2, &q);
    check_str("alias", print(f, q, n), "image-id=ami-8,ami-9\n");
    check_u64("nothing came of it", ec2_image_queries(f->a, &aliased, NULL, 0, &q), 0);
}

static void found_subnets_and_groups(void **state)
{
    struct fixture *f = *state;
    struct ec2_subnet subnets[] = {{STR("s-3"), STR("a"), STR("1"), 10},
                                   {STR("s-1"), STR("b"), STR("2"), 10},
                                   {STR("s-2"), STR("c"), STR("3"), 20},
                                   {STR("s-3"), STR("a"), STR("1"), 10}};
    struct ec2_group groups[] = {{STR("sg-2"), STR("x")}, {STR("sg-1"), STR("y")}, {STR("sg-2"), STR("x")}};
    struct ec2_class_subnet *s;
    struct ec2_group *g;

    check_u64("each once", ec2_subnets_found(f->a, subnets, ARRAY_LEN(subnets), &s), 3);
    check_str("most free addresses first", s[0].id, "s-2");
    check_str("then by id", s[1].id, "s-1");
    check_str("zone", s[2].zone, "a");
    check_str("zone id", s[2].zone_id, "1");
    subnets[3].free_ips = 15; /* somebody used some between two questions */
    check_u64("each once, whatever it said", ec2_subnets_found(f->a, subnets, ARRAY_LEN(subnets), &s), 3);
    check_str("the last word counts", s[1].id, "s-3");
    check_u64("each once", ec2_groups_found(f->a, groups, ARRAY_LEN(groups), &g), 2);
    check_str("by id", g[0].id, "sg-1");
    check_str("by id", g[1].name, "x");
}

static void found_reservations(void **state)
{
    struct fixture *f = *state;
    const int64_t now = 100 * 60 * 1000, minute = 60 * 1000;
    struct ec2_reservation v[] = {
        {.id = STR("cr-5"), .match = STR("open"), .ends_ms = INT64_MIN, .interruptible = true},
        {.id = STR("cr-1"), .match = STR("targeted"), .kind = STR("capacity-block"), .ends_ms = now + 40 * minute},
        {.id = STR("cr-2"), .match = STR("targeted"), .kind = STR("capacity-block"), .ends_ms = now + 40 * minute + 1},
        {.id = STR("cr-3"), .match = STR("targeted"), .kind = STR("default"), .ends_ms = now + 1},
        {.id = STR("cr-4"), .match = STR("open"), .kind = STR("default"), .ends_ms = now},
        {.id = STR("cr-6"), .match = STR("open"), .kind = STR("something-new"), .ends_ms = INT64_MIN},
        {.id = STR("cr-7"), .match = STR("sideways"), .ends_ms = INT64_MIN},
        {.id = STR("cr-5"), .match = STR("open"), .ends_ms = INT64_MIN},
    };
    struct ec2_class_reservation *r;

    check_u64("each once, without what is over or unknown", ec2_reservations_found(f->a, v, ARRAY_LEN(v), now, &r), 4);
    check_str("by id", r[0].id, "cr-1");
    check_str("a block ends 40 min earlier", r[0].state, "expiring");
    check_str("not yet", r[1].state, "active");
    check_str("others do not", r[2].state, "active");
    check_str("no kind", r[3].kind, "default");
    check_true("interruptible", r[3].interruptible);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(subnets, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(groups, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(reservations, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(images, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(found_subnets_and_groups, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(found_reservations, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests_name("cloud/ec2/selectors", tests, NULL, NULL);
}
