/* Schemas of built-in and custom kinds. The sentences that are expected here are those that a kube-apiserver 1.36.3 answered to the same
 * objects of the same kinds (widgets.yaml, gadgets.yaml), in an order of ours where the server's is that of a hash table.
 */
#include "sim/kube/schema.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/sb.h"
#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "sim/kube/status.h"
#include "support/check.h"

#define UNCHECKED                                                                                                        \
    " | <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the " \
    "existing errors to complete validation"

struct fixture {
    struct arena *a;
    const struct schema *widget, *gadget;
};

static str read_file(struct arena *a, const char *path)
{
    struct sb b = {0};
    char full[512], chunk[4096];
    const char *root = getenv("TEST_SOURCE_ROOT");
    size_t n;

    (void)snprintf(full, sizeof(full), "%s%s%s", root ? root : "", root ? "/" : "", path);
    FILE *f = fopen(full, "r");
    check_true(full, f != NULL);
    while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
        sb_bytes(&b, chunk, n);
    (void)fclose(f);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static struct tree *yaml(struct arena *a, const char *text)
{
    const struct tree *t;
    struct err e;

    check_ok(text, tree_parse_yaml(a, "test", str_c(text), &t, &e), &e);
    return tree_copy(a, t);
}

/* "field: message | field: message" */
static const char *print_causes(struct arena *a, struct causes *c)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < c->list.n; i++)
        sb_printf(&b, "%s" STR_FMT ": " STR_FMT, i ? " | " : "", STR_ARG(c->list.v[i].field),
                  STR_ARG(c->list.v[i].message));
    str s = sb_dup(&b, a);
    sb_fini(&b);
    causes_fini(c);
    return arena_printf(a, STR_FMT "%c", STR_ARG(s), '\0').p;
}

static const struct schema *load(struct arena *a, const char *path)
{
    const struct tree *crd;
    struct err e;
    struct causes out = {.a = a};

    check_ok(path, tree_parse_yaml(a, path, read_file(a, path), &crd, &e), &e);
    const struct tree *version = &tree_at(crd, "spec", "versions", NULL)->items[0];
    const struct schema *s =
        schema_from_openapi(a, tree_at(version, "schema", "openAPIV3Schema", NULL), STR("s"), &out);
    check_str(path, str_c(print_causes(a, &out)), "");
    return s;
}

static struct tree *object(struct arena *a, const char *spec)
{
    str text = arena_printf(a, "{apiVersion: test.io/v1, kind: Widget, metadata: {name: w}, spec: %s}%c", spec, '\0');

    return yaml(a, text.p);
}

/* What is known to be valid need not be looked at again, and that makes no difference. */
static void validate_again(struct arena *a, const struct schema *s, const struct tree *obj, const struct tree *old,
                           const char *want)
{
    struct causes of_old = {.a = a}, out = {.a = a};

    schema_validate(a, s, old, NULL, /* old_is_valid= */ false, &of_old);
    if (of_old.list.n == 0) {
        schema_validate(a, s, obj, old, /* old_is_valid= */ true, &out);
        check_str("with a valid old one", str_c(print_causes(a, &out)), want);
    }
    causes_fini(&of_old);
}

static const char *validate(struct arena *a, const struct schema *s, const char *spec, const char *old)
{
    struct causes out = {.a = a};
    struct tree *obj = object(a, spec), *was = old ? object(a, old) : NULL;

    schema_default(a, s, obj);
    schema_validate(a, s, obj, was, /* old_is_valid= */ false, &out);
    const char *text = print_causes(a, &out);
    if (was)
        validate_again(a, s, obj, was, text);
    return text;
}

