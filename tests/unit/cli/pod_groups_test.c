#include "cli/pod_groups.h"

#include "base/sb.h"
#include "support/check.h"

struct world {
    struct arena *a;
    struct syms *syms;
    struct snapshot s;
    VEC(struct pod) pods;
};

static void add(struct world *w, const char *ns, const char *name, enum owner_kind owner, const char *owner_name)
{
    vec_push(&w->pods, (struct pod){.ns = sym_of(w->syms, str_c(ns)),
                                    .name = str_c(name),
                                    .owner = owner,
                                    .owner_name = sym_of(w->syms, str_c(owner_name))});
}

static int set_up(void **state)
{
    struct world *w = xcalloc(1, sizeof(*w));

    w->a = arena_new(0);
    w->syms = syms_new();
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    vec_fini(&w->pods);
    syms_free(w->syms);
    arena_free(w->a);
    free(w);
    return 0;
}

/* The items of all pods there are, joined by ", ". */
static void check_items(const char *name, struct world *w, bool one_node, const char *want)
{
    struct pod_groups g = {.s = &w->s, .a = w->a};
    uint32_t *all = arena_new_array(w->a, uint32_t, w->pods.n), n;
    struct sb b = {0};

    w->s.syms = w->syms;
    w->s.pods = w->pods.v;
    for (uint32_t i = 0; i < w->pods.n; i++)
        all[i] = i;
    for (int round = 0; round < 2; round++) { /* counting starts afresh every time */
        uint32_t first = pod_groups_count(&g, all, w->pods.n);
        const str *items = pod_groups_items(&g, first, g.shares.n - first, one_node, &n);

        sb_reset(&b);
        for (uint32_t i = 0; i < n; i++)
            sb_printf(&b, "%s" STR_FMT, i ? ", " : "", STR_ARG(items[i]));
        check_str(name, sb_view(&b), want);
    }
    sb_fini(&b);
    pod_groups_fini(&g);
}

static const struct {
    const char *name, *pod;
    enum owner_kind owner;
    const char *owner_name, *want;
} name_cases[] = {
    {"a number at the end", "web-12", OWNER_NONE, "", "web"},
    {"no number", "web", OWNER_NONE, "", "web"},
    {"nothing before the number", "-1", OWNER_NONE, "", "-1"},
    {"a version is not a number", "web-v1", OWNER_NONE, "", "web-v1"},
    {"a ReplicaSet of a Deployment", "web-6d4cf56db6-2tq8f", OWNER_REPLICASET, "web-6d4cf56db6", "web"},
    {"a ReplicaSet on its own", "web-2tq8f", OWNER_REPLICASET, "web", "web"},
    {"a ReplicaSet with a name that is no hash", "web-canary-2tq8f", OWNER_REPLICASET, "web-canary", "web-canary"},
    {"a StatefulSet with a number in its name", "db-2-0", OWNER_STATEFULSET, "db-2", "db-2"},
    {"a Job", "report-28391-x7vkq", OWNER_OTHER, "report-28391", "report-28391"},
    {"a mirror pod belongs to nobody", "proxy-ip-10-0-0-1", OWNER_NODE, "ip-10-0-0-1", "proxy-ip-10-0-0-1"},
};

static void workload_names(void **state)
{
    struct world *w = *state;

    for (size_t i = 0; i < ARRAY_LEN(name_cases); i++) {
        w->pods.n = 0;
        add(w, "default", name_cases[i].pod, name_cases[i].owner, name_cases[i].owner_name);
        check_items(name_cases[i].name, w, /* one_node= */ false, name_cases[i].want);
    }
}

static void counting(void **state)
{
    struct world *w = *state;

    check_items("no pods", w, true, "");
    add(w, "default", "b-0", OWNER_NONE, "");
    add(w, "default", "a-0", OWNER_NONE, "");
    check_items("single pods by their own names, in order of name", w, true, "a-0, b-0");
    check_items("on a line of many nodes by their workloads'", w, false, "a, b");
    add(w, "default", "b-1", OWNER_NONE, "");
    check_items("most pods first", w, true, "b ×2, a-0");
    add(w, "shop", "b-0", OWNER_NONE, "");
    add(w, "shop", "b-1", OWNER_NONE, "");
    add(w, "shop", "b-2", OWNER_NONE, "");
    check_items("namespaces are kept apart", w, true, "shop/b ×3, b ×2, a-0");
}

static void long_lists(void **state)
{
    static const char *const names[] = {"a-0", "b-0", "c-0", "d-0", "e-0", "f-0", "g-0", "h-0", "i-0", "i-1"};
    struct world *w = *state;

    for (size_t i = 0; i < 8; i++)
        add(w, "default", names[i], OWNER_NONE, "");
    check_items("eight are listed", w, true, "a-0, b-0, c-0, d-0, e-0, f-0, g-0, h-0");
    add(w, "default", names[8], OWNER_NONE, "");
    add(w, "default", names[9], OWNER_NONE, "");
    check_items("of more the rest is counted", w, true,
                "i ×2, a-0, b-0, c-0, d-0, e-0, f-0, and 2 more pods of 2 workloads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(workload_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_lists, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
