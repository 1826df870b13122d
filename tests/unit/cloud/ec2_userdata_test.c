/* User data of every family: the examples of the specification (aws A.5), and what a class's own user data may look like. */
#include "cloud/ec2/userdata.h"

#include "data/edit.h"
#include "data/toml.h"
#include "support/check.h"
#include "support/fixture.h"
#include "support/trees.h"

#define LABELS                                                                                                         \
    "karpenter.k8s.aws/ec2nodeclass=nc,karpenter.sh/capacity-type=on-demand,karpenter.sh/do-not-sync-taints=true,"     \
    "karpenter.sh/nodepool=np,testing/cluster=unspecified"
#define ENVELOPE "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\n"
#define SHELL "Content-Type: text/x-shellscript; charset=\"us-ascii\"\n\n"
#define CONFIG "Content-Type: application/node.eks.aws\n\n"
#define NEXT "\n--//\n"
#define END "\n--//--\n"
#define NODE_CONFIG_WITH(storage, more)                                                                                \
    "# Karpenter Generated NodeConfig\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nmetadata: {}\nspec:\n"     \
    "  cluster:\n    apiServerEndpoint: https://test-cluster\n    certificateAuthority: Y2EtYnVuZGxlCg==\n"            \
    "    cidr: 10.100.0.0/16\n    name: test-cluster\n  containerd: {}\n  instance:\n    localStorage:" storage        \
    "\n  kubelet:\n    config:\n      clusterDNS:\n      - 10.0.100.10\n" more                                         \
    "      maxPods: 110\n      registerWithTaints:\n      - effect: NoExecute\n"                                       \
    "        key: karpenter.sh/unregistered\n    flags:\n    - --node-labels=\"" LABELS "\"\n"
#define NODE_CONFIG NODE_CONFIG_WITH(" {}", "")
#define FLAGS                                                                                                          \
    "--node-labels=\"" LABELS "\" --register-with-taints=\"karpenter.sh/unregistered:NoExecute\" --max-pods=110"
#define SCRIPT_WITH(ca, dns, more)                                                                                     \
    "#!/bin/bash -xe\nexec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1\n"               \
    "/etc/eks/bootstrap.sh 'test-cluster' --apiserver-endpoint 'https://test-cluster' " ca dns                         \
    " \\\n--use-max-pods false \\\n--kubelet-extra-args '" FLAGS "'" more
#define CA "--b64-cluster-ca 'Y2EtYnVuZGxlCg=='"
#define SCRIPT SCRIPT_WITH(CA, " \\\n--dns-cluster-ip '10.0.100.10'", "")

static const struct ec2_kv labels[] = {
    {STR_INIT("karpenter.k8s.aws/ec2nodeclass"), STR_INIT("nc")},
    {STR_INIT("karpenter.sh/capacity-type"), STR_INIT("on-demand")},
    {STR_INIT("karpenter.sh/do-not-sync-taints"), STR_INIT("true")},
    {STR_INIT("karpenter.sh/nodepool"), STR_INIT("np")},
    {STR_INIT("testing/cluster"), STR_INIT("unspecified")},
};
static const struct taint_text taints[] = {
    {STR_INIT("karpenter.sh/unregistered"), STR_INIT(""), STR_INIT("NoExecute")},
    {STR_INIT("foo"), STR_INIT("bar"), STR_INIT("NoExecute")},
    {STR_INIT("baz"), STR_INIT("bin"), STR_INIT("NoExecute")},
    {STR_INIT("foo"), STR_INIT("qux"), STR_INIT("NoSchedule")},
};
static const str dns[] = {STR_INIT("10.0.100.10")};

static struct ec2_boot boot(void)
{
    return (struct ec2_boot){.cluster = STR("test-cluster"),
                             .endpoint = STR("https://test-cluster"),
                             .ca_bundle = STR("Y2EtYnVuZGxlCg=="),
                             .cidr = STR("10.100.0.0/16"),
                             .labels = labels,
                             .n_labels = ARRAY_LEN(labels),
                             .taints = taints,
                             .n_taints = 1,
                             .max_pods = 110,
                             .dns = dns,
                             .n_dns = 1,
                             .ami_version = STR("latest")};
}

