/* call - one request to one service, decoded, and how handlers answer it.
 *
 * A handler reads c->in and either fills c->out or says call_fail(); it need not know the wire. One that waits (a long poll) sets c->waits and calls call_done()
 * later. The call lives in the exchange's arena.
 */
#pragma once

#include "sim/aws/account.h"

enum service { EC2, IAM, STS, SSM, SQS, EKS, EVENTS, PRICING, ZONAL_SHIFT };
enum protocol { PROTOCOL_EC2, PROTOCOL_QUERY, PROTOCOL_JSON };

enum { MUTATES = 1, DRY_RUN = 2, UNSIGNED = 4 };

struct call {
    struct sim_aws *s;
    struct exchange *x;
    struct arena *a;
    const struct action *action;
    const struct tree *in; /* a map */
    struct tree *out;      /* a map */
    str code, message;     /* on failure */
    bool dry_run;
    bool waits;
    bool break_off;               /* done, but the answer is lost */
    const struct access_key *who; /* NULL: nobody, or nobody asked */
};

struct action {
    enum service service;
    const char *name;
    void (*fn)(struct call *c);
    uint32_t flags;
    float burst, qps;       /* of requests; 0: the service's own */
    float units, units_qps; /* of machines; 0: no limit */
};

extern const struct action aws_actions[];
extern const uint32_t aws_n_actions;
const char *service_name(enum service v);
enum protocol service_protocol(enum service v);

/* Returns false. */
PRINTF(3, 4) bool call_fail(struct call *c, const char *code, const char *fmt, ...);
void call_done(struct call *c); /* sends the answer */
/* Takes n more tokens of the action's bucket of machines; false: too many, and the call has failed. */
bool call_units(struct call *c, uint32_t n);

/* Members of the input. */
str in_str(const struct call *c, const char *key);
int64_t in_i64(const struct call *c, const char *key, int64_t absent);
const struct tree *in_list(const struct call *c, const char *key); /* NULL: none */
/* A required text; false: it is missing, and the call has failed. */
bool in_required(struct call *c, const char *key, str *ret);

/* ---- form.c ---- */

/* Query parameters into a tree in AWS's JSON member names and types. */
struct tree *form_read(struct arena *a, str query, str *ret_action, str *ret_version, struct err *e);

/* ---- reply.c ---- */

int reply_http_status(enum protocol p, str code);
str reply_text(const struct call *c);       /* of c->out */
str reply_error_text(const struct call *c); /* of c->code, c->message */
void reply_send(struct call *c, int status, str body);

/* ---- filters.c: choosing and paging ---- */

struct listing {
    VEC(struct tree *) docs;
    VEC(uint64_t) serials;
};
void listing_add(struct listing *l, uint64_t serial, struct tree *doc);
void listing_fini(struct listing *l);
bool wild_match(str pattern, str text);
/* Whether a doc passes the call's filters. allowed: names besides tags, NULL at the end. A bad filter fails the call. */
bool filters_check(struct call *c, const char *const *allowed);
bool filters_match(const struct call *c, const struct tree *doc);
/* Where the page begins: 0, or the serial that the token names. */
bool page_start(struct call *c, const char *token_key, uint64_t *ret_after);
/* The page of the listing that follows, into c->out under `member`, with the token for the next one. */
void page_reply(struct call *c, struct listing *l, const char *member, uint32_t most);
str page_token(struct call *c, uint64_t serial);

/* ---- record.c ---- */

void record_call(struct call *c, int status);

/* ---- signature.c ---- */

/* Who sent it. A bad signature fails the call. */
bool signature_check(struct call *c);
bool signature_date(str text, int64_t *ret_ms); /* "20260115T120000Z" */
/* The service that the signature is for; empty: there is none. */
str signature_service(const struct exchange *x);

/* ---- services ---- */

void serve_describe_availability_zones(struct call *c);
void serve_describe_regions(struct call *c);
void serve_describe_vpcs(struct call *c);
void serve_describe_subnets(struct call *c);
void serve_describe_security_groups(struct call *c);
void serve_describe_images(struct call *c);
void serve_describe_instance_types(struct call *c);
void serve_describe_instance_type_offerings(struct call *c);
void serve_describe_capacity_reservations(struct call *c);
void serve_describe_placement_groups(struct call *c);
void serve_describe_spot_price_history(struct call *c);
void serve_create_launch_template(struct call *c);
void serve_create_launch_template_version(struct call *c);
void serve_delete_launch_template(struct call *c);
void serve_describe_launch_templates(struct call *c);
void serve_describe_launch_template_versions(struct call *c);
void serve_create_fleet(struct call *c);
void serve_describe_fleets(struct call *c);
void serve_run_instances(struct call *c);
void serve_describe_instances(struct call *c);
void serve_describe_instance_status(struct call *c);
void serve_terminate_instances(struct call *c);
void serve_create_tags(struct call *c);
void serve_delete_tags(struct call *c);
void serve_describe_tags(struct call *c);
void serve_get_instance_profile(struct call *c);
void serve_create_instance_profile(struct call *c);
void serve_delete_instance_profile(struct call *c);
void serve_list_instance_profiles(struct call *c);
void serve_add_role(struct call *c);
void serve_remove_role(struct call *c);
void serve_tag_instance_profile(struct call *c);
void serve_get_role(struct call *c);
void serve_get_caller_identity(struct call *c);
void serve_assume_role(struct call *c);
void serve_assume_role_with_web_identity(struct call *c);
void serve_get_parameter(struct call *c);
void serve_get_parameters(struct call *c);
void serve_get_parameters_by_path(struct call *c);
void serve_put_parameter(struct call *c);
void serve_get_queue_url(struct call *c);
void serve_list_queues(struct call *c);
void serve_get_queue_attributes(struct call *c);
void serve_receive_message(struct call *c);
void serve_delete_message(struct call *c);
void serve_delete_message_batch(struct call *c);
void serve_change_visibility(struct call *c);
void serve_send_message(struct call *c);
void serve_purge_queue(struct call *c);
void serve_describe_cluster(struct call *c);
void serve_list_clusters(struct call *c);
void serve_list_rules(struct call *c);
void serve_describe_rule(struct call *c);
void serve_list_targets(struct call *c);
void serve_put_events(struct call *c);
void serve_get_products(struct call *c);
void serve_get_managed_resource(struct call *c);

/* ---- templates.c ---- */

/* A template's data, for a fleet or a machine: by id or name, version "$Latest", "$Default" or a number. NULL: the call has failed. */
const struct template_version *template_resolve(struct call *c, const struct tree *spec, struct launch_template **ret);
void template_forget(struct sim_aws *s, str id, str name); /* as if it had never been */
