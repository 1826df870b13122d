/* soak - random clusters (chaos.h) on all cores, for hours; stops at the first that goes wrong, makes it smaller and says how to see it again.
 *
 *     soak [--for HOURS] [--seeds FIRST-LAST] [--jobs N] [--json FILE] [--time-limit SECONDS] [--aws]
 *     soak --seed N [--aws] [--without PART,…] [--hours H] [--apps N] [--skip RANGE,…] [--verbose]    one case, as it was printed
 *     soak --shrink --seed N …                                                                 makes a case smaller
 *
 * Every fourth seed is played on AWS as well, and with --aws only there.
 * Every case is a process of its own: whatever becomes of it, an assertion or a loop without end, is a result.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "sim/chaos.h"
#include "sim/shrink.h"

#define SHRINK_TRIES 400
#define PROGRESS_S 60
#define MAX_JOBS 256
#define AWS_ONE_IN 4

struct job {
    pid_t pid; /* 0: none */
    int from;  /* its result */
    struct chaos_case what;
};

struct soak {
    uint64_t next, last; /* seeds */
    bool aws;            /* the next is a case on AWS */
    bool only_aws;
    double hours; /* of wall time; 0: until the last seed */
    uint32_t n_jobs, limit_s;
    const char *json;
    double began_s, told_s;
    struct chaos_tally sum;
    uint64_t n_cases;
    struct job jobs[MAX_JOBS];
};

static double wall_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- one case, one process ---- */

static void child(const struct chaos_case *what, uint32_t limit_s, int to, bool quiet)
{
    struct chaos_result r;

    if (quiet) {
        int null = open("/dev/null", O_WRONLY);

        (void)dup2(null, STDERR_FILENO);
        (void)dup2(null, STDOUT_FILENO);
    }
    (void)alarm(limit_s);
    chaos_run(what, NULL, &r);
    (void)!write(to, &r, sizeof(r));
    _exit(0);
}

static void start(struct job *j, const struct chaos_case *what, uint32_t limit_s, bool quiet)
{
    int ends[2];

    j->what = *what;
    if (pipe(ends) != 0 || (j->pid = fork()) < 0) {
        perror("soak");
        exit(2);
    }
    if (j->pid == 0) {
        (void)close(ends[0]);
        child(what, limit_s, ends[1], quiet);
    }
    (void)close(ends[1]);
    j->from = ends[0];
}

