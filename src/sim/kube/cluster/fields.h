/* fields - small questions to trees and small edits of them that every part of the cluster needs. */
#pragma once

#include "data/edit.h"
#include "sim/kube/kube.h"

int64_t field_i64(const struct tree *t, int64_t absent);
int64_t field_time(const struct tree *t, int64_t absent); /* RFC 3339, in milliseconds */
str time_text(struct arena *a, int64_t ms);               /* metav1.Time: whole seconds */
bool list_has(const struct tree *list, str text);

/* A number or a percentage of `total` ("25%"), rounded up or down; absent: `absent`. */
int64_t field_scaled(const struct tree *t, int64_t total, bool round_up, int64_t absent);

/* status.conditions and their like. */
const struct tree *cond_find(const struct tree *list, str type);
bool cond_is(const struct tree *list, str type, str status);

struct condition {
    str type, status;
    str reason, message; /* empty: none */
    enum {
        CONDITION_PLAIN,
        CONDITION_POD,  /* lastProbeTime, which stays null */
        CONDITION_NODE, /* lastHeartbeatTime */
        CONDITION_APPS, /* lastUpdateTime */
        CONDITION_JOB,  /* lastProbeTime, with the time */
    } flavour;
    int64_t generation; /* observedGeneration; 0: none */
    bool empty_message; /* written though it is empty */
};

/* Adds or replaces; lastTransitionTime moves when the status does. false when nothing but times would change, and then nothing
 * does. quirk: the conditions of Deployments keep their message as long as status and reason stay. */
bool cond_set(struct arena *a, struct tree *list, const struct condition *c, str now);
bool cond_drop(struct tree *list, str type);

/* metadata.ownerReferences with one controller. */
void set_controller(struct arena *a, struct tree *meta, const struct object *owner);
/* FNV-1a of the value as compact JSON, in the alphabet of names; names of what is made from a template. */
str template_hash(struct arena *a, const struct tree *t, int64_t salt);

struct tree *object_new(struct arena *a, const struct kind *kind, str ns, str name); /* apiVersion, kind, metadata */
void strings_merge(struct arena *a, struct tree *into, const struct tree *from);     /* maps of strings */
