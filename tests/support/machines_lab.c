#include "support/machines_lab.h"

#include <stdlib.h>

#include "control/feed.h"
#include "data/json.h"
#include "sim/world.h"
#include "support/aws_account.h"
#include "support/check.h"

/* ---- the provider ---- */

static str instance_id(str provider_id)
{
    size_t at = provider_id.n;

    while (at > 0 && provider_id.p[at - 1] != '/')
        at--;
    return at > 4 ? str_sub(provider_id, at, provider_id.n) : (str){0};
}

static void mark_unavailable(struct ec2 *p, str ct, str type, str zone)
{
    sb_printf(&p->told, "unavailable " STR_FMT " " STR_FMT " " STR_FMT "\n", STR_ARG(ct), STR_ARG(type), STR_ARG(zone));
}

static void mark_reservation(struct ec2 *p, str id)
{
    sb_printf(&p->told, "no more of " STR_FMT "\n", STR_ARG(id));
}

static bool instance_get(struct ec2 *p, struct arena *a UNUSED, str id, bool fresh, struct ec2_instance *ret,
                         struct err *e)
{
    for (uint32_t i = 0; i < p->n && fresh; i++)
        if (str_eq(p->v[i].id, id))
            return *ret = p->v[i], true;
    return err_set(e, ERR_NOT_FOUND, "no such instance");
}

static bool instance_list(struct ec2 *p, struct arena *a, struct ec2_instances *ret, struct err *e UNUSED)
{
    *ret = (struct ec2_instances){arena_dup_array(a, struct ec2_instance, p->v, p->n), p->n};
    return true;
}

static bool instance_tag(struct ec2 *p, struct arena *a UNUSED, str id, const struct ec2_tag *tags, uint32_t n,
                         struct err *e UNUSED)
{
    sb_printf(&p->told, "tag " STR_FMT, STR_ARG(id));
    for (uint32_t i = 0; i < n; i++)
        sb_printf(&p->told, " " STR_FMT "=" STR_FMT, STR_ARG(tags[i].key), STR_ARG(tags[i].value));
    sb_char(&p->told, '\n');
    return true;
}

static bool refresh(struct ec2 *p UNUSED, struct err *e UNUSED)
{
    return true;
}

static bool zone_is_shifted(const struct ec2 *p, str zone_id)
{
    return p->shifted && str_is(zone_id, "ida");
}

static void learn_memory(struct ec2 *p, str type, str class, str image, int64_t bytes)
{
    sb_printf(&p->told, "memory " STR_FMT " " STR_FMT " " STR_FMT " %lld\n", STR_ARG(type), STR_ARG(class),
              STR_ARG(image), (long long)bytes);
}

/* Of the cloud only ends are asked for, and what there is to buy. */
static bool destroy(void *self, struct arena *a UNUSED, const struct nodeclaim *c, struct err *e UNUSED)
{
    sb_printf(&((struct ec2 *)self)->told, "destroy " STR_FMT "\n", STR_ARG(c->provider_id));
    return true;
}

static const struct catalog *catalog(void *self)
{
    return ((const struct ec2 *)self)->catalog;
}

/* ---- the lab ---- */

static void keep_line(void *ctx, str line)
{
    sb_str(ctx, line);
}

static int64_t now_ms(void *w)
{
    return world_now_ms(w);
}

static void ignore(void *ctx UNUSED, enum object_kind kind UNUSED, str ns UNUSED, str name UNUSED,
                   const struct err *e UNUSED)
{
}

static const struct cloud_class classes[] = {{"karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses", NULL}};

