/* Instance types as a node class sees them: labels, capacity, pods, disk, overhead (aws 2.8.1, 5.2 – 5.5, A.3). */
#include "cloud/ec2/types.h"

#include "support/check.h"
#include "support/ec2_lab.h"

#define AWS "karpenter.k8s.aws/"

static const struct {
    const char *type, *key, *want;
} label_cases[] = {
    {"m5.large", "node.kubernetes.io/instance-type", "m5.large"},
    {"m5.large", "kubernetes.io/arch", "amd64"},
    {"m6g.large", "kubernetes.io/arch", "arm64"},
    {"m5.large", "kubernetes.io/os", "linux"},
    {"m5.large", "node.kubernetes.io/windows-build", "!"},
    {"m5.large", "topology.kubernetes.io/zone", "z-a,z-b"}, /* the class has no subnet in z-c */
    {"m5.large", "topology.k8s.aws/zone-id", "id-a,id-b"},
    {"m5.large", "topology.kubernetes.io/region", "us-east-1"},
    {"m5.large", "karpenter.sh/capacity-type", "on-demand,spot"},
    {"u-6tb1.metal", "karpenter.sh/capacity-type", "on-demand"},
    {"g4dn.8xlarge", AWS "instance-category", "g"},
    {"g4dn.8xlarge", AWS "instance-generation", "4"},
    {"g4dn.8xlarge", AWS "instance-family", "g4dn"},
    {"g4dn.8xlarge", AWS "instance-size", "8xlarge"},
    {"g4dn.8xlarge", AWS "instance-cpu", "32"},
    {"g4dn.8xlarge", AWS "instance-cpu-manufacturer", "intel"},
    {"x9z.large", AWS "instance-cpu-manufacturer", "example-corp"},
    {"g4dn.8xlarge", AWS "instance-cpu-sustained-clock-speed-mhz", "2500"},
    {"g4dn.8xlarge", AWS "instance-memory", "131072"},
    {"g4dn.8xlarge", AWS "instance-ebs-bandwidth", "9500"},
    {"g4dn.8xlarge", AWS "instance-network-bandwidth", "50000"},
    {"x9z.large", AWS "instance-network-bandwidth", "!"}, /* in no table */
    {"g4dn.8xlarge", AWS "instance-gpu-name", "t4"},
    {"g4dn.8xlarge", AWS "instance-gpu-manufacturer", "nvidia"},
    {"g4dn.8xlarge", AWS "instance-gpu-count", "1"},
    {"g4dn.8xlarge", AWS "instance-gpu-memory", "16384"},
    {"g4dn.8xlarge", AWS "instance-local-nvme", "900"},
    {"m5.large", AWS "instance-local-nvme", "!"},
    {"m5.large", AWS "instance-gpu-count", "!"},
    {"m5.large", AWS "instance-accelerator-count", "!"},
    {"inf1.2xlarge", AWS "instance-accelerator-name", "inferentia"},
    {"inf1.2xlarge", AWS "instance-accelerator-manufacturer", "aws"},
    {"trn1.32xlarge", AWS "instance-accelerator-name", "trainium"},
    {"trn1.32xlarge", AWS "instance-accelerator-manufacturer", "aws"},
    {"trn1.32xlarge", AWS "instance-accelerator-count", "16"},
    {"u-6tb1.metal", AWS "instance-category", "u"},
    {"u-6tb1.metal", AWS "instance-generation", "1"},
    {"u-6tb1.metal", AWS "instance-hypervisor", ""},
    {"m5.large", AWS "instance-hypervisor", "nitro"},
    {"m5.large", AWS "instance-capability-flex", "false"},
    {"m5.large", AWS "instance-encryption-in-transit-supported", "false"},
    {"m5.large", AWS "nitro-sandbox", "false"},
    {"m5.large", AWS "instance-tenancy", "default,dedicated"},
    {"m5.large", AWS "capacity-reservation-id", "!"},
    {"m5.large", AWS "placement-group-id", "?"},
    {"m5.large", AWS "placement-group-partition", "?"},
};

