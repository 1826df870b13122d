/* Tokens of service accounts: made on request, good until they expire, known to this server alone. They look like those of a real
 * server, so that clients which read the expiry out of a token can; in place of a signature stand random bytes, and what counts is
 * whether the server gave out the very same text. */
#include "sim/kube/front_int.h"

#include "base/b64.h"
#include "data/edit.h"
#include "data/json.h"
#include "model/duration.h"

#define MAX_TOKENS 4096u
#define MIN_LIFE_S INT64_C(600)
#define DEFAULT_LIFE_S INT64_C(3600)
#define MAX_LIFE_S (INT64_C(1) << 32)
#define ISSUER "https://kubernetes.default.svc"

static void token_fini(struct token *t)
{
    free(t->text);
    free(t->ns);
    free(t->name);
    free(t->uid);
}

void tokens_fini(struct front *f)
{
    for (uint32_t i = 0; i < f->tokens.n; i++)
        token_fini(&f->tokens.v[i]);
    vec_fini(&f->tokens);
}

static void drop_first(struct front *f)
{
    token_fini(&f->tokens.v[0]);
    memmove(f->tokens.v, f->tokens.v + 1, --f->tokens.n * sizeof(f->tokens.v[0]));
}

bool token_user(struct front *f, struct arena *a, str token, struct user *ret)
{
    int64_t now = world_now_ms(kube_world(f->kube));

    for (uint32_t i = 0; i < f->tokens.n; i++) {
        const struct token *t = &f->tokens.v[i];

        if (!str_is(token, t->text) || t->until_ms <= now)
            continue;
        *ret =
            (struct user){.name = arena_printf(a, "system:serviceaccount:%s:%s", t->ns, t->name),
                          .uid = arena_strdup(a, str_c(t->uid)),
                          .groups = {STR("system:serviceaccounts"), arena_printf(a, "system:serviceaccounts:%s", t->ns),
                                     STR("system:authenticated")},
                          .n_groups = 3};
        return true;
    }
    const struct kube_options *o = kube_settings(f->kube);
    str other = o->who && token.n ? o->who(o->who_ctx, a, token) : STR("");

    *ret = other.n ? (struct user){.name = other,
                                   .groups = {STR("system:masters"), STR("system:authenticated")},
                                   .n_groups = 2}
                   : (struct user){0};
    return other.n > 0;
}

/* ---- making one ---- */

static void add_part(struct sb *out, struct sb *part)
{
    sb_c(out, out->n ? "." : "");
    b64url_encode(out, sb_view(part));
    sb_reset(part);
}

static void claims(struct sb *b, const struct object *account, const struct tree *audiences, int64_t now_s,
                   int64_t until_s)
{
    struct jw w = {.out = b};

    jw_map(&w);
    jw_key(&w, "aud"), jw_tree(&w, audiences);
    jw_key(&w, "exp"), jw_i64(&w, until_s);
    jw_key(&w, "iat"), jw_i64(&w, now_s);
    jw_key(&w, "iss"), jw_c(&w, ISSUER);
    jw_key(&w, "kubernetes.io"), jw_map(&w);
    jw_key(&w, "namespace"), jw_str(&w, account->ns);
    jw_key(&w, "serviceaccount"), jw_map(&w);
    jw_key(&w, "name"), jw_str(&w, account->name);
    jw_key(&w, "uid"), jw_str(&w, account->uid);
    jw_end(&w);
    jw_end(&w);
    jw_key(&w, "nbf"), jw_i64(&w, now_s);
    struct sb sub = {0};
    sb_printf(&sub, "system:serviceaccount:" STR_FMT ":" STR_FMT, STR_ARG(account->ns), STR_ARG(account->name));
    jw_key(&w, "sub"), jw_str(&w, sb_view(&sub));
    sb_fini(&sub);
    jw_end(&w);
}

