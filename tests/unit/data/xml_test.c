#include "data/xml.h"

#include "base/sb.h"
#include "data/json.h"
#include "data/reader.h"
#include "support/check.h"

static const struct {
    const char *name, *xml, *root, *want; /* want: the tree as JSON */
} reads[] = {
    {"a text", "<a>b</a>", "a", "\"b\""},
    {"an empty element is an empty text", "<a/>", "a", "\"\""},
    {"blanks are a text where nothing else is", "<a>  </a>", "a", "\"  \""},
    {"a map", "<a>\n  <b>1</b>\n  <c>2</c>\n</a>", "a", "{\"b\":\"1\",\"c\":\"2\"}"},
    {"children called item are a list", "<a><set><item>1</item><item>2</item></set></a>", "a",
     "{\"set\":[\"1\",\"2\"]}"},
    {"children called member too", "<a><Tags><member><Key>k</Key></member></Tags></a>", "a",
     "{\"Tags\":[{\"Key\":\"k\"}]}"},
    {"an empty list is an empty text", "<a><set/></a>", "a", "{\"set\":\"\"}"},
    {"the root can be a list", "<a><item/></a>", "a", "[\"\"]"},
    {"item and member together are a map", "<a><item>1</item><member>2</member></a>", "a",
     "{\"item\":\"1\",\"member\":\"2\"}"},
    {"item among others is a member", "<a><item>1</item><n>2</n></a>", "a", "{\"item\":\"1\",\"n\":\"2\"}"},
    {"names that repeat make a list where the first stood", "<a><e><c>1</c></e><x>y</x><e><c>2</c></e><e>z</e></a>",
     "a", "{\"e\":[{\"c\":\"1\"},{\"c\":\"2\"},\"z\"],\"x\":\"y\"}"},
    {"names repeat only within their parent", "<a><b><x>1</x></b><c><x>2</x></c></a>", "a",
     "{\"b\":{\"x\":\"1\"},\"c\":{\"x\":\"2\"}}"},
    {"lists that repeat", "<a><s><item>1</item></s><s><item>2</item></s></a>", "a", "{\"s\":[[\"1\"],[\"2\"]]}"},
    {"namespaces and attributes are dropped", "<p:a xmlns:p=\"u\" xmlns='v w' k='v'><p:b p:c=\"d\">1</p:b><c/></p:a>",
     "a", "{\"b\":\"1\",\"c\":\"\"}"},
    {"a declaration, comments, instructions",
     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- c --><a><?p i?>b<!-- d -->c</a>\n", "a", "\"bc\""},
    {"text beside children is dropped", "<a>x<b>1</b>y</a>", "a", "{\"b\":\"1\"}"},
    {"the five entities and numbers", "<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x42;&#13;</a>", "a", "\"<>&\\\"'AB\\r\""},
    {"character data as it is", "<a><![CDATA[<b>&amp;</b>]]></a>", "a", "\"<b>&amp;</b>\""},
    {"lines end in one way", "<a>1\r\n2\r3</a>", "a", "\"1\\n2\\n3\""},
    {"other encodings become UTF-8", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>", "a", "\"\xc3\xa9\""},
    {"a byte order mark", "\xef\xbb\xbf<a/>", "a", "\"\""},
};

static void maps_elements(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct err e = {0};
        str root = {0};
        struct tree *t = xml_read(a, str_c(reads[i].xml), &root, &e);

        check_ok(reads[i].name, t != NULL, &e);
        check_str(reads[i].name, json_text(a, t), reads[i].want);
        check_str(reads[i].name, root, reads[i].root);
    }
}

