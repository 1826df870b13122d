/* What the controller would write into the Drifted condition (lifecycle 4.1.1). */
#include "base/sb.h"
#include "disrupt/candidate.h"
#include "support/check.h"
#include "support/scenario.h"

#define PLACE "zone=z1,ct=spot"
#define OLD " created=10:00:00 "
#define NODE "\nnode n1 label=" PLACE OLD
#define LABELLED(labels) "\nnode n1 label=" PLACE "," labels OLD
#define RESERVED "type big offer='reserved z1 0.1 id=r1|on-demand z2 1'\n"

static const struct {
    const char *name, *text, *want;
} cases[] = {
    {"nothing has changed", "pool default" NODE, ""},
    {"no claim", "pool default\nnode n1 unmanaged", ""},
    {"not launched", "pool default req='team In a'" NODE "unlaunched", ""},
    {"deleting", "pool default req='team In a'" NODE "deleting", ""},
    {"no pool label", "pool default req='team In a'" NODE "nopool", ""},
    {"the pool is not known", "pool default req='team In a'" NODE "pool=gone", ""},

    {"another hash", "pool default" NODE "claimnote=hash=1,hashversion=v3", "NodePoolDrifted"},
    {"whatever the pool's own annotation says",
     "pool default note=hash=1,hashversion=v3" NODE "claimnote=hash=1,hashversion=v3", "NodePoolDrifted"},
    {"a hash without version", "pool default" NODE "claimnote=hash=1", ""},
    {"a hash of another version", "pool default" NODE "claimnote=hash=1,hashversion=v2", ""},
    {"a version without hash", "pool default" NODE "claimnote=hashversion=v3", ""},
    {"the hash before the requirements", "pool default req='team In a'" NODE "claimnote=hash=1,hashversion=v3",
     "NodePoolDrifted"},

    {"a required label is missing", "pool default req='team In a'" NODE, "RequirementsDrifted"},
    {"it has another value", "pool default req='team In a'" LABELLED("team=b"), "RequirementsDrifted"},
    {"it has one of the values", "pool default req='team In a,b'" LABELLED("team=b"), ""},
    {"it must exist", "pool default req='team Exists'" NODE, "RequirementsDrifted"},
    {"and does", "pool default req='team Exists'" LABELLED("team=b"), ""},
    {"it must not exist, and is missing", "pool default req='team DoesNotExist'" NODE, ""},
    {"it must not exist, and does", "pool default req='team DoesNotExist'" LABELLED("team=b"), "RequirementsDrifted"},
    {"a value that is excluded", "pool default req='team NotIn a,b'" LABELLED("team=b"), "RequirementsDrifted"},
    {"one that is not", "pool default req='team NotIn a,b'" LABELLED("team=c"), ""},
    {"excluded values, and no label", "pool default req='team NotIn a,b'" NODE, ""},
    {"numbers", "pool default req='size Gt 3'" LABELLED("size=4"), ""},
    {"too small a number", "pool default req='size Gt 3'" LABELLED("size=3"), "RequirementsDrifted"},
    {"no number", "pool default req='size Gt 3'" LABELLED("size=large"), "RequirementsDrifted"},
    {"at most", "pool default req='size Lte 3'" LABELLED("size=3"), ""},
    {"two requirements on a key", "pool default req='size Gt 3; size Lt 9'" LABELLED("size=9"), "RequirementsDrifted"},
    {"well-known keys are no exception", "pool default req='arch In amd64'" NODE, "RequirementsDrifted"},
    {"minValues do not count", "pool default req='zone In z1,z2 min 2'" NODE, ""},

    {"the type is gone", "pool default" LABELLED("itype=old"), "InstanceTypeNotFound"},
    {"the label is gone", "pool default" NODE "notype", "InstanceTypeNotFound"},
    {"a claim that is an hour old is spared", "pool default\nnode n1 label=itype=old created=11:00:00", ""},
    {"no offering in its zone", "pool default\nnode n1 label=zone=z9,ct=spot" OLD, "InstanceTypeNotFound"},
    {"one that is sold out will do", "type big offer='spot z1 1 gone'\npool default" LABELLED("itype=big"), ""},
    {"labels that are missing do not matter", "pool default\nnode n1" OLD, ""},
    {"reserved, and the reservation is there",
     RESERVED "pool default\nnode n1 label=zone=z1,ct=reserved,itype=big,karpenter.kwok.sh/reservation-id=r1" OLD, ""},
    {"reserved, and another reservation is there",
     RESERVED "pool default\nnode n1 label=zone=z1,ct=reserved,itype=big,karpenter.kwok.sh/reservation-id=r2" OLD, ""},
    {"reserved, and on-demand will do",
     RESERVED "pool default\nnode n1 label=zone=z2,ct=reserved,itype=big,karpenter.kwok.sh/reservation-id=r1" OLD, ""},
    {"reserved, and neither is there",
     RESERVED "pool default\nnode n1 label=zone=z3,ct=reserved,itype=big,karpenter.kwok.sh/reservation-id=r1" OLD,
     "InstanceTypeNotFound"},

    {"the class has another hash",
     "pool default ec2\nnodeclass default note=classhash=2,classversion=v5" NODE
     "ec2 claimnote=classhash=1,classversion=v5",
     "NodeClassDrift"},
    {"the same hash",
     "pool default ec2\nnodeclass default note=classhash=1,classversion=v5" NODE
     "ec2 claimnote=classhash=1,classversion=v5",
     ""},
    {"another version",
     "pool default ec2\nnodeclass default note=classhash=2,classversion=v6" NODE
     "ec2 claimnote=classhash=1,classversion=v5",
     ""},
    {"the claim says nothing", "pool default ec2\nnodeclass default note=classhash=2,classversion=v5" NODE "ec2", ""},
    {"the class says nothing", "pool default ec2\nnodeclass default" NODE "ec2 claimnote=classhash=1,classversion=v5",
     ""},
    {"the class is not there", "pool default ec2" NODE "ec2 claimnote=classhash=1,classversion=v5", ""},
    {"the class is going",
     "pool default ec2\nnodeclass default deleting note=classhash=2,classversion=v5" NODE
     "ec2 claimnote=classhash=1,classversion=v5",
     ""},
};

