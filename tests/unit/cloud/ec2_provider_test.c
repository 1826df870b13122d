/* The provider as the controller sees it: launch, look, drift, end; the catalogue (aws 2.9.4, 3.4, 4.1, 4.10; 11.5 C1, C4, C7, C9). */
#include <stdlib.h>

#include "base/sb.h"
#include "cloud/ec2/reconcile.h"
#include "data/edit.h"
#include "model/nodepool.h"
#include "support/check.h"
#include "support/class_lab.h"

#define SPEC(image)                                                                                                    \
    "{\"role\":\"test-role\",\"subnetSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],"                                  \
    "\"securityGroupSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],\"amiSelectorTerms\":[{\"alias\":\"" image "\"}]}"

struct lab {
    struct class_lab *l;
    struct ec2 *p;
    struct cloud *cloud;
    struct nodepool pools[2];
    uint32_t n_pools;
    uint64_t news;
    struct nodeclaim claim;
    struct machine machine;
    struct machines all;
    str drift;
    struct err e;
    bool ok;
    int step; /* what work() does */
};

enum { START, LAUNCH, GET, LIST, DRIFT, DESTROY, ADOPT };

static struct tree *class_object(void *ctx, struct arena *a, str name)
{
    struct lab *x = ctx;

    for (uint32_t i = 0; i < x->l->n_stored; i++)
        if (str_eq(tree_str(tree_at(x->l->stored[i], "metadata", "name", NULL)), name))
            return tree_copy(a, x->l->stored[i]);
    return NULL;
}

static void each_pool(void *ctx, void (*fn)(void *arg, const struct nodepool *p), void *arg)
{
    struct lab *x = ctx;

    for (uint32_t i = 0; i < x->n_pools; i++)
        fn(arg, &x->pools[i]);
}

static uint64_t news(void *ctx)
{
    return ((struct lab *)ctx)->news;
}

static void work(void *arg)
{
    struct lab *x = arg;
    struct arena *a = x->l->a;
    void *self = x->cloud->self;

    if (x->step == START) {
        x->ok = x->cloud->start(self, &x->e);
        for (uint32_t i = 0; x->ok && i < x->l->n_stored; i++)
            (void)ec2_class_reconcile(x->p, a, x->l->stored[i]);
        x->news++;
    } else if (x->step == LAUNCH) {
        x->ok = x->cloud->create(self, a, x->p->syms, &x->claim, NULL, &x->machine, &x->e);
    } else if (x->step == GET) {
        x->ok = x->cloud->get(self, a, x->claim.provider_id, &x->machine, &x->e);
    } else if (x->step == LIST) {
        x->ok = x->cloud->list(self, a, &x->all, &x->e);
    } else if (x->step == DRIFT) {
        x->ok = x->cloud->drifted(self, a, &x->claim, &x->drift, &x->e);
    } else if (x->step == ADOPT) {
        x->ok = ec2_adopt_templates(x->p, &x->e);
    } else {
        x->ok = x->cloud->destroy(self, a, &x->claim, &x->e);
    }
}

static bool go(struct lab *x, int step)
{
    x->step = step;
    x->ok = false;
    class_lab_go(x->l, work, x);
    return x->ok;
}

static void add_class(struct lab *x, const char *name, const char *spec, const char *pool)
{
    struct tree *object = class_lab_object(x->l, spec);
    struct nodepool *np = &x->pools[x->n_pools++];

    tree_set_str(x->l->a, tree_sub(x->l->a, object, "metadata"), "name", str_c(name));
    x->l->stored[x->l->n_stored++] = object;
    *np = (struct nodepool){.name = str_c(pool), .name_sym = sym_of(x->l->p.syms, str_c(pool))};
    np->tmpl.class_ref.name = str_c(name);
}

static void set_label(struct lab *x, const char *key, str val)
{
    uint32_t n;
    const struct label *own = lset_get(x->l->p.syms, x->claim.labels, &n);
    struct label *all = arena_new_array(x->l->a, struct label, n + 1);

    for (uint32_t i = 0; i < n; i++)
        all[i] = own[i];
    all[n] = (struct label){sym_of(x->l->p.syms, str_c(key)), sym_of(x->l->p.syms, val)};
    x->claim.labels = lset_of(x->l->p.syms, all, n + 1);
}

