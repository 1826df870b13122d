/* Machines that there are: asked for, listed, tagged, ended; remembered between two looks (aws 4.10). */
#include <stdlib.h>

#include "cloud/ec2/machines_int.h"

#define FLEET_IDLE_US 35000
#define ID_IDLE_US 100000
#define MAX_WINDOW_US 1000000
#define ALONE_WORKERS 50 /* who ask for machines one by one, after asking for all of them did not do */

/* ---- what is known ---- */

struct known {
    struct htab_node node; /* by id */
    struct arena *a;
    struct ec2_instance i;
    bool listed; /* by the listing under way */
};

static struct ec2_instance dup(struct arena *a, const struct ec2_instance *i)
{
    struct ec2_instance r = *i;
    str *texts[] = {&r.id,      &r.image,  &r.type,         &r.state,     &r.zone,        &r.zone_id,
                    &r.tenancy, &r.subnet, &r.spot_request, &r.lifecycle, &r.reservation, &r.reservation_preference};

    for (size_t x = 0; x < ARRAY_LEN(texts); x++)
        *texts[x] = arena_strdup(a, *texts[x]);
    str *groups = arena_new_array(a, str, r.n_groups);
    for (uint32_t x = 0; x < r.n_groups; x++)
        groups[x] = arena_strdup(a, i->groups[x]);
    r.groups = groups;
    struct ec2_tag *tags = arena_new_array(a, struct ec2_tag, r.n_tags);
    for (uint32_t x = 0; x < r.n_tags; x++)
        tags[x] = (struct ec2_tag){arena_strdup(a, i->tags[x].key), arena_strdup(a, i->tags[x].value)};
    r.tags = tags;
    return r;
}

static struct known *known_of(const struct ec2 *p, str id)
{
    return HTAB_THING(htab_get(&p->machines->known, id), struct known, node);
}

static void forget(struct ec2 *p, struct known *k)
{
    if (!k)
        return;
    htab_del(&p->machines->known, &k->node);
    arena_free(k->a);
    free(k);
}

static struct known *remember(struct ec2 *p, const struct ec2_instance *i)
{
    struct known *k = xcalloc(1, sizeof(*k));

    forget(p, known_of(p, i->id));
    k->a = arena_new(1024);
    k->i = dup(k->a, i);
    k->node.key = k->i.id;
    htab_put(&p->machines->known, &k->node);
    return k;
}

/* ---- asked for one by one ---- */

struct ask { /* one request of a batch */
    struct arena *a;
    str id;
    struct ec2_instance *ret; /* describing only */
    struct err *e;
    bool ok, answered;
};

struct alone {
    struct ec2 *p;
    void (*one)(struct ec2 *p, struct ask *q);
    struct ask **v;
    uint32_t n, next, n_running;
    struct fiber *waits;
};

static void work_alone(void *arg)
{
    struct alone *w = arg;

    while (w->next < w->n) {
        struct ask *q = w->v[w->next++];

        if (!q->answered)
            w->one(w->p, q);
    }
    if (--w->n_running == 0)
        fiber_wake(w->waits);
}

/* Those that have no answer yet, a few at a time. */
static void ask_alone(struct ec2 *p, void (*one)(struct ec2 *p, struct ask *q), struct ask **v, uint32_t n)
{
    struct alone w = {.p = p, .one = one, .v = v, .n = n, .waits = fiber_self()};
    uint32_t left = 0;

    for (uint32_t i = 0; i < n; i++)
        left += !v[i]->answered;
    w.n_running = MIN(left, (uint32_t)ALONE_WORKERS);
    for (uint32_t i = 0, workers = w.n_running; i < workers; i++)
        fiber_go(p->world, "ec2 instance", work_alone, &w);
    while (w.n_running)
        fiber_park();
}

static uint32_t merged_ids(struct arena *a, struct ask **v, uint32_t n, str **ret)
{
    struct strmap seen = {0};
    uint32_t n_ids = 0;

    *ret = arena_new_array(a, str, n);
    for (uint32_t i = 0; i < n; i++)
        if (strmap_get(&seen, v[i]->id) == MAP_NONE) {
            strmap_put(&seen, v[i]->id, i);
            (*ret)[n_ids++] = v[i]->id;
        }
    strmap_fini(&seen);
    return n_ids;
}

