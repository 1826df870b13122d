/* What is asked of AWS again from time to time: providers.instancetype, providers.pricing, providers.ssm.invalidation, providers.version (aws 1.2, 7.10, 7.11); and what is asked once,
 * by a new leader: providers.launchtemplate (aws 1.1 step 13). */
#include "control/aws/machines_int.h"

#define HOUR_MS (60 * MINUTE_MS)

static struct result again(struct reconcile *r, bool (*fn)(struct ec2 *p, struct err *e), int64_t after_ms)
{
    struct aws_machines *s = r->ctx;

    return fn(s->o.provider.p, &r->err) ? result_after_ms(after_ms) : result_error();
}

static struct result reconcile_types(struct reconcile *r)
{
    return again(r, ((struct aws_machines *)r->ctx)->o.provider.refresh_types, 12 * HOUR_MS);
}

static struct result reconcile_prices(struct reconcile *r)
{
    return again(r, ((struct aws_machines *)r->ctx)->o.provider.refresh_prices, 12 * HOUR_MS);
}

static struct result reconcile_parameters(struct reconcile *r)
{
    return again(r, ((struct aws_machines *)r->ctx)->o.provider.refresh_parameters, 30 * MINUTE_MS);
}

static struct result reconcile_version(struct reconcile *r)
{
    return again(r, ((struct aws_machines *)r->ctx)->o.provider.refresh_version, 5 * MINUTE_MS);
}

/* Once: those that we make ourselves we know. */
static struct result reconcile_templates(struct reconcile *r)
{
    struct aws_machines *s = r->ctx;

    return s->o.provider.adopt_templates(s->o.provider.p, &r->err) ? RESULT_OK : result_error();
}

void refreshes_register(struct aws_machines *s)
{
    (void)machines_singleton(s, "providers.instancetype", reconcile_types);
    (void)machines_singleton(s, "providers.pricing", reconcile_prices);
    (void)machines_singleton(s, "providers.ssm.invalidation", reconcile_parameters);
    (void)machines_singleton(s, "providers.version", reconcile_version);
    (void)machines_singleton(s, "providers.launchtemplate", reconcile_templates);
}
