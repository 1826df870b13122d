#include "obs/log.h"

#include <stdio.h>

#include "base/sb.h"
#include "support/check.h"

struct pen {
    struct sb text;
    uint32_t n_lines;
    int64_t now_ms;
};

static void take(void *ctx, str line)
{
    struct pen *p = ctx;

    sb_str(&p->text, line);
    p->n_lines++;
}

static int64_t now(void *clock)
{
    return ((struct pen *)clock)->now_ms;
}

static void expect(const char *name, struct pen *p, const char *want)
{
    check_str(name, sb_view(&p->text), want);
    sb_reset(&p->text);
}

#define HEAD(level)                                                                                                    \
    "{\"level\":\"" level "\",\"time\":\"2026-11-15T09:05:51.007Z\",\"logger\":\"controller\",\"message\":"

static void lines(UNUSED void **state)
{
    struct pen p = {.now_ms = 1794733551007};
    AUTO(log) struct log *l = log_new(LOG_INFO, &(struct log_sink){&p, take}, now, &p);
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e;

    log_info(l, "no fields");
    expect("no fields", &p, HEAD("INFO") "\"no fields\"}\n");
    log_debug(l, "nobody wants to know");
    check_true("levels", !log_wants(l, LOG_DEBUG) && log_wants(l, LOG_INFO) && log_wants(l, LOG_ERROR));
    expect("below the level", &p, "");
    log_info(l, "all kinds", LOG_STR("s", STR("a \"b\"\n")), LOG_I64("i", -3), LOG_DOUBLE("d", 0.25),
             LOG_BOOL("t", true), LOG_OBJ("NodePool", STR(""), STR("default")), LOG_OBJ("Pod", STR("ns"), STR("p")),
             LOG_JSON("requests", STR("{\"cpu\":\"1\"}")));
    expect(
        "all kinds", &p,
        HEAD(
            "INFO") "\"all kinds\",\"s\":\"a \\\"b\\\"\\n\",\"i\":-3,\"d\":0.25,\"t\":true,\"NodePool\":{\"name\":\"default\"},"
                    "\"Pod\":{\"name\":\"p\",\"namespace\":\"ns\"},\"requests\":{\"cpu\":\"1\"}}\n");
    (void)err_set(&e, ERR_INVALID, "did not tolerate taint (taint=%s)", "team=blue:NoSchedule");
    log_error(l, "could not schedule pod", &e, LOG_STR("taint", STR("team=blue:NoSchedule")));
    expect("the error comes last", &p,
           HEAD("ERROR") "\"could not schedule pod\",\"taint\":\"team=blue:NoSchedule\","
                         "\"error\":\"did not tolerate taint (taint=team=blue:NoSchedule)\"}\n");
    (void)snprintf(e.code, sizeof(e.code), "UnauthorizedOperation");
    e.call = (struct err_call){"aws", "EC2", "CreateFleet", 403, "req-1"};
    (void)err_wrap(&e, "launching");
    log_error(l, "failed", &e);
    expect("a call that failed", &p,
           HEAD("ERROR") "\"failed\",\"aws-request-id\":\"req-1\",\"aws-status-code\":403,\"aws-service-name\":\"EC2\","
                         "\"aws-operation-name\":\"CreateFleet\",\"aws-error-code\":\"UnauthorizedOperation\","
                         "\"error\":\"launching: did not tolerate taint (taint=team=blue:NoSchedule)\"}\n");
    (void)err_set(&e, ERR_IO, "nobody answers");
    e.call = (struct err_call){.peer = "aws", .service = "EC2", .operation = "CreateFleet"};
    log_error(l, "failed", &e);
    expect("a call without an answer", &p,
           HEAD("ERROR") "\"failed\",\"aws-service-name\":\"EC2\",\"aws-operation-name\":\"CreateFleet\","
                         "\"error\":\"nobody answers\"}\n");
    p.now_ms = -1;
    log_info(l, "long ago");
    expect(
        "before 1970", &p,
        "{\"level\":\"INFO\",\"time\":\"1969-12-31T23:59:59.999Z\",\"logger\":\"controller\",\"message\":\"long ago\"}\n");
    p.now_ms = 1794733551007;

    struct log *with = log_with(a, l, LOG_FIELDS(LOG_STR("commit", STR("abc1234"))));
    struct log *more =
        log_with(a, with, LOG_FIELDS(LOG_STR("controller", STR("provisioner")), LOG_STR("name", STR(""))));
    struct log *same = log_with(a, more, NULL, 0);
    log_info(same, "hello", LOG_I64("pods", 1));
    expect("fields add up", &p,
           HEAD("INFO") "\"hello\",\"commit\":\"abc1234\",\"controller\":\"provisioner\",\"name\":\"\",\"pods\":1}\n");
    log_info(with, "hello");
    expect("and stay where they are", &p, HEAD("INFO") "\"hello\",\"commit\":\"abc1234\"}\n");
    char name[] = "web-1", ns[] = "shop";
    struct log *pod = log_with(a, with, LOG_FIELDS(LOG_OBJ("Pod", str_c(ns), str_c(name))));
    memset(name, 'x', 5);
    memset(ns, 'x', 4);
    log_info(pod, "hello");
    expect("their text is copied", &p,
           HEAD("INFO") "\"hello\",\"commit\":\"abc1234\",\"Pod\":{\"name\":\"web-1\",\"namespace\":\"shop\"}}\n");
    sb_fini(&p.text);
}

static void callers_are_named(UNUSED void **state)
{
    struct pen p = {.now_ms = 1794733551007};
    AUTO(log) struct log *l = log_new(LOG_DEBUG, &(struct log_sink){&p, take}, now, &p);

#define FROM(caller)                                                                                                   \
    "{\"level\":\"INFO\",\"time\":\"2026-11-15T09:05:51.007Z\",\"logger\":\"controller\",\"caller\":\"" caller         \
    "\",\"message\":\"hello\"}\n"
    log_write_from("/build/src/control/provision.c:12", l, LOG_INFO, "hello", NULL, NULL, 0);
    expect("file and directory", &p, FROM("control/provision.c:12"));
    log_write_from("main.c:1", l, LOG_INFO, "hello", NULL, NULL, 0);
    expect("no directory", &p, FROM("main.c:1"));
    log_write_from("app/main.c:1", l, LOG_INFO, "hello", NULL, NULL, 0);
    expect("no more than one", &p, FROM("app/main.c:1"));
#line 77 "x/obs/log_test.c"
    log_info(l, "hello");
    expect("of the macros", &p, FROM("obs/log_test.c:77"));
    sb_fini(&p.text);
}

static void floods_are_thinned(UNUSED void **state)
{
    struct pen p = {.now_ms = 1000000};
    AUTO(log) struct log *l = log_new(LOG_DEBUG, &(struct log_sink){&p, take}, now, &p);

    for (int i = 0; i < 350; i++)
        log_info(l, "the same");
    check_u64("a hundred, the 200th, the 300th", p.n_lines, 102);
    log_error(l, "the same", NULL);
    log_info(l, "another");
    check_u64("others are not touched", p.n_lines, 104);
    p.now_ms += 999;
    log_info(l, "the same");
    check_u64("within the second", p.n_lines, 104);
    p.now_ms += 1;
    log_info(l, "the same");
    check_u64("after it", p.n_lines, 105);
    sb_fini(&p.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(callers_are_named),
                                       cmocka_unit_test(floods_are_thinned)};

    return cmocka_run_group_tests_name("obs/log", tests, NULL, NULL);
}
