/* webhook - tells somebody else about an event: a text with values in it, posted to a URL.
 *
 * Templates are those of aws-node-termination-handler as far as they name a field, {{ .EventID }}; anything else between the braces is refused when the program starts. URL,
 * headers and text may be secret: none of them is ever logged.
 */
#pragma once

#include "handler/settings.h"
#include "net/http.h"

#define WEBHOOK_MAX_HEADERS 32u

enum webhook_field {
    FIELD_ACCOUNT_ID,
    FIELD_AVAILABILITY_ZONE,
    FIELD_INSTANCE_ID,
    FIELD_INSTANCE_TYPE,
    FIELD_LOCAL_HOSTNAME,
    FIELD_LOCAL_IP,
    FIELD_PUBLIC_HOSTNAME,
    FIELD_PUBLIC_IP,
    FIELD_REGION,
    FIELD_EVENT_ID,
    FIELD_KIND,
    FIELD_MONITOR,
    FIELD_DESCRIPTION,
    FIELD_STATE,
    FIELD_NODE_NAME,
    FIELD_START_TIME,
    FIELD_END_TIME,
    WEBHOOK_FIELDS
};

struct webhook {
    str url; /* empty: nobody is told */
    str template;
    struct http_header headers[WEBHOOK_MAX_HEADERS];
    uint32_t n_headers;
    bool json; /* values are written so that they fit into a JSON string */
    struct http_trust trust;
};

/* Strings live in the arena or belong to the settings. ERR_INVALID: headers or template make no sense. */
bool webhook_init(struct webhook *h, struct arena *a, const struct handler_settings *s, struct err *e);
str webhook_render(struct arena *a, const struct webhook *h, const str values[WEBHOOK_FIELDS]);
/* From a fiber; waits five seconds at most. */
bool webhook_post(const struct webhook *h, struct world *w, const str values[WEBHOOK_FIELDS], struct err *e);
