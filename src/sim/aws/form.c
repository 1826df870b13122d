/* form - query parameters (Filter.1.Value.2=x) into a tree in AWS's JSON member names and types.
 *
 * Two steps: the dotted names make nested maps, then maps whose keys are numbers become lists. EC2 names a list by its singular on the wire; its plural is the
 * JSON name. Query services write Tags.member.1 instead. What is a number or a truth value follows from the member's name.
 */
#include <ctype.h>

#include "sim/aws/call.h"

#define FORM_MAX_PARAMS 10000u
#define FORM_MAX_DEPTH 12u

static const struct {
    const char *parent; /* JSON name of what holds it; NULL: anything */
    const char *wire, *json;
} list_names[] = {
    {"NetworkInterfaces", "SecurityGroupId", "Groups"}, {NULL, "ResourceId", "Resources"},
    {NULL, "LaunchTemplateVersion", "Versions"},        {NULL, "ExecutableBy", "ExecutableUsers"},
    {NULL, "PrivateIpAddress", "PrivateIpAddresses"},   {NULL, "Ipv6Address", "Ipv6Addresses"},
};

static const char *const numbers[] = {
    "DeviceIndex",
    "DurationSeconds",
    "HttpPutResponseHopLimit",
    "Iops",
    "Ipv4PrefixCount",
    "Ipv6AddressCount",
    "Ipv6PrefixCount",
    "MaxCount",
    "MaxItems",
    "MaxResults",
    "MinCount",
    "NetworkCardIndex",
    "OnDemandTargetCapacity",
    "PartitionNumber",
    "Priority",
    "SecondaryPrivateIpAddressCount",
    "SpotTargetCapacity",
    "TcpEstablishedTimeout",
    "Throughput",
    "TotalTargetCapacity",
    "UdpStreamTimeout",
    "UdpTimeout",
    "VolumeInitializationRate",
    "VolumeSize",
    "WeightedCapacity",
};

static const char *const truths[] = {
    "AllAvailabilityZones",
    "AllRegions",
    "AssociatePublicIpAddress",
    "DeleteOnTermination",
    "DryRun",
    "EbsOptimized",
    "Enabled",
    "Encrypted",
    "IncludeAllInstances",
    "IncludeDeprecated",
    "IncludeDisabled",
    "PrimaryIpv6",
};

static bool one_of(const char *const *names, size_t n, str name)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static bool form_scalar(str name, struct tree *t, struct err *e)
{
    double number;

    if (one_of(truths, ARRAY_LEN(truths), name)) {
        if (!str_is(t->text, "true") && !str_is(t->text, "false"))
            return err_set(e, ERR_INVALID, "Invalid value for " STR_FMT ": want true or false", STR_ARG(name));
        *t = tree_of_bool(str_is(t->text, "true"));
    } else if (one_of(numbers, ARRAY_LEN(numbers), name)) {
        bool plain = t->text.n > 0 && t->text.n < 32;

        for (size_t i = 0; i < t->text.n; i++)
            plain = plain && strchr("0123456789+-.eE", t->text.p[i]) != NULL;
        if (!plain || !str_to_double(t->text, &number))
            return err_set(e, ERR_INVALID, "Invalid value for " STR_FMT ": want a number", STR_ARG(name));
        t->kind = TREE_NUMBER;
    }
    return true;
}

/* The JSON name of a list. */
static str list_name(struct arena *a, str parent, str wire)
{
    for (size_t i = 0; i < ARRAY_LEN(list_names); i++)
        if (str_is(wire, list_names[i].wire) && (!list_names[i].parent || str_is(parent, list_names[i].parent)))
            return str_c(list_names[i].json);
    return str_ends(wire, STR("s")) ? wire : arena_printf(a, STR_FMT "s", STR_ARG(wire));
}

static bool is_index(str key)
{
    if (key.n == 0 || key.n > 6)
        return false;
    for (size_t i = 0; i < key.n; i++)
        if (key.p[i] < '0' || key.p[i] > '9')
            return false;
    return true;
}

static int by_index(const void *x, const void *y, void *keys)
{
    int64_t a = 0, b = 0;

    (void)str_to_i64(((const str *)keys)[*(const uint32_t *)x], &a);
    (void)str_to_i64(((const str *)keys)[*(const uint32_t *)y], &b);
    return a < b ? -1 : a > b;
}

static uint32_t n_indexes(const struct tree *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n; i++)
        n += is_index(t->keys[i]);
    return n;
}

