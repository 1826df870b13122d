/* Settings by name: what they set, and what they refuse. */
#include "k8s/settings.h"

#include "support/check.h"
#include "support/fixture.h"

static bool set(const struct fixture *f, struct settings *s, const char *key, const char *value, struct err *e)
{
    settings_defaults(s);
    return settings_set(s, f->a, f->t, str_c(key), str_c(value), e);
}

static void defaults(void **state)
{
    struct settings s;

    (void)state;
    settings_defaults(&s);
    check_true("gates", s.reserved_capacity && !s.spot_to_spot);
    check_i64("nobody said how far consolidation looks", s.consolidation, CONSOLIDATION_AUTO);
    check_true("any saving will do", s.min_savings_usd == 0 && s.min_savings_share == 0);
    check_u64("a few new nodes", s.max_replacements, 8);
}

static void consolidation(void **state)
{
    struct settings s;
    struct err e = {0};

    check_ok("thorough", set(*state, &s, "CONSOLIDATION", "thorough", &e), &e);
    check_i64("thorough", s.consolidation, CONSOLIDATION_THOROUGH);
    check_ok("compat", set(*state, &s, "CONSOLIDATION", "compat", &e), &e);
    check_i64("compat", s.consolidation, CONSOLIDATION_COMPAT);
    check_ok("a share", set(*state, &s, "CONSOLIDATION_MIN_SAVINGS", "5%", &e), &e);
    check_true("a share", s.min_savings_share == 0.05 && s.min_savings_usd == 0);
    check_ok("a price", set(*state, &s, "CONSOLIDATION_MIN_SAVINGS", "0.01", &e), &e);
    check_true("a price", s.min_savings_usd == 0.01 && s.min_savings_share == 0);
    check_ok("replacements", set(*state, &s, "CONSOLIDATION_MAX_REPLACEMENTS", "16", &e), &e);
    check_u64("replacements", s.max_replacements, 16);
    check_ok("gates", set(*state, &s, "FEATURE_GATES", " SpotToSpotConsolidation = true ,Other=false", &e), &e);
    check_true("gates", s.spot_to_spot && s.reserved_capacity);
}

static const struct {
    const char *key, *value, *want;
} refusals[] = {
    {"CONSOLIDATION", "fast", "CONSOLIDATION: \"fast\" is not one of thorough, compat"},
    {"CONSOLIDATION", "", "CONSOLIDATION: \"\" is not one of thorough, compat"},
    {"CONSOLIDATION_MIN_SAVINGS", "-1",
     "CONSOLIDATION_MIN_SAVINGS: \"-1\" is neither a price an hour nor a percentage up to 100%"},
    {"CONSOLIDATION_MIN_SAVINGS", "101%",
     "CONSOLIDATION_MIN_SAVINGS: \"101%\" is neither a price an hour nor a percentage up to 100%"},
    {"CONSOLIDATION_MIN_SAVINGS", "NaN",
     "CONSOLIDATION_MIN_SAVINGS: \"NaN\" is neither a price an hour nor a percentage up to 100%"},
    {"CONSOLIDATION_MIN_SAVINGS", "inf",
     "CONSOLIDATION_MIN_SAVINGS: \"inf\" is neither a price an hour nor a percentage up to 100%"},
    {"CONSOLIDATION_MIN_SAVINGS", "%",
     "CONSOLIDATION_MIN_SAVINGS: \"%\" is neither a price an hour nor a percentage up to 100%"},
    {"CONSOLIDATION_MAX_REPLACEMENTS", "0", "CONSOLIDATION_MAX_REPLACEMENTS: \"0\" is not a number from 1 to 16"},
    {"CONSOLIDATION_MAX_REPLACEMENTS", "17", "CONSOLIDATION_MAX_REPLACEMENTS: \"17\" is not a number from 1 to 16"},
    {"CONSOLIDATION_MAX_REPLACEMENTS", "two", "CONSOLIDATION_MAX_REPLACEMENTS: \"two\" is not a number from 1 to 16"},
    {"FEATURE_GATES", "SpotToSpotConsolidation",
     "FEATURE_GATES: \"SpotToSpotConsolidation\" is not name=true or name=false"},
};

static void refused(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        struct settings s;
        struct err e = {0};

        check_true(refusals[i].key, !set(*state, &s, refusals[i].key, refusals[i].value, &e));
        check_str(refusals[i].key, str_c(e.msg), refusals[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(defaults, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(consolidation, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(refused, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
