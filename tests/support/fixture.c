#include "support/fixture.h"

#include <stdlib.h>

int fixture_setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    f->a = arena_new(0);
    f->t = syms_new();
    *state = f;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *f = *state;

    sb_fini(&f->b);
    syms_free(f->t);
    arena_free(f->a);
    free(f);
    return 0;
}
