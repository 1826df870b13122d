/* Whatever the bytes are, decoding ends: with an object that can be written as JSON, or with a sentence. */
#include "base/sb.h"
#include "data/json.h"
#include "sim/kube/protobuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb out = {0};
    struct err e = {0};
    struct tree *t;

    if (protobuf_decode(a, (str){(const char *)data, size}, &t, &e)) {
        struct jw w = {.out = &out};

        jw_tree(&w, t);
    } else {
        assert(e.msg[0]);
    }
    sb_fini(&out);
    return 0;
}
