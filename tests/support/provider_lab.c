#include "support/provider_lab.h"

#include <math.h>
#include <stdlib.h>

#include "data/edit.h"
#include "support/check.h"

/* ---- the host ---- */

static struct tree *class_object(void *ctx, struct arena *a, str name)
{
    struct provider_lab *x = ctx;

    for (uint32_t i = 0; i < x->l->n_stored; i++)
        if (str_eq(tree_str(tree_at(x->l->stored[i], "metadata", "name", NULL)), name))
            return tree_copy(a, x->l->stored[i]);
    return NULL;
}

static void each_class(void *ctx, void (*fn)(void *arg, str name), void *arg)
{
    struct provider_lab *x = ctx;

    for (uint32_t i = 0; i < x->l->n_stored; i++)
        fn(arg, tree_str(tree_at(x->l->stored[i], "metadata", "name", NULL)));
}

static void each_pool(void *ctx, void (*fn)(void *arg, const struct nodepool *p), void *arg)
{
    struct provider_lab *x = ctx;

    for (uint32_t i = 0; i < x->n_pools; i++)
        fn(arg, &x->pools[i]);
}

static uint64_t news(void *ctx)
{
    return ((struct provider_lab *)ctx)->news;
}

static bool kube_dns(void *ctx, struct arena *a UNUSED, str *ret, struct err *e)
{
    *ret = ((struct provider_lab *)ctx)->dns;
    return ret->n || err_set(e, ERR_NOT_FOUND, "there is none");
}

static bool kube_version(void *ctx UNUSED, struct arena *a UNUSED, str *ret, struct err *e UNUSED)
{
    *ret = STR("1.31");
    return true;
}

static void warn(void *ctx, enum ec2_subject s, str name, const char *message)
{
    sb_printf(&((struct provider_lab *)ctx)->told, "warn %s " STR_FMT ": %s\n", s == EC2_ON_POOL ? "pool" : "claim",
              STR_ARG(name), message);
}

static void launch_failed(void *ctx, str zone, str zone_id, str capacity_type, str reason)
{
    sb_printf(&((struct provider_lab *)ctx)->told,
              "launch-failed [" STR_FMT "] [" STR_FMT "] " STR_FMT " " STR_FMT "\n", STR_ARG(zone), STR_ARG(zone_id),
              STR_ARG(capacity_type), STR_ARG(reason));
}

static void termination_failed(void *ctx, str zone, str zone_id)
{
    sb_printf(&((struct provider_lab *)ctx)->told, "termination-failed " STR_FMT " " STR_FMT "\n", STR_ARG(zone),
              STR_ARG(zone_id));
}

static void batched(void *ctx, const char *batcher, uint32_t n, int64_t window_us)
{
    sb_printf(&((struct provider_lab *)ctx)->told, "batch %s %u %lld\n", batcher, n, (long long)window_us);
}

static void user_data_bytes(void *ctx, str class, size_t n)
{
    sb_printf(&((struct provider_lab *)ctx)->told, "user-data " STR_FMT " %s\n", STR_ARG(class), n ? "some" : "none");
}

static void class_gone(void *ctx, str class)
{
    sb_printf(&((struct provider_lab *)ctx)->told, "gone " STR_FMT "\n", STR_ARG(class));
}

static void say(void *ctx, bool error, const char *message, const struct err *e)
{
    sb_printf(&((struct provider_lab *)ctx)->told, "%s: %s%s%s\n", error ? "error" : "info", message, e ? ": " : "",
              e ? e->msg : "");
}

static double overlay_price(void *ctx, str type)
{
    const struct provider_lab *x = ctx;

    return x->unpriced && str_is(type, x->unpriced) ? 0.001 : (double)NAN;
}

static const struct catalog *overlaid(void *ctx, struct arena *a, str pool, const struct catalog *base)
{
    struct provider_lab *x = ctx;
    struct catalog *c = arena_dup_array(a, struct catalog, base, 1);

    x->n_overlaid++;
    check_str("the pool of the claim", pool, "pool");
    c->types = arena_dup_array(a, struct itype, base->types, base->n);
    for (uint32_t i = 0; i < c->n; i++) {
        struct itype *t = &c->types[i];
        str name = sym_str(x->p->syms, t->name);

        if (x->dear && str_is(name, x->dear)) {
            t->offerings = arena_dup_array(a, struct offering, t->offerings, t->n_offerings);
            for (uint32_t o = 0; o < t->n_offerings; o++)
                t->offerings[o].price_usd_per_h *= 1000;
        }
        if (x->more && str_is(name, x->more)) {
            t->capacity = reslist_dup(a, &t->capacity);
            reslist_set(a, &t->capacity, sym_of(x->p->syms, STR("smarter-devices/fuse")), 1000, false);
        }
    }
    return c;
}

