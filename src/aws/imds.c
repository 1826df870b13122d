#include "aws/imds.h"

#include "aws/client_int.h"
#include "data/reader.h"

#define TOKEN_SECONDS "300"
#define TOKEN_KEPT_US (240 * INT64_C(1000000))
#define ROLES "latest/meta-data/iam/security-credentials/"

static bool good_status(const struct http_response *r, const char *path, struct err *e)
{
    if (r->status == 200)
        return true;
    return err_set(e,
                   r->status == 404                       ? ERR_NOT_FOUND
                   : r->status == 401 || r->status == 403 ? ERR_DENIED
                                                          : ERR_IO,
                   "HTTP status %d for %s", r->status, path);
}

/* A token serves until it is nearly over: who looks for notices asks every other second. */
static void keep_token(struct aws *c, str token)
{
    c->imds_token.n = token.n <= sizeof(c->imds_token.text) ? token.n : 0;
    memcpy(c->imds_token.text, token.p, c->imds_token.n);
    c->imds_token.until_us = world_mono_us(c->world) + TOKEN_KEPT_US;
}

static bool get_token(struct aws *c, struct arena *a, str *ret, struct err *e)
{
    struct http_header h = {STR("X-aws-ec2-metadata-token-ttl-seconds"), STR(TOKEN_SECONDS)};
    struct http_request r = {.method = "PUT",
                             .url = arena_printf(a, STR_FMT "/latest/api/token", STR_ARG(c->config->imds_url)),
                             .headers = &h,
                             .n_headers = 1};
    struct http_response got;

    if (c->imds_token.n && world_mono_us(c->world) < c->imds_token.until_us) {
        *ret = arena_strdup(a, (str){c->imds_token.text, c->imds_token.n});
        return true;
    }
    if (!client_ask_near(c, &r, c->config->imds_tries, a, &got, e))
        return e->kind == ERR_TIMEOUT ? err_wrap(e, "no token (in a pod that needs a hop limit of 2)") : false;
    if (!good_status(&got, "latest/api/token", e))
        return false;
    *ret = str_trim(got.body);
    keep_token(c, *ret);
    return ret->n > 0 || err_set(e, ERR_IO, "an empty token");
}

static bool ask(struct aws *c, struct arena *a, const char *path, struct http_response *ret, struct err *e)
{
    str token;

    if (!get_token(c, a, &token, e))
        return false;
    struct http_header h = {STR("X-aws-ec2-metadata-token"), token};
    struct http_request r = {
        .url = arena_printf(a, STR_FMT "/%s", STR_ARG(c->config->imds_url), path), .headers = &h, .n_headers = 1};
    return client_ask_near(c, &r, c->config->imds_tries, a, ret, e);
}

bool imds_get(struct aws *c, struct arena *a, const char *path, str *ret, struct err *e)
{
    struct http_response got;

    if (c->config->imds_off)
        return err_set(e, ERR_NOT_FOUND, "AWS_EC2_METADATA_DISABLED is true");
    bool kept = c->imds_token.n > 0, ok = ask(c, a, path, &got, e);
    if (ok && got.status == 401 && kept) { /* the machine has slept, or moved: a new token */
        c->imds_token.n = 0;
        ok = ask(c, a, path, &got, e);
    }
    if (!ok || !good_status(&got, path, e))
        return err_wrap(e, "IMDS");
    *ret = got.body;
    return true;
}

bool imds_region(struct aws *c, struct arena *a, str *ret, struct err *e)
{
    AUTO(arena) struct arena *tmp = arena_new(0);
    const struct tree *t;
    str text;

    if (!imds_get(c, tmp, "latest/dynamic/instance-identity/document", &text, e))
        return false;
    if (!tree_parse_json(tmp, "instance-identity/document", text, &t, e))
        return err_wrap(e, "IMDS");
    if (!region_is_sane(tree_str(tree_get(t, "region"))))
        return err_set(e, ERR_IO, "IMDS: a document without a region");
    *ret = arena_strdup(a, tree_str(tree_get(t, "region")));
    return true;
}

/* ---- the role of the instance ---- */

static bool is_role_name(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~' || strchr("/?#%", s.p[i]))
            return false;
    return s.n > 0 && s.n <= 128;
}

bool source_imds(struct aws *c, const struct source *s UNUSED, struct arena *a, struct lease *ret, struct err *e)
{
    static const struct lease_names names = {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"};
    str roles, role, rest, text;

    if (!imds_get(c, a, ROLES, &roles, e)) {
        if (e->kind == ERR_NOT_FOUND && !c->config->imds_off)
            return err_set(e, ERR_NOT_FOUND, "IMDS: the instance has no role");
        return false;
    }
    (void)str_cut(str_trim(roles), '\n', &role, &rest);
    role = str_trim(role);
    if (!is_role_name(role))
        return err_set(e, ERR_IO, "IMDS: no name of a role");
    if (!imds_get(c, a, arena_printf(a, ROLES STR_FMT, STR_ARG(role)).p, &text, e))
        return false;
    if (!lease_read(a, text, &names, ret, e))
        return err_wrap(e, "IMDS, role " STR_FMT, STR_ARG(role));
    return true;
}