static void labels(void **state)
{
    struct ec2_lab *l = *state;

    ec2_lab_resolve(l);
    for (size_t i = 0; i < ARRAY_LEN(label_cases); i++)
        check_str(arena_printf(l->a, "%s %s", label_cases[i].type, label_cases[i].key).p,
                  ec2_lab_label(l, label_cases[i].type, label_cases[i].key), label_cases[i].want);
}

static void odd_types(void **state)
{
    struct ec2_lab *l = *state;
    static str old[] = {STR_INIT("i386"), STR_INIT("x86_64")}, mac[] = {STR_INIT("x86_64_mac")};
    static str usage[] = {STR_INIT("on-demand"), STR_INIT("capacity-block"), STR_INIT("spot")};
    struct ec2_accel two[] = {{.name = STR("T4"), .manufacturer = STR("NVIDIA"), .count = 1},
                              {.name = STR("L4"), .manufacturer = STR("NVIDIA"), .count = 2}};

    ec2_lab_type(l, "m5.large")->archs = old;
    ec2_lab_type(l, "m5.large")->n_archs = 2;
    ec2_lab_type(l, "m5.large")->usage_classes = usage;
    ec2_lab_type(l, "m5.large")->n_usage_classes = 3;
    ec2_lab_type(l, "m5.large")->enclaves = STR("supported");
    ec2_lab_type(l, "m5.large")->encryption_in_transit = true;
    ec2_lab_type(l, "m5.xlarge")->archs = mac;
    ec2_lab_type(l, "m5.xlarge")->has_processor = false;
    ec2_lab_type(l, "m5.xlarge")->ebs_optimized = STR("supported");
    ec2_lab_type(l, "g4dn.8xlarge")->gpus = two;
    ec2_lab_type(l, "g4dn.8xlarge")->n_gpus = 2;
    ec2_lab_type(l, "g4dn.8xlarge")->nvme = STR("unsupported");
    ec2_lab_type(l, "inf1.2xlarge")->has_neuron = true;
    ec2_lab_type(l, "t3.large")->name = STR("m7i-flex.large");
    ec2_lab_type(l, "u-6tb1.metal")->name = STR("p6-b200.48xlarge");
    ec2_lab_type(l, "x9z.large")->name = STR("strange");
    ec2_lab_resolve(l);
    check_str("the first that Kubernetes knows", ec2_lab_label(l, "m5.large", "kubernetes.io/arch"), "amd64");
    check_str("capacity blocks are no way to buy", ec2_lab_label(l, "m5.large", "karpenter.sh/capacity-type"),
              "on-demand,spot");
    check_str("enclaves", ec2_lab_label(l, "m5.large", AWS "nitro-sandbox"), "true");
    check_str("encryption", ec2_lab_label(l, "m5.large", AWS "instance-encryption-in-transit-supported"), "true");
    check_str("no arch at all", ec2_lab_label(l, "m5.xlarge", "kubernetes.io/arch"), "[x86_64_mac]");
    check_str("no processor", ec2_lab_label(l, "m5.xlarge", AWS "instance-cpu-manufacturer"), "!");
    check_str("no processor", ec2_lab_label(l, "m5.xlarge", AWS "instance-cpu-sustained-clock-speed-mhz"), "!");
    check_str("EBS-optimised on request", ec2_lab_label(l, "m5.xlarge", AWS "instance-ebs-bandwidth"), "!");
    check_str("two kinds of GPU have no name", ec2_lab_label(l, "g4dn.8xlarge", AWS "instance-gpu-name"), "!");
    check_str("but they count", ec2_lab_capacity(l, "g4dn.8xlarge", "nvidia.com/gpu"), "3");
    check_str("disks without NVMe", ec2_lab_label(l, "g4dn.8xlarge", AWS "instance-local-nvme"), "!");
    check_str("accelerators are told by Neuron", ec2_lab_label(l, "inf1.2xlarge", AWS "instance-accelerator-name"),
              "!");
    check_str("flex", ec2_lab_label(l, "m7i-flex.large", AWS "instance-capability-flex"), "true");
    check_str("flex", ec2_lab_label(l, "m7i-flex.large", AWS "instance-family"), "m7i-flex");
    check_str("p6-b200", ec2_lab_label(l, "p6-b200.48xlarge", AWS "instance-category"), "p");
    check_str("p6-b200", ec2_lab_label(l, "p6-b200.48xlarge", AWS "instance-generation"), "6");
    check_str("no dot", ec2_lab_label(l, "strange", AWS "instance-family"), "!");
    check_str("no dot", ec2_lab_label(l, "strange", AWS "instance-category"), "!");
    check_str("nowhere on offer", ec2_lab_label(l, "strange", "topology.kubernetes.io/zone"), "!");
    check_str("nowhere on offer", ec2_lab_label(l, "strange", "topology.k8s.aws/zone-id"), "?");
}

