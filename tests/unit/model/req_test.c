/* The requirement algebra against the tables of scheduling 3: what two requirements have in common, what a requirement
 * set accepts, and how both are written. Names of cases start with their line in the checklist (scheduling 27.4). */
#include "model/req.h"

#include <stdlib.h>

#include "model/taint.h"
#include "support/check.h"

#define FORMS 14
#define DNE "DoesNotExist"

struct world {
    struct arena *a;
    struct syms *t;
    struct label_rules rules;
    struct reqspace s;
    sym key, other; /* "key" is well-known, "other" is not */
    struct sb out;
};

static const char *const forms[FORMS] = {"Exists", "DoesNotExist", "In A",      "In B", "In A,B", "NotIn A", "In 1",
                                         "In 9",   "In 1,9",       "NotIn 1,2", "Gt 1", "Gt 9",   "Lt 1",    "Lt 9"};

/* "In A,B" on a key; "In A,B minValues 2" with the least number of values. */
static struct req_expr expr_of(struct world *w, sym key, const char *text)
{
    struct req_expr x = {.key = key, .vals = arena_new_array(w->a, sym, 64)};
    str op, rest, vals, count, one;
    int64_t n = 0;

    (void)str_cut(str_c(text), ' ', &op, &rest);
    assert(req_op_parse(op, &x.op));
    if (str_starts(rest, STR("minValues "))) {
        vals = STR("");
        count = rest;
    } else {
        (void)str_cut(rest, ' ', &vals, &count);
    }
    if (str_starts(count, STR("minValues ")))
        assert(str_to_i64(str_sub(count, 10, count.n), &n));
    x.min_values = (int32_t)n;
    while (vals.n) {
        (void)str_cut(vals, ',', &one, &vals);
        assert(x.n_vals < 64);
        x.vals[x.n_vals++] = sym_of(w->t, one);
    }
    return x;
}

static uint32_t req(struct world *w, const char *text)
{
    struct req_expr x = expr_of(w, w->key, text);

    return req_of(&w->s, &x);
}

static uint32_t set(struct world *w, sym key, const char *text)
{
    if (!*text)
        return RS_EMPTY;
    struct req_expr x = expr_of(w, key, text);
    return rs_of_exprs(&w->s, &x, 1);
}

/* Without the key in front: "In [A B]". */
static str print(struct world *w, uint32_t r)
{
    str all;

    sb_reset(&w->out);
    req_print(&w->out, &w->s, r);
    all = sb_view(&w->out);
    assert(str_starts(all, STR("key ")));
    return str_sub(all, 4, all.n);
}

static const char *named(struct world *w, const char *what, const char *a, const char *b)
{
    return arena_printf(w->a, "%s: %s, %s%c", what, a, b, '\0').p;
}

static int setup(void **state)
{
    static const char *const values[] = {
        "A", "B", "1",   "2",   "9",  "0", "8",  "10", "-1", "a",  "b",  "c",  "d",   "e",
        "f", "g", "1.5", "007", "+9", "",  "v1", "v2", "v3", "v4", "v5", "v6", "1e3", "9223372036854775807"};
    struct world *w = xcalloc(1, sizeof(*w));

    w->a = arena_new(0);
    w->t = syms_new();
    w->key = sym_of(w->t, STR("key"));
    w->other = sym_of(w->t, STR("other"));
    w->rules = (struct label_rules){.well_known = &w->key, .n_well_known = 1};
    reqspace_init(&w->s, w->a, w->t, &w->rules);
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        reqspace_value(&w->s, w->key, sym_of(w->t, str_c(values[i])));
        reqspace_value(&w->s, w->other, sym_of(w->t, str_c(values[i])));
    }
    reqspace_freeze(&w->s);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    reqspace_fini(&w->s);
    sb_fini(&w->out);
    syms_free(w->t);
    arena_free(w->a);
    free(w);
    return 0;
}

/* ---- two requirements -------------------------------------------------------------------------------------------- */

