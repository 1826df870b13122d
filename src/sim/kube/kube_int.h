/* kube_int - what the files of the API server share, and nobody else sees.
 *
 * An object of the store is an entry: the current revision, its place in the table of its kind, and what it names as its
 * owners. A write makes a revision (object.c), puts it into the entry (table.c), into the watch window (watchlog.c) and tells the
 * subscribers (kube.c). Everything above that decides what to write: write.c, remove.c, gc.c and so on.
 */
#pragma once

#include "base/vec.h"
#include "sim/kube/blocks.h"
#include "sim/kube/lookup.h"
#include "sim/kube/store.h"
#include "sim/kube/work.h"

/* ---- revisions (object.c, draft.c) ---- */

struct revision {
    struct object o; /* first */
    /* Parts of o.json, as offsets. */
    uint32_t rv_at, rv_n;             /* the digits of metadata.resourceVersion; rv_n 0: there is none (dry run) */
    uint32_t meta_at;                 /* metadata, as far as body_at */
    uint32_t body_at, body_end;       /* what is neither metadata nor status, with the comma before it */
    uint32_t managed_at, managed_end; /* metadata.managedFields, with the comma before it */
    uint32_t bytes;                   /* of the whole block */
    struct blocks *blocks;            /* where it is from */
    const struct schema *valid_by;    /* custom kinds: the schema that found it valid; NULL: nobody has asked */
    const struct schema *known_by;    /* the schema that knows all of its fields, and their types; NULL: likewise */
    struct entry *entry;              /* whose current revision it is; NULL: not any more, or not yet */
};

/* A string of the object: where it stands in the text, or in `more` (escaped strings, values of fields). */
struct spot {
    uint32_t at, n;
    bool more;
};

/* A text on its way to a revision; one per server, its memory is used again. */
struct draft {
    struct sb text, body, status, more; /* status: with the comma before it */
    VEC(struct spot) spots; /* namespace, name, uid, labels, owners, values of fields: as they come in struct object */
    VEC(struct owner) owners;
    struct revision r;
    struct blocks *blocks; /* for those that are kept */
};

static inline const struct revision *revision_of(const struct object *o)
{
    return (const struct revision *)o;
}

/* Writes obj as it would be stored: members in order, nulls dropped. rv 0: without a resource version. counts_from: the
 * revision from which metadata.generation counts on when the body is another; NULL: it stays as it is. */
void draft_write(struct draft *d, struct arena *a, const struct kind *kind, struct tree *obj, uint64_t rv,
                 const struct object *counts_from);
/* The draft that was written last once more: of its object nothing but metadata has changed since. */
void draft_write_metadata(struct draft *d, struct arena *a, struct tree *obj);
/* Likewise, of the object that is `old` but for these members: a null takes one away. The text of the others is taken from old,
 * which must have a resource version. metadata.generation stays as it is, or as it is in parts. managed: takes the place of
 * metadata.managedFields, where parts has no metadata; NULL: they stay. */
void draft_splice(struct draft *d, struct arena *a, const struct object *old, struct tree *parts,
                  const struct tree *managed, uint64_t rv);
bool draft_equals(const struct draft *d, const struct object *o); /* but for the resource version */
const struct object *draft_keep(const struct draft *d);           /* a revision with one reference */
void draft_fini(struct draft *d);
/* The same state under another resource version: what a watch says of a removed object. */
const struct object *object_at_rv(const struct object *o, uint64_t rv);
/* The object as a tree whose strings may point into o->json: for as long as the object is held. */
struct tree *object_tree(struct arena *a, const struct object *o);
/* A member of the object as text; empty when absent. */
str object_part(const struct object *o, str name);
struct tree *object_part_tree(struct arena *a, const struct object *o, str name); /* likewise; NULL when absent */
str object_member(const struct object *o, str part, str name);                    /* and a member of that */
/* The members of a map of our own text one after the other, `rest` being what begins with the brace or a comma. */
bool member_next(str *rest, str *ret_key, str *ret_value);

#define STATUS_KEY ",\"status\":" /* between body and status, where a kind has one of its own */

/* ---- tables (table.c, owners.c) ---- */

struct owned_by; /* all that name one owner */

struct owner_link {
    struct owned_by *owner;
    struct entry *entry;
    struct owner_link *next, *prev;
};

/* Its names are copied behind it: who looks for something touches entries, and no texts. */
struct entry {
    const struct object *now;
    const struct kind *kind;
    str ns, name, uid;
    struct owner_link *links; /* one for each of now->owners */
    uint32_t n_links;
};

#define CHUNK 128u

struct chunk {
    uint32_t n;
    struct entry *v[CHUNK];
};

