/* Fleets: launches that ask for the same become one request for several machines (aws 3.3). */
#include "cloud/ec2/machines_int.h"

struct request {
    struct arena *a; /* of the caller */
    const struct ec2_fleet *fleet;
    struct ec2_fleet_answer *ret;
    struct aws_answer *f;
    struct err *e;
    bool ok;
};

static str key_of(struct arena *a, const struct ec2_fleet *r)
{
    struct sb b = {0};

    ec2_fleet_encode(&b, STR(""), r);
    str key = sb_dup(&b, a);
    sb_fini(&b);
    return key;
}

/* ---- handing out what came ---- */

static struct ec2_override override_dup(struct arena *a, const struct ec2_override *o)
{
    return (struct ec2_override){arena_strdup(a, o->type),
                                 arena_strdup(a, o->subnet),
                                 arena_strdup(a, o->image),
                                 arena_strdup(a, o->zone),
                                 o->priority,
                                 o->has_priority};
}

/* All errors, and one machine or none. */
static struct ec2_fleet_answer share_of(struct arena *a, const struct ec2_fleet_answer *all,
                                        const struct ec2_fleet_group *g, str id)
{
    struct ec2_fleet_answer r = {.id = arena_strdup(a, all->id), .n_errors = all->n_errors};

    r.errors = arena_new_array(a, struct ec2_fleet_error, all->n_errors + 1);
    for (uint32_t i = 0; i < all->n_errors; i++)
        r.errors[i] =
            (struct ec2_fleet_error){arena_strdup(a, all->errors[i].code), arena_strdup(a, all->errors[i].message),
                                     override_dup(a, &all->errors[i].override)};
    if (g) {
        str *own = arena_new_one(a, str);

        *own = arena_strdup(a, id);
        r.groups = arena_new_one(a, struct ec2_fleet_group);
        r.n_groups = 1;
        *r.groups = (struct ec2_fleet_group){own, 1, arena_strdup(a, g->type), arena_strdup(a, g->lifecycle),
                                             override_dup(a, &g->override)};
    } else if (r.n_errors == 0) {
        r.errors[r.n_errors++] = (struct ec2_fleet_error){.code = STR("too few instances returned"),
                                                          .message = STR("too few instances returned")};
    }
    return r;
}

static void hand_out(struct ec2 *p, const struct ec2_fleet_answer *all, struct request **v, uint32_t n)
{
    uint32_t served = 0, n_left = 0;

    for (uint32_t g = 0; g < all->n_groups; g++)
        for (uint32_t i = 0; i < all->groups[g].n; i++) {
            if (served == n) {
                n_left++;
                continue;
            }
            *v[served]->ret = share_of(v[served]->a, all, &all->groups[g], all->groups[g].ids[i]);
            served++;
        }
    if (n_left && p->host.say)
        p->host.say(p->host.ctx, /* error= */ true, "more instances were launched than asked for", NULL);
    for (; served < n; served++)
        *v[served]->ret = share_of(v[served]->a, all, NULL, (str){0});
}

void ec2_fleets_run(void *provider, void **requests, uint32_t n)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct ec2 *p = provider;
    struct request **v = (struct request **)requests;
    struct ec2_fleet all = *v[0]->fleet;
    struct ec2_fleet_answer answer;
    struct aws_answer f;
    struct err e;

    all.count = (int32_t)n;
    bool ok = ec2_create_fleet(p->aws, a, &all, &answer, &f, &e);
    for (uint32_t i = 0; i < n; i++) {
        v[i]->ok = ok;
        if (ok)
            continue;
        *v[i]->e = e;
        *v[i]->f = (struct aws_answer){
            .status = f.status, .code = arena_strdup(v[i]->a, f.code), .message = arena_strdup(v[i]->a, f.message)};
    }
    if (ok)
        hand_out(p, &answer, v, n);
}

bool ec2_fleet_batched(struct ec2 *p, struct arena *a, const struct ec2_fleet *r, struct ec2_fleet_answer *ret,
                       struct aws_answer *f, struct err *e)
{
    struct request q = {.a = a, .fleet = r, .ret = ret, .f = f, .e = e};

    assert(r->count == 1 && !r->dry_run);
    *f = (struct aws_answer){0};
    if (!ec2_batch_ask(p->machines->fleets, key_of(a, r), &q))
        return err_set(e, ERR_IO, "shutting down");
    return q.ok;
}
