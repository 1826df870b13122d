/* b64 - base64 (RFC 4648, standard alphabet, padded). */
#pragma once

#include "base/arena.h"
#include "base/sb.h"

void b64_encode(struct sb *out, str bytes);
/* Line feeds between groups are skipped, as in PEM; anything else out of place is false. */
bool b64_decode(struct arena *a, str text, str *ret);
/* b64 - base64 in the alphabet of urls, without padding (RFC 4648, section 5). */
void b64url_encode(struct sb *out, str bytes);
/* Padding and the alphabet of plain base64 are taken too. false: not base64. */
bool b64url_decode(struct sb *out, str text);
