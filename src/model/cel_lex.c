/* Words of an expression. */
#include "base/utf8.h"
#include "model/cel_impl.h"

bool cel_fail_at(str source, size_t at, struct err *e, const char *what, str name)
{
    uint32_t line = 1, col = 1;
    bool quoted = str_ends(str_c(what), STR("'"));

    for (size_t i = 0; i < at && i < source.n;) {
        uint32_t c;

        i += utf8_step(source, i, &c);
        col = c == '\n' ? 1 : col + 1;
        line += c == '\n';
    }
    return err_set(e, ERR_INVALID, "%u:%u: %s%.*s%s", line, col, what, (int)MIN(name.n, (size_t)120), name.p,
                   quoted ? "'" : "");
}

static bool bad(struct cel_lexer *l, size_t at, const char *what)
{
    return cel_fail_at(l->s, at, l->e, what, (str){0});
}

static char look(const struct cel_lexer *l, size_t ahead)
{
    return l->at + ahead < l->s.n ? l->s.p[l->at + ahead] : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void skip_blanks(struct cel_lexer *l)
{
    while (l->at < l->s.n) {
        char c = look(l, 0);

        if (c == '/' && look(l, 1) == '/')
            while (l->at < l->s.n && look(l, 0) != '\n')
                l->at++;
        else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f')
            l->at++;
        else
            return;
    }
}

/* ---- numbers ---- */

static bool lex_whole(struct cel_lexer *l, size_t start, struct cel_token *t)
{
    uint64_t v = 0;
    bool hex = look(l, 0) == '0' && (look(l, 1) | 32) == 'x';
    unsigned base = hex ? 16 : 10;

    l->at += hex ? 2 : 0;
    size_t digits = l->at;
    for (; hex ? hex_value(look(l, 0)) >= 0 : is_digit(look(l, 0)); l->at++)
        if (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, (uint64_t)hex_value(look(l, 0)), &v))
            return bad(l, start, "invalid int literal");
    if (l->at == digits)
        return bad(l, start, "invalid int literal");
    t->u = v;
    t->kind = (look(l, 0) | 32) == 'u' ? TOKEN_UINT : TOKEN_INT;
    l->at += t->kind == TOKEN_UINT;
    return true;
}

static bool lex_number(struct cel_lexer *l, struct cel_token *t)
{
    size_t start = l->at, end = l->at;
    bool point = false, exponent = false;

    while (end < l->s.n && is_digit(l->s.p[end]))
        end++;
    if (end + 1 < l->s.n && l->s.p[end] == '.' && is_digit(l->s.p[end + 1]))
        for (point = true, end++; end < l->s.n && is_digit(l->s.p[end]);)
            end++;
    size_t e = end;
    if (e < l->s.n && (l->s.p[e] | 32) == 'e') {
        e++;
        if (e < l->s.n && (l->s.p[e] == '+' || l->s.p[e] == '-'))
            e++;
        for (; e < l->s.n && is_digit(l->s.p[e]); e++)
            exponent = true;
    }
    if (!point && !exponent)
        return lex_whole(l, start, t);
    l->at = exponent ? e : end;
    t->kind = TOKEN_DOUBLE;
    t->text = str_sub(l->s, start, l->at);
    return str_to_double(t->text, &t->d) || bad(l, start, "invalid double literal");
}

/* ---- texts ---- */

/* So many digits of an escape; false when there are fewer. */
static bool read_digits(struct cel_lexer *l, uint32_t n, unsigned base, uint32_t *ret)
{
    *ret = 0;
    for (uint32_t i = 0; i < n; i++, l->at++) {
        int v = hex_value(look(l, 0));

        if (v < 0 || v >= (int)base)
            return false;
        *ret = *ret * base + (uint32_t)v;
    }
    return true;
}

