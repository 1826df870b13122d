/* What an alias stands for, which images are the best, and which one is for a type (aws 6.3, 6.4). */
#include "cloud/ec2/images.h"

#include "support/check.h"
#include "support/ec2_lab.h"

/* One line per parameter: its name, the variants (s n u), "*" when it changes. */
static str parameters(struct ec2_lab *l, const char *alias, const char *kubernetes)
{
    struct ec2_parameter *v;
    struct sb b = {0};
    struct err e = {0};
    uint32_t n;

    if (!ec2_alias_parameters(l->a, str_c(alias), str_c(kubernetes), &v, &n, &e))
        return arena_printf(l->a, "%s%s%s", e.code, e.code[0] ? ": " : "", e.msg);
    for (uint32_t i = 0; i < n; i++)
        sb_printf(&b, STR_FMT " %s%s%s%s\n", STR_ARG(v[i].name), v[i].variants & EC2_VARIANT_STANDARD ? "s" : "",
                  v[i].variants & EC2_VARIANT_NVIDIA ? "n" : "", v[i].variants & EC2_VARIANT_NEURON ? "u" : "",
                  v[i].changes ? "*" : "");
    str ret = sb_dup(&b, l->a);
    sb_fini(&b);
    return ret;
}

#define EKS "/aws/service/eks/optimized-ami/1.32/"
#define BR "/aws/service/bottlerocket/aws-k8s-1.32"

static const struct {
    const char *alias, *kubernetes, *want;
} aliases[] = {
    {"al2@latest", "1.32",
     EKS "amazon-linux-2/recommended/image_id s*\n" EKS "amazon-linux-2-arm64/recommended/image_id s*\n" EKS
         "amazon-linux-2-gpu/recommended/image_id nu*\n"},
    {"al2@v20240807", "1.32",
     EKS "amazon-linux-2/amazon-eks-node-1.32-v20240807/image_id s\n" EKS
         "amazon-linux-2-arm64/amazon-eks-arm64-node-1.32-v20240807/image_id s\n" EKS
         "amazon-linux-2-gpu/amazon-eks-gpu-node-1.32-v20240807/image_id nu\n"},
    {"al2023@latest", "1.32",
     EKS "amazon-linux-2023/x86_64/standard/recommended/image_id s*\n" EKS
         "amazon-linux-2023/x86_64/nvidia/recommended/image_id n*\n" EKS
         "amazon-linux-2023/x86_64/neuron/recommended/image_id u*\n" EKS
         "amazon-linux-2023/arm64/standard/recommended/image_id s*\n" EKS
         "amazon-linux-2023/arm64/nvidia/recommended/image_id n*\n"},
    {"al2023@v20251209", "1.32",
     EKS "amazon-linux-2023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.32-v20251209/image_id s\n" EKS
         "amazon-linux-2023/x86_64/nvidia/amazon-eks-node-al2023-x86_64-nvidia-1.32-v20251209/image_id n\n" EKS
         "amazon-linux-2023/x86_64/neuron/amazon-eks-node-al2023-x86_64-neuron-1.32-v20251209/image_id u\n" EKS
         "amazon-linux-2023/arm64/standard/amazon-eks-node-al2023-arm64-standard-1.32-v20251209/image_id s\n" EKS
         "amazon-linux-2023/arm64/nvidia/amazon-eks-node-al2023-arm64-nvidia-1.32-v20251209/image_id n\n"},
    {"bottlerocket@latest", "1.32",
     BR "/x86_64/latest/image_id su*\n" BR "/arm64/latest/image_id s*\n" BR "-nvidia/x86_64/latest/image_id n*\n" BR
        "-nvidia/arm64/latest/image_id n*\n"},
    {"bottlerocket@v1.46.0", "1.32",
     BR "/x86_64/1.46.0/image_id su\n" BR "/arm64/1.46.0/image_id s\n" BR "-nvidia/x86_64/1.46.0/image_id n\n" BR
        "-nvidia/arm64/1.46.0/image_id n\n"},
    {"bottlerocket@1.46.0", "1.32",
     BR "/x86_64/1.46.0/image_id su\n" BR "/arm64/1.46.0/image_id s\n" BR "-nvidia/x86_64/1.46.0/image_id n\n" BR
        "-nvidia/arm64/1.46.0/image_id n\n"},
    {"windows2019@latest", "1.32",
     "/aws/service/ami-windows-latest/Windows_Server-2019-English-Core-EKS_Optimized-1.32/image_id *\n"},
    {"windows2022@latest", "1.32",
     "/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.32/image_id *\n"},
    {"windows2025@latest", "1.35",
     "/aws/service/ami-windows-latest/Windows_Server-2025-English-Core-EKS_Optimized-1.35/image_id *\n"},
    {"windows2025@latest", "1.34", "UnsupportedAlias: there are no Windows2025 images for Kubernetes before 1.35"},
    {"al2@latest", "1.33", "UnsupportedAlias: there are no AL2 images for Kubernetes 1.33 and later"},
    {"custom@latest", "1.32", "unknown alias \"custom@latest\""},
    {"ubuntu@latest", "1.32", "unknown alias \"ubuntu@latest\""},
    {"al2023@", "1.32", "unknown alias \"al2023@\""},
};

