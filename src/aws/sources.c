/* The sources that need little: keys that are written down, a program, a token of `aws sso login`. */
#include <openssl/evp.h>

#include "aws/client_int.h"
#include "aws/endpoint.h"
#include "data/reader.h"
#include "model/duration.h"
#include "net/loop.h"
#include "net/process.h"

#define LOOK_AGAIN_MS INT64_C(300000)

bool source_static(struct aws *c UNUSED, const struct source *s, struct arena *a, struct lease *ret,
                   struct err *e UNUSED)
{
    *ret = (struct lease){
        .keys = {arena_strdup(a, s->keys.id), arena_strdup(a, s->keys.secret), arena_strdup(a, s->keys.token)},
        .expires_ms = INT64_MAX};
    return true;
}

/* Whoever rotates keys writes them into the file: what it says now counts. As long as it cannot be read, what it said last does. */
bool source_profile(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e)
{
    struct lease l = {.expires_ms = INT64_MAX, .again_ms = client_now_ms(c) + LOOK_AGAIN_MS};

    if (!config_profile_keys(c->config, a, s->profile, &l.keys, e))
        return false;
    *ret = l;
    return true;
}

bool source_broken(struct aws *c UNUSED, const struct source *s, struct arena *a UNUSED, struct lease *ret UNUSED,
                   struct err *e)
{
    *e = s->broken;
    return false;
}

/* ---- a program ---- */

bool source_process(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e)
{
    static const struct lease_names names = {"AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"};
    const char *argv[] = {"sh", "-c", arena_printf(a, STR_FMT, STR_ARG(s->command)).p, NULL};
    struct process_request r = {.argv = argv, .env = c->config->env.vars};
    struct process_result out;
    const struct tree *t;
    str line, rest;

    if (!loop_is(c->world))
        return err_set(e, ERR_INVALID, "there are no programs in a simulated world");
    if (!process_run(c->world, &r, a, &out, e))
        return false;
    (void)str_cut(str_trim(out.err), '\n', &line, &rest);
    if (out.code != 0)
        return err_set(e, ERR_DENIED, "it returned %d%s" STR_FMT, out.code, line.n ? ": " : "",
                       STR_ARG(str_sub(line, 0, 200)));
    if (!tree_parse_json(a, "answer", out.out, &t, e))
        return err_set(e, ERR_INVALID, "what it writes is not JSON");
    if (!str_is(tree_scalar(tree_get(t, "Version")), "1"))
        return err_set(e, ERR_INVALID, "what it writes has not the Version 1");
    return lease_from_tree(t, &names, ret, e);
}

/* ---- single sign-on ---- */

/* ~/.aws/sso/cache/SHA1.json, where `aws sso login` leaves it. */
static bool cached_token(struct aws *c, const struct source *s, struct arena *a, str *ret, struct err *e)
{
    unsigned char sum[20];
    char name[64] = ".aws/sso/cache/";
    size_t n = strlen(name);
    const struct tree *t;
    const char *path;
    int64_t expires_ms;
    str text;
    bool ok = EVP_Digest(s->sso_key.p, s->sso_key.n, sum, NULL, EVP_sha1(), NULL) == 1;

    assert(ok);
    for (size_t i = 0; i < sizeof(sum); i++) {
        name[n++] = "0123456789abcdef"[sum[i] >> 4];
        name[n++] = "0123456789abcdef"[sum[i] & 15];
    }
    memcpy(name + n, ".json", sizeof(".json"));
    if (!config_home(c->config, a, name, &path))
        return err_set(e, ERR_INVALID, "HOME is not set");
    if (!config_read(c->config, a, path, &text, e))
        return err_wrap(e, "log in with `aws sso login`");
    if (!tree_parse_json(a, "token", text, &t, e) || !tree_str(tree_get(t, "accessToken")).n ||
        !time_parse_rfc3339(tree_str(tree_get(t, "expiresAt")), &expires_ms, e))
        return err_set(e, ERR_INVALID, "%s: is no token", path);
    if (expires_ms <= client_now_ms(c))
        return err_set(e, ERR_DENIED, "the token has expired: log in with `aws sso login`");
    *ret = tree_str(tree_get(t, "accessToken"));
    return true;
}

bool source_sso(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e)
{
    static const struct lease_names names = {"accessKeyId", "secretAccessKey", "sessionToken", "expiration"};
    struct http_header h = {.name = STR("x-amz-sso_bearer_token")};
    struct http_response got;
    struct sb url = {0};
    const struct tree *t;
    str host = endpoint_host(c->config, s->sso_region, "portal.sso", a);

    if (!cached_token(c, s, a, &h.value, e))
        return false;
    sb_printf(&url, "https://" STR_FMT "/federation/credentials?account_id=", STR_ARG(host));
    url_encode(&url, s->sso_account);
    sb_c(&url, "&role_name=");
    url_encode(&url, s->sso_role);
    struct http_request r = {.url = sb_dup(&url, a), .headers = &h, .n_headers = 1, .timeout_us = 30000000};
    sb_fini(&url);
    r.trust = config_trust(c->config, r.url);
    if (!http_fetch(c->world, &r, a, &got, e))
        return false;
    if (got.status != 200)
        return err_set(e, got.status == 401 || got.status == 403 ? ERR_DENIED : ERR_IO, "HTTP status %d", got.status);
    if (!tree_parse_json(a, "answer", got.body, &t, e))
        return err_set(e, ERR_INVALID, "an answer that is not JSON");
    return lease_from_tree(tree_get(t, "roleCredentials"), &names, ret, e);
}
