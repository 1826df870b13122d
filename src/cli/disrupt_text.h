/* disrupt_text - the words in which removals are told: stable names for programs, sentences for people.
 *
 * Pure functions. Both documents and the table take their words from here, so that they agree.
 */
#pragma once

#include "base/sb.h"
#include "disrupt/disrupt.h"

/* A Node goes by its own name, and a NodeClaim that has no Node by its own. */
str node_title(const struct state_node *n);
/* A copy of `nodes`, or with NULL of all `n` there are, by title. */
uint32_t *nodes_by_title(struct arena *a, const struct snapshot *s, const uint32_t *nodes, uint32_t n);

#define N_BLOCKER_KINDS (BLOCK_LATER + 1)

const char *blocker_name(enum blocker_kind k);     /* "podAnnotation"; part of the JSON format */
const char *blocker_sentence(enum blocker_kind k); /* for many nodes, or where nobody said more */
str blocker_reason(const struct blocker *b);       /* what was said about this node, or else the sentence */

const char *command_decision(const struct disrupt_command *c); /* "delete", "replace" */
const char *consolidation_type(enum disrupt_method m);         /* "empty", "multi", "single", or nothing for drift */
/* "replace: [a, b] -> [1 replacement]" (lifecycle 8.14). `nodes`: those of the command, by title. */
void command_text(struct sb *out, const struct snapshot *s, const struct disrupt_command *c, const uint32_t *nodes);
