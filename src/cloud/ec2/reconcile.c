/* The status of a node class, found anew (aws 7.2): seven parts, one after the other, each whatever became of those before it. */
#include "cloud/ec2/reconcile.h"

#include <inttypes.h>

#include "base/sb.h"
#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/images.h"
#include "data/edit.h"
#include "model/duration.h"

#define MINUTE_MS (60 * 1000)
#define AMIS_READY "AMIsReady"
#define RESERVATIONS_READY "CapacityReservationsReady"
#define PLACEMENT_READY "PlacementGroupReady"
#define SUBNETS_READY "SubnetsReady"
#define GROUPS_READY "SecurityGroupsReady"
#define PROFILE_READY "InstanceProfileReady"

const struct cond_set *ec2_class_conds(bool reserved_capacity)
{
    static const char *const dependents[] = {AMIS_READY,
                                             SUBNETS_READY,
                                             GROUPS_READY,
                                             PROFILE_READY,
                                             "ValidationSucceeded",
                                             PLACEMENT_READY,
                                             /* the last one has a gate */ RESERVATIONS_READY};
    static const struct cond_set all = {dependents, ARRAY_LEN(dependents), false},
                                 without = {dependents, ARRAY_LEN(dependents) - 1, false};

    return reserved_capacity ? &all : &without;
}

struct visit {
    struct ec2 *p;
    struct arena *a;
    struct tree *obj;
    const struct ec2_class *k; /* as the object was at first */
    struct cond_object conds;
    struct ec2_reconciled out;
};

/* ---- outcomes ---- */

static void again_after(struct visit *v, int64_t ms)
{
    v->out.after_ms = MIN(v->out.after_ms, MAX(ms, 0));
}

/* Errors of several parts are one; only when waiting helps none of them it does not help at all. */
static void failed(struct ec2_reconciled *out, const struct err *e, bool terminal)
{
    struct err before = out->err;

    if (!out->failed) {
        out->err = *e;
        out->terminal = terminal;
    } else {
        (void)err_set(&out->err, before.kind, "%s; %s", before.msg, e->msg);
        out->err.call = before.call;
        out->terminal &= terminal;
    }
    out->failed = true;
}

static void no(struct visit *v, const char *type, const char *reason, str message)
{
    conds_false(&v->conds, type, str_c(reason), arena_strdup(v->a, message));
}

/* ---- status ---- */

static void put(struct arena *a, struct tree *map, const char *key, str value)
{
    if (value.n)
        tree_set_str(a, map, key, value);
}

/* A list of the status, empty. */
static struct tree *list_of(struct visit *v, const char *key)
{
    struct tree *status = tree_sub(v->a, v->obj, "status");

    tree_set(v->a, status, key, *tree_new_list(v->a));
    return tree_find(status, str_c(key));
}

static void clear(struct visit *v, const char *key)
{
    tree_drop(tree_sub(v->a, v->obj, "status"), str_c(key));
}

static struct tree *entry(struct visit *v, struct tree *list)
{
    return tree_push(v->a, list, *tree_new_map(v->a));
}

static void put_requirements(struct visit *v, struct tree *map, const struct ec2_class_ami *ami)
{
    struct tree *list = tree_sublist(v->a, map, "requirements");

    for (uint32_t i = 0; i < ami->n_requirements; i++) {
        const struct req_expr *x = &ami->requirements[i];
        struct tree *r = entry(v, list);

        tree_set_str(v->a, r, "key", sym_str(v->p->syms, x->key));
        tree_set_str(v->a, r, "operator", str_c(req_op_name(x->op)));
        struct tree *values = x->n_vals ? tree_sublist(v->a, r, "values") : NULL;
        for (uint32_t j = 0; j < x->n_vals; j++)
            tree_push(v->a, values, tree_of_str(sym_str(v->p->syms, x->vals[j])));
    }
}

static void put_amis(struct visit *v, const struct ec2_class_ami *found, uint32_t n)
{
    struct tree *list = list_of(v, "amis");

    for (uint32_t i = 0; i < n; i++) {
        struct tree *m = entry(v, list);

        if (found[i].deprecated)
            tree_set_bool(v->a, m, "deprecated", true);
        tree_set_str(v->a, m, "id", found[i].id);
        put(v->a, m, "name", found[i].name);
        put_requirements(v, m, &found[i]);
    }
}

