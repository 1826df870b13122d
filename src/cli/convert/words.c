/* Labels and annotations of older releases in whatever refers to them: pods that select nodes or must not be moved, with the workloads that make them. */
#include "cli/convert/convert_int.h"
#include "data/edit.h"

static const struct word {
    const char *then, *now;
} words[] = {
    {"karpenter.sh/provisioner-name", "karpenter.sh/nodepool"},
    {"karpenter.sh/do-not-evict", "karpenter.sh/do-not-disrupt"},
    {"karpenter.sh/do-not-consolidate", "karpenter.sh/do-not-disrupt"},
};

/* A key of a map, as in labels, annotations and node selectors; or named by another, as in affinities and spreads. */
static bool rename_word(struct tree *t, const struct word *w)
{
    bool found = false;

    for (uint32_t i = 0; t->kind == TREE_MAP && i < t->n; i++) {
        bool names = str_is(t->keys[i], "key") || str_is(t->keys[i], "topologyKey");

        if (names && str_is(tree_str(&t->items[i]), w->then)) {
            t->items[i] = tree_of_str(str_c(w->now));
            found = true;
        }
    }
    struct tree *old = t->kind == TREE_MAP ? tree_find(t, str_c(w->then)) : NULL;
    if (!old)
        return found;
    if (tree_find(t, str_c(w->now)))
        (void)tree_drop(t, str_c(w->then));
    else
        t->keys[old - t->items] = str_c(w->now);
    return true;
}

static bool rename_below(struct tree *t, const struct word *w)
{
    bool found = rename_word(t, w);

    for (uint32_t i = 0; i < t->n; i++)
        found = rename_below(&t->items[i], w) || found;
    return found;
}

void convert_words(struct conversion *c, struct converted *o)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (rename_below(o->object, &words[i])) {
            o->changed = true;
            convert_note(c, o, "%s is %s now", words[i].then, words[i].now);
        }
}
