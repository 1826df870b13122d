/* far - a whole simulated cluster at the far end of the wire, for tests of what talks to it.
 *
 * The program under test has a process of its own in the same simulated world, an API client, and can be killed and started again. Nothing of the cluster's own
 * structs is seen here, so that they may have the names of the program's.
 */
#pragma once

#include "k8s/api.h"

struct sim;

struct far {
    struct sim *sim;
    struct world *world; /* of the program under test */
    struct api *api;
    struct arena *a;
};

struct far *far_new(uint64_t seed); /* with the definitions of deploy/crds */
void far_free(struct far *f);       /* kills the program, if that has not been done, and reaps it */
void far_kill(struct far *f);       /* the program dies; what it held is to be freed before far_start() or far_free() */
void far_start(struct far *f);      /* the next one */

void far_run(struct far *f, double seconds);
/* Runs fn in a fiber of the program until it returns; fails the test when that takes more than a minute. */
void far_do(struct far *f, void (*fn)(void *arg), void *arg);

/* See lab.h. */
void far_apply(struct far *f, const char *yaml);
str far_get(struct far *f, const char *plural, const char *name, const char *path); /* as JSON; "" when absent */
void far_patch(struct far *f, const char *plural, const char *name, const char *patch);
void far_patch_status(struct far *f, const char *plural, const char *name, const char *patch);
void far_delete(struct far *f, const char *plural, const char *name);
uint32_t far_count(struct far *f, const char *plural, const char *prefix);
str far_condition(struct far *f, const char *plural, const char *name, const char *type);
str far_events(struct far *f, const char *reason, const char *prefix);
str far_first(struct far *f, const char *plural); /* the name of the first; "" when there is none */
/* Status conditions of a Node, as its kubelet would report them from now on. */
void far_node_condition(struct far *f, const char *node, const char *type, const char *status);

/* Writes of the program since the last call, one line each: "PATCH nodes/a {…}", bodies as they were sent; Events are left out. */
str far_writes(struct far *f);
/* The next `times` requests with this method whose path ends like this are answered with this code and message and not done. */
void far_refuse(struct far *f, const char *method, const char *path_end, int code, const char *message, uint32_t times);
