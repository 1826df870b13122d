/* api_int - what the parts of the client share: the api, how its requests are made and its refusals understood. */
#pragma once

#include "base/bucket.h"
#include "k8s/api.h"

#define SECOND_US INT64_C(1000000)

struct api {
    struct world *world;
    struct kube_config *config;
    struct api_options options;
    struct bucket bucket;
};

/* The path of an object or, without a name, of a collection; without a namespace all of them. sub: NULL or "status". */
str api_url(struct api *c, struct arena *a, const struct api_ref *r, const char *sub);

/* Headers for who we are and what we understand; from a fiber. `type` empty: no body. `stale`: the last token was refused. */
bool api_headers(struct api *c, struct arena *a, str type, bool stale, struct http_request *q, struct err *e);

/* After the call has been started: no token stays in memory. */
void api_forget_headers(struct http_request *q);

/* What an answer with such a status means; always false. */
bool api_refused(struct arena *a, const struct http_response *r, struct err *e);

/* How long the server asks us to stay away; 0: it does not ask. */
int64_t api_retry_after_us(const struct http_response *r);
void api_report(struct api *c, const struct api_call *call);
