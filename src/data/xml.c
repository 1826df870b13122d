/* The only file that talks to expat. Elements that have ended wait on a stack until their parent ends, which moves them into one array: a list, or a map with one
 * member per name. Names are numbered as they are met, so that members are told apart without comparing texts. */
#include "data/xml.h"

#include <expat.h>

#include "base/map.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "data/reader.h"

#define NAMESPACE_ENDS '\n' /* expat puts this between a namespace and a name, which cannot hold it */

struct name {
    str text;
    uint32_t element; /* the last one that had a child of this name, and its member there */
    uint32_t member;
};

struct open {
    uint32_t name, first; /* the stack's height when it began: its children are above */
    uint32_t line, col;
};

struct child {
    uint32_t name, member;
    struct tree value;
};

struct xml {
    XML_Parser parser;
    struct arena *a;
    struct strmap name_ix;
    VEC(struct name) names;
    VEC(struct open) open;
    VEC(struct child) done;
    VEC(uint32_t) times; /* how often a member's name occurs in the element that ends */
    uint32_t n_nodes, n_ended;
    struct sb text; /* since the last tag */
    uint32_t root;  /* name of the root element */
    struct err *e;
    bool refused;
};

/* ---- places ---- */

static void place(const struct xml *x, uint32_t *ret_line, uint32_t *ret_col)
{
    *ret_line = (uint32_t)MIN(XML_GetCurrentLineNumber(x->parser), (XML_Size)UINT32_MAX);
    *ret_col = (uint32_t)MIN(XML_GetCurrentColumnNumber(x->parser) + 1, (XML_Size)UINT32_MAX);
}

/* Expat may tell of more events before it stops; they are not looked at. */
static void refuse(struct xml *x, const char *what)
{
    uint32_t line, col;

    if (x->refused)
        return;
    place(x, &line, &col);
    x->refused = true;
    (void)err_set(x->e, ERR_INVALID, "%u:%u: %s", line, col, what);
    (void)XML_StopParser(x->parser, XML_FALSE);
}

/* ---- elements ---- */

static uint32_t name_of(struct xml *x, const char *c)
{
    const char *space = strrchr(c, NAMESPACE_ENDS);
    str text = str_c(space ? space + 1 : c);
    uint32_t ix = strmap_get(&x->name_ix, text);

    if (ix == MAP_NONE) {
        text = arena_strdup(x->a, text);
        ix = x->names.n;
        vec_push(&x->names, (struct name){.text = text});
        strmap_put(&x->name_ix, text, ix);
    }
    return ix;
}

static void XMLCALL on_start(void *ctx, const XML_Char *c, const XML_Char **attributes)
{
    struct xml *x = ctx;
    struct open o = {.first = x->done.n};

    (void)attributes;
    if (x->refused)
        return;
    if (x->open.n == XML_MAX_DEPTH) {
        refuse(x, "elements are nested too deep");
        return;
    }
    if (x->n_nodes++ == READER_MAX_NODES) {
        refuse(x, "too many elements");
        return;
    }
    o.name = name_of(x, c);
    place(x, &o.line, &o.col);
    vec_push(&x->open, o);
    sb_reset(&x->text);
}

static bool all_named(const struct xml *x, const struct child *c, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (!str_is(x->names.v[c[i].name].text, name))
            return false;
    return true;
}

static void make_list(struct xml *x, const struct child *c, uint32_t n, struct tree *t)
{
    t->kind = TREE_LIST;
    t->n = n;
    t->items = arena_new_array(x->a, struct tree, n);
    for (uint32_t i = 0; i < n; i++)
        t->items[i] = c[i].value;
}

/* Which member of the map every child belongs to. */
static void number_members(struct xml *x, struct child *c, uint32_t n)
{
    uint32_t element = ++x->n_ended; /* no other element has this number */

    x->times.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct name *name = &x->names.v[c[i].name];

        if (name->element != element) {
            name->element = element;
            name->member = x->times.n;
            vec_push(&x->times, 0);
        }
        c[i].member = name->member;
        x->times.v[name->member]++;
    }
}

