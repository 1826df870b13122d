/* sandbox_controller - the controller in the simulated world: the same autoscaler that runs in a pod. Apart from sandbox.h, because the far end of the wire has names of
 * its own.
 */
#pragma once

#include "base/err.h"
#include "base/sb.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "net/world.h"

struct sandbox_controller;

struct sandbox_controller_setup {
    struct world *world;
    const char *server;          /* base url of the API server */
    const struct cli_env *env;   /* whose first provider makes the machines */
    const char *const *settings; /* KEY=VALUE, as --settings takes them; later ones win */
    uint32_t n_settings;
    void (*on_line)(void *ctx, str line); /* of its log; NULL: nobody reads it, and only errors are written at all */
    void *ctx;
};

/* NULL: a setting is not one of the controller's, or its value cannot be. */
struct sandbox_controller *sandbox_controller_new(const struct sandbox_controller_setup *s, struct err *e);
void sandbox_controller_free(struct sandbox_controller *r);       /* its world is dead */
bool sandbox_controller_acts(const struct sandbox_controller *r); /* it has seen everything and leads */
