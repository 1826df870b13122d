/* md5 - RFC 1321, in one piece. */
#include "sim/aws/md5.h"

#include <math.h>
#include <stdio.h>

static uint32_t rotate(uint32_t v, unsigned n)
{
    return v << n | v >> (32 - n);
}

static void block(uint32_t state[4], const uint8_t p[64])
{
    static const uint8_t turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t word[16], a = state[0], b = state[1], c = state[2], d = state[3];

    for (unsigned i = 0; i < 16; i++)
        word[i] = (uint32_t)p[4 * i] | (uint32_t)p[4 * i + 1] << 8 | (uint32_t)p[4 * i + 2] << 16 |
                  (uint32_t)p[4 * i + 3] << 24;
    for (unsigned i = 0; i < 64; i++) {
        uint32_t f, next, constant = (uint32_t)(int64_t)floor(fabs(sin((double)i + 1)) * 4294967296.0);
        unsigned round = i / 16, at;

        if (round == 0) {
            f = (b & c) | (~b & d);
            at = i;
        } else if (round == 1) {
            f = (d & b) | (~d & c);
            at = (5 * i + 1) % 16;
        } else if (round == 2) {
            f = b ^ c ^ d;
            at = (3 * i + 5) % 16;
        } else {
            f = c ^ (b | ~d);
            at = (7 * i) % 16;
        }
        next = b + rotate(a + f + constant + word[at], turns[round][i % 4]);
        a = d;
        d = c;
        c = b;
        b = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void md5_hex(str bytes, char ret[33])
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const uint8_t *p = (const uint8_t *)bytes.p;
    uint8_t tail[128] = {0};
    size_t whole = bytes.n / 64 * 64, left = bytes.n - whole, end = left < 56 ? 64 : 128;

    for (size_t i = 0; i < whole; i += 64)
        block(state, p + i);
    if (left)
        memcpy(tail, p + whole, left);
    tail[left] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        tail[end - 8 + i] = (uint8_t)((uint64_t)bytes.n * 8 >> (8 * i));
    for (size_t i = 0; i < end; i += 64)
        block(state, tail + i);
    for (unsigned i = 0; i < 16; i++)
        (void)snprintf(ret + (size_t)2 * i, 3, "%02x", (state[i / 4] >> (8 * (i % 4))) & 255);
}
