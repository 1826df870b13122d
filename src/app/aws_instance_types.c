/* aws-instance-types: the instance types that an EC2NodeClass sees in the account of a file. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/aws_account.h"
#include "app/aws_settings.h"
#include "app/aws_vectors.h"
#include "base/vec.h"
#include "cloud/ec2/family.h"
#include "cloud/ec2/images.h"
#include "cloud/ec2/selectors.h"
#include "cloud/ec2/types.h"
#include "data/json.h"
#include "data/reader.h"

struct job {
    struct aws_account account;
    struct arena *a;
    struct syms *t;
    struct ec2_class *k;
    str cluster, kubernetes;
    struct ec2_types_input in;
    struct ec2_universe universe;
    struct ec2_prices *prices;
    struct ec2_placement_group placement;
    struct ec2_types types;
    struct err e;
    bool ok;
};

/* ---- what a reconciliation finds ---- */

static bool find_subnets(struct job *j, struct err *e)
{
    VEC(struct ec2_subnet) all = {0};
    struct ec2_query *q;
    uint32_t n_q = ec2_subnet_queries(j->a, j->k, &q), n;
    bool ok = true;

    for (uint32_t i = 0; ok && i < n_q; i++) {
        struct ec2_subnet *v;

        ok = ec2_describe_subnets(j->account.aws, j->a, q[i].filters, q[i].n_filters, &v, &n, e);
        for (uint32_t x = 0; ok && x < n; x++)
            vec_push(&all, v[x]);
    }
    j->k->status.n_subnets = ec2_subnets_found(j->a, all.v, all.n, &j->k->status.subnets);
    vec_fini(&all);
    return ok;
}

static bool find_reservations(struct job *j, struct err *e)
{
    VEC(struct ec2_reservation) all = {0};
    struct ec2_query *q;
    uint32_t n_q = ec2_reservation_queries(j->a, j->k, &q), n;
    bool ok = true;

    for (uint32_t i = 0; ok && i < n_q; i++) {
        struct ec2_reservation *v;

        ok = ec2_describe_reservations(j->account.aws, j->a, q[i].id, q[i].filters, q[i].n_filters, &v, &n, e);
        for (uint32_t x = 0; ok && x < n; x++)
            vec_push(&all, v[x]);
    }
    struct ec2_reserved *left = arena_new_array(j->a, struct ec2_reserved, all.n);
    for (uint32_t i = 0; i < all.n; i++)
        left[i] = (struct ec2_reserved){all.v[i].id, all.v[i].available};
    j->in.reserved = left;
    j->in.n_reserved = all.n;
    j->k->status.n_reservations =
        ec2_reservations_found(j->a, all.v, all.n, j->account.now_ms, &j->k->status.reservations);
    vec_fini(&all);
    return ok;
}

/* The parameters that name images: those of an alias, or of single terms. */
static bool find_parameters(struct job *j, struct ec2_parameter **ret, uint32_t *ret_n, struct err *e)
{
    const struct ec2_terms *terms = &j->k->images;

    *ret = arena_new_array(j->a, struct ec2_parameter, terms->n);
    *ret_n = 0;
    for (uint32_t i = 0; i < terms->n; i++) {
        if (terms->v[i].alias.n)
            return ec2_alias_parameters(j->a, terms->v[i].alias, j->kubernetes, ret, ret_n, e);
        if (terms->v[i].ssm.n)
            (*ret)[(*ret_n)++] = (struct ec2_parameter){.name = terms->v[i].ssm};
    }
    return true;
}

/* What is known of an image before it is described: what its parameter says. */
static struct ec2_candidate candidate(const struct job *j, const struct ec2_image *image, const struct ec2_parameter *p,
                                      const str *ids, uint32_t n)
{
    struct ec2_candidate c = {.image = *image};
    enum ec2_family family;
    str version;

    for (uint32_t i = 0; i < n; i++)
        if (str_eq(ids[i], image->id))
            c.variants |= p[i].variants;
    if (j->k->images.n && ec2_alias_parse(j->k->images.v[0].alias, &family, &version))
        c.windows_build = ec2_family_traits(family)->windows_build;
    return c;
}

