/* demo_replica - one replica of the controller inside the demo: the real thing, over the loopback socket, with its log going to its pod.
 *
 * Apart from demo.c because the two ends of the wire have structs of the same names.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct cli_env;
struct world;
struct demo_replica;

struct demo_replica_setup {
    struct world *loop;
    const struct cli_env *env;
    str server; /* "https://127.0.0.1:1234" */
    str token;
    const char *ca_pem;
    const char *const *environment;       /* of its container: name, value, …, NULL; lives as long as the replica */
    str pod;                              /* its name is the identity of the replica */
    void (*on_line)(void *ctx, str line); /* of its log */
    void *ctx;
};

struct demo_replica *demo_replica_new(const struct demo_replica_setup *s, struct err *e);
void demo_replica_stop(struct demo_replica *r); /* as SIGTERM does */
bool demo_replica_ended(const struct demo_replica *r);
bool demo_replica_leads(const struct demo_replica *r);
/* Dies if it has not, and is freed once nothing of it is left; until then: false. */
bool demo_replica_bury(struct demo_replica *r);
void demo_replica_free(struct demo_replica *r); /* not from inside world_run() */
