/* The bytes of a watch: whatever the pieces, the same events come of them. The first byte says how large the pieces are. */
#include "base/sb.h"
#include "data/json.h"
#include "k8s/watch_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool note(void *ctx, str type, struct tree *obj)
{
    struct jw w = {.out = ctx};

    sb_str(ctx, type);
    jw_tree(&w, obj);
    return true;
}

static bool feed(str bytes, size_t piece, struct sb *out, struct err *e)
{
    struct watch_lines l;
    bool ok = true;

    watch_lines_init(&l);
    for (size_t at = 0; ok && at < bytes.n; at += piece)
        ok = watch_lines_feed(&l, str_sub(bytes, at, at + piece), note, out, e);
    watch_lines_fini(&l);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sb whole = {0}, parts = {0};
    struct err a = {0}, b = {0};

    if (size < 2)
        return 0;
    str bytes = {(const char *)data + 1, size - 1};
    bool ok = feed(bytes, bytes.n, &whole, &a);
    assert(feed(bytes, (size_t)data[0] + 1, &parts, &b) == ok);
    assert(str_eq(sb_view(&whole), sb_view(&parts)));
    assert(strcmp(a.msg, b.msg) == 0);
    assert(ok || (a.kind == ERR_INVALID && a.msg[0]));
    sb_fini(&whole);
    sb_fini(&parts);
    return 0;
}