static struct ec2_class *class_of(struct fixture *f, const char *spec, const char *own)
{
    struct tree *t = tree_yaml(f->a, arena_printf(f->a, "{metadata: {name: nc}, spec: %s}%c", spec, 0).p);
    struct err e = {0};

    if (own)
        tree_set_str(f->a, tree_find(t, STR("spec")), "userData", str_c(own));
    struct ec2_class *k = ec2_class_decode(f->a, f->t, t, STR(""), &e);
    check_ok(spec, k != NULL, &e);
    return k;
}

static str text_of(struct fixture *f, const struct ec2_class *k, const struct ec2_boot *b)
{
    struct err e = {0};
    str got = {0};

    check_ok("user data", ec2_user_data(f->a, k, b, &got, &e), &e);
    return got;
}

static void check_text(struct fixture *f, const char *name, const char *spec, const char *own, const struct ec2_boot *b,
                       const char *want)
{
    check_str(name, text_of(f, class_of(f, spec, own), b), want);
}

#define MULTI "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n"

static const struct {
    const char *name, *own, *want; /* want: NULL: refused */
} al2023[] = {
    {"nothing", NULL, ENVELOPE CONFIG NODE_CONFIG END},
    {"empty", "", ENVELOPE CONFIG NODE_CONFIG END},
    {"a script", "#!/bin/bash\necho hi\n", ENVELOPE SHELL "#!/bin/bash\necho hi\n" NEXT CONFIG NODE_CONFIG END},
    {"a map", "spec:\n  x: 1\n", ENVELOPE CONFIG "spec:\n  x: 1\n" NEXT CONFIG NODE_CONFIG END},
    {"JSON", "{\"spec\": {}}", ENVELOPE CONFIG "{\"spec\": {}}" NEXT CONFIG NODE_CONFIG END},
    {"comments alone", "# none\n", ENVELOPE CONFIG "# none\n" NEXT CONFIG NODE_CONFIG END},
    {"a text", "hello", ENVELOPE SHELL "hello" NEXT CONFIG NODE_CONFIG END},
    {"the first document counts", "---\na: 1\n---\n- x\n",
     ENVELOPE CONFIG "---\na: 1\n---\n- x\n" NEXT CONFIG NODE_CONFIG END},
    {"a list first", "- x\n---\na: 1\n", ENVELOPE SHELL "- x\n---\na: 1\n" NEXT CONFIG NODE_CONFIG END},
    {"parts keep their type alone",
     MULTI "--B\nX-A: b\nContent-Type: text/x-one\n\none\n--B\nContent-Type: text/x-two\n\ntwo\n\n--B--\n",
     ENVELOPE "Content-Type: text/x-one\n\none" NEXT "Content-Type: text/x-two\n\ntwo\n" NEXT CONFIG NODE_CONFIG END},
    {"no type", MULTI "--B\n\none\n--B--\n", ENVELOPE "Content-Type: \n\none" NEXT CONFIG NODE_CONFIG END},
    {"a header that goes on below",
     "Content-Type: multipart/mixed;\n boundary=B\nMIME-Version: 1.0\n\n--B\nContent-Type: x/y\n\none\n--B--",
     ENVELOPE "Content-Type: x/y\n\none" NEXT CONFIG NODE_CONFIG END},
    {"carriage returns go",
     "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"B\"\r\n\r\n--B\r\nContent-Type: x/y\r\n\r\none\r\ntwo\r\n--B--\r\n",
     ENVELOPE "Content-Type: x/y\n\none\ntwo" NEXT CONFIG NODE_CONFIG END},
    {"what stands before the parts goes", MULTI "hello\n--B\nContent-Type: x/y\n\none\n--B--\n",
     ENVELOPE "Content-Type: x/y\n\none" NEXT CONFIG NODE_CONFIG END},
    {"no parts", MULTI "--B--\n", ENVELOPE CONFIG NODE_CONFIG END},
    {"no parts at all", MULTI, ENVELOPE CONFIG NODE_CONFIG END},
    {"an empty part", MULTI "--B\nContent-Type: x/y\n\n--B--\n",
     ENVELOPE "Content-Type: x/y\n\n" NEXT CONFIG NODE_CONFIG END},
    {"the last boundary without dashes", MULTI "--B\nContent-Type: x/y\n\none\n--B\n",
     ENVELOPE "Content-Type: x/y\n\none" NEXT CONFIG NODE_CONFIG END},
    {"nor a line feed", MULTI "--B\nContent-Type: x/y\n\none\n--B",
     ENVELOPE "Content-Type: x/y\n\none" NEXT CONFIG NODE_CONFIG END},
    {"something like a boundary", MULTI "--B\nContent-Type: x/y\n\none\n--Bx\n--B--\n",
     ENVELOPE "Content-Type: x/y\n\none\n--Bx" NEXT CONFIG NODE_CONFIG END},
    {"quoted-printable",
     MULTI "--B\nContent-Type: x/y\nContent-Transfer-Encoding: Quoted-Printable\n\na=3Db=\nc \nd\n--B--\n",
     ENVELOPE "Content-Type: x/y\n\na=bc\nd" NEXT CONFIG NODE_CONFIG END},
    {"no end", MULTI "--B\nContent-Type: x/y\n\none\n", NULL},
    {"not multipart", "MIME-Version: 1.0\nContent-Type: text/plain\n\nhi\n", NULL},
    {"no boundary", "MIME-Version: 1.0\nContent-Type: multipart/mixed\n\n--B--\n", NULL},
    {"an empty boundary", "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"\"\n\n--B--\n", NULL},
    {"no type of its own", "MIME-Version: 1.0\n\n--B--\n", NULL},
    {"white space in front", "\n" MULTI "--B--\n", NULL},
    {"a bad header", "MIME-Version: 1.0\nnonsense\n\n--B--\n", NULL},
    {"a bad header of a part", MULTI "--B\nnonsense\n\none\n--B--\n", NULL},
};

