/* Words of scripts: blanks and quotes as in sh, or with ` in the place of \ as in PowerShell. */
#include "sim/boot/words.h"

#include "base/sb.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool ends_command(char c)
{
    return c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')';
}

static void skip(struct words *w, size_t n)
{
    w->rest = str_sub(w->rest, n, w->rest.n);
}

static void skip_line(struct words *w)
{
    const char *end = w->rest.n ? memchr(w->rest.p, '\n', w->rest.n) : NULL;

    skip(w, end ? (size_t)(end - w->rest.p) : w->rest.n);
}

/* Behind the end of a line with <<WORD: up to the line that is WORD. */
static void skip_document(struct words *w)
{
    while (w->here.n && w->rest.n) {
        str line, rest;

        (void)str_cut(w->rest, '\n', &line, &rest);
        w->rest = rest;
        if (str_eq(str_trim(line), w->here))
            w->here = (str){0};
    }
    w->here = (str){0};
}

/* Up to the word's first byte; what ends a command on the way is taken. */
static void skip_between(struct words *w)
{
    while (w->rest.n) {
        char c = w->rest.p[0];

        if (is_blank(c)) {
            skip(w, 1);
        } else if (c == w->escape && w->rest.n > 1 && w->rest.p[1] == '\n') {
            skip(w, 2);
        } else if (c == '#') {
            skip_line(w);
        } else if (ends_command(c)) {
            w->started = false;
            skip(w, 1);
            if (c == '\n')
                skip_document(w);
        } else {
            return;
        }
    }
}

/* Inside of quotes; the rest begins behind the opening one. */
static bool take_quoted(struct words *w, struct sb *b, char quote)
{
    for (size_t i = 0; i < w->rest.n; i++) {
        char c = w->rest.p[i], next = i + 1 < w->rest.n ? w->rest.p[i + 1] : '\0';
        bool escaped = quote == '"' && c == w->escape && next && strchr("\"\\$`\n", next);
        bool doubled = c == quote && next == quote && w->escape == '`'; /* '' is ' in PowerShell */

        if (c == quote && !doubled) {
            skip(w, i + 1);
            return true;
        }
        if (escaped || doubled)
            c = w->rest.p[++i];
        if (!escaped || c != '\n')
            sb_char(b, c);
    }
    w->rest = (str){0};
    return false;
}

/* Of <<WORD, <<-WORD, <<'WORD'; a <<< is none. */
static void note_document(struct words *w, str word)
{
    if (w->escape != '\\' || !str_starts(word, STR("<<")) || str_starts(word, STR("<<<")))
        return;
    word = str_sub(word, 2, word.n);
    if (str_starts(word, STR("-")))
        word = str_sub(word, 1, word.n);
    w->here = word;
}

bool words_next(struct words *w, str *ret, bool *ret_first)
{
    struct sb b = {0};
    bool any = false;

    skip_between(w);
    while (w->rest.n && !is_blank(w->rest.p[0]) && !ends_command(w->rest.p[0])) {
        char c = w->rest.p[0];

        any = true;
        skip(w, 1);
        if (c == '\'' || c == '"') {
            if (!take_quoted(w, &b, c)) {
                w->unclosed = true;
                any = false;
                break;
            }
        } else if (c == w->escape && w->rest.n) {
            if (w->rest.p[0] != '\n')
                sb_char(&b, w->rest.p[0]);
            skip(w, 1);
        } else {
            sb_char(&b, c);
        }
    }
    if (any) {
        *ret = sb_dup(&b, w->a);
        *ret_first = !w->started;
        w->started = true;
        note_document(w, *ret);
    }
    sb_fini(&b);
    return any;
}
