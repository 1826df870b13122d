/* soak - random clusters (chaos.h) on all cores, for hours; stops at the first that goes wrong, makes it smaller and says how to see it again. usage() says how it is called.
 *
 * Every fourth seed is played on AWS, and with --aws every one.
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

#include "sim/chaos.h"
#include "sim/shrink.h"
#include "sim/soak_record.h"

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
    uint64_t next, last;   /* seeds */
    struct chaos_case all; /* what every case has, but for its seed */
    double hours;          /* of wall time; 0: until the last seed */
    uint32_t n_jobs, limit_s;
    const char *json; /* where the record goes; NULL: nowhere */
    bool add;         /* … and what it goes on with */
    double began_s, told_s;
    double wall_before_s; /* of the runs before, that are in the record */
    struct soak_record record;
    struct job jobs[MAX_JOBS];
};

static void usage(FILE *f)
{
    (void)fprintf(
        f, "Random clusters with faults, judged by what may never happen (docs/reliability.md).\n"
           "\n"
           "    soak [--seeds FIRST-LAST] [--for HOURS] [--jobs N] [--json FILE | --add FILE] [--aws]\n"
           "        One cluster after the other on all cores, until one goes wrong, which is then made smaller.\n"
           "        Every fourth has its machines from AWS; with --aws all have.\n"
           "    soak --seed N [--aws] [--verbose]\n"
           "        One cluster; with --verbose what was done, and what the replicas logged.\n"
           "    soak --shrink --seed N [--aws]\n"
           "        Makes a case that fails smaller.\n"
           "\n"
           "  --for HOURS           starts no cluster after so many hours of wall time\n"
           "  --jobs N              clusters at a time; without it, one for each core\n"
           "  --time-limit SECONDS  a cluster that takes longer has failed; without it, 600\n"
           "  --json FILE           writes a record of the run\n"
           "  --add FILE            the same, added to the record that is there: goes on with the first seed that\n"
           "                        it has not counted\n"
           "\n"
           "What a cluster is made of, for one or for all:\n"
           "  --hours H             of deeds, instead of as many as the seed says\n"
           "  --apps N              likewise, applications\n"
           "  --without PART,...    leaves out");
    for (uint32_t i = 0; i < CHAOS_N_PARTS; i++)
        (void)fprintf(f, "%s%s", i % 8 ? " " : "\n                        ", chaos_part_name(i));
    (void)fprintf(f, "\n  --skip RANGE,...      leaves out deeds by their numbers: 3-9,12\n");
}

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

static void print_tally(FILE *f, struct soak *s)
{
    const struct chaos_tally *t = &s->record.sum;

    s->record.wall_s = s->wall_before_s + wall_s() - s->began_s;
    (void)fprintf(
        f,
        "%llu clusters, %.0f hours, %llu deeds, %llu faults, %llu requests: %llu pods placed, %llu NodeClaims, "
        "%llu nodes came, %llu went, %llu by choice, %llu evictions, %llu hung; %.0f s, %.1f h/s, "
        "%.1f per core; trace %016llx\n",
        (unsigned long long)s->record.n_cases, t->hours, (unsigned long long)t->n_deeds,
        (unsigned long long)t->n_faults, (unsigned long long)t->n_requests, (unsigned long long)t->n_placed,
        (unsigned long long)t->n_claims, (unsigned long long)t->n_nodes, (unsigned long long)t->n_nodes_gone,
        (unsigned long long)t->n_disrupted, (unsigned long long)t->n_evicted, (unsigned long long)t->n_hung,
        s->record.wall_s, t->hours / MAX(s->record.wall_s, 1e-9), t->hours / MAX(t->cpu_s, 1e-9),
        (unsigned long long)t->trace);
    if (t->n_machines)
        (void)fprintf(f,
                      "on AWS: %llu machines, %llu taken back, %llu without an owner for %.0f s in all, %llu calls\n",
                      (unsigned long long)t->n_machines, (unsigned long long)t->n_warned,
                      (unsigned long long)t->n_orphans, t->orphan_s, (unsigned long long)t->n_aws_calls);
    (void)fflush(f);
}

static void write_record(struct soak *s, const struct chaos_case *failed)
{
    struct sb b = {0};
    struct err e;

    if (!s->json)
        return;
    s->record.wall_s = s->wall_before_s + wall_s() - s->began_s;
    s->record.n_jobs = s->n_jobs;
    if (failed)
        chaos_print(failed, &b);
    (void)snprintf(s->record.failed, sizeof(s->record.failed), "%s%s", failed ? "soak" : "", failed ? sb_cstr(&b) : "");
    if (!record_write(&s->record, s->json, &e))
        (void)fprintf(stderr, "soak: %s\n", e.msg);
    sb_fini(&b);
}

