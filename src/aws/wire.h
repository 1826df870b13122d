/* wire - answers of AWS into structs, told by tables: which element goes into which field (aws 3.2).
 *
 * A path leads from the value at hand to others: names with '/' between them; "[]" after a name is every member of a list: reservationSet[]/instancesSet[].
 * Whatever is missing on the way is nothing: an empty text, 0, no members; an empty element counts as missing, because that is how XML writes an empty list. Something
 * else than what the table says is an error that names action, place and path. Numbers are never negative, lists are bounded.
 *
 * Texts are copied into the arena of the results, equal ones once: answers say the same few thousand words over and over, and trees are many times their size.
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "data/tree.h"

#define WIRE_MAX_ITEMS (1u << 20) /* members of one list */
#define WIRE_MAX_PAGES 10000u

struct wire {
    struct arena *a;    /* of the results */
    const char *action; /* for messages */
    struct err *e;
    const char *path; /* of the field at hand; private, as is what follows */
    struct strmap text_ix;
    VEC(str) texts;
};

void wire_fini(struct wire *w);

enum wire_kind {
    WIRE_TEXT,
    WIRE_I32,
    WIRE_I64,
    WIRE_DOUBLE,
    WIRE_PRICE, /* double: NAN when it is missing or cannot be read */
    WIRE_BOOL,
    WIRE_THERE, /* bool: the element is there, and not empty */
    WIRE_TIME,  /* RFC 3339; milliseconds, INT64_MIN when missing */
    WIRE_DATE,  /* the same, INT64_MIN too when it cannot be read: AWS hands these through as text */
    WIRE_EPOCH, /* the same, written as a number of seconds */
    WIRE_TEXTS, /* str *, and a uint32_t at n_at */
    WIRE_LIST,  /* array of `shape`, and a uint32_t at n_at */
    WIRE_PART,  /* a struct of `shape` in place */
};

struct wire_shape;

struct wire_field {
    const char *path;
    enum wire_kind kind;
    uint16_t at, n_at; /* offsets */
    const struct wire_shape *shape;
};

struct wire_shape {
    uint32_t size, n_fields;
    const struct wire_field *fields;
    /* What a table cannot say; may be NULL. */
    bool (*more)(struct wire *w, const struct tree *t, void *ret);
};

/* clang-format off */
#define WIRE_SHAPE(T, table, ...) {.size = sizeof(struct T), .n_fields = ARRAY_LEN(table), .fields = (table), __VA_ARGS__}
#define WIRE(T, member, k, p) {.path = (p), .kind = (k), .at = offsetof(struct T, member)}
#define WIRE_COUNTED(T, member, count, k, p, ...) {.path = (p), .kind = (k), .at = offsetof(struct T, member), .n_at = offsetof(struct T, count), __VA_ARGS__}
#define WIRE_MANY(T, member, k, p, ...) WIRE_COUNTED(T, member, n_##member, k, p, __VA_ARGS__)
#define WIRE_PART_OF(T, member, p, s) {.path = (p), .kind = WIRE_PART, .at = offsetof(struct T, member), .shape = (s)}
/* clang-format on */

/* Fields that the table does not name stay as they are. */
bool wire_read(struct wire *w, const struct wire_shape *s, const struct tree *t, void *ret);

/* The values that a path leads to, gathered over pages. */
struct wire_items {
    void *v;
    uint32_t n, cap;
};

bool wire_gather(struct wire *w, const struct wire_shape *s, const char *path, const struct tree *t,
                 struct wire_items *into);
/* An exact-size array in the results' arena; the items are gone. */
void *wire_keep(struct wire *w, const struct wire_shape *s, struct wire_items *items, uint32_t *ret_n);
void wire_drop(struct wire_items *items);

str wire_text(struct wire *w, str s); /* a copy in the arena */
/* One text at a path without lists; empty when missing. */
bool wire_find(struct wire *w, const struct tree *t, const char *path, str *ret);

/* Pages: which one comes next. Zeroed it stands before the first. */
struct wire_pages {
    str token; /* empty: the first page, or there is none any more */
    struct strmap seen;
    uint32_t n;
};

/* After a page that named this token for the next one; empty: it was the last. false: AWS goes round in circles. */
bool wire_turn(struct wire *w, struct wire_pages *p, str token);
void wire_pages_fini(struct wire_pages *p);
