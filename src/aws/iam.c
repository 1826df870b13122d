/* Instance profiles. */
#include "aws/query.h"
#include "aws/services_int.h"

/* A profile holds one role at most; IAM writes a list all the same. */
static bool first_role(struct wire *w, const struct tree *t, void *ret);

static const struct wire_field profile_fields[] = {
    WIRE(iam_profile, name, WIRE_TEXT, "InstanceProfileName"),
    WIRE(iam_profile, path, WIRE_TEXT, "Path"),
};
static const struct wire_shape profile_shape = WIRE_SHAPE(iam_profile, profile_fields, .more = first_role);

struct got {
    struct iam_profile profile;
};

static const struct wire_field got_fields[] = {
    WIRE_PART_OF(got, profile, "GetInstanceProfileResult/InstanceProfile", &profile_shape),
};
static const struct wire_shape got_shape = WIRE_SHAPE(got, got_fields);

const struct aws_listing iam_profiles_listing = {
    .service = AWS_IAM,
    .action = "ListInstanceProfiles",
    .path = "ListInstanceProfilesResult/InstanceProfiles[]",
    .token = "ListInstanceProfilesResult/Marker",
    .token_as = "Marker",
    .more = "ListInstanceProfilesResult/IsTruncated",
    .shape = &profile_shape,
};

static const struct wire_field role_fields[] = {WIRE(iam_profile, role, WIRE_TEXT, "RoleName")};
static const struct wire_shape role_shape = WIRE_SHAPE(iam_profile, role_fields);

static bool first_role(struct wire *w, const struct tree *t, void *ret)
{
    struct iam_profile *p = ret;
    struct wire_items roles = {0};
    bool ok = wire_gather(w, &role_shape, "Roles[]", t, &roles);

    if (roles.n)
        p->role = ((const struct iam_profile *)roles.v)->role;
    wire_drop(&roles);
    return ok;
}

/* ---- calls ---- */

/* `params` is used up. */
static bool ask(struct aws *c, struct arena *a, const char *action, struct sb *params, const struct wire_shape *shape,
                void *ret, struct aws_answer *f, struct err *e)
{
    struct aws_call call = {.service = AWS_IAM, .action = action, .body = sb_view(params)};
    bool ok = aws_ask(c, a, &call, shape, ret, f, e);

    sb_fini(params);
    return ok;
}

bool iam_get_profile(struct aws *c, struct arena *a, str name, struct iam_profile *ret, struct err *e)
{
    struct sb params = {0};
    struct query q = {.out = &params};
    struct got got = {0};

    query_str(&q, "InstanceProfileName", name);
    if (!ask(c, a, "GetInstanceProfile", &params, &got_shape, &got, NULL, e))
        return false;
    *ret = got.profile;
    return true;
}

bool iam_create_profile(struct aws *c, struct arena *a, str name, str path, const struct ec2_tag *tags, uint32_t n,
                        struct err *e)
{
    struct sb params = {0};
    struct query q = {.out = &params};

    query_str(&q, "InstanceProfileName", name);
    query_some(&q, "Path", path);
    for (uint32_t i = 0; i < n; i++) {
        query_in(&q, "Tags.member", i + 1);
        query_str(&q, "Key", tags[i].key);
        query_str(&q, "Value", tags[i].value);
        query_out(&q);
    }
    return ask(c, a, "CreateInstanceProfile", &params, NULL, NULL, NULL, e);
}

static bool change_role(struct aws *c, struct arena *a, const char *action, str profile, str role, struct aws_answer *f,
                        struct err *e)
{
    struct sb params = {0};
    struct query q = {.out = &params};

    query_str(&q, "InstanceProfileName", profile);
    query_str(&q, "RoleName", role);
    return ask(c, a, action, &params, NULL, NULL, f, e);
}

bool iam_add_role(struct aws *c, struct arena *a, str profile, str role, struct aws_answer *f, struct err *e)
{
    return change_role(c, a, "AddRoleToInstanceProfile", profile, role, f, e);
}

bool iam_remove_role(struct aws *c, struct arena *a, str profile, str role, struct err *e)
{
    return change_role(c, a, "RemoveRoleFromInstanceProfile", profile, role, NULL, e);
}

bool iam_delete_profile(struct aws *c, struct arena *a, str name, struct err *e)
{
    struct sb params = {0};
    struct query q = {.out = &params};

    query_str(&q, "InstanceProfileName", name);
    return ask(c, a, "DeleteInstanceProfile", &params, NULL, NULL, NULL, e);
}

bool iam_list_profiles(struct aws *c, struct arena *a, str path_prefix, struct iam_profile **ret, uint32_t *ret_n,
                       struct err *e)
{
    struct sb params = {0};
    struct query q = {.out = &params};
    uint32_t n, kept = 0;

    query_str(&q, "PathPrefix", path_prefix);
    struct iam_profile *v = aws_list(c, a, &iam_profiles_listing, &params, &n, NULL, e);
    if (!v)
        return false;
    for (uint32_t i = 0; i < n; i++) /* emulators do not look at the prefix */
        if (str_starts(v[i].path, path_prefix))
            v[kept++] = v[i];
    *ret = v;
    *ret_n = kept;
    return true;
}
