/* The instance types file: what is derived, what is optional, what is refused and in which words. */
#include "k8s/itypes.h"

#include "base/sb.h"
#include "support/check.h"
#include "support/fixture.h"

static const struct catalog *load(struct fixture *f, const char *name, const char *json)
{
    struct err e = {0};
    const struct catalog *c = itypes_parse(f->a, f->t, "types.json", str_c(json), &e);

    check_ok(name, c != NULL, &e);
    assert(c);
    return c;
}

/* "a,b" for In; the operator's name in front for others; "-" when nothing is said about the key. */
static str values(struct fixture *f, const struct req_expr *x, uint32_t n, const char *key)
{
    struct sb b = {0};
    sym k = sym_of(f->t, str_c(key));

    for (uint32_t i = 0; i < n; i++) {
        if (!sym_eq(x[i].key, k))
            continue;
        if (x[i].op != OP_IN)
            sb_printf(&b, "%s ", req_op_name(x[i].op));
        for (uint32_t j = 0; j < x[i].n_vals; j++)
            sb_printf(&b, "%s" STR_FMT, j ? "," : "", STR_ARG(sym_str(f->t, x[i].vals[j])));
        if (b.n == 0)
            sb_c(&b, "\"\"");
    }
    if (b.n == 0)
        sb_char(&b, '-');
    str ret = sb_dup(&b, f->a);
    sb_fini(&b);
    return str_trim(ret);
}

static str resources(struct fixture *f, const struct reslist *l)
{
    struct sb b = {0};

    reslist_print_json(&b, f->t, l);
    str ret = sb_dup(&b, f->a);
    sb_fini(&b);
    return ret;
}

#define ZONE_A "{\"key\":\"topology.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"a\"]}"
#define ZONE_B "{\"key\":\"failure-domain.beta.kubernetes.io/zone\",\"operator\":\"In\",\"values\":[\"b\"]}"
#define SPOT "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"spot\"]}"
#define RESERVED                                                                                                       \
    "{\"key\":\"karpenter.sh/capacity-type\",\"operator\":\"In\",\"values\":[\"reserved\"]},"                          \
    "{\"key\":\"karpenter.kwok.sh/reservation-id\",\"operator\":\"In\",\"values\":[\"r-1\"]}"
#define OFFERING "{\"Price\":0.1,\"Requirements\":[" SPOT "," ZONE_A "]}"
#define LINUX "\"architecture\":\"amd64\",\"operatingSystems\":[\"linux\"]"

/* ---- labels from the name and the resources ---- */

static const struct {
    const char *name, *type, *cpu, *memory, *want; /* size family cpu memory */
} labels[] = {
    {"kwok's own form", "c-16x-amd64-linux", "16", "32Gi", "16 c 16 32Gi"},
    {"short kwok form", "c6i-2x", "2", "4Gi", "2 c6i 2 4Gi"},
    {"a dash and a number", "c-4", "4", "8Gi", "4 c 4 8Gi"},
    {"EC2's form carries the size", "c5.large", "2", "4Gi", "large c5 2 4Gi"},
    {"any number of xlarge", "r6a.24xlarge", "96", "768Gi", "24xlarge r6a 96 768Gi"},
    {"bare metal", "m5.metal", "96", "384Gi", "metal m5 96 384Gi"},
    {"metal with a size is another form", "m7i.metal-24xl", "96", "384Gi", "96 m7i 96 384Gi"},
    {"a dot alone does not make a size", "g4.1gpu", "8", "32Gi", "8 g4 8 32Gi"},
    {"a dash before the dot", "m7i-flex.large", "2", "8Gi", "2 m7i 2 8Gi"},
    {"neither dot nor dash: the first letter", "m16s", "16", "64Gi", "16 m 16 64Gi"},
    {"Azure's form", "Standard_D2s_v3", "2", "8Gi", "2 S 2 8Gi"},
    {"quantities are brought to their shortest form", "x-1", "4000m", "2048Gi", "4 x 4 2Ti"},
    {"fractions", "x-1", "0.5", "1.5Gi", "500m x 500m 1536Mi"},
};