static const char *token_make(struct front *f, const struct object *account, const struct tree *audiences,
                              int64_t now_ms, int64_t life_s)
{
    struct sb text = {0}, part = {0};
    int64_t until_ms = now_ms + life_s * 1000;

    sb_c(&part, "{\"alg\":\"none\"}");
    add_part(&text, &part);
    claims(&part, account, audiences, now_ms / 1000, until_ms / 1000);
    add_part(&text, &part);
    for (int i = 0; i < 4; i++) {
        uint64_t v = world_random(kube_world(f->kube));

        sb_bytes(&part, &v, sizeof(v));
    }
    add_part(&text, &part);
    sb_fini(&part);

    while (f->tokens.n && (f->tokens.n == MAX_TOKENS || f->tokens.v[0].until_ms <= now_ms))
        drop_first(f);
    vec_push(&f->tokens, (struct token){.text = front_strdup(sb_view(&text)),
                                        .ns = front_strdup(account->ns),
                                        .name = front_strdup(account->name),
                                        .uid = front_strdup(account->uid),
                                        .until_ms = until_ms});
    sb_fini(&text);
    return vec_last(&f->tokens).text;
}

/* ---- TokenRequest ---- */

static bool check_life(struct request *r, const struct tree *spec, int64_t *ret, struct status *st)
{
    static const struct kind kind = {.group = STR_INIT("authentication.k8s.io"), .name = STR_INIT("TokenRequest")};
    const struct tree *t = tree_get(spec, "expirationSeconds");
    struct causes c = {.a = r->a};
    bool ok;

    *ret = DEFAULT_LIFE_S;
    if (t && !tree_to_i64(t, ret))
        return status_bad_request(r->a, st, 400, "spec.expirationSeconds must be a whole number");
    if (*ret < MIN_LIFE_S)
        cause_invalid(&c, STR("spec.expirationSeconds"), arena_printf(r->a, "%lld", (long long)*ret),
                      "may not specify a duration less than 10 minutes");
    else if (*ret > MAX_LIFE_S)
        cause_invalid(&c, STR("spec.expirationSeconds"), arena_printf(r->a, "%lld", (long long)*ret),
                      "may not specify a duration larger than 2^32 seconds");
    ok = c.list.n == 0;
    if (!ok)
        (void)status_invalid(r->a, st, &kind, (str){0}, &c);
    causes_fini(&c);
    return ok;
}

bool serve_token(struct request *r, struct status *st)
{
    const struct object *account = kube_get(r->kube, r->route.kind, r->route.ns, r->route.name);
    struct write_options w;
    struct tree *t;
    struct sb when = {0};
    int64_t life_s, now_ms = world_now_ms(kube_world(r->kube));

    if (!query_write(r, "CreateOptions", /* apply= */ false, &w, st) ||
        !body_other(r, STR("authentication.k8s.io/v1"), "TokenRequest", &t, st))
        return false;
    if (!account)
        return status_not_found(r->a, st, r->route.kind, r->route.name);
    struct tree *spec = tree_sub(r->a, t, "spec"), *meta = tree_sub(r->a, t, "metadata");
    if (!spec || !meta)
        return status_bad_request(r->a, st, 400, "spec and metadata must be objects");
    struct tree *audiences = tree_sublist(r->a, spec, "audiences");
    if (!audiences)
        return status_bad_request(r->a, st, 400, "spec.audiences must be a list");
    if (!check_life(r, spec, &life_s, st))
        return false;

    if (audiences->n == 0)
        (void)tree_push(r->a, audiences, tree_of_str(STR(ISSUER)));
    tree_set_i64(r->a, spec, "expirationSeconds", life_s);
    time_print_rfc3339(&when, now_ms);
    tree_set_str(r->a, meta, "name", account->name);
    tree_set_str(r->a, meta, "namespace", account->ns);
    tree_set_str(r->a, meta, "creationTimestamp", sb_dup(&when, r->a));
    sb_reset(&when);
    time_print_rfc3339(&when, now_ms + life_s * 1000);
    const char *text = w.dry_run ? "" : token_make(r->front, account, audiences, now_ms, life_s);
    struct tree *status = tree_sub(r->a, t, "status");
    if (!status)
        return status_bad_request(r->a, st, 400, "status must be an object");
    tree_set_str(r->a, status, "token", str_c(text));
    tree_set_str(r->a, status, "expirationTimestamp", sb_dup(&when, r->a));
    sb_fini(&when);
    reply_tree(r, 201, t);
    return true;
}
