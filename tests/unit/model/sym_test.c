#include "model/sym.h"

#include <stdio.h>

#include "support/check.h"

static int setup(void **state)
{
    *state = syms_new();
    return 0;
}

static int teardown(void **state)
{
    syms_free(*state);
    return 0;
}

static void fixed_symbols_are_constants(void **state)
{
    struct syms *t = *state;

#define X(name, text)                                                                                                  \
    check_u64(text, sym_of(t, STR(text)).v, SYM(name).v);                                                              \
    check_str(text, sym_str(t, SYM(name)), text);
    SYM_TABLE(X)
#undef X
    check_u64("nothing was added", syms_count(t), SYM_N_FIXED);
    check_true("none is no symbol", !sym_some(SYM(NONE)));
}

static void equal_strings_have_equal_symbols(void **state)
{
    struct syms *t = *state;
    char text[] = "team";
    sym a = sym_of(t, str_c(text));

    text[0] = 'b';
    check_str("the table keeps a copy", sym_str(t, a), "team");
    check_true("again", sym_eq(a, sym_of(t, STR("team"))));
    check_true("another string", !sym_eq(a, sym_of(t, str_c(text))));
    check_true("a prefix is another string", !sym_eq(a, sym_of(t, STR("tea"))));
    check_u64("the empty string", sym_of(t, (str){NULL, 0}).v, 0);
    check_u64("zero bytes count", sym_of(t, STR("a\0b")).v, sym_of(t, STR("a\0b")).v);
    check_true("up to the end", !sym_eq(sym_of(t, STR("a\0b")), sym_of(t, STR("a\0c"))));
}

static void finding_never_adds(void **state)
{
    struct syms *t = *state;
    uint32_t before = syms_count(t);
    bool known;

    (void)sym_find(t, STR("nobody said this"), &known);
    check_true("unknown", !known);
    check_u64("a fixed one", sym_find(t, STR("cpu"), &known).v, SYM(CPU).v);
    check_true("known", known);
    check_u64("the empty string", sym_find(t, STR(""), &known).v, 0);
    check_true("is known", known);
    check_u64("count", syms_count(t), before);
}

static void many_symbols(void **state)
{
    struct syms *t = *state;
    char text[32];
    uint32_t first = syms_count(t);

    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 20000; i++) {
            int n = snprintf(text, sizeof(text), "value-%u", i);

            check_u64(text, sym_of(t, (str){text, (size_t)n}).v, first + i);
        }
    check_str("text stays where it was", sym_str(t, (sym){first + 12345}), "value-12345");
}

static void a_label_set_is_its_content(void **state)
{
    struct syms *t = *state;
    sym a = sym_of(t, STR("a")), b = sym_of(t, STR("b")), x = sym_of(t, STR("x")), y = sym_of(t, STR("y"));
    struct label ab[] = {{a, x}, {b, y}}, ba[] = {{b, y}, {a, x}}, other[] = {{a, y}, {b, x}};
    struct label twice[] = {{a, y}, {b, y}, {a, x}};
    lset_id id = lset_of(t, ab, 2);
    uint32_t n;
    sym val = SYM(NONE);

    check_u64("no labels", lset_of(t, NULL, 0).v, 0);
    check_u64("order does not count", lset_of(t, ba, 2).v, id.v);
    check_u64("the last of equal keys", lset_of(t, twice, 3).v, id.v);
    check_true("values do", lset_of(t, other, 2).v != id.v);
    check_u64("three sets by now", lsets_count(t), 3);

    const struct label *v = lset_get(t, id, &n);
    check_u64("size", n, 2);
    check_true("sorted by key", v[0].key.v < v[1].key.v);
    check_true("found", lset_value(t, id, b, &val) && sym_eq(val, y));
    check_true("not found", !lset_value(t, id, x, &val));
    check_true("nothing in the empty set", !lset_value(t, (lset_id){0}, a, &val));
}

static void large_label_sets(void **state)
{
    struct syms *t = *state;
    struct label labels[200];
    char text[16];
    sym val;

    for (uint32_t i = 0; i < 200; i++) { /* every key twice, in falling order */
        (void)snprintf(text, sizeof(text), "k%03u", (199 - i) % 100);
        labels[i].key = sym_of(t, str_c(text));
        (void)snprintf(text, sizeof(text), "v%03u", i);
        labels[i].val = sym_of(t, str_c(text));
    }
    lset_id id = lset_of(t, labels, 200);
    uint32_t n;
    (void)lset_get(t, id, &n);
    check_u64("size", n, 100);
    for (uint32_t i = 0; i < 100; i++) {
        (void)snprintf(text, sizeof(text), "k%03u", i);
        check_true(text, lset_value(t, id, sym_of(t, str_c(text)), &val));
        (void)snprintf(text, sizeof(text), "v%03u", 199 - i);
        check_str(text, sym_str(t, val), text);
    }
    check_true("absent", !lset_value(t, id, SYM(CPU), &val));
}

