/* Lines stand one after the other in one text; those that are forgotten leave it in bulk, when they are half of it. */
#include "sim/kube/podlog.h"

#include "base/arena.h"
#include "base/sb.h"
#include "base/vec.h"

struct line {
    int64_t at_ms;
    size_t end; /* in the text */
};

struct podlog {
    struct sb text;
    VEC(struct line) lines;
    uint32_t gone;      /* lines of the list that are forgotten */
    uint64_t forgotten; /* all that ever were */
    bool ended;
    struct podlog_follower *followers;
    uint32_t refs;
};

struct podlog *podlog_new(void)
{
    struct podlog *l = xcalloc(1, sizeof(*l));

    return podlog_ref(l);
}

struct podlog *podlog_ref(struct podlog *l)
{
    l->refs++;
    return l;
}

void podlog_unref(struct podlog *l)
{
    if (!l || --l->refs)
        return;
    sb_fini(&l->text);
    vec_fini(&l->lines);
    free(l);
}

static void tell(const struct podlog *l)
{
    for (const struct podlog_follower *f = l->followers; f; f = f->next)
        f->on_more(f->ctx);
}

/* ---- writing ---- */

static size_t start_of(const struct podlog *l, uint32_t ix)
{
    return ix ? l->lines.v[ix - 1].end : 0;
}

/* Takes the forgotten lines out of the text once they are half of it: each byte is moved once for each that is dropped. */
static void tidy(struct podlog *l)
{
    size_t from = start_of(l, l->gone);

    if (from < l->text.n / 2 && l->gone < l->lines.n / 2)
        return;
    l->text.n -= from;
    memmove(l->text.p, l->text.p + from, l->text.n);
    l->lines.n -= l->gone;
    memmove(l->lines.v, l->lines.v + l->gone, sizeof(*l->lines.v) * l->lines.n);
    for (uint32_t i = 0; i < l->lines.n; i++)
        l->lines.v[i].end -= from;
    l->gone = 0;
}

static void forget_one(struct podlog *l)
{
    l->gone++;
    l->forgotten++;
    tidy(l);
}

static void add_line(struct podlog *l, int64_t at_ms, str s)
{
    while (l->gone < l->lines.n &&
           (l->text.n - start_of(l, l->gone) + s.n > PODLOG_MAX_BYTES || l->lines.n - l->gone >= PODLOG_MAX_LINES))
        forget_one(l);
    sb_str(&l->text, s);
    vec_push(&l->lines, (struct line){at_ms, l->text.n});
}

void podlog_add(struct podlog *l, int64_t at_ms, str text)
{
    str line;

    if (l->ended || text.n == 0)
        return;
    do {
        (void)str_cut(text, '\n', &line, &text);
        do {
            str part = str_sub(line, 0, MIN(line.n, PODLOG_MAX_LINE));

            add_line(l, at_ms, part);
            line = str_sub(line, part.n, line.n);
        } while (line.n);
    } while (text.n);
    tell(l);
}

void podlog_end(struct podlog *l)
{
    if (l->ended)
        return;
    l->ended = true;
    tell(l);
}

void podlog_reset(struct podlog *l)
{
    l->forgotten += l->lines.n - l->gone;
    sb_reset(&l->text);
    l->lines.n = l->gone = 0;
}

/* ---- reading ---- */

bool podlog_has_ended(const struct podlog *l)
{
    return l->ended;
}

uint64_t podlog_first(const struct podlog *l)
{
    return l->forgotten;
}

uint64_t podlog_next(const struct podlog *l)
{
    return l->forgotten + l->lines.n - l->gone;
}

str podlog_line(const struct podlog *l, uint64_t number, int64_t *ret_at_ms)
{
    assert(number >= podlog_first(l) && number < podlog_next(l));
    uint32_t ix = l->gone + (uint32_t)(number - l->forgotten);
    size_t from = start_of(l, ix);

    *ret_at_ms = l->lines.v[ix].at_ms;
    return (str){l->text.p + from, l->lines.v[ix].end - from};
}

/* ---- following ---- */

void podlog_follow(struct podlog *l, struct podlog_follower *f)
{
    f->log = podlog_ref(l);
    f->prev = NULL;
    f->next = l->followers;
    if (f->next)
        f->next->prev = f;
    l->followers = f;
}

void podlog_leave(struct podlog_follower *f)
{
    if (!f->log)
        return;
    *(f->prev ? &f->prev->next : &f->log->followers) = f->next;
    if (f->next)
        f->next->prev = f->prev;
    podlog_unref(f->log);
    f->log = NULL;
}
