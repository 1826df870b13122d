/* Flags and variables of the termination handler, and the table of its documentation. */
#include "handler/settings.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sb.h"
#include "support/check.h"

#define ENV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define MAX_ARGS 40

static bool parse(struct handler_settings *s, const char *const *env, const char *args, struct err *e)
{
    static char text[2000];
    char *argv[MAX_ARGS] = {(char[]){"termination-handler"}};
    int argc = 1;

    (void)snprintf(text, sizeof(text), "%s", args);
    for (char *p = text; *p && argc < MAX_ARGS - 1;) {
        argv[argc++] = p;
        p += strcspn(p, " ");
        if (*p)
            *p++ = 0;
    }
    return handler_settings_parse(s, argc, argv, env, e);
}

static void defaults(void **state UNUSED)
{
    struct handler_settings s;
    struct err e;

    check_ok("a name is enough", parse(&s, ENV("NODE_NAME", "n"), "", &e), &e);
    check_true("listens", s.spot && s.scheduled && !s.rebalance && !s.rebalance_drain && !s.asg);
    check_true("drains", !s.dry_run && !s.cordon_only && s.ignore_daemon_sets && s.delete_local_data);
    check_true("writes", !s.taint_node && !s.exclude_from_load_balancers && !s.emit_events && !s.out_of_service_taint);
    check_true("serves", !s.prometheus && !s.probes && s.prometheus_port == 9092 && s.probes_port == 8080);
    check_true("times", s.pod_grace_s == -1 && s.node_grace_s == 120 && s.metadata_tries == 3);
    check_str("IMDS", str_c(s.metadata_url), "http://169.254.169.254");
    check_str("probes", str_c(s.probes_endpoint), "/healthz");
    check_true("log", !s.json_logging && s.log_level == LOG_INFO);
}

static void ways(void **state UNUSED)
{
    struct handler_settings s;
    struct err e;

    check_ok("a flag wins",
             parse(&s, ENV("NODE_NAME", "n", "CORDON_ONLY", "true"), "--node-name m --cordon-only=false", &e), &e);
    check_true("a flag wins", str_is(str_c(s.node_name), "m") && !s.cordon_only);
    check_ok("old name", parse(&s, ENV("NODE_NAME", "n", "GRACE_PERIOD", "30"), "", &e), &e);
    check_i64("old name", s.pod_grace_s, 30);
    check_ok("new name",
             parse(&s, ENV("NODE_NAME", "n", "GRACE_PERIOD", "30", "POD_TERMINATION_GRACE_PERIOD", "5"), "", &e), &e);
    check_i64("new name", s.pod_grace_s, 5);
    check_ok("draining is more than monitoring",
             parse(&s, ENV("NODE_NAME", "n", "ENABLE_REBALANCE_DRAINING", "1"), "", &e), &e);
    check_true("draining is more than monitoring", s.rebalance && s.rebalance_drain);
    check_ok("levels", parse(&s, ENV("NODE_NAME", "n", "LOG_LEVEL", "DEBUG"), "", &e), &e);
    check_true("levels", s.log_level == LOG_DEBUG);
    check_ok("by provider id", parse(&s, ENV("USE_PROVIDER_ID", "true"), "", &e), &e);
    check_ok("an empty variable is none", parse(&s, ENV("NODE_NAME", "n", "METADATA_TRIES", ""), "", &e), &e);
    check_ok("help wants no name", parse(&s, ENV("A", "b"), "--help", &e) && s.help, &e);
    check_ok("the queue's small change",
             parse(&s, ENV("NODE_NAME", "n", "WORKERS", "3", "MANAGED_TAG", "x", "CHECK_TAG_BEFORE_DRAINING", "false"),
                   "", &e),
             &e);
}

/* What the handler in Go says at its start, as people have it in their logs. */
static void arguments_of_a_release(void **state UNUSED)
{
    struct handler_settings s;
    struct err e;
    bool ok = parse(&s, ENV("A", "b"),
                    "--dry-run=false --node-name=ip-172-31-2-158.ec2.internal --metadata-url=http://169.254.169.254 "
                    "--kubernetes-service-host=10.100.0.1 --kubernetes-service-port=443 --delete-local-data=true "
                    "--ignore-daemon-sets=true --pod-termination-grace-period=-1 --node-termination-grace-period=120 "
                    "--enable-scheduled-event-draining=false --enable-spot-interruption-draining=true "
                    "--enable-sqs-termination-draining=false --enable-rebalance-monitoring=false "
                    "--enable-rebalance-draining=false --metadata-tries=3 --cordon-only=false --taint-node=false "
                    "--json-logging=false --log-level=info --webhook-proxy= --webhook-url= --uptime-from-file= "
                    "--enable-prometheus-server=false --prometheus-server-port=9092 --aws-region=us-east-1 "
                    "--queue-url= --check-asg-tag-before-draining=true "
                    "--managed-asg-tag=aws-node-termination-handler/managed --aws-endpoint=",
                    &e);

    check_ok("all of them are known", ok, &e);
    check_true("and mean what they say", s.spot && !s.scheduled && s.node_grace_s == 120);
}

