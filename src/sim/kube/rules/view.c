/* Writing values as the server's own types, and the difference of two such texts. */
#include "sim/kube/rules/view.h"

#include "base/map.h"
#include "base/vec.h"
#include "data/json.h"
#include "sim/kube/rules/rule.h"

static void write_struct(struct jw *w, const struct view *v, const struct tree *t, const struct tree *around);

static void write_list(struct jw *w, const struct view *sub, const struct tree *t)
{
    if (!t) {
        jw_null(w);
        return;
    }
    jw_list(w);
    for (uint32_t i = 0; i < list_len(t); i++)
        write_struct(w, sub, &t->items[i], NULL);
    jw_end(w);
}

static void write_field(struct jw *w, const struct view *v, const struct tree *t, const struct tree *around)
{
    switch (v->type) {
    case VIEW_STR:
        jw_str(w, tree_scalar(t));
        return;
    case VIEW_INT:
        jw_number(w, t && t->kind == TREE_NUMBER ? t->text : STR("0"));
        return;
    case VIEW_BOOL:
        jw_bool(w, tree_is_true(t));
        return;
    case VIEW_ANY:
    case VIEW_TAGGED:
        json_sorted(w, t);
        return;
    case VIEW_STRUCT:
        write_struct(w, v->sub, t, around);
        return;
    case VIEW_PTR:
        if (t)
            write_struct(w, v->sub, t, around);
        else
            jw_null(w);
        return;
    case VIEW_LIST:
        write_list(w, v->sub, t);
        return;
    }
}

static const struct tree *find(const struct view *v, const struct tree *t, const struct tree *around)
{
    const char *dot = strchr(v->json, '.');

    if (v->json[0] == '^')
        return tree_get(around, v->json + 1);
    if (!dot)
        return tree_get(t, v->json);
    const struct tree *outer = tree_find((struct tree *)t, (str){v->json, (size_t)(dot - v->json)});
    return tree_get(outer, dot + 1);
}

static void write_struct(struct jw *w, const struct view *v, const struct tree *t, const struct tree *around)
{
    jw_map(w);
    for (; v->name; v++) {
        const struct tree *x = find(v, t, around);

        if (v->type == VIEW_TAGGED && !x)
            continue;
        jw_key(w, v->name);
        write_field(w, v, x, t);
    }
    jw_end(w);
}

void view_write(struct sb *out, const struct view *v, const struct tree *t, unsigned indent)
{
    struct jw w = {.out = out, .indent = indent};

    if (t)
        write_struct(&w, v, t, NULL);
    else
        jw_null(&w);
}

