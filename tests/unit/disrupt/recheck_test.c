/* Whether a command still holds (lifecycle 8.11): found in one cluster, checked in another that differs from it in one respect. */
#include "live.h"
#include "machines.h"

#define PODS(node) "\npod p node=" node " cpu=1"
#define TWO(more_a, more_b) SMALL("a") more_a "\n" SMALL("b") more_b
#define PAIR_PODS "\npod p node=a cpu=1\npod q node=b cpu=1"

static const struct {
    const char *name;
    enum disrupt_method method;
    const char *before, *after;
    const char *want; /* the verdict, how many did not pass, what is left of the nodes */
} cases[] = {
    {"EM-6: nothing has changed", METHOD_EMPTINESS, TYPES POOL TWO("", ""), TYPES POOL TWO("", ""), "good 0: a b"},
    {"CL-2: emptiness, churn: none is left", METHOD_EMPTINESS, TYPES POOL TWO("", ""),
     TYPES POOL TWO(" note=dnd=true", "") PODS("b"), "churn 2: "},
    {"CL-2: emptiness: the others go on", METHOD_EMPTINESS, TYPES POOL TWO("", ""), TYPES POOL TWO("", "") PODS("b"),
     "good 0: a"},
    {"CL-2: emptiness: one has gone", METHOD_EMPTINESS, TYPES POOL TWO("", ""), TYPES POOL SMALL("b"), "good 0: b"},
    {"CL-2: emptiness, budget: as many as it has room for", METHOD_EMPTINESS, TYPES POOL TWO("", ""),
     TYPES "pool default budget=1\n" TWO("", ""), "good 1: a"},
    {"CL-2: emptiness, budget: none", METHOD_EMPTINESS, TYPES POOL TWO("", ""),
     TYPES "pool default budget=0\n" TWO("", ""), "budget 2: "},
    {"EM-3: emptiness: it is to be left alone now", METHOD_EMPTINESS, TYPES POOL SMALL("n"),
     TYPES "pool default after=Never\n" SMALL("n"), "churn 1: "},

    {"CL-14: single delete", METHOD_SINGLE, TYPES POOL ROOM SMALL("a") PODS("a"), TYPES POOL ROOM SMALL("a") PODS("a"),
     "good 0: a"},
    {"CL-14: single replace", METHOD_SINGLE, TYPES POOL BIG("a") PODS("a"), TYPES POOL BIG("a") PODS("a"), "good 0: a"},
    {"CL-2: single, churn: do-not-disrupt on the node", METHOD_SINGLE, TYPES POOL BIG("a") PODS("a"),
     TYPES POOL BIG("a") " note=dnd=true" PODS("a"), "churn 1: a"},
    {"CL-14: do-not-disrupt on a pod", METHOD_SINGLE, TYPES POOL ROOM SMALL("a") PODS("a"),
     TYPES POOL ROOM SMALL("a") PODS("a") " note=dnd=true", "churn 1: a"},
    {"CL-14: a PodDisruptionBudget, replace", METHOD_SINGLE, TYPES POOL BIG("a") PODS("a"),
     TYPES POOL BIG("a") PODS("a") "\npdb b sel=all max=0 allowed=0", "churn 1: a"},
    {"CL-14: a PodDisruptionBudget, delete", METHOD_SINGLE, TYPES POOL ROOM SMALL("a") PODS("a"),
     TYPES POOL ROOM SMALL("a") PODS("a") "\npdb b sel=all max=0 allowed=0", "churn 1: a"},
    {"CL-2: single, churn: it has gone", METHOD_SINGLE, TYPES POOL BIG("a") PODS("a"), TYPES POOL BIG("b") PODS("b"),
     "churn 1: -"},
    {"CL-2: single, budget", METHOD_SINGLE, TYPES POOL BIG("a") PODS("a"),
     TYPES "pool default budget=0 req='ct In on-demand'\n" BIG("a") PODS("a"), "budget 1: a"},
    {"CL-14: the instance types have changed", METHOD_SINGLE, TYPES POOL BIG("a") PODS("a"),
     TYPES "pool default budget=100% req='ct In on-demand; itype In medium,big'\n" BIG("a") PODS("a"),
     "scheduling 0: a"},
    {"CL-14: more types to choose from are fine", METHOD_SINGLE,
     TYPES "pool default budget=100% req='ct In on-demand; itype In small,big'\n" BIG("a") PODS("a"),
     TYPES POOL BIG("a") PODS("a"), "good 0: a"},
    {"a delete that would need a new node", METHOD_SINGLE, TYPES POOL ROOM SMALL("a") PODS("a"),
     TYPES POOL SMALL("a") PODS("a"), "scheduling 0: a"},
    {"a replacement that is no longer needed", METHOD_SINGLE, TYPES POOL BIG("a") PODS("a"),
     TYPES POOL ROOM BIG("a") PODS("a"), "scheduling 0: a"},
    {"pods without a place", METHOD_SINGLE, TYPES POOL ROOM SMALL("a") PODS("a"),
     TYPES POOL ROOM SMALL("a") PODS("a") " sel=foo=bar", "scheduling 0: a"},
    {"several new nodes", METHOD_SINGLE, TYPES POOL BIG("a") PODS("a"),
     TYPES "pool default budget=100% req='itype In small'\n" BIG("a") "\npod p x3 node=a cpu=1.5", "scheduling 0: a"},

    {"CL-15: multi", METHOD_MULTI, TYPES POOL ROOM TWO("", "") PAIR_PODS, TYPES POOL ROOM TWO("", "") PAIR_PODS,
     "good 0: a b"},
    {"CL-2: multi, churn", METHOD_MULTI, TYPES POOL ROOM TWO("", "") PAIR_PODS,
     TYPES POOL ROOM TWO("", " note=dnd=true") PAIR_PODS, "churn 2: a b"},
    {"CL-2: multi, budget", METHOD_MULTI, TYPES POOL ROOM TWO("", "") PAIR_PODS,
     TYPES "pool default budget=1 req='ct In on-demand'\n" ROOM TWO("", "") PAIR_PODS, "budget 2: a b"},
    {"multi, scheduling", METHOD_MULTI, TYPES POOL ROOM TWO("", "") PAIR_PODS, TYPES POOL TWO("", "") PAIR_PODS,
     "scheduling 0: a b"},

    {"drift is not checked", METHOD_DRIFT, TYPES POOL SMALL("a") " drifted" PODS("a"), TYPES POOL SMALL("a"),
     "good 0: a"},
};

