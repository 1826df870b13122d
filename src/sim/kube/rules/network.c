/* Rules and columns of what surrounds services: endpoints, ingresses, network policies. */
#include "base/sb.h"
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/podspec.h"
#include "sim/kube/rules/rules.h"

static void default_protocols(struct arena *a, struct tree *ports)
{
    for (uint32_t i = 0; i < list_len(ports); i++)
        if (ports->items[i].kind == TREE_MAP)
            default_str(a, &ports->items[i], "protocol", "TCP");
}

/* ---- Endpoints ---- */

static void endpoints_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    struct tree *subsets = edit_list(obj, "subsets");
    for (uint32_t i = 0; i < list_len(subsets); i++)
        default_protocols(a, edit_list(&subsets->items[i], "ports"));
}

const struct kind_rules rules_endpoints = {endpoints_defaults, NULL, NULL, NULL, NULL};

static const struct column endpoints_columns[] = {
    COLUMN_NAME,
    {"Endpoints", "string", "", "Addresses with their ports", 0},
    COLUMN_AGE,
};

#define SHOWN 3u /* more are only counted */

static void endpoints_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *subsets = tree_get(obj, "subsets");
    struct sb b = {0};
    uint32_t n = 0;

    for (uint32_t s = 0; s < list_len(subsets); s++) {
        const struct tree *ports = tree_get(&subsets->items[s], "ports");
        const struct tree *list = tree_get(&subsets->items[s], "addresses");

        for (uint32_t p = 0; p < MAX(list_len(ports), 1u); p++)
            for (uint32_t i = 0; i < list_len(list); i++, n++) {
                str ip = tree_str(tree_get(&list->items[i], "ip"));
                str port = list_len(ports) ? tree_scalar(tree_get(&ports->items[p], "port")) : (str){0};

                if (n < SHOWN)
                    sb_printf(&b, "%s" STR_FMT "%s" STR_FMT, n ? "," : "", STR_ARG(ip), port.n ? ":" : "",
                              STR_ARG(port));
            }
    }
    if (n > SHOWN)
        sb_printf(&b, " + %u more...", n - SHOWN);
    cell_name(c, obj);
    cell_or(c, sb_dup(&b, a), "<none>");
    cell_age(c, obj);
    sb_fini(&b);
}

KIND_COLUMNS(endpoints);

/* ---- EndpointSlice ---- */

static void endpoint_slice_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    struct tree *ports = edit_list(obj, "ports"), *list = edit_list(obj, "endpoints");
    default_protocols(a, ports);
    for (uint32_t i = 0; i < list_len(ports); i++)
        default_str(a, &ports->items[i], "name", "");
    for (uint32_t i = 0; i < list_len(list); i++)
        tree_sub(a, &list->items[i], "conditions");
    if (list_len(list) == 0)
        tree_set(a, obj, "endpoints", tree_of_null());
    if (list_len(ports) == 0)
        tree_set(a, obj, "ports", tree_of_null());
}

static void endpoint_slice_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                    struct causes *out)
{
    static const char *const types[] = {"FQDN", "IPv4", "IPv6", NULL};
    struct flaws *f = FLAWS(c, out);
    const struct tree *list = tree_get(obj, "endpoints"), *type = tree_get(obj, "addressType");

    if (is_empty(type))
        flaw_required(f, AT(NULL, "addressType"), "%s", "");
    check_word(f, AT(NULL, "addressType"), type, types);
    for (uint32_t i = 0; i < list_len(list); i++)
        if (list_len(tree_get(&list->items[i], "addresses")) == 0)
            flaw_required(f, AT(AT_IX(AT(NULL, "endpoints"), i), "addresses"), "must contain at least 1 address");
    if (old)
        check_immutable(f, AT(NULL, "addressType"), type, tree_get(old, "addressType"));
}

const struct kind_rules rules_endpoint_slice = {endpoint_slice_defaults, NULL, NULL, endpoint_slice_validate, NULL};

static const struct column endpoint_slice_columns[] = {
    COLUMN_NAME,
    {"AddressType", "string", "", "Kind of its addresses", 0},
    {"Ports", "string", "", "Ports of all endpoints", 0},
    {"Endpoints", "string", "", "Addresses", 0},
    COLUMN_AGE,
};

static void add_shown(struct sb *b, uint32_t n, str s)
{
    if (n < SHOWN)
        sb_printf(b, "%s" STR_FMT, n ? "," : "", STR_ARG(s));
}

static void cell_shown(struct cells *c, struct sb *b, uint32_t n)
{
    if (n > SHOWN)
        sb_printf(b, " + %u more...", n - SHOWN);
    cell_or(c, sb_dup(b, c->a), "<unset>");
    sb_fini(b);
}