static const struct {
    const char *spec, *want;
} widgets[] = {
    {"{}", "spec.need: Required value" UNCHECKED},
    {"{need: x}", ""},
    {"{need: null}", "spec.need: Required value" UNCHECKED},
    {"{need: x, need2: {}}", "spec.need2.x: Required value" UNCHECKED},
    {"{need: 1}",
     "spec.need: Invalid value: \"integer\": spec.need in body must be of type string: \"integer\"" UNCHECKED},
    {"{need: x, count: '3'}",
     "spec.count: Invalid value: \"string\": spec.count in body must be of type integer: \"string\"" UNCHECKED},
    {"{need: x, count: 1.5}",
     "spec.count: Invalid value: \"number\": spec.count in body must be of type integer: \"number\" | <nil>: Invalid value: "
     "\"\": Checked value must be of type integer (default format) in spec.count" UNCHECKED},
    {"{need: x, count: 2.0}", ""},
    {"{need: x, count: 0}", "spec.count: Invalid value: 0: spec.count in body should be greater than or equal to 1"},
    {"{need: x, count: 51}", "spec.count: Invalid value: 51: spec.count in body should be less than or equal to 50"},
    {"{need: x, count: 13}", "spec.count: Forbidden: thirteen is odd"},
    {"{need: x, i32: 3000000000}",
     "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.i32"},
    {"{need: x, i64: 99999999999999999999}",
     "spec.i64: Invalid value: \"float64\": spec.i64 in body must be of type int64: \"float64\" | <nil>: Invalid value: \"\": "
     "Checked value must be of type integer with format int64 in spec.i64" UNCHECKED},
    {"{need: x, num: -1}", "spec.num: Invalid value: -1: spec.num in body should be greater than 0"},
    {"{need: x, num: 0.3}", "spec.num: Invalid value: 0.3: spec.num in body should be a multiple of 0.5"},
    {"{need: x, num: '1'}",
     "spec.num: Invalid value: \"string\": spec.num in body must be of type number: \"string\"" UNCHECKED},
    {"{need: x, flag: 'true'}",
     "spec.flag: Invalid value: \"string\": spec.flag in body must be of type boolean: \"string\"" UNCHECKED},
    {"{need: x, mode: C}", "spec.mode: Unsupported value: \"C\": supported values: \"A\", \"B\"" UNCHECKED},
    {"{need: x, mode: 1}",
     "spec.mode: Invalid value: \"integer\": spec.mode in body must be of type string: \"integer\" | spec.mode: Unsupported "
     "value: 1: supported values: \"A\", \"B\"" UNCHECKED},
    {"{need: x, pat: A1}", "spec.pat: Invalid value: \"A1\": spec.pat in body should match '^[a-z]+$'"},
    {"{need: x, short: abcd}", "spec.short: Too long: may not be more than 3 bytes" UNCHECKED},
    {"{need: x, short: a}", "spec.short: Invalid value: \"a\": spec.short in body should be at least 2 chars long"},
    {"{need: x, lst: []}", "spec.lst: Invalid value: 0: spec.lst in body should have at least 1 items"},
    {"{need: x, lst: [a,b,c,d]}", "spec.lst: Too many: 4: must have at most 3 items" UNCHECKED},
    {"{need: x, lst: [abcdefghij]}", "spec.lst[0]: Too long: may not be more than 8 bytes" UNCHECKED},
    {"{need: x, lst: [abcdef]}", "spec: Invalid value: failed rule: !has(self.lst) || self.lst.all(x, x.size() < 5)"},
    {"{need: x, lst: a}",
     "spec.lst: Invalid value: \"string\": spec.lst in body must be of type array: \"string\"" UNCHECKED},
    {"{need: x, lst: [1]}",
     "spec.lst[0]: Invalid value: \"integer\": spec.lst[0] in body must be of type string: \"integer\"" UNCHECKED},
    {"{need: x, set: [a, a]}", "spec.set[1]: Duplicate value: \"a\""},
    {"{need: x, conds: [{type: A}, {type: A}]}", "spec.conds[1]: Duplicate value: {\"type\":\"A\"}"},
    {"{need: x, conds: [{port: 1}]}", "spec.conds[0].type: Required value" UNCHECKED},
    {"{need: x, mapp: {}}", "spec.mapp: Invalid value: 0: spec.mapp in body should have at least 1 properties"},
    {"{need: x, mapp: {a: b, c: d, e: f}}", "spec.mapp: Too many: 3: must have at most 2 items" UNCHECKED},
    {"{need: x, mapp: {a: bcde}}", "spec.mapp.a: Too long: may not be more than 3 bytes" UNCHECKED},
    {"{need: x, mapp: [a]}",
     "spec.mapp: Invalid value: \"array\": spec.mapp in body must be of type object: \"array\"" UNCHECKED},
    {"{need: x, time: soon}",
     "spec.time: Invalid value: \"soon\": spec.time in body must be of type date-time: \"soon\"" UNCHECKED},
    {"{need: x, dur: soon}",
     "spec.dur: Invalid value: \"soon\": spec.dur in body must be of type duration: \"soon\"" UNCHECKED},
    {"{need: x, byt: '%%'}",
     "spec.byt: Invalid value: \"%%\": spec.byt in body must be of type byte: \"%%\"" UNCHECKED},
    {"{need: x, uid: soon}",
     "spec.uid: Invalid value: \"soon\": spec.uid in body must be of type uuid: \"soon\"" UNCHECKED},
    {"{need: x, ip: soon}",
     "spec.ip: Invalid value: \"soon\": spec.ip in body must be of type ipv4: \"soon\"" UNCHECKED},
    {"{need: x, time: '2026-01-01T00:00:00Z', dur: 5m, byt: YQ==, uid: 01b37968-4852-4b0b-8f94-8620de7c6cb5, ip: 10.0.0.1}",
     ""},
    {"{need: x, nul: null, a: null}", ""},
    {"{need: x, ios: 1.5}",
     "spec.ios: Invalid value: \"number\": spec.ios in body must be of type integer,string: \"number\"" UNCHECKED},
    {"{need: x, ios: true}",
     "spec.ios: Invalid value: \"boolean\": spec.ios in body must be of type integer,string: \"boolean\"" UNCHECKED},
    {"{need: x, ios: 5%}", ""},
    {"{need: x, qty: 1x}",
     "spec.qty: Invalid value: \"1x\": spec.qty in body should match "
     "'^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$'"},
    {"{need: x, qty: 1}", ""},
    {"{need: x, boom: 0}", "spec: Invalid value: \"object\": division by zero evaluating rule: boom"},
    {"{need: x, items: [{v: 1}, {v: 0}]}", "spec.items[1]: Invalid value: failed rule: self.v > 0"},
    {"{need: x, items: [{}]}", "spec.items[0]: Invalid value: \"object\": no such key: v evaluating rule: self.v > 0"},
    {"{need: x, one: {}}",
     "<nil>: Invalid value: \"\": \"spec.one\" must validate one and only one schema (oneOf). Found none valid | spec.one.p: "
     "Required value" UNCHECKED},
    {"{need: x, one: {p: a, q: b}}",
     "<nil>: Invalid value: \"\": \"spec.one\" must validate one and only one schema (oneOf). Found 2 valid alternatives"},
    {"{need: x, one: {q: b}}", ""},
    {"{need: x, any: {}}",
     "<nil>: Invalid value: \"\": \"spec.any\" must validate at least one schema (anyOf) | spec.any.p: Required "
     "value" UNCHECKED},
    {"{need: x, nope: bad}", "<nil>: Invalid value: \"\": \"spec.nope\" must not validate the schema (not)"},
    {"[]", "spec: Invalid value: \"array\": spec in body must be of type object: \"array\"" UNCHECKED},
    {"3", "spec: Invalid value: \"integer\": spec in body must be of type object: \"integer\"" UNCHECKED},
    {"null", ""},
};

