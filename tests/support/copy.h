/* copy - what somebody keeps who listens to a reflector: the least that can be checked. */
#pragma once

#include "k8s/reflector.h"

struct entry {
    char name[32];
    uint64_t rv; /* the newest that was seen */
    bool there;  /* now */
    bool mentioned;
};

struct copy {
    struct entry v[64]; /* in order of appearance */
    uint32_t n;
    uint32_t n_lists, n_events, n_errors;
    bool listing;
    const char *wrong; /* a promise of the reflector's that was broken; NULL: none */
    struct err last;
};

/* For ConfigMaps. */
extern const struct api_kind copied_kind;
struct reflector_events copy_events(struct copy *c);
