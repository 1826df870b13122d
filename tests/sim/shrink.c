/* Greedy, from coarse to fine: the end is cut off, parts are left out one by one, then deeds in halves, quarters and so on, as delta debugging does. A smaller case is taken when it
 * fails too, whatever it fails with: what is found first is looked at first. */
#include "sim/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

struct shrinking {
    struct chaos_case *best;
    uint32_t n_left;
    shrink_fn fails;
    void *ctx;
};

static bool try(struct shrinking *s, const struct chaos_case *c)
{
    if (s->n_left == 0)
        return false;
    s->n_left--;
    if (!s->fails(s->ctx, c))
        return false;
    *s->best = *c;
    return true;
}

/* Deeds as a list of flags: skipped ranges are joined when they are written down. */
static bool skips_of(struct chaos_case *c, const bool *skipped, uint32_t n_deeds)
{
    c->n_skip = 0;
    for (uint32_t i = 1; i <= n_deeds; i++) {
        if (!skipped[i])
            continue;
        if (i > 1 && skipped[i - 1]) {
            c->skip[c->n_skip - 1].to = i;
        } else {
            if (c->n_skip == CHAOS_SKIPS)
                return false;
            c->skip[c->n_skip++] = (struct chaos_range){i, i};
        }
    }
    return true;
}

static void drop_deeds(struct shrinking *s, bool *skipped, uint32_t n_deeds)
{
    bool *was = xcalloc(n_deeds, sizeof(*was));

    for (uint32_t step = n_deeds; step >= 1; step /= 2)
        for (uint32_t from = 1; from <= n_deeds && s->n_left; from += step) {
            uint32_t to = MIN(from + step - 1, n_deeds);
            struct chaos_case c = *s->best;

            if (memchr(skipped + from, false, to - from + 1) == NULL)
                continue;
            memcpy(was, skipped + from, to - from + 1);
            memset(skipped + from, true, to - from + 1);
            if (!skips_of(&c, skipped, n_deeds) || !try(s, &c))
                memcpy(skipped + from, was, to - from + 1);
        }
    free(was);
}

/* Half the time, as often as that will do; then three quarters. */
static void cut_time(struct shrinking *s, double hours)
{
    static const double shares[] = {0.5, 0.75};

    for (size_t i = 0; i < ARRAY_LEN(shares); i++)
        for (;;) {
            struct chaos_case c = *s->best;

            c.hours = (c.hours > 0 ? c.hours : hours) * shares[i];
            if (c.hours < 0.01 || !try(s, &c))
                break;
        }
}

static void drop_parts(struct shrinking *s)
{
    for (uint32_t i = CHAOS_N_PARTS; i-- > 0;) {
        struct chaos_case c = *s->best;

        parts_put(&c.without, i);
        if (!parts_has(&s->best->without, i) && (c.aws || i < CHAOS_AWS_CLASS))
            (void)try(s, &c);
    }
    while (s->best->n_apps != 1) {
        struct chaos_case c = *s->best;

        c.n_apps = c.n_apps ? c.n_apps - 1 : 3;
        if (!try(s, &c))
            break;
    }
}

uint32_t shrink(struct chaos_case *best, uint32_t n_deeds, double hours, uint32_t tries, shrink_fn fails, void *ctx)
{
    struct shrinking s = {best, tries, fails, ctx};
    bool *skipped = xcalloc(n_deeds + 1, sizeof(*skipped));

    for (uint32_t i = 0; i < best->n_skip; i++)
        for (uint32_t k = best->skip[i].from; k <= MIN(best->skip[i].to, n_deeds); k++)
            skipped[k] = true;
    cut_time(&s, hours);
    drop_deeds(&s, skipped, n_deeds);
    drop_parts(&s);
    cut_time(&s, hours);
    free(skipped);
    return tries - s.n_left;
}
