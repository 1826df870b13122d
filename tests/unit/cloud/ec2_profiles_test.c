/* Instance profiles: made, left, replaced, deleted, collected (aws 7.1, 7.2.6, 7.9; 11.6 N1, N7, N8). */
#include "aws/services.h"
#include "cloud/ec2/reconcile.h"
#include "data/edit.h"
#include "support/check.h"
#include "support/class_lab.h"

#define REST                                                                                                           \
    "\"subnetSelectorTerms\":[{\"id\":\"subnet-1\"}],\"securityGroupSelectorTerms\":[{\"id\":\"sg-1\"}],"              \
    "\"amiSelectorTerms\":[{\"alias\":\"al2023@latest\"}]}"
#define ROLE(r) "{\"role\":\"" r "\"," REST
#define PROFILE(p) "{\"instanceProfile\":\"" p "\"," REST
#define MINUTE 60000

enum what { ENSURE, DELETE, COLLECT, ADD, ROLE_OF };

struct job {
    struct class_lab *l;
    enum what what;
    const struct ec2_class *k;
    str name; /* in: of ADD and ROLE_OF, and the one that a claim names in COLLECT */
    bool ok;
    struct err e;
};

static void work(void *arg)
{
    struct job *j = arg;
    struct ec2 *p = &j->l->p;
    struct iam_profile x = {0};

    switch (j->what) {
    case ENSURE:
        j->ok = ec2_profile_ensure(p, j->l->a, j->k, &j->name, &j->e);
        break;
    case DELETE:
        j->ok = ec2_profiles_delete(p, j->l->a, j->k, &j->e);
        break;
    case COLLECT:
        j->ok = ec2_profiles_collect(p, &j->name, j->name.n > 0, &j->e);
        break;
    case ADD:
        j->ok = iam_create_profile(p->aws, j->l->a, j->name, STR("/karpenter/us-west-2/test-cluster/gone/"), NULL, 0,
                                   &j->e);
        break;
    case ROLE_OF:
        j->ok = iam_get_profile(p->aws, j->l->a, j->name, &x, &j->e);
        j->name = x.role;
        break;
    }
}

static struct job go(struct class_lab *l, enum what what, const struct ec2_class *k, str name)
{
    struct job j = {.l = l, .what = what, .k = k, .name = name};

    class_lab_go(l, work, &j);
    return j;
}

/* The profile that the class gets, which must go well; the status has it from now on. */
static str ensure(struct class_lab *l, struct ec2_class *k)
{
    struct job j = go(l, ENSURE, k, (str){0});

    check_ok("a profile", j.ok, &j.e);
    k->status.profile = j.name;
    return j.name;
}

static bool there(struct class_lab *l, str name)
{
    return go(l, ROLE_OF, NULL, name).ok;
}

/* ---- N7 ---- */

static void made_once(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *k = class_lab_class(l, ROLE("test-role"));
    str name = ensure(l, k);

    check_true("its name", str_starts(name, STR("test-cluster_")));
    check_str("its role", go(l, ROLE_OF, NULL, name).name, "test-role");
    check_true("left as it is", str_eq(ensure(l, k), name));
    class_lab_run(l, 16 * MINUTE);
    check_true("also when it has to be looked up", str_eq(ensure(l, k), name));
    check_u64("made once", class_lab_calls(l, "CreateInstanceProfile"), 1);
}

static void made_again_after_a_lost_status(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *k = class_lab_class(l, ROLE("test-role"));
    str name = ensure(l, k);

    k->status.profile = (str){0};
    check_true("the same within a minute", str_eq(ensure(l, k), name));
    k->uid = STR("uid-2");
    k->status.profile = (str){0};
    check_true("N7 not for another class", !str_eq(ensure(l, k), name));
}

static void another_role(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *k = class_lab_class(l, ROLE("test-role"));
    str first = ensure(l, k), second;

    k->role = STR("/some/path/other-role");
    second = ensure(l, k);
    check_true("another profile", !str_eq(first, second));
    check_str("paths are not part of a role's name", go(l, ROLE_OF, NULL, second).name, "other-role");
    check_true("N7 left when it is there", str_eq(ensure(l, k), second));
    check_true("the old and the new one are protected", go(l, COLLECT, NULL, (str){0}).ok);
    check_true("old", there(l, first));
    check_true("new", there(l, second));
    class_lab_run(l, 61 * MINUTE);
    check_true("for an hour", go(l, COLLECT, NULL, second).ok);
    check_true("the old one is gone", !there(l, first));
    check_true("N8 the new one is named by a claim", there(l, second));
}

static void own_profile(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *k = class_lab_class(l, PROFILE("own-profile"));

    check_str("as the user says", ensure(l, k), "own-profile");
    check_true("N1 nothing to delete", go(l, DELETE, k, (str){0}).ok);
    check_u64("N7 without a word to IAM", class_lab_calls(l, "iam"), 0);
}