static void a_server_says_so(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(widgets); i++)
        check_str(widgets[i].spec, str_c(validate(f->a, f->widget, widgets[i].spec, NULL)), widgets[i].want);
}

static const struct {
    const char *spec, *old, *want;
} gadgets[] = {
    {"{a: '1', b: '2'}", NULL, "spec: Invalid value: a and b exclude each other"},
    {"{namespace: x}", NULL, "spec: Invalid value: escaped"},
    {"{x-y: x}", NULL, "spec: Invalid value: dashed"},
    {"{a: dup}", NULL, "spec.a: Duplicate value"},
    {"{a: req}", NULL, "spec.a: Required value: req!"},
    {"{a: inv}", NULL, "spec.a: Invalid value: inv!"},
    {"{a: forb}", NULL, "spec: Forbidden: forb!"},
    {"{s: x}", NULL, "spec.s: Invalid value: \"x\": not x"},
    {"{s2: x}", NULL, "spec.s2: Invalid value: \"x\": failed rule: self != 'x'"},
    {"{i: 7}", NULL, "spec.i: Invalid value: 7: not 7"},
    {"{i: 0}", NULL, "spec.i: Invalid value: \"integer\": division by zero evaluating rule: div"},
    {"{f: 7.5}", NULL, "spec.f: Invalid value: 7.5: not 7.5"},
    {"{bo: false}", NULL, "spec.bo: Invalid value: false: true only"},
    {"{l: [a, b]}", NULL, "spec.l: Invalid value: one"},
    {"{m: {a: b, c: d}}", NULL, "spec.m: Invalid value: one"},
    {"{tmpl: {}}", NULL, "spec.tmpl.apiVersion: Required value | spec.tmpl.kind: Required value" UNCHECKED},
    {"{tmpl: {apiVersion: v1, kind: Pod, metadata: {name: X_}}}", NULL, ""},
    {"{imm: b, opt: b}", NULL, ""},
    {"{imm: b, opt: b}", "{}", ""},
    {"{imm: b, opt: b}", "{imm: a, opt: a}",
     "spec.imm: Invalid value: \"b\": imm is immutable | spec.opt: Invalid value: \"b\": opt once"},
    {"{imm: a, opt: a}", "{imm: a, opt: a}", ""},
};

