/* A pattern, a line feed, a text: whatever they are, matching ends, stays within the text, and both ways of asking agree. */
#include "base/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e = {0};
    str pattern, text;
    size_t start, end, from = 0;

    str_cut((str){(const char *)data, size}, '\n', &pattern, &text);
    const struct regex *r = regex_compile(a, pattern, &e);
    if (!r) {
        assert(e.kind == ERR_INVALID && e.msg[0]);
        return 0;
    }
    text = str_sub(text, 0, 500);
    bool found = regex_find(r, text, 0, &start, &end);
    assert(found == regex_matches(r, text));
    for (int i = 0; i < 20 && regex_find(r, text, from, &start, &end); i++) {
        assert(start >= from && end >= start && end <= text.n);
        from = end > start ? end : end + 1;
    }
    return 0;
}
