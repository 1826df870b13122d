/* err - what went wrong in the world outside: a kind for the program, a sentence for people.
 *
 * Functions that can fail return bool and take `struct err *e` last, never NULL; e is written on failure only.
 */
#pragma once

#include "base/base.h"

enum err_kind {
    ERR_NONE = 0,
    ERR_INVALID,   /* can never succeed: report it, do not retry */
    ERR_NOT_FOUND, /* usually means "already done" */
    ERR_CONFLICT,  /* read again, decide again */
    ERR_GONE,      /* the watch window has passed: list again */
    ERR_THROTTLED, /* back off, keep the request */
    ERR_CAPACITY,  /* the cloud has none: try another offering */
    ERR_DENIED,
    ERR_TIMEOUT,
    ERR_IO,
};

/* The call to a service that failed, for those who look for it in that service's own records. */
struct err_call {
    const char *peer; /* whose service: "aws"; NULL: it was none */
    const char *service, *operation;
    int status;       /* of HTTP; 0: no answer came */
    char request[64]; /* the service's name for the call; may be empty */
};

struct err {
    enum err_kind kind;
    char code[64]; /* the peer's own word: "InsufficientInstanceCapacity" */
    char msg[400]; /* outermost context first */
    struct err_call call;
};

/* Both return false, so that a failing function ends in one line. */
PRINTF(3, 4) bool err_set(struct err *e, enum err_kind kind, const char *fmt, ...);
PRINTF(2, 3) bool err_wrap(struct err *e, const char *fmt, ...);
