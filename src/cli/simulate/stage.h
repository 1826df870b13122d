/* stage - a simulated cluster with the controller beside it: API server, scheduler, kubelets and workload controllers of sim/kube in one process of the
 * simulated world, the autoscaler in another, HTTP between them.
 *
 * The clock stands at the beginning of the simulation minus STAGE_SETUP_US when the stage is made: what a cluster has before anything happens is
 * applied then, and stage_open() runs until the controller acts and the clock has reached the beginning.
 */
#pragma once

#include "cli/simulate/stage_controller.h"
#include "data/tree.h"
#include "sim/kube/cluster.h"
#include "sim/world.h"

#define STAGE_SETUP_US (120 * INT64_C(1000000))

struct stage {
    struct sim *sim;
    struct world *servers, *mind; /* the cluster's process, the controller's */
    struct kube *kube;
    struct cluster *cluster;
    struct stage_controller *controller;
    struct arena *arena; /* scratch of one write */
};

struct stage_setup {
    uint64_t seed;
    int64_t start_ms; /* the wall clock at the beginning */
    struct span node_ready, pod_start;
    const struct cli_env *env;
    const char *const *settings; /* KEY=VALUE of the controller */
    uint32_t n_settings;
    void (*on_line)(void *ctx, str line); /* of the controller's log; may be NULL */
    void *ctx;
};

struct stage *stage_new(const struct stage_setup *s, struct err *e);
/* Until the beginning; the controller starts here, so that it finds what was applied before. */
bool stage_open(struct stage *s, const struct stage_setup *setup, struct err *e);
void stage_free(struct stage *s);
AUTO_DEFINE(stage)

int64_t stage_now_us(const struct stage *s); /* since the beginning; negative before it */

/* A kind by a word as kubectl takes it: kind, plural, singular or short name, in any case. NULL: there is none. */
const struct kind *stage_kind(const struct stage *s, str word);
const struct kind *stage_kind_of(const struct stage *s, const struct tree *obj);

/* Creates an object or puts it in the place of the one that is there; namespaces that are not there are made. `only_try`: says whether it would. What is
 * not a field of its kind is left out; *ret_odd says so, in the stage's arena until the next call, or is empty. */
bool stage_apply(struct stage *s, const struct tree *obj, bool only_try, str *ret_odd, struct err *e);
bool stage_scale(struct stage *s, const struct kind *kind, str ns, str name, int64_t replicas, struct err *e);
bool stage_delete(struct stage *s, const struct kind *kind, str ns, str name, struct err *e);