static int setup(void **state)
{
    struct class_lab *l = NULL;
    void *inner = NULL;
    int r = class_lab_setup(&inner);
    struct lab *x = xcalloc(1, sizeof(*x));

    l = inner;
    x->l = l;
    x->p = ec2_new(&(struct ec2_options){
        .world = l->near,
        .aws = l->aws,
        .syms = l->p.syms,
        .settings = {.cluster_name = STR("test-cluster"),
                     .eks_control_plane = true,
                     .disable_dry_run = true,
                     .reserved_capacity = true,
                     .memory_overhead = 0.075,
                     .ami_refresh_ms = 60000,
                     .subnet_refresh_ms = 60000},
        .host = {.ctx = x, .class_object = class_object, .each_pool = each_pool, .news = news, .kube_ca = STR("Y2E=")},
    });
    x->cloud = ec2_cloud(x->p);
    x->claim = (struct nodeclaim){.name = STR("claim-1"), .class_ref = {.name = STR("default")}};
    x->claim.requirements = arena_new_one(l->a, struct req_expr);
    x->claim.n_requirements = 1;
    sym *type = arena_new_one(l->a, sym);
    *type = sym_of(l->p.syms, STR("m5.large"));
    *x->claim.requirements = (struct req_expr){.key = SYM(ITYPE), .op = OP_IN, .vals = type, .n_vals = 1};
    set_label(x, "karpenter.sh/nodepool", STR("pool"));
    *state = x;
    return r;
}

static int teardown(void **state)
{
    struct lab *x = *state;
    void *inner = x->l;

    class_lab_stop(x->l);
    x->cloud->free(x->cloud->self);
    free(x);
    return class_lab_teardown(&inner);
}

static str label_of(const struct machine *m, const char *key)
{
    return annotation_value(m->labels, m->n_labels, key);
}

/* The claim is what the controller makes of it once it is launched. */
static void launch(struct lab *x)
{
    check_ok("launch", go(x, LAUNCH), &x->e);
    x->claim.provider_id = x->machine.provider_id;
    x->claim.image_id = x->machine.image_id;
    x->claim.annotations = x->machine.annotations;
    x->claim.n_annotations = x->machine.n_annotations;
    set_label(x, "node.kubernetes.io/instance-type", label_of(&x->machine, "node.kubernetes.io/instance-type"));
}

static void a_machine_from_birth_to_end(void **state)
{
    struct lab *x = *state;

    add_class(x, "default", SPEC("al2023@latest"), "pool");
    check_ok("start", go(x, START), &x->e);
    launch(x);
    check_str("type", label_of(&x->machine, "node.kubernetes.io/instance-type"), "m5.large");
    check_true("id", str_starts(x->claim.provider_id, STR("aws:///test-zone-1")));
    check_u64("annotations", x->machine.n_annotations, 3);
    check_ok("get", go(x, GET), &x->e);
    check_str("the same", x->machine.provider_id, arena_strdup(x->l->a, x->claim.provider_id).p);
    check_str("its pool", label_of(&x->machine, "karpenter.sh/nodepool"), "pool");
    check_true("its size", reslist_value(&x->machine.capacity, SYM(CPU)) == INT64_C(2000000000));
    check_ok("list", go(x, LIST), &x->e);
    check_u64("list", x->all.n, 1);
    check_true("not on its way out", !x->all.v[0].deleting);
    check_ok("destroy", go(x, DESTROY), &x->e);
    class_lab_run(x->l, 60000);
    check_true("gone", !go(x, DESTROY) && x->e.kind == ERR_NOT_FOUND);
    check_true("gone", !go(x, GET) && x->e.kind == ERR_NOT_FOUND);
}

static void templates_end_when_nobody_uses_them(void **state)
{
    struct lab *x = *state;

    add_class(x, "default", SPEC("al2023@latest"), "pool");
    check_ok("start", go(x, START), &x->e);
    launch(x);
    check_ok("again", go(x, LAUNCH), &x->e);
    check_u64("one template for both", class_lab_calls(x->l, "CreateLaunchTemplate"), 1);
    class_lab_run(x->l, 50000);
    check_u64("still there", class_lab_calls(x->l, "DeleteLaunchTemplate"), 0);
    class_lab_run(x->l, 120000);
    check_u64("ended", class_lab_calls(x->l, "DeleteLaunchTemplate"), 1);
    check_ok("again", go(x, LAUNCH), &x->e);
    check_u64("made again", class_lab_calls(x->l, "CreateLaunchTemplate"), 2);
}

/* Made by a process that is no more: here it has forgotten its own. */
static void templates_of_others_end_too(void **state)
{
    struct lab *x = *state;

    add_class(x, "default", SPEC("al2023@latest"), "pool");
    check_ok("start", go(x, START), &x->e);
    launch(x);
    ec2_templates_free(x->p->templates);
    x->p->templates = ec2_templates_new(x->p);
    class_lab_run(x->l, 600000);
    check_u64("nobody knows of it", class_lab_calls(x->l, "DeleteLaunchTemplate"), 0);
    check_ok("adopt", go(x, ADOPT), &x->e);
    class_lab_run(x->l, 180000);
    check_u64("ended", class_lab_calls(x->l, "DeleteLaunchTemplate"), 1);
}

static str drift(struct lab *x)
{
    check_ok("drift", go(x, DRIFT), &x->e);
    return x->drift;
}

