/* node_volumes - which VolumeAttachments keep a node that goes away (lifecycle 6.7). Pure, on the store. */
#pragma once

#include "state/store.h"

struct volumes_left {
    str *v; /* names of VolumeAttachments, copied */
    uint32_t n;
};

/* Volumes of pods that stay on the node until its end are not waited for. */
struct volumes_left volumes_left(struct arena *a, const struct syms *t, struct store *s, str node, int64_t now_ms);
