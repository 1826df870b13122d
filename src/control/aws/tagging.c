/* nodeclaim.tagging: a machine whose Node has joined gets the names of both as tags (aws 7.6). */
#include "control/aws/machines_int.h"
#include "net/fiber.h"

#define TAGGED "karpenter.k8s.aws/tagged"
#define CLUSTER_TAGGED "compatibility.karpenter.k8s.aws/cluster-name-tagged"
#define PAUSE_US (1000 * 1000) /* CreateTags has few tokens */

static bool is_taggable(const struct nodeclaim *c)
{
    bool both = str_is(annotation_value(c->annotations, c->n_annotations, TAGGED), "true") &&
                str_is(annotation_value(c->annotations, c->n_annotations, CLUSTER_TAGGED), "true");

    return !both && c->node_name.n && !c->deleting;
}

static bool has_tag(const struct ec2_instance *i, str key)
{
    for (uint32_t k = 0; k < i->n_tags; k++)
        if (str_eq(i->tags[k].key, key))
            return true;
    return false;
}

uint32_t tags_missing(const struct ec2_instance *i, str node, str claim, str cluster, struct ec2_tag *ret)
{
    const struct ec2_tag want[] = {
        {STR("Name"), node}, {STR("karpenter.sh/nodeclaim"), claim}, {STR("eks:eks-cluster-name"), cluster}};
    uint32_t n = 0;

    for (size_t k = 0; k < ARRAY_LEN(want); k++)
        if (!has_tag(i, want[k].key))
            ret[n++] = want[k];
    return n;
}

static bool tag(struct aws_machines *s, struct reconcile *r, str id, str node, struct err *e)
{
    const struct aws_provider *p = &s->o.provider;
    struct ec2_instance i;
    struct ec2_tag tags[3];

    if (!p->instance_get(p->p, r->arena, id, /* fresh= */ true, &i, e))
        return e->kind == ERR_NOT_FOUND || err_wrap(e, "tagging nodeclaim");
    uint32_t n = tags_missing(&i, node, r->name, s->o.cluster_name, tags);
    if (n == 0)
        return true;
    if (!p->instance_tag(p->p, r->arena, id, tags, n, e))
        return e->kind == ERR_NOT_FOUND || err_wrap(e, "tagging nodeclaim");
    fiber_sleep_us(s->c->world, PAUSE_US);
    return true;
}

static struct result reconcile(struct reconcile *r)
{
    struct aws_machines *s = r->ctx;
    const struct nodeclaim *c = store_claim(s->c->store, r->name);
    const struct kept *meta = store_meta(s->c->store, OBJ_NODECLAIM, r->name);
    struct draft d;
    struct err e;

    if (!c || !meta || !meta->managed || !is_taggable(c))
        return RESULT_OK;
    str id = arena_strdup(r->arena, s->o.provider.instance_id(c->provider_id));
    if (id.n == 0) {
        (void)err_set(&e, ERR_INVALID, "provider id \"" STR_FMT "\" names no instance", STR_ARG(c->provider_id));
        log_error(r->log, "failed parsing instance id", &e);
        return RESULT_OK;
    }
    if (!tag(s, r, id, arena_strdup(r->arena, c->node_name), &r->err))
        return result_error();
    if (!draft_open(&d, s->c, r->arena, OBJ_NODECLAIM, r->name))
        return RESULT_OK;
    obj_set_annotation(r->arena, d.obj, STR(TAGGED), STR("true"));
    obj_set_annotation(r->arena, d.obj, STR(CLUSTER_TAGGED), STR("true"));
    return draft_patch(&d, DRAFT_PLAIN, &e) ? RESULT_OK : write_failed(r, &e);
}

void tagging_hear(struct aws_machines *s, const struct store_event *ev)
{
    if (ev->is && is_taggable(ev->is))
        queue_add(s->tagging, STR(""), ev->name);
}

void tagging_register(struct aws_machines *s)
{
    s->tagging = manager_add(s->c->manager, &(struct controller_spec){
                                                .name = "nodeclaim.tagging",
                                                .group = GROUP,
                                                .kind = "NodeClaim",
                                                .workers = 1,
                                                .limit = limiter_reasonable,
                                                .fn = reconcile,
                                                .ctx = s,
                                            });
}
