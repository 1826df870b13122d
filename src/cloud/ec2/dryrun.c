/* The dry runs of validation (aws 7.2.7, steps 8 to 10): one launch template for real, then a fleet and an instance that are asked for and not made. */
#include "aws/ec2_failure.h"
#include "base/sb.h"
#include "cloud/catalog.h"
#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/images.h"
#include "cloud/ec2/labels.h"
#include "model/req.h"

struct dry {
    struct ec2 *p;
    struct arena *a;
    const struct ec2_class *k;
    struct ec2_types types;
    const struct nodepool *
        *pools; /* that refer to the class; copies are not needed: nothing parks while they are looked at */
    uint32_t n_pools;
    const char *tenancy;
    const struct itype *type; /* the one that is tried */
    const struct ec2_type_detail *detail;
    const struct ec2_class_ami *ami;
    const struct ec2_tag *tags;
    uint32_t n_tags;
    str template_name;
};

/* ---- a type to try ---- */

struct pools {
    struct dry *d;
    VEC(const struct nodepool *) v;
};

static void note_pool(void *arg, const struct nodepool *p)
{
    struct pools *x = arg;

    if (str_is(p->tmpl.class_ref.kind, "EC2NodeClass") && str_eq(p->tmpl.class_ref.name, x->d->k->name))
        vec_push(&x->v, p);
}

static void announce(struct reqspace *s, struct dry *d, sym tenancy)
{
    reqspace_value(s, tenancy, SYM(DEFAULT));
    reqspace_value(s, tenancy, sym_of(d->p->syms, STR("dedicated")));
    for (uint32_t i = 0; i < d->types.n; i++)
        for (uint32_t x = 0; x < d->types.v[i].n_requirements; x++)
            reqspace_expr(s, &d->types.v[i].requirements[x]);
    for (uint32_t i = 0; i < d->n_pools; i++) {
        const struct claim_template *t = &d->pools[i]->tmpl;
        uint32_t n;
        const struct label *labels = lset_get(d->p->syms, t->labels, &n);

        for (uint32_t x = 0; x < n; x++)
            reqspace_value(s, labels[x].key, labels[x].val);
        for (uint32_t x = 0; x < t->n_requirements; x++)
            reqspace_expr(s, &t->requirements[x]);
    }
    reqspace_freeze(s);
}

static uint32_t pool_set(struct reqspace *s, const struct dry *d, const struct claim_template *t)
{
    uint32_t n;
    const struct label *labels = lset_get(d->p->syms, t->labels, &n);

    return rs_union(s, rs_of_exprs(s, t->requirements, t->n_requirements), rs_of_labels(s, labels, n));
}

/* Whether a pool asks for machines that nobody else is on, or would take them: what is harder to have is tried. */
static bool takes_dedicated(struct reqspace *s, const struct dry *d, const struct claim_template *t, sym tenancy)
{
    uint32_t key = space_key(s, tenancy), r = rs_get(s, rs_of_exprs(s, t->requirements, t->n_requirements), key);

    return r != REQ_NONE && req_has(s, r, space_val(s, key, sym_of(d->p->syms, STR("dedicated"))));
}

/* Which types any of the pools would take, and which tenancy they want. */
static void ask_pools(struct dry *d, bool *wanted)
{
    struct label_rules rules = ec2_label_rules(d->a, d->p->syms);
    sym tenancy = ec2_label_key(d->p->syms, EC2_L_TENANCY);
    struct reqspace s;

    reqspace_init(&s, d->a, d->p->syms, &rules);
    announce(&s, d, tenancy);
    for (uint32_t i = 0; i < d->n_pools; i++) {
        uint32_t set = pool_set(&s, d, &d->pools[i]->tmpl);

        if (takes_dedicated(&s, d, &d->pools[i]->tmpl, tenancy))
            d->tenancy = "dedicated";
        for (uint32_t t = 0; t < d->types.n; t++)
            wanted[t] |= rs_compatible(&s, rs_of_exprs(&s, d->types.v[t].requirements, d->types.v[t].n_requirements),
                                       set, COMPAT_INTERSECTS);
    }
    reqspace_fini(&s);
}

