/* aws_server - the simulated AWS account behind a loopback port, for boto3, the aws command line, or whoever else speaks to AWS.
 *
 *     aws_server ACCOUNT.json [--any-signature] [--unlimited] [--loose]
 *
 * Prints "aws URL" and "local URL" (instance metadata, container credentials) and stays until its input ends. Lines of its input are orders:
 * "notify spot|rebalance|change|reservation INSTANCE", "impair instance|system|ebs INSTANCE", "shift ZONE-ID SECONDS", "drain TYPE ZONE spot|on-demand", "machine INSTANCE"
 * (whose metadata the local services show), "leaks", "bill"; each is answered by lines that end with "done".
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/sb.h"
#include "data/reader.h"
#include "net/loop.h"
#include "sim/aws/aws.h"

struct server {
    struct world *w;
    struct sim_aws *aws;
    struct sim_aws_local local;
    char machine[64];
    struct sb input;
};

static void die(const char *what, const char *why)
{
    (void)fprintf(stderr, "aws_server: %s: %s\n", what, why);
    exit(1);
}

static struct tree *account_read(struct arena *a, const char *path)
{
    struct sb b = {0};
    struct tree *t;
    struct err e;
    char piece[4096];
    FILE *f = fopen(path, "r");

    if (!f)
        die(path, "cannot be read");
    for (size_t n; (n = fread(piece, 1, sizeof(piece), f)) > 0;)
        sb_bytes(&b, piece, n);
    (void)fclose(f);
    char *bytes = arena_alloc(a, b.n + 16, 16);

    memcpy(bytes, b.p, b.n);
    if (!tree_read_json(a, path, bytes, b.n, &t, &e))
        die(path, e.msg);
    sb_fini(&b);
    return t;
}

static void print_resource(void *ctx, const struct sim_aws_resource *r)
{
    (void)ctx;
    printf("%s " STR_FMT " %s %.4f %.6f\n", r->kind, STR_ARG(r->id), r->state[0] ? r->state : "-", r->hours, r->usd);
}

static bool notify(struct server *s, str what, str instance)
{
    if (str_is(what, "spot"))
        return sim_aws_interrupt(s->aws, instance);
    return sim_aws_notify(s->aws, instance,
                          str_is(what, "rebalance")     ? SIM_AWS_REBALANCE
                          : str_is(what, "reservation") ? SIM_AWS_RESERVATION_WARNING
                                                        : SIM_AWS_SCHEDULED_CHANGE);
}

static void order(struct server *s, str line)
{
    str verb, one, two, three;
    int64_t seconds = 0;

    (void)str_cut(line, ' ', &verb, &line);
    (void)str_cut(line, ' ', &one, &line);
    (void)str_cut(line, ' ', &two, &three);
    if (str_is(verb, "notify")) {
        printf("%s\n", notify(s, one, two) ? "ok" : "no such machine");
    } else if (str_is(verb, "impair")) {
        enum sim_aws_check c = str_is(one, "instance") ? SIM_AWS_CHECK_INSTANCE
                               : str_is(one, "system") ? SIM_AWS_CHECK_SYSTEM
                                                       : SIM_AWS_CHECK_EBS;

        printf("%s\n", sim_aws_impair(s->aws, two, c, true) ? "ok" : "no such machine");
    } else if (str_is(verb, "shift") && str_to_i64(two, &seconds)) {
        sim_aws_shift_zone(s->aws, one, seconds * 1000);
    } else if (str_is(verb, "drain")) {
        sim_aws_drain_pool(s->aws, one, two, three);
    } else if (str_is(verb, "machine") && one.n < sizeof(s->machine)) {
        memcpy(s->machine, one.p, one.n);
        s->local.instance = (str){s->machine, one.n};
    } else if (str_is(verb, "leaks")) {
        sim_aws_each(s->aws, print_resource, NULL);
    } else if (str_is(verb, "bill")) {
        struct sim_aws_bill b = sim_aws_bill(s->aws);

        printf("%llu %llu %.6f %.6f\n", (unsigned long long)b.launched, (unsigned long long)b.ended, b.hours, b.usd);
    } else {
        printf("unknown order\n");
    }
    printf("done\n");
    (void)fflush(stdout);
}

static void on_input(void *ctx, int fd, uint32_t events)
{
    struct server *s = ctx;
    char piece[512];
    ssize_t n = read(fd, piece, sizeof(piece));

    (void)events;
    if (n <= 0) {
        loop_fd(s->w, fd, 0, NULL, NULL);
        world_quit(s->w);
        return;
    }
    for (ssize_t i = 0; i < n; i++) {
        if (piece[i] != '\n') {
            sb_char(&s->input, piece[i]);
            continue;
        }
        order(s, sb_view(&s->input));
        sb_reset(&s->input);
    }
}

static void serve_local(void *server, struct exchange *x)
{
    struct server *s = server;

    if (s->local.instance.n)
        sim_aws_serve_machine(&s->local, x);
    else
        sim_aws_serve_local(s->aws, x);
}

int main(int argc, char **argv)
{
    struct server s = {.w = loop_new()};
    struct sim_aws_options o = {.world = s.w, .boot_ms = 200, .stop_ms = 200};
    struct httpd_options listen = {.max_body = 1u << 20};
    struct err e;

    for (int i = 2; i < argc; i++) {
        o.any_signature = o.any_signature || strcmp(argv[i], "--any-signature") == 0;
        o.unlimited = o.unlimited || strcmp(argv[i], "--unlimited") == 0;
        o.loose = o.loose || strcmp(argv[i], "--loose") == 0;
    }
    if (argc < 2)
        die("usage", "aws_server ACCOUNT.json [--any-signature] [--unlimited] [--loose]");
    AUTO(arena) struct arena *a = arena_new(0);

    o.account = account_read(a, argv[1]);
    s.aws = sim_aws_new(&o, &e);
    if (!s.aws)
        die(argv[1], e.msg);
    s.local.aws = s.aws;
    struct httpd *aws = httpd_listen(s.w, &listen, sim_aws_serve, s.aws, &e);
    struct httpd *local = aws ? httpd_listen(s.w, &listen, serve_local, &s, &e) : NULL;

    if (!local)
        die("listen", e.msg);
    printf("aws http://127.0.0.1:%u\nlocal http://127.0.0.1:%u\n", httpd_port(aws), httpd_port(local));
    (void)fflush(stdout);
    loop_fd(s.w, 0, EPOLLIN, on_input, &s);
    world_run(s.w);
    httpd_close(aws);
    httpd_close(local);
    sim_aws_free(s.aws);
    sb_fini(&s.input);
    loop_free(s.w);
    return 0;
}