static void windows(void **state)
{
    struct ec2_lab *l = *state;

    l->k.family = EC2_WINDOWS2022;
    ec2_lab_resolve(l);
    check_str("amd64", ec2_lab_label(l, "m5.large", "kubernetes.io/os"), "windows");
    check_str("arm64 cannot", ec2_lab_label(l, "m6g.large", "kubernetes.io/os"), "!");
    check_str("build", ec2_lab_label(l, "m5.large", "node.kubernetes.io/windows-build"), "10.0.20348");
    check_str("pods", ec2_lab_capacity(l, "m5.large", "pods"), "110");
    check_str("disk", ec2_lab_capacity(l, "m5.large", "ephemeral-storage"), "50Gi");
    check_str("addresses", ec2_lab_capacity(l, "m5.large", "vpc.amazonaws.com/PrivateIPv4Address"), "9");
    check_str("arm64 has none", ec2_lab_capacity(l, "m6g.large", "vpc.amazonaws.com/PrivateIPv4Address"), "");
    check_str("in no table", ec2_lab_capacity(l, "x9z.large", "vpc.amazonaws.com/PrivateIPv4Address"), "");
}

static const struct {
    const char *type, *resource, *want;
} capacities[] = {
    {"m5.large", "cpu", "2"},
    {"m5.large", "memory", "7577Mi"},
    {"m5.large", "pods", "29"},
    {"m5.large", "ephemeral-storage", "20Gi"},
    {"m5.large", "vpc.amazonaws.com/pod-eni", "9"},
    {"m5.large", "nvidia.com/gpu", ""},
    {"m5.large", "vpc.amazonaws.com/PrivateIPv4Address", ""},
    {"m5.xlarge", "memory", "15155Mi"},
    {"m5.xlarge", "pods", "58"},
    {"t3.large", "pods", "35"},
    {"t3.large", "vpc.amazonaws.com/pod-eni", ""}, /* no trunking */
    {"m6g.large", "memory", "7518Mi"},             /* Arm: 64Mi go before the share is taken */
    {"t4g.small", "memory", "1835Mi"},
    {"t4g.medium", "memory", "3729Mi"},
    {"t4g.xlarge", "memory", "15096Mi"},
    {"p4d.24xlarge", "nvidia.com/gpu", "8"},
    {"p4d.24xlarge", "vpc.amazonaws.com/efa", "4"},
    {"trn1.32xlarge", "aws.amazon.com/neuron", "16"},
    {"trn1.32xlarge", "aws.amazon.com/neuroncore", "32"},
    {"trn1.32xlarge", "pods", "247"}, /* several network cards: the default one counts */
    {"inf1.2xlarge", "aws.amazon.com/neuron", ""},
    {"x9z.large", "vpc.amazonaws.com/pod-eni", ""}, /* in no table */
};

