#include "handler/webhook.h"

#include <strings.h>

#include "base/file.h"
#include "data/json.h"
#include "data/reader.h"

#define MAX_TEMPLATE (64u << 10)
#define MAX_ANSWER (64u << 10)
#define TIMEOUT_US (5 * INT64_C(1000000))

static const char *const field_names[WEBHOOK_FIELDS] = {
    [FIELD_ACCOUNT_ID] = "AccountId",
    [FIELD_AVAILABILITY_ZONE] = "AvailabilityZone",
    [FIELD_INSTANCE_ID] = "InstanceID",
    [FIELD_INSTANCE_TYPE] = "InstanceType",
    [FIELD_LOCAL_HOSTNAME] = "LocalHostname",
    [FIELD_LOCAL_IP] = "LocalIP",
    [FIELD_PUBLIC_HOSTNAME] = "PublicHostname",
    [FIELD_PUBLIC_IP] = "PublicIP",
    [FIELD_REGION] = "Region",
    [FIELD_EVENT_ID] = "EventID",
    [FIELD_KIND] = "Kind",
    [FIELD_MONITOR] = "Monitor",
    [FIELD_DESCRIPTION] = "Description",
    [FIELD_STATE] = "State",
    [FIELD_NODE_NAME] = "NodeName",
    [FIELD_START_TIME] = "StartTime",
    [FIELD_END_TIME] = "EndTime",
};

/* ---- templates ---- */

static size_t find(str s, size_t from, const char *two)
{
    for (size_t i = from; i + 1 < s.n; i++)
        if (s.p[i] == two[0] && s.p[i + 1] == two[1])
            return i;
    return s.n;
}

struct action {
    enum webhook_field field;
    bool trim_before, trim_after; /* {{- .X -}} */
};

static bool read_action(str s, struct action *ret)
{
    *ret = (struct action){0};
    if (s.n > 1 && s.p[0] == '-') {
        ret->trim_before = true;
        s = str_sub(s, 1, s.n);
    }
    if (s.n > 1 && s.p[s.n - 1] == '-') {
        ret->trim_after = true;
        s = str_sub(s, 0, s.n - 1);
    }
    s = str_trim(s);
    if (s.n < 2 || s.p[0] != '.')
        return false;
    s = str_sub(s, 1, s.n);
    for (int i = 0; i < WEBHOOK_FIELDS; i++)
        if (str_is(s, field_names[i])) {
            ret->field = (enum webhook_field)i;
            return true;
        }
    return false;
}

static void put_value(struct sb *b, bool json, str value)
{
    struct sb quoted = {0};

    if (!json) {
        sb_str(b, value);
        return;
    }
    struct jw w = {.out = &quoted};
    jw_str(&w, value);
    sb_bytes(b, quoted.p + 1, quoted.n - 2); /* without the quotation marks */
    sb_fini(&quoted);
}

static void trim_end(struct sb *b)
{
    while (b->n && strchr(" \t\r\n", b->p[b->n - 1]))
        b->n--;
}

/* Either checks a template, with e, or fills it in, with values. */
static bool walk(str t, struct sb *out, bool json, const str *values, struct err *e)
{
    for (size_t at = 0; at < t.n;) {
        size_t open = find(t, at, "{{"), close;
        struct action x;

        sb_bytes(out, t.p + at, open - at);
        if (open == t.n)
            break;
        close = find(t, open + 2, "}}");
        if (close == t.n || !read_action(str_sub(t, open + 2, close), &x))
            return err_set(e, ERR_INVALID, "webhook-template: only {{ .Field }} is understood, not what is at byte %zu",
                           open);
        if (x.trim_before)
            trim_end(out);
        if (values)
            put_value(out, json, values[x.field]);
        at = close + 2;
        while (x.trim_after && at < t.n && strchr(" \t\r\n", t.p[at]))
            at++;
    }
    return true;
}

str webhook_render(struct arena *a, const struct webhook *h, const str values[WEBHOOK_FIELDS])
{
    struct sb b = {0};
    struct err none;

    (void)walk(h->template, &b, h->json, values, &none); /* it was checked */
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static bool check_template(str t, struct err *e)
{
    struct sb b = {0};
    bool ok = walk(t, &b, false, NULL, e);

    sb_fini(&b);
    return ok;
}

/* ---- headers ---- */

static bool is_clean(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return false;
    return true;
}

static bool read_headers(struct webhook *h, struct arena *a, str text, struct err *e)
{
    const struct tree *t;
    struct err bad;

    /* Not what the reader says of it: that could quote a secret. */
    if (text.n > MAX_TEMPLATE || !tree_parse_json(a, "webhook-headers", text, &t, &bad) || t->kind != TREE_MAP)
        return err_set(e, ERR_INVALID, "webhook-headers must be a JSON object of strings");
    if (t->n > WEBHOOK_MAX_HEADERS)
        return err_set(e, ERR_INVALID, "webhook-headers has more than %u headers", WEBHOOK_MAX_HEADERS);
    for (uint32_t i = 0; i < t->n; i++) {
        str name = t->keys[i], value = tree_str(&t->items[i]);

        if (t->items[i].kind != TREE_STRING || name.n == 0 || !is_clean(name) || !is_clean(value))
            return err_set(e, ERR_INVALID, "webhook-headers must be a JSON object of strings");
        if (name.n == 12 && strncasecmp(name.p, "Content-Type", 12) == 0)
            h->json = str_contains(value, STR("json"));
        h->headers[h->n_headers++] = (struct http_header){name, value};
    }
    return true;
}

bool webhook_init(struct webhook *h, struct arena *a, const struct handler_settings *s, struct err *e)
{
    *h = (struct webhook){.url = str_c(s->webhook_url), .template = str_c(s->webhook_template)};
    if (h->url.n == 0)
        return true;
    if (s->webhook_proxy[0])
        h->trust.proxy = s->webhook_proxy;
    if (s->webhook_template_file[0] && !file_read(a, s->webhook_template_file, MAX_TEMPLATE, &h->template, e))
        return err_wrap(e, "webhook-template-file");
    return check_template(h->template, e) && read_headers(h, a, str_c(s->webhook_headers), e);
}

bool webhook_post(const struct webhook *h, struct world *w, const str values[WEBHOOK_FIELDS], struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct http_request r = {.method = "POST",
                             .url = h->url,
                             .headers = h->headers,
                             .n_headers = h->n_headers,
                             .body = webhook_render(a, h, values),
                             .timeout_us = TIMEOUT_US,
                             .max_body = MAX_ANSWER,
                             .trust = &h->trust};
    struct http_response got;
    struct err why;

    if (!http_fetch(w, &r, a, &got, &why)) /* its words could name the URL */
        return err_set(e, why.kind, "webhook: %s",
                       why.kind == ERR_TIMEOUT   ? "no answer within 5 s"
                       : why.kind == ERR_INVALID ? "the request or its answer is not as it should be"
                                                 : "it cannot be reached");
    if (got.status < 200 || got.status > 299)
        return err_set(e, ERR_IO, "webhook: answered with status %d", got.status);
    return true;
}
