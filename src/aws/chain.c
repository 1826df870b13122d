/* Which source it is: keys of the environment, a profile that was chosen, a web identity, the default profile, a container's endpoint, the
 * instance's role (aws 9.7). What a profile says may lead to others: the role of one profile is taken on with the credentials of another.
 */
#include "aws/client_int.h"
#include "aws/url.h"

#define MAX_PROFILES 8 /* in a row */
#define CONTAINER_URL "http://169.254.170.2"
#define DEFAULT_ROLE_S 900

static struct source broken(const char *name, const struct err *e)
{
    return (struct source){.name = str_c(name), .get = source_broken, .broken = *e};
}

static struct source broken_setting(const struct profile_setting *s, const char *what)
{
    struct err e;

    (void)err_set(&e, ERR_INVALID, "%s:%u: " STR_FMT ": %s", s->file, s->line, STR_ARG(s->key), what);
    return broken("the shared files", &e);
}

static struct source of_static(struct aws *c, struct aws_keys keys, str where)
{
    return (struct source){
        .name = arena_printf(c->arena, "keys of " STR_FMT, STR_ARG(where)), .get = source_static, .keys = keys};
}

static struct source of_web(struct aws *c, str role, str file, str session)
{
    return (struct source){.name = arena_printf(c->arena, "web identity (" STR_FMT ")", STR_ARG(role)),
                           .get = source_web,
                           .role = role,
                           .token_file = file,
                           .session = session};
}

