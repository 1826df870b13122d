/* User data of every recorded launch: what the class, the claim and the cluster make of it, to the byte. */
#include "cloud/ec2/userdata.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/vec.h"
#include "cloud/ec2/kubelet_expr.h"
#include "data/edit.h"
#include "data/reader.h"
#include "support/check.h"
#include "support/fixture.h"

#define RECORDS "tests/vectors/aws"

struct record {
    struct fixture *f;
    const char *name;
    const struct tree *cluster, *settings;
    const struct tree *claims[8];
    uint32_t n_claims;
    struct ec2_class *class;
    const struct tree *want;
};

static str file_text(struct arena *a, const char *path)
{
    FILE *in = fopen(path, "r");
    struct sb b = {0};
    char chunk[4096];
    size_t n;

    check_true(path, in != NULL);
    while ((n = fread(chunk, 1, sizeof(chunk), in)) > 0)
        sb_bytes(&b, chunk, n);
    (void)fclose(in);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static const struct tree *json_file(struct arena *a, const char *dir, const char *name)
{
    char path[700];
    const struct tree *t;
    struct err e;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    check_ok(path, tree_parse_json(a, path, file_text(a, path), &t, &e), &e);
    return t;
}

/* A merge patch on the cluster; null removes. */
static const struct tree *cluster_of(struct arena *a, const struct tree *patch)
{
    struct tree *c = tree_copy(a, tree_get(json_file(a, RECORDS, "world.json"), "cluster"));
    const struct tree *p = tree_at(patch, "cluster", NULL);

    for (uint32_t i = 0; p && i < p->n; i++)
        *tree_put(a, c, p->keys[i]) = p->items[i];
    return c;
}

static void read_objects(struct record *r, const char *dir)
{
    char path[700];
    const struct tree *t;
    struct err e;

    (void)snprintf(path, sizeof(path), "%s/objects.yaml", dir);
    struct reader *in = reader_open(path, &e);
    check_ok(path, in != NULL, &e);
    for (;;) {
        check_ok(path, reader_next(in, &t, &e), &e);
        if (!t)
            break;
        str kind = tree_str(tree_get(t, "kind"));
        if (str_is(kind, "EC2NodeClass")) {
            r->class = ec2_class_decode(r->f->a, r->f->t, tree_copy(r->f->a, t), STR("test-cluster"), &e);
            check_ok(path, r->class != NULL, &e);
        } else if (str_is(kind, "NodeClaim") && r->n_claims < ARRAY_LEN(r->claims)) {
            r->claims[r->n_claims++] = tree_copy(r->f->a, t);
        }
    }
    reader_free(in);
}

static str setting(const struct record *r, const char *name, const char *fact)
{
    str s = tree_str(tree_get(r->settings, name));

    return s.n ? s : tree_str(tree_get(r->cluster, fact));
}

/* ---- what a launch knows besides ---- */

/* Behind the last one: a class may bring its own. */
static int64_t number_behind(str text, const char *word)
{
    const char *end = text.p + text.n, *p = NULL;
    int64_t v = 0;

    for (const char *next = text.p; (next = memmem(next, (size_t)(end - next), word, strlen(word)));)
        p = next += strlen(word);
    if (!p)
        return -1;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        v = v * 10 + (*p - '0');
    return v;
}

static int64_t pods_in(str text)
{
    int64_t v = number_behind(text, "maxPods: ");

    v = v >= 0 ? v : number_behind(text, "--max-pods=");
    return v >= 0 ? v : number_behind(text, "\nmax-pods = ");
}

static str capacity_type_in(str text)
{
    static const char *const types[] = {"spot", "reserved"};
    const char *p = memmem(text.p, text.n, "karpenter.sh/capacity-type", 26);

    for (size_t i = 0; p && i < ARRAY_LEN(types); i++)
        if (memmem(p, MIN((size_t)(text.p + text.n - p), (size_t)40), types[i], strlen(types[i])))
            return str_c(types[i]);
    return STR("on-demand");
}

static bool kv_before(const struct ec2_kv *x, const struct ec2_kv *y, const void *ctx UNUSED)
{
    return str_cmp(x->key, y->key) < 0;
}

SORT_DEFINE(sort_kvs, struct ec2_kv, kv_before)

static void add_labels(struct record *r, const struct tree *claim, str want, struct ec2_boot *b)
{
    const struct tree *own = tree_at(claim, "metadata", "labels", NULL);
    struct ec2_kv *v = arena_new_array(r->f->a, struct ec2_kv, (own ? own->n : 0) + 2);
    uint32_t n = 0;

    for (uint32_t i = 0; own && i < own->n; i++)
        if (ec2_label_is_for_user_data(own->keys[i]))
            v[n++] = (struct ec2_kv){own->keys[i], own->items[i].text};
    v[n++] = (struct ec2_kv){STR("karpenter.sh/capacity-type"), capacity_type_in(want)};
    v[n++] = (struct ec2_kv){STR("karpenter.sh/do-not-sync-taints"), STR("true")};
    sort_kvs(v, n, NULL);
    b->labels = v;
    b->n_labels = n;
}

static void add_taints(struct record *r, const struct tree *claim, struct ec2_boot *b)
{
    static const char *const lists[] = {"taints", "startupTaints"};
    struct taint_text *v = arena_new_array(r->f->a, struct taint_text, 64);
    uint32_t n = 0;

    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        const struct tree *list = tree_at(claim, "spec", lists[l], NULL);

        for (uint32_t i = 0; list && i < list->n; i++)
            v[n++] = (struct taint_text){tree_str(tree_get(&list->items[i], "key")),
                                         tree_str(tree_get(&list->items[i], "value")),
                                         tree_str(tree_get(&list->items[i], "effect"))};
    }
    v[n++] = (struct taint_text){STR("karpenter.sh/unregistered"), STR(""), STR("NoExecute")};
    b->taints = v;
    b->n_taints = n;
}

