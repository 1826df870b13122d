/* The built-in catalogues: kwok's against the file that Karpenter itself reads, the fake one against its formulas. */
#include "cloud/catalog.h"

#include "base/sb.h"
#include "k8s/itypes.h"
#include "support/check.h"
#include "support/fixture.h"

#define KWOK_FILE "tests/unit/cloud/kwok.json"

static void print_reqs(struct sb *b, const struct syms *t, const struct req_expr *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        sb_printf(b, " " STR_FMT " %s", STR_ARG(sym_str(t, x[i].key)), req_op_name(x[i].op));
        for (uint32_t j = 0; j < x[i].n_vals; j++)
            sb_printf(b, " " STR_FMT, STR_ARG(sym_str(t, x[i].vals[j])));
        sb_char(b, ';');
    }
}

/* The text in the arena, with the terminator that check_str() wants. */
static str finish(struct fixture *f, struct sb *b)
{
    str text = arena_strdup(f->a, (str){sb_cstr(b), b->n + 1});

    sb_fini(b);
    return str_sub(text, 0, text.n - 1);
}

/* Everything there is to a type, as text: equal texts, equal types. */
static str print_type(struct fixture *f, const struct itype *it)
{
    struct sb b = {0};

    sb_str(&b, sym_str(f->t, it->name));
    print_reqs(&b, f->t, it->requirements, it->n_requirements);
    sb_c(&b, "\ncapacity ");
    reslist_print_json(&b, f->t, &it->capacity);
    sb_c(&b, " overhead ");
    reslist_print_json(&b, f->t, &it->overhead);
    for (uint32_t i = 0; i < it->n_offerings; i++) {
        const struct offering *o = &it->offerings[i];

        sb_printf(&b, "\n%.17g %d %d", o->price_usd_per_h, o->available, o->reservation_capacity);
        print_reqs(&b, f->t, o->requirements, o->n_requirements);
    }
    return finish(f, &b);
}

static str print_rules(struct fixture *f, const struct label_rules *r)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < r->n_well_known; i++)
        sb_printf(&b, STR_FMT " ", STR_ARG(sym_str(f->t, r->well_known[i])));
    for (uint32_t i = 0; i < r->n_restricted_domains; i++)
        sb_printf(&b, "!" STR_FMT " ", STR_ARG(r->restricted_domains[i]));
    sb_str(&b, sym_str(f->t, r->reservation_id));
    return finish(f, &b);
}

static const struct catalog *builtin(struct fixture *f, const char *name)
{
    struct err e = {0};
    const struct catalog *c = catalog_builtin(f->a, f->t, str_c(name), &e);

    check_ok(name, c != NULL, &e);
    assert(c);
    return c;
}

static void kwok_equals_the_file(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    const struct catalog *want = itypes_load(f->a, f->t, KWOK_FILE, &e);

    check_ok("the file loads", want != NULL, &e);
    assert(want);
    const struct catalog *got = builtin(f, "kwok");
    check_u64("types", got->n, 144);
    check_u64("types of the file", want->n, got->n);
    for (uint32_t i = 0; i < want->n; i++) {
        const char *text = print_type(f, &want->types[i]).p;

        check_str(text, print_type(f, &got->types[i]), text);
        check_u64("offerings", got->types[i].n_offerings, 8);
        for (uint32_t j = 0; j < 8; j++)
            check_double("price", got->types[i].offerings[j].price_usd_per_h,
                         want->types[i].offerings[j].price_usd_per_h);
    }
    check_str("rules", print_rules(f, &got->rules), print_rules(f, &want->rules).p);
    check_str("origin", got->origin, "kwok");
}

static void kwok_by_eye(void **state)
{
    struct fixture *f = *state;
    const struct catalog *c = builtin(f, "kwok");

    check_str("the largest m", print_type(f, &c->types[c->n - 4]),
              "m-256x-amd64-linux node.kubernetes.io/instance-type In m-256x-amd64-linux; kubernetes.io/arch In amd64; "
              "kubernetes.io/os In linux; topology.kubernetes.io/zone In test-zone-a test-zone-b test-zone-c "
              "test-zone-d; karpenter.sh/capacity-type In spot on-demand; karpenter.kwok.sh/instance-size In 256; "
              "karpenter.kwok.sh/instance-family In m; karpenter.kwok.sh/instance-cpu In 256; "
              "karpenter.kwok.sh/instance-memory In 2Ti;\n"
              "capacity {\"cpu\":\"256\",\"ephemeral-storage\":\"20Gi\",\"memory\":\"2Ti\",\"pods\":\"1024\"} "
              "overhead {\"cpu\":\"100m\",\"memory\":\"10Mi\"}\n"
              "6.0193162788863992 1 0 karpenter.sh/capacity-type In spot; topology.kubernetes.io/zone In test-zone-a;\n"
              "8.5990232555519999 1 0 karpenter.sh/capacity-type In on-demand; topology.kubernetes.io/zone In "
              "test-zone-a;\n"
              "6.0193162788863992 1 0 karpenter.sh/capacity-type In spot; topology.kubernetes.io/zone In test-zone-b;\n"
              "8.5990232555519999 1 0 karpenter.sh/capacity-type In on-demand; topology.kubernetes.io/zone In "
              "test-zone-b;\n"
              "6.0193162788863992 1 0 karpenter.sh/capacity-type In spot; topology.kubernetes.io/zone In test-zone-c;\n"
              "8.5990232555519999 1 0 karpenter.sh/capacity-type In on-demand; topology.kubernetes.io/zone In "
              "test-zone-c;\n"
              "6.0193162788863992 1 0 karpenter.sh/capacity-type In spot; topology.kubernetes.io/zone In test-zone-d;\n"
              "8.5990232555519999 1 0 karpenter.sh/capacity-type In on-demand; topology.kubernetes.io/zone In "
              "test-zone-d;");
}

