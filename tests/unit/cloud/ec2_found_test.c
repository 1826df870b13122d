/* What is found of the user's things, and for how long it is remembered (aws 3.4, 4.5, 5.8, 6.11, 7.10; 11.6 N2 to N6, P4). */
#include "base/sb.h"
#include "cloud/ec2/images.h"
#include "support/check.h"
#include "support/class_lab.h"

#define TAGGED "{\"tags\":{\"foo\":\"bar\"}}"
#define SPEC(more)                                                                                                     \
    "{\"role\":\"test-role\",\"subnetSelectorTerms\":[" TAGGED "],\"securityGroupSelectorTerms\":[" TAGGED "]," more "}"
#define AL2023 "\"amiSelectorTerms\":[{\"alias\":\"al2023@latest\"}]"

enum what { SUBNETS, GROUPS, AMIS, RESERVATIONS, PLACEMENT, CHECK };

struct job {
    struct class_lab *l;
    const struct ec2_class *k;
    enum what what;
    struct sb out;
    struct err e;
    bool ok, known;
};

static void list_amis(struct job *j)
{
    struct ec2_class_ami *v;
    uint32_t n;

    j->ok = ec2_find_amis(&j->l->p, j->l->a, j->k, &v, &n, &j->e);
    for (uint32_t i = 0; j->ok && i < n; i++)
        sb_printf(&j->out, STR_FMT "%s/%u ", STR_ARG(v[i].id), v[i].deprecated ? "!" : "", v[i].n_requirements);
}

static void list_network(struct job *j)
{
    struct ec2_class_subnet *subnets;
    struct ec2_group *groups;
    uint32_t n;

    j->ok = j->what == SUBNETS ? ec2_find_subnets(&j->l->p, j->l->a, j->k, &subnets, &n, &j->e)
                               : ec2_find_groups(&j->l->p, j->l->a, j->k, &groups, &n, &j->e);
    for (uint32_t i = 0; j->ok && i < n; i++)
        sb_printf(&j->out, STR_FMT " ", STR_ARG(j->what == SUBNETS ? subnets[i].id : groups[i].id));
}

static void list_reservations(struct job *j)
{
    struct ec2_class_reservation *v;
    uint32_t n;

    j->ok = ec2_find_reservations(&j->l->p, j->l->a, j->k, &v, &n, &j->e);
    for (uint32_t i = 0; j->ok && i < n; i++)
        sb_printf(&j->out, STR_FMT "/" STR_FMT "%s ", STR_ARG(v[i].id), STR_ARG(v[i].state),
                  v[i].interruptible ? "/interruptible" : "");
}

static void work(void *arg)
{
    struct job *j = arg;
    struct ec2_placement_group g;

    switch (j->what) {
    case SUBNETS:
    case GROUPS:
        list_network(j);
        break;
    case AMIS:
        list_amis(j);
        break;
    case RESERVATIONS:
        list_reservations(j);
        break;
    case PLACEMENT:
        j->ok = ec2_find_placement(&j->l->p, j->l->a, j->k, &g, &j->known, &j->e);
        if (j->known)
            sb_printf(&j->out, STR_FMT "/" STR_FMT "/%d/" STR_FMT, STR_ARG(g.id), STR_ARG(g.strategy), g.partitions,
                      STR_ARG(g.spread_level));
        break;
    case CHECK:
        j->ok = ec2_parameters_check(&j->l->p, &j->e);
        break;
    }
}

/* What was found; after "!" the kind of the error. */
static str ask(struct class_lab *l, enum what what, const struct ec2_class *k)
{
    struct job j = {.l = l, .k = k, .what = what};

    class_lab_go(l, work, &j);
    if (!j.ok)
        sb_printf(&j.out, "!%d%s%s", j.e.kind, j.e.code[0] ? " " : "", j.e.code);
    str text = str_trim(sb_dup(&j.out, l->a));
    sb_fini(&j.out);
    return text;
}

static str found(struct class_lab *l, enum what what, const char *spec)
{
    return ask(l, what, class_lab_class(l, spec));
}

/* ---- N3, N4 ---- */

