/* fleet - CreateFleet of type instant: which override gets the machine, and why the others did not (aws 4.7, 4.8). */
#include <math.h>

#include "sim/aws/call.h"

#define MAX_OVERRIDES 10000u
#define MAX_MACHINES 10000

/* One override of one template, in the order in which they are tried. */
struct choice {
    const struct tree *config, *override;
    struct launch l;
    double priority;
    struct refusal refusal; /* code empty: it was not refused */
    VEC(struct machine *) made;
};

struct choices {
    VEC(struct choice) v;
};

void fleet_free(struct fleet *f)
{
    arena_free(f->a);
}

static int before(const void *x, const void *y, void *ctx)
{
    const struct choice *a = x, *b = y;
    int c;

    (void)ctx;
    if (a->priority < b->priority || a->priority > b->priority)
        return a->priority < b->priority ? -1 : 1;
    c = str_cmp(a->l.type, b->l.type);
    return c ? c : str_cmp(a->l.subnet, b->l.subnet);
}

static void choice_add(struct call *c, struct choices *all, struct launch l, const struct tree *config,
                       const struct tree *o)
{
    struct choice *ch = vec_add(&all->v);

    launch_place(c->s, &l, o);
    ch->config = config;
    ch->override = o;
    ch->l = l;
    if (!o || !str_to_double(tree_scalar(tree_get(o, "Priority")), &ch->priority)) {
        const struct pool *p = account_pool(c->s, l.type, l.zone);
        double usd = !p ? 0 : str_is(l.capacity_type, "spot") ? p->spot : p->on_demand;

        ch->priority = isnan(usd) ? 0 : usd;
    }
}

static bool choices_read(struct call *c, str capacity_type, struct choices *all)
{
    const struct tree *configs = in_list(c, "LaunchTemplateConfigs");

    if (!configs)
        return call_fail(c, "MissingParameter", "The request must contain the parameter LaunchTemplateConfigs");
    for (uint32_t i = 0; i < configs->n; i++) {
        const struct tree *spec = tree_get(&configs->items[i], "LaunchTemplateSpecification");
        const struct tree *overrides = tree_get(&configs->items[i], "Overrides");
        struct launch_template *t;
        const struct template_version *v = template_resolve(c, spec, &t);

        if (!v)
            return false;
        struct launch l = {
            .data = v->data,
            .capacity_type = capacity_type,
            .template_id = t->id,
            .template_version = (uint32_t)(v - t->versions.v) + 1,
            .client_token = in_str(c, "ClientToken"),
            .tags = tree_get(c->in, "TagSpecifications"),
        };
        uint32_t n = overrides && overrides->kind == TREE_LIST ? overrides->n : 0;

        if (all->v.n + n > MAX_OVERRIDES)
            return call_fail(c, "InvalidParameterValue", "A fleet has at most %u overrides", MAX_OVERRIDES);
        for (uint32_t j = 0; j < n; j++)
            choice_add(c, all, l, &configs->items[i], &overrides->items[j]);
        if (n == 0)
            choice_add(c, all, l, &configs->items[i], NULL);
    }
    sort_stable(all->v.v, all->v.n, sizeof(struct choice), before, NULL);
    return true;
}

/* ---- the answer ---- */

static struct tree *template_and_overrides(struct call *c, const struct choice *ch)
{
    struct tree *t = tree_new_map(c->a);
    struct tree *spec = tree_sub(c->a, t, "LaunchTemplateSpecification");

    tree_set_str(c->a, spec, "LaunchTemplateId", ch->l.template_id);
    tree_set_str(c->a, spec, "Version", arena_printf(c->a, "%u", ch->l.template_version));
    struct tree *o = ch->override ? tree_copy(c->a, ch->override) : tree_new_map(c->a);

    tree_set_str(c->a, o, "InstanceType", ch->l.type);
    tree_set_str(c->a, o, "SubnetId", ch->l.subnet);
    tree_set_str(c->a, o, "AvailabilityZone", ch->l.zone);
    if (ch->l.image.n)
        tree_set_str(c->a, o, "ImageId", ch->l.image);
    tree_set(c->a, t, "Overrides", *o);
    return t;
}

static str lifecycle(const struct choice *ch)
{
    str market = tree_str(tree_at(ch->l.data, "InstanceMarketOptions", "MarketType", NULL));

    return market.n ? market : str_is(ch->l.capacity_type, "spot") ? STR("spot") : STR("on-demand");
}

