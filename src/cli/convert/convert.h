/* convert - manifests of older releases, and node groups of other autoscalers, into NodePools and EC2NodeClasses of today.
 *
 * All objects are read first, since what was one object's may be another's now: settings of kubelets have moved from pools to node classes. Every object keeps its place;
 * what is new comes right after what it was made from. What has no equal is said in a note, never dropped in silence.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "data/tree.h"

struct convert_settings {
    str role, profile; /* of nodes whose manifest does not say; at most one */
    str cluster;       /* its name, in the tag karpenter.sh/discovery of node groups that do not say it */
    int64_t (*cpus)(void *ctx, str type); /* of an instance type, for limits of node groups; 0: nobody knows */
    void *ctx;
};

struct converted {
    struct tree *object;
    uint32_t from;  /* number of the input */
    bool changed;   /* it is not what was read */
    bool lossy;     /* something of it has no equal */
    VEC(str) notes; /* for people: what became of what, and what is missing */
    bool claimed;   /* node classes: a pool has said what kubelets are told */
    const struct tree *kubelet;
};

struct convert_input {
    const char *file;
    struct tree *object;
};

struct conversion {
    struct arena *a;
    const struct convert_settings *set;
    VEC(struct convert_input) in;
    VEC(struct converted *) out;
};

void conversion_add(struct conversion *c, const char *file, const struct tree *object); /* both are copied */
/* Fills `out`, in the order of the inputs. Errors name file and line. */
bool conversion_run(struct conversion *c, struct err *e);
void conversion_fini(struct conversion *c);
