/* interruption_message - what a message of the interruption queue says: news of EventBridge about machines (aws 7.3.1).
 *
 * Pure: bytes in, a kind and the machines it is about out. What is not about machines is INTERRUPTION_NONE; what is no message at all is an error.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#define INTERRUPTION_MAX_BYTES (1u << 20) /* SQS takes no larger message */

enum interruption_kind {
    INTERRUPTION_NONE,
    INTERRUPTION_SPOT,
    INTERRUPTION_REBALANCE,
    INTERRUPTION_STOPPED,
    INTERRUPTION_TERMINATED,
    INTERRUPTION_SCHEDULED_CHANGE,
    INTERRUPTION_RESERVATION,
    /* These are found by asking for the status of machines (aws 7.4), and in no message. */
    INTERRUPTION_INSTANCE_STATUS,
    INTERRUPTION_SYSTEM_STATUS,
    INTERRUPTION_EVENT_STATUS,
    INTERRUPTION_KINDS,
};

struct interruption {
    enum interruption_kind kind;
    const str *instances; /* none for INTERRUPTION_NONE */
    uint32_t n;
    int64_t at_ms; /* when it happened; INT64_MIN: not said */
};

/* "spot_interrupted": as metrics name it. */
const char *interruption_kind_name(enum interruption_kind k);

/* ret lives in the arena; the body may go. */
bool interruption_parse(struct arena *a, str body, struct interruption *ret, struct err *e);
