#include "k8s/config.h"

#include <stdlib.h>

struct kube_config {
    char *server, *ns, *token;
    char *ca_pem;
    struct http_trust trust;
};

static char *dup_str(str s)
{
    char *p = xcalloc(1, s.n + 1);

    if (s.n)
        memcpy(p, s.p, s.n);
    return p;
}

struct kube_config *kube_config_fixed(str server, str token, const char *ca_pem)
{
    struct kube_config *c = xcalloc(1, sizeof(*c));

    while (server.n && server.p[server.n - 1] == '/')
        server.n--;
    c->server = dup_str(server);
    c->ns = dup_str((str){0});
    c->token = dup_str(token);
    if (ca_pem)
        c->ca_pem = dup_str(str_c(ca_pem));
    c->trust.ca_pem = c->ca_pem;
    return c;
}

void kube_config_free(struct kube_config *c)
{
    if (!c)
        return;
    explicit_bzero(c->token, strlen(c->token));
    free(c->token);
    free(c->server);
    free(c->ns);
    free(c->ca_pem);
    free(c);
}

str kube_config_server(const struct kube_config *c)
{
    return str_c(c->server);
}

str kube_config_namespace(const struct kube_config *c)
{
    return str_c(c->ns);
}

const struct http_trust *kube_config_trust(const struct kube_config *c)
{
    return &c->trust;
}

bool kube_config_token(struct kube_config *c, struct arena *a, bool stale, str *ret, struct err *e)
{
    (void)stale;
    (void)e;
    *ret = arena_strdup(a, str_c(c->token));
    return true;
}
