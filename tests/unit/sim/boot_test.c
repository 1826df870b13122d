/* Machines that join: what user data of every form tells a kubelet, and what of it arrives at the Node. */
#include "sim/boot/boot.h"

#include "data/json.h"
#include "data/reader.h"
#include "sim/boot/told.h"
#include "support/check.h"
#include "support/lab.h"

#define MIME(parts) "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\n" parts "\n--//--\n"
#define CONFIG "Content-Type: application/node.eks.aws\n\n"
#define SHELL "Content-Type: text/x-shellscript; charset=\"us-ascii\"\n\n"
#define NODE_CONFIG(more)                                                                                              \
    "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster: {name: c, apiServerEndpoint: https://e, "  \
    "cidr: 10.0.0.0/16}\n" more
#define JOIN "/etc/eks/bootstrap.sh 'c' --apiserver-endpoint 'https://e' "

/* "cluster endpoint labels taints max-pods kube system hard", what was not said as -. */
static str print(struct arena *a, const struct told *t)
{
    const struct tree *const trees[] = {t->labels, t->taints, t->kube.of, t->system.of, t->hard.of};
    struct sb b = {0};

    sb_printf(&b, STR_FMT " " STR_FMT, STR_ARG(t->cluster), STR_ARG(t->endpoint));
    for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
        sb_char(&b, ' ');
        if (trees[i]->n)
            sb_str(&b, json_text(a, trees[i]));
        else
            sb_char(&b, '-');
    }
    sb_printf(&b, " %lld%s%s%s", (long long)t->max_pods, t->windows ? " windows" : "", t->local_disks ? " disks" : "",
              t->kube.whole || t->hard.whole ? " whole" : "");
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static const struct {
    const char *name, *data, *want;
} forms[] = {
    {"nodeadm in a message",
     MIME(CONFIG NODE_CONFIG("  kubelet:\n    config:\n      maxPods: 29\n      kubeReserved: {cpu: 100m}\n"
                             "      registerWithTaints:\n      - {effect: NoExecute, key: karpenter.sh/unregistered}\n"
                             "    flags:\n    - --node-labels=\"a=b,karpenter.sh/nodepool=np\"\n")),
     "c https://e {\"a\":\"b\",\"karpenter.sh/nodepool\":\"np\"} "
     "[{\"key\":\"karpenter.sh/unregistered\",\"effect\":\"NoExecute\"}] {\"cpu\":\"100m\"} - - 29"},
    {"nodeadm alone, with its own disks", NODE_CONFIG("  instance: {localStorage: {strategy: RAID0}}\n"),
     "c https://e - - - - - -1 disks"},
    {"later NodeConfigs win, flags are all kept",
     MIME(CONFIG "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet: {config: {maxPods: 5, "
                 "systemReserved: {cpu: 1m}}, flags: [--node-labels=x=y]}\n\n--//\n" CONFIG NODE_CONFIG(
                     "  kubelet: {config: {maxPods: 6, systemReserved: {memory: 1Mi}}, flags: [--node-labels=z=y]}\n")),
     "c https://e {\"x\":\"y\",\"z\":\"y\"} - - {\"cpu\":\"1m\",\"memory\":\"1Mi\"} - 6"},
    {"a script beside a NodeConfig does nothing", MIME(SHELL "#!/bin/sh\necho 'hi'\n\n--//\n" CONFIG NODE_CONFIG("")),
     "c https://e - - - - - -1"},
    {"bootstrap.sh",
     MIME(SHELL
          "#!/bin/bash -xe\nexec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1\n" JOIN
          "--b64-cluster-ca 'Y2E=' \\\n--use-max-pods false \\\n--kubelet-extra-args '--node-labels=\"a=b,c=d\" "
          "--register-with-taints=\"k=v:NoSchedule,u:NoExecute\" --max-pods=110 --kube-reserved=\"cpu=1m\" "
          "--eviction-hard=\"memory.available<5%\"' \\\n--local-disks raid0"),
     "c https://e {\"a\":\"b\",\"c\":\"d\"} [{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"},"
     "{\"key\":\"u\",\"effect\":\"NoExecute\"}] {\"cpu\":\"1m\"} - {\"memory.available\":\"5%\"} 110 disks whole"},
    {"bootstrap.sh in a script of a user",
     "#!/bin/bash\n# it's a comment\ncat <<'EOF' > /etc/motd\nit's a document\nEOF\nset -e; " JOIN
     "--kubelet-extra-args \"--max-pods 7\" || exit 1\n",
     "c https://e - - - - - 7"},
    {"the second call counts", "#!/bin/sh\nbootstrap.sh x --apiserver-endpoint y\nsudo " JOIN "\n",
     "c https://e - - - - - -1"},
    {"Bottlerocket",
     "[settings]\n[settings.kubernetes]\napi-server = 'https://e'\ncluster-name = 'c'\nmax-pods = 29\n"
     "[settings.kubernetes.node-labels]\na = 'b'\n[settings.kubernetes.node-taints]\nk = ['v:NoSchedule', ':NoExecute']\n"
     "[settings.kubernetes.kube-reserved]\nmemory = '1Gi'\n",
     "c https://e {\"a\":\"b\"} [{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"},{\"key\":\"k\",\"effect\":\"NoExecute\"}] "
     "{\"memory\":\"1Gi\"} - - 29"},
    {"Windows",
     "<powershell>\nWrite-Host 'it''s me'\n[string]$EKSBootstrapScriptFile = \"$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1\"\n"
     "& $EKSBootstrapScriptFile -EKSClusterName 'c' -APIServerEndpoint 'https://e' -Base64ClusterCA 'Y2E=' -KubeletExtraArgs "
     "'--node-labels=\"a=b\" --register-with-taints=\"u:NoExecute\" --max-pods=110' -DNSClusterIP '10.0.0.10'\n</powershell>",
     "c https://e {\"a\":\"b\"} [{\"key\":\"u\",\"effect\":\"NoExecute\"}] - - - 110 windows"},
    {"a part in base64",
     MIME("Content-Transfer-Encoding: base64\nContent-Type: text/x-shellscript\n\nL2V0Yy9la3MvYm9vdHN0cmFw\nLnNoIGM="),
     "c  - - - - - -1"},
};

