/* turns - one fiber at a time for each key, the others wait in the order in which they came.
 *
 * Who asks AWS for what others are about to ask for holds the turn of that question meanwhile; whoever gets it next finds the answer remembered. A turn belongs to the stack of
 * the fiber that takes it, and its key to whoever owns the key.
 */
#pragma once

#include "base/str.h"
#include "base/vec.h"
#include "net/fiber.h"

struct turn {
    struct fiber *fiber;
    str key;
    bool holds;
};

struct turns {
    VEC(struct turn *) v; /* of each key the first one holds it */
};

void turns_fini(struct turns *t); /* nobody holds one, nobody waits */
/* From a fiber; parks. false: the world has died before, and there is nothing to give back. */
bool turns_take(struct turns *t, struct world *w, str key, struct turn *mine);
void turns_give(struct turns *t, struct turn *mine);