static bool indexed(const struct tree *t)
{
    return t->n > 0 && n_indexes(t) == t->n;
}

static void to_list(struct arena *a, struct tree *t)
{
    uint32_t *order = arena_new_array(a, uint32_t, t->n);
    struct tree *items = arena_new_array(a, struct tree, t->n);

    for (uint32_t i = 0; i < t->n; i++)
        order[i] = i;
    sort_stable(order, t->n, sizeof(*order), by_index, t->keys);
    for (uint32_t i = 0; i < t->n; i++)
        items[i] = t->items[order[i]];
    t->kind = TREE_LIST;
    t->items = items;
    t->keys = NULL;
    t->cap = t->n;
}

/* Lists out of maps with numbers for keys, all the way down. *name is the member's name, on the wire at first. */
static bool form_settle(struct arena *a, struct tree *t, str parent, str *name, struct err *e)
{
    if (t->kind != TREE_MAP)
        return form_scalar(*name, t, e);
    if (t->n == 1 && str_is(t->keys[0], "member") && t->items[0].kind == TREE_MAP && indexed(&t->items[0])) {
        struct tree inner = t->items[0];

        *t = inner;
        to_list(a, t);
    } else if (indexed(t)) {
        to_list(a, t);
        *name = list_name(a, parent, *name);
    }
    if (t->kind == TREE_MAP && n_indexes(t) > 0)
        return err_set(e, ERR_INVALID, STR_FMT " has numbers and names", STR_ARG(*name));
    for (uint32_t i = 0; i < t->n; i++) {
        str child = t->kind == TREE_MAP ? t->keys[i] : *name;

        if (!form_settle(a, &t->items[i], t->kind == TREE_MAP ? *name : parent, &child, e))
            return false;
        if (t->kind == TREE_MAP)
            t->keys[i] = child;
    }
    return t->kind != TREE_MAP || tree_repeated_key(t->keys, t->n) == t->n ||
           err_set(e, ERR_INVALID, "a parameter is there twice");
}

static bool is_name(str part)
{
    for (size_t i = 0; i < part.n; i++)
        if (!isalnum((unsigned char)part.p[i]) && part.p[i] != '_' && part.p[i] != '-')
            return false;
    return part.n > 0 && (is_index(part) || isalpha((unsigned char)part.p[0]));
}

static bool form_put(struct arena *a, struct tree *root, str name, str value, struct err *e)
{
    struct tree *at = root;
    str rest = name, part;

    for (unsigned depth = 0;; depth++) {
        bool more = str_cut(rest, '.', &part, &rest);

        if (!is_name(part) || depth == FORM_MAX_DEPTH || at->kind != TREE_MAP)
            return err_set(e, ERR_INVALID, "The parameter " STR_FMT " is not recognized", STR_ARG(name));
        at = tree_put(a, at, part);
        if (!more)
            break;
        if (at->kind == TREE_NULL)
            *at = *tree_new_map(a);
    }
    if (at->kind != TREE_NULL)
        return err_set(e, ERR_INVALID, "The parameter " STR_FMT " is there twice", STR_ARG(name));
    *at = tree_of_str(value);
    return true;
}

struct tree *form_read(struct arena *a, str query, str *ret_action, str *ret_version, struct err *e)
{
    struct tree *root = tree_new_map(a);
    str name, value, none = STR("");
    bool bad = false;

    *ret_action = *ret_version = STR("");
    for (uint32_t n = 0; query_next(a, &query, &name, &value, &bad); n++) {
        if (n == FORM_MAX_PARAMS) {
            (void)err_set(e, ERR_INVALID, "more than %u parameters", FORM_MAX_PARAMS);
            return NULL;
        }
        if (str_is(name, "Action"))
            *ret_action = value;
        else if (str_is(name, "Version"))
            *ret_version = value;
        else if (!form_put(a, root, name, value, e))
            return NULL;
    }
    if (bad) {
        (void)err_set(e, ERR_INVALID, "a parameter is not well escaped");
        return NULL;
    }
    if (n_indexes(root) > 0) {
        (void)err_set(e, ERR_INVALID, "a parameter's name is a number");
        return NULL;
    }
    for (uint32_t i = 0; i < root->n; i++)
        if (!form_settle(a, &root->items[i], none, &root->keys[i], e))
            return NULL;
    if (tree_repeated_key(root->keys, root->n) != root->n) {
        (void)err_set(e, ERR_INVALID, "a parameter is there twice");
        return NULL;
    }
    return root;
}