static void refusals(void **state UNUSED)
{
    static const struct {
        const char *args, *says;
    } rows[] = {
        {"", "node-name (NODE_NAME) is missing"},
        {"--enable-sqs-termination-draining", "there is no mode with a queue here"},
        {"--queue-url https://sqs/q", "interruption-queue"},
        {"--node-name n --heartbeat-interval 30", "mode with a queue"},
        {"--node-name n --enable-spot-interruption-draining=false --enable-scheduled-event-draining=false",
         "nothing to listen for"},
        {"--node-name n --metadata-url 169.254.169.254", "metadata-url must begin with"},
        {"--node-name n --metadata-tries 0", "metadata-tries"},
        {"--node-name n --node-termination-grace-period -1", "node-termination-grace-period"},
        {"--node-name n --taint-effect Never", "taint-effect"},
        {"--node-name n --webhook-url ftp://x", "webhook-url"},
        {"--node-name n --enable-prometheus-server --prometheus-server-port 0", "prometheus-server-port"},
        {"--node-name n --enable-probes-server --probes-server-port 70000", "probes-server-port"},
        {"--node-name n --probes-server-endpoint healthz", "probes-server-endpoint"},
        {"--node-name n --log-level loud", "log-level \"loud\" is not one of info, debug, error"},
        {"--node-name n --nonsense", "flag provided but not defined: -nonsense"},
        {"--node-name", "flag needs an argument"},
        {"n", "is not a flag"},
    };
    struct handler_settings s;
    struct err e;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        check_true(rows[i].args, !parse(&s, ENV("A", "b"), rows[i].args, &e));
        if (!strstr(e.msg, rows[i].says))
            check_str(rows[i].args, str_c(e.msg), rows[i].says);
    }
    check_true("a variable that is no number", !parse(&s, ENV("NODE_NAME", "n", "METADATA_TRIES", "many"), "", &e));
    check_str("a variable that is no number", str_c(e.msg), "METADATA_TRIES=many: must be a number");
    check_true("a variable that is no truth value", !parse(&s, ENV("NODE_NAME", "n", "DRY_RUN", "yes"), "", &e));
    check_str("a variable that is no truth value", str_c(e.msg), "DRY_RUN=yes: must be true or false");
}

/* ---- the reference ---- */

#define TABLE_BEGINS "<!-- flags: written by UPDATE_DOCS=1 build/tests/unit/handler_settings_test -->\n"
#define TABLE_ENDS "<!-- flags end -->\n"
#define MAX_PAGE (1u << 20)

static void put_table(struct sb *out)
{
    const struct flag_table *t = handler_settings_table();

    sb_c(out, "| flag | variable | default | |\n|---|---|---|---|\n");
    for (uint32_t i = 0; i < t->n; i++) {
        const struct option_doc *d = &t->v[i].doc;

        sb_printf(out, "| `--%s` | ", d->flag);
        if (d->env)
            sb_printf(out, "`%s`", d->env);
        sb_c(out, " | ");
        if (d->fallback[0])
            sb_printf(out, "`%s`", d->fallback);
        sb_printf(out, " | %s |\n", d->help);
    }
}

static void reference_is_current(void **state UNUSED)
{
    static const char path[] = "docs/termination-handler.md";
    char *page = calloc(1, MAX_PAGE), *from, *to;
    struct sb want = {0};
    FILE *f = fopen(path, "re");

    check_true(path, f && page && fread(page, 1, MAX_PAGE - 1, f) > 0 && fclose(f) == 0);
    from = strstr(page, TABLE_BEGINS);
    to = strstr(page, TABLE_ENDS);
    check_true("the place of the table", from && to && from < to);
    sb_bytes(&want, page, (size_t)(from - page) + strlen(TABLE_BEGINS));
    put_table(&want);
    sb_c(&want, to);
    if (getenv("UPDATE_DOCS")) {
        f = fopen(path, "we");
        check_true("it can be written", f && fwrite(want.p, 1, want.n, f) == want.n && fclose(f) == 0);
    } else {
        check_str(path, str_c(page), sb_cstr(&want));
    }
    sb_fini(&want);
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(ways),
        cmocka_unit_test(arguments_of_a_release),
        cmocka_unit_test(refusals),
        cmocka_unit_test(reference_is_current),
    };

    return cmocka_run_group_tests_name("handler/settings", tests, NULL, NULL);
}
