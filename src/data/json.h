/* json - writes JSON text: two-space indentation like kubectl's, or compact; or block-style YAML with the same calls.
 *
 * struct jw w = {.out = &sb, .indent = 2}; jw_map(&w); jw_key(&w, "name"); jw_str(&w, s); jw_end(&w);
 *
 * Nothing is written after the last value, not even a line feed. Text is UTF-8; bytes that are not become U+FFFD.
 * YAML strings are quoted where a reader could take them for something else: what was written is read back equal.
 */
#pragma once

#include "base/sb.h"
#include "data/tree.h"

#define JW_DEPTH 128 /* deeper than what the reader accepts, so that whatever was read can be written */

struct jw {
    struct sb *out;
    unsigned indent; /* 0: compact (YAML: 2) */
    bool yaml;       /* block-style YAML with the same calls */
    unsigned depth;
    struct {
        bool list, any;
        bool in_line; /* YAML: the first member starts where the container does, as in "- a: 1" */
        unsigned col; /* YAML: where members start */
    } open[JW_DEPTH];
    bool after_key;
};

void jw_map(struct jw *w);
void jw_list(struct jw *w);
void jw_end(struct jw *w);
void jw_key(struct jw *w, const char *key);
void jw_key_str(struct jw *w, str key);
void jw_str(struct jw *w, str s);
void jw_c(struct jw *w, const char *s); /* NULL: null */
void jw_i64(struct jw *w, int64_t v);
void jw_double(struct jw *w, double v); /* infinite or not a number: null */
void jw_bool(struct jw *w, bool v);
void jw_null(struct jw *w);
void jw_number(struct jw *w, str text);           /* text is a JSON number, written as it is */
void jw_raw(struct jw *w, str json);              /* JSON only: a value that is text already; not checked */
void jw_tree(struct jw *w, const struct tree *t); /* NULL: null */

/* Compact text in an arena: of a tree, of a string. */
struct arena;
str json_text(struct arena *a, const struct tree *t);
str json_quoted(struct arena *a, str s);

/* What jw_tree() writes when it is compact, in a fraction of the time. nulls false: members and elements that are null are left
 * out. The tree may be as deep as the reader accepts. */
void json_compact(struct sb *out, const struct tree *t, bool nulls);
