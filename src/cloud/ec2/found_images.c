/* Which images a class means: parameters of SSM, then the images themselves (aws 6.3, 6.11). */
#include "aws/services.h"
#include "cloud/ec2/family.h"
#include "cloud/ec2/found_int.h"
#include "cloud/ec2/images.h"
#include "cloud/ec2/selectors.h"

#define PARAMETER_MS (24 * 60 * 60 * 1000)
#define TERM_MS (5 * 60 * 1000) /* of a parameter that a term names: its owner may change it any time */

/* ---- parameters ---- */

struct parameter {
    str value;
    bool changes;
};

static void parameter_copy(struct arena *a, void *answer)
{
    struct parameter *x = answer;

    x->value = arena_strdup(a, x->value);
}

static bool parameter_ask(struct ec2 *p, struct arena *a, const struct found_question *what, void *answer,
                          struct err *e)
{
    const struct ec2_parameter *want = what->about;
    struct parameter *x = answer;

    x->changes = want->changes;
    return ssm_get_parameter(p->aws, a, want->name, &x->value, e);
}

static bool parameter_get(struct ec2 *p, struct arena *a, const struct ec2_parameter *want, int64_t for_ms, str *ret,
                          struct err *e)
{
    const struct found_question q = {.key = want->name,
                                     .about = want,
                                     .size = sizeof(struct parameter),
                                     .for_ms = for_ms,
                                     .ask = parameter_ask,
                                     .copy = parameter_copy};
    struct parameter x;

    if (!found_get(p, &p->found->parameters, &q, a, &x, e))
        return false;
    *ret = x.value;
    return true;
}

struct named { /* images that parameters name */
    struct ec2_parameter *p;
    str *ids;
    uint32_t n;
};

/* One that cannot be had is passed over, whatever the reason: the others are as good as before. */
static bool alias_get(struct ec2 *p, struct arena *a, str alias, struct named *ret, struct err *e)
{
    struct ec2_parameter *v;
    struct err missing;
    uint32_t n;

    if (!ec2_alias_parameters(a, alias, p->cluster.version, &v, &n, e))
        return false;
    *ret = (struct named){v, arena_new_array(a, str, n), 0};
    for (uint32_t i = 0; i < n; i++)
        if (parameter_get(p, a, &v[i], PARAMETER_MS, &ret->ids[ret->n], &missing))
            ret->p[ret->n++] = v[i];
    if (ret->n == 0)
        return err_set(e, ERR_NOT_FOUND, "failed to discover any AMIs for alias " STR_FMT, STR_ARG(alias));
    return true;
}

static bool terms_get(struct ec2 *p, struct arena *a, const struct ec2_terms *terms, struct named *ret, struct err *e)
{
    *ret = (struct named){arena_new_array(a, struct ec2_parameter, terms->n), arena_new_array(a, str, terms->n), 0};
    for (uint32_t i = 0; i < terms->n; i++) {
        struct ec2_parameter want = {.name = terms->v[i].ssm};
        str value;

        if (terms->v[i].id.n || want.name.n == 0)
            continue;
        bool ok = parameter_get(p, a, &want, TERM_MS, &value, e);
        if (!ok && e->kind != ERR_NOT_FOUND)
            return err_wrap(e, "parameter " STR_FMT, STR_ARG(want.name));
        if (!ok || !str_starts(value, STR("ami-"))) {
            if (p->host.say)
                p->host.say(p->host.ctx, false, "an ssmParameter of the node class names no image", ok ? NULL : e);
            continue;
        }
        ret->p[ret->n] = want;
        ret->ids[ret->n++] = value;
    }
    return true;
}

/* An alias stands alone (aws 2.4 S4). */
static bool named_get(struct ec2 *p, struct arena *a, const struct ec2_class *k, struct named *ret, struct err *e)
{
    for (uint32_t i = 0; i < k->images.n; i++)
        if (k->images.v[i].alias.n)
            return alias_get(p, a, k->images.v[i].alias, ret, e);
    return terms_get(p, a, &k->images, ret, e);
}

/* ---- images ---- */

struct images {
    struct ec2_candidate *v;
    uint32_t n;
};

