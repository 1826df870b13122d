/* A call is made of attempts. An attempt waits its turn, sends, and is judged: done, refused, or to be tried again because the
 * server asked for it or because our token was too old. */
#include "k8s/api_int.h"

#include <stdlib.h>

#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "net/fiber.h"

#define MAX_ANSWER (16u << 20) /* no object is larger; nor is what discovery says of one group */
#define MAX_ATTEMPTS 11u       /* the first and ten more, as client libraries do */
#define MAX_WAIT_US (60 * SECOND_US)
#define DEFAULT_TIMEOUT_US (30 * SECOND_US)

struct api *api_new(struct world *w, struct kube_config *config, const struct api_options *o)
{
    struct api *c = xcalloc(1, sizeof(*c));

    *c = (struct api){.world = w, .config = config, .options = *o};
    c->bucket = (struct bucket){.qps = o->qps, .burst = MAX(o->burst, 1u)};
    return c;
}

void api_free(struct api *c)
{
    free(c);
}

struct kube_config *api_config(const struct api *c)
{
    return c->config;
}

struct world *api_world(const struct api *c)
{
    return c->world;
}

void api_report(struct api *c, const struct api_call *call)
{
    if (c->options.on_call)
        c->options.on_call(c->options.ctx, call);
}

/* ---- requests ---- */

static void put_segment(struct sb *b, str s)
{
    sb_char(b, '/');
    url_encode(b, s);
}

str api_url(struct api *c, struct arena *a, const struct api_ref *r, const char *sub)
{
    const struct api_kind *k = r->kind;
    struct sb b = {0};

    sb_str(&b, kube_config_server(c->config));
    sb_c(&b, k->group[0] ? "/apis" : "/api");
    if (k->group[0])
        put_segment(&b, str_c(k->group));
    put_segment(&b, str_c(k->version));
    if (k->namespaced && r->ns.n) {
        sb_c(&b, "/namespaces");
        put_segment(&b, r->ns);
    }
    put_segment(&b, str_c(k->plural));
    if (r->name.n)
        put_segment(&b, r->name);
    if (sub && sub[0])
        put_segment(&b, str_c(sub));
    str url = sb_dup(&b, a);
    sb_fini(&b);
    return url;
}

bool api_headers(struct api *c, struct arena *a, str type, bool stale, struct http_request *q, struct err *e)
{
    struct http_header *h = arena_new_array(a, struct http_header, 4);
    uint32_t n = 0;
    str token;

    if (!kube_config_token(c->config, a, stale, &token, e))
        return false;
    h[n++] = (struct http_header){STR("Accept"), STR("application/json")};
    h[n++] =
        (struct http_header){STR("User-Agent"), str_c(c->options.user_agent ? c->options.user_agent : "karpenter")};
    if (type.n)
        h[n++] = (struct http_header){STR("Content-Type"), type};
    if (token.n) {
        h[n++] = (struct http_header){STR("Authorization"), arena_printf(a, "Bearer " STR_FMT, STR_ARG(token))};
        explicit_bzero((char *)token.p, token.n);
    }
    q->headers = h;
    q->n_headers = n;
    q->trust = kube_config_trust(c->config);
    q->shared = true;
    return true;
}

void api_forget_headers(struct http_request *q)
{
    for (uint32_t i = 0; i < q->n_headers; i++)
        if (str_is(q->headers[i].name, "Authorization"))
            explicit_bzero((char *)q->headers[i].value.p, q->headers[i].value.n);
    q->n_headers = 0;
}

/* ---- answers ---- */

static enum err_kind kind_of_status(int status)
{
    switch (status) {
    case 404:
        return ERR_NOT_FOUND;
    case 409:
        return ERR_CONFLICT;
    case 410:
        return ERR_GONE;
    case 429:
        return ERR_THROTTLED;
    case 401:
    case 403:
        return ERR_DENIED;
    case 400:
    case 405:
    case 415:
    case 422:
        return ERR_INVALID;
    default:
        return ERR_IO;
    }
}

/* What somebody between us and the server has said, if it is a line of text. */
static str first_line(str body)
{
    str line, rest;

    (void)str_cut(str_trim(body), '\n', &line, &rest);
    line = str_sub(str_trim(line), 0, 200);
    for (size_t i = 0; i < line.n; i++)
        if ((unsigned char)line.p[i] < 0x20 || (unsigned char)line.p[i] > 0x7e || line.p[i] == '<')
            return (str){0};
    return line;
}

bool api_refused(struct arena *a, const struct http_response *r, struct err *e)
{
    enum err_kind kind = kind_of_status(r->status);
    struct tree *t = NULL;
    struct err bad;
    str text = first_line(r->body); /* before the body is overwritten */

    text = arena_strdup(a, text);
    if (!r->body.n || !tree_read_json(a, "answer", (char *)r->body.p, r->body.n, &t, &bad))
        t = NULL;
    str message = tree_str(tree_get(t, "message")), reason = tree_str(tree_get(t, "reason"));
    if (message.n)
        (void)err_set(e, kind, STR_FMT, STR_ARG(message));
    else
        (void)err_set(e, kind, "the server answered with status %d%s" STR_FMT, r->status, text.n ? ": " : "",
                      STR_ARG(text));
    reason = str_sub(reason, 0, sizeof(e->code) - 1);
    if (reason.n)
        memcpy(e->code, reason.p, reason.n);
    return false;
}

