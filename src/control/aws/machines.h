/* machines - the controllers that look after machines of EC2: interruptions, status checks, orphans, tags, reservations, and what is asked of AWS again from time to time
 * (aws 7.3 to 7.8, 7.10 to 7.13, 5.10).
 *
 * What they ask of the provider is a table of the functions of cloud/ec2/provider.h, so that they can be tried without it; queues, statuses and reservations they ask
 * of AWS themselves.
 */
#pragma once

#include "cloud/ec2/provider.h"
#include "control/control.h"

struct aws_machines;

struct aws_provider { /* functions of cloud/ec2/provider.h by their names */
    struct ec2 *p;
    str (*instance_id)(str provider_id);
    void (*mark_unavailable)(struct ec2 *p, str capacity_type, str type, str zone);
    void (*mark_reservation)(struct ec2 *p, str id);
    bool (*instance_get)(struct ec2 *p, struct arena *a, str id, bool fresh, struct ec2_instance *ret, struct err *e);
    bool (*instance_list)(struct ec2 *p, struct arena *a, struct ec2_instances *ret, struct err *e);
    bool (*instance_tag)(struct ec2 *p, struct arena *a, str id, const struct ec2_tag *tags, uint32_t n, struct err *e);
    bool (*refresh_types)(struct ec2 *p, struct err *e);
    bool (*refresh_prices)(struct ec2 *p, struct err *e);
    bool (*refresh_version)(struct ec2 *p, struct err *e);
    bool (*refresh_parameters)(struct ec2 *p, struct err *e);
    bool (*refresh_shifts)(struct ec2 *p, struct err *e);
    bool (*zone_is_shifted)(const struct ec2 *p, str zone_id);
    void (*learn_memory)(struct ec2 *p, str type, str class, str image, int64_t bytes);
    bool (*adopt_templates)(struct ec2 *p, struct err *e);
};

struct aws_machines_options {
    struct aws *aws; /* outlives the controllers */
    struct aws_provider provider;
    str cluster_name, interruption_queue; /* live as long; the queue may be empty: there is none */
};

/* Adds the controllers to the manager; they begin when it does. The manager ends before aws_machines_free(). */
struct aws_machines *aws_machines_new(struct control *c, const struct aws_machines_options *o);
void aws_machines_free(struct aws_machines *s);
AUTO_DEFINE(aws_machines)

/* For struct aws_options.observer: `ctx` is a struct control, whose metrics may not be there yet. */
void aws_count_attempt(void *ctx, enum aws_service s, const char *action, int status, int64_t took_us);
void aws_count_call(void *ctx, enum aws_service s, const char *action, int status, int64_t took_us, uint32_t retries);
