/* aws-instance-types: the instance types that an EC2NodeClass sees in the account of a file. */
#include "app/aws_run.h"
#include "app/aws_vectors.h"
#include "data/json.h"

/* Those of the first class. */
static bool find_types(struct aws_run *r, struct err *e)
{
    if (r->classes.n == 0)
        return err_set(e, ERR_INVALID, "there is no EC2NodeClass");
    const struct ec2_class *k = ec2_class_decode(r->a, r->t, r->classes.v[0].object, r->settings.cluster_name, e);

    return k && ec2_market_types(r->p->market, k, r->ctx, e);
}

static void put_requirements(struct jw *w, const struct syms *t, const struct itype *it)
{
    jw_key(w, "requirements");
    jw_list(w);
    for (uint32_t i = 0; i < it->n_requirements; i++) {
        const struct req_expr *x = &it->requirements[i];

        jw_map(w);
        jw_key(w, "key");
        jw_str(w, sym_str(t, x->key));
        jw_key(w, "operator");
        jw_c(w, req_op_name(x->op));
        if (x->n_vals) {
            jw_key(w, "values");
            jw_list(w);
            for (uint32_t v = 0; v < x->n_vals; v++)
                jw_str(w, sym_str(t, x->vals[v]));
            jw_end(w);
        }
        jw_end(w);
    }
    jw_end(w);
}

static void put_offerings(struct jw *w, const struct syms *t, const struct itype *it)
{
    jw_key(w, "offerings");
    jw_list(w);
    for (uint32_t i = 0; i < it->n_offerings; i++) {
        const struct offering *o = &it->offerings[i];
        bool reserved = sym_eq(o->requirements[0].vals[0], SYM(RESERVED));

        jw_map(w);
        jw_key(w, "available");
        jw_bool(w, o->available);
        jw_key(w, "price");
        jw_double(w, o->price_usd_per_h);
        if (reserved) {
            jw_key(w, "reservationCapacity");
            jw_i64(w, o->reservation_capacity);
        }
        for (uint32_t x = 0; x < o->n_requirements; x++)
            if (o->requirements[x].n_vals == 1) {
                jw_key_str(w, sym_str(t, o->requirements[x].key));
                jw_str(w, sym_str(t, o->requirements[x].vals[0]));
            }
        jw_end(w);
    }
    jw_end(w);
}

static void put_type(struct jw *w, struct aws_run *r, uint32_t i)
{
    const struct ec2_types *types = r->ctx;
    const struct itype *it = &types->v[i];
    const struct ec2_type_detail *d = &types->detail[i];
    struct reslist left = reslist_dup(r->a, &it->capacity);

    reslist_sub(&left, &it->overhead);
    jw_map(w);
    jw_key(w, "name");
    jw_str(w, sym_str(r->t, it->name));
    put_requirements(w, r->t, it);
    aws_put_resources(w, r->t, "capacity", &it->capacity);
    jw_key(w, "overhead");
    jw_map(w);
    aws_put_resources(w, r->t, "kubeReserved", &d->kube_reserved_list);
    aws_put_resources(w, r->t, "systemReserved", &d->system_reserved_list);
    aws_put_resources(w, r->t, "evictionThreshold", &d->eviction_list);
    jw_end(w);
    aws_put_resources(w, r->t, "allocatable", &left);
    put_offerings(w, r->t, it);
    jw_end(w);
}

static void print(struct aws_run *r, struct jw *w)
{
    const struct ec2_types *types = r->ctx;

    jw_map(w);
    jw_key(w, "apiVersion");
    jw_c(w, "awsinstancetypes.karpenter.sh/v1");
    jw_key(w, "instanceTypes");
    jw_list(w);
    for (uint32_t i = 0; i < types->n; i++)
        put_type(w, r, i);
    jw_end(w);
    jw_end(w);
}

int aws_instance_types(const struct cli_env *env UNUSED, int argc, char **argv)
{
    static const struct aws_command command = {"aws-instance-types", find_types, print};
    struct ec2_types types = {0};

    return aws_run_main(&command, &types, argc, argv);
}
