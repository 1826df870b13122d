/* In whose name the controller calls AWS, over days: web identity (IRSA), EKS Pod Identity, IMDSv2, shared files. Keys run out and are replaced, no call is refused, and no secret is ever logged. */
#include <stdio.h>

#include "support/check.h"
#include "support/fleet.h"
#include "support/sky.h"

#define HOURS 48
#define STEP_H 3 /* somebody scales */
#define TOKEN_END ".signed-by-the-cluster"

struct run {
    const char *env[SKY_ENV + 8];
    struct rig *r;
    struct sky *sky;
    uint64_t n_log; /* bytes that were looked through */
};

static void run_open(struct run *t, enum sky_keys keys)
{
    uint32_t n = sky_env(keys, t->env);

    t->env[n++] = "LOG_LEVEL";
    t->env[n++] = "debug";
    t->env[n++] = "DISABLE_LEADER_ELECTION";
    t->env[n++] = "true";
    t->env[n] = NULL;
    t->r =
        rig_new(1, t->env, &(struct cluster_options){.lean = true, .lease_renew_ms = 60000, .node_grace_ms = 240000});
    t->r->forgetful = true;
    t->sky = sky_new(
        t->r,
        &(struct sky_options){
            .keys = keys, .types = "c5.large,m5.large", .boot_ms = 8000, .stop_ms = 20000, .agent = {5000, 20000}});
    lab_apply(t->r->l, "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\n"
                       "spec: {amiSelectorTerms: [{alias: al2023@latest}], " SKY_CLASS_TERMS "}\n");
    lab_apply(t->r->l, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec:\n"
                       "  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}\n"
                       "  template: {spec: {expireAfter: Never, nodeClassRef: {group: karpenter.k8s.aws, kind: "
                       "EC2NodeClass, name: default}, requirements: [{key: karpenter.sh/capacity-type, operator: In, "
                       "values: [on-demand]}, {key: karpenter.k8s.aws/instance-cpu, operator: Lt, values: ['9']}]}}\n");
    lab_apply(t->r->l, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n"
                       "  replicas: 0\n  selector: {matchLabels: {app: web}}\n"
                       "  template: {metadata: {labels: {app: web}}, spec: {terminationGracePeriodSeconds: 1,\n"
                       "    containers: [{name: app, image: app, resources: {requests: {cpu: 1500m}}}]}}\n");
    rig_start(t->r, 0);
    lab_run(t->r->l, 60);
}

static void run_close(struct run *t)
{
    sky_free(t->sky);
    rig_free(t->r);
}

static void look_through_log(struct run *t)
{
    str log = sb_view(&t->r->logs[0]);

    check_true("no secret of the account's", !sim_aws_is_told(t->sky->aws, log));
    check_true("no secret of a person's", !str_contains(log, STR(SKY_SECRET)));
    check_true("no token of the cluster's", !str_contains(log, STR(TOKEN_END)));
    t->n_log += log.n;
    sb_fini(&t->r->logs[0]);
}

static void scale(struct run *t, uint32_t n)
{
    struct fleet f;
    char patch[64];

    (void)snprintf(patch, sizeof(patch), "{spec: {replicas: %u}}", n);
    lab_patch(t->r->l, "deployments", "web", patch);
    lab_run(t->r->l, 300);
    fleet_look(t->r, &f);
    check_u64("pods that run", f.n_running, n);
    check_u64("nodes", f.n_nodes, n);
}

/* How often keys were got. */
static uint64_t n_got(const struct run *t)
{
    return t->sky->n_local + sim_aws_calls(t->sky->aws, "AssumeRoleWithWebIdentity") +
           sim_aws_calls(t->sky->aws, "AssumeRole");
}

static void days(enum sky_keys keys, uint32_t life_h)
{
    struct run t = {0};
    uint64_t ec2;

    run_open(&t, keys);
    for (uint32_t h = 0; h < HOURS; h += STEP_H) {
        scale(&t, 1 + h / STEP_H % 3);
        lab_run(t.r->l, STEP_H * 3600 - 300);
        look_through_log(&t);
    }
    ec2 = sim_aws_calls(t.sky->aws, "ec2");
    print_message("# %d h: keys were got %llu times, %llu calls to EC2, %llu machines, %llu bytes of log\n", HOURS,
                  (unsigned long long)n_got(&t), (unsigned long long)ec2,
                  (unsigned long long)sim_aws_bill(t.sky->aws).launched, (unsigned long long)t.n_log);
    if (t.sky->n_refused)
        print_error("%s\n", t.sky->last_refusal);
    check_u64("calls that were refused", t.sky->n_refused, 0);
    /* Anew five to six minutes before they run out: of an hour 54 to 55 minutes are used. */
    check_true("replaced in time", n_got(&t) >= HOURS / life_h);
    check_true("and not more often than that", n_got(&t) <= HOURS * 60 / (life_h * 60 - 7) + 2);
    check_true("a token is read every time",
               (keys != SKY_IRSA && keys != SKY_POD_IDENTITY) || t.sky->n_tokens >= n_got(&t));
    check_true("there was something to say", t.n_log > 10000);
    sim_aws_end_keys(t.sky->aws);
    scale(&t, 5);
    check_true("keys that are revoked are replaced at once",
               t.sky->n_refused > 0 && t.sky->n_refused <= 8 && n_got(&t) > 0);
    look_through_log(&t);
    run_close(&t);
}

static void web_identity(void **state UNUSED)
{
    days(SKY_IRSA, 1);
}

static void pod_identity(void **state UNUSED)
{
    days(SKY_POD_IDENTITY, 6);
}

static void instance_role(void **state UNUSED)
{
    days(SKY_IMDS, 6);
}

static void shared_files(void **state UNUSED)
{
    days(SKY_FILES, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(web_identity), cmocka_unit_test(pod_identity),
                                       cmocka_unit_test(instance_role), cmocka_unit_test(shared_files)};

    return cmocka_run_group_tests_name("sim/aws_keys", tests, NULL, NULL);
}
