/* sandbox - a simulated cluster with the controller beside it: API server, scheduler, kubelets and workload controllers of sim/kube in one process of the
 * simulated world, the autoscaler in another, HTTP between them.
 *
 * The clock stands at the beginning of the simulation minus SANDBOX_SETUP_US when the sandbox is made: what a cluster has before anything happens is
 * applied then, and sandbox_open() runs until the controller acts and the clock has reached the beginning.
 */
#pragma once

#include "cli/simulate/sandbox_controller.h"
#include "data/tree.h"
#include "sim/kube/cluster.h"
#include "sim/world.h"

#define SANDBOX_SETUP_US (120 * INT64_C(1000000))
#define SANDBOX_SERVER "https://kube" /* base url of the API server */

struct sandbox {
    struct sim *sim;
    struct world *servers, *mind; /* the cluster's process, the controller's */
    struct kube *kube;
    struct cluster *cluster;
    struct sandbox_controller *controller;
    struct arena *arena; /* scratch of one write */
};

struct sandbox_setup {
    uint64_t seed;
    int64_t start_ms; /* the wall clock at the beginning */
    struct span node_ready, pod_start;
    const struct cli_env *env;
    const char *const *settings; /* KEY=VALUE of the controller */
    uint32_t n_settings;
    void (*on_line)(void *ctx, str line); /* of the controller's log; may be NULL */
    void *ctx;
};

struct sandbox *sandbox_new(const struct sandbox_setup *s, struct err *e);
/* Until the beginning; the controller starts here, so that it finds what was applied before. */
bool sandbox_open(struct sandbox *s, const struct sandbox_setup *setup, struct err *e);
void sandbox_free(struct sandbox *s);
AUTO_DEFINE(sandbox)

int64_t sandbox_now_us(const struct sandbox *s); /* since the beginning; negative before it */

/* A kind by a word as kubectl takes it: kind, plural, singular or short name, in any case. NULL: there is none. */
const struct kind *sandbox_kind(const struct sandbox *s, str word);
const struct kind *sandbox_kind_of(const struct sandbox *s, const struct tree *obj);

/* Creates an object or puts it in the place of the one that is there; namespaces that are not there are made. `only_try`: says whether it would. What is
 * not a field of its kind is left out; *ret_odd says so, in the sandbox's arena until the next call, or is empty. */
bool sandbox_apply(struct sandbox *s, const struct tree *obj, bool only_try, str *ret_odd, struct err *e);
bool sandbox_scale(struct sandbox *s, const struct kind *kind, str ns, str name, int64_t replicas, struct err *e);
bool sandbox_delete(struct sandbox *s, const struct kind *kind, str ns, str name, struct err *e);
