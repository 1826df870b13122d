/* Documents: which paths there are and what may be asked of them. */
#include "sim/kube/openapi.h"

#include <stdio.h>

#include "base/map.h"
#include "base/vec.h"
#include "sim/kube/openapi_impl.h"

#define META "io.k8s.apimachinery.pkg.apis.meta.v1."

/* ---- operations ---- */

struct parameter {
    const char *name, *type;
};

static const struct parameter p_write[] = {
    {"dryRun", "string"}, {"fieldManager", "string"}, {"fieldValidation", "string"}, {0}};
static const struct parameter p_patch[] = {
    {"dryRun", "string"}, {"fieldManager", "string"}, {"fieldValidation", "string"}, {"force", "boolean"}, {0}};
static const struct parameter p_delete[] = {{"dryRun", "string"},
                                            {"gracePeriodSeconds", "integer"},
                                            {"orphanDependents", "boolean"},
                                            {"propagationPolicy", "string"},
                                            {0}};
static const struct parameter p_list[] = {{"allowWatchBookmarks", "boolean"},
                                          {"continue", "string"},
                                          {"fieldSelector", "string"},
                                          {"labelSelector", "string"},
                                          {"limit", "integer"},
                                          {"resourceVersion", "string"},
                                          {"resourceVersionMatch", "string"},
                                          {"sendInitialEvents", "boolean"},
                                          {"timeoutSeconds", "integer"},
                                          {"watch", "boolean"},
                                          {0}};
static const struct parameter p_none[] = {{0}};

enum body { BODY_NONE, BODY_OBJECT, BODY_PATCH, BODY_OPTIONS };

static const struct operation {
    const char *method, *action, *verb; /* "post", "post", "create" */
    const struct parameter *parameters;
    enum body body;
    bool list;
} op_list = {"get", "list", "list", p_list, BODY_NONE, true},
  op_create = {"post", "post", "create", p_write, BODY_OBJECT, false},
  op_purge = {"delete", "deletecollection", "deleteCollection", p_delete, BODY_OPTIONS, true},
  op_read = {"get", "get", "read", p_none, BODY_NONE, false},
  op_replace = {"put", "put", "replace", p_write, BODY_OBJECT, false},
  op_patch = {"patch", "patch", "patch", p_patch, BODY_PATCH, false},
  op_delete = {"delete", "delete", "delete", p_delete, BODY_OPTIONS, false};

/* What a document is written with, and of which kind. */
struct place {
    const struct kind *kind;
    const char *sub; /* "", "Status", "Scale" */
    bool namespaced;
    bool everywhere; /* a namespaced kind, across namespaces */
};

static void text(struct openapi *o, const char *key, const char *value)
{
    jw_key(&o->w, key);
    jw_c(&o->w, value);
}

/* "apps", "v1", "Deployment": createAppsV1NamespacedDeployment. */
static void print_camel(struct sb *b, str s)
{
    bool up = true;

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c == '.' || c == '-')
            up = true;
        else {
            sb_char(b, up && c >= 'a' && c <= 'z' ? (char)(c - 32) : c);
            up = false;
        }
    }
}

/* The part of a group that names go by: rbac.authorization.k8s.io is rbacAuthorization. */
static str short_group(str group)
{
    if (group.n == 0)
        return STR("core");
    return str_ends(group, STR(".k8s.io")) ? str_sub(group, 0, group.n - 7) : group;
}

static void write_id(struct openapi *o, const struct operation *op, const struct place *p)
{
    struct sb b = {0};
    bool purge = op == &op_purge;

    sb_c(&b, purge ? "delete" : op->verb);
    print_camel(&b, short_group(p->kind->group));
    print_camel(&b, p->kind->version);
    sb_c(&b, purge ? "Collection" : "");
    sb_c(&b, p->namespaced ? "Namespaced" : "");
    sb_str(&b, p->kind->name);
    sb_c(&b, p->sub);
    sb_c(&b, p->everywhere ? "ForAllNamespaces" : "");
    jw_key(&o->w, "operationId");
    jw_str(&o->w, sb_view(&b));
    sb_fini(&b);
}

