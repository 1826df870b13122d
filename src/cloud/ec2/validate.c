/* Whether launches of a class would work (aws 7.2.7): checks that need nobody, then the dry runs of dryrun.c, whose verdict holds for half an hour. */
#include <stdlib.h>

#include "base/map.h"
#include "base/sb.h"
#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/kubelet_expr.h"
#include "cloud/ec2/memo.h"
#include "cloud/ec2/reconcile.h"
#include "data/json.h"
#include "model/quantity.h"

#define SUCCEEDED "ValidationSucceeded"
#define AGAIN_MS (10 * 60 * 1000)
#define VERDICT_MS (30 * 60 * 1000)

struct ec2_verdicts {
    struct memo memo;
};

struct ec2_verdicts *ec2_verdicts_new(void)
{
    return xcalloc(1, sizeof(struct ec2_verdicts));
}

void ec2_verdicts_free(struct ec2_verdicts *v)
{
    if (!v)
        return;
    memo_fini(&v->memo);
    free(v);
}

void ec2_verdicts_forget(struct ec2 *p, str class)
{
    AUTO(arena) struct arena *a = arena_new(256);

    memo_drop_prefix(&p->verdicts->memo, arena_printf(a, STR_FMT ":", STR_ARG(class)));
}

struct check {
    struct ec2 *p;
    const struct ec2_class *k;
    const struct cond_object *o;
    struct arena *a;
    struct ec2_reconciled *out;
};

/* ---- outcomes; each answers false, so that a check that ends the validation is one line ---- */

static bool no(struct check *c, const char *reason, str message)
{
    conds_false(c->o, SUCCEEDED, str_c(reason), arena_strdup(c->a, message));
    return false;
}

static bool no_for_good(struct check *c, const char *reason, str message)
{
    c->out->failed = c->out->terminal = true;
    (void)err_set(&c->out->err, ERR_INVALID, STR_FMT, STR_ARG(message));
    return no(c, reason, message);
}

static bool failed(struct check *c, const struct err *e)
{
    c->out->failed = true;
    c->out->err = *e;
    return false;
}

static bool again(struct check *c, int64_t ms) /* 0: after a back-off */
{
    c->out->after_ms = ms;
    return false;
}

/* ---- checks that need nobody ---- */

/* Only AL2023 tells its machines the service CIDR. */
static bool cidr(struct check *c)
{
    struct aws_answer f = {0};
    struct err e;

    if (c->k->family != EC2_AL2023 || ec2_cluster_cidr(c->p, c->a, &f, &e))
        return true;
    if (aws_is_server_fault(&f))
        return again(c, 0);
    (void)no(c, "ClusterCIDRResolutionFailed", STR("Failed to detect the cluster CIDR"));
    return failed(c, &e);
}

static bool reservation_compiles(struct check *c, const struct ec2_kvs *m, const char *field)
{
    struct err e;

    for (uint32_t i = 0; i < m->n; i++)
        if (!quantity_is(m->v[i].value) && !ec2_expr_check(c->a, m->v[i].value, &e))
            return no_for_good(
                c, "KubeletExpressionInvalid",
                arena_printf(c->a, "spec.kubelet.%s." STR_FMT ": %s", field, STR_ARG(m->v[i].key), e.msg));
    return true;
}

static bool expressions_compile(struct check *c)
{
    const struct ec2_kubelet *k = &c->k->kubelet;
    struct err e;

    if (!ec2_kubelet_has_expressions(k))
        return true;
    if (!c->p->settings.expressions)
        return no_for_good(c, "KubeletExpressionsDisabled", STR("kubelet expressions are disabled"));
    if (k->max_pods_is_expr && !ec2_expr_check(c->a, k->max_pods_expr, &e))
        return no_for_good(c, "KubeletExpressionInvalid", arena_printf(c->a, "spec.kubelet.maxPods: %s", e.msg));
    return reservation_compiles(c, &k->kube_reserved, "kubeReserved") &&
           reservation_compiles(c, &k->system_reserved, "systemReserved");
}

static bool kubelet(struct check *c)
{
    str problems = ec2_kubelet_problems(c->a, c->k);

    if (problems.n)
        return no(c, "InvalidKubeletConfiguration", problems);
    if (!expressions_compile(c))
        return false;
    str unsupported = ec2_kubelet_unsupported(c->a, c->k);
    return unsupported.n == 0 || no_for_good(c, "UnsupportedKubeletConfiguration", unsupported);
}

