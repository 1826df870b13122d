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
    str id, type, zone, zone_id, image, subnet, private_dns, private_ip, capacity_type, region, profile;
    str user_data;            /* decoded; all that the machine knows of its cluster */
    str arch;                 /* of its image: "x86_64", "arm64" */
    const struct tree *info;  /* its type, as DescribeInstanceTypes answers it; NULL: nobody knows */
    const struct tree *disks; /* BlockDeviceMappings of its launch, with sizes; NULL: its image's */
    int64_t launched_ms;
};

/* A call that was answered, in AWS's JSON member names: UserData is decoded, TagSpecifications is resource type -> {key: value}, Tags is {key: value}, ClientToken
 * is left out. Valid during the callback. */
struct sim_aws_call {
    const char *service, *action; /* "ec2", "CreateFleet" */
    const struct tree *input;
    int status;
    str error;     /* AWS's code; empty: it was done */
    bool mutating; /* or a dry run of something that would be */
};

struct sim_aws_options {
    struct world *world;
    /* The account: as vectors/aws/world.json has it (docs: README of this directory). Read once, not kept. */
    const struct tree *account;
    /* A machine runs, or is no more. May be NULL. Called from the loop, never from inside a request. */
    void (*on_running)(void *ctx, const struct sim_machine *m);
    void (*on_gone)(void *ctx, const struct sim_machine *m);
    /* Told of every call when it is answered. May be NULL. */
    void (*on_call)(void *ctx, const struct sim_aws_call *c);
    void *ctx;
    int64_t boot_ms;    /* from launch to running; 0: at once */
    int64_t stop_ms;    /* from shutting-down to terminated; 0: at once */
    int64_t walk_ms;    /* spot prices move so often; 0: they stay */
    bool any_signature; /* do not check signatures: for tests of other things */
    bool unlimited;     /* no token buckets: no number of calls is too many */
    /* As the recorded launches want it: what a launch names (images, groups, profiles) need not exist, and launches change no counts. */
    bool loose;
};

struct sim_aws *sim_aws_new(const struct sim_aws_options *o, struct err *e);
void sim_aws_free(struct sim_aws *s);
AUTO_DEFINE(sim_aws)

/* An http_serve_fn: `server` is the struct sim_aws. Which service is meant follows from the signature's scope, X-Amz-Target, or the path. */
void sim_aws_serve(void *server, struct exchange *x);
/* The link-local services, as a machine outside of all fleets sees them: http://169.254.169.254 (IMDSv2), 169.254.170.2 and 169.254.170.23 (container and Pod
 * Identity credentials). `server` is the struct sim_aws. */
void sim_aws_serve_local(void *server, struct exchange *x);
/* The same as one machine sees them: with its id, its zone, its user data and the notices that it was given. */
struct sim_aws_local {
    struct sim_aws *aws;
    str instance;
};
void sim_aws_serve_machine(void *local, struct exchange *x); /* `local` is a struct sim_aws_local */

/* Whose key a bearer token of `aws eks get-token` was made with, as an ARN; empty: nobody's here, or for another cluster, or no more. */
str sim_aws_token_user(const struct sim_aws *s, struct arena *a, str token, str cluster);

/* ---- what AWS does badly ---- */

struct sim_aws_faults {     /* chances are per 65,536 */
    uint32_t throttle;      /* calls that are refused as too many */
    uint32_t server_error;  /* calls that end in a 5xx, undone */
    uint32_t lose_reply;    /* calls that are done and whose answer breaks off */
    uint32_t no_capacity;   /* overrides of a fleet that have none */
    uint32_t duplicate;     /* messages that a queue hands out twice at the same time */
    uint32_t reorder;       /* messages that overtake others */
    int64_t consistency_ms; /* new templates and instances are seen after up to so long */
};
void sim_aws_set_faults(struct sim_aws *s, const struct sim_aws_faults *f); /* copied */

/* ---- what an operator, or fate, does ---- */

enum sim_aws_notice {
    SIM_AWS_SPOT_WARNING, /* two minutes later it is gone; so after a warning of its reservation */
    SIM_AWS_RESERVATION_WARNING,
    SIM_AWS_REBALANCE,
    SIM_AWS_SCHEDULED_CHANGE, /* AWS Health: this machine is to be retired */
};
/* false: no such machine is there. The event goes through the rules to the queues. */
bool sim_aws_notify(struct sim_aws *s, str instance, enum sim_aws_notice n);
/* What a machine hears of from IMDS alone: an event that EC2 has scheduled for it ("system-reboot", …; "active", "canceled", "completed"; constants), and the state that an Auto
 * Scaling group wants it in ("InService", "Terminated"). */
