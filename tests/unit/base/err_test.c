#include "base/err.h"

#include <stdio.h>

#include "support/check.h"

static void an_error_has_a_kind_and_a_sentence(void **state)
{
    struct err e = {.code = "Stale"};

    (void)state;
    check_true("false, so that a caller can return it", !err_set(&e, ERR_NOT_FOUND, "no node %s", "ip-10-0-0-1"));
    check_i64("kind", e.kind, ERR_NOT_FOUND);
    check_str("message", str_c(e.msg), "no node ip-10-0-0-1");
    check_str("the peer's word of an earlier error is gone", str_c(e.code), "");
}

static void wrapping_puts_context_in_front_and_keeps_the_rest(void **state)
{
    struct err e;

    (void)state;
    (void)err_set(&e, ERR_CONFLICT, "version %d is not current", 7);
    (void)snprintf(e.code, sizeof(e.code), "Conflict");
    check_true("false again", !err_wrap(&e, "update lease %s", "karpenter"));
    (void)err_wrap(&e, "renew");
    check_i64("kind", e.kind, ERR_CONFLICT);
    check_str("code", str_c(e.code), "Conflict");
    check_str("message", str_c(e.msg), "renew: update lease karpenter: version 7 is not current");
}

static const struct {
    const char *name;
    int inner, outer; /* lengths */
} long_cases[] = {
    {"both short", 3, 3},       {"the inner one fills what is left", 500, 10}, {"the outer one fills all", 10, 500},
    {"one byte left", 10, 398}, {"room for the colon only", 10, 397},          {"an exact fit", 198, 199},
};

static void long_messages_are_cut_and_terminated(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(long_cases); i++) {
        int inner = long_cases[i].inner, outer = long_cases[i].outer;
        size_t whole = (size_t)(MIN(inner, 399) + outer + 2);
        struct err e;

        (void)err_set(&e, ERR_IO, "%0*d", inner, 0);
        (void)err_wrap(&e, "%0*d", outer, 0);
        check_u64(long_cases[i].name, strlen(e.msg), MIN(whole, sizeof(e.msg) - 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_has_a_kind_and_a_sentence),
        cmocka_unit_test(wrapping_puts_context_in_front_and_keeps_the_rest),
        cmocka_unit_test(long_messages_are_cut_and_terminated),
    };

    return cmocka_run_group_tests_name("base/err", tests, NULL, NULL);
}
