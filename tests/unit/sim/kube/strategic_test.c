/* Strategic merge patch, on parts of built-in kinds. What is due was asked of a real server. */
#include "base/rng.h"
#include "data/edit.h"
#include "sim/kube/patch.h"
#include "sim/kube/schema.h"
#include "sim/kube/status.h"
#include "support/check.h"
#include "support/trees.h"

static const struct schema *pod_spec(void)
{
    return schema_child(schema_builtin(STR(""), STR("v1"), STR("Pod")), STR("spec"));
}

static const struct schema *meta(void)
{
    return schema_child(schema_builtin(STR(""), STR("v1"), STR("Pod")), STR("metadata"));
}

static const struct schema *deployment_spec(void)
{
    return schema_child(schema_builtin(STR("apps"), STR("v1"), STR("Deployment")), STR("spec"));
}

struct smp_case {
    const char *name, *in, *patch, *want; /* want: the outcome, or the code and the sentence of a refusal */
};

static void run(const struct schema *s, const struct smp_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct tree *t = tree_yaml(a, cases[i].in), *patch = tree_yaml(a, cases[i].patch);
        str text = tree_text(a, patch);
        struct status st = {0};

        if (patch_strategic(a, s, t, patch, &st))
            check_tree(cases[i].name, t, cases[i].want);
        else
            check_str(cases[i].name, arena_printf(a, "%d " STR_FMT, st.code, STR_ARG(st.message)), cases[i].want);
        check_true(cases[i].name, str_eq(text, tree_text(a, patch)));
    }
}

#define ABC "{containers: [{name: a, image: a1}, {name: b, image: b1}, {name: c, image: c1}]}"

static const struct smp_case items[] = {
    {"an item by its key", ABC, "{containers: [{name: b, image: b2}]}",
     "{containers: [{name: a, image: a1}, {name: b, image: b2}, {name: c, image: c1}]}"},
    {"new items come first", ABC, "{containers: [{name: d, image: d1}]}",
     "{containers: [{name: d, image: d1}, {name: a, image: a1}, {name: b, image: b1}, {name: c, image: c1}]}"},
    {"new and old", ABC, "{containers: [{name: d, image: d1}, {name: a, image: a2}]}",
     "{containers: [{name: d, image: d1}, {name: a, image: a2}, {name: b, image: b1}, {name: c, image: c1}]}"},
    {"no key", ABC, "{containers: [{image: b2}]}", "500 map: map[image:b2] does not contain declared merge key: name"},
    {"delete", ABC, "{containers: [{name: b, $patch: delete}]}",
     "{containers: [{name: a, image: a1}, {name: c, image: c1}]}"},
    {"delete what is not there", ABC, "{containers: [{name: z, $patch: delete}]}", ABC},
    {"delete without a key", ABC, "{containers: [{$patch: delete}]}",
     "500 map: map[$patch:delete] does not contain declared merge key: name"},
    {"replace the list", ABC, "{containers: [{$patch: replace}, {name: q, image: q1}]}",
     "{containers: [{name: q, image: q1}]}"},
    {"replace, said last", ABC, "{containers: [{name: q, image: q1}, {$patch: replace}]}",
     "{containers: [{name: q, image: q1}]}"},
    {"an item that says replace is none", ABC, "{containers: [{name: a, image: q, $patch: replace}]}",
     "{containers: []}"},
    {"merge cannot be said", ABC, "{containers: [{name: a, $patch: merge}]}",
     "500 merging lists cannot yet be specified in the patch"},
    {"an unknown directive", ABC, "{containers: [{name: a, image: q, $patch: frob}]}",
     "500 unknown patch type: frob in map: map[$patch:frob image:q name:a]"},
    {"a directive that is no text", ABC, "{containers: [{name: a, $patch: 5}]}",
     "500 unknown patch type: %!s(int64=5) in map: map[$patch:5 name:a]"},
    {"an empty list", ABC, "{containers: []}", ABC},
    {"null", ABC, "{containers: null}", "{}"},
    {"text among maps", ABC, "{containers: [x]}",
     "500 list element types are not identical: [[map[image:a1 name:a] map[image:b1 name:b] map[image:c1 name:c]] "
     "[x]]"},
    {"a list for a list", "{containers: []}", "{containers: x}",
     "422  \"\" is invalid: patch: Invalid value: \"map[containers:x]\": cannot restore slice from string"},
    {"a key of two", "{containers: [{name: a, ports: [{containerPort: 80, protocol: TCP, name: http}]}]}",
     "{containers: [{name: a, ports: [{containerPort: 80, name: web}, {containerPort: 443}]}]}",
     "{containers: [{name: a, ports: [{containerPort: 80, protocol: TCP, name: web}, {containerPort: 443}]}]}"},
    {"lists without a key are replaced", "{containers: [{name: a, args: ['1', '2']}]}",
     "{containers: [{name: a, args: ['9']}]}", "{containers: [{name: a, args: ['9']}]}"},
    {"tolerations are replaced", "{tolerations: [{key: a}, {key: b}]}", "{tolerations: [{key: c}]}",
     "{tolerations: [{key: c}]}"},
};

