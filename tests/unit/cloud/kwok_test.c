/* The kwok provider against an API server: Nodes that come once, late, and not at all. */
#include "cloud/kwok/kwok.h"

#include <stdlib.h>

#include "k8s/decode.h"
#include "model/objects.h"
#include "sim/world.h"
#include "support/check.h"
#include "support/far.h"
#include "support/trees.h"

#define CLAIM                                                                                                          \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: default-abcde, uid: u-1, labels: "                \
    "{karpenter.sh/nodepool: default}}, spec: {nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: "   \
    "default}, resources: {requests: {cpu: 1}}, requirements: [{key: node.kubernetes.io/instance-type, operator: In, " \
    "values: [c-2x-amd64-linux]}]}}"

struct bench {
    struct far *f;
    struct syms *t;
    struct objects *o;
    struct cloud *cloud;
    struct nodeclaim *claim;
    struct nodeclass class;
    bool no_class;
    uint32_t errors, given_up;
    /* of the last call */
    bool ok;
    struct err e;
    struct machine m;
    struct machines all;
};

/* Nodes as a watch would know them. */
static struct tree *node_get(void *ctx, struct arena *a, str name)
{
    struct bench *b = ctx;
    str text = far_get(b->f, "nodes", arena_printf(a, STR_FMT "%c", STR_ARG(name), 0).p, "");

    return text.n ? tree_yaml(a, arena_printf(a, STR_FMT "%c", STR_ARG(text), 0).p) : NULL;
}

static void node_each(void *ctx, kwok_each_fn fn, void *arg)
{
    struct bench *b = ctx;
    str name = far_first(b->f, "nodes");
    const struct tree *node = name.n ? node_get(b, b->f->a, name) : NULL;

    if (node)
        fn(arg, tree_str(tree_at(node, "spec", "providerID", NULL)),
           tree_at(node, "metadata", "deletionTimestamp", NULL) != NULL);
}

static void on_error(void *ctx, str node, bool given_up, const struct err *e)
{
    struct bench *b = ctx;

    (void)node;
    (void)e;
    b->errors++;
    b->given_up += given_up;
}

static void provider_start(struct bench *b)
{
    struct err e = {0};

    b->cloud = kwok_new(&(struct kwok_options){.api = b->f->api,
                                               .syms = b->t,
                                               .nodes = {.ctx = b, .get = node_get, .each = node_each},
                                               .on_error = on_error,
                                               .ctx = b},
                        &e);
    check_ok("provider", b->cloud != NULL, &e);
}

static int setup(void **state)
{
    struct bench *b = xcalloc(1, sizeof(*b));
    struct err e = {0};

    b->f = far_new(1);
    b->t = syms_new();
    b->o = objects_new(b->t);
    struct decoder *d = decoder_new(b->o);
    check_ok("claim", k8s_decode(d, tree_yaml(b->f->a, CLAIM), &e), &e);
    decoder_free(d);
    b->claim = &b->o->claims.v[0];
    b->class =
        (struct nodeclass){.group = STR("karpenter.kwok.sh"), .kind = STR("KWOKNodeClass"), .name = STR("default")};
    provider_start(b);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;

    far_kill(b->f);
    if (b->cloud)
        b->cloud->free(b->cloud->self);
    far_free(b->f);
    objects_free(b->o);
    syms_free(b->t);
    free(b);
    return 0;
}

static void do_create(void *arg)
{
    struct bench *b = arg;

    b->ok = b->cloud->create(b->cloud->self, b->f->a, b->t, b->claim, b->no_class ? NULL : &b->class, &b->m, &b->e);
    if (b->ok)
        b->claim->provider_id = b->m.provider_id;
}

static void do_destroy(void *arg)
{
    struct bench *b = arg;

    b->ok = b->cloud->destroy(b->cloud->self, b->f->a, b->claim, &b->e);
}

static void do_get(void *arg)
{
    struct bench *b = arg;

    b->ok = b->cloud->get(b->cloud->self, b->f->a, b->claim->provider_id, &b->m, &b->e);
}

