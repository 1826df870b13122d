/* aws - an account from its beginning to its end, and what is told about it from outside. */
#include "sim/aws/aws.h"

#include <stdio.h>

#include "sim/aws/call.h"

struct sim_aws *sim_aws_new(const struct sim_aws_options *o, struct err *e)
{
    struct sim_aws *s = xcalloc(1, sizeof(*s));

    s->o = *o;
    s->o.account = NULL;
    s->w = o->world;
    s->a = arena_new(0);
    s->tallies = xcalloc(aws_n_actions, sizeof(*s->tallies));
    for (uint32_t i = 0; i < aws_n_actions; i++) {
        const struct action *a = &aws_actions[i];

        s->tallies[i].requests = (struct bucket){.qps = (double)a->qps, .burst = (double)a->burst};
        s->tallies[i].other = (struct bucket){.qps = (double)a->units_qps, .burst = (double)a->units};
    }
    (void)snprintf(s->imds_token, sizeof(s->imds_token), "AQ%016llx", (unsigned long long)world_random(s->w));
    if (!account_load(s, o->account, e)) {
        sim_aws_free(s);
        return NULL;
    }
    market_start(s);
    return s;
}

void sim_aws_free(struct sim_aws *s)
{
    if (!s)
        return;
    timer_stop(s->w, &s->walk);
    machines_fini(s);
    templates_fini(s);
    for (uint32_t i = 0; i < s->profiles.n; i++)
        arena_free(s->profiles.v[i]->a);
    for (uint32_t i = 0; i < s->keys.n; i++)
        free(s->keys.v[i]);
    for (uint32_t i = 0; i < s->queues.n; i++)
        queue_free(s, s->queues.v[i]);
    for (uint32_t i = 0; i < s->remembered.n; i++)
        free((void *)s->remembered.v[i].token.p);
    vec_fini(&s->profiles);
    vec_fini(&s->keys);
    vec_fini(&s->queues);
    vec_fini(&s->remembered);
    vec_fini(&s->zones.v);
    vec_fini(&s->vpcs.v);
    vec_fini(&s->groups.v);
    vec_fini(&s->images.v);
    vec_fini(&s->types.v);
    vec_fini(&s->placement_groups.v);
    vec_fini(&s->offerings.v);
    vec_fini(&s->subnets);
    vec_fini(&s->reservations);
    vec_fini(&s->pools);
    vec_fini(&s->roles);
    vec_fini(&s->rules);
    vec_fini(&s->shifts);
    vec_fini(&s->fault_calls);
    vec_fini(&s->fault_fleets);
    free(s->tallies);
    arena_free(s->a);
    free(s);
}

void sim_aws_set_faults(struct sim_aws *s, const struct sim_aws_faults *f)
{
    s->faults = *f;
}

bool sim_aws_publish_image(struct sim_aws *s, const struct tree *image, str parameter, struct err *e)
{
    str id = tree_str(tree_get(image, "ImageId"));

    if (!str_starts(id, STR("ami-")) || tree_str(tree_get(image, "Architecture")).n == 0)
        return err_set(e, ERR_INVALID, "an image needs an ImageId (ami-…) and an Architecture");
    if (docs_find(&s->images, "ImageId", id))
        return err_set(e, ERR_CONFLICT, "image " STR_FMT " is there already", STR_ARG(id));
    struct tree *doc = tree_copy(s->a, image);

    if (!tree_get(doc, "State"))
        tree_set_str(s->a, doc, "State", STR("available"));
    if (!tree_get(doc, "CreationDate"))
        tree_set_str(s->a, doc, "CreationDate", account_time(s->a, account_now_ms(s)));
    vec_push(&s->images.v, doc);
    if (parameter.n)
        parameter_put(s, parameter, id);
    return true;
}

void sim_aws_set_parameter(struct sim_aws *s, str name, str value)
{
    parameter_put(s, name, value);
}

/* ---- what there is ---- */

struct found {
    uint64_t serial;
    struct sim_aws_resource r;
};

static int by_serial(const void *x, const void *y, void *ctx)
{
    const struct found *a = x, *b = y;

    (void)ctx;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

void sim_aws_each(struct sim_aws *s, void (*fn)(void *ctx, const struct sim_aws_resource *r), void *ctx)
{
    VEC(struct found) all = {0};

    for (uint32_t i = 0; i < s->machine_list.n; i++) {
        struct machine *m = s->machine_list.v[i];

        machine_settle(m);
        vec_push(&all, (struct found){m->serial,
                                      {.kind = "instance",
                                       .id = m->m.id,
                                       .name = m->m.private_dns,
                                       .state = machine_state_name(m->state),
                                       .tags = tree_get(m->doc, "Tags"),
                                       .hours = m->hours,
                                       .usd = m->usd}});
    }
    for (uint32_t i = 0; i < s->templates.n; i++) {
        const struct launch_template *t = s->templates.v[i];

        vec_push(&all, (struct found){t->serial,
                                      {.kind = "launch-template",
                                       .id = t->id,
                                       .name = t->name,
                                       .state = "",
                                       .tags = tree_get(t->doc, "Tags")}});
    }
    for (uint32_t i = 0; i < s->fleets.n; i++) {
        const struct fleet *f = s->fleets.v[i];

        vec_push(&all, (struct found){f->serial,
                                      {.kind = "fleet", .id = f->id, .state = "", .tags = tree_get(f->doc, "Tags")}});
    }
    for (uint32_t i = 0; i < s->profiles.n; i++) {
        const struct profile *p = s->profiles.v[i];

        vec_push(&all, (struct found){p->serial,
                                      {.kind = "instance-profile",
                                       .id = p->name,
                                       .name = p->name,
                                       .state = "",
                                       .tags = tree_get(p->doc, "Tags"),
                                       .given = p->given}});
    }
    sort_stable(all.v, all.n, sizeof(struct found), by_serial, NULL);
    for (uint32_t i = 0; i < all.n; i++)
        fn(ctx, &all.v[i].r);
    vec_fini(&all);
}

struct sim_aws_bill sim_aws_bill(struct sim_aws *s)
{
    struct sim_aws_bill b = {.launched = s->launched, .ended = s->ended, .hours = s->past_hours, .usd = s->past_usd};

    for (uint32_t i = 0; i < s->machine_list.n; i++) {
        machine_settle(s->machine_list.v[i]);
        b.hours += s->machine_list.v[i]->hours;
        b.usd += s->machine_list.v[i]->usd;
    }
    return b;
}

/* ---- how often it was asked ---- */

static bool counts(uint32_t action, const char *of)
{
    return strcmp(of, aws_actions[action].name) == 0 || strcmp(of, service_name(aws_actions[action].service)) == 0;
}

uint64_t sim_aws_calls(const struct sim_aws *s, const char *of)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < aws_n_actions; i++)
        n += counts(i, of) ? s->tallies[i].calls : 0;
    return n;
}

uint64_t sim_aws_throttled(const struct sim_aws *s, const char *of)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < aws_n_actions; i++)
        n += counts(i, of) ? s->tallies[i].throttled : 0;
    return n;
}
