/* duration, time - Go durations and RFC 3339 times as int64_t nanoseconds / milliseconds. */
#pragma once

#include "base/err.h"
#include "base/sb.h"

#define DURATION_NEVER INT64_MAX

/* "1h30m", "300ms", "-1.5h", "0": Go's time.ParseDuration. */
bool duration_parse(str s, int64_t *ret_ns, struct err *e);
/* What Go says about text that duration_parse() refuses: users see it in events. */
void duration_go_error(struct sb *b, str s);
/* The same or "Never" (DURATION_NEVER). */
bool duration_parse_nillable(str s, int64_t *ret_ns, struct err *e);
void duration_print(struct sb *b, int64_t ns); /* Go's Duration.String */

/* "2026-01-15T12:00:00Z", with fraction and numeric zone; milliseconds since 1970, fraction cut. */
bool time_parse_rfc3339(str s, int64_t *ret_ms, struct err *e);
void time_print_rfc3339(struct sb *b, int64_t ms); /* UTC, whole seconds */
