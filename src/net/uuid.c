#include "net/uuid.h"

#define LEN 36u

str uuid_new(struct arena *a, struct world *w)
{
    uint64_t half[2] = {(world_random(w) & ~0xf000ull) | 0x4000, (world_random(w) & (UINT64_MAX >> 2)) | 1ull << 63};
    char *p = arena_new_array(a, char, LEN + 1);
    uint32_t at = 0;

    for (uint32_t byte = 0; byte < 16; byte++) {
        uint64_t v = half[byte / 8] >> (56 - 8 * (byte % 8));

        if (byte == 4 || byte == 6 || byte == 8 || byte == 10)
            p[at++] = '-';
        p[at++] = "0123456789abcdef"[v >> 4 & 15];
        p[at++] = "0123456789abcdef"[v & 15];
    }
    return (str){p, LEN};
}
