/* aws - an AWS account in memory, on AWS's own protocols: EC2, SQS, SSM, IAM, STS, EKS, EventBridge, Pricing, zonal shift, IMDS, container credentials.
 *
 * One function serves every service: in a simulated world it is the other end of HTTP calls, in the demo it listens on a loopback port, and boto3, the aws command
 * line or any other client can be pointed at it. Requests are believed only with a good signature. Everything that exists is in the account and can be
 * listed from outside: a leak is visible. What AWS does late or badly (eventual consistency, throttling, no capacity, lost answers, interruptions) happens here
 * when it is asked for, from the world's chance.
 */
#pragma once

#include "data/tree.h"
#include "net/http.h"

struct sim_aws;

/* A machine, as the one who plays it (a kubelet of sim/kube) sees it. Strings live as long as the machine. */
struct sim_machine {
    str id, type, zone, zone_id, image, subnet, private_dns, capacity_type, region, profile;
    str user_data; /* decoded; all that the machine knows of its cluster */
    int64_t launched_ms;
};

struct sim_aws_options {
    struct world *world;
    /* The account: as vectors/aws/world.json has it (docs: README of this directory). Read once, not kept. */
    const struct tree *account;
    /* A machine runs, or is no more. May be NULL. */
    void (*on_running)(void *ctx, const struct sim_machine *m);
    void (*on_gone)(void *ctx, const struct sim_machine *m);
    void *ctx;
    int64_t boot_ms;    /* from launch to running; 0: at once */
    bool any_signature; /* do not check signatures: for tests of other things */
};

struct sim_aws *sim_aws_new(const struct sim_aws_options *o, struct err *e);
void sim_aws_free(struct sim_aws *s);
AUTO_DEFINE(sim_aws)

/* An http_serve_fn: `server` is the struct sim_aws. Which service is meant follows from the signature's scope, X-Amz-Target, or the path. */
void sim_aws_serve(void *server, struct exchange *x);
/* The link-local services: http://169.254.169.254 (IMDSv2), 169.254.170.2 and 169.254.170.23 (container and Pod Identity credentials). */
void sim_aws_serve_local(void *server, struct exchange *x);
