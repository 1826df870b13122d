/* front_int - what the files of the front share.
 *
 * In the order of a request: front.c (the way in, who asks), front_route.c (what the path names), front_query.c (options),
 * front_accept.c (which form the client wants), then one of the handlers: front_list.c (with front_past.c), front_watch.c,
 * front_write.c, front_sub.c, front_logs.c, front_token.c, front_review.c, front_discovery.c, front_openapi.c, front_misc.c.
 * front_body.c reads bodies, front_reply.c and front_table.c write answers.
 */
#pragma once

#include "sim/kube/front.h"
#include "sim/kube/store.h"

#define FRONT_MAX_BODY (3u << 20)
#define ROUTE_MAX_SEGS 12u

struct jw;
struct log_reader;
struct request;
struct selector;
struct watcher;

/* Who asks. Everybody whom the server lets in may do everything; the name is for managedFields, reviews and messages. */
struct user {
    str name, uid;
    str groups[3];
    uint32_t n_groups;
};

struct pair {
    str name, value;
};

/* Handlers answer and return true, or fill *st and return false: then front.c answers with it. */
typedef bool (*handler_fn)(struct request *r, struct status *st);

/* A resource that is answered without being stored: reviews, bindings. */
struct virtual_kind {
    const char *group, *version, *plural, *singular, *name;
    bool namespaced;
    handler_fn create;
};

struct route {
    str segs[ROUTE_MAX_SEGS]; /* the path, decoded */
    uint32_t n_segs;
    str group, version, plural;
    const struct kind *kind; /* NULL for virtual kinds */
    const struct virtual_kind *virt;
    str ns, name, sub; /* empty where the path has none */
    bool watch;        /* the old /watch/ paths */
};

enum form { FORM_OBJECT, FORM_TABLE, FORM_METADATA, FORM_METADATA_LIST };

struct accept {
    enum form form;
    bool yaml, pretty;
};

struct request {
    struct kube *kube;
    struct front *front;
    struct exchange *x;
    struct arena *a; /* of the exchange */
    struct front_fault fault;
    struct user user;
    struct route route;
    struct accept accept;
    const struct pair *query;
    uint32_t n_query;
    struct warnings warnings;
    str next; /* metadata.continue of a Status */
};

str request_header(const struct request *r, const char *name);
bool request_is(const struct request *r, const char *method);
struct user user_admin(void); /* who knows the server's own token */

/* ---- the state of a front ---- */

/* A token that a service account was given. */
struct token {
    char *text; /* on the heap, as are the names */
    char *ns, *name, *uid;
    int64_t until_ms;
};

/* A document that is the same until a custom kind comes or goes. */
struct document {
    char *path, *etag;
    struct sb text;
};

struct front {
    struct kube *kube;
    VEC(struct token) tokens; /* oldest first */
    VEC(struct document) documents;
    uint64_t documents_version;
    struct watcher *watchers;
    struct log_reader *log_readers;
};

char *front_strdup(str s); /* on the heap, terminated */

/* ---- front_route.c ---- */

enum routed { ROUTE_RESOURCE, ROUTE_OTHER, ROUTE_NO_PAGE, ROUTE_NO_RESOURCE, ROUTE_BAD };

enum routed route_path(struct request *r, struct status *st); /* ROUTE_BAD: *st says why */
bool route_group_is(const struct kube *k, str group, bool *ret_custom);

/* ---- front_query.c ---- */

bool query_parse(struct request *r, struct status *st);
bool query_has(const struct request *r, const char *name);
str query_get(const struct request *r, const char *name);   /* the first; empty when absent */
bool query_flag(const struct request *r, const char *name); /* there, and not "false" or "0" */
bool query_number(struct request *r, const char *name, int64_t *ret, struct status *st); /* unchanged when absent */
/* CreateOptions, UpdateOptions, PatchOptions: dryRun, fieldManager, fieldValidation. */
bool query_write(struct request *r, const char *options, bool apply, struct write_options *ret, struct status *st);
/* DeleteOptions: from the body (or a part of it), or from the query when body is NULL. */
bool query_delete(struct request *r, const struct tree *body, struct delete_options *ret, struct write_options *ret_w,
                  struct status *st);
/* true when there are no causes; else 'KIND.meta.k8s.io "" is invalid: …'. Frees the causes. */
bool query_invalid(struct request *r, const char *kind, struct causes *c, struct status *st);

/* ---- front_accept.c ---- */

/* as_objects: tables and metadata alone are possible. */
bool accept_parse(struct request *r, bool as_objects, bool watch, struct status *st);
bool accept_wants_aggregated(const struct request *r); /* APIGroupDiscoveryList v2 */

/* ---- front_body.c ---- */

bool body_is_json(const struct request *r);
/* A map, JSON or YAML. `kind` is for messages; empty: options, which some bodies are. */
bool body_parse(struct request *r, str kind, struct tree **ret, struct status *st);
/* An object of the route's kind: apiVersion and kind are checked and filled in, the namespace set, the name compared. */
bool body_object(struct request *r, struct tree **ret, struct status *st);
/* Another kind (Scale, Eviction, reviews): what it says of itself must be this, or nothing. */
bool body_other(struct request *r, str api_version, const char *kind, struct tree **ret, struct status *st);
bool body_patch(struct request *r, enum patch_kind how, struct tree **ret, struct status *st);
/* Namespace and name of an object against those of the path. */
bool body_place(struct request *r, struct tree *obj, bool name_required, struct status *st);

