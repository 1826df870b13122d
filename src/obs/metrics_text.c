/* The text format 0.0.4 of Prometheus, with numbers as Go prints them. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/utf8.h"
#include "obs/metrics_int.h"

static const char *const kind_names[] = {"counter", "gauge", "histogram", "summary"};
static const double quantiles[] = {0, 0.5, 0.9, 0.99, 1};

/* Go's shortest form: an exponent below 1e-4 and from 1e6 (strconv 'g') on. Fifteen digits always survive (but for the tiniest numbers), so
 * if they are enough the zeros at their end can go. */
static void put_number(struct sb *out, double v)
{
    char text[32], *e;
    int exponent;

    if (isnan(v) || isinf(v)) {
        sb_c(out, isnan(v) ? "NaN" : v > 0 ? "+Inf" : "-Inf");
        return;
    }
    if (v == floor(v) && fabs(v) < 1e6) {
        sb_i64(out, (int64_t)v);
        return;
    }
    for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof(text), "%.*e", digits - 1, v);
        if (strtod(text, NULL) == v)
            break;
    }
    e = strchr(text, 'e');
    exponent = (int)strtol(e + 1, NULL, 10);
    char *end = e;
    while (end[-1] == '0')
        end--;
    int n_digits = (int)(end - strchr(text, '.')); /* with the one before the point */
    if (exponent >= -4 && exponent < 6)
        sb_printf(out, "%.*f", MAX(0, n_digits - 1 - exponent), v);
    else
        sb_printf(out, "%.*s%s", (int)((end[-1] == '.' ? end - 1 : end) - text), text, e);
}

/* How many of the first bytes can stand as they are. */
static size_t plain(str s)
{
    size_t n = 0;

    while (n < s.n && (unsigned char)s.p[n] < 0x80 && s.p[n] != '\\' && s.p[n] != '\n' && s.p[n] != '"')
        n++;
    return n;
}

/* quote: it is to stand between quotes. */
static void put_escaped(struct sb *out, str s, bool quote)
{
    for (size_t n; n = plain(s), sb_bytes(out, s.p, n), s = str_sub(s, n, s.n), s.n > 0;) {
        uint32_t c;

        n = utf8_step(s, 0, &c);
        s = str_sub(s, n, s.n);
        if (c == '\\')
            sb_c(out, "\\\\");
        else if (c == '\n')
            sb_c(out, "\\n");
        else if (c == '"' && quote)
            sb_c(out, "\\\"");
        else
            utf8_put(out, c);
    }
}

static void put_label(struct sb *out, bool first, const char *name, str value)
{
    sb_char(out, first ? '{' : ',');
    sb_c(out, name);
    sb_c(out, "=\"");
    put_escaped(out, value, true);
    sb_char(out, '"');
}

/* {a="x",b="y"}, and one more label if it is given. */
static void put_labels(struct sb *out, const struct metric *f, str key, const char *more, double value)
{
    for (uint32_t i = 0; i < f->n_labels; i++) {
        str v;

        (void)str_cut(key, LABEL_END, &v, &key);
        put_label(out, i == 0, f->spec->labels[f->order[i]], v);
    }
    if (more) {
        sb_printf(out, "%c%s=\"", f->n_labels ? ',' : '{', more);
        put_number(out, value);
        sb_char(out, '"');
    }
    if (more || f->n_labels > 0)
        sb_char(out, '}');
}

static void put_line(struct sb *out, const char *name, const char *suffix, const struct metric *f, str key, double v)
{
    sb_c(out, name);
    sb_c(out, suffix);
    put_labels(out, f, key, NULL, 0);
    sb_char(out, ' ');
    put_number(out, v);
    sb_char(out, '\n');
}

static void put_counted(struct sb *out, const char *name, const struct metric *f, const struct series *s)
{
    put_line(out, name, "_sum", f, s->node.key, s->value);
    put_line(out, name, "_count", f, s->node.key, (double)s->n);
}

static void put_histogram(struct sb *out, const char *name, const struct metric *f, const struct series *s)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i <= f->spec->n_buckets; i++) {
        sum += s->buckets[i];
        sb_printf(out, "%s_bucket", name);
        put_labels(out, f, s->node.key, "le", i < f->spec->n_buckets ? f->spec->buckets[i] : (double)INFINITY);
        sb_char(out, ' ');
        put_number(out, (double)sum);
        sb_char(out, '\n');
    }
    put_counted(out, name, f, s);
}

