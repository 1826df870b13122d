/* chaos_aws - what a case on AWS has besides (chaos_int.h), for chaos_aws.c and chaos_aws_rules.c. */
#pragma once

#include "sim/chaos_int.h"
#include "support/sky.h"

struct chaos_orphan { /* a machine that no NodeClaim knows of */
    char id[32];
    double since_s;
    bool seen; /* by the look that is under way */
};

struct chaos_warning { /* AWS takes a machine back */
    char id[32];
    double at_s;
};

struct chaos_reserved { /* capacity that somebody has paid for */
    char id[24];
    double ends_s; /* of a block; 0: it is none */
    bool interruptible;
};

struct chaos_shift {     /* traffic is moved away from a zone */
    const char *zone_id; /* NULL: it never was */
    double from_s, until_s;
};

#define CHAOS_ZONES 3

struct chaos_aws {
    struct sky *sky;
    enum sky_keys keys;
    uint32_t market; /* which capacity types pools may have */
    uint32_t n_images;
    bool kills;              /* whoever launches next */
    bool struck[2];          /* replicas that have been */
    uint32_t worst_rate;     /* of calls to AWS that go wrong, as in struct chaos */
    double broken_until_s;   /* they do so until then */
    double sold_out_until_s; /* some offerings are */
    bool sold_out;
    double trouble_s, untroubled_s; /* since when something has been badly broken; since when nothing has */
    double mild_s;                  /* when calls went wrong now and then for the last time */
    bool reserves, shifts;          /* reservations and shifted zones take part */
    char wants[400];                /* what pools ask for */
    uint32_t n_reserved;            /* so far */
    VEC(struct chaos_reserved) reserved;
    struct chaos_shift shift[CHAOS_ZONES];
    VEC(struct chaos_orphan) orphans;
    VEC(struct chaos_warning) warnings;
};
