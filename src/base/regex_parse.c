/* From a pattern to a tree, by recursive descent.
 *
 * Messages are worded as Go's package regexp/syntax words them; API servers pass them on.
 */
#include "base/regex_impl.h"
#include "base/utf8.h"
#include "base/vec.h"

#define LAST_CHAR 0x10ffffu

struct flags {
    bool fold, multi_line, dot_all, swap_greed;
};

struct parser {
    struct arena *a;
    str s;
    size_t at;
    struct flags flags;
    uint32_t depth;
    struct err *e;
    bool failed;
};

static struct regex_node *parse_alt(struct parser *p);

static struct regex_node *node_new(struct parser *p, enum regex_node_kind kind)
{
    struct regex_node *n = arena_new_one(p->a, struct regex_node);

    n->kind = kind;
    return n;
}

static struct regex_node *bad(struct parser *p, const char *what, size_t from, size_t to)
{
    str part = str_sub(p->s, from, to);

    if (!p->failed)
        (void)err_set(p->e, ERR_INVALID, "%s: `%.*s`", what, (int)MIN(part.n, (size_t)200), part.p);
    p->failed = true;
    p->at = p->s.n; /* nothing more to read */
    return node_new(p, NODE_EMPTY);
}

static bool ahead(const struct parser *p, const char *text)
{
    return str_starts(str_sub(p->s, p->at, p->s.n), str_c(text));
}

static bool skip(struct parser *p, const char *text)
{
    if (!ahead(p, text))
        return false;
    p->at += strlen(text);
    return true;
}

static void append(struct regex_node *list, struct regex_node *part)
{
    if (list->last)
        list->last->next = part;
    else
        list->first = part;
    list->last = part;
}

/* ---- classes ---- */

typedef VEC(struct regex_range) ranges;

static const struct regex_range digits[] = {{'0', '9'}}, spaces[] = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}},
                                words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};

static void add_range(ranges *to, uint32_t lo, uint32_t hi, bool fold)
{
    vec_push(to, (struct regex_range){lo, hi});
    if (!fold)
        return;
    uint32_t from = MAX(lo, 'A'), upto = MIN(hi, 'Z');
    if (from <= upto)
        vec_push(to, (struct regex_range){from + 32, upto + 32});
    from = MAX(lo, 'a'), upto = MIN(hi, 'z');
    if (from <= upto)
        vec_push(to, (struct regex_range){from - 32, upto - 32});
}

/* Ranges in ascending order, or all characters outside of them. */
static void add_set(ranges *to, const struct regex_range *r, size_t n, bool negated)
{
    uint32_t next = 0;

    for (size_t i = 0; i < n; i++) {
        if (!negated)
            vec_push(to, r[i]);
        else if (r[i].lo > next)
            vec_push(to, (struct regex_range){next, r[i].lo - 1});
        next = r[i].hi + 1;
    }
    if (negated && next <= LAST_CHAR)
        vec_push(to, (struct regex_range){next, LAST_CHAR});
}

/* \d \D \s \S \w \W */
static bool perl_class(struct parser *p, ranges *to)
{
    if (p->at + 1 >= p->s.n || p->s.p[p->at] != '\\')
        return false;
    char c = p->s.p[p->at + 1];
    switch (c) {
    case 'd':
    case 'D':
        add_set(to, digits, ARRAY_LEN(digits), c == 'D');
        break;
    case 's':
    case 'S':
        add_set(to, spaces, ARRAY_LEN(spaces), c == 'S');
        break;
    case 'w':
    case 'W':
        add_set(to, words, ARRAY_LEN(words), c == 'W');
        break;
    default:
        return false;
    }
    p->at += 2;
    return true;
}

static const struct posix_class {
    const char *name;
    struct regex_range ranges[4];
    uint32_t n;
} posix_classes[] = {
    {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, 3},
    {"alpha", {{'A', 'Z'}, {'a', 'z'}}, 2},
    {"ascii", {{0, 0x7f}}, 1},
    {"blank", {{'\t', '\t'}, {' ', ' '}}, 2},
    {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}, 2},
    {"digit", {{'0', '9'}}, 1},
    {"graph", {{'!', '~'}}, 1},
    {"lower", {{'a', 'z'}}, 1},
    {"print", {{' ', '~'}}, 1},
    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, 4},
    {"space", {{'\t', '\r'}, {' ', ' '}}, 2},
    {"upper", {{'A', 'Z'}}, 1},
    {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, 4},
    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, 3},
};