static const struct {
    const char *form;
    const char *want[FORMS]; /* with each of forms[] */
} meet[FORMS] = {
    {"Exists",
     {"Exists", DNE, "In [A]", "In [B]", "In [A B]", "NotIn [A]", "In [1]", "In [9]", "In [1 9]", "NotIn [1 2]",
      "Exists >=2", "Exists >=10", "Exists <=0", "Exists <=8"}},
    {"DoesNotExist", {DNE, DNE, DNE, DNE, DNE, DNE, DNE, DNE, DNE, DNE, DNE, DNE, DNE, DNE}},
    {"In A", {"In [A]", DNE, "In [A]", DNE, "In [A]", DNE, DNE, DNE, DNE, "In [A]", DNE, DNE, DNE, DNE}},
    {"In B", {"In [B]", DNE, DNE, "In [B]", "In [B]", "In [B]", DNE, DNE, DNE, "In [B]", DNE, DNE, DNE, DNE}},
    {"In A,B",
     {"In [A B]", DNE, "In [A]", "In [B]", "In [A B]", "In [B]", DNE, DNE, DNE, "In [A B]", DNE, DNE, DNE, DNE}},
    {"NotIn A",
     {"NotIn [A]", DNE, DNE, "In [B]", "In [B]", "NotIn [A]", "In [1]", "In [9]", "In [1 9]", "NotIn [1 2 A]",
      "Exists >=2", "Exists >=10", "Exists <=0", "Exists <=8"}},
    {"In 1", {"In [1]", DNE, DNE, DNE, DNE, "In [1]", "In [1]", DNE, "In [1]", DNE, DNE, DNE, DNE, "In [1]"}},
    {"In 9", {"In [9]", DNE, DNE, DNE, DNE, "In [9]", DNE, "In [9]", "In [9]", "In [9]", "In [9]", DNE, DNE, DNE}},
    {"In 1,9",
     {"In [1 9]", DNE, DNE, DNE, DNE, "In [1 9]", "In [1]", "In [9]", "In [1 9]", "In [9]", "In [9]", DNE, DNE,
      "In [1]"}},
    {"NotIn 1,2",
     {"NotIn [1 2]", DNE, "In [A]", "In [B]", "In [A B]", "NotIn [1 2 A]", DNE, "In [9]", "In [9]", "NotIn [1 2]",
      "NotIn [2] >=2", "Exists >=10", "Exists <=0", "NotIn [1 2] <=8"}},
    {"Gt 1",
     {"Exists >=2", DNE, DNE, DNE, DNE, "Exists >=2", DNE, "In [9]", "In [9]", "NotIn [2] >=2", "Exists >=2",
      "Exists >=10", DNE, "Exists >=2 <=8"}},
    {"Gt 9",
     {"Exists >=10", DNE, DNE, DNE, DNE, "Exists >=10", DNE, DNE, DNE, "Exists >=10", "Exists >=10", "Exists >=10", DNE,
      DNE}},
    {"Lt 1",
     {"Exists <=0", DNE, DNE, DNE, DNE, "Exists <=0", DNE, DNE, DNE, "Exists <=0", DNE, DNE, "Exists <=0",
      "Exists <=0"}},
    {"Lt 9",
     {"Exists <=8", DNE, DNE, DNE, DNE, "Exists <=8", "In [1]", DNE, "In [1]", "NotIn [1 2] <=8", "Exists >=2 <=8", DNE,
      "Exists <=0", "Exists <=8"}},
};

static void r2_intersection(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < FORMS; i++) {
        check_str("R2: order of the table", str_c(meet[i].form), forms[i]);
        for (size_t j = 0; j < FORMS; j++) {
            uint32_t x = req(w, forms[i]), y = req(w, forms[j]);

            check_str(named(w, "R2", forms[i], forms[j]), print(w, req_intersect(&w->s, x, y)), meet[i].want[j]);
            check_str(named(w, "R2 turned round", forms[i], forms[j]), print(w, req_intersect(&w->s, y, x)),
                      meet[i].want[j]);
        }
    }
}

