/* The sketch is Greenwald and Khanna's: values in order, each with `g`, how many ranks it stands for, and `slack`, by how much its rank may be off. While
 * g + slack <= 2 * ERROR * n holds for every entry, each quantile can be told to within ERROR * n ranks; so neighbours that together keep that bound become one.
 */
#include "obs/quantiles.h"

#include <math.h>

#include "base/arena.h"
#include "base/vec.h"

#define ERROR 0.01
#define N_WINDOWS 5
#define TURN_MS (10 * 60 * 1000 / N_WINDOWS)
#define COMPRESS_EACH 50u /* additions: half of 1 / ERROR */

struct entry {
    double v;
    uint64_t g, slack;
};

struct sketch {
    VEC(struct entry) e;
    uint64_t n;
};

struct windows {
    struct sketch s[N_WINDOWS];
    uint32_t oldest;
    int64_t turn_ms; /* when the oldest is emptied; 0: nothing was ever added */
};

static uint64_t bound(const struct sketch *s)
{
    return (uint64_t)floor(2 * ERROR * (double)s->n);
}

/* From the back, into the greater neighbour. The first stays as it is, so both extremes are exact. */
static void compress(struct sketch *s)
{
    uint32_t kept = s->e.n - 1; /* entries from here on are kept; they gather at the end */

    for (uint32_t i = s->e.n - 1; i-- > 1;) {
        struct entry *next = &s->e.v[kept], *e = &s->e.v[i];

        if (e->g + next->g + next->slack <= bound(s))
            next->g += e->g;
        else
            s->e.v[--kept] = *e;
    }
    s->e.v[--kept] = s->e.v[0];
    memmove(s->e.v, s->e.v + kept, (s->e.n - kept) * sizeof(s->e.v[0]));
    s->e.n -= kept;
}

static void sketch_add(struct sketch *s, double v)
{
    uint32_t lo = 0, hi = s->e.n;

    while (lo < hi) { /* the first that is greater */
        uint32_t mid = (lo + hi) / 2;

        if (s->e.v[mid].v > v)
            hi = mid;
        else
            lo = mid + 1;
    }
    bool inside = lo > 0 && lo < s->e.n;
    uint64_t b = bound(s);
    struct entry e = {.v = v, .g = 1, .slack = inside && b > 0 ? b - 1 : 0};

    (void)vec_add(&s->e);
    memmove(&s->e.v[lo + 1], &s->e.v[lo], (s->e.n - 1 - lo) * sizeof(e));
    s->e.v[lo] = e;
    s->n++;
    if (s->n % COMPRESS_EACH == 0 && s->e.n > 2)
        compress(s);
}

static double sketch_quantile(const struct sketch *s, double q)
{
    uint64_t want = (uint64_t)ceil(q * (double)s->n), rank = 0, half = bound(s) / 2;

    if (s->n == 0)
        return (double)NAN;
    if (q <= 0)
        return s->e.v[0].v;
    if (q >= 1)
        return s->e.v[s->e.n - 1].v;
    for (uint32_t i = 1; i < s->e.n; i++) {
        rank += s->e.v[i - 1].g;
        if (rank + s->e.v[i].g + s->e.v[i].slack > want + half)
            return s->e.v[i - 1].v;
    }
    return s->e.v[s->e.n - 1].v;
}

struct windows *windows_new(void)
{
    return xcalloc(1, sizeof(struct windows));
}

void windows_free(struct windows *w)
{
    if (!w)
        return;
    for (int i = 0; i < N_WINDOWS; i++)
        vec_fini(&w->s[i].e);
    free(w);
}

static void turn(struct windows *w, int64_t now_ms)
{
    if (w->turn_ms == 0)
        w->turn_ms = now_ms + TURN_MS;
    for (int n = 0; n < N_WINDOWS && now_ms >= w->turn_ms; n++) {
        w->s[w->oldest].e.n = 0;
        w->s[w->oldest].n = 0;
        w->oldest = (w->oldest + 1) % N_WINDOWS;
        w->turn_ms += TURN_MS;
    }
    if (now_ms >= w->turn_ms) /* long ago: all are empty */
        w->turn_ms = now_ms + TURN_MS;
}

void windows_add(struct windows *w, double v, int64_t now_ms)
{
    turn(w, now_ms);
    for (int i = 0; i < N_WINDOWS; i++)
        sketch_add(&w->s[i], v);
}

double windows_quantile(struct windows *w, double q, int64_t now_ms)
{
    turn(w, now_ms);
    return sketch_quantile(&w->s[w->oldest], q);
}

uint32_t windows_kept(const struct windows *w)
{
    uint32_t n = 0;

    for (int i = 0; i < N_WINDOWS; i++)
        n += w->s[i].e.n;
    return n;
}