/* ---- life ---- */

struct ec2_settings provider_lab_settings(void)
{
    return (struct ec2_settings){.cluster_name = STR("test-cluster"),
                                 .eks_control_plane = true,
                                 .disable_dry_run = true,
                                 .reserved_capacity = true,
                                 .node_overlays = true,
                                 .memory_overhead = 0.075,
                                 .ami_refresh_ms = 60000,
                                 .subnet_refresh_ms = 60000};
}

static void provide(struct provider_lab *x, const struct ec2_settings *s)
{
    struct class_lab *l = x->l;

    x->p = ec2_new(&(struct ec2_options){
        .world = l->near,
        .aws = l->aws,
        .syms = l->p.syms,
        .settings = *s,
        .host = {.ctx = x,
                 .class_object = class_object,
                 .each_class = each_class,
                 .each_pool = each_pool,
                 .news = news,
                 .overlay_price = overlay_price,
                 .overlaid = overlaid,
                 .kube_dns = kube_dns,
                 .kube_version = kube_version,
                 .kube_ca = STR("Y2E="),
                 .warn = warn,
                 .launch_failed = launch_failed,
                 .termination_failed = termination_failed,
                 .batched = batched,
                 .user_data_bytes = user_data_bytes,
                 .class_gone = class_gone,
                 .say = say},
    });
    x->cloud = ec2_cloud(x->p);
    x->n_pools = 0;
    x->claim = (struct nodeclaim){.name = STR("claim-1"), .class_ref = {.name = STR("default")}};
    provider_lab_want(x, "node.kubernetes.io/instance-type", "m5.large");
    provider_lab_label(x, "karpenter.sh/nodepool", STR("pool"));
}

int provider_lab_setup(void **state)
{
    struct provider_lab *x = xcalloc(1, sizeof(*x));
    struct ec2_settings s = provider_lab_settings();
    void *inner = NULL;
    int r = class_lab_setup(&inner);

    x->l = inner;
    provide(x, &s);
    *state = x;
    return r;
}

static void withdraw(struct provider_lab *x)
{
    class_lab_stop(x->l);
    x->cloud->free(x->cloud->self);
}

int provider_lab_teardown(void **state)
{
    struct provider_lab *x = *state;
    void *inner = x->l;

    withdraw(x);
    sb_fini(&x->told);
    free(x);
    return class_lab_teardown(&inner);
}

void provider_lab_reopen(struct provider_lab *x, const char *members, const struct ec2_settings *s)
{
    struct ec2_settings usual = provider_lab_settings();

    withdraw(x);
    class_lab_close(x->l);
    class_lab_open(x->l, members);
    sb_reset(&x->told);
    provide(x, s ? s : &usual);
}

/* ---- steps ---- */

static void reconcile(struct provider_lab *x)
{
    for (uint32_t i = 0; x->ok && i < x->l->n_stored; i++)
        (void)ec2_class_reconcile(x->p, x->l->a, x->l->stored[i]);
    x->news++;
}

