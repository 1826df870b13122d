/* Times, durations and cron windows (spec: lifecycle 8.6), the slow and plain way: to learn whether a window is open,
 * every minute in which it may have begun is compared with the schedule. */
#include "checker_int.h"

#define MINUTE_MS 60000
#define MAX_WINDOW_MS (400LL * 24 * 60 * MINUTE_MS)

static bool digits(str s, size_t from, size_t n, int64_t *ret)
{
    return from + n <= s.n && s.p[from] >= '0' && s.p[from] <= '9' && str_to_i64(str_sub(s, from, from + n), ret);
}

static int64_t days_before_year(int64_t y)
{
    y--;
    return 365 * y + y / 4 - y / 100 + y / 400;
}

static bool leap(int64_t y)
{
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

static int64_t days_of_month(int64_t y, int64_t m)
{
    static const int64_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return days[m - 1] + (m == 2 && leap(y));
}

bool time_read(str s, int64_t *ret_ms)
{
    int64_t y, mon, d, h, min, sec, days;

    if (s.n < 20 || s.p[s.n - 1] != 'Z' || !digits(s, 0, 4, &y) || !digits(s, 5, 2, &mon) || !digits(s, 8, 2, &d) ||
        !digits(s, 11, 2, &h) || !digits(s, 14, 2, &min) || !digits(s, 17, 2, &sec) || mon < 1 || mon > 12)
        return false;
    days = days_before_year(y) - days_before_year(1970) + d - 1;
    for (int64_t m = 1; m < mon; m++)
        days += days_of_month(y, m);
    *ret_ms = (((days * 24 + h) * 60 + min) * 60 + sec) * 1000;
    return true;
}

bool duration_read(str s, int64_t *ret_ms)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"ms", 1}, {"us", 1e-3}, {"ns", 1e-6}, {"h", 3600e3}, {"m", 60e3}, {"s", 1e3}};
    double sum = 0, sign = 1;

    if (s.n && (s.p[0] == '-' || s.p[0] == '+')) {
        sign = s.p[0] == '-' ? -1 : 1;
        s = str_sub(s, 1, s.n);
    }
    if (s.n == 0)
        return false;
    while (s.n && !str_is(s, "0")) {
        size_t n = 0, u = 0;

        while (n < s.n && ((s.p[n] >= '0' && s.p[n] <= '9') || s.p[n] == '.'))
            n++;
        str rest = str_sub(s, n, s.n);
        while (u < ARRAY_LEN(units) && !str_starts(rest, str_c(units[u].name)))
            u++;
        if (n == 0 || u == ARRAY_LEN(units))
            return false;
        sum += json_number(str_sub(s, 0, n)) * units[u].ms;
        s = str_sub(rest, strlen(units[u].name), rest.n);
    }
    *ret_ms = (int64_t)(sign * sum);
    return true;
}

struct cron_field {
    int64_t low, high;
    const char *const *names; /* of low, low + 1, … */
};

static const char *const months[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL",
                                     "AUG", "SEP", "OCT", "NOV", "DEC", NULL};
static const char *const days[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", NULL};
static const struct cron_field fields[] = {{0, 59, NULL}, {0, 23, NULL}, {1, 31, NULL}, {1, 12, months}, {0, 6, days}};

static bool cron_number(const struct cron_field *f, str s, int64_t *ret)
{
    if (str_to_i64(s, ret))
        return true;
    for (int64_t i = 0; f->names && f->names[i]; i++)
        if (s.n == 3 && strncasecmp(s.p, f->names[i], 3) == 0) {
            *ret = f->low + i;
            return true;
        }
    return false;
}

/* One of the parts between commas: a value, a range or a star, perhaps with a step. */
static bool cron_part(const struct cron_field *f, str part, uint64_t *set)
{
    str range, step, from, to;
    int64_t low = f->low, high = f->high, every = 1;
    bool stepped = str_cut(part, '/', &range, &step);

    if (stepped && (!str_to_i64(step, &every) || every < 1))
        return false;
    if (!str_is(range, "*") && !str_is(range, "?")) {
        bool two = str_cut(range, '-', &from, &to);

        if (!cron_number(f, from, &low) || (two && !cron_number(f, to, &high)))
            return false;
        if (!two)
            high = stepped ? f->high : low;
    }
    if (low < f->low || high > f->high || low > high)
        return false;
    for (int64_t v = low; v <= high; v += every)
        *set |= 1ull << v;
    return true;
}

static bool cron_read(str schedule, uint64_t sets[5], bool starred[5])
{
    static const struct {
        const char *name, *means;
    } macros[] = {{"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
                  {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
                  {"@hourly", "0 * * * *"}};
    str rest = str_trim(schedule), field, part;

    for (size_t i = 0; i < ARRAY_LEN(macros); i++)
        if (str_is(rest, macros[i].name))
            rest = str_c(macros[i].means);
    for (int i = 0; i < 5; i++) {
        (void)str_cut(rest, ' ', &field, &rest);
        rest = str_trim(rest);
        if (field.n == 0)
            return false;
        starred[i] = field.p[0] == '*' || field.p[0] == '?';
        for (sets[i] = 0; field.n;) {
            (void)str_cut(field, ',', &part, &field);
            if (!cron_part(&fields[i], part, &sets[i]))
                return false;
        }
    }
    return rest.n == 0;
}

static bool cron_fires(const uint64_t sets[5], const bool starred[5], int64_t minute)
{
    int64_t day = minute / 1440, left = day, y = 1970, m = 1;

    while (left >= 365 + leap(y))
        left -= 365 + leap(y++);
    while (left >= days_of_month(y, m))
        left -= days_of_month(y, m++);
    bool of_month = sets[2] >> (left + 1) & 1, of_week = sets[4] >> ((day + 4) % 7) & 1;
    bool on_day = starred[2] || starred[4] ? of_month && of_week : of_month || of_week;
    return on_day && sets[0] >> (minute % 60) & 1 && sets[1] >> (minute / 60 % 24) & 1 && sets[3] >> m & 1;
}

bool window_read(str schedule, int64_t duration_ms, int64_t now_ms, bool *ret_open)
{
    uint64_t sets[5];
    bool starred[5];

    *ret_open = false;
    if (!cron_read(schedule, sets, starred))
        return false;
    for (int64_t m = now_ms / MINUTE_MS; m * MINUTE_MS > now_ms - MIN(duration_ms, MAX_WINDOW_MS) && !*ret_open; m--)
        *ret_open = cron_fires(sets, starred, m);
    return true;
}
