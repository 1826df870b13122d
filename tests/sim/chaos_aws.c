/* Cases whose machines come from EC2: the account, what people do to the node class, what AWS does to machines and calls. */
#include "sim/chaos_aws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "data/edit.h"
#include "data/reader.h"
#include "support/check.h"

#define AWS_SEED 79
#define ENDPOINT "https://aws.test"
#define CLASS "ec2nodeclasses"

/* ---- from beginning to end ---- */

uint32_t aws_settings(struct chaos *c, const char **env)
{
    uint64_t draw = hash_mix(c->what->seed, AWS_SEED); /* apart: what else the seed says stays what it is */

    if (!c->what->aws)
        return 0;
    c->aws = xcalloc(1, sizeof(*c->aws));
    c->aws->keys = (enum sky_keys)(draw % SKY_N_KEYS);
    c->aws->market = (uint32_t)(draw >> 16) % 4;
    uint32_t n = sky_env(c->aws->keys, env);
    return n + scarce_settings(c, draw, env + n);
}

static void publish(struct chaos *c, bool latest)
{
    static const char *const archs[][2] = {{"x86_64", "x86_64"}, {"arm64", "arm64"}};
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e = {0};

    c->aws->n_images++;
    for (size_t i = 0; i < ARRAY_LEN(archs); i++) {
        const struct tree *image = NULL;
        str text = arena_printf(
            a,
            "{\"ImageId\":\"ami-%08x%09zu\",\"Architecture\":\"%s\",\"Name\":\"chaos-%s-%u\",\"OwnerId\":\"123456789012\","
            "\"Tags\":[{\"Key\":\"sky\",\"Value\":\"yes\"}]}",
            c->aws->n_images, i, archs[i][0], archs[i][1], c->aws->n_images);
        str parameter = arena_printf(
            a, "/aws/service/eks/optimized-ami/1.32/amazon-linux-2023/%s/standard/recommended/image_id", archs[i][0]);

        check_ok("an image", tree_parse_json(a, "image", text, &image, &e), &e);
        check_ok("an image", sim_aws_publish_image(c->aws->sky->aws, image, latest ? parameter : (str){0}, &e), &e);
    }
}

/* A fleet has been made: whoever asked for it dies, if that was wanted. Who that was follows from who leads. */
static void on_call(void *ctx, const struct sim_aws_call *call)
{
    struct chaos *c = ctx;

    if (!c->aws->kills || call->error.n || strcmp(call->action, "CreateFleet") != 0)
        return;
    for (uint32_t i = 0; i < 2; i++)
        if (c->r->replicas[i] && replica_leads(c->r->replicas[i])) {
            deed(c, "struck after a launch", c->r->names[i]);
            rig_strike(c->r, i);
            c->aws->struck[i] = true;
            c->disturbed_s = MAX(c->disturbed_s, rig_now(c->r));
        }
    c->aws->kills = false;
}

void aws_open(struct chaos *c)
{
    if (!c->aws)
        return;
    c->aws->sky = sky_new(
        c->r, &(struct sky_options){.keys = c->aws->keys, .boot_ms = 8000, .stop_ms = 20000, .agent = {2000, 40000}});
    c->aws->sky->heard = on_call;
    c->aws->sky->heard_ctx = c;
    publish(c, /* latest= */ false);
    aws_watch(c);
}

void aws_close(struct chaos *c)
{
    if (!c->aws)
        return;
    sky_free(c->aws->sky);
    vec_fini(&c->aws->reserved);
    vec_fini(&c->aws->orphans);
    vec_fini(&c->aws->warnings);
    free(c->aws);
}

const char *aws_requirements(const struct chaos *c, bool is_static)
{
    static const struct {
        const char *ways, *more;
    } markets[] = {{"spot, on-demand", ""},
                   {"spot", ""},
                   {"spot, on-demand", ", {key: kubernetes.io/arch, operator: In, values: [amd64]}"},
                   {"on-demand", ""}};

    if (is_static)
        return "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}, "
               "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.xlarge, m6i.xlarge]}";
    (void)snprintf(c->aws->wants, sizeof(c->aws->wants),
                   "{key: karpenter.sh/capacity-type, operator: In, values: [%s%s]}, "
                   "{key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ['9']}%s",
                   c->aws->reserves ? "reserved, " : "", markets[c->aws->market].ways, markets[c->aws->market].more);
    return c->aws->wants;
}

