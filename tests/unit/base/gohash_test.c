/* Hashes of Go values. Those of whole objects are under model/ and cloud/; here are the parts they are made of. */
#include "base/gohash.h"

#include "support/check.h"

static void scalars(void **state UNUSED)
{
    check_u64("nothing", gohash_str(STR("")), 0xcbf29ce484222325u);
    check_u64("a", gohash_str(STR("a")), 0xaf63bd4c8601b7beu);
    check_u64("foobar", gohash_str(STR("foobar")), 0x340d8765a4dda9c2u);
    check_u64("true is a byte", gohash_bool(true), gohash_str((str){"\1", 1}));
    check_u64("the lowest byte first", gohash_i32(0x04030201), gohash_str(STR("\1\2\3\4")));
    check_u64("eight of them", gohash_i64(-1), gohash_str(STR("\xff\xff\xff\xff\xff\xff\xff\xff")));
    check_true("the width counts", gohash_i32(1) != gohash_i64(1));
}

static void structs(void **state UNUSED)
{
    uint64_t a = gohash_struct("T"), b = gohash_struct("T"), c = gohash_struct("U");

    check_u64("a type alone", a, gohash_str(STR("T")));
    gohash_text(&a, "X", STR(""));
    check_u64("an empty text takes no part", a, b);
    gohash_text(&a, "X", STR("v"));
    gohash_field(&b, "X", gohash_str(STR("v")));
    gohash_field(&c, "X", gohash_str(STR("v")));
    check_u64("equal", a, b);
    check_true("the type counts", a != c);
    gohash_text(&a, "Y", STR("v"));
    check_true("and so does every field", a != b);
}

static void maps(void **state UNUSED)
{
    uint64_t ab = gohash_entry(gohash_str(STR("a")), gohash_str(STR("b")));
    uint64_t ba = gohash_entry(gohash_str(STR("b")), gohash_str(STR("a")));

    check_true("key and value are not the same", ab != ba);
    check_true("an empty map is a value", gohash_map(0) != 0);
    check_u64("it is hashed once more", gohash_map(ab), gohash_i64((int64_t)ab));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars),
        cmocka_unit_test(structs),
        cmocka_unit_test(maps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