static bool case_fails(void *ctx, const struct chaos_case *c)
{
    const struct soak *s = ctx;
    struct chaos_result r;
    uint32_t n_without = 0;

    for (uint32_t i = 0; i < CHAOS_N_PARTS; i++)
        n_without += parts_has(&c->without, i);
    run_one(c, s->limit_s, /* quiet= */ true, &r);
    if (!r.ok)
        (void)printf("  with %u parts less, %u ranges of deeds left out, %.2f h: %s\n", n_without, c->n_skip, c->hours,
                     r.what);
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
    struct chaos_case c = s->all;

    c.seed = s->next++;
    c.aws = c.aws || c.seed % AWS_ONE_IN == 0;
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
        if (r.ok)
            record_add(&s->record, j->what.seed, &r.tally);
        else if (!any_failed) {
            any_failed = true;
            failed = j->what;
            (void)printf("seed %llu%s: %s\n", (unsigned long long)j->what.seed, j->what.aws ? " --aws" : "", r.what);
        }
        if (wall_s() > s->told_s + PROGRESS_S) {
            s->told_s = wall_s();
            print_tally(stdout, s);
            write_record(s, NULL);
        }
    }
    print_tally(stdout, s);
    int status = any_failed ? make_smaller(s, &failed) : 0;
    write_record(s, any_failed ? &failed : NULL);
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
        else if (strcmp(argv[i - 1], "--json") == 0 || strcmp(argv[i - 1], "--add") == 0)
            ok = *value && !s->json && ((s->add = strcmp(argv[i - 1], "--add") == 0), s->json = value);
        else if (strcmp(argv[i - 1], "--for") == 0 && (ok = read_number(value, &n)))
            s->hours = n;
        else if (strcmp(argv[i - 1], "--jobs") == 0 && (ok = read_number(value, &n)))
            s->n_jobs = (uint32_t)MIN(MAX(n, 1), MAX_JOBS);
        else if (strcmp(argv[i - 1], "--time-limit") == 0 && (ok = read_number(value, &n)))
            s->limit_s = (uint32_t)n;
        else
            ok = false;
        if (!ok) {
            (void)fprintf(stderr, "soak: %s %s: what is that? soak --help says what there is.\n", argv[i - 1], value);
            return false;
        }
    }
    return true;
}

/* Goes on where the record ends. */
static bool take_up(struct soak *s)
{
    struct err e;

    s->record.next = s->next;
    if (s->add && !record_read(&s->record, s->json, &e)) {
        (void)fprintf(stderr, "soak: %s\n", e.msg);
        return false;
    }
    if (s->record.next < s->next) {
        (void)fprintf(stderr, "soak: %s ends before seed %llu: from %llu to %llu seeds would be missing\n", s->json,
                      (unsigned long long)s->record.next, (unsigned long long)s->record.next,
                      (unsigned long long)s->next - 1);
        return false;
    }
    s->next = s->record.next;
    s->wall_before_s = s->record.wall_s;
    return true;
}

static int run_case(struct soak *s, bool smaller)
{
    struct chaos_result r;

    if (smaller)
        return make_smaller(s, &s->all);
    run_one(&s->all, s->limit_s, /* quiet= */ false, &r);
    s->record.sum = r.tally;
    s->record.n_cases = 1;
    print_tally(stdout, s);
    (void)printf("%s\n", r.ok ? "ok" : r.what);
    return r.ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct soak s;
    long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
    bool smaller = false;
    struct err e;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0) {
            usage(stdout);
            return 0;
        }
    s = (struct soak){.next = 1, .last = UINT64_MAX - 1, .limit_s = 600, .began_s = wall_s(), .told_s = wall_s()};
    s.n_jobs = (uint32_t)MIN(MAX(n_cores, 1), MAX_JOBS);
    if (!chaos_parse(&s.all, &argc, argv, &e)) {
        (void)fprintf(stderr, "soak: %s\n", e.msg);
        return 2;
    }
    if (!read_options(&s, argc, argv, &smaller))
        return 2;
    if (s.all.seed)
        return run_case(&s, smaller);
    if (smaller) {
        (void)fprintf(stderr, "soak: --shrink needs a --seed\n");
        return 2;
    }
    int status = take_up(&s) ? run_many(&s) : 2;
    record_fini(&s.record);
    return status;
}
