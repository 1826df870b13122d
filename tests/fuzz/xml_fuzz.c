/* Bytes as XML: refused with a sentence and a place, or a tree in order that is the same when it is written and read again. */
#include "base/sb.h"
#include "data/edit.h"
#include "data/xml.h"
#include "roundtrip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_element(struct sb *out, str name, const struct tree *t)
{
    sb_char(out, '<');
    sb_str(out, name);
    sb_char(out, '>');
    if (t->kind == TREE_STRING)
        xml_escape(out, t->text);
    for (uint32_t i = 0; i < t->n; i++)
        write_element(out, t->kind == TREE_LIST ? STR("item") : t->keys[i], &t->items[i]);
    sb_c(out, "</");
    sb_str(out, name);
    sb_char(out, '>');
}

/* Names that repeated come back one level deeper, as a list of their own: what was as deep as allowed cannot. */
static unsigned height(const struct tree *t)
{
    unsigned most = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        unsigned h = height(&t->items[i]);

        most = MAX(most, h);
    }
    return most + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb out = {0};
    struct err e = {0};
    str root, again;
    struct tree *t = xml_read(a, (str){(const char *)data, size}, &root, &e);

    if (!t) {
        assert(e.kind == ERR_INVALID && e.msg[0] >= '1' && e.msg[0] <= '9');
        return 0;
    }
    if (!tree_is_sound(t) || height(t) > XML_MAX_DEPTH)
        return 0;
    write_element(&out, root, t);
    struct tree *back = xml_read(a, sb_view(&out), &again, &e);
    assert(back && str_eq(root, again) && tree_equal(t, back));
    sb_fini(&out);
    return 0;
}