/* minValues are kept, the larger of two, even when fewer values are left. */
static void r3_min_values_survive(void **state)
{
    static const struct {
        const char *name, *a, *b, *with; /* appended to the forms and to what is wanted */
    } sides[] = {
        {"R3 left", " minValues 2", "", " minValues 2"},
        {"R3 right", "", " minValues 3", " minValues 3"},
        {"R3 both", " minValues 2", " minValues 4", " minValues 4"},
        {"R3 both, the left is larger", " minValues 5", " minValues 1", " minValues 5"},
    };
    struct world *w = *state;

    for (size_t s = 0; s < ARRAY_LEN(sides); s++)
        for (size_t i = 0; i < FORMS; i++)
            for (size_t j = 0; j < FORMS; j++) {
                uint32_t x = req(w, arena_printf(w->a, "%s%s%c", forms[i], sides[s].a, '\0').p);
                uint32_t y = req(w, arena_printf(w->a, "%s%s%c", forms[j], sides[s].b, '\0').p);
                str want = arena_printf(w->a, "%s%s%c", meet[i].want[j], sides[s].with, '\0');

                check_str(named(w, sides[s].name, forms[i], forms[j]), print(w, req_intersect(&w->s, x, y)), want.p);
            }
}

/* Whether something is left, except that two open sets always have something unless their bounds cross. */
static void r2_has_intersection(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < FORMS; i++)
        for (size_t j = 0; j < FORMS; j++)
            check_true(named(w, "R2 has", forms[i], forms[j]),
                       req_intersects(&w->s, req(w, forms[i]), req(w, forms[j])) ==
                           (strcmp(meet[i].want[j], DNE) != 0));
    check_true("two open sets that leave no integer still meet",
               req_intersects(&w->s, req_intersect(&w->s, req(w, "Gt 0"), req(w, "Lt 3")), req(w, "NotIn 1,2")));
    check_str("... and what they leave is written down",
              print(w, req_intersect(&w->s, req_intersect(&w->s, req(w, "Gt 0"), req(w, "Lt 3")), req(w, "NotIn 1,2"))),
              "NotIn [1 2] >=1 <=2");
}

static void r4_has(void **state)
{
    static const struct {
        const char *form, *has; /* of A B 1 2 9 */
    } cases[] = {
        {"Exists", "AB129"}, {"DoesNotExist", ""}, {"In A", "A"},       {"In B", "B"},    {"In A,B", "AB"},
        {"NotIn A", "B129"}, {"In 1", "1"},        {"In 9", "9"},       {"In 1,9", "19"}, {"NotIn 1,2", "AB9"},
        {"Gt 1", "29"},      {"Gt 9", ""},         {"Lt 1", ""},        {"Lt 9", "12"},   {"Gte 2", "29"},
        {"Lte 2", "12"},     {"Gte 9", "9"},       {"Lte 0", ""},       {"Gt 0", "129"},  {"NotIn", "AB129"},
        {"In", ""},          {"Lte 1", "1"},       {"NotIn 9", "AB12"},
    };
    struct world *w = *state;
    uint32_t key = space_key(&w->s, w->key);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (const char *c = "AB129"; *c; c++) {
            uint32_t val = space_val(&w->s, key, sym_of(w->t, (str){c, 1}));

            check_true(named(w, "R4", cases[i].form, (const char[]){*c, '\0'}),
                       req_has(&w->s, req(w, cases[i].form), val) == (strchr(cases[i].has, *c) != NULL));
        }
    check_true("R4: no requirement has everything", req_has(&w->s, REQ_NONE, 0));
}

