/* What user data of every form tells a kubelet; and what the controller writes is what a machine reads. */
#include "sim/boot/told.h"

#include "cloud/ec2/userdata.h"
#include "data/json.h"
#include "support/check.h"

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

/* ---- what the controller writes ---- */

static const struct {
    const char *name;
    enum ec2_family family;
    const char *want;
} written[] = {
    {"AL2", EC2_AL2, "{\"cpu\":\"80m\"} - - 29 whole"},
    {"AL2023", EC2_AL2023, "{\"cpu\":\"80m\"} - - 29"},
    {"Bottlerocket", EC2_BOTTLEROCKET, "{\"cpu\":\"80m\"} - - 29"},
    {"Windows", EC2_WINDOWS2022, "{\"cpu\":\"80m\"} - - 29 windows whole"},
};

static void written_and_read(void **state)
{
    static const struct ec2_kv labels[] = {{STR_INIT("karpenter.sh/nodepool"), STR_INIT("np")}};
    static const struct taint_text taints[] = {
        {STR_INIT("foo"), STR_INIT("bar"), STR_INIT("NoSchedule")},
        {STR_INIT("karpenter.sh/unregistered"), STR_INIT(""), STR_INIT("NoExecute")}};
    static struct ec2_kv reserved[] = {{STR_INIT("cpu"), STR_INIT("80m")}};
    const struct ec2_boot b = {.cluster = STR("c"),
                               .endpoint = STR("https://e"),
                               .ca_bundle = STR("Y2E="),
                               .cidr = STR("10.0.0.0/16"),
                               .labels = labels,
                               .n_labels = ARRAY_LEN(labels),
                               .taints = taints,
                               .n_taints = ARRAY_LEN(taints),
                               .max_pods = 29,
                               .kube_reserved = {reserved, 1, true}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(written); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct ec2_class k = {.family = written[i].family,
                              .kubelet = {.max_pods = -1,
                                          .pods_per_core = -1,
                                          .eviction_max_grace = -1,
                                          .image_gc_high = -1,
                                          .image_gc_low = -1,
                                          .cpu_cfs_quota = -1}};
        struct told t;
        struct err e;
        str text;

        check_ok(written[i].name, ec2_user_data(a, &k, &b, &text, &e), &e);
        check_ok(written[i].name, told_read(a, text, &t, &e), &e);
        check_str(written[i].name, print(a, &t),
                  arena_printf(
                      a,
                      "c https://e {\"karpenter.sh/nodepool\":\"np\"} [{\"key\":\"foo\",\"value\":\"bar\",\"effect\":"
                      "\"NoSchedule\"},{\"key\":\"karpenter.sh/unregistered\",\"effect\":\"NoExecute\"}] %s%c",
                      written[i].want, 0)
                      .p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form),
        cmocka_unit_test(refusals),
        cmocka_unit_test(written_and_read),
    };

    return cmocka_run_group_tests_name("sim/told", tests, NULL, NULL);
}
