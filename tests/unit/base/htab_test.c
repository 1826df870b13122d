#include "base/htab.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/rng.h"
#include "support/check.h"

struct thing {
    int at; /* so that the node is not at the beginning */
    struct htab_node node;
    char name[16];
};

static void set(struct htab *t, struct thing *x, int i)
{
    x->at = i;
    x->node.key = (str){x->name, (size_t)snprintf(x->name, sizeof(x->name), "n%d", i)};
    htab_put(t, &x->node);
}

static struct thing *get(const struct htab *t, int i)
{
    char name[16];

    return HTAB_THING(htab_get(t, (str){name, (size_t)snprintf(name, sizeof(name), "n%d", i)}), struct thing, node);
}

static void comes_and_goes(UNUSED void **state)
{
    enum { N = 2000 };
    struct htab t = {0};
    struct thing *all = xcalloc(N, sizeof(*all));
    bool in[N] = {false};
    struct rng r;
    uint32_t n = 0;

    rng_init(&r, 7);
    check_true("nothing in an empty one", !get(&t, 1));
    for (int step = 0; step < 20000; step++) {
        int i = (int)rng_below(&r, N);

        check_true("found exactly when it is in", (get(&t, i) == &all[i]) == in[i] && (get(&t, i) != NULL) == in[i]);
        if (in[i])
            htab_del(&t, &all[i].node);
        else
            set(&t, &all[i], i);
        in[i] = !in[i];
        n += in[i] ? 1u : -1u;
        check_u64("count", t.n, n);
    }
    uint32_t seen = 0;
    struct htab_walk w = {0};
    for (struct htab_node *x; (x = htab_next(&t, &w)); seen++)
        check_true("a walk sees what is in", in[((struct thing *)HTAB_THING(x, struct thing, node))->at]);
    check_u64("a walk sees all", seen, n);
    htab_fini(&t);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(comes_and_goes)};

    return cmocka_run_group_tests_name("base/htab", tests, NULL, NULL);
}