static void subnets_and_groups(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *k = class_lab_class(l, SPEC(AL2023));

    check_str("N3 by tags", ask(l, SUBNETS, k), "subnet-test1 subnet-test2 subnet-test3");
    check_str("N4 by tags, by id", ask(l, GROUPS, k), "sg-test1 sg-test2 sg-test3");
    (void)ask(l, SUBNETS, k);
    (void)ask(l, GROUPS, k);
    check_u64("remembered", class_lab_calls(l, "DescribeSubnets"), 1);
    check_u64("remembered, too", class_lab_calls(l, "DescribeSecurityGroups"), 1);
    k->generation = 2;
    (void)ask(l, SUBNETS, k);
    check_u64("N3 follows changes of the spec", class_lab_calls(l, "DescribeSubnets"), 2);
    class_lab_run(l, 61000);
    (void)ask(l, SUBNETS, k);
    (void)ask(l, GROUPS, k);
    check_u64("for a minute", class_lab_calls(l, "DescribeSubnets"), 3);
    check_u64("both of them", class_lab_calls(l, "DescribeSecurityGroups"), 2);
}

/* ---- of those who ask at the same time one asks AWS ---- */

static void together(struct class_lab *l, enum what what, const struct ec2_class *k, struct job *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        v[i] = (struct job){.l = l, .k = k, .what = what};
        fiber_go(l->near, "job", work, &v[i]);
    }
    class_lab_run(l, 30000);
}

static void one_asks_for_all(void **state)
{
    static const struct {
        const char *name, *call;
        enum what what;
        uint64_t calls;
    } cases[] = {{"subnets", "DescribeSubnets", SUBNETS, 1},
                 {"groups", "DescribeSecurityGroups", GROUPS, 1},
                 {"images", "DescribeImages", AMIS, 1},
                 {"parameters, of which there are five", "GetParameter", AMIS, 5},
                 {"reservations", "DescribeCapacityReservations", RESERVATIONS, 1},
                 {"placement groups", "DescribePlacementGroups", PLACEMENT, 1}};
    struct class_lab *l = *state;
    struct ec2_class *k =
        class_lab_class(l, SPEC(AL2023 ",\"capacityReservationSelectorTerms\":[{\"id\":\"cr-m5large1a\"}],"
                                       "\"placementGroupSelector\":{\"name\":\"cluster-one\"}"));
    struct job v[4];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        together(l, cases[i].what, k, v, ARRAY_LEN(v));
        check_u64(cases[i].name, class_lab_calls(l, cases[i].call), cases[i].calls);
        for (uint32_t j = 0; j < ARRAY_LEN(v); j++) {
            check_ok(cases[i].name, v[j].ok, &v[j].e);
            check_true("all hear the same", v[j].out.n && str_eq(sb_view(&v[j].out), sb_view(&v[0].out)));
        }
        for (uint32_t j = 0; j < ARRAY_LEN(v); j++)
            sb_fini(&v[j].out);
    }
}

static void the_next_one_asks_again(void **state)
{
    struct class_lab *l = *state;
    struct job v[3];

    class_lab_close(l);
    class_lab_open(l, "{\"faults\":{\"calls\":{\"DescribeSubnets\":[{\"code\":\"UnauthorizedOperation\"}]}}}");
    together(l, SUBNETS, class_lab_class(l, SPEC(AL2023)), v, 3);
    check_u64("the first asked in vain, the second for the third", class_lab_calls(l, "DescribeSubnets"), 2);
    check_true("whose error it was", !v[0].ok && v[1].ok && v[2].ok);
    for (uint32_t j = 0; j < 3; j++)
        sb_fini(&v[j].out);
}

static void subnets_by_other_terms(void **state)
{
    struct class_lab *l = *state;

    check_str("N3 the most addresses first",
              found(l, SUBNETS,
                    "{\"role\":\"r\",\"subnetSelectorTerms\":[{\"id\":\"subnet-test1\"},{\"id\":\"subnet-test5\"}],"
                    "\"securityGroupSelectorTerms\":[" TAGGED "]," AL2023 "}"),
              "subnet-test5 subnet-test1");
    class_lab_run(l, 61000);
    check_str("N3 nothing matches",
              found(l, SUBNETS,
                    "{\"role\":\"r\",\"subnetSelectorTerms\":[{\"tags\":{\"no\":\"such\"}}],"
                    "\"securityGroupSelectorTerms\":[" TAGGED "]," AL2023 "}"),
              "");
}

/* ---- aws 4.5 ---- */