static void fake_follows_its_formulas(void **state)
{
    struct fixture *f = *state;
    const struct catalog *c = builtin(f, "fake:400");

    check_u64("types", c->n, 400);
    check_str("small", print_type(f, &c->types[3]),
              "fake-it-3 node.kubernetes.io/instance-type In fake-it-3; kubernetes.io/arch In amd64; kubernetes.io/os "
              "In darwin linux windows; topology.kubernetes.io/zone In test-zone-1 test-zone-2 test-zone-3; "
              "karpenter.sh/capacity-type In spot on-demand; size In small; special DoesNotExist; integer In 4;\n"
              "capacity {\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"40\"} overhead "
              "{\"cpu\":\"100m\",\"memory\":\"10Mi\"}\n"
              "1.2589934592000001 1 0 karpenter.sh/capacity-type In spot; topology.kubernetes.io/zone In test-zone-1;\n"
              "1.2589934592000001 1 0 karpenter.sh/capacity-type In spot; topology.kubernetes.io/zone In test-zone-2;\n"
              "1.2589934592000001 1 0 karpenter.sh/capacity-type In on-demand; topology.kubernetes.io/zone In "
              "test-zone-1;\n"
              "1.2589934592000001 1 0 karpenter.sh/capacity-type In on-demand; topology.kubernetes.io/zone In "
              "test-zone-2;\n"
              "1.2589934592000001 1 0 karpenter.sh/capacity-type In on-demand; topology.kubernetes.io/zone In "
              "test-zone-3;");
    str large = print_type(f, &c->types[399]);
    check_true("from 5 cpus on a type is large", str_contains(large, STR("size In large; special In optional; "
                                                                         "integer In 400;")));
    check_true("capacity grows", str_contains(large, STR("{\"cpu\":\"400\",\"memory\":\"800Gi\",\"pods\":\"4k\"}")));
    for (int i = 0; i < 3; i++) {
        static const char *const keys[] = {"size", "special", "integer"};

        check_true(keys[i], label_is_well_known(&c->rules, sym_of(f->t, str_c(keys[i]))));
    }
    check_true("zone is well-known", label_is_well_known(&c->rules, SYM(ZONE)));
    check_true("instance-size is not", !label_is_well_known(&c->rules, sym_of(f->t, STR("karpenter.kwok.sh/x"))));
}

static const struct {
    const char *name, *catalog, *want; /* want: the error; NULL when it loads */
} names[] = {
    {"kwok", "kwok", NULL},
    {"one type", "fake:1", NULL},
    {"the limit", "fake:4096", NULL},
    {"none", "fake:0", "catalogue \"fake:0\": the number of types must be 1 to 4096"},
    {"too many", "fake:4097", "catalogue \"fake:4097\": the number of types must be 1 to 4096"},
    {"no number", "fake:", "catalogue \"fake:\": the number of types must be 1 to 4096"},
    {"not a number", "fake:12x", "catalogue \"fake:12x\": the number of types must be 1 to 4096"},
    {"unknown", "azure", "unknown catalogue \"azure\": choose kwok, fake:N (1 to 4096 types) or aws[:REGION]"},
    {"no count at all", "fake", "unknown catalogue \"fake\": choose kwok, fake:N (1 to 4096 types) or aws[:REGION]"},
    {"empty", "", "unknown catalogue \"\": choose kwok, fake:N (1 to 4096 types) or aws[:REGION]"},
};

static void names_and_errors(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct err e = {0};
        const struct catalog *c = catalog_builtin(f->a, f->t, str_c(names[i].catalog), &e);

        check_true(names[i].name, (c == NULL) == (names[i].want != NULL));
        if (names[i].want)
            check_str(names[i].name, str_c(e.msg), names[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kwok_equals_the_file, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(kwok_by_eye, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(fake_follows_its_formulas, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(names_and_errors, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests_name("cloud/catalog", tests, NULL, NULL);
}