/* Numbers are decimal, with or without a sign; nothing else is one. */
static void r4_numbers(void **state)
{
    static const struct {
        const char *name, *form, *val;
        bool want;
    } cases[] = {
        {"R4: a sign", "Gt 8", "+9", true},
        {"R4: leading zeros", "Lt 9", "007", true},
        {"R4: below zero", "Lt 0", "-1", true},
        {"R4: a fraction is no number", "Gt 0", "1.5", false},
        {"R4: nor is an exponent", "Gt 0", "1e3", false},
        {"R4: nor is nothing", "Lt 9", "", false},
        {"R4: the largest", "Gt 9", "9223372036854775807", true},
        {"R4: without bounds anything goes", "Exists", "1e3", true},
    };
    struct world *w = *state;
    uint32_t key = space_key(&w->s, w->key);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_true(cases[i].name, req_has(&w->s, req(w, cases[i].form),
                                          space_val(&w->s, key, sym_of(w->t, str_c(cases[i].val)))) == cases[i].want);
}

static void r5_operator_and_length(void **state)
{
    static const struct {
        const char *form, *op;
        uint32_t raw; /* members, or exclusions of an open set */
        bool open, single;
    } cases[] = {
        {"Exists", "Exists", 0, true, false},    {"DoesNotExist", "DoesNotExist", 0, false, false},
        {"In A", "In", 1, false, true},          {"In B", "In", 1, false, true},
        {"In A,B", "In", 2, false, false},       {"NotIn A", "NotIn", 1, true, false},
        {"In 1", "In", 1, false, true},          {"In 9", "In", 1, false, true},
        {"In 1,9", "In", 2, false, false},       {"NotIn 1,2", "NotIn", 2, true, false},
        {"Gt 1", "Exists", 0, true, false},      {"Gt 9", "Exists", 0, true, false},
        {"Lt 1", "Exists", 0, true, false},      {"Lt 9", "Exists", 0, true, false},
        {"Gte 1", "Exists", 0, true, false},     {"Lte 9", "Exists", 0, true, false},
        {"In", "DoesNotExist", 0, false, false}, {"NotIn", "Exists", 0, true, false},
        {"In A,A", "In", 1, false, true},
    };
    struct world *w = *state;
    uint32_t val;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *name = named(w, "R5", cases[i].form, "");
        uint32_t r = req(w, cases[i].form);

        check_str(name, str_c(req_op_name(req_op(&w->s, r))), cases[i].op);
        check_u64(name, req_raw_count(&w->s, r), cases[i].raw);
        check_true(name, w->s.reqs.v[r].open == cases[i].open);
        check_true(name, req_is_single(&w->s, r, &val) == cases[i].single);
    }
}

