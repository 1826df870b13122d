/* Kubeconfigs as text and as files, exec plugins as real programs. */
#include "k8s/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/b64.h"
#include "k8s/exec_plugin.h"
#include "k8s/kubeconfig.h"
#include "net/fiber.h"
#include "net/loop.h"
#include "sim/world.h"
#include "support/check.h"

#define PEM "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

/* ---- text ---- */

#define BASE                                                                                                           \
    "current-context: c\n"                                                                                             \
    "contexts: [{name: c, context: {cluster: k, user: u, namespace: team}}]\n"                                         \
    "clusters: [{name: k, cluster: {server: 'https://h:6443/'}}]\n"

static const struct {
    const char *name, *text, *want; /* "" : fine */
} texts[] = {
    {"all there", BASE "users: [{name: u, user: {token: t}}]", ""},
    {"JSON is YAML too",
     "{\"current-context\":\"c\",\"contexts\":[{\"name\":\"c\",\"context\":{\"cluster\":\"k\"}}],\"clusters\":[{\"name\":"
     "\"k\",\"cluster\":{\"server\":\"https://h\"}}]}",
     ""},
    {"not YAML", "a: [", "f:2:1: "},
    {"a list", "[1]", "f: is no kubeconfig"},
    {"empty", "", "f: there is no current-context; name a context"},
    {"no such context", "current-context: x", "f: there is no context \"x\""},
    {"no such cluster", "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]",
     "f: contexts[c]: there is no cluster \"k\""},
    {"no such user", BASE, "f: contexts[c]: there is no user \"u\""},
    {"no server",
     "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {}}]",
     "f: clusters[k].server: is missing"},
    {"a token that is none", BASE "users: [{name: u, user: {token: [1]}}]", "f: users[u].token: must be a string"},
    {"a certificate without a key", BASE "users: [{name: u, user: {client-certificate-data: YQ==}}]",
     "f: users[u].client-key: is missing"},
    {"auth provider", BASE "users: [{name: u, user: {auth-provider: {name: gcp}}}]",
     "f: users[u].auth-provider: auth providers are not supported, use an exec plugin"},
    {"password", BASE "users: [{name: u, user: {username: a, password: b}}]",
     "f: users[u].username: names and passwords are not supported, use a token or a client certificate"},
    {"exec without a command", BASE "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1}}}]",
     "f: users[u].exec.command: is missing"},
    {"an old exec",
     BASE "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}}]",
     "f: users[u].exec.apiVersion: must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1"},
    {"exec args", BASE "users: [{name: u, user: {exec: {args: [1]}}}]", "f: users[u].exec.args: must be strings"},
    {"exec env", BASE "users: [{name: u, user: {exec: {env: [{value: x}]}}}]",
     "f: users[u].exec.env: has a variable without a name"},
    {"insecure with authority",
     "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {server: s, "
     "insecure-skip-tls-verify: true, certificate-authority: ca}}]",
     "f: clusters[k].insecure-skip-tls-verify: makes no sense with a certificate authority"},
};

static void what_files_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct kubeconfig k = {.arena = a};
        struct kubeconfig_choice c;
        struct err e = {0};
        bool ok = kubeconfig_add(&k, "f", str_c(texts[i].text), &e) && kubeconfig_choose(&k, NULL, &c, &e);

        check_true(texts[i].name, ok == !texts[i].want[0]);
        check_str(texts[i].name, str_sub(str_c(e.msg), 0, strlen(texts[i].want)), texts[i].want);
        kubeconfig_fini(&k);
    }
}

static void several_files(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct kubeconfig k = {.arena = a};
    struct kubeconfig_choice c;
    struct err e;

    (void)state;
    check_ok("one",
             kubeconfig_add(&k, "/one/config",
                            STR("users: [{name: u, user: {client-certificate: c.pem, client-key: "
                                "/k.pem}}]\nclusters: [{name: other, cluster: {server: x}}]"),
                            &e),
             &e);
    check_ok("two",
             kubeconfig_add(&k, "/two/config", STR(BASE "users: [{name: u, user: {token: t, tokenFile: t}}]"), &e), &e);
    check_ok("three",
             kubeconfig_add(&k, "/three/config",
                            STR("current-context: z\nclusters: [{name: k, cluster: {server: no, "
                                "certificate-authority: ca}}]"),
                            &e),
             &e);
    check_ok("chosen", kubeconfig_choose(&k, NULL, &c, &e), &e);
    check_str("context of the first that has one", c.context, "c");
    check_str("cluster of the first", c.server, "https://h:6443/");
    check_str("whole", c.ca.path, "");
    check_str("user of the first", c.cert.path, "/one/c.pem");
    check_str("absolute", c.key.path, "/k.pem");
    check_str("whole", c.token, "");
    check_str("namespace", c.ns, "team");
    check_true("another", !kubeconfig_choose(&k, "nope", &c, &e));
    check_i64("another", e.kind, ERR_NOT_FOUND);
    kubeconfig_fini(&k);
}