str view_text(struct arena *a, const struct view *v, const struct tree *t)
{
    struct sb b = {0};

    view_write(&b, v, t, 0);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

/* ---- the difference of two texts ---- */

#define AROUND 3u         /* equal lines shown before and after a change */
#define MANY_LINES 200u   /* from here on lines that come too often do not begin a match */
#define MOST_LINES 20000u /* of one text; more are not compared */

struct text {
    VEC(str) lines;
    uint32_t *id; /* equal lines have equal numbers */
};

static void cut_lines(str s, struct text *ret)
{
    str head;

    for (bool more = true; more;) {
        more = str_cut(s, '\n', &head, &s);
        vec_push(&ret->lines, head);
    }
}

/* Where the lines of the new text are: at[first[id]] … at[first[id + 1] - 1], ascending. */
struct index {
    uint32_t *first, *at;
    uint32_t n_ids;
};

static void number_lines(struct arena *a, struct text *x, struct text *y, struct index *ret)
{
    struct text *texts[] = {x, y};
    struct strmap ids = {0};
    uint32_t n = 0;

    for (size_t t = 0; t < 2; t++) {
        texts[t]->id = arena_new_array(a, uint32_t, texts[t]->lines.n);
        for (uint32_t i = 0; i < texts[t]->lines.n; i++) {
            uint32_t id = strmap_get(&ids, texts[t]->lines.v[i]);

            if (id == MAP_NONE)
                strmap_put(&ids, texts[t]->lines.v[i], id = n++);
            texts[t]->id[i] = id;
        }
    }
    strmap_fini(&ids);
    ret->n_ids = n;
    ret->first = arena_new_array(a, uint32_t, n + 2);
    ret->at = arena_new_array(a, uint32_t, y->lines.n);
    for (uint32_t i = 0; i < y->lines.n; i++)
        ret->first[y->id[i] + 2]++;
    for (uint32_t i = 2; i < n + 2; i++)
        ret->first[i] += ret->first[i - 1];
    for (uint32_t i = 0; i < y->lines.n; i++)
        ret->at[ret->first[y->id[i] + 1]++] = i;
}

struct match {
    uint32_t old, new, n;
};

struct differ {
    struct text x, y;
    struct index ix;
    uint32_t *now, *before; /* lengths of the runs that end at a line of the new text */
    VEC(struct match) matches;
};

static bool is_popular(const struct differ *d, uint32_t id)
{
    uint32_t n = d->y.lines.n;

    return n >= MANY_LINES && d->ix.first[id + 1] - d->ix.first[id] > n / 100 + 1;
}

static void forget_runs(const struct differ *d, uint32_t *runs, uint32_t id)
{
    for (uint32_t p = d->ix.first[id]; p < d->ix.first[id + 1]; p++)
        runs[d->ix.at[p] + 1] = 0;
}

/* The first of the longest runs that both have; then as much around it as is equal. This is what Python's difflib does, and
 * so the server's library, down to leaving out lines that come too often. */
static struct match longest_match(struct differ *d, uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1)
{
    struct match m = {x0, y0, 0};

    for (uint32_t i = x0; i < x1; i++) {
        uint32_t id = d->x.id[i], *swap = d->now;

        for (uint32_t p = d->ix.first[id]; p < d->ix.first[id + 1] && !is_popular(d, id); p++) {
            uint32_t j = d->ix.at[p];

            if (j < y0 || j >= y1)
                continue;
            d->now[j + 1] = d->before[j] + 1;
            if (d->now[j + 1] > m.n)
                m = (struct match){i + 1 - d->now[j + 1], j + 1 - d->now[j + 1], d->now[j + 1]};
        }
        d->now = d->before;
        d->before = swap;
        if (i > x0)
            forget_runs(d, d->now, d->x.id[i - 1]);
    }
    forget_runs(d, d->before, d->x.id[x1 - 1]);
    while (m.old > x0 && m.new > y0 && d->x.id[m.old - 1] == d->y.id[m.new - 1])
        m = (struct match){m.old - 1, m.new - 1, m.n + 1};
    while (m.old + m.n < x1 && m.new + m.n < y1 && d->x.id[m.old + m.n] == d->y.id[m.new + m.n])
        m.n++;
    return m;
}

static int by_place(const void *x, const void *y, void *ctx)
{
    const struct match *a = x, *b = y;

    (void)ctx;
    return a->old < b->old ? -1 : a->old > b->old;
}

/* The longest match, then likewise before and after it. */
static void find_matches(struct differ *d)
{
    struct range {
        uint32_t x0, x1, y0, y1;
    };
    VEC(struct range) todo = {0};

    vec_push(&todo, (struct range){0, d->x.lines.n, 0, d->y.lines.n});
    while (todo.n) {
        struct range r = todo.v[--todo.n];

        if (r.x0 == r.x1 || r.y0 == r.y1)
            continue;
        struct match m = longest_match(d, r.x0, r.x1, r.y0, r.y1);
        if (m.n == 0)
            continue;
        vec_push(&d->matches, m);
        vec_push(&todo, (struct range){r.x0, m.old, r.y0, m.new});
        vec_push(&todo, (struct range){m.old + m.n, r.x1, m.new + m.n, r.y1});
    }
    vec_fini(&todo);
    sort_stable(d->matches.v, d->matches.n, sizeof(*d->matches.v), by_place, NULL);
}

struct edit {
    char mark; /* ' ', '-', '+' */
    uint32_t at_old, at_new;
    str line;
};

struct edits {
    VEC(struct edit) v;
};

static void all_edits(struct differ *d, struct edits *out)
{
    uint32_t i = 0, j = 0;

    vec_push(&d->matches, (struct match){d->x.lines.n, d->y.lines.n, 0});
    for (uint32_t m = 0; m < d->matches.n; m++) {
        struct match x = d->matches.v[m];

        for (; i < x.old; i++)
            vec_push(&out->v, (struct edit){'-', i, j, d->x.lines.v[i]});
        for (; j < x.new; j++)
            vec_push(&out->v, (struct edit){'+', i, j, d->y.lines.v[j]});
        for (uint32_t k = 0; k < x.n; k++, i++, j++)
            vec_push(&out->v, (struct edit){' ', i, j, d->x.lines.v[i]});
    }
}

static uint32_t next_change(const struct edits *e, uint32_t from)
{
    while (from < e->v.n && e->v.v[from].mark == ' ')
        from++;
    return from;
}

/* Changes with at most 2 * AROUND equal lines between them stand in one hunk. */
static uint32_t hunk_end(const struct edits *e, uint32_t change)
{
    for (;;) {
        while (change < e->v.n && e->v.v[change].mark != ' ')
            change++;
        uint32_t next = next_change(e, change);
        if (next == e->v.n || next - change > 2 * AROUND)
            return MIN(change + AROUND, e->v.n);
        change = next;
    }
}

static void write_range(struct sb *b, char sign, uint32_t at, uint32_t n)
{
    sb_printf(b, "%c%u", sign, n ? at + 1 : at);
    if (n != 1)
        sb_printf(b, ",%u", n);
}

static void write_hunk(struct sb *b, const struct edits *e, uint32_t from, uint32_t to)
{
    uint32_t n_old = 0, n_new = 0;

    for (uint32_t i = from; i < to; i++) {
        n_old += e->v.v[i].mark != '+';
        n_new += e->v.v[i].mark != '-';
    }
    sb_c(b, "@@ ");
    write_range(b, '-', e->v.v[from].at_old, n_old);
    sb_char(b, ' ');
    write_range(b, '+', e->v.v[from].at_new, n_new);
    sb_c(b, " @@\n");
    for (uint32_t i = from; i < to; i++) {
        sb_char(b, e->v.v[i].mark);
        sb_str(b, e->v.v[i].line);
        sb_char(b, '\n');
    }
}

static void write_hunks(struct sb *out, const struct edits *e)
{
    for (uint32_t change = next_change(e, 0); change < e->v.n;) {
        uint32_t end = hunk_end(e, change);

        write_hunk(out, e, change < AROUND ? 0 : change - AROUND, end);
        change = next_change(e, end);
    }
}

str view_diff(struct arena *a, const struct view *v, const struct tree *old, const struct tree *new)
{
    struct sb x = {0}, y = {0}, out = {0};
    struct differ d = {0};
    struct edits e = {0};

    view_write(&x, v, old, 1);
    view_write(&y, v, new, 1);
    cut_lines(sb_view(&x), &d.x);
    cut_lines(sb_view(&y), &d.y);
    if (d.x.lines.n <= MOST_LINES && d.y.lines.n <= MOST_LINES) {
        number_lines(a, &d.x, &d.y, &d.ix);
        d.now = arena_new_array(a, uint32_t, d.y.lines.n + 1);
        d.before = arena_new_array(a, uint32_t, d.y.lines.n + 1);
        find_matches(&d);
    }
    all_edits(&d, &e);
    write_hunks(&out, &e);
    str s = sb_dup(&out, a);
    vec_fini(&d.x.lines);
    vec_fini(&d.y.lines);
    vec_fini(&d.matches);
    vec_fini(&e.v);
    sb_fini(&x);
    sb_fini(&y);
    sb_fini(&out);
    return s;
}