static void capacity(void **state)
{
    struct ec2_lab *l = *state;

    ec2_lab_resolve(l);
    for (size_t i = 0; i < ARRAY_LEN(capacities); i++)
        check_str(arena_printf(l->a, "%s %s", capacities[i].type, capacities[i].resource).p,
                  ec2_lab_capacity(l, capacities[i].type, capacities[i].resource), capacities[i].want);
}

static void makers_of_gpus(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_accel amd = {.name = STR("V520"), .manufacturer = STR("AMD"), .count = 4};
    struct ec2_accel gaudi = {.name = STR("Gaudi HL-205"), .manufacturer = STR("Habana"), .count = 8};

    ec2_lab_type(l, "g4dn.8xlarge")->gpus = &amd;
    ec2_lab_type(l, "p4d.24xlarge")->gpus = &gaudi;
    ec2_lab_resolve(l);
    check_str("AMD", ec2_lab_capacity(l, "g4dn.8xlarge", "amd.com/gpu"), "4");
    check_str("AMD", ec2_lab_capacity(l, "g4dn.8xlarge", "nvidia.com/gpu"), "");
    check_str("Habana", ec2_lab_capacity(l, "p4d.24xlarge", "habana.ai/gaudi"), "8");
    check_str("Habana", ec2_lab_label(l, "p4d.24xlarge", AWS "instance-gpu-name"), "gaudi-hl-205");
}

/* A.3: kube-reserved memory of t3.large, and its pods, by family. */
static const struct {
    const char *name;
    enum ec2_family family;
    int64_t max_pods, per_core;
    int32_t reserved_enis;
    const char *pods, *kube_mib;
} pod_cases[] = {
    {"AL2, default", EC2_AL2, -1, -1, 0, "35", "640Mi"},
    {"AL2023, default", EC2_AL2023, -1, -1, 0, "35", "640Mi"},
    {"Custom, default", EC2_CUSTOM, -1, -1, 0, "35", "640Mi"},
    {"Bottlerocket, default", EC2_BOTTLEROCKET, -1, -1, 0, "35", "640Mi"},
    {"Windows, default", EC2_WINDOWS2019, -1, -1, 0, "110", "1465Mi"},
    {"AL2, maxPods 10", EC2_AL2, 10, -1, 0, "10", "640Mi"},
    {"AL2023, maxPods 10", EC2_AL2023, 10, -1, 0, "10", "640Mi"},
    {"Custom, maxPods 10", EC2_CUSTOM, 10, -1, 0, "10", "640Mi"},
    {"Bottlerocket, maxPods 10", EC2_BOTTLEROCKET, 10, -1, 0, "10", "365Mi"},
    {"Windows, maxPods 10", EC2_WINDOWS2025, 10, -1, 0, "10", "365Mi"},
    {"AL2, an interface reserved", EC2_AL2, -1, -1, 1, "24", "640Mi"},
    {"AL2023, an interface reserved", EC2_AL2023, -1, -1, 1, "24", "640Mi"},
    {"Custom, an interface reserved", EC2_CUSTOM, -1, -1, 1, "24", "640Mi"},
    {"Bottlerocket, an interface reserved", EC2_BOTTLEROCKET, -1, -1, 1, "24", "519Mi"},
    {"Windows, an interface reserved", EC2_WINDOWS2022, -1, -1, 1, "110", "1465Mi"},
    {"all interfaces reserved", EC2_AL2023, -1, -1, 3, "0", "640Mi"},
    {"more than there are", EC2_AL2023, -1, -1, 7, "0", "640Mi"},
    {"four per core", EC2_AL2023, -1, 4, 0, "8", "640Mi"},
    {"the lesser of both", EC2_AL2023, 5, 4, 0, "5", "640Mi"},
    {"the lesser of both", EC2_AL2023, 20, 4, 0, "8", "640Mi"},
    {"none per core means the default", EC2_AL2023, -1, 0, 0, "35", "640Mi"},
    {"Bottlerocket ignores podsPerCore", EC2_BOTTLEROCKET, -1, 4, 0, "35", "640Mi"},
    {"Windows does not", EC2_WINDOWS2022, -1, 4, 0, "8", "343Mi"},
    {"maxPods 0", EC2_AL2023, 0, -1, 0, "0", "640Mi"},
};