/* ---- the node class ---- */

const char *class_plural(const struct chaos *c)
{
    return c->aws ? CLASS : "kwoknodeclasses";
}

#define CLASS_YAML(more)                                                                                               \
    "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\n"                                \
    "spec: {amiSelectorTerms: [{tags: {sky: 'yes'}}], " SKY_CLASS_TERMS more "}\n"

void class_make(struct chaos *c)
{
    if (!c->aws) {
        fleet_class(c->r);
        return;
    }
    lab_apply(c->r->l, c->aws->reserves ? CLASS_YAML(", capacityReservationSelectorTerms: [{tags: {sky: 'yes'}}]")
                                        : CLASS_YAML(""));
}

static bool is_going(struct chaos *c)
{
    const struct object *o =
        kube_get(chaos_kube(c), server_kind(c->r->l->s, class_plural(c)), (str){0}, STR("default"));

    return o && o->deleted_ms;
}

/* One that is on its way out waits for its machines: then somebody helps. */
void class_toggle(struct chaos *c)
{
    bool there = exists(c, class_plural(c), "default");

    deed(c, there ? "delete" : "create", class_plural(c));
    if (!there)
        class_make(c);
    else if (c->aws && is_going(c))
        delete_all(c, "nodeclaims", is_any);
    else
        lab_delete(c->r->l, class_plural(c), "default");
}

static void await_end(struct chaos *c)
{
    for (int i = 0; i < 90 && is_going(c) && c->bad.n == 0; i++) {
        lab_run(c->r->l, 20);
        tend(c);
    }
}

void class_restore(struct chaos *c)
{
    if (c->aws && is_going(c)) {
        if (!c->r->replicas[0] && !c->r->replicas[1])
            rig_start(c->r, 0);
        delete_all(c, "nodeclaims", is_any);
        await_end(c);
        if (is_going(c)) {
            give_in(c);
            await_end(c);
        }
        if (is_going(c))
            bad(c, "the node class does not go, although nothing uses it");
    }
    if (!exists(c, class_plural(c), "default"))
        class_make(c);
}

void patch_class(struct chaos *c, const char *patch)
{
    if (!exists(c, CLASS, "default") || is_going(c))
        return;
    deed(c, patch, CLASS);
    lab_patch(c->r->l, CLASS, "default", patch);
}

static void change_class(struct chaos *c)
{
    static const char *const patches[] = {
        "{spec: {tags: {team: a}}}",
        "{spec: {tags: {team: b, cost: low}}}",
        "{spec: {tags: null}}",
        "{spec: {subnetSelectorTerms: [{tags: {half: 'yes'}}]}}",
        "{spec: {subnetSelectorTerms: [{tags: {sky: 'yes'}}]}}",
        "{spec: {securityGroupSelectorTerms: [{tags: {team: platform}}]}}",
        "{spec: {securityGroupSelectorTerms: [{tags: {team: nobody}}]}}", /* there is none: not ready */
        "{spec: {securityGroupSelectorTerms: [{tags: {foo: bar}}]}}",
        "{spec: {blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 40Gi, volumeType: gp3, encrypted: true}}]}}",
        "{spec: {blockDeviceMappings: null}}",
        "{spec: {metadataOptions: {httpEndpoint: enabled, httpTokens: required, httpPutResponseHopLimit: 2}}}",
        "{spec: {amiSelectorTerms: [{alias: al2023@latest}]}}",
        "{spec: {amiSelectorTerms: [{tags: {sky: 'yes'}}]}}",
        "{spec: {role: other-role}}",
        "{spec: {role: test-role}}",
        "{spec: {userData: \"#!/bin/bash\\necho hello\\n\"}}",
        "{spec: {userData: null}}",
        "{spec: {detailedMonitoring: true}}",
        "{spec: {kubelet: {maxPods: 20}}}",
        "{spec: {kubelet: null}}",
    };

    patch_class(c, patches[below(c, ARRAY_LEN(patches))]);
}