static void labels_are_derived(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        str json = arena_printf(f->a,
                                "[{\"name\":\"%s\"," LINUX ",\"resources\":{\"cpu\":\"%s\",\"memory\":\"%s\"},"
                                "\"offerings\":[" OFFERING "]}]",
                                labels[i].type, labels[i].cpu, labels[i].memory);
        const struct itype *it = &load(f, labels[i].name, json.p)->types[0];
        str s[4];
        static const char *const keys[] = {"size", "family", "cpu", "memory"};

        for (int k = 0; k < 4; k++)
            s[k] = values(f, it->requirements, it->n_requirements,
                          arena_printf(f->a, "karpenter.kwok.sh/instance-%s", keys[k]).p);
        check_str(labels[i].name,
                  arena_printf(f->a, STR_FMT " " STR_FMT " " STR_FMT " " STR_FMT, STR_ARG(s[0]), STR_ARG(s[1]),
                               STR_ARG(s[2]), STR_ARG(s[3])),
                  labels[i].want);
    }
}

static void a_full_type(void **state)
{
    struct fixture *f = *state;
    const struct catalog *c =
        load(f, "full",
             "[{\"name\":\"g4.1gpu\",\"architecture\":\"arm64\",\"operatingSystems\":[\"linux\",\"windows\"],"
             "\"resources\":{\"cpu\":8,\"memory\":\"32Gi\",\"nvidia.com/gpu\":\"1\",\"pods\":\"58\"},"
             "\"overhead\":{\"cpu\":\"60m\"},"
             "\"requirements\":[{\"key\":\"example.com/gpu-name\",\"operator\":\"In\",\"values\":[\"t4\"]},"
             "{\"key\":\"example.com/none\",\"operator\":\"DoesNotExist\"},"
             "{\"key\":\"karpenter.kwok.sh/instance-family\",\"operator\":\"In\",\"values\":[\"gpu\"]}],"
             "\"offerings\":["
             "{\"Price\":0.29488,\"Available\":false,\"Requirements\":[" SPOT "," ZONE_B "]},"
             "{\"price\":0,\"requirements\":[" SPOT "," ZONE_A "],\"unknown\":null},"
             "{\"Price\":1e-7,\"ReservationCapacity\":3,\"Requirements\":[" RESERVED "," ZONE_A "],"
             "\"CapacityOverride\":{\"memory\":\"1Gi\"},\"OverheadOverride\":{\"cpu\":\"10m\"}}]}]");
    const struct itype *it = &c->types[0];
    static const struct {
        const char *key, *want;
    } reqs[] = {
        {"node.kubernetes.io/instance-type", "g4.1gpu"},
        {"kubernetes.io/arch", "arm64"},
        {"kubernetes.io/os", "linux,windows"},
        {"topology.kubernetes.io/zone", "b,a"},
        {"karpenter.sh/capacity-type", "spot,reserved"},
        {"karpenter.kwok.sh/instance-family", "gpu"},
        {"example.com/gpu-name", "t4"},
        {"example.com/none", "DoesNotExist"},
        {"karpenter.kwok.sh/reservation-id", "-"}, /* a type is silent about it, only its offering is not */
    };

    for (size_t i = 0; i < ARRAY_LEN(reqs); i++)
        check_str(reqs[i].key, values(f, it->requirements, it->n_requirements, reqs[i].key), reqs[i].want);
    check_u64("requirements", it->n_requirements, 11);
    check_str("capacity", resources(f, &it->capacity),
              "{\"cpu\":\"8\",\"memory\":\"32Gi\",\"nvidia.com/gpu\":\"1\",\"pods\":\"58\"}");
    check_str("overhead", resources(f, &it->overhead), "{\"cpu\":\"60m\"}");
    check_u64("offerings", it->n_offerings, 3);
    check_true("Available: false is honoured", !it->offerings[0].available);
    check_true("and true when absent", it->offerings[1].available);
    check_double("price", it->offerings[0].price_usd_per_h, 0.29488);
    check_double("price in exponent form", it->offerings[2].price_usd_per_h, 1e-7);
    check_i64("reserved", it->offerings[2].reservation_capacity, 3);
    check_str("capacity override", resources(f, &it->offerings[2].capacity_override), "{\"memory\":\"1Gi\"}");
    check_str("overhead override", resources(f, &it->offerings[2].overhead_override), "{\"cpu\":\"10m\"}");
    check_str("an old key is normalised", values(f, it->offerings[0].requirements, 2, "topology.kubernetes.io/zone"),
              "b");
}

