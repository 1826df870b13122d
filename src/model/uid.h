/* uid - the unique id of an object, as API servers make them: a UUID, held in 16 bytes instead of 36 and a pointer.
 *
 * Whatever else somebody has written as a uid is a reference to its text, which has to live as long. The two are told apart by the variant bits that every UUID
 * has, so that equal texts have equal values, and order is that of the texts. Zero is the empty uid.
 */
#pragma once

#include "base/str.h"

struct uid {
    uint64_t hi, lo; /* the number; or address and length of the text */
};

#define UID_TEXT 36u

struct uid uid_of(str text);

static inline bool uid_is_number(struct uid u)
{
    return u.lo >> 62 == 2;
}

static inline bool uid_some(struct uid u)
{
    return u.lo != 0;
}

/* Numbers are written into `room`. */
str uid_text(struct uid u, char room[UID_TEXT]);
/* For the rest of the block that it stands in. */
#define UID_STR(u) uid_text((u), (char[UID_TEXT]){0})

bool uid_eq(struct uid a, struct uid b);
int uid_cmp(struct uid a, struct uid b);
/* The first eight bytes of the text as a number: orders most pairs without looking at their text. */
uint64_t uid_key(struct uid u);
uint64_t uid_hash(struct uid u, uint64_t seed);
