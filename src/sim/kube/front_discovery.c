/* Discovery: which groups, versions, resources and subresources there are, one by one for old clients and all at once
 * (APIGroupDiscoveryList) for others. */
#include "sim/kube/front_int.h"

#include "data/json.h"

#define AGGREGATED "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

/* ---- what there is ---- */

struct group_version {
    str group, version;
};

typedef VEC(struct group_version) group_versions;

struct sub {
    const char *name, *group, *version, *kind; /* kind NULL: that of the resource */
    const char *verbs;                         /* separated by spaces */
};

#define MAX_SUBS 6u

struct resource {
    str name, singular, kind;
    bool namespaced;
    const char *verbs;
    const struct kind *stored; /* NULL for virtual kinds */
    struct sub subs[MAX_SUBS];
    uint32_t n_subs;
};

typedef VEC(struct resource) resources;

static void add_group_version(group_versions *out, str group, str version)
{
    for (uint32_t i = 0; i < out->n; i++)
        if (str_eq(out->v[i].group, group) && str_eq(out->v[i].version, version))
            return;
    vec_push(out, (struct group_version){group, version});
}

static int by_group(const void *a, const void *b, void *ctx UNUSED)
{
    return str_cmp(((const struct group_version *)a)->group, ((const struct group_version *)b)->group);
}

/* Built-in groups in their own order, then those of custom kinds by name. */
static void collect_groups(const struct kube *k, group_versions *out)
{
    for (uint32_t i = 0; i < kube_n_kinds(k); i++) {
        const struct kind *kind = kube_kind_at(k, i);

        if (kind && !kind->crd)
            add_group_version(out, kind->group, kind->version);
    }
    for (uint32_t i = 0; virtual_kind_at(i); i++)
        add_group_version(out, str_c(virtual_kind_at(i)->group), str_c(virtual_kind_at(i)->version));
    uint32_t built_in = out->n;
    for (uint32_t i = 0; i < kube_n_kinds(k); i++) {
        const struct kind *kind = kube_kind_at(k, i);

        if (kind && kind->crd)
            add_group_version(out, kind->group, kind->version);
    }
    sort_stable(out->v + built_in, out->n - built_in, sizeof(*out->v), by_group, NULL);
}

static int by_sub_name(const void *a, const void *b, void *ctx UNUSED)
{
    return strcmp(((const struct sub *)a)->name, ((const struct sub *)b)->name);
}

static void add_subs(struct resource *r, const struct kind *k)
{
    static const char *const usual = "get patch update";
    static const struct {
        const char *plural;
        struct sub sub;
    } core[] = {
        {"pods", {"binding", "", "", "Binding", "create"}},
        {"pods", {"eviction", "policy", "v1", "Eviction", "create"}},
        {"pods", {"log", "", "", NULL, "get"}},
        {"serviceaccounts", {"token", "authentication.k8s.io", "v1", "TokenRequest", "create"}},
    };

    for (size_t i = 0; k->group.n == 0 && i < ARRAY_LEN(core); i++)
        if (str_is(k->plural, core[i].plural))
            r->subs[r->n_subs++] = core[i].sub;
    if (k->has_status)
        r->subs[r->n_subs++] = (struct sub){"status", "", "", NULL, usual};
    if (k->has_scale)
        r->subs[r->n_subs++] = (struct sub){"scale", "autoscaling", "v1", "Scale", usual};
    sort_stable(r->subs, r->n_subs, sizeof(r->subs[0]), by_sub_name, NULL);
}

static int by_name(const void *a, const void *b, void *ctx UNUSED)
{
    return str_cmp(((const struct resource *)a)->name, ((const struct resource *)b)->name);
}

