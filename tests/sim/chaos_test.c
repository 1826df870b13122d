/* Random clusters over simulated hours, with everything that goes wrong (chaos.h).
 *
 *     chaos_test                                a few of all
 *     chaos_test known                          old acquaintances
 *     chaos_test kwok|aws FIRST HOW-MANY HOURS  so many seeds, which make at least so many hours
 *     chaos_test --seed N …                     one case, as soak prints it: to see it with sanitizers
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/chaos.h"
#include "support/check.h"

#define A_FEW 6
#define A_FEW_ON_AWS 3

/* What the program was asked for. */
static uint64_t first_seed, how_many;
static double least_hours;
static bool on_aws;

static void run_seeds(uint64_t first, uint64_t n, double hours, bool aws)
{
    struct chaos_tally sum = {0};
    uint64_t n_bad = 0;

    for (uint64_t s = first; s < first + n; s++) {
        struct chaos_result r;

        chaos_run(&(struct chaos_case){.seed = s, .aws = aws}, NULL, &r);
        chaos_add(&sum, &r.tally);
        n_bad += !r.ok;
    }
    print_message(
        "# %llu clusters, %.0f hours, %llu deeds, %llu faults, %llu pods placed, %llu NodeClaims, %llu nodes removed, "
        "%llu evictions\n",
        (unsigned long long)n, sum.hours, (unsigned long long)sum.n_deeds, (unsigned long long)sum.n_faults,
        (unsigned long long)sum.n_placed, (unsigned long long)sum.n_claims, (unsigned long long)sum.n_nodes_gone,
        (unsigned long long)sum.n_evicted);
    if (aws)
        print_message(
            "# %llu machines, %llu taken back, %llu without an owner for %.0f s in all, %llu calls to EC2 and SQS\n",
            (unsigned long long)sum.n_machines, (unsigned long long)sum.n_warned, (unsigned long long)sum.n_orphans,
            sum.orphan_s, (unsigned long long)sum.n_aws_calls);
    check_u64("clusters that went wrong", n_bad, 0);
    check_true("they took as long as they should", sum.hours >= hours);
}

static void a_few_clusters(void **state UNUSED)
{
    run_seeds(1, A_FEW, /* hours= */ 0, /* aws= */ false);
}

static void a_few_clusters_on_aws(void **state UNUSED)
{
    run_seeds(1, A_FEW_ON_AWS, /* hours= */ 0, /* aws= */ true);
}

static void many_clusters(void **state UNUSED)
{
    run_seeds(first_seed, how_many, least_hours, on_aws);
}

/* Each of them has found something once, as soak left it. */
static void old_acquaintances(void **state UNUSED)
{
    static const char *const lines[] = {
        /* Other Events about a node that hung in its drain drowned out why. */
        "--seed 206 --without "
        "pair,grace,limits,startup,repair,buffers,job,daemon,pdb,delete-claim,delete-pod,class,pool,pool-limits,pool-labels,"
        "pool-taints,pool-disruption,pool-expiry,hold,restart,clock,power,no-join,no-start,conflict,gone,throttle,error,"
        "lose-reply,duplicate,drop-watch,server-dies,refuse,lose-answer,cut,stall,slow "
        "--hours 9.1614 --skip 1-5,10-20,22-25,27-28,30-41,43-95",
        /* A node of a static pool was tainted and untainted every ten seconds while the node class was gone. */
        "--seed 29 --without "
        "pair,grace,keep,limits,startup,repair,buffers,scale,roll,job,daemon,pdb,delete-claim,delete-node,delete-pod,pool,"
        "pool-limits,pool-taints,pool-disruption,pool-expiry,pool-replicas,hold,process,restart,clock,power,no-join,"
        "no-start,conflict,gone,throttle,error,lose-reply,duplicate,drop-watch,server-dies,refuse,lose-answer,cut,stall,"
        "slow",
        /* A replacement and a round made claims of one pool at the same time, beyond its limit. */
        "--seed 466 --hours 1.6",
        /* A node was tainted and untainted without end, because its pool was beyond its limit with it. */
        "--seed 466 --skip 13-14",
        /* A claim went that had not been told of its machine, and the Node stayed. */
        "--seed 223 --hours 9.375",
        /* A process that had given up its lease made a Node. */
        "--seed 501 --hours 4.2",
        /* The clock was set back: what was written before is in the future for hours. */
        "--seed 243",
        /* The same, and a drain that had begun before waited for its five seconds until the clock had caught up. */
        "--seed 521",
        /* Pods of a node that went took the room of a capacity buffer, over and over: each time it was bought again. */
        "--seed 211",
        /* The clock was set back, and a machine that no claim knew of was young for an hour. */
        "--seed 73 --aws --without "
        "pair,grace,keep,limits,static,startup,repair,buffers,scale,roll,daemon,pdb,delete-claim,delete-node,"
        "delete-pod,class,pool,pool-limits,pool-labels,pool-taints,pool-disruption,pool-expiry,pool-replicas,hold,"
        "process,restart,power,no-join,no-start,conflict,gone,throttle,error,lose-reply,duplicate,drop-watch,"
        "server-dies,refuse,lose-answer,cut,stall,slow,aws-class,aws-image,aws-spot,aws-rebalance,aws-health,"
        "aws-impair,aws-crash,aws-pool,aws-price,aws-keys,aws-reserve,aws-shift,aws-throttle,aws-error,aws-lose,"
        "aws-ice,aws-late,aws-twice,aws-order,aws-net"
        " --hours 0.0259 --apps 1 --skip 3-5",
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct chaos_case c = {0};
        struct chaos_result r;
        struct err e = {0};

        check_ok(lines[i], chaos_read(&c, lines[i], &e), &e);
        chaos_run(&c, NULL, &r);
        check_true(lines[i], r.ok);
    }
}

static int one_case(int argc, char **argv)
{
    struct chaos_case c = {0};
    struct chaos_result r;
    struct err e = {0};

    if (!chaos_parse(&c, &argc, argv, &e) || argc > 1) {
        (void)fprintf(stderr, "chaos_test: %s\n", argc > 1 ? argv[1] : e.msg);
        return 2;
    }
    chaos_run(&c, NULL, &r);
    return r.ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest few[] = {cmocka_unit_test(a_few_clusters), cmocka_unit_test(a_few_clusters_on_aws),
                                     cmocka_unit_test(old_acquaintances)};
    const struct CMUnitTest known[] = {cmocka_unit_test(old_acquaintances)};
    const struct CMUnitTest many[] = {cmocka_unit_test(many_clusters)};

    if (argc == 1)
        return cmocka_run_group_tests(few, NULL, NULL);
    if (argv[1][0] == '-')
        return one_case(argc, argv);
    if (strcmp(argv[1], "known") == 0)
        return cmocka_run_group_tests(known, NULL, NULL);
    on_aws = strcmp(argv[1], "aws") == 0;
    if (argc != 5 || (!on_aws && strcmp(argv[1], "kwok") != 0)) {
        (void)fprintf(stderr, "chaos_test: kwok|aws FIRST HOW-MANY HOURS\n");
        return 2;
    }
    first_seed = strtoull(argv[2], NULL, 10);
    how_many = strtoull(argv[3], NULL, 10);
    least_hours = strtod(argv[4], NULL);
    return cmocka_run_group_tests(many, NULL, NULL);
}
