#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/check.h"

static void whole_files(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    char path[] = "/tmp/file_test.XXXXXX";
    int fd = mkstemp(path);
    struct err e = {0};
    str got = {0};

    (void)state;
    check_true("a file", fd >= 0 && write(fd, "a\0b\n", 4) == 4);
    (void)close(fd);
    check_ok("read", file_read(a, path, 4, &got, &e), &e);
    check_true("all of it", str_eq(got, (str){"a\0b\n", 4}));
    check_true("too long", !file_read(a, path, 3, &got, &e));
    check_i64("too long", e.kind, ERR_INVALID);
    check_true("names the file", str_starts(str_c(e.msg), str_c(path)));
    (void)unlink(path);
    check_true("gone", !file_read(a, path, 4, &got, &e));
    check_i64("gone", e.kind, ERR_NOT_FOUND);
    check_true("a directory", !file_read(a, "/tmp", 4, &got, &e));
    check_i64("a directory", e.kind, ERR_INVALID);
    check_ok("a device", file_read(a, "/dev/null", 4, &got, &e), &e);
    check_u64("has nothing", got.n, 0);
    check_true("without an end", !file_read(a, "/dev/zero", 100000, &got, &e));
    check_i64("without an end", e.kind, ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