static void open_account(struct machines_lab *l, const char *members)
{
    static const char *const vars[] = {"AWS_ENDPOINT_URL=https://aws.test", "AWS_ACCESS_KEY_ID=AKIDEXAMPLE",
                                       "AWS_SECRET_ACCESS_KEY=x", "AWS_REGION=us-west-2", NULL};
    struct aws_environment env = {.vars = vars};
    struct sim_aws_options o = {.any_signature = true, .unlimited = true};
    struct err e;

    o.world = sim_process(l->far->sim, "aws");
    o.account = account_tree(l->far->a, members);
    l->account = sim_aws_new(&o, &e);
    check_ok("the account", l->account != NULL, &e);
    sim_mount(l->far->sim, "https://aws.test", o.world, sim_aws_serve, l->account);
    l->config = aws_config_load(&env, &e);
    check_ok("configuration", l->config != NULL, &e);
    l->aws = aws_new(&(struct aws_options){
        .world = l->far->world, .config = l->config, .observer = {&l->c, aws_count_attempt, aws_count_call}});
}

static void begin(struct machines_lab *l, const char *queue)
{
    const struct nodeclass_ref class = {STR("karpenter.k8s.aws"), STR("EC2NodeClass"), {0}};

    l->c.world = l->p.world = l->far->world;
    l->c.api = l->far->api;
    l->c.options = &l->options;
    l->c.syms = syms_new();
    l->c.log = log_new(LOG_DEBUG, &(struct log_sink){&l->log, keep_line}, now_ms, l->far->world);
    l->registry = metrics_new();
    l->c.metrics = control_metrics_new(l->registry, NULL);
    l->cloud = (struct cloud){
        .name = "aws", .self = &l->p, .classes = classes, .n_classes = 1, .destroy = destroy, .catalog = catalog};
    l->c.cloud = &l->cloud;
    l->c.store = store_new(&(struct store_options){l->c.syms, &class, 1, 20000});
    l->c.feed = feed_new(
        &(struct feed_options){.store = l->c.store, .classes = classes, .n_classes = 1, .ctx = l, .on_error = ignore});
    l->c.manager = manager_new(l->far->world, l->c.log, l->registry);
    l->c.recorder = recorder_new(l->c.api, STR("karpenter"), l->c.log);
    l->s = aws_machines_new(&l->c, &(struct aws_machines_options){
                                       .aws = l->aws,
                                       .provider = {&l->p, instance_id, mark_unavailable, mark_reservation,
                                                    instance_get, instance_list, instance_tag, refresh, refresh,
                                                    refresh, refresh, refresh, zone_is_shifted, learn_memory, refresh},
                                       .cluster_name = STR("c1"),
                                       .interruption_queue = str_c(queue)});
    feed_watch(l->c.feed, l->c.api);
    for (int i = 0; i < 100 && !feed_listed(l->c.feed); i++)
        far_run(l->far, 0.01);
    manager_start(l->c.manager);
    far_run(l->far, 0.1);
}

struct machines_lab *machines_lab_new(const char *queue, const char *members)
{
    struct machines_lab *l = xcalloc(1, sizeof(*l));

    l->far = far_new(1);
    open_account(l, members);
    begin(l, queue);
    return l;
}

void machines_lab_free(struct machines_lab *l)
{
    feed_free(l->c.feed);
    far_kill(l->far);
    manager_free(l->c.manager);
    recorder_free(l->c.recorder);
    aws_machines_free(l->s);
    store_free(l->c.store);
    metrics_free(l->registry);
    control_metrics_free(l->c.metrics);
    log_free(l->c.log);
    aws_free(l->aws);
    aws_config_free(l->config);
    sim_aws_free(l->account);
    far_free(l->far);
    syms_free(l->c.syms);
    sb_fini(&l->p.told);
    sb_fini(&l->log);
    free(l);
}

int machines_lab_setup(void **state)
{
    *state = machines_lab_new("c1", NULL);
    return 0;
}

int machines_lab_teardown(void **state)
{
    machines_lab_free(*state);
    return 0;
}