static void rules(void **state)
{
    struct fixture *f = *state;
    struct causes out = {.a = f->a};

    for (size_t i = 0; i < ARRAY_LEN(gadgets); i++)
        check_str(gadgets[i].spec, str_c(validate(f->a, f->gadget, gadgets[i].spec, gadgets[i].old)), gadgets[i].want);

    schema_validate(f->a, f->gadget, yaml(f->a, "{metadata: {name: bad}}"), NULL, /* old_is_valid= */ false, &out);
    check_str("the whole object", str_c(print_causes(f->a, &out)), "<nil>: Invalid value: no bad names");
}

static str json(struct arena *a, const struct tree *t)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_tree(&w, t);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static void defaults(void **state)
{
    struct fixture *f = *state;
    struct tree *t = yaml(f->a, "{spec: {a: null, nul: null, nuld: null, arr: [{}, {z: 4}], dflt: {m: q}}}");

    schema_default(f->a, f->gadget, t);
    check_str("as a server stores it", json(f->a, t),
              "{\"spec\":{\"nul\":null,\"arr\":[{\"z\":3},{\"z\":4}],\"dflt\":{\"m\":\"q\",\"k\":5},\"nuld\":\"dd\"}}");
    t = yaml(f->a, "{spec: {}}");
    schema_default(f->a, f->gadget, t);
    check_str("a default has defaults", json(f->a, t), "{\"spec\":{\"dflt\":{\"k\":1,\"m\":\"mm\"},\"nuld\":\"dd\"}}");
    t = yaml(f->a,
             "{metadata: {creationTimestamp: null}, spec: {containers: [{name: a, ports: [{containerPort: 1}]}]}}");
    schema_default(f->a, schema_builtin(STR(""), STR("v1"), STR("Pod")), t);
    check_str(
        "built-in", json(f->a, t),
        "{\"metadata\":{},\"spec\":{\"containers\":[{\"name\":\"a\",\"ports\":[{\"containerPort\":1,\"protocol\":\"TCP\"}]}]}}");
}