static void every_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct told t;
        struct err e;

        check_ok(forms[i].name, told_read(a, str_c(forms[i].data), &t, &e), &e);
        check_str(forms[i].name, print(a, &t), forms[i].want);
    }
}

static const struct {
    const char *name, *data, *want;
} refused[] = {
    {"nothing", "", "the user data names no cluster"},
    {"a script that does not join", "#!/bin/sh\necho\n", "the user data names no cluster"},
    {"no form", "hello: [", "neither a message, a script, a NodeConfig nor TOML"},
    {"a message without parts", "MIME-Version: 1.0\nContent-Type: text/plain\n\nx", "the message has no parts"},
    {"a message without a boundary in it", "Content-Type: multipart/mixed; boundary=x\n\ny",
     "the message has no boundary in it"},
    {"another kind", MIME(CONFIG "apiVersion: v1\nkind: Pod\n"), "not a NodeConfig of node.eks.aws"},
    {"a NodeConfig without an endpoint",
     "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: {name: c}}\n",
     "NodeConfig: spec.cluster has no apiServerEndpoint"},
    {"a label that is not the kubelet's to give",
     "#!/bin/sh\n" JOIN "--kubelet-extra-args '--node-labels=a.kubernetes.io/b=c'",
     "a kubelet may not give itself the label a.kubernetes.io/b"},
    {"an effect that there is not", "#!/bin/sh\n" JOIN "--kubelet-extra-args '--register-with-taints=a:Never'",
     "taint a: Never is no effect"},
    {"an open quote", "#!/bin/sh\nbootstrap.sh 'c", "the script ends inside of quotes"},
    {"pods below zero", NODE_CONFIG("  kubelet: {config: {maxPods: -1}}\n"), "maxPods: not a number of pods"},
};

static void refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct told t;
        struct err e;

        check_true(refused[i].name, !told_read(a, str_c(refused[i].data), &t, &e));
        check_true(refused[i].name, e.kind == ERR_INVALID);
        check_true(e.msg, str_starts(str_c(e.msg), str_c(refused[i].want)));
    }
}

/* ---- joining ---- */

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
        cmocka_unit_test(every_form),
        cmocka_unit_test(refusals),
        cmocka_unit_test_setup_teardown(node_of_machine, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(those_that_stay_away, lab_setup, lab_teardown),
        cmocka_unit_test_setup_teardown(successors, lab_setup, lab_teardown),
    };

    return cmocka_run_group_tests_name("sim/boot", tests, NULL, NULL);
}
