/* kube_front - what the tests of the API server's HTTP side share: a bench for each test, headers, ConfigMaps to play with.
 *
 * For cmocka_unit_test_setup_teardown(test, front_setup, front_teardown); *state is the bench.
 */
#pragma once

#include "data/tree.h"
#include "support/kube_bench.h"

#define CM "/api/v1/namespaces/default/configmaps"
#define JSON_BODY "Content-Type: application/json"
#define MERGE "Content-Type: application/merge-patch+json"
#define TABLE "Accept: application/json;as=Table;v=v1;g=meta.k8s.io"

int front_setup(void **state);
int front_teardown(void **state);

/* The answer, which has to be JSON. */
const struct tree *front_tree(struct kube_bench *b, const char *name, const struct stream *s);

/* A ConfigMap with the label l, in the namespace default; and away with it. */
void front_make(struct kube_bench *b, const char *name, const char *label);
void front_drop(struct kube_bench *b, const char *name);
