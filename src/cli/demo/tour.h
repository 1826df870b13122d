/* tour - the demo shows itself: what a person would do with kubectl and aws, said and done step by step, each checked on the API server and in the AWS account. */
#pragma once

#include "base/str.h"
#include "net/world.h"

struct demo_aws;

struct tour_setup {
    struct world *world;
    str server, token; /* live as long as the tour */
    const char *ca_pem;
    struct demo_aws *aws; /* NULL: nodes are of kwok */
    void (*on_end)(void *ctx, bool ok);
    void *ctx;
};

void tour_go(const struct tour_setup *s); /* in a fiber of its own */
