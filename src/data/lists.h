/* lists - where a reader stands inside Lists whose members it hands out one by one; the same for JSON and YAML.
 *
 * A level is a top-level list, or a map ("envelope") whose `items` are being handed out. Of an envelope only its
 * kind, apiVersion and the names of its keys are kept.
 */
#pragma once

#include "base/map.h"
#include "data/source.h"
#include "data/tree.h"

#define LISTS_MAX 16u /* Lists within Lists */

struct list_level {
    bool envelope;
    bool any; /* a member was handed out */
    str kind, api_version;
    struct strmap keys;
    struct arena_mark mark;
};

struct lists {
    const struct source *src;
    struct arena *spine; /* what the levels keep */
    struct list_level v[LISTS_MAX];
    uint32_t n;
};

void lists_init(struct lists *l, const struct source *src);
void lists_fini(struct lists *l);

bool lists_push(struct lists *l, bool envelope, uint64_t line, uint64_t col, struct err *e);
void lists_pop(struct lists *l);

/* Members of the innermost envelope, without `items`: those before or those after it. */
bool lists_note(struct lists *l, const struct tree *members, struct err *e);

/* Readies an object for handing out: it must be a map, and what a List says of its members is filled in (a PodList
 * may leave out kind and apiVersion of its pods). *ret_skip: an empty document. */
bool lists_accept(const struct lists *l, struct arena *a, struct tree *t, bool *ret_skip, struct err *e);

bool lists_kind_is_list(str kind); /* List, PodList, … */
