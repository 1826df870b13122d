/* sts - keys for a while: who asks, as whom, until when. */
#include <stdio.h>

#include "base/b64.h"
#include "data/reader.h"
#include "sim/aws/call.h"

#define KEPT_AFTER_MS (24 * 60 * 60 * 1000LL) /* keys that are over are known as such for so long */

const struct access_key *keys_find(const struct sim_aws *s, str id)
{
    for (uint32_t i = s->keys.n; i-- > 0;) /* new ones are asked for most */
        if (str_is(id, s->keys.v[i]->id))
            return s->keys.v[i];
    return NULL;
}

static void random_text(struct sim_aws *s, char *ret, size_t n, const char *alphabet)
{
    size_t letters = strlen(alphabet);

    for (size_t i = 0; i < n; i++)
        ret[i] = alphabet[world_random(s->w) % letters];
    ret[n] = 0;
}

struct access_key *keys_issue(struct sim_aws *s, str arn, int64_t for_ms)
{
    static const char base32[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct access_key *k = xcalloc(1, sizeof(*k));
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->keys.n; i++) {
        int64_t over = s->keys.v[i]->expires_ms;

        if (over != INT64_MAX && over + KEPT_AFTER_MS < account_now_ms(s))
            free(s->keys.v[i]);
        else
            s->keys.v[kept++] = s->keys.v[i];
    }
    s->keys.n = kept;
    memcpy(k->id, "ASIA", 4);
    random_text(s, k->id + 4, 16, base32);
    random_text(s, k->secret, 40, base64);
    random_text(s, k->token, 120, base64);
    (void)snprintf(k->arn, sizeof(k->arn), STR_FMT, STR_ARG(arn));
    k->expires_ms = account_now_ms(s) + for_ms;
    vec_push(&s->keys, k);
    return k;
}

void sim_aws_end_keys(struct sim_aws *s)
{
    for (uint32_t i = 0; i < s->keys.n; i++)
        if (s->keys.v[i]->expires_ms != INT64_MAX)
            s->keys.v[i]->expires_ms = MIN(s->keys.v[i]->expires_ms, account_now_ms(s) - 1);
}

bool sim_aws_is_told(const struct sim_aws *s, str text)
{
    for (uint32_t i = 0; i < s->keys.n; i++) {
        const struct access_key *k = s->keys.v[i];

        if (str_contains(text, str_c(k->secret)) || (k->token[0] && str_contains(text, str_c(k->token))))
            return true;
    }
    return false;
}

void serve_get_caller_identity(struct call *c)
{
    str arn = c->who ? str_c(c->who->arn) : account_arn(c->s, c->a, "iam", "", STR("root"));

    tree_set_str(c->a, c->out, "UserId", c->who ? str_c(c->who->id) : c->s->account_id);
    tree_set_str(c->a, c->out, "Account", c->s->account_id);
    tree_set_str(c->a, c->out, "Arn", arn);
}

/* The role's name at the end of its ARN; empty: it is no ARN of a role here. */
static str role_of(const struct call *c, str arn)
{
    str prefix = account_arn(c->s, c->a, "iam", "role/", STR(""));
    size_t slash = arn.n;

    if (!str_starts(arn, prefix))
        return STR("");
    while (arn.p[slash - 1] != '/')
        slash--;
    return str_sub(arn, slash, arn.n);
}

static void assume(struct call *c)
{
    int64_t seconds = in_i64(c, "DurationSeconds", 3600);
    str arn, session, role;

    if (!in_required(c, "RoleArn", &arn) || !in_required(c, "RoleSessionName", &session))
        return;
    if (seconds < 900 || seconds > 43200) {
        (void)call_fail(c, "ValidationError", "DurationSeconds must be from 900 to 43200");
        return;
    }
    role = role_of(c, arn);
    bool known = account_has_role(c->s, role);

    for (uint32_t i = 0; role.n && !known && i < c->s->profiles.n; i++)
        known = str_eq(c->s->profiles.v[i]->role, role);
    if (!known) {
        (void)call_fail(c, "AccessDenied", "Not authorized to perform sts:%s on " STR_FMT, c->action->name,
                        STR_ARG(arn));
        return;
    }
    str name = arena_printf(c->a, STR_FMT "/" STR_FMT, STR_ARG(role), STR_ARG(str_sub(session, 0, 64)));
    const struct access_key *k =
        keys_issue(c->s, account_arn(c->s, c->a, "sts", "assumed-role/", name), seconds * 1000);
    struct tree *keys = tree_sub(c->a, c->out, "Credentials");

    tree_set_str(c->a, keys, "AccessKeyId", str_c(k->id));
    tree_set_str(c->a, keys, "SecretAccessKey", str_c(k->secret));
    tree_set_str(c->a, keys, "SessionToken", str_c(k->token));
    tree_set_str(c->a, keys, "Expiration", account_time(c->a, k->expires_ms));
    struct tree *who = tree_sub(c->a, c->out, "AssumedRoleUser");

    tree_set_str(c->a, who, "AssumedRoleId", arena_printf(c->a, "AROASIMULATED:" STR_FMT, STR_ARG(session)));
    tree_set_str(c->a, who, "Arn", str_c(k->arn));
}

void serve_assume_role(struct call *c)
{
    assume(c);
}

/* A token of a service account: three parts, of which the second says when it ends. Who signed it is not asked. */
static bool web_token_check(struct call *c, str token, str *ret_subject)
{
    str head, claims, signature, rest;
    struct sb text = {0};
    struct err e;
    const struct tree *t = NULL;
    int64_t ends = INT64_MAX / 1000;

    if (str_cut(token, '.', &head, &rest) && str_cut(rest, '.', &claims, &signature) && signature.n &&
        b64url_decode(&text, claims) && !tree_parse_json(c->a, "token", sb_view(&text), &t, &e))
        t = NULL;
    sb_fini(&text);
    if (!t || t->kind != TREE_MAP)
        return call_fail(c, "InvalidIdentityToken", "The ID Token provided is not a valid JWT.");
    (void)tree_to_i64(tree_get(t, "exp"), &ends);
    if (ends < account_now_ms(c->s) / 1000)
        return call_fail(c, "ExpiredTokenException",
                         "Token expired: current date/time must be before the expiration date/time");
    *ret_subject = tree_str(tree_get(t, "sub"));
    return true;
}

void serve_assume_role_with_web_identity(struct call *c)
{
    str token, subject = STR("");

    if (!in_required(c, "WebIdentityToken", &token) || !web_token_check(c, token, &subject))
        return;
    assume(c);
    if (c->code.n == 0)
        tree_set_str(c->a, c->out, "SubjectFromWebIdentityToken", subject);
}