static void answer(struct call *c, const struct choices *all)
{
    struct tree *errors = tree_new_list(c->a), *made = tree_new_list(c->a);

    for (uint32_t i = 0; i < all->v.n; i++) {
        const struct choice *ch = &all->v.v[i];

        if (ch->refusal.code.n) {
            struct tree *e = tree_push(c->a, errors, *tree_new_map(c->a));

            tree_set(c->a, e, "LaunchTemplateAndOverrides", *template_and_overrides(c, ch));
            tree_set_str(c->a, e, "Lifecycle", lifecycle(ch));
            tree_set_str(c->a, e, "ErrorCode", ch->refusal.code);
            tree_set_str(c->a, e, "ErrorMessage", ch->refusal.message);
        }
        if (ch->made.n == 0)
            continue;
        struct tree *group = tree_push(c->a, made, *tree_new_map(c->a));

        tree_set(c->a, group, "LaunchTemplateAndOverrides", *template_and_overrides(c, ch));
        tree_set_str(c->a, group, "Lifecycle", lifecycle(ch));
        for (uint32_t j = 0; j < ch->made.n; j++)
            (void)tree_push(c->a, tree_sublist(c->a, group, "InstanceIds"), tree_of_str(ch->made.v[j]->m.id));
        tree_set_str(c->a, group, "InstanceType", ch->l.type);
    }
    tree_set(c->a, c->out, "Errors", *errors);
    tree_set(c->a, c->out, "Instances", *made);
}

/* ---- the launch ---- */

static struct fleet *fleet_new(struct call *c)
{
    struct arena *a = arena_new(0);
    struct fleet *f = arena_new_one(a, struct fleet);

    f->a = a;
    f->id = arena_printf(a, "fleet-" STR_FMT, STR_ARG(account_uuid(c->s, a)));
    f->serial = ++c->s->serial;
    f->doc = tree_new_map(a);
    tree_set_str(a, f->doc, "FleetId", f->id);
    tree_set_str(a, f->doc, "FleetState", STR("active"));
    tree_set_str(a, f->doc, "ActivityStatus", STR("fulfilled"));
    tree_set_str(a, f->doc, "Type", STR("instant"));
    tree_set_str(a, f->doc, "CreateTime", account_time(a, account_now_ms(c->s)));
    tree_set_str(a, f->doc, "ClientToken", arena_strdup(a, in_str(c, "ClientToken")));
    tree_set(a, f->doc, "TargetCapacitySpecification", *tree_copy(a, tree_get(c->in, "TargetCapacitySpecification")));
    tags_from(a, tree_get(c->in, "TagSpecifications"), "fleet", tree_sublist(a, f->doc, "Tags"));
    return f;
}

/* Every override is tried once, in order, for as many machines as it has room for: those that are refused are told of even if others did it. */
static void launch_all(struct call *c, struct choices *all, struct fleet *f, int64_t want)
{
    for (uint32_t i = 0; i < all->v.n; i++) {
        struct choice *ch = &all->v.v[i];

        ch->l.fleet = f;
        while (!launch_refused(c->s, c->a, &ch->l, &ch->refusal) && want > 0) {
            vec_push(&ch->made, launch_one(c->s, &ch->l));
            if (--want == 0)
                break;
        }
    }
}

static bool request_check(struct call *c, str *ret_capacity_type, int64_t *ret_want)
{
    const struct tree *target = tree_get(c->in, "TargetCapacitySpecification");
    str type = tree_str(tree_get(target, "DefaultTargetCapacityType"));

    *ret_want = 0;
    (void)tree_to_i64(tree_get(target, "TotalTargetCapacity"), ret_want);
    *ret_capacity_type = type.n ? type : STR("on-demand");
    if (!str_is(in_str(c, "Type"), "instant"))
        return call_fail(c, "InvalidParameterValue", "Only fleets of type instant are simulated");
    if (*ret_want < 1 || *ret_want > MAX_MACHINES)
        return call_fail(c, "InvalidParameterValue", "TotalTargetCapacity must be from 1 to %d", MAX_MACHINES);
    return true;
}

void serve_create_fleet(struct call *c)
{
    struct choices all = {0};
    str capacity_type;
    int64_t want;

    if (!request_check(c, &capacity_type, &want) || !choices_read(c, capacity_type, &all))
        goto out;
    if (c->dry_run) {
        (void)call_fail(c, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.");
        goto out;
    }
    struct fleet *f = fleet_new(c);

    launch_all(c, &all, f, want);
    tree_set_str(c->a, c->out, "FleetId", arena_strdup(c->a, f->id));
    answer(c, &all);
    if (f->n_machines)
        vec_push(&c->s->fleets, f);
    else
        fleet_free(f);
out:
    for (uint32_t i = 0; i < all.v.n; i++)
        vec_fini(&all.v.v[i].made);
    vec_fini(&all.v);
}

void serve_describe_fleets(struct call *c)
{
    static const char *const filters[] = {"activity-status", "fleet-state", "type", NULL};
    const struct tree *ids = in_list(c, "FleetIds");
    struct listing l = {0};

    if (!filters_check(c, filters))
        return;
    for (uint32_t i = 0; i < c->s->fleets.n; i++) {
        struct fleet *f = c->s->fleets.v[i];
        bool wanted = !ids;

        for (uint32_t j = 0; ids && j < ids->n; j++)
            wanted = wanted || str_eq(tree_str(&ids->items[j]), f->id);
        if (wanted && filters_match(c, f->doc))
            listing_add(&l, f->serial, f->doc);
    }
    page_reply(c, &l, "Fleets", 100);
    listing_fini(&l);
}
