/* api - calls to a Kubernetes API server, from fibers.
 *
 * A call parks its fiber until the answer is there. Calls wait their turn at the client-side rate limit. An answer that says when to
 * come again (429 or 5xx with Retry-After, up to a minute) is tried again up to ten times, as client libraries do; an eviction that a
 * budget refuses is not. After a 401 the config is asked for a new token, once. Everything else is for the caller to judge:
 *
 *   404 ERR_NOT_FOUND   409 ERR_CONFLICT   410 ERR_GONE   429 ERR_THROTTLED   401, 403 ERR_DENIED   400, 405, 415, 422 ERR_INVALID
 *   no answer: ERR_IO, ERR_TIMEOUT; all other codes ERR_IO. err.code is the Status' reason ("AlreadyExists"), err.msg its message.
 */
#pragma once

#include "data/tree.h"
#include "k8s/config.h"

struct api_kind {
    const char *group; /* "" is the core group */
    const char *version, *plural, *kind;
    bool namespaced;
};

/* The kinds that the program itself names; kinds of node classes come from their provider. */
extern const struct api_kind api_pods, api_nodes, api_events, api_namespaces, api_services, api_pvcs, api_pvs, api_rcs,
    api_podtemplates, api_nodepools, api_nodeclaims, api_nodeoverlays, api_capacitybuffers, api_daemonsets,
    api_deployments, api_replicasets, api_statefulsets, api_pdbs, api_storageclasses, api_csinodes,
    api_volumeattachments, api_leases;

str api_kind_version(struct arena *a, const struct api_kind *k); /* "apps/v1", "v1" */

/* What a call was, for metrics; after every attempt. code 0: no answer. */
struct api_call {
    const char *method;
    const struct api_kind *kind;
    const char *sub; /* "", "status", "eviction" */
    int code;
    int64_t took_us;
};

struct api_options {
    const char *user_agent; /* "karpenter/1.2.3" */
    double qps;             /* 0: no limit */
    uint32_t burst;
    int64_t timeout_us; /* of one attempt; the server is told of it, too (?timeout=5s); 0: 30 s, and it is not */
    void (*on_call)(void *ctx, const struct api_call *c);
    void *ctx;
};

struct api;

/* The config outlives it. It outlives the fibers that use it, which return at the latest when their world is freed. */
struct api *api_new(struct world *w, struct kube_config *c, const struct api_options *o);
void api_free(struct api *c);
AUTO_DEFINE(api)
struct world *api_world(const struct api *c);
struct kube_config *api_config(const struct api *c);

struct api_ref {
    const struct api_kind *kind;
    str ns, name; /* ns empty for cluster-scoped kinds */
};

enum api_patch_type { API_MERGE, API_STRATEGIC };

/* Results live in the arena and may be edited; `ret` may be NULL where nobody wants the answer. */
/* Without a name: the whole collection as a List, of one namespace or all; for few objects. */
bool api_get(struct api *c, struct arena *a, const struct api_ref *r, struct tree **ret, struct err *e);
/* The collection with those objects only that a field selector finds: "spec.nodeName=n1". */
bool api_list(struct api *c, struct arena *a, const struct api_kind *k, str fields, struct tree **ret, struct err *e);
bool api_create(struct api *c, struct arena *a, const struct api_kind *k, str ns, const struct tree *body,
                struct tree **ret, struct err *e);
/* PUT: the body carries the resourceVersion it was read with. */
bool api_update(struct api *c, struct arena *a, const struct api_ref *r, const struct tree *body, struct tree **ret,
                struct err *e);
/* sub: NULL or "status". */
bool api_patch(struct api *c, struct arena *a, const struct api_ref *r, const char *sub, enum api_patch_type type,
               const struct tree *patch, struct tree **ret, struct err *e);

struct api_delete_options {
    bool has_grace;
    int64_t grace_s;
    str uid;           /* precondition; empty: none */
    struct tree **ret; /* the answer: the object as it is now, or a Status when it is gone; NULL: nobody wants it */
};

bool api_delete(struct api *c, struct arena *a, const struct api_ref *r, const struct api_delete_options *o,
                struct err *e); /* o NULL: none */
/* policy/v1 Eviction; of the options the uid and the grace count. *ret_code: the HTTP status, 0 without an answer; written always. */
bool api_evict(struct api *c, struct arena *a, str ns, str name, const struct api_delete_options *o, int *ret_code,
               struct err *e);
/* Whether the server serves the kind (discovery). */
bool api_knows(struct api *c, struct arena *a, const struct api_kind *k, bool *ret, struct err *e);
/* What the server is: "1.36", from /version. */
bool api_server_version(struct api *c, struct arena *a, str *ret, struct err *e);
