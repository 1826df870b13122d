/* schema - what the fields of a kind may hold: one shape for built-in kinds and for custom ones.
 *
 * Built-in kinds are described by a generated file (schema_builtin), custom kinds by their CustomResourceDefinition. On it
 * work: pruning and strict field validation, defaulting, validation with the messages of an API server, list types for
 * patches and server-side apply, CEL rules, OpenAPI documents for kubectl.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "data/tree.h"

struct causes;
struct cel_program;
struct regex;

enum schema_type {
    SCHEMA_ANY, /* no type given */
    SCHEMA_OBJECT,
    SCHEMA_LIST,
    SCHEMA_STRING,
    SCHEMA_INTEGER,
    SCHEMA_NUMBER,
    SCHEMA_BOOLEAN,
    SCHEMA_INT_OR_STRING,
    SCHEMA_QUANTITY, /* built-in kinds: a string or a number that reads as a quantity */
};

enum list_type { LIST_ATOMIC, LIST_SET, LIST_MAP };

struct schema_field {
    str name;
    const struct schema *schema;
    bool required;
    bool always;  /* built-in: there, if only as {}, "" or 0, wherever the struct around it is */
    str go;       /* built-in: what Go calls the type, where that is not the usual name; for messages */
    str embedded; /* built-in: the embedded structs that hold the field, "VolumeSource"; for messages */
};

struct schema_rule {
    str rule, message, message_expr, reason, field_path;
    const struct cel_program *program, *message_program;
    bool uses_old; /* a transition rule: only when there is an old value */
    bool keeps;    /* "self == oldSelf": holds of what is the same */
    bool optional_old;
};

struct schema {
    enum schema_type type;
    str name; /* built-in: "io.k8s.api.core.v1.PodSpec", where the type has a name */
    str format, pattern, description;
    bool nullable, preserve_unknown, embedded, map_atomic;

    const struct schema_field *fields; /* SCHEMA_OBJECT, in the order of the source */
    uint32_t n_fields;
    const struct schema *values; /* SCHEMA_OBJECT: additionalProperties */
    const struct schema *items;  /* SCHEMA_LIST */

    enum list_type list;
    const str *list_keys; /* LIST_MAP */
    uint32_t n_list_keys;
    str merge_key; /* strategic merge patch: lists merge by it; empty with patch_merge: a set of scalars */
    bool patch_merge, patch_retain_keys, patch_replace;

    const struct tree *def;                  /* default; NULL: none */
    const struct tree *const *one_of_values; /* enum */
    uint32_t n_values;
    bool has_min, has_max, exclusive_min, exclusive_max;
    double min, max;
    double multiple_of;                                                         /* 0: none */
    int64_t min_length, max_length, min_items, max_items, min_props, max_props; /* -1: none */
    const struct schema *const *all_of, *const *any_of, *const *one_of;         /* value validation only */
    uint32_t n_all_of, n_any_of, n_one_of;
    const struct schema *not_;
    const struct regex *regex;       /* of pattern */
    const struct schema_rule *rules; /* x-kubernetes-validations */
    uint32_t n_rules;
    bool rules_within;       /* here or further down */
    bool transitions_within; /* … rules that may not hold even if they did before and nothing has changed */
};

/* A structural schema, as in spec.versions[].schema.openAPIV3Schema; `path` is where it stands, for messages. What is wrong with it
 * goes to `out`, with the fields and words of a real server, and the answer is NULL then. Patterns and CEL rules are compiled here.
 * The tree must live as long as the schema. */
const struct schema *schema_from_openapi(struct arena *a, const struct tree *t, str path, struct causes *out);

/* The schema of a built-in kind ("", "v1", "Pod"), or of Status, DeleteOptions and lists ("PodList"); NULL when the generated file has
 * none. Parsed once per process. Main thread only. */
const struct schema *schema_builtin(str group, str version, str kind);
const struct schema *schema_object_meta(void); /* of metadata, whatever the kind */

const struct schema_field *schema_field(const struct schema *s, str name);
/* Follows a field name, a map's values or a list's items; NULL where the schema does not say. */
const struct schema *schema_child(const struct schema *s, str name);

/* Fields that the schema does not know, as causes with the message 'unknown field "spec.containers[0].foo"'. With prune they are
 * removed as well. apiVersion, kind and metadata of the whole object are known to every schema. */
void schema_unknown(struct arena *a, const struct schema *s, struct tree *obj, bool prune, struct causes *out);
/* Defaults for what is absent, and nulls dropped where null is no value. */
void schema_default(struct arena *a, const struct schema *s, struct tree *obj);
/* Custom kinds: types, bounds, patterns, formats, enums, required fields, list uniqueness, CEL rules. old is NULL on creation;
 * old_is_valid: this schema has been asked about it, and what is still the same need not be looked at again. Causes carry the field,
 * the reason and the message of a real server. Of a built-in kind nothing is checked here: its rules are in kind.h,
 * and what its decoder refuses is schema_decodes(). */
void schema_validate(struct arena *a, const struct schema *s, const struct tree *obj, const struct tree *old,
                     bool old_is_valid, struct causes *out);
/* Whether JSON of the wrong type can be decoded at all: a built-in kind refuses it with 400 and one sentence, as Go's decoder
 * does ('json: cannot unmarshal string into Go struct field …'). Of a custom kind only metadata is decoded. */
bool schema_decodes(const struct schema *s, const struct tree *obj, struct err *e);
