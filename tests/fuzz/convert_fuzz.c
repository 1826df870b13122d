/* Manifests and node groups of others: whatever they are, `karpenter convert` says what is wrong with them, or makes objects of today. Those can be written and read
 * again, and converting them once more changes nothing. */
#include <stdlib.h>

#include "cli/convert/convert.h"
#include "data/reader.h"
#include "roundtrip.h"

#define MOST 65536u /* what comes out is written and read several times */

#define must(cond) ((cond) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(struct arena *a, const struct conversion *made)
{
    struct conversion again = {.a = a, .set = made->set};
    struct err e = {0};

    for (uint32_t i = 0; i < made->out.n; i++) {
        const struct converted *o = made->out.v[i];

        tree_roundtrip(o->object, true, 2);
        for (uint32_t k = 0; k < o->notes.n; k++)
            must(!str_contains(o->notes.v[k], STR("\n")));
        conversion_add(&again, "again", o->object);
    }
    must(conversion_run(&again, &e) && again.out.n == made->out.n);
    for (uint32_t i = 0; i < again.out.n; i++)
        must(!again.out.v[i]->changed);
    conversion_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct convert_settings set = {.role = STR("role"), .cluster = STR("cluster")};
    struct conversion c = {.a = a, .set = &set};
    const struct tree *t;
    struct err e = {0};

    if (size > MOST)
        return 0;
    AUTO(reader) struct reader *r = reader_open_bytes("fuzz", (str){(const char *)data, size}, &e);
    while (reader_next(r, &t, &e) && t)
        conversion_add(&c, "fuzz", t);
    if (conversion_run(&c, &e))
        look(a, &c);
    else
        must(e.msg[0] != 0);
    conversion_fini(&c);
    return 0;
}
