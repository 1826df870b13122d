/* The fleet request of a launch: where to, from which templates, and what its errors tell (aws 4.5 to 4.8). */
#include <stdio.h>

#include "aws/ec2_failure.h"
#include "cloud/ec2/launch_int.h"

#define FLEXIBLE_ENOUGH 5 /* types; fewer of them on demand, where spot would do, are worth a word */
#define GONE "InvalidLaunchTemplateName.NotFoundException"

/* ---- errors ---- */

/* The words of aws 3.8 become the error; `text` goes to the log, with what is known of the call that failed (`from` may be NULL, and may be `e`). */
static bool create_error(const struct ec2_launching *l, const char *lead, str text, const struct err *from,
                         struct err *e)
{
    struct launch_failure why = ec2_classify(text);
    struct err detail = from ? *from : (struct err){0};

    if (l->p->host.say) {
        (void)snprintf(detail.msg, sizeof(detail.msg), STR_FMT, STR_ARG(text));
        l->p->host.say(l->p->host.ctx, /* error= */ true, "failed launching instance", &detail);
    }
    return ec2_launch_error(e, ERR_IO, why.reason, arena_printf(l->a, "%s%s", lead, why.message).p);
}

static str text_of(struct arena *a, const struct aws_answer *f, const struct err *e)
{
    if (f->code.n)
        return arena_printf(a, STR_FMT ": " STR_FMT, STR_ARG(f->code), STR_ARG(f->message));
    return arena_strdup(a, str_c(e->msg));
}

/* ---- subnets ---- */

static struct ec2_pick *pick_of_zone(struct ec2_launching *l, str zone)
{
    for (uint32_t i = 0; i < l->n_picks; i++)
        if (str_eq(l->picks[i].subnet->zone, zone))
            return &l->picks[i];
    return NULL;
}

static bool pick_subnets(struct ec2_launching *l, struct err *e)
{
    const struct ec2_class *k = l->k;

    if (k->status.n_subnets == 0)
        return ec2_launch_error(e, ERR_IO, "SubnetResolutionFailed", "Error getting subnets");
    l->picks = arena_new_array(l->a, struct ec2_pick, k->status.n_subnets);
    l->n_picks = 0;
    for (uint32_t i = 0; i < k->status.n_subnets; i++) {
        const struct ec2_class_subnet *s = &k->status.subnets[i];
        struct ec2_pick *at = pick_of_zone(l, s->zone);

        if (at && ec2_subnet_free(l->p, at->subnet->id) >= ec2_subnet_free(l->p, s->id))
            continue;
        if (!at)
            at = &l->picks[l->n_picks++];
        *at = (struct ec2_pick){.subnet = s, .listed = ec2_subnet_listed(l->p, s->id)};
    }
    for (uint32_t i = 0; i < l->n_picks; i++) {
        l->picks[i].pods = ec2_fewest_pods(l->p->syms, &l->choice, l->picks[i].subnet->zone);
        ec2_subnet_take(l->p, l->picks[i].subnet->id, l->picks[i].pods);
    }
    return true;
}

static bool was_asked(const struct ec2_fleet *r, str subnet)
{
    for (uint32_t i = 0; i < r->n_configs; i++)
        for (uint32_t o = 0; o < r->configs[i].n; o++)
            if (str_eq(r->configs[i].overrides[o].subnet, subnet))
                return true;
    return false;
}

/* Addresses of subnets that the fleet did not use are free again, unless they were counted anew meanwhile. */
static void give_back(struct ec2_launching *l, const struct ec2_fleet *r, str landed)
{
    for (uint32_t i = 0; i < l->n_picks; i++) {
        const struct ec2_pick *at = &l->picks[i];

        if (str_eq(at->subnet->id, landed) || !was_asked(r, at->subnet->id))
            continue;
        if (at->listed >= 0 && ec2_subnet_listed(l->p, at->subnet->id) == at->listed &&
            ec2_subnet_has_inflight(l->p, at->subnet->id))
            ec2_subnet_take(l->p, at->subnet->id, -at->pods);
    }
}

/* ---- templates and overrides ---- */

