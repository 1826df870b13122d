/* The report as one page: figures, charts, tables. Nothing is loaded from anywhere, nothing runs; light and dark as the reader has it, wide or narrow. */
#include <math.h>

#include "cli/simulate/chart.h"
#include "cli/simulate/report.h"
#include "model/duration.h"

#define MOST_TYPES 12
#define MOST_STUCK 50
#define DAY_S 86400.0
#define WAIT_POINTS 120

static const char page_head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Karpenter simulation</title>\n<style>\n"
    ":root{--bg:#f6f7f9;--card:#fff;--ink:#161b22;--soft:#5b6472;--grid:#e1e5eb;--good:#0a7f3f;--bad:#c02626;"
    "--c1:#2563eb;--c2:#ea7317;--c3:#0f9d58;--c4:#9333ea;--c5:#dc2626;--c6:#0891b2;--c7:#a16207;--c8:#64748b}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--card:#161b22;--ink:#e6edf3;--soft:#98a2b0;--grid:#2b323c;"
    "--good:#3fb96c;--bad:#f0716b;--c1:#6ea8fe;--c2:#f79d5c;--c3:#4cc38a;--c4:#c08bf0;--c5:#f0716b;--c6:#4fc3dc;"
    "--c7:#d9a441;--c8:#94a3b8}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif}\n"
    "main{max-width:1080px;margin:0 auto;padding:28px 16px 48px}h1{font-size:26px;line-height:1.2;margin:0 0 4px}\n"
    "h2{font-size:15px;margin:0 0 8px}.sub{color:var(--soft);margin:0 0 22px}\n"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;margin:0 0 12px}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:12px}\n"
    ".card{background:var(--card);border:1px solid var(--grid);border-radius:10px;padding:14px 16px;min-width:0}\n"
    ".tile b{display:block;font-size:24px;font-weight:650;letter-spacing:-.01em}.tile small{color:var(--soft)}\n"
    ".tile p{margin:2px 0 0;font-size:13px;color:var(--soft)}.good{color:var(--good)}.bad{color:var(--bad)}\n"
    "svg{display:block;width:100%;height:auto}.legend{margin:6px 0 0;font-size:13px;color:var(--soft)}\n"
    ".legend span{margin-right:12px;white-space:nowrap}.legend i{display:inline-block;width:10px;height:10px;"
    "border-radius:3px;margin-right:5px}\n"
    ".wide{margin-top:12px;overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}\n"
    "th,td{text-align:left;padding:5px 10px 5px 0;border-bottom:1px solid var(--grid);vertical-align:top}\n"
    "th{color:var(--soft);font-weight:600}tr:last-child td{border-bottom:0}.n{text-align:right;white-space:nowrap;"
    "font-variant-numeric:tabular-nums}.in{padding-left:16px}\n"
    "@media print{body{background:#fff}.card{break-inside:avoid}}\n"
    "</style>\n</head>\n<body>\n<main>\n";

/* ---- tiles ---- */

static const struct figure *find(const char *group, const char *key)
{
    uint32_t n;
    const struct figure *f = figures(&n);

    for (uint32_t i = 0; i < n; i++)
        if (strcmp(f[i].group, group) == 0 && strcmp(f[i].key, key) == 0)
            return &f[i];
    return NULL;
}

static void put_change(struct sb *out, const struct report *r, const struct figure *f, uint32_t i)
{
    double from = f->of(r->v[0].t), to = f->of(r->v[i].t);
    str change = figure_change(r->arena, f->unit, from, to);
    double better = (to - from) * f->better;

    if (change.n == 0)
        return;
    sb_printf(out, "<span class=\"%s\">" STR_FMT "</span>",
              better > 0   ? "good"
              : better < 0 ? "bad"
                           : "",
              STR_ARG(change));
}

static void put_tile(struct sb *out, const struct report *r, const char *title, const char *group, const char *key)
{
    const struct figure *f = find(group, key);

    sb_printf(out, "<div class=\"card tile\"><small>%s</small><b>", title);
    html_text(out, figure_print(r->arena, f->unit, f->of(r->v[0].t)));
    sb_c(out, "</b>");
    for (uint32_t i = 1; i < r->n; i++) {
        sb_c(out, "<p>");
        html_text(out, str_c(r->v[i].name));
        sb_c(out, ": ");
        html_text(out, figure_print(r->arena, f->unit, f->of(r->v[i].t)));
        sb_char(out, ' ');
        put_change(out, r, f, i);
        sb_c(out, "</p>");
    }
    sb_c(out, "</div>\n");
}

/* ---- charts over time ---- */

static double cost_of(const struct tally_slot *s)
{
    return slot_mean(s->usd, s) * 3600;
}

static double nodes_of(const struct tally_slot *s)
{
    return slot_mean(s->node_s, s);
}

