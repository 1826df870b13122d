/* Which format it is, and one call for both.
 *
 * A name that ends in .json is JSON. Anything else is JSON when its first byte that is not white space is { or [ and
 * the first SNIFF bytes are JSON tokens throughout; YAML's flow style ({a: b}, comments, single quotes) is not, and
 * is read as YAML. JSON documents may be followed by "---": the rest is YAML then, as kubectl has it. */
#include "data/reader.h"

#include <stdlib.h>

#include "data/json_stream.h"
#include "data/json_tree.h"
#include "data/source.h"
#include "data/yaml_stream.h"

#define SNIFF (64u << 10)
#define FIRST_BLOCK (256u << 10) /* of the arena: most objects fit, and it survives a reset */

struct reader {
    struct source src;
    struct arena *object;
    struct json_stream *json; /* one of the two, once the format is known */
    struct yaml_stream *yaml;
    struct err failed; /* an error is final */
};

static struct reader *reader_new(void)
{
    struct reader *r = xcalloc(1, sizeof(*r));

    r->object = arena_new(FIRST_BLOCK);
    r->src.fd = -1;
    return r;
}

struct reader *reader_open(const char *path, struct err *e)
{
    struct reader *r = reader_new();

    if (source_open(&r->src, path, e))
        return r;
    reader_free(r);
    return NULL;
}

struct reader *reader_open_bytes(const char *name, str bytes, struct err *e)
{
    struct reader *r = reader_new();

    (void)e; /* nothing can fail before the first byte is looked at */
    source_open_bytes(&r->src, name, bytes);
    return r;
}

void reader_free(struct reader *r)
{
    if (!r)
        return;
    json_stream_free(r->json);
    yaml_stream_free(r->yaml);
    source_fini(&r->src);
    arena_free(r->object);
    free(r);
}

const char *reader_name(const struct reader *r)
{
    return r->src.name;
}

static size_t string_end(str s, size_t at)
{
    for (at++; at < s.n && s.p[at] != '"'; at++)
        if (s.p[at] == '\\')
            at++;
    return at + 1;
}

/* Past a run of letters and digits that JSON could have written, or s.n + 1. */
static size_t bare_end(str s, size_t at)
{
    size_t from = at;

    while (at < s.n && !memchr(" \t\r\n\"{}[],:", s.p[at], sizeof(" \t\r\n\"{}[],:") - 1))
        at++;
    str word = str_sub(s, from, at);
    bool number = memchr("-0123456789", word.p[0], sizeof("-0123456789") - 1) != NULL;

    for (size_t i = 0; number && i < word.n; i++)
        number = memchr("+-.eE0123456789", word.p[i], sizeof("+-.eE0123456789") - 1) != NULL;
    bool cut_off = at == s.n; /* the rest of the word is beyond what we see */
    bool known = str_is(word, "true") || str_is(word, "false") || str_is(word, "null");
    return number || known || cut_off ? at : s.n + 1;
}

/* Strings, numbers, literals and punctuation only; a "---" between values ends the look. A key must be a string,
 * and a bracket must not follow a comma: YAML allows both. */
static bool looks_like_json(str s)
{
    unsigned depth = 0;
    char before = 0; /* the last byte of punctuation */
    size_t at = 0;

    s = str_trim(s);
    if (s.n == 0 || (s.p[0] != '{' && s.p[0] != '['))
        return false;
    while (at < s.n) {
        char c = s.p[at];

        if (c == '"') {
            at = string_end(s, at);
            before = c;
        } else if (c == '{' || c == '[') {
            depth++;
            at++;
            before = c;
        } else if (c == '}' || c == ']') {
            if (before == ',')
                return false;
            depth -= depth > 0;
            at++;
            before = c;
        } else if (c == ',' || c == ':' || c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            if (c == ',' || c == ':')
                before = c;
            at++;
        } else if (depth == 0 || before == '{') {
            return depth == 0 && c == '-';
        } else {
            at = bare_end(s, at);
            if (at > s.n)
                return false;
            before = 'a';
        }
    }
    return true;
}