static bool dependencies(struct check *c)
{
    static const char *const types[] = {"AMIsReady", "InstanceProfileReady", "SecurityGroupsReady", "SubnetsReady"};
    static const char reason[] = "DependenciesNotReady",
                      message[] = "Awaiting AMI, Instance Profile, Security Group, and Subnet resolution";
    bool unknown = false;

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (cond_is_false(c->o->obj, types[i])) {
            (void)no(c, reason, STR(message));
            return again(c, AGAIN_MS);
        }
        unknown |= cond_is_unknown(c->o->obj, types[i]);
    }
    if (!unknown)
        return true;
    conds_unknown(c->o, SUCCEEDED, STR(reason), STR(message));
    return again(c, AGAIN_MS);
}

static bool expressions_work(struct check *c)
{
    const struct ec2_universe *u = ec2_market_universe(c->p->market);
    struct ec2_types_input in = {.universe = u, .class = c->k, .reserved_enis = c->p->settings.reserved_enis};
    struct err e;

    if (!ec2_kubelet_has_expressions(&c->k->kubelet))
        return true;
    if (!u || u->n == 0)
        return again(c, 0);
    return ec2_expressions_work(c->a, &in, &e) || no_for_good(c, "KubeletExpressionEvaluationFailed", str_c(e.msg));
}

static bool tags(struct check *c)
{
    str problem = ec2_tags_problem(c->a, c->k, c->p->cluster.name);

    return problem.n == 0 || no_for_good(c, "TagValidationFailed", problem);
}

/* ---- dry runs ---- */

/* What a verdict depends on, as a text. */
static str verdict_key(struct check *c)
{
    static const char *const parts[] = {"subnets", "securityGroups", "amis", "instanceProfile"};
    const struct tree *obj = c->o->obj, *status = tree_get(obj, "status");
    struct sb b = {0};

    json_compact(&b, tree_get(obj, "spec"), false);
    sb_char(&b, '\n');
    json_compact(&b, tree_at(obj, "metadata", "annotations", NULL), false);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        sb_char(&b, '\n');
        json_compact(&b, tree_get(status, parts[i]), false);
    }
    str key = arena_printf(c->a, STR_FMT ":%016llx%016llx", STR_ARG(c->k->name),
                           (unsigned long long)hash_bytes(b.p, b.n, 1), (unsigned long long)hash_bytes(b.p, b.n, 2));
    sb_fini(&b);
    return key;
}

static void remember(struct check *c, str key, const struct ec2_verdict *v)
{
    struct memo *m = &c->p->verdicts->memo;
    struct arena *a = memo_put(m, key, ec2_clock_ms(c->p), VERDICT_MS);
    struct ec2_verdict *keep = arena_new_one(a, struct ec2_verdict);

    *keep = *v;
    keep->message = arena_strdup(a, v->message);
    memo_set(m, key, keep);
}

static void pronounce(struct check *c, const struct ec2_verdict *v)
{
    if (v->reason)
        (void)no(c, v->reason, v->message);
    else
        conds_true(c->o, SUCCEEDED);
    c->out->after_ms = v->fleeting ? 0 : AGAIN_MS;
}

static void judge(struct check *c)
{
    str key = verdict_key(c);
    const struct ec2_verdict *known = memo_get(&c->p->verdicts->memo, key, ec2_clock_ms(c->p));
    struct ec2_verdict v = {0};
    struct err e;

    if (known) {
        pronounce(c, known);
        return;
    }
    if (!c->p->settings.disable_dry_run && !ec2_dry_run(c->p, c->a, c->k, &v, &e)) {
        (void)failed(c, &e);
        return;
    }
    if (v.unsettled) {
        (void)again(c, 0);
        return;
    }
    if (!v.fleeting)
        remember(c, key, &v);
    pronounce(c, &v);
}

void ec2_validate(struct ec2 *p, const struct ec2_class *k, const struct cond_object *o, struct ec2_reconciled *ret)
{
    struct check c = {p, k, o, o->arena, ret};

    *ret = (struct ec2_reconciled){.after_ms = INT64_MAX};
    if (cidr(&c) && kubelet(&c) && dependencies(&c) && expressions_work(&c) && tags(&c))
        judge(&c);
}