static void unknown_fields(void **state)
{
    struct fixture *f = *state;
    struct causes out = {.a = f->a};
    const struct schema *pod = schema_builtin(STR(""), STR("v1"), STR("Pod"));
    struct tree *t = yaml(
        f->a,
        "{zip: 1, metadata: {name: w, foo: 1, labels: {any: thing}}, spec: {need: x, open: {z: 1}, items: [{v: 1}, "
        "{bar: 1}], foo: {a: 1}, mapp: {k: v}}, apiVersion: v1, kind: W}");

    schema_unknown(f->a, f->widget, t, /* prune= */ false, &out);
    check_str(
        "named", str_c(print_causes(f->a, &out)),
        "metadata.foo: unknown field \"metadata.foo\" | spec.foo: unknown field \"spec.foo\" | spec.items[1].bar: unknown "
        "field \"spec.items[1].bar\" | zip: unknown field \"zip\"");
    out = (struct causes){.a = f->a};
    schema_unknown(f->a, f->widget, t, /* prune= */ true, &out);
    causes_fini(&out);
    check_str(
        "gone", json(f->a, t),
        "{\"metadata\":{\"name\":\"w\",\"labels\":{\"any\":\"thing\"}},\"spec\":{\"need\":\"x\",\"open\":{\"z\":1},\"items\":[{"
        "\"v\":1},{}],\"mapp\":{\"k\":\"v\"}},\"apiVersion\":\"v1\",\"kind\":\"W\"}");

    out = (struct causes){.a = f->a};
    t = yaml(f->a, "{spec: {tmpl: {apiVersion: v1, kind: P, metadata: {bar: 1}, any: 1}}}");
    schema_unknown(f->a, f->gadget, t, false, &out);
    check_str("metadata of an embedded object", str_c(print_causes(f->a, &out)),
              "spec.tmpl.metadata.bar: unknown field \"spec.tmpl.metadata.bar\"");

    out = (struct causes){.a = f->a};
    t = yaml(
        f->a,
        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, foo: 1}], nodeSelector: {a: b}, x: 1}}");
    schema_unknown(f->a, pod, t, false, &out);
    check_str("built-in, in order", str_c(print_causes(f->a, &out)),
              "spec.containers[0].foo: unknown field \"spec.containers[0].foo\" | spec.x: unknown field \"spec.x\"");
}

#define FIELD(what, field, type) "json: cannot unmarshal " what " into Go struct field " field " of type " type
#define QUANTITIES "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

