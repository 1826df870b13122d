/* Machines that join: what of their user data, and of what they are, arrives at the Node. */
#include "sim/boot/boot.h"

#include "data/reader.h"
#include "support/check.h"
#include "support/lab.h"

#define NODE_CONFIG(more)                                                                                              \
    "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster: {name: c, apiServerEndpoint: https://e, "  \
    "cidr: 10.0.0.0/16}\n" more

#define M5_LARGE                                                                                                                \
    "{\"VCpuInfo\":{\"DefaultVCpus\":2},\"MemoryInfo\":{\"SizeInMiB\":8192},\"NetworkInfo\":{\"Ipv4AddressesPerInterface\":10," \
    "\"DefaultNetworkCardIndex\":0,\"NetworkCards\":[{\"NetworkCardIndex\":0,\"MaximumNetworkInterfaces\":3}]},"                \
    "\"InstanceStorageInfo\":{\"TotalSizeInGB\":75},\"GpuInfo\":{\"Gpus\":[{\"Manufacturer\":\"NVIDIA\",\"Count\":2}]}}"

static struct sim_machine machine_of(struct lab *l, const char *id, const char *data)
{
    const struct tree *info;
    struct err e;

    check_ok("info", tree_parse_json(l->a, "info", str_c(M5_LARGE), &info, &e), &e);
    return (struct sim_machine){.id = str_c(id),
                                .type = STR("m5.large"),
                                .zone = STR("us-west-2a"),
                                .zone_id = STR("usw2-az1"),
                                .region = STR("us-west-2"),
                                .private_dns = STR("ip-10-0-0-9.us-west-2.compute.internal"),
                                .private_ip = STR("10.0.0.9"),
                                .arch = STR("x86_64"),
                                .user_data = str_c(data),
                                .info = info};
}

static struct boot *boot_of(struct lab *l, uint32_t never)
{
    return boot_new(&(struct boot_options){.world = l->s->world,
                                           .cluster = l->c,
                                           .agent = {1000, 2000},
                                           .cluster_name = STR("c"),
                                           .endpoint = STR("https://e"),
                                           .never = never});
}

#define NODE "ip-10-0-0-9.us-west-2.compute.internal"

static void node_of_machine(void **state)
{
    static const struct {
        const char *path, *want;
    } facts[] = {
        {"spec.providerID", "\"aws:///us-west-2a/i-1\""},
        {"spec.taints.0", "{\"key\":\"karpenter.sh/unregistered\",\"effect\":\"NoExecute\"}"},
        {"metadata.labels.pool", "\"np\""},
        {"status.addresses.0.address", "\"10.0.0.9\""},
        {"status.capacity.cpu", "\"2\""},
        {"status.capacity.memory", "\"7969177Ki\""},
        {"status.capacity.pods", "\"29\""},
        {"status.capacity.ephemeral-storage", "\"20Gi\""},
        {"status.allocatable.cpu", "\"1930m\""},
        {"status.allocatable.memory", "\"7279001Ki\""},
        {"status.allocatable.ephemeral-storage", "\"17Gi\""},
    };
    struct lab *l = *state;
    AUTO(boot) struct boot *b = boot_of(l, 0);
    struct sim_machine m =
        machine_of(l, "i-1",
                   NODE_CONFIG("  kubelet: {config: {registerWithTaints: [{key: karpenter.sh/unregistered, "
                               "effect: NoExecute}]}, flags: [--node-labels=pool=np]}\n"));

    boot_running(b, &m);
    lab_run(l, 0.5);
    check_u64("not at once", lab_count(l, "nodes", "ip-"), 0);
    lab_run(l, 5);
    check_u64("then it is there", lab_count(l, "nodes", "ip-"), 1);
    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        check_str(facts[i].path, lab_get(l, "nodes", NODE, facts[i].path), facts[i].want);
    check_true("labels of the cloud", str_contains(lab_get(l, "nodes", NODE, "metadata.labels"),
                                                   STR("\"topology.k8s.aws/zone-id\":\"usw2-az1\"")));
    check_true("devices",
               str_contains(lab_get(l, "nodes", NODE, "status.allocatable"), STR("\"nvidia.com/gpu\":\"2\"")));
    check_str("ready", str_sub(lab_condition(l, "nodes", NODE, "Ready"), 0, 4), "True");
    boot_gone(b, &m);
    lab_run(l, 60);
    check_str("nobody hears of it", str_sub(lab_condition(l, "nodes", NODE, "Ready"), 0, 7), "Unknown");
}

static void those_that_stay_away(void **state)
{
    static const struct {
        const char *name, *data;
        uint32_t never;
    } cases[] = {
        {"another cluster", "#!/bin/sh\nbootstrap.sh d", 0},
        {"another server", "#!/bin/sh\nbootstrap.sh c --apiserver-endpoint https://other", 0},
        {"not to be read", "#!/bin/sh\nbootstrap.sh 'c", 0},
        {"by chance", "#!/bin/sh\nbootstrap.sh c", 65536},
    };
    struct lab *l = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(boot) struct boot *b = boot_of(l, cases[i].never);
        struct sim_machine m = machine_of(l, "i-1", cases[i].data);

        boot_running(b, &m);
        lab_run(l, 10);
        check_u64(cases[i].name, lab_count(l, "nodes", "ip-"), 0);
        boot_gone(b, &m);
        boot_set_never(b, 0);
    }
}

/* An address is used again, and the one who had it first is reported gone late. */
static void successors(void **state)
{
    struct lab *l = *state;
    AUTO(boot) struct boot *b = boot_of(l, 0);
    struct sim_machine first = machine_of(l, "i-1", "#!/bin/sh\nbootstrap.sh c"),
                       second = machine_of(l, "i-2", "#!/bin/sh\nbootstrap.sh c");

    boot_running(b, &first);
    lab_run(l, 5);
    lab_delete(l, "nodes", NODE);
    boot_running(b, &second);
    boot_gone(b, &first);
    lab_run(l, 5);
    check_str("the second one joins", lab_get(l, "nodes", NODE, "spec.providerID"), "\"aws:///us-west-2a/i-2\"");
    lab_run(l, 60);
    check_str("and lives", str_sub(lab_condition(l, "nodes", NODE, "Ready"), 0, 4), "True");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(node_of_machine, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(those_that_stay_away, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(successors, lab_setup, lab_teardown),
    };

    return cmocka_run_group_tests_name("sim/boot", tests, NULL, NULL);
}
