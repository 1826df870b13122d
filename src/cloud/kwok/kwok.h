/* kwok - the provider for clusters whose machines are only Node objects (https://kwok.sigs.k8s.io), of which kwok plays the kubelets.
 *
 * A launch picks the cheapest offering, answers at once, and creates the Node in the background after the delay that the node class asks for. Everything
 * about the machine follows from the claim and the catalogue, so that a launch that is repeated, also by another process, finds the Node of the first.
 * There is nothing behind the Nodes: what is deleted is gone.
 */
#pragma once

#include "cloud/cloud.h"
#include "data/tree.h"
#include "k8s/api.h"

/* The Nodes that are there, as whoever watches them knows: this layer keeps no copy, and asking the server for each would be slow. */
typedef void (*kwok_each_fn)(void *arg, str provider_id, bool deleting);

struct kwok_nodes {
    void *ctx;
    struct tree *(*get)(void *ctx, struct arena *a, str name); /* NULL: there is none */
    void (*each)(void *ctx, kwok_each_fn fn, void *arg);
};

struct kwok_options {
    struct api *api;
    struct syms *syms;
    const char *instance_types_path; /* a file for k8s/itypes.h; NULL: the built-in list */
    struct kwok_nodes nodes;
    /* A Node could not be created; it is tried again unless `given_up`. For the log; NULL: nobody wants to know. */
    void (*on_error)(void *ctx, str node, bool given_up, const struct err *e);
    void *ctx;
};

/* NULL: the file is not good. Freed by its own free(); Nodes on their way are then not created any more. */
struct cloud *kwok_new(const struct kwok_options *o, struct err *e);