static uint32_t node_named(const struct snapshot *s, str name)
{
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (str_eq(node_title(&s->nodes[i]), name))
            return i;
    return UINT32_MAX;
}

static uint32_t type_named(const struct snapshot *s, str name)
{
    for (uint32_t i = 0; i < s->catalog->n; i++)
        if (str_eq(sym_str(s->syms, s->catalog->types[i].name), name))
            return i;
    return UINT32_MAX;
}

/* The command as the other cluster knows it. */
static void translate(struct arena *a, const struct snapshot *from, const struct disrupt_command *c,
                      const struct snapshot *to, struct earlier *ret)
{
    const uint32_t **types = arena_new_array(a, const uint32_t *, c->n_claims);
    uint32_t *n_types = arena_new_array(a, uint32_t, c->n_claims);

    *ret = (struct earlier){.nodes = arena_new_array(a, uint32_t, c->n_nodes), .n_nodes = c->n_nodes};
    for (uint32_t i = 0; i < c->n_nodes; i++)
        ret->nodes[i] = node_named(to, node_title(&from->nodes[c->nodes[i]]));
    for (uint32_t i = 0; i < c->n_claims; i++) {
        uint32_t *v = arena_new_array(a, uint32_t, c->claims[i].n_types);

        for (uint32_t k = 0; k < c->claims[i].n_types; k++)
            v[k] = type_named(to, sym_str(from->syms, from->catalog->types[c->claims[i].types[k]].name));
        types[i] = v;
        n_types[i] = c->claims[i].n_types;
    }
    ret->n_claims = c->n_claims;
    ret->types = types;
    ret->n_types = n_types;
}

