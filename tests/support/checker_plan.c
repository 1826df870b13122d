/* Reads a plan as a stream: a plan for a million pods has gigabytes of instance type names, so it is taken apart one
 * claim at a time and only what is new in a claim is parsed (see claim_check). */
#include "checker_int.h"

#include <fcntl.h>
#include <unistd.h>

struct stream {
    int fd;
    char *buf;
    size_t n, at, cap; /* [at, n) is not consumed yet */
    bool eof;
};

/* More bytes; what was consumed makes room. False at the end. */
static bool refill(struct stream *s)
{
    if (s->eof)
        return false;
    if (s->at > 0 && s->at >= s->n / 2) {
        memmove(s->buf, s->buf + s->at, s->n - s->at);
        s->n -= s->at;
        s->at = 0;
    }
    if (s->cap - s->n < 1 << 16) {
        s->cap = s->cap ? 2 * s->cap : 1 << 20;
        s->buf = xrealloc(s->buf, s->cap);
    }
    ssize_t got = read(s->fd, s->buf + s->n, s->cap - s->n);
    if (got <= 0) {
        s->eof = true;
        return false;
    }
    s->n += (size_t)got;
    return true;
}

static int peek(struct stream *s)
{
    for (;;) {
        while (s->at < s->n) {
            char ch = s->buf[s->at];

            if (ch != ' ' && ch != '\n' && ch != '\t' && ch != '\r')
                return ch;
            s->at++;
        }
        if (!refill(s))
            return -1;
    }
}

static bool take(struct stream *s, char ch)
{
    if (peek(s) != ch)
        return false;
    s->at++;
    return true;
}

/* The end of the string that starts at p[from] == '"': the index behind its closing quote, or 0 when it is cut off. */
static size_t string_end(const char *p, size_t from, size_t n)
{
    for (size_t i = from + 1; i < n;) {
        const char *q = memchr(p + i, '"', n - i);
        size_t back = 0;

        if (!q)
            return 0;
        i = (size_t)(q - p);
        while (p[i - 1 - back] == '\\' && i - 1 - back > from)
            back++;
        if (back % 2 == 0)
            return i + 1;
        i++;
    }
    return 0;
}

/* Where the value at p[0] ends; 0 when p[0, n) holds only a part of it. */
static size_t value_end(const char *p, size_t n, bool last)
{
    size_t depth = 0, i = 0;

    while (i < n) {
        char ch = p[i];

        if (ch == '"') {
            size_t end = string_end(p, i, n);

            if (end == 0)
                return 0;
            i = end;
        } else if (ch == '{' || ch == '[') {
            depth++;
            i++;
        } else if (ch == '}' || ch == ']') {
            if (depth == 0)
                return i;
            depth--;
            i++;
        } else if (depth == 0 && (ch == ',' || ch == ' ' || ch == '\n')) {
            return i;
        } else {
            i++;
            continue;
        }
        if (depth == 0)
            return i;
    }
    return last ? n : 0;
}

static bool take_value(struct stream *s, str *ret)
{
    if (peek(s) < 0)
        return false;
    for (;;) {
        size_t end = value_end(s->buf + s->at, s->n - s->at, s->eof);

        if (end) {
            *ret = (str){s->buf + s->at, end};
            s->at += end;
            return true;
        }
        size_t had = s->n - s->at;
        while (!s->eof && s->n - s->at < 2 * had + 4096) /* at least double it: the scan starts over */
            (void)refill(s);
        if (s->eof && value_end(s->buf + s->at, s->n - s->at, true) == 0)
            return false;
    }
}

bool json_open(str *s, char bracket)
{
    *s = str_trim(*s);
    if (s->n < 2 || s->p[0] != bracket)
        return false;
    *s = str_sub(*s, 1, s->n - 1);
    return true;
}

bool json_element(str *s, str *ret_raw)
{
    *s = str_trim(*s);
    if (s->n && s->p[0] == ',')
        *s = str_trim(str_sub(*s, 1, s->n));
    if (s->n == 0)
        return false;
    size_t end = value_end(s->p, s->n, true);
    if (end == 0)
        return false;
    *ret_raw = str_sub(*s, 0, end);
    *s = str_sub(*s, end, s->n);
    return true;
}

bool json_member(str *s, str *ret_key, str *ret_raw)
{
    str key;

    if (!json_element(s, &key) || key.n < 2)
        return false;
    *s = str_trim(*s);
    if (s->n == 0 || s->p[0] != ':')
        return false;
    *s = str_sub(*s, 1, s->n);
    *ret_key = str_sub(key, 1, key.n - 1);
    return json_element(s, ret_raw);
}

str json_text(struct checker *c, str raw)
{
    if (raw.n < 2 || raw.p[0] != '"')
        return (str){0};
    str s = str_sub(raw, 1, raw.n - 1);
    if (!memchr(s.p, '\\', s.n))
        return s;
    char *to = arena_alloc(c->scratch, s.n + 1, 1); /* names have no escapes beyond a quoted character */
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        to[n++] = s.p[i] == '\\' && i + 1 < s.n ? s.p[++i] : s.p[i];
    return (str){to, n};
}

