/* Paths that name no resource: discovery, versions, health, OpenAPI, and what there is to ask for. */
#include "sim/kube/front_int.h"

#include "data/json.h"

/* ---- /version ---- */

static bool serve_version(struct request *r, struct status *st)
{
    str version = str_c(kube_settings(r->kube)->version), major, minor, rest;
    struct sb b = {0};
    struct jw w = {.out = &b};

    if (!request_is(r, "GET"))
        return refuse_method(r, st);
    (void)str_cut(str_starts(version, STR("v")) ? str_sub(version, 1, version.n) : version, '.', &major, &rest);
    (void)str_cut(rest, '.', &minor, &rest);
    const struct {
        const char *key;
        str value;
    } members[] = {
        {"major", major},   {"minor", minor},      {"gitVersion", version},
        {"gitCommit", {0}}, {"gitTreeState", {0}}, {"buildDate", STR("1970-01-01T00:00:00Z")},
        {"goVersion", {0}}, {"compiler", {0}},     {"platform", STR("linux/amd64")},
    };

    jw_map(&w);
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        jw_key(&w, members[i].key), jw_str(&w, members[i].value);
    jw_end(&w);
    reply_json(r, 200, &b);
    return true;
}

/* ---- /healthz, /livez, /readyz ---- */

static bool serve_health(struct request *r, struct status *st UNUSED)
{
    static const char *const checks[] = {"ping", "log", "etcd", "informer-sync"};
    const struct route *t = &r->route;
    struct sb b = {0};

    if (t->n_segs == 1 && query_has(r, "verbose")) {
        for (size_t i = 0; i < ARRAY_LEN(checks); i++)
            sb_printf(&b, "[+]%s ok\n", checks[i]);
        sb_printf(&b, STR_FMT " check passed\n", STR_ARG(t->segs[0]));
        reply_body(r, 200, "text/plain; charset=utf-8", sb_view(&b));
        sb_fini(&b);
        return true;
    }
    bool known = t->n_segs == 1;
    for (size_t i = 0; t->n_segs == 2 && i < ARRAY_LEN(checks); i++)
        known = known || str_is(t->segs[1], checks[i]);
    if (known)
        reply_body(r, 200, "text/plain; charset=utf-8", STR("ok"));
    else
        reply_body(r, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
    return true;
}

/* ---- / ---- */

static bool serve_root(struct request *r, struct status *st)
{
    static const char *const last[] = {"/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"};
    struct sb b = {0};
    struct jw w = {.out = &b};

    if (!request_is(r, "GET"))
        return refuse_method(r, st);
    jw_map(&w);
    jw_key(&w, "paths");
    jw_list(&w);
    jw_c(&w, "/api");
    jw_c(&w, "/api/v1");
    jw_c(&w, "/apis");
    discovery_paths(r, &w);
    for (size_t i = 0; i < ARRAY_LEN(last); i++)
        jw_c(&w, last[i]);
    jw_end(&w);
    jw_end(&w);
    reply_json(r, 200, &b);
    return true;
}

bool serve_other(struct request *r, struct status *st)
{
    const struct route *t = &r->route;
    str first = t->n_segs ? t->segs[0] : (str){0};

    (void)accept_parse(r, /* as_objects= */ false, /* watch= */ false, st); /* whoever takes neither gets JSON */
    if (t->n_segs == 0)
        return serve_root(r, st);
    if (str_is(first, "api") || str_is(first, "apis"))
        return request_is(r, "GET") ? serve_discovery(r, st) : refuse_method(r, st);
    if (str_is(first, "version") && t->n_segs == 1)
        return serve_version(r, st);
    if (str_is(first, "healthz") || str_is(first, "livez") || str_is(first, "readyz"))
        return serve_health(r, st);
    if (str_is(first, "openapi"))
        return request_is(r, "GET") ? serve_openapi(r, st) : refuse_method(r, st);
    reply_body(r, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
    return true;
}