/* Looks at the first bytes and makes the stream for them. */
static bool reader_decide(struct reader *r, struct err *e)
{
    bool named_json = str_ends(str_c(r->src.name), STR(".json"));
    str head;

    do { /* white space of any length may come first, but only SNIFF bytes of it are believed to lead to JSON */
        if (!source_more(&r->src, e))
            return false;
        head = (str){r->src.buf + r->src.lo, MIN(source_held(&r->src), SNIFF)};
    } while (!named_json && !r->src.ended && head.n < SNIFF);

    if (named_json || looks_like_json(head))
        r->json = json_stream_new(&r->src, false);
    else
        r->yaml = yaml_stream_new(&r->src, 1, false);
    return true;
}

bool reader_next(struct reader *r, const struct tree **ret, struct err *e)
{
    uint64_t yaml_from = 0;
    bool ok = true;

    *ret = NULL;
    if (r->failed.kind != ERR_NONE) {
        *e = r->failed;
        return false;
    }
    arena_reset(r->object);
    if (!r->json && !r->yaml)
        ok = reader_decide(r, e);
    if (ok && r->json)
        ok = json_stream_next(r->json, r->object, ret, &yaml_from, e);
    if (ok && yaml_from) {
        json_stream_free(r->json);
        r->json = NULL;
        r->yaml = yaml_stream_new(&r->src, yaml_from, false);
    }
    if (ok && r->yaml)
        ok = yaml_stream_next(r->yaml, r->object, ret, e);
    if (!ok) {
        r->failed = *e;
        *ret = NULL;
    }
    return ok;
}

static const struct tree *keep(struct arena *a, const struct tree *t)
{
    return arena_dup_array(a, struct tree, t, 1);
}

bool tree_parse_json(struct arena *a, const char *name, str bytes, const struct tree **ret, struct err *e)
{
    const struct tree *t, *more;
    struct source src;
    uint64_t yaml_from;

    source_open_bytes(&src, name, bytes);
    struct json_stream *j = json_stream_new(&src, true);
    bool ok = json_stream_next(j, a, &t, &yaml_from, e);
    if (ok && !t)
        ok = source_error(&src, 1, 1, e, "no value, the input is empty");
    if (ok)
        *ret = keep(a, t);
    ok = ok && json_stream_next(j, a, &more, &yaml_from, e);
    json_stream_free(j);
    source_fini(&src);
    return ok;
}

bool tree_read_json(struct arena *a, const char *name, char *bytes, size_t n, struct tree **ret, struct err *e)
{
    struct source src = {.name = name};
    struct json_slice slice = {.src = &src, .n = n, .line = 1, .col = 1, .no_places = true};
    struct tree *t = arena_new_one(a, struct tree);

    slice.p = bytes;
    _Static_assert(READER_PAD >= JSON_PAD, "what the parser overwrites must be ours");
    if (n == 0)
        return source_error(&src, 1, 1, e, "no value, the input is empty");
    if (n > READER_MAX_OBJECT)
        return source_error(&src, 1, 1, e, "value of more than %u MiB", READER_MAX_OBJECT >> 20);
    if (!json_tree(&slice, a, t, e))
        return false;
    *ret = t;
    return true;
}

bool tree_parse_yaml(struct arena *a, const char *name, str bytes, const struct tree **ret, struct err *e)
{
    static const struct tree nothing = {.kind = TREE_NULL, .line = 1, .col = 1};
    const struct tree *t, *more;
    struct source src;

    source_open_bytes(&src, name, bytes);
    struct yaml_stream *y = yaml_stream_new(&src, 1, true);
    bool ok = yaml_stream_next(y, a, &t, e);
    if (ok)
        *ret = t ? keep(a, t) : &nothing;
    ok = ok && yaml_stream_next(y, a, &more, e);
    yaml_stream_free(y);
    source_fini(&src);
    return ok;
}
