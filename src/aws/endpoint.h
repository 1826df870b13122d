/* endpoint - where a service is, and for which region and under which name requests to it are signed. */
#pragma once

#include "aws/config_int.h"

struct aws_endpoint {
    str url;     /* "https://ec2.eu-west-3.amazonaws.com", with the path of an override; no slash at the end */
    str host;    /* as the Host header has it */
    str path;    /* of an override; may be empty */
    str region;  /* to sign for */
    str service; /* to sign for */
};

/* ERR_INVALID: there is no region, or the configuration contradicts itself. */
bool endpoint_of(const struct aws_config *c, str region, enum aws_service s, struct arena *a, struct aws_endpoint *ret,
                 struct err *e);
/* Of a service that is not in the list, without an override: "portal.sso". */
str endpoint_host(const struct aws_config *c, str region, const char *name, struct arena *a);
str pricing_region(str region);
