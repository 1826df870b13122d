/* Instance profiles: what lets machines act in the name of a role (aws 7.2.6, 7.9).
 *
 * A class with a role gets a profile of its own below a path of its own; a new role gets a new profile, so that machines that run keep theirs. What is not needed any more is
 * collected later; until the status of the class and the claims have told about a profile, it is protected. */
#include <stdlib.h>

#include "aws/services.h"
#include "base/gohash.h"
#include "base/sb.h"
#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/memo.h"
#include "cloud/ec2/reconcile.h"

#define PROFILE_MS (15 * 60 * 1000)
#define PROTECTED_MS (60 * 60 * 1000)
#define RECENT_MS (60 * 1000)

struct ec2_profiles {
    struct memo roles;     /* of profiles, by name; a profile without a role is not here */
    struct memo missing;   /* roles that IAM did not know a minute ago */
    struct memo protected; /* profiles, by name */
    struct memo recent;    /* by role and class: made, and perhaps not yet in the status */
};

struct ec2_profiles *ec2_profiles_new(void)
{
    return xcalloc(1, sizeof(struct ec2_profiles));
}

void ec2_profiles_free(struct ec2_profiles *s)
{
    if (!s)
        return;
    memo_fini(&s->roles);
    memo_fini(&s->missing);
    memo_fini(&s->protected);
    memo_fini(&s->recent);
    free(s);
}

/* IAM names a role without its path. */
static str bare(str role)
{
    str head, tail = role;

    while (str_cut(role, '/', &head, &tail))
        role = tail;
    return role;
}

static void protect(struct ec2 *p, str name)
{
    if (name.n)
        memo_put_text(&p->profiles->protected, name, STR("yes"), ec2_clock_ms(p), PROTECTED_MS);
}

static str path_of(struct arena *a, const struct ec2 *p, str uid)
{
    return uid.n ? arena_printf(a, "/karpenter/" STR_FMT "/" STR_FMT "/" STR_FMT "/", STR_ARG(aws_region(p->aws)),
                                STR_ARG(p->cluster.name), STR_ARG(uid))
                 : arena_printf(a, "/karpenter/" STR_FMT "/" STR_FMT "/", STR_ARG(aws_region(p->aws)),
                                STR_ARG(p->cluster.name));
}

/* The name has to be new: `chance` makes it so. Empty: the name that versions before profiles had paths gave to it. */
static str name_of(struct arena *a, const struct ec2 *p, str class, str chance)
{
    str text = arena_printf(a, STR_FMT STR_FMT STR_FMT, STR_ARG(aws_region(p->aws)), STR_ARG(class), STR_ARG(chance));

    return arena_printf(a, STR_FMT "_%llu", STR_ARG(p->cluster.name), (unsigned long long)gohash_str(text));
}

static str random_text(struct arena *a, struct ec2 *p)
{
    uint64_t x = world_random(p->world), y = world_random(p->world);

    return arena_printf(a, "%016llx%016llx", (unsigned long long)x, (unsigned long long)y);
}

/* The role that a profile has; empty: there is no such profile, or it has none. */
static bool role_of(struct ec2 *p, struct arena *a, str name, str *ret, struct err *e)
{
    struct iam_profile x = {0};

    *ret = arena_strdup(a, memo_text(&p->profiles->roles, name, ec2_clock_ms(p)));
    if (name.n == 0 || ret->n)
        return true;
    if (!iam_get_profile(p->aws, a, name, &x, e))
        return e->kind == ERR_NOT_FOUND || err_wrap(e, "getting instance profile " STR_FMT, STR_ARG(name));
    if (x.role.n)
        memo_put_text(&p->profiles->roles, name, x.role, ec2_clock_ms(p), PROFILE_MS);
    *ret = x.role;
    return true;
}

/* Detached, deleted, forgotten; one that is not there is fine. */
static bool delete_one(struct ec2 *p, struct arena *a, str name, struct err *e)
{
    struct iam_profile x = {0};

    if (!iam_get_profile(p->aws, a, name, &x, e)) {
        if (e->kind != ERR_NOT_FOUND)
            return err_wrap(e, "getting instance profile " STR_FMT, STR_ARG(name));
    } else if ((x.role.n && !iam_remove_role(p->aws, a, name, x.role, e) && e->kind != ERR_NOT_FOUND) ||
               (!iam_delete_profile(p->aws, a, name, e) && e->kind != ERR_NOT_FOUND)) {
        return err_wrap(e, "deleting instance profile " STR_FMT, STR_ARG(name));
    }
    memo_drop(&p->profiles->roles, name);
    memo_drop(&p->profiles->protected, name);
    return true;
}

/* ---- one for a class ---- */

static void tag(struct ec2_tag *v, uint32_t *n, str key, str value)
{
    for (uint32_t i = 0; i < *n; i++)
        if (str_eq(v[i].key, key)) {
            v[i].value = value;
            return;
        }
    v[(*n)++] = (struct ec2_tag){key, value};
}

static uint32_t tags_of(struct arena *a, const struct ec2 *p, const struct ec2_class *k, struct ec2_tag **ret)
{
    struct ec2_tag *v = arena_new_array(a, struct ec2_tag, k->n_tags + 4);
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->n_tags; i++)
        v[n++] = k->tags[i];
    tag(v, &n, arena_printf(a, "kubernetes.io/cluster/" STR_FMT, STR_ARG(p->cluster.name)), STR("owned"));
    tag(v, &n, STR("eks:eks-cluster-name"), p->cluster.name);
    tag(v, &n, STR("karpenter.k8s.aws/ec2nodeclass"), k->name);
    tag(v, &n, STR("topology.kubernetes.io/region"), aws_region(p->aws));
    *ret = v;
    return n;
}

