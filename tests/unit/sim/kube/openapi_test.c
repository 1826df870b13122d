#include "sim/kube/openapi.h"

#include "data/reader.h"
#include "sim/kube/kind.h"
#include "sim/kube/schema.h"
#include "sim/kube/status.h"
#include "support/check.h"

struct fixture {
    struct arena *a;
    struct kind pod, deployment, review, custom;
    const struct kind *kinds[4];
};

static const struct tree *parse(struct arena *a, const struct sb *b)
{
    const struct tree *t;
    struct err e;

    check_ok("a document is JSON", tree_parse_json(a, "document", sb_view(b), &t, &e), &e);
    return t;
}

static struct kind builtin(const char *group, const char *version, const char *name, const char *plural,
                           bool namespaced)
{
    return (struct kind){.group = str_c(group),
                         .version = str_c(version),
                         .name = str_c(name),
                         .plural = str_c(plural),
                         .namespaced = namespaced,
                         .has_status = true,
                         .schema = schema_builtin(str_c(group), str_c(version), str_c(name))};
}

static const char *const definition =
    "{type: object, description: A pool., properties: {metadata: {type: object}, spec: {type: object, description: What it "
    "is., required: [a], x-kubernetes-validations: [{rule: 'has(self.a)'}], properties: {a: {type: string, enum: [x, y], default: "
    "x}, list: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: "
    "{type: string}}}}}}}}";

static int setup(void **state)
{
    static struct fixture f;
    struct err e;
    const struct tree *t;

    f.a = arena_new(0);
    struct causes out = {.a = f.a};
    check_ok("definition", tree_parse_yaml(f.a, "definition", str_c(definition), &t, &e), &e);
    f.pod = builtin("", "v1", "Pod", "pods", true);
    f.deployment = builtin("apps", "v1", "Deployment", "deployments", true);
    f.review = builtin("authentication.k8s.io", "v1", "TokenReview", "tokenreviews", false);
    f.custom = (struct kind){
        .group = STR("karpenter.sh"), .version = STR("v1"), .name = STR("NodePool"), .plural = STR("nodepools")};
    f.custom.schema = schema_from_openapi(f.a, t, STR("s"), &out);
    f.custom.crd = t;
    causes_fini(&out);
    f.kinds[0] = &f.pod, f.kinds[1] = &f.deployment, f.kinds[2] = &f.review, f.kinds[3] = &f.custom;
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    arena_free(((struct fixture *)*state)->a);
    return 0;
}

static void index_of_documents(void **state)
{
    struct fixture *f = *state;
    struct sb b = {0}, again = {0};

    openapi_index(&b, f->kinds, 4, STR("v1.36.3"));
    const struct tree *t = parse(f->a, &b);
    check_true("core", str_starts(tree_str(tree_at(t, "paths", "api/v1", "serverRelativeURL", NULL)),
                                  STR("/openapi/v3/api/v1?hash=")));
    check_true("custom", tree_at(t, "paths", "apis/karpenter.sh/v1", NULL) != NULL);
    check_i64("one each", tree_get(t, "paths")->n, 4);

    const struct tree *crd = f->custom.crd;
    f->custom.crd = &crd->items[2];
    openapi_index(&again, f->kinds, 4, STR("v1.36.3"));
    f->custom.crd = crd;
    const struct tree *u = parse(f->a, &again);
    check_true("a changed definition has another address",
               !str_eq(tree_str(tree_at(t, "paths", "apis/karpenter.sh/v1", "serverRelativeURL", NULL)),
                       tree_str(tree_at(u, "paths", "apis/karpenter.sh/v1", "serverRelativeURL", NULL))));
    check_str("the others keep theirs", tree_str(tree_at(u, "paths", "apis/apps/v1", "serverRelativeURL", NULL)),
              arena_printf(f->a, STR_FMT "%c",
                           STR_ARG(tree_str(tree_at(t, "paths", "apis/apps/v1", "serverRelativeURL", NULL))), '\0')
                  .p);
    sb_fini(&b);
    sb_fini(&again);
}

static bool has_parameter(const struct tree *operation, const char *name)
{
    const struct tree *list = tree_get(operation, "parameters");

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "name")), name))
            return true;
    return false;
}

