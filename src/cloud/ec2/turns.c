#include "cloud/ec2/turns.h"

void turns_fini(struct turns *t)
{
    assert(t->v.n == 0);
    vec_fini(&t->v);
}

static struct turn *first_of(const struct turns *t, str key)
{
    for (uint32_t i = 0; i < t->v.n; i++)
        if (str_eq(t->v.v[i]->key, key))
            return t->v.v[i];
    return NULL;
}

static void drop(struct turns *t, const struct turn *mine)
{
    uint32_t i = 0;

    while (t->v.v[i] != mine)
        i++;
    memmove(&t->v.v[i], &t->v.v[i + 1], (--t->v.n - i) * sizeof(struct turn *));
}

bool turns_take(struct turns *t, struct world *w, str key, struct turn *mine)
{
    *mine = (struct turn){fiber_self(), key, first_of(t, key) == NULL};
    vec_push(&t->v, mine);
    while (!mine->holds) {
        fiber_park();
        if (!mine->holds && world_dead(w)) {
            drop(t, mine);
            return false;
        }
    }
    return true;
}

void turns_give(struct turns *t, struct turn *mine)
{
    struct turn *next;

    drop(t, mine);
    next = first_of(t, mine->key);
    if (!next)
        return;
    next->holds = true;
    fiber_wake(next->fiber);
}