/* [:alpha:] and [:^alpha:], inside a class. A name that is none is an error. */
static bool posix_class(struct parser *p, ranges *to)
{
    size_t from = p->at, end = p->at + 2;

    if (!ahead(p, "[:"))
        return false;
    while (end + 1 < p->s.n && !(p->s.p[end] == ':' && p->s.p[end + 1] == ']'))
        end++;
    if (end + 1 >= p->s.n)
        return false;
    bool negated = p->s.p[from + 2] == '^';
    str name = str_sub(p->s, from + 2 + negated, end);
    for (size_t i = 0; i < ARRAY_LEN(posix_classes); i++)
        if (str_is(name, posix_classes[i].name)) {
            add_set(to, posix_classes[i].ranges, posix_classes[i].n, negated);
            p->at = end + 2;
            return true;
        }
    bad(p, "invalid character class range", from, end + 2);
    return true;
}

/* ---- escapes ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* \x41 and \x{10ffff}; at is behind the x. */
static bool hex_escape(struct parser *p, uint32_t *ret)
{
    uint32_t v = 0, n = 0;
    bool braces = skip(p, "{");

    while (p->at < p->s.n && hex_digit(p->s.p[p->at]) >= 0 && v <= LAST_CHAR && (braces || n < 2)) {
        v = v * 16 + (uint32_t)hex_digit(p->s.p[p->at++]);
        n++;
    }
    *ret = v;
    return v <= LAST_CHAR && (braces ? n > 0 && skip(p, "}") : n == 2);
}

/* One character after a backslash. */
static uint32_t escape(struct parser *p)
{
    static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
    size_t start = p->at++;

    if (p->at >= p->s.n) {
        bad(p, "trailing backslash at end of expression", p->s.n, p->s.n);
        return 0;
    }
    uint32_t c, v;
    p->at += utf8_step(p->s, p->at, &c);
    if (c == '0' || (c >= '1' && c <= '7' && p->at < p->s.n && p->s.p[p->at] >= '0' && p->s.p[p->at] <= '7')) {
        v = c - '0';
        for (int i = 0; i < 2 && p->at < p->s.n && p->s.p[p->at] >= '0' && p->s.p[p->at] <= '7'; i++)
            v = v * 8 + (uint32_t)(p->s.p[p->at++] - '0');
        return v;
    }
    if (c == 'x' && hex_escape(p, &v))
        return v;
    for (size_t i = 0; i < sizeof(from) - 1; i++)
        if (c == (uint32_t)from[i] && c != 'b')
            return (uint32_t)to[i];
    bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (c < 0x80 && !letter)
        return c;
    bad(p, "invalid escape sequence", start, p->at);
    return 0;
}

static struct regex_node *class_node(struct parser *p, ranges *r, bool negated)
{
    struct regex_node *n = node_new(p, NODE_CLASS);

    n->class = (struct regex_class){vec_to_arena(r, p->a), r->n, negated};
    vec_fini(r);
    return n;
}

static uint32_t class_char(struct parser *p)
{
    uint32_t c;

    if (p->s.p[p->at] == '\\')
        return escape(p);
    p->at += utf8_step(p->s, p->at, &c);
    return c;
}

/* [a-z], [^a-z]; at is behind the bracket. */
static struct regex_node *parse_class(struct parser *p)
{
    size_t start = p->at - 1;
    bool negated = skip(p, "^"), first = true;
    ranges r = {0};

    while (!p->failed && (first || !ahead(p, "]"))) {
        first = false;
        if (p->at >= p->s.n) {
            bad(p, "missing closing ]", start, p->s.n);
            break;
        }
        if (posix_class(p, &r) || perl_class(p, &r))
            continue;
        size_t from = p->at;
        uint32_t lo = class_char(p), hi = lo;
        if (ahead(p, "-") && p->at + 1 < p->s.n && p->s.p[p->at + 1] != ']') {
            p->at++;
            hi = class_char(p);
        }
        if (hi < lo)
            bad(p, "invalid character class range", from, p->at);
        add_range(&r, lo, hi, p->flags.fold);
    }
    p->at += !p->failed;
    return class_node(p, &r, negated);
}