static const struct smp_case orders[] = {
    {"an order alone", ABC, "{$setElementOrder/containers: [{name: c}, {name: b}, {name: a}]}",
     "{containers: [{name: c, image: c1}, {name: b, image: b1}, {name: a, image: a1}]}"},
    {"what the order leaves out keeps its place", ABC, "{$setElementOrder/containers: [{name: c}, {name: a}]}",
     "{containers: [{name: b, image: b1}, {name: c, image: c1}, {name: a, image: a1}]}"},
    {"a new item within", ABC,
     "{$setElementOrder/containers: [{name: c}, {name: d}, {name: a}], containers: [{name: d, image: d1}]}",
     "{containers: [{name: b, image: b1}, {name: c, image: c1}, {name: d, image: d1}, {name: a, image: a1}]}"},
    {"new items only", ABC,
     "{$setElementOrder/containers: [{name: e}, {name: d}], containers: [{name: e, image: e1}, {name: d, image: d1}]}",
     "{containers: [{name: e, image: e1}, {name: d, image: d1}, {name: a, image: a1}, {name: b, image: b1},"
     " {name: c, image: c1}]}"},
    {"a new item in the place of a deleted one", ABC,
     "{$setElementOrder/containers: [{name: a}, {name: d}],"
     " containers: [{name: b, $patch: delete}, {name: d, image: d1}]}",
     "{containers: [{name: a, image: a1}, {name: c, image: c1}, {name: d, image: d1}]}"},
    {"a change in order", ABC, "{$setElementOrder/containers: [{name: c}], containers: [{name: c, image: c2}]}",
     "{containers: [{name: a, image: a1}, {name: b, image: b1}, {name: c, image: c2}]}"},
    {"nothing to order", "{}", "{$setElementOrder/containers: [{name: c}]}", "{}"},
    {"a list that is new", "{}",
     "{$setElementOrder/containers: [{name: b}, {name: a}], containers: [{name: b, $retainKeys: [name]}, {name: a}]}",
     "{containers: [{name: b}, {name: a}]}"},
    {"not in the order", ABC,
     "{$setElementOrder/containers: [{name: c}, {name: a}], containers: [{name: d, image: d1}]}",
     "500 The order in patch list:\n[map[image:d1 name:d]]\n doesn't match $setElementOrder list:\n"
     "[map[name:c] map[name:a]]\n"},
    {"in another order", ABC,
     "{$setElementOrder/containers: [{name: a}, {name: b}], containers: [{name: b}, {name: a}]}",
     "500 The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n"
     "[map[name:a] map[name:b]]\n"},
    {"an order that is no list", ABC, "{$setElementOrder/containers: x}",
     "500 expected a []interface {}, but received a string"},
    {"an order that is null", ABC, "{$setElementOrder/containers: null}",
     "500 expected a []interface {}, but received a %!s(<nil>)"},
    {"an order without keys", ABC, "{$setElementOrder/containers: [{x: c}]}",
     "500 map: map[x:c] does not contain declared merge key: name"},
    {"an order of what is no list", "{nodeSelector: {a: b}}", "{$setElementOrder/nodeSelector: [x]}",
     "500 expected a []interface {}, but received a map[string]interface {}"},
    {"an order of an unknown field", ABC, "{$setElementOrder/foo: [{name: c}]}",
     "500 unable to find api field in struct PodSpec for the json field \"foo\""},
    {"an order of no field", ABC, "{$setElementOrder: [{name: c}]}",
     "400 invalid patch format of setElementOrder list"},
};

#define FIN "{finalizers: [a, b, c]}"

