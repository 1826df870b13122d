/* The reader. While it reads, values are nodes that are found by (table, key), because headers come back to tables in any order; a tree is made of
 * them at the end. What a table was opened by decides what may be added to it. */
#include "data/toml.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/map.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "data/toml_int.h"

#define NONE UINT32_MAX

enum opened {
    BY_VALUE,  /* key = value: closed for good */
    BY_PATH,   /* as the parent of a header's table */
    BY_HEADER, /* [table] */
    BY_DOTS,   /* a.b = value */
    BY_ARRAY,  /* [[table]]: a list of tables */
};

struct node {
    struct tree value; /* scalars */
    enum opened opened;
    str key;
    uint32_t first, last, next; /* children; the next one of the same parent */
    uint32_t n;                 /* children */
};

struct parser {
    struct arena *a;
    str s;
    size_t at;
    unsigned depth; /* of the table or list at hand */
    VEC(struct node) nodes;
    struct strmap children; /* "table/key": its node */
    struct err *e;
};

static bool parse_value(struct parser *p, uint32_t parent, str key, uint32_t *ret);

/* ---- errors, characters ---- */

PRINTF(2, 3) static bool fail(struct parser *p, const char *fmt, ...)
{
    uint32_t line = 1;
    size_t begin = 0;
    char what[200];
    va_list ap;

    for (size_t i = 0; i < p->at && i < p->s.n; i++)
        if (p->s.p[i] == '\n') {
            line++;
            begin = i + 1;
        }
    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return err_set(p->e, ERR_INVALID, "%u:%zu: %s", line, p->at - begin + 1, what);
}

static int peek(const struct parser *p)
{
    return p->at < p->s.n ? (unsigned char)p->s.p[p->at] : -1;
}

static bool take(struct parser *p, const char *word)
{
    str rest = str_sub(p->s, p->at, p->s.n), w = str_c(word);

    if (!str_starts(rest, w))
        return false;
    p->at += w.n;
    return true;
}

static void skip_blanks(struct parser *p)
{
    while (peek(p) == ' ' || peek(p) == '\t')
        p->at++;
}

/* A comment up to the end of its line. */
static bool skip_comment(struct parser *p)
{
    if (peek(p) != '#')
        return true;
    for (; p->at < p->s.n && peek(p) != '\n'; p->at++) {
        int c = peek(p);

        if ((c < 0x20 && c != '\t' && !(c == '\r' && p->at + 1 < p->s.n && p->s.p[p->at + 1] == '\n')) || c == 0x7f)
            return fail(p, "a comment has a control character in it");
    }
    return true;
}

static bool take_line_end(struct parser *p)
{
    return take(p, "\n") || take(p, "\r\n");
}

/* Behind a statement. */
static bool end_line(struct parser *p)
{
    skip_blanks(p);
    if (!skip_comment(p))
        return false;
    return p->at == p->s.n || take_line_end(p) || fail(p, "expected the end of the line");
}

/* Blanks, comments and empty lines. */
static bool skip_lines(struct parser *p)
{
    do {
        skip_blanks(p);
        if (!skip_comment(p))
            return false;
    } while (take_line_end(p));
    return true;
}

/* ---- strings ---- */

