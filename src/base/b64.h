/* b64 - base64 in the alphabet of urls, without padding (RFC 4648, section 5). */
#pragma once

#include "base/sb.h"

void b64url_encode(struct sb *out, str bytes);
/* Padding and the alphabet of plain base64 are taken too. false: not base64. */
bool b64url_decode(struct sb *out, str text);
