/* feed_server - an API server that is written to all the time, for whoever watches it.
 *
 * It is apart from the tests because the simulated server and the program have structs of the same names.
 */
#pragma once

#include "base/str.h"

struct feed_server;
struct world;

#define FEED_SERVER_URL "https://kube"

/* bad: with everything that can go wrong. The product's own kinds are served. */
struct feed_server *feed_server_new(uint64_t seed, bool bad);
void feed_server_free(struct feed_server *s);
struct world *feed_server_client(struct feed_server *s); /* the world of those who watch */
void feed_server_run(struct feed_server *s, int64_t ms);
/* Nobody writes any more and all is well. */
void feed_server_heal(struct feed_server *s);
void feed_server_kill_client(struct feed_server *s);
uint32_t feed_server_written(const struct feed_server *s);

/* Kinds that are written: 0 … FEED_SERVER_KINDS - 1. */
#define FEED_SERVER_KINDS 6
const char *feed_server_kind(uint32_t kind, const char **ret_group, const char **ret_ns);
void feed_server_each(struct feed_server *s, uint32_t kind, void (*fn)(void *ctx, str name, uint64_t version),
                      void *ctx);
