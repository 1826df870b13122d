/* notice - what the instance metadata service tells a machine about its end. Pure: bytes in, notices out.
 *
 * Nothing is believed before it was looked at: an answer that is too long, no JSON, without a time that can be read, or with a name that a label could not hold is malformed as a
 * whole, and nothing comes of it.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

enum notice_kind { NOTICE_SPOT, NOTICE_SCHEDULED, NOTICE_REBALANCE, NOTICE_ASG, NOTICE_KINDS };

struct notice_words { /* how others know a kind */
    const char *path; /* of IMDS */
    const char *kind, *monitor, *taint, *reason;
};

extern const struct notice_words notice_words[NOTICE_KINDS];

#define NOTICE_ID_MAX 63u /* what the value of a label or a taint may have */

struct notice {
    enum notice_kind kind;
    str id;          /* the same notice has the same one every time; good as the value of a label */
    str description; /* a sentence */
    str state;       /* of a scheduled event: "active" */
    int64_t start_ms, end_ms;
    bool restarts; /* a scheduled event after which the machine comes back */
    bool over;     /* a scheduled event that was cancelled, or is completed */
};

struct notices {
    struct notice *v;
    uint32_t n;
};

/* What the service has answered (not: 404, there is nothing). Strings live in the arena. now_ms: for notices that name no time. */
bool notices_read(struct arena *a, enum notice_kind k, str text, int64_t now_ms, struct notices *ret, struct err *e);