static void check_own(struct fixture *f, const char *spec, const char *name, const char *own, const char *want)
{
    struct ec2_boot b = boot();
    struct err e = {0};
    str got;

    if (want)
        check_text(f, name, spec, own, &b, want);
    else
        check_true(name, !ec2_user_data(f->a, class_of(f, spec, own), &b, &got, &e) && e.kind == ERR_INVALID &&
                             str_starts(str_c(e.msg), STR("spec.userData")));
}

static void nodeadm(void **state)
{
    struct ec2_boot b = boot();

    for (size_t i = 0; i < ARRAY_LEN(al2023); i++)
        check_own(*state, "{amiFamily: AL2023}", al2023[i].name, al2023[i].own, al2023[i].want);
    check_text(*state, "RAID0", "{amiFamily: AL2023, instanceStorePolicy: RAID0}", NULL, &b,
               ENVELOPE CONFIG NODE_CONFIG_WITH("\n      strategy: RAID0", "") END);
    check_text(
        *state, "the kubelet's own",
        "{amiFamily: AL2023, kubelet: {kubeReserved: {cpu: 100m, memory: vcpus * 2}, cpuCFSQuota: true}}", NULL, &b,
        ENVELOPE CONFIG NODE_CONFIG_WITH(" {}", "      cpuCFSQuota: true\n      kubeReserved:\n        cpu: 100m\n")
            END);
}

static const struct {
    const char *name, *own, *want;
} al2[] = {
    {"nothing", NULL, ENVELOPE SHELL SCRIPT END},
    {"a script", "#!/bin/bash\n", ENVELOPE SHELL "#!/bin/bash\n" NEXT SHELL SCRIPT END},
    {"a map is a script, too", "a: b", ENVELOPE SHELL "a: b" NEXT SHELL SCRIPT END},
    {"headers are kept, sorted", MULTI "--B\nx-b: 2\ncontent-type: x/y\nX-A:  1 \n\none\n--B--\n",
     ENVELOPE "Content-Type: x/y\nX-A: 1\nX-B: 2\n\none" NEXT SHELL SCRIPT END},
    {"headers in another order",
     "Content-Type: multipart/mixed; boundary=\"B\"\nMIME-Version: 1.0\n\n--B\nContent-Type: x/y\n\none\n--B--\n",
     ENVELOPE "Content-Type: x/y\n\none" NEXT SHELL SCRIPT END},
    {"no end", MULTI "--B\nContent-Type: x/y\n\none\n", NULL},
};

