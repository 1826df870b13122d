/* Numbers by keys that live elsewhere: against a plain array, through growth, removal and renaming. */
#include "base/ixset.h"

#include "base/rng.h"
#include "support/check.h"

#define N 600

struct words {
    uint32_t key[N]; /* of each number; 0: not in the set */
    uint64_t mask;   /* few different hashes make long runs */
};

static uint64_t key_hash(const struct words *w, uint32_t key)
{
    return hash_mix(0, key) & w->mask;
}

static uint64_t hash(const void *owner, uint32_t ix)
{
    const struct words *w = owner;

    return key_hash(w, w->key[ix]);
}

static bool has(const void *owner, uint32_t ix, const void *key)
{
    return ((const struct words *)owner)->key[ix] == *(const uint32_t *)key;
}

static const struct ixset_keys keys = {hash, has};

static uint32_t find(const struct ixset *s, const struct words *w, uint32_t key)
{
    return ixset_get(s, &keys, w, key_hash(w, key), &key);
}

static void check_all(const struct ixset *s, const struct words *w)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < N; i++) {
        if (!w->key[i])
            continue;
        assert_int_equal(find(s, w, w->key[i]), i);
        n++;
    }
    assert_int_equal(s->n, n);
    assert_int_equal(find(s, w, 1u << 30), MAP_NONE);
}

static void follows_a_plain_array(void **state UNUSED)
{
    static const uint64_t masks[] = {UINT64_MAX, 63, 3, 0};

    for (size_t m = 0; m < ARRAY_LEN(masks); m++) {
        struct words w = {.mask = masks[m]};
        struct ixset s = {0};
        struct rng r;
        uint32_t next = 1;

        rng_init(&r, m + 1);
        for (uint32_t step = 0; step < 3000; step++) {
            uint32_t ix = (uint32_t)rng_below(&r, N), other = (uint32_t)rng_below(&r, N);

            if (!w.key[ix]) {
                w.key[ix] = next++;
                ixset_add(&s, &keys, &w, ix);
            } else if (!w.key[other]) {
                w.key[other] = w.key[ix];
                ixset_rename(&s, &keys, &w, ix, other);
                w.key[ix] = 0;
            } else {
                ixset_remove(&s, &keys, &w, ix);
                w.key[ix] = 0;
            }
            if (step % 100 == 0)
                check_all(&s, &w);
        }
        for (uint32_t i = 0; i < N; i++) {
            if (!w.key[i])
                continue;
            ixset_remove(&s, &keys, &w, i);
            w.key[i] = 0;
        }
        check_all(&s, &w);
        assert_true(s.cap <= 64);
        ixset_fini(&s);
    }
}

static void an_empty_set_has_nothing(void **state UNUSED)
{
    struct words w = {.mask = UINT64_MAX};
    struct ixset s = {0};

    assert_int_equal(find(&s, &w, 7), MAP_NONE);
    ixset_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_set_has_nothing),
        cmocka_unit_test(follows_a_plain_array),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