/* ---- front_reply.c ---- */

void reply_head(struct request *r, int code, const char *content_type, const struct http_header *more, uint32_t n_more);
void reply_body(struct request *r, int code, const char *content_type, str body);
void reply_json(struct request *r, int code, struct sb *b); /* takes the text over; laid out as the client wants it */
/* An answer in parts: the head and its first text, which is taken over, then parts, then reply_end(). For compact JSON. false:
 * a fault has lost the answer. */
bool reply_json_begin(struct request *r, int code, struct sb *b);
void reply_part(struct exchange *x, const struct object *o,
                str part);                                 /* of its text, not copied: it holds the object */
void reply_constant(struct exchange *x, const char *text); /* not copied */
void reply_tree(struct request *r, int code, const struct tree *t);
bool reply_object(struct request *r, int code, const struct object *o, struct status *st);
void reply_status(struct request *r, const struct status *st);
void reply_success(struct request *r, int code, const struct kind *k, str name, str uid); /* k NULL: without details */
/* A document that changes rarely: 304 for those who have it. */
void reply_document(struct request *r, const char *content_type, str body, str etag);
str document_etag(struct arena *a, str body);

/* The members of an object's text after apiVersion and kind, with the closing brace. */
str object_members(const struct object *o);
void metadata_json(struct sb *out, const struct tree *obj); /* PartialObjectMetadata */

/* ---- front_table.c ---- */

enum include { INCLUDE_METADATA, INCLUDE_NONE, INCLUDE_OBJECT };

/* How the rows of a Table are made. */
struct grid {
    const struct kind *kind;
    int64_t now_ms;
    enum include include;
};

bool grid_init(struct request *r, const struct kind *k, struct grid *ret, struct status *st);
void grid_columns(struct sb *out, const struct grid *g); /* the value of columnDefinitions */
void grid_row(struct sb *out, const struct grid *g, str name, const struct tree *obj);

/* ---- front_past.c ---- */

/* The objects of the route's kind and namespace at one moment, in order; referenced. */
struct past {
    VEC(const struct object *) list;
    uint64_t rv;
};

void past_now(struct request *r, struct past *ret);
bool past_at(struct request *r, uint64_t rv, struct past *ret, struct status *st); /* 410 when it is too long ago */
void past_fini(struct past *p);
uint32_t past_find(const struct past *p, str ns, str name); /* the first that is not before this place */
int past_cmp(const struct object *o, str ns, str name);

/* ---- front_list.c ---- */

struct page {
    const struct object *const *objects;
    uint32_t n;
    uint64_t rv;
    str next; /* continue token; empty: the last page */
    int64_t remaining;
};

bool reply_list(struct request *r, const struct page *p, struct status *st);
bool list_selector(struct request *r, const struct selector **ret, struct status *st);
bool query_rv(struct request *r, uint64_t *ret, struct status *st); /* resourceVersion; 0 when absent */

/* ---- the others ---- */

const struct virtual_kind *virtual_kind_of(str group, str version, str plural);
const struct virtual_kind *virtual_kind_at(uint32_t i); /* NULL at the end */
/* The service account whom the server gave this token, or whoever its owner knows by it; false: nobody. */
bool token_user(struct front *f, struct arena *a, str token, struct user *ret);
void tokens_fini(struct front *f);
void watchers_fini(struct front *f);
void log_readers_fini(struct front *f);
void documents_fini(struct front *f);

void discovery_paths(struct request *r, struct jw *w); /* of all groups but the core one */

bool serve_other(struct request *r, struct status *st); /* paths that name no resource */
bool serve_discovery(struct request *r, struct status *st);
bool serve_openapi(struct request *r, struct status *st);
bool serve_get(struct request *r, struct status *st);
bool serve_list(struct request *r, struct status *st);
bool serve_watch(struct request *r, struct status *st);
bool serve_create(struct request *r, struct status *st);
bool serve_update(struct request *r, struct status *st);
bool serve_patch(struct request *r, struct status *st);
bool serve_delete(struct request *r, struct status *st);
bool serve_delete_all(struct request *r, struct status *st);
bool serve_sub(struct request *r, struct status *st); /* subresources other than status */
bool serve_logs(struct request *r, struct status *st);
bool serve_kubelet(struct request *r, struct status *st); /* exec, attach, portforward */
bool serve_bind(struct request *r, struct status *st);    /* Binding: to pods/NAME/binding or to bindings */
bool serve_token(struct request *r, struct status *st);
/* A patch of any type, of the object or a subresource. */
bool patch_object(struct request *r, const char *sub, const struct object **ret, bool *ret_created, struct status *st);
bool refuse_method(struct request *r, struct status *st);
bool refuse_path(struct request *r, struct status *st);
