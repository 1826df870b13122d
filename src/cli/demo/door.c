#include "cli/demo/door.h"

#include <time.h>

#include "cli/demo/account.h"
#include "cli/demo/aws.h"

#define MAX_MORE 100000
#define DAY_MS (24 * 3600 * 1000ll)

struct asked { /* parameters of a request; empty: not given */
    str node, type, zone, capacity_type, more, family;
};

static void answer(struct exchange *x, int status, str text)
{
    reply_all(x, status, "text/plain; charset=utf-8", text);
}

static bool read_query(struct exchange *x, struct asked *ret)
{
    const struct {
        const char *name;
        str *value;
    } known[] = {
        {"node", &ret->node}, {"type", &ret->type},     {"zone", &ret->zone}, {"capacityType", &ret->capacity_type},
        {"more", &ret->more}, {"family", &ret->family},
    };
    str rest = x->query, name, value;
    bool bad = false;

    while (query_next(x->arena, &rest, &name, &value, &bad)) {
        size_t i = 0;

        while (i < ARRAY_LEN(known) && !str_is(name, known[i].name))
            i++;
        if (i == ARRAY_LEN(known))
            return false;
        *known[i].value = value;
    }
    return !bad;
}

/* ---- interrupt ---- */

struct seeking {
    struct sim_aws *account;
    str name, id;
};

static void seek(void *ctx, const struct sim_aws_resource *r)
{
    struct seeking *s = ctx;
    const struct sim_machine *m = strcmp(r->kind, "instance") == 0 ? sim_aws_machine(s->account, r->id) : NULL;

    if (m && (str_eq(m->id, s->name) || str_eq(m->private_dns, s->name)))
        s->id = m->id;
}

static void interrupt(struct demo_aws *d, struct exchange *x, const struct asked *q)
{
    struct seeking s = {.account = d->account, .name = q->node};

    sim_aws_each(d->account, seek, &s);
    if (s.id.n == 0)
        answer(x, 404, arena_printf(x->arena, "no machine runs under the name \"" STR_FMT "\"\n", STR_ARG(q->node)));
    else if (!sim_aws_interrupt(d->account, s.id))
        answer(x, 409,
               arena_printf(x->arena, STR_FMT " is no spot instance: it cannot be interrupted\n", STR_ARG(s.id)));
    else
        answer(
            x, 200,
            arena_printf(x->arena, STR_FMT " has got its notice; AWS takes it back in two minutes\n", STR_ARG(s.id)));
}

/* ---- capacity ---- */

static void capacity(struct demo_aws *d, struct exchange *x, const struct asked *q)
{
    str type = q->type.n ? q->type : STR("every type"), none = q->type.n ? q->type : STR("machines"),
        zone = q->zone.n ? q->zone : STR("every zone");
    int64_t more;
    bool spot = str_is(q->capacity_type, "spot");

    if (!spot && !str_is(q->capacity_type, "on-demand"))
        answer(x, 400, STR("capacityType is spot or on-demand\n"));
    else if (!str_to_i64(q->more, &more) || more < -1 || more > MAX_MORE)
        answer(x, 400, STR("more is a number of machines, or -1: no end of them\n"));
    else if (!sim_aws_set_pool(d->account, q->type, q->zone, q->capacity_type, more))
        answer(x, 404,
               arena_printf(x->arena, "AWS sells no " STR_FMT " in " STR_FMT "\n", STR_ARG(none), STR_ARG(zone)));
    else
        answer(x, 200,
               arena_printf(x->arena, STR_FMT " " STR_FMT " in " STR_FMT ": %s" STR_FMT "%s\n", STR_ARG(type),
                            STR_ARG(q->capacity_type), STR_ARG(zone), more < 0 ? "no end of machines" : "",
                            STR_ARG(more < 0 ? STR("") : q->more),
                            more < 0    ? ""
                            : more == 1 ? " more machine"
                                        : " more machines"));
}

/* ---- images ---- */

struct publishing {
    struct demo_aws *d;
    struct sb ids;
    bool ok;
    struct err e;
};

static void publish_one(void *ctx, const struct account_image *i)
{
    struct publishing *p = ctx;

    p->ok = p->ok && sim_aws_publish_image(p->d->account, i->image, i->parameters[0], &p->e);
    if (p->ok && i->parameters[1].n)
        sim_aws_set_parameter(p->d->account, i->parameters[1], tree_str(tree_get(i->image, "ImageId")));
    if (p->ok)
        sb_printf(&p->ids, " " STR_FMT, STR_ARG(tree_str(tree_get(i->image, "ImageId"))));
}

/* Of a family's own kind, and newer than all before: the day, one day further for each that was published in this run. */
static str next_version(struct demo_aws *d, struct arena *a, str family, int64_t at_ms)
{
    time_t s = (time_t)(at_ms / 1000);
    struct tm t;

    (void)gmtime_r(&s, &t);
    if (str_is(family, "bottlerocket"))
        return arena_printf(a, "1.%u.0", 61 + d->n_published);
    return arena_printf(a, str_is(family, "windows") ? "%04d.%02d.%02d" : "v%04d%02d%02d", t.tm_year + 1900,
                        t.tm_mon + 1, t.tm_mday);
}

static void publish(struct demo_aws *d, struct exchange *x, const struct asked *q)
{
    struct publishing p = {.d = d, .ok = true};
    int64_t now = world_now_ms(d->s.world) + DAY_MS * d->n_published;
    str version = next_version(d, x->arena, q->family, now);
    time_t s = (time_t)(now / 1000);
    char created[64];
    struct tm t;

    (void)strftime(created, sizeof(created), "%Y-%m-%dT%H:%M:%S.000Z", gmtime_r(&s, &t));
    if (!account_images(x->arena, q->family, d->s.version, version, str_c(created), publish_one, &p))
        answer(x, 400, STR("family is al2023, al2, bottlerocket or windows\n"));
    else if (!p.ok)
        answer(x, 409, arena_printf(x->arena, "%s\n", p.e.msg));
    else {
        d->n_published++;
        answer(x, 200,
               arena_printf(x->arena, STR_FMT "@" STR_FMT STR_FMT "\n", STR_ARG(q->family), STR_ARG(version),
                            STR_ARG(sb_view(&p.ids))));
    }
    sb_fini(&p.ids);
}

/* ---- all of them ---- */

static const struct {
    const char *path;
    void (*serve)(struct demo_aws *d, struct exchange *x, const struct asked *q);
} doors[] = {{DOOR "interrupt", interrupt}, {DOOR "capacity", capacity}, {DOOR "publish-ami", publish}};

static bool may_pass(const struct demo_aws *d, const struct exchange *x)
{
    str given = http_header_get(x->headers, x->n_headers, "authorization"), word, token;

    return str_cut(given, ' ', &word, &token) && str_is(word, "Bearer") && str_eq(token, d->secret);
}

void door_serve(struct demo_aws *d, struct exchange *x)
{
    struct asked q = {0};

    if (strcmp(x->method, "POST") != 0)
        answer(x, 405, STR("POST, please\n"));
    else if (!may_pass(d, x))
        answer(x, 401, STR("Authorization: Bearer and the secret access key of this run are needed\n"));
    else if (!read_query(x, &q))
        answer(x, 400, STR("parameters are node; type, zone, capacityType, more; family\n"));
    else {
        for (size_t i = 0; i < ARRAY_LEN(doors); i++)
            if (str_is(x->path, doors[i].path)) {
                doors[i].serve(d, x, &q);
                return;
            }
        answer(x, 404, STR("there is interrupt, capacity and publish-ami\n"));
    }
}