/* ---- groups ---- */

/* (?i), (?i:…), (?s-m:…): at is behind "(?". True when a group follows rather than just a change of flags. */
static bool parse_flags(struct parser *p, size_t start)
{
    struct flags f = p->flags;
    bool on = true, any = false;

    for (; p->at < p->s.n; p->at++) {
        char c = p->s.p[p->at];

        if (c == 'i')
            f.fold = on, any = true;
        else if (c == 'm')
            f.multi_line = on, any = true;
        else if (c == 's')
            f.dot_all = on, any = true;
        else if (c == 'U')
            f.swap_greed = on, any = true;
        else if (c == '-' && on)
            on = false, any = false;
        else if ((c == ':' || c == ')') && (on || any)) {
            p->at++;
            p->flags = f;
            return c == ':';
        } else
            break;
    }
    bad(p, "invalid or unsupported Perl syntax", start, p->at + 1);
    return false;
}

/* (?P<name>…) and (?<name>…): names count for nothing here. at is behind "(?". */
static void parse_group_name(struct parser *p, size_t start)
{
    size_t from = p->at;

    while (p->at < p->s.n && p->s.p[p->at] != '>')
        p->at++;
    if (p->at >= p->s.n || p->at == from)
        bad(p, "invalid named capture", start, MIN(p->at + 1, p->s.n));
    p->at += p->at < p->s.n;
}

/* at is behind the parenthesis. NULL: nothing but a change of flags. */
static struct regex_node *parse_group(struct parser *p)
{
    size_t start = p->at - 1;
    struct flags outer = p->flags;

    if (skip(p, "?")) {
        if (skip(p, "P<") || (ahead(p, "<") && !ahead(p, "<=") && !ahead(p, "<!") && skip(p, "<")))
            parse_group_name(p, start);
        else if (!parse_flags(p, start))
            return NULL;
    }
    struct regex_node *n = parse_alt(p);
    if (!p->failed && !skip(p, ")"))
        return bad(p, "missing closing )", 0, p->s.n);
    p->flags = outer;
    return n;
}

/* ---- what can be repeated ---- */

static struct regex_node *literal(struct parser *p, uint32_t c)
{
    ranges r = {0};

    add_range(&r, c, c, p->flags.fold);
    return class_node(p, &r, false);
}

static struct regex_node *assertion(struct parser *p, enum regex_assert what)
{
    struct regex_node *n = node_new(p, NODE_ASSERT);

    n->what = what;
    return n;
}

static struct regex_node *parse_backslash(struct parser *p)
{
    static const struct {
        const char *text;
        enum regex_assert what;
    } asserts[] = {{"\\A", RE_TEXT_START}, {"\\z", RE_TEXT_END}, {"\\b", RE_WORD}, {"\\B", RE_NOT_WORD}};
    ranges r = {0};

    for (size_t i = 0; i < ARRAY_LEN(asserts); i++)
        if (skip(p, asserts[i].text))
            return assertion(p, asserts[i].what);
    if (perl_class(p, &r))
        return class_node(p, &r, false);
    return literal(p, escape(p));
}

/* NULL where there is nothing that could be repeated. */
static struct regex_node *parse_atom(struct parser *p)
{
    static const struct regex_range line_feed = {'\n', '\n'};
    char c = p->s.p[p->at];
    ranges r = {0};

    switch (c) {
    case '\\':
        return parse_backslash(p);
    case '[':
        p->at++;
        return parse_class(p);
    case '(':
        p->at++;
        return parse_group(p);
    case '^':
        p->at++;
        return assertion(p, p->flags.multi_line ? RE_LINE_START : RE_TEXT_START);
    case '$':
        p->at++;
        return assertion(p, p->flags.multi_line ? RE_LINE_END : RE_TEXT_END);
    case '.':
        p->at++;
        if (!p->flags.dot_all)
            vec_push(&r, line_feed);
        return class_node(p, &r, true);
    default:
        break;
    }
    uint32_t ch;
    p->at += utf8_step(p->s, p->at, &ch);
    return literal(p, ch);
}

/* ---- repetition ---- */