static double running_of(const struct tally_slot *s)
{
    return slot_mean(s->running_s, s);
}

static double waiting_of(const struct tally_slot *s)
{
    return s->waiting_max;
}

static double cpu_of(const struct tally_slot *s)
{
    return s->cpu_s > 0 ? s->cpu_used_s / s->cpu_s * 100 : 0;
}

static double memory_of(const struct tally_slot *s)
{
    return s->memory_s > 0 ? s->memory_used_s / s->memory_s * 100 : 0;
}

static double evicted_of(const struct tally_slot *s)
{
    return s->evicted;
}

/* Where days, or hours, begin; as many as there is room for. */
static struct chart_tick *time_ticks(const struct report *r, uint32_t *ret_n)
{
    static const double steps[] = {3600,      3 * 3600,   6 * 3600,   DAY_S,      2 * DAY_S,
                                   5 * DAY_S, 10 * DAY_S, 30 * DAY_S, 90 * DAY_S, 365 * DAY_S};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    double step = 0, first = fmod((double)r->start_ms / 1000, DAY_S);
    uint32_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(steps) && (i == 0 || r->wanted_s / step > 8); i++)
        step = steps[i];
    struct chart_tick *v = arena_new_array(r->arena, struct chart_tick, (uint32_t)(r->wanted_s / step) + 2);
    for (double at = first > 0 ? step - fmod(first, step) : 0; at <= r->wanted_s + 1; at += step) {
        struct sb b = {0};
        int64_t month = 1, day = 1;

        time_print_rfc3339(&b, r->start_ms + (int64_t)(at * 1000));
        str s = sb_dup(&b, r->arena);
        sb_fini(&b);
        (void)str_to_i64(str_sub(s, 5, 7), &month);
        (void)str_to_i64(str_sub(s, 8, 10), &day);
        v[n].at = at / r->wanted_s;
        v[n++].text = step < DAY_S ? str_sub(s, 11, 16)
                                   : arena_printf(r->arena, "%s %lld", months[MAX(month, 1) - 1], (long long)day);
    }
    *ret_n = n;
    return v;
}

static void put_chart(struct sb *out, const struct report *r, const char *title, const char *unit, double most,
                      double (*of)(const struct tally_slot *s))
{
    struct chart_line lines[CHART_LINES] = {{0}};
    struct chart c = {.title = title,
                      .unit = unit,
                      .unit_first = unit[0] == '$',
                      .lines = lines,
                      .n_lines = MIN(r->n, CHART_LINES),
                      .n_points = TALLY_SLOTS,
                      .most = most};

    c.ticks = time_ticks(r, &c.n_ticks);
    for (uint32_t i = 0; i < c.n_lines; i++) {
        double *y = arena_new_array(r->arena, double, TALLY_SLOTS);
        uint32_t n = 0;

        for (; n < TALLY_SLOTS && r->v[i].t->slots[n].covered_s > 0; n++)
            y[n] = of(&r->v[i].t->slots[n]);
        lines[i] = (struct chart_line){.name = r->v[i].name, .y = y, .n = n, .area = r->n == 1};
    }
    sb_c(out, "<div class=\"card\"><h2>");
    html_text(out, str_c(title));
    sb_c(out, "</h2>\n");
    chart_svg(out, &c);
    if (r->n > 1)
        chart_legend(out, &c);
    sb_c(out, "</div>\n");
}

/* What share of the pods ran within a time, on an axis on which a second is as wide as … ten minutes are. */
static void put_waits(struct sb *out, const struct report *r)
{
    static const struct {
        double s;
        const char *text;
    } marks[] = {{1, "1 s"}, {10, "10 s"}, {60, "1 min"}, {600, "10 min"}, {3600, "1 h"}, {86400, "1 d"}};
    struct chart_line lines[CHART_LINES] = {{0}};
    struct chart_tick ticks[ARRAY_LEN(marks)];
    double *x = arena_new_array(r->arena, double, WAIT_POINTS), longest = 60;
    struct chart c = {.title = "Pods that ran within …",
                      .unit = "%",
                      .lines = lines,
                      .n_lines = MIN(r->n, CHART_LINES),
                      .n_points = WAIT_POINTS,
                      .ticks = ticks,
                      .x = x,
                      .most = 100};

    for (uint32_t i = 0; i < r->n; i++)
        longest = MAX(longest, tally_wait_s(r->v[i].t, 1));
    for (uint32_t k = 0; k < WAIT_POINTS; k++)
        x[k] = (double)k / (WAIT_POINTS - 1);
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (marks[i].s <= longest * 1.01)
            ticks[c.n_ticks++] = (struct chart_tick){log(marks[i].s) / log(longest), str_c(marks[i].text)};
    for (uint32_t i = 0; i < c.n_lines; i++) {
        const struct tally *t = r->v[i].t;
        double *y = arena_new_array(r->arena, double, WAIT_POINTS);

        for (uint32_t k = 0, at = 0; k < WAIT_POINTS; k++) {
            double limit_ms = 1000 * pow(longest, x[k]) + 0.5;

            while (at < t->waits_ms.n && t->waits_ms.v[at] <= limit_ms)
                at++;
            y[k] = t->waits_ms.n ? 100.0 * at / t->waits_ms.n : 0;
        }
        lines[i] = (struct chart_line){.name = r->v[i].name, .y = y, .n = WAIT_POINTS, .area = r->n == 1};
    }
    sb_c(out, "<div class=\"card\"><h2>Pods that ran within …</h2>\n");
    chart_svg(out, &c);
    if (r->n > 1)
        chart_legend(out, &c);
    sb_c(out, "</div>\n");
}