static bool parse_unicode(struct parser *p, int n, struct sb *b)
{
    uint32_t c = 0;

    for (int i = 0; i < n; i++, p->at++) {
        int x = peek(p);
        int digit = x >= '0' && x <= '9'   ? x - '0'
                    : x >= 'a' && x <= 'f' ? x - 'a' + 10
                    : x >= 'A' && x <= 'F' ? x - 'A' + 10
                                           : -1;

        if (digit < 0)
            return fail(p, "expected %d hexadecimal digits", n);
        c = c << 4 | (uint32_t)digit;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return fail(p, "there is no such character");
    utf8_put(b, c);
    return true;
}

/* Behind the backslash. */
static bool parse_escape(struct parser *p, bool lines, struct sb *b)
{
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
    int c = peek(p);
    const char *f = c > 0 ? strchr(from, c) : NULL;

    if (f) {
        p->at++;
        sb_char(b, to[f - from]);
        return true;
    }
    if (c == 'u' || c == 'U') {
        p->at++;
        return parse_unicode(p, c == 'u' ? 4 : 8, b);
    }
    if (!lines)
        return fail(p, "there is no such escape sequence");
    skip_blanks(p);
    if (!take_line_end(p))
        return fail(p, "there is no such escape sequence");
    do
        skip_blanks(p);
    while (take_line_end(p));
    return true;
}

/* Up to two quotes may stand before the three that end it. */
static bool ends_here(struct parser *p, char quote, bool lines, struct sb *b)
{
    size_t n = 0;

    while (p->at + n < p->s.n && p->s.p[p->at + n] == quote && n < 5)
        n++;
    if (n == 0 || (lines && n < 3))
        return false;
    if (lines)
        sb_fill(b, quote, n - 3);
    p->at += lines ? n : 1;
    return true;
}

static bool parse_text(struct parser *p, struct sb *b)
{
    char quote = (char)peek(p);
    bool lines = take(p, "\"\"\"") || take(p, "'''");

    if (lines)
        (void)take_line_end(p);
    else
        p->at++;
    while (!ends_here(p, quote, lines, b)) {
        int c = peek(p);

        if (c < 0)
            return fail(p, "a string does not end");
        if (lines && (c == '\n' || (c == '\r' && p->at + 1 < p->s.n && p->s.p[p->at + 1] == '\n'))) {
            (void)take_line_end(p);
            sb_char(b, '\n');
        } else if (quote == '"' && c == '\\') {
            p->at++;
            if (!parse_escape(p, lines, b))
                return false;
        } else if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return fail(p, "a string has a control character in it");
        } else {
            sb_char(b, (char)c);
            p->at++;
        }
    }
    return true;
}

static bool parse_string(struct parser *p, str *ret)
{
    struct sb b = {0};
    bool ok = parse_text(p, &b);

    *ret = ok ? sb_dup(&b, p->a) : (str){0};
    sb_fini(&b);
    return ok;
}

/* ---- nodes ---- */

static str child_name(struct arena *a, uint32_t parent, str key)
{
    return arena_printf(a, "%u/" STR_FMT, parent, STR_ARG(key));
}

static uint32_t find_child(struct parser *p, uint32_t parent, str key)
{
    struct arena_mark m = arena_mark(p->a);
    uint32_t found = strmap_get(&p->children, child_name(p->a, parent, key));

    arena_rewind(p->a, m);
    return found == MAP_NONE ? NONE : found;
}

/* The last member of a list. An empty key is for members of lists. */
static uint32_t add_child(struct parser *p, uint32_t parent, str key, bool named, struct tree value, enum opened by)
{
    uint32_t ix = p->nodes.n;

    vec_push(&p->nodes,
             (struct node){.value = value, .opened = by, .key = key, .first = NONE, .last = NONE, .next = NONE});
    struct node *up = &p->nodes.v[parent];
    if (up->last == NONE)
        up->first = ix;
    else
        p->nodes.v[up->last].next = ix;
    up->last = ix;
    up->n++;
    if (named)
        strmap_put(&p->children, child_name(p->a, parent, key), ix);
    return ix;
}

static uint32_t add_table(struct parser *p, uint32_t parent, str key, bool named, enum opened by)
{
    return add_child(p, parent, key, named, (struct tree){.kind = TREE_MAP}, by);
}

/* ---- keys ---- */