bool ec2_claim_wants_efa(const struct ec2_launching *l)
{
    return reslist_get(&l->claim->requests, sym_of(l->p->syms, STR("vpc.amazonaws.com/efa"))) != NULL;
}

static const struct ec2_class_reservation *reservation_of(const struct ec2_class *k, str id)
{
    for (uint32_t i = 0; id.n && i < k->status.n_reservations; i++)
        if (str_eq(k->status.reservations[i].id, id))
            return &k->status.reservations[i];
    return NULL;
}

static int32_t partition_of(const struct ec2_launching *l)
{
    int64_t n;

    if (!l->placement || !str_is(l->placement->strategy, "partition") || !str_to_i64(l->choice.partition, &n) ||
        n < 1 || n > INT32_MAX)
        return 0;
    return (int32_t)n;
}

static bool ensure_template(struct ec2_launching *l, const struct ec2_launch_group *g, str *ret, struct err *e)
{
    struct ec2_tags tags = {"launch-template", l->tags, l->n_tags};
    struct ec2_template_request request = {
        .class = l->k,
        .claim = l->claim,
        .ami = g->ami,
        .type = l->choice.v[g->options[0]].detail,
        .capacity_type = sym_str(l->p->syms, l->choice.capacity_type).p,
        .tenancy = l->choice.tenancy,
        .reservation = reservation_of(l->k, g->reservation),
        .placement = l->placement,
        .partition = partition_of(l),
        .n_efa = g->n_efa,
        .tags = l->tags,
        .n_tags = l->n_tags,
    };
    struct ec2_template_data data;
    struct aws_answer f = {0};

    if (ec2_template_data(l->p, l->a, &request, &data, e) &&
        ec2_template_ensure(l->p, l->a, &data, &tags, l->k->name, ret, &f, e))
        return true;
    return create_error(l, "Error getting launch template configs: ", text_of(l->a, &f, e), e, e);
}

static bool make_configs(struct ec2_launching *l, const struct ec2_launch_group *groups, uint32_t n_groups,
                         struct ec2_fleet *r, struct err *e)
{
    struct ec2_zone_subnet *where = arena_new_array(l->a, struct ec2_zone_subnet, l->n_picks);
    struct ec2_fleet_config *configs = arena_new_array(l->a, struct ec2_fleet_config, n_groups);

    for (uint32_t i = 0; i < l->n_picks; i++)
        where[i] = (struct ec2_zone_subnet){l->picks[i].subnet->zone, l->picks[i].subnet->id};
    for (uint32_t i = 0; i < n_groups; i++) {
        struct ec2_override *overrides;
        str name;

        if (!ensure_template(l, &groups[i], &name, e))
            return false;
        uint32_t n = ec2_overrides(l->a, l->p->syms, &l->choice, &groups[i], where, l->n_picks, &overrides);
        if (n)
            configs[r->n_configs++] = (struct ec2_fleet_config){name, overrides, n};
    }
    r->configs = configs;
    if (r->n_configs == 0)
        return create_error(l, "Error getting launch template configs: ",
                            STR("no capacity offerings are currently available given the constraints"), NULL, e);
    return true;
}

/* ---- the request ---- */

static void set_options(const struct ec2_launching *l, const struct ec2_launch_group *first, struct ec2_fleet *r)
{
    const struct nodeclaim *c = l->claim;
    bool priced = annotation_value(c->annotations, c->n_annotations, "karpenter.sh/price-overlay-applied").n > 0;

    if (sym_eq(l->choice.capacity_type, SYM(SPOT))) {
        r->capacity_type = "spot";
        r->spot_strategy = priced ? "capacity-optimized-prioritized" : "price-capacity-optimized";
    } else if (str_is(first->kind, "capacity-block")) {
        r->capacity_type = "capacity-block";
    } else if (first->interruptible) {
        r->capacity_type = "reserved-capacity";
        r->reservation_type = "interruptible-capacity-reservation";
    } else {
        r->capacity_type = "on-demand";
        r->demand_strategy = priced ? "prioritized" : "lowest-price";
    }
    if (!str_is(annotation_value(c->annotations, c->n_annotations, "karpenter.sh/nodeclaim-min-values-relaxed"),
                "true"))
        r->context = l->k->context;
}

