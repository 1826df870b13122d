/* The way in: who asks, what for, and which handler answers. */
#include "sim/kube/front_int.h"

#include <strings.h>

/* ---- life ---- */

char *front_strdup(str s)
{
    char *p = xmalloc(s.n + 1);

    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = 0;
    return p;
}

struct front *front_new(struct kube *k)
{
    struct front *f = xcalloc(1, sizeof(*f));

    f->kube = k;
    return f;
}

void front_free(struct front *f)
{
    if (!f)
        return;
    watchers_fini(f);
    log_readers_fini(f);
    tokens_fini(f);
    documents_fini(f);
    free(f);
}

/* ---- who asks ---- */

str request_header(const struct request *r, const char *name)
{
    return http_header_get(r->x->headers, r->x->n_headers, name);
}

static str bearer(const struct request *r)
{
    static const char scheme[] = "Bearer ";
    str h = request_header(r, "Authorization");

    if (h.n < sizeof(scheme) - 1 || strncasecmp(h.p, scheme, sizeof(scheme) - 1) != 0)
        return (str){0};
    return str_trim(str_sub(h, sizeof(scheme) - 1, h.n));
}

/* Takes as long for a token that is nearly right as for any other of its length. */
static bool same_secret(str a, str b)
{
    unsigned diff = 0;

    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        diff |= (unsigned char)(a.p[i] ^ b.p[i]);
    return diff == 0;
}

/* What a load balancer or a kubelet may ask without saying who it is. */
static bool is_open(const struct request *r)
{
    static const char *const paths[] = {"/healthz", "/livez", "/readyz", "/version"};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (str_is(r->x->path, paths[i]))
            return true;
    return false;
}

struct user user_admin(void)
{
    return (struct user){
        .name = STR("kubernetes-admin"), .groups = {STR("system:masters"), STR("system:authenticated")}, .n_groups = 2};
}

static struct user user_anonymous(void)
{
    return (struct user){.name = STR("system:anonymous"), .groups = {STR("system:unauthenticated")}, .n_groups = 1};
}

static bool authenticate(struct request *r, struct status *st)
{
    const char *secret = kube_settings(r->kube)->token;
    str token = bearer(r);

    if (secret && same_secret(token, str_c(secret)))
        r->user = user_admin();
    else if (!token_user(r->front, r->a, token, &r->user)) {
        if (secret && !is_open(r))
            return status_bad_request(r->a, st, 401, "Unauthorized");
        r->user = user_anonymous();
    }
    str as = request_header(r, "Impersonate-User");
    if (as.n)
        r->user = (struct user){.name = as, .groups = {STR("system:authenticated")}, .n_groups = 1};
    return true;
}

/* ---- what for ---- */

bool refuse_method(struct request *r, struct status *st)
{
    return status_blank(r->a, st, 405, "the server does not allow this method on the requested resource");
}

bool refuse_path(struct request *r, struct status *st)
{
    return status_blank(r->a, st, 404, "the server could not find the requested resource");
}

bool request_is(const struct request *r, const char *method)
{
    return strcmp(r->x->method, method) == 0;
}

static bool is_watch(const struct request *r)
{
    return r->route.watch || (query_flag(r, "watch") && r->route.name.n == 0);
}

/* A whole collection, in one namespace or, where that is allowed, in all. */
static handler_fn collection_handler(const struct request *r)
{
    const struct kind *k = r->route.kind;
    bool in_place = !k->namespaced || r->route.ns.n;

    if (request_is(r, "GET"))
        return is_watch(r) ? serve_watch : serve_list;
    if (request_is(r, "POST") && in_place)
        return serve_create;
    /* quirk: a Namespace can only be deleted by name */
    if (request_is(r, "DELETE") && in_place && !(k->group.n == 0 && str_is(k->plural, "namespaces")))
        return serve_delete_all;
    return refuse_method;
}

static handler_fn object_handler(const struct request *r)
{
    if (request_is(r, "GET"))
        return is_watch(r) ? serve_watch : serve_get;
    if (request_is(r, "PUT"))
        return serve_update;
    if (request_is(r, "PATCH"))
        return serve_patch;
    if (request_is(r, "DELETE") && r->route.sub.n == 0)
        return serve_delete;
    return refuse_method;
}

static handler_fn resource_handler(const struct request *r)
{
    const struct route *t = &r->route;

    if (t->virt)
        return request_is(r, "POST") ? t->virt->create : refuse_method;
    if (t->name.n == 0)
        return collection_handler(r);
    if (t->sub.n && !(t->kind->has_status && str_is(t->sub, "status")))
        return serve_sub;
    return object_handler(r);
}

static bool serve(struct request *r, struct status *st)
{
    if (!authenticate(r, st) || !query_parse(r, st))
        return false;
    if (r->x->body.n > FRONT_MAX_BODY)
        return status_bad_request(r->a, st, 413, "Request entity too large: limit is %u", FRONT_MAX_BODY);
    switch (route_path(r, st)) {
    case ROUTE_BAD:
        return false;
    case ROUTE_NO_RESOURCE:
        return refuse_path(r, st);
    case ROUTE_NO_PAGE:
        reply_body(r, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
        return true;
    case ROUTE_OTHER:
        return serve_other(r, st);
    case ROUTE_RESOURCE:
        break;
    }
    handler_fn h = resource_handler(r);

    return (h == refuse_method || accept_parse(r, /* as_objects= */ true, h == serve_watch, st)) && h(r, st);
}

void front_refuse(struct kube *k, struct exchange *x, const struct status *st)
{
    struct request r = {.kube = k, .front = kube_front(k), .x = x, .a = x->arena};

    reply_status(&r, st);
}

void front_serve(struct kube *k, struct exchange *x, const struct front_fault *fault)
{
    struct request r = {.kube = k, .front = kube_front(k), .x = x, .a = x->arena};
    struct status st = {0};

    if (fault)
        r.fault = *fault;
    if (!serve(&r, &st))
        reply_status(&r, &st);
    vec_fini(&r.warnings.list);
}

void kube_serve(void *kube, struct exchange *x)
{
    front_serve(kube, x, NULL);
}