static void put_reservations(struct visit *v, const struct ec2_class_reservation *found, uint32_t n)
{
    struct tree *list = list_of(v, "capacityReservations");

    for (uint32_t i = 0; i < n; i++) {
        const struct ec2_class_reservation *r = &found[i];
        struct tree *m = entry(v, list);

        tree_set_str(v->a, m, "availabilityZone", r->zone);
        if (r->ends_ms != INT64_MIN) {
            struct sb b = {0};

            time_print_rfc3339(&b, r->ends_ms);
            tree_set_str(v->a, m, "endTime", sb_dup(&b, v->a));
            sb_fini(&b);
        }
        tree_set_str(v->a, m, "id", r->id);
        tree_set_str(v->a, m, "instanceMatchCriteria", r->match);
        tree_set_str(v->a, m, "instanceType", r->type);
        tree_set_bool(v->a, m, "interruptible", r->interruptible);
        tree_set_str(v->a, m, "ownerID", r->owner);
        tree_set_str(v->a, m, "reservationType", r->kind);
        tree_set_str(v->a, m, "state", r->state);
    }
}

/* ---- the parts ---- */

static void amis(struct visit *v)
{
    struct ec2_class_ami *found;
    struct err e;
    uint32_t n;

    if (!ec2_find_amis(v->p, v->a, v->k, &found, &n, &e)) {
        bool unsupported = strcmp(e.code, EC2_UNSUPPORTED_ALIAS) == 0;

        if (unsupported)
            no(v, AMIS_READY, EC2_UNSUPPORTED_ALIAS, str_c(e.msg));
        failed(&v->out, &e, unsupported);
        return;
    }
    if (n == 0) {
        clear(v, "amis");
        no(v, AMIS_READY, "AMINotFound", STR("AMISelector did not match any AMIs"));
        again_after(v, MINUTE_MS);
        return;
    }
    put_amis(v, found, n);
    conds_true(&v->conds, AMIS_READY);
    again_after(v, 5 * MINUTE_MS);
}

static void reservations(struct visit *v)
{
    struct ec2_class_reservation *found = NULL;
    int64_t now_ms = world_now_ms(v->p->world);
    struct err e;
    uint32_t n = 0;

    if (!v->p->settings.reserved_capacity)
        return;
    if (!ec2_find_reservations(v->p, v->a, v->k, &found, &n, &e)) {
        failed(&v->out, &e, false);
        return;
    }
    if (n)
        put_reservations(v, found, n);
    else
        clear(v, "capacityReservations");
    conds_true(&v->conds, RESERVATIONS_READY);
    again_after(v, MINUTE_MS);
    for (uint32_t i = 0; i < n; i++)
        if (found[i].ends_ms != INT64_MIN)
            again_after(v, sat_sub(found[i].ends_ms, now_ms));
}

static void placement(struct visit *v)
{
    struct ec2_placement_group g;
    struct err e;
    bool known;

    if (!v->k->has_placement || ec2_find_placement(v->p, v->a, v->k, &g, &known, &e)) {
        conds_true(&v->conds, PLACEMENT_READY);
    } else if (e.kind == ERR_NOT_FOUND) {
        no(v, PLACEMENT_READY, "PlacementGroupNotFound", str_c(e.msg));
        again_after(v, MINUTE_MS);
    } else {
        no(v, PLACEMENT_READY, "PlacementGroupResolutionFailed", STR("Failed to resolve placement group"));
        failed(&v->out, &e, false);
    }
}

static void subnets(struct visit *v)
{
    struct ec2_class_subnet *found;
    struct err e;
    uint32_t n;

    if (!ec2_find_subnets(v->p, v->a, v->k, &found, &n, &e)) {
        failed(&v->out, &e, false);
        return;
    }
    again_after(v, MINUTE_MS);
    if (n == 0) {
        clear(v, "subnets");
        no(v, SUBNETS_READY, "SubnetsNotFound", STR("SubnetSelector did not match any Subnets"));
        return;
    }
    struct tree *list = list_of(v, "subnets");
    for (uint32_t i = 0; i < n; i++) {
        struct tree *m = entry(v, list);

        tree_set_str(v->a, m, "id", found[i].id);
        tree_set_str(v->a, m, "zone", found[i].zone);
        put(v->a, m, "zoneID", found[i].zone_id);
    }
    conds_true(&v->conds, SUBNETS_READY);
}

static void groups(struct visit *v)
{
    struct ec2_group *found;
    struct err e;
    uint32_t n;

    if (!ec2_find_groups(v->p, v->a, v->k, &found, &n, &e)) {
        failed(&v->out, &e, false);
        return;
    }
    if (n == 0) {
        clear(v, "securityGroups");
        no(v, GROUPS_READY, "SecurityGroupsNotFound", STR("SecurityGroupSelector did not match any SecurityGroups"));
        again_after(v, MINUTE_MS);
        return;
    }
    struct tree *list = list_of(v, "securityGroups");
    for (uint32_t i = 0; i < n; i++) {
        struct tree *m = entry(v, list);

        tree_set_str(v->a, m, "id", found[i].id);
        put(v->a, m, "name", found[i].name);
    }
    conds_true(&v->conds, GROUPS_READY);
    again_after(v, 5 * MINUTE_MS);
}