static void pods_and_memory_for_them(void **state)
{
    struct ec2_lab *l = *state;

    for (size_t i = 0; i < ARRAY_LEN(pod_cases); i++) {
        l->k.family = pod_cases[i].family;
        l->k.kubelet.max_pods = pod_cases[i].max_pods;
        l->k.kubelet.pods_per_core = pod_cases[i].per_core;
        l->in.reserved_enis = pod_cases[i].reserved_enis;
        ec2_lab_resolve(l);
        const struct ec2_type_detail *d = &l->types.detail[ec2_lab_ix(l, "t3.large")];
        const struct resq *q = reslist_get(&d->kube_reserved_list, SYM(MEMORY));
        struct sb b = {0};

        check_str(pod_cases[i].name, ec2_lab_capacity(l, "t3.large", "pods"), pod_cases[i].pods);
        assert(q);
        quantity_print(&b, q->name, q->v, q->binary);
        check_str(pod_cases[i].name, sb_view(&b), pod_cases[i].kube_mib);
        sb_fini(&b);
    }
}

static void interfaces_for_efa_take_from_pods(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_nic nics[] = {
        {0, 0, STR("interface")}, {0, 1, STR("efa-only")}, {1, 0, STR("efa-only")}, {1, 1, STR("efa-only")}};

    l->k.nics = nics;
    l->k.n_nics = ARRAY_LEN(nics);
    ec2_lab_resolve(l);
    check_str("one of 15 on card 0", ec2_lab_capacity(l, "p4d.24xlarge", "pods"), "688"); /* 14 × 49 + 2 */
    check_str("those that the class wants", ec2_lab_capacity(l, "p4d.24xlarge", "vpc.amazonaws.com/efa"), "3");
    check_str("also where there can be none", ec2_lab_capacity(l, "m5.large", "vpc.amazonaws.com/efa"), "3");
    check_str("memory for pods too", ec2_lab_overhead(l, "m5.large", "memory"), "575Mi"); /* 11 × 20 + 255 + 100 */
}

static void disk(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_device root = {.name = STR("/dev/sdz"), .root = true, .size = STR("7Gi")};
    struct ec2_device xvda = {.name = STR("/dev/xvda"), .size = STR("100Gi")};
    struct ec2_device xvdb = {.name = STR("/dev/xvdb"), .size = STR("30G")};
    struct ec2_device plain = {.name = STR("/dev/xvda")};
    const struct {
        const char *name, *want;
        enum ec2_family family;
        const char *policy;
        struct ec2_device devices[2];
        uint32_t n;
    } cases[] = {
        {"the family's", "20Gi", EC2_AL2023, "", {plain}, 0},
        {"the family's", "20Gi", EC2_BOTTLEROCKET, "", {plain}, 0},
        {"the family's", "50Gi", EC2_WINDOWS2022, "", {plain}, 0},
        {"nobody knows", "20Gi", EC2_CUSTOM, "", {plain}, 0},
        {"local disks", "7600G", EC2_AL2023, "RAID0", {xvda}, 1},
        {"the root volume", "7Gi", EC2_AL2023, "", {xvda, root}, 2},
        {"the root volume of a custom family", "7Gi", EC2_CUSTOM, "", {root, xvda}, 2},
        {"the last of a custom family", "30G", EC2_CUSTOM, "", {xvda, xvdb}, 2},
        {"the last has no size", "20Gi", EC2_CUSTOM, "", {xvdb, plain}, 2},
        {"the device that pods share", "100Gi", EC2_AL2023, "", {xvda, xvdb}, 2},
        {"the device that pods share", "30G", EC2_BOTTLEROCKET, "", {xvda, xvdb}, 2},
        {"it has no size", "20Gi", EC2_AL2023, "", {plain, xvdb}, 2},
        {"it is not listed", "50Gi", EC2_WINDOWS2019, "", {xvda, xvdb}, 2},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct ec2_device devices[2] = {cases[i].devices[0], cases[i].devices[1]};

        l->k.family = cases[i].family;
        l->k.store_policy = str_c(cases[i].policy);
        l->k.devices = devices;
        l->k.n_devices = cases[i].n;
        ec2_lab_resolve(l);
        check_str(cases[i].name, ec2_lab_capacity(l, "m6idn.32xlarge", "ephemeral-storage"), cases[i].want);
    }
    l->k.store_policy = STR("RAID0");
    l->k.n_devices = 0;
    ec2_lab_resolve(l);
    check_str("no local disks", ec2_lab_capacity(l, "m5.large", "ephemeral-storage"), "50Gi");
}

