/* Rules and columns of services, with the allocation of their addresses and ports. */
#include "base/map.h"
#include "base/sb.h"
#include "sim/kube/rules/around.h"
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/rule.h"
#include "sim/kube/rules/rules.h"
#include "sim/kube/rules/view.h"

/* 10.96.0.0/16: the first address is that of the service "kubernetes", the next fifteen are left to those who choose. */
#define FIRST_IP 16u
#define LAST_IP 65534u
#define FIRST_NODE_PORT 30000
#define N_NODE_PORTS 2768

static bool has_node_ports(const struct tree *spec)
{
    str type = tree_str(tree_get(spec, "type"));

    if (str_is(type, "NodePort"))
        return true;
    const struct tree *wanted = tree_get(spec, "allocateLoadBalancerNodePorts");
    return str_is(type, "LoadBalancer") && (!wanted || tree_is_true(wanted));
}

static void service_defaults(struct arena *a, struct tree *svc)
{
    compact(a, svc);
    struct tree *spec = tree_sub(a, svc, "spec"), *ports = edit_list(spec, "ports");
    if (!spec)
        return;
    if (is_empty(tree_get(spec, "selector")))
        tree_drop(spec, STR("selector"));
    default_str(a, spec, "type", "ClusterIP");
    default_str(a, spec, "sessionAffinity", "None");
    if (str_is(tree_str(tree_get(spec, "sessionAffinity")), "ClientIP"))
        default_i64(a, tree_path(a, spec, "sessionAffinityConfig", "clientIP", NULL), "timeoutSeconds", 10800);
    for (uint32_t i = 0; i < list_len(ports); i++) {
        struct tree *p = &ports->items[i];
        const struct tree *target = tree_get(p, "targetPort");
        int64_t n = 1;

        if (p->kind != TREE_MAP)
            continue;
        default_str(a, p, "protocol", "TCP");
        if ((is_empty(target) || (tree_to_i64(target, &n) && n == 0)) && has(p, "port"))
            tree_set(a, p, "targetPort", *tree_get(p, "port"));
    }
    str type = tree_str(tree_get(spec, "type"));
    if (!str_is(type, "ExternalName"))
        default_str(a, spec, "internalTrafficPolicy", "Cluster");
    bool outside = list_len(tree_get(spec, "externalIPs")) > 0 && str_is(type, "ClusterIP");
    if (outside || str_is(type, "NodePort") || str_is(type, "LoadBalancer"))
        default_str(a, spec, "externalTrafficPolicy", "Cluster");
    if (str_is(type, "LoadBalancer"))
        default_bool(a, spec, "allocateLoadBalancerNodePorts", true);
    struct tree *ingress = edit_list(edit_map(edit_map(svc, "status"), "loadBalancer"), "ingress");
    for (uint32_t i = 0; i < list_len(ingress); i++)
        if (has(&ingress->items[i], "ip"))
            default_str(a, &ingress->items[i], "ipMode", "VIP");
}

/* ---- allocation ---- */

struct taken {
    struct rule_context *c;
    const struct tree *self;
    str ip; /* asked for */
    bool ip_taken;
    uint8_t ips[65536 / 8]; /* the last two bytes of addresses in use */
    uint8_t ports[N_NODE_PORTS / 8 + 1];
};

