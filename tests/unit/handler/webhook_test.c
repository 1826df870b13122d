/* What is posted, and which templates and headers are refused. */
#include "handler/webhook.h"

#include "support/check.h"

#define JSON "{\"Content-type\":\"application/json\"}"

static bool init(struct webhook *h, struct arena *a, const char *template, const char *headers, struct err *e)
{
    struct handler_settings s = {.webhook_url = "https://x",
                                 .webhook_proxy = "",
                                 .webhook_headers = headers,
                                 .webhook_template = template,
                                 .webhook_template_file = ""};

    return webhook_init(h, a, &s, e);
}

static void templates(void **state UNUSED)
{
    static const struct {
        const char *name, *template, *headers, *want; /* NULL: refused */
    } rows[] = {
        {"no fields", "{\"a\":1}", JSON, "{\"a\":1}"},
        {"a field", "{\"a\":\"{{ .EventID }}\"}", JSON, "{\"a\":\"e-1\"}"},
        {"close", "{{.EventID}}{{.Kind}}", JSON, "e-1SPOT_ITN"},
        {"trimmed", "a \n{{- .EventID -}}\t b", JSON, "ae-1b"},
        {"fits into JSON", "\"{{ .Description }}\"", JSON, "\"a \\\"b\\\" \\\\\""},
        {"not JSON", "{{ .Description }}", "{\"content-type\":\"text/plain\"}", "a \"b\" \\"},
        {"no such field", "{{ .Secret }}", JSON, NULL},
        {"a function", "{{ .EventID | upper }}", JSON, NULL},
        {"a condition", "{{ if .EventID }}x{{ end }}", JSON, NULL},
        {"not closed", "{{ .EventID", JSON, NULL},
        {"empty", "{{}}", JSON, NULL},
        {"headers are no JSON", "x", "Content-type: x", NULL},
        {"headers are a list", "x", "[]", NULL},
        {"a header is a number", "x", "{\"a\":1}", NULL},
        {"a header with a line feed", "x", "{\"a\":\"b\\nc: d\"}", NULL},
    };
    AUTO(arena) struct arena *a = arena_new(0);
    str values[WEBHOOK_FIELDS] = {
        [FIELD_EVENT_ID] = STR("e-1"), [FIELD_KIND] = STR("SPOT_ITN"), [FIELD_DESCRIPTION] = STR("a \"b\" \\")};
    struct webhook h;
    struct err e;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool ok = init(&h, a, rows[i].template, rows[i].headers, &e);

        check_true(rows[i].name, ok == (rows[i].want != NULL));
        if (ok)
            check_str(rows[i].name, webhook_render(a, &h, values), rows[i].want);
        else
            check_true(rows[i].name, str_starts(str_c(e.msg), STR("webhook-")));
    }
}

static void no_url(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct handler_settings s = {.webhook_url = "", .webhook_template = "{{ nonsense", .webhook_headers = "x"};
    struct webhook h;
    struct err e;

    check_true("nothing is looked at", webhook_init(&h, a, &s, &e) && h.url.n == 0);
}

static void secrets_are_not_quoted(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct webhook h;
    struct err e;

    check_true("refused", !init(&h, a, "x", "{\"Authorization\": hush}", &e));
    check_true("without its words", !strstr(e.msg, "hush"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates),
        cmocka_unit_test(no_url),
        cmocka_unit_test(secrets_are_not_quoted),
    };

    return cmocka_run_group_tests_name("handler/webhook", tests, NULL, NULL);
}