static void rules_and_defaults(void **state)
{
    struct fixture *f = *state;
    const struct catalog *c =
        load(f, "two types",
             "[{\"name\":\"a1\"," LINUX
             ",\"resources\":{\"cpu\":\"1\"},\"offerings\":[{\"Price\":1,\"Requirements\":[" RESERVED "," ZONE_A "]}]},"
             "{\"name\":\"a2\"," LINUX ",\"resources\":{},\"requirements\":[{\"key\":\"example.com/x\",\"operator\":"
             "\"Exists\"}]}]");
    static const struct {
        const char *key;
        bool well_known, restricted;
    } keys[] = {
        {"topology.kubernetes.io/zone", true, false},
        {"node.kubernetes.io/windows-build", true, false},
        {"karpenter.kwok.sh/instance-memory", true, false},
        {"karpenter.kwok.sh/reservation-id", true, false},
        {"example.com/x", true, false},
        {"example.com/y", false, false},
        {"karpenter.kwok.sh/other", false, true},
        {"karpenter.sh/other", false, true},
    };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        sym k = sym_of(f->t, str_c(keys[i].key));

        check_true(keys[i].key, label_is_well_known(&c->rules, k) == keys[i].well_known);
        check_true(keys[i].key, label_is_restricted(&c->rules, f->t, k) == keys[i].restricted);
    }
    check_u64("well-known keys, each once", c->rules.n_well_known, 8 + 4 + 2);
    check_true("reservation id", sym_eq(c->rules.reservation_id, SYM(KWOK_RESERVATION_ID)));
    check_str("origin", c->origin, "types.json");
    check_str("pods by default", resources(f, &c->types[0].capacity), "{\"cpu\":\"1\",\"pods\":\"110\"}");
    check_str("overhead by default", resources(f, &c->types[0].overhead), "{\"cpu\":\"100m\",\"memory\":\"10Mi\"}");
    check_str("no offering, no zone",
              values(f, c->types[1].requirements, c->types[1].n_requirements, "topology.kubernetes.io/zone"),
              "DoesNotExist");
    check_u64("an empty list is a list", load(f, "empty", "[]")->n, 0);
}

/* ---- refused ---- */

#define TYPE(rest) "[{\"name\":\"x\"," LINUX ",\"resources\":{\"cpu\":\"1\"},\n" rest "}]"
#define OFFER(rest) TYPE("\"offerings\":[" rest "]")
#define REQS(rest) OFFER("{\"Price\":1,\"Requirements\":[" rest "]}")
#define OWN(rest) TYPE("\"requirements\":[" rest "]")
#define AT(col) "types.json:1:" col ": "
#define X_AT(col) AT(col) "instance type \"x\": "
#define X_BELOW(col) "types.json:2:" col ": instance type \"x\": "

