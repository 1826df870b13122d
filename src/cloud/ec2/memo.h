/* memo - answers that are remembered for a while, by a text (aws 3.4).
 *
 * Each answer has an arena of its own. What memo_get() returns is good until the same key is put or dropped, so nobody keeps it across anything that parks. What has
 * run out is not seen any more and goes with the next sweep, which memo_put() does once a minute.
 */
#pragma once

#include "base/arena.h"
#include "base/htab.h"
#include "cloud/ec2/turns.h"

struct memo {
    struct htab table;
    int64_t swept_ms;
    struct turns asking; /* by key: who finds nothing and is about to find out */
};

void memo_fini(struct memo *m);
const void *memo_get(const struct memo *m, str key, int64_t now_ms); /* NULL: not known, or not any more */
/* An arena for the new answer, which is set by memo_set(); an old one is gone. */
struct arena *memo_put(struct memo *m, str key, int64_t now_ms, int64_t for_ms);
void memo_set(struct memo *m, str key, const void *value); /* after memo_put() */
/* A text as the answer, copied. */
void memo_put_text(struct memo *m, str key, str value, int64_t now_ms, int64_t for_ms);
str memo_text(const struct memo *m, str key, int64_t now_ms); /* an empty text is no answer */
void memo_drop(struct memo *m, str key);                      /* fine when it is not there */
void memo_drop_prefix(struct memo *m, str prefix);
/* Every key that is known now, in byte order, in the arena. */
uint32_t memo_keys(const struct memo *m, struct arena *a, int64_t now_ms, str **ret);
