/* The registry and its series. A family has one hash of series; the key of a series is the text of its values, so that a lookup allocates nothing and the order of
 * series is the order of keys.
 */
#include "obs/metrics.h"

#include <stdlib.h>

#include "base/arena.h"
#include "obs/metrics_int.h"

#define KEY_MAX 4096u /* values are cut so that a key is no longer */

struct metrics *metrics_new(void)
{
    return xcalloc(1, sizeof(struct metrics));
}

static void series_free(struct series *s)
{
    windows_free(s->windows);
    free(s);
}

static void metric_free(struct metric *f)
{
    struct htab_walk w = {0};

    for (struct htab_node *n; (n = htab_next(&f->series, &w));)
        series_free(HTAB_THING(n, struct series, node));
    htab_fini(&f->series);
    free(f);
}

void metrics_free(struct metrics *m)
{
    if (!m)
        return;
    for (uint32_t i = 0; i < m->families.n; i++)
        metric_free(m->families.v[i]);
    vec_fini(&m->families);
    free(m);
}

/* Insertion by name: families are few and made once. */
static void order_labels(struct metric *f)
{
    const char *const *labels = f->spec->labels;

    for (uint32_t n = 0; labels && labels[n]; n++) {
        uint32_t at = n;

        assert(n < METRIC_LABELS);
        for (; at > 0 && strcmp(labels[f->order[at - 1]], labels[n]) > 0; at--)
            f->order[at] = f->order[at - 1];
        f->order[at] = (uint8_t)n;
        f->n_labels = n + 1;
    }
}

static struct metric *add(struct metrics *m, const struct metric_spec *s)
{
    struct metric *f = xcalloc(1, sizeof(*f));
    uint32_t at = m->families.n;

    f->spec = s;
    order_labels(f);
    vec_push(&m->families, f);
    for (; at > 0 && strcmp(m->families.v[at - 1]->spec->name, s->name) >= 0; at--) {
        assert(strcmp(m->families.v[at - 1]->spec->name, s->name) != 0);
        m->families.v[at] = m->families.v[at - 1];
    }
    m->families.v[at] = f;
    return f;
}

struct metric *metrics_add(struct metrics *m, const struct metric_spec *s)
{
    return add(m, s);
}

void metrics_alias(struct metrics *m, const struct metric_spec *alias, const struct metric *of)
{
    bool plain = of->spec->kind == METRIC_COUNTER || of->spec->kind == METRIC_GAUGE;

    assert(alias->kind == of->spec->kind && !alias->labels && (plain || of->n_labels == 0));
    add(m, alias)->of = of;
}

void metrics_collector(struct metric *const *families, uint32_t n, metric_collect_fn fn, void *ctx)
{
    for (uint32_t i = 0; i < n; i++) {
        assert(!families[i]->collect && !families[i]->collect_one);
        families[i]->collect = fn;
        families[i]->ctx = ctx;
    }
}

void metrics_collector_by_one(struct metric *const *families, uint32_t n, metric_collect_one_fn fn, void *ctx)
{
    for (uint32_t i = 0; i < n; i++) {
        assert(!families[i]->collect && !families[i]->collect_one);
        families[i]->collect_one = fn;
        families[i]->ctx = ctx;
    }
}

void metrics_each(const struct metrics *m, metric_visit_fn fn, void *ctx)
{
    for (uint32_t i = 0; i < m->families.n; i++) {
        const struct metric *f = m->families.v[i];

        fn(ctx, f->spec, f->of ? f->of->spec : NULL);
    }
}

/* ---- series ---- */

/* The key of these values, in `buf`. */
static str make_key(const struct metric *f, const str *vals, char buf[KEY_MAX])
{
    size_t n = 0, left = f->n_labels;

    for (uint32_t i = 0; i < f->n_labels; i++, left--) {
        str v = vals[f->order[i]];
        size_t room = KEY_MAX - n - left; /* the ends of this one and of those to come */

        v.n = MIN(v.n, room);
        for (size_t k = 0; k < v.n; k++)
            buf[n++] = (unsigned char)v.p[k] <= LABEL_END ? '?' : v.p[k];
        buf[n++] = LABEL_END;
    }
    return (str){buf, n};
}

