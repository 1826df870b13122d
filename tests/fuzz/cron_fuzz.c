/* The first eight bytes are a time, the rest is a schedule. The next hit must be later, on a whole minute, and match
 * every field; and no minute of the hour before it may match them.
 */
#include <time.h>

#include "model/cron.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MINUTE_MS 60000

/* Asked of libc, so that our own calendar does not vouch for itself. */
static bool matches(const struct cron *c, int64_t ms)
{
    time_t s = (time_t)(ms / 1000);
    struct tm tm;

    assert(ms % MINUTE_MS == 0 && gmtime_r(&s, &tm));
    bool dom = c->dom >> tm.tm_mday & 1, dow = c->dow >> tm.tm_wday & 1;
    bool day = c->dom_star || c->dow_star ? dom && dow : dom || dow;

    return day && c->minute >> tm.tm_min & 1 && c->hour >> tm.tm_hour & 1 && c->month >> (tm.tm_mon + 1) & 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cron c;
    struct err e = {0};
    int64_t after, next;

    if (size < sizeof(after))
        return 0;
    memcpy(&after, data, sizeof(after));
    if (!cron_parse((str){(const char *)data + sizeof(after), size - sizeof(after)}, &c, &e)) {
        assert(e.kind == ERR_INVALID && e.msg[0]);
        return 0;
    }
    assert(c.minute >> 60 == 0 && c.hour >> 24 == 0 && c.dom >> 32 == 0 && c.month >> 13 == 0 && c.dow >> 7 == 0);
    if (!cron_next(&c, after, &next))
        return 0;
    assert(next > after);
    assert(next - after <= 6 * 366 * 86400000ll);
    assert(matches(&c, next));
    for (int64_t at = next; at - after > MINUTE_MS && next - at < 60 * MINUTE_MS;) {
        at -= MINUTE_MS;
        assert(!matches(&c, at));
    }
    return 0;
}
