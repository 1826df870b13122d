/* aws - calls to AWS: whom to ask, in whose name, how often.
 *
 * A session has a region, endpoints, credentials that renew themselves, and for each service a bucket that retries are paid from (aws 3.1, 9.6, 9.7). A call is
 * made from a fiber and parks it until AWS has answered, retries included. Services are in the headers beside this one, ec2.h and services.h; they build the body and read the answer.
 * Secrets are in no log and in no error.
 */
#pragma once

#include "aws/config.h"
#include "data/tree.h"
#include "net/http.h"

enum aws_service { AWS_EC2, AWS_IAM, AWS_STS, AWS_SSM, AWS_SQS, AWS_EKS, AWS_PRICING, AWS_ZONAL_SHIFT, AWS_N_SERVICES };

const char *aws_service_id(enum aws_service s); /* "EC2", "ARC Zonal Shift": the SDKs' names, which metrics use */

struct aws;

/* Told of every attempt and of every call, for metrics (aws 8.1.5). status: of HTTP; 0 when there was no answer. Either may be NULL. */
struct aws_observer {
    void *ctx;
    void (*attempt)(void *ctx, enum aws_service s, const char *action, int status, int64_t took_us);
    void (*call)(void *ctx, enum aws_service s, const char *action, int status, int64_t took_us, uint32_t retries);
};

struct aws_options {
    struct world *world;
    struct aws_config *config;    /* aws/config.h: from the environment and the files of a user; outlives the session */
    const char *agent;            /* added to User-Agent: "karpenter.sh-1.14.1" */
    struct aws_observer observer; /* may be empty */
};

struct aws *aws_new(const struct aws_options *o);
void aws_free(struct aws *c); /* no call is under way */
AUTO_DEFINE(aws)
struct world *aws_world(struct aws *c);
str aws_region(const struct aws *c);
/* Asks IMDS when the configuration has none. From a fiber. */
bool aws_find_region(struct aws *c, struct err *e);

struct aws_call {
    enum aws_service service;
    const char *action; /* "CreateFleet"; for REST services only a name for metrics */
    str body;           /* of query services without Action and Version; JSON of the others */
    const char *method; /* REST services; NULL: POST */
    str path;           /* REST services, escaped; empty: "/" */
    bool once;          /* no retries */
    int64_t timeout_us; /* of one attempt; 0: 4 min */
};

/* What AWS said. On failure e->kind is for the program, e->code is AWS's own word and e->msg has the beginning of its message; here both are whole. An
 * answer that is none of AWS's (a page of a proxy) has the code "UnknownError". */
struct aws_answer {
    int status; /* 0: no answer came */
    struct tree
        *tree; /* XML (the root's content) and JSON alike, an empty map when there was nothing; NULL on failure */
    str code, message; /* on failure */
};

/* ret is written in any case. Strings live in the arena. */
bool aws_do(struct aws *c, const struct aws_call *call, struct arena *a, struct aws_answer *ret, struct err *e);

/* ---- error codes that several callers ask for (aws 3.6) ---- */

bool aws_is_not_found(str code);
bool aws_is_unfulfillable(str code); /* of a fleet error: no capacity for this offering */
bool aws_is_throttle(str code);
bool aws_is_server_fault(const struct aws_answer *r);