/* ---- exec credentials ---- */

#define V1 "client.authentication.k8s.io/v1"

static const struct {
    const char *name, *text, *want;
} answers[] = {
    {"a token", "{\"apiVersion\":\"" V1 "\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\"}}", ""},
    {"a certificate",
     "{\"apiVersion\":\"" V1 "\",\"kind\":\"ExecCredential\",\"status\":{\"clientCertificateData\":\"c\","
     "\"clientKeyData\":\"k\",\"expirationTimestamp\":\"2030-01-01T00:00:00Z\"}}",
     ""},
    {"not JSON", "secret", "what it writes is not JSON"},
    {"nothing", "", "what it writes is not JSON"},
    {"another kind", "{\"apiVersion\":\"" V1 "\",\"kind\":\"Pod\"}", "what it writes is no ExecCredential"},
    {"another version", "{\"apiVersion\":\"" V1 "beta1\",\"kind\":\"ExecCredential\"}",
     "it does not answer in version client.authentication.k8s.io/v1"},
    {"no status", "{\"apiVersion\":\"" V1 "\",\"kind\":\"ExecCredential\"}",
     "it hands out neither a token nor a client certificate"},
    {"half a pair",
     "{\"apiVersion\":\"" V1 "\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\",\"clientKeyData\":\"k\"}}",
     "it hands out a client certificate without its key, or a key without one"},
    {"a header of its own",
     "{\"apiVersion\":\"" V1 "\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\\r\\nX: y\"}}",
     "its token has characters that no token has"},
    {"no time",
     "{\"apiVersion\":\"" V1
     "\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\",\"expirationTimestamp\":\"soon\"}}",
     "its expirationTimestamp is no time"},
};

static void what_plugins_say(void **state)
{
    struct kubeconfig_exec x = {.command = STR_INIT("p"), .api_version = STR_INIT(V1)};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct exec_credential c;
        struct err e = {0};

        (void)exec_credential_read(a, &x, str_c(answers[i].text), &c, &e);
        check_str(answers[i].name, str_c(e.msg), answers[i].want);
    }
}

static void what_plugins_hear(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct kubeconfig_exec x = {.command = STR_INIT("p"), .api_version = STR_INIT(V1)};
    struct exec_cluster c = {.server = STR_INIT("https://h"), .ca = STR_INIT("pem")};

    (void)state;
    check_str("little", exec_info(a, &x, &c),
              "{\"apiVersion\":\"" V1 "\",\"kind\":\"ExecCredential\",\"spec\":{\"interactive\":false}}");
    x.cluster_info = true;
    check_str("more", exec_info(a, &x, &c),
              "{\"apiVersion\":\"" V1 "\",\"kind\":\"ExecCredential\",\"spec\":{\"cluster\":{\"server\":\"https://h\","
              "\"certificate-authority-data\":\"cGVt\"},\"interactive\":false}}");
}

/* ---- files, in a directory of their own ---- */

struct desk {
    char dir[64];
    struct arena *a;
    struct world *w;
    struct kube_config *c;
    bool stale;
    str token;
    bool ok;
    struct err e;
};

static const char *path_of(struct desk *d, const char *name)
{
    return arena_printf(d->a, "%s/%s", d->dir, name).p;
}

static void put_file(struct desk *d, const char *name, const char *text)
{
    FILE *f = fopen(path_of(d, name), "w");

    assert(f);
    (void)fputs(text, f);
    (void)fclose(f);
    (void)chmod(path_of(d, name), 0700);
}

static void desk_init(struct desk *d)
{
    memset(d, 0, sizeof(*d));
    (void)snprintf(d->dir, sizeof(d->dir), "/tmp/config_test.XXXXXX");
    assert(mkdtemp(d->dir));
    d->a = arena_new(0);
    d->w = loop_new();
}

