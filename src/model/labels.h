/* labels - what objects ask of labels: node requirements as written in the API, label selectors, well-known keys. */
#pragma once

#include "base/err.h"
#include "model/sym.h"

enum req_op { OP_IN, OP_NOT_IN, OP_EXISTS, OP_DOES_NOT_EXIST, OP_GT, OP_LT, OP_GTE, OP_LTE };

const char *req_op_name(enum req_op op);
bool req_op_parse(str s, enum req_op *ret);

/* One requirement as written: key normalised (scheduling 2.7), values as given. */
struct req_expr {
    sym key;
    enum req_op op;
    uint32_t n_vals;
    sym *vals;
    int32_t min_values; /* 0 when absent */
};

struct req_term { /* all expressions hold */
    struct req_expr *exprs;
    uint32_t n;
    bool match_fields; /* the term also has matchFields, which cannot be planned for */
};

struct pref_term {
    struct req_term term;
    int32_t weight;
};

/* A metav1.LabelSelector. Absent (nil) and empty differ: nil selects nothing, empty selects all. */
struct selector {
    bool present;
    uint32_t n_labels, n_exprs; /* exprs[0 … n_labels-1] came from matchLabels */
    struct req_expr *exprs;
};

bool selector_matches(const struct selector *s, const struct syms *t, lset_id labels);
/* "app=web,tier in (a,b),!canary": the form of kubectl -l. */
bool selector_parse(struct arena *a, struct syms *t, str text, struct selector *ret, struct err *e);

/* beta.kubernetes.io/arch and the like become the key they stand for. */
str label_key_normalise(str key);
bool label_is_qualified_name(str key);
bool label_is_value(str value);

/* Which label keys the provider knows beyond core's (scheduling 2.7, 2.8). One per plan. */
/* A well-known label that has no other values than these. */
struct label_values {
    sym key;
    const sym *vals;
    uint32_t n;
    const char *in_words; /* "default, dedicated" */
};

struct label_rules {
    sym *well_known; /* sorted; core's and the provider's */
    uint32_t n_well_known;
    const str *restricted_domains; /* beyond karpenter.sh */
    uint32_t n_restricted_domains;
    const struct label_values *values; /* the provider's; capacity types are core's */
    uint32_t n_values;
    sym reservation_id; /* SYM_NONE when the provider has no reservations */
};

/* Core's well-known labels and the provider's own, each once. */
void label_rules_well_known(struct arena *a, struct label_rules *r, const sym *own, uint32_t n);
bool label_is_well_known(const struct label_rules *r, sym key);
bool label_is_restricted(const struct label_rules *r, const struct syms *t, sym key);
/* scheduling 2.9; the message says which rule and names the key. */
bool req_expr_validate(const struct label_rules *r, const struct syms *t, const struct req_expr *x, struct err *e);
