/* prom - a strict reader of Prometheus' text format 0.0.4, for tests.
 *
 * Every family has HELP, TYPE and then its lines, in one piece, and comes once; no series comes twice; names and values are well formed; buckets rise and end with
 * +Inf, which equals the count.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

bool prom_check(str text, struct err *e);
