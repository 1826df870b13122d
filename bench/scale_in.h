/* scale_in - parts of bench-scale-in: the cluster with its controller, the workload, and what the pods cost at least. */
#pragma once

#include "base/err.h"
#include "base/sb.h"
#include "base/vec.h"

#define APPS 60

struct cli_env;

struct trial {
    int64_t nodes, removed, seed, steady_min, minutes, dump_s;
    const char *budget, *after, *dump;
    VEC(const char *) settings; /* of the controller: KEY=VALUE */
    bool log;
};

_Noreturn void die(const char *what, const char *detail);
double cpu_seconds(void); /* of this process */

/* ---- the workload ---- */

/* Deployments of many sizes, few of which have most of the pods. */
struct app {
    int64_t cpu_m, memory_mi;
    int64_t share; /* of pods that a wave adds */
    int64_t replicas;
};

void apps_init(struct app apps[APPS]);
void write_pool(struct sb *out, const struct trial *o);
void write_app(struct sb *out, const struct app *x, uint32_t ix);

const struct cli_env *kwok_env(void); /* the provider of machines */

/* Dollars an hour that any new nodes for these pods cost at least (plan/bound.h), and what those cost that a plan for all of them at once buys. */
double bound_of(const struct trial *o, const struct app apps[APPS], double *ret_fresh);

/* ---- the cluster ---- */

struct window { /* a second look after which nodes went */
    double at_s;
    uint32_t commands, nodes, replacements;
    double savings; /* dollars an hour, as they were promised */
    /* When the next one began, or at the end. */
    double cost;
    uint32_t evicted, launched; /* of all time */
};

/* Commands that began. */
struct commands {
    uint32_t empty, multi, single, replaced;
    uint32_t nodes, replacements;
    double last_s; /* when the latest began */
    VEC(struct window) windows;
};

struct figures { /* of now */
    double at_s;
    double cost; /* dollars an hour */
    uint32_t nodes, running, waiting, evicted, launched, removed;
    double controller_cpu_s;
    const struct commands *commands; /* since scene_forget() */
};

struct scene;

struct scene *scene_new(const struct trial *o);
void scene_free(struct scene *s);
void scene_load(struct scene *s, str objects);
void scene_scale(struct scene *s, uint32_t app, int64_t replicas);
void scene_delete_pods(struct scene *s, uint32_t n); /* drawn from those that are there */
void scene_run(struct scene *s, double seconds);
struct figures scene_now(struct scene *s);
void scene_forget(struct scene *s); /* commands so far, and those that are decided */
void scene_dump(struct scene *s, const char *path);
