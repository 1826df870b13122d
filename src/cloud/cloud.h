/* cloud - what the controller asks of a provider of machines (lifecycle 13).
 *
 * A provider is a struct with functions; calls that talk to somebody park their fiber. `kwok` makes Node objects itself; `aws` calls EC2. Errors have the kinds of
 * base/err.h: ERR_CAPACITY (insufficient capacity: the claim is given up), ERR_NOT_FOUND (the machine is gone), and err.code CLOUD_NOT_READY (the node class cannot
 * be used now: the claim is given up). Any other err.code is the reason that the claim's condition shows; without one it is LaunchFailed. Messages say what
 * happened and leave out what the kind says already: "insufficient capacity, " and the like are put before them where they are shown.
 */
#pragma once

#include "base/err.h"
#include "model/itype.h"
#include "model/nodepool.h"

#define CLOUD_NOT_READY "NodeClassNotReady"

/* What a machine is, once it was asked for. */
struct machine {
    str provider_id, image_id;
    struct annotation *labels; /* of the NodeClaim and Node to be, by key */
    uint32_t n_labels;
    struct annotation *annotations;
    uint32_t n_annotations;
    struct reslist capacity, allocatable;
    bool deleting; /* cloud_list(): it is on its way out */
};

struct machines {
    struct machine *v;
    uint32_t n;
};

/* A condition of Nodes that the provider wants replaced when it lasts (lifecycle 7). */
struct repair_policy {
    const char *condition, *status;
    int64_t toleration_ms;
};

struct cond_set; /* k8s/conditions.h */

struct cloud_class { /* a kind of node class */
    const char *group, *version, *kind, *plural;
    const struct cond_set *conditions; /* that the provider's controllers keep; NULL: there are none */
};

/* What a provider says when a machine has joined: whether it counts already, and a label that it has found out by now. */
struct cloud_hook {
    bool pending;
    int64_t after_ms;        /* ask again then; 0: after a back-off */
    struct annotation label; /* for claim and Node; an empty key: none */
};

struct cloud {
    const char *name; /* "kwok", "aws" */
    void *self;
    const struct cloud_class *classes; /* the first is the default */
    uint32_t n_classes;
    const struct repair_policy *repairs;
    uint32_t n_repairs;
    const char *const
        *node_labels;          /* keys that its Nodes have besides the well-known ones; NULL-terminated; for metrics */
    int64_t launch_timeout_ms; /* a claim that is not launched by then is given up; 0: 5 min */

    /* Once, before anything else is asked but for the catalogue, which is empty until then. A failure is the end of the process. NULL: nothing to do. */
    bool (*start)(void *self, struct err *e);
    /* The claim's symbols are `t`, and k is NULL when its class is not there. Both stay as they are until the call returns. Results live in the arena. */
    bool (*create)(void *self, struct arena *a, struct syms *t, const struct nodeclaim *c, const struct nodeclass *k,
                   struct machine *ret, struct err *e);
    /* A claim that was launched has no Node yet: whoever launched it may have died since. Asked often, answers at once. NULL: machines join by themselves. */
    void (*resume)(void *self, struct syms *t, const struct nodeclaim *c, const struct nodeclass *k);
    /* true: it is on its way; ERR_NOT_FOUND: it is gone. Asked again until then. */
    bool (*destroy)(void *self, struct arena *a, const struct nodeclaim *c, struct err *e);
    /* A claim goes that knows of no machine: whoever launched it may have died before that was written down, and what was begun is ended. false: it could not be, ask again. NULL: the provider
     * collects machines that no claim knows of. */
    bool (*abandon)(void *self, struct arena *a, const struct nodeclaim *c, struct err *e);
    bool (*get)(void *self, struct arena *a, str provider_id, struct machine *ret, struct err *e);
    /* All machines of this cluster, for whoever compares them with claims: provider_id and deleting; the rest may be left empty. */
    bool (*list)(void *self, struct arena *a, struct machines *ret, struct err *e);
    /* What could be bought, also what cannot be had at the moment. Lives as long as the provider or until the next call that changes it. */
    const struct catalog *(*catalog)(void *self);
    /* Empty: not drifted. NULL: the provider knows no drift. */
    bool (*drifted)(void *self, struct arena *a, const struct nodeclaim *c, str *ret_reason, struct err *e);
    /* Asked before a Node counts as registered (lifecycle 3.3); NULL: the provider has no say. */
    const char *hook_name;
    bool (*hook)(void *self, struct arena *a, const struct nodeclaim *c, struct cloud_hook *ret, struct err *e);
    /* The process is about to end, and another may act then: nothing more is begun. false: something is under way, ask again. NULL: nothing goes on in the background. */
    bool (*stop)(void *self);
    void (*free)(void *self);
};
