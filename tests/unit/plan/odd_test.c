/* Inputs that nobody writes by hand: nothing, too much of everything, values at the edge of their type. */
#include "base/sb.h"
#include "support/check.h"
#include "support/scenario.h"

#define POOL "pool default\n"

static const struct scenario little[] = {
    {"nothing at all", "# nothing", "nodes=0 unschedulable=0"},
    {"no pods", POOL, "nodes=0 unschedulable=0"},
    {"no copies", POOL "pod a x0", "nodes=0 unschedulable=0"},
    {"no pools", "pod a", "nodes=0 unschedulable=1"},
    {"no types", "catalog none\n" POOL "pod a", "nodes=0 unschedulable=1"},
    {"no types, but a node", "catalog none\n" POOL "node n1 cpu=1 mem=1Gi\npod a", "existing=1"},
    {"no containers", POOL "pod a bare", "nodes=1 ask.pods=1 ask.cpu=-"},
    {"a type that is all overhead", "type t cpu=0.1 mem=1Gi\n" POOL "pod a", "nodes=1 ask.cpu=-"},
    {"a type that is less than its overhead", "type t cpu=0.05 mem=1Gi\n" POOL "pod a", "unschedulable=1"},
    {"a type for no pods", "type t pods=0\n" POOL "pod a", "unschedulable=1"},
    {"a free type", "type t price=0\ntype u\n" POOL "pod a", "offers=t,u cost=0.0000"},
    {"an empty label value", "pool default label=k=\npod a sel=k=", "nodes=1 req.k=In:"},
    {"a value that looks like a number",
     "pool default label=k=007\npod a need='k Gt 6'\npod b need='k Lt 8'\npod c sel=k=7", "nodes=1 lost=c"},
    {"a value that looks like a fraction", "pool default label=k=1.5\npod a need='k Gt 0'", "unschedulable=1"},
    {"numbers are not sorted as numbers", "pool default req='k In 10,9,100'\npod a", "req.k=In:10,100,9"},
};

static const struct scenario edges[] = {
    {"the largest request", POOL "pod a cpu=9223372036", "unschedulable=1"},
    {"requests that overflow together", "type t cpu=9000000000 mem=1Gi pods=9\n" POOL "pod a x3 cpu=8000000000",
     "nodes=3"},
    {"memory that overflows together", "type t cpu=4 mem=8388607Gi pods=9\n" POOL "pod a x3 mem=8000000Gi", "nodes=3"},
    {"the largest skew", POOL "pod a x3 label=app=x spread='host 2147483647 app=x'", "nodes=1"},
    {"the largest number of domains", POOL "pod a x4 label=app=x spread='zone 1 app=x min=2147483647'",
     "zones=1,1,1 unschedulable=1"},
    {"bounds nobody meets", POOL "pod a need='integer Gt 9223372036854775807'", "unschedulable=1"},
    {"a bound everybody meets", POOL "pod a need='integer Lt 9223372036854775807'", "nodes=1"},
    {"limits of nothing", "pool default limit=cpu=0,memory=0\npod a", "unschedulable=1"},
    {"a node smaller than what runs on it", POOL "node n1 cpu=1 mem=1Gi pods=1\npod e x9 cpu=2 node=n1\npod a",
     "nodes=1"},
    {"a pod bound to a node that does not exist", POOL "pod e node=nope\npod a", "nodes=1 existing=0"},
};

/* Plans a text that is written by a function. */
static void check_written(const char *name, void (*write)(struct sb *), const char *want)
{
    struct sb b = {0};

    write(&b);
    scenarios_check(&(struct scenario){name, sb_cstr(&b), want}, 1);
    sb_fini(&b);
}

static void write_many_keys(struct sb *b)
{
    sb_c(b, POOL "pod a need='");
    for (int i = 0; i < 700; i++)
        sb_printf(b, "%sk%d NotIn v", i ? "; " : "", i);
    sb_c(b, "'\n");
}

