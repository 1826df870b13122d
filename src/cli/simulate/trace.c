/* Reads traces. Every mistake is a sentence with file, line and column. */
#include "cli/simulate/trace.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/vec.h"
#include "cli/input.h"
#include "cli/simulate/room.h"
#include "data/edit.h"
#include "data/reader.h"
#include "data/source.h"
#include "model/duration.h"

#define DAY_US (24 * INT64_C(3600) * 1000000)
#define EVERY_US (15 * INT64_C(60) * 1000000)
#define MAX_BYTES (16u << 20)

struct reading {
    struct trace *t;
    struct arena *a;
    const char *file, *dir;
    struct err *e;
};

PRINTF(3, 4) static bool wrong(const struct reading *r, const struct tree *at, const char *fmt, ...)
{
    char text[300];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return err_set(r->e, ERR_INVALID, "%s:%u:%u: %s", r->file, at->line, at->col, text);
}

/* ---- values ---- */

static bool read_text(const struct reading *r, const struct tree *t, const char *what, str *ret)
{
    *ret = tree_scalar(t);
    return ret->n || wrong(r, t, "%s is empty or not a text", what);
}

/* "08:00" */
static bool read_clock(str s, int64_t *ret_us)
{
    if (s.n != 5 || s.p[2] != ':')
        return false;
    for (size_t i = 0; i < 5; i++)
        if (i != 2 && (s.p[i] < '0' || s.p[i] > '9'))
            return false;
    int64_t h = (s.p[0] - '0') * 10 + s.p[1] - '0', m = (s.p[3] - '0') * 10 + s.p[4] - '0';
    *ret_us = (h * 60 + m) * 60 * 1000000;
    return h < 24 && m < 60;
}

static bool read_when(const struct reading *r, const struct tree *t, struct trace_when *ret)
{
    struct err e = {0};
    str s;

    if (!read_text(r, t, "at", &s))
        return false;
    *ret = (struct trace_when){0};
    if (read_clock(s, &ret->us)) {
        ret->how = TRACE_DAILY;
        return true;
    }
    if (s.p[0] == '@' || str_contains(s, STR(" "))) {
        ret->how = TRACE_CRON;
        return cron_parse(s, &ret->cron, &e) || wrong(r, t, "at: \"" STR_FMT "\": %s", STR_ARG(s), e.msg);
    }
    return trace_duration(s, &ret->us) ||
           wrong(r, t,
                 "at: \"" STR_FMT
                 "\" is neither a time since the beginning (2h30m, 3d), nor one of the day (08:00), nor "
                 "five fields of cron",
                 STR_ARG(s));
}

static bool read_duration(const struct reading *r, const struct tree *t, const char *what, int64_t *ret)
{
    str s;

    return read_text(r, t, what, &s) &&
           (trace_duration(s, ret) ||
            wrong(r, t, "%s: \"" STR_FMT "\" is not a duration such as 30m, 2h30m or 3d", what, STR_ARG(s)));
}

typedef bool (*value_fn)(str s, int64_t *ret);

static bool to_count(str s, int64_t *ret)
{
    return str_to_i64(s, ret) && *ret >= 0 && *ret <= TRACE_REPLICAS_MAX;
}

/* "5", "5..10" */
static bool read_range(const struct reading *r, const struct tree *t, const char *what, value_fn one,
                       struct trace_range *ret)
{
    str s;
    size_t at = 0;

    if (!read_text(r, t, what, &s))
        return false;
    while (at + 1 < s.n && !(s.p[at] == '.' && s.p[at + 1] == '.'))
        at++;
    bool two = at + 1 < s.n;
    if (!one(two ? str_sub(s, 0, at) : s, &ret->from) || !one(two ? str_sub(s, at + 2, s.n) : s, &ret->to) ||
        ret->to < ret->from)
        return wrong(r, t, "%s: \"" STR_FMT "\" is neither one value nor two as in %s", what, STR_ARG(s),
                     one == to_count ? "5..10 (each from 0 to 1000000)" : "20m..40m");
    return true;
}

static bool read_count(const struct reading *r, const struct tree *t, const char *what, int64_t *ret)
{
    return to_count(tree_scalar(t), ret) || wrong(r, t, "%s is not a number from 0 to %d", what, TRACE_REPLICAS_MAX);
}