static void bootstrap_script(void **state)
{
    static const str six[] = {STR_INIT("fd4b:121b:812b::a")};
    struct ec2_boot b = boot();

    for (size_t i = 0; i < ARRAY_LEN(al2); i++)
        check_own(*state, "{amiFamily: AL2}", al2[i].name, al2[i].own, al2[i].want);
    check_text(*state, "RAID0", "{amiFamily: AL2, instanceStorePolicy: RAID0}", NULL, &b,
               ENVELOPE SHELL SCRIPT_WITH(CA, " \\\n--dns-cluster-ip '10.0.100.10'", " \\\n--local-disks raid0") END);
    b.dns = six;
    check_text(*state, "another family of addresses", "{amiFamily: AL2}", NULL, &b,
               ENVELOPE SHELL SCRIPT_WITH(CA, " \\\n--ip-family ipv6 \\\n--dns-cluster-ip 'fd4b:121b:812b::a'", "")
                   END);
    b.n_dns = 0;
    b.ca_bundle = STR("");
    check_text(*state, "nothing known", "{amiFamily: AL2}", NULL, &b, ENVELOPE SHELL SCRIPT_WITH("", "", "") END);
}

static void flags(void **state)
{
    struct ec2_boot b = boot();
    struct ec2_kv cpu = {STR("cpu"), STR("60m")};
    struct fixture *f = *state;

    b.n_taints = 2;
    b.n_labels = 0;
    b.kube_reserved = (struct ec2_kvs){&cpu, 1, true};
    str got = text_of(
        f,
        class_of(
            f,
            "{amiFamily: Windows2022, kubelet: {maxPods: 20, podsPerCore: 5, systemReserved: {memory: 1Gi, cpu: 10m}, "
            "kubeReserved: {cpu: vcpus * 30}, evictionHard: {memory.available: 5%}, evictionSoft: "
            "{memory.available: 10%}, evictionSoftGracePeriod: {memory.available: 1m}, evictionMaxPodGracePeriod: 60, "
            "imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 50, cpuCFSQuota: false}}",
            NULL),
        &b);
    check_true(
        "every flag, in order",
        str_contains(
            got,
            STR("-KubeletExtraArgs '--register-with-taints=\"karpenter.sh/unregistered:NoExecute,foo=bar:NoExecute\" "
                "--max-pods=20 --pods-per-core=5 --system-reserved=\"cpu=10m,memory=1Gi\" --kube-reserved=\"cpu=60m\" "
                "--eviction-hard=\"memory.available<5%\" --eviction-soft=\"memory.available<10%\" "
                "--eviction-soft-grace-period=\"memory.available=1m0s\" --eviction-max-pod-grace-period=60 "
                "--image-gc-high-threshold=80 --image-gc-low-threshold=50 --cpu-cfs-quota=false' ")));
}

#define POWERSHELL                                                                                                     \
    "[string]$EKSBootstrapScriptFile = \"$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1\"\n"                   \
    "& $EKSBootstrapScriptFile -EKSClusterName 'test-cluster' -APIServerEndpoint 'https://test-cluster'"

static void powershell(void **state)
{
    struct ec2_boot b = boot();

    check_text(*state, "nothing", "{amiFamily: Windows2019}", NULL, &b,
               "<powershell>\n" POWERSHELL " -Base64ClusterCA 'Y2EtYnVuZGxlCg==' -KubeletExtraArgs '" FLAGS
               "' -DNSClusterIP '10.0.100.10'\n</powershell>");
    b.ca_bundle = STR("");
    b.n_dns = 0;
    check_text(*state, "a script", "{amiFamily: Windows2025}", "Write-Host hi", &b,
               "<powershell>\nWrite-Host hi\n" POWERSHELL " -KubeletExtraArgs '" FLAGS "'\n</powershell>");
}

static void custom(void **state)
{
    struct ec2_boot b = boot();

    check_text(*state, "as it is", "{amiFamily: Custom}", "any\r\nthing ", &b, "any\r\nthing ");
    check_text(*state, "nothing", "{amiFamily: Custom}", NULL, &b, "");
}

/* ---- Bottlerocket ---- */

