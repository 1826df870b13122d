/* b64 - base64 (RFC 4648, standard alphabet, padded). */
#pragma once

#include "base/arena.h"
#include "base/sb.h"

void b64_encode(struct sb *out, str bytes);
/* Line feeds between groups are skipped, as in PEM; anything else out of place is false. */
bool b64_decode(struct arena *a, str text, str *ret);
