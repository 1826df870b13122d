/* Answers: heads, and objects as text. Objects are kept as text and copied; only what has to change its shape is parsed. */
#include "sim/kube/front_int.h"

#include <stdio.h>

#include "base/map.h"
#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "net/uuid.h"

#define MAX_HEADERS 40u

/* 299 - "text", with the text as a quoted string. */
static str warning_value(struct arena *a, str text)
{
    struct sb b = {0};

    sb_c(&b, "299 - \"");
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c == '"' || c == '\\')
            sb_char(&b, '\\');
        sb_char(&b, c < 0x20 || c == 0x7f ? ' ' : (char)c);
    }
    sb_char(&b, '"');
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

void reply_head(struct request *r, int code, const char *content_type, const struct http_header *more, uint32_t n_more)
{
    struct http_header h[MAX_HEADERS];
    uint32_t n = 0;

    h[n++] = (struct http_header){STR("Audit-Id"), uuid_new(r->a, kube_world(r->kube))};
    h[n++] = (struct http_header){STR("Cache-Control"), STR("no-cache, private")};
    if (content_type)
        h[n++] = (struct http_header){STR("Content-Type"), str_c(content_type)};
    for (uint32_t i = 0; i < n_more; i++)
        h[n++] = more[i];
    for (uint32_t i = 0; i < r->warnings.list.n && n < MAX_HEADERS; i++)
        h[n++] = (struct http_header){STR("Warning"), warning_value(r->a, r->warnings.list.v[i])};
    reply_begin(r->x, code, h, n);
}

static void free_text(void *p)
{
    free(p);
}

/* The head of an answer and its first text, which is handed over. false: nobody will see it. */
static bool begin_text(struct request *r, int code, const char *content_type, const struct http_header *more,
                       uint32_t n_more, struct sb *b)
{
    str text = sb_view(b);

    if (r->fault.lose_reply) {
        sb_fini(b);
        reply_abort(r->x);
        return false;
    }
    reply_head(r, code, content_type, more, n_more);
    if (text.n)
        reply_piece(r->x, text, free_text, b->p);
    else
        sb_fini(b);
    *b = (struct sb){0};
    return true;
}

/* The whole answer; the text is handed over. */
static void send_text(struct request *r, int code, const char *content_type, const struct http_header *more,
                      uint32_t n_more, struct sb *b)
{
    if (begin_text(r, code, content_type, more, n_more, b))
        reply_end(r->x);
}

bool reply_json_begin(struct request *r, int code, struct sb *b)
{
    return begin_text(r, code, "application/json", NULL, 0, b);
}

static void let_go(void *object)
{
    object_unref(object);
}

void reply_part(struct exchange *x, const struct object *o, str part)
{
    object_ref(o);
    reply_piece(x, part, let_go, (void *)(uintptr_t)o);
}

void reply_constant(struct exchange *x, const char *text)
{
    reply_piece(x, str_c(text), NULL, NULL);
}

void reply_body(struct request *r, int code, const char *content_type, str body)
{
    struct sb b = {0};

    sb_str(&b, body);
    send_text(r, code, content_type, NULL, 0, &b);
}

/* Our own text in another layout. Text that our reader does not take (more levels than it allows) goes out as it is. */
static void relayout(struct request *r, struct sb *b)
{
    struct sb out = {0};
    struct jw w = {.out = &out, .indent = 2, .yaml = r->accept.yaml};
    const struct tree *t;
    struct err e;

    if (!tree_parse_json(r->a, "answer", sb_view(b), &t, &e))
        return;
    jw_tree(&w, t);
    if (r->accept.yaml)
        sb_char(&out, '\n');
    sb_fini(b);
    *b = out;
}

static void send_json(struct request *r, int code, const struct http_header *more, uint32_t n_more, struct sb *b)
{
    if (r->accept.yaml || r->accept.pretty)
        relayout(r, b);
    else
        sb_char(b, '\n');
    send_text(r, code, r->accept.yaml ? "application/yaml" : "application/json", more, n_more, b);
}

void reply_json(struct request *r, int code, struct sb *b)
{
    send_json(r, code, NULL, 0, b);
}

void reply_document(struct request *r, const char *content_type, str body, str etag)
{
    struct http_header h[] = {{STR("Etag"), etag}, {STR("Vary"), STR("Accept")}};
    bool known = str_eq(request_header(r, "If-None-Match"), etag);
    struct sb b = {0};

    if (!known)
        sb_str(&b, body);
    send_text(r, known ? 304 : 200, known ? NULL : content_type, h, ARRAY_LEN(h), &b);
}

str document_etag(struct arena *a, str body)
{
    return arena_printf(a, "\"%016llX%016llX\"", (unsigned long long)hash_bytes(body.p, body.n, 1),
                        (unsigned long long)hash_bytes(body.p, body.n, 2));
}

