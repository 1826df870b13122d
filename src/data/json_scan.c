/* One pass over the bytes, one table look-up per byte outside strings, eight bytes at a time inside them. */
#include "data/json_scan.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "data/reader.h"

enum byte_class { BARE, SPACE, NEWLINE, QUOTE, OPEN, CLOSE, COMMA, COLON, WORD };

/* WORD: true, false and null each have exactly one of these letters, the first. */
static const unsigned char class_of[256] = {
    [' '] = SPACE, ['\t'] = SPACE, ['\r'] = SPACE, ['\n'] = NEWLINE, ['"'] = QUOTE, ['{'] = OPEN, ['['] = OPEN,
    ['}'] = CLOSE, [']'] = CLOSE,  [','] = COMMA,  [':'] = COLON,    ['t'] = WORD,  ['f'] = WORD, ['n'] = WORD,
};

#define EVERY_BYTE(b) (UINT64_C(0x0101010101010101) * (b))

void json_scan_fini(struct json_scan *s)
{
    vec_fini(&s->newlines);
    vec_fini(&s->marks);
}

static uint64_t column_of(const struct json_scan *s, size_t at, uint64_t *ret_line)
{
    uint32_t n = s->newlines.n;

    while (n && s->newlines.v[n - 1] >= at)
        n--;
    *ret_line = s->line + n;
    return n ? at - s->newlines.v[n - 1] : s->col + at;
}

void json_scan_start(struct json_scan *s, bool keep)
{
    s->col = column_of(s, s->at, &s->line);
    s->src->lo += s->at;
    s->at = 0;
    s->n_values = 0;
    s->keep = keep;
    s->newlines.n = s->marks.n = 0;
}

struct json_slice json_scan_slice(struct json_scan *s)
{
    return (struct json_slice){.src = s->src,
                               .p = s->src->buf + s->src->lo,
                               .n = s->at,
                               .line = s->line,
                               .col = s->col,
                               .newlines = s->newlines.v,
                               .n_newlines = s->newlines.n,
                               .marks = s->marks.v,
                               .n_marks = s->marks.n};
}

bool json_scan_error(struct json_scan *s, size_t at, struct err *e, const char *fmt, ...)
{
    uint64_t line, col = column_of(s, at, &line);
    char what[sizeof(e->msg)];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return source_error(s->src, line, col, e, "%s", what);
}

bool json_scan_truncated(struct json_scan *s, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree t;

    if (!s->keep || s->at == 0)
        return json_scan_error(s, s->at, e, "the input ends in the middle of a value");
    struct json_slice slice = json_scan_slice(s);
    if (json_tree(&slice, a, &t, e))
        return json_scan_error(s, s->at, e, "the input ends in the middle of a value");
    return false;
}

static bool scan_more(struct json_scan *s, struct err *e)
{
    if (!s->keep)
        json_scan_start(s, false);
    if (source_held(s->src) > READER_MAX_OBJECT)
        return source_error(s->src, s->line, s->col, e, "object of more than %u MiB", READER_MAX_OBJECT >> 20);
    return source_more(s->src, e);
}

bool json_scan_peek(struct json_scan *s, int *ret, struct err *e)
{
    for (;;) {
        const char *p = s->src->buf + s->src->lo;
        size_t n = source_held(s->src);

        for (; s->at < n; s->at++) {
            unsigned char c = class_of[(unsigned char)p[s->at]];

            if (c == NEWLINE)
                vec_push(&s->newlines, (uint32_t)s->at);
            else if (c != SPACE) {
                *ret = (unsigned char)p[s->at];
                return true;
            }
        }
        if (!scan_more(s, e))
            return false;
        if (s->src->ended && s->at == source_held(s->src)) {
            *ret = JSON_END;
            return true;
        }
    }
}

void json_scan_mark(struct json_scan *s)
{
    vec_push(&s->marks, (uint32_t)s->at);
}

/* The first byte from `at` that ends or breaks a run of ordinary string bytes: a quote, a backslash, a control
 * character; or n. Eight bytes at a time: a subtraction sets the top bit of a byte that was below the limit; borrows
 * only spoil the bytes above such a one, so the lowest hit is true. */
static size_t string_run(const char *p, size_t at, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    for (; at + 8 <= n; at += 8) {
        uint64_t w;

        memcpy(&w, p + at, 8);
        uint64_t quote = w ^ EVERY_BYTE('"'), slash = w ^ EVERY_BYTE('\\');
        uint64_t hit =
            ((quote - EVERY_BYTE(1)) & ~quote) | ((slash - EVERY_BYTE(1)) & ~slash) | ((w - EVERY_BYTE(0x20)) & ~w);
        hit &= EVERY_BYTE(0x80);
        if (hit)
            return at + (size_t)__builtin_ctzll(hit) / 8;
    }
#endif
    while (at < n && p[at] != '"' && p[at] != '\\' && (unsigned char)p[at] >= 0x20)
        at++;
    return at;
}

static bool scan_string(struct json_scan *s, struct err *e)
{
    size_t from = s->at, at = from + 1;

    for (;;) {
        size_t n = source_held(s->src);
        const char *p = s->src->buf + s->src->lo;

        at = string_run(p, at, n);
        if (at - from > READER_MAX_TEXT)
            return json_scan_error(s, from, e, "string of more than %u MiB", READER_MAX_TEXT >> 20);
        if (at >= n) {
            s->at = n;
            if (!scan_more(s, e))
                return false;
            if (s->src->ended)
                return json_scan_truncated(s, e);
        } else if (p[at] == '"') {
            s->at = at + 1;
            return true;
        } else if (p[at] == '\\') {
            at += 2;
        } else if (p[at] == '\n' || p[at] == '\r') {
            return json_scan_error(s, at, e, "the line ends inside a string");
        } else {
            return json_scan_error(s, at, e, "control character in a string");
        }
    }
}