static void write_parameter(struct openapi *o, const char *name, const char *in, const char *type)
{
    jw_map(&o->w);
    text(o, "name", name);
    text(o, "in", in);
    if (in[0] == 'p') {
        jw_key(&o->w, "required");
        jw_bool(&o->w, true);
    }
    if (!o->v2) {
        jw_key(&o->w, "schema");
        jw_map(&o->w);
    }
    text(o, "type", type);
    jw_key(&o->w, "uniqueItems");
    jw_bool(&o->w, true);
    if (!o->v2)
        jw_end(&o->w);
    jw_end(&o->w);
}

static str body_type(struct openapi *o, const struct operation *op, const struct place *p)
{
    if (op->body == BODY_PATCH)
        return STR(META "Patch");
    if (op->body == BODY_OPTIONS)
        return STR(META "DeleteOptions");
    return openapi_type(o, p->kind);
}

/* Version 2 has the body among the parameters. */
static void write_v2_body(struct openapi *o, const struct operation *op, const struct place *p)
{
    jw_map(&o->w);
    text(o, "name", "body");
    text(o, "in", "body");
    if (op->body != BODY_OPTIONS) {
        jw_key(&o->w, "required");
        jw_bool(&o->w, true);
    }
    jw_key(&o->w, "schema");
    openapi_ref(o, body_type(o, op, p));
    jw_end(&o->w);
}

static void write_content(struct openapi *o, const char *const *types, str schema)
{
    jw_key(&o->w, "content");
    jw_map(&o->w);
    for (; *types; types++) {
        jw_key(&o->w, *types);
        jw_map(&o->w);
        jw_key(&o->w, "schema");
        openapi_ref(o, schema);
        jw_end(&o->w);
    }
    jw_end(&o->w);
}

static void write_v3_body(struct openapi *o, const struct operation *op, const struct place *p)
{
    static const char *const any[] = {"*/*", NULL};
    static const char *const patches[] = {"application/apply-patch+yaml", "application/json-patch+json",
                                          "application/merge-patch+json", "application/strategic-merge-patch+json",
                                          NULL};
    static const char *const custom[] = {"application/apply-patch+yaml", "application/json-patch+json",
                                         "application/merge-patch+json", NULL};

    jw_key(&o->w, "requestBody");
    jw_map(&o->w);
    write_content(o, op->body != BODY_PATCH ? any : p->kind->crd ? custom : patches, body_type(o, op, p));
    if (op->body != BODY_OPTIONS) {
        jw_key(&o->w, "required");
        jw_bool(&o->w, true);
    }
    jw_end(&o->w);
}

static str answer_type(struct openapi *o, const struct operation *op, const struct place *p)
{
    if (op->body == BODY_OPTIONS)
        return STR(META "Status");
    return op->list ? openapi_list_type(o, p->kind) : openapi_type(o, p->kind);
}

static void write_answers(struct openapi *o, const struct operation *op, const struct place *p)
{
    static const char *const json[] = {"application/json", NULL};

    jw_key(&o->w, "responses");
    jw_map(&o->w);
    jw_key(&o->w, "200");
    jw_map(&o->w);
    text(o, "description", "OK");
    if (o->v2) {
        jw_key(&o->w, "schema");
        openapi_ref(o, answer_type(o, op, p));
    } else
        write_content(o, json, answer_type(o, op, p));
    jw_end(&o->w);
    jw_end(&o->w);
}

