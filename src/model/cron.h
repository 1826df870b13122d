/* cron - the five-field schedules of disruption budgets, in UTC (scheduling 2.3). */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct cron {
    uint64_t minute, hour, dom, month, dow; /* bit sets */
    bool dom_star, dow_star;
};

/* Standard five fields with names, lists, ranges, steps, `?`; or @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually. */
bool cron_parse(str s, struct cron *ret, struct err *e);
/* The first hit strictly after `after_ms`; false when there is none within five years. */
bool cron_next(const struct cron *c, int64_t after_ms, int64_t *ret_ms);