static void endpoint_slice_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *ports = tree_get(obj, "ports"), *list = tree_get(obj, "endpoints");
    struct sb p = {0}, e = {0};
    uint32_t n = 0;

    cell_name(c, obj);
    cell_str(c, tree_str(tree_get(obj, "addressType")));
    for (uint32_t i = 0; i < list_len(ports); i++)
        add_shown(&p, i, tree_scalar(tree_get(&ports->items[i], "port")));
    cell_shown(c, &p, list_len(ports));
    for (uint32_t i = 0; i < list_len(list); i++) {
        const struct tree *addresses = tree_get(&list->items[i], "addresses");

        for (uint32_t j = 0; j < list_len(addresses); j++)
            add_shown(&e, n++, tree_str(&addresses->items[j]));
    }
    cell_shown(c, &e, n);
    cell_age(c, obj);
}

KIND_COLUMNS(endpoint_slice);

/* ---- Ingress ---- */

static void ingress_on_create(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    (void)ret_denied;
    struct tree *status = tree_new_map(c->a);
    tree_sub(c->a, status, "loadBalancer");
    tree_set(c->a, obj, "status", *status);
}

static void check_path(struct flaws *f, const struct at *at, const struct tree *p)
{
    static const char *const types[] = {"Exact", "ImplementationSpecific", "Prefix", NULL};
    str path = tree_str(tree_get(p, "path")), type = tree_str(tree_get(p, "pathType"));
    const struct tree *backend = tree_get(p, "backend");

    if (type.n == 0)
        flaw_required(f, AT(at, "pathType"), "pathType must be specified");
    check_word(f, AT(at, "pathType"), tree_get(p, "pathType"), types);
    if ((str_is(type, "Exact") || str_is(type, "Prefix")) && (path.n == 0 || path.p[0] != '/'))
        flaw_invalid(f, AT(at, "path"), json_quoted(f->a, path), "must be an absolute path");
    if (!has(backend, "service") && !has(backend, "resource"))
        flaw_invalid(f, AT(at, "backend"), STR("\"\""), "resource or service backend is required");
}

static void ingress_validate(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out)
{
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec"), *rules = tree_get(spec, "rules");

    (void)old;
    if (list_len(rules) == 0 && !has(spec, "defaultBackend"))
        flaw_invalid(f, AT(NULL, "spec"), STR("null"), "either `defaultBackend` or `rules` must be specified");
    for (uint32_t i = 0; i < list_len(rules); i++) {
        const struct tree *paths = tree_at(&rules->items[i], "http", "paths", NULL);
        const struct at *at = AT(AT(AT_IX(AT(AT(NULL, "spec"), "rules"), i), "http"), "paths");

        for (uint32_t j = 0; j < list_len(paths); j++)
            check_path(f, AT_IX(at, j), &paths->items[j]);
    }
}

const struct kind_rules rules_ingress = {compact, ingress_on_create, keep_other_half, ingress_validate, NULL};

static const struct column ingress_columns[] = {
    COLUMN_NAME,
    {"Class", "string", "", "Who serves it", 0},
    {"Hosts", "string", "", "Names of hosts that it is for", 0},
    {"Address", "string", "", "Where it is reached", 0},
    {"Ports", "string", "", "Ports that are open", 0},
    COLUMN_AGE,
};

static void cell_hosts(struct cells *c, const struct tree *rules)
{
    struct sb b = {0};
    uint32_t n = 0;

    for (uint32_t i = 0; i < list_len(rules); i++) {
        str host = tree_str(tree_get(&rules->items[i], "host"));

        if (host.n)
            add_shown(&b, n++, host);
    }
    if (n > SHOWN)
        sb_printf(&b, " + %u more...", n - SHOWN);
    cell_or(c, sb_dup(&b, c->a), "*");
    sb_fini(&b);
}

static void ingress_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *spec = tree_get(obj, "spec");

    cell_name(c, obj);
    cell_or(c, tree_str(tree_get(spec, "ingressClassName")), "<none>");
    cell_hosts(c, tree_get(spec, "rules"));
    cell_str(c, load_balancer_text(a, obj));
    cell_c(c, list_len(tree_get(spec, "tls")) ? "80, 443" : "80");
    cell_age(c, obj);
}

KIND_COLUMNS(ingress);

/* ---- IngressClass ---- */

static const struct column ingress_class_columns[] = {
    COLUMN_NAME,
    {"Controller", "string", "", "Who serves ingresses of this class", 0},
    {"Parameters", "string", "", "Object with more settings", 0},
    COLUMN_AGE,
};

