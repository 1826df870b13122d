/* Instance types: from the file format of kwok's provider, or from the formulas of the two built-in lists
 * (spec: scheduling 28), computed here once more so that a mistake in the program's own list does not go unseen. */
#include "checker_int.h"

#include "data/reader.h"

#define MAX_FILE (256u << 20)

static void type_finish(struct checker *c, struct ctype *t, const struct rvec *overhead)
{
    t->allocatable = t->capacity;
    for (uint32_t i = 0; i < c->resources.n; i++) {
        if (t->capacity.v[i] != 0)
            t->allocatable.v[i] -= overhead->v[i];
        if (str_starts(c->resources.v[i], STR("hugepages-")))
            t->allocatable.v[c->res_memory] -= t->capacity.v[i];
    }
    if (t->allocatable.v[c->res_memory] < 0 && t->capacity.v[c->res_memory] >= overhead->v[c->res_memory])
        t->allocatable.v[c->res_memory] = 0;
    strmap_put(&c->type_ix, t->name, c->types.n);
    vec_push(&c->types, *t);
}

static void default_overhead(struct checker *c, struct rvec *o)
{
    o->v[c->res_cpu] = quantity_parse(STR("100m"));
    o->v[c->res_memory] = quantity_parse(STR("10Mi"));
}

/* The zones and capacity types on offer, which the type promises as a whole. */
static void offered(struct checker *c, struct ctype *t, const char *key)
{
    struct creq r = {.key = str_c(key), .gte = INT64_MIN, .lte = INT64_MAX};

    r.vals = arena_new_array(c->a, str, t->n_offerings + 1);
    for (uint32_t i = 0; i < t->n_offerings; i++) {
        const struct creq *o = creqs_get(&t->offerings[i].reqs, r.key);
        bool known = false;

        if (!o || o->n_vals != 1)
            continue;
        for (uint32_t k = 0; k < r.n_vals; k++)
            known |= str_eq(r.vals[k], o->vals[0]);
        if (!known)
            r.vals[r.n_vals++] = o->vals[0];
    }
    if (r.n_vals)
        creqs_add(c, &t->reqs, r);
}

static void kwok_labels(struct checker *c, struct ctype *t, str cpu, str memory)
{
    static const char *const keys[] = {"karpenter.kwok.sh/instance-size", "karpenter.kwok.sh/instance-family",
                                       "karpenter.kwok.sh/instance-cpu", "karpenter.kwok.sh/instance-memory"};
    str family, rest, size;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        well_known_add(c, str_c(keys[i]));
    /* Names of the form family-size[-…] say what they are; of others only cpu and memory are certain. */
    if (str_cut(t->name, '-', &family, &rest)) {
        (void)str_cut(rest, '-', &size, &rest);
        creqs_add(c, &t->reqs, creq_in(c, str_c(keys[0]), size));
        creqs_add(c, &t->reqs, creq_in(c, str_c(keys[1]), family));
    }
    creqs_add(c, &t->reqs, creq_in(c, str_c(keys[2]), cpu));
    creqs_add(c, &t->reqs, creq_in(c, str_c(keys[3]), memory));
}

static const struct tree *member(const struct tree *t, const char *a, const char *b)
{
    const struct tree *x = tree_get(t, a);

    return x ? x : tree_get(t, b);
}

static void offering_read(struct checker *c, struct coffering *o, const struct tree *t)
{
    const struct tree *available = member(t, "Available", "available");
    struct sb text = {0};

    o->reqs = creqs_of_list(c, member(t, "Requirements", "requirements"));
    sb_str(&text, tree_scalar(member(t, "Price", "price")));
    o->price = strtod(sb_cstr(&text), NULL);
    sb_fini(&text);
    o->available = available && tree_is_true(available);
    (void)str_to_i64(tree_scalar(member(t, "ReservationCapacity", "reservationCapacity")), &o->reservation_capacity);
    for (uint32_t i = 0; i < o->reqs.n; i++)
        well_known_add(c, o->reqs.v[i].key);
}