static void collect_resources(const struct kube *k, const struct group_version *gv, resources *out)
{
    for (uint32_t i = 0; i < kube_n_kinds(k); i++) {
        const struct kind *kind = kube_kind_at(k, i);

        if (!kind || !str_eq(kind->group, gv->group) || !str_eq(kind->version, gv->version))
            continue;
        bool is_ns = kind->group.n == 0 && str_is(kind->plural, "namespaces");
        struct resource *r = vec_add(out);

        *r = (struct resource){.name = kind->plural,
                               .singular = kind->singular,
                               .kind = kind->name,
                               .namespaced = kind->namespaced,
                               .verbs = is_ns ? "create delete get list patch update watch"
                                              : "create delete deletecollection get list patch update watch",
                               .stored = kind};
        add_subs(r, kind);
    }
    for (uint32_t i = 0; virtual_kind_at(i); i++) {
        const struct virtual_kind *v = virtual_kind_at(i);

        if (str_is(gv->group, v->group) && str_is(gv->version, v->version))
            vec_push(out, (struct resource){.name = str_c(v->plural),
                                            .singular = str_c(v->singular),
                                            .kind = str_c(v->name),
                                            .namespaced = v->namespaced,
                                            .verbs = "create"});
    }
    sort_stable(out->v, out->n, sizeof(*out->v), by_name, NULL);
}

/* ---- writing ---- */

static void write_verbs(struct jw *w, const char *verbs)
{
    str rest = str_c(verbs), one;

    jw_key(w, "verbs");
    jw_list(w);
    while (rest.n) {
        (void)str_cut(rest, ' ', &one, &rest);
        jw_str(w, one);
    }
    jw_end(w);
}

static void write_words(struct jw *w, const char *key, const str *words, uint32_t n)
{
    if (n == 0)
        return;
    jw_key(w, key);
    jw_list(w);
    for (uint32_t i = 0; i < n; i++)
        jw_str(w, words[i]);
    jw_end(w);
}

static void write_names(struct jw *w, const struct resource *r)
{
    if (!r->stored)
        return;
    write_words(w, "shortNames", r->stored->short_names, r->stored->n_short_names);
    write_words(w, "categories", r->stored->categories, r->stored->n_categories);
}

static str sub_kind(const struct resource *r, const struct sub *s)
{
    return s->kind ? str_c(s->kind) : r->kind;
}

/* Members of an APIResourceList: a subresource is one of its own. */
static void write_plain(struct jw *w, const struct resource *r)
{
    jw_map(w);
    jw_key(w, "name"), jw_str(w, r->name);
    jw_key(w, "singularName"), jw_str(w, r->singular);
    jw_key(w, "namespaced"), jw_bool(w, r->namespaced);
    jw_key(w, "kind"), jw_str(w, r->kind);
    write_verbs(w, r->verbs);
    write_names(w, r);
    jw_end(w);
    for (uint32_t i = 0; i < r->n_subs; i++) {
        const struct sub *s = &r->subs[i];
        struct sb name = {0};

        sb_printf(&name, STR_FMT "/%s", STR_ARG(r->name), s->name);
        jw_map(w);
        jw_key(w, "name"), jw_str(w, sb_view(&name));
        jw_key(w, "singularName"), jw_c(w, "");
        jw_key(w, "namespaced"), jw_bool(w, r->namespaced);
        if (s->group[0]) {
            jw_key(w, "group"), jw_c(w, s->group);
            jw_key(w, "version"), jw_c(w, s->version);
        }
        jw_key(w, "kind"), jw_str(w, sub_kind(r, s));
        write_verbs(w, s->verbs);
        jw_end(w);
        sb_fini(&name);
    }
}

static void write_response_kind(struct jw *w, const char *group, const char *version, str kind)
{
    jw_key(w, "responseKind");
    jw_map(w);
    jw_key(w, "group"), jw_c(w, group);
    jw_key(w, "version"), jw_c(w, version);
    jw_key(w, "kind"), jw_str(w, kind);
    jw_end(w);
}

static void write_aggregated(struct jw *w, const struct resource *r)
{
    jw_map(w);
    jw_key(w, "resource"), jw_str(w, r->name);
    write_response_kind(w, "", "", r->kind);
    jw_key(w, "scope"), jw_c(w, r->namespaced ? "Namespaced" : "Cluster");
    jw_key(w, "singularResource"), jw_str(w, r->singular);
    write_verbs(w, r->verbs);
    write_names(w, r);
    if (r->n_subs) {
        jw_key(w, "subresources");
        jw_list(w);
        for (uint32_t i = 0; i < r->n_subs; i++) {
            const struct sub *s = &r->subs[i];

            jw_map(w);
            jw_key(w, "subresource"), jw_c(w, s->name);
            write_response_kind(w, s->group, s->version, sub_kind(r, s));
            write_verbs(w, s->verbs);
            jw_end(w);
        }
        jw_end(w);
    }
    jw_end(w);
}