/* Only two types have expressions in the records. */
static void resolve(struct record *r, struct ec2_boot *b)
{
    bool large = b->max_pods == 29;
    struct ec2_expr_vars v = {large ? 2 : 16,  large ? 8192 : 65536, large ? 3 : 8,
                              large ? 10 : 30, b->max_pods,          STR("m5")};

    b->kube_reserved = ec2_kvs_resolve(r->f->a, &r->class->kubelet.kube_reserved, &v, /* gate= */ true, NULL);
    b->system_reserved = ec2_kvs_resolve(r->f->a, &r->class->kubelet.system_reserved, &v, /* gate= */ true, NULL);
}

static void check_template(struct record *r, const struct tree *claim, str want)
{
    struct ec2_boot b = {.cluster = setting(r, "CLUSTER_NAME", "name"),
                         .endpoint = setting(r, "CLUSTER_ENDPOINT", "endpoint"),
                         .ca_bundle = setting(r, "CLUSTER_CA_BUNDLE", "caBundle"),
                         .cidr = tree_str(tree_get(r->cluster, "serviceIpv4Cidr")),
                         .max_pods = pods_in(want),
                         .ami_version = ec2_bottlerocket_version(r->class)};
    str dns = tree_str(tree_get(r->cluster, "kubeDNS")), got = {0};
    struct err e = {0};

    if (!b.cidr.n)
        b.cidr = tree_str(tree_get(r->cluster, "serviceIpv6Cidr"));
    b.dns = r->class->kubelet.has_dns ? r->class->kubelet.dns : &dns;
    b.n_dns = r->class->kubelet.has_dns ? r->class->kubelet.n_dns : dns.n != 0;
    add_labels(r, claim, want, &b);
    add_taints(r, claim, &b);
    resolve(r, &b);
    check_ok(r->name, ec2_user_data(r->f->a, r->class, &b, &got, &e), &e);
    check_str(r->name, got, arena_printf(r->f->a, STR_FMT "%c", STR_ARG(want), 0).p);
}

/* A launch that failed for its user data must fail here, too. */
static bool is_refused(const struct tree *launch)
{
    str text = tree_str(tree_at(launch, "error", "text", NULL));

    return str_contains(text, STR("parsing custom")) || str_contains(text, STR("invalid UserData"));
}

static void check_refusal(struct record *r)
{
    struct ec2_boot b = {.cluster = STR("c"), .max_pods = 10};
    struct err e = {0};
    str got;

    check_true(r->name, !ec2_user_data(r->f->a, r->class, &b, &got, &e) && e.kind == ERR_INVALID && e.msg[0]);
}

static uint32_t check_record(struct fixture *f, const char *dir, const char *name)
{
    struct record r = {.f = f, .name = name};
    const struct tree *record = json_file(f->a, dir, "case.json");
    const struct tree *launches = tree_get(json_file(f->a, dir, "want.json"), "launches");
    uint32_t n = 0;

    r.settings = tree_get(record, "settings");
    r.cluster = cluster_of(f->a, tree_get(record, "world"));
    read_objects(&r, dir);
    for (uint32_t i = 0; launches && i < launches->n && i < r.n_claims; i++) {
        const struct tree *made = tree_get(&launches->items[i], "launchTemplates");

        for (uint32_t t = 0; made && t < made->n; t++, n++)
            check_template(&r, r.claims[i], tree_str(tree_at(&made->items[t], "LaunchTemplateData", "UserData", NULL)));
        if (is_refused(&launches->items[i])) {
            check_refusal(&r);
            n++;
        }
    }
    return n;
}

static int is_case(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static uint32_t check_records(struct fixture *f, const char *dir)
{
    struct dirent **found;
    int n_found = scandir(dir, &found, is_case, alphasort);
    uint32_t n = 0;

    check_true(dir, n_found > 0);
    for (int i = 0; i < n_found; i++) {
        char path[600];

        (void)snprintf(path, sizeof(path), "%s/%s", dir, found[i]->d_name);
        n += check_record(f, path, found[i]->d_name);
        free(found[i]);
    }
    free(found);
    return n;
}

static void recorded(void **state)
{
    check_true("launch", check_records(*state, RECORDS "/launch") > 100);
}

static void recorded_later(void **state)
{
    check_true("launch-next", check_records(*state, RECORDS "/launch-next") > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(recorded, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(recorded_later, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
