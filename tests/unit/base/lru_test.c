#include "base/lru.h"

#include <stdio.h>

#include "support/check.h"

struct record {
    int v;
};

static str key(char *buf, int i)
{
    return (str){buf, (size_t)snprintf(buf, 16, "k%d", i)};
}

static void the_oldest_makes_room(UNUSED void **state)
{
    struct lru l = {.cap = 3, .size = sizeof(struct record)};
    char buf[16];

    check_true("empty", !lru_oldest(&l) && !lru_get(&l, key(buf, 0)));
    for (int i = 0; i < 3; i++) {
        struct record *r = lru_put(&l, key(buf, i));

        check_i64("zeroed", r->v, 0);
        r->v = i;
    }
    check_i64("a look makes it new", ((struct record *)lru_get(&l, key(buf, 0)))->v, 0);
    check_i64("the oldest", ((struct record *)lru_oldest(&l))->v, 1);
    ((struct record *)lru_put(&l, key(buf, 3)))->v = 3;
    check_u64("no more than allowed", lru_count(&l), 3);
    check_true("it went", !lru_get(&l, key(buf, 1)) && lru_get(&l, key(buf, 0)) && lru_get(&l, key(buf, 2)));
    lru_drop(&l, lru_get(&l, key(buf, 0)));
    check_true("dropped", !lru_get(&l, key(buf, 0)) && lru_count(&l) == 2);
    for (int i = 10; i < 1000; i++)
        ((struct record *)lru_put(&l, key(buf, i)))->v = i;
    for (int i = 997; i < 1000; i++)
        check_i64("the last three", ((struct record *)lru_get(&l, key(buf, i)))->v, i);
    lru_fini(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_oldest_makes_room)};

    return cmocka_run_group_tests_name("base/lru", tests, NULL, NULL);
}
