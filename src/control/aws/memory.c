/* providers.instancetype.capacity: how much memory a Node really has, for the next ones of its type (aws 5.10). */
#include "control/aws/machines_int.h"
#include "data/json_own.h"

static bool is_registered(struct aws_machines *s, const struct node *n)
{
    sym v;

    return n && lset_value(s->c->syms, n->labels, SYM(REGISTERED), &v) && str_is(sym_str(s->c->syms, v), "true");
}

static struct result reconcile(struct reconcile *r)
{
    struct aws_machines *s = r->ctx;
    const struct node *n = store_node(s->c->store, r->name);
    sym type;

    if (!is_registered(s, n) || !lset_value(s->c->syms, n->labels, SYM(ITYPE), &type))
        return RESULT_OK;
    int64_t bytes = reslist_value(&n->capacity, SYM(MEMORY)) / 1000;
    struct names claims = store_claims_by_id(s->c->store, n->provider_id);
    if (claims.n != 1 || bytes <= 0)
        return RESULT_OK;
    const struct nodeclaim *c = store_claim(s->c->store, claims.v[0]);
    const struct kept *kept = store_kept(s->c->store, OBJ_NODECLAIM, claims.v[0]);
    if (!c || !kept || !kept->managed)
        return RESULT_OK;
    const struct tree *claim = json_read_own(r->arena, arena_strdup(r->arena, kept->text));
    str image = tree_str(tree_at(claim, "status", "imageID", NULL));
    if (image.n)
        s->o.provider.learn_memory(s->o.provider.p, sym_str(s->c->syms, type), c->class_ref.name, image, bytes);
    return RESULT_OK;
}

void memory_hear(struct aws_machines *s, const struct store_event *ev)
{
    if (is_registered(s, ev->is) && !is_registered(s, ev->was))
        queue_add(s->memory, STR(""), ev->name);
}

void memory_register(struct aws_machines *s)
{
    s->memory = manager_add(s->c->manager, &(struct controller_spec){
                                               .name = "providers.instancetype.capacity",
                                               .group = "",
                                               .kind = "Node",
                                               .workers = 1,
                                               .limit = limiter_reasonable,
                                               .fn = reconcile,
                                               .ctx = s,
                                           });
}
