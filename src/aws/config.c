/* Every setting has a name in the environment and one in the files; the environment goes first. What nobody has said is AWS's default. */
#include "aws/config.h"

#include <stdlib.h>
#include <strings.h>

#include "aws/config_int.h"
#include "aws/endpoint.h"
#include "aws/url.h"
#include "base/file.h"

#define DEFAULT_ATTEMPTS 3u
#define MAX_ATTEMPTS 100
#define IMDS_IPV4 "http://169.254.169.254"
#define IMDS_IPV6 "http://[fd00:ec2::254]"

/* ---- the environment ---- */

str config_var(const struct aws_config *c, const char *name)
{
    size_t n = strlen(name);

    for (const char *const *v = c->env.vars; *v; v++)
        if (strncmp(*v, name, n) == 0 && (*v)[n] == '=')
            return str_c(*v + n + 1);
    return (str){0};
}

bool config_home(const struct aws_config *c, struct arena *a, const char *name, const char **ret)
{
    str home = config_var(c, "HOME");

    if (home.n)
        *ret = arena_printf(a, STR_FMT "/%s", STR_ARG(home), name).p;
    return home.n > 0;
}

static bool read_real(void *ctx UNUSED, struct arena *a, const char *path, str *ret, struct err *e)
{
    return file_read(a, path, PROFILE_MAX_FILE, ret, e);
}

bool config_read(const struct aws_config *c, struct arena *a, const char *path, str *ret, struct err *e)
{
    return c->env.read(c->env.ctx, a, path, ret, e);
}

