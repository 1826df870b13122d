/* Reading: one object, or a list in pages. */
#include "sim/kube/front_int.h"

#include "base/b64.h"
#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "sim/kube/selector.h"

#define MAX_TOKEN 4096u
#define COPIED_LIST (32u << 10) /* bytes of objects up to which a list is copied into one text */

/* ---- resource versions ---- */

static bool rv_parse(str s, uint64_t *ret)
{
    int64_t v;

    if (s.n == 0 || s.p[0] < '0' || s.p[0] > '9' || !str_to_i64(s, &v))
        return false;
    *ret = (uint64_t)v;
    return true;
}

bool query_rv(struct request *r, uint64_t *ret, struct status *st)
{
    str s = query_get(r, "resourceVersion");

    *ret = 0;
    if (s.n == 0 || rv_parse(s, ret))
        return true;
    (void)status_bad_request(r->a, st, 500,
                             "resourceVersion: Invalid value: \"" STR_FMT "\": strconv.ParseUint: parsing \"" STR_FMT
                             "\": invalid syntax",
                             STR_ARG(s), STR_ARG(s));
    st->reason = ""; /* quirk: the real server takes this for a mistake of its own, but for lists */
    return false;
}

/* Of a read that may be newer, but not older. */
static bool not_too_large(struct request *r, uint64_t rv, struct status *st)
{
    return rv <= kube_rv(r->kube) || status_too_large_rv(r->a, st, rv, kube_rv(r->kube));
}

static bool list_rv(struct request *r, uint64_t *ret, struct status *st)
{
    if (query_rv(r, ret, st))
        return not_too_large(r, *ret, st);
    return status_bad_request(r->a, st, 400, "invalid resource version: " STR_FMT, STR_ARG(st->message));
}

/* ---- continue tokens ---- */

/* Where the next page begins: after this object, in the list of this moment. */
struct token_place {
    int64_t rv; /* -1: of now, because the moment is gone */
    str ns, name;
};

static str token_make(struct arena *a, int64_t rv, str ns, str name)
{
    struct sb json = {0}, out = {0};
    struct jw w = {.out = &json};

    jw_map(&w);
    jw_key(&w, "v"), jw_c(&w, "meta.k8s.io/v1");
    jw_key(&w, "rv"), jw_i64(&w, rv);
    jw_key(&w, "start"), jw_str(&w, arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(ns), STR_ARG(name)));
    jw_end(&w);
    b64url_encode(&out, sb_view(&json));
    str token = sb_dup(&out, a);
    sb_fini(&json);
    sb_fini(&out);
    return token;
}

static bool token_parse(struct request *r, str token, struct token_place *ret, struct status *st)
{
    struct sb json = {0};
    struct err e;
    const struct tree *t = NULL;
    bool ok = token.n <= MAX_TOKEN && b64url_decode(&json, token) &&
              tree_parse_json(r->a, "token", sb_dup(&json, r->a), &t, &e) &&
              str_is(tree_str(tree_get(t, "v")), "meta.k8s.io/v1") && tree_to_i64(tree_get(t, "rv"), &ret->rv) &&
              (ret->rv == -1 || ret->rv > 0) && str_cut(tree_str(tree_get(t, "start")), '/', &ret->ns, &ret->name);

    sb_fini(&json);
    return ok || status_bad_request(r->a, st, 400, "invalid continue token: continue key is not valid");
}

/* ---- options ---- */

