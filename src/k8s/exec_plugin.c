#include "k8s/exec_plugin.h"

#include <unistd.h>

#include "base/b64.h"
#include "base/vec.h"
#include "data/json.h"
#include "data/reader.h"
#include "model/duration.h"
#include "net/process.h"

#define TIMEOUT_US INT64_C(60000000)

static void put(struct jw *w, const char *key, str value)
{
    if (!value.n)
        return;
    jw_key(w, key);
    jw_str(w, value);
}

static void put_cluster(struct jw *w, const struct kubeconfig_exec *x, const struct exec_cluster *c)
{
    struct sb ca = {0};

    jw_key(w, "cluster");
    jw_map(w);
    put(w, "server", c->server);
    put(w, "tls-server-name", c->server_name);
    if (c->insecure) {
        jw_key(w, "insecure-skip-tls-verify");
        jw_bool(w, true);
    }
    b64_encode(&ca, c->ca);
    put(w, "certificate-authority-data", sb_view(&ca));
    sb_fini(&ca);
    put(w, "proxy-url", c->proxy);
    if (x->cluster_own) {
        jw_key(w, "config");
        jw_tree(w, x->cluster_own);
    }
    jw_end(w);
}

str exec_info(struct arena *a, const struct kubeconfig_exec *x, const struct exec_cluster *c)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_map(&w);
    put(&w, "apiVersion", x->api_version);
    put(&w, "kind", STR("ExecCredential"));
    jw_key(&w, "spec");
    jw_map(&w);
    if (x->cluster_info)
        put_cluster(&w, x, c);
    jw_key(&w, "interactive");
    jw_bool(&w, false);
    jw_end(&w);
    jw_end(&w);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

bool exec_credential_read(struct arena *a, const struct kubeconfig_exec *x, str text, struct exec_credential *ret,
                          struct err *e)
{
    struct exec_credential c = {.expires_ms = INT64_MAX};
    const struct tree *t;

    /* The parser quotes what it does not like, and that may be a credential. */
    if (!tree_parse_json(a, "answer", text, &t, e))
        return err_set(e, ERR_INVALID, "what it writes is not JSON");
    if (!str_is(tree_str(tree_get(t, "kind")), "ExecCredential"))
        return err_set(e, ERR_INVALID, "what it writes is no ExecCredential");
    if (!str_eq(tree_str(tree_get(t, "apiVersion")), x->api_version))
        return err_set(e, ERR_INVALID, "it does not answer in version " STR_FMT, STR_ARG(x->api_version));
    const struct tree *status = tree_get(t, "status"), *expires = tree_get(status, "expirationTimestamp");
    c.token = tree_str(tree_get(status, "token"));
    c.cert_pem = tree_str(tree_get(status, "clientCertificateData"));
    c.key_pem = tree_str(tree_get(status, "clientKeyData"));
    if (!c.token.n && !c.cert_pem.n)
        return err_set(e, ERR_INVALID, "it hands out neither a token nor a client certificate");
    if (!c.cert_pem.n != !c.key_pem.n)
        return err_set(e, ERR_INVALID, "it hands out a client certificate without its key, or a key without one");
    for (size_t i = 0; i < c.token.n; i++)
        if ((unsigned char)c.token.p[i] <= 0x20 || (unsigned char)c.token.p[i] >= 0x7f)
            return err_set(e, ERR_INVALID, "its token has characters that no token has");
    if (expires && !time_parse_rfc3339(tree_str(expires), &c.expires_ms, e))
        return err_set(e, ERR_INVALID, "its expirationTimestamp is no time");
    *ret = c;
    return true;
}

static const char *dup_c(struct arena *a, str s)
{
    return arena_printf(a, STR_FMT, STR_ARG(s)).p; /* arena_printf() terminates what it prints */
}

static const char *const *argv_of(struct arena *a, const struct kubeconfig_exec *x)
{
    const char **argv = arena_new_array(a, const char *, x->n_args + 2);

    argv[0] = dup_c(a, x->command);
    for (uint32_t i = 0; i < x->n_args; i++)
        argv[i + 1] = dup_c(a, x->args[i]);
    return argv;
}

/* Ours and, after it, what is meant for the plugin: of two, the last counts for those who look from the end, so ours of the same
 * name are left out. */
static bool is_set_again(const struct kubeconfig_exec *x, const char *ours)
{
    str name, value, theirs, rest;

    (void)str_cut(str_c(ours), '=', &name, &value);
    for (uint32_t i = 0; i < x->n_env; i++) {
        (void)str_cut(x->env[i], '=', &theirs, &rest);
        if (str_eq(name, theirs))
            return true;
    }
    return str_is(name, "KUBERNETES_EXEC_INFO");
}

static const char *const *env_of(struct arena *a, const struct kubeconfig_exec *x, const struct exec_cluster *c)
{
    str info = exec_info(a, x, c);
    uint32_t n = 0, k = 0;

    while (environ[n])
        n++;
    const char **env = arena_new_array(a, const char *, n + x->n_env + 2);
    for (uint32_t i = 0; i < n; i++)
        if (!is_set_again(x, environ[i]))
            env[k++] = environ[i];
    for (uint32_t i = 0; i < x->n_env; i++)
        env[k++] = dup_c(a, x->env[i]);
    env[k] = arena_printf(a, "KUBERNETES_EXEC_INFO=" STR_FMT, STR_ARG(info)).p;
    return env;
}

bool exec_plugin_run(struct world *w, const struct kubeconfig_exec *x, const struct exec_cluster *c, struct arena *a,
                     struct exec_credential *ret, struct err *e)
{
    struct process_request r = {.argv = argv_of(a, x), .env = env_of(a, x, c), .timeout_us = TIMEOUT_US};
    struct process_result out;
    str line, rest;

    if (!process_run(w, &r, a, &out, e)) {
        if (e->kind == ERR_NOT_FOUND)
            return err_set(e, ERR_NOT_FOUND, "exec plugin " STR_FMT " is not installed%s" STR_FMT, STR_ARG(x->command),
                           x->install_hint.n ? ": " : "", STR_ARG(str_trim(x->install_hint)));
        return err_wrap(e, "exec plugin");
    }
    (void)str_cut(str_trim(out.err), '\n', &line, &rest);
    if (out.code != 0)
        return err_set(e, ERR_DENIED, "exec plugin " STR_FMT " returned %d%s" STR_FMT, STR_ARG(x->command), out.code,
                       line.n ? ": " : "", STR_ARG(str_sub(str_trim(line), 0, 200)));
    if (!exec_credential_read(a, x, out.out, ret, e))
        return err_wrap(e, "exec plugin " STR_FMT, STR_ARG(x->command));
    return true;
}