static void drift_of_every_kind(void **state)
{
    struct lab *x = *state;
    struct arena *a = x->l->a;

    add_class(x, "default", SPEC("al2023@latest"), "pool");
    check_ok("start", go(x, START), &x->e);
    launch(x);
    check_str("none", drift(x), "");
    struct tree *status = tree_sub(a, x->l->stored[0], "status");
    struct tree subnets = *tree_find(status, STR("subnets")), groups = *tree_find(status, STR("securityGroups"));
    struct tree *one = tree_new_map(a), *list = tree_new_list(a);

    tree_set_str(a, one, "id", STR("subnet-other"));
    tree_set_str(a, one, "zone", STR("test-zone-1a"));
    tree_push(a, list, *one);
    tree_set(a, status, "subnets", *list);
    check_str("subnet", drift(x), "SubnetDrift");
    tree_set_str(a, one, "id", STR("sg-other"));
    list = tree_new_list(a);
    tree_push(a, list, *one);
    tree_set(a, status, "securityGroups", *list);
    check_str("groups come first", drift(x), "SecurityGroupDrift");
    tree_set(a, status, "subnets", subnets);
    tree_set(a, status, "securityGroups", groups);
    check_str("none again", drift(x), "");
    x->claim.image_id = STR("ami-other");
    check_str("image", drift(x), "AMIDrift");
    struct tree *notes = tree_path(a, x->l->stored[0], "metadata", "annotations", NULL);
    tree_set_str(a, notes, EC2_HASH_ANNOTATION, STR("1"));
    tree_set_str(a, notes, EC2_HASH_VERSION_ANNOTATION, STR("v0"));
    check_str("another way to hash", drift(x), "AMIDrift");
    tree_set_str(a, notes, EC2_HASH_VERSION_ANNOTATION, STR(EC2_HASH_VERSION));
    check_str("what is written", drift(x), "NodeClassDrift");
    x->l->n_stored = 0;
    check_str("no class", drift(x), "");
}

static void a_catalogue_for_pools(void **state)
{
    struct lab *x = *state;

    check_u64("nothing before the start", x->cloud->catalog(x->cloud->self)->n, 0);
    add_class(x, "default", SPEC("al2023@latest"), "pool");
    check_ok("start", go(x, START), &x->e);
    const struct catalog *c = x->cloud->catalog(x->cloud->self);
    uint32_t n = c->n;
    uint64_t version = c->version;
    check_true("there are types", n > 100);
    check_true("for all", c->types[0].pools == NULL);
    x->news++;
    check_u64("news that change nothing", x->cloud->catalog(x->cloud->self)->version, version);
    ec2_mark_unavailable(x->p, STR("spot"), STR("m5.large"), STR("test-zone-1a"));
    check_u64("a shortage", x->cloud->catalog(x->cloud->self)->version, version + 1);

    add_class(x, "other", SPEC("bottlerocket@latest"), "second");
    check_ok("again", go(x, START), &x->e);
    c = x->cloud->catalog(x->cloud->self);
    check_true("some differ", c->n > n);
    for (uint32_t i = 0; i < c->n; i++)
        check_true("each is for somebody", c->types[i].n_pools > 0);
    x->l->n_stored = 1;
    x->news++;
    c = x->cloud->catalog(x->cloud->self);
    check_u64("a pool without a class", c->n, n);
    check_true("sees nothing", c->types[0].n_pools == 1 && sym_eq(c->types[0].pools[0], x->pools[0].name_sym));
}

static void no_class_no_machine(void **state)
{
    struct lab *x = *state;

    check_ok("start", go(x, START), &x->e);
    check_true("given up", !go(x, LAUNCH) && x->e.kind == ERR_CAPACITY);
    check_u64("nothing was launched", class_lab_calls(x->l, "CreateFleet"), 0);
}

/* Whatever a launch is waiting for when the process dies, it unwinds: the teardown finds nothing under way. */
static void killed_in_the_middle(void **state UNUSED)
{
    for (int64_t ms = 0; ms <= 60; ms += 20) {
        void *own;

        (void)setup(&own);
        struct lab *x = own;

        add_class(x, "default", SPEC("al2023@latest"), "pool");
        check_ok("start", go(x, START), &x->e);
        x->step = LAUNCH;
        fiber_go(x->l->near, "first", work, x);
        fiber_go(x->l->near, "second", work, x);
        class_lab_run(x->l, ms);
        (void)teardown(&own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_machine_from_birth_to_end, setup, teardown),
        cmocka_unit_test_setup_teardown(templates_end_when_nobody_uses_them, setup, teardown),
        cmocka_unit_test_setup_teardown(templates_of_others_end_too, setup, teardown),
        cmocka_unit_test_setup_teardown(drift_of_every_kind, setup, teardown),
        cmocka_unit_test_setup_teardown(a_catalogue_for_pools, setup, teardown),
        cmocka_unit_test_setup_teardown(no_class_no_machine, setup, teardown),
        cmocka_unit_test(killed_in_the_middle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
