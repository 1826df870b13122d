/* What EC2 says about the end of a machine, and what is no such thing. */
#include "handler/notice.h"

#include <stdlib.h>

#include "base/sb.h"
#include "support/check.h"

#define NOW INT64_C(1700000000000)
#define EVENT(id, code, state, from, to)                                                                               \
    "{\"NotBefore\":\"" from "\",\"Code\":\"" code "\",\"Description\":\"why\",\"EventId\":\"" id                      \
    "\",\"NotAfter\":\"" to "\",\"State\":\"" state "\"}"
#define JAN "21 Jan 2019 09:00:43 GMT"

static const struct {
    const char *name;
    enum notice_kind kind;
    const char *text, *want; /* one line for each notice; begins with "!": the complaint */
} cases[] = {
    {"a spot machine", NOTICE_SPOT, "{\"action\": \"terminate\", \"time\": \"2017-09-18T08:22:00Z\"}",
     "start=1505722920000 EC2 takes the spot machine back (terminate) at 2017-09-18T08:22:00Z\n"},
    {"one that sleeps", NOTICE_SPOT, " {\"action\":\"hibernate\",\"time\":\"2017-09-18T08:22:00.5Z\"}\n",
     "start=1505722920500 EC2 takes the spot machine back (hibernate) at 2017-09-18T08:22:00.5Z\n"},
    {"no action", NOTICE_SPOT, "{\"time\":\"2017-09-18T08:22:00Z\"}", "!no action"},
    {"an odd action", NOTICE_SPOT, "{\"action\":\"a\\nb\",\"time\":\"2017-09-18T08:22:00Z\"}", "!no action"},
    {"no time", NOTICE_SPOT, "{\"action\":\"stop\"}", "!no time"},
    {"a bad time", NOTICE_SPOT, "{\"action\":\"stop\",\"time\":\"2017-13-18T08:22:00Z\"}", "!no time"},
    {"nothing", NOTICE_SPOT, "", "!no JSON"},
    {"a page", NOTICE_SPOT, "<html></html>", "!no JSON"},
    {"a list", NOTICE_SPOT, "[]", "!no action"},
    {"null", NOTICE_SPOT, "null", "!no action"},

    {"a recommendation", NOTICE_REBALANCE, "{\"noticeTime\": \"2020-10-26T00:00:00Z\"}",
     "start=1603670400000 EC2 recommends to rebalance since 2020-10-26T00:00:00Z\n"},
    {"none", NOTICE_REBALANCE, "{}", "!no noticeTime"},

    {"no maintenance", NOTICE_SCHEDULED, "[]", ""},
    {"a reboot", NOTICE_SCHEDULED, "[" EVENT("instance-event-0d", "system-reboot", "active", JAN, "") "]",
     "start=now instance-event-0d restarts system-reboot not before " JAN ": why\n"},
    {"one digit", NOTICE_SCHEDULED, "[" EVENT("e", "system-maintenance", "active", "1 Feb 2019 09:00:43 GMT", JAN) "]",
     "start=now e system-maintenance not before 1 Feb 2019 09:00:43 GMT, not after " JAN ": why\n"},
    {"two", NOTICE_SCHEDULED,
     "[" EVENT("a", "instance-stop", "canceled", JAN, JAN) "," EVENT("b", "instance-reboot", "completed", JAN,
                                                                     "soon") "]",
     "start=now a restarts over instance-stop not before " JAN ", not after " JAN ": why\n"
     "start=now b restarts over instance-reboot not before " JAN ": why\n"},
    {"no list", NOTICE_SCHEDULED, EVENT("a", "instance-stop", "active", JAN, ""), "!no list"},
    {"no name", NOTICE_SCHEDULED, "[" EVENT("", "instance-stop", "active", JAN, "") "]", "!no EventId"},
    {"a name that is no label", NOTICE_SCHEDULED, "[" EVENT("a/b", "instance-stop", "active", JAN, "") "]",
     "!no EventId"},
    {"a long name", NOTICE_SCHEDULED,
     "[" EVENT("a234567890123456789012345678901234567890123456789012345678901234", "instance-stop", "active", JAN,
               "") "]",
     "!no EventId"},
    {"one of two is bad", NOTICE_SCHEDULED,
     "[" EVENT("a", "instance-stop", "active", JAN, "") "," EVENT("b", "instance-stop", "active", "2019-01-21", "") "]",
     "!NotBefore is no time"},
    {"no such day", NOTICE_SCHEDULED, "[" EVENT("a", "instance-stop", "active", "31 Feb 2019 09:00:43 GMT", "") "]",
     "!NotBefore is no time"},
    {"no code", NOTICE_SCHEDULED, "[" EVENT("a", "", "active", JAN, "") "]", "!no Code"},
    {"an odd state", NOTICE_SCHEDULED, "[" EVENT("a", "instance-stop", "a b", JAN, "") "]", "!a State that is no word"},

    {"to be terminated", NOTICE_ASG, "Terminated", "start=now the Auto Scaling group wants the machine terminated\n"},
    {"in service", NOTICE_ASG, "InService\n", ""},
    {"in a warm pool", NOTICE_ASG, "Warmed:Terminated", ""},
    {"no state", NOTICE_ASG, "", ""},
    {"a page", NOTICE_ASG, "<html>Terminated</html>", "!no state"},
};

