/* reflector - keeps somebody's copy of one kind equal to the server's: lists, watches, resumes, lists again.
 *
 * It asks for a streamed list (watch with sendInitialEvents); a server that does not have it is listed in pages and watched from
 * there. Objects are handed over one at a time and never held: after a list whoever keeps the copy forgets what was not mentioned. A
 * watch is renewed from its last event or bookmark; after 410 the list is made again; failures back off with jitter (800 ms to 30 s).
 * Copies never go back in time: lists are asked for as of now. The same event may come twice.
 */
#pragma once

#include "k8s/api.h"

struct reflector;

/* Called on the loop (on_error from a fiber), never from inside reflector_new(). Trees are valid during the call, which must not park
 * and may free the reflector. Every object says its kind and apiVersion. */
struct reflector_events {
    void *ctx;
    /* What follows up to on_list_end is everything there is, less what goes meanwhile. A list that breaks off begins again. */
    void (*on_list_begin)(void *ctx);
    void (*on_object)(void *ctx, struct tree *obj); /* there, or changed; may be edited */
    void (*on_gone)(void *ctx, const struct tree *obj);
    void (*on_list_end)(void *ctx);
    void (*on_error)(void *ctx,
                     const struct err *e); /* for the log; it goes on by itself. NULL: nobody wants to know */
};

struct reflector_options {
    str field_selector; /* empty: everything */
    bool no_streamed_lists;
};

struct reflector *reflector_new(struct api *c, const struct api_kind *k, const struct reflector_options *o,
                                const struct reflector_events *ev);
void reflector_free(struct reflector *r); /* no callback comes any more; its fiber ends soon (api_free()) */
AUTO_DEFINE(reflector)

bool reflector_synced(const struct reflector *r); /* a list has been handed over once */