static void addresses(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *k = class_lab_class(l, SPEC(AL2023));
    str id = STR("subnet-test1");

    check_i64("not known yet", ec2_subnet_listed(&l->p, id), -1);
    check_i64("so there are none", ec2_subnet_free(&l->p, id), 0);
    (void)ask(l, SUBNETS, k);
    check_i64("listed", ec2_subnet_free(&l->p, id), 100);
    ec2_subnet_take(&l->p, id, 30);
    check_i64("a launch is under way", ec2_subnet_free(&l->p, id), 70);
    check_i64("the listing says the same as before", ec2_subnet_listed(&l->p, id), 100);
    check_true("under way", ec2_subnet_has_inflight(&l->p, id));
    ec2_subnet_take(&l->p, id, -30);
    check_i64("it landed elsewhere", ec2_subnet_free(&l->p, id), 100);
    ec2_subnet_is_full(&l->p, id);
    check_i64("EC2 says that it is full", ec2_subnet_free(&l->p, id), 0);
    check_true("which is newer than what is under way", !ec2_subnet_has_inflight(&l->p, id));
    class_lab_run(l, 61000);
    (void)ask(l, SUBNETS, k);
    check_i64("listed anew", ec2_subnet_free(&l->p, id), 100);
    class_lab_run(l, 301000);
    check_i64("not known any more", ec2_subnet_listed(&l->p, id), -1);
}

/* ---- N2 ---- */

static void images(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *k = class_lab_class(l, SPEC(AL2023));

    check_str("N2 an alias", ask(l, AMIS, k),
              "ami-1a87131df27c78482/3 ami-6d4c836da09b0443c/2 ami-8211b5fb857727ab3/2 ami-9146433965e52a807/2 "
              "ami-9e88df1dcd1e93485/3");
    (void)ask(l, AMIS, k);
    class_lab_run(l, 61000);
    (void)ask(l, AMIS, k);
    check_u64("images for a minute", class_lab_calls(l, "DescribeImages"), 2);
    check_u64("parameters for a day", class_lab_calls(l, "GetParameter"), 5);
}

static const struct {
    const char *name, *members, *terms, *want;
} image_cases[] = {
    {"N2 some parameters are not there",
     "{\"ssmParameters\":{\"/aws/service/eks/optimized-ami/1.32/amazon-linux-2023/arm64/standard/recommended/image_id\":"
     "\"ami-9e88df1dcd1e93485\"}}",
     "\"amiSelectorTerms\":[{\"alias\":\"al2023@latest\"}]", "ami-9e88df1dcd1e93485/3"},
    {"an alias that stands for nothing is an error", "{\"ssmParameters\":{}}",
     "\"amiSelectorTerms\":[{\"alias\":\"al2023@latest\"}]", "!2"},
    {"one that the version does not have says so", NULL, "\"amiSelectorTerms\":[{\"alias\":\"windows2025@latest\"}]",
     "!1 " EC2_UNSUPPORTED_ALIAS},
    {"N2 selector terms; what is not deprecated wins over what is newer", NULL,
     "\"amiFamily\":\"Custom\",\"amiSelectorTerms\":[{\"tags\":{\"team\":\"dep\"}}]", "ami-103c9fe917bb6fd5b/1"},
    {"N2 deprecated, and nothing else is there", NULL,
     "\"amiFamily\":\"Custom\",\"amiSelectorTerms\":[{\"id\":\"ami-3f1d43136c51b4461\"}]", "ami-3f1d43136c51b4461!/1"},
    {"N2 nothing", NULL, "\"amiFamily\":\"Custom\",\"amiSelectorTerms\":[{\"tags\":{\"team\":\"nobody\"}}]", ""},
    {"parameters that are missing, or name no image, are passed over", NULL,
     "\"amiFamily\":\"Custom\",\"amiSelectorTerms\":[{\"ssmParameter\":\"/company/ami/not-an-ami\"},"
     "{\"ssmParameter\":\"/company/ami/none\"},{\"ssmParameter\":\"/company/ami/golden-arm\"}]",
     "ami-03342db9d2c7dc46e/1"},
    {"another error of SSM is one",
     "{\"faults\":{\"calls\":{\"GetParameter\":[{\"code\":\"AccessDeniedException\"}]}}}",
     "\"amiFamily\":\"Custom\",\"amiSelectorTerms\":[{\"ssmParameter\":\"/company/ami/golden\"}]",
     "!7 AccessDeniedException"},
};

