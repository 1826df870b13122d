/* found_int - what was found of the user's things, for found.c and found_images.c. */
#pragma once

#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/memo.h"

struct subnet_count { /* free addresses of a subnet (aws 4.5) */
    str id;
    int64_t listed, until_ms; /* by the last listing, which counts until then */
    int64_t left;             /* less what launches under way take; means something while `taken` */
    bool taken;
};

struct ec2_found {
    struct memo subnets, groups, images; /* by uid and generation of the class */
    struct memo reservations;            /* by query */
    struct memo placements, looked;      /* by query: groups; queries that were sent of late */
    struct memo parameters;              /* of SSM, by name */
    VEC(const struct ec2_placement_group *) groups_seen;
    VEC(struct subnet_count) counts; /* ids live in the provider's arena */
    VEC(struct ec2_reserved) left;   /* likewise */
    VEC(int64_t) left_until_ms;      /* beside `left` */
    uint64_t left_version;
};

/* What is to be found, and remembered by its key. An answer is a struct whose texts and arrays copy() moves into an arena. */
struct found_question {
    str key;
    const void *about; /* for ask() */
    size_t size;       /* of an answer */
    int64_t for_ms;
    bool (*ask)(struct ec2 *p, struct arena *a, const struct found_question *q, void *ret, struct err *e);
    void (*copy)(struct arena *a, void *answer);
};

/* Out of the memo, or of AWS: of those who ask for the same at the same time one does, the others wait for its answer. ret: zeroed when ask() gets it. */
bool found_get(struct ec2 *p, struct memo *m, const struct found_question *q, struct arena *a, void *ret,
               struct err *e);

#define EC2_FOUND_MS (60 * 1000)
