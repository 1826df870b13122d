/* civil - calendar arithmetic in UTC: days since 1970 to a date and back. Private to model/. */
#pragma once

#include "base/base.h"

struct civil {
    int64_t year;
    uint32_t month, day; /* 1 … 12, 1 … 31 */
};

static inline int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static inline uint32_t month_days(int64_t year, uint32_t month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month == 2 && leap ? 29 : days[month - 1];
}

/* Days since 1970 to a date. Years are counted from March, so that the leap day ends the year. */
static inline struct civil civil_of_days(int64_t days)
{
    int64_t since_0 = days + 719468; /* 0000-03-01 */
    int64_t era = floor_div(since_0, 146097), day_of_era = since_0 - era * 146097;
    int64_t y_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * y_of_era + y_of_era / 4 - y_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    uint32_t month = (uint32_t)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    uint32_t day = (uint32_t)(day_of_year - (153 * month_from_march + 2) / 5 + 1);

    return (struct civil){era * 400 + y_of_era + (month <= 2), month, day};
}

static inline int64_t days_of_civil(int64_t year, uint32_t month, uint32_t day)
{
    int64_t y = year - (month <= 2);
    int64_t era = floor_div(y, 400), y_of_era = y - era * 400;
    int64_t month_from_march = (month + 9) % 12;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;

    return era * 146097 + y_of_era * 365 + y_of_era / 4 - y_of_era / 100 + day_of_year - 719468;
}
