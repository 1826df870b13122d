/* decode - Kubernetes objects out of JSON and YAML trees, one at a time, into a collection.
 *
 * A decoder remembers the pod specs it has seen, so that pods of one workload share theirs; use one decoder for all
 * files of an input. What is kept is copied: the tree may go away after each call.
 */
#pragma once

#include "base/err.h"

struct decoder;
struct objects;
struct tree;

struct decoder *decoder_new(struct objects *o); /* the objects outlive the decoder */
void decoder_free(struct decoder *d);
AUTO_DEFINE(decoder)

/* Adds one object. Kinds nobody plans with are counted in objects.ignored. Errors read "line:column: path: what". */
bool k8s_decode(struct decoder *d, const struct tree *t, struct err *e);
