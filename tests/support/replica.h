/* replica - one process of the controller in a simulated world. Apart from rig.h, because the far end of the wire has names of its own. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/sb.h"
#include "net/world.h"

struct replica;

struct replica_files { /* that the provider aws finds, as struct aws_environment has it; read NULL: none are there */
    void *ctx;
    bool (*read)(void *ctx, struct arena *a, const char *path, str *ret, struct err *e);
};

/* `env`: name, value, …, NULL; on top of what tests need. KARPENTER_PROVIDER is kwok or aws; the latter is told of names that begin with AWS_. The replica's log goes to `log`,
 * which outlives it, as `files` do. */
struct replica *replica_new(struct world *w, const char *server, const char *identity, const char *const *env,
                            const struct replica_files *files, struct sb *log);
void replica_stop(struct replica *r); /* as SIGTERM does */
void replica_free(struct replica *r);
bool replica_ended(const struct replica *r); /* after replica_stop(), or when the lease was lost */
bool replica_leads(const struct replica *r);
bool replica_synced(const struct replica *r);
uint32_t replica_waiting(const struct replica *r); /* events that are not sent yet */
void replica_metrics(struct replica *r, struct sb *out);
