/* podspecs - the specs that pods share, each different one once.
 *
 * A spec is found by a key: the text of whatever it was decoded from. A file's specs live as long as its objects. Those of
 * a cluster that is watched are counted: a spec goes when the last of its users does. A table belongs to one decoder.
 */
#pragma once

#include "base/arena.h"
#include "model/pod.h"

struct podspecs;

/* NULL: specs are counted and have memory of their own; else they live in the arena, and nobody counts. */
struct podspecs *podspecs_new(struct arena *all);
void podspecs_free(struct podspecs *t);
AUTO_DEFINE(podspecs)

struct podspec *podspecs_find(const struct podspecs *t, str key); /* NULL: not there */
struct podspec *podspecs_at(const struct podspecs *t, uint32_t number);

/* Memory for a new spec. It is either added, or given back. */
struct arena *podspecs_arena(struct podspecs *t, size_t size);
void podspecs_add(struct podspecs *t, str key, struct arena *own, struct podspec *s); /* copies the key */
void podspecs_give_back(struct podspecs *t, struct arena *own);

/* One user more or less. Tables that do not count do not mind. */
void podspecs_ref(struct podspecs *t, const struct podspec *s);
void podspecs_unref(struct podspecs *t, const struct podspec *s);
/* Whatever was added and never got a user goes. */
void podspecs_drop_unused(struct podspecs *t);

/* One after the other, from *at = 0 on; NULL at the end. */
const struct podspec *podspecs_next(const struct podspecs *t, uint32_t *at);
uint32_t podspecs_count(const struct podspecs *t);
size_t podspecs_bytes(const struct podspecs *t);