/* Whether an error may be about one of many. Then each is asked for alone. When EC2 has too much to do, or cannot be reached, a call for each would make that worse: upstream
 * makes them all the same, and one for each machine that is over besides (aws 3.3). */
static bool is_of_one(const struct err *e)
{
    return e->kind != ERR_THROTTLED && e->kind != ERR_IO && e->kind != ERR_TIMEOUT;
}

/* ---- describing ---- */

static void describe_one(struct ec2 *p, struct ask *q)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct ec2_instances found;

    q->answered = true;
    if (!ec2_describe_instances(p->aws, a, &q->id, 1, NULL, 0, &found, q->e))
        return;
    if (found.n == 0)
        (void)err_set(q->e, ERR_NOT_FOUND, "instance " STR_FMT " not found", STR_ARG(q->id));
    else if (found.n > 1)
        (void)err_set(q->e, ERR_INVALID, "%u instances are called " STR_FMT, found.n, STR_ARG(q->id));
    else
        q->ok = true;
    if (q->ok)
        *q->ret = dup(q->a, &found.v[0]);
}

static void describe_run(void *provider, void **requests, uint32_t n)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct ec2 *p = provider;
    struct ask **v = (struct ask **)requests;
    struct ec2_instances found = {0};
    struct strmap by_id = {0};
    struct err e;
    str *ids;
    uint32_t n_ids = merged_ids(a, v, n, &ids);
    bool ok = ec2_describe_instances(p->aws, a, ids, n_ids, NULL, 0, &found, &e);

    for (uint32_t i = 0; ok && i < found.n; i++)
        strmap_put(&by_id, found.v[i].id, i);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t ix = strmap_get(&by_id, v[i]->id);

        v[i]->answered = ok || !is_of_one(&e);
        v[i]->ok = ix != MAP_NONE;
        if (v[i]->ok)
            *v[i]->ret = dup(v[i]->a, &found.v[ix]);
        else if (ok) /* EC2 refuses ids that never were: these have been, and are over */
            (void)err_set(v[i]->e, ERR_NOT_FOUND, "instance " STR_FMT " not found", STR_ARG(v[i]->id));
        else
            *v[i]->e = e;
    }
    strmap_fini(&by_id);
    ask_alone(p, describe_one, v, n);
}

/* ---- ending ---- */

static bool is_ending(str state)
{
    return str_is(state, "shutting-down") || str_is(state, "terminated");
}

static void terminate_one(struct ec2 *p, struct ask *q)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct ec2_state_change *changes;
    uint32_t n;

    q->answered = true;
    q->ok = ec2_terminate(p->aws, a, &q->id, 1, &changes, &n, q->e);
}

static void terminate_run(void *provider, void **requests, uint32_t n)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct ec2 *p = provider;
    struct ask **v = (struct ask **)requests;
    struct ec2_state_change *changes = NULL;
    struct strmap ended = {0};
    uint32_t n_changes;
    struct err e;
    str *ids;
    uint32_t n_ids = merged_ids(a, v, n, &ids);

    bool ok = ec2_terminate(p->aws, a, ids, n_ids, &changes, &n_changes, &e);
    if (!ok) {
        n_changes = 0;
        if (p->host.say)
            p->host.say(p->host.ctx, /* error= */ true, "failed terminating instances", &e);
    }
    for (uint32_t i = 0; i < n_changes; i++)
        if (is_ending(changes[i].is))
            strmap_put(&ended, changes[i].id, i);
    for (uint32_t i = 0; i < n; i++) {
        v[i]->ok = strmap_get(&ended, v[i]->id) != MAP_NONE;
        v[i]->answered = v[i]->ok || (!ok && !is_of_one(&e));
        if (v[i]->answered && !v[i]->ok)
            *v[i]->e = e;
    }
    strmap_fini(&ended);
    ask_alone(p, terminate_one, v, n);
}

/* ---- life ---- */

static struct ec2_batch *batch_of(struct ec2 *p, const char *name, int64_t idle_us, uint32_t most,
                                  void (*run)(void *ctx, void **requests, uint32_t n))
{
    return ec2_batch_new(p->world, &(struct ec2_batch_rules){.name = name,
                                                             .idle_us = idle_us,
                                                             .max_us = MAX_WINDOW_US,
                                                             .max_items = most,
                                                             .run = run,
                                                             .ctx = p,
                                                             .observed = p->host.batched,
                                                             .observed_ctx = p->host.ctx});
}

