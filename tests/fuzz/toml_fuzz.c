/* TOML that was read is written in one way: read again it is the same tree, written again the same text. */
#include "data/edit.h"
#include "data/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb once = {0}, twice = {0};
    struct err e = {0};
    struct tree *t = toml_read(a, (str){(const char *)data, size}, &e);

    if (!t) {
        assert(e.kind == ERR_INVALID && e.msg[0]);
        return 0;
    }
    toml_write(&once, t);
    if (once.n <= TOML_MAX_TEXT) { /* a float may have three hundred digits */
        struct tree *back = toml_read(a, sb_dup(&once, a), &e);

        assert(back);
        toml_write(&twice, back);
        assert(str_eq(sb_view(&once), sb_view(&twice)));
        toml_sort(t, /* deep= */ true);
        toml_sort(back, /* deep= */ true);
        sb_reset(&once);
        sb_reset(&twice);
        toml_write(&once, t);
        toml_write(&twice, back);
        assert(str_eq(sb_view(&once), sb_view(&twice)));
    }
    sb_fini(&once);
    sb_fini(&twice);
    return 0;
}