static void images_copy(struct arena *a, void *answer)
{
    struct images *x = answer;

    x->v = arena_dup_array(a, struct ec2_candidate, x->v, x->n);
    for (uint32_t i = 0; i < x->n; i++) {
        struct ec2_image *image = &x->v[i].image;

        image->id = arena_strdup(a, image->id);
        image->name = arena_strdup(a, image->name);
        image->arch = arena_strdup(a, image->arch);
        image->state = arena_strdup(a, image->state);
    }
}

/* What is known of an image besides: what its parameter is for. */
static struct ec2_candidate candidate(const struct ec2_class *k, const struct ec2_image *image, const struct named *x)
{
    struct ec2_candidate c = {.image = *image};
    enum ec2_family family;
    str version;

    for (uint32_t i = 0; i < x->n; i++)
        if (str_eq(x->ids[i], image->id))
            c.variants |= x->p[i].variants;
    if (k->images.n && ec2_alias_parse(k->images.v[0].alias, &family, &version))
        c.windows_build = ec2_family_traits(family)->windows_build;
    return c;
}

struct meant { /* by a class */
    const struct ec2_class *k;
    struct named named;
};

static bool images_ask(struct ec2 *p, struct arena *a, const struct found_question *what, void *answer, struct err *e)
{
    VEC(struct ec2_candidate) all = {0};
    const struct meant *m = what->about;
    struct images *ret = answer;
    struct ec2_query *q;
    uint32_t n_q = ec2_image_queries(a, m->k, m->named.ids, m->named.n, &q);
    bool ok = true;

    for (uint32_t i = 0; ok && i < n_q; i++) {
        struct ec2_image *v;
        uint32_t n;

        ok = ec2_describe_images(p->aws, a, q[i].filters, q[i].n_filters, q[i].owners, q[i].n_owners, &v, &n, e);
        for (uint32_t x = 0; ok && x < n; x++)
            vec_push(&all, candidate(m->k, &v[x], &m->named));
    }
    *ret = (struct images){arena_dup_array(a, struct ec2_candidate, all.v, all.n), all.n};
    vec_fini(&all);
    return ok;
}

/* quirk: parameters are asked for before the cache is looked into, so an alias that stands for nothing any more is an error at once (aws 3.4). */
bool ec2_find_amis(struct ec2 *p, struct arena *a, const struct ec2_class *k, struct ec2_class_ami **ret,
                   uint32_t *ret_n, struct err *e)
{
    struct meant m = {.k = k};
    const struct found_question q = {.key = ec2_class_key(a, k),
                                     .about = &m,
                                     .size = sizeof(struct images),
                                     .for_ms = p->settings.ami_refresh_ms,
                                     .ask = images_ask,
                                     .copy = images_copy};
    struct images x;

    if (!named_get(p, a, k, &m.named, e) || !found_get(p, &p->found->images, &q, a, &x, e))
        return err_wrap(e, "getting amis");
    *ret_n = ec2_choose_amis(a, p->syms, x.v, x.n, world_now_ms(p->world), ret);
    return true;
}

/* ---- parameters whose image is out of date ---- */

static bool is_deprecated(struct ec2 *p, struct arena *a, str id, bool *ret, struct err *e)
{
    struct ec2_filter f = {"image-id", &id, 1};
    struct ec2_image *v;
    uint32_t n;

    if (!ec2_describe_images(p->aws, a, &f, 1, NULL, 0, &v, &n, e))
        return false;
    *ret = n > 0 && v[0].deprecated_ms != INT64_MIN && v[0].deprecated_ms / 1000 <= world_now_ms(p->world) / 1000;
    return true;
}

bool ec2_parameters_check(struct ec2 *p, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct memo *m = &p->found->parameters;
    str *names;
    uint32_t n = memo_keys(m, a, ec2_clock_ms(p), &names);

    for (uint32_t i = 0; i < n; i++) {
        const struct parameter *x = memo_get(m, names[i], ec2_clock_ms(p));
        bool old;

        if (!x || !x->changes)
            continue;
        if (!is_deprecated(p, a, arena_strdup(a, x->value), &old, e))
            return err_wrap(e, "parameter " STR_FMT, STR_ARG(names[i]));
        if (old)
            memo_drop(m, names[i]);
    }
    return true;
}