/* ---- tables ---- */

static void put_names(struct sb *out, const struct report *r, const char *title)
{
    sb_printf(out, "<tr><th>%s</th>", title);
    for (uint32_t i = 0; i < r->n; i++) {
        sb_c(out, "<th class=\"n\">");
        html_text(out, r->n > 1 ? str_c(r->v[i].name) : (str){0});
        sb_c(out, i ? "</th><th></th>" : "</th>");
    }
    sb_c(out, "</tr>\n");
}

static void put_figures(struct sb *out, const struct report *r)
{
    uint32_t n;
    const struct figure *f = figures(&n);

    sb_c(out, "<div class=\"card wide\"><table>\n");
    put_names(out, r, "");
    for (uint32_t i = 0; i < n; i++) {
        bool first = i == 0 || strcmp(f[i].group, f[i - 1].group) != 0 || strcmp(f[i].group, "pods") == 0;

        if (!figure_is_known(&f[i], r))
            continue;
        sb_printf(out, "<tr><td%s>%s</td>", first ? "" : " class=\"in\"", f[i].title);
        for (uint32_t k = 0; k < r->n; k++) {
            sb_c(out, "<td class=\"n\">");
            html_text(out, figure_print(r->arena, f[i].unit, f[i].of(r->v[k].t)));
            sb_c(out, "</td>");
            if (k) {
                sb_c(out, "<td class=\"n\">");
                put_change(out, r, &f[i], k);
                sb_c(out, "</td>");
            }
        }
        sb_c(out, "</tr>\n");
    }
    sb_c(out, "</table></div>\n");
}

static void put_reasons(struct sb *out, const struct report *r, const struct outcome *o)
{
    if (o->t->reasons.n == 0)
        return;
    sb_c(out, "<div class=\"card wide\"><h2>Why nodes went");
    if (r->n > 1) {
        sb_c(out, ": ");
        html_text(out, str_c(o->name));
    }
    sb_c(out, "</h2><table>\n");
    for (uint32_t i = 0; i < o->t->reasons.n; i++) {
        sb_c(out, "<tr><td>");
        html_text(out, o->t->reasons.v[i].name);
        sb_printf(out, "</td><td class=\"n\">%u</td></tr>\n", o->t->reasons.v[i].n);
    }
    sb_c(out, "</table></div>\n");
}

static void put_machines(struct sb *out, const struct report *r, const struct outcome *o)
{
    const struct tally *t = o->t;

    if (t->spends.n == 0)
        return;
    sb_c(out, "<div class=\"card wide\"><h2>Machines");
    if (r->n > 1) {
        sb_c(out, ": ");
        html_text(out, str_c(o->name));
    }
    sb_c(out, "</h2><table>\n<tr><th>type</th><th></th><th class=\"n\">launched</th><th class=\"n\">on average</th>"
              "<th class=\"n\">cost</th></tr>\n");
    for (uint32_t i = 0; i < MIN(t->spends.n, MOST_TYPES); i++) {
        const struct tally_spend *s = &t->spends.v[i];

        sb_c(out, "<tr><td>");
        html_text(out, s->type);
        sb_c(out, "</td><td>");
        html_text(out, s->capacity);
        sb_printf(out, "</td><td class=\"n\">%u</td><td class=\"n\">%.1f</td><td class=\"n\">" STR_FMT "</td></tr>\n",
                  s->launched, t->seconds > 0 ? s->node_s / t->seconds : 0,
                  STR_ARG(figure_print(r->arena, UNIT_USD, s->usd)));
    }
    sb_c(out, "</table>");
    if (t->spends.n > MOST_TYPES)
        sb_printf(out, "<p class=\"legend\">and %u more</p>", t->spends.n - MOST_TYPES);
    sb_c(out, "</div>\n");
}

