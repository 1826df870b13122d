/* Nodes that stay, for people: a line each, or a line for all that stay for the same reason. If that gives too many lines,
 * those of one kind share a line too. What can be changed comes first, then what costs most. */
#include "base/map.h"
#include "cli/disrupt_table.h"
#include "cli/disrupt_text.h"

#define MAX_LINES 40 /* of reasons */
#define MAX_ALIKE 4  /* lines of one kind, when there are too many of all */
#define NAMES_WIDE 34

struct reason {          /* nodes that stay for the same reason */
    uint32_t node;       /* one of them */
    uint32_t n, n_texts; /* nodes; different words about them */
    uint32_t at;         /* nodes [at - n, at) of the sorted list */
    double cost;
};

struct reason_list {
    VEC(struct reason) v;
    uint32_t *nodes;             /* by reason */
    bool merge[N_BLOCKER_KINDS]; /* kinds whose nodes share a line whatever is said about them */
};

static const struct blocker *why(const struct view *w, uint32_t node)
{
    return &w->v->disruption->nodes[node].why;
}

static bool stays(const struct view *w, uint32_t node)
{
    return w->v->disruption->nodes[node].command == UINT32_MAX;
}

static str reason_key(const struct view *w, uint32_t node, bool kind_only, struct sb *key)
{
    const struct blocker *b = why(w, node);
    const str parts[] = {b->text, b->object, b->fix};

    sb_reset(key);
    sb_u64(key, b->kind);
    for (size_t i = 0; i < ARRAY_LEN(parts) && !kind_only; i++) {
        sb_char(key, '\0');
        sb_str(key, parts[i]);
    }
    return sb_view(key);
}

/* The line of a key; a new one if it is the first. */
static uint32_t find_reason(struct view *w, struct reason_list *l, struct strmap *seen, str key, uint32_t node)
{
    uint32_t ix = strmap_get(seen, key);

    if (ix == MAP_NONE) {
        ix = l->v.n;
        strmap_put(seen, arena_strdup(w->a, key), ix);
        vec_push(&l->v, (struct reason){.node = node});
    }
    return ix;
}

static void collect(struct view *w, const uint32_t *order, struct reason_list *l)
{
    uint32_t *of = arena_new_array(w->a, uint32_t, w->s->n_nodes), at = 0;
    struct strmap seen = {0}, texts = {0};
    struct sb key = {0};

    l->v.n = 0;
    for (uint32_t i = 0; i < w->s->n_nodes; i++) {
        uint32_t node = order[i];

        if (!stays(w, node))
            continue;
        of[i] = find_reason(w, l, &seen, reason_key(w, node, l->merge[why(w, node)->kind], &key), node);
        struct reason *r = &l->v.v[of[i]];
        str text = reason_key(w, node, false, &key);
        if (strmap_get(&texts, text) == MAP_NONE) {
            strmap_put(&texts, arena_strdup(w->a, text), 0);
            r->n_texts++;
        }
        r->n++;
        r->cost += w->v->disruption->nodes[node].price;
    }
    for (uint32_t i = 0; i < l->v.n; i++) {
        l->v.v[i].at = at;
        at += l->v.v[i].n;
    }
    l->nodes = arena_new_array(w->a, uint32_t, at);
    for (uint32_t i = 0; i < w->s->n_nodes; i++)
        if (stays(w, order[i]))
            l->nodes[l->v.v[of[i]].at++] = order[i];
    strmap_fini(&seen);
    strmap_fini(&texts);
    sb_fini(&key);
}

static void merge_kinds(struct view *w, struct reason_list *l)
{
    uint32_t n[N_BLOCKER_KINDS] = {0};

    for (uint32_t i = 0; i < l->v.n; i++)
        n[why(w, l->v.v[i].node)->kind]++;
    for (size_t k = 0; k < ARRAY_LEN(n); k++)
        l->merge[k] = n[k] > MAX_ALIKE;
}

static int cmp_reasons(const void *a, const void *b, void *ctx)
{
    const struct reason *x = a, *y = b;
    bool x_fix = why(ctx, x->node)->fix.n > 0, y_fix = why(ctx, y->node)->fix.n > 0;

    if (x_fix != y_fix)
        return x_fix ? -1 : 1;
    if (x->cost < y->cost || x->cost > y->cost)
        return x->cost > y->cost ? -1 : 1;
    return x->n > y->n ? -1 : x->n < y->n;
}

