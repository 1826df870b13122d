/* claim_lab - the controllers of NodeClaims and NodePools, a fake cloud and an embedded API server, in virtual time.
 *
 * Objects are made and read over HTTP as anybody would. What the controllers write is kept in the order in which it reached the server.
 */
#pragma once

#include "control/claims.h"
#include "control/feed.h"
#include "control/metrics.h"
#include "support/fakecloud.h"
#include "support/kube_bench.h"

struct lab_write {
    const char *method;
    str path; /* less /apis/karpenter.sh/v1/ or /api/v1/ */
    struct tree *body; /* NULL: none */
};

struct claim_lab {
    struct kube_bench b;
    struct kube_config *config;
    struct arena *a;
    struct fakecloud *cloud;
    struct metrics *registry;
    struct options options;
    struct control c;
    struct claims *claims;
    struct sb log;
    VEC(struct lab_write) writes; /* of controllers, Events left out */
};

/* Catalogue: "kwok". The node class `default` is there. */
struct claim_lab *claim_lab_new(void);
void claim_lab_free(struct claim_lab *l);

void claim_lab_start(struct claim_lab *l); /* all watches are listed, the manager runs */
void claim_lab_run(struct claim_lab *l, double seconds);
/* path: "nodeclaims/c", "nodes/n/status". The answer's code; yaml NULL: no body. */
int claim_lab_do(struct claim_lab *l, const char *method, const char *path, const char *yaml);
int claim_lab_send(struct claim_lab *l, const char *method, const char *path, const struct tree *body);
struct tree *claim_lab_get(struct claim_lab *l, const char *path); /* NULL: not there */
/* "True Launched: " or "" */
str claim_lab_condition(struct claim_lab *l, const char *path, const char *type);
/* The Node of the claim's machine joins; ready or not. */
void claim_lab_join(struct claim_lab *l, const char *claim, bool ready);
void claim_lab_set_ready(struct claim_lab *l, const char *node, bool ready);
/* Messages of Events with this reason, each on a line. */
str claim_lab_events(struct claim_lab *l, const char *reason);
