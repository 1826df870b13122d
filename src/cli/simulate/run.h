/* run - one configuration, simulated from beginning to end. */
#pragma once

#include "cli/cli.h"
#include "cli/simulate/manifests.h"
#include "cli/simulate/tally.h"
#include "cli/simulate/trace.h"

struct run_setup {
    const struct cli_env *env;
    const struct manifests *manifests; /* finished */
    const struct trace *trace;         /* NULL: nothing happens but by itself */
    int64_t for_us;
    uint64_t seed;
    int64_t boot_ms, start_ms; /* of a machine until its node is ready, of a pod's containers; about */
    const char *const *settings;
    uint32_t n_settings;
    void (*on_line)(void *ctx, str line); /* of the controller's log; may be NULL */
    void *line_ctx;
    const char *types; /* the file with instance types and prices */
    /* Now and then, with what is done of it; false: stop here. */
    bool (*on_progress)(void *ctx, int64_t done_us);
    void *progress_ctx;
};

struct run_notes { /* for people, beside the outcome */
    VEC(str) odd;  /* fields that no kind has; in the arena */
    uint32_t n_missed;
    char first_missed[400];
};

/* Applies everything, plays the trace's first moment, and runs nothing: whether the input is good. */
bool run_check(const struct run_setup *s, struct arena *a, struct run_notes *notes, struct err *e);
/* NULL: something is wrong with the input. What was simulated when somebody stopped it is tally.seconds. */
struct tally *run_simulation(const struct run_setup *s, struct arena *a, struct run_notes *notes, struct err *e);
