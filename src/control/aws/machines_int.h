/* What the controllers of machines share. */
#pragma once

#include "aws/services.h"
#include "base/vec.h"
#include "cloud/ec2/labels.h"
#include "control/aws/interruption_message.h"
#include "control/aws/machines.h"
#include "control/claim_int.h"

#define AWS_GROUP "karpenter.k8s.aws"
#define RESERVATION_LABEL "karpenter.k8s.aws/capacity-reservation-id"

struct stranger { /* a machine that no claim knew of when machines were listed last */
    str id;
    int64_t since_us; /* by the steady clock */
};

struct unwell { /* a machine that was found so by the last look at statuses */
    str id;
    unsigned kinds; /* bit of each enum interruption_kind */
};

struct queue_look { /* at the interruption queue, one at a time */
    enum { LOOK_NONE, LOOK_UNDER_WAY, LOOK_DONE } state;
    struct arena *arena; /* of what was found */
    struct sqs_message *v;
    uint32_t n;
    bool ok;
    struct err e;
};

struct aws_machines {
    struct control *c;
    struct aws_machines_options o;
    struct htab ids; /* struct known_id: instance id -> provider id */
    struct queue *tagging, *memory, *interruption;
    struct queue_look look;
    str queue_url;             /* empty: not found yet; malloced */
    struct arena *unwell_in;   /* of the next */
    VEC(struct unwell) unwell; /* instance status */
    uint32_t n_collections;    /* instance garbage collections that went well */
    struct arena *strangers_in;
    VEC(struct stranger) strangers;
    VEC(str) shifted; /* zone ids that NodePools were told of; malloced */
};

/* The machine with this id as claims and Nodes name it; empty: nobody does. */
str machine_provider_id(const struct aws_machines *s, str instance_id);
/* Names of the claims, or Nodes, of a machine, in the arena: good across parks. */
struct names machine_claims(struct aws_machines *s, struct arena *a, str provider_id);
struct names machine_nodes(struct aws_machines *s, struct arena *a, str provider_id);
struct queue *machines_singleton(struct aws_machines *s, const char *name, reconcile_fn fn);
void machine_event(struct aws_machines *s, struct event_object object, bool warning, const char *reason,
                   const char *message, str dedupe);

/* A machine is, or will be, taken away: says so, and sends its claims on their way (aws 7.3.2). *ret_any: it is one of ours. */
bool interruption_act(struct aws_machines *s, struct reconcile *r, enum interruption_kind kind, str instance_id,
                      bool *ret_any, struct err *e);

/* The kinds that a status amounts to, a bit each (aws 7.4). */
unsigned status_kinds(const struct ec2_status *s, int64_t now_ms);
/* The tags that the instance lacks. Room for three. */
uint32_t tags_missing(const struct ec2_instance *i, str node, str claim, str cluster, struct ec2_tag *ret);
bool instance_is_on_demand(const struct ec2_instance *i, bool reserved_capacity);

void interruption_register(struct aws_machines *s); /* only with a queue */
void instance_status_register(struct aws_machines *s);
void instance_gc_register(struct aws_machines *s);
void tagging_register(struct aws_machines *s);
void tagging_hear(struct aws_machines *s, const struct store_event *ev);
void reservations_register(struct aws_machines *s);
void refreshes_register(struct aws_machines *s);
void zonal_shift_register(struct aws_machines *s);
void memory_register(struct aws_machines *s);
void memory_hear(struct aws_machines *s, const struct store_event *ev);
void offering_metrics_register(struct aws_machines *s);
