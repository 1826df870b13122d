/* JSON patch (RFC 6902), with the liberties that Kubernetes' library takes: what comes before the first slash of a path is not
 * looked at, indexes may have a sign, and whatever goes wrong is told in one and the same sentence. */
#include "base/sb.h"
#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "sim/kube/patch.h"
#include "sim/kube/patch_impl.h"
#include "sim/kube/status.h"

#define MAX_OPERATIONS 10000u
#define MAX_COPIED ((size_t)3 << 20) /* bytes that copies may add to an object */

struct run {
    struct arena *a;
    struct tree *root;
    size_t copied;
};

/* Where an operation works: a member of a map, or a place in a list. */
struct place {
    struct tree *in;
    str key;
    unsigned depth;
};

/* "~1" is a slash, "~0" a tilde; in this order, so that "~01" is "~1". */
static str unescape(struct arena *a, str s)
{
    char *p;
    size_t n = 0;

    if (!s.n || !memchr(s.p, '~', s.n))
        return s;
    p = arena_alloc(a, s.n, 1);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '~' && i + 1 < s.n && (s.p[i + 1] == '0' || s.p[i + 1] == '1'))
            p[n++] = s.p[++i] == '0' ? '~' : '/';
        else
            p[n++] = s.p[i];
    }
    return (str){p, n};
}

/* An index below `n`, counted from the end when it is negative. */
static bool index_of(str key, uint32_t n, uint32_t *ret)
{
    int64_t v;

    if (!str_to_i64(key, &v))
        return false;
    if (v < 0)
        v += n;
    if (v < 0 || v >= n)
        return false;
    *ret = (uint32_t)v;
    return true;
}

/* What is at the place; *ret is NULL for a member that a map does not have. */
static bool value_at(struct place at, struct tree **ret)
{
    uint32_t i;

    if (at.in->kind == TREE_MAP) {
        *ret = tree_find(at.in, at.key);
        return true;
    }
    if (!index_of(at.key, at.in->n, &i))
        return false;
    *ret = &at.in->items[i];
    return true;
}

static bool find(struct run *r, str path, struct place *ret)
{
    struct place at = {.in = r->root};
    str part;

    if (!str_cut(path, '/', &part, &path))
        return false;
    for (bool more = true; more;) {
        if (at.depth && (!value_at(at, &at.in) || !at.in))
            return false;
        if (at.in->kind != TREE_MAP && at.in->kind != TREE_LIST)
            return false;
        more = str_cut(path, '/', &part, &path);
        at.key = unescape(r->a, part);
        at.depth++;
    }
    *ret = at;
    return true;
}

static unsigned depth_of(const struct tree *t)
{
    unsigned most = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        unsigned depth = 1 + depth_of(&t->items[i]);

        most = MAX(most, depth);
    }
    return most;
}

static bool add(struct run *r, str path, const struct tree *value)
{
    struct place at;
    uint32_t i;

    if (!find(r, path, &at) || at.depth + depth_of(value) > READER_MAX_DEPTH)
        return false;
    if (at.in->kind == TREE_MAP) {
        *tree_put(r->a, at.in, arena_strdup(r->a, at.key)) = *tree_copy(r->a, value);
        return true;
    }
    if (str_is(at.key, "-"))
        i = at.in->n;
    else if (!index_of(at.key, at.in->n + 1, &i))
        return false;
    tree_insert(r->a, at.in, i, *tree_copy(r->a, value));
    return true;
}

static bool take_out(struct run *r, str path)
{
    struct place at;
    uint32_t i;

    if (!find(r, path, &at))
        return false;
    if (at.in->kind == TREE_MAP)
        return tree_drop(at.in, at.key);
    if (!index_of(at.key, at.in->n, &i))
        return false;
    tree_remove(at.in, i);
    return true;
}

static bool replace(struct run *r, str path, const struct tree *value)
{
    struct place at;
    struct tree *old;

    if (!path.n) {
        *r->root = *tree_copy(r->a, value);
        return true;
    }
    if (!find(r, path, &at) || !value_at(at, &old) || at.depth + depth_of(value) > READER_MAX_DEPTH)
        return false;
    if (!old)
        old = tree_put(r->a, at.in, arena_strdup(r->a, at.key));
    *old = *tree_copy(r->a, value);
    return true;
}

