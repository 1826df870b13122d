/* The endpoint that containers get credentials from: ECS by a relative path, EKS Pod Identity and others by a whole url with a token. */
#include "aws/client_int.h"
#include "aws/url.h"

#define MAX_TOKEN 16384u
#define TIMEOUT_US INT64_C(5000000) /* it may have to ask AWS itself */

/* Over plain HTTP only helpers on this machine: loopback, and the addresses of ECS and EKS. */
static bool is_allowed(str url)
{
    static const char *const near[] = {"169.254.170.2", "169.254.170.23", "fd00:ec2::23"};
    struct url_parts u;

    if (!url_split(url, &u))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(near); i++)
        if (str_is(u.host, near[i]))
            return true;
    return u.secure || host_is_loopback(u.host);
}

static bool get_token(struct aws *c, const struct source *s, struct arena *a, str *ret, struct err *e)
{
    *ret = s->token;
    if (s->token_file.n) {
        if (!config_read(c->config, a, arena_printf(a, STR_FMT, STR_ARG(s->token_file)).p, ret, e))
            return err_wrap(e, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        *ret = str_trim(*ret);
    }
    for (size_t i = 0; i < ret->n; i++)
        if ((unsigned char)ret->p[i] < ' ' || (unsigned char)ret->p[i] >= 0x7f)
            return err_set(e, ERR_INVALID, "its token has characters that no token has");
    if (ret->n > MAX_TOKEN)
        return err_set(e, ERR_INVALID, "its token is too long");
    return true;
}

bool source_container(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e)
{
    static const struct lease_names names = {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"};
    struct http_header h = {.name = STR("Authorization")};
    struct http_response got;

    if (!is_allowed(s->url))
        return err_set(e, ERR_INVALID,
                       "AWS_CONTAINER_CREDENTIALS_FULL_URI: neither https, nor loopback, nor an address of ECS or EKS");
    if (!get_token(c, s, a, &h.value, e))
        return false;
    struct http_request r = {.url = s->url, .headers = &h, .n_headers = h.value.n ? 1 : 0, .timeout_us = TIMEOUT_US};
    if (!client_ask_near(c, &r, NEAR_TRIES, a, &got, e))
        return false;
    if (got.status != 200)
        return err_set(e, got.status == 401 || got.status == 403 ? ERR_DENIED : ERR_IO, "HTTP status %d", got.status);
    return lease_read(a, got.body, &names, ret, e);
}
