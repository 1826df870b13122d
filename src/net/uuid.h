/* uuid - random identifiers, version 4. */
#pragma once

#include "base/arena.h"
#include "net/world.h"

str uuid_new(struct arena *a, struct world *w);
