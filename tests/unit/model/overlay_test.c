/* NodeOverlays: prices, matching, conflicts, the catalogue that comes of them (scheduling 23, checklists 27.2 and 27.15). */
#include "model/overlay.h"

#include "cloud/catalog.h"
#include "data/reader.h"
#include "k8s/decode.h"
#include "model/objects.h"
#include "support/check.h"

#define POOL(name, labels)                                                                                             \
    "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name                                              \
    "}\nspec: {template: {metadata: {labels: {" labels                                                                 \
    "}}, spec: {requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}\n---\n"
#define POOLS POOL("a", "team: blue") POOL("b", "team: green")
#define OVERLAY(name, reqs, more)                                                                                      \
    "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: '" name "'}\nspec: {requirements: [" reqs  \
    "], " more "}\n---\n"
#define IN(key, val) "{key: " key ", operator: In, values: [" val "]}"
#define TYPE(val) IN("node.kubernetes.io/instance-type", val)
#define ZONE_IN(val) IN("topology.kubernetes.io/zone", val)
#define CT_IN(val) IN("karpenter.sh/capacity-type", val)
#define OF_POOL(val) IN("karpenter.sh/nodepool", val)
#define T1 "c-1x-amd64-linux"
#define T2 "m-4x-arm64-linux"
#define PRICE_T1 0.027147483648 /* on demand */

struct bench {
    struct arena *a;
    struct syms *t;
    struct objects *o;
    const struct catalog *base, *made;
    struct overlay_verdict verdicts[8];
    struct sb out;
};

static bool bench_read(struct bench *b, const char *yaml, struct err *e)
{
    const struct tree *t = NULL;

    *b = (struct bench){.a = arena_new(0), .t = syms_new()};
    b->o = objects_new(b->t);
    b->base = catalog_builtin(b->a, b->t, STR("kwok"), e);
    AUTO(decoder) struct decoder *d = decoder_new(b->o);
    AUTO(reader) struct reader *r = reader_open_bytes("test", str_c(yaml), e);
    do
        if (!reader_next(r, &t, e) || (t && !k8s_decode(d, t, e)))
            return false;
    while (t);
    check_true("room", b->o->overlays.n <= ARRAY_LEN(b->verdicts));
    b->made = overlays_apply(b->a, b->t, b->base, b->o->pools.v, b->o->pools.n, b->o->overlays.v, b->o->overlays.n,
                             b->verdicts);
    return true;
}

static void bench_make(struct bench *b, const char *yaml)
{
    struct err e;

    check_ok("objects", bench_read(b, yaml, &e), &e);
}

static void bench_fini(struct bench *b)
{
    sb_fini(&b->out);
    objects_free(b->o);
    syms_free(b->t);
    arena_free(b->a);
}

static const struct itype *type_for(const struct bench *b, const char *pool, const char *name)
{
    sym p = sym_of(b->t, str_c(pool)), n = sym_of(b->t, str_c(name));

    for (uint32_t i = 0; i < b->made->n; i++)
        if (sym_eq(b->made->types[i].name, n) && itype_is_for(&b->made->types[i], p))
            return &b->made->types[i];
    check_true("the type is there", false);
    return NULL;
}

static bool offers(const struct bench *b, const struct offering *o, const char *val)
{
    for (uint32_t i = 0; i < o->n_requirements; i++)
        if (sym_eq(o->requirements[i].vals[0], sym_of(b->t, str_c(val))))
            return true;
    return false;
}

static double price(const struct bench *b, const char *pool, const char *type, const char *ct, const char *zone)
{
    const struct itype *t = type_for(b, pool, type);

    for (uint32_t i = 0; i < t->n_offerings; i++)
        if (offers(b, &t->offerings[i], ct) && offers(b, &t->offerings[i], zone))
            return t->offerings[i].price_usd_per_h;
    return -1;
}

static int64_t capacity(const struct bench *b, const char *pool, const char *type, const char *resource)
{
    return reslist_value(&type_for(b, pool, type)->capacity, sym_of(b->t, str_c(resource)));
}

/* "x: applies, y: Conflict" in the order of the input. */
static str fates(struct bench *b)
{
    static const char *const names[] = {"applies", "RuntimeValidation", "Conflict"};

    sb_reset(&b->out);
    for (uint32_t i = 0; i < b->o->overlays.n; i++)
        sb_printf(&b->out, "%s" STR_FMT ": %s", i ? ", " : "", STR_ARG(b->o->overlays.v[i].name),
                  names[b->verdicts[i].fate]);
    return sb_view(&b->out);
}

/* ---- prices ---- */

static void prices_are_read(void **state UNUSED)
{
    static const char *const good[] = {"+5", "-2.5", "+.5", "+150%", "-99.9%", "-100%", "+0.5%", "-1%"};
    static const char *const bad[] = {"5",   "5%",     ".5", "42.", "+42.", "+1,5",    "+1e3",    "+0x5",  "abc", "+ 5",
                                      "+5 ", "+1.2.3", "+",  "-",   ".",    "-100.0%", "-101.1%", "-150%", "",    "+%"};
    static const char *const prices[] = {"0", "5", "0.25", "10.5"};
    static const char *const not_prices[] = {"+5",  "-5",  ".5",  "42.", "5%",    "1,5",
                                             "1e3", "0x5", "abc", "5 ",  "1.2.3", ""};
    struct price_change c;

    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        check_true(good[i], price_adjustment_parse(str_c(good[i]), &c));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        check_true(bad[i], !price_adjustment_parse(str_c(bad[i]), &c));
    for (size_t i = 0; i < ARRAY_LEN(prices); i++)
        check_true(prices[i], price_parse(str_c(prices[i]), &c));
    for (size_t i = 0; i < ARRAY_LEN(not_prices); i++)
        check_true(not_prices[i], !price_parse(str_c(not_prices[i]), &c));
}

static void prices_change(void **state UNUSED)
{
    static const struct {
        const char *text;
        double from, want;
    } t[] = {{"-10%", 10, 9}, {"+50%", 10, 15}, {"-15", 10, 0}, {"+0.75", 1.25, 2}, {"-100%", 10, 0}, {"-0.5", 2, 1.5}};
    struct price_change c;

    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        check_true(t[i].text, price_adjustment_parse(str_c(t[i].text), &c));
        check_double(t[i].text, price_changed(t[i].from, c), t[i].want);
    }
    check_true("0.3", price_parse(STR("0.3"), &c));
    check_double("a price is a price", price_changed(10, c), 0.3);
    check_double("nothing changes", price_changed(10, (struct price_change){0}), 10);
    check_double("-200 % is nothing", price_changed(10, (struct price_change){PRICE_PERCENT, -200}), 0);
}

/* ---- what applies ---- */

static void without_overlays_nothing_changes(void **state UNUSED)
{
    struct bench b;

    bench_make(&b, POOLS);
    check_true("OV1 the same types", b.made == b.base);
    bench_fini(&b);
    bench_make(&b, POOLS OVERLAY("x", TYPE("none-such"), "price: '1'"));
    check_true("OV6 nothing matches: the same types", b.made == b.base);
    check_str("OV1 and it is fine", fates(&b), "x: applies");
    bench_fini(&b);
    bench_make(&b, OVERLAY("x", "", "price: '1'"));
    check_true("OV9 no pools, no change", b.made == b.base);
    bench_fini(&b);
}

static void prices_are_applied(void **state UNUSED)
{
    struct bench b;

    bench_make(&b, POOLS OVERLAY("x", "", "price: '1'"));
    check_i64("OV6 for all pools alike: as many types", b.made->n, b.base->n);
    check_double("OV6 for all pools", price(&b, "a", T1, "spot", "test-zone-a"), 1);
    check_true("OV6 the flag", type_for(&b, "a", T1)->price_overlaid && !type_for(&b, "a", T1)->capacity_overlaid);
    check_true("OV11 requirements are shared", type_for(&b, "a", T1)->requirements == b.base->types[0].requirements);
    bench_fini(&b);

    bench_make(&b, POOLS OVERLAY("x", TYPE(T1) ", " OF_POOL("a"), "priceAdjustment: '+50%'"));
    check_double("OV6 by pool", price(&b, "a", T1, "on-demand", "test-zone-a"), PRICE_T1 * 1.5);
    check_double("OV11 other pools are independent", price(&b, "b", T1, "on-demand", "test-zone-a"), PRICE_T1);
    check_i64("OV11 one type more", b.made->n, b.base->n + 1);
    check_true("OV9 no label of pools among its requirements",
               type_for(&b, "a", T1)->n_requirements == b.base->types[0].n_requirements);
    check_true("OV11 what is not changed is shared", type_for(&b, "b", T1)->offerings == b.base->types[0].offerings);
    bench_fini(&b);

    bench_make(&b, POOLS OVERLAY("x", IN("team", "blue"), "price: '2'"));
    check_double("OV6 by a label of the template", price(&b, "a", T2, "spot", "test-zone-b"), 2);
    check_true("OV6 not the others", price(&b, "b", T2, "spot", "test-zone-b") < 1);
    bench_fini(&b);

    bench_make(&b, POOLS OVERLAY("x", CT_IN("spot") ", " ZONE_IN("test-zone-b"), "price: '3'"));
    check_double("OV6 by capacity type and zone", price(&b, "a", T1, "spot", "test-zone-b"), 3);
    check_double("OV6 not in demand", price(&b, "a", T1, "on-demand", "test-zone-b"), PRICE_T1);
    check_true("OV6 not elsewhere", price(&b, "a", T1, "spot", "test-zone-a") < 1);
    bench_fini(&b);
}

static void weights_decide(void **state UNUSED)
{
    struct bench b;

    bench_make(&b,
               POOLS OVERLAY("x", "", "price: '1', weight: 10") OVERLAY("y", CT_IN("spot"), "price: '2', weight: 20")
                   OVERLAY("z", TYPE(T1), "capacity: {example.com/a: 4}"));
    check_str("OV8 all apply", fates(&b), "x: applies, y: applies, z: applies");
    check_double("OV6 the heaviest per offering", price(&b, "a", T1, "spot", "test-zone-a"), 2);
    check_double("OV6 the others where it does not reach", price(&b, "a", T1, "on-demand", "test-zone-a"), 1);
    check_i64("OV8 and capacity", capacity(&b, "a", T1, "example.com/a"), 4000);
    check_i64("OV7 not of others", capacity(&b, "a", T2, "example.com/a"), 0);
    check_true("OV8 both flags", type_for(&b, "a", T1)->price_overlaid && type_for(&b, "a", T1)->capacity_overlaid);
    bench_fini(&b);

    bench_make(&b, POOLS OVERLAY("x", "", "capacity: {example.com/a: 1, example.com/b: 1}, weight: 10")
                       OVERLAY("y", "", "capacity: {example.com/a: 2, example.com/c: 2}, weight: 20"));
    check_i64("OV7 the heaviest per resource", capacity(&b, "a", T1, "example.com/a"), 2000);
    check_i64("OV7 others are merged", capacity(&b, "a", T1, "example.com/b"), 1000);
    check_i64("OV7 and these", capacity(&b, "b", T1, "example.com/c"), 2000);
    check_i64("OV7 the rest stays", capacity(&b, "a", T1, "cpu"), 1000000000);
    bench_fini(&b);
}

/* ---- what does not ---- */

static void some_are_refused(void **state UNUSED)
{
    static const struct {
        const char *name, *overlays, *want;
    } t[] = {
        {"OV2 a requirement that can never be", OVERLAY("x", IN("kubernetes.io/hostnam_/e", "x"), "price: '1'"), NULL},
        {"OV2 a restricted domain", OVERLAY("x", IN("karpenter.kwok.sh/other", "x"), "price: '1'"),
         "x: RuntimeValidation"},
        {"OV2 NotIn without values", OVERLAY("x", "{key: team, operator: NotIn}", "price: '1'"),
         "x: RuntimeValidation"},
        {"OV2 capacity of cpu", OVERLAY("x", "", "capacity: {cpu: 5}"), "x: RuntimeValidation"},
        {"OV3 equal weights, same types", OVERLAY("x", "", "price: '1'") OVERLAY("y", "", "price: '2'"),
         "x: Conflict, y: applies"},
        {"OV4 equal values conflict, too", OVERLAY("x", "", "price: '1'") OVERLAY("y", "", "price: '1'"),
         "x: Conflict, y: applies"},
        {"OV4 price and adjustment", OVERLAY("x", "", "priceAdjustment: '+1'") OVERLAY("y", "", "price: '2'"),
         "x: Conflict, y: applies"},
        {"OV3 the same zone",
         OVERLAY("x", ZONE_IN("test-zone-a"), "price: '1'")
             OVERLAY("y", ZONE_IN("test-zone-a, test-zone-b"), "price: '2'"),
         "x: Conflict, y: applies"},
        {"OV3 zone meets capacity type",
         OVERLAY("x", ZONE_IN("test-zone-a"), "price: '1'") OVERLAY("y", CT_IN("spot"), "price: '2'"),
         "x: Conflict, y: applies"},
        {"OV3 apart by type", OVERLAY("x", TYPE(T1), "price: '1'") OVERLAY("y", TYPE(T2), "price: '2'"),
         "x: applies, y: applies"},
        {"OV3 apart by zone",
         OVERLAY("x", ZONE_IN("test-zone-a"), "price: '1'") OVERLAY("y", ZONE_IN("test-zone-b"), "price: '2'"),
         "x: applies, y: applies"},
        {"OV4 apart by pool", OVERLAY("x", OF_POOL("a"), "price: '1'") OVERLAY("y", OF_POOL("b"), "price: '2'"),
         "x: applies, y: applies"},
        {"OV4 apart by weight", OVERLAY("x", "", "price: '1', weight: 5") OVERLAY("y", "", "price: '2', weight: 6"),
         "x: applies, y: applies"},
        {"OV5 the same resource",
         OVERLAY("x", "", "capacity: {example.com/a: 1}") OVERLAY("y", "", "capacity: {example.com/a: 2}"),
         "x: Conflict, y: applies"},
        {"OV5 the same amount",
         OVERLAY("x", "", "capacity: {example.com/a: 1}") OVERLAY("y", "", "capacity: {example.com/a: 1}"),
         "x: Conflict, y: applies"},
        {"OV5 another resource",
         OVERLAY("x", "", "capacity: {example.com/a: 1}") OVERLAY("y", "", "capacity: {example.com/b: 1}"),
         "x: applies, y: applies"},
        {"OV5 among three",
         OVERLAY("w", "", "capacity: {example.com/a: 1}") OVERLAY("x", "", "capacity: {example.com/a: 1}")
             OVERLAY("y", "", "capacity: {example.com/a: 1}"),
         "w: Conflict, x: Conflict, y: applies"},
        {"quirk: a, b, a do not conflict",
         OVERLAY("w", "", "capacity: {example.com/a: 1}") OVERLAY("x", "", "capacity: {example.com/b: 1}")
             OVERLAY("y", "", "capacity: {example.com/a: 1}"),
         "w: applies, x: applies, y: applies"},
        {"OV4 price and capacity do not meet",
         OVERLAY("x", "", "price: '1'") OVERLAY("y", "", "capacity: {example.com/a: 2}"), "x: applies, y: applies"},
    };

    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct bench b;
        struct err e;
        bool read = bench_read(&b, arena_printf(a, "%s%s%c", POOLS, t[i].overlays, 0).p, &e);

        if (t[i].want)
            check_str(t[i].name, fates(&b), t[i].want);
        else
            check_true(t[i].name, !read);
        bench_fini(&b);
    }
}

