/* status - how an API server says no: a Status object with code, reason, message, details and causes. */
#pragma once

#include "base/arena.h"
#include "base/sb.h"
#include "base/vec.h"

struct kind;
struct tree;

/* One thing wrong with an object. */
struct cause {
    str reason;  /* "FieldValueRequired", "FieldValueInvalid", "FieldValueForbidden", … */
    str message; /* 'Required value', 'Invalid value: "x": must be …' */
    str field;   /* "spec.containers[0].name" */
};

struct causes {
    struct arena *a;
    VEC(struct cause) list; /* grows on the heap: causes_fini() */
};

void causes_fini(struct causes *c);
PRINTF(3, 4) void cause_required(struct causes *c, str field, const char *fmt, ...); /* detail may be "" */
PRINTF(4, 5)
void cause_invalid(struct causes *c, str field, str json_value, const char *fmt, ...); /* value as JSON text */
PRINTF(3, 4) void cause_forbidden(struct causes *c, str field, const char *fmt, ...);
PRINTF(4, 5)
void cause_not_supported(struct causes *c, str field, str json_value, const char *fmt, ...); /* list of what is */
void cause_duplicate(struct causes *c, str field, str json_value);
void cause_too_long(struct causes *c, str field, uint32_t max);
void cause_too_many(struct causes *c, str field, uint32_t actual, uint32_t max);
PRINTF(4, 5) void cause_type_invalid(struct causes *c, str field, str json_value, const char *fmt, ...);

struct status {
    int code;
    const char *reason; /* "NotFound"; "" for a code without one */
    str message;
    str group, kind, name; /* details; kind is the plural in most answers */
    str uid;
    const struct cause *causes;
    uint32_t n_causes;
    int retry_after_s;
    bool blank; /* details are there even when they say nothing */
};

/* All fill *st and return false. The message is built in the arena. */
bool status_not_found(struct arena *a, struct status *st, const struct kind *k, str name);
bool status_exists(struct arena *a, struct status *st, const struct kind *k, str name);
bool status_conflict(struct arena *a, struct status *st, const struct kind *k, str name, const char *why);
bool status_invalid(struct arena *a, struct status *st, const struct kind *k, str name, const struct causes *c);
PRINTF(4, 5)
bool status_bad_request(struct arena *a, struct status *st, int code, const char *fmt,
                        ...); /* 400, 405, 406, 413, 415 … */
/* The same with empty details: what a server says that knows no more than that it is so. */
PRINTF(4, 5) bool status_blank(struct arena *a, struct status *st, int code, const char *fmt, ...);
PRINTF(5, 6)
bool status_forbidden(struct arena *a, struct status *st, const struct kind *k, str name, const char *fmt, ...);
bool status_gone(struct arena *a, struct status *st, const char *message); /* 410 Expired */
/* 504: a read wants to be as new as a revision that has not happened yet. */
bool status_too_large_rv(struct arena *a, struct status *st, uint64_t rv, uint64_t now);
bool status_too_many(struct arena *a, struct status *st, int retry_after_s, const char *message);
bool status_internal(struct arena *a, struct status *st, const char *message);

/* What Go's JSON decoder calls it in its errors: "object", "array", "string", "number", "bool". */
const char *go_json_kind(const struct tree *t);

void status_json(struct sb *out, const struct status *st); /* {"kind":"Status","apiVersion":"v1",…} */
