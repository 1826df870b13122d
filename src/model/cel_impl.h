/* cel_impl - shared by the files of the evaluator: tokens, nodes, functions. Private to cel*.c. */
#pragma once

#include "base/regex.h"
#include "base/sb.h"
#include "model/cel.h"

/* ---- cel_lex.c ---- */

enum cel_token_kind {
    TOKEN_END,
    TOKEN_IDENT,
    TOKEN_QUOTED, /* `a-b`: a field by any name */
    TOKEN_INT,    /* text is kept: "-" in front may make it fit */
    TOKEN_UINT,
    TOKEN_DOUBLE,
    TOKEN_STRING,
    TOKEN_BYTES,
    TOKEN_PUNCT,
};

struct cel_token {
    enum cel_token_kind kind;
    str text; /* TOKEN_STRING, TOKEN_BYTES: the content */
    uint64_t u;
    double d;
    size_t at; /* where it begins in the source */
};

struct cel_lexer {
    struct arena *a;
    str s;
    size_t at;
    struct err *e;
};

bool cel_lex(struct cel_lexer *l, struct cel_token *ret);
/* "1:14: WHAT" and the name, whose quotes are closed if `what` ends with one. Always false. */
bool cel_fail_at(str source, size_t at, struct err *e, const char *what, str name);

/* ---- nodes ---- */

enum cel_op {
    NODE_CONST,
    NODE_VAR,
    NODE_SELECT, /* args[0].name */
    NODE_HAS,    /* the same, but only asked for */
    NODE_INDEX,
    NODE_CALL,
    NODE_NOT,
    NODE_NEGATE,
    NODE_AND, /* all of args */
    NODE_OR,
    NODE_CHOICE, /* args: condition, then, else */
    NODE_BINARY, /* by `name`: + - * / % == != < <= > >= in */
    NODE_LIST,
    NODE_MAP,   /* args: key, value, key, value */
    NODE_MACRO, /* args: range, body, and for some a second body */
    NODE_BIND,  /* args: value, body */
};

enum cel_binary { BIN_ADD, BIN_SUB, BIN_MUL, BIN_DIV, BIN_MOD, BIN_EQ, BIN_NE, BIN_LT, BIN_LE, BIN_GT, BIN_GE, BIN_IN };

enum cel_macro {
    MACRO_ALL,
    MACRO_EXISTS,
    MACRO_EXISTS_ONE,
    MACRO_FILTER,
    MACRO_MAP,           /* one variable: a list; args: range, result, condition or NULL */
    MACRO_TRANSFORM_MAP, /* two variables: a map with the same keys */
    MACRO_OPT_MAP,
    MACRO_OPT_FLAT_MAP,
};

/* ---- cel_words.c ---- */

struct cel_macro_word {
    const char *name;
    enum cel_macro macro;
    uint8_t vars;   /* 1, 2, or 3 for either */
    uint8_t bodies; /* 1, or 2 when one may be left out */
};

struct cel_infix {
    const char *text;
    int precedence; /* a higher one binds tighter */
    enum cel_op op;
    enum cel_binary binary;
};

bool cel_is_reserved(str name);
bool cel_is_namespace(str name);                                   /* "math" of math.least() */
const struct cel_macro_word *cel_find_macro(str name);             /* NULL: none */
const struct cel_infix *cel_find_infix(const struct cel_token *t); /* NULL: none */

/* ---- cel_parse.c ---- */

struct cel_fn;

struct cel_node {
    enum cel_op op;
    enum cel_binary binary;
    enum cel_macro macro;
    bool optional;   /* NODE_SELECT, NODE_INDEX: .? and [?] */
    uint32_t depth;  /* levels below */
    uint32_t slot;   /* NODE_VAR; NODE_MACRO, NODE_BIND: the first variable's */
    uint32_t n_vars; /* NODE_MACRO */
    str name;
    const struct cel_value *value;
    const struct cel_fn *fn;
    const struct regex *regex; /* NODE_CALL: the pattern, where it is written out */
    struct cel_node **args;
    bool *optional_args; /* NODE_LIST, NODE_MAP: [?a], {?a: b} */
    uint32_t n_args;
};

struct cel_program {
    const struct cel_node *root;
    const char *const *names;
    uint32_t n_names;
    uint32_t n_slots; /* names, and variables of macros */
    bool *used;       /* of names */
};

/* ---- cel_eval.c ---- */

struct cel_run {
    struct arena *a;
    struct cel_value *vars;
    uint64_t steps;
    const struct regex *regex; /* of the call that is under way */
    struct err *e;
};

/* Counts work; false when there was too much of it. */
bool cel_charge(struct cel_run *r, uint64_t steps);
PRINTF(2, 3) bool cel_fail(struct cel_run *r, const char *fmt, ...); /* always false */
bool cel_no_overload(struct cel_run *r);

/* ---- cel_ops.c ---- */

bool cel_operate(struct cel_run *r, enum cel_binary op, const struct cel_value *a, const struct cel_value *b,
                 struct cel_value *ret);

/* ---- cel_value.c ---- */

bool cel_compare(const struct cel_value *a, const struct cel_value *b, int *ret); /* false: they have no order */
const struct cel_value *cel_map_get(const struct cel_value *map, const struct cel_value *key); /* NULL: absent */
const char *cel_kind_name(enum cel_kind k);                                                    /* "int", "list", … */
struct cel_value cel_int(int64_t v);
struct cel_value cel_bool(bool v);
struct cel_value cel_double(double v);
struct cel_value cel_str(str s);
struct cel_value cel_list(struct cel_value *items, uint32_t n);
struct cel_value cel_none(void);
struct cel_value cel_some(struct arena *a, struct cel_value v);
bool cel_is_zero(const struct cel_value *v);

/* ---- functions ---- */

/* args[0] is what a member function is called on. */
typedef bool (*cel_call_fn)(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret);

struct cel_fn {
    const char *name; /* with its namespace: "optional.of" */
    uint8_t min_args, max_args;
    bool member;
    cel_call_fn call;
};

#define CEL_ANY_ARGS 255

extern const struct cel_fn cel_fns_std[], cel_fns_strings[], cel_fns_lists[], cel_fns_time[], cel_fns_more[];

/* The function, or NULL. *ret_known: there is one by this name that takes other arguments. */
const struct cel_fn *cel_fn_find(str name, bool member, uint32_t n_args, bool *ret_known);

/* indexOf and lastIndexOf are for texts and for lists. */
bool cel_text_index_of(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret);
bool cel_text_last_index_of(struct cel_run *r, const struct cel_value *args, uint32_t n, struct cel_value *ret);

bool cel_to_string(struct cel_run *r, const struct cel_value *v, struct cel_value *ret);
bool cel_time_of(struct cel_run *r, str text, struct cel_value *ret);
void cel_time_print(struct sb *b, const struct cel_value *t);