static void no_such_role(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *k = class_lab_class(l, ROLE("no-such-role"));

    check_true("an error", !go(l, ENSURE, k, (str){0}).ok);
    check_u64("N7 what was made is deleted", class_lab_calls(l, "DeleteInstanceProfile"), 1);
    check_true("an error again", !go(l, ENSURE, k, (str){0}).ok);
    check_u64("which is remembered", class_lab_calls(l, "CreateInstanceProfile"), 1);
    class_lab_run(l, 61000);
    (void)go(l, ENSURE, k, (str){0});
    check_u64("for a minute", class_lab_calls(l, "CreateInstanceProfile"), 2);
}

static void lookup_fails(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *k;

    class_lab_close(l);
    class_lab_open(l, "{\"faults\":{\"calls\":{\"GetInstanceProfile\":[{\"code\":\"AccessDenied\"}]}}}");
    k = class_lab_class(l, ROLE("test-role"));
    k->status.profile = STR("own-profile");
    check_true("N7 an error", !go(l, ENSURE, k, (str){0}).ok);
    check_u64("and no new profile", class_lab_calls(l, "CreateInstanceProfile"), 0);
}

/* ---- N1 ---- */

static void deleted_with_its_class(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *k = class_lab_class(l, ROLE("test-role"));
    str name = ensure(l, k);

    check_true("deleted", go(l, DELETE, k, (str){0}).ok);
    check_true("gone", !there(l, name));
    check_u64("its role was taken from it", class_lab_calls(l, "RemoveRoleFromInstanceProfile"), 1);
    check_true("fine when there is nothing", go(l, DELETE, k, (str){0}).ok);
    k->status.profile = (str){0};
    check_true("N7 nothing is remembered of it", !str_eq(ensure(l, k), name));
}

static void legacy_name(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *k = class_lab_class(l, ROLE("test-role"));
    str legacy = STR("test-cluster_4067990795380418201"); /* FNV-1 of "us-west-2default" */

    check_true("made by an older version", go(l, ADD, NULL, legacy).ok);
    check_true("deleted", go(l, DELETE, k, (str){0}).ok);
    check_true("N1 with the class", !there(l, legacy));
    l->p.cluster.name = STR("no name for IAM");
    uint64_t before = class_lab_calls(l, "GetInstanceProfile");
    check_true("N1 a name that IAM does not take", go(l, DELETE, k, (str){0}).ok);
    check_u64("is not asked for", class_lab_calls(l, "GetInstanceProfile"), before);
}

static void isolated(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *k = class_lab_class(l, ROLE("test-role"));

    l->p.settings.isolated_vpc = true;
    check_true("fine", go(l, DELETE, k, (str){0}).ok);
    check_u64("N1 nothing in isolated VPCs", class_lab_calls(l, "iam"), 0);
}

/* ---- N8 ---- */

static void collected(void **state)
{
    struct class_lab *l = *state;
    struct ec2_class *k = class_lab_class(l, ROLE("test-role"));
    str current = ensure(l, k);

    l->stored[l->n_stored++] = class_lab_object(l, ROLE("test-role"));
    tree_set_str(l->a, tree_sub(l->a, l->stored[0], "status"), "instanceProfile", current);
    check_true("of a class that is gone", go(l, ADD, NULL, STR("left")).ok);
    check_true("of a claim", go(l, ADD, NULL, STR("used")).ok);
    class_lab_run(l, 61 * MINUTE);
    check_true("collected", go(l, COLLECT, NULL, STR("used")).ok);
    check_true("N8 nobody names it", !there(l, STR("left")));
    check_true("N8 a claim names it", there(l, STR("used")));
    check_true("N8 a class names it", there(l, current));
    check_true("others are none of ours", there(l, STR("own-profile")));
}

static void collection_fails(void **state)
{
    struct class_lab *l = *state;

    class_lab_close(l);
    class_lab_open(l, "{\"faults\":{\"calls\":{\"DeleteInstanceProfile\":[{\"code\":\"AccessDenied\"}]}}}");
    check_true("one", go(l, ADD, NULL, STR("left")).ok);
    check_true("N8 an error", !go(l, COLLECT, NULL, (str){0}).ok);
    check_true("still there", there(l, STR("left")));
    check_true("the next time", go(l, COLLECT, NULL, (str){0}).ok);
    check_true("gone", !there(l, STR("left")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, class_lab_setup, class_lab_teardown)
        T(made_once),        T(made_again_after_a_lost_status),
        T(another_role),     T(own_profile),
        T(no_such_role),     T(lookup_fails),
        T(collected),        T(deleted_with_its_class),
        T(legacy_name),      T(isolated),
        T(collection_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