/* "10%", 0.1 */
static bool read_share(const struct reading *r, const struct tree *t, const char *what, double most, double *ret)
{
    str s = tree_scalar(t);
    bool percent = str_ends(s, STR("%"));

    if (!str_to_double(percent ? str_sub(s, 0, s.n - 1) : s, ret))
        return wrong(r, t, "%s is not a share such as 10%%", what);
    if (percent)
        *ret /= 100;
    return (*ret >= 0 && *ret <= most) || wrong(r, t, "%s is not between 0%% and %.0f%%", what, most * 100);
}

/* "deployment/web", "deployment/shop/web" */
static bool read_ref(const struct reading *r, const struct tree *t, const char *what, struct trace_ref *ret)
{
    str s, rest, tail;

    if (!read_text(r, t, what, &s))
        return false;
    if (!str_cut(s, '/', &ret->kind, &rest) || ret->kind.n == 0 || rest.n == 0)
        return wrong(r, t, "%s: \"" STR_FMT "\" is neither KIND/NAME nor KIND/NAMESPACE/NAME", what, STR_ARG(s));
    if (str_cut(rest, '/', &ret->ns, &tail)) {
        ret->name = tail;
    } else {
        ret->name = rest;
        ret->ns = (str){0};
    }
    return (ret->name.n && !str_contains(ret->name, STR("/"))) ||
           wrong(r, t, "%s: \"" STR_FMT "\" is neither KIND/NAME nor KIND/NAMESPACE/NAME", what, STR_ARG(s));
}

static bool read_quantity(const struct reading *r, const struct tree *t, const char *what, str *ret)
{
    *ret = tree_scalar(t);
    return room_is_quantity(*ret) || wrong(r, t, "%s: \"" STR_FMT "\" is not a quantity", what, STR_ARG(*ret));
}

/* ---- events ---- */

static bool read_scale(struct reading *r, const struct tree *t, const struct tree *v, struct trace_event *ret)
{
    const struct tree *n = tree_get(t, "replicas");

    if (!read_ref(r, v, "scale", &ret->target))
        return false;
    if (!n)
        return wrong(r, t, "scale needs replicas");
    return read_range(r, n, "replicas", to_count, &ret->replicas);
}

static bool read_curve(struct reading *r, const struct tree *t, const struct tree *v, struct trace_event *ret)
{
    struct trace_curve *c = &ret->curve;
    const struct tree *min = tree_get(t, "min"), *max = tree_get(t, "max"), *peak = tree_get(t, "peak"),
                      *jitter = tree_get(t, "jitter"), *weekend = tree_get(t, "weekend"), *every = tree_get(t, "every");

    *c = (struct trace_curve){.peak_us = 14 * DAY_US / 24, .weekend = 1, .every_us = EVERY_US};
    if (!read_ref(r, v, "curve", &ret->target))
        return false;
    if (!min || !max)
        return wrong(r, t, "curve needs min and max");
    if (ret->when.how != TRACE_ONCE)
        return wrong(r, t, "curve goes on from its `at`, which is a time since the beginning: 0, 2h30m, 3d");
    if (!read_count(r, min, "min", &c->min) || !read_count(r, max, "max", &c->max))
        return false;
    if (c->max < c->min)
        return wrong(r, max, "max is less than min");
    if (peak && !read_clock(tree_scalar(peak), &c->peak_us))
        return wrong(r, peak, "peak: \"" STR_FMT "\" is not a time of the day such as \"14:00\"",
                     STR_ARG(tree_scalar(peak)));
    if ((jitter && !read_share(r, jitter, "jitter", 1, &c->jitter)) ||
        (weekend && !read_share(r, weekend, "weekend", 10, &c->weekend)) ||
        (every && !read_duration(r, every, "every", &c->every_us)))
        return false;
    return c->every_us >= 1000000 || wrong(r, every, "every is less than a second");
}

