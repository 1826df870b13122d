/* Random clusters over simulated hours, with everything that goes wrong (chaos.h).
 *
 *     chaos_test [FIRST-SEED [HOW-MANY [HOW-MANY-ON-AWS]]]
 *     chaos_test --seed N …      one case, as soak prints it: to see it with sanitizers
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/chaos.h"
#include "support/check.h"

#ifdef __SANITIZE_ADDRESS__
#define N_SEEDS 6
#define N_AWS_SEEDS 3
#else
#define N_SEEDS 145 /* some 2,900 hours */
#define N_AWS_SEEDS 20
#endif

static uint64_t first_seed = 1, n_seeds = N_SEEDS, n_aws_seeds = N_AWS_SEEDS;

static void run_seeds(uint64_t n, bool aws)
{
    struct chaos_tally sum = {0};
    uint64_t n_bad = 0;

    for (uint64_t s = first_seed; s < first_seed + n; s++) {
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
}

static void random_clusters(void **state UNUSED)
{
    run_seeds(n_seeds, /* aws= */ false);
}

static void random_clusters_on_aws(void **state UNUSED)
{
    run_seeds(n_aws_seeds, /* aws= */ true);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_clusters), cmocka_unit_test(random_clusters_on_aws),
                                       cmocka_unit_test(old_acquaintances)};

    if (argc > 1 && argv[1][0] == '-')
        return one_case(argc, argv);
    if (argc > 1) {
        first_seed = strtoull(argv[1], NULL, 10);
        n_seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
        n_aws_seeds = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
