/* iam - instance profiles and the roles in them. */
#include "sim/aws/call.h"

static struct tree *role_doc(struct sim_aws *s, struct arena *a, str name)
{
    struct tree *r = tree_new_map(a);

    tree_set_str(a, r, "Path", STR("/"));
    tree_set_str(a, r, "RoleName", arena_strdup(a, name));
    tree_set_str(a, r, "RoleId", arena_printf(a, "AROA%012llX", (unsigned long long)(name.n * 2654435761u)));
    tree_set_str(a, r, "Arn", account_arn(s, a, "iam", "role/", name));
    tree_set_str(a, r, "CreateDate", STR("2020-01-01T00:00:00Z"));
    tree_set_str(a, r, "AssumeRolePolicyDocument",
                 STR("%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C"
                     "%22Principal%22%3A%7B%22Service%22%3A%22ec2.amazonaws.com%22%7D%2C%22Action%22%3A%22sts%3A"
                     "AssumeRole%22%7D%5D%7D"));
    return r;
}

static void profile_set_role(struct sim_aws *s, struct profile *p, str role)
{
    struct tree *roles = tree_new_list(p->a);

    p->role = arena_strdup(p->a, role);
    if (role.n)
        (void)tree_push(p->a, roles, *role_doc(s, p->a, role));
    tree_set(p->a, p->doc, "Roles", *roles);
}

struct profile *profile_new(struct sim_aws *s, str name, str path, str role, bool given)
{
    struct arena *a = arena_new(0);
    struct profile *p = arena_new_one(a, struct profile);

    p->a = a;
    p->name = arena_strdup(a, name);
    p->path = arena_strdup(a, path);
    p->serial = ++s->serial;
    p->given = given;
    p->doc = tree_new_map(a);
    tree_set_str(a, p->doc, "Path", p->path);
    tree_set_str(a, p->doc, "InstanceProfileName", p->name);
    tree_set_str(a, p->doc, "InstanceProfileId", account_hex_id(s, a, "AIPA", 17));
    tree_set_str(
        a, p->doc, "Arn",
        account_arn(s, a, "iam", "instance-profile", arena_printf(a, STR_FMT STR_FMT, STR_ARG(path), STR_ARG(name))));
    tree_set_str(a, p->doc, "CreateDate", account_time(a, account_now_ms(s)));
    (void)tree_sublist(a, p->doc, "Tags");
    profile_set_role(s, p, role);
    vec_push(&s->profiles, p);
    return p;
}

/* The profile that the call names; NULL: the call has failed. */
static struct profile *profile_of(struct call *c)
{
    struct profile *p;
    str name;

    if (!in_required(c, "InstanceProfileName", &name))
        return NULL;
    p = account_profile(c->s, name);
    if (!p)
        (void)call_fail(c, "NoSuchEntity", "Instance Profile " STR_FMT " cannot be found.", STR_ARG(name));
    return p;
}

void serve_get_instance_profile(struct call *c)
{
    const struct profile *p = profile_of(c);

    if (p)
        tree_set(c->a, c->out, "InstanceProfile", *p->doc);
}

static void set_tags(struct call *c, struct profile *p)
{
    const struct tree *tags = in_list(c, "Tags");
    struct tree *have = tree_sublist(p->a, p->doc, "Tags");

    for (uint32_t i = 0; tags && i < tags->n; i++)
        tags_set(p->a, have, tree_str(tree_get(&tags->items[i], "Key")), tree_str(tree_get(&tags->items[i], "Value")));
}

void serve_create_instance_profile(struct call *c)
{
    str name, path = in_str(c, "Path");

    if (!in_required(c, "InstanceProfileName", &name))
        return;
    if (name.n > 128 || path.n > 512 || (path.n && (path.p[0] != '/' || path.p[path.n - 1] != '/'))) {
        (void)call_fail(c, "ValidationError", "The specified value for instanceProfileName or path is invalid.");
        return;
    }
    if (account_profile(c->s, name)) {
        (void)call_fail(c, "EntityAlreadyExists", "Instance Profile " STR_FMT " already exists.", STR_ARG(name));
        return;
    }
    struct profile *p = profile_new(c->s, name, path.n ? path : STR("/"), STR(""), false);

    set_tags(c, p);
    tree_set(c->a, c->out, "InstanceProfile", *p->doc);
}

void serve_tag_instance_profile(struct call *c)
{
    struct profile *p = profile_of(c);

    if (p)
        set_tags(c, p);
}

void serve_delete_instance_profile(struct call *c)
{
    const struct profile *p = profile_of(c);

    if (!p)
        return;
    if (p->role.n) {
        (void)call_fail(c, "DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.");
        return;
    }
    for (uint32_t i = 0; i < c->s->profiles.n; i++)
        if (c->s->profiles.v[i] == p) {
            memmove(&c->s->profiles.v[i], &c->s->profiles.v[i + 1],
                    (c->s->profiles.n - i - 1) * sizeof(c->s->profiles.v[0]));
            c->s->profiles.n--;
            break;
        }
    arena_free(p->a);
}

void serve_add_role(struct call *c)
{
    struct profile *p = profile_of(c);
    str role;

    if (!p || !in_required(c, "RoleName", &role))
        return;
    if (!account_has_role(c->s, role))
        (void)call_fail(c, "NoSuchEntity", "The role with name " STR_FMT " cannot be found.", STR_ARG(role));
    else if (p->role.n)
        (void)call_fail(c, "LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1");
    else
        profile_set_role(c->s, p, role);
}

void serve_remove_role(struct call *c)
{
    struct profile *p = profile_of(c);
    str role;

    if (!p || !in_required(c, "RoleName", &role))
        return;
    if (!str_eq(p->role, role))
        (void)call_fail(c, "NoSuchEntity", "The role with name " STR_FMT " cannot be found in the instance profile.",
                        STR_ARG(role));
    else
        profile_set_role(c->s, p, STR(""));
}

void serve_get_role(struct call *c)
{
    str role;

    if (!in_required(c, "RoleName", &role))
        return;
    if (account_has_role(c->s, role))
        tree_set(c->a, c->out, "Role", *role_doc(c->s, c->a, role));
    else
        (void)call_fail(c, "NoSuchEntity", "The role with name " STR_FMT " cannot be found.", STR_ARG(role));
}

void serve_list_instance_profiles(struct call *c)
{
    str prefix = in_str(c, "PathPrefix");
    int64_t max = in_i64(c, "MaxItems", 100);
    struct tree *list = tree_sublist(c->a, c->out, "InstanceProfiles");
    bool more = false;
    uint64_t after, last = 0;

    if (!page_start(c, "Marker", &after))
        return;
    for (uint32_t i = 0; i < c->s->profiles.n && !more; i++) {
        const struct profile *p = c->s->profiles.v[i];

        if (p->serial <= after || !str_starts(p->path, prefix))
            continue;
        more = (int64_t)list->n >= MAX(max, 1);
        if (more)
            break;
        struct tree *doc = tree_push(c->a, list, *tree_copy(c->a, p->doc));

        (void)tree_drop(doc, STR("Tags")); /* as IAM does it */
        last = p->serial;
    }
    tree_set_bool(c->a, c->out, "IsTruncated", more);
    if (more)
        tree_set_str(c->a, c->out, "Marker", page_token(c, last));
}