static bool read_job(struct reading *r, const struct tree *t, const struct tree *v, struct trace_event *ret)
{
    struct trace_job *j = &ret->job;
    const struct tree *pods = tree_get(t, "pods"), *run = tree_get(t, "for"), *cpu = tree_get(t, "cpu"),
                      *memory = tree_get(t, "memory"), *ns = tree_get(t, "namespace");

    *j = (struct trace_job){.pods = {1, 1}, .ns = STR("default"), .template = tree_get(t, "template")};
    if (!read_text(r, v, "run", &j->name))
        return false;
    if (!run)
        return wrong(r, t, "run needs `for`: how long its pods run, as in 30m or 20m..40m");
    if (j->template && (cpu || memory))
        return wrong(r, t, "cpu and memory of a job with a template belong into the template");
    return read_range(r, run, "for", trace_duration, &j->run_us) &&
           (!pods || read_range(r, pods, "pods", to_count, &j->pods)) &&
           (!cpu || read_quantity(r, cpu, "cpu", &j->cpu)) &&
           (!memory || read_quantity(r, memory, "memory", &j->memory)) &&
           (!ns || read_text(r, ns, "namespace", &j->ns));
}

struct taking {
    struct reading *r;
    VEC(const struct tree *) v;
};

static bool take(void *ctx, const char *file, const struct tree *t, struct err *e)
{
    struct taking *k = ctx;
    struct tree *copy = tree_copy(k->r->a, t);

    if (tree_str(tree_get(t, "kind")).n == 0 || tree_str(tree_get(t, "apiVersion")).n == 0)
        return err_set(e, ERR_INVALID, "%s:%u: this is no Kubernetes object: it has no kind or no apiVersion", file,
                       t->line);
    if (k->v.n == TRACE_MANIFESTS_MAX)
        return err_set(e, ERR_INVALID, "%s:%u: more than %d objects for one event", file, t->line, TRACE_MANIFESTS_MAX);
    copy->line = t->line;
    vec_push(&k->v, copy);
    return true;
}

static bool read_apply(struct reading *r, const struct tree *t UNUSED, const struct tree *v, struct trace_event *ret)
{
    struct taking k = {.r = r};
    char path[PATH_MAX];
    bool ok = true;

    if (v->kind == TREE_MAP) {
        ok = take(&k, r->file, v, r->e);
    } else if (v->kind == TREE_LIST) {
        for (uint32_t i = 0; i < v->n && ok; i++)
            ok = v->items[i].kind == TREE_MAP ? take(&k, r->file, &v->items[i], r->e)
                                              : wrong(r, &v->items[i], "apply: this is no object");
    } else {
        str name = tree_str(v);

        if (name.n == 0 || !r->dir)
            return wrong(r, v, "apply needs an object, a list of objects or a file");
        int n = snprintf(path, sizeof(path), "%s%s" STR_FMT, name.p[0] == '/' ? "" : r->dir,
                         name.p[0] == '/' ? "" : "/", STR_ARG(name));
        ok = (n > 0 && (size_t)n < sizeof(path) && input_each(path, &(struct input_taker){take, &k}, r->e)) ||
             err_wrap(r->e, "%s:%u:%u: apply", r->file, v->line, v->col);
    }
    ret->manifests = vec_to_arena(&k.v, r->a);
    ret->n_manifests = k.v.n;
    vec_fini(&k.v);
    return ok;
}

static bool read_delete(struct reading *r, const struct tree *t UNUSED, const struct tree *v, struct trace_event *ret)
{
    return read_ref(r, v, "delete", &ret->target);
}

static const struct {
    const char *name;
    bool (*read)(struct reading *r, const struct tree *t, const struct tree *v, struct trace_event *ret);
    const char *keys[10]; /* besides at, until and its own */
} whats[TRACE_WHATS] = {
    [TRACE_SCALE] = {"scale", read_scale, {"replicas"}},
    [TRACE_CURVE] = {"curve", read_curve, {"min", "max", "peak", "jitter", "weekend", "every"}},
    [TRACE_RUN] = {"run", read_job, {"pods", "for", "cpu", "memory", "namespace", "template"}},
    [TRACE_APPLY] = {"apply", read_apply, {0}},
    [TRACE_DELETE] = {"delete", read_delete, {0}},
};

static bool knows_key(enum trace_what w, str key)
{
    if (str_is(key, "at") || str_is(key, "until") || str_is(key, whats[w].name))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(whats[w].keys) && whats[w].keys[i]; i++)
        if (str_is(key, whats[w].keys[i]))
            return true;
    return false;
}