static bool find_images(struct job *j, struct err *e)
{
    VEC(struct ec2_candidate) all = {0};
    struct ec2_parameter *p;
    struct ec2_query *q;
    uint32_t n_p, n_ids = 0;
    bool ok = true;

    if (!find_parameters(j, &p, &n_p, e))
        return false;
    str *ids = arena_new_array(j->a, str, n_p);
    for (uint32_t i = 0; i < n_p; i++) { /* one that is not there is passed over */
        struct err missing;

        if (ssm_get_parameter(j->account.aws, j->a, p[i].name, &ids[n_ids], &missing) &&
            str_starts(ids[n_ids], STR("ami-")))
            p[n_ids++] = p[i];
    }
    uint32_t n_q = ec2_image_queries(j->a, j->k, ids, n_ids, &q);
    for (uint32_t i = 0; ok && i < n_q; i++) {
        struct ec2_image *v;
        uint32_t n;

        ok = ec2_describe_images(j->account.aws, j->a, q[i].filters, q[i].n_filters, q[i].owners, q[i].n_owners, &v, &n,
                                 e);
        for (uint32_t x = 0; ok && x < n; x++)
            vec_push(&all, candidate(j, &v[x], p, ids, n_ids));
    }
    j->k->status.n_amis = ec2_choose_amis(j->a, j->t, all.v, all.n, j->account.now_ms, &j->k->status.amis);
    vec_fini(&all);
    return ok;
}

/* It is in no status: looked for in any case. */
static void find_placement(struct job *j)
{
    struct err e;

    if (j->k->has_placement &&
        ec2_describe_placement_group(j->account.aws, j->a, j->k->placement_id, j->k->placement_name, &j->placement, &e))
        j->in.placement = &j->placement;
}

/* ---- what the provider knows ---- */

static bool learn_types(struct job *j, struct err *e)
{
    struct ec2_type_infos infos;
    struct ec2_type_zone *offered;
    uint32_t n;

    return ec2_describe_types(j->account.aws, j->a, &infos, e) &&
           ec2_describe_type_zones(j->account.aws, j->a, &offered, &n, e) &&
           ec2_universe_build(j->a, &infos, offered, n, &j->universe, e);
}

static bool learn_prices(struct job *j, struct err *e)
{
    struct ec2_spot_price *spot;
    uint32_t n;

    for (int metal = 0; metal < 2; metal++) {
        struct aws_price *v;

        if (!pricing_on_demand(j->account.aws, j->a, metal, &v, &n, e))
            return false;
        (void)ec2_prices_set_on_demand(j->prices, v, n);
    }
    if (!ec2_describe_spot_prices(j->account.aws, j->a, &spot, &n, e))
        return false;
    (void)ec2_prices_set_spot(j->prices, spot, n);
    return true;
}

static bool learn_cluster(struct job *j, struct err *e)
{
    struct eks_cluster cluster;
    struct aws_answer f;
    str name = tree_str(tree_at(j->account.doc, "cluster", "name", NULL));

    if (!eks_describe_cluster(j->account.aws, j->a, name, &cluster, &f, e))
        return false;
    j->kubernetes = cluster.version;
    return true;
}

/* Each part does what it can, whatever became of the others. A class that has conditions was reconciled already. */
static void reconcile(struct job *j)
{
    struct err e;

    if (tree_at(j->k->object, "status", "conditions", NULL))
        return;
    (void)find_subnets(j, &e);
    (void)find_images(j, &e);
    if (j->in.reserved_capacity)
        (void)find_reservations(j, &e);
}

static void work(void *arg)
{
    struct job *j = arg;

    j->prices = ec2_prices_new(j->account.region);
    j->ok = learn_cluster(j, &j->e) && learn_types(j, &j->e) && learn_prices(j, &j->e);
    if (!j->ok)
        return;
    reconcile(j);
    find_placement(j);
    j->in.universe = &j->universe;
    j->in.class = j->k;
    j->in.prices = j->prices;
    j->in.region = j->account.region;
    j->in.now_ms = j->account.now_ms;
    j->ok = ec2_types_resolve(j->a, j->t, &j->in, &j->types, &j->e);
}

/* ---- the answer ---- */