static const struct smp_case scalars[] = {
    {"a set", FIN, "{finalizers: [z, a]}", "{finalizers: [z, a, b, c]}"},
    {"delete from it", FIN, "{$deleteFromPrimitiveList/finalizers: [b, a]}", "{finalizers: [c]}"},
    {"delete what is not there", FIN, "{$deleteFromPrimitiveList/finalizers: [b, q]}", "{finalizers: [a, c]}"},
    {"delete from nothing", FIN, "{$deleteFromPrimitiveList/labels: [b]}", FIN},
    {"delete by text", FIN, "{$deleteFromPrimitiveList/finalizers: b}", FIN},
    {"delete maps", FIN, "{$deleteFromPrimitiveList/finalizers: [{a: b}]}",
     "500 list element types are not identical: [[a b c] [map[a:b]]]"},
    {"delete from no list", FIN, "{$deleteFromPrimitiveList: [b]}", "400 invalid patch format of primitive list"},
    {"all at once", FIN,
     "{$setElementOrder/finalizers: [c, z, a], finalizers: [z], $deleteFromPrimitiveList/finalizers: [b]}",
     "{finalizers: [c, z, a]}"},
    {"an order", FIN, "{$setElementOrder/finalizers: [c, a]}", "{finalizers: [b, c, a]}"},
    {"an order and a new one", FIN, "{$setElementOrder/finalizers: [z, c], finalizers: [z]}",
     "{finalizers: [z, a, b, c]}"},
    {"not in the order", FIN, "{$setElementOrder/finalizers: [c, a], finalizers: [z]}",
     "500 The order in patch list:\n[z]\n doesn't match $setElementOrder list:\n[c a]\n"},
    {"repeated", FIN, "{finalizers: [z, z]}", "{finalizers: [z, a, b, c]}"},
    {"null", FIN, "{finalizers: null}", "{}"},
    {"labels", "{labels: {a: x, b: v}}", "{labels: {a: null, c: z}}", "{labels: {b: v, c: z}}"},
};

static const struct smp_case maps[] = {
    {"keys to keep", "{strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}",
     "{strategy: {$retainKeys: [type], type: Recreate}}", "{strategy: {type: Recreate}}"},
    {"more than the keys to keep", "{strategy: {}}", "{strategy: {$retainKeys: [type], rollingUpdate: {maxSurge: 2}}}",
     "400 invalid patch format of retainKeys"},
    {"keys that are no list", "{strategy: {}}", "{strategy: {$retainKeys: type, type: Recreate}}",
     "400 invalid patch format of retainKeys"},
    {"keys to keep that are there", "{strategy: {type: A, rollingUpdate: {maxSurge: 1}}}",
     "{strategy: {$retainKeys: [type, rollingUpdate], type: B}}",
     "{strategy: {type: B, rollingUpdate: {maxSurge: 1}}}"},
    {"replace", "{strategy: {type: A, rollingUpdate: {maxSurge: 1}}}", "{strategy: {$patch: replace, type: B}}",
     "{strategy: {type: B}}"},
    {"delete", "{strategy: {type: A}, replicas: 1}", "{strategy: {$patch: delete, type: B}}",
     "{strategy: {}, replicas: 1}"},
    {"merge", "{strategy: {type: A}}", "{strategy: {$patch: merge, type: B}}",
     "500 unknown patch type: merge in map: map[$patch:merge type:B]"},
    {"nothing to replace", "{}", "{template: {spec: {affinity: {$patch: replace, nodeAffinity: {}}}}}",
     "{template: {spec: {}}}"},
    {"new items with directives", "{}",
     "{template: {spec: {initContainers: [{name: i, $patch: delete}, {name: j, env: [{name: A, value: null}]}]}}}",
     "{template: {spec: {initContainers: [{name: j, env: [{name: A}]}]}}}"},
    {"the kind stays", "{replicas: 1}", "{apiVersion: x, kind: y}", "{replicas: 1}"},
    {"null", "{replicas: 1}", "null", "{replicas: 1}"},
    {"a list", "{}", "[]", "400 json: cannot unmarshal array into Go value of type map[string]interface {}"},
};

#define MISFIT(value, why) "422  \"\" is invalid: patch: Invalid value: \"map[" value "]\": " why

