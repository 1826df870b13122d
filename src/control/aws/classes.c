#include <stdlib.h>

#include "base/sort.h"
#include "control/aws/classes_int.h"

bool class_open(struct draft *d, struct aws_classes *s, struct reconcile *r)
{
    return draft_open(d, s->c, r->arena, OBJ_NODECLASS,
                      arena_printf(r->arena, CLASS_GROUP "/" CLASS_KIND "/" STR_FMT, STR_ARG(r->name)));
}

str class_name(str store_name)
{
    static const char prefix[] = CLASS_GROUP "/" CLASS_KIND "/";

    return str_starts(store_name, STR(prefix)) ? str_sub(store_name, sizeof(prefix) - 1, store_name.n) : (str){0};
}

static bool name_before(const str *x, const str *y, const void *ctx UNUSED)
{
    return str_cmp(*x, *y) < 0;
}

SORT_DEFINE(sort_names, str, name_before)

uint32_t class_claims(struct aws_classes *s, struct arena *a, str class, str **ret)
{
    struct names all = store_names(s->c->store, OBJ_NODECLAIM);
    uint32_t n = 0;

    *ret = arena_new_array(a, str, all.n);
    for (uint32_t i = 0; i < all.n; i++) {
        const struct nodeclaim *c = store_claim(s->c->store, all.v[i]);

        if (c && str_is(c->class_ref.group, CLASS_GROUP) && str_is(c->class_ref.kind, CLASS_KIND) &&
            str_eq(c->class_ref.name, class))
            (*ret)[n++] = arena_strdup(a, all.v[i]);
    }
    sort_names(*ret, n, NULL);
    return n;
}

struct queue *class_controller(struct aws_classes *s, const char *name, reconcile_fn fn)
{
    return manager_add(s->c->manager, &(struct controller_spec){
                                          .name = name,
                                          .group = CLASS_GROUP,
                                          .kind = CLASS_KIND,
                                          .workers = 10,
                                          .limit = limiter_reasonable,
                                          .fn = fn,
                                          .ctx = s,
                                      });
}

struct aws_classes *aws_classes_new(struct control *c, struct ec2 *p, bool isolated_vpc)
{
    struct aws_classes *s = xcalloc(1, sizeof(*s));

    s->c = c;
    s->p = p;
    nodeclass_register(s);
    nodeclass_hash_register(s);
    if (!isolated_vpc) /* where there is no way to IAM */
        profile_gc_register(s);
    return s;
}

void aws_classes_free(struct aws_classes *s)
{
    free(s);
}
