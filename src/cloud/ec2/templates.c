/* Launch templates: named after their content, made when they are missing, ended a minute after their last use (aws 4.6.2, 4.6.3). */
#include <inttypes.h>
#include <stdlib.h>

#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/turns.h"

#define KEPT_MS (60 * 1000)
#define SWEEP_US (60 * INT64_C(1000000))

struct entry {
    char *name, *id;
    int64_t until_ms;
};

struct ec2_templates {
    struct ec2 *p;
    VEC(struct entry) v;
    struct timer sweep;
    struct turns turns; /* one fiber at a time, so that nothing is made twice or ended while somebody finds it */
};

static void sweep(void *ctx);

struct ec2_templates *ec2_templates_new(struct ec2 *p)
{
    struct ec2_templates *t = xcalloc(1, sizeof(*t));

    t->p = p;
    t->sweep = (struct timer){.fn = sweep, .ctx = t};
    return t;
}

static void entry_fini(struct entry *x)
{
    free(x->name);
    free(x->id);
}

void ec2_templates_free(struct ec2_templates *t)
{
    if (!t)
        return;
    timer_stop(t->p->world, &t->sweep);
    for (uint32_t i = 0; i < t->v.n; i++)
        entry_fini(&t->v.v[i]);
    vec_fini(&t->v);
    turns_fini(&t->turns);
    free(t);
}

/* ---- what is there ---- */

static struct entry *find(struct ec2_templates *t, str name)
{
    for (uint32_t i = 0; i < t->v.n; i++)
        if (str_is(name, t->v.v[i].name))
            return &t->v.v[i];
    return NULL;
}

static char *copy(str s)
{
    char *c = xmalloc(s.n + 1);

    memcpy(c, s.p, s.n);
    c[s.n] = '\0';
    return c;
}

/* Out of the list; its texts are the caller's. */
static struct entry take(struct ec2_templates *t, const struct entry *x)
{
    struct entry taken = *x;
    uint32_t i = (uint32_t)(x - t->v.v);

    memmove(&t->v.v[i], &t->v.v[i + 1], (--t->v.n - i) * sizeof(struct entry));
    return taken;
}

static void drop(struct ec2_templates *t, const struct entry *x)
{
    struct entry gone = take(t, x);

    entry_fini(&gone);
}

static void keep(struct ec2_templates *t, const struct ec2_template *is)
{
    struct entry *x = find(t, is->name);

    if (x)
        drop(t, x);
    vec_push(&t->v, (struct entry){copy(is->name), copy(is->id), ec2_clock_ms(t->p) + KEPT_MS});
    if (!timer_is_set(&t->sweep))
        timer_set(t->p->world, &t->sweep, SWEEP_US);
}

/* ---- what nobody has used for a while ---- */

static struct entry *first_old(struct ec2_templates *t)
{
    for (uint32_t i = 0; i < t->v.n; i++)
        if (t->v.v[i].until_ms <= ec2_clock_ms(t->p))
            return &t->v.v[i];
    return NULL;
}

/* false: it is there yet, and may be gone if it is tried again. */
static bool end_one(struct ec2_templates *t, const struct entry *x)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e;

    if (ec2_delete_template(t->p->aws, a, str_c(x->id), (str){0}, &e) || e.kind == ERR_NOT_FOUND)
        return true;
    if (t->p->host.say)
        t->p->host.say(t->p->host.ctx, /* error= */ true, "failed to delete launch template", &e);
    return e.kind != ERR_THROTTLED && e.kind != ERR_IO && e.kind != ERR_TIMEOUT;
}

/* One that EC2 had no time for is tried again a minute later: nobody else would ever end it. */
static void end_old(void *arg)
{
    struct ec2_templates *t = arg;
    VEC(struct entry) again = {0};
    struct entry *x;
    struct turn mine;

    if (!turns_take(&t->turns, t->p->world, STR(""), &mine))
        return;
    while ((x = first_old(t)) != NULL) {
        struct entry old = take(t, x);

        if (end_one(t, &old))
            entry_fini(&old);
        else
            vec_push(&again, old);
    }
    for (uint32_t i = 0; i < again.n; i++)
        vec_push(&t->v, again.v[i]);
    vec_fini(&again);
    if (t->v.n)
        timer_set(t->p->world, &t->sweep, SWEEP_US);
    turns_give(&t->turns, &mine);
}

