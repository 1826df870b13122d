/* regex_impl - the tree that regex_parse.c reads, the program that regex_write.c makes of it and regex.c runs. */
#pragma once

#include "base/regex.h"

enum regex_op {
    RE_RANGE, /* a character lo … hi, then the next instruction */
    RE_CLASS, /* a character of class x */
    RE_SPLIT, /* x is preferred to y */
    RE_JUMP,  /* x */
    RE_ASSERT,
    RE_MATCH,
};

enum regex_assert { RE_TEXT_START, RE_TEXT_END, RE_LINE_START, RE_LINE_END, RE_WORD, RE_NOT_WORD };

struct regex_range {
    uint32_t lo, hi;
};

struct regex_class {
    struct regex_range *ranges;
    uint32_t n;
    bool negated;
};

struct regex_inst {
    enum regex_op op;
    enum regex_assert what;
    uint32_t x, y;
    struct regex_range range;
};

struct regex {
    struct regex_inst *code; /* begins at 0 */
    uint32_t n;
    struct regex_class *classes;
    uint32_t n_classes;
};

#define REGEX_FOREVER UINT32_MAX

enum regex_node_kind { NODE_EMPTY, NODE_CLASS, NODE_ASSERT, NODE_CAT, NODE_ALT, NODE_REPEAT };

struct regex_node {
    enum regex_node_kind kind;
    struct regex_node *first, *last; /* NODE_CAT, NODE_ALT: the parts; NODE_REPEAT: first is what is repeated */
    struct regex_node *next;         /* among the parts */
    struct regex_class class;
    enum regex_assert what;
    uint32_t min, max;
    bool lazy;
};

/* NULL when the program would be too large. */
const struct regex *regex_write(struct arena *a, const struct regex_node *n, struct err *e);