static void r7_text(void **state)
{
    static const struct {
        const char *name, *a, *b, *want;
    } cases[] = {
        {"R7: Exists", "Exists", "Exists", "Exists"},
        {"R7: DoesNotExist", "DoesNotExist", "Exists", "DoesNotExist"},
        {"R7: values are sorted by their bytes", "In b,B,a,10,9", "Exists", "In [10 9 B a b]"},
        {"R7: five values", "In a,b,c,d,e", "Exists", "In [a b c d e]"},
        {"R7: the sixth counts as others", "In a,b,c,d,e,f", "Exists", "In [a b c d e and 1 others]"},
        {"R7: so do those after it", "NotIn g,f,e,d,c,b,a", "Exists", "NotIn [a b c d e and 2 others]"},
        {"R7: lower bound", "Gt 1", "Exists", "Exists >=2"},
        {"R7: upper bound", "Lt 9", "Exists", "Exists <=8"},
        {"R7: both", "Gt 1", "Lt 9", "Exists >=2 <=8"},
        {"R7: bounds that touch", "Gt 1", "Lt 3", "Exists >=2 <=2"},
        {"R7: bounds that cross", "Gt 1", "Lt 2", "DoesNotExist"},
        {"R7: bounds that cross keep minValues", "Gt 9 minValues 2", "Lt 1", "DoesNotExist minValues 2"},
        {"R7: exclusions and bounds", "NotIn 2,9", "Gt 1", "NotIn [2 9] >=2"},
        {"R7: exclusions out of bounds go", "NotIn 1,A", "Gt 1", "Exists >=2"},
        {"R7: minValues last", "NotIn 2 minValues 3", "Gt 1", "NotIn [2] >=2 minValues 3"},
        {"R9: Gte is Gt of one less", "Gte 2", "Exists", "Exists >=2"},
        {"R9: Lte is Lt of one more", "Lte 8", "Exists", "Exists <=8"},
        {"R9: the tighter lower bound", "Gt 1", "Gte 1", "Exists >=2"},
        {"R9: the tighter upper bound", "Lt 9", "Lte 9", "Exists <=8"},
        {"R9: Gte 0", "Gte 0", "Exists", "Exists >=0"},
        {"R9: Lte 0", "Lte 0", "Exists", "Exists <=0"},
        {"R9: Lt 0", "Lt 0", "Exists", "Exists <=-1"},
        {"R9: inclusive on both sides", "Gte 2", "In 1,2", "In [2]"},
        {"R9: inclusive on both sides", "Lte 2", "In 2,9", "In [2]"},
        {"R9: nothing is above the largest", "Gt 9223372036854775807", "Exists", "DoesNotExist"},
        {"R9: ... and minValues go with it", "Gt 9223372036854775807 minValues 3", "Exists", "DoesNotExist"},
        {"R9: the largest itself", "Gte 9223372036854775807", "Exists", "Exists >=9223372036854775807"},
        {"R9: a bound that is no number is 0", "Gt x", "Exists", "Exists >=1"},
        {"a value is in bounds once the bounds are gone", "In 9", "Gte 9", "In [9]"},
    };
    struct world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint32_t a = req(w, cases[i].a), b = req(w, cases[i].b);

        check_str(cases[i].name, print(w, req_intersect(&w->s, a, b)), cases[i].want);
        check_str(cases[i].name, print(w, req_intersect(&w->s, b, a)), cases[i].want);
    }
    check_u64("R9: nothing above the largest has length 0", req_raw_count(&w->s, req(w, "Gt 9223372036854775807")), 0);
    check_true("R9: ... and is concrete", !w->s.reqs.v[req(w, "Gt 9223372036854775807")].open);
}

/* Equal content is one number, so that what was learnt about it is found again. */
static void equal_content_is_one_number(void **state)
{
    struct world *w = *state;

    check_u64("In without values", req(w, "In"), req(w, "DoesNotExist"));
    check_u64("NotIn without values", req(w, "NotIn"), req(w, "Exists"));
    check_u64("the order of values", req(w, "In B,A"), req(w, "In A,B"));
    check_u64("a value twice", req(w, "In A,A,B"), req(w, "In A,B"));
    check_u64("Gt and Gte", req(w, "Gt 1"), req(w, "Gte 2"));
    check_u64("Lt and Lte", req(w, "Lt 9"), req(w, "Lte 8"));
    check_true("minValues count", req(w, "In A minValues 1") != req(w, "In A"));
    check_u64(
        "by value number",
        req_one(&w->s, space_key(&w->s, w->key), space_val(&w->s, space_key(&w->s, w->key), sym_of(w->t, STR("A")))),
        req(w, "In A"));
    check_u64("minValues put on", req_set_min_values(&w->s, req(w, "In A,B"), 2), req(w, "In A,B minValues 2"));
}

/* ---- requirement sets -------------------------------------------------------------------------------------------- */

/* Rows: what there is; columns: nothing, then forms[]. The key is well-known, so that nothing said is no obstacle. */
static const struct {
    const char *have, *want;
} lenient[] = {
    {"", "yyyyyyyyyyyyyyy"},        {"Exists", "yy.yyyyyyyyyyyy"},    {"DoesNotExist", "y.y...y...y...."},
    {"In A", "yy.y.y....y...."},    {"In B", "yy..yyy...y...."},      {"In A,B", "yy.yyyy...y...."},
    {"NotIn A", "yyy.yyyyyyyyyyy"}, {"In 1", "yy....yy.y....y"},      {"In 9", "yy....y.yyyy..."},
    {"In 1,9", "yy....yyyyyy..y"},  {"NotIn 1,2", "yyyyyyy.yyyyyyy"}, {"Gt 1", "yy....y.yyyyy.y"},
    {"Gt 9", "yy....y...yyy.."},    {"Lt 1", "yy....y...y..yy"},      {"Lt 9", "yy....yy.yyy.yy"},
};