static void set_tags(const struct ec2_launching *l, struct ec2_fleet *r)
{
    static const char *const resources[] = {"instance", "volume", "fleet"};
    struct ec2_tags *tags = arena_new_array(l->a, struct ec2_tags, ARRAY_LEN(resources));

    for (size_t i = 0; i < ARRAY_LEN(resources); i++)
        tags[i] = (struct ec2_tags){resources[i], l->tags, l->n_tags};
    r->tags = tags;
    r->n_tags = ARRAY_LEN(resources);
}

static void warn_of_few_types(const struct ec2_launching *l)
{
    if (sym_eq(l->choice.capacity_type, SYM(ON_DEMAND)) && l->choice.allows_spot && l->choice.n < FLEXIBLE_ENOUGH &&
        l->p->host.say)
        l->p->host.say(l->p->host.ctx, /* error= */ true,
                       "at least 5 instance types are recommended when flexible to spot but requesting on-demand",
                       NULL);
}

/* ---- what the errors tell ---- */

static bool is_spread_limit(const struct ec2_fleet_error *x)
{
    return str_contains(x->message, STR("limit of instances in this spread placement group"));
}

static bool is_role_missing(const struct ec2_fleet_error *x)
{
    return str_is(x->code, "AuthFailure.ServiceLinkedRoleCreationNotPermitted");
}

static void mark(const struct ec2_launching *l, str type, str zone, str partition)
{
    struct ec2_offering_key key = {
        .capacity_type = sym_str(l->p->syms, l->choice.capacity_type), .type = type, .zone = zone};

    if (l->placement) {
        key.placement = l->placement->id;
        key.partition = partition;
    }
    ec2_unavailable_mark(l->p->unavailable, &key, ec2_clock_ms(l->p));
}

static const struct ec2_offer *reserved_offer(const struct ec2_launching *l, str type, str zone)
{
    const struct syms *t = l->p->syms;

    for (uint32_t i = 0; i < l->choice.n; i++)
        for (uint32_t o = 0; str_eq(sym_str(t, l->choice.v[i].type->name), type) && o < l->choice.v[i].n_offers; o++)
            if (sym_some(l->choice.v[i].offers[o].reservation) &&
                str_eq(sym_str(t, l->choice.v[i].offers[o].zone), zone))
                return &l->choice.v[i].offers[o];
    return NULL;
}

static void learn_shortage(struct ec2_launching *l, const struct ec2_fleet_error *x)
{
    str type = x->override.type, zone = x->override.zone;
    const struct ec2_offer *reserved;

    if (sym_eq(l->choice.capacity_type, SYM(RESERVED))) {
        if (!is_spread_limit(x) && (reserved = reserved_offer(l, type, zone)) != NULL)
            ec2_reserved_none(l->p, sym_str(l->p->syms, reserved->reservation));
        return;
    }
    if (zone.n == 0) /* an error that names no offering */
        return;
    if (is_spread_limit(x) && l->placement) {
        for (uint32_t i = 0; i < l->choice.n; i++)
            mark(l, sym_str(l->p->syms, l->choice.v[i].type->name), zone, STR(""));
        return;
    }
    mark(l, type, zone, l->choice.partition);
}

static void learn(struct ec2_launching *l, const struct ec2_fleet_error *x)
{
    struct ec2 *p = l->p;
    const struct ec2_pick *at = pick_of_zone(l, x->override.zone);
    bool reserved = sym_eq(l->choice.capacity_type, SYM(RESERVED));

    if (p->host.launch_failed) {
        str text = arena_printf(l->a, STR_FMT ": " STR_FMT, STR_ARG(x->code), STR_ARG(x->message));

        p->host.launch_failed(p->host.ctx, x->override.zone, at ? at->subnet->zone_id : STR(""),
                              sym_str(p->syms, l->choice.capacity_type), str_c(ec2_classify(text).reason));
    }
    if (str_is(x->code, "InsufficientFreeAddressesInSubnet") && x->override.subnet.n) {
        ec2_unavailable_mark_subnet(p->unavailable, x->override.subnet, ec2_clock_ms(p));
        ec2_subnet_is_full(p, x->override.subnet);
    }
    if (aws_is_unfulfillable(x->code))
        learn_shortage(l, x);
    if (!reserved && is_role_missing(x)) {
        ec2_unavailable_mark_capacity_type(p->unavailable, STR("spot"), ec2_clock_ms(p));
        if (p->host.warn)
            p->host.warn(p->host.ctx, EC2_ON_CLAIM, l->claim->name,
                         "Attempted to launch a spot instance but failed due to \"AuthFailure."
                         "ServiceLinkedRoleCreationNotPermitted\"");
    }
}

