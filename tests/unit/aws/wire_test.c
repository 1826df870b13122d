#include "aws/wire.h"

#include <math.h>
#include <stdio.h>

#include "data/xml.h"
#include "support/check.h"

struct leaf {
    str name;
    int32_t n;
};

struct sample {
    str text;
    int32_t small;
    int64_t large, time, date, epoch;
    double number, price;
    bool yes, there;
    str *texts;
    uint32_t n_texts;
    struct leaf *leaves, part;
    uint32_t n_leaves;
};

static const struct wire_field leaf_fields[] = {
    WIRE(leaf, name, WIRE_TEXT, "name"),
    WIRE(leaf, n, WIRE_I32, "n"),
};
static const struct wire_shape leaf_shape = WIRE_SHAPE(leaf, leaf_fields);

static const struct wire_field sample_fields[] = {
    WIRE(sample, text, WIRE_TEXT, "a/text"),
    WIRE(sample, small, WIRE_I32, "small"),
    WIRE(sample, large, WIRE_I64, "large"),
    WIRE(sample, time, WIRE_TIME, "time"),
    WIRE(sample, date, WIRE_DATE, "date"),
    WIRE(sample, epoch, WIRE_EPOCH, "epoch"),
    WIRE(sample, number, WIRE_DOUBLE, "number"),
    WIRE(sample, price, WIRE_PRICE, "price"),
    WIRE(sample, yes, WIRE_BOOL, "yes"),
    WIRE(sample, there, WIRE_THERE, "there"),
    WIRE_MANY(sample, texts, WIRE_TEXTS, "outer[]/id"),
    WIRE_MANY(sample, leaves, WIRE_LIST, "sets[]/leaves[]", .shape = &leaf_shape),
    WIRE_PART_OF(sample, part, "deep/part", &leaf_shape),
};
static const struct wire_shape sample_shape = WIRE_SHAPE(sample, sample_fields);

/* The XML below <r>. */
static bool read(struct arena *a, const char *xml, struct sample *ret, struct err *e)
{
    str root, text = arena_printf(a, "<r>%s</r>", xml);
    struct wire w = {.a = a, .action = "Test", .e = e};
    struct tree *t = xml_read(a, text, &root, e);

    check_ok(xml, t != NULL, e);
    bool ok = wire_read(&w, &sample_shape, t, ret);
    wire_fini(&w);
    return ok;
}

static void what_is_missing_is_nothing(void **state)
{
    static const char *const empties[] = {
        "", "<a/><sets/><outer/><deep/><small/><time/><price/><there/><yes/><epoch/><date/><number/>",
        "<a><text/></a><sets><item/></sets><outer><item/></outer><deep><part/></deep>",
        "<sets>\n </sets><deep> </deep>"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(empties); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct sample s = {0};
        struct err e = {0};

        check_ok(empties[i], read(a, empties[i], &s, &e), &e);
        check_true(empties[i], !s.text.n && !s.small && !s.large && !s.n_texts && !s.n_leaves && !s.yes && !s.there);
        check_true(empties[i], s.time == INT64_MIN && s.date == INT64_MIN && s.epoch == INT64_MIN && isnan(s.price));
        check_true(empties[i], s.number == 0 && !s.part.name.n && !s.part.n);
    }
}

static void reads_values(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sample s = {0};
    struct err e = {0};

    (void)state;
    check_ok("read",
             read(a,
                  "<a><text> x </text></a><small>2147483647</small><large>9223372036854775807</large>"
                  "<time>2018-01-01T00:00:00.125Z</time><date>2018-01-01T00:00:00Z</date><epoch>1514764800.5</epoch>"
                  "<number>2.5</number><price>0.0960</price><yes>true</yes><there><b/></there>"
                  "<outer><item><id>1</id></item><item/><item><id>2</id></item></outer>"
                  "<sets><item><leaves><item><name>n</name><n>1</n></item></leaves></item>"
                  "<item><leaves><item><name>n</name></item><item/></leaves></item></sets>"
                  "<deep><part><name>p</name></part></deep><unknown><x/></unknown>",
                  &s, &e),
             &e);
    check_str("blanks of a text stay", s.text, " x ");
    check_i64("small", s.small, INT32_MAX);
    check_i64("large", s.large, INT64_MAX);
    check_i64("a fraction of a second", s.time, INT64_C(1514764800125));
    check_i64("date", s.date, INT64_C(1514764800000));
    check_i64("epoch", s.epoch, INT64_C(1514764800500));
    check_double("number", s.number, 2.5);
    check_double("price", s.price, 0.096);
    check_true("booleans", s.yes && s.there);
    check_u64("members without the text are left out", s.n_texts, 2);
    check_str("texts", s.texts[1], "2");
    check_u64("lists within lists", s.n_leaves, 3);
    check_i64("leaf", s.leaves[0].n, 1);
    check_true("equal texts are one", s.leaves[0].name.p == s.leaves[1].name.p);
    check_str("part", s.part.name, "p");
}

