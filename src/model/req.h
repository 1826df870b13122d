/* req - requirements on labels as sets of small integers, and what can be done with them (scheduling 3).
 *
 * First every key and value that anybody mentions is announced, then the
 * space is frozen: each key has dense value numbers in byte order of their text, so the lowest bit is the first
 * value in any listing. After that requirements and requirement sets are hash-consed: equal content has an equal
 * number, and intersecting or comparing two of them is remembered by number. A set never changes.
 *
 * The hostname key has no end, so it holds only the hostnames that somebody names, plus one value that stands for
 * all others (key->other).
 */
#pragma once

#include "base/map.h"
#include "base/sb.h"
#include "base/vec.h"
#include "model/labels.h"

#define KEY_NONE UINT32_MAX
#define VAL_NONE UINT32_MAX
#define REQ_NONE UINT32_MAX /* no requirement on the key */
#define RS_EMPTY 0u

struct label_key {
    sym name;
    uint32_t n_vals, n_words;
    sym *vals;        /* in byte order of their text */
    int64_t *ints;    /* the value as a number; meaningful where is_int */
    uint64_t *is_int; /* bit set */
    uint32_t *single; /* In [value] as a requirement; REQ_NONE: not asked for yet */
    uint32_t other;   /* hostname only: stands for every value nobody named; else VAL_NONE */
    bool well_known;
};

/* What one label key may be. Bit i of `allow` stands for value i of that key. */
struct req {
    uint64_t *allow;    /* key->n_words words */
    int64_t gte, lte;   /* INT64_MIN, INT64_MAX when absent; kept on open sets only */
    int32_t min_values; /* 0 when absent */
    bool open;          /* values nobody named are fine too: NotIn, Exists, Gt, Lt */
    uint32_t key;
};

struct rs_entry {
    uint32_t key, req;
};

struct rs { /* entries sorted by key */
    struct rs_entry *e;
    uint32_t n;
};

struct reqspace {
    struct arena *arena;
    const struct syms *syms;
    const struct label_rules *rules;
    bool frozen;
    bool lacks; /* something was announced after freezing that is not there */
    VEC(struct label_key) keys;
    VEC(struct req) reqs;
    VEC(struct rs) sets;
    /* private to req.c */
    struct u64map key_of_sym, val_of_pair, intersect_memo, union_memo, add_memo, compat_memo[3];
    VEC(struct label) announced;
    struct rs_entry *draft; /* [keys]: the set that is being put together */
    struct u64map req_hash, set_hash;
};

void reqspace_init(struct reqspace *s, struct arena *a, const struct syms *syms, const struct label_rules *rules);
void reqspace_fini(struct reqspace *s);

/* Before freezing; afterwards they ask whether all of it is there (`lacks`), and change nothing. */
void reqspace_key(struct reqspace *s, sym key);
void reqspace_value(struct reqspace *s, sym key, sym val); /* announces the key too */
void reqspace_expr(struct reqspace *s, const struct req_expr *x);
void reqspace_freeze(struct reqspace *s);

/* Afterwards. */
uint32_t space_key(const struct reqspace *s, sym key);               /* KEY_NONE when nobody named it */
uint32_t space_val(const struct reqspace *s, uint32_t key, sym val); /* VAL_NONE when nobody named it */

uint32_t req_of(struct reqspace *s, const struct req_expr *x);
uint32_t req_in(struct reqspace *s, uint32_t key, const uint64_t *allow); /* In, by value numbers */
uint32_t req_one(struct reqspace *s, uint32_t key, uint32_t val);         /* In [val] */
uint32_t req_intersect(struct reqspace *s, uint32_t a, uint32_t b);
uint32_t req_set_min_values(struct reqspace *s, uint32_t r, int32_t min_values);
bool req_intersects(const struct reqspace *s, uint32_t a, uint32_t b);
bool req_has(const struct reqspace *s, uint32_t r, uint32_t val); /* REQ_NONE has everything */
enum req_op req_op(const struct reqspace *s, uint32_t r);         /* In, NotIn, Exists or DoesNotExist */
uint32_t req_raw_count(const struct reqspace *s, uint32_t r);
/* The listed values: members of a concrete set, exclusions of an open one. `out` has key->n_words words. */
void req_raw(const struct reqspace *s, uint32_t r, uint64_t *out);
bool req_is_single(const struct reqspace *s, uint32_t r, uint32_t *ret_val); /* In with exactly one value */
void req_print(struct sb *b, const struct reqspace *s, uint32_t r);          /* "key In [A B]" */

uint32_t rs_get(const struct reqspace *s, uint32_t set, uint32_t key); /* REQ_NONE when absent */
uint32_t rs_add(struct reqspace *s, uint32_t set, uint32_t req);       /* intersects with what is there */
uint32_t rs_put(struct reqspace *s, uint32_t set, uint32_t req);       /* replaces what is there */
uint32_t rs_union(struct reqspace *s, uint32_t a, uint32_t b);         /* adds every requirement of b to a */
uint32_t rs_of_exprs(struct reqspace *s, const struct req_expr *x, uint32_t n);
uint32_t rs_of_known(struct reqspace *s, const struct req_expr *x,
                     uint32_t n); /* of those whose keys are in the space */
/* One In per label whose key is in the space. */
uint32_t rs_of_labels(struct reqspace *s, const struct label *labels, uint32_t n);

enum compat { COMPAT_STRICT, COMPAT_LENIENT, COMPAT_INTERSECTS };

/* Can something described by `have` satisfy `want`? Lenient: well-known keys may be undefined in `have`; intersects:
 * every key may (scheduling 3.5). */
bool rs_compatible(struct reqspace *s, uint32_t have, uint32_t want, enum compat mode);
/* The key that makes rs_compatible() say no, the first in byte order of its text; undefined: `have` does not define it. */
uint32_t rs_incompatible_key(struct reqspace *s, uint32_t have, uint32_t want, enum compat mode, bool *ret_undefined);
void rs_print(struct sb *b, const struct reqspace *s, uint32_t set); /* all of it, by key text, hostname left out */
bool rs_has_min_values(const struct reqspace *s, uint32_t set);