static void write_resources(struct jw *w, const struct kube *k, const struct group_version *gv,
                            void (*write)(struct jw *w, const struct resource *r))
{
    resources list = {0};

    collect_resources(k, gv, &list);
    jw_key(w, "resources");
    jw_list(w);
    for (uint32_t i = 0; i < list.n; i++)
        write(w, &list.v[i]);
    jw_end(w);
    vec_fini(&list);
}

/* The versions of a group stand one after the other. */
static uint32_t end_of_group(const group_versions *all, uint32_t from)
{
    uint32_t i = from;

    while (i < all->n && str_eq(all->v[i].group, all->v[from].group))
        i++;
    return i;
}

static void write_group_version(struct jw *w, const struct group_version *gv)
{
    struct sb both = {0};

    sb_printf(&both, STR_FMT "/" STR_FMT, STR_ARG(gv->group), STR_ARG(gv->version));
    jw_map(w);
    jw_key(w, "groupVersion"), jw_str(w, sb_view(&both));
    jw_key(w, "version"), jw_str(w, gv->version);
    jw_end(w);
    sb_fini(&both);
}

/* The members of an APIGroup. */
static void write_group(struct jw *w, const group_versions *all, uint32_t from, uint32_t to)
{
    jw_key(w, "name"), jw_str(w, all->v[from].group);
    jw_key(w, "versions");
    jw_list(w);
    for (uint32_t i = from; i < to; i++)
        write_group_version(w, &all->v[i]);
    jw_end(w);
    jw_key(w, "preferredVersion"), write_group_version(w, &all->v[from]);
}

/* ---- answers ---- */

/* core: the group without a name alone; else all others. */
static void reply_aggregated(struct request *r, const group_versions *all, bool core)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_map(&w);
    jw_key(&w, "kind"), jw_c(&w, "APIGroupDiscoveryList");
    jw_key(&w, "apiVersion"), jw_c(&w, "apidiscovery.k8s.io/v2");
    jw_key(&w, "metadata"), jw_map(&w), jw_end(&w);
    jw_key(&w, "items");
    jw_list(&w);
    for (uint32_t i = 0, to; i < all->n; i = to) {
        to = end_of_group(all, i);
        if ((all->v[i].group.n == 0) != core)
            continue;
        jw_map(&w);
        jw_key(&w, "metadata");
        jw_map(&w);
        if (!core)
            jw_key(&w, "name"), jw_str(&w, all->v[i].group);
        jw_end(&w);
        jw_key(&w, "versions");
        jw_list(&w);
        for (uint32_t v = i; v < to; v++) {
            jw_map(&w);
            jw_key(&w, "version"), jw_str(&w, all->v[v].version);
            write_resources(&w, r->kube, &all->v[v], write_aggregated);
            jw_key(&w, "freshness"), jw_c(&w, "Current");
            jw_end(&w);
        }
        jw_end(&w);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
    reply_document(r, AGGREGATED, sb_view(&b), document_etag(r->a, sb_view(&b)));
    sb_fini(&b);
}

static void reply_core_versions(struct request *r)
{
    struct sb b = {0};
    struct jw w = {.out = &b};
    str host = request_header(r, "Host");

    jw_map(&w);
    jw_key(&w, "kind"), jw_c(&w, "APIVersions");
    jw_key(&w, "versions"), jw_list(&w), jw_c(&w, "v1"), jw_end(&w);
    jw_key(&w, "serverAddressByClientCIDRs"), jw_list(&w), jw_map(&w);
    jw_key(&w, "clientCIDR"), jw_c(&w, "0.0.0.0/0");
    jw_key(&w, "serverAddress"), jw_str(&w, host);
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    reply_json(r, 200, &b);
}

