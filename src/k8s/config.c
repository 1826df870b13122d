/* Where credentials come from is decided once, by kube_config_load(). Those that change are asked for again here: token files by the
 * clock, exec plugins when what they gave runs out, both when the server has refused what we had. */
#include "k8s/config.h"

#include <stdlib.h>

#include "base/b64.h"
#include "base/file.h"
#include "k8s/exec_plugin.h"
#include "net/fiber.h"

#define MAX_FILE ((size_t)4 << 20)
#define SECOND_US INT64_C(1000000)
#define REREAD_US (60 * SECOND_US) /* the kubelet renews tokens long before they run out */
#define FRESH_US (5 * SECOND_US)   /* a credential so new is not asked for again because somebody was refused */
#define MAX_OLD_TRUST 8u
#define POD_DIR "/var/run/secrets/kubernetes.io/serviceaccount/"

/* What calls under way may still use stays for some more generations. */
struct trust {
    struct http_trust now; /* first */
    char *cert, *key;
    struct trust *older;
};

struct kube_config {
    struct world *world; /* NULL: nothing ever changes */
    struct arena *arena; /* lives and is wiped with it */
    str server, ns;
    const char *ca; /* PEM */
    struct trust *trust;
    char *token;            /* the current one; may be NULL */
    const char *token_file; /* NULL: none */
    const struct kubeconfig_exec *exec;
    int64_t got_us; /* when the token, or what the plugin gave, was got; 0: never */
    int64_t expires_ms;
    bool asking;        /* a plugin is running */
    struct err refused; /* how it failed last, for a while */
};

/* ---- files ---- */

static bool read_file(struct arena *a, const char *path, str *ret, struct err *e)
{
    return file_read(a, path, MAX_FILE, ret, e);
}

static const char *c_of(struct arena *a, str s)
{
    return arena_printf(a, STR_FMT, STR_ARG(s)).p;
}

static bool decode_b64(struct arena *a, str text, str *ret)
{
    struct sb plain = {0}, out = {0};

    for (size_t i = 0; i < text.n; i++)
        if (!strchr(" \t\r\n", text.p[i]))
            sb_char(&plain, text.p[i]);
    bool ok = b64url_decode(&out, sb_view(&plain));
    *ret = sb_dup(&out, a);
    if (out.p)
        explicit_bzero(out.p, out.cap);
    if (plain.p)
        explicit_bzero(plain.p, plain.cap);
    sb_fini(&out);
    sb_fini(&plain);
    return ok;
}

/* PEM out of a blob; *ret NULL when it is empty. */
static bool read_pem(struct arena *a, const struct kubeconfig_blob *b, const char *what, const char **ret,
                     struct err *e)
{
    str pem = {0};

    *ret = NULL;
    if (b->data.n && !decode_b64(a, b->data, &pem))
        return err_set(e, ERR_INVALID, "%s-data is not base64", what);
    if (!b->data.n && b->path.n && !read_file(a, c_of(a, b->path), &pem, e))
        return err_wrap(e, "%s", what);
    if (!b->data.n && !b->path.n)
        return true;
    if (!str_contains(pem, STR("-----BEGIN ")) || memchr(pem.p, '\0', pem.n))
        return err_set(e, ERR_INVALID, "%s%s is no PEM", what, b->data.n ? "-data" : "");
    *ret = c_of(a, pem);
    return true;
}

/* ---- the parts of a config ---- */

static void wipe(char *s)
{
    if (s)
        explicit_bzero(s, strlen(s));
    free(s);
}

static char *dup_str(str s)
{
    char *p = xcalloc(1, s.n + 1);

    if (s.n)
        memcpy(p, s.p, s.n);
    return p;
}

static void trust_free(struct trust *t)
{
    wipe(t->cert);
    wipe(t->key);
    free(t);
}

/* A new client certificate; the rest stays as it is. */
static void use_certificate(struct kube_config *c, str cert, str key)
{
    struct trust *t = xcalloc(1, sizeof(*t)), *last = t;
    uint32_t n = 0;

    if (c->trust)
        t->now = c->trust->now;
    t->cert = cert.n ? dup_str(cert) : NULL;
    t->key = cert.n ? dup_str(key) : NULL;
    t->now.cert_pem = t->cert;
    t->now.key_pem = t->key;
    t->older = c->trust;
    c->trust = t;
    while (last->older && n++ < MAX_OLD_TRUST)
        last = last->older;
    struct trust *old = last->older;
    last->older = NULL;
    while (old) {
        struct trust *next = old->older;

        trust_free(old);
        old = next;
    }
}