static void desk_fini(struct desk *d)
{
    static const char *const names[] = {"config", "other", "ca.pem", "token", "plugin", "count", "old"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        (void)unlink(path_of(d, names[i]));
    (void)rmdir(d->dir);
    loop_free(d->w);
    kube_config_free(d->c);
    arena_free(d->a);
}

static bool desk_load(struct desk *d, const char *name, const char *context)
{
    struct kube_config_source s = {.path = name ? path_of(d, name) : NULL, .context = context};

    kube_config_free(d->c);
    d->e = (struct err){0};
    d->c = kube_config_load(d->w, &s, &d->e);
    return d->c != NULL;
}

static void ask(void *arg)
{
    struct desk *d = arg;

    d->ok = kube_config_token(d->c, d->a, d->stale, &d->token, &d->e);
    world_quit(d->w);
}

static str desk_token(struct desk *d, bool stale)
{
    d->stale = stale;
    d->token = (str){0};
    fiber_go(d->w, "ask", ask, d);
    world_run(d->w);
    return d->ok ? d->token : str_c(d->e.msg);
}

static str after_dir(struct desk *d)
{
    str msg = str_c(d->e.msg), dir = str_c(d->dir);

    return str_starts(msg, dir) ? str_sub(msg, dir.n + 1, msg.n) : msg;
}

static void files(void **state)
{
    struct desk d;

    (void)state;
    desk_init(&d);
    check_true("no file", !desk_load(&d, "config", NULL));
    check_str("no file", after_dir(&d), "config: No such file or directory");
    check_i64("no file", d.e.kind, ERR_NOT_FOUND);

    put_file(&d, "config",
             "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
             "clusters: [{name: k, cluster: {server: 'https://h:6443//', certificate-authority: ca.pem, "
             "tls-server-name: srv, proxy-url: 'http://p'}}]\n"
             "users: [{name: u, user: {tokenFile: token}}]");
    check_true("no authority", !desk_load(&d, "config", NULL));
    check_true("no authority", str_contains(str_c(d.e.msg), STR("clusters[k]: certificate-authority: ")));
    put_file(&d, "ca.pem", "x");
    check_true("no PEM", !desk_load(&d, "config", NULL));
    check_str("no PEM", after_dir(&d), "config: clusters[k]: certificate-authority is no PEM");
    put_file(&d, "ca.pem", PEM);
    check_true("no token", !desk_load(&d, "config", NULL));
    put_file(&d, "token", " one\n");
    check_ok("all there", desk_load(&d, "config", NULL), &d.e);
    check_str("server", kube_config_server(d.c), "https://h:6443");
    const struct http_trust *t = kube_config_trust(d.c);
    check_str("authority", str_c(t->ca_pem), PEM);
    check_str("name", str_c(t->server_name), "srv");
    check_str("proxy", str_c(t->proxy), "http://p");
    check_str("token", desk_token(&d, false), "one");
    put_file(&d, "token", "two");
    check_str("not read again at once", desk_token(&d, true), "one");
    desk_fini(&d);
}

static void list_of_files(void **state)
{
    struct desk d;

    (void)state;
    desk_init(&d);
    put_file(&d, "config",
             "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: ns}}]\n");
    put_file(&d, "other", "clusters: [{name: k, cluster: {server: h}}]\nusers: [{name: u, user: {token: t}}]");
    (void)setenv("KUBECONFIG", arena_printf(d.a, "%s/none::%s/config:%s/other", d.dir, d.dir, d.dir).p, 1);
    check_ok("two of three", desk_load(&d, NULL, NULL), &d.e);
    check_str("server", kube_config_server(d.c), "http://h");
    check_str("namespace", kube_config_namespace(d.c), "ns");
    check_str("token", desk_token(&d, false), "t");
    (void)setenv("KUBECONFIG", path_of(&d, "none"), 1);
    check_true("none of one", !desk_load(&d, NULL, NULL));
    check_str("none of one", after_dir(&d), "none: there is no such file");
    (void)unsetenv("KUBECONFIG");
    (void)setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    (void)setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    check_true("no pod", !desk_load(&d, NULL, NULL));
    check_true("no pod", str_starts(str_c(d.e.msg), STR("service account of the pod: ")));
    (void)unsetenv("KUBERNETES_SERVICE_HOST");
    desk_fini(&d);
}

static void plugin_config(struct desk *d, const char *more)
{
    put_file(d, "config",
             arena_printf(d->a,
                          "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
                          "clusters: [{name: k, cluster: {server: 'https://h', extensions: [{name: "
                          "client.authentication.k8s.io/exec, extension: {x: why}}]}}]\n"
                          "users: [{name: u, user: {exec: {apiVersion: " V1
                          ", command: ./plugin, args: [a, 'b c'], env: "
                          "[{name: WORD, value: hello}], installHint: 'get it from example.com'%s}}}]",
                          more)
                 .p);
    check_ok("config", desk_load(d, "config", NULL), &d->e);
}

#define ANSWER(token, more)                                                                                            \
    "echo \"{\\\"apiVersion\\\":\\\"" V1                                                                               \
    "\\\",\\\"kind\\\":\\\"ExecCredential\\\",\\\"status\\\":{\\\"token\\\":\\\"" token "\\\"" more "}}\"\n"

static void plugins(void **state)
{
    struct desk d;

    (void)state;
    desk_init(&d);
    plugin_config(&d, "");
    check_true("not installed",
               str_ends(desk_token(&d, false), STR("plugin is not installed: get it from example.com")));

    put_file(&d, "plugin", "#!/bin/sh\necho \"no session for you\" >&2\necho more >&2\nexit 3\n");
    plugin_config(&d, "");
    check_true("it fails", str_ends(desk_token(&d, false), STR("plugin returned 3: no session for you")));

    put_file(&d, "plugin", "#!/bin/sh\necho run >>$(dirname $0)/count\n" ANSWER("$WORD-$1-${#2}", ""));
    plugin_config(&d, "");
    check_str("arguments and environment", desk_token(&d, false), "hello-a-3");
    check_str("kept", desk_token(&d, false), "hello-a-3");
    check_str("too new to be stale", desk_token(&d, true), "hello-a-3");
    struct stat st;
    check_true("ran once", stat(path_of(&d, "count"), &st) == 0 && st.st_size == 4);

    put_file(&d, "plugin",
             "#!/bin/sh\necho \"$KUBERNETES_EXEC_INFO\" | grep -q '\"config\":{\"x\":\"why\"}' && "
             "! read line && " ANSWER("knows", ""));
    plugin_config(&d, ", provideClusterInfo: true");
    check_str("knows the cluster, hears nothing", desk_token(&d, false), "knows");

    put_file(&d, "plugin",
             "#!/bin/sh\nwhile :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done\n");
    plugin_config(&d, "");
    check_true("too much", str_ends(desk_token(&d, false), STR("plugin: it writes more than 1048576 bytes")));
    desk_fini(&d);
}

/* In a simulated world there are no programs, and tokens of files are read again by its clock. */
struct asking {
    struct kube_config *c;
    struct arena *a;
    bool stale, done, ok;
    str token;
    struct err e;
};

static void ask_sim(void *arg)
{
    struct asking *k = arg;

    k->ok = kube_config_token(k->c, k->a, k->stale, &k->token, &k->e);
    k->done = true;
}

static str sim_token(struct sim *s, struct world *w, struct asking *k, bool stale)
{
    k->stale = stale;
    k->done = false;
    fiber_go(w, "ask", ask_sim, k);
    sim_run_for(s, 1000);
    check_true("answered", k->done);
    return k->ok ? k->token : str_c(k->e.msg);
}

static void another_clock(void **state)
{
    struct sim *s = sim_new(1, INT64_C(1767225600000));
    struct world *w = sim_process(s, "p");
    struct desk d;

    (void)state;
    desk_init(&d);
    struct asking k = {.a = d.a};
    plugin_config(&d, "");
    struct kube_config_source source = {.path = path_of(&d, "config")};
    k.c = kube_config_load(w, &source, &d.e);
    check_true("no programs", str_ends(sim_token(s, w, &k, false), STR("there are no programs in a simulated world")));
    kube_config_free(k.c);

    put_file(&d, "token", "one");
    put_file(&d, "config", BASE "users: [{name: u, user: {tokenFile: token}}]");
    k.c = kube_config_load(w, &source, &d.e);
    check_str("first", sim_token(s, w, &k, false), "one");
    put_file(&d, "token", "two");
    sim_run_for(s, 30 * INT64_C(1000000));
    check_str("not yet", sim_token(s, w, &k, false), "one");
    check_str("refused", sim_token(s, w, &k, true), "two");
    put_file(&d, "token", "three");
    sim_run_for(s, 60 * INT64_C(1000000));
    check_str("after a minute", sim_token(s, w, &k, false), "three");
    (void)unlink(path_of(&d, "token"));
    sim_run_for(s, 60 * INT64_C(1000000));
    check_str("gone: the old one may do", sim_token(s, w, &k, false), "three");
    kube_config_free(k.c);
    sim_free(s);
    desk_fini(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_files_say), cmocka_unit_test(several_files),     cmocka_unit_test(what_plugins_say),
        cmocka_unit_test(files),          cmocka_unit_test(what_plugins_hear), cmocka_unit_test(list_of_files),
        cmocka_unit_test(plugins),        cmocka_unit_test(another_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