static void overhead(void **state)
{
    struct ec2_lab *l = *state;

    ec2_lab_resolve(l);
    const struct ec2_type_detail *d = &l->types.detail[ec2_lab_ix(l, "m5.large")];
    check_str("kube-reserved", ec2_lab_resources(l, &d->kube_reserved_list),
              "{\"cpu\":\"70m\",\"ephemeral-storage\":\"1Gi\",\"memory\":\"574Mi\"}");
    check_str("system-reserved", ec2_lab_resources(l, &d->system_reserved_list), "{}");
    check_str("eviction", ec2_lab_resources(l, &d->eviction_list),
              "{\"ephemeral-storage\":\"2147483648\",\"memory\":\"100Mi\"}");
    check_str("all of it", ec2_lab_overhead(l, "m5.large", "memory"), "674Mi");
    check_str("m5.xlarge", ec2_lab_overhead(l, "m5.xlarge", "memory"), "993Mi");
    check_str("m5.xlarge", ec2_lab_overhead(l, "m5.xlarge", "cpu"), "80m");
    check_str("many cores", ec2_lab_overhead(l, "trn1.32xlarge", "cpu"), "390m");
    l->in.memory_overhead = 0;
    l->k.family = EC2_BOTTLEROCKET;
    l->k.kubelet.max_pods = 110;
    ec2_lab_resolve(l);
    check_str("Bottlerocket, 110 pods", ec2_lab_overhead(l, "m5.xlarge", "memory"), "1565Mi");
    check_str("nothing written off", ec2_lab_capacity(l, "m5.xlarge", "memory"), "16Gi");
}

static const struct {
    const char *name, *kube, *system, *hard, *soft, *cpu, *memory, *disk;
} overheads[] = {
    {"as it is", "", "", "", "", "70m", "674Mi", "3Gi"},
    {"reserved by hand", "cpu=200m memory=300Mi ephemeral-storage=2Gi", "", "", "", "200m", "400Mi", "4Gi"},
    {"one of three", "memory=1Gi", "", "", "", "70m", "1124Mi", "3Gi"},
    {"for the system", "", "cpu=100m memory=150Mi pid=1000", "", "", "170m", "824Mi", "3Gi"},
    {"a threshold", "", "", "memory.available=500Mi", "", "70m", "1074Mi", "3Gi"},
    {"a share", "", "", "memory.available=10% nodefs.available=5%", "", "70m", "1396388660", "2Gi"},
    {"all of it means none", "", "", "memory.available=100% nodefs.available=100%", "", "70m", "574Mi", "1Gi"},
    {"a disk by size", "", "", "nodefs.available=3Gi", "", "70m", "674Mi", "4Gi"},
    {"others do not count", "", "", "nodefs.inodesFree=5% pid.available=10%", "", "70m", "674Mi", "3Gi"},
    {"soft ones do not count", "", "", "", "memory.available=2Gi nodefs.available=50%", "70m", "674Mi", "3Gi"},
    {"only hard ones do", "", "", "memory.available=1Gi", "memory.available=2Gi", "70m", "1598Mi", "3Gi"},
};

