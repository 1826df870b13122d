/* fixture - what many tests need around them: an arena, a table of symbols, a text to build.
 *
 * For cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown); *state is the fixture.
 */
#pragma once

#include "base/arena.h"
#include "base/sb.h"
#include "model/sym.h"

struct catalog;

struct fixture {
    struct arena *a;
    struct syms *t;
    struct sb b;
    const struct catalog *c; /* NULL, unless the test's own set-up provides one */
};

int fixture_setup(void **state);
int fixture_teardown(void **state);
