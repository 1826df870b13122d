/* replica - one process of the controller in a simulated world. Apart from rig.h, because the far end of the wire has names of its own. */
#pragma once

#include "base/sb.h"
#include "base/str.h"
#include "net/world.h"

struct replica;

/* `env`: name, value, …, NULL; on top of what tests need. Its log goes to `log`, which outlives it. */
struct replica *replica_new(struct world *w, const char *server, const char *identity, const char *const *env,
                            struct sb *log);
void replica_stop(struct replica *r); /* as SIGTERM does */
void replica_free(struct replica *r);
bool replica_ended(const struct replica *r); /* after replica_stop(), or when the lease was lost */
bool replica_leads(const struct replica *r);
bool replica_synced(const struct replica *r);
uint32_t replica_waiting(const struct replica *r); /* events that are not sent yet */
void replica_metrics(struct replica *r, struct sb *out);
