/* str - a string by value: pointer and length, not terminated, never owned. */
#pragma once

#include <string.h>

#include "base/base.h"

typedef struct {
    const char *p;
    size_t n;
} str;

#define STR(lit) ((str){(lit), sizeof(lit) - 1})
/* For static tables. */
/* clang-format off */
#define STR_INIT(lit) {(lit), sizeof(lit) - 1}
/* clang-format on */
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).n, (s).p

static inline str str_c(const char *c)
{
    return (str){c, c ? strlen(c) : 0};
}

static inline bool str_eq(str a, str b)
{
    /* The first byte tells most apart, without a call. */
    return a.n == b.n && (a.n == 0 || (a.p[0] == b.p[0] && memcmp(a.p, b.p, a.n) == 0));
}

static inline bool str_is(str a, const char *c)
{
    return str_eq(a, str_c(c));
}

int str_cmp(str a, str b); /* byte order, shorter first: what Go's sort.Strings gives */
bool str_starts(str s, str prefix);
bool str_ends(str s, str suffix);
bool str_contains(str s, str part);
str str_sub(str s, size_t from, size_t to); /* [from, to), clamped */
str str_trim(str s);                        /* ASCII white space on both sides */

/* Splits at the first `c`. Without one: head is all of s, tail is empty, and the answer is false. */
bool str_cut(str s, char c, str *ret_head, str *ret_tail);

/* Strict decimal: optional sign, digits only, no overflow. */
bool str_to_i64(str s, int64_t *ret);
/* What Go's strconv.ParseFloat takes: decimal, hexadecimal with exponent, NaN, Inf and Infinity in any case. Too large a
 * number is none. Not taken: underscores between hexadecimal digits, and texts of more than 100 characters. */
bool str_to_double(str s, double *ret);