/* An image without a word about accelerators, or one that is for machines without. */
static bool is_standard(const struct dry *d, const struct ec2_class_ami *ami)
{
    sym gpu = ec2_label_key(d->p->syms, EC2_L_GPU_COUNT), accel = ec2_label_key(d->p->syms, EC2_L_ACCEL_COUNT);

    for (uint32_t i = 0; i < ami->n_requirements; i++)
        if ((sym_eq(ami->requirements[i].key, gpu) || sym_eq(ami->requirements[i].key, accel)) &&
            ami->requirements[i].op != OP_DOES_NOT_EXIST)
            return false;
    return true;
}

struct candidate {
    const struct itype *type;
    const struct ec2_type_detail *detail;
};

/* The first one that would be started from the image; NULL: from any. */
static bool first_from(struct dry *d, const struct candidate *v, uint32_t n, const struct ec2_class_ami *from)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct ec2_class_ami *ami = ec2_ami_for(d->k, v[i].type);

        if (!ami || (from && !str_eq(ami->id, from->id)))
            continue;
        d->type = v[i].type;
        d->detail = v[i].detail;
        d->ami = ami;
        return true;
    }
    return false;
}

/* Images for ordinary machines come first: those for others may need larger disks than the class gives. */
static bool first_of(struct dry *d, const struct candidate *v, uint32_t n)
{
    for (uint32_t i = 0; i < d->k->status.n_amis; i++)
        if (is_standard(d, &d->k->status.amis[i]) && first_from(d, v, n, &d->k->status.amis[i]))
            return true;
    return first_from(d, v, n, NULL);
}

/* Types that fit the class, and that are wanted; NULL: all of them. */
static uint32_t candidates(struct dry *d, const bool *wanted, struct candidate **ret)
{
    uint32_t n = 0;

    *ret = arena_new_array(d->a, struct candidate, d->types.n);
    for (uint32_t i = 0; i < d->types.n; i++)
        if (d->types.detail[i].compatible && (!wanted || wanted[i]))
            (*ret)[n++] = (struct candidate){&d->types.v[i], &d->types.detail[i]};
    return n;
}

/* quirk: in place of a usual type stands one of which only the processor is known, and that it has no accelerator. It fits images of any system, and has room for no pod,
 * which its template says unless the class says how many. */
static struct candidate stand_in(struct dry *d, const struct candidate *is, const char *arch)
{
    struct itype *type = arena_new_one(d->a, struct itype);
    struct ec2_type_detail *detail = arena_new_one(d->a, struct ec2_type_detail);
    struct req_expr *says = arena_new_array(d->a, struct req_expr, 3);
    sym known = sym_of(d->p->syms, str_c(arch));

    says[0] = catalog_req(d->a, SYM(ARCH), &known, 1);
    says[1] = catalog_req(d->a, ec2_label_key(d->p->syms, EC2_L_GPU_COUNT), NULL, 0);
    says[2] = catalog_req(d->a, ec2_label_key(d->p->syms, EC2_L_ACCEL_COUNT), NULL, 0);
    *type = (struct itype){.name = is->type->name, .requirements = says, .n_requirements = 3};
    *detail = *is->detail;
    detail->pods = 0;
    return (struct candidate){type, detail};
}

/* For who has no pool yet, or pools that want nothing that there is. */
static bool usual(struct dry *d, const struct candidate *all, uint32_t n)
{
    static const struct {
        const char *name, *arch;
    } types[] = {{"m5.large", "amd64"}, {"m6g.large", "arm64"}};
    struct candidate v[ARRAY_LEN(types)];
    uint32_t n_usual = 0;

    for (size_t t = 0; t < ARRAY_LEN(types); t++)
        for (uint32_t i = 0; i < n; i++)
            if (str_is(sym_str(d->p->syms, all[i].type->name), types[t].name))
                v[n_usual++] = stand_in(d, &all[i], types[t].arch);
    return first_of(d, v, n_usual);
}