/* All objects of a kind in order of namespace and name: a list of sorted chunks. */
struct table {
    VEC(struct chunk *) chunks;
    uint32_t n;
    VEC(uint32_t) hear; /* which of the server's subscribers want to know of changes, in their order … */
    uint32_t n_asked;   /* … among the first so many */
};

/* Where a walk over a table stands. */
struct cursor {
    const struct table *table;
    uint32_t chunk, at;
};

struct entry *store_find(const struct kube *k, const struct kind *kind, str ns, str name);
struct entry *store_find_uid(const struct kube *k, str uid);
/* Takes the reference. old: the current revision, which it replaces; NULL: there is none. */
void store_keep(struct kube *k, const struct object *old, const struct object *o);
void store_drop(struct kube *k, struct entry *e);
struct cursor store_from(const struct kube *k, const struct kind *kind, str ns); /* ns empty: from the start */
const struct object *cursor_next(struct cursor *c);                              /* NULL at the end */
void store_init(struct kube *k);
void store_fini(struct kube *k);

void owners_set(struct kube *k, struct entry *e, const struct object *o); /* o NULL: none any more */
/* Everything that names this uid as an owner, in the order in which it came. fn must not write. */
void owners_each(const struct kube *k, str uid, void (*fn)(void *ctx, const struct object *o), void *ctx);
bool owners_any(const struct kube *k, str uid);
bool owned_by_has(const void *owned, const void *uid); /* for k->owned */

/* ---- the window of revisions (watchlog.c) ---- */

struct logged {
    enum watch_event type;
    const struct object *old, *obj;
    int64_t at_us;
};

struct watchlog {
    struct logged *ring; /* cap is a power of two */
    uint32_t first, n, cap;
    size_t bytes;       /* of the texts in it */
    uint64_t forgotten; /* the newest revision that the window no longer has */
    struct watch *watches, *last_watch;
    uint32_t telling;
};

void watchlog_add(struct kube *k, enum watch_event type, const struct object *old, const struct object *obj);
void watchlog_forget(struct kube *k);
void watchlog_drop(struct kube *k, const struct kind *kind); /* ends the watches of a kind; NULL: all */
void watchlog_fini(struct kube *k);

/* ---- the server ---- */

struct subscriber {
    const struct kind *kind;
    change_fn fn;
    void *ctx;
};

struct event_book;

/* A kind that a CustomResourceDefinition described. */
struct custom_kind {
    str crd; /* its name */
    struct kind *kind;
    int64_t generation; /* of the definition, as it was read last */
};

struct kube {
    struct world *world;
    struct kube_options options; /* its strings are in `forever` */
    struct arena *forever;       /* as long as the server: kinds, their schemas */
    VEC(struct kind *) kinds;    /* by ix */
    VEC(struct table) tables;    /* by ix */
    uint64_t kinds_version;
    const struct kind *namespaces, *pods, *events, *budgets, *crds;

    struct lookup by_name, by_uid, owned;
    struct watchlog log;
    VEC(struct subscriber) subscribers;
    uint64_t rv;
    bool telling;            /* subscribers are being told: nobody may write */
    struct tree *hint;       /* the new tree of the change that is about to be told, when the writer has it */
    struct tree *hint_parts; /* … or those of its members that were written */
    struct arena *trees;
    struct draft draft;
    const struct object *lent; /* an answer that the store does not hold: of a dry run or a removal */

    struct front *front;
    struct work *gc, *namespaces_work, *crds_work, *event_expiry;
    struct event_book *event_book;
    VEC(struct custom_kind) custom_kinds;

    struct kube_kubelets kubelets;
    struct lookup logs; /* struct pod_logs by uid */
};

struct front *front_new(struct kube *k);
void front_free(struct front *f);

void kinds_init(struct kube *k);
void kinds_add(struct kube *k, struct kind *kind);
const struct kind *kind_of_object(const struct kube *k, const struct tree *obj); /* by apiVersion and kind */

/* The store, the window and the subscribers in one step. `o` has its resource version from kube_next_rv(); the reference is
 * taken. */
uint64_t kube_next_rv(const struct kube *k);
void kube_commit(struct kube *k, const struct object *old, const struct object *o);
void kube_commit_removal(struct kube *k, const struct object *old);
/* Puts an object back as it was, uid and resource version included. Takes the reference. The window begins anew. */
void kube_put_back(struct kube *k, const struct object *o);
/* Answers with an object that the store need not hold. Takes the reference. */
const struct object *kube_lend(struct kube *k, const struct object *o);

/* ---- metadata (meta.c, meta_check.c) ---- */