/* quirk: IAM has one code for everything that is not there; that it is the role only its message tells (aws 12, 23). */
static bool role_is_missing(const struct aws_answer *f)
{
    return str_is(f->code, "NoSuchEntity") &&
           (str_contains(f->message, STR("role")) || str_starts(f->message, STR("Role ")));
}

static bool make(struct ec2 *p, struct arena *a, const struct ec2_class *k, str name, struct err *e)
{
    struct ec2_tag *tags;
    uint32_t n = tags_of(a, p, k, &tags);
    str role = bare(k->role);
    struct aws_answer f;

    if (memo_get(&p->profiles->missing, role, ec2_clock_ms(p)))
        return err_set(e, ERR_NOT_FOUND, "the role " STR_FMT " was not there a moment ago", STR_ARG(role));
    /* The name is new to the world: if it is there, an answer was lost and the call was repeated. */
    if (!iam_create_profile(p->aws, a, name, path_of(a, p, k->uid), tags, n, e) && e->kind != ERR_CONFLICT)
        return false;
    if (iam_add_role(p->aws, a, name, role, &f, e)) {
        memo_put_text(&p->profiles->roles, name, role, ec2_clock_ms(p), PROFILE_MS);
        return true;
    }
    struct err first = *e, second;
    if (role_is_missing(&f))
        memo_put_text(&p->profiles->missing, role, STR("yes"), ec2_clock_ms(p), RECENT_MS);
    if (!delete_one(p, a, name, &second) && p->host.say) /* it is collected later */
        p->host.say(p->host.ctx, true, "an instance profile without a role is left behind", &second);
    *e = first;
    return err_wrap(e, "adding role " STR_FMT " to it", STR_ARG(role));
}

static str recent_key(struct arena *a, const struct ec2_class *k)
{
    return arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(k->uid), STR_ARG(k->role));
}

static bool ensure_role(struct ec2 *p, struct arena *a, const struct ec2_class *k, str *ret, struct err *e)
{
    str recent = memo_text(&p->profiles->recent, recent_key(a, k), ec2_clock_ms(p));
    str name = recent.n ? arena_strdup(a, recent) : k->status.profile, role;

    if (!role_of(p, a, name, &role, e))
        return false;
    if (!str_eq(role, bare(k->role))) {
        name = name_of(a, p, k->name, random_text(a, p));
        protect(p, name); /* first: whoever collects profiles may see it before it has its role */
        if (!make(p, a, k, name, e))
            return err_wrap(e, "creating instance profile");
        memo_put_text(&p->profiles->recent, recent_key(a, k), name, ec2_clock_ms(p), RECENT_MS);
    }
    if (!str_eq(name, k->status.profile))
        protect(p, k->status.profile);
    *ret = name;
    return true;
}

bool ec2_profile_ensure(struct ec2 *p, struct arena *a, const struct ec2_class *k, str *ret, struct err *e)
{
    if (k->has_role)
        return ensure_role(p, a, k, ret, e);
    protect(p, k->status.profile);
    *ret = k->profile;
    return true;
}

/* ---- what has to go ---- */

static bool name_is_valid(str name)
{
    if (name.n < 1 || name.n > 128)
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && !strchr("_+=,.@-", c))
            return false;
    }
    return true;
}

bool ec2_profiles_delete(struct ec2 *p, struct arena *a, const struct ec2_class *k, struct err *e)
{
    struct iam_profile *v;
    uint32_t n;

    if (p->settings.isolated_vpc || !k->has_role || k->uid.n == 0) /* nothing was made */
        return true;
    if (!iam_list_profiles(p->aws, a, path_of(a, p, k->uid), &v, &n, e))
        return err_wrap(e, "listing instance profiles");
    for (uint32_t i = 0; i < n; i++)
        if (!delete_one(p, a, v[i].name, e))
            return false;
    str legacy = name_of(a, p, k->name, (str){0});
    if (name_is_valid(legacy) && !delete_one(p, a, legacy, e))
        return false;
    memo_drop_prefix(&p->profiles->recent, arena_printf(a, STR_FMT "/", STR_ARG(k->uid)));
    return true;
}

/* ---- collection ---- */

struct current {
    struct ec2 *p;
    struct arena *a;
    VEC(str) names; /* of classes, then of their profiles */
};

static void note_class(void *arg, str name)
{
    struct current *x = arg;

    vec_push(&x->names, arena_strdup(x->a, name));
}

static bool has(const str *v, uint32_t n, str name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(v[i], name))
            return true;
    return false;
}

static void current_profiles(struct current *x)
{
    x->p->host.each_class(x->p->host.ctx, note_class, x);
    for (uint32_t i = 0; i < x->names.n; i++) {
        const struct tree *obj = x->p->host.class_object(x->p->host.ctx, x->a, x->names.v[i]);

        x->names.v[i] = tree_str(tree_at(obj, "status", "instanceProfile", NULL));
    }
}

bool ec2_profiles_collect(struct ec2 *p, const str *in_use, uint32_t n_in_use, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct current x = {.p = p, .a = a};
    struct iam_profile *v;
    bool ok = true;
    uint32_t n;

    if (!iam_list_profiles(p->aws, a, path_of(a, p, (str){0}), &v, &n, e))
        return err_wrap(e, "listing instance profiles");
    current_profiles(&x);
    for (uint32_t i = 0; ok && i < n; i++)
        if (!has(x.names.v, x.names.n, v[i].name) && !has(in_use, n_in_use, v[i].name) &&
            !memo_get(&p->profiles->protected, v[i].name, ec2_clock_ms(p)))
            ok = delete_one(p, a, v[i].name, e);
    vec_fini(&x.names);
    return ok;
}
