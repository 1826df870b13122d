/* stage - a rig (rig.h) with one NodePool, and a diary of what becomes of its machines: who is tainted, who is told to go and why, in order.
 *
 * Claims are called c1, c2, … in the order in which they were made, their Nodes n1, n2, …
 */
#pragma once

#include "support/fleet.h"

struct stage {
    struct rig *r;
    struct sb diary;             /* lines: "12.3 n1 tainted" */
    VEC(str) claims;             /* names, in order */
    uint32_t n_going, max_going; /* Nodes that are tainted or on their way out, now and ever */
    uint32_t n_nodes;
};

/* The rig has replica 0 running. `env` as in rig_new(), on top of debug logs and no leader election. */
struct stage *stage_new(const char *const *env);
void stage_free(struct stage *s);

/* NodePool `default` of on-demand machines. disruption: what is in spec.disruption; more: of spec; both as YAML. */
void stage_pool(struct stage *s, const char *disruption, const char *more);
void stage_deploy(struct stage *s, const char *name, uint32_t replicas, const char *cpu);
/* The same with more in the pods' spec, as YAML's flow style: "hostNetwork: true". */
void stage_deploy_with(struct stage *s, const char *name, uint32_t replicas, const char *cpu, const char *more);
/* All of so many pods run, on so many machines that are ready, and nothing is on its way out. Fails the test otherwise. */
void stage_wait(struct stage *s, double seconds, uint32_t pods, uint32_t nodes);
/* Until a line of the diary ends like this. */
void stage_until(struct stage *s, double seconds, const char *line);
bool stage_saw(const struct stage *s, const char *line);

str stage_claim(const struct stage *s, uint32_t i); /* c1 is 1 */
str stage_node(struct stage *s, uint32_t i);
/* The diary without times; what was there is forgotten. Good until the next line. */
str stage_story(struct stage *s);
/* Lines of the log with this message, each as the members of the line from `from` on. Names become c1, n1. */
str stage_logged(struct stage *s, const char *message, const char *from);
uint32_t stage_log_count(const struct stage *s, const char *message);
/* Events with this reason: "OBJECT: MESSAGE", in order of object. */
str stage_events(struct stage *s, const char *reason);
double stage_metric(struct stage *s, const char *series); /* name{labels} as printed; -1: it is not there */