void provider_lab_work(void *lab)
{
    struct provider_lab *x = lab;
    struct arena *a = x->l->a;
    void *self = x->cloud->self;

    switch (x->step) {
    case LAB_START:
        x->ok = x->cloud->start(self, &x->e);
        reconcile(x);
        break;
    case LAB_RECONCILE:
        x->ok = true;
        reconcile(x);
        break;
    case LAB_FINALIZE:
        x->ok = ec2_class_finalize(x->p, a, x->l->stored[0], &x->e);
        break;
    case LAB_LAUNCH:
        x->ok = x->cloud->create(self, a, x->p->syms, &x->claim, NULL, &x->machine, &x->e);
        break;
    case LAB_GET:
        x->ok = x->cloud->get(self, a, x->claim.provider_id, &x->machine, &x->e);
        break;
    case LAB_LIST:
        x->ok = x->cloud->list(self, a, &x->all, &x->e);
        break;
    case LAB_DRIFT:
        x->ok = x->cloud->drifted(self, a, &x->claim, &x->drift, &x->e);
        break;
    case LAB_DESTROY:
        x->ok = x->cloud->destroy(self, a, &x->claim, &x->e);
        break;
    case LAB_HOOK:
        x->ok = x->cloud->hook(self, a, &x->claim, &x->hook, &x->e);
        break;
    case LAB_ADOPT:
        x->ok = ec2_adopt_templates(x->p, &x->e);
        break;
    case LAB_TYPES:
        x->ok = ec2_refresh_types(x->p, &x->e);
        break;
    case LAB_PRICES:
        x->ok = ec2_refresh_prices(x->p, &x->e);
        break;
    case LAB_VERSION:
        x->ok = ec2_refresh_version(x->p, &x->e);
        break;
    }
}

bool provider_lab_go(struct provider_lab *x, enum lab_step step)
{
    x->step = step;
    x->ok = false;
    class_lab_go(x->l, provider_lab_work, x);
    return x->ok;
}

/* ---- classes and claims ---- */

void provider_lab_class(struct provider_lab *x, const char *name, const char *spec, const char *pool)
{
    struct tree *object = class_lab_object(x->l, spec);
    struct nodepool *np = &x->pools[x->n_pools++];

    tree_set_str(x->l->a, tree_sub(x->l->a, object, "metadata"), "name", str_c(name));
    tree_set_str(x->l->a, tree_sub(x->l->a, object, "metadata"), "uid", str_c(name));
    x->l->stored[x->l->n_stored++] = object;
    *np = (struct nodepool){.name = str_c(pool), .name_sym = sym_of(x->l->p.syms, str_c(pool))};
    np->tmpl.class_ref.name = str_c(name);
}

void provider_lab_label(struct provider_lab *x, const char *key, str val)
{
    struct syms *t = x->l->p.syms;
    sym k = sym_of(t, str_c(key));
    uint32_t n, at = 0;
    const struct label *own = lset_get(t, x->claim.labels, &n);
    struct label *all = arena_new_array(x->l->a, struct label, n + 1);

    for (uint32_t i = 0; i < n; i++)
        if (!sym_eq(own[i].key, k))
            all[at++] = own[i];
    all[at++] = (struct label){k, sym_of(t, val)};
    x->claim.labels = lset_of(t, all, at);
}

void provider_lab_want(struct provider_lab *x, const char *key, const char *values)
{
    struct syms *t = x->l->p.syms;
    struct req_expr *all = arena_new_array(x->l->a, struct req_expr, x->claim.n_requirements + 1);
    struct req_expr want = {.key = sym_of(t, str_c(key)), .op = OP_IN};
    str rest = str_c(values), one;
    uint32_t n = 0;

    want.vals = arena_new_array(x->l->a, sym, rest.n + 1);
    for (bool more = true; more;) {
        str tail = {0};

        more = str_cut(rest, ' ', &one, &tail);
        want.vals[want.n_vals++] = sym_of(t, more ? one : rest);
        rest = tail;
    }
    for (uint32_t i = 0; i < x->claim.n_requirements; i++)
        if (!sym_eq(x->claim.requirements[i].key, want.key))
            all[n++] = x->claim.requirements[i];
    all[n++] = want;
    x->claim.requirements = all;
    x->claim.n_requirements = n;
}

void provider_lab_ask(struct provider_lab *x, const char *resource, int64_t v)
{
    reslist_set(x->l->a, &x->claim.requests, sym_of(x->l->p.syms, str_c(resource)), v, false);
}

str provider_lab_of(const struct machine *m, const char *label)
{
    return annotation_value(m->labels, m->n_labels, label);
}

void provider_lab_launch(struct provider_lab *x)
{
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    x->claim.provider_id = x->machine.provider_id;
    x->claim.image_id = x->machine.image_id;
    x->claim.annotations = x->machine.annotations;
    x->claim.n_annotations = x->machine.n_annotations;
    for (uint32_t i = 0; i < x->machine.n_labels; i++)
        provider_lab_label(x, arena_printf(x->l->a, STR_FMT, STR_ARG(x->machine.labels[i].key)).p,
                           x->machine.labels[i].val);
}