static void finish(struct job *j, struct chaos_result *r)
{
    int status;

    *r = (struct chaos_result){0};
    if (read(j->from, r, sizeof(*r)) != (ssize_t)sizeof(*r))
        *r = (struct chaos_result){0};
    (void)close(j->from);
    while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
        ;
    j->pid = 0;
    if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) {
        r->ok = false;
        (void)snprintf(r->what, sizeof(r->what), "the process ended with %s %d",
                       WIFSIGNALED(status) ? "signal" : "status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
}

static void run_one(const struct chaos_case *what, uint32_t limit_s, bool quiet, struct chaos_result *r)
{
    struct job j;

    start(&j, what, limit_s, quiet);
    finish(&j, r);
}

/* ---- what is told ---- */

static void print_tally(FILE *f, const struct soak *s)
{
    const struct chaos_tally *t = &s->sum;

    (void)fprintf(
        f,
        "%llu clusters, %.0f hours, %llu deeds, %llu faults, %llu requests: %llu pods placed, %llu NodeClaims, "
        "%llu nodes came, %llu went, %llu by choice, %llu evictions, %llu hung; %.0f s, %.1f h/s, "
        "%.1f per core; trace %016llx\n",
        (unsigned long long)s->n_cases, t->hours, (unsigned long long)t->n_deeds, (unsigned long long)t->n_faults,
        (unsigned long long)t->n_requests, (unsigned long long)t->n_placed, (unsigned long long)t->n_claims,
        (unsigned long long)t->n_nodes, (unsigned long long)t->n_nodes_gone, (unsigned long long)t->n_disrupted,
        (unsigned long long)t->n_evicted, (unsigned long long)t->n_hung, wall_s() - s->began_s,
        t->hours / (wall_s() - s->began_s), t->hours / MAX(t->cpu_s, 1e-9), (unsigned long long)t->trace);
    if (t->n_machines)
        (void)fprintf(f,
                      "on AWS: %llu machines, %llu taken back, %llu without an owner for %.0f s in all, %llu calls\n",
                      (unsigned long long)t->n_machines, (unsigned long long)t->n_warned,
                      (unsigned long long)t->n_orphans, t->orphan_s, (unsigned long long)t->n_aws_calls);
}

static void write_json(const struct soak *s, const struct chaos_case *failed)
{
    const struct chaos_tally *t = &s->sum;
    struct sb b = {0};
    FILE *f = s->json ? fopen(s->json, "w") : NULL;

    if (!f)
        return;
    if (failed)
        chaos_print(failed, &b);
    (void)fprintf(f,
                  "{\"clusters\": %llu, \"hours\": %.1f, \"deeds\": %llu, \"faults\": %llu, \"requests\": %llu, "
                  "\"podsPlaced\": %llu, \"nodeClaims\": %llu, \"nodesMade\": %llu, \"nodesRemoved\": %llu, "
                  "\"nodesGivenUp\": %llu, \"evictions\": %llu, \"hungBehindBudgets\": %llu, \"machines\": %llu, "
                  "\"machinesTakenBack\": %llu, \"machinesWithoutOwner\": %llu, \"jobs\": %u, "
                  "\"wallSeconds\": %.1f, \"cpuSeconds\": %.1f, \"nextSeed\": %llu, \"failed\": %s%s%s}\n",
                  (unsigned long long)s->n_cases, t->hours, (unsigned long long)t->n_deeds,
                  (unsigned long long)t->n_faults, (unsigned long long)t->n_requests, (unsigned long long)t->n_placed,
                  (unsigned long long)t->n_claims, (unsigned long long)t->n_nodes, (unsigned long long)t->n_nodes_gone,
                  (unsigned long long)t->n_disrupted, (unsigned long long)t->n_evicted, (unsigned long long)t->n_hung,
                  (unsigned long long)t->n_machines, (unsigned long long)t->n_warned, (unsigned long long)t->n_orphans,
                  s->n_jobs, wall_s() - s->began_s, t->cpu_s, (unsigned long long)s->next, failed ? "\"soak" : "null",
                  failed ? sb_cstr(&b) : "", failed ? "\"" : "");
    (void)fclose(f);
    sb_fini(&b);
}

static bool case_fails(void *ctx, const struct chaos_case *c)
{
    const struct soak *s = ctx;
    struct chaos_result r;

    run_one(c, s->limit_s, /* quiet= */ true, &r);
    if (!r.ok)
        (void)printf("  with %d parts less, %u ranges of deeds left out, %.2f h: %s\n",
                     __builtin_popcountll(c->without), c->n_skip, c->hours, r.what);
    (void)fflush(stdout);
    return !r.ok;
}

static int make_smaller(struct soak *s, struct chaos_case *c)
{
    struct chaos_result r;
    struct sb b = {0};

    run_one(c, s->limit_s, /* quiet= */ true, &r);
    if (r.ok) {
        (void)printf("that case does not fail\n");
        return 0;
    }
    uint32_t n_deeds = r.n_deeds ? r.n_deeds : 2000; /* a process that died told nothing */
    uint32_t n = shrink(c, n_deeds, r.deeds_s > 0 ? r.deeds_s / 3600 : 25, SHRINK_TRIES, case_fails, s);
    chaos_print(c, &b);
    (void)printf("after %u runs, the smallest case that fails:\n    tests/sim/soak%s --verbose\n", n, sb_cstr(&b));
    sb_fini(&b);
    run_one(c, s->limit_s, /* quiet= */ false, &r);
    (void)printf("%s\n", r.what);
    return 1;
}

/* ---- many ---- */

static struct chaos_case next_case(struct soak *s)
{
    struct chaos_case c = {.seed = s->next, .aws = s->aws || s->only_aws};

    s->aws = !c.aws && c.seed % AWS_ONE_IN == 0;
    s->next += !s->aws;
    return c;
}

static bool goes_on(const struct soak *s)
{
    return s->next <= s->last && (s->hours <= 0 || wall_s() < s->began_s + s->hours * 3600);
}

static struct job *wait_for_one(struct soak *s)
{
    struct pollfd p[MAX_JOBS];
    struct job *of[MAX_JOBS];
    nfds_t n = 0;

    for (uint32_t i = 0; i < s->n_jobs; i++)
        if (s->jobs[i].pid) {
            of[n] = &s->jobs[i];
            p[n++] = (struct pollfd){.fd = s->jobs[i].from, .events = POLLIN};
        }
    while (poll(p, n, -1) < 0 && errno == EINTR)
        ;
    for (nfds_t i = 0; i < n; i++)
        if (p[i].revents)
            return of[i];
    return NULL;
}

static int run_many(struct soak *s)
{
    struct chaos_case failed;
    bool any_failed = false;
    uint32_t n_running = 0;

    for (;;) {
        for (uint32_t i = 0; i < s->n_jobs && goes_on(s) && !any_failed; i++)
            if (!s->jobs[i].pid) {
                struct chaos_case c = next_case(s);

                start(&s->jobs[i], &c, s->limit_s, /* quiet= */ false);
                n_running++;
            }
        if (n_running == 0)
            break;
        struct job *j = wait_for_one(s);
        struct chaos_result r;
        if (!j)
            continue;
        finish(j, &r);
        n_running--;
        s->n_cases++;
        chaos_add(&s->sum, &r.tally);
        if (!r.ok && !any_failed) {
            any_failed = true;
            failed = j->what;
            (void)printf("seed %llu%s: %s\n", (unsigned long long)j->what.seed, j->what.aws ? " --aws" : "", r.what);
        }
        if (wall_s() > s->told_s + PROGRESS_S) {
            s->told_s = wall_s();
            print_tally(stdout, s);
            (void)fflush(stdout);
            write_json(s, NULL);
        }
    }
    print_tally(stdout, s);
    int status = any_failed ? make_smaller(s, &failed) : 0;
    write_json(s, any_failed ? &failed : NULL);
    return status;
}

static bool read_number(const char *text, double *ret)
{
    char *end;

    *ret = strtod(text, &end);
    return *text && !*end && *ret >= 0;
}

static bool read_range(const char *text, struct soak *s)
{
    char *end;

    s->next = strtoull(text, &end, 10);
    s->last = *end == '-' ? strtoull(end + 1, &end, 10) : s->next;
    return *text && !*end;
}

static bool read_options(struct soak *s, int argc, char **argv, bool *ret_shrink)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        double n = 0;
        bool ok = true;

        if (strcmp(argv[i], "--shrink") == 0) {
            *ret_shrink = true;
            continue;
        }
        i++;
        if (strcmp(argv[i - 1], "--seeds") == 0)
            ok = read_range(value, s);
        else if (strcmp(argv[i - 1], "--json") == 0)
            s->json = value;
        else if (strcmp(argv[i - 1], "--for") == 0 && (ok = read_number(value, &n)))
            s->hours = n;
        else if (strcmp(argv[i - 1], "--jobs") == 0 && (ok = read_number(value, &n)))
            s->n_jobs = (uint32_t)MIN(MAX(n, 1), MAX_JOBS);
        else if (strcmp(argv[i - 1], "--time-limit") == 0 && (ok = read_number(value, &n)))
            s->limit_s = (uint32_t)n;
        else
            ok = false;
        if (!ok) {
            (void)fprintf(stderr, "soak: %s %s: what is that?\n", argv[i - 1], value);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    static struct soak s;
    long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct chaos_case one = {0};
    bool smaller = false;
    struct err e;

    s = (struct soak){.next = 1, .last = UINT64_MAX - 1, .limit_s = 600, .began_s = wall_s(), .told_s = wall_s()};
    s.n_jobs = (uint32_t)MIN(MAX(n_cores, 1), MAX_JOBS);
    if (!chaos_parse(&one, &argc, argv, &e)) {
        (void)fprintf(stderr, "soak: %s\n", e.msg);
        return 2;
    }
    if (!read_options(&s, argc, argv, &smaller))
        return 2;
    s.only_aws = one.aws;
    if (!one.seed)
        return run_many(&s);
    if (smaller)
        return make_smaller(&s, &one);
    struct chaos_result r;
    run_one(&one, s.limit_s, /* quiet= */ false, &r);
    s.sum = r.tally;
    s.n_cases = 1;
    print_tally(stdout, &s);
    (void)printf("%s\n", r.ok ? "ok" : r.what);
    return r.ok ? 0 : 1;
}
