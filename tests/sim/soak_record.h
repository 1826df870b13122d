/* soak_record - what runs of soak add up to, as a file that the next run goes on with.
 *
 * A record is of the seeds before `next`, each counted once: results come in any order, and wait until those before them are there. So a run that is cut short, by whatever, loses what it
 * was at and counts nothing twice.
 */
#pragma once

#include "base/vec.h"
#include "sim/chaos.h"

struct soak_early {
    uint64_t seed;
    struct chaos_tally tally;
};

struct soak_record {
    uint64_t next; /* the first seed that is not counted */
    uint64_t n_cases;
    struct chaos_tally sum;
    double wall_s;
    uint32_t n_jobs;              /* of the latest run */
    char failed[1000];            /* the case that ended it, as a command; empty: none */
    VEC(struct soak_early) early; /* that wait for others */
};

/* A case that went well. */
void record_add(struct soak_record *r, uint64_t seed, const struct chaos_tally *t);
void record_fini(struct soak_record *r);

/* A file that is not there is a record of nothing, from `next` on. False: it is there and is no record; *r is as it was. */
bool record_read(struct soak_record *r, const char *path, struct err *e);
/* All of it or nothing: whoever reads it meanwhile has the one before. */
bool record_write(const struct soak_record *r, const char *path, struct err *e);
