#include "cli/simulate/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define AFTER_US 500000
#define EVERY_US 200000

static int64_t micros_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void progress_init(struct progress *p)
{
    *p = (struct progress){.on = isatty(STDERR_FILENO) == 1};
}

void progress_begin(struct progress *p, const char *name, uint32_t i, uint32_t n, int64_t for_us)
{
    *p = (struct progress){.on = p->on, .name = name, .i = i, .n = n, .for_us = for_us, .began_us = micros_now()};
    p->next_us = p->began_us + AFTER_US;
}

void progress_show(struct progress *p, int64_t done_us)
{
    int64_t now = p->on ? micros_now() : 0;

    if (!p->on || now < p->next_us || done_us <= 0)
        return;
    double took = (double)(now - p->began_us), speed = (double)done_us / took;

    p->next_us = now + EVERY_US;
    p->shown = true;
    (void)fprintf(stderr, "\r\033[K");
    if (p->n > 1)
        (void)fprintf(stderr, "%u of %u, %.40s: ", p->i + 1, p->n, p->name);
    (void)fprintf(stderr, "day %.1f of %.1f, %.0f times as fast as life, %.0f s left", (double)done_us / 86400e6,
                  (double)p->for_us / 86400e6, speed, (double)(p->for_us - done_us) / speed / 1e6);
}

void progress_end(struct progress *p)
{
    if (p->shown)
        (void)fputs("\r\033[K", stderr);
    p->shown = false;
}
