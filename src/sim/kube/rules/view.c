/* Writing values as the server's own types, and the difference of two such texts. */
#include "sim/kube/rules/view.h"

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

#define AROUND 3u /* equal lines shown before and after a change */

struct lines {
    VEC(str) v;
};

static void cut_lines(str text, struct lines *ret)
{
    str head;

    while (str_cut(text, '\n', &head, &text))
        vec_push(&ret->v, head);
    vec_push(&ret->v, head);
}

struct edit {
    char mark; /* ' ', '-', '+' */
    uint32_t at_old, at_new;
    str line;
};

struct edits {
    VEC(struct edit) v;
};

/* Longest common subsequence; what both begin and end with has been cut off, so the table stays small. */
static void middle(const struct lines *a, const struct lines *b, uint32_t from, uint32_t a_end, uint32_t b_end,
                   struct edits *out)
{
    uint32_t n = a_end - from, m = b_end - from;
    uint32_t *best = xcalloc((size_t)(n + 1) * (m + 1), sizeof(*best));
#define BEST(i, j) best[(size_t)(i) * (m + 1) + (j)]

    for (uint32_t i = n; i-- > 0;)
        for (uint32_t j = m; j-- > 0;)
            BEST(i, j) = str_eq(a->v.v[from + i], b->v.v[from + j]) ? BEST(i + 1, j + 1) + 1
                                                                    : MAX(BEST(i + 1, j), BEST(i, j + 1));
    uint32_t i = 0, j = 0;
    while (i < n || j < m) {
        if (i < n && j < m && str_eq(a->v.v[from + i], b->v.v[from + j])) {
            vec_push(&out->v, (struct edit){' ', from + i, from + j, a->v.v[from + i]});
            i++, j++;
        } else if (i < n && (j == m || BEST(i + 1, j) >= BEST(i, j + 1))) {
            vec_push(&out->v, (struct edit){'-', from + i, from + j, a->v.v[from + i]});
            i++;
        } else {
            vec_push(&out->v, (struct edit){'+', from + i, from + j, b->v.v[from + j]});
            j++;
        }
    }
#undef BEST
    free(best);
}

#define LARGEST_TABLE 4000000u

static void all_edits(const struct lines *a, const struct lines *b, struct edits *out)
{
    uint32_t n = a->v.n, m = b->v.n, from = 0, tail = 0;

    while (from < MIN(n, m) && str_eq(a->v.v[from], b->v.v[from]))
        from++;
    while (tail < MIN(n, m) - from && str_eq(a->v.v[n - 1 - tail], b->v.v[m - 1 - tail]))
        tail++;
    for (uint32_t i = 0; i < from; i++)
        vec_push(&out->v, (struct edit){' ', i, i, a->v.v[i]});
    if ((uint64_t)(n - tail - from + 1) * (m - tail - from + 1) <= LARGEST_TABLE) {
        middle(a, b, from, n - tail, m - tail, out);
    } else {
        for (uint32_t i = from; i < n - tail; i++)
            vec_push(&out->v, (struct edit){'-', i, from, a->v.v[i]});
        for (uint32_t j = from; j < m - tail; j++)
            vec_push(&out->v, (struct edit){'+', n - tail, j, b->v.v[j]});
    }
    for (uint32_t i = 0; i < tail; i++)
        vec_push(&out->v, (struct edit){' ', n - tail + i, m - tail + i, a->v.v[n - tail + i]});
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

str view_diff(struct arena *a, const struct view *v, const struct tree *old, const struct tree *new)
{
    struct sb x = {0}, y = {0}, out = {0};
    struct lines before = {0}, after = {0};
    struct edits e = {0};

    view_write(&x, v, old, 1);
    view_write(&y, v, new, 1);
    cut_lines(sb_view(&x), &before);
    cut_lines(sb_view(&y), &after);
    all_edits(&before, &after, &e);
    for (uint32_t change = next_change(&e, 0); change < e.v.n;) {
        uint32_t end = hunk_end(&e, change);

        write_hunk(&out, &e, change < AROUND ? 0 : change - AROUND, end);
        change = next_change(&e, end);
    }
    str s = sb_dup(&out, a);
    vec_fini(&before.v);
    vec_fini(&after.v);
    vec_fini(&e.v);
    sb_fini(&x);
    sb_fini(&y);
    sb_fini(&out);
    return s;
}
