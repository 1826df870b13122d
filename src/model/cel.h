/* cel - the Common Expression Language as Kubernetes uses it: rules of CRDs, expressions in kubelet configuration.
 *
 * An expression is compiled once (parsed, macros expanded, names checked against those declared) and evaluated often against
 * values. Values live in the caller's arena. Evaluation is bounded: CEL_MAX_STEPS operations, CEL_MAX_DEPTH levels, texts and
 * regular expressions of bounded length; beyond that it is an error, never a hang.
 *
 * Understood: the whole grammar of the language; macros has, all, exists, exists_one, map, filter, and two-variable forms where
 * Kubernetes has them; standard functions and conversions; string, list, regex, url-less Kubernetes libraries (quantity, isQuantity,
 * duration, timestamp, isSorted, sum, min, max, indexOf, lastIndexOf, find, findAll, charAt, join, lowerAscii, replace, split, substring, trim,
 * upperAscii, format-less), optional types (?., orValue, hasValue) and sets as far as rules use them.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#define CEL_MAX_SOURCE (64u << 10)
#define CEL_MAX_DEPTH 64
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
    CEL_TIMESTAMP, /* nanoseconds since 1970 in i */
    CEL_QUANTITY,  /* text in s, value per model/quantity.h in q */
    CEL_OPTIONAL,  /* items[0], or none */
    CEL_TYPE,      /* name in s */
};

struct cel_value {
    enum cel_kind kind;
    bool b;
    int64_t i;
    uint64_t u;
    double d;
    str s;
    uint32_t n;              /* CEL_LIST, CEL_MAP */
    struct cel_value *items; /* CEL_LIST: the members; CEL_MAP: the values */
    struct cel_value *keys;  /* CEL_MAP */
};

struct cel_program;

/* `names` are the variables that the expression may use. Errors name the place: "1:14: undeclared reference to 'foo'". */
const struct cel_program *cel_compile(struct arena *a, str source, const char *const *names, uint32_t n_names,
                                      struct err *e);
bool cel_uses(const struct cel_program *p, const char *name);

/* vars[i] is the value of names[i]. */
bool cel_eval(const struct cel_program *p, struct arena *a, const struct cel_value *vars, struct cel_value *ret,
              struct err *e);

bool cel_equal(const struct cel_value *a, const struct cel_value *b);