int64_t api_retry_after_us(const struct http_response *r)
{
    int64_t s;

    if (r->status != 429 && r->status / 100 != 5)
        return 0;
    if (!str_to_i64(str_trim(http_header_get(r->headers, r->n_headers, "Retry-After")), &s) || s < 0)
        return 0;
    return sat_mul(MAX(s, 1), SECOND_US);
}

/* ---- calls ---- */

struct call {
    const char *method;
    const struct api_ref *ref;
    const char *sub; /* NULL: none */
    str type;        /* of the body; empty: no body */
    const struct tree *body;
    str url;       /* empty: that of ref and sub */
    str query;     /* escaped; may be empty */
    bool no_retry; /* 429 is an answer */
};

/* Calls get their turn in the order in which they come. */
static void await_turn(struct api *c)
{
    int64_t wait_us = bucket_reserve_us(&c->bucket, world_mono_us(c->world));

    if (wait_us)
        fiber_sleep_us(c->world, wait_us);
}

static bool attempt(struct api *c, struct arena *a, const struct call *k, struct http_request *q, bool stale,
                    struct http_response *ret, struct err *e)
{
    await_turn(c);
    if (!api_headers(c, a, k->type, stale, q, e))
        return false;

    int64_t from = world_mono_us(c->world);
    bool ok = http_fetch(c->world, q, a, ret, e);
    api_forget_headers(q);
    api_report(c, &(struct api_call){.method = k->method,
                                     .kind = k->ref->kind,
                                     .sub = k->sub ? k->sub : "",
                                     .code = ok ? ret->status : 0,
                                     .took_us = world_mono_us(c->world) - from});
    return ok;
}

static void write_body(const struct call *k, struct arena *a, struct http_request *q)
{
    struct sb b = {0};

    if (!k->body)
        return;
    json_compact(&b, k->body, /* nulls= */ true);
    q->body = sb_dup(&b, a);
    sb_fini(&b);
}

static void plan_request(struct api *c, struct arena *a, const struct call *k, struct http_request *q)
{
    int64_t timeout_us = c->options.timeout_us;

    *q = (struct http_request){.method = k->method,
                               .url = k->url.n ? k->url : api_url(c, a, k->ref, k->sub),
                               .timeout_us = timeout_us ? timeout_us : DEFAULT_TIMEOUT_US,
                               .max_body = MAX_ANSWER};
    if (k->query.n)
        q->url = arena_printf(a, STR_FMT "?" STR_FMT, STR_ARG(q->url), STR_ARG(k->query));
    if (timeout_us)
        q->url = arena_printf(a, STR_FMT "%ctimeout=%llds", STR_ARG(q->url), k->query.n ? '&' : '?',
                              (long long)MAX(timeout_us / SECOND_US, 1));
    write_body(k, a, q);
}

/* *ret_status is written always: 0 without an answer. */
static bool call(struct api *c, struct arena *a, const struct call *k, struct tree **ret, int *ret_status,
                 struct err *e)
{
    struct http_request q;
    struct http_response r = {0};
    bool stale = false, renewed = false;

    *ret_status = 0;
    plan_request(c, a, k, &q);
    for (uint32_t n = 1;; n++) {
        if (!attempt(c, a, k, &q, stale, &r, e))
            return false;

        int64_t wait_us = k->no_retry ? 0 : api_retry_after_us(&r);
        bool again = wait_us && wait_us <= MAX_WAIT_US && n < MAX_ATTEMPTS;
        stale = r.status == 401 && !renewed;
        renewed = renewed || stale;
        again = again || stale;
        if (!again || world_dead(c->world))
            break;
        fiber_sleep_us(c->world, wait_us);
    }
    *ret_status = r.status;
    if (r.status / 100 != 2)
        return api_refused(a, &r, e);
    return !ret || tree_read_json(a, "answer", (char *)r.body.p, r.body.n, ret, e);
}

bool api_get(struct api *c, struct arena *a, const struct api_ref *r, struct tree **ret, struct err *e)
{
    struct call k = {.method = "GET", .ref = r};
    int status;

    return call(c, a, &k, ret, &status, e);
}

bool api_list(struct api *c, struct arena *a, const struct api_kind *kind, str fields, struct tree **ret, struct err *e)
{
    struct api_ref r = {.kind = kind};
    struct call k = {.method = "GET", .ref = &r};
    struct sb b = {0};
    int status;

    sb_c(&b, "fieldSelector=");
    url_encode(&b, fields);
    k.query = sb_dup(&b, a);
    sb_fini(&b);
    return call(c, a, &k, ret, &status, e);
}

