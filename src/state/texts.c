#include "state/texts.h"

#include "base/arena.h"

#define PAGE (64u << 10)
#define WORTH_IT (256u << 10) /* dead bytes that are left alone */

void texts_fini(struct texts *t)
{
    for (uint32_t i = 0; i < t->pages.n; i++)
        free(t->pages.v[i]);
    vec_fini(&t->pages);
    *t = (struct texts){0};
}

char *texts_add(struct texts *t, str a, str b)
{
    size_t n = a.n + b.n;

    if (t->pages.n == 0 || t->used + n > PAGE) {
        vec_push(&t->pages, xmalloc(MAX(n, PAGE)));
        t->used = 0;
    }
    char *p = vec_last(&t->pages) + t->used;
    if (a.n)
        memcpy(p, a.p, a.n);
    if (b.n)
        memcpy(p + a.n, b.p, b.n);
    t->used += n;
    t->live += n;
    return p;
}

void texts_drop(struct texts *t, size_t n)
{
    t->live -= n;
    t->dead += n;
}

bool texts_want_packing(const struct texts *t)
{
    return t->dead > WORTH_IT && t->dead > t->live / 2;
}

size_t texts_bytes(const struct texts *t)
{
    return t->pages.n * (size_t)PAGE + t->pages.cap * sizeof(*t->pages.v);
}