static const struct {
    const char *name, *xml, *want;
} refusals[] = {
    {"nothing", "", "1:1: no element found"},
    {"no element", "  \n", "2:1: no element found"},
    {"a page of a web server", "<html><body>Internal Server Error<br></body></html>", "1:40: mismatched tag"},
    {"not XML", "{\"a\": 1}", "1:1: not well-formed (invalid token)"},
    {"the end is missing", "<a>\n<b>1</b>", "2:9: no element found"},
    {"a prefix that was not declared", "<p:a/>", "1:1: unbound prefix"},
    {"two roots", "<a/><b/>", "1:5: junk after document element"},
    {"a DOCTYPE", "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", "1:13: a DOCTYPE is not accepted"},
    {"a DOCTYPE from elsewhere", "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>", "1:40: a DOCTYPE is not accepted"},
    {"an entity that nobody knows", "<a>&x;</a>", "1:4: undefined entity"},
    {"not UTF-8", "<a>\xff</a>", "1:4: not well-formed (invalid token)"},
    {"an encoding that nobody knows", "<?xml version=\"1.0\" encoding=\"x-none\"?><a/>", "1:31: unknown encoding"},
};

static void refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct err e = {0};
        str root = STR("untouched");

        check_true(refusals[i].name, xml_read(a, str_c(refusals[i].xml), &root, &e) == NULL);
        check_str(refusals[i].name, str_c(e.msg), refusals[i].want);
        check_true(refusals[i].name, e.kind == ERR_INVALID);
        check_str(refusals[i].name, root, "untouched");
    }
}

static struct tree *nested(struct arena *a, unsigned levels, struct err *e)
{
    struct sb b = {0};
    str root;

    for (unsigned i = 0; i < levels; i++)
        sb_c(&b, "<a>");
    for (unsigned i = 0; i < levels; i++)
        sb_c(&b, "</a>");
    struct tree *t = xml_read(a, sb_view(&b), &root, e);
    sb_fini(&b);
    return t;
}

static void bounds_depth(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e = {0};

    (void)state;
    check_ok("as deep as allowed", nested(a, XML_MAX_DEPTH, &e) != NULL, &e);
    check_true("one deeper", nested(a, XML_MAX_DEPTH + 1, &e) == NULL);
    check_str("one deeper", str_c(e.msg), "1:145: elements are nested too deep");
}

/* The length is refused before a byte is looked at. */
static void bounds_size(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e = {0};
    str root;

    (void)state;
    check_true("too long", xml_read(a, (str){"<", (size_t)READER_MAX_OBJECT + 1}, &root, &e) == NULL);
    check_str("too long", str_c(e.msg), "1:1: XML of more than 64 MiB");
}

static void remembers_places(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct err e = {0};
    str root;
    struct tree *t = xml_read(a, STR("<a>\n  <b>1</b><c>2</c>\n  <b>3</b></a>"), &root, &e);

    (void)state;
    check_ok("read", t != NULL, &e);
    check_u64("root", t->line * 100 + t->col, 101);
    check_u64("c", tree_get(t, "c")->line * 100 + tree_get(t, "c")->col, 211);
    check_u64("b as a list", tree_get(t, "b")->line * 100 + tree_get(t, "b")->col, 203);
    check_u64("the second b", tree_get(t, "b")->items[1].line * 100 + tree_get(t, "b")->items[1].col, 303);
}

static const struct {
    const char *name;
    str text;
    const char *want;
} escapes[] = {
    {"plain", STR_INIT("a b\xc3\xa9"), "a b\xc3\xa9"},
    {"the five", STR_INIT("<a href='x'>\"&\"</a>"), "&lt;a href=&apos;x&apos;&gt;&quot;&amp;&quot;&lt;/a&gt;"},
    {"white space stays", STR_INIT("\t\n\r"), "\t\n&#13;"},
    {"control characters go", STR_INIT("a\0b\x01\x1f\x7f"), "ab\x7f"},
    {"so does what is not UTF-8", STR_INIT("a\xff\xc3z\xed\xa0\x80"), "az"},
    {"and what is no character", STR_INIT("a\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbdz"), "a\xef\xbf\xbdz"},
};

static void escapes_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(escapes); i++) {
        struct sb b = {0};

        xml_escape(&b, escapes[i].text);
        check_str(escapes[i].name, sb_view(&b), escapes[i].want);
        sb_fini(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_elements), cmocka_unit_test(refuses),          cmocka_unit_test(bounds_depth),
        cmocka_unit_test(bounds_size),   cmocka_unit_test(remembers_places), cmocka_unit_test(escapes_text),
    };

    return cmocka_run_group_tests_name("data/xml", tests, NULL, NULL);
}
