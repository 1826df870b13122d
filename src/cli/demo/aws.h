/* aws - the demo's AWS: an account of sim/aws behind a loopback port, whose machines join the demo's cluster. */
#pragma once

#include "base/err.h"
#include "net/world.h"
#include "sim/aws/aws.h"

struct cli_env;
struct cluster;

struct demo_aws_setup {
    struct world *world;
    struct cluster *cluster;
    const struct cli_env *env;
    str endpoint; /* of the cluster */
    const char *ca_pem;
    str version;  /* of Kubernetes: "1.36" */
    double speed; /* machines start and stop so many times as fast */
};

struct demo_aws { /* to be read */
    str url;
    str key_id, secret; /* made for this run: of the one user there is; the door takes the secret as a token */
    struct sim_aws *account;

    struct demo_aws_setup s;
    struct arena *a;
    struct boot *boot;
    struct httpd *httpd;
    uint32_t n_published; /* sets of images, through the door */
};

struct demo_aws *demo_aws_new(const struct demo_aws_setup *s, struct err *e);
void demo_aws_free(struct demo_aws *d);

/* What the account has that can be left behind: machines that are not terminated, launch templates that were not there from the beginning. */
struct demo_leftovers {
    uint32_t instances, templates;
};
struct demo_leftovers demo_aws_leftovers(struct demo_aws *d);