/* ---- statuses ---- */

static void status_text(struct sb *out, struct arena *a, const struct status *st, str next)
{
    struct sb plain = {0};
    struct jw w = {.out = out};
    const struct tree *t;
    struct err e;

    status_json(&plain, st);
    if (next.n && tree_parse_json(a, "status", sb_view(&plain), &t, &e)) {
        struct tree *copy = tree_copy(a, t);

        tree_set_str(a, tree_sub(a, copy, "metadata"), "continue", next);
        jw_tree(&w, copy);
    } else {
        sb_str(out, sb_view(&plain));
    }
    sb_fini(&plain);
}

void reply_status(struct request *r, const struct status *st)
{
    struct sb b = {0};
    struct http_header h = {STR("Retry-After"), arena_printf(r->a, "%d", st->retry_after_s)};

    status_text(&b, r->a, st, r->next);
    send_json(r, st->code, &h, st->retry_after_s > 0, &b);
}

void reply_success(struct request *r, int code, const struct kind *k, str name, str uid)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_map(&w);
    jw_key(&w, "kind"), jw_c(&w, "Status");
    jw_key(&w, "apiVersion"), jw_c(&w, "v1");
    jw_key(&w, "metadata"), jw_map(&w), jw_end(&w);
    jw_key(&w, "status"), jw_c(&w, "Success");
    if (k) {
        jw_key(&w, "details");
        jw_map(&w);
        jw_key(&w, "name"), jw_str(&w, name);
        if (k->group.n)
            jw_key(&w, "group"), jw_str(&w, k->group);
        jw_key(&w, "kind"), jw_str(&w, k->plural);
        jw_key(&w, "uid"), jw_str(&w, uid);
        jw_end(&w);
    } else {
        jw_key(&w, "code"), jw_i64(&w, code);
    }
    jw_end(&w);
    reply_json(r, code, &b);
}

/* ---- objects ---- */

/* One "name":"value", of a text that we wrote ourselves: what stands after it, or nothing when it is another member. */
static str after_member(str s, const char *name)
{
    size_t n = strlen(name);

    if (s.n < n + 5 || s.p[0] != '"' || memcmp(s.p + 1, name, n) != 0 || memcmp(s.p + 1 + n, "\":\"", 3) != 0)
        return (str){0};
    for (size_t i = n + 4; i < s.n; i++)
        if (s.p[i] == '"')
            return str_sub(s, i + 1, s.n);
    return (str){0};
}

str object_members(const struct object *o)
{
    str s = str_sub(o->json, 1, o->json.n);

    for (int i = 0; i < 2; i++) {
        str rest = after_member(s, "kind");

        if (!rest.n)
            rest = after_member(s, "apiVersion");
        if (!rest.n)
            break;
        s = rest.p[0] == ',' ? str_sub(rest, 1, rest.n) : rest;
    }
    return s;
}

void metadata_json(struct sb *out, const struct tree *obj)
{
    struct jw w = {.out = out};

    jw_map(&w);
    jw_key(&w, "kind"), jw_c(&w, "PartialObjectMetadata");
    jw_key(&w, "apiVersion"), jw_c(&w, "meta.k8s.io/v1");
    jw_key(&w, "metadata"), jw_tree(&w, tree_get(obj, "metadata"));
    jw_end(&w);
}

static bool reply_shown(struct request *r, int code, const struct object *o, struct status *st)
{
    struct sb b = {0};
    struct grid g;

    switch (r->accept.form) {
    case FORM_OBJECT:
        sb_str(&b, o->json);
        break;
    case FORM_METADATA:
        metadata_json(&b, kube_tree(r->a, o));
        break;
    case FORM_METADATA_LIST:
        return status_bad_request(
            r->a, st, 406,
            "you requested PartialObjectMetadataList, but the requested object is not a list (" STR_FMT ")",
            STR_ARG(o->kind->name));
    case FORM_TABLE:
        if (!grid_init(r, o->kind, &g, st))
            return false;
        sb_printf(&b,
                  "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"resourceVersion\":\"%llu\"},",
                  (unsigned long long)o->rv);
        sb_c(&b, "\"columnDefinitions\":");
        grid_columns(&b, &g);
        sb_c(&b, ",\"rows\":[");
        grid_row(&b, &g, o->name, kube_tree(r->a, o));
        sb_c(&b, "]}");
        break;
    }
    reply_json(r, code, &b);
    return true;
}

bool reply_object(struct request *r, int code, const struct object *o, struct status *st)
{
    const struct object *shown = kube_object_as(r->kube, o, r->route.kind);
    bool ok = reply_shown(r, code, shown, st);

    object_unref(shown);
    return ok;
}

void reply_tree(struct request *r, int code, const struct tree *t)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_tree(&w, t);
    reply_json(r, code, &b);
}