static str verdict(struct live *before, struct live *after, const char *name)
{
    static const char *const words[] = {"good", "churn", "budget", "scheduling"};
    const struct pass *p = disrupt_pass(before->s.a, before->s.snap, &before->o);
    struct sb b = {0};
    struct earlier c;
    uint32_t failed;

    check_u64(name, p->n_commands, 1);
    translate(after->s.a, before->s.snap, &p->commands[0], after->s.snap, &c);
    enum recheck v = disrupt_recheck(after->s.a, after->s.snap, &after->o, &c, &failed);
    sb_printf(&b, "%s %u:", words[v], failed);
    for (uint32_t i = 0; i < c.n_nodes; i++)
        sb_printf(&b, " " STR_FMT,
                  STR_ARG(c.nodes[i] == UINT32_MAX ? STR("-") : node_title(&after->s.snap->nodes[c.nodes[i]])));
    if (c.n_nodes == 0)
        sb_char(&b, ' ');
    str text = sb_dup(&b, after->s.a);
    sb_fini(&b);
    return text;
}

static void check_cases(bool compat)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct live before, after;

        live_open(&before, cases[i].before, cases[i].method, compat);
        live_open(&after, cases[i].after, cases[i].method, compat);
        check_str(cases[i].name, verdict(&before, &after, cases[i].name), cases[i].want);
        scene_close(&before.s);
        scene_close(&after.s);
    }
}

static void as_karpenter(void **state UNUSED)
{
    check_cases(/* compat= */ true);
}

static void thoroughly(void **state UNUSED)
{
    check_cases(/* compat= */ false);
}

static void what_nodes_gain(void **state UNUSED)
{
    struct live before, after;

    live_open(&before, TYPES POOL SMALL("n"), METHOD_EMPTINESS, /* compat= */ true);
    live_open(&after, TYPES POOL SMALL("n"), METHOD_EMPTINESS, /* compat= */ true);
    after.s.snap->nodes[0].n_buffer_pods = 2;
    check_str("EM-8: buffer pods", verdict(&before, &after, "EM-8"), "churn 1: ");
    after.s.snap->nodes[0].n_buffer_pods = 0;
    check_str("EM-8: until cleared", verdict(&before, &after, "EM-8"), "good 0: n");
    after.s.snap->nodes[0].nominated = true;
    check_str("CL-2: nominated", verdict(&before, &after, "CL-2"), "churn 1: ");
    scene_close(&before.s);
    scene_close(&after.s);
}

/* The nodes of the command itself may be known to be under way; those of another are no place for its pods. */
static void what_is_under_way(void **state UNUSED)
{
    static const char text[] = TYPES POOL SMALL("a") "\n" BIG("other") " unmanaged" PODS("a");
    struct live before, after;
    uint64_t busy = 0;

    live_open(&before, text, METHOD_SINGLE, /* compat= */ true);
    live_open(&after, text, METHOD_SINGLE, /* compat= */ true);
    after.o.busy = &busy;
    bit_set(&busy, node_named(after.s.snap, STR("a")));
    check_str("its own node", verdict(&before, &after, "busy"), "good 0: a");
    bit_set(&busy, node_named(after.s.snap, STR("other")));
    check_str("another one", verdict(&before, &after, "busy"), "scheduling 0: a");
    scene_close(&before.s);
    scene_close(&after.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_karpenter),
        cmocka_unit_test(thoroughly),
        cmocka_unit_test(what_nodes_gain),
        cmocka_unit_test(what_is_under_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
