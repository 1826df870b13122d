/* One pass. The members of open containers wait on a stack; a container that closes moves its own into arrays of their size. */
#include "data/json_plain.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "data/reader.h"

#define FIRST_ROOM 128u

struct plain {
    struct arena *a;
    const char *at, *end;
    struct tree *waiting; /* members of open containers, innermost last; starts as room[] */
    str *keys;            /* of those members of maps */
    uint32_t n, cap, n_values;
    unsigned depth;
    struct tree room[FIRST_ROOM];
    str key_room[FIRST_ROOM];
};

static void more_room(struct plain *o)
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

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The next character that counts, which is not taken; 0 at the end. */
static char peek(struct plain *o)
{
    while (o->at < o->end && is_blank(*o->at))
        o->at++;
    return o->at < o->end ? *o->at : 0;
}

/* ---- strings ---- */

/* To the next quote, backslash, control character or byte that is not ASCII: eight bytes at a time. */
static const char *easy_run(const char *p, const char *end)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;

    for (; end - p >= 8; p += 8) {
        uint64_t w;

        memcpy(&w, p, 8);
        uint64_t quote = w ^ (ones * '"'), slash = w ^ (ones * '\\');
        uint64_t hit = ((quote - ones) & ~quote) | ((slash - ones) & ~slash) | (w - ones * ' ') | w;
        if (hit & tops)
            break;
    }
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= ' ' && (unsigned char)*p < 0x80)
        p++;
    return p;
}

/* The character of an escape of two characters; 0: it is of another kind. */
static char escaped(char c)
{
    switch (c) {
    case '"':
    case '\\':
    case '/':
        return c;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return 0;
    }
}

/* raw is what stands between the quotes. */
static bool unescape(struct arena *a, str raw, str *ret)
{
    char *text = arena_alloc(a, raw.n, 1), *to = text;

    for (size_t i = 0; i < raw.n; i++) {
        char c = raw.p[i];

        if (c == '\\' && !(c = escaped(raw.p[++i]))) /* an escape is never the last character */
            return false;
        *to++ = c;
    }
    *ret = (str){text, (size_t)(to - text)};
    return true;
}

static bool read_string(struct plain *o, str *ret)
{
    const char *from = ++o->at;
    bool escapes = false;

    for (;;) {
        uint32_t code;

        o->at = easy_run(o->at, o->end);
        if (o->at == o->end)
            return false;
        unsigned char c = (unsigned char)*o->at;
        if (c == '"')
            break;
        int n = c == '\\'   ? 2
                : c >= 0x80 ? utf8_char((const unsigned char *)o->at, (size_t)(o->end - o->at), &code)
                            : 0;
        if (n <= 0 || o->end - o->at <= n)
            return false;
        escapes |= c == '\\';
        o->at += n;
    }
    str raw = {from, (size_t)(o->at++ - from)};
    *ret = raw;
    return !escapes || unescape(o->a, raw, ret);
}

/* ---- the rest ---- */

static bool digits(struct plain *o)
{
    const char *from = o->at;

    while (o->at < o->end && *o->at >= '0' && *o->at <= '9')
        o->at++;
    return o->at > from;
}

static bool comes(struct plain *o, char a, char b)
{
    bool yes = o->at < o->end && (*o->at == a || *o->at == b);

    o->at += yes;
    return yes;
}

static bool read_number(struct plain *o, struct tree *t)
{
    const char *from = o->at;

    (void)comes(o, '-', '-');
    if (!comes(o, '0', '0') && !digits(o))
        return false;
    if (comes(o, '.', '.') && !digits(o))
        return false;
    if (comes(o, 'e', 'E')) {
        (void)comes(o, '+', '-');
        if (!digits(o))
            return false;
    }
    *t = (struct tree){.kind = TREE_NUMBER, .text = {from, (size_t)(o->at - from)}};
    return true;
}

static bool read_word(struct plain *o, str word)
{
    if ((size_t)(o->end - o->at) < word.n || memcmp(o->at, word.p, word.n) != 0)
        return false;
    o->at += word.n;
    return true;
}

static bool read_value(struct plain *o, uint32_t at);

static bool read_key(struct plain *o, uint32_t at)
{
    if (peek(o) != '"' || !read_string(o, &o->keys[at]) || peek(o) != ':')
        return false;
    o->at++;
    return true;
}

/* A member has its place on the stack before it is read; what it holds itself goes behind it, and is gone when it is read. */
static bool read_members(struct plain *o, uint32_t into, char close)
{
    uint32_t first = o->n;
    bool map = close == '}';

    o->at++;
    if (o->depth++ == READER_MAX_DEPTH)
        return false;
    for (char c = peek(o); c != close; c = peek(o)) {
        uint32_t at = o->n;

        if (at > first) {
            if (c != ',')
                return false;
            o->at++;
        }
        if (at == o->cap)
            more_room(o);
        o->n++;
        if ((map && !read_key(o, at)) || !read_value(o, at))
            return false;
    }
    o->at++;
    o->depth--;
    uint32_t n = o->n - first;
    struct tree *t = &o->waiting[into];
    *t = (struct tree){.kind = map ? TREE_MAP : TREE_LIST, .n = n};
    t->items = arena_dup_array(o->a, struct tree, o->waiting + first, n);
    if (map)
        t->keys = arena_dup_array(o->a, str, o->keys + first, n);
    o->n = first;
    return !map || tree_repeated_key(t->keys, n) == n;
}

static bool read_value(struct plain *o, uint32_t at)
{
    struct tree *t = &o->waiting[at];

    if (++o->n_values > READER_MAX_NODES / 2) /* keys count there, too */
        return false;
    switch (peek(o)) {
    case '"':
        *t = (struct tree){.kind = TREE_STRING};
        return read_string(o, &t->text);
    case '{':
        return read_members(o, at, '}');
    case '[':
        return read_members(o, at, ']');
    case 't':
        *t = (struct tree){.kind = TREE_BOOL, .truth = true, .text = STR("true")};
        return read_word(o, STR("true"));
    case 'f':
        *t = (struct tree){.kind = TREE_BOOL, .text = STR("false")};
        return read_word(o, STR("false"));
    case 'n':
        *t = (struct tree){.kind = TREE_NULL};
        return read_word(o, STR("null"));
    default:
        return read_number(o, t);
    }
}

bool json_plain(str bytes, struct arena *a, struct tree *ret)
{
    struct plain o;

    o.a = a;
    o.at = bytes.p;
    o.end = bytes.p + bytes.n;
    o.waiting = o.room;
    o.keys = o.key_room;
    o.n = 1;
    o.cap = FIRST_ROOM;
    o.n_values = o.depth = 0;
    bool ok = read_value(&o, 0) && peek(&o) == 0 && o.at == o.end;
    if (ok)
        *ret = o.waiting[0];
    if (o.waiting != o.room) {
        free(o.waiting);
        free(o.keys);
    }
    return ok;
}