static void write_operation(struct openapi *o, const struct operation *op, const struct place *p)
{
    jw_key(&o->w, op->method);
    jw_map(&o->w);
    write_id(o, op, p);
    jw_key(&o->w, "parameters");
    jw_list(&o->w);
    if (o->v2 && op->body != BODY_NONE)
        write_v2_body(o, op, p);
    for (const struct parameter *q = op->parameters; q->name; q++)
        write_parameter(o, q->name, "query", q->type);
    jw_end(&o->w);
    if (!o->v2 && op->body != BODY_NONE)
        write_v3_body(o, op, p);
    write_answers(o, op, p);
    text(o, "x-kubernetes-action", op->action);
    jw_key(&o->w, "x-kubernetes-group-version-kind");
    jw_map(&o->w);
    jw_key(&o->w, "group");
    jw_str(&o->w, p->kind->group);
    jw_key(&o->w, "version");
    jw_str(&o->w, p->kind->version);
    jw_key(&o->w, "kind");
    jw_str(&o->w, p->kind->name);
    jw_end(&o->w);
    jw_end(&o->w);
}

/* ---- paths ---- */

static void write_path(struct openapi *o, str path, const struct place *p, const struct operation *const *ops)
{
    jw_key_str(&o->w, path);
    jw_map(&o->w);
    for (; *ops; ops++)
        write_operation(o, *ops, p);
    jw_key(&o->w, "parameters");
    jw_list(&o->w);
    if (str_contains(path, STR("{name}")))
        write_parameter(o, "name", "path", "string");
    if (p->namespaced)
        write_parameter(o, "namespace", "path", "string");
    write_parameter(o, "pretty", "query", "string");
    jw_end(&o->w);
    jw_end(&o->w);
}

static str group_path(struct arena *a, str group, str version)
{
    if (group.n == 0)
        return arena_printf(a, "api/" STR_FMT, STR_ARG(version));
    return arena_printf(a, "apis/" STR_FMT "/" STR_FMT, STR_ARG(group), STR_ARG(version));
}

static void write_kind_paths(struct openapi *o, const struct kind *k)
{
    static const struct operation *const collection[] = {&op_list, &op_create, &op_purge, NULL},
                                         *const create[] = {&op_create, NULL}, *const list[] = {&op_list, NULL},
                                         *const item[] = {&op_read, &op_replace, &op_patch, &op_delete, NULL},
                                         *const sub[] = {&op_read, &op_replace, &op_patch, NULL};
    str root = group_path(o->a, k->group, k->version);
    str base = arena_printf(o->a, "/" STR_FMT "%s/" STR_FMT, STR_ARG(root),
                            k->namespaced ? "/namespaces/{namespace}" : "", STR_ARG(k->plural));
    struct place p = {.kind = k, .sub = "", .namespaced = k->namespaced};

    if (!openapi_has_list(k)) {
        write_path(o, base, &p, create);
        return;
    }
    write_path(o, base, &p, collection);
    write_path(o, arena_printf(o->a, STR_FMT "/{name}", STR_ARG(base)), &p, item);
    if (k->has_status) {
        p.sub = "Status";
        write_path(o, arena_printf(o->a, STR_FMT "/{name}/status", STR_ARG(base)), &p, sub);
    }
    if (!k->namespaced)
        return;
    p = (struct place){.kind = k, .sub = "", .everywhere = true};
    write_path(o, arena_printf(o->a, "/" STR_FMT "/" STR_FMT, STR_ARG(root), STR_ARG(k->plural)), &p, list);
}

static void write_document(struct openapi *o, const struct kind *const *kinds, uint32_t n, str version)
{
    jw_map(&o->w);
    text(o, o->v2 ? "swagger" : "openapi", o->v2 ? "2.0" : "3.0.0");
    jw_key(&o->w, "info");
    jw_map(&o->w);
    text(o, "title", "Kubernetes");
    jw_key(&o->w, "version");
    jw_str(&o->w, version);
    jw_end(&o->w);
    jw_key(&o->w, "paths");
    jw_map(&o->w);
    for (uint32_t i = 0; i < n; i++)
        write_kind_paths(o, kinds[i]);
    jw_end(&o->w);
    jw_key(&o->w, o->v2 ? "definitions" : "components");
    if (!o->v2) {
        jw_map(&o->w);
        jw_key(&o->w, "schemas");
    }
    openapi_schemas(o, kinds, n);
    if (!o->v2)
        jw_end(&o->w);
    jw_end(&o->w);
}

