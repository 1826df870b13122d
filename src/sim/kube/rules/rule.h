/* rule - what the rules of all kinds share: places in an object, flaws, names, amounts, and what survives an update.
 *
 * Everything lives in the arena of the request.
 */
#pragma once

#include "data/edit.h"
#include "data/json.h"
#include "sim/kube/kind.h"
#include "sim/kube/status.h"

/* ---- where something is wrong, and what ---- */

/* A place in an object: a chain on the stack, written out only when something is wrong there. */
struct at {
    const struct at *up;
    str key;    /* .key, or with `bracket` [key] */
    int64_t ix; /* [ix] when the key is empty */
    bool bracket;
};

#define AT(up_, lit_) (&(const struct at){.up = (up_), .key = STR(lit_)})
#define AT_STR(up_, key_) (&(const struct at){.up = (up_), .key = (key_)})
#define AT_IX(up_, ix_) (&(const struct at){.up = (up_), .ix = (int64_t)(ix_)})
#define AT_IN(up_, key_) (&(const struct at){.up = (up_), .key = (key_), .bracket = true})

str at_text(struct arena *a, const struct at *at);

struct flaws {
    struct arena *a;
    struct causes *out;
};

#define FLAWS(c_, out_) (&(struct flaws){(c_)->a, (out_)})

/* Details may be "". Values are JSON text. */
PRINTF(3, 4) void flaw_required(struct flaws *f, const struct at *at, const char *fmt, ...);
PRINTF(4, 5) void flaw_invalid(struct flaws *f, const struct at *at, str value, const char *fmt, ...);
PRINTF(3, 4) void flaw_forbidden(struct flaws *f, const struct at *at, const char *fmt, ...);
void flaw_unsupported(struct flaws *f, const struct at *at, str value, const char *supported); /* "A", "B" */
void flaw_duplicate(struct flaws *f, const struct at *at, str value);
void flaw_not_found(struct flaws *f, const struct at *at, str value);
/* Any other sentence, however long. */
void flaw_add(struct flaws *f, const char *reason, const struct at *at, str message);

void json_sorted(struct jw *w, const struct tree *t);        /* keys in byte order; NULL: null */
str json_sorted_text(struct arena *a, const struct tree *t); /* compact, likewise */

/* For sort_stable(): strs; indexes of members by their keys, the map being the context. */
int by_text(const void *x, const void *y, void *ctx);
int by_key(const void *x, const void *y, void *map);

/* ---- checks that many kinds need; an absent value passes unless said otherwise ---- */

/* Where the text must be one of `words` (NULL-terminated); empty counts as absent. */
void check_word(struct flaws *f, const struct at *at, const struct tree *v, const char *const *words);
void check_not_negative(struct flaws *f, const struct at *at, const struct tree *v);
void check_range(struct flaws *f, const struct at *at, const struct tree *v, int64_t from, int64_t to);
void check_port(struct flaws *f, const struct at *at, const struct tree *v);         /* 1 … 65535 */
void check_port_or_name(struct flaws *f, const struct at *at, const struct tree *v); /* absent is 0 */
void check_immutable(struct flaws *f, const struct at *at, const struct tree *new, const struct tree *old);
/* An int or a percentage, not negative. */
void check_int_or_percent(struct flaws *f, const struct at *at, const struct tree *v);
void check_at_most_all(struct flaws *f, const struct at *at, const struct tree *v); /* at most 100% */
bool same(const struct tree *a, const struct tree *b); /* absent equals absent, null, empty */

/* ---- names (names.c) ---- */

void check_label_name(struct flaws *f, const struct at *at, str s); /* RFC 1123 label */
void check_label_1035(struct flaws *f, const struct at *at, str s); /* RFC 1035 label */
void check_subdomain(struct flaws *f, const struct at *at, str s);  /* RFC 1123 subdomain */
void check_qualified(struct flaws *f, const struct at *at, str s);  /* prefix/name: keys of labels */
void check_label_value(struct flaws *f, const struct at *at, str s);
void check_labels(struct flaws *f, const struct at *at, const struct tree *labels); /* keys and values */
void check_config_key(struct flaws *f, const struct at *at, str s);
void check_port_name(struct flaws *f, const struct at *at, str s);

/* ---- amounts (amount.c) ---- */

/* A quantity of any size that makes sense, in nano. */
__extension__ typedef __int128 amount;
bool amount_of(const struct tree *t, amount *ret);      /* a string or a number */
str amount_text(struct arena *a, const struct tree *t); /* the canonical form; the text itself where there is none */
void amounts_canonical(struct arena *a, struct tree *map);
void check_amount_not_negative(struct flaws *f, const struct at *at, const struct tree *v);

/* ---- editing ---- */

int64_t number_of(const struct tree *t);           /* 0 for what is no whole number */
uint32_t list_len(const struct tree *t);           /* 0 for what is no list */
bool has(const struct tree *map, const char *key); /* not null */
bool is_empty(const struct tree *t);               /* NULL, null, "", {}, [] */
void default_str(struct arena *a, struct tree *map, const char *key, const char *value); /* absent or "" */
void default_i64(struct arena *a, struct tree *map, const char *key, int64_t value);     /* absent */
void default_count(struct arena *a, struct tree *map, const char *key, int64_t value);   /* absent or 0 */
void default_bool(struct arena *a, struct tree *map, const char *key, bool value);
void default_null(struct arena *a, struct tree *map, const char *key);
/* tree_get() for editing: NULL unless there is a map, or a list; also steps into nothing. */
struct tree *edit_map(struct tree *t, const char *key);
struct tree *edit_list(struct tree *t, const char *key);
/* What a decoder of the server forgets: nulls, empty lists and strings where the field is left out when empty. Quantities
 * get their canonical form. */
void compact(struct arena *a, struct tree *obj);
/* The member as it was, or absent. */
void keep(struct arena *a, struct tree *obj, const struct tree *old, const char *key);
/* on_update for most kinds: the status is written only through its subresource, which writes nothing else. */
void keep_other_half(struct rule_context *c, struct tree *obj, const struct tree *old, str *ret_denied);
/* on_create for most kinds: a status, where there is one, starts anew. */
void status_none(struct rule_context *c, struct tree *obj, str *ret_denied);
void status_empty(struct rule_context *c, struct tree *obj, str *ret_denied); /* {} */
str object_name(const struct tree *obj);
str object_namespace(const struct tree *obj);
const struct tree *condition(const struct tree *obj, str type); /* of status.conditions; NULL when absent */