static void copy_environment(struct aws_config *c, const struct aws_environment *env)
{
    uint32_t n = 0;

    while (env->vars && env->vars[n])
        n++;
    const char **vars = arena_new_array(c->arena, const char *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        vars[i] = arena_printf(c->arena, "%s", env->vars[i]).p;
    c->env = (struct aws_environment){vars, env->read ? env->read : read_real, env->ctx};
}

/* ---- files ---- */

static bool add_file(const struct aws_config *c, struct profiles *into, const char *var, const char *usual,
                     bool credentials, struct err *e)
{
    str named = config_var(c, var), text;
    const char *path = named.p;

    if (!named.n && !config_home(c, into->arena, usual, &path))
        return true;
    if (!config_read(c, into->arena, path, &text, e))
        return e->kind == ERR_NOT_FOUND || err_wrap(e, "%s", var);
    return profiles_add(into, path, credentials, text, e);
}

static bool read_profiles(const struct aws_config *c, struct profiles *into, struct err *e)
{
    return add_file(c, into, "AWS_CONFIG_FILE", ".aws/config", /* credentials= */ false, e) &&
           add_file(c, into, "AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials", /* credentials= */ true, e);
}

bool config_profile_keys(const struct aws_config *c, struct arena *a, str profile, struct aws_keys *ret, struct err *e)
{
    struct profiles now = {.arena = arena_new(0)};
    bool ok = read_profiles(c, &now, e);
    const struct profile *p = ok ? profiles_find(&now, PROFILE_USER, profile) : NULL;
    struct aws_keys k = {arena_strdup(a, profile_get(p, "aws_access_key_id")),
                         arena_strdup(a, profile_get(p, "aws_secret_access_key")),
                         arena_strdup(a, profile_get(p, "aws_session_token"))};

    if (ok && (!k.id.n || !k.secret.n))
        ok = err_set(e, ERR_NOT_FOUND, "the shared files have no keys for it any more");
    if (ok)
        *ret = k;
    profiles_fini(&now);
    arena_free_wiped(now.arena);
    return ok;
}

static bool choose_profile(struct aws_config *c, struct err *e)
{
    str name = config_var(c, "AWS_PROFILE");

    if (!name.n)
        name = config_var(c, "AWS_DEFAULT_PROFILE");
    c->profile_chosen = name.n > 0;
    c->profile_name = name.n ? name : STR("default");
    c->profile = profiles_find(&c->profiles, PROFILE_USER, c->profile_name);
    if (!c->profile && c->profile_chosen && !str_is(name, "default"))
        return err_set(e, ERR_NOT_FOUND, "AWS_PROFILE: there is no profile \"" STR_FMT "\"", STR_ARG(name));
    return true;
}

/* ---- settings ---- */

struct said {
    str value;
    str where; /* "AWS_MAX_ATTEMPTS", "file:3: max_attempts" */
};

static struct said said_by(struct arena *a, const struct profile_setting *s)
{
    return (struct said){s->value, arena_printf(a, "%s:%u: " STR_FMT, s->file, s->line, STR_ARG(s->key))};
}

/* key NULL: only the environment has it. */
static bool find(const struct aws_config *c, const char *var, const char *key, struct said *ret)
{
    const struct profile_setting *s = key ? profile_find(c->profile, key) : NULL;

    *ret = (struct said){config_var(c, var), str_c(var)};
    if (!ret->value.n && s)
        *ret = said_by(c->arena, s);
    return ret->value.n > 0;
}

static bool bad(const struct said *s, struct err *e, const char *what)
{
    return err_set(e, ERR_INVALID, STR_FMT ": %s", STR_ARG(s->where), what);
}

static bool find_flag(const struct aws_config *c, const char *var, const char *key, bool *ret, struct err *e)
{
    struct said s;

    *ret = false;
    if (!find(c, var, key, &s))
        return true;
    *ret = s.value.n == 4 && strncasecmp(s.value.p, "true", 4) == 0;
    if (!*ret && !(s.value.n == 5 && strncasecmp(s.value.p, "false", 5) == 0))
        return bad(&s, e, "must be true or false");
    return true;
}

bool region_is_sane(str region)
{
    for (size_t i = 0; i < region.n; i++) {
        char c = region.p[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && !(c == '-' && i > 0 && i + 1 < region.n))
            return false;
    }
    return region.n > 0 && region.n <= 63;
}

static bool take_region(struct aws_config *c, struct err *e)
{
    struct said s;

    if (!find(c, "AWS_REGION", NULL, &s) && !find(c, "AWS_DEFAULT_REGION", "region", &s))
        return true;
    if (!region_is_sane(s.value))
        return bad(&s, e, "is no region");
    c->region = s.value;
    return true;
}

static bool take_retries(struct aws_config *c, struct err *e)
{
    struct said s;
    int64_t n;

    c->max_attempts = DEFAULT_ATTEMPTS;
    if (find(c, "AWS_RETRY_MODE", "retry_mode", &s) && !str_is(s.value, "standard") && !str_is(s.value, "adaptive"))
        return bad(&s, e, "must be standard or adaptive");
    if (!find(c, "AWS_MAX_ATTEMPTS", "max_attempts", &s))
        return true;
    if (!str_to_i64(s.value, &n) || n < 0 || n > MAX_ATTEMPTS)
        return bad(&s, e, "must be a number from 0 to 100");
    if (n > 0)
        c->max_attempts = (uint32_t)n;
    return true;
}

/* ---- endpoints ---- */

static bool take_url(struct said *s, str *ret, struct err *e)
{
    struct url_parts u;

    if (!url_split(s->value, &u) || u.query.n)
        return bad(s, e, "must be an absolute http or https url");
    while (s->value.n && s->value.p[s->value.n - 1] == '/')
        s->value.n--;
    *ret = s->value;
    return true;
}

/* The services of a profile: a section of their own, in which every service has settings of its own. */
static bool service_setting(const struct aws_config *c, const char *service, struct said *ret, struct err *e)
{
    const struct profile_setting *name = profile_find(c->profile, "services"), *url;
    const struct profile *services;

    ret->value = (str){0};
    if (!name)
        return true;
    services = profiles_find(&c->profiles, PROFILE_SERVICES, name->value);
    if (!services)
        return err_set(e, ERR_INVALID, "%s:%u: there is no section [services " STR_FMT "]", name->file, name->line,
                       STR_ARG(name->value));
    url = profile_find_below(profile_find(services, service), "endpoint_url");
    if (url)
        *ret = said_by(c->arena, url);
    return true;
}

static bool take_endpoint(struct aws_config *c, enum aws_service s, struct err *e)
{
    char key[32], var[64];
    struct said said;
    size_t n = 0;

    for (const char *id = aws_service_id(s); *id && n + 1 < sizeof(key); id++)
        key[n++] = *id == ' ' ? '_' : *id >= 'A' && *id <= 'Z' ? (char)(*id - 'A' + 'a') : *id;
    key[n] = '\0';
    memcpy(var, "AWS_ENDPOINT_URL_", 17);
    for (size_t i = 0; i <= n; i++)
        var[17 + i] = key[i] >= 'a' && key[i] <= 'z' ? (char)(key[i] - 'a' + 'A') : key[i];
    if (find(c, var, NULL, &said) || find(c, "AWS_ENDPOINT_URL", NULL, &said)) {
        said.where = arena_strdup(c->arena, said.where); /* it may be ours */
        return take_url(&said, &c->urls[s], e);
    }
    if (!service_setting(c, key, &said, e))
        return false;
    if (said.value.n || find(c, "AWS_ENDPOINT_URL", "endpoint_url", &said))
        return take_url(&said, &c->urls[s], e);
    return true;
}

static bool take_endpoints(struct aws_config *c, struct err *e)
{
    bool ignore;

    if (!find_flag(c, "AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint", &c->fips, e) ||
        !find_flag(c, "AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint", &c->dual_stack, e) ||
        !find_flag(c, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "ignore_configured_endpoint_urls", &ignore, e))
        return false;
    for (enum aws_service s = 0; !ignore && s < AWS_N_SERVICES; s++)
        if (!take_endpoint(c, s, e))
            return false;
    return true;
}

static bool take_imds_tries(struct aws_config *c, struct err *e)
{
    struct said s;
    int64_t n = NEAR_TRIES;

    if (find(c, "AWS_METADATA_SERVICE_NUM_ATTEMPTS", "metadata_service_num_attempts", &s) &&
        (!str_to_i64(s.value, &n) || n < 1 || n > MAX_ATTEMPTS))
        return bad(&s, e, "must be a number from 1 to 100");
    c->imds_tries = (uint32_t)n;
    return true;
}

static bool take_imds(struct aws_config *c, struct err *e)
{
    struct said s;
    bool six;

    if (!find_flag(c, "AWS_EC2_METADATA_DISABLED", NULL, &c->imds_off, e) || !take_imds_tries(c, e))
        return false;
    if (find(c, "AWS_EC2_METADATA_SERVICE_ENDPOINT", "ec2_metadata_service_endpoint", &s))
        return take_url(&s, &c->imds_url, e);
    c->imds_url = STR(IMDS_IPV4);
    if (!find(c, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "ec2_metadata_service_endpoint_mode", &s))
        return true;
    six = s.value.n == 4 && strncasecmp(s.value.p, "IPv6", 4) == 0;
    if (!six && !(s.value.n == 4 && strncasecmp(s.value.p, "IPv4", 4) == 0))
        return bad(&s, e, "must be IPv4 or IPv6");
    if (six)
        c->imds_url = STR(IMDS_IPV6);
    return true;
}

/* ---- how calls travel ---- */

static const char *proxy_var(const struct aws_config *c, const char *large, const char *small_)
{
    str s = config_var(c, large);

    if (!s.n)
        s = config_var(c, small_);
    return s.n ? s.p : NULL;
}

static bool take_transport(struct aws_config *c, struct err *e)
{
    struct said s;
    str pem;

    if (find(c, "AWS_CA_BUNDLE", "ca_bundle", &s)) {
        const char *path = arena_printf(c->arena, STR_FMT, STR_ARG(s.value)).p;

        if (!config_read(c, c->arena, path, &pem, e))
            return err_wrap(e, STR_FMT, STR_ARG(s.where));
        if (!str_contains(pem, STR("-----BEGIN ")) || memchr(pem.p, '\0', pem.n))
            return bad(&s, e, "is no file of certificates");
        c->trust.ca_pem = arena_printf(c->arena, STR_FMT, STR_ARG(pem)).p;
    }
    c->http_proxied = c->https_proxied = c->trust;
    c->http_proxied.proxy = proxy_var(c, "HTTP_PROXY", "http_proxy");
    c->https_proxied.proxy = proxy_var(c, "HTTPS_PROXY", "https_proxy");
    c->no_proxy = str_c(proxy_var(c, "NO_PROXY", "no_proxy"));
    return true;
}

const struct http_trust *config_trust(const struct aws_config *c, str url)
{
    struct url_parts u;

    if (!url_split(url, &u) || proxy_is_off(c->no_proxy, u.host, u.port))
        return &c->trust;
    return u.secure ? &c->https_proxied : &c->http_proxied;
}

/* ---- the whole ---- */

static void take_keys(struct aws_config *c)
{
    struct aws_keys k = {config_var(c, "AWS_ACCESS_KEY_ID"), config_var(c, "AWS_SECRET_ACCESS_KEY"),
                         config_var(c, "AWS_SESSION_TOKEN")};

    if (k.id.n && k.secret.n)
        c->keys = k;
}

static bool load(struct aws_config *c, struct err *e)
{
    take_keys(c);
    return read_profiles(c, &c->profiles, e) && choose_profile(c, e) && take_region(c, e) && take_retries(c, e) &&
           take_endpoints(c, e) && take_imds(c, e) && take_transport(c, e);
}

struct aws_config *aws_config_load(const struct aws_environment *env, struct err *e)
{
    struct aws_config *c = xcalloc(1, sizeof(*c));

    c->arena = arena_new(0);
    c->profiles.arena = c->arena;
    copy_environment(c, env);
    if (load(c, e))
        return c;
    aws_config_free(c);
    return NULL;
}

void aws_config_free(struct aws_config *c)
{
    if (!c)
        return;
    profiles_fini(&c->profiles);
    arena_free_wiped(c->arena);
    free(c);
}
