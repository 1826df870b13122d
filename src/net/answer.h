/* answer - the head of an answer while it comes in: names, values, and how much of it there may be. */
#pragma once

#include "net/world_int.h"

struct answer {
    struct sb text;   /* names and values, one after the other */
    VEC(size_t) ends; /* where each of them ends */
    size_t bytes;     /* of all there was, interim answers included */
    int status;
    bool done; /* it has been handed over */
};

void answer_begin(struct answer *a, int status);        /* what was before belongs to an interim answer */
bool answer_add(struct answer *a, str name, str value); /* false: longer than HTTP_MAX_HEAD */
void answer_complete(struct answer *a, struct http_call *c);
bool answer_too_long(struct err *e); /* false, always */
void answer_fini(struct answer *a);