static void type_read(struct checker *c, const struct tree *t)
{
    const struct tree *resources = tree_get(t, "resources"), *offerings = tree_get(t, "offerings");
    struct ctype y = {.name = keep(c, tree_str(tree_get(t, "name")))};
    struct rvec overhead = {0};

    rvec_read(c, resources, &y.capacity);
    if (!tree_get(resources, "pods"))
        y.capacity.v[c->res_pods] = quantity_parse(STR("110"));
    if (tree_get(t, "overhead"))
        rvec_read(c, tree_get(t, "overhead"), &overhead);
    else
        default_overhead(c, &overhead);
    y.offerings = arena_new_array(c->a, struct coffering, (offerings ? offerings->n : 0) + 1);
    for (uint32_t i = 0; offerings && i < offerings->n; i++)
        offering_read(c, &y.offerings[y.n_offerings++], &offerings->items[i]);
    creqs_add(c, &y.reqs, creq_in(c, STR(K_ITYPE), y.name));
    creqs_add(c, &y.reqs, creq_in(c, STR(K_ARCH), tree_str(tree_get(t, "architecture"))));
    creqs_add(c, &y.reqs, creq_make(c, STR(K_OS), STR("In"), tree_get(t, "operatingSystems")));
    offered(c, &y, K_ZONE);
    offered(c, &y, K_CT);
    kwok_labels(c, &y, tree_scalar(tree_get(resources, "cpu")), tree_scalar(tree_get(resources, "memory")));
    struct creqs extra = creqs_of_list(c, tree_get(t, "requirements"));
    for (uint32_t i = 0; i < extra.n; i++) {
        well_known_add(c, extra.v[i].key);
        creqs_add(c, &y.reqs, extra.v[i]);
    }
    type_finish(c, &y, &overhead);
}

bool checker_types_file(struct checker *c, const char *path, struct err *e)
{
    FILE *f = fopen(path, "rb");
    struct sb text = {0};
    char block[1 << 16];
    const struct tree *t;

    if (!f)
        return err_set(e, ERR_IO, "cannot open %s", path);
    for (size_t n; text.n < MAX_FILE && (n = fread(block, 1, sizeof(block), f)) > 0;)
        sb_bytes(&text, block, n);
    (void)fclose(f);
    bool ok = tree_parse_json(c->a, path, sb_dup(&text, c->a), &t, e);
    sb_fini(&text);
    if (!ok)
        return false;
    if (t->kind != TREE_LIST)
        return err_set(e, ERR_INVALID, "%s: not a list of instance types", path);
    for (uint32_t i = 0; i < t->n; i++)
        type_read(c, &t->items[i]);
    return true;
}

static void offer(struct checker *c, struct ctype *t, const char *capacity_type, const char *zone, double price)
{
    struct coffering *o = &t->offerings[t->n_offerings++];

    creqs_add(c, &o->reqs, creq_in(c, STR(K_CT), str_c(capacity_type)));
    creqs_add(c, &o->reqs, creq_in(c, STR(K_ZONE), str_c(zone)));
    o->price = price;
    o->available = true;
}

static void size_set(struct checker *c, struct ctype *t, int64_t cpu, int64_t gib, int64_t pods)
{
    t->capacity.v[c->res_cpu] = (quantity)cpu * 1000000000;
    t->capacity.v[c->res_memory] = ((quantity)gib << 30) * 1000000000;
    t->capacity.v[c->res_pods] = (quantity)pods * 1000000000;
}

