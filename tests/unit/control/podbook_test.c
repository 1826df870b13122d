/* What is remembered of pods that wait, and that it does not grow with pods that came and went. */
#include "control/podbook.h"

#include <stdio.h>

#include "support/check.h"

static void first_times(void **state UNUSED)
{
    AUTO(podbook) struct podbook *b = podbook_new();
    str uid = STR("u-1");

    check_true("an answer before the pod was seen counts for nothing", !podbook_refused(b, STR("u-0"), 5));
    podbook_ack(b, uid, 10);
    podbook_ack(b, uid, 20);
    check_i64("acked once", podbook_get(b, uid).acked_ms, 10);
    check_true("the first answer", podbook_refused(b, uid, 30));
    check_true("only the first", !podbook_placed(b, uid, /* healthy_pool= */ true, 40));
    check_i64("decided", podbook_get(b, uid).decided_ms, 30);
    check_i64("schedulable", podbook_get(b, uid).schedulable_ms, 40);
    check_i64("on a pool that works", podbook_get(b, uid).healthy_pool_ms, 40);
    (void)podbook_placed(b, uid, /* healthy_pool= */ false, 50);
    check_i64("since the first time", podbook_get(b, uid).schedulable_ms, 40);
    check_i64("on a pool that does not", podbook_get(b, uid).healthy_pool_ms, 0);
    (void)podbook_refused(b, uid, 60);
    check_i64("a refusal forgets", podbook_get(b, uid).schedulable_ms, 0);
    podbook_forget(b, uid);
    podbook_forget(b, uid);
    check_i64("forgotten", podbook_get(b, uid).acked_ms, 0);
    podbook_ack(b, uid, 70);
    check_i64("and begun anew", podbook_get(b, uid).acked_ms, 70);
}

static void churn(void **state UNUSED)
{
    AUTO(podbook) struct podbook *b = podbook_new();
    char uid[32];

    for (int i = 0; i < 100000; i++) {
        (void)snprintf(uid, sizeof(uid), "pod-%d", i);
        podbook_ack(b, str_c(uid), i + 1);
        if (i >= 100) {
            (void)snprintf(uid, sizeof(uid), "pod-%d", i - 100);
            podbook_forget(b, str_c(uid));
        }
    }
    check_i64("one that is there", podbook_get(b, STR("pod-99950")).acked_ms, 99951);
    check_i64("one that has gone", podbook_get(b, STR("pod-99800")).acked_ms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(first_times), cmocka_unit_test(churn)};

    return cmocka_run_group_tests_name("control/podbook", tests, NULL, NULL);
}
