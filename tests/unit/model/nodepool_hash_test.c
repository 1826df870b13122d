/* The annotation karpenter.sh/nodepool-hash: values that clusters carry today must come out again, to the bit. */
#include "model/nodepool.h"

#include "support/check.h"

#define TEST_CLASS                                                                                                     \
    {                                                                                                                  \
        STR_INIT("karpenter.test.sh"), STR_INIT("TestNodeClass"), STR_INIT("default")                                  \
    }
#define KWOK_CLASS                                                                                                     \
    {                                                                                                                  \
        STR_INIT("karpenter.kwok.sh"), STR_INIT("KWOKNodeClass"), STR_INIT("default")                                  \
    }

static const struct {
    const char *name;
    struct nodeclass_ref ref;
    const char *expire_after;
    const char *grace;            /* NULL: absent */
    const char *labels;           /* "k=v,k=v"; NULL: absent; "": present and empty */
    const char *annotations;      /* likewise */
    const char *taints, *startup; /* "key=value:Effect,…"; likewise */
    uint64_t want;
} cases[] = {
    {"expireAfter alone", TEST_CLASS, "720h", NULL, NULL, NULL, NULL, NULL, 15987417032968393143u},
    {"Never", TEST_CLASS, "Never", NULL, NULL, NULL, NULL, NULL, 5568174970230275839u},
    {"everything", TEST_CLASS, "5m", "5m", "keyLabel=valueLabel",
     "keyAnnotation=valueAnnotation,keyAnnotation2=valueAnnotation2", "key:NoExecute", "key:NoExecute",
     3811377905641173263u},
    {"the other order of annotations", TEST_CLASS, "5m", "5m", "keyLabel=valueLabel",
     "keyAnnotation2=valueAnnotation2,keyAnnotation=valueAnnotation", "key:NoExecute", "key:NoExecute",
     3811377905641173263u},
    {"two taints", TEST_CLASS, "720h", NULL, NULL, NULL, "a=b:NoSchedule,c:NoExecute", NULL, 12102491286534677173u},
    {"in the other order", TEST_CLASS, "720h", NULL, NULL, NULL, "c:NoExecute,a=b:NoSchedule", NULL,
     12102491286534677173u},
    {"kwok, 720h", KWOK_CLASS, "720h", NULL, NULL, NULL, NULL, NULL, 12745407319442031341u},
    {"kwok, Never", KWOK_CLASS, "Never", NULL, NULL, NULL, NULL, NULL, 7428780003907761376u},
    {"kwok, 25s", KWOK_CLASS, "25s", NULL, NULL, NULL, NULL, NULL, 10389114823800702314u},
    {"kwok, grace", KWOK_CLASS, "Never", "30s", NULL, NULL, NULL, NULL, 6262722696493564677u},
    {"kwok, a label", KWOK_CLASS, "Never", NULL, "revision=one", NULL, NULL, NULL, 15275954777551135402u},
    {"kwok, its next value", KWOK_CLASS, "Never", NULL, "revision=two", NULL, NULL, NULL, 3136225515509598247u},
    {"kwok, a startup taint", KWOK_CLASS, "Never", NULL, NULL, NULL, NULL, "example.com/agent:NoSchedule",
     746201822878860904u},
    {"kwok, a label and a taint", KWOK_CLASS, "Never", NULL, "tier=front", NULL, "team=blue:NoSchedule", NULL,
     2558123767895025816u},
};

static lset_id labels_of(struct syms *t, const char *text)
{
    struct label v[8];
    uint32_t n = 0;
    str rest = str_c(text), item, key, val;

    while (rest.n) {
        (void)str_cut(rest, ',', &item, &rest);
        (void)str_cut(item, '=', &key, &val);
        v[n++] = (struct label){sym_of(t, key), sym_of(t, val)};
    }
    return lset_of(t, v, n);
}

static uint32_t annotations_of(struct annotation *v, const char *text)
{
    uint32_t n = 0;
    str rest = str_c(text), item;

    while (rest.n) {
        (void)str_cut(rest, ',', &item, &rest);
        (void)str_cut(item, '=', &v[n].key, &v[n].val);
        n++;
    }
    return n;
}