struct ec2_machines *ec2_machines_new(struct ec2 *p)
{
    struct ec2_machines *m = xcalloc(1, sizeof(*m));

    m->fleets = batch_of(p, "create_fleet", FLEET_IDLE_US, 1000, ec2_fleets_run);
    m->describes = batch_of(p, "describe_instances", ID_IDLE_US, 500, describe_run);
    m->terminates = batch_of(p, "terminate_instances", ID_IDLE_US, 500, terminate_run);
    return m;
}

void ec2_machines_free(struct ec2_machines *m)
{
    struct htab_walk walk = {0};
    struct htab_node *n;

    if (!m)
        return;
    ec2_batch_free(m->fleets);
    ec2_batch_free(m->describes);
    ec2_batch_free(m->terminates);
    while ((n = htab_next(&m->known, &walk)) != NULL) {
        struct known *k = HTAB_THING(n, struct known, node);

        arena_free(k->a);
        free(k);
    }
    htab_fini(&m->known);
    free(m);
}

/* ---- what others ask ---- */

bool ec2_instance_get(struct ec2 *p, struct arena *a, str id, bool fresh, struct ec2_instance *ret, struct err *e)
{
    struct known *k = known_of(p, id);
    struct ec2_instance found;
    struct ask q = {.a = a, .id = id, .ret = &found, .e = e};

    if (k && (!fresh || ec2_zone_is_shifted(p, k->i.zone_id))) {
        *ret = dup(a, &k->i);
        return true;
    }
    if (!ec2_batch_ask(p->machines->describes, STR(""), &q))
        return err_set(e, ERR_IO, "shutting down");
    if (!q.ok) {
        if (e->kind == ERR_NOT_FOUND)
            forget(p, known_of(p, id));
        return false;
    }
    (void)remember(p, &found);
    *ret = found;
    return true;
}

bool ec2_instance_list(struct ec2 *p, struct arena *a, struct ec2_instances *ret, struct err *e)
{
    struct ec2_filter filters[] = {
        ec2_filter_tag(a, STR("karpenter.sh/nodepool"), STR("*")),
        ec2_filter_tag(a, STR("karpenter.k8s.aws/ec2nodeclass"), STR("*")),
        ec2_filter_tag(a, STR("eks:eks-cluster-name"), p->cluster.name),
    };
    struct htab_walk walk = {0};
    struct ec2_instances found;
    struct htab_node *n;

    if (!ec2_describe_instances(p->aws, a, NULL, 0, filters, ARRAY_LEN(filters), &found, e))
        return false;
    for (uint32_t i = 0; i < found.n; i++)
        remember(p, &found.v[i])->listed = true;
    while ((n = htab_next(&p->machines->known, &walk)) != NULL) { /* the last answer itself may go */
        struct known *k = HTAB_THING(n, struct known, node);

        if (!k->listed && !ec2_zone_is_shifted(p, k->i.zone_id))
            forget(p, k);
        else
            k->listed = false;
    }
    *ret = found;
    return true;
}

bool ec2_instance_tag(struct ec2 *p, struct arena *a, str id, const struct ec2_tag *tags, uint32_t n, struct err *e)
{
    const struct known *k = known_of(p, id);

    if (k && ec2_zone_is_shifted(p, k->i.zone_id))
        return err_set(e, ERR_IO, "instance " STR_FMT " is in zone " STR_FMT ", which is shifted away from",
                       STR_ARG(id), STR_ARG(k->i.zone));
    return ec2_create_tags(p->aws, a, id, tags, n, e);
}

bool ec2_instance_end(struct ec2 *p, struct arena *a, str id, struct err *e)
{
    struct ec2_instance i;
    struct ask q = {.a = a, .id = id, .e = e};

    if (!ec2_instance_get(p, a, id, /* fresh= */ true, &i, e))
        return false;
    if (ec2_zone_is_shifted(p, i.zone_id))
        return err_set(e, ERR_IO, "instance " STR_FMT " is in zone " STR_FMT ", which is shifted away from",
                       STR_ARG(id), STR_ARG(i.zone));
    if (str_is(i.state, "shutting-down"))
        return true;
    if (!ec2_batch_ask(p->machines->terminates, STR(""), &q))
        return err_set(e, ERR_IO, "shutting down");
    if (!q.ok && p->host.termination_failed)
        p->host.termination_failed(p->host.ctx, i.zone, i.zone_id);
    return q.ok;
}
