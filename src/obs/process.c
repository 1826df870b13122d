/* What cannot be read is left out. A scrape takes some tens of microseconds here. */
#include "obs/process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "obs/metrics.h"

static double ticks(void)
{
    return (double)sysconf(_SC_CLK_TCK);
}

/* Field `number` of /proc/self/stat, counted from 1 as in proc(5); 3 or more. The name before it may contain anything. */
static bool stat_field(int number, double *ret)
{
    char buf[2048];
    FILE *f = fopen("/proc/self/stat", "re");
    size_t n = f ? fread(buf, 1, sizeof(buf) - 1, f) : 0;
    const char *at;

    if (f)
        (void)fclose(f);
    buf[n] = 0;
    at = strrchr(buf, ')');
    for (int i = 2; at && i < number; i++)
        at = strchr(at + 1, ' ');
    if (!at)
        return false;
    *ret = strtod(at, NULL);
    return true;
}

/* In seconds since 1970. */
static bool boot_time(double *ret)
{
    FILE *f = fopen("/proc/stat", "re");
    char *line = NULL;
    size_t cap = 0;
    bool found = false;

    while (f && !found && getline(&line, &cap, f) > 0)
        if (str_starts(str_c(line), STR("btime "))) {
            *ret = strtod(line + sizeof("btime"), NULL);
            found = true;
        }
    free(line);
    if (f)
        (void)fclose(f);
    return found;
}

static bool cpu_seconds(double *ret)
{
    double user, system;

    if (!stat_field(14, &user) || !stat_field(15, &system))
        return false;
    *ret = (user + system) / ticks();
    return true;
}

static bool max_fds(double *ret)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) != 0)
        return false;
    *ret = (double)r.rlim_cur;
    return true;
}

static bool open_fds(double *ret)
{
    DIR *d = opendir("/proc/self/fd");
    int n = -3; /* ".", ".." and the directory itself */

    if (!d)
        return false;
    while (readdir(d))
        n++;
    (void)closedir(d);
    *ret = n;
    return true;
}

static bool resident_bytes(double *ret)
{
    double pages;

    if (!stat_field(24, &pages))
        return false;
    *ret = pages * (double)sysconf(_SC_PAGESIZE);
    return true;
}

double process_resident_bytes(void)
{
    double v;

    return resident_bytes(&v) ? v : 0;
}

static bool start_seconds(double *ret)
{
    double booted, since;

    if (!boot_time(&booted) || !stat_field(22, &since))
        return false;
    *ret = booted + since / ticks();
    return true;
}

static bool virtual_bytes(double *ret)
{
    return stat_field(23, ret);
}

static const struct source {
    struct metric_spec spec;
    bool (*read)(double *ret);
} sources[] = {
    {{.name = "process_cpu_seconds_total",
      .help = "CPU time that the process has used, user and system, in seconds.",
      .kind = METRIC_COUNTER},
     cpu_seconds},
    {{.name = "process_max_fds", .help = "How many file descriptors the process may have open.", .kind = METRIC_GAUGE},
     max_fds},
    {{.name = "process_open_fds", .help = "How many file descriptors the process has open.", .kind = METRIC_GAUGE},
     open_fds},
    {{.name = "process_resident_memory_bytes",
      .help = "Memory of the process that is in RAM, in bytes.",
      .kind = METRIC_GAUGE},
     resident_bytes},
    {{.name = "process_start_time_seconds",
      .help = "When the process was started, in seconds since 1970.",
      .kind = METRIC_GAUGE},
     start_seconds},
    {{.name = "process_virtual_memory_bytes", .help = "Address space of the process in bytes.", .kind = METRIC_GAUGE},
     virtual_bytes},
};

static void collect(void *ctx, const struct metric *f, struct sb *out)
{
    const struct source *s = ctx;
    double v;

    if (s->read(&v))
        metric_emit(out, f, v, NULL);
}

void process_metrics(struct metrics *m)
{
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        struct metric *f = metrics_add(m, &sources[i].spec);

        metrics_collector(&f, 1, collect, (void *)&sources[i]);
    }
}
