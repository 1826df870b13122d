/* nodeclass: the status of EC2NodeClasses, and what has to go with them (aws 7.1, 7.2). */
#include "base/sb.h"
#include "control/aws/classes_int.h"

#define MAX_NAMED 5 /* claims that an Event names */

/* ---- the way out ---- */

str waiting_message(struct arena *a, const str *claims, uint32_t n)
{
    struct sb b = {0};

    sb_c(&b, "Waiting on NodeClaim termination for ");
    for (uint32_t i = 0; i < n && i < MAX_NAMED; i++)
        sb_printf(&b, "%s" STR_FMT, i ? ", " : "", STR_ARG(claims[i]));
    if (n > MAX_NAMED)
        sb_printf(&b, " and %u other(s)", n - MAX_NAMED);
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static struct result wait_for_claims(struct aws_classes *s, struct reconcile *r, const struct draft *d,
                                     const str *claims, uint32_t n)
{
    str uid = obj_uid(d->obj);

    recorder_publish(s->c->recorder, &(struct event){.object = {.kind = d->kind, .name = r->name, .uid = uid},
                                                     .reason = "WaitingOnNodeClaimTermination",
                                                     .message = waiting_message(r->arena, claims, n),
                                                     .dedupe = &uid,
                                                     .n_dedupe = 1});
    return result_after_ms(10 * MINUTE_MS);
}

static struct result finalize(struct aws_classes *s, struct reconcile *r, struct draft *d)
{
    str *claims;
    struct err e;

    if (!obj_has_finalizer(d->obj, CLASS_FINALIZER))
        return RESULT_OK;
    uint32_t n = class_claims(s, r->arena, r->name, &claims);
    if (n)
        return wait_for_claims(s, r, d, claims, n);
    if (!ec2_class_finalize(s->p, r->arena, d->obj, &e)) {
        r->err = e;
        return result_error();
    }
    obj_drop_finalizer(d->obj, CLASS_FINALIZER);
    return draft_patch(d, DRAFT_LOCKED, &e) ? RESULT_OK : write_failed(r, &e);
}

/* ---- the status ---- */

struct result nodeclass_result(struct reconcile *r, const struct ec2_reconciled *out)
{
    if (out->failed && !out->terminal) {
        r->err = out->err;
        return result_error();
    }
    if (out->failed) { /* said in a condition as well; the next change of the object is the next try */
        log_error(r->log, "Reconciler error", &out->err);
        return RESULT_OK;
    }
    if (out->after_ms == INT64_MAX)
        return RESULT_OK;
    return out->after_ms ? result_after_ms(out->after_ms) : result_requeue();
}

static struct result reconcile(struct reconcile *r)
{
    struct aws_classes *s = r->ctx;
    struct draft d;
    struct err e;

    if (!class_open(&d, s, r))
        return RESULT_OK;
    if (obj_is_deleting(d.obj))
        return finalize(s, r, &d);
    if (!obj_has_finalizer(d.obj, CLASS_FINALIZER)) {
        obj_add_finalizer(r->arena, d.obj, CLASS_FINALIZER);
        if (!draft_patch(&d, DRAFT_LOCKED, &e))
            return write_failed(r, &e);
    }
    struct ec2_reconciled out = ec2_class_reconcile(s->p, r->arena, d.obj);
    if (!draft_patch(&d, DRAFT_LOCKED | DRAFT_STATUS, &e))
        return write_failed(r, &e);
    return nodeclass_result(r, &out);
}

static void hear(void *ctx, const struct store_event *ev)
{
    struct aws_classes *s = ctx;
    const struct nodeclaim *claim = ev->kind == OBJ_NODECLAIM && ev->change == STORE_GONE ? ev->was : NULL;

    if (ev->kind == OBJ_NODECLASS && class_name(ev->name).n)
        queue_add(s->nodeclass, STR(""), class_name(ev->name));
    if (claim && str_is(claim->class_ref.group, CLASS_GROUP) && str_is(claim->class_ref.kind, CLASS_KIND))
        queue_add(s->nodeclass, STR(""), claim->class_ref.name);
}

void nodeclass_register(struct aws_classes *s)
{
    s->nodeclass = class_controller(s, "nodeclass", reconcile);
    store_subscribe(s->c->store, hear, s);
}
