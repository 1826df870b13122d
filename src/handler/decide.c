#include "handler/decide.h"

void book_init(struct book *b)
{
    *b = (struct book){.arena = arena_new(0)};
}

void book_fini(struct book *b)
{
    arena_free(b->arena);
}

static struct book_entry *book_find(struct book *b, str id)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (str_eq(b->v[i].n.id, id))
            return &b->v[i];
    return NULL;
}

static struct book_entry *book_add(struct book *b)
{
    if (b->n == BOOK_MAX) {
        b->n_lost++;
        return NULL;
    }
    b->v[b->n] = (struct book_entry){0};
    return &b->v[b->n++];
}

bool book_hear(struct book *b, const struct notice *n)
{
    struct book_entry *x = book_find(b, n->id);
    bool news = false;

    if (x) {
        news = n->over && !x->over;
        x->over = x->over || n->over;
        return news;
    }
    if (n->over || !(x = book_add(b))) /* what was over before we heard of it does not matter */
        return false;
    x->n = *n;
    x->n.id = arena_strdup(b->arena, n->id);
    x->n.description = arena_strdup(b->arena, n->description);
    x->n.state = arena_strdup(b->arena, n->state);
    return true;
}

void book_ignore(struct book *b, str id)
{
    struct book_entry *x = book_find(b, id);

    if (!x && (x = book_add(b)))
        x->n = (struct notice){.kind = NOTICE_SCHEDULED, .id = arena_strdup(b->arena, id)};
    if (x)
        x->ignored = true;
}

/* A drain begins early enough to be over when it happens. */
static bool is_due(const struct book_entry *x, int64_t now_ms, int64_t node_grace_s)
{
    return x->n.start_ms - node_grace_s * 1000 <= now_ms;
}

static bool is_open(const struct book_entry *x)
{
    return !x->done && !x->ignored && !x->over;
}

void book_drained(struct book *b, int64_t now_ms, int64_t node_grace_s)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (is_open(&b->v[i]) && is_due(&b->v[i], now_ms, node_grace_s))
            b->v[i].done = true;
}

static enum deed deed_for(const struct handler_settings *s, const struct notice *n)
{
    return s->cordon_only || (n->kind == NOTICE_REBALANCE && !s->rebalance_drain) ? DEED_CORDON : DEED_DRAIN;
}

/* Another notice because of which the node has to stay as it is. */
static bool another_holds(const struct book *b, uint32_t but)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (i != but && !b->v[i].over && !b->v[i].ignored)
            return true;
    return false;
}

/* Drains come first: they are what takes time. */
struct decision handler_decide(const struct handler_settings *s, const struct book *b, int64_t now_ms)
{
    struct decision d = {DEED_NONE, 0};

    for (uint32_t i = 0; i < b->n; i++) {
        const struct book_entry *x = &b->v[i];

        if (!is_open(x) || x->not_before_ms > now_ms || !is_due(x, now_ms, s->node_grace_s))
            continue;
        enum deed deed = deed_for(s, &x->n);
        if (d.deed == DEED_NONE || (d.deed == DEED_CORDON && deed == DEED_DRAIN))
            d = (struct decision){deed, i};
    }
    if (d.deed != DEED_NONE)
        return d;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct book_entry *x = &b->v[i];

        if (x->over && x->marked && !x->released && x->not_before_ms <= now_ms)
            return (struct decision){another_holds(b, i) ? DEED_KEEP : DEED_RELEASE, i};
    }
    return d;
}