static void ingress_class_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *p = tree_at(obj, "spec", "parameters", NULL);
    str kind = tree_str(tree_get(p, "kind")), name = tree_str(tree_get(p, "name"));
    str group = tree_str(tree_get(p, "apiGroup"));

    cell_name(c, obj);
    cell_str(c, tree_str(tree_at(obj, "spec", "controller", NULL)));
    cell_str(c, p ? arena_printf(a, STR_FMT "%s" STR_FMT "/" STR_FMT, STR_ARG(kind), group.n ? "." : "", STR_ARG(group),
                                 STR_ARG(name))
                  : STR("<none>"));
    cell_age(c, obj);
}

KIND_COLUMNS(ingress_class);

/* ---- NetworkPolicy ---- */

static void network_policy_defaults(struct arena *a, struct tree *obj)
{
    static const char *const directions[] = {"ingress", "egress"};
    bool egress = list_len(tree_at(obj, "spec", "egress", NULL)) > 0;

    compact(a, obj);
    struct tree *spec = tree_sub(a, obj, "spec");
    for (size_t d = 0; d < ARRAY_LEN(directions); d++) {
        struct tree *rules = edit_list(spec, directions[d]);

        for (uint32_t i = 0; i < list_len(rules); i++)
            default_protocols(a, edit_list(&rules->items[i], "ports"));
    }
    if (!spec || has(spec, "policyTypes"))
        return;
    struct tree *types = tree_sublist(a, spec, "policyTypes");
    tree_push(a, types, tree_of_str(STR("Ingress")));
    if (egress)
        tree_push(a, types, tree_of_str(STR("Egress")));
}

static void check_peer(struct flaws *f, const struct at *at, const struct tree *peer)
{
    const struct tree *block = tree_get(peer, "ipBlock");
    bool selects = has(peer, "podSelector") || has(peer, "namespaceSelector");

    selector_check(f, AT(at, "podSelector"), tree_get(peer, "podSelector"));
    selector_check(f, AT(at, "namespaceSelector"), tree_get(peer, "namespaceSelector"));
    if (!selects && !block)
        flaw_required(f, at, "must specify a peer");
    else if (selects && block)
        flaw_forbidden(f, at, "may not specify both ipBlock and another peer");
}

static void check_traffic(struct flaws *f, const struct at *at, const struct tree *rules, const char *peers_name)
{
    static const char *const protocols[] = {"TCP", "UDP", "SCTP", NULL};

    for (uint32_t i = 0; i < list_len(rules); i++) {
        const struct tree *ports = tree_get(&rules->items[i], "ports"), *peers = tree_get(&rules->items[i], peers_name);

        for (uint32_t j = 0; j < list_len(ports); j++) {
            const struct at *here = AT_IX(AT(AT_IX(at, i), "ports"), j);

            check_word(f, AT(here, "protocol"), tree_get(&ports->items[j], "protocol"), protocols);
            if (has(&ports->items[j], "port"))
                check_port_or_name(f, AT(here, "port"), tree_get(&ports->items[j], "port"));
        }
        for (uint32_t j = 0; j < list_len(peers); j++)
            check_peer(f, AT_IX(AT_STR(AT_IX(at, i), str_c(peers_name)), j), &peers->items[j]);
    }
}

static void network_policy_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                                    struct causes *out)
{
    static const char *const types[] = {"Ingress", "Egress", NULL};
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec"), *list = tree_get(spec, "policyTypes");

    (void)old;
    selector_check(f, AT(AT(NULL, "spec"), "podSelector"), tree_get(spec, "podSelector"));
    check_traffic(f, AT(AT(NULL, "spec"), "ingress"), tree_get(spec, "ingress"), "from");
    check_traffic(f, AT(AT(NULL, "spec"), "egress"), tree_get(spec, "egress"), "to");
    for (uint32_t i = 0; i < list_len(list); i++)
        check_word(f, AT_IX(AT(AT(NULL, "spec"), "policyTypes"), i), &list->items[i], types);
}

const struct kind_rules rules_network_policy = {network_policy_defaults, NULL, NULL, network_policy_validate, NULL};

static const struct column network_policy_columns[] = {
    COLUMN_NAME,
    {"Pod-Selector", "string", "", "Which pods it is for", 0},
    COLUMN_AGE,
};

static void network_policy_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;

    cell_name(c, obj);
    cell_selector(c, tree_at(obj, "spec", "podSelector", NULL));
    cell_age(c, obj);
}

KIND_COLUMNS(network_policy);
