/* control - what every controller has at hand.
 *
 * A controller is one file: a pure function that decides (objects in, changed objects and a result out), the reconcile around it that carries the decision out, and a
 * x_register() that adds its queue and says which events of the store it wants to hear of. Writes go through write.h, which sends the difference and puts the answer
 * into the store at once.
 */
#pragma once

#include "cloud/cloud.h"
#include "control/manager.h"
#include "control/options.h"
#include "control/recorder.h"
#include "k8s/api.h"
#include "state/store.h"

struct feed;
struct frame;
struct overlays;
struct control_metrics;

struct control {
    struct world *world;
    struct api *api;
    struct store *store;
    struct feed *feed; /* watches into the store; decodes answers to our own writes */
    struct cloud *cloud;
    void *provider;            /* the provider's own: its make() puts it there, for its attach() */
    struct overlays *overlays; /* between c->cloud and the provider; NULL: their gate is closed */
    struct syms *syms;
    struct frame *frame; /* of all plans (plan/plan.h); NULL: each begins with nothing */
    struct manager *manager;
    struct recorder *recorder;
    struct log *log;
    struct control_metrics *metrics;
    const struct options *options;
    int64_t unsynced_us;    /* since when the store has been seen to wait for machines; 0: it does not */
    uint64_t n_for_buffers; /* NodeClaims that were made for nothing but room of capacity buffers */
};
