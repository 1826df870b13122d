/* Roles: STS hands out credentials for one, to whoever shows a web identity (IRSA) or good credentials of another. */
#include "aws/client_int.h"
#include "base/sb.h"

#define MAX_TOKEN ((size_t)64 << 10)

static void put(struct sb *b, const char *name, str value)
{
    if (!value.n)
        return;
    if (b->n)
        sb_char(b, '&');
    sb_c(b, name);
    sb_char(b, '=');
    url_encode(b, value);
}

static void put_role(struct aws *c, struct sb *b, const struct source *s, struct arena *a)
{
    put(b, "RoleArn", s->role);
    put(b, "RoleSessionName",
        s->session.n ? s->session : arena_printf(a, "karpenter-%lld", (long long)client_now_ms(c)));
    put(b, "ExternalId", s->external_id);
    if (s->duration_s)
        put(b, "DurationSeconds", arena_printf(a, "%lld", (long long)s->duration_s));
}

static bool ask_sts(struct aws *c, const char *action, const char *result, struct credentials *who, struct sb *body,
                    struct arena *a, struct lease *ret, struct err *e)
{
    static const struct lease_names names = {"AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"};
    struct aws_call call = {.service = AWS_STS, .action = action, .body = sb_view(body)};
    struct aws_answer got;
    bool ok = client_send(c, &call, who, a, &got, e);

    explicit_bzero(body->p, body->cap); /* the web identity is in it */
    sb_fini(body);
    if (!ok)
        return false;
    if (!lease_from_tree(tree_at(got.tree, result, "Credentials", NULL), &names, ret, e))
        return err_wrap(e, "STS %s", action);
    if (ret->expires_ms == INT64_MAX)
        return err_set(e, ERR_IO, "STS %s: an answer without Expiration", action);
    return true;
}

bool source_web(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e)
{
    struct sb b = {0};
    str token;

    /* The kubelet writes a new one every hour or so. */
    if (!config_read(c->config, a, arena_printf(a, STR_FMT, STR_ARG(s->token_file)).p, &token, e))
        return false;
    token = str_trim(token);
    if (!token.n || token.n > MAX_TOKEN)
        return err_set(e, ERR_INVALID, STR_FMT ": %s", STR_ARG(s->token_file),
                       token.n ? "is too long for a token" : "is empty");
    put_role(c, &b, s, a);
    put(&b, "WebIdentityToken", token);
    return ask_sts(c, "AssumeRoleWithWebIdentity", "AssumeRoleWithWebIdentityResult", NULL, &b, a, ret, e);
}

bool source_role(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e)
{
    struct sb b = {0};

    put_role(c, &b, s, a);
    return ask_sts(c, "AssumeRole", "AssumeRoleResult", s->from, &b, a, ret, e);
}
