/* Pods of capacity buffers. They have numbers like all others, so that plans need not tell them apart; no list has them but
 * the buffer's own, and nobody is told of them. */
#include <stdlib.h>

#include "state/store_int.h"

static struct stand_ins *find(const struct store *s, str buffer, uint32_t *ret_ix)
{
    for (uint32_t i = 0; i < s->stand_ins.n; i++) /* there are a few */
        if (str_eq(s->stand_ins.v[i].buffer, buffer)) {
            *ret_ix = i;
            return &s->stand_ins.v[i];
        }
    return NULL;
}

static void let_go(struct store *s, struct stand_ins *x)
{
    for (uint32_t i = 0; i < x->pods.n; i++)
        pods_release(s, x->pods.v[i]);
    vec_fini(&x->pods);
    free((char *)(uintptr_t)x->buffer.p);
}

void store_drop_buffer(struct store *s, str buffer)
{
    uint32_t ix;
    struct stand_ins *x = find(s, buffer, &ix);

    if (!x)
        return;
    s->n_changes++;
    let_go(s, x);
    s->stand_ins.n--;
    memmove(x, x + 1, (s->stand_ins.n - ix) * sizeof(*x));
}

/* Whether its pods would be the ones that are there. */
static bool is_same(const struct store *s, const struct stand_ins *x, const struct buffer *b, const struct workload *w,
                    uint32_t n)
{
    if (x->pods.n != n)
        return false;
    if (n == 0)
        return true;
    const struct pod *first = &s->pods.v[x->pods.v[0]];
    return first->spec == (w->spec->base ? w->spec->base : w->spec) && first->labels.v == w->labels.v &&
           str_starts(UID_STR(first->uid), b->uid);
}

static void make(struct store *s, struct stand_ins *x, const struct buffer *b, const struct workload *w, uint32_t n)
{
    sym name = sym_of(s->syms, b->name);

    for (uint32_t i = 1; i <= n; i++) {
        arena_reset(s->scratch);
        struct pod p = buffer_pod(w->spec, w->labels, b->ns, name, buffer_pod_name(s->scratch, b->name, i),
                                  buffer_pod_uid(s->scratch, b->uid, i));
        vec_push(&x->pods, pods_take(s, &p));
    }
}

void store_set_buffer(struct store *s, str buffer, const struct buffer *b, const struct workload *w, int64_t wanted)
{
    uint32_t n = (uint32_t)MIN(MAX(wanted, 0), BUFFER_MAX_PODS), ix;
    struct stand_ins *had = find(s, buffer, &ix), next = {0};

    assert(!s->telling);
    if (had && is_same(s, had, b, w, n))
        return;
    s->n_changes++;
    bool passing = syms_set_passing(s->syms, true);
    make(s, &next, b, w, n); /* before those of old, perhaps the only other users of the spec, go */
    (void)syms_set_passing(s->syms, passing);
    if (!had) {
        char *name = xmalloc(buffer.n);

        memcpy(name, buffer.p, buffer.n);
        next.buffer = (str){name, buffer.n};
        vec_push(&s->stand_ins, next);
        return;
    }
    next.buffer = had->buffer;
    had->buffer = (str){0};
    let_go(s, had);
    s->stand_ins.v[ix] = next;
}

bool store_has_buffer(const struct store *s, str buffer)
{
    uint32_t ix;

    return find(s, buffer, &ix) != NULL;
}

void stand_ins_list(struct store *s)
{
    s->found_stand_ins.n = 0;
    for (uint32_t i = 0; i < s->stand_ins.n; i++)
        for (uint32_t k = 0; k < s->stand_ins.v[i].pods.n; k++)
            vec_push(&s->found_stand_ins, s->stand_ins.v[i].pods.v[k]);
}

void stand_ins_fini(struct store *s)
{
    for (uint32_t i = 0; i < s->stand_ins.n; i++)
        let_go(s, &s->stand_ins.v[i]);
    vec_fini(&s->stand_ins);
    vec_fini(&s->found_stand_ins);
}