static void kwok_type(struct checker *c, int64_t cpu, char family, int64_t gib, const char *os, const char *arch)
{
    static const char *const zones[] = {"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"};
    double price = 0.025 * (double)cpu + 0.001 * ((double)gib * 1073741824.0 / 1e9);
    struct ctype t = {.name = arena_printf(c->a, "%c-%lldx-%s-%s", family, (long long)cpu, arch, os)};
    struct rvec overhead = {0};

    default_overhead(c, &overhead);
    size_set(c, &t, cpu, gib, MIN(16 * cpu, 1024));
    t.capacity.v[resource_ix(c, STR("ephemeral-storage"))] = ((quantity)20 << 30) * 1000000000;
    t.offerings = arena_new_array(c->a, struct coffering, 8);
    for (size_t z = 0; z < ARRAY_LEN(zones); z++) {
        offer(c, &t, "spot", zones[z], price * 0.7);
        offer(c, &t, "on-demand", zones[z], price);
    }
    creqs_add(c, &t.reqs, creq_in(c, STR(K_ITYPE), t.name));
    creqs_add(c, &t.reqs, creq_in(c, STR(K_ARCH), str_c(arch)));
    creqs_add(c, &t.reqs, creq_in(c, STR(K_OS), str_c(os)));
    offered(c, &t, K_ZONE);
    offered(c, &t, K_CT);
    kwok_labels(c, &t, arena_printf(c->a, "%lld", (long long)cpu), arena_printf(c->a, "%lldGi", (long long)gib));
    type_finish(c, &t, &overhead);
}

static void kwok_list(struct checker *c)
{
    static const int64_t cpus[] = {1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256};

    for (size_t i = 0; i < ARRAY_LEN(cpus); i++)
        for (int f = 0; f < 3; f++)
            for (int v = 0; v < 4; v++)
                kwok_type(c, cpus[i], "csm"[f], cpus[i] * (2 << f), v & 1 ? "windows" : "linux",
                          v & 2 ? "arm64" : "amd64");
}

static void fake_type(struct checker *c, int64_t i)
{
    static const char *const zones[] = {"test-zone-1", "test-zone-2", "test-zone-3"};
    static const char *const systems[] = {"linux", "windows", "darwin"};
    int64_t cpu = i + 1, gib = 2 * (i + 1);
    double price = 0.1 * (double)cpu + 0.1 * ((double)gib * 1073741824.0) / 1e9;
    bool large = cpu > 4 && gib > 8;
    struct ctype t = {.name = arena_printf(c->a, "fake-it-%lld", (long long)i)};
    struct rvec overhead = {0};

    default_overhead(c, &overhead);
    size_set(c, &t, cpu, gib, 10 * (i + 1));
    t.offerings = arena_new_array(c->a, struct coffering, 5);
    for (size_t z = 0; z < ARRAY_LEN(zones); z++) {
        if (z < 2)
            offer(c, &t, "spot", zones[z], price);
        offer(c, &t, "on-demand", zones[z], price);
    }
    struct creq os = {.key = STR(K_OS), .gte = INT64_MIN, .lte = INT64_MAX, .n_vals = 3};
    os.vals = arena_new_array(c->a, str, 3);
    for (size_t k = 0; k < ARRAY_LEN(systems); k++)
        os.vals[k] = str_c(systems[k]);
    creqs_add(c, &t.reqs, os);
    creqs_add(c, &t.reqs, creq_in(c, STR(K_ITYPE), t.name));
    creqs_add(c, &t.reqs, creq_in(c, STR(K_ARCH), STR("amd64")));
    creqs_add(c, &t.reqs, creq_in(c, STR("integer"), arena_printf(c->a, "%lld", (long long)cpu)));
    creqs_add(c, &t.reqs, creq_in(c, STR("size"), large ? STR("large") : STR("small")));
    if (large)
        creqs_add(c, &t.reqs, creq_in(c, STR("special"), STR("optional")));
    offered(c, &t, K_ZONE);
    offered(c, &t, K_CT);
    type_finish(c, &t, &overhead);
}

bool checker_types_builtin(struct checker *c, const char *name, struct err *e)
{
    static const char *const fake_labels[] = {"size", "special", "integer"};
    int64_t n;

    if (strcmp(name, "kwok") == 0) {
        kwok_list(c);
        return true;
    }
    if (!str_starts(str_c(name), STR("fake:")) || !str_to_i64(str_c(name + 5), &n) || n < 1 || n > 4096)
        return err_set(e, ERR_INVALID, "no built-in list of instance types is called %s: kwok, fake:N", name);
    for (size_t i = 0; i < ARRAY_LEN(fake_labels); i++)
        well_known_add(c, str_c(fake_labels[i]));
    for (int64_t i = 0; i < n; i++)
        fake_type(c, i);
    return true;
}