static void write_a_key_a_pod(struct sb *b)
{
    sb_c(b, "type t pods=1000 cpu=100 mem=100Gi\n" POOL);
    for (int i = 0; i < 700; i++)
        sb_printf(b, "pod a%d cpu=1m need='k%d DoesNotExist'\n", i, i);
}

static void write_unknown_keys(struct sb *b)
{
    sb_c(b, POOL "pod a need='");
    for (int i = 0; i < 700; i++)
        sb_printf(b, "%sk%d In v", i ? "; " : "", i);
    sb_c(b, "'\n");
}

static void write_many_values(struct sb *b)
{
    sb_c(b, POOL "pod a need='k NotIn v");
    for (int i = 0; i < 5000; i++)
        sb_printf(b, ",v%d", i);
    sb_c(b, "'\n");
}

static void write_many_spreads(struct sb *b)
{
    sb_c(b, POOL "pod a x6 label=app=x spread='");
    for (int i = 0; i < 1500; i++)
        sb_printf(b, "%szone %d app=x", i ? " | " : "", 1 + i % 3);
    sb_c(b, "'\n");
}

static void write_many_soft_spreads(struct sb *b)
{
    sb_c(b, POOL "pod a x6 label=app=x spread='");
    for (int i = 0; i < 300; i++)
        sb_printf(b, "%sk%d 1 app=x any", i ? " | " : "", i);
    sb_c(b, "'\n");
}

static void write_many_terms(struct sb *b)
{
    sb_c(b, POOL "pod a x3 need='");
    for (int i = 0; i < 1000; i++)
        sb_printf(b, "zone In n%d | ", i);
    sb_c(b, "zone In z2'\n");
}

static void write_many_zones(struct sb *b)
{
    sb_c(b, "type t offer='spot q0");
    for (int i = 1; i < 200; i++)
        sb_printf(b, "|spot q%d", i);
    sb_c(b, "'\n" POOL "pod a x400 label=app=x spread='zone 1 app=x'\npod b sel=zone=q150\n");
}

static void write_many_pools(struct sb *b)
{
    for (int i = 0; i < 300; i++)
        sb_printf(b, "pool p%03d weight=%d taint=t%d:NoSchedule\n", i, 1 + i % 100, i);
    sb_c(b, "pod a tol=t17\npod b\n");
}

static void write_long_chain(struct sb *b)
{
    sb_c(b, "type t pods=1000 cpu=100 mem=100Gi\n" POOL);
    for (int i = 0; i < 300; i++)
        sb_printf(b, "pod a%d cpu=%dm label=app=x%d aff='host app=x%d'\n", i, 400 - i, i, i + 1);
    sb_c(b, "pod last cpu=1m label=app=x300\n");
}

static void too_much(void **state UNUSED)
{
    check_written("700 keys on a pod", write_many_keys, "nodes=1 req.k699=NotIn:v");
    check_written("700 pods with a key each", write_a_key_a_pod, "nodes=1 req.k699=DoesNotExist");
    check_written("700 keys nobody has", write_unknown_keys, "unschedulable=1");
    check_written("5000 values", write_many_values, "nodes=1 unschedulable=0");
    check_written("1500 spread constraints", write_many_spreads, "zones=2,2,2 unschedulable=0");
    check_written("300 spread constraints to give up", write_many_soft_spreads, "unschedulable=0");
    check_written("1000 terms to give up", write_many_terms, "nodes=1 at.zone=z2:3");
    check_written("200 zones", write_many_zones, "unschedulable=0 nodes=200");
    check_written("300 pools", write_many_pools, "nodes=1 pools=p017 lost=b");
    check_written("a chain of 300", write_long_chain, "nodes=1 unschedulable=0");
}

static void too_little(void **state UNUSED)
{
    scenarios_check(little, ARRAY_LEN(little));
}

static void at_the_edge(void **state UNUSED)
{
    scenarios_check(edges, ARRAY_LEN(edges));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_little),
        cmocka_unit_test(at_the_edge),
        cmocka_unit_test(too_much),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