static void sweep(void *ctx)
{
    struct ec2_templates *t = ctx;

    fiber_go(t->p->world, "launch templates", end_old, t);
}

/* ---- what launches ask for ---- */

static str name_of(struct arena *a, const struct ec2 *p, const struct ec2_template_data *d, const struct ec2_tags *tags,
                   str class)
{
    struct sb b = {0};

    ec2_template_encode(&b, STR(""), STR(""), d, tags);
    sb_printf(&b, "&%zu:" STR_FMT STR_FMT, p->cluster.name.n, STR_ARG(p->cluster.name), STR_ARG(class));
    str name = arena_printf(a, "karpenter.k8s.aws/%" PRIu64, hash_bytes(b.p, b.n, /* seed= */ 0));
    sb_fini(&b);
    return name;
}

static bool find_or_make(struct ec2_templates *t, struct arena *a, str name, const struct ec2_template_data *d,
                         const struct ec2_tags *tags, struct aws_answer *f, struct err *e)
{
    struct ec2_template is;

    if (!ec2_describe_template(t->p->aws, a, name, &is, f, e)) {
        if (e->kind != ERR_NOT_FOUND)
            return err_wrap(e, "describing launch templates");
        bool made = ec2_create_template(t->p->aws, a, name, d, tags, &is, f, e);
        if (!made && e->kind == ERR_CONFLICT) /* somebody else was faster */
            made = ec2_describe_template(t->p->aws, a, name, &is, f, e);
        if (!made)
            return err_wrap(e, "creating launch template");
    }
    is.name = name;
    keep(t, &is);
    return true;
}

bool ec2_template_ensure(struct ec2 *p, struct arena *a, const struct ec2_template_data *d, const struct ec2_tags *tags,
                         str class, str *ret_name, struct aws_answer *f, struct err *e)
{
    struct ec2_templates *t = p->templates;
    str name = name_of(a, p, d, tags, class);
    struct turn mine;
    bool ok = true;

    *f = (struct aws_answer){0};
    if (!turns_take(&t->turns, p->world, STR(""), &mine))
        return err_set(e, ERR_IO, "shutting down");
    struct entry *x = find(t, name);
    if (x && x->until_ms > ec2_clock_ms(p))
        x->until_ms = ec2_clock_ms(p) + KEPT_MS;
    else
        ok = find_or_make(t, a, name, d, tags, f, e);
    turns_give(&t->turns, &mine);
    if (ok)
        *ret_name = name;
    return ok;
}

void ec2_template_forget(struct ec2 *p, str name)
{
    struct entry *x = find(p->templates, name);

    if (x)
        drop(p->templates, x);
}

/* ---- all of them ---- */

bool ec2_adopt_templates(struct ec2 *p, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct ec2_filter filter = ec2_filter_tag(a, STR("eks:eks-cluster-name"), p->cluster.name);
    struct ec2_template *v;
    uint32_t n;

    if (!ec2_describe_templates(p->aws, a, &filter, 1, &v, &n, e))
        return err_wrap(e, "looking for launch templates");
    for (uint32_t i = 0; i < n; i++)
        keep(p->templates, &v[i]);
    return true;
}

bool ec2_templates_delete(struct ec2 *p, struct arena *a, str class, struct err *e)
{
    struct ec2_filter filters[] = {
        ec2_filter_tag(a, STR("eks:eks-cluster-name"), p->cluster.name),
        ec2_filter_tag(a, STR("karpenter.k8s.aws/ec2nodeclass"), class),
    };
    struct ec2_template *v;
    struct err one;
    bool ok = true;
    uint32_t n;

    if (!ec2_describe_templates(p->aws, a, filters, ARRAY_LEN(filters), &v, &n, e))
        return err_wrap(e, "fetching launch templates");
    for (uint32_t i = 0; i < n; i++) {
        ec2_template_forget(p, v[i].name);
        if (!ec2_delete_template(p->aws, a, (str){0}, v[i].name, &one) && one.kind != ERR_NOT_FOUND) {
            *e = one;
            ok = err_wrap(e, "deleting launch template " STR_FMT, STR_ARG(v[i].name));
        }
    }
    return ok;
}
