/* Sorting many texts that look alike: a hundred thousand pods without a place are listed by name.
 *
 * Texts that share a beginning are sorted by the eight bytes that follow it, as one number, digit by digit; those
 * that agree in these too, by what follows after them. 100,000 names: 65 M instructions with sort_stable(), 28 M here. */
#include "base/vec.h"
#include "plan/plan.h"

struct text_key {
    str text;
    uint32_t ix;
    uint64_t head; /* the eight bytes that count at the moment */
};

#define FEW 48 /* texts for which comparing is cheaper */

static int cmp_texts(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(((const struct text_key *)a)->text, ((const struct text_key *)b)->text);
}

static size_t common_prefix(const struct text_key *k, uint32_t n, size_t from)
{
    size_t same = k[0].text.n;

    for (uint32_t i = 1; i < n && same > from; i++) {
        size_t at = from, end = MIN(same, k[i].text.n);

        while (at < end && k[i].text.p[at] == k[0].text.p[at])
            at++;
        same = at;
    }
    return same;
}

/* A text that ends within the eight bytes comes before one that goes on with zero bytes: names have none. */
static uint64_t head_at(str text, size_t from)
{
    uint64_t head = 0;

    if (from + 8 <= text.n) {
        memcpy(&head, text.p + from, 8);
        return __builtin_bswap64(head);
    }
    for (size_t i = from; i < text.n; i++)
        head |= (uint64_t)(uint8_t)text.p[i] << (56 - 8 * (i - from));
    return head;
}

static void radix_sort(struct text_key *k, struct text_key *tmp, uint32_t n)
{
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "head_at() turns the bytes round");
    uint32_t count[8][256] = {0};
    struct text_key *from = k, *to = tmp;

    for (uint32_t i = 0; i < n; i++)
        for (unsigned d = 0; d < 8; d++)
            count[d][k[i].head >> 8 * d & 255]++;
    for (unsigned d = 0; d < 8; d++) {
        if (count[d][k[0].head >> 8 * d & 255] == n)
            continue; /* all the same */
        for (uint32_t v = 0, at = 0; v < 256; v++) {
            uint32_t c = count[d][v];

            count[d][v] = at;
            at += c;
        }
        for (uint32_t i = 0; i < n; i++)
            to[count[d][from[i].head >> 8 * d & 255]++] = from[i];
        struct text_key *swap = from;
        from = to;
        to = swap;
    }
    if (from != k)
        memcpy(k, from, n * sizeof(*k));
}

/* All texts agree up to `from`. */
static void sort_from(struct text_key *k, struct text_key *tmp, uint32_t n, size_t from)
{
    if (n <= FEW) {
        sort_stable(k, n, sizeof(*k), cmp_texts, NULL);
        return;
    }
    from = common_prefix(k, n, from);
    bool longer = false;
    for (uint32_t i = 0; i < n; i++) {
        k[i].head = head_at(k[i].text, from);
        longer |= k[i].text.n > from + 8;
    }
    radix_sort(k, tmp, n);
    for (uint32_t i = 0, end; longer && i < n; i = end) {
        for (end = i + 1; end < n && k[end].head == k[i].head; end++)
            ;
        if (end - i > 1)
            sort_from(k + i, tmp, end - i, from + 8 <= k[i].text.n ? from + 8 : k[i].text.n);
    }
}

/* In byte order, stable. */
static void text_sort(struct text_key *k, uint32_t n)
{
    struct text_key *tmp = xmalloc((n + 1) * sizeof(*tmp));

    sort_from(k, tmp, n, 0);
    free(tmp);
}

void plan_sort_failures(const struct snapshot *s, struct plan *p)
{
    struct text_key *k = xmalloc((p->n_failures + 1) * sizeof(*k));
    struct plan_failure *was = xmalloc((p->n_failures + 1) * sizeof(*was));
    bool one = true;

    if (p->n_failures)
        memcpy(was, p->failures, p->n_failures * sizeof(*was));
    for (uint32_t i = 0; i < p->n_failures; i++)
        k[i] = (struct text_key){.ix = i, .text = s->pods[was[i].pod].name};
    text_sort(k, p->n_failures);
    for (uint32_t i = 0; i < p->n_failures; i++) {
        sym ns = s->pods[was[k[i].ix].pod].ns;

        one &= sym_eq(ns, s->pods[was[0].pod].ns);
        k[i].text = sym_str(s->syms, ns);
    }
    if (!one)
        text_sort(k, p->n_failures); /* stable: names stay in order */
    for (uint32_t i = 0; i < p->n_failures; i++)
        p->failures[i] = was[k[i].ix];
    free(was);
    free(k);
}