static bool choose(struct dry *d, struct err *e)
{
    struct pools x = {.d = d};
    bool *wanted = arena_new_array(d->a, bool, d->types.n);
    struct candidate *v;

    d->p->host.each_pool(d->p->host.ctx, note_pool, &x);
    d->pools = x.v.v;
    d->n_pools = x.v.n;
    ask_pools(d, wanted);
    vec_fini(&x.v);
    d->pools = NULL;
    uint32_t n = candidates(d, wanted, &v);
    if (!ec2_family_is_windows(d->k->family) && first_of(d, v, n))
        return true;
    n = candidates(d, NULL, &v);
    return usual(d, v, n) || first_of(d, v, n) || err_set(e, ERR_INVALID, "no instance type has an image of the class");
}

/* ---- what AWS said ---- */

struct step {
    const char *call, *reason;
};

static const struct step make_template = {"ec2:CreateLaunchTemplate", "CreateLaunchTemplateAuthCheckFailed"},
                         make_fleet = {"ec2:CreateFleet", "CreateFleetAuthCheckFailed"},
                         run_instance = {"ec2:RunInstances", "RunInstancesAuthCheckFailed"};

static str classified(struct arena *a, const struct aws_answer *f)
{
    return str_c(ec2_classify(arena_printf(a, STR_FMT ": " STR_FMT, STR_ARG(f->code), STR_ARG(f->message))).message);
}

/* Of a refusal that says something about the class, or that will pass. false: it does not. */
static bool verdict(struct dry *d, const struct step *s, const struct aws_answer *f, struct ec2_verdict *ret)
{
    str why = classified(d->a, f);

    if (str_is(f->code, "RequestLimitExceeded") || aws_is_server_fault(f)) {
        ret->unsettled = true;
    } else if (s == &make_template && str_is(f->code, "InvalidUserData.Malformed") &&
               str_contains(f->message, STR("User data is limited to"))) {
        ret->reason = "UserDataSizeLimitExceeded";
        ret->message = arena_printf(
            d->a, "ec2:CreateLaunchTemplate rejected the rendered user data as too large: " STR_FMT, STR_ARG(why));
    } else if (str_is(f->code, "UnauthorizedOperation")) {
        ret->reason = s->reason;
        ret->message = arena_printf(d->a, "Controller isn't authorized to call %s: " STR_FMT, s->call, STR_ARG(why));
    } else if (s == &run_instance && str_is(f->code, "InvalidParameterValue") &&
               str_contains(f->message, STR("Invalid IAM Instance Profile name"))) {
        ret->unsettled = d->k->has_role; /* IAM takes a while to tell EC2 */
        ret->fleeting = true;
        ret->reason = "InstanceProfileNotFound";
        ret->message = arena_printf(d->a, "Instance profile \"" STR_FMT "\" was not found", STR_ARG(d->k->profile));
    } else {
        return false;
    }
    return true;
}

/* ---- the steps ---- */

static bool template_step(struct dry *d, struct aws_answer *f, struct err *e)
{
    struct nodeclaim claim = {.class_ref = {STR("karpenter.k8s.aws"), STR("EC2NodeClass"), d->k->name}};
    struct ec2_tags tags = {"launch-template", d->tags, d->n_tags};
    struct ec2_placement_group group;
    struct ec2_template_data data;
    struct ec2_template_request r = {
        .class = d->k,
        .claim = &claim,
        .ami = d->ami,
        .type = d->detail,
        .capacity_type = "on-demand",
        .tenancy = d->tenancy,
        .placement = ec2_placement_known(d->p, d->k, &group) ? &group : NULL,
        .tags = d->tags,
        .n_tags = d->n_tags,
    };

    return ec2_template_data(d->p, d->a, &r, &data, e) &&
           ec2_template_ensure(d->p, d->a, &data, &tags, d->k->name, &d->template_name, f, e);
}