static const struct {
    const char *name, *json, *want;
} bad[] = {
    {"not a list", "{\"kind\":\"List\"}", AT("1") "a list of instance types is wanted, this is a map"},
    {"not a map", "[3]", AT("2") "an instance type must be a map, not a number"},
    {"no name", "[{\"name\":\"\"}]", AT("2") "instance type 1 has no name"},
    {"a name that no label can hold", "[{\"name\":\"a b\"}]", AT("10") "the name \"a b\" cannot be a label value"},
    {"a name twice, on its line", "[{\"name\":\"x\"," LINUX ",\"resources\":{}},\n {\"name\":\"x\"}]",
     "types.json:2:10: instance type \"x\": a second type of that name"},
    {"no architecture", "[{\"name\":\"x\",\"resources\":{}}]", X_AT("2") "architecture is missing"},
    {"no systems", "[{\"name\":\"x\",\"architecture\":\"a\",\"resources\":{}}]",
     X_AT("2") "operatingSystems is missing or empty"},
    {"no resources", "[{\"name\":\"x\"}]", X_AT("2") "resources is missing"},
    {"negative resources", "[{\"name\":\"x\",\"resources\":{\"cpu\":\"-1\"}}]",
     X_AT("33") "resources: cpu is negative (-1)"},
    {"resources of a wrong kind", "[{\"name\":\"x\",\"resources\":{\"cpu\":[]}}]",
     X_AT("33") "resources: cpu must be a quantity, not a list"},
    {"resources are no map", "[{\"name\":\"x\",\"resources\":[]}]", X_AT("26") "resources must be a map, not a list"},
    {"no price", OFFER("{}"), X_BELOW("14") "an offering has no Price"},
    {"a price in quotes", OFFER("{\"Price\":\"1\"}"), X_BELOW("23") "Price must be a number, not a string"},
    {"a negative price", OFFER("{\"Price\":-0.5}"), X_BELOW("23") "Price must be zero or more, and finite, not -0.5"},
    {"an infinite price", OFFER("{\"Price\":1e999}"),
     X_BELOW("23") "Price must be zero or more, and finite, not 1e999"},
    {"availability in quotes", OFFER("{\"Price\":1,\"Available\":\"no\"}"),
     X_BELOW("37") "Available must be a boolean, not a string"},
    {"half a reservation", OFFER("{\"Price\":1,\"ReservationCapacity\":1.5}"),
     X_BELOW("47") "ReservationCapacity must be a count, not 1.5"},
    {"an offering without a zone", REQS(SPOT),
     X_BELOW("14") "an offering does not say its topology.kubernetes.io/zone"},
    {"an offering without a capacity type", REQS(ZONE_A),
     X_BELOW("14") "an offering does not say its karpenter.sh/capacity-type"},
    {"an open requirement in an offering", REQS("{\"key\":\"k\",\"operator\":\"Exists\"}"),
     X_BELOW("14") "an offering can say In or DoesNotExist, not Exists (k)"},
    {"a key twice, once by its old name", REQS(ZONE_A "," ZONE_B),
     X_BELOW("110") "two requirements on topology.kubernetes.io/zone"},
    {"no key", OWN("{\"operator\":\"In\"}"), X_BELOW("17") "a requirement has no key"},
    {"no operator", OWN("{\"key\":\"k\"}"), X_BELOW("17") "the requirement on k has no operator"},
    {"an unknown operator", OWN("{\"key\":\"k\",\"operator\":\"in\"}"), X_BELOW("39") "unknown operator \"in\""},
    {"a number as a value", OWN("{\"key\":\"k\",\"operator\":\"In\",\"values\":[1]}"),
     X_BELOW("54") "a value of a requirement must be a string, not a number"},
    {"a bound that is no number", OWN("{\"key\":\"k\",\"operator\":\"Gt\",\"values\":[\"a\"]}"),
     X_BELOW("17") "operator Gt needs exactly one value, an integer"},
    {"a requirement on the architecture",
     OWN("{\"key\":\"beta.kubernetes.io/arch\",\"operator\":\"In\",\"values\":[\"amd64\"]}"),
     X_AT("2") "requirements may not say kubernetes.io/arch: it follows from the other fields"},
};

static void errors_name_the_place(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err e = {0};

        check_true(bad[i].name, !itypes_parse(f->a, f->t, "types.json", str_c(bad[i].json), &e));
        check_str(bad[i].name, str_c(e.msg), bad[i].want);
        check_i64(bad[i].name, e.kind, ERR_INVALID);
    }
}

static void outer_limits(void **state)
{
    struct fixture *f = *state;
    struct sb b = {0};
    struct err e = {0};

    for (int i = 0; i < ITYPES_MAX + 1; i++)
        sb_printf(&b, "%s{\"name\":\"t%d\"," LINUX ",\"resources\":{}}", i ? "," : "[", i);
    sb_char(&b, ']');
    check_true("one too many", !itypes_parse(f->a, f->t, "t.json", sb_view(&b), &e));
    check_str("one too many", str_c(e.msg), "t.json:1:1: 4097 instance types are too many, the limit is 4096");
    sb_fini(&b);
    check_true("malformed", !itypes_parse(f->a, f->t, "t.json", STR("[{"), &e));
    check_true("malformed: names the file", str_starts(str_c(e.msg), STR("t.json:")));
    check_true("nothing at all", !itypes_parse(f->a, f->t, "t.json", STR(""), &e));
    check_true("nothing at all: names the file", str_starts(str_c(e.msg), STR("t.json:")));
    check_true("no such file", !itypes_load(f->a, f->t, "/nonexistent/types.json", &e));
    check_str("no such file", str_c(e.msg), "/nonexistent/types.json: No such file or directory");
    check_i64("no such file", e.kind, ERR_NOT_FOUND);
    check_true("a directory", !itypes_load(f->a, f->t, "/", &e));
    check_str("a directory", str_c(e.msg), "/: Is a directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(labels_are_derived, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_full_type, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(rules_and_defaults, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(errors_name_the_place, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(outer_limits, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests_name("k8s/itypes", tests, NULL, NULL);
}
