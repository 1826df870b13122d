/* account - what an AWS account holds, as the files of this directory share it.
 *
 * What AWS describes is kept as trees in AWS's own JSON member names ("docs"), the form of the account's file: a describe call is a filter over docs, and the
 * writers of reply.c turn a doc into what the wire wants. Things that come and go (machines, templates, profiles, keys, messages) own their memory; what was given
 * lives in the account's arena for good. Everything is kept in the order in which it was made.
 */
#pragma once

#include "base/bucket.h"
#include "base/htab.h"
#include "base/vec.h"
#include "data/edit.h"
#include "sim/aws/aws.h"

#define AWS_FORGET_MS (60 * 60 * 1000LL)     /* terminated machines are described for so long */
#define AWS_WARNING_MS (2 * 60 * 1000LL)     /* between a spot warning and the end */
#define AWS_TOKEN_MS (24 * 60 * 60 * 1000LL) /* client tokens are remembered for so long */
#define AWS_MAX_TOKENS 4096u
#define AWS_MAX_HISTORY 24u /* spot prices of one pool that are remembered */

/* A number inside a doc that changes. */
struct live_number {
    struct tree *node;
    char text[24];
    int64_t v;
};
void live_number_init(struct live_number *n, struct arena *a, struct tree *map, const char *key, int64_t absent);
void live_number_set(struct live_number *n, int64_t v);

struct subnet {
    struct tree *doc;
    struct live_number free;
    uint32_t net, hosts; /* of CidrBlock */
    uint32_t next;       /* the next address to try */
};

struct reservation {
    struct tree *doc;
    struct live_number available;
};

struct spot_price {
    int64_t at_ms;
    double usd;
};

/* One instance type in one zone. */
struct pool {
    str type, zone;
    double on_demand;        /* NAN: it has no price */
    double spot, spot_given; /* NAN: there is no spot here */
    int64_t more[2];         /* on demand, spot; -1: no end */
    struct spot_price past[AWS_MAX_HISTORY];
    uint32_t n_past;
};

enum machine_state { PENDING, RUNNING, SHUTTING_DOWN, TERMINATED };

struct machine {
    struct htab_node by_id, by_ip;
    struct sim_aws *s;
    struct arena *a;
    struct tree *doc;
    uint64_t serial;
    int64_t visible_ms; /* account_mono_ms(), as in the next two */
    struct sim_machine m;
    enum machine_state state;
    struct timer life, reclaim; /* the next state; the end after a warning */
    int64_t reclaim_ms;         /* 0: nobody has warned it */
    int64_t rebalance_ms;
    struct {                      /* what EC2 has scheduled for it */
        int64_t from_ms;          /* 0: nothing */
        const char *code, *state; /* "system-reboot", "active" */
    } event;
    str target_state; /* where its Auto Scaling group wants it; empty: it is in none */
    struct subnet *subnet;
    struct pool *pool;
    struct reservation *reservation;
    struct fleet *fleet; /* NULL: RunInstances */
    str group;           /* placement group */
    bool spot, has_ip, ran;
    int64_t vcpus;
    int64_t settled_ms; /* hours and usd are right up to here */
    double hours, usd;
    int64_t impaired_ms[3]; /* enum sim_aws_check; 0: well */
};

struct template_version {
    struct tree *data;
    int64_t created_ms;
    str description;
};

struct launch_template {
    struct arena *a;
    struct tree *doc;
    str id, name;
    uint64_t serial;
    int64_t visible_ms;
    VEC(struct template_version) versions; /* number n is at n - 1 */
    uint32_t default_version;
};

struct profile {
    struct arena *a;
    struct tree *doc;
    str name, path, role; /* role: empty: none */
    uint64_t serial;
    bool given;
};

struct fleet {
    struct arena *a;
    struct tree *doc;
    str id;
    uint64_t serial;
    uint32_t n_machines; /* that are described; with the last of them the fleet is forgotten */
};

struct access_key {
    char id[24], secret[48], token[160], arn[256];
    int64_t expires_ms; /* INT64_MAX: never */
};

/* A reply that is given again to the same client token. */
struct remembered {
    str token, body; /* one allocation, at token.p */
    const struct action *action;
    uint64_t hash; /* of the input */
    int64_t at_ms;
};

struct message {
    struct message *next;
    str body; /* behind the struct */
    char id[40];
    uint64_t receipt; /* of the last time it was handed out */
    int64_t sent_ms, came_ms, visible_ms;
    uint32_t received;
};

struct poll; /* a receiver that waits; sqs.c */

struct queue {
    str name, url, arn;
    struct message *first, **last;
    struct poll *polls; /* in the order in which they came */
    int64_t retention_ms, visibility_ms;
    int64_t oldest_ms; /* no message was sent before */
    int64_t created_ms;
};

struct rule {
    str name, arn, pattern_text;
    struct tree *doc, *pattern, *targets;
};

struct shift {
    str zone_id;
    char id[40];
    int64_t from_ms, until_ms;
};

struct fault_call { /* of faults.calls: one entry for one call */
    str key;        /* "CreateFleet", "CreateFleet/dry-run" */
    str code, message;
    bool used;
};

struct fault_fleet {
    str capacity_type, type, zone, subnet, code, message;
};

struct tally {
    uint64_t calls, throttled;
    struct bucket requests, other; /* other: of machines, or of describe calls that neither filter nor page */
};

struct docs {
    VEC(struct tree *) v;
};

struct sim_aws {
    struct sim_aws_options o;
    struct world *w;
    struct arena *a; /* what was given */
    uint64_t serial; /* of what is made */
    str region, account_id, partition;

