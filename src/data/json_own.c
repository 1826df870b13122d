/* One pass. The members of open containers wait on a stack; a container that closes moves its own into arrays of their size. */
#include "data/json_own.h"

#include <stdlib.h>

#define FIRST_ROOM 128u

struct own {
    struct arena *a;
    const char *at, *end;
    struct tree *waiting; /* members of open containers, innermost last; starts as room[] */
    str *keys;            /* of those members of maps */
    uint32_t n, cap;
    struct tree room[FIRST_ROOM];
    str key_room[FIRST_ROOM];
};

static void more_room(struct own *o)
{
    struct tree *waiting = xmalloc(2 * o->cap * sizeof(*waiting));
    str *keys = xmalloc(2 * o->cap * sizeof(*keys));

    memcpy(waiting, o->waiting, o->n * sizeof(*waiting));
    memcpy(keys, o->keys, o->n * sizeof(*keys));
    if (o->waiting != o->room) {
        free(o->waiting);
        free(o->keys);
    }
    o->waiting = waiting;
    o->keys = keys;
    o->cap *= 2;
}

static uint32_t hex4(const char *p)
{
    uint32_t v = 0;

    for (int i = 0; i < 4; i++) {
        char c = p[i];
        uint32_t digit = c <= '9' ? (uint32_t)(c - '0') : (uint32_t)((c | 0x20) - 'a' + 10);

        assert(digit < 16);
        v = v * 16 + digit;
    }
    return v;
}

/* The writer escapes single characters below U+10000 and nothing else. */
static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* raw is what stands between the quotes; an escape never takes less room than its character. */
static str unescape(struct arena *a, str raw)
{
    char *text = arena_alloc(a, raw.n, 1), *to = text;

    for (size_t i = 0; i < raw.n; i++) {
        if (raw.p[i] != '\\') {
            *to++ = raw.p[i];
            continue;
        }
        assert(i + 1 < raw.n);
        switch (raw.p[++i]) {
        case 'b':
            *to++ = '\b';
            break;
        case 'f':
            *to++ = '\f';
            break;
        case 'n':
            *to++ = '\n';
            break;
        case 'r':
            *to++ = '\r';
            break;
        case 't':
            *to++ = '\t';
            break;
        case 'u':
            assert(i + 4 < raw.n);
            to = put_utf8(to, hex4(raw.p + i + 1));
            i += 4;
            break;
        default:
            *to++ = raw.p[i]; /* a quote or a backslash */
        }
    }
    return (str){text, (size_t)(to - text)};
}

/* To the next quote or backslash: eight bytes at a time. */
static const char *plain_run(const char *p, const char *end)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;

    for (; end - p >= 8; p += 8) {
        uint64_t w;

        memcpy(&w, p, 8);
        uint64_t quote = w ^ (ones * '"'), slash = w ^ (ones * '\\');
        uint64_t hit = ((quote - ones) & ~quote) | ((slash - ones) & ~slash);
        if (hit & tops)
            return p + (__builtin_ctzll(hit & tops) >> 3); /* the lowest hit is a true one */
    }
    while (p < end && *p != '"' && *p != '\\')
        p++;
    return p;
}

static str read_string(struct own *o)
{
    const char *from = ++o->at;
    bool escapes = false;

    for (;;) {
        o->at = plain_run(o->at, o->end);
        assert(o->at < o->end);
        if (*o->at == '"')
            break;
        escapes = true;
        o->at += 2;
    }
    str raw = {from, (size_t)(o->at++ - from)};
    return escapes ? unescape(o->a, raw) : raw;
}

static void read_value(struct own *o, uint32_t at);

/* A member has its place on the stack before it is read; what it holds itself goes behind it, and is gone when it is read. */
static void read_members(struct own *o, uint32_t into, char close)
{
    uint32_t first = o->n;
    bool map = close == '}';

    o->at++;
    while (o->at < o->end && *o->at != close) {
        uint32_t at = o->n;

        if (at > first) {
            assert(*o->at == ',');
            o->at++;
        }
        if (at == o->cap)
            more_room(o);
        o->n++;
        if (map) {
            assert(o->at < o->end && *o->at == '"');
            o->keys[at] = read_string(o);
            assert(o->at < o->end && *o->at == ':');
            o->at++;
        }
        read_value(o, at);
    }
    assert(o->at < o->end);
    o->at++;
    uint32_t n = o->n - first;
    struct tree *t = &o->waiting[into];
    *t = (struct tree){.kind = map ? TREE_MAP : TREE_LIST, .n = n, .cap = n};
    t->items = arena_dup_array(o->a, struct tree, o->waiting + first, n);
    if (map)
        t->keys = arena_dup_array(o->a, str, o->keys + first, n);
    o->n = first;
}

static void read_word(struct own *o, struct tree *t)
{
    const char *from = o->at;

    while (o->at < o->end && *o->at != ',' && *o->at != '}' && *o->at != ']')
        o->at++;
    *t = (struct tree){.kind = TREE_NUMBER, .text = {from, (size_t)(o->at - from)}};
    assert(t->text.n > 0);
    if (*from == 't' || *from == 'f') {
        t->kind = TREE_BOOL;
        t->truth = *from == 't';
    } else if (*from == 'n') {
        *t = (struct tree){.kind = TREE_NULL};
    }
}

static void read_value(struct own *o, uint32_t at)
{
    assert(o->at < o->end);
    switch (*o->at) {
    case '"':
        o->waiting[at] = (struct tree){.kind = TREE_STRING};
        o->waiting[at].text = read_string(o);
        return;
    case '{':
        read_members(o, at, '}');
        return;
    case '[':
        read_members(o, at, ']');
        return;
    default:
        read_word(o, &o->waiting[at]);
    }
}

static struct tree *read_first(struct arena *a, str text, const char **ret_end)
{
    struct own o;

    o.a = a;
    o.at = text.p;
    o.end = text.p + text.n;
    o.waiting = o.room;
    o.keys = o.key_room;
    o.n = 1;
    o.cap = FIRST_ROOM;
    read_value(&o, 0);
    struct tree *t = arena_dup_array(a, struct tree, o.waiting, 1);
    if (o.waiting != o.room) {
        free(o.waiting);
        free(o.keys);
    }
    *ret_end = o.at;
    return t;
}

struct tree *json_read_own(struct arena *a, str text)
{
    const char *end;
    struct tree *t = read_first(a, text, &end);

    assert(end == text.p + text.n);
    return t;
}

struct tree *json_read_own_first(struct arena *a, str text)
{
    const char *end;

    return read_first(a, text, &end);
}

/* ---- without reading ---- */

static const char *string_end(const char *p, const char *end)
{
    for (p = plain_run(p + 1, end); p < end && *p == '\\'; p = plain_run(p + 2, end))
        ;
    assert(p < end);
    return p + 1;
}

size_t json_own_length(str text)
{
    const char *p = text.p, *end = text.p + text.n;
    uint32_t depth = 0;

    do {
        assert(p < end);
        if (*p == '"') {
            p = string_end(p, end);
            continue;
        }
        depth += *p == '{' || *p == '[';
        depth -= *p == '}' || *p == ']';
        p++;
    } while (p < end && (depth || (*p != ',' && *p != '}' && *p != ']' && *p != ':')));
    return (size_t)(p - text.p);
}
