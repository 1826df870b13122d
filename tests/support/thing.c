#include "support/thing.h"

#define FIELD(n, s)                                                                                                    \
    {                                                                                                                  \
        .name = STR_INIT(n), .schema = &(s)                                                                            \
    }
#define OBJECT(f) .type = SCHEMA_OBJECT, .fields = (f), .n_fields = ARRAY_LEN(f)

static const struct schema text = {.type = SCHEMA_STRING}, whole_number = {.type = SCHEMA_INTEGER};
static const struct schema truth = {.type = SCHEMA_BOOLEAN}, int_or_string = {.type = SCHEMA_INT_OR_STRING};

static const struct schema_field sub_fields[] = {FIELD("x", whole_number), FIELD("z", whole_number)};
static const struct schema sub = {OBJECT(sub_fields)};

static const struct schema_field obj_fields[] = {FIELD("a", text), FIELD("b", text), FIELD("sub", sub)};
static const struct schema obj = {OBJECT(obj_fields)};

static const struct schema_field pair_fields[] = {FIELD("a", text), FIELD("b", text)};
static const struct schema pair = {OBJECT(pair_fields)}, whole = {OBJECT(pair_fields), .map_atomic = true};

static const struct schema map = {.type = SCHEMA_OBJECT, .values = &text};
static const struct schema objs = {.type = SCHEMA_OBJECT, .values = &pair};
static const struct schema set = {.type = SCHEMA_LIST, .list = LIST_SET, .items = &text};
static const struct schema numbers = {.type = SCHEMA_LIST, .list = LIST_SET, .items = &whole_number};
static const struct schema list = {.type = SCHEMA_LIST, .items = &text};

static const struct schema_field item_fields[] = {
    FIELD("name", text),
    FIELD("v", text),
    FIELD("w", text),
    FIELD("tags", set),
};
static const struct schema item = {OBJECT(item_fields)};
static const str item_keys[] = {STR_INIT("name")};
static const struct schema items = {
    .type = SCHEMA_LIST, .list = LIST_MAP, .list_keys = item_keys, .n_list_keys = 1, .items = &item};

static const struct tree tcp = {.kind = TREE_STRING, .text = STR_INIT("TCP")};
static const struct schema proto = {.type = SCHEMA_STRING, .def = &tcp};
static const struct schema_field port_fields[] = {FIELD("port", whole_number), FIELD("proto", proto), FIELD("v", text)};
static const struct schema port = {OBJECT(port_fields)};
static const str port_keys[] = {STR_INIT("port"), STR_INIT("proto")};
static const struct schema ports = {
    .type = SCHEMA_LIST, .list = LIST_MAP, .list_keys = port_keys, .n_list_keys = 2, .items = &port};

static const struct schema free_form = {.type = SCHEMA_OBJECT, .preserve_unknown = true};

static const struct schema_field spec_fields[] = {
    FIELD("num", whole_number), FIELD("s", text),          FIELD("b", truth),   FIELD("any", int_or_string),
    FIELD("obj", obj),          FIELD("whole", whole),     FIELD("map", map),   FIELD("objs", objs),
    FIELD("set", set),          FIELD("numbers", numbers), FIELD("list", list), FIELD("items", items),
    FIELD("ports", ports),      FIELD("free", free_form),
};
static const struct schema spec = {OBJECT(spec_fields)};

static const struct schema_field status_fields[] = {FIELD("c", whole_number), FIELD("s", text)};
static const struct schema status = {OBJECT(status_fields)};

static const struct schema_field thing_fields[] = {FIELD("spec", spec), FIELD("status", status)};
const struct schema thing_schema = {OBJECT(thing_fields)};
