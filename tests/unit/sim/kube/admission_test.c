/* Rules that look at other objects: service accounts, priority and storage classes, addresses of services. */
#include "support/check.h"
#include "support/kube_server.h"

#define POD(name, more) "{metadata: {name: " name "}, spec: {" more "containers: [{name: c, image: i}]}}"

static void accounts(void **state)
{
    struct server *s = *state;

    check_true("unknown", !server_create(s, "pods", POD("a", "serviceAccountName: none, ")));
    check_str(
        "unknown", s->st.message,
        "pods \"a\" is forbidden: error looking up service account default/none: serviceaccount \"none\" not found");
    check_true("account", server_create(s, "serviceaccounts",
                                        "{metadata: {name: quiet}, automountServiceAccountToken: false, "
                                        "imagePullSecrets: [{name: pull}]}"));
    const struct object *o = server_create(s, "pods", POD("b", "serviceAccountName: quiet, "));
    check_true("pod", o);
    check_str("its secrets are taken over", server_field(s, o, "spec.imagePullSecrets"), "[{\"name\":\"pull\"}]");
    check_str("no token", server_field(s, o, "spec.volumes"), "");
}

static void priorities(void **state)
{
    struct server *s = *state;

    check_true("class",
               server_create(s, "priorityclasses", "{metadata: {name: high}, value: 1000, preemptionPolicy: Never}"));
    const struct object *o = server_create(s, "pods", POD("a", "priorityClassName: high, "));
    check_true("pod", o);
    check_str("value", server_field(s, o, "spec.priority"), "1000");
    check_str("policy", server_field(s, o, "spec.preemptionPolicy"), "\"Never\"");

    check_true("default",
               server_create(s, "priorityclasses", "{metadata: {name: low}, value: -5, globalDefault: true}"));
    o = server_create(s, "pods", POD("b", ""));
    check_true("pod", o);
    check_str("class", server_field(s, o, "spec.priorityClassName"), "\"low\"");
    check_str("value", server_field(s, o, "spec.priority"), "-5");
}

#define CLAIM(name)                                                                                                    \
    "{metadata: {name: " name "}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}"

static void storage_classes(void **state)
{
    struct server *s = *state;
    const struct object *o = server_create(s, "persistentvolumeclaims", CLAIM("a"));

    check_true("claim", o);
    check_str("no default", server_field(s, o, "spec.storageClassName"), "");
    check_true(
        "class",
        server_create(s, "storageclasses",
                      "{metadata: {name: gp3, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}, "
                      "provisioner: ebs.csi.aws.com}"));
    o = server_create(s, "persistentvolumeclaims", CLAIM("b"));
    check_true("claim", o);
    check_str("default", server_field(s, o, "spec.storageClassName"), "\"gp3\"");
}

static void addresses(void **state)
{
    struct server *s = *state;
    const struct object *o = server_create(s, "services", "{metadata: {name: a}, spec: {ports: [{port: 80}]}}");

    check_true("service", o);
    str quoted = server_field(s, o, "spec.clusterIP"), ip = arena_strdup(s->a, str_sub(quoted, 1, quoted.n - 1));
    check_true("in range", str_starts(ip, STR("10.96.")));
    str taken =
        arena_printf(s->a, "{metadata: {name: b}, spec: {clusterIP: " STR_FMT ", ports: [{port: 80}]}}", STR_ARG(ip));
    check_true("taken", !server_create(s, "services", taken.p));
    str want = arena_printf(s->a,
                            "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"" STR_FMT
                            "\"]: failed to allocate IP " STR_FMT ": provided IP is already allocated",
                            STR_ARG(ip), STR_ARG(ip));
    check_str("taken", s->st.message, want.p);

    check_true("port",
               server_create(s, "services",
                             "{metadata: {name: c}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30007}]}}"));
    check_true("port",
               !server_create(s, "services",
                              "{metadata: {name: d}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30007}]}}"));
    check_str("port", s->st.message,
              "Service \"d\" is invalid: spec.ports[0].nodePort: Invalid value: 30007: provided port is already "
              "allocated");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(accounts, server_setup, server_teardown),
        cmocka_unit_test_setup_teardown(priorities, server_setup, server_teardown),
        cmocka_unit_test_setup_teardown(storage_classes, server_setup, server_teardown),
        cmocka_unit_test_setup_teardown(addresses, server_setup, server_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