static void profile(struct visit *v)
{
    struct err e;
    str name;

    if (!ec2_profile_ensure(v->p, v->a, v->k, &name, &e)) {
        failed(&v->out, &e, false);
        return;
    }
    tree_set_str(v->a, tree_sub(v->a, v->obj, "status"), "instanceProfile", name);
    conds_true(&v->conds, PROFILE_READY);
}

/* It looks at what the parts before it have found, so the object is read once more. */
static void validation(struct visit *v)
{
    struct ec2_reconciled one = {.after_ms = INT64_MAX};
    struct err e;
    const struct ec2_class *k = ec2_class_decode(v->a, v->p->syms, v->obj, v->p->cluster.name, &e);

    if (!k) {
        failed(&v->out, &e, true);
        return;
    }
    ec2_validate(v->p, k, &v->conds, &one);
    again_after(v, one.after_ms);
    if (one.failed)
        failed(&v->out, &one.err, one.terminal);
}

struct ec2_reconciled ec2_class_reconcile(struct ec2 *p, struct arena *a, struct tree *obj)
{
    static void (*const parts[])(struct visit *) = {amis,   reservations, placement, subnets,
                                                    groups, profile,      validation};
    struct visit v = {
        .p = p,
        .a = a,
        .obj = obj,
        .conds = {a, obj, ec2_class_conds(p->settings.reserved_capacity), world_now_ms(p->world)},
        .out = {.after_ms = INT64_MAX},
    };
    struct err e;

    conds_init(&v.conds);
    v.k = ec2_class_decode(a, p->syms, obj, p->cluster.name, &e);
    if (!v.k) {
        no(&v, "ValidationSucceeded", "InvalidSpec", str_c(e.msg));
        failed(&v.out, &e, true);
        return v.out;
    }
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        v.conds.now_ms = world_now_ms(p->world);
        parts[i](&v);
    }
    return v.out;
}

/* ---- the end of a class ---- */

/* Only what is needed is read: a class that makes no sense has to go, too. */
bool ec2_class_finalize(struct ec2 *p, struct arena *a, const struct tree *obj, struct err *e)
{
    struct ec2_class k = {
        .name = tree_str(tree_at(obj, "metadata", "name", NULL)),
        .uid = tree_str(tree_at(obj, "metadata", "uid", NULL)),
        .has_role = tree_str(tree_at(obj, "spec", "role", NULL)).n > 0,
    };

    if (!ec2_profiles_delete(p, a, &k, e) || !ec2_templates_delete(p, a, k.name, e))
        return false;
    ec2_verdicts_forget(p, k.name);
    if (p->host.class_gone)
        p->host.class_gone(p->host.ctx, k.name);
    return true;
}

/* ---- hashes ---- */

static str annotation(const struct tree *obj, const char *key)
{
    return tree_str(tree_at(obj, "metadata", "annotations", key, NULL));
}

bool ec2_hash_adopt(struct arena *a, struct tree *claim, const struct ec2_hash_text *h)
{
    str version = annotation(claim, EC2_HASH_VERSION_ANNOTATION);
    bool differs = str_is(version, "v5") && !str_eq(annotation(claim, EC2_HASH_ANNOTATION), h->v5);

    if (str_is(version, EC2_HASH_VERSION))
        return false;
    struct tree *map = tree_path(a, claim, "metadata", "annotations", NULL);
    tree_set_str(a, map, EC2_HASH_VERSION_ANNOTATION, STR(EC2_HASH_VERSION));
    if (!differs && !cond_get(claim, "Drifted").present)
        tree_set_str(a, map, EC2_HASH_ANNOTATION, h->hash);
    return true;
}

bool ec2_class_hash_text(struct ec2 *p, struct arena *a, const struct tree *obj, struct ec2_hash_text *ret,
                         struct err *e)
{
    const struct ec2_class *k = ec2_class_decode(a, p->syms, obj, p->cluster.name, e);
    str ca = p->cluster.ca_bundle;

    if (!k)
        return false;
    *ret = (struct ec2_hash_text){.hash = arena_printf(a, "%" PRIu64, ec2_class_hash(k, ca))};
    if (!ec2_kubelet_is_open(&k->kubelet))
        ret->v5 = arena_printf(a, "%" PRIu64, ec2_class_hash_v5(k, ca));
    return true;
}