static void reasons(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scene s;

        scene_open(&s, cases[i].text);
        struct drift *d = drift_new(s.snap);
        for (int again = 0; again < 2; again++) /* the second answer is remembered */
            check_str(cases[i].name, drift_reason(d, 0), cases[i].want);
        drift_free(d);
        scene_close(&s);
    }
}

/* One claim at a time the answers are the same. */
static void one_by_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool by_requirements = strcmp(cases[i].want, "RequirementsDrifted") == 0;
        bool by_type = strcmp(cases[i].want, "InstanceTypeNotFound") == 0;
        struct scene s;

        scene_open(&s, cases[i].text);
        const struct nodeclaim *c = s.snap->nodes[0].claim;
        if (by_requirements || by_type || strcmp(cases[i].name, "numbers") == 0 ||
            strcmp(cases[i].name, "and does") == 0) {
            check_true(cases[i].name, drift_by_requirements(s.t, &s.snap->catalog->rules, &s.snap->pools[0].tmpl,
                                                            c->labels) == by_requirements);
            check_true(cases[i].name, by_requirements || drift_by_type(s.t, s.snap->catalog, c) == by_type);
        }
        scene_close(&s);
    }
}

/* The hash of the pool as it stands is no drift. */
static void same_hash(void **state)
{
    struct sb b = {0};
    struct scene s;

    (void)state;
    scene_open(&s, "pool default label=team=a expire=24h");
    sb_printf(&b,
              "pool default label=team=a expire=24h\nnode n1 label=" PLACE OLD "claimnote=hash=%llu,hashversion=v3\n"
              "pool other label=team=b expire=24h\nnode n2 pool=other label=" PLACE OLD
              "claimnote=hash=%llu,hashversion=v3\n",
              (unsigned long long)nodepool_hash(&s.snap->pools[0].tmpl, s.t),
              (unsigned long long)nodepool_hash(&s.snap->pools[0].tmpl, s.t));
    scene_close(&s);
    scene_open(&s, sb_cstr(&b));
    struct drift *d = drift_new(s.snap);
    check_str("its own hash", drift_reason(d, 0), "");
    check_str("the hash of another pool", drift_reason(d, 1), "NodePoolDrifted");
    drift_free(d);
    scene_close(&s);
    sb_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reasons), cmocka_unit_test(one_by_one),
                                       cmocka_unit_test(same_hash)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