void machines_lab_claim(struct machines_lab *l, const char *name, const char *id, const char *more_labels)
{
    struct arena *a = l->far->a;

    far_apply(
        l->far,
        arena_printf(
            a,
            "apiVersion: karpenter.sh/v1\nkind: NodeClaim\n"
            "metadata: {name: %s, finalizers: [karpenter.sh/termination], labels: {karpenter.sh/nodepool: pool, "
            "node.kubernetes.io/instance-type: m5.large, topology.kubernetes.io/zone: za%s}}\n"
            "spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}\n%c",
            name, more_labels, 0)
            .p);
    far_patch_status(
        l->far, "nodeclaims", name,
        arena_printf(a, "{\"status\":{\"providerID\":\"aws:///za/%s\",\"imageID\":\"ami-x86\"}}%c", id, 0).p);
    far_apply(l->far,
              arena_printf(
                  a,
                  "apiVersion: v1\nkind: Node\nmetadata: {name: node-%s, labels: {karpenter.sh/registered: \"true\", "
                  "node.kubernetes.io/instance-type: m5.large%s}}\n"
                  "spec: {providerID: \"aws:///za/%s\"}\nstatus: {capacity: {memory: 8Gi}}\n%c",
                  name, more_labels, id, 0)
                  .p);
    far_run(l->far, 0.1);
}

struct sending {
    struct machines_lab *l;
    const char *body;
};

static void send(void *arg)
{
    struct sending *x = arg;
    struct arena *a = x->l->far->a;
    struct aws_answer r;
    struct err e;
    struct aws_call call = {.service = AWS_SQS, .action = "SendMessage"};
    struct sb b = {0};

    sb_c(&b, "{\"QueueUrl\":");
    str url;
    check_ok("the queue", sqs_queue_url(x->l->aws, a, STR("c1"), &url, &e), &e);
    sb_str(&b, json_quoted(a, url));
    sb_c(&b, ",\"MessageBody\":");
    sb_str(&b, json_quoted(a, str_c(x->body)));
    sb_char(&b, '}');
    call.body = sb_dup(&b, a);
    sb_fini(&b);
    check_ok("sent", aws_do(x->l->aws, &call, a, &r, &e), &e);
}

void machines_lab_send(struct machines_lab *l, const char *body)
{
    far_do(l->far, send, &(struct sending){l, body});
}

void machines_lab_tell(struct machines_lab *l, const char *source, const char *type, const char *detail)
{
    str text =
        arena_printf(l->far->a,
                     "{\"version\":\"0\",\"detail-type\":\"%s\",\"source\":\"%s\",\"time\":\"2026-01-02T03:04:05Z\","
                     "\"detail\":%s}%c",
                     type, source, detail, 0);

    machines_lab_send(l, text.p);
    far_run(l->far, 1);
}

bool machines_lab_deleting(struct machines_lab *l, const char *claim)
{
    return far_get(l->far, "nodeclaims", claim, "metadata.deletionTimestamp").n != 0;
}

double machines_lab_deleted_messages(const struct machines_lab *l)
{
    return metric_value(l->c.metrics->interruption_deleted_messages_total, NULL);
}

struct launching {
    struct machines_lab *l;
    str id;
};

static void launch(void *arg)
{
    struct launching *x = arg;
    struct aws_call call = {.service = AWS_EC2,
                            .action = "RunInstances",
                            .body =
                                STR("MinCount=1&MaxCount=1&ImageId=ami-x86&InstanceType=m5.large&SubnetId=subnet-a")};
    struct aws_answer r;
    struct err e;

    check_ok("launched", aws_do(x->l->aws, &call, x->l->far->a, &r, &e), &e);
    const struct tree *set = tree_get(r.tree, "instancesSet");
    check_true("one machine", set && set->kind == TREE_LIST && set->n == 1);
    x->id = tree_str(tree_get(&set->items[0], "instanceId"));
}

str machines_lab_launch(struct machines_lab *l)
{
    struct launching x = {.l = l};

    far_do(l->far, launch, &x);
    check_true("a machine", x.id.n);
    return x.id;
}