static bool bit(const uint8_t *bits, uint32_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static void set_bit(uint8_t *bits, uint32_t i)
{
    bits[i / 8] |= (uint8_t)(1u << i % 8);
}

static bool read_ip(str s, uint32_t *ret)
{
    int64_t part[2];
    str head, rest = s;

    if (!str_starts(s, STR("10.96.")))
        return false;
    rest = str_sub(s, 6, s.n);
    if (!str_cut(rest, '.', &head, &rest) || !str_to_i64(head, &part[0]) || !str_to_i64(rest, &part[1]))
        return false;
    if (part[0] < 0 || part[0] > 255 || part[1] < 0 || part[1] > 255)
        return false;
    *ret = (uint32_t)(part[0] << 8 | part[1]);
    return true;
}

/* Four numbers; whatever has a colon passes for the newer form. */
static bool is_ip(str s)
{
    uint32_t n = 0;
    str part;

    if (str_contains(s, STR(":")))
        return true;
    for (bool more = true; more; n++) {
        int64_t v;

        more = str_cut(s, '.', &part, &s);
        if (!str_to_i64(part, &v) || v < 0 || v > 255)
            return false;
    }
    return n == 4;
}

static void note_ports(struct taken *t, const struct tree *ports)
{
    for (uint32_t i = 0; i < list_len(ports); i++) {
        int64_t port;

        if (tree_to_i64(tree_get(&ports->items[i], "nodePort"), &port) && port >= FIRST_NODE_PORT &&
            port < FIRST_NODE_PORT + N_NODE_PORTS)
            set_bit(t->ports, (uint32_t)(port - FIRST_NODE_PORT));
    }
}

static void note_service(void *ctx, const struct object *o)
{
    struct taken *t = ctx;
    str ip = object_field(o, "spec.clusterIP"), type = object_field(o, "spec.type");
    uint32_t n;

    if (str_eq(o->name, object_name(t->self)) && str_eq(o->ns, object_namespace(t->self)))
        return;
    if (read_ip(ip, &n))
        set_bit(t->ips, n);
    t->ip_taken |= t->ip.n && str_eq(ip, t->ip);
    if (str_is(type, "NodePort") || str_is(type, "LoadBalancer"))
        note_ports(t, tree_at(kube_tree(t->c->a, o), "spec", "ports", NULL));
}

static struct taken *look_around(struct rule_context *c, const struct tree *svc)
{
    struct taken *t = arena_new_one(c->a, struct taken);

    t->c = c;
    t->self = svc;
    t->ip = tree_str(tree_at(svc, "spec", "clusterIP", NULL));
    around_each(c, "", "Service", note_service, t);
    return t;
}

/* Where the search begins comes from the name, so that the same cluster gets the same addresses every time. */
static uint64_t name_hash(const struct tree *svc)
{
    str ns = object_namespace(svc), name = object_name(svc);

    return hash_bytes(name.p, name.n, hash_bytes(ns.p, ns.n, 0));
}

static str free_ip(struct arena *a, const struct tree *svc, const struct taken *t)
{
    uint32_t n = LAST_IP - FIRST_IP + 1, at = (uint32_t)(name_hash(svc) % n);

    for (uint32_t i = 0; i < n; i++, at = (at + 1) % n)
        if (!bit(t->ips, FIRST_IP + at))
            return arena_printf(a, "10.96.%u.%u", (FIRST_IP + at) >> 8, (FIRST_IP + at) & 255);
    return (str){0};
}

static void allocate_ports(struct arena *a, const struct tree *svc, struct tree *spec, struct taken *t)
{
    struct tree *ports = edit_list(spec, "ports");
    uint32_t at = (uint32_t)(name_hash(svc) % N_NODE_PORTS);

    note_ports(t, ports);
    for (uint32_t i = 0; i < list_len(ports); i++) {
        if (ports->items[i].kind != TREE_MAP || has(&ports->items[i], "nodePort"))
            continue;
        for (uint32_t tries = 0; tries < N_NODE_PORTS && bit(t->ports, at); tries++)
            at = (at + 1) % N_NODE_PORTS;
        set_bit(t->ports, at);
        tree_set_i64(a, &ports->items[i], "nodePort", FIRST_NODE_PORT + at);
    }
}

static void allocate(struct rule_context *c, struct tree *svc)
{
    struct tree *spec = edit_map(svc, "spec");
    struct taken *t = look_around(c, svc);

    if (!spec || str_is(tree_str(tree_get(spec, "type")), "ExternalName"))
        return;
    if (!has(spec, "clusterIP") && list_len(tree_get(spec, "clusterIPs")))
        tree_set(c->a, spec, "clusterIP", tree_get(spec, "clusterIPs")->items[0]);
    if (is_empty(tree_get(spec, "clusterIP")))
        tree_set_str(c->a, spec, "clusterIP", free_ip(c->a, svc, t));
    if (!has(spec, "clusterIPs"))
        tree_push(c->a, tree_sublist(c->a, spec, "clusterIPs"), *tree_get(spec, "clusterIP"));
    if (!has(spec, "ipFamilies"))
        tree_push(c->a, tree_sublist(c->a, spec, "ipFamilies"), tree_of_str(STR("IPv4")));
    default_str(c->a, spec, "ipFamilyPolicy", "SingleStack");
    if (has_node_ports(spec))
        allocate_ports(c->a, svc, spec, t);
}

static void service_on_create(struct rule_context *c, struct tree *svc, str *ret_denied)
{
    (void)ret_denied;
    allocate(c, svc);
    struct tree *status = tree_new_map(c->a);
    tree_sub(c->a, status, "loadBalancer");
    tree_set(c->a, svc, "status", *status);
}

/* What was allocated stays when a client leaves it out. */
static void keep_allocated(struct arena *a, struct tree *spec, const struct tree *was)
{
    static const char *const fields[] = {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"};
    struct tree *ports = edit_list(spec, "ports");
    const struct tree *old_ports = tree_get(was, "ports");

    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (is_empty(tree_get(spec, fields[i])))
            keep(a, spec, was, fields[i]);
    for (uint32_t i = 0; has_node_ports(spec) && i < MIN(list_len(ports), list_len(old_ports)); i++)
        if (!has(&ports->items[i], "nodePort"))
            keep(a, &ports->items[i], &old_ports->items[i], "nodePort");
}

/* … and goes when the new type has no use for it. */
static void drop_unused(struct tree *spec, const struct tree *was)
{
    static const char *const addresses[] = {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy",
                                            "internalTrafficPolicy"};
    struct tree *ports = edit_list(spec, "ports");
    const struct tree *old_ports = tree_get(was, "ports");
    str type = tree_str(tree_get(spec, "type"));
    bool outside = str_is(type, "NodePort") || str_is(type, "LoadBalancer");

    for (size_t i = 0; str_is(type, "ExternalName") && i < ARRAY_LEN(addresses); i++)
        if (same(tree_get(spec, addresses[i]), tree_get(was, addresses[i])))
            tree_drop(spec, str_c(addresses[i]));
    for (uint32_t i = 0; !outside && i < MIN(list_len(ports), list_len(old_ports)); i++)
        if (same(tree_get(&ports->items[i], "nodePort"), tree_get(&old_ports->items[i], "nodePort")))
            tree_drop(&ports->items[i], STR("nodePort"));
    if (!outside && same(tree_get(spec, "externalTrafficPolicy"), tree_get(was, "externalTrafficPolicy")))
        tree_drop(spec, STR("externalTrafficPolicy"));
    if (!str_is(type, "LoadBalancer") &&
        same(tree_get(spec, "allocateLoadBalancerNodePorts"), tree_get(was, "allocateLoadBalancerNodePorts")))
        tree_drop(spec, STR("allocateLoadBalancerNodePorts"));
}

static void service_on_update(struct rule_context *c, struct tree *svc, const struct tree *old, str *ret_denied)
{
    struct tree *spec;

    keep_other_half(c, svc, old, ret_denied);
    spec = edit_map(svc, "spec");
    if (c->sub || !spec)
        return;
    if (!same(tree_get(spec, "type"), tree_at(old, "spec", "type", NULL)))
        drop_unused(spec, tree_get(old, "spec"));
    if (!str_is(tree_str(tree_get(spec, "type")), "ExternalName"))
        keep_allocated(c->a, spec, tree_get(old, "spec"));
    allocate(c, svc);
}

/* ---- validation ---- */

static const struct view view_port[] = {
    {"Name", "-", VIEW_STR, NULL},
    {"Protocol", "protocol", VIEW_STR, NULL},
    {"AppProtocol", "-", VIEW_ANY, NULL},
    {"Port", "port", VIEW_INT, NULL},
    {"TargetPort", "-", VIEW_INT, NULL},
    {"NodePort", "-", VIEW_INT, NULL},
    {0},
};

static void check_port_of(struct flaws *f, const struct at *at, const struct tree *ports, uint32_t i)
{
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
    const struct tree *p = &ports->items[i], *port = tree_get(p, "port");
    str name = tree_str(tree_get(p, "name"));

    if (name.n == 0 && ports->n > 1) {
        flaw_required(f, AT(at, "name"), "%s", "");
    } else if (name.n) {
        check_label_name(f, AT(at, "name"), name);
        for (uint32_t j = 0; j < i; j++)
            if (str_eq(tree_str(tree_get(&ports->items[j], "name")), name)) {
                flaw_duplicate(f, AT(at, "name"), json_quoted(f->a, name));
                break;
            }
    }
    if (port)
        check_port(f, AT(at, "port"), port);
    else
        flaw_invalid(f, AT(at, "port"), STR("0"), "must be between 1 and 65535, inclusive");
    check_word(f, AT(at, "protocol"), tree_get(p, "protocol"), protocols);
    check_port_or_name(f, AT(at, "targetPort"), tree_get(p, "targetPort"));
}

static void check_same_ports(struct flaws *f, const struct at *at, const struct tree *ports)
{
    for (uint32_t i = 0; i < list_len(ports); i++)
        for (uint32_t j = 0; j < i; j++) {
            const struct tree *x = &ports->items[i], *y = &ports->items[j];

            if (!same(tree_get(x, "port"), tree_get(y, "port")) ||
                !same(tree_get(x, "protocol"), tree_get(y, "protocol")))
                continue;
            flaw_duplicate(f, AT_IX(at, i), view_text(f->a, view_port, x));
            break;
        }
}

static void check_address(struct rule_context *c, struct flaws *f, const struct tree *svc, const struct tree *old)
{
    const struct tree *spec = tree_get(svc, "spec"), *was = tree_get(old, "spec");
    const struct at *at = AT(AT(NULL, "spec"), "clusterIPs");
    str ip = tree_str(tree_get(spec, "clusterIP")), old_ip = tree_str(tree_get(was, "clusterIP"));
    str type = tree_str(tree_get(spec, "type"));
    uint32_t n;

    if (str_is(type, "ExternalName"))
        return;
    if (old_ip.n && !str_eq(ip, old_ip)) {
        flaw_invalid(f, AT_IX(at, 0), json_sorted_text(c->a, tree_get(spec, "clusterIPs")), "may not change once set");
        return;
    }
    if (old_ip.n || str_is(ip, "None"))
        return;
    str value = json_sorted_text(c->a, tree_get(spec, "clusterIPs"));
    if (!is_ip(ip))
        flaw_invalid(f, AT_IX(at, 0), json_quoted(c->a, ip),
                     "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    else if (!read_ip(ip, &n))
        flaw_invalid(f, at, value,
                     "failed to allocate IP " STR_FMT ": the provided network does not match the current range",
                     STR_ARG(ip));
    else if (look_around(c, svc)->ip_taken)
        flaw_invalid(f, at, value, "failed to allocate IP " STR_FMT ": provided IP is already allocated", STR_ARG(ip));
}

static void check_node_ports(struct rule_context *c, struct flaws *f, const struct tree *svc)
{
    const struct tree *ports = tree_at(svc, "spec", "ports", NULL);
    const struct taken *t = list_len(ports) ? look_around(c, svc) : NULL;

    for (uint32_t i = 0; i < list_len(ports); i++) {
        const struct tree *port = tree_get(&ports->items[i], "nodePort");
        const struct at *at = AT(AT_IX(AT(AT(NULL, "spec"), "ports"), i), "nodePort");
        int64_t n;

        if (!tree_to_i64(port, &n))
            continue;
        if (n < FIRST_NODE_PORT || n >= FIRST_NODE_PORT + N_NODE_PORTS)
            flaw_invalid(f, at, json_sorted_text(c->a, port),
                         "provided port is not in the valid range. The range of valid ports is %d-%d", FIRST_NODE_PORT,
                         FIRST_NODE_PORT + N_NODE_PORTS - 1);
        else if (bit(t->ports, (uint32_t)(n - FIRST_NODE_PORT)))
            flaw_invalid(f, at, json_sorted_text(c->a, port), "provided port is already allocated");
    }
}

static void check_traffic(struct flaws *f, const struct at *at, const struct tree *spec)
{
    static const char *const policies[] = {"Cluster", "Local", NULL};
    const struct tree *outer = tree_get(spec, "externalTrafficPolicy");
    str type = tree_str(tree_get(spec, "type"));
    bool outside = str_is(type, "NodePort") || str_is(type, "LoadBalancer") || list_len(tree_get(spec, "externalIPs"));

    if (outer && !outside)
        flaw_invalid(f, AT(at, "externalTrafficPolicy"), json_sorted_text(f->a, outer),
                     "may only be set for externally-accessible services");
    else
        check_word(f, AT(at, "externalTrafficPolicy"), outer, policies);
    check_word(f, AT(at, "internalTrafficPolicy"), tree_get(spec, "internalTrafficPolicy"), policies);
}

static void service_validate(struct rule_context *c, const struct tree *svc, const struct tree *old, struct causes *out)
{
    static const char *const affinities[] = {"ClientIP", "None", NULL};
    static const char *const types[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort", NULL};
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(svc, "spec"), *ports = tree_get(spec, "ports");
    const struct at *at = AT(NULL, "spec");
    str type = tree_str(tree_get(spec, "type")), ip = tree_str(tree_get(spec, "clusterIP"));

    if (list_len(ports) == 0 && !str_is(type, "ExternalName") && !str_is(ip, "None"))
        flaw_required(f, AT(at, "ports"), "%s", "");
    if (str_is(type, "ExternalName") && tree_str(tree_get(spec, "externalName")).n == 0)
        flaw_required(f, AT(at, "externalName"), "%s", "");
    for (uint32_t i = 0; i < list_len(ports); i++)
        check_port_of(f, AT_IX(AT(at, "ports"), i), ports, i);
    check_labels(f, AT(at, "selector"), tree_get(spec, "selector"));
    check_word(f, AT(at, "sessionAffinity"), tree_get(spec, "sessionAffinity"), affinities);
    check_word(f, AT(at, "type"), tree_get(spec, "type"), types);
    for (uint32_t i = 0; str_is(type, "ClusterIP") && i < list_len(ports); i++)
        if (has(&ports->items[i], "nodePort"))
            flaw_forbidden(f, AT(AT_IX(AT(at, "ports"), i), "nodePort"), "may not be used when `type` is 'ClusterIP'");
    check_same_ports(f, AT(at, "ports"), ports);
    check_traffic(f, at, spec);
    if (c->sub || out->list.n)
        return;
    check_address(c, f, svc, old);
    if (has_node_ports(spec))
        check_node_ports(c, f, svc);
}

static const char *const service_selectable[] = {"spec.clusterIP", "spec.type", NULL};

const struct kind_rules rules_service = {service_defaults, service_on_create, service_on_update, service_validate,
                                         service_selectable};

/* ---- columns ---- */

static const struct column service_columns[] = {
    COLUMN_NAME,
    {"Type", "string", "", "How it is reached", 0},
    {"Cluster-IP", "string", "", "Address inside the cluster", 0},
    {"External-IP", "string", "", "Addresses outside the cluster", 0},
    {"Port(s)", "string", "", "Ports, with those of the nodes", 0},
    COLUMN_AGE,
    {"Selector", "string", "", "Which pods it leads to", 1},
};

static void join(struct sb *b, str s)
{
    sb_c(b, b->n ? "," : "");
    sb_str(b, s);
}

static void cell_external(struct cells *c, const struct tree *svc)
{
    const struct tree *spec = tree_get(svc, "spec"), *ips = tree_get(spec, "externalIPs");
    str type = tree_str(tree_get(spec, "type"));
    struct sb b = {0};

    if (str_is(type, "ExternalName")) {
        cell_str(c, tree_str(tree_get(spec, "externalName")));
        return;
    }
    if (str_is(type, "LoadBalancer"))
        sb_str(&b, load_balancer_text(c->a, svc));
    for (uint32_t i = 0; i < list_len(ips); i++)
        join(&b, tree_str(&ips->items[i]));
    cell_or(c, sb_dup(&b, c->a), str_is(type, "LoadBalancer") ? "<pending>" : "<none>");
    sb_fini(&b);
}

static void service_cells(struct arena *a, const struct tree *svc, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *spec = tree_get(svc, "spec"), *ports = tree_get(spec, "ports");
    struct sb b = {0};

    cell_name(c, svc);
    cell_str(c, tree_str(tree_get(spec, "type")));
    cell_or(c, tree_str(tree_get(spec, "clusterIP")), "<none>");
    cell_external(c, svc);
    for (uint32_t i = 0; i < list_len(ports); i++) {
        str port = tree_scalar(tree_get(&ports->items[i], "port"));
        str node = tree_scalar(tree_get(&ports->items[i], "nodePort"));
        str protocol = tree_str(tree_get(&ports->items[i], "protocol"));

        join(&b, port);
        if (node.n)
            sb_printf(&b, ":" STR_FMT, STR_ARG(node));
        sb_printf(&b, "/" STR_FMT, STR_ARG(protocol));
    }
    cell_or(c, sb_dup(&b, a), "<none>");
    sb_fini(&b);
    cell_age(c, svc);
    cell_labels(c, tree_get(spec, "selector"));
}

KIND_COLUMNS(service);