static void overhead_by_hand(void **state)
{
    struct ec2_lab *l = *state;

    for (size_t i = 0; i < ARRAY_LEN(overheads); i++) {
        l->k.kubelet.kube_reserved = ec2_lab_kvs(l, overheads[i].kube);
        l->k.kubelet.system_reserved = ec2_lab_kvs(l, overheads[i].system);
        l->k.kubelet.eviction_hard = ec2_lab_kvs(l, overheads[i].hard);
        l->k.kubelet.eviction_soft = ec2_lab_kvs(l, overheads[i].soft);
        ec2_lab_resolve(l);
        check_str(overheads[i].name, ec2_lab_overhead(l, "m5.large", "cpu"), overheads[i].cpu);
        check_str(overheads[i].name, ec2_lab_overhead(l, "m5.large", "memory"), overheads[i].memory);
        check_str(overheads[i].name, ec2_lab_overhead(l, "m5.large", "ephemeral-storage"), overheads[i].disk);
    }
}

static void memory_that_was_seen(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_class_ami ami = {.id = STR("ami-1")};

    l->k.status.amis = &ami;
    l->k.status.n_amis = 1;
    struct ec2_memory seen[] = {{STR("m5.large"), ec2_amis_hash(&l->k), 8000LL << 20},
                                {STR("m5.xlarge"), ec2_amis_hash(&l->k) + 1, 1}};
    l->in.memory = seen;
    l->in.n_memory = ARRAY_LEN(seen);
    l->k.kubelet.eviction_hard = ec2_lab_kvs(l, "memory.available=10%");
    ec2_lab_resolve(l);
    check_str("instead of what was worked out", ec2_lab_capacity(l, "m5.large", "memory"), "8000Mi");
    check_str("a share is of what was worked out", ec2_lab_overhead(l, "m5.large", "memory"), "1396388660");
    check_str("of other images", ec2_lab_capacity(l, "m5.xlarge", "memory"), "15155Mi");
    ami.id = STR("ami-2");
    ec2_lab_resolve(l);
    check_str("the class has other images now", ec2_lab_capacity(l, "m5.large", "memory"), "7577Mi");
}

static bool resolves(struct ec2_lab *l, struct err *e)
{
    return ec2_types_resolve(l->a, l->t, &l->in, &l->types, e);
}

static void expressions(void **state)
{
    struct ec2_lab *l = *state;
    struct err e = {0};

    l->k.kubelet.max_pods_is_expr = true;
    l->k.kubelet.max_pods_expr = STR("max(20, vcpus * 8)");
    l->k.kubelet.kube_reserved = ec2_lab_kvs(l, "memory=max_pods+1 cpu=100m");
    l->k.kubelet.system_reserved = ec2_lab_kvs(l, "memory=default_enis*ips_per_eni");
    ec2_lab_resolve(l);
    check_str("small", ec2_lab_capacity(l, "m5.large", "pods"), "20");
    check_str("large", ec2_lab_capacity(l, "m5.xlarge", "pods"), "32");
    check_str("max_pods is what came out, in steps of 16Mi", ec2_lab_overhead(l, "m5.large", "memory"),
              "164Mi"); /* 32 + 32 + 100 */
    check_str("next to plain ones", ec2_lab_overhead(l, "m5.large", "cpu"), "100m");
    l->k.kubelet.max_pods_expr = STR("max_pods - 5");
    ec2_lab_resolve(l);
    check_str("max_pods is the default", ec2_lab_capacity(l, "m5.large", "pods"), "24");
    l->k.kubelet.max_pods_expr = STR("-1");
    check_true("negative", !resolves(l, &e));
    check_str("negative", str_c(e.msg),
              "resolving instance type a1.large: maxPods: -1 is not between 0 and 2147483647");
    l->k.kubelet.max_pods_expr = STR("2147483648");
    check_true("too many", !resolves(l, &e));
    l->k.kubelet.max_pods_expr = STR("1 / (vcpus - vcpus)");
    check_true("nonsense", !resolves(l, &e));
    l->in.expressions = false;
    ec2_lab_resolve(l);
    check_str("gate off: the default", ec2_lab_capacity(l, "m5.large", "pods"), "29");
    check_str("gate off: plain ones count", ec2_lab_overhead(l, "m5.large", "cpu"), "100m");
    check_str("gate off: others do not", ec2_lab_overhead(l, "m5.large", "memory"), "674Mi");
}