#define KUBERNETES(before_dns, more)                                                                                   \
    "[settings.kubernetes]\napi-server = 'https://test-cluster'\n" before_dns                                          \
    "cluster-certificate = 'Y2EtYnVuZGxlCg=='\ncluster-name = 'test-cluster'\ncluster-dns-ip = '10.0.100.10'\n"        \
    "max-pods = 110\n" more
#define LABEL_TABLE(own)                                                                                               \
    "\n[settings.kubernetes.node-labels]\n" own                                                                        \
    "'karpenter.k8s.aws/ec2nodeclass' = 'nc'\n'karpenter.sh/capacity-type' = 'on-demand'\n"                            \
    "'karpenter.sh/do-not-sync-taints' = 'true'\n'karpenter.sh/nodepool' = 'np'\n'testing/cluster' = 'unspecified'\n"
#define TAINT_TABLE "\n[settings.kubernetes.node-taints]\n'karpenter.sh/unregistered' = [':NoExecute']\n"
#define PLAIN "[settings]\n" KUBERNETES("", "") LABEL_TABLE("") TAINT_TABLE
#define MOUNT(bind)                                                                                                    \
    "[settings.bootstrap-commands.000-mount-instance-storage]\ncommands = [['apiclient', 'ephemeral-storage', "        \
    "'init'], ['apiclient', 'ephemeral-storage', 'bind'" bind "]]\nmode = 'always'\nessential = true\n"
#define BOUND ", '--dirs', '/var/lib/containerd', '/var/lib/kubelet', '/var/log/pods'"

static const struct {
    const char *name, *own, *want;
} tomls[] = {
    {"nothing", NULL, PLAIN},
    {"empty", "", PLAIN},
    {"what is not settings goes", "x = 1\n[other]\ny = 2\n", PLAIN},
    {"what is not known goes", "[settings.kubernetes]\nunknown-setting = 'x'\n[settings.kubernetes.labels]\na = 'b'\n",
     PLAIN},
    {"the specification's example",
     "[settings.kubernetes]\nunknown-setting = 'unknown'\ncloud-provider = \"external\"\napi-server = '[a]'\ncluster-certificate = "
     "'x'\ncluster-name = 'y'\nmax-pods = 1\n[settings.kubernetes.labels]\n'field.label' = 'x'\n[settings.kubernetes.node-labels]\n"
     "custom-node-label = 'custom'\n'karpenter.sh/nodepool' = 'me'\n[settings.kubernetes.node-taints]\nreplace = "
     "[\"me:Schedule\"]\n[settings.kubernetes.eviction-hard]\n'memory.available' = '12%'\n[settings.ntp]\ntime-servers = "
     "['169.254.169.123']\n[settings.network]\nno-proxy = ['localhost']\nhttps-proxy = 'x:1'\nhosts = [['1.2.3.4', ['a', 'b']]]\n"
     "hostname = 'h'\n",
     "[settings]\n" KUBERNETES("cloud-provider = 'external'\n", "") LABEL_TABLE("custom-node-label = 'custom'\n")
         TAINT_TABLE
     "\n[settings.kubernetes.eviction-hard]\n'memory.available' = '12%'\n\n[settings.network]\nhostname = "
     "'h'\nhosts = [['1.2.3.4', ['a', 'b']]]\nhttps-proxy = 'x:1'\nno-proxy = ['localhost']\n\n[settings.ntp]\n"
     "time-servers = ['169.254.169.123']\n"},
    {"scalars of settings are kept", "[settings]\nb = 1e3\na = \"x\\ty\"\n",
     "[settings]\na = \"x\\ty\"\nb = 1000.0\n\n" KUBERNETES("", "") LABEL_TABLE("") TAINT_TABLE},
    {"tables of tables",
     "[settings.kubernetes.credential-providers.ecr]\nenabled = true\nother = 1\n[settings.kubernetes.static-pods]\n",
     "[settings]\n" KUBERNETES(
         "", "") "\n[settings.kubernetes.credential-providers]\n[settings.kubernetes.credential-providers.ecr]\n"
                 "enabled = true\nimage-patterns = []\n" LABEL_TABLE("") TAINT_TABLE},
    {"reserved memory",
     "[settings.kubernetes]\nmemory-manager-policy = 'Static'\n[settings.kubernetes.memory-manager-reserved-memory.1]\nenabled = "
     "true\n[settings.kubernetes.memory-manager-reserved-memory.0]\nhugepages-1Gi = '2Gi'\nmemory = '1Gi'\nenabled = true\n",
     "[settings]\n" KUBERNETES("", "memory-manager-policy = 'Static'\n") LABEL_TABLE("") TAINT_TABLE
     "\n[settings.kubernetes.memory-manager-reserved-memory]\n[settings.kubernetes.memory-manager-reserved-memory.0]\n"
     "enabled = true\nmemory = '1Gi'\nhugepages-1Gi = '2Gi'\n\n[settings.kubernetes.memory-manager-reserved-memory.1]\n"
     "enabled = true\n"},
    {"commands", "[settings.bootstrap-commands.a]\nmode = 'once'\nother = 1\n",
     "[settings]\n[settings.bootstrap-commands]\n[settings.bootstrap-commands.a]\ncommands = []\nmode = 'once'\nessential = "
     "false\n\n" KUBERNETES("", "") LABEL_TABLE("") TAINT_TABLE},
    {"no TOML", "not = [toml", NULL},
    {"a wrong type", "[settings.kubernetes]\nmax-pods = 'x'\n", NULL},
    {"a float for an integer", "[settings.kubernetes]\nregistry-qps = 5.0\n", NULL},
    {"an integer for a text", "[settings.kubernetes.eviction-hard]\nx = 5\n", NULL},
    {"a wrong type deeper", "[settings.kubernetes.static-pods.one]\nenabled = 'yes'\n", NULL},
    {"settings that are no table", "settings = 1\n", NULL},
    {"nor are these", "[settings]\nkubernetes = 1\n", NULL},
    {"commands of a wrong type", "[settings.bootstrap-commands]\na = 1\n", NULL},
    {"a command of a wrong type", "[settings.bootstrap-commands.a]\ncommands = ['x']\n", NULL},
};

