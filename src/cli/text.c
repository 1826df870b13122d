#include "cli/text.h"

#include <math.h>
#include <stdio.h>

#define INDENT 2  /* of a grid */
#define GAP 2     /* between columns */
#define NARROW 24 /* a list with less room than this starts on a line of its own */
#define NARROW_PROSE 44
#define OWN_INDENT 6 /* of such a line */

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

unsigned text_columns(str s)
{
    unsigned n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += !is_continuation(s.p[i]);
    return n;
}

/* C1 controls are two bytes in UTF-8, c2 80 to c2 9f; terminals obey them too. */
void text_put(struct sb *b, str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c < 0x20 || c == 0x7f) {
            sb_char(b, '?');
        } else if (c == 0xc2 && i + 1 < s.n && (unsigned char)s.p[i + 1] < 0xa0) {
            sb_char(b, '?');
            i++;
        } else {
            sb_char(b, s.p[i]);
        }
    }
}

static const char *const tone_codes[] = {
    [TONE_PLAIN] = "",       [TONE_HEAD] = "\033[1m",  [TONE_DIM] = "\033[2m",
    [TONE_BAD] = "\033[31m", [TONE_GOOD] = "\033[32m",
};

void text_tone(struct sb *b, const struct text_style *st, enum tone t, str s)
{
    bool on = st->colour && t != TONE_PLAIN;

    if (on)
        sb_c(b, tone_codes[t]);
    text_put(b, s);
    if (on)
        sb_c(b, "\033[0m");
}

void text_wrap(struct sb *b, const struct text_style *st, str first, str s)
{
    unsigned indent = text_columns(first), at = indent;
    bool fresh = true;

    text_put(b, first);
    while (s.n) {
        str word;

        (void)str_cut(s, ' ', &word, &s);
        unsigned n = text_columns(word);

        if (!fresh && st->width && at + 1 + n > st->width) {
            sb_char(b, '\n');
            sb_fill(b, ' ', indent);
            at = indent;
            fresh = true;
        }
        if (!fresh) {
            sb_char(b, ' ');
            at++;
        }
        text_put(b, word);
        at += n;
        fresh = false;
    }
    sb_char(b, '\n');
}

static str with_commas(struct arena *a, str digits)
{
    size_t n = digits.n + (digits.n ? (digits.n - 1) / 3 : 0), at = 0;
    char *p = arena_new_array(a, char, n + 1);

    for (size_t i = 0; i < digits.n; i++) {
        if (i && (digits.n - i) % 3 == 0)
            p[at++] = ',';
        p[at++] = digits.p[i];
    }
    return (str){p, at};
}

str text_count(struct arena *a, uint64_t n)
{
    return with_commas(a, arena_printf(a, "%llu", (unsigned long long)n));
}

str text_money(struct arena *a, double usd, int decimals)
{
    str all = arena_printf(a, "%.*f", decimals, usd), whole, rest;

    if (!isfinite(usd) || !str_cut(all, '.', &whole, &rest))
        return arena_printf(a, "$" STR_FMT, STR_ARG(all));
    return arena_printf(a, "$" STR_FMT "." STR_FMT, STR_ARG(with_commas(a, whole)), STR_ARG(rest));
}

/* --- grids ----------------------------------------------------------------------------------------------------- */

struct layout {
    unsigned width[GRID_COLS]; /* 0: the column is left out */
    unsigned list_at;          /* where the list starts */
    bool list_below;           /* on lines of its own */
};

static struct layout lay_out(const struct text_style *st, const struct grid *g)
{
    struct layout l = {.list_at = INDENT};

    for (uint32_t c = 0; c < g->n_cols; c++) {
        unsigned max = st->width ? g->cols[c].max : 0;

        for (uint32_t r = 0; r < g->rows.n; r++)
            l.width[c] = MAX(l.width[c], text_columns(g->rows.v[r].cells[c]));
        if (l.width[c] == 0)
            continue;
        l.width[c] = MAX(max ? MIN(l.width[c], max) : l.width[c], text_columns(str_c(g->cols[c].title)));
        l.list_at += l.width[c] + GAP;
    }
    l.list_below = st->width && l.list_at + (g->prose ? NARROW_PROSE : NARROW) > st->width;
    if (l.list_below)
        l.list_at = OWN_INDENT;
    return l;
}

/* Cells that are too long lose their middle: names tend to differ at the end. */
static void put_cell(struct sb *b, str s, unsigned width, bool right)
{
    unsigned n = text_columns(s);

    if (n > width && width >= 3) {
        size_t head = (width - 1) / 2, tail = width - 1 - head, from = s.n, to = 0;

        for (; to < s.n && (head > 0 || is_continuation(s.p[to])); to++)
            head -= !is_continuation(s.p[to]);
        while (tail > 0 && from > 0)
            tail -= !is_continuation(s.p[--from]);
        text_put(b, str_sub(s, 0, to));
        sb_c(b, "…");
        text_put(b, str_sub(s, from, s.n));
        return;
    }
    if (right)
        sb_fill(b, ' ', width - n);
    text_put(b, s);
    if (!right)
        sb_fill(b, ' ', width - n);
}

static void trim_line(struct sb *b)
{
    while (b->n && b->p[b->n - 1] == ' ')
        b->n--;
    sb_char(b, '\n');
}

static void put_titles(struct sb *b, const struct text_style *st, const struct grid *g, const struct layout *l)
{
    struct sb line = {0};

    for (uint32_t c = 0; c < g->n_cols; c++) {
        if (!l->width[c])
            continue;
        put_cell(&line, str_c(g->cols[c].title), l->width[c], g->cols[c].right);
        sb_fill(&line, ' ', GAP);
    }
    if (!l->list_below)
        sb_c(&line, g->items_title);
    while (line.n && line.p[line.n - 1] == ' ')
        line.n--;
    sb_fill(b, ' ', INDENT);
    text_tone(b, st, TONE_DIM, sb_view(&line));
    sb_char(b, '\n');
    sb_fini(&line);
}

static void put_list(struct sb *b, const struct text_style *st, const struct grid *g, const struct grid_row *r,
                     const struct layout *l)
{
    unsigned at = l->list_at;

    if (l->list_below) {
        trim_line(b);
        sb_fill(b, ' ', l->list_at);
    }
    for (uint32_t i = 0; i < r->n_items; i++) {
        bool comma = i + 1 < r->n_items && !g->prose;
        unsigned n = text_columns(r->items[i]) + comma;

        if (i && st->width && at + 1 + n > st->width) {
            sb_char(b, '\n');
            sb_fill(b, ' ', l->list_at);
            at = l->list_at;
        } else if (i) {
            sb_char(b, ' ');
            at++;
        }
        text_put(b, r->items[i]);
        if (comma)
            sb_char(b, ',');
        at += n;
    }
}

void grid_print(struct sb *b, const struct text_style *st, const struct grid *g)
{
    struct layout l = lay_out(st, g);

    put_titles(b, st, g, &l);
    for (uint32_t i = 0; i < g->rows.n; i++) {
        const struct grid_row *r = &g->rows.v[i];

        sb_fill(b, ' ', INDENT);
        for (uint32_t c = 0; c < g->n_cols; c++) {
            if (!l.width[c])
                continue;
            put_cell(b, r->cells[c], l.width[c], g->cols[c].right);
            sb_fill(b, ' ', GAP);
        }
        put_list(b, st, g, r, &l);
        trim_line(b);
    }
}

void grid_fini(struct grid *g)
{
    vec_fini(&g->rows);
}
