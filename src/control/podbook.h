/* podbook - when a pod that waits for a place was first seen, and first had an answer (lifecycle 2.9). For metrics only; forgotten with the pod. */
#pragma once

#include "base/str.h"

struct podbook;

struct pod_times {           /* milliseconds since 1970; 0: has not happened */
    int64_t acked_ms;        /* first seen waiting */
    int64_t decided_ms;      /* first placed or refused */
    int64_t schedulable_ms;  /* first placed; forgotten when it is refused */
    int64_t healthy_pool_ms; /* first placed on a pool whose nodes register */
};

struct podbook *podbook_new(void);
void podbook_free(struct podbook *b);
AUTO_DEFINE(podbook)

struct pod_times podbook_get(const struct podbook *b, str uid); /* zeroes for a pod nobody told of */
void podbook_ack(struct podbook *b, str uid, int64_t now_ms);
/* A round has an answer. True the first time, for a pod that was acked before. */
bool podbook_refused(struct podbook *b, str uid, int64_t now_ms);
bool podbook_placed(struct podbook *b, str uid, bool healthy_pool, int64_t now_ms);
void podbook_forget(struct podbook *b, str uid);