static void answers(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb b = {0};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct notices found = {NULL, 77};
        struct err e = {0};

        sb_reset(&b);
        if (!notices_read(a, cases[i].kind, str_c(cases[i].text), NOW, &found, &e)) {
            check_u64(cases[i].name, found.n, 77);
            check_true(cases[i].name, str_starts(str_c(e.msg), str_c(notice_words[cases[i].kind].path)));
            sb_printf(&b, "!%s", strstr(e.msg, ": ") + 2);
        } else {
            for (uint32_t k = 0; k < found.n; k++) {
                const struct notice *n = &found.v[k];
                bool named = n->kind == NOTICE_SCHEDULED;

                check_true(cases[i].name, n->kind == cases[i].kind && n->id.n > 0 && n->id.n <= NOTICE_ID_MAX);
                if (n->start_ms == NOW)
                    sb_c(&b, "start=now ");
                else
                    sb_printf(&b, "start=%lld ", (long long)n->start_ms);
                sb_printf(&b, STR_FMT "%s%s%s" STR_FMT "\n", STR_ARG(named ? n->id : STR("")), named ? " " : "",
                          n->restarts ? "restarts " : "", n->over ? "over " : "", STR_ARG(n->description));
            }
        }
        check_str(cases[i].name, sb_view(&b), cases[i].want);
    }
    sb_fini(&b);
}

static str id_of(struct arena *a, const char *text)
{
    struct notices found;
    struct err e;

    check_ok(text, notices_read(a, NOTICE_SPOT, str_c(text), NOW, &found, &e), &e);
    return found.v[0].id;
}

static void the_same_notice_has_the_same_name(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str one = id_of(a, "{\"action\":\"stop\",\"time\":\"2017-09-18T08:22:00Z\"}");

    check_true("twice", str_eq(one, id_of(a, "{\"time\":\"2017-09-18T08:22:00Z\",\"action\":\"stop\"}")));
    check_true("another", !str_eq(one, id_of(a, "{\"action\":\"stop\",\"time\":\"2017-09-18T08:22:01Z\"}")));
    check_true("its name", str_starts(one, STR("spot-itn-")));
}

static void long_answers(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct notices found;
    struct sb b = {0};
    struct err e;

    sb_fill(&b, ' ', 70000);
    check_true("too long", !notices_read(a, NOTICE_ASG, sb_view(&b), NOW, &found, &e));
    sb_reset(&b);
    sb_char(&b, '[');
    for (int i = 0; i < 101; i++)
        sb_printf(&b, "%s" EVENT("e%d", "instance-stop", "active", JAN, ""), i ? "," : "", i);
    sb_char(&b, ']');
    check_true("too many", !notices_read(a, NOTICE_SCHEDULED, sb_view(&b), NOW, &found, &e));
    sb_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(the_same_notice_has_the_same_name),
        cmocka_unit_test(long_answers),
    };

    return cmocka_run_group_tests_name("handler/notice", tests, NULL, NULL);
}