static bool test(struct run *r, str path, const struct tree *value)
{
    struct place at;
    struct tree *there;

    if (!path.n)
        return tree_equal(r->root, value);
    if (!find(r, path, &at) || !value_at(at, &there))
        return false;
    return there ? tree_equal(there, value) : value->kind == TREE_NULL;
}

static size_t json_size(const struct tree *t)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_tree(&w, t);
    size_t n = b.n;
    sb_fini(&b);
    return n;
}

static bool copy(struct run *r, str from, str path)
{
    static const struct tree none = {.kind = TREE_NULL};
    struct place at;
    struct tree *t;

    if (!find(r, from, &at) || !value_at(at, &t))
        return false;
    const struct tree *value = t ? tree_copy(r->a, t) : &none;
    r->copied += json_size(value);
    return r->copied <= MAX_COPIED && add(r, path, value);
}

static bool move(struct run *r, str from, str path)
{
    struct place at;
    struct tree *t;

    if (!find(r, from, &at) || !value_at(at, &t) || !t)
        return false;
    const struct tree *value = tree_copy(r->a, t);
    return take_out(r, from) && add(r, path, value);
}

static bool operate(struct run *r, const struct tree *op)
{
    static const struct tree none = {.kind = TREE_NULL};
    const struct tree *value = tree_get(op, "value");
    str name = tree_str(tree_get(op, "op")), path = tree_str(tree_get(op, "path"));
    str from = tree_str(tree_get(op, "from"));

    if (!value)
        value = &none;
    if (!tree_get(op, "path"))
        return false;
    if (str_is(name, "add"))
        return add(r, path, value);
    if (str_is(name, "remove"))
        return take_out(r, path);
    if (str_is(name, "replace"))
        return replace(r, path, value);
    if (str_is(name, "test"))
        return test(r, path, value);
    if (str_is(name, "copy"))
        return copy(r, from, path);
    if (str_is(name, "move"))
        return move(r, from, path);
    return false;
}

/* Whether the patch is a list of operations at all. */
static bool decodes(struct arena *a, const struct tree *patch, struct status *st)
{
    static const char *const texts[] = {"op", "path", "from"};

    if (patch->kind != TREE_LIST)
        return refuse(a, st, 400, "BadRequest",
                      "error decoding patch: json: cannot unmarshal %s into Go value of type []handlers.jsonPatchOp",
                      go_json_kind(patch));
    for (uint32_t i = 0; i < patch->n; i++) {
        const struct tree *op = &patch->items[i];

        if (op->kind != TREE_MAP && op->kind != TREE_NULL)
            return refuse(a, st, 400, "BadRequest",
                          "error decoding patch: json: cannot unmarshal %s into Go value of type handlers.jsonPatchOp",
                          go_json_kind(op));
        for (size_t j = 0; j < ARRAY_LEN(texts); j++) {
            const struct tree *t = tree_get(op, texts[j]);

            if (t && t->kind != TREE_STRING)
                return refuse(a, st, 400, "BadRequest",
                              "error decoding patch: json: cannot unmarshal %s into Go struct field jsonPatchOp.%s of "
                              "type string",
                              go_json_kind(t), texts[j]);
        }
    }
    if (patch->n > MAX_OPERATIONS)
        return refuse(a, st, 413, "RequestEntityTooLarge",
                      "Request entity too large: The allowed maximum operations in a JSON patch is %u, got %u",
                      MAX_OPERATIONS, patch->n);
    return true;
}

bool patch_json(struct arena *a, struct tree *target, const struct tree *patch, struct status *st)
{
    struct run r = {.a = a, .root = target};

    if (patch->kind == TREE_NULL)
        return true;
    if (!decodes(a, patch, st))
        return false;
    for (uint32_t i = 0; i < patch->n; i++)
        if (!operate(&r, &patch->items[i]))
            return status_blank(a, st, 422, "the server rejected our request due to an error in our request");
    return true;
}
