/* feed - the way of objects into the store: from the watches, and from the answers to our own writes.
 *
 * An object that cannot be read stops nobody. It is reported once; of the kinds that are kept with their text it stays
 * reachable, so that its condition can say what is wrong, and nothing of it counts in a plan. A pod that cannot be read and
 * runs is there as one that must not be disrupted.
 */
#pragma once

#include "cloud/cloud.h"
#include "data/tree.h"
#include "k8s/api.h"
#include "k8s/one.h"
#include "state/store.h"

struct feed;

struct feed_options {
    struct store *store;               /* outlives the feed */
    const struct cloud_class *classes; /* kinds of node classes to watch; outlive the feed */
    uint32_t n_classes;
    bool owners;  /* Services and controllers too: default spread constraints ask for their selectors */
    bool buffers; /* CapacityBuffers and PodTemplates too */
    bool overlays;
    void *ctx;
    /* e says what is wrong: with an object, or (name empty) with the watch of a kind, which goes on by itself. */
    void (*on_error)(void *ctx, enum object_kind kind, str ns, str name, const struct err *e);
    void (*on_listed)(void *ctx); /* every kind has been listed once, and the store knows; NULL: nobody asks */
};

struct feed *feed_new(const struct feed_options *o);
void feed_free(struct feed *f);
AUTO_DEFINE(feed)

/* Starts the watches. Once. */
void feed_watch(struct feed *f, struct api *c);
bool feed_listed(const struct feed *f); /* every kind has been listed once */

/* One object as it is now. */
void feed_put(struct feed *f, enum object_kind kind, const struct tree *obj);
void feed_gone(struct feed *f, enum object_kind kind, const struct tree *obj);
/* What the pods of a workload look like, as a struct workload; the box is the caller's. Its spec is one of the store's, and good until the next object comes. */
bool feed_read_template(struct feed *f, const struct tree *workload, struct decoded *ret, struct err *e);
/* The answer to a write of our own. One that has nothing left to wait for (deleted, without finalizers) is gone. */
void feed_answer(struct feed *f, enum object_kind kind, const struct tree *obj);