/* All different errors, "code: message" each. */
static str texts_of(struct arena *a, const struct ec2_fleet_answer *r)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < r->n_errors; i++) {
        const struct ec2_fleet_error *x = &r->errors[i];
        bool seen = false;

        for (uint32_t o = 0; o < i && !seen; o++)
            seen = str_eq(r->errors[o].code, x->code) && str_eq(r->errors[o].message, x->message);
        if (!seen)
            sb_printf(&b, "%s" STR_FMT ": " STR_FMT, b.n ? "; " : "", STR_ARG(x->code), STR_ARG(x->message));
    }
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static bool no_machine(struct ec2_launching *l, const struct ec2_fleet_answer *r, struct err *e)
{
    str text = texts_of(l->a, r);
    bool shortage = true;

    for (uint32_t i = 0; i < r->n_errors; i++) /* nothing at all, and what the batch says then, is a shortage too */
        shortage = shortage && (aws_is_unfulfillable(r->errors[i].code) || is_role_missing(&r->errors[i]) ||
                                str_is(r->errors[i].code, EC2_TOO_FEW));
    if (!shortage)
        return create_error(l, "", text, NULL, e);
    return err_set(e, ERR_CAPACITY, "with fleet error(s), " STR_FMT, STR_ARG(text));
}

static bool call_failed(struct ec2_launching *l, const struct ec2_fleet *r, const struct aws_answer *f, bool *ret_gone,
                        struct err *e)
{
    str text = text_of(l->a, f, e);

    *ret_gone = str_is(f->code, GONE);
    for (uint32_t i = 0; *ret_gone && i < r->n_configs; i++)
        ec2_template_forget(l->p, r->configs[i].template_name);
    return create_error(
        l,
        *ret_gone ? "Launch templates not found when creating fleet request: " : "Error creating fleet request: ", text,
        e, e);
}

bool ec2_launch_fleet(struct ec2_launching *l, struct ec2_launched *ret, bool *ret_gone, struct err *e)
{
    struct ec2_fleet r = {.count = 1};
    struct ec2_fleet_answer answer;
    struct ec2_launch_group *groups;
    struct aws_answer f;
    uint32_t n_groups;

    *ret_gone = false;
    if (!pick_subnets(l, e))
        return false;
    warn_of_few_types(l);
    if (l->k->status.n_groups == 0)
        return create_error(
            l, "Error getting launch template configs: ", STR("no security groups are present in the status"), NULL, e);
    if (!ec2_launch_groups(l->a, l->p->syms, &l->choice, l->k, ec2_claim_wants_efa(l), &groups, &n_groups, e))
        return create_error(l, "Error getting launch template configs: ", arena_strdup(l->a, str_c(e->msg)), NULL, e);
    if (!make_configs(l, groups, n_groups, &r, e))
        return false;
    set_options(l, &groups[0], &r);
    set_tags(l, &r);
    bool ok = ec2_fleet_batched(l->p, l->a, &r, &answer, &f, e);
    bool launched = ok && answer.n_groups && answer.groups[0].n;
    give_back(l, &r, launched ? answer.groups[0].override.subnet : STR(""));
    if (!ok)
        return call_failed(l, &r, &f, ret_gone, e);
    for (uint32_t i = 0; i < answer.n_errors; i++)
        learn(l, &answer.errors[i]);
    if (!launched)
        return no_machine(l, &answer, e);
    *ret = (struct ec2_launched){answer.groups[0].ids[0], answer.groups[0].override};
    if (ret->is.type.n == 0)
        ret->is.type = answer.groups[0].type;
    return true;
}
