/* kind - what the API server knows of each kind: names, scope, schema, subresources, rules, columns.
 *
 * Built-in kinds are one static table; a CustomResourceDefinition adds a kind while the server runs.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"

struct causes;
struct kind;
struct kube;
struct schema;
struct tree;

/* Why a rule runs: who asks, when, and what is around. Everything lives as long as the request. */
struct rule_context {
    struct arena *a;
    struct kube *kube; /* for admission that looks at other objects (kube.h); NULL in unit tests */
    const struct kind *kind;
    const char *sub; /* subresource, or NULL */
    str user;
    int64_t now_ms;
};

/* What the server does with a built-in kind beyond its schema; each may be NULL. Objects are edited in place. */
struct kind_rules {
    void (*defaults)(struct arena *a, struct tree *obj);
    /* Before a create: clears what a client may not set (status), sets what the server sets (a pod's phase and QoS). May refuse
     * through causes, or with a sentence of admission in ret_denied. */
    void (*on_create)(struct rule_context *c, struct tree *obj, str *ret_denied);
    /* Before an update of the object (sub NULL) or a subresource: keeps what the client may not change. */
    void (*on_update)(struct rule_context *c, struct tree *obj, const struct tree *old, str *ret_denied);
    void (*validate)(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out);
    /* Fields besides metadata.name and metadata.namespace that field selectors may name: writes the value. NULL-terminated. */
    const char *const *selectable; /* "spec.nodeName", "status.phase" */
};

/* A column of `kubectl get`. priority 1: only with -o wide. */
struct column {
    const char *name, *type, *format; /* "string", "" … */
    const char *description;
    int priority;
};

struct kind_columns {
    const struct column *columns;
    uint32_t n;
    /* One cell per column, as JSON values, in order. now_ms is for ages. */
    void (*cells)(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells);
};

/* How objects of a kind become those of the kind that is stored in its place, and back. The stored kind's rules apply, but for
 * validate(), which is that of the kind the client speaks of; it sees the stored shape. */
struct kind_shape {
    void (*to_stored)(struct arena *a, struct tree *obj);
    void (*from_stored)(struct arena *a, struct tree *obj);
};

/* What a name must look like. */
enum kind_naming {
    NAMES_SUBDOMAIN, /* DNS-1123 subdomain */
    NAMES_LABEL,     /* DNS-1123 label: namespaces, services */
    NAMES_PATH,      /* anything that can be a segment of a path: roles and their bindings */
};

struct kind {
    str group, version; /* "" is the core group */
    str name;           /* "Pod" */
    str plural, singular;
    const str *short_names, *categories;
    uint32_t n_short_names, n_categories;
    bool namespaced;
    bool has_status; /* subresource status; without it status is a field like any other */
    bool has_scale;
    bool has_generation; /* metadata.generation counts changes of spec */
    bool needs_rv;       /* a client's update must say metadata.resourceVersion */
    bool made_by_put;    /* an update of what does not exist creates it */
    bool judged_alone; /* its rules judge a status (or a spec, where it has none) without the rest of the object, … */
    bool judged_by_itself; /* … and without what it was before */
    str api_version;       /* made once, for kind_api_version(); empty: not yet */
    enum kind_naming naming;
    str scale_spec, scale_status, scale_selector; /* paths of the scale subresource: ".spec.replicas" */
    const struct schema *schema;
    const struct kind_rules *rules;     /* NULL: none */
    const struct kind_columns *columns; /* NULL: name and age */
    const struct tree *crd_columns;     /* custom kinds: additionalPrinterColumns */
    const struct tree *crd;             /* custom kinds: the definition's spec */
    const struct kind *shape_of;        /* its objects are those of this kind in another shape; NULL: it has its own */
    const struct kind_shape *shape;     /* with shape_of */
    uint32_t ix;                        /* dense, never reused */
};

static inline const struct kind *kind_stored(const struct kind *k)
{
    return k->shape_of ? k->shape_of : k;
}

/* The rules and columns of built-in kinds; NULL when a kind has none. */
const struct kind_rules *kind_rules_of(str group, str name);
const struct kind_columns *kind_columns_of(str group, str name);
extern const struct kind_shape shape_new_event; /* events.k8s.io */

str kind_api_version(struct arena *a, const struct kind *k); /* "v1", "apps/v1" */
str kind_resource(struct arena *a, const struct kind *k);    /* "pods", "deployments.apps": as in messages */
