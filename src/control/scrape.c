#include "control/scrape.h"

#include <stdlib.h>

#include "base/arena.h"

#define TEXT "text/plain; version=0.0.4; charset=utf-8"

/* What the peer has not taken yet. It may outlive the scrape. */
struct part {
    struct scrape *of; /* NULL: that is over */
    struct sb text;
};

struct scrape {
    struct scrapes *all;
    struct exchange *x;
    struct metrics_place at;
    struct part *part;
    struct timer next;
    bool ended;
    struct scrape *before, *after;
};

struct scrapes {
    struct world *w;
    struct metrics *m;
    struct scrape *open;
};

struct scrapes *scrapes_new(struct world *w, struct metrics *m)
{
    struct scrapes *s = xcalloc(1, sizeof(*s));

    *s = (struct scrapes){.w = w, .m = m};
    return s;
}

static void scrape_free(struct scrape *p)
{
    timer_stop(p->all->w, &p->next);
    if (p->part)
        p->part->of = NULL;
    *(p->before ? &p->before->after : &p->all->open) = p->after;
    if (p->after)
        p->after->before = p->before;
    free(p);
}

static void on_over(struct exchange *x)
{
    scrape_free(x->ctx);
}

/* The next part is not made from here: whoever takes this one is in the middle of it, and a peer that has gone takes all there is. */
static void on_taken(void *arg)
{
    struct part *t = arg;

    if (t->of) {
        t->of->part = NULL;
        timer_set(t->of->all->w, &t->of->next, 0);
    }
    sb_fini(&t->text);
    free(t);
}

static void on_next(void *arg)
{
    struct scrape *p = arg;
    struct scrapes *s = p->all;
    struct part *t = xcalloc(1, sizeof(*t));

    if (!metrics_text_part(s->m, &p->at, world_now_ms(s->w), &t->text)) {
        p->ended = true;
        reply_piece(p->x, sb_view(&t->text), on_taken, t);
        reply_end(p->x);
        return;
    }
    t->of = p;
    p->part = t;
    reply_piece(p->x, sb_view(&t->text), on_taken, t);
}

void scrapes_free(struct scrapes *s)
{
    if (!s)
        return;
    while (s->open) {
        struct scrape *p = s->open;

        p->x->on_over = NULL;
        if (!p->ended)
            reply_abort(p->x);
        scrape_free(p);
    }
    free(s);
}

/* What fits into one part is sent with its length. */
void scrapes_reply(struct scrapes *s, struct exchange *x)
{
    struct scrape *p = xcalloc(1, sizeof(*p));
    struct http_header type = {STR("Content-Type"), STR(TEXT)};

    *p = (struct scrape){.all = s, .x = x, .next = {.fn = on_next, .ctx = p}, .after = s->open};
    if (p->after)
        p->after->before = p;
    s->open = p;
    x->on_over = on_over;
    x->ctx = p;
    reply_begin(x, 200, &type, 1);
    on_next(p);
}
