#include "cloud/kwok/node.h"

#include "data/edit.h"
#include "k8s/encode.h"
#include "model/req.h"

/* ---- which machine ---- */

void kwok_types_init(struct kwok_types *k, const struct catalog *c)
{
    *k = (struct kwok_types){.catalog = c};
    for (uint32_t i = 0; i < c->n; i++)
        u64map_put(&k->by_name, c->types[i].name.v, i);
}

void kwok_types_fini(struct kwok_types *k)
{
    u64map_fini(&k->by_name);
}

static const struct itype *type_named(const struct kwok_types *k, sym name)
{
    uint32_t ix = u64map_get(&k->by_name, name.v);

    return ix == MAP_NONE ? NULL : &k->catalog->types[ix];
}

static const struct req_expr *listed_types(const struct nodeclaim *claim)
{
    for (uint32_t i = 0; i < claim->n_requirements; i++)
        if (sym_eq(claim->requirements[i].key, SYM(ITYPE)) && claim->requirements[i].op == OP_IN)
            return &claim->requirements[i];
    return NULL;
}

static void announce(struct reqspace *s, const struct req_expr *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        reqspace_expr(s, &x[i]);
}

/* Offerings of one zone and capacity type share their requirements, so that most answers are remembered ones. */
static struct kwok_choice cheapest(struct reqspace *s, const struct kwok_types *k, const struct nodeclaim *claim,
                                   const struct req_expr *names)
{
    uint32_t want = rs_of_exprs(s, claim->requirements, claim->n_requirements);
    struct kwok_choice best = {0};

    for (uint32_t i = 0; i < names->n_vals; i++) {
        const struct itype *t = type_named(k, names->vals[i]);

        for (uint32_t j = 0; j < t->n_offerings; j++) {
            const struct offering *o = &t->offerings[j];

            if (!o->available || (best.offering && o->price_usd_per_h >= best.offering->price_usd_per_h))
                continue;
            if (rs_compatible(s, want, rs_of_exprs(s, o->requirements, o->n_requirements), COMPAT_LENIENT))
                best = (struct kwok_choice){t, o};
        }
    }
    return best;
}

bool kwok_choose(const struct kwok_types *k, const struct syms *t, const struct nodeclaim *claim,
                 struct kwok_choice *ret, struct err *e)
{
    AUTO(arena) struct arena *tmp = arena_new(0);
    const struct req_expr *names = listed_types(claim);
    struct reqspace s;

    if (!names)
        return err_set(e, ERR_INVALID, "translating nodeclaim to node, instance type requirement not found");
    reqspace_init(&s, tmp, t, &k->catalog->rules);
    announce(&s, claim->requirements, claim->n_requirements);
    for (uint32_t i = 0; i < names->n_vals; i++) {
        const struct itype *type = type_named(k, names->vals[i]);

        if (!type) {
            reqspace_fini(&s);
            return err_set(e, ERR_INVALID, "translating nodeclaim to node, instance type " STR_FMT " not found",
                           STR_ARG(sym_str(t, names->vals[i])));
        }
        for (uint32_t j = 0; j < type->n_offerings; j++)
            announce(&s, type->offerings[j].requirements, type->offerings[j].n_requirements);
    }
    reqspace_freeze(&s);
    struct kwok_choice best = cheapest(&s, k, claim, names);
    reqspace_fini(&s);
    if (!best.offering)
        return err_set(e, ERR_CAPACITY, "no offering of the listed instance types is available");
    *ret = best;
    return true;
}

/* ---- what it is called ---- */

static const char *const adjectives[] = {"brave", "bright", "calm",  "clever", "eager",  "fair",   "gentle", "happy",
                                         "jolly", "keen",   "kind",  "lively", "merry",  "modest", "noble",  "patient",
                                         "proud", "quick",  "quiet", "rapid",  "steady", "swift",  "warm",   "wise"};
static const char *const nouns[] = {"badger", "crane", "dolphin", "eagle", "falcon", "ferret", "finch",  "gecko",
                                    "heron",  "ibis",  "jackal",  "lark",  "lemur",  "lynx",   "marten", "otter",
                                    "owl",    "panda", "puffin",  "raven", "robin",  "stoat",  "tern",   "wren"};

str kwok_node_name(struct arena *a, const struct nodeclaim *claim)
{
    uint64_t words = hash_bytes(claim->uid.p, claim->uid.n, /* seed= */ 1);
    uint64_t number = hash_bytes(claim->uid.p, claim->uid.n, /* seed= */ 2);

    return arena_printf(a, "kwok-" STR_FMT "-%s-%s-%u", STR_ARG(claim->name), adjectives[words % ARRAY_LEN(adjectives)],
                        nouns[words / ARRAY_LEN(adjectives) % ARRAY_LEN(nouns)], (unsigned)(number & UINT32_MAX));
}