static void toml(void **state)
{
    struct ec2_boot b = boot();

    for (size_t i = 0; i < ARRAY_LEN(tomls); i++)
        check_own(*state, "{amiFamily: Bottlerocket}", tomls[i].name, tomls[i].own, tomls[i].want);
    b.taints = taints + 1;
    b.n_taints = 3;
    check_true(
        "taints by key",
        str_contains(
            text_of(*state, class_of(*state, "{amiFamily: Bottlerocket}", NULL), &b),
            STR("\n[settings.kubernetes.node-taints]\nbaz = ['bin:NoExecute']\nfoo = ['bar:NoExecute', 'qux:NoSchedule']\n")));
}

static void toml_of_the_kubelet(void **state)
{
    struct ec2_boot b = boot();
    struct fixture *f = *state;

    check_text(
        f, "the class's win",
        "{amiFamily: Bottlerocket, kubelet: {evictionHard: {memory.available: 5%}, evictionSoftGracePeriod: {memory.available: 1m}, "
        "evictionMaxPodGracePeriod: 9, imageGCHighThresholdPercent: 80, cpuCFSQuota: false, podsPerCore: 3, "
        "kubeReserved: {cpu: 1m}}}",
        "[settings.kubernetes]\nimage-gc-low-threshold-percent = '7'\nevent-qps = 0\n[settings.kubernetes.eviction-hard]\n"
        "'nodefs.available' = '1%'\n[settings.kubernetes.system-reserved]\ncpu = '9m'\n",
        &b,
        "[settings]\n" KUBERNETES(
            "", "eviction-max-pod-grace-period = 9\nevent-qps = 0\nimage-gc-high-threshold-percent = '80'\n"
                "image-gc-low-threshold-percent = '7'\ncpu-cfs-quota-enforced = false\n") LABEL_TABLE("") TAINT_TABLE
        "\n[settings.kubernetes.eviction-hard]\n'memory.available' = '5%'\n\n[settings.kubernetes.eviction-soft-grace-period]\n"
        "'memory.available' = '1m0s'\n\n[settings.kubernetes.kube-reserved]\ncpu = '1m'\n\n[settings.kubernetes.system-reserved]\n"
        "cpu = '9m'\n");
}