static const char *const strict_absent = "y.y...y...y....";

static void r10_compatibility(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(lenient); i++)
        for (size_t j = 0; j <= FORMS; j++) {
            const char *want = j ? forms[j - 1] : "";
            uint32_t h = set(w, w->key, lenient[i].have), r = set(w, w->key, want);
            bool ok = lenient[i].want[j] == 'y';
            bool strict = *lenient[i].have ? ok : strict_absent[j] == 'y';

            check_true(named(w, "R10 lenient", lenient[i].have, want),
                       rs_compatible(&w->s, h, r, COMPAT_LENIENT) == ok);
            check_true(named(w, "R10 strict", lenient[i].have, want),
                       rs_compatible(&w->s, h, r, COMPAT_STRICT) == strict);
            check_true(named(w, "R10 intersects", lenient[i].have, want),
                       rs_compatible(&w->s, h, r, COMPAT_INTERSECTS) == ok);
            /* A key of one's own must be defined in either mode. */
            h = set(w, w->other, lenient[i].have), r = set(w, w->other, want);
            check_true(named(w, "R10 lenient, custom key", lenient[i].have, want),
                       rs_compatible(&w->s, h, r, COMPAT_LENIENT) == strict);
        }
}

static void r10_reasons(void **state)
{
    struct world *w = *state;
    uint32_t have = set(w, w->key, "In A"), want = set(w, w->key, "In B");
    uint32_t both = rs_union(&w->s, want, set(w, w->other, "In A"));
    bool undefined;

    check_u64("R10: the key that differs", rs_incompatible_key(&w->s, have, want, COMPAT_STRICT, &undefined),
              space_key(&w->s, w->key));
    check_true("R10: ... is defined", !undefined);
    check_u64("R10: an undefined key comes first", rs_incompatible_key(&w->s, have, both, COMPAT_LENIENT, &undefined),
              space_key(&w->s, w->other));
    check_true("R10: ... and is undefined", undefined);
    check_u64("R10: nothing wrong", rs_incompatible_key(&w->s, have, have, COMPAT_STRICT, &undefined), KEY_NONE);
}

static void r12_sets(void **state)
{
    struct world *w = *state;
    uint32_t key = space_key(&w->s, w->key), s;
    struct req_expr two[] = {expr_of(w, w->key, "In A,B"), expr_of(w, w->key, "NotIn A")};

    check_u64("R12: a key that is not there", rs_get(&w->s, RS_EMPTY, key), REQ_NONE);
    s = rs_of_exprs(&w->s, two, 2);
    check_str("R12: two on one key meet", print(w, rs_get(&w->s, s, key)), "In [B]");
    s = rs_add(&w->s, s, req(w, "In A"));
    check_str("R12: a contradiction is DoesNotExist", print(w, rs_get(&w->s, s, key)), "DoesNotExist");
    s = rs_put(&w->s, s, req(w, "In A"));
    check_str("R12: put replaces", print(w, rs_get(&w->s, s, key)), "In [A]");
    check_u64("R12: a union with nothing", rs_union(&w->s, s, RS_EMPTY), s);
    check_u64("R12: a union of nothing", rs_union(&w->s, RS_EMPTY, s), s);
    check_true("R12: minValues are seen", rs_has_min_values(&w->s, set(w, w->key, "In A minValues 1")));
    check_true("R12: none are not", !rs_has_min_values(&w->s, s));
}