static void put_summary(struct sb *out, const char *name, const struct metric *f, const struct series *s,
                        int64_t now_ms)
{
    for (size_t i = 0; i < ARRAY_LEN(quantiles); i++) {
        sb_c(out, name);
        put_labels(out, f, s->node.key, "quantile", quantiles[i]);
        sb_char(out, ' ');
        put_number(out, windows_quantile(s->windows, quantiles[i], now_ms));
        sb_char(out, '\n');
    }
    put_counted(out, name, f, s);
}

typedef struct series *series_ptr; /* SORT_DEFINE() takes a name */

static bool series_before(const series_ptr *a, const series_ptr *b, UNUSED const void *ctx)
{
    return str_cmp((*a)->node.key, (*b)->node.key) < 0;
}

SORT_DEFINE(sort_series, series_ptr, series_before)

static void put_head(struct sb *out, const struct metric_spec *s)
{
    sb_printf(out, "# HELP %s ", s->name);
    put_escaped(out, str_c(s->help), false);
    sb_printf(out, "\n# TYPE %s %s\n", s->name, kind_names[s->kind]);
}

static void put_series(struct sb *out, const char *name, const struct metric *f, const struct series *s, int64_t now_ms)
{
    switch (f->spec->kind) {
    case METRIC_COUNTER:
    case METRIC_GAUGE:
        put_line(out, name, "", f, s->node.key, s->value);
        break;
    case METRIC_HISTOGRAM:
        put_histogram(out, name, f, s);
        break;
    case METRIC_SUMMARY:
        put_summary(out, name, f, s, now_ms);
        break;
    }
}

static void put_sum(struct sb *out, const struct metric *alias, struct series *const *v, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += v[i]->value;
    put_line(out, alias->spec->name, "", alias, STR(""), sum);
}

/* What is kept of the family, and what is collected in one go. */
static void put_kept(struct sb *out, const struct metric *f, int64_t now_ms)
{
    const struct metric *from = f->of ? f->of : f;
    bool sum = f->of && (f->spec->kind == METRIC_COUNTER || f->spec->kind == METRIC_GAUGE);
    VEC(struct series *) all = {0};
    struct htab_walk w = {0};

    for (struct htab_node *n; (n = htab_next(&from->series, &w));)
        vec_push(&all, HTAB_THING(n, struct series, node));
    sort_series(all.v, all.n, NULL);
    if (sum)
        put_sum(out, f, all.v, all.n);
    else
        for (uint32_t i = 0; i < all.n; i++)
            put_series(out, f->spec->name, from, all.v[i], now_ms);
    if (f->collect)
        f->collect(f->ctx, f, out);
    vec_fini(&all);
}

/* false: the part is full, and the family goes on. A head is written once there is something below it. */
static bool put_family(struct sb *out, const struct metric *f, struct metrics_place *at, size_t full, int64_t now_ms)
{
    size_t before = out->n, head = before;

    if (!at->parted) {
        put_head(out, f->spec);
        head = out->n;
        put_kept(out, f, now_ms);
    }
    for (; f->collect_one && f->collect_one(f->ctx, f, at->thing, out); at->thing++)
        if (out->n >= full && out->n > head) {
            at->parted = true;
            at->thing++;
            return false;
        }
    if (out->n == head)
        out->n = before;
    return true;
}

static bool put_part(struct metrics *m, struct metrics_place *at, size_t full, int64_t now_ms, struct sb *out)
{
    for (; at->family < m->families.n && out->n < full; at->family++) {
        if (!put_family(out, m->families.v[at->family], at, full, now_ms))
            return true;
        at->thing = 0;
        at->parted = false;
    }
    return at->family < m->families.n;
}

bool metrics_text_part(struct metrics *m, struct metrics_place *at, int64_t now_ms, struct sb *out)
{
    return put_part(m, at, out->n + METRICS_PART, now_ms, out);
}

void metrics_text(struct metrics *m, int64_t now_ms, struct sb *out)
{
    struct metrics_place at = {0};

    (void)put_part(m, &at, SIZE_MAX, now_ms, out);
}

void metric_emit(struct sb *out, const struct metric *f, double v, const str *vals)
{
    sb_c(out, f->spec->name);
    for (uint32_t i = 0; i < f->n_labels; i++)
        put_label(out, i == 0, f->spec->labels[f->order[i]], vals[f->order[i]]);
    sb_c(out, f->n_labels ? "} " : " ");
    put_number(out, v);
    sb_char(out, '\n');
}