/* ---- machines ---- */

struct crowd {
    struct chaos *c;
    VEC(str) ids; /* that are pending or running, in the order in which they were made */
};

static void note_machine(void *ctx, const struct sim_aws_resource *r)
{
    struct crowd *w = ctx;

    if (strcmp(r->kind, "instance") == 0 && (strcmp(r->state, "pending") == 0 || strcmp(r->state, "running") == 0))
        vec_push(&w->ids, r->id);
}

static void strike(struct chaos *c, enum chaos_part what, str id)
{
    struct sim_aws *aws = c->aws->sky->aws;
    char name[32];

    (void)snprintf(name, sizeof(name), STR_FMT, STR_ARG(id));
    deed(c, chaos_part_name(what), name);
    if (what == CHAOS_AWS_SPOT && sim_aws_interrupt(aws, id))
        aws_warned(c, id);
    else if (what == CHAOS_AWS_REBALANCE)
        (void)sim_aws_notify(aws, id, SIM_AWS_REBALANCE);
    else if (what == CHAOS_AWS_HEALTH && sim_aws_notify(aws, id, SIM_AWS_SCHEDULED_CHANGE))
        aws_warned(c, id);
    else if (what == CHAOS_AWS_IMPAIR)
        (void)sim_aws_impair(aws, id, (enum sim_aws_check)below(c, 3), /* impaired= */ true);
    else if (what == CHAOS_AWS_CRASH)
        (void)sim_aws_crash(aws, id);
}

/* One machine, those of a zone, or a share of all. */
static void strike_some(struct chaos *c, enum chaos_part what)
{
    struct crowd w = {.c = c};
    uint32_t how = below(c, 4), one_of = 1 + below(c, 3);

    sim_aws_each(c->aws->sky->aws, note_machine, &w);
    str zone = w.ids.n ? sim_aws_machine(c->aws->sky->aws, w.ids.v[below(c, w.ids.n)])->zone : (str){0};
    if (w.ids.n && how < 2)
        strike(c, what, w.ids.v[below(c, w.ids.n)]);
    for (uint32_t i = 0; how >= 2 && i < w.ids.n; i++) {
        const struct sim_machine *m = sim_aws_machine(c->aws->sky->aws, w.ids.v[i]);

        if (m && (how == 2 ? str_eq(m->zone, zone) : one_in(c, one_of)))
            strike(c, what, w.ids.v[i]);
    }
    vec_fini(&w.ids);
}

/* ---- the market ---- */

static const char *const zones[] = {"test-zone-1a", "test-zone-1b", "test-zone-1c", ""};
static const char *const types[] = {"c5.large",   "c5.xlarge",  "c6a.large",  "c6g.xlarge", "m5.large",  "m5.xlarge",
                                    "m5.2xlarge", "m6i.xlarge", "m6g.xlarge", "r5.large",   "t3.medium", ""};

static void sell_out(struct chaos *c)
{
    str capacity = one_in(c, 2) ? STR("spot") : STR("on-demand");

    deed(c, "sold out", capacity.p);
    for (uint32_t n = 1 + below(c, 8); n > 0; n--)
        sim_aws_drain_pool(c->aws->sky->aws, str_c(types[below(c, ARRAY_LEN(types))]),
                           str_c(zones[below(c, ARRAY_LEN(zones))]), capacity);
    c->aws->sold_out = true;
    c->aws->sold_out_until_s = rig_now(c->r) + 60 + below(c, one_in(c, 3) ? 14400 : 1800);
}