str meta_time(struct arena *a, int64_t ms); /* RFC 3339, whole seconds */
/* Fills in what a server sets at creation. */
void meta_create(struct kube *k, struct arena *a, const struct kind *kind, struct tree *meta);
/* Carries over what a client may not change. */
void meta_update(struct arena *a, struct tree *meta, const struct tree *old);
/* 400 when metadata is not made of the right types. */
bool meta_decodes(struct arena *a, const struct kind *kind, struct tree *obj, struct status *st);
void meta_validate(struct causes *out, const struct kind *kind, const struct tree *meta);
void meta_validate_update(struct causes *out, const struct kind *kind, const struct tree *meta, const struct tree *old);
bool meta_is_subdomain(str s);
bool meta_is_qualified(str s, struct causes *out, str field); /* label keys; out may be NULL */
/* What is wrong with a label value; NULL: nothing. */
const char *meta_label_value(str s);

/* ---- writing (write.c, write_part.c; write_judge.h) ---- */

#define CHANGED_SINCE "the object has been modified; please apply your changes to the latest version and try again"

/* One write on its way through the server. */
struct write {
    struct kube *k;
    struct arena *a;
    const struct kind *kind;
    const struct kind *asked; /* the shape in which the client speaks; NULL: that of the kind */
    const char *sub;
    struct tree *obj;
    struct tree *was;              /* an update: the object before, when somebody has read it already (object_tree()) */
    const struct write_options *o; /* NULL: from inside, which is trusted not to invent fields */
    bool patch;                    /* how some refusals are worded */
    bool applied;                  /* managedFields are done */
    bool put;                      /* an update of a whole object by a client */
    struct status *st;
    const struct object **ret; /* may be NULL */
};

bool write_answer(struct write *w, const struct object *o); /* true */
/* Whether the fields that the write changes become its manager's, and the change to metadata.managedFields of w->obj that makes them so. `meant` is the object as the client
 * meant it, before the server added to it. */
bool write_is_managed(const struct write *w);
void write_manage(struct write *w, struct tree *meant, const struct tree *old);
/* A revision of the draft, which has been found to be good; old: the one before, NULL: none. */
const struct object *write_keep_judged(struct write *w, const struct object *old);
bool write_create(struct write *w);
bool write_update(struct write *w, const struct object *old);
/* A merge patch of a custom object's status, where nothing else of it has to be read. False: nothing has been done, and the long way has the answer. */
bool write_patched_status(struct write *w, const struct object *old, const struct tree *patch);
/* Stores obj in place of old without rules and validation: what the server itself changes. The answer is the new revision, or
 * old when nothing changed. */
const struct object *write_revision(struct kube *k, struct arena *a, const struct object *old, struct tree *obj);
/* Likewise, of the members that changed alone (draft_splice()). */
const struct object *write_parts(struct kube *k, struct arena *a, const struct object *old, struct tree *parts);
/* Likewise, and the object goes if nothing holds it any more: after a change of finalizers. */
void write_finalizers(struct kube *k, struct arena *a, const struct object *old, struct tree *obj);

/* shape.c: turns an object of this kind into the shape in which it is stored; the answer is the kind that it then has. */
const struct kind *shape_to_stored(struct arena *a, const struct kind *kind, struct tree *obj);
/* A copy of an object's tree as this kind shows it. */
struct tree *shape_tree(struct arena *a, const struct kind *as, const struct tree *stored);

/* ---- removing (remove.c, gc.c, namespace.c) ---- */

/* Whether an object in this state is to go now: it is being deleted, and nothing holds it. */
bool remove_is_due(const struct kube *k, const struct kind *kind, const struct tree *obj);
/* A second name for kube_delete() with what the garbage collection asks for. */
void remove_by_server(struct kube *k, struct arena *a, const struct object *o, const char *propagation);
bool finalizers_have(const struct tree *obj, const char *name);
bool finalizers_drop(struct tree *obj, const char *name);
void finalizers_add(struct arena *a, struct tree *obj, str name);

void gc_init(struct kube *k);
void namespaces_init(struct kube *k);

/* ---- the rest ---- */

#define CRD_FINALIZER                                                                                                  \
    "customresourcecleanup.apiextensions.k8s.io" /* of a definition that waits for its objects to go */

void crd_init(struct kube *k);
/* Registers, changes or removes the kind that this definition describes, now rather than from the loop. */
void crd_sync(struct kube *k, str name);
void events_init(struct kube *k);
void events_fini(struct kube *k);
void logs_init(struct kube *k);
void logs_fini(struct kube *k);
void bootstrap(struct kube *k);
void bootstrap_roles(struct kube *k);

/* status.conditions by type: sets status, reason and message; lastTransitionTime moves when status changes. Empty reason and
 * message are left out. */
void condition_set(struct arena *a, struct tree *obj, const char *type, const char *status, const char *reason,
                   const char *message, int64_t now_ms);
const struct tree *condition_get(const struct tree *obj, const char *type);

/* scale.c: replicas of custom kinds. */
void scale_validate(struct causes *c, const struct kind *kind, const struct tree *obj);