static const struct {
    const char *kind, *text, *want;
} decodings[] = {
    {"Pod", "{spec: {restartPolicy: 1}}", FIELD("number", "PodSpec.spec.restartPolicy", "v1.RestartPolicy")},
    {"Pod", "{spec: {containers: true}}", FIELD("bool", "PodSpec.spec.containers", "[]v1.Container")},
    {"Pod", "{spec: {containers: [true]}}", FIELD("bool", "PodSpec.spec.containers", "v1.Container")},
    {"Pod", "{spec: {containers: [{name: 1}]}}", FIELD("number", "Container.spec.containers.name", "string")},
    {"Pod", "{spec: {containers: [{ports: [{containerPort: x}]}]}}",
     FIELD("string", "ContainerPort.spec.containers.ports.containerPort", "int32")},
    {"Pod", "{spec: {containers: [{resources: {requests: {cpu: x}}}]}}", QUANTITIES},
    {"Pod", "{spec: {containers: [{resources: {requests: {cpu: true}}}]}}", QUANTITIES},
    {"Pod", "{spec: {containers: [{resources: {requests: {cpu: ''}}}]}}", QUANTITIES},
    {"Pod", "{spec: {containers: [{resources: {requests: {cpu: 1i}}}]}}", "unable to parse quantity's suffix"},
    {"Pod", "{spec: {containers: [{resources: {requests: {cpu: 1e99}}}]}}", ""},
    {"Pod", "{spec: {containers: [{resources: {requests: {cpu: 1.5, memory: 2Gi, x: -1e-3, y: '+.5'}}}]}}", ""},
    {"Pod", "{spec: {containers: [{resources: {requests: 3}}]}}",
     FIELD("number", "ResourceRequirements.spec.containers.resources.requests", "v1.ResourceList")},
    {"Pod", "{spec: {volumes: [{emptyDir: {medium: 3}}]}}",
     FIELD("number", "EmptyDirVolumeSource.spec.volumes.VolumeSource.emptyDir.medium", "v1.StorageMedium")},
    {"Pod", "{spec: {volumes: [{emptyDir: 3}]}}",
     FIELD("number", "Volume.spec.volumes.VolumeSource.emptyDir", "v1.EmptyDirVolumeSource")},
    {"Pod", "{spec: {nodeSelector: {a: 1}}}", FIELD("number", "PodSpec.spec.nodeSelector", "string")},
    {"Pod", "{spec: {nodeSelector: {a: null}, containers: null}}", ""},
    {"Pod", "{spec: {terminationGracePeriodSeconds: 1.5}}",
     FIELD("number 1.5", "PodSpec.spec.terminationGracePeriodSeconds", "int64")},
    {"Pod", "{spec: {terminationGracePeriodSeconds: 1e3}}",
     FIELD("number 1e3", "PodSpec.spec.terminationGracePeriodSeconds", "int64")},
    {"Pod", "{spec: {priority: 99999999999}}", FIELD("number 99999999999", "PodSpec.spec.priority", "int32")},
    {"Pod", "{spec: {hostNetwork: 'true'}}", FIELD("string", "PodSpec.spec.hostNetwork", "bool")},
    {"Pod", "{spec: {containers: [{command: [1]}]}}", FIELD("number", "Container.spec.containers.command", "string")},
    {"Pod", "{spec: {containers: [{livenessProbe: {httpGet: {port: true}}}]}}",
     FIELD("bool", "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port", "int32")},
    {"Pod", "{spec: {containers: [{livenessProbe: {httpGet: {port: 1.5}}}]}}",
     FIELD("number 1.5", "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port", "int32")},
    {"Pod", "{spec: {foo: 1, dnsPolicy: 1, hostname: 1}}", FIELD("number", "PodSpec.spec.dnsPolicy", "v1.DNSPolicy")},
    {"Pod", "{spec: {hostname: 1, containers: [{resources: {requests: {cpu: x}}}]}}", QUANTITIES},
    {"Pod", "{metadata: {creationTimestamp: x}}",
     "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\""},
    {"Pod", "{metadata: {creationTimestamp: 1}}", FIELD("number", "ObjectMeta.metadata.creationTimestamp", "string")},
    {"Pod", "{metadata: {labels: []}}", FIELD("array", "ObjectMeta.metadata.labels", "map[string]string")},
    {"Pod", "{metadata: {labels: {a: true}}}", FIELD("bool", "ObjectMeta.metadata.labels", "string")},
    {"Pod", "{metadata: {ownerReferences: {}}}",
     FIELD("object", "ObjectMeta.metadata.ownerReferences", "[]v1.OwnerReference")},
    {"Pod", "{metadata: {finalizers: x}}", FIELD("string", "ObjectMeta.metadata.finalizers", "[]string")},
    {"Pod", "{metadata: {managedFields: [{fieldsV1: 3}]}}", ""},
    {"Secret", "{data: {a: '%%'}}", "illegal base64 data at input byte 0"},
    {"Secret", "{data: {a: 3}}", FIELD("number", "Secret.data", "[]uint8")},
    {"ConfigMap", "{data: {a: 3}}", FIELD("number", "ConfigMap.data", "string")},
    {"ConfigMap", "{metadata: a}", FIELD("string", "ConfigMap.metadata", "v1.ObjectMeta")},
    {"ConfigMap", "{data: x}", FIELD("string", "ConfigMap.data", "map[string]string")},
};

static void decoding(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(decodings); i++) {
        const struct schema *s = schema_builtin(STR(""), STR("v1"), str_c(decodings[i].kind));
        struct err e = {0};
        bool ok = schema_decodes(s, yaml(f->a, decodings[i].text), &e);

        check_str(decodings[i].text, str_c(e.msg), decodings[i].want);
        check_true(decodings[i].text, ok == (decodings[i].want[0] == '\0'));
    }
    struct err e = {0};
    check_true("replicas", !schema_decodes(schema_builtin(STR("apps"), STR("v1"), STR("Deployment")),
                                           yaml(f->a, "{spec: {replicas: '3'}}"), &e));
    check_str("replicas", str_c(e.msg), FIELD("string", "DeploymentSpec.spec.replicas", "int32"));
    check_true("custom", !schema_decodes(f->widget, yaml(f->a, "{metadata: {labels: {a: 1}}, spec: 3}"), &e));
    check_str("custom", str_c(e.msg), FIELD("number", "ObjectMeta.labels", "string"));
}

