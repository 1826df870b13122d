/* query - the body of a call to a query service: name=value pairs of a form (aws 3.1).
 *
 * struct query q = {.out = &sb}; query_in(&q, "Filter", 1); query_str(&q, "Name", s); query_out(&q); gives Filter.1.Name=…
 * Names are ours and short; values are anybody's and escaped.
 */
#pragma once

#include "base/sb.h"

#define QUERY_DEPTH 8u
#define QUERY_PREFIX 160u

struct query {
    struct sb *out;
    char prefix[QUERY_PREFIX];
    uint32_t n, depth;
    uint32_t before[QUERY_DEPTH]; /* length of the prefix outside */
};

/* What follows until query_out() has names that begin with `name.`, or `name.nth.` in a list; lists count from 1, 0: no list. */
void query_in(struct query *q, const char *name, uint32_t nth);
void query_out(struct query *q);

void query_str(struct query *q, const char *name, str v);
void query_some(struct query *q, const char *name, str v);                 /* nothing when v is empty */
void query_only(struct query *q, const char *in, const char *name, str v); /* in.name, nothing when v is empty */
void query_c(struct query *q, const char *name, const char *v);
void query_i64(struct query *q, const char *name, int64_t v);
void query_bool(struct query *q, const char *name, bool v);
void query_double(struct query *q, const char *name, double v); /* finite */
void query_time(struct query *q, const char *name, int64_t ms); /* UTC, whole seconds */
void query_b64(struct query *q, const char *name, str bytes);
void query_strs(struct query *q, const char *name, const str *v, uint32_t n); /* name.1, name.2, … */
