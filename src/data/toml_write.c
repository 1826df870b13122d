/* The writer. A map is a table with a header of its own unless it stands in a list with something else, or inside such a table: then it is written in line. */
#include "base/sort.h"
#include "base/utf8.h"
#include "data/toml.h"

bool toml_is_int(const struct tree *t)
{
    int64_t v;

    return t->kind == TREE_NUMBER && str_to_i64(t->text, &v);
}

/* ---- order ---- */

struct member {
    str key;
    struct tree value;
};

static bool member_before(const struct member *x, const struct member *y, const void *ctx UNUSED)
{
    return str_cmp(x->key, y->key) < 0;
}

SORT_DEFINE(sort_members, struct member, member_before)

static void sort_map(struct tree *t)
{
    struct member *v = xcalloc(t->n + 1, sizeof(*v));

    for (uint32_t i = 0; i < t->n; i++)
        v[i] = (struct member){t->keys[i], t->items[i]};
    sort_members(v, t->n, NULL);
    for (uint32_t i = 0; i < t->n; i++) {
        t->keys[i] = v[i].key;
        t->items[i] = v[i].value;
    }
    free(v);
}

void toml_sort(struct tree *map, bool deep)
{
    if (map->kind == TREE_MAP)
        sort_map(map);
    if (deep && (map->kind == TREE_MAP || map->kind == TREE_LIST))
        for (uint32_t i = 0; i < map->n; i++)
            toml_sort(&map->items[i], deep);
}

/* ---- scalars ---- */

static bool fits_literal(str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c == '\'' || c < 0x20 || c == 0x7f)
            return false;
    }
    return true;
}

static void write_string(struct sb *b, str s)
{
    static const char letter[128] = {
        ['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};

    if (fits_literal(s)) {
        sb_printf(b, "'" STR_FMT "'", STR_ARG(s));
        return;
    }
    sb_char(b, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c < sizeof(letter) && letter[c])
            sb_printf(b, "\\%c", letter[c]);
        else if (c < 0x20 || c == 0x7f)
            sb_printf(b, "\\u%04X", c);
        else
            sb_char(b, (char)c);
    }
    sb_char(b, '"');
}

static void write_key(struct sb *b, str key)
{
    bool bare = key.n != 0;

    for (size_t i = 0; i < key.n && bare; i++) {
        char c = key.p[i];

        bare = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    }
    if (bare)
        sb_str(b, key);
    else
        write_string(b, key);
}

static void write_value(struct sb *b, const struct tree *t);

static void write_list(struct sb *b, const struct tree *t)
{
    sb_char(b, '[');
    for (uint32_t i = 0; i < t->n; i++) {
        sb_c(b, i ? ", " : "");
        write_value(b, &t->items[i]);
    }
    sb_char(b, ']');
}

static void write_inline(struct sb *b, const struct tree *t)
{
    bool any = false;

    sb_char(b, '{');
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->items[i].kind == TREE_NULL)
            continue;
        sb_c(b, any ? ", " : "");
        write_key(b, t->keys[i]);
        sb_c(b, " = ");
        write_value(b, &t->items[i]);
        any = true;
    }
    sb_char(b, '}');
}

static void write_value(struct sb *b, const struct tree *t)
{
    switch (t->kind) {
    case TREE_NULL: /* TOML has none: members are left out, and lists have none */
        return;
    case TREE_BOOL:
        sb_c(b, t->truth ? "true" : "false");
        return;
    case TREE_NUMBER:
        sb_str(b, t->text);
        return;
    case TREE_STRING:
        write_string(b, t->text);
        return;
    case TREE_LIST:
        write_list(b, t);
        return;
    case TREE_MAP:
        write_inline(b, t);
        return;
    }
}

/* ---- tables ---- */

struct path {
    const struct path *up;
    str key;
};

static bool is_table_list(const struct tree *t)
{
    if (t->kind != TREE_LIST || t->n == 0)
        return false;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i].kind != TREE_MAP)
            return false;
    return true;
}

static void write_path(struct sb *b, const struct path *p)
{
    if (p->up) {
        write_path(b, p->up);
        sb_char(b, '.');
    }
    write_key(b, p->key);
}

static void write_table(struct sb *b, const struct path *path, const struct tree *t);

static void write_header(struct sb *b, const struct path *path, bool list)
{
    sb_c(b, list ? "[[" : "[");
    write_path(b, path);
    sb_c(b, list ? "]]\n" : "]\n");
}

static void write_sub(struct sb *b, const struct path *path, const struct tree *t)
{
    if (t->kind == TREE_MAP) {
        write_header(b, path, /* list= */ false);
        write_table(b, path, t);
        return;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        sb_c(b, i ? "\n" : "");
        write_header(b, path, /* list= */ true);
        write_table(b, path, &t->items[i]);
    }
}

/* What has no header of its own comes first. */
static void write_table(struct sb *b, const struct path *path, const struct tree *t)
{
    bool any = false;

    for (uint32_t i = 0; i < t->n; i++) {
        if (t->items[i].kind == TREE_NULL || t->items[i].kind == TREE_MAP || is_table_list(&t->items[i]))
            continue;
        write_key(b, t->keys[i]);
        sb_c(b, " = ");
        write_value(b, &t->items[i]);
        sb_char(b, '\n');
        any = true;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->items[i].kind != TREE_MAP && !is_table_list(&t->items[i]))
            continue;
        sb_c(b, any ? "\n" : "");
        write_sub(b, &(struct path){path, t->keys[i]}, &t->items[i]);
        any = true;
    }
}

void toml_write(struct sb *out, const struct tree *t)
{
    write_table(out, NULL, t);
}
