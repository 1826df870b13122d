#include "cli/simulate/chart.h"

#include <math.h>

#define WIDTH 480
#define HEIGHT 210
#define LEFT 44
#define RIGHT 8
#define TOP 10
#define BOTTOM 22
#define GRID_LINES 4

static const char *const colours[CHART_LINES] = {"#2563eb", "#ea7317", "#0f9d58", "#9333ea",
                                                 "#dc2626", "#0891b2", "#a16207", "#64748b"};

void html_text(struct sb *out, str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c == '<')
            sb_c(out, "&lt;");
        else if (c == '>')
            sb_c(out, "&gt;");
        else if (c == '&')
            sb_c(out, "&amp;");
        else if (c == '"')
            sb_c(out, "&quot;");
        else
            sb_char(out, (unsigned char)c < 0x20 || c == 0x7f ? ' ' : c);
    }
}

/* The next of 1, 2, 2.5, 5, 10, … */
static double nice(double v)
{
    double base = pow(10, floor(log10(v)));
    static const double steps[] = {1, 2, 2.5, 5, 10};

    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (v <= steps[i] * base * 1.0000001)
            return steps[i] * base;
    return 10 * base;
}

static double highest(const struct chart *c)
{
    double v = 0;

    for (uint32_t i = 0; i < c->n_lines; i++)
        for (uint32_t k = 0; k < c->lines[i].n; k++)
            v = MAX(v, c->lines[i].y[k]);
    return v;
}

static double x_of(const struct chart *c, uint32_t k)
{
    double at = c->x ? c->x[k] : ((double)k + 0.5) / c->n_points;

    return LEFT + at * (WIDTH - LEFT - RIGHT);
}

static double y_of(double v, double top)
{
    return TOP + (1 - MIN(v / top, 1)) * (HEIGHT - TOP - BOTTOM);
}

static void put_number(struct sb *out, const struct chart *c, double v)
{
    if (c->unit_first)
        sb_c(out, c->unit);
    if (v >= 10000)
        sb_printf(out, "%.4gk", v / 1000);
    else
        sb_printf(out, "%.4g", v);
    if (!c->unit_first)
        sb_c(out, c->unit);
}

static void put_axes(struct sb *out, const struct chart *c, double top, double step)
{
    for (int i = 0; i * step <= top * 1.0001; i++) {
        double y = y_of(i * step, top);

        sb_printf(
            out,
            "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"var(--grid,#d4d8e0)\" stroke-width=\"%s\"/>"
            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
            LEFT, WIDTH - RIGHT, y, y, i ? "0.6" : "1", LEFT - 5, y + 3.5);
        put_number(out, c, i * step);
        sb_c(out, "</text>\n");
    }
    for (uint32_t i = 0; i < c->n_ticks; i++) {
        double x = LEFT + c->ticks[i].at * (WIDTH - LEFT - RIGHT);

        sb_printf(
            out,
            "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"var(--grid,#d4d8e0)\" stroke-width=\"0.6\"/>"
            "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">",
            x, x, HEIGHT - BOTTOM, HEIGHT - BOTTOM + 4, x, HEIGHT - 6,
            c->ticks[i].at < 0.04   ? "start"
            : c->ticks[i].at > 0.96 ? "end"
                                    : "middle");
        html_text(out, c->ticks[i].text);
        sb_c(out, "</text>\n");
    }
}

static void put_line(struct sb *out, const struct chart *c, uint32_t i, double top)
{
    const struct chart_line *l = &c->lines[i];

    if (l->n == 0)
        return;
    if (l->area) {
        sb_printf(out, "<path d=\"M%.1f %.1f", x_of(c, 0), y_of(0, top));
        for (uint32_t k = 0; k < l->n; k++)
            sb_printf(out, "L%.1f %.1f", x_of(c, k), y_of(l->y[k], top));
        sb_printf(out, "L%.1f %.1fZ\" fill=\"var(--c%u,%s)\" fill-opacity=\"0.13\"/>\n", x_of(c, l->n - 1),
                  y_of(0, top), i + 1, colours[i]);
    }
    sb_c(out, "<path d=\"");
    for (uint32_t k = 0; k < l->n; k++)
        sb_printf(out, "%c%.1f %.1f", k ? 'L' : 'M', x_of(c, k), y_of(l->y[k], top));
    sb_printf(out, "\" fill=\"none\" stroke=\"var(--c%u,%s)\" stroke-width=\"1.6\" stroke-linejoin=\"round\"/>\n",
              i + 1, colours[i]);
}

void chart_svg(struct sb *out, const struct chart *c)
{
    double most = c->most > 0 ? c->most : highest(c);
    double step = nice(MAX(most, 1e-6) / GRID_LINES), top = ceil(MAX(most, 1e-6) / step - 1e-9) * step;

    sb_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH,
              HEIGHT);
    html_text(out, str_c(c->title));
    sb_c(out, "\" font-family=\"system-ui,sans-serif\" font-size=\"11\" fill=\"var(--soft,#5b6472)\">\n");
    put_axes(out, c, top, step);
    for (uint32_t i = 0; i < c->n_lines; i++)
        put_line(out, c, i, top);
    sb_c(out, "</svg>\n");
}

void chart_legend(struct sb *out, const struct chart *c)
{
    sb_c(out, "<p class=\"legend\">");
    for (uint32_t i = 0; i < c->n_lines; i++) {
        sb_printf(out, "<span><i style=\"background:var(--c%u,%s)\"></i>", i + 1, colours[i]);
        html_text(out, str_c(c->lines[i].name));
        sb_c(out, "</span> ");
    }
    sb_c(out, "</p>\n");
}