static void nothing_to_choose_from(void **state)
{
    struct ec2_lab *l = *state;
    struct err e = {0};

    ec2_lab_resolve(l);
    l->k.status.n_subnets = 0;
    check_true("no subnets", !resolves(l, &e));
    check_str("no subnets", str_c(e.msg), "no subnets found");
    l->universe = (struct ec2_universe){0};
    check_true("no types", !resolves(l, &e));
    check_str("no types", str_c(e.msg), "no instance types found");
}

static void label_rules(void **state)
{
    struct ec2_lab *l = *state;
    struct label_rules r = ec2_label_rules(l->a, l->t);

    ec2_lab_resolve(l);
    for (uint32_t i = 0; i < l->types.v[0].n_requirements; i++)
        check_true("what types have is well-known", label_is_well_known(&r, l->types.v[0].requirements[i].key));
    check_true("partitions", label_is_well_known(&r, sym_of(l->t, STR(AWS "placement-group-partition"))));
    check_true("the class' label is not", !label_is_well_known(&r, sym_of(l->t, STR(AWS "ec2nodeclass"))));
    check_true("the domain is", label_is_restricted(&r, l->t, sym_of(l->t, STR(AWS "instance-pods"))));
    check_true("reservations", sym_eq(r.reservation_id, sym_of(l->t, ec2_label_name(EC2_L_RESERVATION_ID))));
}

/* V22 */
static void values_of_labels(void **state)
{
    static const struct {
        const char *key, *a, *b;
        bool ok;
    } cases[] = {
        {AWS "instance-tenancy", "default", "dedicated", true},
        {AWS "instance-tenancy", "default", "host", true},
        {AWS "instance-tenancy", "host", "other", false},
        {"karpenter.sh/capacity-type", "spot", "other", true},
        {"karpenter.sh/capacity-type", "other", "another", false},
        {AWS "instance-family", "anything", "goes", true},
        {AWS "instance-pods", "10", "20", false},
    };
    struct ec2_lab *l = *state;
    struct label_rules r = ec2_label_rules(l->a, l->t);
    struct err e;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        sym vals[] = {sym_of(l->t, str_c(cases[i].a)), sym_of(l->t, str_c(cases[i].b))};
        struct req_expr x = {.key = sym_of(l->t, str_c(cases[i].key)), .op = OP_IN, .vals = vals, .n_vals = 2};

        check_true(cases[i].a, req_expr_validate(&r, l->t, &x, &e) == cases[i].ok);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(labels, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(odd_types, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(windows, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(capacity, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(makers_of_gpus, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(pods_and_memory_for_them, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(interfaces_for_efa_take_from_pods, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(disk, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(overhead, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(overhead_by_hand, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(memory_that_was_seen, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(expressions, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(nothing_to_choose_from, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(label_rules, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(values_of_labels, ec2_lab_setup, ec2_lab_teardown),
    };

    return cmocka_run_group_tests_name("cloud/ec2/types", tests, NULL, NULL);
}
