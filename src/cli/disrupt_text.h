/* disrupt_text - the words in which removals are told: stable names for programs, sentences for people.
 *
 * Pure functions. Both documents and the table take their words from here, so that they agree.
 */
#pragma once

#include "base/sb.h"
#include "disrupt/disrupt.h"

/* A copy of `nodes`, or with NULL of all `n` there are, by title. */
uint32_t *nodes_by_title(struct arena *a, const struct snapshot *s, const uint32_t *nodes, uint32_t n);

#define N_BLOCKER_KINDS (BLOCK_LATER + 1)

const char *blocker_name(enum blocker_kind k);     /* "podAnnotation"; part of the JSON format */
const char *blocker_sentence(enum blocker_kind k); /* for many nodes, or where nobody said more */
str blocker_reason(const struct blocker *b);       /* what was said about this node, or else the sentence */