/* A run of bytes that belong to a number or to nothing JSON knows. `from` is where it began, earlier in the slice
 * when the run goes on from bytes read before. */
static bool scan_bare(struct json_scan *s, size_t *from, size_t *end, struct err *e)
{
    const char *p = s->src->buf + s->src->lo;
    size_t n = source_held(s->src), at = s->at;

    if (at != *end)
        *from = at;
    while (at < n && class_of[(unsigned char)p[at]] == BARE)
        at++;
    s->at = *end = at;
    if (at - *from > READER_MAX_TEXT)
        return json_scan_error(s, *from, e, "number of more than %u MiB", READER_MAX_TEXT >> 20);
    return true;
}

static void scan_indentation(struct json_scan *s)
{
    const char *p = s->src->buf + s->src->lo;
    size_t n = source_held(s->src);

    vec_push(&s->newlines, (uint32_t)s->at);
    for (s->at++; s->at + 8 <= n; s->at += 8) {
        uint64_t w;

        memcpy(&w, p + s->at, 8);
        if (w != EVERY_BYTE(' '))
            break;
    }
}

struct brackets {
    char close[READER_MAX_DEPTH];
    unsigned n, max;
    size_t bare_from, bare_end;
};

/* One step. true with b->n == 0 after the last closing bracket. */
static bool scan_step(struct json_scan *s, struct brackets *b, struct err *e)
{
    char c = s->src->buf[s->src->lo + s->at];

    switch ((enum byte_class)class_of[(unsigned char)c]) {
    case BARE:
        return scan_bare(s, &b->bare_from, &b->bare_end, e);
    case NEWLINE:
        scan_indentation(s);
        return true;
    case QUOTE:
        return scan_string(s, e);
    case OPEN:
        if (b->n == b->max)
            return json_scan_error(s, s->at, e, "more than %u levels deep", READER_MAX_DEPTH);
        b->close[b->n++] = c == '{' ? '}' : ']';
        s->n_values++;
        json_scan_mark(s);
        break;
    case CLOSE:
        if (b->close[--b->n] != c)
            return json_scan_error(s, s->at, e, "expected %c, found %c", b->close[b->n], c);
        break;
    case WORD:
        json_scan_mark(s);
        break;
    case COMMA:
        if (++s->n_values > READER_MAX_NODES)
            return json_scan_error(s, s->at, e, "too many values in one object");
        break;
    case SPACE:
    case COLON:
        break;
    }
    s->at++;
    return true;
}

/* Past what is most common and needs no thought, without a call per byte: took about a sixth off a compact list of pods.
 * Stops at anything else, and at a string that is not whole in the window. */
static void scan_easy(struct json_scan *s)
{
    const char *p = s->src->buf + s->src->lo;
    size_t n = source_held(s->src), at = s->at;

    while (at < n) {
        unsigned char c = class_of[(unsigned char)p[at]];

        if (c == QUOTE) {
            size_t end = string_run(p, at + 1, n);

            if (end >= n || p[end] != '"' || end - at > READER_MAX_TEXT)
                break;
            at = end;
        } else if (c == COMMA && s->n_values < READER_MAX_NODES) {
            s->n_values++;
        } else if (c != COLON && c != SPACE) {
            break;
        }
        at++;
    }
    s->at = at;
}

static bool scan_container(struct json_scan *s, unsigned depth, struct err *e)
{
    struct brackets b;

    b.n = 0;
    b.max = READER_MAX_DEPTH - MIN(depth, (unsigned)READER_MAX_DEPTH);
    b.bare_from = b.bare_end = SIZE_MAX;
    do { /* the first step opens a bracket */
        scan_easy(s);
        if (s->at < source_held(s->src)) {
            if (!scan_step(s, &b, e))
                return false;
            continue;
        }
        if (!scan_more(s, e))
            return false;
        if (s->src->ended)
            return json_scan_truncated(s, e);
    } while (b.n);
    return true;
}

/* A number or a literal: up to a byte that cannot be part of one. */
static bool scan_word(struct json_scan *s, struct err *e)
{
    size_t from = s->at;

    for (;;) {
        size_t n = source_held(s->src);
        const char *p = s->src->buf + s->src->lo;

        unsigned char c = BARE;
        for (; s->at < n && ((c = class_of[(unsigned char)p[s->at]]) == BARE || c == WORD); s->at++)
            if (c == WORD)
                json_scan_mark(s);
        if (s->at - from > READER_MAX_TEXT)
            return json_scan_error(s, from, e, "number of more than %u MiB", READER_MAX_TEXT >> 20);
        if (s->at < n)
            return s->at > from || json_scan_error(s, from, e, "expected a value");
        if (!scan_more(s, e))
            return false;
        if (s->src->ended)
            return s->at > from || json_scan_truncated(s, e);
    }
}

bool json_scan_value(struct json_scan *s, unsigned depth, struct err *e)
{
    int c;

    assert(s->keep);
    if (!json_scan_peek(s, &c, e))
        return false;
    if (c == JSON_END)
        return json_scan_truncated(s, e);
    if (++s->n_values > READER_MAX_NODES)
        return json_scan_error(s, s->at, e, "too many values in one object");
    if (c == '"')
        return scan_string(s, e);
    if (c == '{' || c == '[')
        return scan_container(s, depth, e);
    return scan_word(s, e);
}