static const struct smp_case misfits[] = {
    {"text for a number", "{}", "{replicas: x}", MISFIT("replicas:x", "unrecognized type: int32")},
    {"half a number", "{}", "{replicas: 1.5}", MISFIT("replicas:1.5", "cannot convert float64 to int32")},
    {"text for truth", "{}", "{paused: x}", MISFIT("paused:x", "unrecognized type: bool")},
    {"text for a struct", "{}", "{selector: x}", MISFIT("selector:x", "cannot restore struct from: string")},
    {"a list for a struct", "{}", "{selector: [1]}", MISFIT("selector:[1]", "cannot restore struct from: slice")},
    {"a number for a map", "{}", "{selector: {matchLabels: 5}}",
     MISFIT("selector:map[matchLabels:5]", "cannot restore map from int64")},
    {"a number for text", "{}", "{selector: {matchLabels: {a: 5}}}",
     MISFIT("selector:map[matchLabels:map[a:5]]", "cannot convert int64 to string")},
    {"truth for text", "{}", "{selector: {matchLabels: {a: true}}}",
     MISFIT("selector:map[matchLabels:map[a:true]]", "unrecognized type: string")},
    {"truth for a number or a share", "{}", "{strategy: {rollingUpdate: {maxSurge: true}}}",
     MISFIT("strategy:map[rollingUpdate:map[maxSurge:true]]",
            "json: cannot unmarshal bool into Go value of type int32")},
    {"a number for a time", "{}", "{template: {metadata: {creationTimestamp: 5}}}",
     MISFIT("template:map[metadata:map[creationTimestamp:5]]",
            "json: cannot unmarshal number into Go value of type string")},
    {"no quantity", "{}", "{template: {spec: {overhead: {cpu: zz}}}}",
     MISFIT("template:map[spec:map[overhead:map[cpu:zz]]]",
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")},
};

static void merges_items(void **state)
{
    (void)state;
    run(pod_spec(), items, ARRAY_LEN(items));
}

static void keeps_orders(void **state)
{
    (void)state;
    run(pod_spec(), orders, ARRAY_LEN(orders));
}

static void merges_scalars(void **state)
{
    (void)state;
    run(meta(), scalars, ARRAY_LEN(scalars));
}

static void merges_maps(void **state)
{
    (void)state;
    run(deployment_spec(), maps, ARRAY_LEN(maps));
}

static void refuses_misfits(void **state)
{
    (void)state;
    run(deployment_spec(), misfits, ARRAY_LEN(misfits));
}

/* A list in another order with other items, and the patch that kubectl would send to get there from nothing but its own. */
static void reaches_any_list(void **state)
{
    struct rng rng = {0};

    (void)state;
    rng_init(&rng, 7);
    for (int round = 0; round < 500; round++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct tree *t = tree_new_map(a), *patch = tree_new_map(a), *had = tree_sublist(a, t, "containers");
        struct tree *order, *list;
        char want[6];
        uint32_t n = 0;
        struct status st;

        for (int c = 'a'; c <= 'f'; c++)
            if (rng_below(&rng, 2)) {
                struct tree *item = tree_push(a, had, *tree_new_map(a));

                tree_set_str(a, item, "name", arena_printf(a, "%c", c));
            }
        for (int c = 'a'; c <= 'f'; c++)
            if (rng_below(&rng, 2))
                want[n++] = (char)c;
        for (uint32_t i = n; i > 1; i--) {
            uint32_t j = (uint32_t)rng_below(&rng, i);
            char c = want[i - 1];

            want[i - 1] = want[j];
            want[j] = c;
        }
        (void)tree_sublist(a, patch, "$setElementOrder/containers");
        (void)tree_sublist(a, patch, "containers");
        order = tree_find(patch, STR("$setElementOrder/containers"));
        list = tree_find(patch, STR("containers"));
        for (uint32_t i = 0; i < n; i++) {
            struct tree *item = tree_push(a, order, *tree_new_map(a));

            tree_set_str(a, item, "name", arena_printf(a, "%c", want[i]));
            tree_push(a, list, *tree_copy(a, item));
        }
        for (uint32_t i = 0; i < had->n; i++) {
            str name = tree_str(tree_get(&had->items[i], "name"));
            struct tree *item;

            if (n && memchr(want, name.p[0], n))
                continue;
            item = tree_push(a, list, *tree_new_map(a));
            tree_set_str(a, item, "name", name);
            tree_set_str(a, item, "$patch", STR("delete"));
        }
        check_true("goes", patch_strategic(a, pod_spec(), t, patch, &st));
        had = tree_find(t, STR("containers"));
        check_u64("as many", had->n, n);
        for (uint32_t i = 0; i < n; i++)
            check_true("in order", tree_str(tree_get(&had->items[i], "name")).p[0] == want[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_items), cmocka_unit_test(keeps_orders),    cmocka_unit_test(merges_scalars),
        cmocka_unit_test(merges_maps),  cmocka_unit_test(refuses_misfits), cmocka_unit_test(reaches_any_list),
    };

    return cmocka_run_group_tests_name("sim/kube/strategic", tests, NULL, NULL);
}