    struct docs zones, vpcs, groups, images, types, placement_groups, offerings;
    VEC(struct subnet *) subnets;
    VEC(struct reservation *) reservations;
    VEC(struct pool) pools;  /* by type, then zone */
    struct tree *parameters; /* name -> {Value, Version, LastModifiedDate} */
    struct tree *cluster;
    VEC(str) roles;

    struct htab machines, ips;
    VEC(struct machine *) machine_list; /* by serial */
    VEC(struct launch_template *) templates;
    VEC(struct fleet *) fleets;
    VEC(struct profile *) profiles;
    VEC(struct access_key *) keys;
    VEC(struct queue *) queues;
    VEC(struct rule) rules;
    VEC(struct shift) shifts;
    VEC(struct remembered) remembered;

    VEC(struct fault_call) fault_calls;
    VEC(struct fault_fleet) fault_fleets;
    struct sim_aws_faults faults;

    struct tally *tallies; /* one per action of the table */
    struct timer walk;
    int64_t spot_vcpus, demand_vcpus; /* quotas; -1: none */
    uint64_t launched, ended;
    double past_hours, past_usd; /* of machines that are forgotten */
    char imds_token[64];
    str container_token; /* what Pod Identity's agent wants to see; empty: anything */
};

bool account_load(struct sim_aws *s, const struct tree *account, struct err *e);

/* ---- lookups; NULL when there is none ---- */

struct tree *docs_find(const struct docs *d, const char *key, str value);
struct subnet *account_subnet(const struct sim_aws *s, str id);
struct reservation *account_reservation(const struct sim_aws *s, str id);
struct pool *account_pool(const struct sim_aws *s, str type, str zone);
struct launch_template *account_template(const struct sim_aws *s, str id, str name); /* that can be seen by now */
struct profile *account_profile(const struct sim_aws *s, str name);
bool account_has_role(const struct sim_aws *s, str name);
struct queue *account_queue(const struct sim_aws *s, str name);
str account_zone_id(const struct sim_aws *s, str zone);

/* ---- making things ---- */

void account_add_reservation(struct sim_aws *s, struct tree *doc); /* which lives as long as the account */
void reservation_leave(struct machine *m);                         /* it goes on as an ordinary machine */

int64_t account_now_ms(const struct sim_aws *s);
int64_t account_mono_ms(const struct sim_aws *s); /* does not jump with the wall clock: for what lasts */
bool account_chance(struct sim_aws *s, uint32_t per_64k);
int64_t account_visible_ms(struct sim_aws *s); /* of something that is made now */
str account_hex_id(struct sim_aws *s, struct arena *a, const char *prefix, unsigned digits);
str account_uuid(struct sim_aws *s, struct arena *a);
str account_arn(struct sim_aws *s, struct arena *a, const char *service, const char *kind, str id);
str account_time(struct arena *a, int64_t ms); /* "2026-01-15T12:00:00.000Z" */
/* {Key, Value} into a list of tags: an old value is replaced. Copied. */
void tags_set(struct arena *a, struct tree *tags, str key, str value);
str tags_get(const struct tree *tags, str key, bool *ret_found);
/* The tags that TagSpecifications have for one kind of resource, into a list. */
void tags_from(struct arena *a, const struct tree *specs, const char *resource, struct tree *tags);

/* ---- machines.c: the life of a machine ---- */

const char *machine_state_name(enum machine_state st);
int machine_state_code(enum machine_state st);
struct machine *machine_find(const struct sim_aws *s, str id); /* that can be seen by now */
void machine_add(struct machine *m);                           /* made by launch.c: it is pending now */
void machine_end(struct machine *m, const char *reason);       /* shutting down from now on */
void machine_settle(struct machine *m);                        /* hours and usd are right up to now */
void machines_fini(struct sim_aws *s);
void fleet_free(struct fleet *f);
void templates_fini(struct sim_aws *s);

/* ---- launch.c ---- */

struct launch {
    const struct tree *data; /* of the template, with what the request says over it */
    str type, subnet, zone, image;
    str capacity_type; /* of the fleet: spot, on-demand, capacity-block, reserved-capacity */
    str template_id, client_token;
    struct fleet *fleet; /* NULL: RunInstances */
    uint32_t template_version;
    const struct tree *tags; /* TagSpecifications besides the template's */
};

/* Type, image, zone and subnet: of an override (may be NULL), or of the data. */
void launch_place(const struct sim_aws *s, struct launch *l, const struct tree *override);

struct refusal {
    str code, message;
};
/* Whether AWS would say no, and how. */
bool launch_refused(struct sim_aws *s, struct arena *a, const struct launch *l, struct refusal *ret);
int64_t launch_room(const struct sim_aws *s, const struct launch *l); /* how many more of them there can be */
struct machine *launch_one(struct sim_aws *s, const struct launch *l);

/* ---- market.c ---- */

void market_start(struct sim_aws *s);
str machine_event_id(struct arena *a, const struct machine *m); /* of what is scheduled for it */
double machine_price(const struct machine *m);

/* ---- events.c, sqs.c ---- */

void event_emit(struct sim_aws *s, const char *source, const char *detail_type, str resource_arn,
                const struct tree *detail);
void queue_send(struct sim_aws *s, struct queue *q, str body, char ret_id[40]);
void queue_free(struct sim_aws *s, struct queue *q);

/* ---- iam.c, ssm.c ---- */

struct profile *profile_new(struct sim_aws *s, str name, str path, str role, bool given);
void parameter_put(struct sim_aws *s, str name, str value);

/* ---- sts.c ---- */

const struct access_key *keys_find(const struct sim_aws *s, str id);
struct access_key *keys_issue(struct sim_aws *s, str arn, int64_t for_ms);
