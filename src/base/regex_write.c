/* From a tree to a program. */
#include "base/regex_impl.h"
#include "base/vec.h"

struct writer {
    VEC(struct regex_inst) code;
    VEC(struct regex_class) classes;
    uint32_t visits; /* repeating what is empty a thousand times a thousand times writes nothing, but takes long */
    bool too_large;
};

static void write_node(struct writer *w, const struct regex_node *n);

static uint32_t put(struct writer *w, struct regex_inst i)
{
    w->too_large |= w->code.n >= REGEX_MAX_PROGRAM;
    if (w->too_large)
        return 0;
    vec_push(&w->code, i);
    return w->code.n - 1;
}

static void write_class(struct writer *w, const struct regex_class *c)
{
    if (c->n == 1 && !c->negated) {
        put(w, (struct regex_inst){.op = RE_RANGE, .range = c->ranges[0]});
        return;
    }
    put(w, (struct regex_inst){.op = RE_CLASS, .x = w->classes.n});
    vec_push(&w->classes, *c);
}

/* A fork whose ways are this place and one that is known later. */
static uint32_t put_fork(struct writer *w)
{
    return put(w, (struct regex_inst){.op = RE_SPLIT});
}

static void aim(struct writer *w, uint32_t fork, uint32_t stay, uint32_t leave, bool lazy)
{
    if (w->too_large)
        return;
    w->code.v[fork].x = lazy ? leave : stay;
    w->code.v[fork].y = lazy ? stay : leave;
}

static void write_repeat(struct writer *w, const struct regex_node *n)
{
    for (uint32_t i = 0; i < n->min && !w->too_large; i++)
        write_node(w, n->first);
    if (n->max == REGEX_FOREVER) {
        uint32_t fork = put_fork(w);

        write_node(w, n->first);
        put(w, (struct regex_inst){.op = RE_JUMP, .x = fork});
        aim(w, fork, fork + 1, w->code.n, n->lazy);
        return;
    }
    VEC(uint32_t) forks = {0};
    for (uint32_t i = n->min; i < n->max && !w->too_large; i++) {
        vec_push(&forks, put_fork(w));
        write_node(w, n->first);
    }
    for (uint32_t i = 0; i < forks.n; i++)
        aim(w, forks.v[i], forks.v[i] + 1, w->code.n, n->lazy);
    vec_fini(&forks);
}

static void write_alt(struct writer *w, const struct regex_node *n)
{
    VEC(uint32_t) ends = {0};

    for (const struct regex_node *part = n->first; part && !w->too_large; part = part->next) {
        if (!part->next) {
            write_node(w, part);
            break;
        }
        uint32_t fork = put_fork(w);
        write_node(w, part);
        vec_push(&ends, put(w, (struct regex_inst){.op = RE_JUMP}));
        aim(w, fork, fork + 1, w->code.n, /* lazy= */ false);
    }
    for (uint32_t i = 0; i < ends.n && !w->too_large; i++)
        w->code.v[ends.v[i]].x = w->code.n;
    vec_fini(&ends);
}

static void write_node(struct writer *w, const struct regex_node *n)
{
    w->too_large |= ++w->visits > 4 * REGEX_MAX_PROGRAM;
    switch (n->kind) {
    case NODE_EMPTY:
        break;
    case NODE_CLASS:
        write_class(w, &n->class);
        break;
    case NODE_ASSERT:
        put(w, (struct regex_inst){.op = RE_ASSERT, .what = n->what});
        break;
    case NODE_CAT:
        for (const struct regex_node *part = n->first; part && !w->too_large; part = part->next)
            write_node(w, part);
        break;
    case NODE_ALT:
        write_alt(w, n);
        break;
    case NODE_REPEAT:
        write_repeat(w, n);
        break;
    }
}

const struct regex *regex_write(struct arena *a, const struct regex_node *n, struct err *e)
{
    struct writer w = {0};
    struct regex *r = NULL;

    write_node(&w, n);
    put(&w, (struct regex_inst){.op = RE_MATCH});
    if (w.too_large)
        (void)err_set(e, ERR_INVALID, "expression too large");
    else {
        r = arena_new_one(a, struct regex);
        r->code = vec_to_arena(&w.code, a);
        r->n = w.code.n;
        r->classes = vec_to_arena(&w.classes, a);
        r->n_classes = w.classes.n;
    }
    vec_fini(&w.code);
    vec_fini(&w.classes);
    return r;
}