static void unschedulable_check(struct checker *c, str raw)
{
    str key, value;

    if (!json_open(&raw, '{'))
        return;
    while (json_member(&raw, &key, &value)) {
        if (!str_is(key, "pod"))
            continue;
        str id = json_text(c, value);
        uint32_t ix = pod_place(c, value, NONE, STR("unschedulable"));
        c->n_unschedulable++;
        if (ix != NONE && must_have_place(c, c->pods.v[ix].shape))
            checker_fail(c, "pod " STR_FMT " has no place, but a fresh node would hold it", STR_ARG(id));
    }
}

double json_number(str raw)
{
    char text[64];

    (void)snprintf(text, sizeof(text), STR_FMT, STR_ARG(str_sub(raw, 0, MIN(raw.n, sizeof(text) - 1))));
    return strtod(text, NULL);
}

static void count_check(struct checker *c, str key, str raw, uint64_t want)
{
    if (json_number(raw) != (double)want && !c->partial)
        checker_fail(c, "summary." STR_FMT " is " STR_FMT ", the plan has %llu", STR_ARG(key), STR_ARG(raw),
                     (unsigned long long)want);
}

static void summary_check(struct checker *c, str raw)
{
    str key, value;
    double slack = 1e-6 * (1 + c->cost);

    if (!json_open(&raw, '{'))
        return;
    while (json_member(&raw, &key, &value)) {
        if (str_is(key, "placedOnExisting"))
            count_check(c, key, value, c->n_existing);
        else if (str_is(key, "placedOnNew"))
            count_check(c, key, value, c->n_new);
        else if (str_is(key, "unschedulable"))
            count_check(c, key, value, c->n_unschedulable);
        else if (str_is(key, "newNodes"))
            count_check(c, key, value, c->hosts.n);
        else if (str_is(key, "pods"))
            count_check(c, key, value, c->n_new + c->n_existing + c->n_unschedulable);
        else if (str_is(key, "hourlyCost") && fabs(json_number(value) - c->cost) > slack)
            checker_fail(c, "summary.hourlyCost is " STR_FMT ", the prices add up to %.6f", STR_ARG(value), c->cost);
        else if (str_is(key, "lowerBound") && !str_is(value, "null") && json_number(value) > c->cost + slack)
            checker_fail(c, "summary.lowerBound " STR_FMT " is above the cost %.6f", STR_ARG(value), c->cost);
    }
}

static void everyone_seen(struct checker *c)
{
    for (uint32_t i = 0; i < c->pods.n; i++)
        if (c->pods.v[i].role == POD_PENDING && c->pods.v[i].seen == 0)
            checker_fail(c, "pod " STR_FMT " appears nowhere in the plan", STR_ARG(c->pods.v[i].id));
}

static bool take_list(struct checker *c, struct stream *s, void (*each)(struct checker *c, str raw))
{
    str raw;

    if (peek(s) == 'n') /* null */
        return take_value(s, &raw);
    if (!take(s, '['))
        return false;
    while (!take(s, ']')) {
        if (!take_value(s, &raw))
            return false;
        each(c, raw);
        arena_reset(c->scratch);
        (void)take(s, ',');
    }
    return true;
}

struct plan_part {
    const char *name;
    void (*each)(struct checker *c, str raw); /* element of a list */
    void (*whole)(struct checker *c, str raw);
};

static const struct plan_part placement[] = {
    {"newNodeClaims", claim_check, NULL},
    {"existingNodes", node_check, NULL},
    {"unschedulable", unschedulable_check, NULL},
    {"summary", NULL, summary_check},
    {0},
};

static const struct plan_part removal[] = {
    {"commands", command_check, NULL},
    {"candidates", candidate_check, NULL},
    {"summary", NULL, disruption_summary_check},
    {0},
};

static bool take_part(struct checker *c, struct stream *s, const struct plan_part *p)
{
    str raw;

    if (p->each)
        return take_list(c, s, p->each);
    if (!take_value(s, &raw))
        return false;
    if (p->whole)
        p->whole(c, raw);
    return true;
}

static bool take_plan(struct checker *c, struct stream *s)
{
    str raw, key;
    bool summary = false;

    if (!take(s, '{'))
        return false;
    while (!take(s, '}')) {
        const struct plan_part *p = c->disrupting ? removal : placement;

        if (!take_value(s, &raw) || raw.n < 2)
            return false;
        key = arena_strdup(c->a, str_sub(raw, 1, raw.n - 1));
        if (!take(s, ':'))
            return false;
        while (p->name && !str_is(key, p->name))
            p++;
        summary |= p->whole != NULL;
        if (!take_part(c, s, p))
            return false;
        (void)take(s, ',');
    }
    if (!summary)
        (void)fputs("note: the plan has no summary\n", stderr);
    if (!c->disrupting)
        everyone_seen(c);
    return true;
}

bool plan_read(struct checker *c, const char *path, struct err *e)
{
    struct stream s = {.fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO};

    if (s.fd < 0)
        return err_set(e, ERR_IO, "cannot open %s", path);
    bool ok = take_plan(c, &s);
    if (s.fd != STDIN_FILENO)
        (void)close(s.fd);
    free(s.buf);
    return ok ? true : err_set(e, ERR_INVALID, "%s is not a plan", path);
}
