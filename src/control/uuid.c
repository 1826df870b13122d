#include "control/uuid.h"

#define LEN 36u

str uuid_new(struct arena *a, struct world *w)
{
    uint64_t half[2] = {(world_random(w) & ~0xf000ull) | 0x4000, (world_random(w) & (UINT64_MAX >> 2)) | 1ull << 63};
    char *p = arena_new_array(a, char, LEN + 1);
    uint32_t at = 0;

    for (uint32_t digit = 0; digit < 32; digit++) {
        if (at == 8 || at == 13 || at == 18 || at == 23)
            p[at++] = '-';
        p[at++] = "0123456789abcdef"[half[digit / 16] >> (60 - 4 * (digit % 16)) & 15];
    }
    return (str){p, LEN};
}