static void what_aliases_stand_for(void **state)
{
    struct ec2_lab *l = *state;

    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        check_str(aliases[i].alias, parameters(l, aliases[i].alias, aliases[i].kubernetes), aliases[i].want);
    check_true("a version that is no number is not judged",
               str_starts(parameters(l, "al2@latest", "1.33+"), STR("/aws/service/eks/optimized-ami/1.33+/")));
}

/* One line per entry: id, "old" when deprecated, its requirements. */
static str chosen(struct ec2_lab *l, const struct ec2_candidate *v, uint32_t n, int64_t now_ms)
{
    struct ec2_class_ami *amis;
    struct sb b = {0};

    n = ec2_choose_amis(l->a, l->t, v, n, now_ms, &amis);
    for (uint32_t i = 0; i < n; i++) {
        sb_printf(&b, STR_FMT "%s:", STR_ARG(amis[i].id), amis[i].deprecated ? " old" : "");
        for (uint32_t j = 0; j < amis[i].n_requirements; j++) {
            const struct req_expr *x = &amis[i].requirements[j];

            sb_printf(&b, " " STR_FMT " %s", STR_ARG(sym_str(l->t, x->key)), req_op_name(x->op));
            for (uint32_t m = 0; m < x->n_vals; m++)
                sb_printf(&b, " " STR_FMT, STR_ARG(sym_str(l->t, x->vals[m])));
            sb_char(&b, ';');
        }
        sb_char(&b, '\n');
    }
    str ret = sb_dup(&b, l->a);
    sb_fini(&b);
    return ret;
}

static struct ec2_candidate image(const char *id, const char *name, const char *arch, int64_t created_ms)
{
    return (struct ec2_candidate){.image = {.id = str_c(id),
                                            .name = str_c(name),
                                            .arch = str_c(arch),
                                            .created_ms = created_ms,
                                            .deprecated_ms = INT64_MIN}};
}

static void variants_become_requirements(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_candidate v[] = {image("ami-1", "a", "x86_64", 5000), image("ami-2", "b", "arm64", 4000),
                                image("ami-3", "c", "x86_64", 3000), image("ami-4", "d", "i386", 9000)};

    v[0].variants = EC2_VARIANT_STANDARD | EC2_VARIANT_NEURON;
    v[1].variants = EC2_VARIANT_NVIDIA;
    v[2].windows_build = "10.0.20348";
    check_str("one entry for each", chosen(l, v, ARRAY_LEN(v), 0),
              "ami-1: kubernetes.io/arch In amd64; karpenter.k8s.aws/instance-gpu-count DoesNotExist; "
              "karpenter.k8s.aws/instance-accelerator-count DoesNotExist;\n"
              "ami-1: kubernetes.io/arch In amd64; karpenter.k8s.aws/instance-accelerator-count Exists;\n"
              "ami-2: kubernetes.io/arch In arm64; karpenter.k8s.aws/instance-gpu-count Exists;\n"
              "ami-3: kubernetes.io/os In windows; kubernetes.io/arch In amd64; node.kubernetes.io/windows-build In "
              "10.0.20348;\n");
}

