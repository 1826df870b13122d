/* Bytes as YAML, or as JSON when they look like it: through the reader, and whole. What was read must be in order,
 * and must survive being written as YAML and read again. */
#include "data/reader.h"
#include "roundtrip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct tree *t)
{
    if (!tree_is_sound(t))
        return;
    tree_roundtrip(t, true, 2);
    tree_roundtrip(t, true, 4);
    tree_roundtrip(t, false, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str bytes = {(const char *)data, size};
    const struct tree *t;
    struct err e = {0};

    AUTO(reader) struct reader *r = reader_open_bytes("fuzz", bytes, &e);
    while (reader_next(r, &t, &e) && t)
        look(t);
    if (tree_parse_yaml(a, "fuzz", bytes, &t, &e))
        look(t);
    return 0;
}