static void built_in_kinds(void **state UNUSED)
{
    const struct schema *pod = schema_builtin(STR(""), STR("v1"), STR("Pod"));
    const struct schema *spec = schema_child(pod, STR("spec"));
    const struct schema *containers = schema_child(spec, STR("containers"));

    check_str("a name", spec->name, "io.k8s.api.core.v1.PodSpec");
    check_i64("containers are a map", containers->list, LIST_MAP);
    check_str("by name", containers->list_keys[0], "name");
    check_str("and merged by it", containers->merge_key, "name");
    check_true("merged", containers->patch_merge);
    check_true("required", schema_field(spec, STR("containers"))->required);
    check_str("members", schema_child(containers, STR("anything"))->name, "io.k8s.api.core.v1.Container");
    check_i64(
        "quantities",
        schema_child(schema_child(schema_child(containers->items, STR("resources")), STR("limits")), STR("cpu"))->type,
        SCHEMA_QUANTITY);
    check_true("selectors are atomic",
               schema_child(schema_child(schema_builtin(STR("apps"), STR("v1"), STR("Deployment")), STR("spec")),
                            STR("selector"))
                   ->map_atomic);
    check_true("strategies keep keys",
               schema_child(schema_child(schema_builtin(STR("apps"), STR("v1"), STR("Deployment")), STR("spec")),
                            STR("strategy"))
                   ->patch_retain_keys);
    check_true("finalizers are a set", schema_child(schema_object_meta(), STR("finalizers"))->patch_merge);
    check_true("a kind twice is the same", pod == schema_builtin(STR(""), STR("v1"), STR("Pod")));
    check_true("by group", schema_builtin(STR("events.k8s.io"), STR("v1"), STR("Event")) !=
                               schema_builtin(STR(""), STR("v1"), STR("Event")));
    check_true("none", schema_builtin(STR(""), STR("v2"), STR("Pod")) == NULL);
    check_true("recursive",
               schema_builtin(STR("apiextensions.k8s.io"), STR("v1"), STR("CustomResourceDefinition")) != NULL);
}

static const struct {
    const char *text, *want;
} bad_schemas[] = {
    {"{type: strin}",
     "s.type: Unsupported value: \"strin\": supported values: \"array\", \"boolean\", \"integer\", \"number\", "
     "\"object\", \"string\" | s.type: Invalid value: \"strin\": must be object at the root"},
    {"{type: object, properties: {a: {type: string, pattern: '['}}}",
     "s.properties[a].pattern: Invalid value: \"[\": must be a valid regular expression, but isn't: error parsing regexp: missing "
     "closing ]: `[`"},
    {"{type: object, properties: {a: {type: array}}}", "s.properties[a].items: Required value: must be specified"},
    {"{type: object, x-kubernetes-validations: [{rule: 'self.a +'}]}",
     "s.x-kubernetes-validations[0].rule: Invalid value: \"self.a +\": compilation failed: ERROR: <input>:1:9: Syntax error: "
     "unexpected 'the end'"},
    {"{type: object, properties: {a: {type: string, maxLength: -1}}}",
     "s.properties[a].maxLength: Invalid value: -1: must be a whole number, not below zero"},
    {"{type: object, required: x}", "s.required: Invalid value: \"x\": must be a list"},
};

static void schemas_that_are_none(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(bad_schemas); i++) {
        struct causes out = {.a = f->a};
        const struct schema *s = schema_from_openapi(f->a, yaml(f->a, bad_schemas[i].text), STR("s"), &out);

        check_str(bad_schemas[i].text, str_c(print_causes(f->a, &out)), bad_schemas[i].want);
        check_true(bad_schemas[i].text, s == NULL);
    }
}

static int setup(void **state)
{
    static struct fixture f;

    f.a = arena_new(0);
    f.widget = load(f.a, "tests/unit/sim/kube/widgets.yaml");
    f.gadget = load(f.a, "tests/unit/sim/kube/gadgets.yaml");
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    arena_free(((struct fixture *)*state)->a);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_says_so),      cmocka_unit_test(rules),    cmocka_unit_test(defaults),
        cmocka_unit_test(unknown_fields),        cmocka_unit_test(decoding), cmocka_unit_test(built_in_kinds),
        cmocka_unit_test(schemas_that_are_none),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