bool openapi_v3(struct sb *out, const struct kind *const *kinds, uint32_t n, str group, str group_version, str version)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct openapi o = {.a = a, .w = {.out = out}};
    const struct kind **own = arena_new_array(a, const struct kind *, n);
    uint32_t n_own = 0;

    for (uint32_t i = 0; i < n; i++)
        if (str_eq(kinds[i]->group, group) && str_eq(kinds[i]->version, group_version))
            own[n_own++] = kinds[i];
    if (n_own == 0)
        return false;
    write_document(&o, own, n_own, version);
    return true;
}

void openapi_v2(struct sb *out, const struct kind *const *kinds, uint32_t n, str version)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct openapi o = {.a = a, .w = {.out = out}, .v2 = true};

    write_document(&o, kinds, n, version);
}

/* ---- the index ---- */

/* What the document of a group and version is made from, as a number: the kinds' names, their definitions, this program. */
static uint64_t fingerprint(const struct kind *const *kinds, uint32_t n, const struct kind *of, uint64_t seed)
{
    uint64_t h = hash_bytes(KARPENTER_VERSION, sizeof(KARPENTER_VERSION), seed);

    for (uint32_t i = 0; i < n; i++) {
        const struct kind *k = kinds[i];
        struct sb b = {0};
        struct jw w = {.out = &b};

        if (!str_eq(k->group, of->group) || !str_eq(k->version, of->version))
            continue;
        jw_list(&w);
        jw_str(&w, k->name);
        jw_str(&w, k->plural);
        jw_bool(&w, k->namespaced);
        jw_bool(&w, k->has_status);
        jw_tree(&w, k->crd);
        jw_end(&w);
        h = hash_bytes(b.p, b.n, h);
        sb_fini(&b);
    }
    return h;
}

static bool seen_before(const struct kind *const *kinds, uint32_t ix)
{
    for (uint32_t i = 0; i < ix; i++)
        if (str_eq(kinds[i]->group, kinds[ix]->group) && str_eq(kinds[i]->version, kinds[ix]->version))
            return true;
    return false;
}

void openapi_index(struct sb *out, const struct kind *const *kinds, uint32_t n, str version)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct jw w = {.out = out};

    jw_map(&w);
    jw_key(&w, "paths");
    jw_map(&w);
    for (uint32_t i = 0; i < n; i++) {
        if (seen_before(kinds, i))
            continue;
        str path = group_path(a, kinds[i]->group, kinds[i]->version);
        uint64_t print = fingerprint(kinds, n, kinds[i], hash_bytes(version.p, version.n, 0));

        jw_key_str(&w, path);
        jw_map(&w);
        jw_key(&w, "serverRelativeURL");
        jw_str(&w, arena_printf(a, "/openapi/v3/" STR_FMT "?hash=%016llX", STR_ARG(path), (unsigned long long)print));
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
}

static void proto_text(struct sb *out, unsigned number, str s)
{
    assert(s.n < 128);
    sb_char(out, (char)(number << 3 | 2));
    sb_char(out, (char)s.n);
    sb_str(out, s);
}

void openapi_v2_protobuf(struct sb *out, str version)
{
    struct sb info = {0};

    proto_text(&info, 1, STR("Kubernetes"));
    proto_text(&info, 2, str_sub(version, 0, 64));
    proto_text(out, 1, STR("2.0"));
    proto_text(out, 2, sb_view(&info));
    proto_text(out, 8, (str){0}); /* paths */
    proto_text(out, 9, (str){0}); /* definitions */
    sb_fini(&info);
}
