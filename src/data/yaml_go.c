#include "data/yaml_go.h"

#include <stdio.h>

#include "base/sort.h"
#include "base/utf8.h"
#include "data/yaml_scalar.h"

#define WIDTH 80
#define SIMPLE_KEY_MAX 128

struct writer {
    struct sb *out;
    size_t line; /* where the current line begins in out */
};

enum style { PLAIN, SINGLE, DOUBLE, LITERAL };

static size_t column(const struct writer *w)
{
    return w->out->n - w->line;
}

static void new_line(struct writer *w, size_t indent)
{
    sb_char(w->out, '\n');
    w->line = w->out->n;
    sb_fill(w->out, ' ', indent);
}

/* ---- order of keys ---- */

/* Beyond ASCII nearly everything is. */
static bool is_letter(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number that the digits at `at` make; *ret_end is behind them. It wraps round, as theirs does. */
static uint64_t number_at(str s, size_t at, uint64_t first, size_t *ret_end)
{
    uint64_t v = first;

    for (; at < s.n && is_digit(s.p[at]); at++)
        v = v * 10 + (uint64_t)(s.p[at] - '0');
    *ret_end = at;
    return v;
}

/* Zeros count only behind another digit. */
static bool digits_behind(str s, size_t at)
{
    while (at-- > 0 && is_digit(s.p[at]))
        if (s.p[at] != '0')
            return true;
    return false;
}

static bool key_less(str a, str b)
{
    size_t i = 0, a_end, b_end;
    uint32_t x, y;

    while (i < a.n && i < b.n && a.p[i] == b.p[i])
        i++;
    if (i == a.n || i == b.n)
        return a.n < b.n;
    while (i > 0 && ((unsigned char)a.p[i] & 0xc0) == 0x80) /* back to where the character begins */
        i--;
    (void)utf8_step(a, i, &x);
    (void)utf8_step(b, i, &y);
    if (is_letter(x) && is_letter(y))
        return x < y;
    if (is_letter(x) || is_letter(y))
        return is_letter(y);
    uint64_t first = (x == '0' || y == '0') && digits_behind(a, i);
    uint64_t m = number_at(a, i, first, &a_end), n = number_at(b, i, first, &b_end);
    if (m != n)
        return (int64_t)m < (int64_t)n;
    if (a_end != b_end)
        return a_end < b_end;
    return x < y;
}

static bool key_before(const uint32_t *x, const uint32_t *y, const void *ctx)
{
    const str *keys = ctx;

    return key_less(keys[*x], keys[*y]);
}

SORT_DEFINE(sort_keys, uint32_t, key_before)

/* ---- style of strings ---- */

static size_t digits(str s, size_t at)
{
    size_t n = 0;

    while (at + n < s.n && is_digit(s.p[at + n]))
        n++;
    return n;
}

/* 1:30 and -1:30:15.5: numbers to base sixty for old readers. */
static bool is_base60(str s)
{
    size_t at = s.n && (s.p[0] == '-' || s.p[0] == '+');
    bool colon = false;

    if (!digits(s, at))
        return false;
    while (at < s.n && (is_digit(s.p[at]) || s.p[at] == '_'))
        at++;
    while (at < s.n && s.p[at] == ':') {
        size_t n = digits(s, at + 1);

        if (n == 0 || n > 2 || (n == 2 && s.p[at + 1] > '5'))
            return false;
        colon = true;
        at += 1 + n;
    }
    if (at < s.n && s.p[at] == '.')
        for (at++; at < s.n && (is_digit(s.p[at]) || s.p[at] == '_');)
            at++;
    return colon && at == s.n;
}

/* "12", one or two digits, at `*at`, which moves on. */
static bool two_digits(str s, size_t *at)
{
    size_t n = digits(s, *at);

    *at += n;
    return n == 1 || n == 2;
}

static bool skip_char(str s, size_t *at, const char *any)
{
    bool there = *at < s.n && s.p[*at] && strchr(any, s.p[*at]);

    *at += there;
    return there;
}

/* Behind "2006-1-2T15:4:5.9": nothing in one form, a zone in the other. */
static bool is_zone(str s, size_t at)
{
    size_t hours = at + 1, minutes = at + 4;

    if (at < s.n && s.p[at] == 'Z')
        return at + 1 == s.n;
    return s.n == at + 6 && (s.p[at] == '+' || s.p[at] == '-') && digits(s, hours) == 2 && s.p[at + 3] == ':' &&
           digits(s, minutes) == 2;
}

/* 2006-1-2, with a time or without one. */
static bool is_timestamp(str s)
{
    size_t at = 4;

    if (digits(s, 0) != 4 || !skip_char(s, &at, "-") || !two_digits(s, &at) || !skip_char(s, &at, "-") ||
        !two_digits(s, &at))
        return false;
    if (at == s.n)
        return true;
    bool spaced = s.p[at] == ' ';
    if (!skip_char(s, &at, "Tt ") || !two_digits(s, &at) || !skip_char(s, &at, ":") || !two_digits(s, &at) ||
        !skip_char(s, &at, ":") || !two_digits(s, &at))
        return false;
    if (skip_char(s, &at, "."))
        at += digits(s, at);
    return spaced ? at == s.n : is_zone(s, at);
}

static bool means_something_else(str s)
{
    return yaml_resolve(s) != YAML_STRING || str_is(s, "<<") || is_base60(s) || is_timestamp(s);
}

/* What a text has in it, as far as a style depends on it. */
struct features {
    bool indicators, breaks, special, outer_space, space_break, trailing_space;
};

static bool printable(uint32_t c)
{
    return c == '\n' || (c >= 0x20 && c != 0x85 && c != 0xfeff && c < 0x10000 && utf8_yaml_printable(c));
}

static bool is_break(uint32_t c)
{
    return c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029;
}

/* Nothing, a blank or a line's end. */
static bool gap_at(str s, size_t at)
{
    uint32_t c;

    if (at >= s.n)
        return true;
    (void)utf8_step(s, at, &c);
    return c == ' ' || c == '\t' || c == 0 || is_break(c);
}

static bool is_indicator(str s, size_t at, uint32_t c, bool gap_before)
{
    bool gap_behind = gap_at(s, at + 1);

    if (at == 0)
        return (c < 0x80 && c && strchr("#,[]{}&*!|>'\"%@`", (int)c)) || (gap_behind && strchr("?:-", (int)c) && c);
    return (c == ':' && gap_behind) || (c == '#' && gap_before);
}

static struct features features_of(str s)
{
    struct features f = {.indicators = str_starts(s, STR("---")) || str_starts(s, STR("..."))};
    bool gap_before = true, was_space = false;

    for (size_t at = 0; at < s.n;) {
        uint32_t c;
        size_t n = utf8_step(s, at, &c);
        bool last = at + n == s.n;

        f.indicators |= c < 0x80 && is_indicator(s, at, c, gap_before);
        f.special |= !printable(c);
        f.breaks |= is_break(c);
        f.space_break |= is_break(c) && was_space;
        f.outer_space |= c == ' ' && (at == 0 || last);
        f.trailing_space |= c == ' ' && last;
        was_space = c == ' ';
        gap_before = gap_at(s, at);
        at += n;
    }
    return f;
}

static enum style style_of(str s, bool key)
{
    struct features f = features_of(s);
    bool quotable = !f.breaks && !f.special; /* line feeds are literal, other breaks are better escaped */

    if (memchr(s.n ? s.p : "", '\n', s.n))
        return key || f.trailing_space || f.space_break || f.special ? DOUBLE : LITERAL;
    if (means_something_else(s))
        return DOUBLE;
    if (!f.outer_space && quotable && !f.indicators)
        return PLAIN;
    return quotable ? SINGLE : DOUBLE;
}

/* ---- writing strings ---- */

/* Where a line may go on below: a lone space behind the eightieth column. */
static bool folds(const struct writer *w, str s, size_t at, bool was_space, bool key)
{
    return !key && s.p[at] == ' ' && !was_space && column(w) > WIDTH && !(at + 1 < s.n && s.p[at + 1] == ' ');
}

static void write_plain(struct writer *w, str s, size_t indent, bool key)
{
    bool was_space = false;

    for (size_t at = 0; at < s.n; at++) {
        if (folds(w, s, at, was_space, key))
            new_line(w, indent);
        else
            sb_char(w->out, s.p[at]);
        was_space = s.p[at] == ' ';
    }
}

static void write_single(struct writer *w, str s, size_t indent, bool key)
{
    bool was_space = false;

    sb_char(w->out, '\'');
    for (size_t at = 0; at < s.n; at++) {
        if (at > 0 && at + 1 < s.n && folds(w, s, at, was_space, key))
            new_line(w, indent);
        else
            sb_char(w->out, s.p[at]);
        if (s.p[at] == '\'')
            sb_char(w->out, '\'');
        was_space = s.p[at] == ' ';
    }
    sb_char(w->out, '\'');
}

static void write_escape(struct sb *out, uint32_t c)
{
    static const char letter[128] = {[0] = '0',    [7] = 'a',    ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', [0x0b] = 'v',
                                     ['\f'] = 'f', ['\r'] = 'r', [0x1b] = 'e', ['"'] = '"',  ['\\'] = '\\'};

    if (c < sizeof(letter) && letter[c])
        sb_printf(out, "\\%c", letter[c]);
    else if (c == 0x85 || c == 0x2028 || c == 0x2029)
        sb_printf(out, "\\%c", c == 0x85 ? 'N' : c == 0x2028 ? 'L' : 'P');
    else
        sb_printf(out, c <= 0xff ? "\\x%02X" : c <= 0xffff ? "\\u%04X" : "\\U%08X", c);
}

static void write_double(struct writer *w, str s, size_t indent, bool key)
{
    bool was_space = false;

    sb_char(w->out, '"');
    for (size_t at = 0; at < s.n;) {
        uint32_t c;
        size_t n = utf8_step(s, at, &c);

        if (!printable(c) || is_break(c) || c == '"' || c == '\\') {
            write_escape(w->out, c);
        } else if (c == ' ' && !key && !was_space && column(w) > WIDTH && at > 0 && at + 1 < s.n) {
            new_line(w, indent);
            if (s.p[at + 1] == ' ')
                sb_char(w->out, '\\');
        } else {
            utf8_put(w->out, c);
        }
        was_space = c == ' ';
        at += n;
    }
    sb_char(w->out, '"');
}

/* The mark says what becomes of line feeds at the end, and how far the text is indented if that cannot be seen. */
static void write_literal(struct writer *w, str s, size_t indent)
{
    bool ends = s.p[s.n - 1] == '\n', more = s.n > 1 ? ends && s.p[s.n - 2] == '\n' : ends;

    sb_char(w->out, '|');
    if (s.p[0] == ' ' || s.p[0] == '\n')
        sb_char(w->out, '2');
    sb_c(w->out, !ends ? "-" : more ? "+" : "");
    for (size_t at = 0; at < s.n;) {
        const char *end = memchr(s.p + at, '\n', s.n - at);
        size_t n = end ? (size_t)(end - s.p) - at : s.n - at;

        new_line(w, n ? indent : 0);
        sb_bytes(w->out, s.p + at, n);
        at += n + 1;
    }
}

/* `indent` is that of the lines below, if any. */
static void write_text(struct writer *w, str s, size_t indent, bool key)
{
    switch (style_of(s, key)) {
    case PLAIN:
        write_plain(w, s, indent, key);
        return;
    case SINGLE:
        write_single(w, s, indent, key);
        return;
    case DOUBLE:
        write_double(w, s, indent, key);
        return;
    case LITERAL:
        write_literal(w, s, indent);
        return;
    }
}

/* Integers as they are; others with as many digits as they need, with an exponent from a million up. */
static void write_number(struct sb *out, str text)
{
    char digits_of[40];
    int64_t whole;
    double v;

    if (str_to_i64(text, &whole) || !str_to_double(text, &v)) {
        sb_str(out, text);
        return;
    }
    int n = 1;
    for (double back; n < 17; n++) {
        (void)snprintf(digits_of, sizeof(digits_of), "%.*e", n - 1, v);
        if (str_to_double(str_c(digits_of), &back) && back == v)
            break;
    }
    (void)snprintf(digits_of, sizeof(digits_of), "%.*e", n - 1, v);
    (void)str_to_i64(str_c(strchr(digits_of, 'e') + 1), &whole);
    if (whole >= -4 && whole < 6)
        (void)snprintf(digits_of, sizeof(digits_of), "%.*f", (int)MAX(0, n - 1 - whole), v);
    sb_c(out, digits_of);
}

/* ---- structure ---- */

static void write_value(struct writer *w, const struct tree *t, size_t indent);

/* Nothing but the text behind a dash or a colon; containers begin on a line of their own. */
static void write_scalar(struct writer *w, const struct tree *t, size_t indent)
{
    if (t->kind == TREE_STRING)
        write_text(w, t->text, indent, /* key= */ false);
    else if (t->kind == TREE_NUMBER)
        write_number(w->out, t->text);
    else
        sb_c(w->out, t->kind == TREE_NULL ? "null" : t->truth ? "true" : "false");
}

static bool is_full(const struct tree *t)
{
    return (t->kind == TREE_MAP || t->kind == TREE_LIST) && t->n > 0;
}

static void write_member(struct writer *w, str key, const struct tree *t, size_t indent)
{
    bool simple = key.n <= SIMPLE_KEY_MAX && !memchr(key.n ? key.p : "", '\n', key.n);

    sb_c(w->out, simple ? "" : "? ");
    write_text(w, key, indent + 2, /* key= */ true);
    if (!simple)
        new_line(w, indent);
    sb_char(w->out, ':');
    if (!is_full(t)) {
        sb_char(w->out, ' ');
        write_value(w, t, indent + 2);
        return;
    }
    size_t inner = t->kind == TREE_MAP ? indent + 2 : indent;
    new_line(w, inner);
    write_value(w, t, inner);
}

/* The cursor stands at column `indent` for containers. */
static void write_value(struct writer *w, const struct tree *t, size_t indent)
{
    if (!is_full(t)) {
        if (t->kind == TREE_MAP || t->kind == TREE_LIST)
            sb_c(w->out, t->kind == TREE_MAP ? "{}" : "[]");
        else
            write_scalar(w, t, indent);
        return;
    }
    if (t->kind == TREE_LIST) {
        for (uint32_t i = 0; i < t->n; i++) {
            if (i)
                new_line(w, indent);
            sb_c(w->out, "- ");
            write_value(w, &t->items[i], indent + 2);
        }
        return;
    }
    uint32_t *order = xcalloc(t->n, sizeof(*order));
    for (uint32_t i = 0; i < t->n; i++)
        order[i] = i;
    sort_keys(order, t->n, t->keys);
    for (uint32_t i = 0; i < t->n; i++) {
        if (i)
            new_line(w, indent);
        write_member(w, t->keys[order[i]], &t->items[order[i]], indent);
    }
    free(order);
}

void yaml_go_write(struct sb *out, const struct tree *t)
{
    struct writer w = {out, out->n};

    write_value(&w, t, 0);
    sb_char(out, '\n');
}
