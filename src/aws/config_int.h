/* config_int - what a configuration says, for the files of this directory. */
#pragma once

#include "aws/aws.h"
#include "aws/profile.h"
#include "aws/sigv4.h"

#define NEAR_TRIES 3u /* of calls to IMDS and to endpoints of containers, unless the user says otherwise */

struct aws_config {
    struct arena *arena; /* wiped in the end */
    struct aws_environment env;
    struct profiles profiles;
    str profile_name;
    const struct profile *profile; /* NULL: there is none of that name, and nobody has asked for it */
    bool profile_chosen;           /* by AWS_PROFILE */
    str region;                    /* may be empty */
    bool fips, dual_stack;
    uint32_t max_attempts;
    str urls[AWS_N_SERVICES]; /* instead of AWS's own; empty: none */
    struct http_trust trust, http_proxied, https_proxied;
    str no_proxy;
    bool imds_off;
    str imds_url;
    uint32_t imds_tries;
    struct aws_keys keys; /* of the environment; without an id there are none */
};

str config_var(const struct aws_config *c, const char *name); /* empty when it is not set */
/* ~/name; false: there is no home. */
bool config_home(const struct aws_config *c, struct arena *a, const char *name, const char **ret);
/* Of a file that somebody else writes: read when it is needed, through the environment. */
bool config_read(const struct aws_config *c, struct arena *a, const char *path, str *ret, struct err *e);
/* The keys that a profile of the shared files has at this moment. */
bool config_profile_keys(const struct aws_config *c, struct arena *a, str profile, struct aws_keys *ret, struct err *e);
/* How calls to this url travel: the proxy and the authorities that the user wants. */
const struct http_trust *config_trust(const struct aws_config *c, str url);
bool region_is_sane(str region); /* it becomes part of host names */
