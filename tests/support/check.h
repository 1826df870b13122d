/* check - assertions for table tests: they print the name of the case that failed, what came and what was due.
 *
 * A test file includes this instead of cmocka.h. A failed check ends the test function it stands in.
 */
#pragma once

/* cmocka.h wants these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/str.h"

/* A macro call may hold a literal with commas, (str){p, n}, where the arguments are taken together. */
#define check_true(name, ...) check_true_at(__FILE__, __LINE__, (name), (__VA_ARGS__), #__VA_ARGS__)
#define check_str(name, ...) check_str_at(__FILE__, __LINE__, (name), __VA_ARGS__)       /* str got, const char *want */
#define check_i64(name, ...) check_i64_at(__FILE__, __LINE__, (name), __VA_ARGS__)       /* int64_t got, want */
#define check_u64(name, ...) check_u64_at(__FILE__, __LINE__, (name), __VA_ARGS__)       /* uint64_t got, want */
#define check_double(name, ...) check_double_at(__FILE__, __LINE__, (name), __VA_ARGS__) /* double got, want */

/* bool ok, const struct err *e. For calls that can fail: prints the error's own words when the call did. */
#define check_ok(name, ...) check_ok_at(__FILE__, __LINE__, (name), __VA_ARGS__)

void check_true_at(const char *file, int line, const char *name, bool ok, const char *text);
void check_str_at(const char *file, int line, const char *name, str got, const char *want);
void check_i64_at(const char *file, int line, const char *name, int64_t got, int64_t want);
void check_u64_at(const char *file, int line, const char *name, uint64_t got, uint64_t want);
void check_double_at(const char *file, int line, const char *name, double got, double want); /* equal to the bit */
void check_ok_at(const char *file, int line, const char *name, bool ok, const struct err *e);
