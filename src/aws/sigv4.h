/* sigv4 - AWS Signature Version 4: which headers a request needs so that AWS believes who sent it.
 *
 * Pure: the time is given. The same canonical form serves those who sign and those who check (sim/aws).
 */
#pragma once

#include "base/arena.h"
#include "net/http.h"

struct aws_keys {
    str id, secret, token; /* token: empty for keys that do not expire */
};

struct sigv4_request {
    const char *method;
    str host, path, query;             /* path and query as they go over the wire, escaped */
    const struct http_header *headers; /* to be signed besides host; any case, any order, repeated ones too */
    uint32_t n_headers;
    str body; /* what the header X-Amz-Content-Sha256 says, if there is one, goes before it */
    str service, region;
    int64_t now_ms;
    bool plain_path; /* do not escape the path once more, and do not tidy it (S3's way) */
};

/* The headers to add: X-Amz-Date, X-Amz-Security-Token if there is one, Authorization. ret has room for three. */
uint32_t sigv4_sign(struct arena *a, const struct sigv4_request *r, const struct aws_keys *k,
                    struct http_header ret[3]);

/* The parts of it, for tests and for those who check a signature. signed_headers is "host;x-amz-date": small letters, sorted; the
 * headers of r have to be complete. */
str sigv4_canonical(struct arena *a, const struct sigv4_request *r, str signed_headers);
str sigv4_string_to_sign(struct arena *a, const struct sigv4_request *r, str amz_date, str canonical);
str sigv4_signature(struct arena *a, const struct sigv4_request *r, str amz_date, str secret, str string_to_sign);
str sigv4_date(struct arena *a, int64_t ms);  /* "20150830T123600Z" */
str sigv4_sha256(struct arena *a, str bytes); /* in hexadecimal digits */
