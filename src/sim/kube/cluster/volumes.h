/* volumes - claims, volumes and attachments; volumes.c binds and makes, volumes_use.c follows who uses what. */
#pragma once

#include "sim/kube/cluster/workload.h"

struct volumes {
    struct cluster *c;
    struct work *claims, *releases; /* claims; volumes */
    struct work *attachments;       /* "node/volume" */
    struct table making;            /* struct making by uid of the claim */
};

struct making { /* a driver is at work */
    str uid;    /* first: the key */
    int64_t due_us;
};

void claim_protection(struct subject *s); /* a claim that is being deleted goes when no pod uses it */
void volume_uses_init(struct volumes *p);
void volume_uses_fini(struct volumes *p);