static const struct {
    const char *xml, *want;
} refusals[] = {
    {"<small>2147483648</small>",
     "Test: small in the answer (1:4) is \"2147483648\", want a whole number from 0 to 2147483647"},
    {"<small>-1</small>", "Test: small in the answer (1:4) is \"-1\", want a whole number from 0 to 2147483647"},
    {"<large>1.5</large>", "Test: large in the answer (1:4) is \"1.5\", want a whole number from 0"},
    {"<large>9223372036854775808</large>",
     "Test: large in the answer (1:4) is \"9223372036854775808\", want a whole number from 0"},
    {"<number>NaN</number>", "Test: number in the answer (1:4) is \"NaN\", want a number from 0"},
    {"<number><b/></number>", "Test: number in the answer (1:4) is a map, want a number from 0"},
    {"<yes>1</yes>", "Test: yes in the answer (1:4) is \"1\", want true or false"},
    {"<time>yesterday</time>",
     "Test: time in the answer (1:4) is \"yesterday\", want a time like 2026-01-15T12:00:00Z"},
    {"<time>2026-02-30T00:00:00Z</time>",
     "Test: time in the answer (1:4) is \"2026-02-30T00:00:00Z\", want a time like 2026-01-15T12:00:00Z"},
    {"<epoch>1e300</epoch>", "Test: epoch in the answer (1:4) is \"1e300\", want a time in seconds"},
    {"<a>text</a>", "Test: a/text in the answer (1:4) is \"text\", want a map"},
    {"<a><text><b/></text></a>", "Test: a/text in the answer (1:7) is a map, want a text"},
    {"<sets><x/></sets>", "Test: sets[]/leaves[] in the answer (1:4) is a map, want a list"},
    {"<sets><item>x</item></sets>", "Test: sets[]/leaves[] in the answer (1:10) is \"x\", want a map"},
};

static void refuses_what_the_table_does_not_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct sample s = {0};
        struct err e = {0};

        check_true(refusals[i].xml, !read(a, refusals[i].xml, &s, &e));
        check_str(refusals[i].xml, str_c(e.msg), refusals[i].want);
        check_true(refusals[i].xml, e.kind == ERR_INVALID);
    }
}

static void prices_and_dates_may_be_nonsense(void **state)
{
    static const char *const texts[] = {"<price>x</price><date>x</date>", "<price>-1</price><date>2026</date>",
                                        "<price>inf</price><date><b/></date>", "<price><b/></price>"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct sample s = {0};
        struct err e = {0};

        check_ok(texts[i], read(a, texts[i], &s, &e), &e);
        check_true(texts[i], isnan(s.price) && s.date == INT64_MIN);
    }
}

static void pages_come_to_an_end(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e = {0};
    struct wire w = {.a = a, .action = "Test", .e = &e};
    struct wire_pages p = {0};
    char token[16];

    (void)state;
    check_ok("one", wire_turn(&w, &p, STR("a")), &e);
    check_str("one", p.token, "a");
    check_ok("two", wire_turn(&w, &p, STR("b")), &e);
    check_true("round in circles", !wire_turn(&w, &p, STR("a")));
    check_str("round in circles", str_c(e.msg), "Test: page 3 of the answer leads back to one before it");
    check_ok("the last", wire_turn(&w, &p, (str){0}), &e);
    check_u64("the last", p.token.n, 0);
    wire_pages_fini(&p);
    p = (struct wire_pages){0};
    for (uint32_t i = 1; i < WIRE_MAX_PAGES; i++) {
        (void)snprintf(token, sizeof(token), "%u", i);
        check_ok("many", wire_turn(&w, &p, str_c(token)), &e);
    }
    check_true("too many", !wire_turn(&w, &p, STR("x")));
    check_str("too many", str_c(e.msg), "Test: an answer of more than 10000 pages");
    wire_pages_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing_is_nothing),
        cmocka_unit_test(reads_values),
        cmocka_unit_test(refuses_what_the_table_does_not_say),
        cmocka_unit_test(prices_and_dates_may_be_nonsense),
        cmocka_unit_test(pages_come_to_an_end),
    };

    return cmocka_run_group_tests_name("aws/wire", tests, NULL, NULL);
}
