/* The writer. JSON puts separators before each value; YAML in addition decides whether a container's first member
 * goes on the same line, which is why nothing of a YAML container is written before its first member or its end. */
#include "data/json.h"

#include <math.h>

#include "base/utf8.h"
#include "data/yaml_scalar.h"

#define YAML_KEY_MAX 160u /* readers look for the colon no further than 1024 characters, and an escape takes 6 */

static void new_line(struct jw *w, size_t col)
{
    sb_char(w->out, '\n');
    sb_fill(w->out, ' ', col);
}

/* ---- text ---- */

static bool escape_short(struct sb *out, uint32_t c)
{
    static const char letter[128] = {
        ['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};

    if (c >= sizeof(letter) || !letter[c])
        return false;
    sb_char(out, '\\');
    sb_char(out, letter[c]);
    return true;
}

/* Whether eight bytes are plain ASCII that needs no escape; may say no too often, never too rarely. */
static bool plain_word(uint64_t w)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t quote = w ^ (ones * '"'), slash = w ^ (ones * '\\'), del = w ^ (ones * 0x7f);

    /* per byte: below 0x20, '"', '\\', DEL or above ASCII */
    return !(((w - ones * 0x20) | (quote - ones) | (slash - ones) | (del - ones) | w) & tops);
}

static uint64_t word_at(const unsigned char *p)
{
    uint64_t w;

    memcpy(&w, p, 8);
    return w;
}

static bool plain_byte(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* Four to seven bytes as eight: both halves are of the text, and may overlap. */
static uint64_t short_word(const unsigned char *p, size_t n)
{
    uint32_t first, last;

    memcpy(&first, p, 4);
    memcpy(&last, p + n - 4, 4);
    return first | (uint64_t)last << 32;
}

/* How many of the first bytes are plain: eight at a time, as names and labels all are. */
static size_t plain_ascii(const unsigned char *p, size_t n)
{
    size_t at = 0;

    if (n >= 4 && n < 8 && plain_word(short_word(p, n)))
        return n;
    while (at + 8 <= n && plain_word(word_at(p + at)))
        at += 8;
    if (at < n && n >= 8 && n - at < 8 && plain_word(word_at(p + n - 8))) /* the rest, and some before it once more */
        return n;
    while (at < n && plain_byte(p[at]))
        at++;
    return at;
}

/* In double quotes, for JSON and YAML alike: what YAML would not let stand is escaped, and so are U+2028 and U+2029,
 * which YAML takes for line breaks. */
static void quoted(struct sb *out, str s)
{
    const unsigned char *p = (const unsigned char *)(s.p ? s.p : ""); /* an empty text may have no place */

    sb_char(out, '"');
    for (size_t at = 0, run = 0; at <= s.n;) {
        uint32_t c = 0;

        at += plain_ascii(p + at, s.n - at);
        int len = at < s.n ? utf8_char(p + at, s.n - at, &c) : 0;
        bool plain = len > 0 && c >= 0x20 && c != '"' && c != '\\' && c != 0x85 && c != 0x2028 && c != 0x2029 &&
                     utf8_yaml_printable(c);

        if (plain) {
            at += (size_t)len;
            continue;
        }
        sb_bytes(out, p + run, at - run);
        if (at == s.n)
            break;
        if (len <= 0)
            sb_c(out, "\xef\xbf\xbd");
        else if (!escape_short(out, c))
            sb_printf(out, "\\u%04x", c); /* all of them are below U+10000 */
        at += len > 0 ? (size_t)len : 1;
        run = at;
    }
    sb_char(out, '"');
}

/* Numbers, dates and times in any dialect of YAML: better in quotes. */
static bool like_a_number(str s)
{
    static const char chars[] = "0123456789+-.:_eEtTzZxXabcdefABCDEF ";

    if (!memchr("0123456789+-.", s.p[0], sizeof("0123456789+-.") - 1))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!memchr(chars, s.p[i], sizeof(chars) - 1))
            return false;
    return true;
}

/* Whether s can stand in block-style YAML without quotes. */
static bool plain_in_yaml(str s)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.$(^+-";

    if (s.n == 0 || !memchr(first, s.p[0], sizeof(first) - 1) || like_a_number(s) || yaml_resolve(s) != YAML_STRING)
        return false;
    if (s.p[0] == '-' && s.n > 1 && s.p[1] == ' ')
        return false;
    if (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == ':' || str_starts(s, STR("---")) || str_starts(s, STR("...")))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c < 0x20 || c >= 0x7f)
            return false;
        if (i > 0 && ((c == ' ' && s.p[i - 1] == ':') || (c == '#' && s.p[i - 1] == ' ')))
            return false;
    }
    return true;
}

static void text(struct jw *w, str s)
{
    if (w->yaml && plain_in_yaml(s))
        sb_str(w->out, s);
    else
        quoted(w->out, s);
}

/* ---- structure ---- */

/* Before a member of the innermost container: a key of a map, a value of a list. */
static void before_member(struct jw *w)
{
    if (w->depth == 0)
        return;

    bool first = !w->open[w->depth - 1].any;
    w->open[w->depth - 1].any = true;
    if (w->yaml) {
        if (!first || !w->open[w->depth - 1].in_line)
            new_line(w, w->open[w->depth - 1].col);
        return;
    }
    if (!first)
        sb_char(w->out, ',');
    if (w->indent)
        new_line(w, (size_t)w->indent * w->depth);
}

/* Before any value. `container`: in YAML its own first member decides whether a space follows the colon. */
static void before_value(struct jw *w, bool container)
{
    if (w->after_key) {
        w->after_key = false;
        if (w->yaml && !container)
            sb_char(w->out, ' ');
        return;
    }
    assert(w->depth == 0 || w->open[w->depth - 1].list);
    before_member(w);
    if (w->yaml && w->depth)
        sb_c(w->out, "- ");
}

