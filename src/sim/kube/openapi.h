/* openapi - the documents in which an API server describes its kinds: /openapi/v3, /openapi/v3/apis/GROUP/VERSION, /openapi/v2.
 *
 * kubectl reads them to explain kinds, to find out what a request may ask for (dryRun, fieldValidation), and to make patches. All are
 * JSON, made anew from the kinds at every call; callers keep them while the kinds stay the same. Custom kinds bring the descriptions of
 * their definitions, built-in ones have none.
 */
#pragma once

#include "base/sb.h"
#include "base/str.h"

struct kind;

/* /openapi/v3: where the document of every group and version is. The address changes whenever its content does. */
void openapi_index(struct sb *out, const struct kind *const *kinds, uint32_t n, str version);
/* /openapi/v3/apis/GROUP/VERSION, /openapi/v3/api/v1. False when no kind is of that group and version. */
bool openapi_v3(struct sb *out, const struct kind *const *kinds, uint32_t n, str group, str group_version, str version);
/* /openapi/v2: all kinds in one document, Swagger 2.0. `version` is that of the server, "v1.36.3". */
void openapi_v2(struct sb *out, const struct kind *const *kinds, uint32_t n, str version);
/* The same address in protobuf, the only form in which kubectl takes it. It looks there for kinds that /openapi/v3 does not have,
 * and there are none: the document names the server and no kinds. */
void openapi_v2_protobuf(struct sb *out, str version);
