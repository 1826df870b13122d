/* nodeclass.hash: what drift compares claims with (aws 2.9.3). */
#include "control/aws/classes_int.h"

/* The class is hashed in a new way: so are its claims, or all of them would seem to have drifted. */
static bool adopt_claims(struct aws_classes *s, struct reconcile *r, const struct ec2_hash_text *hash)
{
    str *names;
    uint32_t n = class_claims(s, r->arena, r->name, &names);
    struct err e;

    for (uint32_t i = 0; i < n; i++) {
        struct draft d;

        if (!draft_open(&d, s->c, r->arena, OBJ_NODECLAIM, names[i]) || !ec2_hash_adopt(r->arena, d.obj, hash))
            continue;
        if (!draft_patch(&d, DRAFT_PLAIN, &e) && e.kind != ERR_NOT_FOUND && r->err.kind == ERR_NONE)
            r->err = e;
    }
    return r->err.kind == ERR_NONE;
}

static struct result reconcile(struct reconcile *r)
{
    struct aws_classes *s = r->ctx;
    struct draft d;
    struct err e;
    struct ec2_hash_text hash;

    if (!class_open(&d, s, r) || obj_is_deleting(d.obj))
        return RESULT_OK;
    if (!ec2_class_hash_text(s->p, r->arena, d.obj, &hash, &e)) /* `nodeclass` says what is wrong with it */
        return RESULT_OK;
    if (!str_is(obj_annotation(d.obj, EC2_HASH_VERSION_ANNOTATION), EC2_HASH_VERSION) && !adopt_claims(s, r, &hash))
        return result_error();
    obj_set_annotation(r->arena, d.obj, STR(EC2_HASH_ANNOTATION), hash.hash);
    obj_set_annotation(r->arena, d.obj, STR(EC2_HASH_VERSION_ANNOTATION), STR(EC2_HASH_VERSION));
    return draft_patch(&d, DRAFT_PLAIN, &e) ? RESULT_OK : write_failed(r, &e);
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct aws_classes *s = ctx;

    if (ev->kind == OBJ_NODECLASS && class_name(ev->name).n)
        queue_add(s->hash, STR(""), class_name(ev->name));
}

void nodeclass_hash_register(struct aws_classes *s)
{
    s->hash = class_controller(s, "nodeclass.hash", reconcile);
    store_subscribe(s->c->store, hear, s);
}