bool api_create(struct api *c, struct arena *a, const struct api_kind *kind, str ns, const struct tree *body,
                struct tree **ret, struct err *e)
{
    struct api_ref r = {.kind = kind, .ns = ns};
    struct call k = {.method = "POST", .ref = &r, .type = STR("application/json"), .body = body};
    int status;

    return call(c, a, &k, ret, &status, e);
}

bool api_update(struct api *c, struct arena *a, const struct api_ref *r, const struct tree *body, struct tree **ret,
                struct err *e)
{
    struct call k = {.method = "PUT", .ref = r, .type = STR("application/json"), .body = body};
    int status;

    return call(c, a, &k, ret, &status, e);
}

bool api_patch(struct api *c, struct arena *a, const struct api_ref *r, const char *sub, enum api_patch_type type,
               const struct tree *patch, struct tree **ret, struct err *e)
{
    struct call k = {.method = "PATCH", .ref = r, .sub = sub, .body = patch};
    int status;

    switch (type) {
    case API_MERGE:
        k.type = STR("application/merge-patch+json");
        break;
    case API_STRATEGIC:
        k.type = STR("application/strategic-merge-patch+json");
        break;
    }
    return call(c, a, &k, ret, &status, e);
}

static void put_uid(struct arena *a, struct tree *options, str uid)
{
    if (uid.n)
        tree_set_str(a, tree_sub(a, options, "preconditions"), "uid", uid);
}

bool api_delete(struct api *c, struct arena *a, const struct api_ref *r, const struct api_delete_options *o,
                struct err *e)
{
    struct tree *body = tree_new_map(a);
    struct call k = {.method = "DELETE", .ref = r, .type = STR("application/json"), .body = body};
    int status;

    tree_set_str(a, body, "apiVersion", STR("v1"));
    tree_set_str(a, body, "kind", STR("DeleteOptions"));
    if (o && o->has_grace)
        tree_set_i64(a, body, "gracePeriodSeconds", o->grace_s);
    if (o)
        put_uid(a, body, o->uid);
    return call(c, a, &k, o ? o->ret : NULL, &status, e);
}

bool api_evict(struct api *c, struct arena *a, str ns, str name, const struct api_delete_options *o, int *ret_code,
               struct err *e)
{
    struct api_ref r = {.kind = &api_pods, .ns = ns, .name = name};
    struct tree *body = tree_new_map(a);
    struct call k = {.method = "POST",
                     .ref = &r,
                     .sub = "eviction",
                     .type = STR("application/json"),
                     .body = body,
                     .no_retry = true};

    tree_set_str(a, body, "apiVersion", STR("policy/v1"));
    tree_set_str(a, body, "kind", STR("Eviction"));
    tree_set_str(a, tree_sub(a, body, "metadata"), "name", name);
    if (o->has_grace)
        tree_set_i64(a, tree_sub(a, body, "deleteOptions"), "gracePeriodSeconds", o->grace_s);
    if (o->uid.n)
        put_uid(a, tree_sub(a, body, "deleteOptions"), o->uid);
    return call(c, a, &k, NULL, ret_code, e);
}

bool api_knows(struct api *c, struct arena *a, const struct api_kind *kind, bool *ret, struct err *e)
{
    struct api_ref r = {.kind = kind};
    str server = kube_config_server(c->config);
    struct call k = {.method = "GET",
                     .ref = &r,
                     .url = arena_printf(a, STR_FMT "/%s%s/%s", STR_ARG(server), kind->group[0] ? "apis/" : "api",
                                         kind->group, kind->version)};
    struct tree *t;
    int status;

    if (!call(c, a, &k, &t, &status, e)) {
        if (status != 404)
            return false;
        *ret = false;
        return true;
    }
    const struct tree *list = tree_get(t, "resources");
    *ret = false;
    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "name")), kind->plural))
            *ret = true;
    return true;
}

/* Some servers put a plus behind the minor number. */
bool api_server_version(struct api *c, struct arena *a, str *ret, struct err *e)
{
    static const struct api_kind kind = {.group = "", .version = "", .plural = "version", .kind = ""};
    struct api_ref r = {.kind = &kind};
    str server = kube_config_server(c->config);
    struct call k = {.method = "GET", .ref = &r, .url = arena_printf(a, STR_FMT "/version", STR_ARG(server))};
    struct tree *t;
    int status;

    if (!call(c, a, &k, &t, &status, e))
        return false;
    str major = tree_str(tree_get(t, "major")), minor = tree_str(tree_get(t, "minor"));
    if (str_ends(minor, STR("+")))
        minor.n--;
    if (major.n == 0 || minor.n == 0)
        return err_set(e, ERR_INVALID, "the server does not say its version");
    *ret = arena_printf(a, STR_FMT "." STR_FMT, STR_ARG(major), STR_ARG(minor));
    return true;
}
