/* client_int - a session from the inside, for the files of this directory. */
#pragma once

#include "aws/config_int.h"
#include "aws/credentials.h"
#include "aws/retry.h"

#define IMDS_TOKEN_MAX 256u

struct aws {
    struct world *world;
    struct aws_config *config;
    struct arena *arena;
    str agent;
    struct aws_observer observer;
    str region;
    int64_t skew_ms; /* AWS's clock less ours */
    struct retry_budget budgets[AWS_N_SERVICES];
    struct credentials *credentials;
    struct {
        char text[IMDS_TOKEN_MAX];
        size_t n;         /* 0: none */
        int64_t until_us; /* of the monotonic clock */
    } imds_token;
};

int64_t client_now_ms(const struct aws *c); /* by AWS's clock */
/* A call in somebody's name; who NULL: in nobody's, it is not signed. */
bool client_send(struct aws *c, const struct aws_call *call, struct credentials *who, struct arena *a,
                 struct aws_answer *ret, struct err *e);
/* To a helper near by (IMDS, a container's endpoint): no proxy, little patience, few tries. true: it has answered, with whatever status. */
bool client_ask_near(struct aws *c, const struct http_request *r, uint32_t tries, struct arena *a,
                     struct http_response *ret, struct err *e);
