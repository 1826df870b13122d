/* url - the parts of an absolute http or https url, and whether a proxy is meant for it. */
#pragma once

#include "base/str.h"

struct url_parts {
    bool secure;   /* https */
    str host;      /* without brackets */
    str authority; /* as the Host header has it: without a port that is the usual one */
    uint16_t port; /* the usual one when it is not said */
    str path;      /* with its slash; may be empty */
    str query;     /* after the '?' */
};

/* false: no such url, or one with a user in it. */
bool url_split(str url, struct url_parts *ret);

/* Whether the list NO_PROXY has this host: "*", names (which mean what is below them, too), ".names" (only what is below them), addresses,
 * networks ("10.0.0.0/8"), each with a port or without. Loopback is always on it. */
bool proxy_is_off(str no_proxy, str host, uint16_t port);
bool host_is_loopback(str host);
