/* amounts - quantities as text, compared: for who has no use for symbols. */
#pragma once

#include "base/str.h"

int amount_cmp(str a, str b); /* <0, 0, >0; what is no quantity counts as nothing */