static bool fleet_step(struct dry *d, str type, struct aws_answer *f, struct err *e)
{
    uint32_t n = d->k->status.n_subnets;
    struct ec2_override *overrides = arena_new_array(d->a, struct ec2_override, n);
    struct ec2_fleet_config config = {d->template_name, overrides, n};
    struct ec2_tags tags[] = {
        {"instance", d->tags, d->n_tags}, {"volume", d->tags, d->n_tags}, {"fleet", d->tags, d->n_tags}};
    struct ec2_fleet r = {
        .configs = &config,
        .n_configs = 1,
        .capacity_type = "on-demand",
        .demand_strategy = "lowest-price",
        .tags = tags,
        .n_tags = ARRAY_LEN(tags),
        .count = 1,
        .dry_run = true,
    };
    struct ec2_fleet_answer answer;

    for (uint32_t i = 0; i < n; i++)
        overrides[i] = (struct ec2_override){.type = type, .subnet = d->k->status.subnets[i].id};
    return ec2_create_fleet(d->p->aws, d->a, &r, &answer, f, e);
}

static uint32_t interfaces_of(struct dry *d, str subnet, struct ec2_interface **ret)
{
    uint32_t n = MAX(d->k->n_nics, 1);

    *ret = arena_new_array(d->a, struct ec2_interface, n);
    for (uint32_t i = 0; i < n; i++) {
        (*ret)[i] = (struct ec2_interface){
            .card = -1, .public_ip = -1, .ipv4_prefixes = -1, .ipv6_prefixes = -1, .subnet = subnet};
        if (d->k->n_nics) {
            (*ret)[i].card = d->k->nics[i].card;
            (*ret)[i].device = d->k->nics[i].device;
            (*ret)[i].type = d->k->nics[i].type;
        }
    }
    return n;
}

/* One subnet that works is enough; the first one's refusal counts when none does. */
static bool instance_step(struct dry *d, str type, struct aws_answer *f, struct err *e)
{
    struct ec2_tags tags[] = {
        {"instance", d->tags, d->n_tags}, {"volume", d->tags, d->n_tags}, {"network-interface", d->tags, d->n_tags}};
    struct ec2_run r = {.template_name = d->template_name, .type = type, .tags = tags, .n_tags = ARRAY_LEN(tags)};

    for (uint32_t i = 0; i < d->k->status.n_subnets; i++) {
        struct ec2_interface *interfaces;
        struct aws_answer refusal = {0};
        struct err why;

        r.n_interfaces = interfaces_of(d, d->k->status.subnets[i].id, &interfaces);
        r.interfaces = interfaces;
        if (ec2_run_dry(d->p->aws, d->a, &r, &refusal, &why))
            return true;
        if (i == 0) {
            *f = refusal;
            *e = why;
        }
    }
    return d->k->status.n_subnets == 0 ? err_set(e, ERR_INVALID, "the class has no subnets") : false;
}

static bool try_all(struct dry *d, struct ec2_verdict *ret, struct err *e)
{
    struct aws_answer f = {0};
    struct ec2_tag *tags;

    if (!choose(d, e) || !ec2_launch_tags(d->p, d->a, d->k, (str){0}, &tags, &d->n_tags, e))
        return err_wrap(e, "validating by dry runs");
    d->tags = tags;
    str type = sym_str(d->p->syms, d->type->name);
    if (!template_step(d, &f, e))
        return verdict(d, &make_template, &f, ret) || err_wrap(e, "%s", make_template.call);
    if (!fleet_step(d, type, &f, e))
        return verdict(d, &make_fleet, &f, ret) || err_wrap(e, "%s", make_fleet.call);
    if (!instance_step(d, type, &f, e))
        return verdict(d, &run_instance, &f, ret) || err_wrap(e, "%s", run_instance.call);
    return true;
}

bool ec2_dry_run(struct ec2 *p, struct arena *a, const struct ec2_class *k, struct ec2_verdict *ret, struct err *e)
{
    struct dry d = {.p = p, .a = a, .k = k, .tenancy = "default"};

    if (!ec2_market_types(p->market, k, &d.types, e))
        return err_wrap(e, "validating by dry runs");
    struct ec2_view *view = ec2_market_hold(p->market, &d.types); /* others ask for types meanwhile */
    bool ok = try_all(&d, ret, e);
    ec2_market_release(p->market, view);
    return ok;
}
