/* Resources that are answered and not stored: reviews of who somebody is and what they may do, and Bindings. On this server
 * everybody who gets in may do everything, and the answers say so. */
#include "sim/kube/front_int.h"

#include "data/edit.h"
#include "data/json.h"
#include "model/duration.h"

#define AUTHN "authentication.k8s.io"
#define AUTHZ "authorization.k8s.io"

/* The answer is the question with a status. */
static bool read_review(struct request *r, struct tree **ret, struct tree **ret_spec, struct status *st)
{
    const struct virtual_kind *v = r->route.virt;
    struct write_options w;

    if (!query_write(r, "CreateOptions", /* apply= */ false, &w, st) ||
        !body_other(r, arena_printf(r->a, "%s/%s", v->group, v->version), v->name, ret, st))
        return false;
    *ret_spec = tree_sub(r->a, *ret, "spec");
    if (!*ret_spec || !tree_sub(r->a, *ret, "metadata"))
        return status_bad_request(r->a, st, 400, "spec and metadata must be objects");
    (void)tree_drop(*ret, STR("status"));
    return true;
}

static bool invalid(struct request *r, str field, str value, const char *why, struct status *st)
{
    static const struct kind kind = {.group = STR_INIT(AUTHZ)}; /* quirk: without a name, as the real server says it */
    struct causes c = {.a = r->a};

    cause_invalid(&c, field, value, "%s", why);
    (void)status_invalid(r->a, st, &kind, (str){0}, &c);
    causes_fini(&c);
    return false;
}

static void put_user(struct arena *a, struct tree *map, const struct user *u)
{
    struct tree *groups;

    tree_set_str(a, map, "username", u->name);
    if (u->uid.n)
        tree_set_str(a, map, "uid", u->uid);
    groups = tree_sublist(a, map, "groups");
    for (uint32_t i = 0; i < u->n_groups; i++)
        (void)tree_push(a, groups, tree_of_str(u->groups[i]));
}

/* ---- who ---- */

static bool self_subject(struct request *r, struct status *st)
{
    struct tree *t, *spec;
    struct sb when = {0};

    if (!read_review(r, &t, &spec, st))
        return false;
    (void)tree_drop(t, STR("spec"));
    time_print_rfc3339(&when, world_now_ms(kube_world(r->kube)));
    tree_set_str(r->a, tree_sub(r->a, t, "metadata"), "creationTimestamp", sb_dup(&when, r->a));
    sb_fini(&when);
    put_user(r->a, tree_path(r->a, t, "status", "userInfo", NULL), &r->user);
    reply_tree(r, 201, t);
    return true;
}

static bool token_review(struct request *r, struct status *st)
{
    const char *secret = kube_settings(r->kube)->token;
    struct tree *t, *spec;
    struct user u;

    if (!read_review(r, &t, &spec, st))
        return false;
    str token = tree_str(tree_get(spec, "token"));
    if (token.n == 0)
        return status_bad_request(r->a, st, 400, "token is required for TokenReview in authentication");
    bool known = token_user(r->front, r->a, token, &u);
    if (!known && secret && str_is(token, secret)) {
        u = user_admin();
        known = true;
    }
    struct tree *status = tree_sub(r->a, t, "status"), *user = tree_sub(r->a, status, "user");
    if (known) {
        put_user(r->a, user, &u);
        tree_set_bool(r->a, status, "authenticated", true);
    } else {
        tree_set_str(r->a, status, "error", STR("invalid bearer token"));
    }
    reply_tree(r, 201, t);
    return true;
}

/* ---- may they ---- */

static bool allow(struct request *r, struct tree *t)
{
    tree_set_bool(r->a, tree_sub(r->a, t, "status"), "allowed", true);
    reply_tree(r, 201, t);
    return true;
}

static bool check_attributes(struct request *r, const struct tree *spec, struct status *st)
{
    bool resource = tree_get(spec, "resourceAttributes"), path = tree_get(spec, "nonResourceAttributes");

    if (resource != path)
        return true;
    return invalid(r, STR("spec.resourceAttributes"), STR("null"),
                   "exactly one of nonResourceAttributes or resourceAttributes must be specified", st);
}

static bool self_access(struct request *r, struct status *st)
{
    struct tree *t, *spec;

    return read_review(r, &t, &spec, st) && check_attributes(r, spec, st) && allow(r, t);
}

static bool access_review(struct request *r, struct status *st)
{
    struct tree *t, *spec;

    if (!read_review(r, &t, &spec, st) || !check_attributes(r, spec, st))
        return false;
    if (tree_str(tree_get(spec, "user")).n == 0 && !tree_get(spec, "groups"))
        return invalid(r, STR("spec.user"), STR("\"\""), "at least one of user or group must be specified", st);
    str ns = tree_str(tree_at(spec, "resourceAttributes", "namespace", NULL));
    if (r->route.virt->namespaced && !str_eq(ns, r->route.ns))
        return invalid(r, STR("spec.resourceAttributes.namespace"), json_quoted(r->a, ns),
                       "must match metadata.namespace", st);
    return allow(r, t);
}

static void put_words(struct arena *a, struct tree *map, const char *key)
{
    (void)tree_push(a, tree_sublist(a, map, key), tree_of_str(STR("*")));
}

static bool self_rules(struct request *r, struct status *st)
{
    struct tree *t, *spec;

    if (!read_review(r, &t, &spec, st))
        return false;
    if (tree_str(tree_get(spec, "namespace")).n == 0)
        return status_bad_request(r->a, st, 400, "no namespace on request");
    struct tree *status = tree_sub(r->a, t, "status");
    struct tree *rule = tree_push(r->a, tree_sublist(r->a, status, "resourceRules"), *tree_new_map(r->a));
    put_words(r->a, rule, "verbs");
    put_words(r->a, rule, "apiGroups");
    put_words(r->a, rule, "resources");
    rule = tree_push(r->a, tree_sublist(r->a, status, "nonResourceRules"), *tree_new_map(r->a));
    put_words(r->a, rule, "verbs");
    put_words(r->a, rule, "nonResourceURLs");
    tree_set_bool(r->a, status, "incomplete", false);
    reply_tree(r, 201, t);
    return true;
}

/* ---- which ---- */

static const struct virtual_kind kinds[] = {
    {"", "v1", "bindings", "binding", "Binding", true, serve_bind},
    {AUTHN, "v1", "selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview", false, self_subject},
    {AUTHN, "v1", "tokenreviews", "tokenreview", "TokenReview", false, token_review},
    {AUTHZ, "v1", "localsubjectaccessreviews", "localsubjectaccessreview", "LocalSubjectAccessReview", true,
     access_review},
    {AUTHZ, "v1", "selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview", false, self_access},
    {AUTHZ, "v1", "selfsubjectrulesreviews", "selfsubjectrulesreview", "SelfSubjectRulesReview", false, self_rules},
    {AUTHZ, "v1", "subjectaccessreviews", "subjectaccessreview", "SubjectAccessReview", false, access_review},
};

const struct virtual_kind *virtual_kind_at(uint32_t i)
{
    return i < ARRAY_LEN(kinds) ? &kinds[i] : NULL;
}

const struct virtual_kind *virtual_kind_of(str group, str version, str plural)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(group, kinds[i].group) && str_is(version, kinds[i].version) && str_is(plural, kinds[i].plural))
            return &kinds[i];
    return NULL;
}
