/* Which NodePools may be used: what the validation and readiness controllers would have said (scheduling 2.9, 2.10). */
#include "state/build.h"

/* A class that is not in the input, or says nothing about itself, is taken for ready. */
static const char *class_obstacle(const struct nodeclass *c)
{
    if (!c)
        return NULL;
    if (c->deleting)
        return "is being deleted";
    return c->ready == COND_FALSE || c->ready == COND_UNKNOWN ? "is not ready" : NULL;
}

void build_pools(struct build *b)
{
    for (uint32_t i = 0; i < b->s->n_pools; i++) {
        struct nodepool *p = &b->s->pools[i];
        struct err e = {0};

        if (!claim_template_validate(&p->tmpl, &b->s->catalog->rules, b->syms, &e)) {
            p->ready = COND_FALSE;
            if (b->o)
                objects_note(b->o, "NodePool " STR_FMT ": not used: %s", STR_ARG(p->name), e.msg);
            continue;
        }
        const char *why = class_obstacle(nodeclass_find(b->s->node_classes, b->s->n_node_classes, &p->tmpl.class_ref));
        if (!why)
            continue;
        p->ready = COND_FALSE;
        if (b->o)
            objects_note(b->o, "NodePool " STR_FMT ": not used: " STR_FMT " " STR_FMT " %s", STR_ARG(p->name),
                         STR_ARG(p->tmpl.class_ref.kind), STR_ARG(p->tmpl.class_ref.name), why);
    }
}
