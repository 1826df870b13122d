/* templates - launch templates and their versions. */
#include "base/b64.h"
#include "sim/aws/call.h"

#define MAX_USER_DATA 16384u /* decoded */

static void template_free(struct launch_template *t)
{
    vec_fini(&t->versions);
    arena_free(t->a);
}

void templates_fini(struct sim_aws *s)
{
    for (uint32_t i = 0; i < s->templates.n; i++)
        template_free(s->templates.v[i]);
    vec_fini(&s->templates);
}

static void template_drop(struct sim_aws *s, const struct launch_template *t)
{
    for (uint32_t i = 0; i < s->templates.n; i++)
        if (s->templates.v[i] == t) {
            template_free(s->templates.v[i]);
            memmove(&s->templates.v[i], &s->templates.v[i + 1], (s->templates.n - i - 1) * sizeof(s->templates.v[0]));
            s->templates.n--;
            return;
        }
}

void template_forget(struct sim_aws *s, str id, str name)
{
    const struct launch_template *t = account_template(s, id, name);

    if (t)
        template_drop(s, t);
}

static struct launch_template *template_named(struct sim_aws *s, str name)
{
    for (uint32_t i = 0; i < s->templates.n; i++)
        if (str_eq(s->templates.v[i]->name, name))
            return s->templates.v[i];
    return NULL;
}

/* What EC2 looks at when a template is made: little. */
static bool data_check(struct call *c, const struct tree *data)
{
    struct sb text = {0};
    str user = tree_str(tree_get(data, "UserData"));
    bool ok = b64url_decode(&text, user);
    size_t n = text.n;

    sb_fini(&text);
    if (!data || data->kind != TREE_MAP || data->n == 0)
        return call_fail(c, "MissingParameter", "The request must contain the parameter LaunchTemplateData");
    if (!ok)
        return call_fail(c, "InvalidUserData.Malformed", "Invalid BASE64 encoding of user data");
    if (n > MAX_USER_DATA)
        return call_fail(c, "InvalidUserData.Malformed", "User data is limited to %u bytes", MAX_USER_DATA);
    return true;
}

static void version_add(struct call *c, struct launch_template *t, const struct tree *data)
{
    struct template_version v = {
        .data = tree_copy(t->a, data),
        .created_ms = account_now_ms(c->s),
        .description = arena_strdup(t->a, in_str(c, "VersionDescription")),
    };

    vec_push(&t->versions, v);
    tree_set_i64(t->a, t->doc, "LatestVersionNumber", t->versions.n);
}

static str caller_arn(const struct call *c)
{
    return c->who ? str_c(c->who->arn) : account_arn(c->s, c->a, "iam", "", STR("root"));
}

void serve_create_launch_template(struct call *c)
{
    const struct tree *data = tree_get(c->in, "LaunchTemplateData");
    str name;

    if (!in_required(c, "LaunchTemplateName", &name) || !data_check(c, data))
        return;
    if (name.n < 3 || name.n > 128) {
        (void)call_fail(c, "InvalidLaunchTemplateName.MalformedException",
                        "A launch template name has 3 to 128 characters");
        return;
    }
    if (template_named(c->s, name)) {
        (void)call_fail(c, "InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.");
        return;
    }
    struct arena *a = arena_new(0);
    struct launch_template *t = arena_new_one(a, struct launch_template);

    t->a = a;
    t->id = account_hex_id(c->s, a, "lt-", 17);
    t->name = arena_strdup(a, name);
    t->serial = ++c->s->serial;
    t->visible_ms = account_visible_ms(c->s);
    t->default_version = 1;
    t->doc = tree_new_map(a);
    tree_set_str(a, t->doc, "LaunchTemplateId", t->id);
    tree_set_str(a, t->doc, "LaunchTemplateName", t->name);
    tree_set_str(a, t->doc, "CreateTime", account_time(a, account_now_ms(c->s)));
    tree_set_str(a, t->doc, "CreatedBy", arena_strdup(a, caller_arn(c)));
    tree_set_i64(a, t->doc, "DefaultVersionNumber", 1);
    version_add(c, t, data);
    tags_from(a, tree_get(c->in, "TagSpecifications"), "launch-template", tree_sublist(a, t->doc, "Tags"));
    vec_push(&c->s->templates, t);
    tree_set(c->a, c->out, "LaunchTemplate", *t->doc);
}

/* By id or by name; NULL: the call has failed. */
static struct launch_template *template_of(struct call *c, const struct tree *by)
{
    str id = tree_str(tree_get(by, "LaunchTemplateId")), name = tree_str(tree_get(by, "LaunchTemplateName"));
    struct launch_template *t = account_template(c->s, id, name);

    if (t)
        return t;
    if (id.n)
        (void)call_fail(c, "InvalidLaunchTemplateId.NotFound",
                        "The specified launch template, with template ID " STR_FMT ", does not exist.", STR_ARG(id));
    else if (name.n)
        (void)call_fail(c, "InvalidLaunchTemplateName.NotFoundException",
                        "The specified launch template, with template name " STR_FMT ", does not exist.",
                        STR_ARG(name));
    else
        (void)call_fail(c, "MissingParameter", "Either LaunchTemplateId or LaunchTemplateName must be specified");
    return NULL;
}

