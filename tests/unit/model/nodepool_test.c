/* When a node is left alone for long enough, and looking things up (lifecycle 1.4). */
#include "model/nodepool.h"

#include "support/check.h"
#include "support/scenario.h"

#define NOON_S (12 * 3600)

static const struct {
    const char *name, *text;
    int64_t want_s; /* of the day; -1: not inside a window */
} windows[] = {
    {"since the last pod came or went", "pool default after=30s\nnode n lastpod=11:59:40", NOON_S + 10},
    {"since it was initialized", "pool default after=30s\nnode n initialized=11:00:00", NOON_S - 3600 + 30},
    {"the pod counts, though it is older", "pool default after=1h\nnode n initialized=11:00:00 lastpod=10:00:00",
     NOON_S - 3600},
    {"not initialized", "pool default after=30s\nnode n registered lastpod=11:59:40", -1},
    {"Never", "pool default after=Never\nnode n lastpod=11:59:40", -1},
    {"at once", "pool default after=0s\nnode n lastpod=11:59:40", -1},
    {"nothing said is at once", "pool default\nnode n lastpod=11:59:40", -1},
};

static void settled(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(windows); i++) {
        struct scene s;

        scene_open(&s, windows[i].text);
        int64_t got = nodeclaim_settled_ms(&s.snap->pools[0], s.snap->nodes[0].claim);
        int64_t noon_ms = s.snap->now_ms;
        check_i64(windows[i].name, got,
                  windows[i].want_s < 0 ? INT64_MIN : noon_ms + (windows[i].want_s - NOON_S) * 1000);
        scene_close(&s);
    }
}

static void lookups(void **state)
{
    struct annotation notes[] = {{STR("a"), STR("1")}, {STR("b"), STR("2")}};
    struct nodeclass classes[] = {{.group = STR("g"), .kind = STR("k"), .name = STR("n")}};
    struct nodeclass_ref other = {STR("g"), STR("k"), STR("m")}, same = {STR("g"), STR("k"), STR("n")};

    (void)state;
    check_str("there", annotation_value(notes, ARRAY_LEN(notes), "b"), "2");
    check_str("not there", annotation_value(notes, ARRAY_LEN(notes), "c"), "");
    check_true("the class", nodeclass_find(classes, 1, &same) == &classes[0]);
    check_true("another", nodeclass_find(classes, 1, &other) == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(settled), cmocka_unit_test(lookups)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
