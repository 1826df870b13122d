#include "sim/kube/age.h"

/* "3m12s"; the second part is left out when it is zero. */
static void two(struct sb *out, int64_t big, char big_unit, int64_t small, char small_unit)
{
    sb_i64(out, big);
    sb_char(out, big_unit);
    if (small == 0)
        return;
    sb_i64(out, small);
    sb_char(out, small_unit);
}

void age_print(struct sb *out, int64_t since_ms, int64_t now_ms)
{
    int64_t ms = sat_sub(now_ms, since_ms), s = ms / 1000, m = s / 60, h = m / 60, d = h / 24;

    if (s < -1)
        sb_c(out, "<invalid>");
    else if (ms < 0)
        sb_c(out, "0s");
    else if (s < 120)
        two(out, s, 's', 0, 0);
    else if (m < 10)
        two(out, m, 'm', s % 60, 's');
    else if (m < 180)
        two(out, m, 'm', 0, 0);
    else if (h < 8)
        two(out, h, 'h', m % 60, 'm');
    else if (h < 48)
        two(out, h, 'h', 0, 0);
    else if (h < 192)
        two(out, d, 'd', h % 24, 'h');
    else if (d < 365 * 2)
        two(out, d, 'd', 0, 0);
    else if (d < 365 * 8)
        two(out, d / 365, 'y', d % 365, 'd');
    else
        two(out, d / 365, 'y', 0, 0);
}
