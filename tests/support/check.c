#include "support/check.h"

#include <inttypes.h>
#include <string.h>

void check_true_at(const char *file, int line, const char *name, bool ok, const char *text)
{
    if (ok)
        return;
    print_error("%s: not true: %s\n", name, text);
    _fail(file, line);
}

void check_str_at(const char *file, int line, const char *name, str got, const char *want)
{
    if (str_is(got, want))
        return;
    print_error("%s:\n  got  \"" STR_FMT "\"\n  want \"%s\"\n", name, STR_ARG(got), want);
    _fail(file, line);
}

void check_i64_at(const char *file, int line, const char *name, int64_t got, int64_t want)
{
    if (got == want)
        return;
    print_error("%s: got %" PRId64 ", want %" PRId64 "\n", name, got, want);
    _fail(file, line);
}

void check_u64_at(const char *file, int line, const char *name, uint64_t got, uint64_t want)
{
    if (got == want)
        return;
    print_error("%s: got %" PRIu64 ", want %" PRIu64 "\n", name, got, want);
    _fail(file, line);
}

void check_double_at(const char *file, int line, const char *name, double got, double want)
{
    uint64_t got_bits, want_bits; /* so that NaN equals itself and -0 is not 0 */

    memcpy(&got_bits, &got, sizeof(got));
    memcpy(&want_bits, &want, sizeof(want));
    if (got_bits == want_bits)
        return;
    print_error("%s: got %.17g, want %.17g\n", name, got, want);
    _fail(file, line);
}

void check_ok_at(const char *file, int line, const char *name, bool ok, const struct err *e)
{
    if (ok)
        return;
    print_error("%s: failed: %s\n", name, e->msg);
    _fail(file, line);
}
