#include "state/packed.h"

#include "base/map.h"

#define MIN_COPY 8u /* shorter copies are not worth their two numbers */

static void put_number(struct sb *b, size_t v)
{
    for (; v >= 128; v >>= 7)
        sb_char(b, (char)(v | 128));
    sb_char(b, (char)v);
}

static size_t take_number(str *from)
{
    size_t v = 0;

    for (unsigned shift = 0;; shift += 7) {
        assert(from->n && shift < 64);
        unsigned char c = (unsigned char)*from->p;

        from->p++;
        from->n--;
        v |= (size_t)(c & 127) << shift;
        if (c < 128)
            return v;
    }
}

static uint32_t slot_of(const char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return (uint32_t)hash_mix(0, v) % PACK_SLOTS;
}

static size_t common(str a, size_t i, str b, size_t k)
{
    if (i >= a.n || k >= b.n)
        return 0;
    size_t n = 0, most = MIN(a.n - i, b.n - k);
    const char *p = a.p + i, *q = b.p + k;

    while (n + 64 <= most && memcmp(p + n, q + n, 64) == 0)
        n += 64;
    while (n < most && p[n] == q[n])
        n++;
    return n;
}

void places_of(struct places *p, str like)
{
    assert(like.n < UINT32_MAX);
    *p = (struct places){0};
    for (size_t i = like.n; i-- > 0;) /* of equal places the first is remembered */
        if (i + MIN_COPY <= like.n)
            p->at[slot_of(like.p + i)] = (uint32_t)i + 1;
}

void pack(struct sb *out, str text, str like, const struct places *places)
{
    size_t done = 0, next = 0; /* bytes that are written; where the last copy ended in `like` */

    for (size_t i = 0; i < text.n;) {
        size_t from = next + (i - done), n = common(text, i, like, from); /* most often it goes on after a difference */
        uint32_t place = n < MIN_COPY && i + MIN_COPY <= text.n ? places->at[slot_of(text.p + i)] : 0;

        if (place) {
            from = place - 1;
            n = common(text, i, like, from);
        }
        if (n < MIN_COPY) {
            i++;
            continue;
        }
        put_number(out, i - done);
        sb_bytes(out, text.p + done, i - done);
        put_number(out, n);
        put_number(out, from);
        i = done = i + n;
        next = from + n;
    }
    if (done < text.n) {
        put_number(out, text.n - done);
        sb_bytes(out, text.p + done, text.n - done);
    }
}

void unpack(char *out, size_t n, str packed, str like)
{
    size_t at = 0;

    while (at < n) {
        size_t own = take_number(&packed);
        assert(own <= n - at && own <= packed.n);
        memcpy(out + at, packed.p, own);
        packed = str_sub(packed, own, packed.n);
        at += own;
        if (at == n)
            break;
        size_t copied = take_number(&packed), from = take_number(&packed);
        assert(copied <= n - at && from <= like.n && copied <= like.n - from);
        memcpy(out + at, like.p + from, copied);
        at += copied;
    }
    assert(packed.n == 0);
}