/* ---- what it is ---- */

struct pairs {
    struct arena *a;
    struct annotation *v;
    uint32_t n, cap;
};

/* A later value for the same key replaces the earlier one. */
static void put(struct pairs *p, str key, str val)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (str_eq(p->v[i].key, key)) {
            p->v[i].val = val;
            return;
        }
    if (p->n == p->cap) {
        struct annotation *more = arena_new_array(p->a, struct annotation, p->cap * 2 + 16);

        if (p->n)
            memcpy(more, p->v, p->n * sizeof(*more));
        p->v = more;
        p->cap = p->cap * 2 + 16;
    }
    p->v[p->n++] = (struct annotation){key, val};
}

static void put_single_valued(struct pairs *p, const struct syms *t, const struct req_expr *x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (x[i].op == OP_IN && x[i].n_vals == 1)
            put(p, sym_str(t, x[i].key), sym_str(t, x[i].vals[0]));
}

static int by_key(const void *a, const void *b, void *ctx)
{
    const struct annotation *x = a, *y = b;

    (void)ctx;
    return str_cmp(x->key, y->key);
}

static void machine_labels(struct machine *m, struct arena *a, const struct syms *t, const struct nodeclaim *claim,
                           const struct kwok_choice *x)
{
    struct pairs p = {.a = a};
    uint32_t n;
    const struct label *own = lset_get(t, claim->labels, &n);

    for (uint32_t i = 0; i < n; i++)
        put(&p, sym_str(t, own[i].key), sym_str(t, own[i].val));
    put_single_valued(&p, t, claim->requirements, claim->n_requirements);
    put(&p, sym_str(t, SYM(ITYPE)), sym_str(t, x->type->name));
    put_single_valued(&p, t, x->type->requirements, x->type->n_requirements);
    put_single_valued(&p, t, x->offering->requirements, x->offering->n_requirements);
    put(&p, STR("eks-node-viewer/instance-price"), arena_printf(a, "%.6f", x->offering->price_usd_per_h));
    put(&p, STR("kwok-partition"), STR("a"));
    put(&p, sym_str(t, SYM(HOST)), arena_strdup(a, claim->name));
    put(&p, STR("kwok.x-k8s.io/node"), STR("fake"));
    sort_stable(p.v, p.n, sizeof(*p.v), by_key, NULL);
    m->labels = p.v;
    m->n_labels = p.n;
}

static void machine_annotations(struct machine *m, struct arena *a, const struct nodeclaim *claim)
{
    struct pairs p = {.a = a};

    for (uint32_t i = 0; i < claim->n_annotations; i++)
        put(&p, arena_strdup(a, claim->annotations[i].key), arena_strdup(a, claim->annotations[i].val));
    put(&p, STR("kwok.x-k8s.io/node"), STR("fake")); /* makes kwok play the node's kubelet */
    sort_stable(p.v, p.n, sizeof(*p.v), by_key, NULL);
    m->annotations = p.v;
    m->n_annotations = p.n;
}

struct machine kwok_machine(struct arena *a, const struct syms *t, const struct nodeclaim *claim,
                            const struct kwok_choice *x)
{
    struct machine m = {.provider_id = arena_printf(a, KWOK_PREFIX STR_FMT, STR_ARG(kwok_node_name(a, claim)))};
    struct reslist rest = reslist_dup(a, &x->type->capacity);

    machine_labels(&m, a, t, claim, x);
    machine_annotations(&m, a, claim);
    m.capacity = reslist_dup(a, &claim->requests); /* quirk: what was asked for, not what the type has */
    m.allocatable = reslist_dup(a, &claim->requests);
    reslist_sub(&rest, &x->type->overhead);
    for (uint32_t i = 0; i < rest.n; i++)
        reslist_set(a, &m.allocatable, rest.q[i].name, rest.q[i].v, rest.q[i].binary);
    return m;
}

struct machine kwok_machine_again(struct arena *a, const struct syms *t, const struct nodeclaim *claim)
{
    struct machine m = {.provider_id = arena_strdup(a, claim->provider_id)};
    struct pairs p = {.a = a};
    uint32_t n;
    const struct label *own = lset_get(t, claim->labels, &n);

    for (uint32_t i = 0; i < n; i++)
        put(&p, sym_str(t, own[i].key), sym_str(t, own[i].val));
    sort_stable(p.v, p.n, sizeof(*p.v), by_key, NULL);
    m.labels = p.v;
    m.n_labels = p.n;
    machine_annotations(&m, a, claim);
    m.capacity = reslist_dup(a, &claim->capacity);
    m.allocatable = reslist_dup(a, &claim->allocatable);
    return m;
}

