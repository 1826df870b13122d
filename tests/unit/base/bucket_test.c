#include "base/bucket.h"

#include "support/check.h"

#define SECOND 1000000ll

static void reservations_queue_up(UNUSED void **state)
{
    struct bucket b = {.qps = 10, .burst = 3};
    static const int64_t want[] = {0, 0, 0, 100000, 200000, 300000};

    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        check_i64("burst, then one every 100 ms", bucket_reserve_us(&b, 0), want[i]);
    check_i64("a second later those have passed, and seven are back", bucket_reserve_us(&b, SECOND), 0);
}

static void takes_only_what_is_there(UNUSED void **state)
{
    struct bucket b = {.qps = 1.0 / 300, .burst = 2};

    check_true("first", bucket_take(&b, 0));
    check_true("second", bucket_take(&b, 0));
    check_true("no third", !bucket_take(&b, 0));
    check_true("a refusal costs nothing", !bucket_take(&b, 299 * SECOND));
    check_true("one after five minutes", bucket_take(&b, 300 * SECOND));
    check_true("one only", !bucket_take(&b, 300 * SECOND));
    check_true("never more than the burst",
               bucket_take(&b, 90000 * SECOND) && bucket_take(&b, 90000 * SECOND) && !bucket_take(&b, 90000 * SECOND));
}

static void no_limit(UNUSED void **state)
{
    struct bucket b = {0};

    for (int i = 0; i < 1000; i++) {
        check_true("taken", bucket_take(&b, 0));
        check_i64("no wait", bucket_reserve_us(&b, 0), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reservations_queue_up),
        cmocka_unit_test(takes_only_what_is_there),
        cmocka_unit_test(no_limit),
    };

    return cmocka_run_group_tests_name("base/bucket", tests, NULL, NULL);
}