static bool is_bare(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool parse_simple_key(struct parser *p, str *ret)
{
    size_t from = p->at;

    if (take(p, "\"\"\"") || take(p, "'''")) {
        p->at = from;
        return fail(p, "a key must be on one line");
    }
    if (peek(p) == '"' || peek(p) == '\'')
        return parse_string(p, ret);
    while (is_bare(peek(p)))
        p->at++;
    *ret = str_sub(p->s, from, p->at);
    return ret->n != 0 || fail(p, "expected a key");
}

/* Whether another part follows. */
static bool take_dot(struct parser *p)
{
    skip_blanks(p);
    if (!take(p, "."))
        return false;
    skip_blanks(p);
    return true;
}

static bool go_deeper(struct parser *p)
{
    return ++p->depth <= TOML_MAX_DEPTH || fail(p, "tables nest more than %d deep", TOML_MAX_DEPTH);
}

/* ---- values ---- */

static bool parse_array(struct parser *p, uint32_t list)
{
    p->at++;
    for (;;) {
        uint32_t ix;

        if (!skip_lines(p))
            return false;
        if (take(p, "]"))
            return true;
        if (!parse_value(p, list, (str){0}, &ix) || !skip_lines(p))
            return false;
        if (take(p, "]"))
            return true;
        if (!take(p, ","))
            return fail(p, "expected a comma or the end of the list");
    }
}

/* a.b = value, in the table `parent`. */
static bool parse_pair(struct parser *p, uint32_t parent)
{
    unsigned outside = p->depth;
    str key;
    uint32_t ix;

    if (!parse_simple_key(p, &key))
        return false;
    while (take_dot(p)) {
        uint32_t sub = find_child(p, parent, key);

        if (sub != NONE && p->nodes.v[sub].opened != BY_DOTS)
            return fail(p, "key " STR_FMT " is taken", STR_ARG(key));
        if (!go_deeper(p))
            return false;
        parent = sub != NONE ? sub : add_table(p, parent, key, /* named= */ true, BY_DOTS);
        if (!parse_simple_key(p, &key))
            return false;
    }
    if (find_child(p, parent, key) != NONE)
        return fail(p, "key " STR_FMT " is taken", STR_ARG(key));
    if (!take(p, "="))
        return fail(p, "expected = behind a key");
    skip_blanks(p);
    if (!parse_value(p, parent, key, &ix))
        return false;
    strmap_put(&p->children, child_name(p->a, parent, key), ix);
    p->depth = outside;
    return true;
}

static void close_tables(struct parser *p, uint32_t from)
{
    for (uint32_t i = from; i < p->nodes.n; i++)
        p->nodes.v[i].opened = BY_VALUE;
}

static bool parse_inline_table(struct parser *p, uint32_t table)
{
    uint32_t from = p->nodes.n;

    p->at++;
    skip_blanks(p);
    if (take(p, "}"))
        return true;
    for (;;) {
        skip_blanks(p);
        if (!parse_pair(p, table))
            return false;
        skip_blanks(p);
        if (take(p, "}"))
            break;
        if (!take(p, ","))
            return fail(p, "expected a comma or the end of the table");
    }
    close_tables(p, from);
    return true;
}

/* A number, a date, a time or a word: up to what cannot be part of one. A space may stand between a date and a time. */
static str bare_word(struct parser *p)
{
    size_t from = p->at;

    for (; p->at < p->s.n; p->at++) {
        int c = peek(p);
        bool date_and_time = c == ' ' && toml_is_date(str_sub(p->s, from, p->at)) && p->at + 2 < p->s.n &&
                             p->s.p[p->at + 1] >= '0' && p->s.p[p->at + 1] <= '2' && p->s.p[p->at + 2] >= '0' &&
                             p->s.p[p->at + 2] <= '9';

        if (!is_bare(c) && c != '.' && c != '+' && c != ':' && !date_and_time)
            break;
    }
    return str_sub(p->s, from, p->at);
}

static bool parse_scalar(struct parser *p, struct tree *ret)
{
    size_t from = p->at;
    str word;

    if (peek(p) == '"' || peek(p) == '\'') {
        ret->kind = TREE_STRING;
        return parse_string(p, &ret->text);
    }
    word = bare_word(p);
    if (str_is(word, "true") || str_is(word, "false")) {
        *ret = (struct tree){.kind = TREE_BOOL, .truth = str_is(word, "true"), .text = word};
        return true;
    }
    ret->kind = TREE_NUMBER;
    if (toml_number_text(p->a, word, &ret->text) || toml_time_text(p->a, word, &ret->text))
        return true;
    p->at = from;
    return word.n ? fail(p, "\"%.*s\" is not a value", (int)MIN(word.n, (size_t)80), word.p)
                  : fail(p, "expected a value");
}

/* The value becomes a child of `parent` that cannot be found yet. */
static bool parse_value(struct parser *p, uint32_t parent, str key, uint32_t *ret)
{
    int c = peek(p);
    struct tree scalar = {0};

    if (c != '[' && c != '{') {
        if (!parse_scalar(p, &scalar))
            return false;
        *ret = add_child(p, parent, key, /* named= */ false, scalar, BY_VALUE);
        return true;
    }
    scalar.kind = c == '[' ? TREE_LIST : TREE_MAP;
    *ret = add_child(p, parent, key, /* named= */ false, scalar, BY_VALUE);
    if (!go_deeper(p))
        return false;
    bool ok = c == '[' ? parse_array(p, *ret) : parse_inline_table(p, *ret);
    p->depth--;
    return ok;
}

/* ---- headers ---- */

/* The table that a part of a header before its last one names. */
static bool step_into(struct parser *p, uint32_t *table, str key)
{
    uint32_t sub = find_child(p, *table, key);

    if (sub == NONE)
        sub = add_table(p, *table, key, /* named= */ true, BY_PATH);
    else if (p->nodes.v[sub].opened == BY_ARRAY)
        sub = p->nodes.v[sub].last;
    else if (p->nodes.v[sub].opened == BY_VALUE)
        return fail(p, "key " STR_FMT " is taken", STR_ARG(key));
    *table = sub;
    return true;
}

static bool open_table(struct parser *p, uint32_t parent, str key, uint32_t *ret)
{
    uint32_t sub = find_child(p, parent, key);

    if (sub == NONE)
        sub = add_table(p, parent, key, /* named= */ true, BY_HEADER);
    else if (p->nodes.v[sub].opened != BY_PATH)
        return fail(p, "table " STR_FMT " is there already", STR_ARG(key));
    p->nodes.v[sub].opened = BY_HEADER;
    *ret = sub;
    return true;
}

static bool open_array(struct parser *p, uint32_t parent, str key, uint32_t *ret)
{
    uint32_t list = find_child(p, parent, key);

    if (list == NONE)
        list = add_child(p, parent, key, /* named= */ true, (struct tree){.kind = TREE_LIST}, BY_ARRAY);
    else if (p->nodes.v[list].opened != BY_ARRAY)
        return fail(p, "key " STR_FMT " is taken", STR_ARG(key));
    *ret = add_table(p, list, (str){0}, /* named= */ false, BY_HEADER);
    return true;
}

static bool parse_header(struct parser *p, uint32_t *ret_table)
{
    bool array = take(p, "[[");
    uint32_t table = 0;
    str key;

    p->depth = array;

    if (!array)
        p->at++;
    skip_blanks(p);
    if (!parse_simple_key(p, &key))
        return false;
    while (take_dot(p))
        if (!go_deeper(p) || !step_into(p, &table, key) || !parse_simple_key(p, &key))
            return false;
    if (!take(p, array ? "]]" : "]"))
        return fail(p, "expected %s", array ? "]]" : "]");
    if (!go_deeper(p) || !(array ? open_array(p, table, key, ret_table) : open_table(p, table, key, ret_table)))
        return false;
    return end_line(p);
}

static bool parse_document(struct parser *p)
{
    uint32_t table = 0;

    vec_push(
        &p->nodes,
        (struct node){.value = {.kind = TREE_MAP}, .opened = BY_HEADER, .first = NONE, .last = NONE, .next = NONE});
    for (;;) {
        if (!skip_lines(p))
            return false;
        if (p->at == p->s.n)
            return true;
        if (peek(p) == '[' ? !parse_header(p, &table) : !parse_pair(p, table) || !end_line(p))
            return false;
    }
}

/* ---- the tree ---- */

static struct tree tree_of(struct parser *p, uint32_t ix)
{
    const struct node *n = &p->nodes.v[ix];
    struct tree t = n->value;
    uint32_t i = 0;

    if (t.kind != TREE_MAP && t.kind != TREE_LIST)
        return t;
    t.n = t.cap = n->n;
    t.items = arena_new_array(p->a, struct tree, n->n);
    if (t.kind == TREE_MAP)
        t.keys = arena_new_array(p->a, str, n->n);
    for (uint32_t c = n->first; c != NONE; c = p->nodes.v[c].next, i++) {
        if (t.kind == TREE_MAP)
            t.keys[i] = p->nodes.v[c].key;
        t.items[i] = tree_of(p, c);
    }
    return t;
}

struct tree *toml_read(struct arena *a, str text, struct err *e)
{
    struct parser p = {.a = a, .s = text, .e = e};
    struct tree *ret = NULL;

    if (text.n > TOML_MAX_TEXT) {
        (void)err_set(e, ERR_INVALID, "the text is longer than %u bytes", TOML_MAX_TEXT);
        return NULL;
    }
    if (!utf8_valid(text)) {
        (void)err_set(e, ERR_INVALID, "the text is not UTF-8");
        return NULL;
    }
    if (parse_document(&p)) {
        ret = arena_new_one(a, struct tree);
        *ret = tree_of(&p, 0);
    }
    vec_fini(&p.nodes);
    strmap_fini(&p.children);
    return ret;
}