static void use_token(struct kube_config *c, str token)
{
    wipe(c->token);
    c->token = token.n ? dup_str(token) : NULL;
    if (c->world)
        c->got_us = world_mono_us(c->world);
}

static str without_slash(str s)
{
    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    return s;
}

static struct kube_config *config_new(struct world *w)
{
    struct kube_config *c = xcalloc(1, sizeof(*c));

    c->world = w;
    c->arena = arena_new(0);
    c->expires_ms = INT64_MAX;
    return c;
}

struct kube_config *kube_config_fixed(str server, str token, const char *ca_pem)
{
    struct kube_config *c = config_new(NULL);

    c->server = arena_strdup(c->arena, without_slash(server));
    c->ca = ca_pem ? c_of(c->arena, str_c(ca_pem)) : NULL;
    use_certificate(c, (str){0}, (str){0});
    c->trust->now.ca_pem = c->ca;
    use_token(c, token);
    return c;
}

void kube_config_free(struct kube_config *c)
{
    if (!c)
        return;
    while (c->trust) {
        struct trust *older = c->trust->older;

        trust_free(c->trust);
        c->trust = older;
    }
    wipe(c->token);
    arena_free_wiped(c->arena);
    free(c);
}

str kube_config_server(const struct kube_config *c)
{
    return c->server;
}

str kube_config_namespace(const struct kube_config *c)
{
    return c->ns;
}

const struct http_trust *kube_config_trust(const struct kube_config *c)
{
    return &c->trust->now;
}

/* ---- credentials that change ---- */

/* A file that cannot be read leaves the token we have: it may still be good. */
static bool read_token(struct kube_config *c, struct err *e)
{
    struct arena *tmp = arena_new(0);
    str token;
    bool ok = read_file(tmp, c->token_file, &token, e);

    token = ok ? str_trim(token) : (str){0};
    if (ok && !token.n)
        ok = err_set(e, ERR_INVALID, "%s: is empty", c->token_file);
    if (ok)
        use_token(c, token);
    arena_free_wiped(tmp);
    c->got_us = world_mono_us(c->world);
    return ok || c->token;
}

static void ask_plugin(struct kube_config *c)
{
    struct arena *tmp = arena_new(0);
    const struct http_trust *t = &c->trust->now;
    struct exec_cluster cluster = {.server = c->server,
                                   .server_name = str_c(t->server_name),
                                   .proxy = str_c(t->proxy),
                                   .ca = str_c(c->ca),
                                   .insecure = t->insecure};
    struct exec_credential got;
    struct err e = {0};

    c->asking = true;
    if (exec_plugin_run(c->world, c->exec, &cluster, tmp, &got, &e)) {
        use_token(c, got.token);
        if (got.cert_pem.n)
            use_certificate(c, got.cert_pem, got.key_pem);
        c->expires_ms = got.expires_ms;
    }
    c->refused = e;
    c->got_us = world_mono_us(c->world);
    c->asking = false;
    arena_free_wiped(tmp);
}

/* One fiber asks, the others wait for what it gets. After a failure nobody asks again at once. */
static bool plugin_credential(struct kube_config *c, bool stale, struct err *e)
{
    int64_t age_us;

    while (c->asking && !world_dead(c->world))
        fiber_sleep_us(c->world, SECOND_US / 50);
    age_us = world_mono_us(c->world) - c->got_us;
    bool failed = c->refused.kind != ERR_NONE;
    bool ask = !c->got_us || c->expires_ms <= world_now_ms(c->world) || stale || failed;
    if (ask && (!c->got_us || age_us >= (failed ? SECOND_US : FRESH_US)))
        ask_plugin(c);
    if (c->refused.kind == ERR_NONE)
        return true;
    *e = c->refused;
    return false;
}

bool kube_config_token(struct kube_config *c, struct arena *a, bool stale, str *ret, struct err *e)
{
    if (c->token_file) {
        int64_t age_us = world_mono_us(c->world) - c->got_us;

        if ((!c->got_us || age_us >= REREAD_US || (stale && age_us >= FRESH_US)) && !read_token(c, e))
            return false;
    } else if (c->exec && !plugin_credential(c, stale, e)) {
        return false;
    }
    *ret = arena_strdup(a, str_c(c->token));
    return true;
}

/* ---- from a kubeconfig ---- */

/* Without a scheme it is https, as with other clients when there is anything to be sure of. */
static str server_url(struct arena *a, const struct kubeconfig_choice *k)
{
    str s = without_slash(k->server);
    bool secure = k->insecure || k->ca.data.n || k->ca.path.n || k->cert.data.n || k->cert.path.n;

    if (str_contains(s, STR("://")))
        return arena_strdup(a, s);
    return arena_printf(a, "%s" STR_FMT, secure ? "https://" : "http://", STR_ARG(s));
}