static void built_in_document(void **state)
{
    struct fixture *f = *state;
    struct sb b = {0};

    check_true("there", openapi_v3(&b, f->kinds, 4, STR("apps"), STR("v1"), STR("v1.36.3")));
    const struct tree *t = parse(f->a, &b), *schemas = tree_at(t, "components", "schemas", NULL);
    const struct tree *spec = tree_get(schemas, "io.k8s.api.apps.v1.DeploymentSpec");
    const struct tree *patch =
        tree_at(t, "paths", "/apis/apps/v1/namespaces/{namespace}/deployments/{name}", "patch", NULL);

    check_str("strategies keep keys",
              tree_str(tree_at(spec, "properties", "strategy", "x-kubernetes-patch-strategy", NULL)), "retainKeys");
    check_str("merge keys",
              tree_str(tree_at(schemas, "io.k8s.api.core.v1.PodSpec", "properties", "containers",
                               "x-kubernetes-patch-merge-key", NULL)),
              "name");
    check_str("a kind is found by group",
              tree_str(tree_get(
                  &tree_at(schemas, "io.k8s.api.apps.v1.Deployment", "x-kubernetes-group-version-kind", NULL)->items[0],
                  "kind")),
              "Deployment");
    check_true("a list too", tree_get(schemas, "io.k8s.api.apps.v1.DeploymentList") != NULL);
    check_true("what kubectl looks for", has_parameter(patch, "fieldValidation") && has_parameter(patch, "dryRun"));
    check_str("of which kind", tree_str(tree_at(patch, "x-kubernetes-group-version-kind", "kind", NULL)), "Deployment");
    check_str("names as everywhere", tree_str(tree_get(patch, "operationId")), "patchAppsV1NamespacedDeployment");
    check_true("across namespaces", tree_at(t, "paths", "/apis/apps/v1/deployments", "get", NULL) != NULL);
    check_true("nobody knows it", !openapi_v3(&b, f->kinds, 4, STR("apps"), STR("v2"), STR("v1.36.3")));

    sb_reset(&b);
    openapi_v3(&b, f->kinds, 4, STR("authentication.k8s.io"), STR("v1"), STR("v1.36.3"));
    t = parse(f->a, &b);
    check_i64("a review can only be created", tree_get(t, "paths")->n, 1);
    sb_fini(&b);
}

static void custom_document(void **state)
{
    struct fixture *f = *state;
    struct sb b = {0};

    check_true("there", openapi_v3(&b, f->kinds, 4, STR("karpenter.sh"), STR("v1"), STR("v1.36.3")));
    const struct tree *t = parse(f->a, &b);
    const struct tree *pool = tree_at(t, "components", "schemas", "sh.karpenter.v1.NodePool", NULL);
    const struct tree *spec = tree_at(pool, "properties", "spec", NULL);

    check_str("the definition's words", tree_str(tree_get(pool, "description")), "A pool.");
    check_str("and of its fields", tree_str(tree_get(spec, "description")), "What it is.");
    check_str("metadata", tree_str(tree_at(pool, "properties", "metadata", "$ref", NULL)),
              "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    check_str("required", tree_str(&tree_get(spec, "required")->items[0]), "a");
    check_i64("enum", tree_at(spec, "properties", "a", "enum", NULL)->n, 2);
    check_str("default", tree_str(tree_at(spec, "properties", "a", "default", NULL)), "x");
    check_str("list type", tree_str(tree_at(spec, "properties", "list", "x-kubernetes-list-type", NULL)), "map");
    check_i64("rules", tree_get(spec, "x-kubernetes-validations")->n, 1);
    check_true("a list", tree_at(t, "components", "schemas", "sh.karpenter.v1.NodePoolList", NULL) != NULL);
    sb_fini(&b);
}

static void swagger(void **state)
{
    struct fixture *f = *state;
    struct sb b = {0};

    openapi_v2(&b, f->kinds, 4, STR("v1.36.3"));
    const struct tree *t = parse(f->a, &b);
    check_str("version 2", tree_str(tree_get(t, "swagger")), "2.0");
    check_str("references",
              tree_str(tree_at(t, "definitions", "io.k8s.api.core.v1.Pod", "properties", "spec", "$ref", NULL)),
              "#/definitions/io.k8s.api.core.v1.PodSpec");
    check_true("custom kinds", tree_at(t, "definitions", "sh.karpenter.v1.NodePool", NULL) != NULL);
    check_str(
        "the body is a parameter",
        tree_str(tree_get(
            &tree_at(t, "paths", "/api/v1/namespaces/{namespace}/pods", "post", "parameters", NULL)->items[0], "in")),
        "body");
    sb_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_of_documents),
        cmocka_unit_test(built_in_document),
        cmocka_unit_test(custom_document),
        cmocka_unit_test(swagger),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
