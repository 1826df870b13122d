#include "model/itype.h"

#include "base/map.h"
#include "base/sb.h"
#include "base/vec.h"

bool itype_is_for(const struct itype *t, sym pool)
{
    for (uint32_t i = 0; i < t->n_pools; i++)
        if (sym_eq(t->pools[i], pool))
            return true;
    return t->pools == NULL;
}

uint32_t catalog_for_pool(const struct catalog *c, uint32_t first, sym pool)
{
    for (uint32_t i = first; i < c->n && sym_eq(c->types[i].name, c->types[first].name); i++)
        if (itype_is_for(&c->types[i], pool))
            return i;
    return UINT32_MAX;
}

static void content_key(struct sb *b, const struct offering *o)
{
    sb_reset(b);
    for (uint32_t i = 0; i < o->n_requirements; i++) {
        const struct req_expr *x = &o->requirements[i];
        const uint32_t head[] = {x->key.v, (uint32_t)x->op, x->n_vals, (uint32_t)x->min_values};

        sb_bytes(b, head, sizeof(head));
        sb_bytes(b, x->vals, x->n_vals * sizeof(*x->vals));
    }
}

void catalog_share_requirements(struct catalog *c, struct arena *a)
{
    struct strmap seen = {0};
    VEC(const struct offering *) first = {0};
    struct sb key = {0};

    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t j = 0; j < c->types[i].n_offerings; j++) {
            struct offering *o = &c->types[i].offerings[j];

            content_key(&key, o);
            uint32_t at = strmap_get(&seen, sb_view(&key));
            if (at != MAP_NONE) {
                o->requirements = first.v[at]->requirements;
                continue;
            }
            strmap_put(&seen, sb_dup(&key, a), first.n);
            vec_push(&first, o);
        }
    vec_fini(&first);
    strmap_fini(&seen);
    sb_fini(&key);
}
