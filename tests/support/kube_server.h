/* kube_server - an API server in a simulated world, for tests: objects are written as text, answers are read as text.
 *
 * For cmocka_unit_test_setup_teardown(test, server_setup, server_teardown); *state is the server.
 */
#pragma once

#include "sim/kube/store.h"
#include "sim/world.h"

struct server {
    struct sim *sim;
    struct world *world;
    struct kube *k;
    struct arena *a; /* of the test */
    struct status st;
};

int server_setup(void **state);
int server_teardown(void **state);

/* Lets the server's own work be done: garbage collection, namespaces, definitions. */
void server_settle(struct server *s);

const struct kind *server_kind(struct server *s, const char *name); /* by its plural, of any group */
struct tree *server_tree(struct server *s, const char *yaml);
/* In namespace "default" unless the object says another. NULL when refused: then s->st says why. */
const struct object *server_create(struct server *s, const char *plural, const char *yaml);
const struct object *server_update(struct server *s, const char *plural, const char *sub, const char *yaml);
const struct object *server_get(struct server *s, const char *plural, const char *name);
bool server_delete(struct server *s, const char *plural, const char *name, const struct delete_options *d);
/* A merge patch by a client. */
const struct object *server_patch(struct server *s, const char *plural, const char *name, const char *sub,
                                  const char *patch);
/* The member along a path of keys separated by dots ("status.phase"; numbers index lists), as JSON; "" when absent. */
str server_field(struct server *s, const struct object *o, const char *path);
/* "code reason: message" */
str server_refusal(struct server *s);
