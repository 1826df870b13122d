/* cloudprovider.metrics: what can be had, and for how much, as gauges (aws 7.13); and how large types are (aws 8.1.1). */
#include "control/aws/machines_int.h"

struct offer {
    sym capacity_type, zone;
    bool available;
    double price;
};

struct offers { /* of one type, as all NodePools see it */
    VEC(struct offer) v;
};

/* The only value that is allowed; false: there are others, or none. */
static bool single(const struct req_expr *v, uint32_t n, sym key, sym *ret)
{
    for (uint32_t i = 0; i < n; i++)
        if (sym_eq(v[i].key, key) && v[i].op == OP_IN && v[i].n_vals == 1)
            return *ret = v[i].vals[0], true;
    return false;
}

static struct offer *find(struct offers *o, sym capacity_type, sym zone)
{
    for (uint32_t i = 0; i < o->v.n; i++)
        if (sym_eq(o->v.v[i].capacity_type, capacity_type) && sym_eq(o->v.v[i].zone, zone))
            return &o->v.v[i];
    vec_push(&o->v, (struct offer){.capacity_type = capacity_type, .zone = zone});
    return &o->v.v[o->v.n - 1];
}

static void gather(struct offers *o, const struct itype *t)
{
    for (uint32_t i = 0; i < t->n_offerings; i++) {
        const struct offering *x = &t->offerings[i];
        sym ct, zone;

        if (!single(x->requirements, x->n_requirements, SYM(CT), &ct) ||
            !single(x->requirements, x->n_requirements, SYM(ZONE), &zone))
            continue;
        struct offer *f = find(o, ct, zone);
        f->available |= x->available;
        f->price = x->price_usd_per_h;
    }
}

/* Where there is no reservation there is nothing to be had, for nothing. */
static void add_reserved(struct aws_machines *s, struct offers *o)
{
    sym reserved = sym_of(s->c->syms, STR("reserved"));

    if (!s->c->options->settings.reserved_capacity)
        return;
    for (uint32_t i = 0, n = o->v.n; i < n; i++)
        (void)find(o, reserved, o->v.v[i].zone);
}

static void set_size(const struct aws_machines *s, const struct itype *t, str name)
{
    const struct control_metrics *m = s->c->metrics;
    sym v;
    int64_t n;

    if (single(t->requirements, t->n_requirements, ec2_label_key(s->c->syms, EC2_L_CPU), &v) &&
        str_to_i64(sym_str(s->c->syms, v), &n))
        metric_set(m->cloudprovider_instance_type_cpu_cores, (double)n, &name);
    if (single(t->requirements, t->n_requirements, ec2_label_key(s->c->syms, EC2_L_MEMORY), &v) &&
        str_to_i64(sym_str(s->c->syms, v), &n))
        metric_set(m->cloudprovider_instance_type_memory, (double)n * (1 << 20), &name);
}

static void set_offers(const struct aws_machines *s, str name, const struct offers *o)
{
    const struct control_metrics *m = s->c->metrics;

    for (uint32_t i = 0; i < o->v.n; i++) {
        const struct offer *x = &o->v.v[i];
        const str vals[] = {name, sym_str(s->c->syms, x->capacity_type), sym_str(s->c->syms, x->zone)};

        metric_set(m->cloudprovider_instance_type_offering_available, x->available, vals);
        metric_set(m->cloudprovider_instance_type_offering_price_estimate, x->price, vals);
    }
}

static struct result reconcile(struct reconcile *r)
{
    struct aws_machines *s = r->ctx;
    const struct catalog *c = s->c->cloud->catalog(s->c->cloud->self);
    struct offers o = {0};

    for (uint32_t i = 0; c && i < c->n;
         i++) { /* a type that NodePools see in different ways occurs several times in a row */
        str name = sym_str(s->c->syms, c->types[i].name);

        gather(&o, &c->types[i]);
        if (i + 1 < c->n && sym_eq(c->types[i + 1].name, c->types[i].name))
            continue;
        add_reserved(s, &o);
        set_offers(s, name, &o);
        set_size(s, &c->types[i], name);
        o.v.n = 0;
    }
    vec_fini(&o.v);
    return result_after_ms(MINUTE_MS);
}

void offering_metrics_register(struct aws_machines *s)
{
    (void)machines_singleton(s, "cloudprovider.metrics", reconcile);
}
