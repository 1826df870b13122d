#include "cli/demo/aws.h"

#include <stdlib.h>

#include "base/b64.h"
#include "cli/demo/account.h"
#include "cli/demo/door.h"
#include "net/loop.h"
#include "sim/boot/boot.h"

#define WALK_MS (60 * 1000) /* spot prices move */
#define START_MS 1000       /* from launch to running */
#define STOP_MS 500
#define AGENT_MS 1000 /* from running to the kubelet's first word, or half as much again */

/* 2 * n hexadecimal digits. */
static str random_hex(struct demo_aws *d, uint32_t n)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < n; i += 8)
        sb_printf(&b, "%016llX", (unsigned long long)world_random(d->s.world));
    str text = arena_strdup(d->a, str_sub(sb_view(&b), 0, 2 * n));
    sb_fini(&b);
    return text;
}

static struct tree *make_account(struct demo_aws *d, struct arena *a, struct err *e)
{
    struct sb ca = {0};

    b64_encode(&ca, str_c(d->s.ca_pem));
    struct tree *t = account_of(a,
                                &(struct account_setup){.env = d->s.env,
                                                        .endpoint = d->s.endpoint,
                                                        .ca_bundle = sb_view(&ca),
                                                        .key_id = d->key_id,
                                                        .secret = d->secret,
                                                        .version = d->s.version},
                                e);
    sb_fini(&ca);
    return t;
}

static void serve(void *ctx, struct exchange *x)
{
    struct demo_aws *d = ctx;

    if (str_starts(x->path, STR(DOOR)))
        door_serve(d, x);
    else
        sim_aws_serve(d->account, x);
}

static int64_t scaled(const struct demo_aws *d, int64_t ms)
{
    return (int64_t)((double)ms / d->s.speed);
}

static bool start(struct demo_aws *d, struct err *e)
{
    AUTO(arena) struct arena *tmp = arena_new(1u << 20);
    struct tree *account = make_account(d, tmp, e);

    if (!account)
        return false;
    d->boot = boot_new(&(struct boot_options){.world = d->s.world,
                                              .cluster = d->s.cluster,
                                              .agent = {scaled(d, AGENT_MS), scaled(d, AGENT_MS * 3 / 2)},
                                              .cluster_name = STR(DEMO_CLUSTER),
                                              .endpoint = d->s.endpoint});
    d->account = sim_aws_new(&(struct sim_aws_options){.world = d->s.world,
                                                       .account = account,
                                                       .on_running = boot_running,
                                                       .on_gone = boot_gone,
                                                       .ctx = d->boot,
                                                       .boot_ms = scaled(d, START_MS),
                                                       .stop_ms = scaled(d, STOP_MS),
                                                       .walk_ms = WALK_MS},
                             e);
    if (!d->account)
        return false;
    d->httpd = httpd_listen(d->s.world, &(struct httpd_options){0}, serve, d, e);
    if (!d->httpd)
        return false;
    d->url = arena_printf(d->a, "http://127.0.0.1:%u", httpd_port(d->httpd));
    return true;
}

struct demo_aws *demo_aws_new(const struct demo_aws_setup *s, struct err *e)
{
    struct demo_aws *d = xcalloc(1, sizeof(*d));

    d->s = *s;
    d->a = arena_new(1024);
    d->s.endpoint = arena_strdup(d->a, s->endpoint);
    d->s.version = arena_strdup(d->a, s->version);
    d->key_id = arena_printf(d->a, "AKIA" STR_FMT, STR_ARG(random_hex(d, 8)));
    d->secret = random_hex(d, 20);
    if (start(d, e))
        return d;
    demo_aws_free(d);
    return NULL;
}

void demo_aws_free(struct demo_aws *d)
{
    if (!d)
        return;
    if (d->httpd)
        httpd_close(d->httpd);
    sim_aws_free(d->account);
    boot_free(d->boot);
    arena_free(d->a);
    free(d);
}

static void count(void *ctx, const struct sim_aws_resource *r)
{
    struct demo_leftovers *n = ctx;

    n->instances += strcmp(r->kind, "instance") == 0 && strcmp(r->state, "terminated") != 0;
    n->templates += strcmp(r->kind, "launch-template") == 0 && !r->given;
}

struct demo_leftovers demo_aws_leftovers(struct demo_aws *d)
{
    struct demo_leftovers n = {0};

    sim_aws_each(d->account, count, &n);
    return n;
}