static void make_map(struct xml *x, struct child *c, uint32_t n, struct tree *t)
{
    number_members(x, c, n);
    t->kind = TREE_MAP;
    t->n = x->times.n;
    t->items = arena_new_array(x->a, struct tree, t->n);
    t->keys = arena_new_array(x->a, str, t->n);
    for (uint32_t i = 0; i < n; i++) {
        struct tree *m = &t->items[c[i].member];

        t->keys[c[i].member] = x->names.v[c[i].name].text;
        if (x->times.v[c[i].member] == 1) {
            *m = c[i].value;
            continue;
        }
        if (!m->items) {
            m->kind = TREE_LIST;
            m->line = c[i].value.line;
            m->col = c[i].value.col;
            m->items = arena_new_array(x->a, struct tree, x->times.v[c[i].member]);
        }
        m->items[m->n++] = c[i].value;
    }
}

static void XMLCALL on_end(void *ctx, const XML_Char *c)
{
    struct xml *x = ctx;

    (void)c;
    if (x->refused)
        return;

    struct open o = vec_last(&x->open);
    uint32_t n = x->done.n - o.first;
    struct tree t = {.kind = TREE_STRING, .line = o.line, .col = o.col};

    if (n == 0)
        t.text = sb_dup(&x->text, x->a);
    else if (all_named(x, &x->done.v[o.first], n, "item") || all_named(x, &x->done.v[o.first], n, "member"))
        make_list(x, &x->done.v[o.first], n, &t);
    else
        make_map(x, &x->done.v[o.first], n, &t);
    x->done.n = o.first;
    x->open.n--;
    vec_push(&x->done, (struct child){.name = o.name, .value = t});
    x->root = o.name;
    sb_reset(&x->text);
}

static void XMLCALL on_text(void *ctx, const XML_Char *p, int n)
{
    struct xml *x = ctx;

    sb_bytes(&x->text, p, (size_t)n);
}

static void XMLCALL on_doctype(void *ctx, const XML_Char *name, const XML_Char *system_id, const XML_Char *public_id,
                               int has_internal)
{
    (void)name, (void)system_id, (void)public_id, (void)has_internal;
    refuse(ctx, "a DOCTYPE is not accepted");
}

/* ---- the whole ---- */

static struct tree *parse(struct xml *x, str text)
{
    if (text.n > READER_MAX_OBJECT) {
        (void)err_set(x->e, ERR_INVALID, "1:1: XML of more than %u MiB", READER_MAX_OBJECT >> 20);
        return NULL;
    }
    XML_SetUserData(x->parser, x);
    XML_SetElementHandler(x->parser, on_start, on_end);
    XML_SetCharacterDataHandler(x->parser, on_text);
    XML_SetStartDoctypeDeclHandler(x->parser, on_doctype);
    if (XML_Parse(x->parser, text.n ? text.p : "", (int)text.n, XML_TRUE) != XML_STATUS_OK)
        refuse(x, XML_ErrorString(XML_GetErrorCode(x->parser)));
    if (x->refused)
        return NULL;
    assert(x->done.n == 1 && x->open.n == 0);
    return arena_memdup(x->a, &x->done.v[0].value, sizeof(struct tree), alignof(struct tree));
}

struct tree *xml_read(struct arena *a, str text, str *ret_root, struct err *e)
{
    const XML_Memory_Handling_Suite memory = {xmalloc, xrealloc, free}; /* no memory: abort, as everywhere */
    const XML_Char separator[] = {NAMESPACE_ENDS, '\0'};
    struct xml x = {.a = a, .e = e, .parser = XML_ParserCreate_MM(NULL, &memory, separator)};

    struct tree *t = parse(&x, text);
    if (t)
        *ret_root = x.names.v[x.root].text;
    XML_ParserFree(x.parser);
    strmap_fini(&x.name_ix);
    vec_fini(&x.names);
    vec_fini(&x.open);
    vec_fini(&x.done);
    vec_fini(&x.times);
    sb_fini(&x.text);
    return t;
}

/* ---- writing ---- */

static const char *escape_of(uint32_t c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&apos;";
    case '\r': /* readers take a bare one for a line feed */
        return "&#13;";
    default:
        return NULL;
    }
}

static bool xml_holds(uint32_t c)
{
    return c >= 0x20 ? c != 0xfffe && c != 0xffff : c == '\t' || c == '\n' || c == '\r';
}

void xml_escape(struct sb *out, str text)
{
    for (size_t at = 0; at < text.n;) {
        uint32_t c;
        int len = utf8_char((const unsigned char *)text.p + at, text.n - at, &c);

        if (len > 0 && xml_holds(c)) {
            const char *escape = escape_of(c);

            escape ? sb_c(out, escape) : sb_bytes(out, text.p + at, (size_t)len);
        }
        at += (size_t)MAX(len, 1);
    }
}
