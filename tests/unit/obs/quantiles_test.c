#include "obs/quantiles.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/rng.h"
#include "support/check.h"

#define MINUTE 60000ll

static const double qs[] = {0, 0.5, 0.9, 0.99, 1};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The rank of an answer is at most a hundredth of n away from the rank that was asked for. */
static void check_ranks(const char *name, double *v, uint32_t n)
{
    struct windows *w = windows_new();

    for (uint32_t i = 0; i < n; i++)
        windows_add(w, v[i], 1000);
    qsort(v, n, sizeof(*v), by_value);
    for (size_t i = 0; i < ARRAY_LEN(qs); i++) {
        double got = windows_quantile(w, qs[i], 1000), want = qs[i] * n, below = 0, upto = 0;

        for (uint32_t k = 0; k < n; k++) {
            below += v[k] < got;
            upto += v[k] <= got;
        }
        check_true(name, below - 0.01 * n - 1 <= want && want <= upto + 0.01 * n + 1);
    }
    check_double(name, windows_quantile(w, 0, 1000), v[0]);
    check_double(name, windows_quantile(w, 1, 1000), v[n - 1]);
    check_true("memory is bounded", windows_kept(w) <= 5 * 500);
    windows_free(w);
}

static void ranks_are_near(UNUSED void **state)
{
    enum { N = 50000 };
    double *v = xcalloc(N, sizeof(*v));
    struct rng r;

    rng_init(&r, 5);
    for (uint32_t n = 1; n <= N; n = n * 3 + 1) {
        for (uint32_t i = 0; i < n; i++)
            v[i] = rng_unit(&r);
        check_ranks("even", v, n);
        for (uint32_t i = 0; i < n; i++)
            v[i] = exp(20 * rng_unit(&r));
        check_ranks("wide", v, n);
        for (uint32_t i = 0; i < n; i++)
            v[i] = rng_below(&r, 3);
        check_ranks("few values", v, n);
        for (uint32_t i = 0; i < n; i++)
            v[i] = i;
        check_ranks("rising", v, n);
        for (uint32_t i = 0; i < n; i++)
            v[i] = n - i;
        check_ranks("falling", v, n);
    }
    free(v);
}

static void small_numbers_are_exact(UNUSED void **state)
{
    struct windows *w = windows_new();

    check_true("nothing seen", isnan(windows_quantile(w, 0.5, 1)));
    for (int i = 10; i > 0; i--)
        windows_add(w, i, 1);
    check_double("median", windows_quantile(w, 0.5, 1), 5);
    check_double("0.9", windows_quantile(w, 0.9, 1), 9);
    check_double("0.99", windows_quantile(w, 0.99, 1), 10);
    windows_free(w);
}

static void ten_minutes(UNUSED void **state)
{
    struct windows *w = windows_new();

    windows_add(w, 100, 0 * MINUTE + 1);
    windows_add(w, 1, 5 * MINUTE);
    check_double("still there", windows_quantile(w, 1, 8 * MINUTE), 100);
    check_double("forgotten", windows_quantile(w, 1, 10 * MINUTE + 1), 1);
    check_true("all are forgotten", isnan(windows_quantile(w, 1, 16 * MINUTE)));
    windows_add(w, 7, 100 * MINUTE);
    check_double("after a long while", windows_quantile(w, 0.5, 101 * MINUTE), 7);
    check_true("and gone again", isnan(windows_quantile(w, 0.5, 111 * MINUTE)));
    windows_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_near),
        cmocka_unit_test(small_numbers_are_exact),
        cmocka_unit_test(ten_minutes),
    };

    return cmocka_run_group_tests_name("obs/quantiles", tests, NULL, NULL);
}