/* Digits; false when there are none. Too large a number is one more than may be. */
static bool read_count(struct parser *p, uint32_t *ret)
{
    size_t from = p->at;

    *ret = 0;
    for (; p->at < p->s.n && p->s.p[p->at] >= '0' && p->s.p[p->at] <= '9'; p->at++)
        *ret = MIN(*ret * 10 + (uint32_t)(p->s.p[p->at] - '0'), REGEX_MAX_REPEAT + 1);
    return p->at > from;
}

/* {n}, {n,}, {n,m}; anything else that begins with a brace is a brace. */
static bool read_braces(struct parser *p, uint32_t *min, uint32_t *max)
{
    size_t start = p->at;

    if (skip(p, "{") && read_count(p, min)) {
        *max = *min;
        if (skip(p, ",") && !read_count(p, max))
            *max = REGEX_FOREVER;
        if (skip(p, "}"))
            return true;
    }
    p->at = start;
    return false;
}

static bool read_repeat(struct parser *p, uint32_t *min, uint32_t *max)
{
    *min = 0;
    *max = REGEX_FOREVER;
    if (skip(p, "*"))
        return true;
    if (skip(p, "+")) {
        *min = 1;
        return true;
    }
    if (skip(p, "?")) {
        *max = 1;
        return true;
    }
    return read_braces(p, min, max);
}

static struct regex_node *parse_repeats(struct parser *p, struct regex_node *n)
{
    size_t start = p->at;
    uint32_t min, max;

    if (p->failed || !read_repeat(p, &min, &max))
        return n;
    if (min > REGEX_MAX_REPEAT || (max != REGEX_FOREVER && (max > REGEX_MAX_REPEAT || min > max)))
        return bad(p, "invalid repeat count", start, p->at);
    struct regex_node *r = node_new(p, NODE_REPEAT);
    r->first = n;
    r->min = min;
    r->max = max;
    r->lazy = skip(p, "?") != p->flags.swap_greed;
    uint32_t again_min, again_max;
    if (read_repeat(p, &again_min, &again_max)) {
        skip(p, "?");
        return bad(p, "invalid nested repetition operator", start, p->at);
    }
    return r;
}

/* \Q…\E: as it stands. What is repeated behind it is the last character. */
static void parse_quoted(struct parser *p, struct regex_node *cat)
{
    bool open = true;

    while (!p->failed && open && p->at < p->s.n) {
        uint32_t c;

        if (skip(p, "\\E"))
            return;
        p->at += utf8_step(p->s, p->at, &c);
        struct regex_node *atom = literal(p, c);
        open = !skip(p, "\\E");
        append(cat, open ? atom : parse_repeats(p, atom));
    }
}

static struct regex_node *parse_cat(struct parser *p)
{
    struct regex_node *cat = node_new(p, NODE_CAT);
    uint32_t min, max;

    while (!p->failed && p->at < p->s.n && p->s.p[p->at] != '|' && p->s.p[p->at] != ')') {
        size_t start = p->at;

        if (read_repeat(p, &min, &max)) {
            skip(p, "?");
            return bad(p, "missing argument to repetition operator", start, p->at);
        }
        if (skip(p, "\\Q")) {
            parse_quoted(p, cat);
            continue;
        }
        struct regex_node *atom = parse_atom(p);
        if (atom)
            append(cat, parse_repeats(p, atom));
    }
    return cat;
}

static struct regex_node *parse_alt(struct parser *p)
{
    struct regex_node *alt = node_new(p, NODE_ALT);

    if (++p->depth > REGEX_MAX_DEPTH)
        return bad(p, "expression nests too deeply", 0, p->s.n);
    do
        append(alt, parse_cat(p));
    while (!p->failed && skip(p, "|"));
    p->depth--;
    return alt;
}

const struct regex *regex_compile(struct arena *a, str pattern, struct err *e)
{
    struct parser p = {.a = a, .s = pattern, .e = e};

    if (pattern.n > REGEX_MAX_PATTERN) {
        (void)err_set(e, ERR_INVALID, "expression too large");
        return NULL;
    }
    const struct regex_node *n = parse_alt(&p);
    if (!p.failed && p.at < pattern.n)
        bad(&p, "unexpected )", 0, pattern.n);
    return p.failed ? NULL : regex_write(a, n, e);
}