/* ---- machines and Nodes ---- */

static struct tree map_of(struct arena *a, const struct annotation *v, uint32_t n)
{
    struct tree *map = tree_new_map(a);

    for (uint32_t i = 0; i < n; i++)
        *tree_put(a, map, v[i].key) = tree_of_str(v[i].val);
    return *map;
}

/* What a client in Go sends although it is empty. */
static void put_empty_parts(struct arena *a, struct tree *status)
{
    static const char *const info[] = {
        "machineID",      "systemUUID",       "bootID",          "kernelVersion", "osImage", "containerRuntimeVersion",
        "kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"};
    struct tree *node_info = tree_sub(a, status, "nodeInfo");

    for (size_t i = 0; i < ARRAY_LEN(info); i++)
        tree_set_str(a, node_info, info[i], STR(""));
    tree_set_i64(a, tree_path(a, status, "daemonEndpoints", "kubeletEndpoint", NULL), "Port", 0);
}

str kwok_node_of(str provider_id)
{
    if (!str_starts(provider_id, STR(KWOK_PREFIX)))
        return (str){0};
    return str_sub(provider_id, sizeof(KWOK_PREFIX) - 1, provider_id.n);
}

struct tree *kwok_node(struct arena *a, const struct syms *t, const struct machine *m)
{
    struct tree *node = tree_new_map(a), *taint = tree_new_map(a);

    tree_set_str(a, node, "apiVersion", STR("v1"));
    tree_set_str(a, node, "kind", STR("Node"));
    struct tree *meta = tree_sub(a, node, "metadata");
    tree_set_str(a, meta, "name", kwok_node_of(m->provider_id));
    tree_set(a, meta, "labels", map_of(a, m->labels, m->n_labels));
    tree_set(a, meta, "annotations", map_of(a, m->annotations, m->n_annotations));

    struct tree *spec = tree_sub(a, node, "spec");
    tree_set_str(a, spec, "providerID", m->provider_id);
    tree_set_str(a, taint, "key", STR("karpenter.sh/unregistered"));
    tree_set_str(a, taint, "effect", STR("NoExecute"));
    tree_push(a, tree_sublist(a, spec, "taints"), *taint);

    struct tree *status = tree_sub(a, node, "status");
    if (m->capacity.n) /* a claim of a static pool asks for nothing */
        tree_set(a, status, "capacity", tree_of_resources(a, t, &m->capacity));
    tree_set(a, status, "allocatable", tree_of_resources(a, t, &m->allocatable));
    tree_set_str(a, status, "phase", STR("Pending"));
    put_empty_parts(a, status);
    return node;
}

static struct annotation *pairs_of(struct arena *a, const struct tree *map, uint32_t *ret_n)
{
    uint32_t n = map && map->kind == TREE_MAP ? map->n : 0;
    struct annotation *v = arena_new_array(a, struct annotation, n);

    for (uint32_t i = 0; i < n; i++)
        v[i] = (struct annotation){arena_strdup(a, map->keys[i]), arena_strdup(a, tree_str(&map->items[i]))};
    sort_stable(v, n, sizeof(*v), by_key, NULL);
    *ret_n = n;
    return v;
}

/* A quantity that the server let pass and we cannot read is left out. */
static struct reslist reslist_of(struct arena *a, struct syms *t, const struct tree *map)
{
    struct reslist l = {0};

    for (uint32_t i = 0; map && map->kind == TREE_MAP && i < map->n; i++) {
        sym name = sym_of(t, map->keys[i]);
        int64_t v;
        bool binary;
        struct err e;

        if (quantity_parse(tree_scalar(&map->items[i]), name, &v, &binary, &e))
            reslist_set(a, &l, name, v, binary);
    }
    return l;
}

struct machine kwok_machine_of(struct arena *a, struct syms *t, const struct tree *node)
{
    struct machine m = {
        .provider_id = arena_strdup(a, tree_str(tree_at(node, "spec", "providerID", NULL))),
        .capacity = reslist_of(a, t, tree_at(node, "status", "capacity", NULL)),
        .allocatable = reslist_of(a, t, tree_at(node, "status", "allocatable", NULL)),
        .deleting = tree_at(node, "metadata", "deletionTimestamp", NULL) != NULL,
    };

    m.labels = pairs_of(a, tree_at(node, "metadata", "labels", NULL), &m.n_labels);
    m.annotations = pairs_of(a, tree_at(node, "metadata", "annotations", NULL), &m.n_annotations);
    return m;
}
