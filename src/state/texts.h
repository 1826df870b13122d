/* texts - many short texts that come and go, packed without gaps. Inner header of state/.
 *
 * Texts are laid down one after the other. Nothing is freed on its own; when more is dead than alive, the owner lays
 * down everything that lives anew, and lets the old pages go.
 */
#pragma once

#include "base/str.h"
#include "base/vec.h"

struct texts {
    VEC(char *) pages;
    size_t used;       /* of the last page */
    size_t live, dead; /* bytes */
};

void texts_fini(struct texts *t);
/* Both, one behind the other; empty ones too. */
char *texts_add(struct texts *t, str a, str b);
void texts_drop(struct texts *t, size_t n); /* bytes of texts that nobody needs any more */
bool texts_want_packing(const struct texts *t);
size_t texts_bytes(const struct texts *t);
