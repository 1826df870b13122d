/* text - output for people: columns, wrapped paragraphs, colours.
 *
 * Names come from outside: whatever is printed here has its control characters replaced, so that a manifest cannot
 * speak to the terminal. Widths are counted in characters, not bytes.
 */
#pragma once

#include "base/arena.h"
#include "base/sb.h"
#include "base/vec.h"

enum tone { TONE_PLAIN, TONE_HEAD, TONE_DIM, TONE_BAD, TONE_GOOD };

struct text_style {
    bool colour;
    unsigned width; /* 0: no limit */
};

unsigned text_columns(str s);
void text_put(struct sb *b, str s); /* without control characters */
void text_tone(struct sb *b, const struct text_style *st, enum tone t, str s);

/* `first` and then the words of s; lines after the first are indented as far as `first` reaches. Ends in a newline. */
void text_wrap(struct sb *b, const struct text_style *st, str first, str s);

/* 1234567 as 1,234,567; 0.07 as $0.0700 with 4 decimals. Both live in the arena. */
str text_count(struct arena *a, uint64_t n);
str text_money(struct arena *a, double usd, int decimals);

#define GRID_COLS 12

/* A table whose last column is a list, or a sentence, that may go on over several lines. Columns with nothing in them are left out. */
struct grid_row {
    str cells[GRID_COLS];
    const str *items;
    uint32_t n_items;
};

struct grid {
    struct {
        const char *title;
        bool right;
        unsigned max; /* longer cells are cut where the width is limited; 0: never */
    } cols[GRID_COLS];
    uint32_t n_cols;
    const char *items_title;
    bool prose; /* the items are the words of a sentence: no commas between them */
    VEC(struct grid_row) rows;
};

void grid_print(struct sb *b, const struct text_style *st, const struct grid *g);
void grid_fini(struct grid *g);