static void do_list(void *arg)
{
    struct bench *b = arg;

    b->ok = b->cloud->list(b->cloud->self, b->f->a, &b->all, &b->e);
}

static void one_node_for_a_claim(void **state)
{
    struct bench *b = *state;

    far_do(b->f, do_create, b);
    far_do(b->f, do_create, b);
    far_run(b->f, 1);
    far_do(b->f, do_create, b);
    far_run(b->f, 60);
    check_u64("one", far_count(b->f, "nodes", "kwok-default-abcde-"), 1);
    check_u64("and one request", b->errors, 0);
    far_do(b->f, do_get, b);
    check_true("it is there", b->ok);
    far_do(b->f, do_list, b);
    check_u64("and listed", b->all.n, 1);
    check_true("by its id", str_eq(b->all.v[0].provider_id, b->claim->provider_id));
}

/* The process dies before the claim says what was launched; the next one launches again. */
static void the_next_process_finds_it(void **state)
{
    struct bench *b = *state;

    far_do(b->f, do_create, b);
    str id = b->m.provider_id;
    far_run(b->f, 1);
    far_kill(b->f);
    b->cloud->free(b->cloud->self);
    far_start(b->f);
    provider_start(b);
    far_do(b->f, do_create, b);
    far_run(b->f, 60);
    check_true("the same machine", str_eq(id, b->m.provider_id));
    check_u64("one node", far_count(b->f, "nodes", "kwok-"), 1);
}

static void do_resume(void *arg)
{
    struct bench *b = arg;

    b->cloud->resume(b->cloud->self, b->t, b->claim, &b->class);
}

/* The claim is on the server too, under the uid that it gives. */
static void claim_on_server(struct bench *b)
{
    str uid;

    far_apply(b->f, CLAIM);
    uid = far_get(b->f, "nodeclaims", "default-abcde", "metadata.uid");
    b->claim->uid = str_sub(uid, 1, uid.n - 1); /* the quotes */
}

/* The process dies after the claim says what was launched, and before the Node is there. */
static void the_next_process_owes_it(void **state)
{
    struct bench *b = *state;

    claim_on_server(b);
    b->class.registration_delay_ns = 5 * INT64_C(1000000000);
    far_do(b->f, do_create, b);
    far_run(b->f, 1);
    far_kill(b->f);
    b->cloud->free(b->cloud->self);
    far_start(b->f);
    provider_start(b);
    far_do(b->f, do_resume, b);
    far_do(b->f, do_resume, b);
    far_run(b->f, 10);
    far_do(b->f, do_resume, b);
    far_run(b->f, 10);
    check_u64("one node", far_count(b->f, "nodes", "kwok-default-abcde-"), 1);
    check_u64("and one request", b->errors, 0);
    far_do(b->f, do_get, b);
    check_true("with the id that the claim has", b->ok && str_eq(b->m.provider_id, b->claim->provider_id));
}

/* The next process has not heard yet that the claim has gone. */
static void nothing_is_owed_to_the_gone(void **state)
{
    struct bench *b = *state;

    claim_on_server(b);
    b->class.registration_delay_ns = 5 * INT64_C(1000000000);
    far_do(b->f, do_create, b);
    far_kill(b->f);
    b->cloud->free(b->cloud->self);
    far_start(b->f);
    provider_start(b);
    far_delete(b->f, "nodeclaims", "default-abcde");
    far_do(b->f, do_resume, b);
    far_run(b->f, 60);
    check_u64("no node", far_count(b->f, "nodes", "kwok-"), 0);
}

static void late_nodes(void **state)
{
    struct bench *b = *state;

    b->class.registration_delay_ns = 25 * INT64_C(1000000000);
    far_do(b->f, do_create, b);
    far_run(b->f, 24);
    check_u64("not yet", far_count(b->f, "nodes", "kwok-"), 0);
    far_run(b->f, 2);
    check_u64("now", far_count(b->f, "nodes", "kwok-"), 1);
}

