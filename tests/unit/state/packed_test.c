/* Packed texts come back as they were, and are small where there is something in common. */
#include "state/packed.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/rng.h"
#include "support/check.h"

static size_t check_back(const char *name, str text, str like)
{
    static struct places places;
    struct sb b = {0};
    char *back = xmalloc(text.n);

    places_of(&places, like);
    pack(&b, text, like, &places);
    unpack(back, text.n, sb_view(&b), like);
    check_true(name, str_eq((str){back, text.n}, text));
    size_t n = b.n;
    sb_fini(&b);
    free(back);
    return n;
}

static const struct {
    const char *name, *text, *like;
    size_t most;
} cases[] = {
    {"nothing", "", "", 0},
    {"nothing like something", "", "abcdefghijkl", 0},
    {"something like nothing", "abcdefghijkl", "", 13},
    {"the same", "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz", 3},
    {"the end differs", "abcdefghijklmnopqrst-1", "abcdefghijklmnopqrst-2", 6},
    {"something in the middle", "abcdefghijkl<here>mnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz", 13},
    {"something is missing", "abcdefghijklqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz", 6},
    {"the other way round", "ABCDEFGHIJKL01234567", "01234567ABCDEFGHIJKL", 6},
    {"shorter than a copy", "abc", "abc", 4},
};

static void texts_come_back(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n = check_back(cases[i].name, str_c(cases[i].text), str_c(cases[i].like));

        check_true(cases[i].name, n <= cases[i].most);
    }
}

static void random_texts_come_back(void **state UNUSED)
{
    struct rng r;

    rng_init(&r, 7);
    for (uint32_t i = 0; i < 3000; i++) {
        struct sb a = {0}, b = {0};
        uint32_t letters = 1 + rng_below(&r, 4), n = rng_below(&r, 300);

        for (uint32_t k = 0; k < n; k++) {
            char c = (char)('a' + rng_below(&r, letters));

            if (rng_below(&r, 20))
                sb_char(&a, c);
            if (rng_below(&r, 20))
                sb_char(&b, c);
        }
        (void)check_back("random", sb_view(&a), sb_view(&b));
        sb_fini(&a);
        sb_fini(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_come_back), cmocka_unit_test(random_texts_come_back)};

    return cmocka_run_group_tests_name("state/packed", tests, NULL, NULL);
}
