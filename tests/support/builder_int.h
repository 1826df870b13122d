/* builder_int - what the parts of the builder share: a parsed line and the fragments that objects are made of. */
#pragma once

#include "data/json.h"
#include "support/builder.h"

struct attr {
    str key, val;
};

struct line {
    str kind, name;
    uint32_t copies;
    struct attr attrs[48];
    uint32_t n;
};

struct emit {
    struct builder *b;
    struct jw w;
    const struct line *l;
};

_Noreturn void builder_wrong(const char *what, str where);

/* The next part of *rest up to `sep`, trimmed; false when there is none. */
bool part(str *rest, char sep, str *ret);
bool has(const struct emit *e, const char *key);
str get(const struct emit *e, const char *key);

void head(struct emit *e, const char *api, const char *kind);
void tail(struct emit *e);
void metadata(struct emit *e, str ns, str name);
str ns_of(const struct emit *e);

/* A map or a list under the key; jw_end() ends it. */
void open_map(struct emit *e, const char *key);
void open_list(struct emit *e, const char *key);
void member(struct emit *e, const char *key, str val);
void count(struct emit *e, const char *key, str val);
void map_of(struct emit *e, const char *name, str text, bool labels); /* "a=1,b=2"; labels: with short forms */
void notes_of(struct emit *e, str text); /* "dnd=true,cost=5": annotations; none: nothing */
str time_of(struct emit *e, str text);   /* "11:59:50" of the scenario's day, or in full */
void condition(struct emit *e, const char *type, str status, str since);
str value_of(struct emit *e, str v);
void values_of(struct emit *e, str vals);
void exprs_of(struct emit *e, str text);
void terms_of(struct emit *e, const char *name, str text);
void selector_of(struct emit *e, const char *name, str text);
void taints_of(struct emit *e, const char *name, str text);
void sizes(struct emit *e, const char *name, str cpu, str mem, str more);
void containers_of(struct emit *e);

/* Writes the object of e->l; false when there is no such kind. */
bool builder_pod_kind(struct emit *e);
bool builder_other_kind(struct emit *e);