static void a_claim_that_goes_first(void **state)
{
    struct bench *b = *state;

    b->class.registration_delay_ns = 25 * INT64_C(1000000000);
    far_do(b->f, do_create, b);
    far_run(b->f, 4);
    far_do(b->f, do_destroy, b);
    check_true("gone at once", !b->ok && b->e.kind == ERR_NOT_FOUND);
    far_run(b->f, 60);
    check_u64("no node comes", far_count(b->f, "nodes", "kwok-"), 0);
}

/* The claim goes while the server is being asked for the Node. */
static void a_claim_that_goes_meanwhile(void **state)
{
    struct bench *b = *state;

    sim_set_faults(b->f->sim, "https://kube", &(struct sim_faults){.delay_us = {500000, 500000}});
    far_do(b->f, do_create, b);
    far_do(b->f, do_destroy, b);
    check_true("gone at once", !b->ok && b->e.kind == ERR_NOT_FOUND);
    far_run(b->f, 10);
    check_u64("no node stays", far_count(b->f, "nodes", "kwok-"), 0);
    check_true("though there was one", str_contains(far_writes(b->f), STR("DELETE nodes/kwok-")));
}

static void a_node_that_nobody_registered(void **state)
{
    struct bench *b = *state;

    far_do(b->f, do_create, b);
    far_run(b->f, 1);
    far_do(b->f, do_destroy, b);
    far_run(b->f, 1);
    check_u64("goes with its claim", far_count(b->f, "nodes", "kwok-"), 0);
    far_do(b->f, do_get, b);
    check_i64("gone", b->e.kind, ERR_NOT_FOUND);
}

static void do_abandon(void *arg)
{
    struct bench *b = arg;

    b->ok = b->cloud->abandon(b->cloud->self, b->f->a, b->claim, &b->e);
}

/* The process dies before the claim says what was launched, and then the claim goes. */
static void a_claim_that_never_knew(void **state)
{
    struct bench *b = *state;

    far_do(b->f, do_abandon, b);
    check_true("there was nothing", b->ok);
    check_str("and nothing is asked", far_writes(b->f), "");
    far_do(b->f, do_create, b);
    far_run(b->f, 1);
    far_kill(b->f);
    b->cloud->free(b->cloud->self);
    far_start(b->f);
    provider_start(b);
    b->claim->provider_id = (str){0};
    far_refuse(b->f, "DELETE", "", 500, "not today", 1);
    far_do(b->f, do_abandon, b);
    check_true("it could not be ended", !b->ok);
    check_str("why", str_c(b->e.msg), "deleting node: not today");
    check_u64("it is there", far_count(b->f, "nodes", "kwok-"), 1);
    far_do(b->f, do_abandon, b);
    check_true("ended", b->ok);
    check_u64("no node stays", far_count(b->f, "nodes", "kwok-"), 0);
}

/* Whoever comes next may act: nothing is written any more. */
static void a_process_that_ends(void **state)
{
    struct bench *b = *state;

    sim_set_faults(b->f->sim, "https://kube", &(struct sim_faults){.delay_us = {500000, 500000}});
    check_true("nothing is under way", b->cloud->stop(b->cloud->self));
    far_do(b->f, do_create, b);
    check_true("a machine all the same", b->ok);
    far_run(b->f, 5);
    check_u64("the next process makes its node", far_count(b->f, "nodes", "kwok-"), 0);
    b->cloud->free(b->cloud->self);
    provider_start(b);
    far_do(b->f, do_create, b);
    check_true("the server is being asked", !b->cloud->stop(b->cloud->self));
    far_run(b->f, 5);
    check_true("and has answered", b->cloud->stop(b->cloud->self));
    check_u64("one", far_count(b->f, "nodes", "kwok-"), 1);
}