static uint32_t taints_of(struct syms *t, struct taint *v, const char *text)
{
    uint32_t n = 0;
    str rest = str_c(text), item, pair, effect, key, val;

    while (rest.n) {
        (void)str_cut(rest, ',', &item, &rest);
        (void)str_cut(item, ':', &pair, &effect);
        (void)str_cut(pair, '=', &key, &val);
        v[n].key = sym_of(t, key);
        v[n].value = sym_of(t, val);
        check_true(text, taint_effect_parse(effect, &v[n].effect));
        n++;
    }
    return n;
}

static void vectors(void **state)
{
    struct syms *t = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct annotation annotations[8];
        struct taint taints[8], startup[8];
        struct err e;
        struct claim_template c = {
            .labels = labels_of(t, cases[i].labels),
            .has_labels = cases[i].labels != NULL,
            .annotations = annotations,
            .n_annotations = annotations_of(annotations, cases[i].annotations),
            .has_annotations = cases[i].annotations != NULL,
            .taints = {taints, taints_of(t, taints, cases[i].taints)},
            .has_taints = cases[i].taints != NULL,
            .startup_taints = {startup, taints_of(t, startup, cases[i].startup)},
            .has_startup_taints = cases[i].startup != NULL,
            .class_ref = cases[i].ref,
            .has_termination_grace = cases[i].grace != NULL,
        };

        check_ok(cases[i].name, duration_parse_nillable(str_c(cases[i].expire_after), &c.expire_after_ns, &e), &e);
        if (cases[i].grace)
            check_ok(cases[i].name, duration_parse(str_c(cases[i].grace), &c.termination_grace_ns, &e), &e);
        check_u64(cases[i].name, nodepool_hash(&c, t), cases[i].want);
    }
}

static struct claim_template plain(void)
{
    return (struct claim_template){.class_ref = TEST_CLASS, .expire_after_ns = DURATION_NEVER};
}

static void what_counts(void **state)
{
    struct syms *t = *state;
    struct claim_template base = plain(), c = plain();
    struct req_expr requirement = {.key = SYM(ZONE), .op = OP_EXISTS};
    struct taint same[] = {{SYM(CPU), SYM(NONE), EFFECT_NO_EXECUTE}, {SYM(CPU), SYM(NONE), EFFECT_NO_EXECUTE}};
    uint64_t was = nodepool_hash(&base, t);

    c.requirements = &requirement;
    c.n_requirements = 1;
    check_u64("requirements do not", nodepool_hash(&c, t), was);

    c = plain();
    c.has_labels = true;
    uint64_t empty_labels = nodepool_hash(&c, t);
    check_true("labels: {} is not the same as no labels", empty_labels != was);

    c = plain();
    c.has_annotations = true;
    check_true("annotations: {} neither", nodepool_hash(&c, t) != was && nodepool_hash(&c, t) != empty_labels);

    c = plain();
    c.has_taints = true;
    uint64_t empty_taints = nodepool_hash(&c, t);
    check_true("nor taints: []", empty_taints != was);
    c.taints = (struct taints){same, 2};
    check_u64("two equal taints cancel out", nodepool_hash(&c, t), empty_taints);
    c.taints.n = 1;
    check_true("one does not", nodepool_hash(&c, t) != empty_taints);

    c = plain();
    c.has_startup_taints = true;
    check_true("startupTaints: [] is another field", nodepool_hash(&c, t) != empty_taints);

    c = plain();
    c.has_termination_grace = true;
    check_true("terminationGracePeriod: 0s is not absent", nodepool_hash(&c, t) != was);

    c = plain();
    c.expire_after_ns = 0;
    check_true("expireAfter: 0s is not Never", nodepool_hash(&c, t) != was);

    c = plain();
    c.class_ref.name = STR("other");
    check_true("the class counts", nodepool_hash(&c, t) != was);
}

static int setup(void **state)
{
    *state = syms_new();
    return 0;
}

static int teardown(void **state)
{
    syms_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(vectors, setup, teardown),
        cmocka_unit_test_setup_teardown(what_counts, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
