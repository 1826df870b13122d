#include "plan/plan.h"

#include "plan/pack.h"

static void note_dropped(const struct problem *p, struct plan *out, struct arena *a)
{
    out->dropped = arena_new_array(a, struct plan_dropped, p->n_tmpls);
    for (uint32_t i = 0; i < p->n_tmpls; i++)
        if (!p->tmpls[i].usable)
            out->dropped[out->n_dropped++] = (struct plan_dropped){p->tmpls[i].pool, p->tmpls[i].min_values_failed};
}

struct plan *plan_make_in(struct frame *f, struct arena *a, const struct snapshot *s)
{
    struct arena *pass = frame_arena(f);
    struct plan *out = arena_new_one(a, struct plan);
    struct packer k;

    packer_init(&k, pass, s, f, s->pending, s->n_pending);
    note_dropped(&k.p, out, a);
    zones_count(&k, out, a);
    k.notes_exclusions = true;
    packer_run(&k);
    packer_finish(&k, out, a);
    out->exclusions = vec_to_arena(&k.exclusions, a);
    out->n_exclusions = k.exclusions.n;
    k.notes_exclusions = false; /* explaining looks at limits too */
    explain_failures(&k, out, a);
    packer_fini(&k);
    frame_return_arena(f, pass);
    return out;
}

struct plan *plan_make(struct arena *a, const struct snapshot *s)
{
    return plan_make_in(NULL, a, s);
}
