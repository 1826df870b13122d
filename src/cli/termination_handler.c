/* karpenter termination-handler: on every node, until a signal. Flags and variables are those of aws-node-termination-handler. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/daemon.h"
#include "data/json.h"
#include "data/reader.h"
#include "handler/handler.h"

struct handler_run {
    struct handler_settings settings;
    struct cli_daemon daemon;
    struct handler *handler;
};

static void print_help(void)
{
    (void)printf(
        "usage: karpenter termination-handler [FLAGS]\n"
        "\n"
        "Runs on a node in EC2 and asks the instance metadata service every other second what is going to happen to the\n"
        "machine: a spot interruption, scheduled maintenance, a rebalance recommendation, the end in an Auto Scaling group.\n"
        "Then it cordons the node and drains it through the eviction API. In a pod it uses the pod's service account,\n"
        "elsewhere a kubeconfig. A flag wins over its environment variable. With an interruption queue the controller does\n"
        "the same for the nodes it manages, and this program is not needed.\n"
        "\n");
    flags_print(handler_settings_table());
}

/* ---- log ---- */

static void write_json(void *ctx UNUSED, str line)
{
    (void)fwrite(line.p, 1, line.n, stderr);
}

static void put_text(struct sb *b, str s)
{
    for (size_t i = 0; i < s.n; i++)
        sb_char(b, (unsigned char)s.p[i] < ' ' ? ' ' : s.p[i]);
}

static const char *level_of(str name)
{
    static const char *const levels[][2] = {{"DEBUG", "DBG"}, {"INFO", "INF"}, {"WARN", "WRN"}, {"ERROR", "ERR"}};

    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        if (str_is(name, levels[i][0]))
            return levels[i][1];
    return "???";
}

/* "2026/01/15 12:00:00 INF message key=value", as the handler in Go writes for people. */
static void put_line(struct sb *b, const struct tree *t)
{
    static const char *const first[] = {"level", "time", "logger", "message"};
    str time = tree_str(tree_get(t, "time"));

    for (size_t i = 0; i < 19 && i < time.n; i++)
        sb_char(b, time.p[i] == '-' ? '/' : time.p[i] == 'T' ? ' ' : time.p[i]);
    sb_char(b, ' ');
    sb_c(b, level_of(tree_str(tree_get(t, "level"))));
    sb_char(b, ' ');
    put_text(b, tree_str(tree_get(t, "message")));
    for (uint32_t i = 0; i < t->n; i++) {
        bool said = false;

        for (size_t k = 0; k < ARRAY_LEN(first); k++)
            said = said || str_is(t->keys[i], first[k]);
        if (said)
            continue;
        sb_char(b, ' ');
        put_text(b, t->keys[i]);
        sb_char(b, '=');
        if (t->items[i].kind == TREE_STRING && !str_contains(t->items[i].text, STR(" ")))
            put_text(b, t->items[i].text);
        else
            json_compact(b, &t->items[i], /* nulls= */ true);
    }
    sb_char(b, '\n');
}

static void write_text(void *ctx UNUSED, str line)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *t;
    struct sb b = {0};
    struct err e;

    if (!tree_parse_json(a, "log", str_trim(line), &t, &e)) {
        write_json(NULL, line);
        return;
    }
    put_line(&b, t);
    (void)fwrite(b.p, 1, b.n, stderr);
    sb_fini(&b);
}

/* ---- life ---- */

static void on_end(void *ctx, int status)
{
    struct handler_run *c = ctx;

    cli_daemon_end(&c->daemon, status);
}

static void on_signal(void *ctx, int signo UNUSED)
{
    struct handler_run *c = ctx;

    log_info(c->daemon.log, "ending");
    cli_daemon_end(&c->daemon, c->daemon.status);
}

static bool serve(struct handler_run *c, bool wanted, int64_t port, http_serve_fn fn, struct err *e)
{
    return !wanted || cli_daemon_listen(&c->daemon, port, fn, c->handler, e);
}

/* What the loader of the configuration looks at; nobody else is running yet. */
static void set_service(const struct handler_settings *s)
{
    if (s->service_host[0])
        (void)setenv("KUBERNETES_SERVICE_HOST", s->service_host, 1);
    if (s->service_port[0])
        (void)setenv("KUBERNETES_SERVICE_PORT", s->service_port, 1);
}

static bool begin(struct handler_run *c, struct err *e)
{
    const struct handler_settings *s = &c->settings;
    struct cli_daemon *v = &c->daemon;

    set_service(s);
    if (!cli_daemon_begin(v, s->log_level, &(struct log_sink){NULL, s->json_logging ? write_json : write_text},
                          s->kubeconfig, s->context, e))
        return false;
    c->handler = handler_new(
        &(struct handler_setup){
            .world = v->world, .config = v->config, .settings = s, .log = v->log, .on_end = on_end, .ctx = c},
        e);
    if (!c->handler)
        return false;
    cli_daemon_on_signal(v, on_signal, c);
    return serve(c, s->prometheus, s->prometheus_port, handler_serve_metrics, e) &&
           serve(c, s->probes, s->probes_port, handler_serve_probes, e);
}

static void finish(struct handler_run *c)
{
    cli_daemon_stop(&c->daemon);
    handler_free(c->handler);
    cli_daemon_free(&c->daemon);
}

int cli_termination_handler(const struct cli_env *env UNUSED, int argc, char **argv)
{
    struct handler_run c = {0};
    struct err e;
    int status = 0;

    if (!handler_settings_parse(&c.settings, argc, argv, NULL, &e)) {
        status = cli_fail("%s; try: karpenter termination-handler --help", e.msg);
    } else if (c.settings.help) {
        print_help();
    } else if (!begin(&c, &e)) {
        status = cli_fail("%s", e.msg);
    } else {
        status = cli_daemon_run(&c.daemon);
    }
    finish(&c);
    return status;
}
