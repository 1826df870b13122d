/* owners - who owns which fields of an object, as a text: A: .spec.num .spec.set[="a"]; B*: .spec.s */
#pragma once

#include "data/tree.h"

/* In the order of metadata.managedFields. A star marks updates; a subresource follows after a slash. */
str owners_text(struct arena *a, const struct tree *obj);
