/* packed - a text as what it has in common with another one, and what it has not. Inner header of state/.
 *
 * Objects of one kind look alike: of the text of a Node nine tenths stand in that of any other. A packed text is a list of
 * steps: so many bytes of its own, then so many bytes of the other text from such a place on.
 */
#pragma once

#include "base/sb.h"

#define PACK_SLOTS 4096u

/* Where what stands in a text: made once for all that are packed against it. */
struct places {
    uint32_t at[PACK_SLOTS]; /* + 1, by the eight bytes from there on; 0: nowhere */
};

void places_of(struct places *p, str like);

/* Appends `text`, packed. Whoever unpacks it needs `like` as it is. places: those of `like`. */
void pack(struct sb *out, str text, str like, const struct places *places);
/* Exactly as many bytes as were packed. `packed` is ours: what is not trips an assertion. */
void unpack(char *out, size_t n, str packed, str like);
