/* protocol - a call as bytes, and an answer as a tree: the protocols that AWS's services speak (aws 3.1). */
#pragma once

#include "aws/aws.h"

#define PROTOCOL_MAX_HEADERS 6u

struct protocol_request {
    const char *method;
    str path, body;
    struct http_header headers[PROTOCOL_MAX_HEADERS]; /* to be signed */
    uint32_t n_headers;
};

bool protocol_is_form(enum aws_service s); /* bodies are forms; JSON otherwise */
void protocol_write(struct arena *a, const struct aws_call *call, struct protocol_request *ret);
/* Of an answer with a good status. Strings of the tree live in the arena. */
bool protocol_read(struct arena *a, enum aws_service s, const struct http_response *r, struct tree **ret,
                   struct err *e);
/* Of another: AWS's code and message, or something in their place; and its name for the call, if it has told one. */
void protocol_read_error(struct arena *a, enum aws_service s, const struct http_response *r, str *ret_code,
                         str *ret_message, str *ret_request);
