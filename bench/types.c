/* bench-types - EC2's instance types as a node class sees them: the time to resolve a class, and to follow what changes.
 *
 *     bench-types [--types N] [--runs N]
 *
 * N types (of those whose prices are compiled in) in six zones, each to be had both ways, spot prices by zone. Prints one JSON object: the best of the runs, in
 * milliseconds of processor time, and what a resolved class takes in memory.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cloud/ec2/facts.h"
#include "cloud/ec2/types.h"

#define ZONES 6
#define MAX_TYPES 1000

static const char *const zones[ZONES] = {"us-east-1a", "us-east-1b", "us-east-1c",
                                         "us-east-1d", "us-east-1e", "us-east-1f"};

struct bench {
    struct arena *a;
    struct syms *t;
    struct ec2_universe universe;
    struct ec2_class k;
    struct ec2_types_input in;
    struct ec2_prices *prices;
    struct ec2_unavailable *unavailable;
    uint32_t n_types;
    int runs;
};

static double now_ms(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct ec2_type_info info_of(struct bench *b, const struct ec2_fact *f, uint32_t i)
{
    static str archs[] = {STR_INIT("x86_64")}, ways[] = {STR_INIT("on-demand"), STR_INIT("spot")};
    struct ec2_card *card = arena_new_one(b->a, struct ec2_card);

    card->max_interfaces = 4;
    return (struct ec2_type_info){
        .name = str_c(f->type),
        .usage_classes = ways,
        .n_usage_classes = ARRAY_LEN(ways),
        .hypervisor = STR("nitro"),
        .archs = archs,
        .n_archs = ARRAY_LEN(archs),
        .has_processor = true,
        .clock_ghz = 2.5 + i % 9 / 10.0,
        .manufacturer = STR("Intel"),
        .vcpus = 2 << i % 6,
        .memory_mib = 4096 << i % 7,
        .ebs_optimized = STR("default"),
        .ebs_mbps = 4750,
        .cards = card,
        .n_cards = 1,
        .ipv4_per_interface = 15,
    };
}

static bool build(struct bench *b, struct err *e)
{
    const struct ec2_fact *facts;
    uint32_t n_facts = ec2_facts(&facts), n_places = 0;
    struct ec2_type_infos infos = {.v = arena_new_array(b->a, struct ec2_type_info, b->n_types)};
    struct ec2_type_zone *places = arena_new_array(b->a, struct ec2_type_zone, (size_t)b->n_types * ZONES);
    struct ec2_spot_price *spot = arena_new_array(b->a, struct ec2_spot_price, (size_t)b->n_types * ZONES);

    for (uint32_t i = 0; i < n_facts && infos.n < b->n_types; i++) {
        infos.v[infos.n++] = info_of(b, &facts[i], i);
        for (uint32_t z = 0; z < ZONES; z++, n_places++) {
            places[n_places] = (struct ec2_type_zone){str_c(facts[i].type), str_c(zones[z])};
            spot[n_places] = (struct ec2_spot_price){str_c(facts[i].type), str_c(zones[z]), 0.01 * (z + 1), 1};
        }
    }
    (void)ec2_prices_set_spot(b->prices, spot, n_places);
    return ec2_universe_build(b->a, &infos, places, n_places, &b->universe, e);
}

static void describe_class(struct bench *b)
{
    b->k.family = EC2_AL2023;
    b->k.kubelet.max_pods = b->k.kubelet.pods_per_core = -1;
    b->k.status.subnets = arena_new_array(b->a, struct ec2_class_subnet, ZONES);
    b->k.status.n_subnets = ZONES;
    for (uint32_t z = 0; z < ZONES; z++)
        b->k.status.subnets[z] = (struct ec2_class_subnet){str_c(zones[z]), str_c(zones[z]), str_c(zones[z])};
}

static bool measure(struct bench *b, struct err *e)
{
    double resolve = 1e9, unchanged = 1e9, marked = 1e9;
    uint32_t n_changed = 0;
    size_t bytes = 0;

    for (int i = 0; i < b->runs; i++) {
        AUTO(arena) struct arena *a = arena_new(1u << 20);
        struct ec2_offering_key key = {.capacity_type = STR("spot"), .zone = str_c(zones[i % ZONES])};
        struct ec2_types types;
        double start = now_ms();

        if (!ec2_types_resolve(a, b->t, &b->in, &types, e))
            return false;
        resolve = MIN(resolve, now_ms() - start);
        bytes = arena_used(a);
        start = now_ms();
        n_changed += ec2_types_offerings(a, &b->in, &types);
        unchanged = MIN(unchanged, now_ms() - start);
        key.type = b->universe.types[(uint32_t)i % b->universe.n].name;
        ec2_unavailable_mark(b->unavailable, &key, 0);
        start = now_ms();
        (void)ec2_types_offerings(a, &b->in, &types);
        marked = MIN(marked, now_ms() - start);
    }
    if (n_changed)
        return err_set(e, ERR_INVALID, "offerings changed although nothing else did");
    (void)printf(
        "{\"types\": %u, \"zones\": %d, \"resolveMs\": %.3f, \"unchangedMs\": %.4f, \"oneMarkMs\": %.3f, \"KB\": %zu}\n",
        b->universe.n, ZONES, resolve, unchanged, marked, bytes / 1024);
    return true;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"types", required_argument, NULL, 't'}, {"runs", required_argument, NULL, 'r'}, {0}};
    struct bench b = {.n_types = MAX_TYPES, .runs = 20};
    struct err e;
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (c == 't')
            b.n_types = (uint32_t)MIN(strtoul(optarg, NULL, 10), MAX_TYPES);
        else if (c == 'r')
            b.runs = (int)strtol(optarg, NULL, 10);
        else
            return 1;
    b.a = arena_new(0);
    b.t = syms_new();
    b.prices = ec2_prices_new(STR("us-east-1"));
    b.unavailable = ec2_unavailable_new();
    describe_class(&b);
    b.in = (struct ec2_types_input){
        .universe = &b.universe,
        .class = &b.k,
        .prices = b.prices,
        .unavailable = b.unavailable,
        .region = STR("us-east-1"),
        .memory_overhead = 0.075,
    };
    bool ok = build(&b, &e) && measure(&b, &e);
    if (!ok)
        (void)fprintf(stderr, "bench-types: %s\n", e.msg);
    ec2_unavailable_free(b.unavailable);
    ec2_prices_free(b.prices);
    syms_free(b.t);
    arena_free(b.a);
    return ok ? 0 : 1;
}
