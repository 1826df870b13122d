#include "support/golden.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "support/check.h"

static void write_anew(const char *path, str text)
{
    FILE *f = fopen(path, "wb");

    check_true(path, f != NULL);
    bool ok = fwrite(text.p, 1, text.n, f) == text.n;
    check_true(path, fclose(f) == 0 && ok);
}

void golden_check(const char *path, str got)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str want, line, due;
    struct err e;

    if (getenv("UPDATE_GOLDEN"))
        write_anew(path, got);
    check_ok(path, file_read(a, path, (size_t)1 << 20, &want, &e), &e);
    while (got.n || want.n) {
        (void)str_cut(got, '\n', &line, &got);
        (void)str_cut(want, '\n', &due, &want);
        check_str(path, line, arena_printf(a, STR_FMT, STR_ARG(due)).p);
    }
}