static void nothing_is_applied_in_part(void **state UNUSED)
{
    struct bench b;

    bench_make(&b, POOLS OVERLAY("x", "", "price: '1'") OVERLAY("y", OF_POOL("b") ", " TYPE(T1), "price: '2'"));
    check_str("OV6 one of two pools is enough", fates(&b), "x: Conflict, y: applies");
    check_true("OV6 nothing of it, in no pool", price(&b, "a", T2, "spot", "test-zone-a") < 1);
    check_double("OV6 the other applies", price(&b, "b", T1, "spot", "test-zone-a"), 2);
    bench_fini(&b);
    bench_make(&b, POOLS OVERLAY("x", IN("karpenter.kwok.sh/other", "x"), "price: '1'")
                       OVERLAY("w", TYPE(T1), "price: '4'"));
    check_double("OV2 what is invalid is in nobody's way", price(&b, "a", T1, "spot", "test-zone-a"), 4);
    bench_fini(&b);
}

/* Providers may show a type to some pools only, and in another way to others. */
static void types_of_some_pools(void **state UNUSED)
{
    struct bench b;

    bench_make(&b, POOLS OVERLAY("x", TYPE(T1), "price: '5'") OVERLAY("y", OF_POOL("b") ", " TYPE(T2), "price: '6'"));
    struct itype types[3];
    sym a = sym_of(b.t, STR("a")), other = sym_of(b.t, STR("b"));
    for (uint32_t i = 0; i < b.base->n; i++)
        if (str_is(sym_str(b.t, b.base->types[i].name), T1))
            types[0] = types[1] = b.base->types[i];
        else if (str_is(sym_str(b.t, b.base->types[i].name), T2))
            types[2] = b.base->types[i];
    types[0].pools = types[2].pools = &a;
    types[1].pools = &other;
    types[0].n_pools = types[1].n_pools = types[2].n_pools = 1;
    struct catalog base = *b.base;
    base.types = types;
    base.n = 3;
    b.made = overlays_apply(b.a, b.t, &base, b.o->pools.v, b.o->pools.n, b.o->overlays.v, b.o->overlays.n, b.verdicts);
    check_i64("as many as there were", b.made->n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        check_u64("each for one pool", b.made->types[i].n_pools, 1);
        check_true("the same one", sym_eq(b.made->types[i].pools[0], types[i].pools[0]));
    }
    check_double("a", price(&b, "a", T1, "spot", "test-zone-a"), 5);
    check_double("b", price(&b, "b", T1, "spot", "test-zone-a"), 5);
    check_true("a type that the pool does not see", price(&b, "a", T2, "spot", "test-zone-a") < 1);
    bench_fini(&b);
}