static void many_label_sets(void **state)
{
    struct syms *t = *state;

    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            struct label l[] = {{{i % 71}, {i / 71}}, {{100}, {7}}};

            check_u64("the same number in both rounds", lset_of(t, l, 2).v, i + 1);
        }
}

static lset_id one_label(struct syms *t, const char *key, const char *val)
{
    return lset_of(t, &(struct label){sym_of(t, str_c(key)), sym_of(t, str_c(val))}, 1);
}

static bool knows(const struct syms *t, const char *text)
{
    bool known;

    (void)sym_find(t, str_c(text), &known);
    return known;
}

static void symbols_that_pass(void **state)
{
    struct syms *t = *state;
    sym stays = sym_of(t, STR("stays"));

    check_true("off at first", !syms_set_passing(t, true));
    lset_id kept = one_label(t, "kept-key", "kept-val"), lost = one_label(t, "lost-key", "lost-val");
    sym asked = sym_of(t, STR("asked"));
    check_true("on", syms_set_passing(t, false));
    check_true("who asks makes it stay", sym_eq(asked, sym_of(t, STR("asked"))));
    for (int i = 0; i < 2; i++) {
        check_true("still there", knows(t, "lost-key") && knows(t, "lost-val"));
        lset_mark(t, kept);
        check_u64("doubted, then gone", syms_sweep(t), i ? 3 : 0);
    }
    check_true("gone", !knows(t, "lost-key") && !knows(t, "lost-val"));
    check_true("stays", sym_eq(stays, sym_of(t, STR("stays"))) && knows(t, "asked"));
    uint32_t n = syms_count(t);
    (void)syms_set_passing(t, true);
    lset_id again = one_label(t, "new-key", "new-val");
    check_u64("its number is used again", again.v, lost.v);
    check_u64("and those of symbols", syms_count(t), n);
    check_true("the table is right", one_label(t, "new-key", "new-val").v == again.v);
}

static void doubts_are_taken_back(void **state)
{
    struct syms *t = *state;

    (void)syms_set_passing(t, true);
    lset_id set = one_label(t, "key", "val");
    (void)syms_sweep(t);
    check_u64("named again", one_label(t, "key", "val").v, set.v);
    check_u64("so it is only in doubt", syms_sweep(t), 0);
    (void)syms_set_passing(t, false);
    check_u64("asked for", one_label(t, "key", "val").v, set.v);
    for (int i = 0; i < 3; i++)
        check_u64("so it stays", syms_sweep(t), 0);
    check_true("with its labels", knows(t, "key") && knows(t, "val"));
}

static void memory_of_what_has_gone_is_used_again(void **state)
{
    struct syms *t = *state;
    char text[800];
    size_t most = 0;

    (void)syms_set_passing(t, true);
    for (int i = 0; i < 300000; i++) {
        int n = snprintf(text, sizeof(text), "label-%d-%0*d", i, i % 50 ? i % 90 : 600, i);

        check_true("fits", n > 0 && (size_t)n < sizeof(text));
        (void)lset_of(t, &(struct label){sym_of(t, STR("job")), sym_of(t, str_c(text))}, 1);
        if (!syms_want_sweep(t))
            continue;
        (void)syms_sweep(t);
        if (i < 150000)
            most = syms_bytes(t);
    }
    check_true("no more than before", syms_bytes(t) <= most + most / 8);
    check_true("few symbols", syms_count(t) < 100000 && lsets_count(t) < 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fixed_symbols_are_constants, setup, teardown),
        cmocka_unit_test_setup_teardown(equal_strings_have_equal_symbols, setup, teardown),
        cmocka_unit_test_setup_teardown(finding_never_adds, setup, teardown),
        cmocka_unit_test_setup_teardown(many_symbols, setup, teardown),
        cmocka_unit_test_setup_teardown(a_label_set_is_its_content, setup, teardown),
        cmocka_unit_test_setup_teardown(large_label_sets, setup, teardown),
        cmocka_unit_test_setup_teardown(many_label_sets, setup, teardown),
        cmocka_unit_test_setup_teardown(symbols_that_pass, setup, teardown),
        cmocka_unit_test_setup_teardown(doubts_are_taken_back, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_of_what_has_gone_is_used_again, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
