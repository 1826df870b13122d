/* Random clusters over simulated hours, with everything that goes wrong (chaos.h).
 *
 *     chaos_test [FIRST-SEED [HOW-MANY]]
 */
#include <stdlib.h>

#include "sim/chaos.h"
#include "support/check.h"

#ifdef __SANITIZE_ADDRESS__
#define N_SEEDS 6
#else
#define N_SEEDS 110 /* some 2,100 hours */
#endif

static uint64_t first_seed = 1, n_seeds = N_SEEDS;

static void random_clusters(void **state UNUSED)
{
    struct chaos_tally sum = {0};
    uint64_t n_bad = 0;

    for (uint64_t s = first_seed; s < first_seed + n_seeds; s++) {
        struct chaos_result r;

        chaos_run(&(struct chaos_case){.seed = s}, NULL, &r);
        chaos_add(&sum, &r.tally);
        n_bad += !r.ok;
    }
    print_message(
        "# %llu clusters, %.0f hours, %llu deeds, %llu faults, %llu pods placed, %llu NodeClaims, %llu nodes removed, "
        "%llu evictions\n",
        (unsigned long long)n_seeds, sum.hours, (unsigned long long)sum.n_deeds, (unsigned long long)sum.n_faults,
        (unsigned long long)sum.n_placed, (unsigned long long)sum.n_claims, (unsigned long long)sum.n_nodes_gone,
        (unsigned long long)sum.n_evicted);
    check_u64("clusters that went wrong", n_bad, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_clusters)};

    if (argc > 1) {
        first_seed = strtoull(argv[1], NULL, 10);
        n_seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