static bool which(const struct reading *r, const struct tree *t, enum trace_what *ret)
{
    uint32_t n = 0;

    for (unsigned w = 0; w < TRACE_WHATS; w++)
        if (tree_get(t, whats[w].name)) {
            *ret = (enum trace_what)w;
            n++;
        }
    if (n != 1)
        return wrong(r, t, "an event has exactly one of scale, curve, run, apply and delete; this one has %s",
                     n ? "several" : "none");
    for (uint32_t i = 0; i < t->n; i++)
        if (!knows_key(*ret, t->keys[i]))
            return wrong(r, &t->items[i], "\"" STR_FMT "\" is nothing that %s knows", STR_ARG(t->keys[i]),
                         whats[*ret].name);
    return true;
}

static bool read_event(struct reading *r, const struct tree *t, struct trace_event *ret)
{
    const struct tree *at = tree_get(t, "at"), *until = tree_get(t, "until");

    *ret = (struct trace_event){.line = t->line, .until_us = INT64_MAX};
    if (t->kind != TREE_MAP)
        return wrong(r, t, "an event is a map, and this is %s", tree_kind_name(t->kind));
    if (!which(r, t, &ret->what))
        return false;
    if (!at && ret->what != TRACE_CURVE)
        return wrong(r, t, "%s needs `at`: when it happens", whats[ret->what].name);
    if ((at && !read_when(r, at, &ret->when)) || (until && !read_duration(r, until, "until", &ret->until_us)))
        return false;
    return whats[ret->what].read(r, t, tree_get(t, whats[ret->what].name), ret);
}

static bool read_top(struct reading *r, const struct tree *t)
{
    const struct tree *events = tree_get(t, "events"), *start = tree_get(t, "start");
    struct err e = {0};

    if (t->kind != TREE_MAP)
        return wrong(r, t, "a trace is a map with the key events, and this is %s", tree_kind_name(t->kind));
    for (uint32_t i = 0; i < t->n; i++)
        if (!str_is(t->keys[i], "events") && !str_is(t->keys[i], "start"))
            return wrong(r, &t->items[i], "\"" STR_FMT "\" is nothing that a trace has: it has start and events",
                         STR_ARG(t->keys[i]));
    if (start && !time_parse_rfc3339(tree_scalar(start), &r->t->start_ms, &e))
        return wrong(r, start, "start: %s", e.msg);
    if (start && (r->t->start_ms < 0 || r->t->start_ms > INT64_C(4102444800000)))
        return wrong(r, start, "start is not between 1970 and 2100");
    if (!events || events->kind != TREE_LIST)
        return wrong(r, events ? events : t, "a trace has a list of events");
    if (events->n > TRACE_EVENTS_MAX)
        return wrong(r, events, "more than %d events", TRACE_EVENTS_MAX);
    struct trace_event *v = arena_new_array(r->a, struct trace_event, events->n);
    for (uint32_t i = 0; i < events->n; i++)
        if (!read_event(r, &events->items[i], &v[i]))
            return false;
    r->t->events = v;
    r->t->n = events->n;
    return true;
}

bool trace_read(struct trace *t, struct arena *a, const char *name, str bytes, const char *dir, struct err *e)
{
    struct reading r = {.t = t, .a = a, .file = name, .dir = dir, .e = e};
    const struct tree *top;

    *t = (struct trace){.file = name, .start_ms = TRACE_START_MS};
    return tree_parse_yaml(a, name, bytes, &top, e) && read_top(&r, top);
}

static const char *dir_of(struct arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? arena_printf(a, "%.*s%c", (int)MAX(slash - path, 1), path, 0).p : ".";
}

bool trace_load(struct trace *t, struct arena *a, const char *path, struct err *e)
{
    struct source s;
    struct sb b = {0};

    if (!source_open(&s, path, e))
        return false;
    bool ok = true;
    while (ok && !s.ended) {
        ok = source_more(&s, e);
        sb_bytes(&b, s.buf + s.lo, source_held(&s));
        s.lo = s.hi;
        if (b.n > MAX_BYTES)
            ok = err_set(e, ERR_INVALID, "%s: a trace has at most %u MiB", path, MAX_BYTES >> 20);
    }
    source_fini(&s);
    ok = ok && trace_read(t, a, path, sb_dup(&b, a), dir_of(a, path), e);
    sb_fini(&b);
    return ok;
}
