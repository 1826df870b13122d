/* Bytes as JSON: through the reader, and whole. What was read must be in order, and must survive being written as
 * JSON and as YAML and read again. */
#include "data/edit.h"
#include "data/json.h"
#include "data/json_own.h"
#include "data/reader.h"
#include "roundtrip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The reader of our own texts sees the same. */
static void own_roundtrip(const struct tree *t)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb b = {0};

    jw_tree(&(struct jw){.out = &b}, t);
    assert(tree_equal(t, json_read_own(a, sb_view(&b))));
    sb_fini(&b);
}

static void look(const struct tree *t)
{
    if (!tree_is_sound(t))
        return;
    tree_roundtrip(t, false, 0);
    own_roundtrip(t);
    tree_roundtrip(t, false, 2);
    tree_roundtrip(t, true, 2);
}

/* The reader in place sees the same as the one that copies. Only the latter passes over a byte order mark. */
static void in_place(str bytes, const struct tree *want)
{
    AUTO(arena) struct arena *a = arena_new(0);
    char *copy = arena_alloc(a, bytes.n + READER_PAD, 1);
    struct tree *t;
    struct err e;

    if (bytes.n)
        memcpy(copy, bytes.p, bytes.n);
    bool ok = tree_read_json(a, "fuzz", copy, bytes.n, &t, &e);
    assert(ok == (want != NULL) || str_starts(bytes, STR("\xef\xbb\xbf")));
    assert(!ok || tree_equal(t, want));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str bytes = {(const char *)data, size};
    const struct tree *t;
    struct err e = {0};

    AUTO(reader) struct reader *r = reader_open_bytes("fuzz.json", bytes, &e);
    while (reader_next(r, &t, &e) && t)
        look(t);
    bool ok = tree_parse_json(a, "fuzz", bytes, &t, &e);
    if (ok)
        look(t);
    in_place(bytes, ok ? t : NULL);
    return 0;
}