static void admission(void **state UNUSED)
{
    static const struct {
        const char *name, *overlay;
    } bad[] = {
        {"O2 both prices", OVERLAY("x", "", "price: '1', priceAdjustment: '+1'")},
        {"O3 an adjustment without a sign", OVERLAY("x", "", "priceAdjustment: '1'")},
        {"O4 a price with a sign", OVERLAY("x", "", "price: '+1'")},
        {"O1 In without values", OVERLAY("x", "{key: team, operator: In, values: []}", "price: '1'")},
        {"O1 an unknown operator", OVERLAY("x", "{key: team, operator: Is, values: [x]}", "price: '1'")},
        {"O1 a bound that is none", OVERLAY("x", "{key: team, operator: Gt, values: [x]}", "price: '1'")},
        {"weight", OVERLAY("x", "", "price: '1', weight: 10001")},
    };
    struct bench b;
    struct err e;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        check_true(bad[i].name, !bench_read(&b, bad[i].overlay, &e));
        bench_fini(&b);
    }
    check_ok("O1 the pool is a key", bench_read(&b, POOLS OVERLAY("x", OF_POOL("a"), "price: '1'"), &e), &e);
    bench_fini(&b);
    check_ok("O5 resources of one's own",
             bench_read(&b, POOLS OVERLAY("x", "", "capacity: {smarter-devices/fuse: 1}"), &e), &e);
    bench_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prices_are_read),
        cmocka_unit_test(prices_change),
        cmocka_unit_test(without_overlays_nothing_changes),
        cmocka_unit_test(prices_are_applied),
        cmocka_unit_test(weights_decide),
        cmocka_unit_test(some_are_refused),
        cmocka_unit_test(nothing_is_applied_in_part),
        cmocka_unit_test(types_of_some_pools),
        cmocka_unit_test(admission),
    };

    return cmocka_run_group_tests_name("model/overlay", tests, NULL, NULL);
}