static void toml_of_disks(void **state)
{
    static const struct {
        const char *version;
        bool bare;
    } versions[] = {
        {"latest", true},  {"1.46.0", true},  {"v1.46.0", true}, {"1.47.3", true}, {"2.0.0", true},
        {"1.45.0", false}, {"0.99.0", false}, {"1.46", false},   {"", false},      {"x.y.z", false},
        {"v1.x.0", false}, {"1", false},      {"1.100.0", true},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct ec2_boot b = boot();

        b.ami_version = str_c(versions[i].version);
        check_text(f, versions[i].version, "{amiFamily: Bottlerocket, instanceStorePolicy: RAID0}", NULL, &b,
                   versions[i].bare ? "[settings]\n[settings.bootstrap-commands]\n" MOUNT("") "\n" KUBERNETES("", "")
                                          LABEL_TABLE("") TAINT_TABLE
                                    : "[settings]\n[settings.bootstrap-commands]\n" MOUNT(BOUND) "\n" KUBERNETES("", "")
                                          LABEL_TABLE("") TAINT_TABLE);
    }
    struct ec2_boot b = boot();
    check_text(f, "beside the user's", "{amiFamily: Bottlerocket, instanceStorePolicy: RAID0}",
               "[settings.bootstrap-commands.111]\ncommands = [['x']]\nmode = 'off'\nessential = false\n", &b,
               "[settings]\n[settings.bootstrap-commands]\n" MOUNT(
                   "") "\n[settings.bootstrap-commands.111]\ncommands = [['x']]\nmode = "
                       "'off'\nessential = false\n\n" KUBERNETES("", "") LABEL_TABLE("") TAINT_TABLE);
}

static const struct {
    const char *name, *class, *want;
} versions[] = {
    {"alias", "spec: {amiSelectorTerms: [{alias: bottlerocket@1.20.4}]}", "1.20.4"},
    {"alias with a v", "spec: {amiSelectorTerms: [{alias: bottlerocket@v1.20.4}]}", "1.20.4"},
    {"latest", "spec: {amiSelectorTerms: [{alias: bottlerocket@latest}]}", "latest"},
    {"a name", "spec: {amiSelectorTerms: [{name: bottlerocket-aws-k8s-1.31-x86_64-v1.46.0-cacc4ce9}]}", "1.46.0"},
    {"an id",
     "spec: {amiSelectorTerms: [{id: ami-2}]}, status: {amis: [{id: ami-1, name: bottlerocket-v1.1.1}, {id: ami-2, name: bottlerocket-v2.2.2}]}",
     "2.2.2"},
    {"any image",
     "spec: {amiSelectorTerms: [{tags: {a: b}}]}, status: {amis: [{id: ami-0, name: other-v9.9.9}, {id: ami-1, name: bottlerocket-v1.1.1}]}",
     "1.1.1"},
    {"none", "spec: {amiSelectorTerms: [{name: my-image}]}, status: {amis: [{id: ami-0, name: other-v9.9.9}]}", ""},
};

static void versions_of_bottlerocket(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct err e = {0};
        str text = arena_printf(f->a, "{metadata: {name: x}, %s}%c", versions[i].class, 0);
        struct ec2_class *k = ec2_class_decode(f->a, f->t, tree_yaml(f->a, text.p), STR(""), &e);

        check_ok(versions[i].name, k != NULL, &e);
        check_str(versions[i].name, ec2_bottlerocket_version(k), versions[i].want);
    }
}

static void labels_of_the_kubelet(void **state UNUSED)
{
    static const char *const no[] = {"kubernetes.io/os",
                                     "a.kubernetes.io/b",
                                     "k8s.io/x",
                                     "node.k8s.io/x",
                                     "node-restriction.kubernetes.io/x",
                                     "x.node-restriction.kubernetes.io/y"};
    static const char *const yes[] = {"team",          "example.com/a", "karpenter.sh/nodepool", "mykubernetes.io/a",
                                      "kubernetes.io", "xk8s.io/y"};

    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        check_true(no[i], !ec2_label_is_for_user_data(str_c(no[i])));
    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        check_true(yes[i], ec2_label_is_for_user_data(str_c(yes[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nodeadm, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(bootstrap_script, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(flags, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(powershell, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(custom, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(toml, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(toml_of_the_kubelet, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(toml_of_disks, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(versions_of_bottlerocket, fixture_setup, fixture_teardown),
        cmocka_unit_test(labels_of_the_kubelet),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