static bool check_options(struct request *r, struct status *st)
{
    struct causes c = {.a = r->a};
    str match = query_get(r, "resourceVersionMatch"), rv = query_get(r, "resourceVersion"),
        field = STR("resourceVersionMatch");

    if (query_has(r, "sendInitialEvents"))
        cause_forbidden(&c, STR("sendInitialEvents"), "sendInitialEvents is forbidden for list");
    if (match.n && rv.n == 0)
        cause_forbidden(&c, field, "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (match.n && query_get(r, "continue").n)
        cause_forbidden(&c, field, "resourceVersionMatch is forbidden for continue");
    if (match.n && !str_is(match, "Exact") && !str_is(match, "NotOlderThan"))
        cause_not_supported(&c, field, json_quoted(r->a, match), "supported values: \"Exact\", \"NotOlderThan\", \"\"");
    if (str_is(match, "Exact") && str_is(rv, "0"))
        cause_forbidden(&c, field, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    return query_invalid(r, "ListOptions", &c, st);
}

bool list_selector(struct request *r, const struct selector **ret, struct status *st)
{
    static const char *const none[] = {NULL};
    const struct kind *k = r->route.kind;
    const char *const *selectable = k->rules ? k->rules->selectable : k->crd ? none : NULL;
    struct err e;
    str fields = query_get(r, "fieldSelector");

    if (r->route.watch && r->route.name.n) /* /watch/…/NAME */
        fields = arena_printf(r->a, "metadata.name=" STR_FMT, STR_ARG(r->route.name));
    if (selector_parse_query(r->a, query_get(r, "labelSelector"), fields, selectable, ret, &e))
        return true;
    return status_bad_request(r->a, st, 400, "%s", e.msg);
}

/* ---- the moment ---- */

/* Of a page that is not the first. When the moment is gone, the answer has a token to go on with what is there now. */
static bool moment_of_token(struct request *r, struct token_place *at, struct past *ret, struct status *st)
{
    if (at->rv == -1) {
        past_now(r, ret);
        return true;
    }
    if (past_at(r, (uint64_t)at->rv, ret, st))
        return true;
    if (st->code != 410)
        return status_bad_request(r->a, st, 400, "invalid continue token: its resource version has not happened yet");
    r->next = token_make(r->a, -1, at->ns, at->name);
    return status_gone(r->a, st,
                       "The provided continue parameter is too old to display a consistent list result. You can start "
                       "a new list without the continue parameter, or use the continue token in this response to "
                       "retrieve the remainder of the results. Continuing with the provided token results in an "
                       "inconsistent list - objects that were created, modified, or deleted between the time the "
                       "first chunk was returned and now may show up in the list.");
}

static bool moment_of_query(struct request *r, uint64_t rv, int64_t limit, struct past *ret, struct status *st)
{
    str match = query_get(r, "resourceVersionMatch");
    bool exact = str_is(match, "Exact") || (rv && limit > 0 && match.n == 0);

    if (!exact) {
        past_now(r, ret);
        return true;
    }
    if (past_at(r, rv, ret, st))
        return true;
    return st->code == 410 ? status_gone(r->a, st, "The resourceVersion for the provided list is too old.") : false;
}

/* ---- writing ---- */

static str list_kind(struct arena *a, const struct kind *k)
{
    str own = tree_str(tree_at(k->crd, "names", "listKind", NULL));

    return own.n ? own : arena_printf(a, STR_FMT "List", STR_ARG(k->name));
}

static void list_metadata(struct sb *b, uint64_t rv, str next, int64_t remaining)
{
    sb_printf(b, "\"metadata\":{\"resourceVersion\":\"%llu\"", (unsigned long long)rv);
    if (next.n)
        sb_printf(b, ",\"continue\":\"" STR_FMT "\"", STR_ARG(next));
    if (next.n && remaining > 0)
        sb_printf(b, ",\"remainingItemCount\":%lld", (long long)remaining);
    sb_char(b, '}');
}

/* An object as a member of a list, but for the brace before it: quirk: those of built-in kinds do not say what they are. */
static str members_of(const struct object *o)
{
    return o->kind->crd ? str_sub(o->json, 1, o->json.n) : object_members(o);
}

static void item(struct sb *b, enum form form, const struct grid *g, const struct object *o)
{
    if (form == FORM_OBJECT) {
        sb_char(b, '{');
        sb_str(b, members_of(o));
        return;
    }
    AUTO(arena) struct arena *tmp = arena_new(0);
    struct tree *obj = kube_tree(tmp, o);

    if (form == FORM_TABLE)
        grid_row(b, g, o->name, obj);
    else
        metadata_json(b, obj);
}

/* Long lists go out as the texts that the store has anyway: whatever becomes of the objects, their texts stay until they are
 * sent. Rows, and what has to be laid out, have no such texts. */
static bool goes_in_parts(const struct request *r, const struct page *p)
{
    size_t bytes = 0;

    if (r->accept.form != FORM_OBJECT || r->accept.yaml || r->accept.pretty)
        return false;
    for (uint32_t i = 0; i < p->n && bytes <= COPIED_LIST; i++)
        bytes += p->objects[i]->json.n;
    return bytes > COPIED_LIST;
}

static void send_in_parts(struct request *r, struct sb *head, const struct page *p)
{
    if (!reply_json_begin(r, 200, head))
        return;
    for (uint32_t i = 0; i < p->n; i++) {
        reply_constant(r->x, i ? ",{" : "{");
        reply_part(r->x, p->objects[i], members_of(p->objects[i]));
    }
    reply_constant(r->x, "]}\n");
    reply_end(r->x);
}

bool reply_list(struct request *r, const struct page *p, struct status *st)
{
    const struct kind *k = r->route.kind;
    str name = list_kind(r->a, k), version = kind_api_version(r->a, k);
    struct grid g = {0};
    struct sb b = {0};
    bool table = r->accept.form == FORM_TABLE;

    if (r->accept.form == FORM_METADATA)
        return status_bad_request(
            r->a, st, 406, "you requested PartialObjectMetadata, but the requested object is a list (" STR_FMT ")",
            STR_ARG(name));
    if (table && !grid_init(r, k, &g, st))
        return false;
    if (r->accept.form != FORM_OBJECT) {
        name = table ? STR("Table") : STR("PartialObjectMetadataList");
        version = STR("meta.k8s.io/v1");
    }
    sb_printf(&b, "{\"kind\":\"" STR_FMT "\",\"apiVersion\":\"" STR_FMT "\",", STR_ARG(name), STR_ARG(version));
    list_metadata(&b, p->rv, p->next, p->remaining);
    if (table) {
        sb_c(&b, ",\"columnDefinitions\":");
        grid_columns(&b, &g);
    }
    sb_c(&b, table ? ",\"rows\":[" : ",\"items\":[");
    if (goes_in_parts(r, p)) {
        send_in_parts(r, &b, p);
        return true;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        sb_c(&b, i ? "," : "");
        item(&b, r->accept.form, &g, p->objects[i]);
    }
    sb_c(&b, "]}");
    reply_json(r, 200, &b);
    return true;
}

/* ---- pages ---- */

/* The page that begins at `from`: what matches, until there are `limit`, and whether more would come. */
static bool reply_page(struct request *r, const struct past *p, uint32_t from, int64_t limit,
                       const struct selector *sel, struct status *st)
{
    VEC(const struct object *) page = {0};
    uint32_t i = from;
    bool more = false;

    for (; i < p->list.n && !more; i++) {
        if (!selector_matches_object(sel, p->list.v[i]))
            continue;
        more = limit > 0 && page.n == (uint64_t)limit;
        if (!more)
            vec_push(&page, p->list.v[i]);
    }
    struct page out = {.objects = page.v, .n = page.n, .rv = p->rv};
    if (more) {
        out.next = token_make(r->a, (int64_t)p->rv, vec_last(&page)->ns, vec_last(&page)->name);
        out.remaining = selector_is_empty(sel) ? (int64_t)p->list.n - i + 1 : 0;
    }
    bool ok = reply_list(r, &out, st);
    vec_fini(&page);
    return ok;
}

bool serve_list(struct request *r, struct status *st)
{
    const struct selector *sel;
    struct token_place at = {0};
    struct past past = {0};
    int64_t limit = 0;
    uint64_t rv;
    uint32_t from = 0;
    str token = query_get(r, "continue");

    if (!query_number(r, "limit", &limit, st) || !check_options(r, st) || !list_selector(r, &sel, st) ||
        !list_rv(r, &rv, st))
        return false;
    if (token.n && rv)
        return status_bad_request(r->a, st, 400, "specifying resource version is not allowed when using continue");
    if (token.n && !token_parse(r, token, &at, st))
        return false;
    if (str_is(query_get(r, "resourceVersion"), "0"))
        limit = 0; /* quirk: a list that may be of any age comes whole, from the server's cache */
    if (token.n ? !moment_of_token(r, &at, &past, st) : !moment_of_query(r, rv, limit, &past, st))
        return false;
    if (token.n) {
        from = past_find(&past, at.ns, at.name);
        from += from < past.list.n && past_cmp(past.list.v[from], at.ns, at.name) == 0;
    }
    bool ok = reply_page(r, &past, from, limit, sel, st);
    past_fini(&past);
    return ok;
}

bool serve_get(struct request *r, struct status *st)
{
    const struct object *o = kube_get(r->kube, r->route.kind, r->route.ns, r->route.name);
    uint64_t rv;

    if (!query_rv(r, &rv, st) || !not_too_large(r, rv, st))
        return false;
    if (!o)
        return status_not_found(r->a, st, r->route.kind, r->route.name);
    return reply_object(r, 200, o, st);
}
