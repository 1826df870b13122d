/* Bodies: JSON, YAML or protobuf into trees, and whether an object is what the path says it is. The sentences are those of the
 * real server. */
#include "sim/kube/front_int.h"

#include <strings.h>

#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "sim/kube/protobuf.h"

#define SUMMARY 30u /* bytes of a body that an error shows */

enum body_format { BODY_JSON, BODY_YAML, BODY_PROTOBUF, BODY_UNKNOWN };

static bool is_type(str type, const char *name)
{
    return type.n == strlen(name) && strncasecmp(type.p, name, type.n) == 0;
}

static bool is_custom(const struct request *r)
{
    return r->route.kind && r->route.kind->crd;
}

static enum body_format format_of(const struct request *r)
{
    str type, params, header = request_header(r, "Content-Type");

    (void)str_cut(header, ';', &type, &params);
    type = str_trim(type);
    if (type.n == 0 || is_type(type, "application/json"))
        return BODY_JSON;
    if (is_type(type, "application/yaml"))
        return BODY_YAML;
    return is_type(type, PROTOBUF_TYPE) && !is_custom(r) ? BODY_PROTOBUF : BODY_UNKNOWN;
}

bool body_is_json(const struct request *r)
{
    return format_of(r) == BODY_JSON;
}

static str summary(struct arena *a, str body)
{
    struct sb b = {0};
    str head = str_sub(body, 0, SUMMARY);

    if (body.n == 0)
        return STR("<empty>");
    if (body.p[0] == '{')
        sb_str(&b, head);
    else
        for (size_t i = 0; i < head.n; i++)
            sb_printf(&b, "%02x", (unsigned char)head.p[i]);
    if (head.n < body.n)
        sb_c(&b, " ...");
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

/* Why a text is no JSON, as Go puts the most common case; else our reader's words without its place. */
static str parse_error(struct arena *a, str text, const struct err *e)
{
    str msg = str_c(e->msg), head, tail = msg;

    if (str_trim(text).n == 0 || str_contains(msg, STR("the input ends")))
        return STR("unexpected end of JSON input");
    for (int colons = 0; colons < 3; colons++)
        if (!str_cut(tail, ':', &head, &tail))
            return arena_strdup(a, msg);
    return arena_strdup(a, str_trim(tail));
}

static bool parse(struct request *r, bool yaml, struct tree **ret, str *ret_why)
{
    const struct tree *t;
    struct err e = {0};
    str body = r->x->body;
    bool ok = yaml ? tree_parse_yaml(r->a, "body", body, &t, &e) : tree_parse_json(r->a, "body", body, &t, &e);

    if (!ok) {
        *ret_why = parse_error(r->a, body, &e);
        return false;
    }
    *ret = yaml ? tree_copy(r->a, t) : (struct tree *)t; /* to be edited: aliases of YAML share nodes */
    return true;
}

static bool parse_protobuf(struct request *r, str kind, struct tree **ret, struct status *st)
{
    struct err e = {0};

    if (protobuf_decode(r->a, r->x->body, ret, &e))
        return true;
    str what = summary(r->a, r->x->body);
    return status_bad_request(r->a, st, 400,
                              "the object provided is unrecognized (must be of type " STR_FMT "): %s (" STR_FMT ")",
                              STR_ARG(kind), e.msg, STR_ARG(what));
}

bool body_parse(struct request *r, str kind, struct tree **ret, struct status *st)
{
    enum body_format f = format_of(r);
    str why, what;

    *ret = NULL;
    if (f == BODY_UNKNOWN)
        return status_bad_request(r->a, st, 415,
                                  "the body of the request was in an unknown format - accepted media types include: "
                                  "application/json, application/yaml%s",
                                  is_custom(r) ? "" : ", " PROTOBUF_TYPE);
    if (f == BODY_PROTOBUF)
        return parse_protobuf(r, kind, ret, st);
    if (parse(r, f == BODY_YAML, ret, &why) && (*ret)->kind == TREE_MAP)
        return true;
    what = summary(r->a, r->x->body);
    if (*ret)
        why = arena_printf(r->a,
                           "json: cannot unmarshal %s into Go value of type struct { APIVersion string "
                           "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }",
                           go_json_kind(*ret));
    if (kind.n == 0)
        return status_bad_request(r->a, st, 400, "couldn't get version/kind; json parse error: " STR_FMT, STR_ARG(why));
    return status_bad_request(r->a, st, 400,
                              "the object provided is unrecognized (must be of type " STR_FMT
                              "): couldn't get version/kind; json parse error: " STR_FMT " (" STR_FMT ")",
                              STR_ARG(kind), STR_ARG(why), STR_ARG(what));
}

/* ---- what an object says it is ---- */

static str version_of(str api_version)
{
    str head, tail;

    return str_cut(api_version, '/', &head, &tail) ? tail : api_version;
}

static str group_of(str api_version)
{
    str head, tail;

    return str_cut(api_version, '/', &head, &tail) ? head : (str){0};
}

/* The package that the real server keeps a group's kinds in. */
static str package_of(str group)
{
    str head, tail;

    if (group.n == 0)
        return STR("core");
    (void)str_cut(group, '.', &head, &tail);
    return head;
}

static bool is_registered(const struct request *r, str group, str version, str name)
{
    for (uint32_t i = 0; i < kube_n_kinds(r->kube); i++) {
        const struct kind *k = kube_kind_at(r->kube, i);

        if (k && !k->crd && str_eq(k->group, group) && str_eq(k->version, version) && str_eq(k->name, name))
            return true;
    }
    return false;
}

static bool wrong_builtin(struct request *r, str api_version, str name, str want_group, str want, struct status *st)
{
    str group = group_of(api_version), version = version_of(api_version), package = package_of(want_group);

    if (is_registered(r, group, version, name))
        return status_bad_request(r->a, st, 400,
                                  STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT
                                          ": converting (" STR_FMT "." STR_FMT ") to (" STR_FMT "." STR_FMT
                                          "): unknown conversion",
                                  STR_ARG(name), STR_ARG(version), STR_ARG(want), STR_ARG(version), STR_ARG(name),
                                  STR_ARG(package), STR_ARG(want));
    return status_bad_request(r->a, st, 400,
                              STR_FMT " in version \"" STR_FMT "\" cannot be handled as a " STR_FMT
                                      ": no kind \"" STR_FMT "\" is registered for version \"" STR_FMT
                                      "\" in scheme \"pkg/runtime/scheme.go:111\"",
                              STR_ARG(name), STR_ARG(version), STR_ARG(want), STR_ARG(name), STR_ARG(api_version));
}

static bool check_custom(struct request *r, const struct tree *obj, const struct kind *k, struct status *st)
{
    str name = tree_str(tree_get(obj, "kind")), api_version = tree_str(tree_get(obj, "apiVersion"));
    str want = kind_api_version(r->a, k);

    if (name.n == 0) {
        str what = summary(r->a, r->x->body);

        return status_bad_request(r->a, st, 400,
                                  "the object provided is unrecognized (must be of type " STR_FMT
                                  "): Object 'Kind' is missing in '" STR_FMT "' (" STR_FMT ")",
                                  STR_ARG(k->name), STR_ARG(str_trim(r->x->body)), STR_ARG(what));
    }
    if (!str_eq(api_version, want))
        return status_bad_request(r->a, st, 400,
                                  "the API version in the data (" STR_FMT
                                  ") does not match the expected API version (" STR_FMT ")",
                                  STR_ARG(api_version), STR_ARG(want));
    if (!str_eq(name, k->name)) {
        struct causes c = {.a = r->a};
        struct kind said = {.group = k->group, .name = name};

        cause_invalid(&c, STR("kind"), json_quoted(r->a, name), "must be " STR_FMT, STR_ARG(k->name));
        (void)status_invalid(r->a, st, &said, tree_str(tree_at(obj, "metadata", "name", NULL)), &c);
        causes_fini(&c);
        return false;
    }
    return true;
}

/* Fills in what is absent and refuses what is something else. */
static bool check_type(struct request *r, struct tree *obj, str group, str api_version, str name, struct status *st)
{
    str said_name = tree_str(tree_get(obj, "kind")), said_version = tree_str(tree_get(obj, "apiVersion"));

    if (said_name.n == 0)
        said_name = name;
    if (said_version.n == 0)
        said_version = api_version;
    if (!str_eq(said_name, name) || !str_eq(said_version, api_version))
        return wrong_builtin(r, said_version, said_name, group, name, st);
    tree_set_str(r->a, obj, "apiVersion", api_version);
    tree_set_str(r->a, obj, "kind", name);
    return true;
}

bool body_place(struct request *r, struct tree *obj, bool name_required, struct status *st)
{
    const struct route *t = &r->route;
    struct tree *meta = tree_sub(r->a, obj, "metadata");

    if (!meta)
        return status_bad_request(r->a, st, 400, "metadata must be an object");
    str ns = tree_str(tree_get(meta, "namespace")), name = tree_str(tree_get(meta, "name"));
    if (ns.n && t->ns.n && !str_eq(ns, t->ns))
        return status_bad_request(
            r->a, st, 400, "the namespace of the provided object does not match the namespace sent on the request");
    if (t->ns.n)
        tree_set_str(r->a, meta, "namespace", t->ns);
    else
        (void)tree_drop(meta, STR("namespace"));
    if (t->name.n == 0)
        return true;
    if (name.n == 0 && name_required)
        return status_bad_request(r->a, st, 400,
                                  "the name of the object (" STR_FMT
                                  " based on URL) was undeterminable: name must be provided",
                                  STR_ARG(t->name));
    if (name.n && !str_eq(name, t->name))
        return status_bad_request(
            r->a, st, 400, "the name of the object (" STR_FMT ") does not match the name on the URL (" STR_FMT ")",
            STR_ARG(name), STR_ARG(t->name));
    return true;
}

bool body_object(struct request *r, struct tree **ret, struct status *st)
{
    const struct kind *k = r->route.kind;
    str api_version = kind_api_version(r->a, k);

    if (!body_parse(r, k->name, ret, st))
        return false;
    if (k->crd ? !check_custom(r, *ret, k, st) : !check_type(r, *ret, k->group, api_version, k->name, st))
        return false;
    return body_place(r, *ret, r->route.name.n != 0, st);
}

bool body_other(struct request *r, str api_version, const char *kind, struct tree **ret, struct status *st)
{
    return body_parse(r, str_c(kind), ret, st) &&
           check_type(r, *ret, group_of(api_version), api_version, str_c(kind), st);
}

/* ---- patches ---- */

bool body_patch(struct request *r, enum patch_kind how, struct tree **ret, struct status *st)
{
    str why;

    if (!parse(r, how == PATCH_APPLY, ret, &why))
        return status_bad_request(
            r->a, st, 400, how == PATCH_APPLY ? "error decoding YAML: " STR_FMT : "error decoding patch: " STR_FMT,
            STR_ARG(why));
    if (how != PATCH_APPLY)
        return true; /* what it may look like is the patch's own affair */
    if ((*ret)->kind == TREE_NULL)
        *ret = tree_new_map(r->a);
    if ((*ret)->kind != TREE_MAP)
        return status_bad_request(
            r->a, st, 400,
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal %s into Go value of type map[string]interface {}",
            go_json_kind(*ret));

    const struct kind *k = r->route.kind;
    bool scale = str_is(r->route.sub, "scale");
    str name = tree_str(tree_get(*ret, "kind")), version = tree_str(tree_get(*ret, "apiVersion"));
    str group = group_of(version), v = version_of(version);

    if (!str_eq(name, scale ? STR("Scale") : k->name) ||
        !str_eq(version, scale ? STR("autoscaling/v1") : kind_api_version(r->a, k)))
        return status_bad_request(r->a, st, 400, "invalid object type: " STR_FMT "/" STR_FMT ", Kind=" STR_FMT,
                                  STR_ARG(group), STR_ARG(v), STR_ARG(name));
    return body_place(r, *ret, /* name_required= */ false, st);
}
