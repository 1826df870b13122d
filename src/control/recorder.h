/* recorder - Events (lifecycle 11): what people see in `kubectl describe`.
 *
 * An event that was published a while ago with the same key is dropped. What remains goes through the rules of the client library: a repeat of an Event becomes a count in it, a flood about
 * one object is cut off (25 at once, then one every five minutes), ten or more alike within ten minutes are put together. Sending happens in the background and is never waited for;
 * when the server is away, the oldest are lost first.
 */
#pragma once

#include "k8s/api.h"
#include "obs/log.h"

struct recorder;

struct event_object {
    const struct api_kind *kind;
    str ns, name, uid; /* all but kind may be empty */
    str resource_version;
};

struct event {
    struct event_object object;
    bool warning;
    const char *reason;
    str message;
    const str *dedupe; /* values that make the key, with the reason; none: never dropped here */
    uint32_t n_dedupe;
    int64_t dedupe_ms; /* 0: 2 min */
    bool limited;      /* counts against the limit that all such events share: 5 a second, burst 10 (Nominated) */
};

struct recorder *recorder_new(struct api *c, str component, struct log *l); /* component is copied */
/* What was not sent is lost. While one is being sent, the recorder and what it was given must last until the world is dead and has unwound, or recorder_waiting() is 0. */
void recorder_free(struct recorder *r);
AUTO_DEFINE(recorder)
/* From now on every Event names the host that it comes from, and has these annotations (a map of strings; may be NULL). Copies. */
void recorder_sign(struct recorder *r, str host, const struct tree *annotations);
void recorder_publish(struct recorder *r, const struct event *ev); /* copies */
/* Whether an event of this reason and key would be dropped now, because it was published a while ago. */
bool recorder_knows(struct recorder *r, const char *reason, const str *dedupe, uint32_t n_dedupe);
/* Until when it would be, of the monotonic clock; a time that has passed: it would not. */
int64_t recorder_knows_until(struct recorder *r, const char *reason, const str *dedupe, uint32_t n_dedupe);
/* While it is muted, what is published is forgotten: a replica that does not lead sees all that happens, and says nothing. */
void recorder_mute(struct recorder *r, bool muted);
uint32_t recorder_waiting(const struct recorder *r); /* not sent yet; for shutdown and tests */
