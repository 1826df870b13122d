/* lab - a whole simulated cluster for tests: an API server with everything behind it, in virtual time.
 *
 * For cmocka_unit_test_setup_teardown(test, lab_setup, lab_teardown); *state is the lab. Objects are made from YAML, in namespace "default"
 * unless they say another.
 */
#pragma once

#include "sim/kube/cluster.h"
#include "support/kube_server.h"

struct lab {
    struct server *s;
    struct cluster *c;
    struct arena *a;
};

int lab_setup(void **state);
int lab_teardown(void **state);
struct lab *lab_new(uint64_t seed, const struct cluster_options *o);
void lab_free(struct lab *l);

void lab_apply(struct lab *l, const char *yaml); /* several documents; fails the test when one is refused */
void lab_run(struct lab *l, double seconds);
/* Nodes n0 … with 4 cpu, 16Gi, 110 pods, zones a, b, c in turn; lab_run() until they are ready. */
void lab_nodes(struct lab *l, uint32_t n);

/* A member of an object ("status.phase", see server_field()); names of other namespaces are "ns/name". */
str lab_get(struct lab *l, const char *plural, const char *name, const char *path);
void lab_patch(struct lab *l, const char *plural, const char *name, const char *patch); /* a merge patch */
void lab_patch_status(struct lab *l, const char *plural, const char *name, const char *patch);
void lab_delete(struct lab *l, const char *plural, const char *name);
/* Pods of a namespace whose name starts with a prefix, one line each, sorted: "NAME PHASE NODE". */
str lab_pods(struct lab *l, const char *prefix);
uint32_t lab_count(struct lab *l, const char *plural, const char *prefix);
/* The condition of an object as "STATUS REASON: MESSAGE". */
str lab_condition(struct lab *l, const char *plural, const char *name, const char *type);
/* Messages of the events with this reason about objects whose name starts with the prefix, one line each, each once. */
str lab_events(struct lab *l, const char *reason, const char *prefix);
