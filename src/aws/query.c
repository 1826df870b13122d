#include "aws/query.h"

#include <math.h>
#include <stdio.h>

#include "base/b64.h"
#include "model/duration.h"
#include "net/http.h"

void query_in(struct query *q, const char *name, uint32_t nth)
{
    char number[12] = "";

    if (nth)
        (void)snprintf(number, sizeof(number), "%u.", nth);
    int n = snprintf(q->prefix + q->n, sizeof(q->prefix) - q->n, "%s.%s", name, number);
    assert(n > 0 && (size_t)n < sizeof(q->prefix) - q->n && q->depth < QUERY_DEPTH);
    q->before[q->depth++] = q->n;
    q->n += (uint32_t)n;
}

void query_out(struct query *q)
{
    assert(q->depth);
    q->n = q->before[--q->depth];
}

static void begin(struct query *q, const char *name)
{
    if (q->out->n)
        sb_char(q->out, '&');
    sb_bytes(q->out, q->prefix, q->n);
    sb_c(q->out, name);
    sb_char(q->out, '=');
}

void query_str(struct query *q, const char *name, str v)
{
    begin(q, name);
    url_encode(q->out, v);
}

void query_some(struct query *q, const char *name, str v)
{
    if (v.n)
        query_str(q, name, v);
}

void query_only(struct query *q, const char *in, const char *name, str v)
{
    query_in(q, in, 0);
    query_some(q, name, v);
    query_out(q);
}

void query_c(struct query *q, const char *name, const char *v)
{
    query_str(q, name, str_c(v));
}

void query_i64(struct query *q, const char *name, int64_t v)
{
    begin(q, name);
    sb_i64(q->out, v);
}

void query_bool(struct query *q, const char *name, bool v)
{
    query_c(q, name, v ? "true" : "false");
}

void query_double(struct query *q, const char *name, double v)
{
    assert(isfinite(v));
    begin(q, name);
    sb_double(q->out, v);
}

void query_time(struct query *q, const char *name, int64_t ms)
{
    struct sb text = {0};

    time_print_rfc3339(&text, ms);
    query_str(q, name, sb_view(&text));
    sb_fini(&text);
}

void query_b64(struct query *q, const char *name, str bytes)
{
    struct sb text = {0};

    b64_encode(&text, bytes);
    query_str(q, name, sb_view(&text));
    sb_fini(&text);
}

void query_strs(struct query *q, const char *name, const str *v, uint32_t n)
{
    char nth[12];

    if (n == 0)
        return;
    query_in(q, name, 0);
    for (uint32_t i = 0; i < n; i++) {
        (void)snprintf(nth, sizeof(nth), "%u", i + 1);
        query_str(q, nth, v[i]);
    }
    query_out(q);
}