static void image_terms(void **state)
{
    struct class_lab *l = *state;

    for (size_t i = 0; i < ARRAY_LEN(image_cases); i++) {
        class_lab_close(l);
        class_lab_open(l, image_cases[i].members);
        const char *spec = arena_printf(l->a,
                                        "{\"role\":\"r\",\"subnetSelectorTerms\":[" TAGGED
                                        "],\"securityGroupSelectorTerms\":[" TAGGED "],%s}",
                                        image_cases[i].terms)
                               .p;
        check_str(image_cases[i].name, found(l, AMIS, spec), image_cases[i].want);
    }
}

/* P4: an image of "latest" goes out of date; the parameter is asked for again, others are not. */
/* A2 */
static void a2_states_of_images(void **state)
{
    static const char *const states[] = {"pending", "invalid", "deregistered", "transient",
                                         "failed",  "error",   "disabled",     "available"};
    struct class_lab *l = *state;

    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        const char *members = arena_printf(a,
                                           "{\"images\":[{\"ImageId\":\"ami-one\",\"Name\":\"one\",\"State\":\"%s\","
                                           "\"Architecture\":\"x86_64\",\"CreationDate\":\"2026-01-01T00:00:00Z\","
                                           "\"Tags\":[{\"Key\":\"t\",\"Value\":\"1\"}]}]}",
                                           states[i])
                                  .p;

        class_lab_close(l);
        class_lab_open(l, members);
        check_str(states[i],
                  found(l, AMIS, SPEC("\"amiFamily\":\"AL2023\",\"amiSelectorTerms\":[{\"tags\":{\"t\":\"1\"}}]")),
                  strcmp(states[i], "available") == 0 ? "ami-one/1" : "");
    }
}

static void parameters_out_of_date(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *latest, *pinned;

    class_lab_close(l);
    class_lab_open(l, "{\"now\":\"2028-01-15T12:00:00Z\",\"ssmParameters\":{"
                      "\"/aws/service/bottlerocket/aws-k8s-1.32/x86_64/latest/image_id\":\"ami-3f1d43136c51b4461\","
                      "\"/aws/service/bottlerocket/aws-k8s-1.32/arm64/latest/image_id\":\"ami-1a87131df27c78482\","
                      "\"/aws/service/bottlerocket/aws-k8s-1.32/x86_64/1.50.0/image_id\":\"ami-3f1d43136c51b4461\"}}");
    latest = class_lab_class(l, SPEC("\"amiSelectorTerms\":[{\"alias\":\"bottlerocket@latest\"}]"));
    pinned = class_lab_class(l, SPEC("\"amiSelectorTerms\":[{\"alias\":\"bottlerocket@v1.50.0\"}]"));
    (void)ask(l, AMIS, latest);
    (void)ask(l, AMIS, pinned);
    uint64_t before = class_lab_calls(l, "GetParameter");
    (void)ask(l, AMIS, latest);
    uint64_t again = class_lab_calls(l, "GetParameter"); /* those that are missing */
    check_str("the check", ask(l, CHECK, latest), "");
    (void)ask(l, AMIS, latest);
    check_u64("one more than before", class_lab_calls(l, "GetParameter") - again, again - before + 1);
}

/* ---- N5 and aws 5.8 ---- */

#define BY_TAG(key, value) SPEC(AL2023 ",\"capacityReservationSelectorTerms\":[{\"tags\":{\"" key "\":\"" value "\"}}]")

static int32_t left(struct class_lab *l, const char *id)
{
    uint32_t n;
    const struct ec2_reserved *v = ec2_reserved_left(&l->p, &n);

    for (uint32_t i = 0; i < n; i++)
        if (str_is(v[i].id, id))
            return v[i].left;
    return -1;
}

static void reservations(void **state)
{
    struct class_lab *l = *state;

    check_str("N5 by tags, without those that are over", found(l, RESERVATIONS, BY_TAG("purpose", "odcr")),
              "cr-m5large1a/active cr-m5large1asmall/active cr-m5large1b/active cr-m5xlarge1b/active");
    check_str("N5 blocks that end soon", found(l, RESERVATIONS, BY_TAG("purpose", "ending")), "cr-p4dending/expiring");
    check_str("N5 interruptible ones", found(l, RESERVATIONS, BY_TAG("purpose", "interruptible")),
              "cr-m52xintr/active/interruptible");
    check_str("N5 one that is not there is no error",
              found(l, RESERVATIONS, SPEC(AL2023 ",\"capacityReservationSelectorTerms\":[{\"id\":\"cr-none\"}]")), "");
    class_lab_run(l, 31 * 60000);
    check_str("N5 over by now", found(l, RESERVATIONS, BY_TAG("purpose", "ending")), "");
}

