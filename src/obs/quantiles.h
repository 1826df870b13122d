/* quantiles - what share of the values seen in the last ten minutes lies below which value, to within a hundredth of the ranks.
 *
 * Five sketches overlap: each takes every value and is emptied in its turn, one every two minutes. The oldest one answers, so an answer is about the last eight to
 * ten minutes. A sketch keeps some hundred values, however many it has seen.
 */
#pragma once

#include "base/base.h"

struct windows;

struct windows *windows_new(void);
void windows_free(struct windows *w); /* NULL is fine */
void windows_add(struct windows *w, double v, int64_t now_ms);
/* q in 0 … 1; NaN when nothing was seen. 0 and 1 are exact. */
double windows_quantile(struct windows *w, double q, int64_t now_ms);
uint32_t windows_kept(const struct windows *w); /* values held; for tests */