bool sim_aws_schedule(struct sim_aws *s, str instance, const char *code, const char *state);
bool sim_aws_set_target_state(struct sim_aws *s, str instance, str state);
bool sim_aws_interrupt(struct sim_aws *s, str instance); /* takes a spot machine back: SIM_AWS_SPOT_WARNING */
bool sim_aws_crash(struct sim_aws *s, str instance);     /* AWS terminates it without a warning */

enum sim_aws_check { SIM_AWS_CHECK_INSTANCE, SIM_AWS_CHECK_SYSTEM, SIM_AWS_CHECK_EBS };
/* A status check fails from now on, or is well again. */
bool sim_aws_impair(struct sim_aws *s, str instance, enum sim_aws_check c, bool impaired);
/* Its reservation was cancelled: it goes on as an ordinary machine. */
bool sim_aws_unreserve(struct sim_aws *s, str instance);
/* A capacity reservation as DescribeCapacityReservations answers it, from now on. */
bool sim_aws_add_reservation(struct sim_aws *s, const struct tree *reservation, struct err *e);
/* It is cancelled, and its machines go on as ordinary ones; a capacity block is over, and so are they. false: there is none that is active. */
bool sim_aws_end_reservation(struct sim_aws *s, str id);

/* How many more machines a pool gives; -1: no end of them. capacity_type: "spot", "on-demand". Empty type or zone: all of them. Returns how many pools
 * these are. */
uint32_t sim_aws_set_pool(struct sim_aws *s, str type, str zone, str capacity_type, int64_t more);
void sim_aws_drain_pool(struct sim_aws *s, str type, str zone, str capacity_type);
void sim_aws_set_spot_price(struct sim_aws *s, str type, str zone, double usd_per_h);
/* Sessions are revoked: keys of roles that were given out are over now. */
void sim_aws_end_keys(struct sim_aws *s);
/* An image as DescribeImages answers it; parameter (may be empty) points to it from now on. */
bool sim_aws_publish_image(struct sim_aws *s, const struct tree *image, str parameter, struct err *e);
void sim_aws_set_parameter(struct sim_aws *s, str name, str value); /* of SSM */
/* Zonal shift: traffic is moved away from a zone, for so long. 0 ms: it ends now. */
void sim_aws_shift_zone(struct sim_aws *s, str zone_id, int64_t for_ms);

/* ---- what there is, and what it has cost ---- */

struct sim_aws_resource {
    const char *kind; /* "instance", "launch-template", "instance-profile", "fleet" */
    str id, name;
    const char *state;       /* of instances, as EC2 names it; else "" */
    const struct tree *tags; /* list of {Key, Value}; NULL: none */
    double hours, usd;       /* of instances, so far */
    bool given;              /* it was in the account from the beginning */
};
/* Everything that can be left behind, in the order in which it was made; machines that are terminated too, until they are forgotten an hour later. */
void sim_aws_each(struct sim_aws *s, void (*fn)(void *ctx, const struct sim_aws_resource *r), void *ctx);

struct sim_aws_bill {
    uint64_t launched, ended; /* machines */
    double hours, usd;        /* of all machines that there ever were */
};
struct sim_aws_bill sim_aws_bill(struct sim_aws *s);
const struct sim_machine *sim_aws_machine(struct sim_aws *s, str id); /* NULL: there is none, or it is terminated */

/* Calls since the start: of one action ("CreateFleet"), or of a service ("ec2"). throttled: those of them that were too many. */
uint64_t sim_aws_calls(const struct sim_aws *s, const char *of);
uint64_t sim_aws_throttled(const struct sim_aws *s, const char *of);

/* Messages that a queue still has, handed out or not; *ret_oldest_ms (may be NULL): for how long the first of them has been there. */
uint32_t sim_aws_messages(const struct sim_aws *s, str queue, int64_t *ret_oldest_ms);
/* Whether a text has a secret or a token of one of the account's keys in it: for those who look through logs. */
bool sim_aws_is_told(const struct sim_aws *s, str text);
