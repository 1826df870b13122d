#include "control/uuid.h"

str uuid_new(struct arena *a, struct world *w)
{
    uint64_t hi = (world_random(w) & ~0xf000ull) | 0x4000, lo = (world_random(w) & (UINT64_MAX >> 2)) | 1ull << 63;

    return arena_printf(a, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(hi >> 32), (unsigned)(hi >> 16 & 0xffff),
                        (unsigned)(hi & 0xffff), (unsigned)(lo >> 48), (unsigned long long)(lo & (UINT64_MAX >> 16)));
}