/* The first few: "node-1, node-2, …". */
static str names_text(struct view *w, const uint32_t *nodes, uint32_t n)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < n; i++) {
        str name = node_title(&w->s->nodes[nodes[i]]);

        if (i && text_columns(sb_view(&b)) + text_columns(name) + 5 > NAMES_WIDE) {
            sb_c(&b, ", …");
            break;
        }
        sb_printf(&b, "%s" STR_FMT, i ? ", " : "", STR_ARG(name));
    }
    str text = sb_dup(&b, w->a);
    sb_fini(&b);
    return text;
}

/* "a pod has karpenter.sh/do-not-disrupt → remove it"; where one line stands for many words, with one of them. */
static str reason_text(struct view *w, const struct reason *r)
{
    const struct blocker *b = why(w, r->node);
    bool many = r->n_texts > 1;
    struct sb s = {0};

    sb_str(&s, many ? str_c(blocker_sentence(b->kind)) : view_short_reason(w, blocker_reason(b)));
    if (many && b->object.n)
        sb_printf(&s, " (" STR_FMT ", …)", STR_ARG(b->object));
    if (b->fix.n)
        sb_printf(&s, " → %s" STR_FMT, many ? "for example: " : "", STR_ARG(b->fix));
    str text = sb_dup(&s, w->a);
    sb_fini(&s);
    return text;
}

static const str *words_of(struct view *w, str s, uint32_t *ret_n)
{
    VEC(str) words = {0};

    while (s.n) {
        str word;

        (void)str_cut(s, ' ', &word, &s);
        vec_push(&words, word);
    }
    *ret_n = words.n;
    const str *all = arena_dup_array(w->a, str, words.v, words.n);
    vec_fini(&words);
    return all;
}

enum { COL_COUNT, COL_NAME, COL_PRICE, N_COLS };

static void add_line(struct view *w, struct grid *g, const struct reason_list *l, const struct reason *r)
{
    struct grid_row *row = vec_add(&g->rows);

    if (r->n > 1)
        row->cells[COL_COUNT] = arena_printf(w->a, STR_FMT "×", STR_ARG(text_count(w->a, r->n)));
    row->cells[COL_NAME] = names_text(w, l->nodes + r->at - r->n, r->n);
    if (r->cost > 0)
        row->cells[COL_PRICE] = arena_printf(w->a, "%.4f", r->cost);
    row->items = words_of(w, reason_text(w, r), &row->n_items);
}

void view_staying_nodes(struct view *w, const uint32_t *order)
{
    struct reason_list l = {0};
    struct grid g = {
        .cols =
            {[COL_COUNT] = {"", true, 0}, [COL_NAME] = {"NODE", false, NAMES_WIDE}, [COL_PRICE] = {"$/HOUR", true, 0}},
        .n_cols = N_COLS,
        .items_title = "WHY → WHAT WOULD CHANGE IT",
        .prose = true,
    };
    uint64_t left = 0;

    collect(w, order, &l);
    if (l.v.n > MAX_LINES) {
        merge_kinds(w, &l);
        collect(w, order, &l);
    }
    if (l.v.n)
        sort_stable(l.v.v, l.v.n, sizeof(struct reason), cmp_reasons, w);
    for (uint32_t i = 0; i < l.v.n; i++)
        if (i < MAX_LINES)
            add_line(w, &g, &l, &l.v.v[i]);
        else
            left += l.v.v[i].n;
    if (l.v.n) {
        view_heading(w, TONE_HEAD, STR("Nodes that stay"));
        grid_print(w->out, &w->style, &g);
        if (left)
            sb_printf(w->out, "  … and " STR_FMT " more node%s for %u other reason%s; -o json lists them all\n",
                      STR_ARG(text_count(w->a, left)), plural(left), l.v.n - MAX_LINES, plural(l.v.n - MAX_LINES));
        sb_char(w->out, '\n');
    }
    grid_fini(&g);
    vec_fini(&l.v);
}
