/* b64 - base64 (RFC 4648): padded in the standard alphabet, or in that of urls without padding. */
#pragma once

#include "base/sb.h"

void b64_encode(struct sb *out, str bytes);
void b64url_encode(struct sb *out, str bytes);
/* Either alphabet, with padding or without. false: not base64. */
bool b64url_decode(struct sb *out, str text);