static void r13_text_of_sets(void **state)
{
    struct world *w = *state;
    uint32_t a = set(w, w->key, "In A,B"), b = set(w, w->other, "Gt 1");

    sb_reset(&w->out);
    rs_print(&w->out, &w->s, rs_union(&w->s, a, b));
    check_str("R13: by key", sb_view(&w->out), "key In [A B], other Exists >=2");
    check_u64("R13: the order of adding does not matter", rs_union(&w->s, b, a), rs_union(&w->s, a, b));
    sb_reset(&w->out);
    rs_print(
        &w->out, &w->s,
        rs_put(&w->s, a,
               req_one(&w->s, space_key(&w->s, SYM(HOST)), space_val(&w->s, space_key(&w->s, SYM(HOST)), w->key))));
    check_str("R13: the hostname stays out", sb_view(&w->out), "key In [A B]");
}

/* Labels that nobody asks about are not in the space, and the set does not have them. */
static void sets_of_labels(void **state)
{
    struct world *w = *state;
    struct label labels[] = {
        {w->key, sym_of(w->t, STR("A"))},
        {sym_of(w->t, STR("unheard-of")), sym_of(w->t, STR("A"))},
        {w->other, sym_of(w->t, STR("9"))},
    };

    sb_reset(&w->out);
    rs_print(&w->out, &w->s, rs_of_labels(&w->s, labels, ARRAY_LEN(labels)));
    check_str("labels", sb_view(&w->out), "key In [A], other In [9]");
}

/* ---- taints ------------------------------------------------------------------------------------------------------ */

static void t1_ephemeral_taints(void **state)
{
    static const struct {
        const char *name, *key;
        enum taint_effect effect;
        bool want;
    } cases[] = {
        {"T1: not ready", "node.kubernetes.io/not-ready", EFFECT_NO_SCHEDULE, true},
        {"T1: not ready", "node.kubernetes.io/not-ready", EFFECT_NO_EXECUTE, true},
        {"T1: not ready, another effect", "node.kubernetes.io/not-ready", EFFECT_PREFER_NO_SCHEDULE, false},
        {"T1: unreachable", "node.kubernetes.io/unreachable", EFFECT_NO_SCHEDULE, true},
        {"T1: unreachable, another effect", "node.kubernetes.io/unreachable", EFFECT_NO_EXECUTE, false},
        {"T1: uninitialized", "node.cloudprovider.kubernetes.io/uninitialized", EFFECT_NO_SCHEDULE, true},
        {"T1: unregistered", "karpenter.sh/unregistered", EFFECT_NO_EXECUTE, true},
        {"T1: unregistered, another effect", "karpenter.sh/unregistered", EFFECT_NO_SCHEDULE, false},
        {"T1: a readiness gate", "readiness.k8s.io/cni", EFFECT_NO_SCHEDULE, true},
        {"T1: a readiness gate, any effect", "readiness.k8s.io/cni", EFFECT_PREFER_NO_SCHEDULE, true},
        {"T1: the prefix not in front", "x.readiness.k8s.io/cni", EFFECT_NO_SCHEDULE, false},
        {"T1: unrelated", "team", EFFECT_NO_SCHEDULE, false},
        {"T1: no key", "", EFFECT_NO_SCHEDULE, false},
    };
    struct world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct taint t = {.key = sym_of(w->t, str_c(cases[i].key)), .effect = cases[i].effect};

        check_true(cases[i].name, taint_is_ephemeral(&t, w->t) == cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(r2_intersection),
        cmocka_unit_test(r2_has_intersection),
        cmocka_unit_test(r3_min_values_survive),
        cmocka_unit_test(r4_has),
        cmocka_unit_test(r4_numbers),
        cmocka_unit_test(r5_operator_and_length),
        cmocka_unit_test(r7_text),
        cmocka_unit_test(equal_content_is_one_number),
        cmocka_unit_test(r10_compatibility),
        cmocka_unit_test(r10_reasons),
        cmocka_unit_test(r12_sets),
        cmocka_unit_test(r13_text_of_sets),
        cmocka_unit_test(sets_of_labels),
        cmocka_unit_test(t1_ephemeral_taints),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
