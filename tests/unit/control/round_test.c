/* NodeClaims that are made by several at a time: limits hold (round.h, store.h). */
#include "control/round.h"

#include "control/fan.h"
#include "support/check.h"
#include "support/claim_lab.h"
#include "support/trees.h"

#define POOL(spec)                                                                                                     \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {" spec                                   \
    "template: {spec: {expireAfter: Never, nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: "       \
    "default}, requirements: []}}}\n"
#define LIMITED POOL("limits: {cpu: '6'}, ")
#define CLAIM                                                                                                          \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {generateName: a-, labels: {karpenter.sh/nodepool: a}}," \
    " spec: {expireAfter: Never, nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}, "       \
    "requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}]}}"

struct makers {
    struct claim_lab *l;
    struct round_claim claims[2]; /* made at the same time */
    bool ok[2];
    struct err e[2];
};

static void make_one(void *ctx, uint32_t i)
{
    struct makers *m = ctx;
    str name;

    m->e[i] = (struct err){0};
    m->ok[i] = round_create(&m->l->c, m->l->a, m->l->c.log, &m->claims[i], "test", &name, &m->e[i]);
}

static void make_both(void *arg)
{
    fan_out(((struct makers *)arg)->l->c.world, "make", 2, 2, make_one, arg);
}

static void make_first(void *arg)
{
    make_one(arg, 0);
}

static uint64_t plan(struct makers *m)
{
    return store_plan_number(m->l->c.store);
}

static struct makers makers_of(struct claim_lab *l, const char *pool)
{
    struct makers m = {.l = l};

    far_apply(l->far, pool);
    far_run(l->far, 2);
    for (uint32_t i = 0; i < 2; i++)
        m.claims[i] = (struct round_claim){
            .pool = STR("a"), .body = tree_yaml(l->a, CLAIM), .requests = STR("{}"), .plan = plan(&m)};
    return m;
}

static void one_plan_at_a_time(void **state)
{
    struct claim_lab *l = *state;
    struct makers m = makers_of(l, LIMITED);

    far_do(l->far, make_both, &m);
    check_true("who comes first", m.ok[0]);
    check_true("not beside it", !m.ok[1] && m.e[1].kind == ERR_CONFLICT);
    check_str("why", str_c(m.e[1].msg), "nodepool \"a\" has limits, and others make nodeclaims of it");
    m.claims[0] = m.claims[1];
    far_do(l->far, make_first, &m);
    check_true("nor after it, when it did not know", !m.ok[0] && m.e[0].kind == ERR_CONFLICT);
    m.claims[0].plan = plan(&m);
    far_do(l->far, make_first, &m);
    check_true("but when it did", m.ok[0]);
    check_u64("two", far_count(l->far, "nodeclaims", "a-"), 2);
}

static void claims_of_one_plan(void **state)
{
    struct claim_lab *l = *state;
    struct makers m = makers_of(l, LIMITED);

    m.claims[0].plan = m.claims[1].plan;
    far_do(l->far, make_both, &m);
    check_true("both", m.ok[0] && m.ok[1]);
}

static void without_limits(void **state)
{
    struct claim_lab *l = *state;
    struct makers m = makers_of(l, POOL(""));

    far_do(l->far, make_both, &m);
    check_true("both", m.ok[0] && m.ok[1]);
    far_do(l->far, make_both, &m);
    check_true("and again", m.ok[0] && m.ok[1]);
}

/* It may be there: others wait until the watch would have told. */
static void an_answer_that_is_lost(void **state)
{
    struct claim_lab *l = *state;
    struct makers m = makers_of(l, LIMITED);

    far_refuse(l->far, "POST", "nodeclaims", 500, "who knows", 1);
    far_do(l->far, make_first, &m);
    check_true("unknown", !m.ok[0] && m.e[0].kind == ERR_IO);
    m.claims[0].plan = plan(&m);
    far_do(l->far, make_first, &m);
    check_true("not yet", !m.ok[0] && m.e[0].kind == ERR_CONFLICT);
    far_run(l->far, 1);
    far_do(l->far, make_first, &m);
    check_true("now", m.ok[0]);
    far_refuse(l->far, "POST", "nodeclaims", 422, "no", 1);
    far_do(l->far, make_first, &m);
    check_true("a refusal is known", !m.ok[0] && m.e[0].kind == ERR_INVALID);
    m.claims[0].plan = plan(&m);
    far_do(l->far, make_first, &m);
    check_true("and nobody waits", m.ok[0]);
}

/* What is replaced does not count: a limit may have been lowered since it came. */
static void in_place_of_another(void **state)
{
    struct claim_lab *l = *state;
    struct makers m = makers_of(l, LIMITED);

    far_do(l->far, make_first, &m);
    far_patch(l->far, "nodepools", "a", "{spec: {limits: {cpu: '3'}}}");
    far_run(l->far, 2);
    struct names all = store_claims_of_pool(l->c.store, STR("a"));
    check_u64("one", all.n, 1);
    str id = arena_strdup(l->a, store_claim(l->c.store, all.v[0])->provider_id);
    check_true("launched", id.n != 0);
    m.claims[0].plan = plan(&m);
    far_do(l->far, make_first, &m);
    check_true("beside it", !m.ok[0] && m.e[0].kind == ERR_CAPACITY);
    check_str("why", str_c(m.e[0].msg), "cpu resource usage of 4 exceeds limit of 3");
    m.claims[0].leaving = &id;
    m.claims[0].n_leaving = 1;
    far_do(l->far, make_first, &m);
    check_true("in its place", m.ok[0]);
}

static void a_pool_that_is_gone(void **state)
{
    struct claim_lab *l = *state;
    struct makers m = makers_of(l, LIMITED);

    far_do(l->far, make_first, &m);
    far_delete(l->far, "nodepools", "a");
    far_run(l->far, 2);
    far_do(l->far, make_first, &m);
    check_true("no pool", !m.ok[0] && m.e[0].kind == ERR_NOT_FOUND);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, claim_lab_setup, claim_lab_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_plan_at_a_time),     TEST(claims_of_one_plan),  TEST(without_limits),
        TEST(an_answer_that_is_lost), TEST(in_place_of_another), TEST(a_pool_that_is_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
