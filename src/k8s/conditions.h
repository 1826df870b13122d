/* conditions - status conditions as Karpenter's objects carry them (lifecycle 1.1), on the tree of an object.
 *
 * An object has a root condition Ready and dependents that decide it; other types are independent. Reading changes nothing; conds_init() adds what
 * is missing, as upstream does whenever it looks at an object.
 *
 * Conditions are in the order in which they last changed, to the millisecond, though the API keeps whole seconds. So a time that was set here has a
 * fraction until conds_round() takes it off, which write.h does before an object is sent.
 */
#pragma once

#include "data/tree.h"

struct cond_set {
    const char *const *dependents; /* of Ready */
    uint32_t n;
    bool plain; /* there is no Ready: conditions are a list in order of first sight */
};

extern const struct cond_set conds_nodeclaim, conds_nodepool, conds_overlay, conds_buffer;

/* An object under change: everything that is added lives in the arena. */
struct cond_object {
    struct arena *arena;
    struct tree *obj;
    const struct cond_set *set;
    int64_t now_ms;
};

struct cond { /* a view of one condition */
    bool present;
    str status, reason, message; /* "True", "False", "Unknown" */
    int64_t since_ms;            /* lastTransitionTime; INT64_MIN when absent */
    int64_t observed;            /* observedGeneration */
};

struct cond cond_get(const struct tree *obj, const char *type);
bool cond_is_true(const struct tree *obj, const char *type);
bool cond_is_false(const struct tree *obj, const char *type);
bool cond_is_unknown(const struct tree *obj, const char *type); /* or absent */

/* Ready, or what it depends on: there on every object that has been looked at, Unknown until somebody says more. */
bool conds_has_always(const struct cond_set *s, const char *type);

void conds_init(const struct cond_object *o);
/* Each says whether anything changed. conds_true(): reason = type, no message. */
bool conds_set(const struct cond_object *o, const char *type, const char *status, str reason, str message);
bool conds_true(const struct cond_object *o, const char *type);
bool conds_true_because(const struct cond_object *o, const char *type, str reason, str message);
bool conds_false(const struct cond_object *o, const char *type, str reason, str message);
bool conds_unknown(const struct cond_object *o, const char *type, str reason, str message);
bool conds_clear(const struct cond_object *o, const char *type); /* independent types only */
/* Sets it to what it is: a decided condition says that it still holds for the spec as it is now. Absent: nothing. */
bool conds_refresh(const struct cond_object *o, const char *type);
void conds_round(struct arena *a, struct tree *obj);
/* Two have changed the same conditions: `list` is what we made of those of `before`, `latest` what the object has now. Types that
 * we did not touch become what they are in `latest`. */
void conds_merge(struct arena *a, struct tree *list, const struct tree *before, const struct tree *latest);
