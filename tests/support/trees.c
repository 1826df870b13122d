#include "support/trees.h"

#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "support/check.h"

struct tree *tree_yaml(struct arena *a, const char *text)
{
    const struct tree *t;
    struct err e = {0};

    check_ok(text, tree_parse_yaml(a, "case", str_c(text), &t, &e), &e);
    return tree_copy(a, t);
}

str tree_text(struct arena *a, const struct tree *t)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    if (!t)
        return STR("absent");
    jw_tree(&w, t);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

void check_tree_at(const char *file, int line, const char *name, const struct tree *got, const char *want)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *due = tree_yaml(a, want);

    if (got && tree_equal(got, due))
        return;
    str x = tree_text(a, got), y = tree_text(a, due);
    print_error("%s:\n  got  " STR_FMT "\n  want " STR_FMT "\n", name, STR_ARG(x), STR_ARG(y));
    _fail(file, line);
}