static void begin(struct jw *w, bool list)
{
    bool keyed = w->after_key;
    unsigned outside = w->depth ? w->open[w->depth - 1].col : 0, step = w->indent ? w->indent : 2;

    before_value(w, true);
    assert(w->depth < JW_DEPTH);
    w->open[w->depth].list = list;
    w->open[w->depth].any = false;
    w->open[w->depth].in_line = !keyed;
    w->open[w->depth].col = w->depth == 0 ? 0 : !keyed ? outside + 2 : list ? outside : outside + step;
    w->depth++;
    if (!w->yaml)
        sb_char(w->out, list ? '[' : '{');
}

void jw_map(struct jw *w)
{
    begin(w, false);
}

void jw_list(struct jw *w)
{
    begin(w, true);
}

void jw_end(struct jw *w)
{
    assert(w->depth > 0 && !w->after_key);
    w->depth--;

    bool list = w->open[w->depth].list, any = w->open[w->depth].any;
    if (!w->yaml) {
        if (any && w->indent)
            new_line(w, (size_t)w->indent * w->depth);
        sb_char(w->out, list ? ']' : '}');
    } else if (!any) {
        if (!w->open[w->depth].in_line)
            sb_char(w->out, ' ');
        sb_c(w->out, list ? "[]" : "{}");
    }
}

void jw_key_str(struct jw *w, str key)
{
    assert(w->depth > 0 && !w->open[w->depth - 1].list && !w->after_key);
    before_member(w);
    bool lengthy = w->yaml && key.n > YAML_KEY_MAX;
    if (lengthy)
        sb_c(w->out, "? ");
    text(w, key);
    if (lengthy)
        new_line(w, w->open[w->depth - 1].col);
    sb_char(w->out, ':');
    if (!w->yaml && w->indent)
        sb_char(w->out, ' ');
    w->after_key = true;
}

void jw_key(struct jw *w, const char *key)
{
    jw_key_str(w, str_c(key));
}

/* ---- values ---- */

void jw_str(struct jw *w, str s)
{
    before_value(w, false);
    text(w, s);
}

void jw_c(struct jw *w, const char *s)
{
    if (s)
        jw_str(w, str_c(s));
    else
        jw_null(w);
}

void jw_i64(struct jw *w, int64_t v)
{
    before_value(w, false);
    sb_i64(w->out, v);
}

void jw_double(struct jw *w, double v)
{
    before_value(w, false);
    if (isfinite(v))
        sb_double(w->out, v);
    else
        sb_c(w->out, "null");
}

void jw_bool(struct jw *w, bool v)
{
    before_value(w, false);
    sb_c(w->out, v ? "true" : "false");
}

void jw_null(struct jw *w)
{
    before_value(w, false);
    sb_c(w->out, "null");
}

void jw_number(struct jw *w, str number)
{
    assert(json_is_number(number));
    before_value(w, false);
    sb_str(w->out, number);
}

void jw_raw(struct jw *w, str json)
{
    assert(!w->yaml);
    before_value(w, false);
    sb_str(w->out, json);
}

void jw_tree(struct jw *w, const struct tree *t)
{
    switch (t ? t->kind : TREE_NULL) {
    case TREE_NULL:
        jw_null(w);
        return;
    case TREE_BOOL:
        jw_bool(w, t->truth);
        return;
    case TREE_NUMBER:
        jw_number(w, t->text);
        return;
    case TREE_STRING:
        jw_str(w, t->text);
        return;
    case TREE_LIST:
    case TREE_MAP:
        break;
    }
    if (!w->yaml && !w->indent) {
        before_value(w, true);
        json_compact(w->out, t, true);
        return;
    }
    begin(w, t->kind == TREE_LIST);
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->kind == TREE_MAP)
            jw_key_str(w, t->keys[i]);
        jw_tree(w, &t->items[i]);
    }
    jw_end(w);
}

str json_text(struct arena *a, const struct tree *t)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_tree(&w, t);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

str json_quoted(struct arena *a, str s)
{
    return json_text(a, &(struct tree){.kind = TREE_STRING, .text = s});
}

/* ---- compact ---- */

static void compact_text(struct sb *out, str s)
{
    if (plain_ascii((const unsigned char *)s.p, s.n) < s.n) {
        quoted(out, s);
        return;
    }
    sb_room(out, s.n + 2);
    char *p = out->p + out->n;
    p[0] = '"';
    if (s.n)
        memcpy(p + 1, s.p, s.n);
    p[s.n + 1] = '"';
    out->n += s.n + 2;
}

static void compact_members(struct sb *out, const struct tree *t, bool nulls)
{
    bool map = t->kind == TREE_MAP, any = false;

    sb_char(out, map ? '{' : '[');
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->items[i].kind == TREE_NULL && !nulls)
            continue;
        if (any)
            sb_char(out, ',');
        any = true;
        if (map) {
            compact_text(out, t->keys[i]);
            sb_char(out, ':');
        }
        json_compact(out, &t->items[i], nulls);
    }
    sb_char(out, map ? '}' : ']');
}

void json_compact(struct sb *out, const struct tree *t, bool nulls)
{
    switch (t ? t->kind : TREE_NULL) {
    case TREE_NULL:
        sb_str(out, STR("null"));
        return;
    case TREE_BOOL:
        sb_str(out, t->truth ? STR("true") : STR("false"));
        return;
    case TREE_NUMBER:
        assert(json_is_number(t->text));
        sb_str(out, t->text);
        return;
    case TREE_STRING:
        compact_text(out, t->text);
        return;
    case TREE_LIST:
    case TREE_MAP:
        compact_members(out, t, nulls);
        return;
    }
}