static void put_pools(struct sb *out, const struct report *r, const struct outcome *o)
{
    const struct tally *t = o->t;

    if (t->pools.n < 2)
        return;
    sb_c(out, "<div class=\"card wide\"><h2>NodePools");
    if (r->n > 1) {
        sb_c(out, ": ");
        html_text(out, str_c(o->name));
    }
    sb_c(out, "</h2><table>\n<tr><th>name</th><th class=\"n\">nodes on average</th><th class=\"n\">at most</th>"
              "<th class=\"n\">cost</th></tr>\n");
    for (uint32_t i = 0; i < t->pools.n; i++) {
        sb_c(out, "<tr><td>");
        html_text(out, t->pools.v[i].name);
        sb_printf(out, "</td><td class=\"n\">%.1f</td><td class=\"n\">%u</td><td class=\"n\">" STR_FMT "</td></tr>\n",
                  t->seconds > 0 ? t->pools.v[i].node_s / t->seconds : 0, t->pools.v[i].nodes_max,
                  STR_ARG(figure_print(r->arena, UNIT_USD, t->pools.v[i].usd)));
    }
    sb_c(out, "</table></div>\n");
}

static void put_stuck(struct sb *out, const struct report *r, const struct outcome *o)
{
    if (o->t->stuck.n == 0)
        return;
    sb_c(out, "<div class=\"card wide\"><h2 class=\"bad\">Pods that never ran");
    if (r->n > 1) {
        sb_c(out, ": ");
        html_text(out, str_c(o->name));
    }
    sb_c(out, "</h2><table>\n<tr><th>workload</th><th class=\"n\">pods</th><th>why</th></tr>\n");
    for (uint32_t i = 0; i < MIN(o->t->stuck.n, MOST_STUCK); i++) {
        const struct tally_stuck *s = &o->t->stuck.v[i];

        sb_c(out, "<tr><td>");
        html_text(out, s->workload);
        sb_printf(out, "</td><td class=\"n\">%u%s</td><td>", s->n, s->gone ? " (gone)" : "");
        html_text(out, s->why);
        sb_c(out, "</td></tr>\n");
    }
    sb_c(out, "</table>");
    if (o->t->stuck.n > MOST_STUCK)
        sb_printf(out, "<p class=\"legend\">and %u more</p>", o->t->stuck.n - MOST_STUCK);
    sb_c(out, "</div>\n");
}

static void put_title(struct sb *out, const struct report *r)
{
    const struct tally *t = r->v[0].t;
    struct sb start = {0};

    time_print_rfc3339(&start, r->start_ms);
    sb_printf(out,
              "<h1>" STR_FMT " of a simulated cluster</h1>\n<p class=\"sub\">From " STR_FMT ", seed %llu, prices: ",
              STR_ARG(span_text(r->arena, t->seconds)), STR_ARG(str_sub(sb_view(&start), 0, 10)),
              (unsigned long long)r->seed);
    html_text(out, str_c(r->origin));
    if (t->seconds + 1 < r->wanted_s)
        sb_printf(out, ". Stopped early: " STR_FMT " were asked for", STR_ARG(span_text(r->arena, r->wanted_s)));
    sb_c(out, ".</p>\n");
    sb_fini(&start);
}

void report_html(struct sb *out, const struct report *r)
{
    sb_c(out, page_head);
    put_title(out, r);
    sb_c(out, "<div class=\"tiles\">\n");
    put_tile(out, r, "Cost of a month", "cost", "perMonth");
    put_tile(out, r, "99% of the pods ran within", "pending", "p99");
    put_tile(out, r, "Nodes on average", "nodes", "mean");
    put_tile(out, r, "CPU in use", "utilization", "cpu");
    put_tile(out, r, "Pods evicted", "pods", "evicted");
    sb_c(out, "</div>\n<div class=\"charts\">\n");
    put_chart(out, r, "Cost an hour", "$", 0, cost_of);
    put_chart(out, r, "Nodes", "", 0, nodes_of);
    put_chart(out, r, "Pods that run", "", 0, running_of);
    put_chart(out, r, "Pods that wait, at most", "", 0, waiting_of);
    put_chart(out, r, "CPU requested of what nodes have", "%", 100, cpu_of);
    put_chart(out, r, "Memory requested of what nodes have", "%", 100, memory_of);
    put_waits(out, r);
    put_chart(out, r, "Pods evicted", "", 0, evicted_of);
    sb_c(out, "</div>\n");
    put_figures(out, r);
    for (uint32_t i = 0; i < r->n; i++)
        put_stuck(out, r, &r->v[i]);
    for (uint32_t i = 0; i < r->n; i++) {
        put_reasons(out, r, &r->v[i]);
        put_pools(out, r, &r->v[i]);
        put_machines(out, r, &r->v[i]);
    }
    sb_c(out, "</main>\n</body>\n</html>\n");
}