static void births_that_wait_end_with_it(void **state)
{
    struct bench *b = *state;

    far_refuse(b->f, "POST", "/nodes", 500, "not today", 1);
    far_do(b->f, do_create, b);
    far_run(b->f, 0.5);
    check_u64("refused", b->errors, 1);
    check_true("nothing is under way", b->cloud->stop(b->cloud->self));
    far_run(b->f, 5);
    check_u64("not tried again", far_count(b->f, "nodes", "kwok-"), 0);
}

static void a_server_that_is_not_well(void **state)
{
    struct bench *b = *state;

    far_refuse(b->f, "POST", "/nodes", 500, "not today", 3);
    far_do(b->f, do_create, b);
    far_run(b->f, 6);
    check_u64("not yet", far_count(b->f, "nodes", "kwok-"), 0);
    far_run(b->f, 3);
    check_u64("after 1, 2 and 4 seconds", far_count(b->f, "nodes", "kwok-"), 1);
    check_u64("errors", b->errors, 3);
    check_u64("given up", b->given_up, 0);
}

static void a_node_that_cannot_be(void **state)
{
    struct bench *b = *state;

    far_refuse(b->f, "POST", "/nodes", 422, "no", 1);
    far_do(b->f, do_create, b);
    far_run(b->f, 60);
    check_u64("none", far_count(b->f, "nodes", "kwok-"), 0);
    check_u64("given up", b->given_up, 1);
}

static void freed_while_nodes_are_on_their_way(void **state)
{
    struct bench *b = *state;

    b->class.registration_delay_ns = INT64_C(1000000000);
    far_do(b->f, do_create, b);
    b->cloud->free(b->cloud->self);
    b->cloud = NULL;
    far_run(b->f, 5);
    check_u64("none", far_count(b->f, "nodes", "kwok-"), 0);
}

static void classes(void **state)
{
    struct bench *b = *state;

    b->no_class = true;
    far_do(b->f, do_create, b);
    check_i64("missing", b->e.kind, ERR_CAPACITY);
    check_str("missing", str_c(b->e.msg),
              "resolving node class from nodeclaim, KWOKNodeClass.karpenter.kwok.sh \"default\" not found");
    b->no_class = false;
    b->class.ready = COND_FALSE;
    b->class.ready_message = STR("out of kwok");
    far_do(b->f, do_create, b);
    check_str("not ready", str_c(b->e.code), CLOUD_NOT_READY);
    check_str("not ready", str_c(b->e.msg), "out of kwok");
    b->class.ready = COND_UNKNOWN;
    far_do(b->f, do_create, b);
    check_true("unknown is fine", b->ok);
    check_str("supported", str_c(b->cloud->classes[0].plural), "kwoknodeclasses");
    check_u64("repairs", b->cloud->n_repairs, 2);
    check_i64("after ten minutes", b->cloud->repairs[0].toleration_ms, 600000);
}

static void bad_files(void **state)
{
    struct bench *b = *state;
    struct err e = {0};

    check_true("no file", !kwok_new(&(struct kwok_options){.api = b->f->api,
                                                           .syms = b->t,
                                                           .instance_types_path = "tests/unit/cloud/none.json"},
                                    &e));
    struct cloud *c = kwok_new(
        &(struct kwok_options){.api = b->f->api, .syms = b->t, .instance_types_path = "tests/unit/cloud/kwok.json"},
        &e);
    check_ok("a file", c != NULL, &e);
    check_u64("types", c->catalog(c->self)->n, 144);
    c->free(c->self);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_node_for_a_claim),
        TEST(the_next_process_finds_it),
        TEST(the_next_process_owes_it),
        TEST(nothing_is_owed_to_the_gone),
        TEST(late_nodes),
        TEST(a_claim_that_goes_first),
        TEST(a_claim_that_goes_meanwhile),
        TEST(a_node_that_nobody_registered),
        TEST(a_claim_that_never_knew),
        TEST(a_process_that_ends),
        TEST(births_that_wait_end_with_it),
        TEST(a_server_that_is_not_well),
        TEST(a_node_that_cannot_be),
        TEST(freed_while_nodes_are_on_their_way),
        TEST(classes),
        TEST(bad_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