static void reply_groups(struct request *r, const group_versions *all)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_map(&w);
    jw_key(&w, "kind"), jw_c(&w, "APIGroupList");
    jw_key(&w, "apiVersion"), jw_c(&w, "v1");
    jw_key(&w, "groups");
    jw_list(&w);
    for (uint32_t i = 0, to; i < all->n; i = to) {
        to = end_of_group(all, i);
        if (all->v[i].group.n == 0)
            continue;
        jw_map(&w);
        write_group(&w, all, i, to);
        jw_end(&w);
    }
    jw_end(&w);
    jw_end(&w);
    reply_json(r, 200, &b);
}

static bool reply_group(struct request *r, const group_versions *all, str group)
{
    uint32_t i = 0;

    while (i < all->n && !str_eq(all->v[i].group, group))
        i++;
    if (i == all->n || group.n == 0)
        return false;
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_map(&w);
    jw_key(&w, "kind"), jw_c(&w, "APIGroup");
    jw_key(&w, "apiVersion"), jw_c(&w, "v1");
    write_group(&w, all, i, end_of_group(all, i));
    jw_end(&w);
    reply_json(r, 200, &b);
    return true;
}

static bool reply_resources(struct request *r, const group_versions *all, str group, str version)
{
    uint32_t i = 0;

    while (i < all->n && !(str_eq(all->v[i].group, group) && str_eq(all->v[i].version, version)))
        i++;
    if (i == all->n)
        return false;
    struct sb b = {0};
    struct jw w = {.out = &b};
    str both = group.n ? arena_printf(r->a, STR_FMT "/" STR_FMT, STR_ARG(group), STR_ARG(version)) : version;

    jw_map(&w);
    jw_key(&w, "kind"), jw_c(&w, "APIResourceList");
    if (group.n) /* quirk: the old group's list does not say its own version */
        jw_key(&w, "apiVersion"), jw_c(&w, "v1");
    jw_key(&w, "groupVersion"), jw_str(&w, both);
    write_resources(&w, r->kube, &all->v[i], write_plain);
    jw_end(&w);
    reply_json(r, 200, &b);
    return true;
}

void discovery_paths(struct request *r, struct jw *w)
{
    group_versions all = {0};

    collect_groups(r->kube, &all);
    for (uint32_t i = 0, to; i < all.n; i = to) {
        str group = all.v[i].group;

        to = end_of_group(&all, i);
        if (group.n == 0)
            continue;
        jw_str(w, arena_printf(r->a, "/apis/" STR_FMT, STR_ARG(group)));
        for (uint32_t v = i; v < to; v++)
            jw_str(w, arena_printf(r->a, "/apis/" STR_FMT "/" STR_FMT, STR_ARG(group), STR_ARG(all.v[v].version)));
    }
    vec_fini(&all);
}

static bool not_there(struct request *r, str group, struct status *st)
{
    bool custom;

    if (route_group_is(r->kube, group, &custom) && !custom)
        return refuse_path(r, st);
    reply_body(r, 404, "text/plain; charset=utf-8", STR("404 page not found\n"));
    return true;
}

/* /api, /api/v1, /apis, /apis/GROUP, /apis/GROUP/VERSION */
bool serve_discovery(struct request *r, struct status *st)
{
    const struct route *t = &r->route;
    bool core = str_is(t->segs[0], "api"), aggregated = t->n_segs == 1 && accept_wants_aggregated(r);
    group_versions all = {0};
    bool ok = true;

    if (!aggregated && !accept_parse(r, /* as_objects= */ false, /* watch= */ false, st))
        return false;
    collect_groups(r->kube, &all);
    if (aggregated)
        reply_aggregated(r, &all, core);
    else if (t->n_segs == 1)
        core ? reply_core_versions(r) : reply_groups(r, &all);
    else if (core)
        ok = reply_resources(r, &all, (str){0}, t->segs[1]) || not_there(r, (str){0}, st);
    else if (t->n_segs == 2)
        ok = reply_group(r, &all, t->segs[1]) || not_there(r, t->segs[1], st);
    else
        ok = reply_resources(r, &all, t->segs[1], t->segs[2]) || not_there(r, t->segs[1], st);
    vec_fini(&all);
    return ok;
}