static bool take_choice(struct kube_config *c, const struct kubeconfig_choice *k, struct err *e)
{
    const char *cert, *key;
    struct arena *a = c->arena;

    c->server = server_url(a, k);
    if (!str_starts(c->server, STR("https://")) && !str_starts(c->server, STR("http://")))
        return err_set(e, ERR_INVALID, "clusters[" STR_FMT "].server: must begin with https://", STR_ARG(k->cluster));
    c->ns = k->ns;
    if (!read_pem(a, &k->ca, "certificate-authority", &c->ca, e))
        return err_wrap(e, "clusters[" STR_FMT "]", STR_ARG(k->cluster));
    if (!read_pem(a, &k->cert, "client-certificate", &cert, e) || !read_pem(a, &k->key, "client-key", &key, e))
        return err_wrap(e, "users[" STR_FMT "]", STR_ARG(k->user));
    use_certificate(c, str_c(cert), str_c(key));
    c->trust->now.ca_pem = c->ca;
    c->trust->now.server_name = k->server_name.n ? c_of(a, k->server_name) : NULL;
    c->trust->now.proxy = k->proxy.n ? c_of(a, k->proxy) : NULL;
    c->trust->now.insecure = k->insecure;
    if (k->token_file.n)
        c->token_file = c_of(a, k->token_file);
    use_token(c, k->token);
    c->got_us = 0; /* what may change is asked for when it is needed */
    if (!k->token.n && !k->token_file.n)
        c->exec = k->exec;
    return !c->token_file || read_token(c, e);
}

/* "a:b:c"; of a list, files that do not exist are passed over. */
static bool add_files(struct kubeconfig *k, const char *paths, bool is_list, struct err *e)
{
    str rest = str_c(paths), path = rest, text;

    while (rest.n) {
        if (is_list)
            (void)str_cut(rest, ':', &path, &rest);
        else
            rest = (str){0};
        const char *name = c_of(k->arena, path);
        if (!path.n)
            continue;
        if (read_file(k->arena, name, &text, e)) {
            if (!kubeconfig_add(k, name, text, e))
                return false;
        } else if (!is_list || e->kind != ERR_NOT_FOUND) {
            return false;
        }
    }
    return k->files.n || err_set(e, ERR_NOT_FOUND, "%s: there is no such file", paths);
}

static bool load_files(struct kube_config *c, const char *paths, bool is_list, const char *context, struct err *e)
{
    struct kubeconfig k = {.arena = c->arena};
    struct kubeconfig_choice choice;
    bool ok = add_files(&k, paths, is_list, e) && kubeconfig_choose(&k, context, &choice, e);

    if (ok && !take_choice(c, &choice, e))
        ok = err_wrap(e, "%s", paths);
    kubeconfig_fini(&k);
    return ok;
}

/* ---- from a pod's service account ---- */

static bool load_pod(struct kube_config *c, const char *host, const char *port, struct err *e)
{
    struct kubeconfig_choice k = {.ca = {.path = STR(POD_DIR "ca.crt")}, .token_file = STR(POD_DIR "token")};
    struct err none;
    bool six = strchr(host, ':') != NULL;

    k.server = arena_printf(c->arena, "https://%s%s%s:%s", six ? "[" : "", host, six ? "]" : "", port);
    if (!take_choice(c, &k, e))
        return err_wrap(e, "service account of the pod");
    if (read_file(c->arena, POD_DIR "namespace", &c->ns, &none))
        c->ns = str_trim(c->ns);
    return true;
}

static bool load(struct kube_config *c, const struct kube_config_source *s, struct err *e)
{
    const char *list = getenv("KUBECONFIG"), *host = getenv("KUBERNETES_SERVICE_HOST"),
               *port = getenv("KUBERNETES_SERVICE_PORT"), *home = getenv("HOME");

    if (s->path)
        return load_files(c, s->path, /* is_list= */ false, s->context, e);
    if (list && list[0])
        return load_files(c, list, /* is_list= */ true, s->context, e);
    if (host && host[0] && port && port[0])
        return load_pod(c, host, port, e);
    if (!home || !home[0])
        return err_set(e, ERR_NOT_FOUND, "no kubeconfig: neither KUBECONFIG nor HOME is set, and this is no pod");
    return load_files(c, arena_printf(c->arena, "%s/.kube/config", home).p, /* is_list= */ false, s->context, e);
}

struct kube_config *kube_config_load(struct world *w, const struct kube_config_source *s, struct err *e)
{
    struct kube_config *c = config_new(w);

    if (load(c, s, e))
        return c;
    kube_config_free(c);
    return NULL;
}