static bool container_url(struct aws *c, str *ret)
{
    str relative = config_var(c->config, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");

    *ret = relative.n
               ? arena_printf(c->arena, CONTAINER_URL "%s" STR_FMT, relative.p[0] == '/' ? "" : "/", STR_ARG(relative))
               : config_var(c->config, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
    return ret->n > 0;
}

/* The path is not named: whoever knows it gets the credentials. */
static struct source of_container(struct aws *c, str url)
{
    struct url_parts u = {0};

    (void)url_split(url, &u);
    return (struct source){.name =
                               arena_printf(c->arena, "the container's endpoint (" STR_FMT ")", STR_ARG(u.authority)),
                           .get = source_container,
                           .url = url,
                           .token = config_var(c->config, "AWS_CONTAINER_AUTHORIZATION_TOKEN"),
                           .token_file = config_var(c->config, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")};
}

static struct source of_imds(const char *why)
{
    return (struct source){.name = str_c(why), .get = source_imds};
}

/* Nobody has said anything else. */
static struct source of_surroundings(struct aws *c)
{
    str url;

    if (container_url(c, &url))
        return of_container(c, url);
    return of_imds("the instance's role (nothing else is configured)");
}

/* ---- profiles ---- */

struct visit {
    struct aws *c;
    const struct profile *seen[MAX_PROFILES];
    uint32_t n;
};

static struct source of_profile(struct visit *v, const struct profile *p);

static struct source of_credential_source(struct aws *c, const struct profile_setting *s)
{
    str url;

    if (str_is(s->value, "Ec2InstanceMetadata"))
        return of_imds("the instance's role (credential_source)");
    if (str_is(s->value, "Environment"))
        return c->config->keys.id.n
                   ? of_static(c, c->config->keys, STR("the environment"))
                   : broken_setting(s, "there is no AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY in the environment");
    if (str_is(s->value, "EcsContainer"))
        return container_url(c, &url) ? of_container(c, url)
                                      : broken_setting(s, "there is no AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    return broken_setting(s, "must be Ec2InstanceMetadata, Environment or EcsContainer");
}

/* [sso-session NAME], or all of it in the profile itself, as it was before there were sessions. */
static struct source of_sso(struct aws *c, const struct profile *p)
{
    const struct profile_setting *session = profile_find(p, "sso_session"), *role = profile_find(p, "sso_role_name"),
                                 *any = session ? session : profile_find(p, "sso_start_url");
    const struct profile *in = session ? profiles_find(&c->config->profiles, PROFILE_SSO_SESSION, session->value) : p;
    struct source s = {.name = arena_printf(c->arena, "single sign-on (profile " STR_FMT ")", STR_ARG(p->name)),
                       .get = source_sso,
                       .sso_account = profile_get(p, "sso_account_id"),
                       .sso_role = profile_get(p, "sso_role_name"),
                       .sso_region = profile_get(in, "sso_region"),
                       .sso_key = session ? session->value : profile_get(p, "sso_start_url")};

    if (!in)
        return broken_setting(session, "there is no section [sso-session] of that name");
    if (!s.sso_account.n || !role || !s.sso_role.n)
        return broken_setting(any, "needs sso_account_id and sso_role_name");
    if (!region_is_sane(s.sso_region))
        return broken_setting(any, "needs sso_region");
    return s;
}

/* The credentials that a profile has by itself, before any role is taken on. *ret_any false: none. */
static struct source own_source(struct visit *v, const struct profile *p, bool *ret_any)
{
    const struct profile_setting *id = profile_find(p, "aws_access_key_id"),
                                 *secret = profile_find(p, "aws_secret_access_key"),
                                 *from = profile_find(p, "credential_source"),
                                 *file = profile_find(p, "web_identity_token_file"),
                                 *command = profile_find(p, "credential_process");
    struct aws_keys keys = {profile_get(p, "aws_access_key_id"), profile_get(p, "aws_secret_access_key"),
                            profile_get(p, "aws_session_token")};

    *ret_any = true;
    if (id || secret) {
        if (!keys.id.n || !keys.secret.n)
            return broken_setting(id ? id : secret, id ? "without aws_secret_access_key" : "without aws_access_key_id");
        return (struct source){.name = arena_printf(v->c->arena, "keys of profile " STR_FMT, STR_ARG(p->name)),
                               .get = source_profile,
                               .profile = p->name};
    }
    if (from)
        return of_credential_source(v->c, from);
    if (file) {
        str role = profile_get(p, "role_arn");

        return role.n ? of_web(v->c, role, file->value, profile_get(p, "role_session_name"))
                      : broken_setting(file, "needs role_arn");
    }
    if (profile_find(p, "sso_session") || profile_find(p, "sso_start_url"))
        return of_sso(v->c, p);
    if (command)
        return (struct source){
            .name = arena_printf(v->c->arena, "credential_process of profile " STR_FMT, STR_ARG(p->name)),
            .get = source_process,
            .command = command->value};
    *ret_any = false;
    return (struct source){0};
}

static struct source source_of_other(struct visit *v, const struct profile *p, const struct profile_setting *name,
                                     bool *ret_any)
{
    const struct profile *other = profiles_find(&v->c->config->profiles, PROFILE_USER, name->value);

    *ret_any = true;
    if (!other)
        return broken_setting(name, "there is no such profile");
    if (other == p) /* its own keys take on its role */
        return own_source(v, p, ret_any);
    return of_profile(v, other);
}

static struct source with_role(struct aws *c, const struct profile *p, const struct profile_setting *role,
                               const struct source *from)
{
    const struct profile_setting *duration = profile_find(p, "duration_seconds");
    struct source s = {
        .name = arena_printf(c->arena, "role " STR_FMT " of profile " STR_FMT, STR_ARG(role->value), STR_ARG(p->name)),
        .get = source_role,
        .role = role->value,
        .session = profile_get(p, "role_session_name"),
        .external_id = profile_get(p, "external_id"),
        .duration_s = DEFAULT_ROLE_S};

    if (profile_find(p, "mfa_serial"))
        return broken_setting(profile_find(p, "mfa_serial"), "there is nobody to ask for a code");
    if (duration && (!str_to_i64(duration->value, &s.duration_s) || s.duration_s < 900 || s.duration_s > 43200))
        return broken_setting(duration, "must be a number from 900 to 43200");
    s.from = credentials_of(c, from);
    return s;
}

static struct source of_profile(struct visit *v, const struct profile *p)
{
    const struct profile_setting *other = profile_find(p, "source_profile"), *role = profile_find(p, "role_arn");
    struct source s;
    bool any;

    for (uint32_t i = 0; i < v->n; i++)
        if (v->seen[i] == p)
            return broken_setting(other, "leads back to itself");
    if (v->n == MAX_PROFILES)
        return broken_setting(other, "one profile too many in a row");
    v->seen[v->n++] = p;
    s = other && role ? source_of_other(v, p, other, &any) : own_source(v, p, &any);
    if (any && (!role || s.get == source_broken || (s.get == source_web && !other)))
        return s;
    if (role)
        return any ? with_role(v->c, p, role, &s)
                   : broken_setting(role, "needs source_profile, credential_source or web_identity_token_file");
    return of_surroundings(v->c);
}

struct source chain_choose(struct aws *c)
{
    const struct aws_config *f = c->config;
    str file = config_var(f, "AWS_WEB_IDENTITY_TOKEN_FILE"), role = config_var(f, "AWS_ROLE_ARN");
    struct visit v = {.c = c};
    struct err e;

    if (f->keys.id.n)
        return of_static(c, f->keys, STR("the environment"));
    if (file.n && !(f->profile_chosen && f->profile)) {
        if (role.n)
            return of_web(c, role, file, config_var(f, "AWS_ROLE_SESSION_NAME"));
        (void)err_set(&e, ERR_INVALID, "AWS_WEB_IDENTITY_TOKEN_FILE needs AWS_ROLE_ARN");
        return broken("web identity", &e);
    }
    return f->profile ? of_profile(&v, f->profile) : of_surroundings(c);
}