/* The backslash is behind us. */
static bool read_escape(struct cel_lexer *l, bool bytes, struct sb *b)
{
    static const char from[] = "abfnrtv\\?\"'`", to[] = "\a\b\f\n\r\t\v\\?\"'`";
    size_t start = l->at - 1;
    char c = look(l, 0);
    uint32_t v = 0;
    const char *plain = c ? strchr(from, c) : NULL;

    if (plain) {
        l->at++;
        sb_char(b, to[plain - from]);
        return true;
    }
    bool ok = false, byte = false;
    if (c >= '0' && c <= '3')
        ok = read_digits(l, 3, 8, &v), byte = bytes;
    else if (c == 'x' || c == 'X')
        l->at++, ok = read_digits(l, 2, 16, &v), byte = bytes;
    else if (c == 'u' && !bytes)
        l->at++, ok = read_digits(l, 4, 16, &v);
    else if (c == 'U' && !bytes)
        l->at++, ok = read_digits(l, 8, 16, &v);
    if (!ok || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
        return bad(l, start, "invalid escape sequence");
    if (byte)
        sb_char(b, (char)v);
    else
        utf8_put(b, v);
    return true;
}

static bool read_quoted(struct cel_lexer *l, bool raw, bool bytes, struct sb *b)
{
    size_t start = l->at;
    char q = look(l, 0);
    bool three = look(l, 1) == q && look(l, 2) == q;

    l->at += three ? 3 : 1;
    for (;;) {
        char c = look(l, 0);

        if (l->at >= l->s.n || (c == '\n' && !three))
            return bad(l, start, "a text does not end");
        if (c == q && (!three || (look(l, 1) == q && look(l, 2) == q)))
            break;
        l->at++;
        if (c != '\\' || raw)
            sb_char(b, c);
        else if (!read_escape(l, bytes, b))
            return false;
    }
    l->at += three ? 3 : 1;
    return true;
}

static bool lex_text(struct cel_lexer *l, bool raw, bool bytes, struct cel_token *t)
{
    struct sb b = {0};
    size_t start = l->at;
    bool ok = read_quoted(l, raw, bytes, &b);

    t->kind = bytes ? TOKEN_BYTES : TOKEN_STRING;
    t->text = sb_dup(&b, l->a);
    sb_fini(&b);
    if (ok && !bytes && !utf8_valid(t->text))
        return bad(l, start, "a text is not UTF-8");
    return ok;
}

/* r'…', b'…', rb'…' in any case: how many letters stand before the quote; 0 when it is not that. */
static size_t text_prefix(const struct cel_lexer *l, bool *raw, bool *bytes)
{
    for (size_t n = 0; n < 3; n++) {
        char c = look(l, n);

        if (c == '"' || c == '\'')
            return n;
        if ((c | 32) == 'r' && !*raw)
            *raw = true;
        else if ((c | 32) == 'b' && !*bytes)
            *bytes = true;
        else
            break;
    }
    return 0;
}

/* ---- the rest ---- */

static bool lex_backticks(struct cel_lexer *l, struct cel_token *t)
{
    size_t start = ++l->at;

    while (l->at < l->s.n && look(l, 0) != '`' && look(l, 0) != '\n')
        l->at++;
    if (look(l, 0) != '`' || l->at == start)
        return bad(l, start, "a quoted name does not end");
    t->kind = TOKEN_QUOTED;
    t->text = str_sub(l->s, start, l->at++);
    return true;
}

static bool lex_punct(struct cel_lexer *l, struct cel_token *t)
{
    static const char *const puncts[] = {"==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/",
                                         "%",  "!",  "(",  ")",  "[",  "]",  "{", "}", ".", ",", "?", ":"};

    for (size_t i = 0; i < ARRAY_LEN(puncts); i++)
        if (str_starts(str_sub(l->s, l->at, l->s.n), str_c(puncts[i]))) {
            t->kind = TOKEN_PUNCT;
            t->text = str_c(puncts[i]);
            l->at += t->text.n;
            return true;
        }
    return bad(l, l->at, "a character that has no meaning here");
}

bool cel_lex(struct cel_lexer *l, struct cel_token *t)
{
    bool raw = false, bytes = false;

    skip_blanks(l);
    *t = (struct cel_token){.kind = TOKEN_END, .at = l->at};
    if (l->at >= l->s.n)
        return true;
    char c = look(l, 0);
    if (c == '"' || c == '\'')
        return lex_text(l, false, false, t);
    size_t prefix = text_prefix(l, &raw, &bytes);
    if (prefix) {
        l->at += prefix;
        return lex_text(l, raw, bytes, t);
    }
    if (is_letter(c)) {
        while (is_letter(look(l, 0)) || is_digit(look(l, 0)))
            l->at++;
        t->kind = TOKEN_IDENT;
        t->text = str_sub(l->s, t->at, l->at);
        return true;
    }
    if (is_digit(c) || (c == '.' && is_digit(look(l, 1))))
        return lex_number(l, t);
    if (c == '`')
        return lex_backticks(l, t);
    return lex_punct(l, t);
}