static void restock(struct chaos *c)
{
    deed(c, "offerings", "are there again");
    (void)sim_aws_set_pool(c->aws->sky->aws, (str){0}, (str){0}, STR("spot"), -1);
    (void)sim_aws_set_pool(c->aws->sky->aws, (str){0}, (str){0}, STR("on-demand"), -1);
    c->aws->sold_out = false;
}

static void move_prices(struct chaos *c)
{
    deed(c, "prices", "move");
    for (size_t i = 0; i + 1 < ARRAY_LEN(types); i++)
        for (size_t z = 0; z + 1 < ARRAY_LEN(zones); z++)
            sim_aws_set_spot_price(c->aws->sky->aws, str_c(types[i]), str_c(zones[z]),
                                   0.02 + 0.0001 * (double)below(c, 2000));
}

/* ---- calls ---- */

static void set_faults(struct chaos *c, const struct sim_aws_faults *f, const struct sim_faults *n)
{
    sim_aws_set_faults(c->aws->sky->aws, f);
    sim_set_faults(c->r->l->s->sim, ENDPOINT, n);
    c->aws->worst_rate =
        MAX(MAX(MAX(f->throttle, f->server_error), MAX(f->lose_reply, f->no_capacity)), MAX(n->refuse, n->slow));
}

static void break_calls(struct chaos *c)
{
    struct sim_aws_faults f = {0};
    struct sim_faults n = {.delay_us = {5000, 80000}};
    const struct {
        uint32_t *rate;
        enum chaos_part part;
    } rates[] = {{&f.throttle, CHAOS_AWS_THROTTLE}, {&f.server_error, CHAOS_AWS_ERROR},
                 {&f.lose_reply, CHAOS_AWS_LOSE},   {&f.no_capacity, CHAOS_AWS_ICE},
                 {&f.duplicate, CHAOS_AWS_TWICE},   {&f.reorder, CHAOS_AWS_ORDER},
                 {&n.refuse, CHAOS_AWS_NET},        {&n.slow, CHAOS_AWS_NET}};

    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        uint32_t rate = one_in(c, 2) ? below(c, one_in(c, 4) ? 20000 : 4000) : 0;

        if (has_part(c, rates[i].part))
            *rates[i].rate = rate;
    }
    if (one_in(c, 2) && has_part(c, CHAOS_AWS_LATE))
        f.consistency_ms = 200 + below(c, 8000);
    c->aws->broken_until_s = rig_now(c->r) + 60 + below(c, one_in(c, 3) ? 7200 : 900);
    deed(c, "calls to AWS", "break");
    set_faults(c, &f, &n);
}

static void mend_calls(struct chaos *c)
{
    deed(c, "calls to AWS", "are well again");
    set_faults(c, &(struct sim_aws_faults){0}, &(struct sim_faults){.delay_us = {5000, 80000}});
}

/* ---- the table ---- */

static void nothing_wrong(struct chaos *c)
{
    mend_calls(c);
    restock(c);
}

static void publish_some(struct chaos *c)
{
    deed(c, "an image", "is published");
    publish(c, one_in(c, 2));
}

static void kill_next(struct chaos *c)
{
    deed(c, "who launches next", "dies");
    c->aws->kills = true;
}

static void end_keys(struct chaos *c)
{
    deed(c, "keys", "are over");
    sim_aws_end_keys(c->aws->sky->aws);
}

static const struct {
    enum chaos_part part;
    uint32_t weight;
    void (*fn)(struct chaos *c); /* NULL: something happens to machines */
} deeds[] = {
    {CHAOS_AWS_CLASS, 6, change_class}, {CHAOS_AWS_IMAGE, 2, publish_some},
    {CHAOS_AWS_SPOT, 8, NULL},          {CHAOS_AWS_REBALANCE, 2, NULL},
    {CHAOS_AWS_HEALTH, 2, NULL},        {CHAOS_AWS_IMPAIR, 2, NULL},
    {CHAOS_AWS_CRASH, 5, NULL},         {CHAOS_AWS_POOL, 4, sell_out},
    {CHAOS_AWS_PRICE, 2, move_prices},  {CHAOS_AWS_KILL, 4, kill_next},
    {CHAOS_AWS_KEYS, 3, end_keys},      {CHAOS_AWS_THROTTLE, 8, break_calls}, /* all calls that go wrong */
    {CHAOS_N_PARTS, 6, nothing_wrong},
};