static void the_best_of_each(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_candidate old = image("ami-1", "a", "x86_64", 5000), newer = image("ami-2", "a", "x86_64", 9000);
    struct ec2_candidate same = image("ami-3", "b", "x86_64", 9400), unknown = image("ami-4", "z", "x86_64", INT64_MIN);
    struct ec2_candidate arm = image("ami-0", "a", "arm64", 9000);

    check_str("newer", chosen(l, (struct ec2_candidate[]){old, newer, unknown}, 3, 0),
              "ami-2: kubernetes.io/arch In amd64;\n");
    check_str("in the same second the name counts", chosen(l, (struct ec2_candidate[]){newer, same}, 2, 0),
              "ami-3: kubernetes.io/arch In amd64;\n");
    same.image.name = STR("a");
    check_str("equal: the first one stays", chosen(l, (struct ec2_candidate[]){newer, same}, 2, 0),
              "ami-2: kubernetes.io/arch In amd64;\n");
    newer.image.deprecated_ms = 10500;
    check_str("deprecated ones come last", chosen(l, (struct ec2_candidate[]){newer, old}, 2, 10000),
              "ami-1: kubernetes.io/arch In amd64;\n");
    check_str("not yet deprecated", chosen(l, (struct ec2_candidate[]){newer, old}, 2, 9999),
              "ami-2: kubernetes.io/arch In amd64;\n");
    check_str("there is no other", chosen(l, &newer, 1, 10000), "ami-2 old: kubernetes.io/arch In amd64;\n");
    newer.image.deprecated_ms = INT64_MIN;
    check_str("equally new: by id", chosen(l, (struct ec2_candidate[]){newer, arm}, 2, 0),
              "ami-0: kubernetes.io/arch In arm64;\nami-2: kubernetes.io/arch In amd64;\n");
    check_str("none", chosen(l, NULL, 0, 0), "");
}

static void the_image_of_a_type(void **state)
{
    struct ec2_lab *l = *state;
    struct ec2_candidate v[] = {image("ami-gpu", "a", "x86_64", 5000), image("ami-arm", "b", "arm64", 4000),
                                image("ami-std", "c", "x86_64", 3000), image("ami-acc", "c", "x86_64", 2000)};
    static const struct {
        const char *type, *want;
    } cases[] = {{"m5.large", "ami-std"},
                 {"g4dn.8xlarge", "ami-gpu"},
                 {"trn1.32xlarge", "ami-acc"},
                 {"inf1.2xlarge", "ami-acc"},
                 {"m6g.large", "ami-arm"}};

    v[0].variants = EC2_VARIANT_NVIDIA;
    v[1].variants = v[2].variants = EC2_VARIANT_STANDARD;
    v[3].variants = EC2_VARIANT_NEURON;
    l->k.status.n_amis = ec2_choose_amis(l->a, l->t, v, ARRAY_LEN(v), 0, &l->k.status.amis);
    ec2_lab_resolve(l);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct ec2_class_ami *ami = ec2_ami_for(&l->k, &l->types.v[ec2_lab_ix(l, cases[i].type)]);

        check_true(cases[i].type, ami != NULL);
        check_str(cases[i].type, ami->id, cases[i].want);
    }
    l->k.status.n_amis = 1;
    check_true("no image", !ec2_ami_for(&l->k, &l->types.v[ec2_lab_ix(l, "m5.large")]));
    l->k.family = EC2_WINDOWS2022;
    v[2].variants = 0;
    v[2].windows_build = "10.0.20348";
    l->k.status.n_amis = ec2_choose_amis(l->a, l->t, &v[2], 1, 0, &l->k.status.amis);
    ec2_lab_resolve(l);
    check_true("Windows", ec2_ami_for(&l->k, &l->types.v[ec2_lab_ix(l, "m5.large")]));
    check_true("not on Arm", !ec2_ami_for(&l->k, &l->types.v[ec2_lab_ix(l, "m6g.large")]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_aliases_stand_for, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(variants_become_requirements, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(the_best_of_each, ec2_lab_setup, ec2_lab_teardown),
        cmocka_unit_test_setup_teardown(the_image_of_a_type, ec2_lab_setup, ec2_lab_teardown),
    };

    return cmocka_run_group_tests_name("cloud/ec2/images", tests, NULL, NULL);
}