static struct series *find(const struct metric *f, const str *vals)
{
    char buf[KEY_MAX];

    return HTAB_THING(htab_get(&f->series, make_key(f, vals, buf)), struct series, node);
}

static struct series *find_or_make(struct metric *f, const str *vals)
{
    char buf[KEY_MAX];
    str key = make_key(f, vals, buf);
    struct series *s = HTAB_THING(htab_get(&f->series, key), struct series, node);
    size_t counts = f->spec->kind == METRIC_HISTOGRAM ? (f->spec->n_buckets + 1) * sizeof(s->buckets[0]) : 0;

    if (s)
        return s;
    s = xcalloc(1, sizeof(*s) + counts + key.n);
    memcpy((char *)s + sizeof(*s) + counts, key.p, key.n);
    s->node.key = (str){(char *)s + sizeof(*s) + counts, key.n};
    htab_put(&f->series, &s->node);
    return s;
}

void metric_inc(struct metric *f, double by, const str *vals)
{
    assert(f->spec->kind == METRIC_GAUGE || (f->spec->kind == METRIC_COUNTER && by >= 0));
    find_or_make(f, vals)->value += by;
}

void metric_set(struct metric *f, double v, const str *vals)
{
    assert(f->spec->kind == METRIC_GAUGE);
    find_or_make(f, vals)->value = v;
}

/* The first bucket whose bound is not below v. */
static uint32_t bucket_of(const struct metric_spec *s, double v)
{
    uint32_t lo = 0, hi = s->n_buckets;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (s->buckets[mid] >= v)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

struct series *metric_series(struct metric *f, const str *vals)
{
    return find_or_make(f, vals);
}

void series_inc(struct series *s, double by)
{
    s->value += by;
}

void metric_observe(struct metric *f, double v, const str *vals, int64_t now_ms)
{
    series_observe(f, find_or_make(f, vals), v, now_ms);
}

void series_observe(struct metric *f, struct series *s, double v, int64_t now_ms)
{
    assert(f->spec->kind == METRIC_HISTOGRAM || f->spec->kind == METRIC_SUMMARY);
    s->value += v;
    s->n++;
    if (f->spec->kind == METRIC_HISTOGRAM) {
        s->buckets[bucket_of(f->spec, v)]++;
        return;
    }
    if (!s->windows)
        s->windows = windows_new();
    windows_add(s->windows, v, now_ms);
}

static void drop(struct metric *f, struct series *s)
{
    htab_del(&f->series, &s->node);
    series_free(s);
}

void metric_drop(struct metric *f, const str *vals)
{
    struct series *s = find(f, vals);

    if (s)
        drop(f, s);
}

void metric_drop_where(struct metric *f, uint32_t at, str val)
{
    struct htab_walk w = {0};
    uint32_t rank = 0;

    assert(at < f->n_labels);
    while (f->order[rank] != at)
        rank++;
    for (struct htab_node *n = htab_next(&f->series, &w), *next; n; n = next) {
        str rest = n->key, v = {0};

        next = htab_next(&f->series, &w);
        for (uint32_t i = 0; i <= rank; i++)
            (void)str_cut(rest, LABEL_END, &v, &rest);
        if (str_eq(v, val))
            drop(f, HTAB_THING(n, struct series, node));
    }
}

double metric_value(const struct metric *f, const str *vals)
{
    const struct series *s = find(f, vals);
    bool plain = f->spec->kind == METRIC_COUNTER || f->spec->kind == METRIC_GAUGE;

    if (!s)
        return 0;
    return plain ? s->value : (double)s->n;
}

uint32_t metric_count(const struct metric *f)
{
    return f->series.n;
}
