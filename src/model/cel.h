/* cel - the Common Expression Language as Kubernetes uses it: rules of CRDs, expressions in kubelet configuration.
 *
 * An expression is compiled once (parsed, macros expanded, names and functions looked up) and evaluated often against values.
 * Values live in the caller's arena, and so does what an evaluation makes on the way: mark and rewind the arena around
 * evaluations whose result is not kept. Evaluation is bounded: CEL_MAX_STEPS operations, where a long text or a long match counts
 * for more than one, and CEL_MAX_DEPTH levels; beyond that it is an error, never a hang.
 *
 * Understood: the whole grammar of the language but messages (`Type{field: 1}`); macros has, all, exists, exists_one, map, filter,
 * their forms with two variables, transformList, transformMap, optMap, optFlatMap, cel.bind; standard functions and conversions;
 * strings, lists, regular expressions, quantities, sets, math, optional types. Types are checked while evaluating, not before.
 * Not there: urls, addresses, versions and named formats of Kubernetes, time zones by name.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#define CEL_MAX_SOURCE (64u << 10)
#define CEL_MAX_DEPTH 40
#define CEL_MAX_STEPS 10000000u

enum cel_kind {
    CEL_NULL,
    CEL_BOOL,
    CEL_INT,
    CEL_UINT,
    CEL_DOUBLE,
    CEL_STRING,
    CEL_BYTES,
    CEL_LIST,
    CEL_MAP,
    CEL_DURATION,  /* nanoseconds in i */
    CEL_TIMESTAMP, /* seconds since 1970 in i, and nanoseconds in n */
    CEL_QUANTITY,  /* text in s, thousandths in i */
    CEL_OPTIONAL,  /* items[0] when n is 1, or none */
    CEL_TYPE,      /* name in s */
};

/* How a list compares: Kubernetes has lists that are sets, and lists that are maps by some fields of their members. */
enum cel_list { CEL_PLAIN_LIST, CEL_SET_LIST, CEL_MAP_LIST };

struct cel_value {
    enum cel_kind kind;
    uint32_t n; /* CEL_LIST, CEL_MAP */
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double d;
        struct {
            enum cel_list list; /* CEL_LIST */
            uint32_t n_list_keys;
        };
    };
    union {
        str s;
        struct {
            struct cel_value *items; /* CEL_LIST: the members; CEL_MAP: the values; CEL_OPTIONAL */
            union {
                struct cel_value *keys; /* CEL_MAP */
                const str *list_keys;   /* CEL_LIST, CEL_MAP_LIST: as the members have them */
            };
        };
    };
};

struct cel_program;

/* `names` are the variables that the expression may use. Errors name the place: "1:14: undeclared reference to 'foo'". */
const struct cel_program *cel_compile(struct arena *a, str source, const char *const *names, uint32_t n_names,
                                      struct err *e);
bool cel_uses(const struct cel_program *p, const char *name);

/* e->code when an operation does not take values of these kinds: a compiler that knew the kinds would have refused it. */
#define CEL_NO_OVERLOAD "NoSuchOverload"

/* vars[i] is the value of names[i]. */
bool cel_eval(const struct cel_program *p, struct arena *a, const struct cel_value *vars, struct cel_value *ret,
              struct err *e);

/* Numbers by value, whatever their kind; maps in any order; values of different kinds are not equal. */
bool cel_equal(const struct cel_value *a, const struct cel_value *b);