/* 0: there is no such version. */
static uint32_t version_number(const struct launch_template *t, str text)
{
    int64_t n;

    if (text.n == 0 || str_is(text, "$Default"))
        return t->default_version;
    if (str_is(text, "$Latest"))
        return t->versions.n;
    return str_to_i64(text, &n) && n >= 1 && n <= (int64_t)t->versions.n ? (uint32_t)n : 0;
}

const struct template_version *template_resolve(struct call *c, const struct tree *spec, struct launch_template **ret)
{
    struct launch_template *t = template_of(c, spec);
    str version = tree_str(tree_get(spec, "Version"));

    if (!t)
        return NULL;
    uint32_t n = version_number(t, version);

    if (n == 0) {
        (void)call_fail(c, "InvalidLaunchTemplateId.VersionNotFound",
                        "Could not find launch template version " STR_FMT " for launch template " STR_FMT ".",
                        STR_ARG(version), STR_ARG(t->id));
        return NULL;
    }
    *ret = t;
    return &t->versions.v[n - 1];
}

static struct tree *version_doc(struct arena *a, const struct launch_template *t, uint32_t n)
{
    struct tree *doc = tree_new_map(a);
    const struct template_version *v = &t->versions.v[n - 1];

    tree_set_str(a, doc, "LaunchTemplateId", t->id);
    tree_set_str(a, doc, "LaunchTemplateName", t->name);
    tree_set_i64(a, doc, "VersionNumber", n);
    if (v->description.n)
        tree_set_str(a, doc, "VersionDescription", v->description);
    tree_set_str(a, doc, "CreateTime", account_time(a, v->created_ms));
    tree_set_str(a, doc, "CreatedBy", tree_str(tree_get(t->doc, "CreatedBy")));
    tree_set_bool(a, doc, "DefaultVersion", n == t->default_version);
    tree_set(a, doc, "LaunchTemplateData", *v->data);
    return doc;
}

void serve_create_launch_template_version(struct call *c)
{
    struct launch_template *t = template_of(c, c->in);
    const struct tree *data = tree_get(c->in, "LaunchTemplateData");

    if (!t || !data_check(c, data))
        return;
    struct tree *merged = tree_new_map(c->a);
    str source = in_str(c, "SourceVersion");

    if (source.n) {
        uint32_t n = version_number(t, source);

        if (n == 0) {
            (void)call_fail(c, "InvalidLaunchTemplateId.VersionNotFound", "Could not find the source version");
            return;
        }
        merged = tree_copy(c->a, t->versions.v[n - 1].data);
    }
    for (uint32_t i = 0; i < data->n; i++)
        *tree_put(c->a, merged, data->keys[i]) = data->items[i];
    version_add(c, t, merged);
    tree_set(c->a, c->out, "LaunchTemplateVersion", *version_doc(c->a, t, t->versions.n));
}

void serve_delete_launch_template(struct call *c)
{
    struct launch_template *t = template_of(c, c->in);

    if (!t)
        return;
    tree_set(c->a, c->out, "LaunchTemplate", *tree_copy(c->a, t->doc));
    template_drop(c->s, t);
}

void serve_describe_launch_templates(struct call *c)
{
    static const char *const filters[] = {"create-time", "launch-template-name", NULL};
    const struct tree *ids = in_list(c, "LaunchTemplateIds"), *names = in_list(c, "LaunchTemplateNames");
    struct listing l = {0};

    if (!filters_check(c, filters))
        return;
    for (uint32_t i = 0; i < (ids ? ids->n : 0) + (names ? names->n : 0); i++) {
        struct tree *by = tree_new_map(c->a);
        bool id = ids && i < ids->n;

        tree_set(c->a, by, id ? "LaunchTemplateId" : "LaunchTemplateName",
                 id ? ids->items[i] : names->items[i - (ids ? ids->n : 0)]);
        struct launch_template *t = template_of(c, by);

        if (!t)
            goto out;
        if (filters_match(c, t->doc))
            listing_add(&l, t->serial, t->doc);
    }
    for (uint32_t i = 0; !ids && !names && i < c->s->templates.n; i++) {
        struct launch_template *t = c->s->templates.v[i];

        if (t->visible_ms <= account_mono_ms(c->s) && filters_match(c, t->doc))
            listing_add(&l, t->serial, t->doc);
    }
    page_reply(c, &l, "LaunchTemplates", 200);
out:
    listing_fini(&l);
}

void serve_describe_launch_template_versions(struct call *c)
{
    static const char *const filters[] = {"create-time", "is-default-version", NULL};
    const struct tree *versions = in_list(c, "Versions");
    struct launch_template *t = template_of(c, c->in);
    struct listing l = {0};

    if (!t || !filters_check(c, filters))
        return;
    for (uint32_t n = 1; n <= t->versions.n; n++) {
        bool wanted = !versions;

        for (uint32_t i = 0; versions && i < versions->n; i++)
            wanted = wanted || version_number(t, tree_str(&versions->items[i])) == n;
        if (wanted)
            listing_add(&l, n, version_doc(c->a, t, n));
    }
    page_reply(c, &l, "LaunchTemplateVersions", 200);
    listing_fini(&l);
}
