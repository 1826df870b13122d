/* A query: names and values that were decoded must come back when they are encoded and read again. */
#include "base/arena.h"
#include "base/vec.h"
#include "net/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct pair {
    str name, value;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    VEC(struct pair) pairs = {0};
    struct sb again = {0};
    str rest = {(const char *)data, size}, name, value;
    bool bad;
    uint32_t n = 0;

    while (query_next(a, &rest, &name, &value, &bad)) {
        assert(name.n + value.n <= size && !memchr(name.p, '\0', name.n) && !memchr(value.p, '\0', value.n));
        vec_push(&pairs, (struct pair){name, value});
        url_encode(&again, name);
        sb_char(&again, '=');
        url_encode(&again, value);
        sb_char(&again, '&');
    }
    for (rest = sb_view(&again); query_next(a, &rest, &name, &value, &bad); n++)
        assert(n < pairs.n && str_eq(name, pairs.v[n].name) && str_eq(value, pairs.v[n].value));
    assert(n == pairs.n && !bad);
    sb_fini(&again);
    vec_fini(&pairs);
    return 0;
}
