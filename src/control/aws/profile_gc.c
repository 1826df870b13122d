/* instanceprofile.garbagecollection: instance profiles that no class and no claim names any more (aws 7.9). */
#include "control/aws/classes_int.h"

#define POLL_MS (30 * MINUTE_MS)

static uint32_t profiles_of_claims(struct aws_classes *s, struct arena *a, str **ret)
{
    struct names all = store_names(s->c->store, OBJ_NODECLAIM);
    uint32_t n = 0;

    *ret = arena_new_array(a, str, all.n);
    for (uint32_t i = 0; i < all.n; i++) {
        const struct nodeclaim *c = store_claim(s->c->store, all.v[i]);
        str name = c ? annotation_value(c->annotations, c->n_annotations, EC2_PROFILE_ANNOTATION) : (str){0};

        if (name.n)
            (*ret)[n++] = arena_strdup(a, name);
    }
    return n;
}

static struct result reconcile(struct reconcile *r)
{
    struct aws_classes *s = r->ctx;
    str *in_use;
    uint32_t n = profiles_of_claims(s, r->arena, &in_use);

    if (!ec2_profiles_collect(s->p, in_use, n, &r->err))
        return result_error();
    return result_after_ms(POLL_MS);
}

void profile_gc_register(struct aws_classes *s)
{
    s->profiles = manager_add(s->c->manager, &(struct controller_spec){
                                                 .name = "instanceprofile.garbagecollection",
                                                 .workers = 1,
                                                 .limit = limiter_singleton,
                                                 .fn = reconcile,
                                                 .ctx = s,
                                             });
}