void aws_act(struct chaos *c, uint32_t number)
{
    uint32_t all = 0, n;
    size_t i = 0;

    if (!c->aws)
        return;
    scarce_act(c, number);
    rng_init(&c->rng, hash_mix(hash_mix(c->what->seed, AWS_SEED), number));
    if (one_in(c, 3))
        return;
    for (size_t k = 0; k < ARRAY_LEN(deeds); k++)
        all += deeds[k].weight;
    for (n = below(c, all); n >= deeds[i].weight; i++)
        n -= deeds[i].weight;
    if (deeds[i].part != CHAOS_N_PARTS && deeds[i].part != CHAOS_AWS_THROTTLE && !has_part(c, deeds[i].part))
        return;
    if (deeds[i].fn)
        deeds[i].fn(c);
    else
        strike_some(c, deeds[i].part);
}

/* ---- the cloud controller manager ---- */

struct left {
    struct chaos *c;
    struct sky_owners owners;
    VEC(str) nodes; /* whose machine is gone */
};

static void note_left(void *ctx, const struct object *o)
{
    struct left *w = ctx;
    str rest = tree_str(tree_get(kube_part(w->owners.a, o, "spec"), "providerID")), id;

    if (o->deleted_ms || !str_starts(rest, STR("aws:///")))
        return;
    while (str_cut(rest, '/', &id, &rest))
        ;
    if (!sim_aws_machine(w->c->aws->sky->aws, id) && !sky_owned(&w->owners, id))
        vec_push(&w->nodes, o->name);
}

/* Every cluster on AWS has one: it takes away Nodes whose machine is gone. Those that a claim knows of go with the claim, here. */
static void drop_nodes(struct chaos *c)
{
    struct left w = {.c = c};

    sky_owners_init(&w.owners, c->aws->sky);
    kube_each(chaos_kube(c), server_kind(c->r->l->s, "nodes"), (str){0}, note_left, &w);
    for (uint32_t i = 0; i < w.nodes.n; i++) {
        char name[128];

        (void)snprintf(name, sizeof(name), STR_FMT, STR_ARG(w.nodes.v[i]));
        deed(c, "its machine is gone", name);
        lab_delete(c->r->l, "nodes", name);
    }
    vec_fini(&w.nodes);
    sky_owners_fini(&w.owners);
}

void aws_tend(struct chaos *c)
{
    if (!c->aws)
        return;
    for (uint32_t i = 0; i < ARRAY_LEN(c->aws->struck); i++)
        if (c->aws->struck[i] && c->r->replicas[i]) {
            rig_kill(c->r, i);
            rig_start(c->r, i);
            c->aws->struck[i] = false;
        }
    boot_set_never(c->aws->sky->boot, !c->calm && rig_now(c->r) < c->no_join_until_s ? 65536 : 0);
    if (c->aws->worst_rate && rig_now(c->r) > c->aws->broken_until_s)
        mend_calls(c);
    if (c->aws->sold_out && rig_now(c->r) > c->aws->sold_out_until_s)
        restock(c);
    scarce_tend(c);
    drop_nodes(c);
    if (c->aws->sold_out || c->aws->worst_rate)
        c->n_since_change = 0; /* what is given up and cannot be replaced is tried again */
    aws_check(c);
}

void aws_calm(struct chaos *c)
{
    if (!c->aws)
        return;
    nothing_wrong(c);
    scarce_calm(c);
    c->aws->kills = false;
    /* An alias is looked up once a day, tags once a minute. */
    patch_class(c, "{spec: {tags: {team: a}, role: test-role, subnetSelectorTerms: [{tags: {sky: 'yes'}}], "
                   "securityGroupSelectorTerms: [{tags: {foo: bar}}], amiSelectorTerms: [{tags: {sky: 'yes'}}]}}");
}