static void put_resources(struct jw *w, const struct syms *t, const char *key, const struct reslist *l)
{
    struct sb b = {0};

    jw_key(w, key);
    reslist_print_json(&b, t, l);
    jw_raw(w, sb_view(&b));
    sb_fini(&b);
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

static void put_type(struct jw *w, struct job *j, uint32_t i)
{
    const struct itype *it = &j->types.v[i];
    const struct ec2_type_detail *d = &j->types.detail[i];
    struct reslist left = reslist_dup(j->a, &it->capacity);

    reslist_sub(&left, &it->overhead);
    jw_map(w);
    jw_key(w, "name");
    jw_str(w, sym_str(j->t, it->name));
    put_requirements(w, j->t, it);
    put_resources(w, j->t, "capacity", &it->capacity);
    jw_key(w, "overhead");
    jw_map(w);
    put_resources(w, j->t, "kubeReserved", &d->kube_reserved_list);
    put_resources(w, j->t, "systemReserved", &d->system_reserved_list);
    put_resources(w, j->t, "evictionThreshold", &d->eviction_list);
    jw_end(w);
    put_resources(w, j->t, "allocatable", &left);
    put_offerings(w, j->t, it);
    jw_end(w);
}

static void print_answer(struct job *j)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_map(&w);
    jw_key(&w, "apiVersion");
    jw_c(&w, "awsinstancetypes.karpenter.sh/v1");
    jw_key(&w, "instanceTypes");
    jw_list(&w);
    for (uint32_t i = 0; i < j->types.n; i++)
        put_type(&w, j, i);
    jw_end(&w);
    jw_end(&w);
    (void)puts(sb_cstr(&b));
    sb_fini(&b);
}

/* ---- the command ---- */

static bool resolve(struct job *j, const struct tree *object, struct err *e)
{
    j->k = ec2_class_decode(j->a, j->t, object, j->cluster, e);
    if (!j->k)
        return false;
    if (!aws_account_run(&j->account, work, j))
        return err_set(e, ERR_TIMEOUT, "the account does not answer");
    if (!j->ok)
        *e = j->e;
    return j->ok;
}

static bool read_class(struct job *j, const char *path, struct err *e)
{
    AUTO(reader) struct reader *r = reader_open(path, e);
    const struct tree *object;

    if (!r)
        return false;
    do {
        if (!reader_next(r, &object, e))
            return false;
        if (object && str_is(tree_str(tree_get(object, "kind")), "EC2NodeClass"))
            return resolve(j, object, e);
    } while (object);
    return err_set(e, ERR_INVALID, "%s: there is no EC2NodeClass", path);
}

static bool run(struct job *j, const char *world, const char *class, const char *const *settings, uint32_t n,
                struct err *e)
{
    struct ec2_settings s = aws_settings_default();

    if (!aws_account_open(&j->account, &(struct aws_account_options){.path = world}, e))
        return false;
    s.cluster_name = tree_str(tree_at(j->account.doc, "cluster", "name", NULL));
    for (uint32_t i = 0; i < n; i++)
        if (!aws_settings_put(&s, j->a, settings[i], e))
            return false;
    j->cluster = s.cluster_name;
    j->in.memory_overhead = s.memory_overhead;
    j->in.reserved_enis = s.reserved_enis;
    j->in.reserved_capacity = s.reserved_capacity;
    j->in.expressions = s.expressions;
    if (!read_class(j, class, e))
        return false;
    print_answer(j);
    return true;
}

int aws_instance_types(const struct cli_env *env UNUSED, int argc, char **argv)
{
    static const struct option options[] = {{"filename", required_argument, NULL, 'f'},
                                            {"world", required_argument, NULL, 'w'},
                                            {"settings", required_argument, NULL, 's'},
                                            {"output", required_argument, NULL, 'o'},
                                            {0}};
    struct job j = {0};
    VEC(const char *) settings = {0};
    const char *world = NULL, *class = NULL;
    bool ok = true;
    struct err e;
    int c;

    while (ok && (c = getopt_long(argc, argv, ":f:o:", options, NULL)) != -1)
        if (c == 'f')
            class = optarg;
        else if (c == 'w')
            world = optarg;
        else if (c == 's')
            vec_push(&settings, optarg);
        else if (c != 'o')
            ok = cli_bad_option("aws-instance-types", c, argv, &e);
    if (ok && (!world || !class))
        ok = err_set(&e, ERR_INVALID, "aws-instance-types needs --world FILE and -f FILE");
    if (ok) {
        j.a = arena_new(0);
        j.t = syms_new();
        ok = run(&j, world, class, settings.v, settings.n, &e);
        aws_account_fini(&j.account);
        ec2_prices_free(j.prices);
        syms_free(j.t);
        arena_free(j.a);
    }
    vec_fini(&settings);
    return ok ? 0 : cli_fail("%s", e.msg);
}