static void machines_left(void **state)
{
    struct class_lab *l = *state;
    const char *spec = BY_TAG("size", "xlarge");

    check_i64("not known", left(l, "cr-m5xlarge1b"), -1);
    (void)found(l, RESERVATIONS, spec);
    check_i64("listed", left(l, "cr-m5xlarge1b"), 1);
    uint64_t version = ec2_reserved_version(&l->p);
    ec2_reserved_launched(&l->p, STR("cr-m5xlarge1b"));
    ec2_reserved_launched(&l->p, STR("cr-m5xlarge1b"));
    check_i64("launched, and not below zero", left(l, "cr-m5xlarge1b"), 0);
    check_u64("one change", ec2_reserved_version(&l->p), version + 1);
    ec2_reserved_ended(&l->p, STR("cr-m5xlarge1b"));
    check_i64("ended", left(l, "cr-m5xlarge1b"), 1);
    ec2_reserved_none(&l->p, STR("cr-m5xlarge1b"));
    (void)found(l, RESERVATIONS, spec);
    check_i64("what is remembered counts nothing", left(l, "cr-m5xlarge1b"), 0);
    class_lab_run(l, 61000);
    (void)found(l, RESERVATIONS, spec);
    check_i64("listed anew", left(l, "cr-m5xlarge1b"), 1);
    ec2_reserved_launched(&l->p, STR("cr-unknown"));
    check_i64("nobody has heard of it", left(l, "cr-unknown"), -1);
}

/* ---- N6 ---- */

static void placement_groups(void **state)
{
    struct class_lab *l = *state;

    check_str("N6 by name, with partitions",
              found(l, PLACEMENT, SPEC(AL2023 ",\"placementGroupSelector\":{\"name\":\"partition-one\"}")),
              "pg-part1/partition/3/");
    check_str("N6 by id, with a spread level",
              found(l, PLACEMENT, SPEC(AL2023 ",\"placementGroupSelector\":{\"id\":\"pg-spread1\"}")),
              "pg-spread1/spread/0/rack");
    check_str("N6 not available",
              found(l, PLACEMENT, SPEC(AL2023 ",\"placementGroupSelector\":{\"name\":\"pending-one\"}")), "!2");
    check_str("N6 none is asked for", found(l, PLACEMENT, SPEC(AL2023)), "!2");
    check_u64("nobody was asked", class_lab_calls(l, "DescribePlacementGroups"), 3);
    check_str("S3 a name is a name",
              found(l, PLACEMENT, SPEC(AL2023 ",\"placementGroupSelector\":{\"name\":\"pg-part1\"}")), "!2");
    check_u64("four questions", class_lab_calls(l, "DescribePlacementGroups"), 4);
    (void)found(l, PLACEMENT, SPEC(AL2023 ",\"placementGroupSelector\":{\"name\":\"pending-one\"}"));
    check_u64("also that there is none is remembered", class_lab_calls(l, "DescribePlacementGroups"), 4);
}

static void old_placement_group(void **state)
{
    struct class_lab *l = *state;
    struct ec2_placement_group g;
    struct ec2_class *k;

    class_lab_close(l);
    class_lab_open(l,
                   "{\"faults\":{\"calls\":{\"DescribePlacementGroups\":[{},{\"code\":\"UnauthorizedOperation\"}]}}}");
    k = class_lab_class(l, SPEC(AL2023 ",\"placementGroupSelector\":{\"name\":\"cluster-one\"}"));
    check_true("nothing is known", !ec2_placement_known(&l->p, k, &g));
    check_str("asked", ask(l, PLACEMENT, k), "pg-cluster1/cluster/0/");
    class_lab_run(l, 61000);
    check_str("old data come with the error", ask(l, PLACEMENT, k), "pg-cluster1/cluster/0/!7 UnauthorizedOperation");
    check_true("and are known", ec2_placement_known(&l->p, k, &g));
    check_str("asked again, as the error is not remembered", ask(l, PLACEMENT, k), "pg-cluster1/cluster/0/");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, class_lab_setup, class_lab_teardown)
        T(subnets_and_groups),
        T(subnets_by_other_terms),
        T(addresses),
        T(images),
        T(image_terms),
        T(parameters_out_of_date),
        T(reservations),
        T(machines_left),
        T(placement_groups),
        T(old_placement_group),
        T(one_asks_for_all),
        T(a2_states_of_images),
        T(the_next_one_asks_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
