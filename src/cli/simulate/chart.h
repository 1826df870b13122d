/* chart - lines over time, or bars, as SVG inside a page or as a file of its own: colours are the page's variables, with others to fall back on.
 */
#pragma once

#include "base/sb.h"

#define CHART_LINES 8

struct chart_line {
    const char *name;
    const double *y; /* [n] */
    uint32_t n;      /* points that there are; those of the chart when everything was simulated */
    bool area;       /* filled down to zero */
};

struct chart_tick {
    double at; /* 0 … 1 along the axis */
    str text;
};

struct chart {
    const char *title;
    const char *unit; /* before the numbers of the axis: "$"; or after them: "%" */
    bool unit_first;
    const struct chart_line *lines;
    uint32_t n_lines;
    uint32_t n_points; /* of a line that goes all the way */
    const struct chart_tick *ticks;
    uint32_t n_ticks;
    double most;     /* of the axis; 0: as high as the highest point */
    const double *x; /* [n_points] 0 … 1; NULL: evenly */
};

void chart_svg(struct sb *out, const struct chart *c);
void chart_legend(struct sb *out, const struct chart *c); /* names of the lines, as HTML */
void html_text(struct sb *out, str s);                    /* escaped, without control characters */
