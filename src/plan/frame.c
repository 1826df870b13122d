/* What plans of one cluster have in common. A problem borrows the tables and gives them back; while it has them nobody else does. They are good for a snapshot when they know
 * every label, value and resource that it mentions. More than that does no harm: keys and values have numbers in the order of their text, so that those which nobody
 * mentions any more change no choice between the others. */
#include <stdlib.h>

#include "plan/problem.h"

#define MOST_BYTES ((size_t)8 << 20) /* of what was learnt: beyond that it is forgotten */
#define MOST_SETS 65536u
#define LEAST_PASS ((size_t)1 << 16) /* bytes that a pass begins with */
#define MOST_PASS ((size_t)1 << 22)
#define MOST_WORDS 32768u /* that are taken along to the next tables, though nobody may mention them any more */

/* Members of struct problem that a frame keeps. */
#define KEPT(X)                                                                                                        \
    X(space)                                                                                                           \
    X(host_key)                                                                                                        \
    X(zone_key)                                                                                                        \
    X(ct_key)                                                                                                          \
    X(dims)                                                                                                            \
    X(n_dims)                                                                                                          \
    X(dim_of_sym)                                                                                                      \
    X(rows)                                                                                                            \
    X(row_words)                                                                                                       \
    X(type_rs)                                                                                                         \
    X(first_row)                                                                                                       \
    X(offerings)                                                                                                       \
    X(row_offering)                                                                                                    \
    X(off_classes)                                                                                                     \
    X(reservations)                                                                                                    \
    X(fits)                                                                                                            \
    X(type_capacity)                                                                                                   \
    X(req_rows)                                                                                                        \
    X(rs_rows)                                                                                                         \
    X(lset_rs)                                                                                                         \
    X(node_order)

struct frame {
    struct arena *arena; /* of the tables; NULL: there are none */
    bool lent;
    struct problem kept;          /* only the members above */
    struct reservation *reserved; /* as they are before a plan */
    size_t bytes;                 /* of the arena when it was new */
    struct arena *spare;          /* of the last pass; NULL: none, or somebody has it */
    size_t pass_bytes;            /* that passes begin with: a little more than the largest one took */
    /* What they were made of. */
    const struct syms *syms;
    uint64_t n_sweeps;
    const struct catalog *catalog;
    const struct itype *types;
    uint32_t n_types;
    uint64_t catalog_version;
    bool reserved_capacity;
};

struct frame *frame_new(void)
{
    struct frame *f = xcalloc(1, sizeof(*f));

    f->pass_bytes = LEAST_PASS;
    return f;
}

void tables_fini(struct problem *p)
{
    reqspace_fini(&p->space);
    u64map_fini(&p->dim_of_sym);
    vec_fini(&p->rows);
    vec_fini(&p->offerings);
    vec_fini(&p->off_classes);
    vec_fini(&p->reservations);
    vec_fini(&p->req_rows);
    vec_fini(&p->rs_rows);
    vec_fini(&p->lset_rs);
    vec_fini(&p->node_order);
}

static void clear(struct frame *f)
{
    if (f->arena)
        tables_fini(&f->kept);
    arena_free(f->arena);
    *f = (struct frame){.spare = f->spare, .pass_bytes = f->pass_bytes};
}

void frame_reset(struct frame *f)
{
    if (!f)
        return;
    assert(!f->lent);
    arena_free(f->spare);
    f->spare = NULL;
    f->pass_bytes = LEAST_PASS;
    clear(f);
}

void frame_free(struct frame *f)
{
    if (!f)
        return;
    frame_reset(f);
    free(f);
}

/* Whether the numbers of symbols still stand for what they stood for. */
static bool speaks(const struct frame *f, const struct snapshot *s)
{
    return f->arena && f->syms == s->syms && f->n_sweeps == syms_sweeps(s->syms);
}

static bool has_types(const struct frame *f, const struct snapshot *s)
{
    return f->catalog == s->catalog && f->types == s->catalog->types && f->n_types == s->catalog->n &&
           f->catalog_version == s->catalog->version && f->reserved_capacity == s->settings.reserved_capacity;
}

bool frame_lend(struct frame *f, struct problem *p)
{
    if (!f || f->lent || !speaks(f, p->snap) || !has_types(f, p->snap))
        return false;
#define LEND(m) p->m = f->kept.m;
    KEPT(LEND)
#undef LEND
    for (uint32_t i = 0; i < p->reservations.n; i++)
        p->reservations.v[i] = f->reserved[i];
    p->frame = f;
    p->lasting = f->arena;
    f->lent = true;
    return true;
}

void frame_return(struct problem *p)
{
    struct frame *f = p->frame;

    p->space.lacks = false;
#define RETURN(m) f->kept.m = p->m;
    KEPT(RETURN)
#undef RETURN
    f->lent = false;
    if (arena_bytes(f->arena) > f->bytes + MOST_BYTES || p->space.sets.n > MOST_SETS)
        clear(f);
}

/* What somebody mentioned a while ago will be mentioned again: a round sees the pods that wait, a look at all nodes those that run. */
static void take_words(struct problem *p, const struct frame *f)
{
    const struct reqspace *was = &f->kept.space;

    if (was->announced.n > MOST_WORDS)
        return;
    for (uint32_t i = 0; i < was->keys.n; i++)
        reqspace_key(&p->space, was->keys.v[i].name);
    for (uint32_t i = 0; i < was->announced.n; i++)
        reqspace_value(&p->space, was->announced.v[i].key, was->announced.v[i].val);
    for (uint32_t i = 0; i < f->kept.n_dims; i++)
        problem_mention_dim(p, f->kept.dims[i]);
}

void frame_begin(struct frame *f, struct problem *p)
{
    const struct snapshot *s = p->snap;

    p->frame = f && !f->lent ? f : NULL;
    p->lasting = p->frame ? arena_new(1u << 16) : p->arena;
    reqspace_init(&p->space, p->lasting, s->syms, &s->catalog->rules);
    if (!p->frame)
        return;
    if (speaks(f, s))
        take_words(p, f);
    clear(f);
    *f = (struct frame){
        .spare = f->spare,
        .pass_bytes = f->pass_bytes,
        .arena = p->lasting,
        .lent = true,
        .syms = s->syms,
        .n_sweeps = syms_sweeps(s->syms),
        .catalog = s->catalog,
        .types = s->catalog->types,
        .n_types = s->catalog->n,
        .catalog_version = s->catalog->version,
        .reserved_capacity = s->settings.reserved_capacity,
    };
}

void frame_end(struct problem *p)
{
    struct frame *f = p->frame;

    if (!f)
        return;
    f->reserved = arena_dup_array(f->arena, struct reservation, p->reservations.v, p->reservations.n);
    f->bytes = arena_bytes(f->arena);
}

/* Fresh pages cost more than most of what is written on them: a pass takes those of the last one. The first takes few: looking for a huge page can take the system milliseconds, which the
 * pods of a small cluster need not wait for. */
struct arena *frame_arena(struct frame *f)
{
    struct arena *a = f ? f->spare : NULL;

    if (!a)
        return arena_new(f ? f->pass_bytes : 0);
    f->spare = NULL;
    return a;
}

void frame_return_arena(struct frame *f, struct arena *a)
{
    if (f && arena_used(a) > f->pass_bytes && f->pass_bytes < MOST_PASS)
        f->pass_bytes = MIN(arena_used(a) * 5 / 4, MOST_PASS); /* for the next one */
    else if (f && !f->spare) {
        arena_reset(a); /* the first block stays */
        f->spare = a;
        return;
    }
    arena_free(a);
}
