/* What the metadata service answers about the end of a machine; the first byte says to which question. Read, twice the same, or refused with words and without a notice. */
#include "handler/notice.h"

#define NOW INT64_C(1700000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_label(str s)
{
    for (size_t i = 0; i < s.n; i++) {
        bool alnum =
            (s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z');

        if (!alnum && (i == 0 || i + 1 == s.n || !strchr("-_.", s.p[i])))
            return false;
    }
    return s.n > 0 && s.n <= NOTICE_ID_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct notices one = {NULL, UINT32_MAX}, two;
    struct err e = {0};

    if (size == 0)
        return 0;
    enum notice_kind k = (enum notice_kind)(data[0] % NOTICE_KINDS);
    str text = {(const char *)data + 1, size - 1};
    if (!notices_read(a, k, text, NOW, &one, &e)) {
        assert(e.kind == ERR_INVALID && e.msg[0] && one.n == UINT32_MAX);
        return 0;
    }
    assert(notices_read(a, k, text, NOW, &two, &e) && two.n == one.n);
    assert(k == NOTICE_SCHEDULED || one.n <= 1);
    for (uint32_t i = 0; i < one.n; i++) {
        const struct notice *n = &one.v[i];

        assert(n->kind == k && is_label(n->id) && str_eq(n->id, two.v[i].id) && n->start_ms == two.v[i].start_ms);
        assert(n->description.n > 0 && !memchr(n->description.p, '\n', n->description.n));
        assert(k == NOTICE_SCHEDULED || (!n->over && !n->restarts));
    }
    return 0;
}
