/* Requirements in the words of events and messages (scheduling 3.4). */
#include "model/req.h"

#include <stdlib.h>

#include "base/bits.h"

#define PRINTED_VALUES 5

void req_print(struct sb *b, const struct reqspace *s, uint32_t r)
{
    const struct req *q = &s->reqs.v[r];
    const struct label_key *k = &s->keys.v[q->key];
    uint32_t n = req_raw_count(s, r), shown = 0;

    sb_str(b, sym_str(s->syms, k->name));
    sb_char(b, ' ');
    sb_c(b, req_op_name(req_op(s, r)));
    if (n) {
        uint64_t *raw = xcalloc(k->n_words, sizeof(*raw));

        req_raw(s, r, raw);
        sb_c(b, " [");
        for (BITS_EACH(v, raw, k->n_words)) {
            if (shown == PRINTED_VALUES) {
                sb_printf(b, " and %u others", n - shown);
                break;
            }
            if (shown++)
                sb_char(b, ' ');
            sb_str(b, v == k->other ? STR("(other)") : sym_str(s->syms, k->vals[v]));
        }
        sb_char(b, ']');
        free(raw);
    }
    if (q->gte != INT64_MIN)
        sb_printf(b, " >=%lld", (long long)q->gte);
    if (q->lte != INT64_MAX)
        sb_printf(b, " <=%lld", (long long)q->lte);
    if (q->min_values)
        sb_printf(b, " minValues %d", q->min_values);
}

void rs_print(struct sb *b, const struct reqspace *s, uint32_t set)
{
    bool any = false;

    for (uint32_t i = 0; i < s->sets.v[set].n; i++) {
        const struct rs_entry *e = &s->sets.v[set].e[i];

        if (sym_eq(s->keys.v[e->key].name, SYM(HOST)))
            continue;
        if (any)
            sb_c(b, ", ");
        any = true;
        req_print(b, s, e->req);
    }
}
