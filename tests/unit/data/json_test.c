#include "data/json.h"

#include "base/arena.h"
#include "base/sb.h"
#include "data/reader.h"
#include "support/check.h"

static const char *written(struct sb *sb, const char *json, bool yaml, unsigned indent)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct jw w = {.out = sb, .indent = indent, .yaml = yaml};
    const struct tree *t;
    struct err e = {0};

    check_ok(json, tree_parse_json(a, "t", str_c(json), &t, &e), &e);
    sb_reset(sb);
    jw_tree(&w, t);
    check_u64(json, w.depth, 0);
    return sb_cstr(sb);
}

static const struct {
    const char *name, *json, *pretty, *yaml;
} shapes[] = {
    {"a map", "{\"a\":1,\"b\":\"x\"}", "{\n  \"a\": 1,\n  \"b\": \"x\"\n}", "a: 1\nb: x"},
    {"nothing in it", "{\"a\":{},\"b\":[]}", "{\n  \"a\": {},\n  \"b\": []\n}", "a: {}\nb: []"},
    {"an empty map", "{}", "{}", "{}"},
    {"an empty list", "[]", "[]", "[]"},
    {"a scalar", "\"x\"", "\"x\"", "x"},
    {"lists hang under their key", "{\"a\":[1,{\"b\":2,\"c\":3}],\"d\":null}",
     "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2,\n      \"c\": 3\n    }\n  ],\n  \"d\": null\n}",
     "a:\n- 1\n- b: 2\n  c: 3\nd: null"},
    {"lists in lists", "[[1,[2]],[],[{}],[{\"a\":[true]}]]",
     "[\n  [\n    1,\n    [\n      2\n    ]\n  ],\n  [],\n  [\n    {}\n  ],\n  [\n    {\n      \"a\": [\n        true\n"
     "      ]\n    }\n  ]\n]",
     "- - 1\n  - - 2\n- []\n- - {}\n- - a:\n    - true"},
    {"maps in maps", "{\"a\":{\"b\":{\"c\":0.10}}}", "{\n  \"a\": {\n    \"b\": {\n      \"c\": 0.10\n    }\n  }\n}",
     "a:\n  b:\n    c: 0.10"},
};

static void lays_out(void **state)
{
    struct sb sb = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        check_str(shapes[i].name, str_c(written(&sb, shapes[i].json, false, 0)), shapes[i].json);
        check_str(shapes[i].name, str_c(written(&sb, shapes[i].json, false, 2)), shapes[i].pretty);
        check_str(shapes[i].name, str_c(written(&sb, shapes[i].json, true, 2)), shapes[i].yaml);
    }
    sb_fini(&sb);
}

/* What a string becomes; in YAML only what could be misread is quoted. */
static const struct {
    const char *name, *text, *json, *yaml;
} texts[] = {
    {"a word", "web", "\"web\"", "web"},
    {"a quantity", "100m", "\"100m\"", "100m"},
    {"spaces inside", "a b", "\"a b\"", "a b"},
    {"a label key", "karpenter.sh/nodepool", "\"karpenter.sh/nodepool\"", "karpenter.sh/nodepool"},
    {"nothing", "", "\"\"", "\"\""},
    {"a word that is a boolean", "yes", "\"yes\"", "\"yes\""},
    {"a letter that is one", "n", "\"n\"", "\"n\""},
    {"null", "null", "\"null\"", "\"null\""},
    {"a number", "10", "\"10\"", "\"10\""},
    {"hexadecimal", "0x1f", "\"0x1f\"", "\"0x1f\""},
    {"infinity", ".inf", "\".inf\"", "\".inf\""},
    {"a date", "2026-01-02", "\"2026-01-02\"", "\"2026-01-02\""},
    {"minutes for other readers", "1:30", "\"1:30\"", "\"1:30\""},
    {"a mapping", "a: b", "\"a: b\"", "\"a: b\""},
    {"a colon inside", "a:b", "\"a:b\"", "a:b"},
    {"a colon at the end", "a:", "\"a:\"", "\"a:\""},
    {"a comment", "a #b", "\"a #b\"", "\"a #b\""},
    {"no comment", "a#b", "\"a#b\"", "a#b"},
    {"a space in front", " a", "\" a\"", "\" a\""},
    {"a space at the end", "a ", "\"a \"", "\"a \""},
    {"an alias", "*a", "\"*a\"", "\"*a\""},
    {"a list item", "- a", "\"- a\"", "\"- a\""},
    {"a flag", "--level=info", "\"--level=info\"", "--level=info"},
    {"a document", "--- a", "\"--- a\"", "\"--- a\""},
    {"a merge key", "<<", "\"<<\"", "\"<<\""},
    {"quotes and a backslash", "a\"\\", "\"a\\\"\\\\\"", "a\"\\"},
    {"control characters", "a\n\t\x01\x7f", "\"a\\n\\t\\u0001\\u007f\"", "\"a\\n\\t\\u0001\\u007f\""},
    {"UTF-8", "grün", "\"grün\"", "\"grün\""},
    {"beyond the basic plane", "😀", "\"😀\"", "\"😀\""},
    {"what YAML takes for breaks", "\xc2\x85\xe2\x80\xa8\xef\xbb\xbf", "\"\\u0085\\u2028\\ufeff\"",
     "\"\\u0085\\u2028\\ufeff\""},
    {"not UTF-8", "a\xff\xc3", "\"a\xef\xbf\xbd\xef\xbf\xbd\"", "\"a\xef\xbf\xbd\xef\xbf\xbd\""},
};

static void quotes(void **state)
{
    struct sb sb = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct jw json = {.out = &sb}, yaml = {.out = &sb, .yaml = true};

        sb_reset(&sb);
        jw_c(&json, texts[i].text);
        check_str(texts[i].name, sb_view(&sb), texts[i].json);
        sb_reset(&sb);
        jw_c(&yaml, texts[i].text);
        check_str(texts[i].name, sb_view(&sb), texts[i].yaml);
    }
    sb_fini(&sb);
}

static bool same(const struct tree *a, const struct tree *b)
{
    if (a->kind != b->kind || a->n != b->n || a->truth != b->truth || !str_eq(tree_scalar(a), tree_scalar(b)))
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if ((a->keys && !str_eq(a->keys[i], b->keys[i])) || !same(&a->items[i], &b->items[i]))
            return false;
    return true;
}

/* Every string of `texts` as key, as value and in lists; read back from both formats. */
static void is_read_back_equal(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb json_text = {0}, yaml_text = {0};
    const struct tree *json, *yaml;
    struct err e = {0};

    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        struct jw w = {.out = pass ? &yaml_text : &json_text, .indent = 2, .yaml = pass == 1};

        jw_map(&w);
        for (size_t i = 0; i < ARRAY_LEN(texts) - 1; i++) { /* the last one is not UTF-8 */
            jw_key(&w, texts[i].text);
            jw_list(&w);
            jw_c(&w, texts[i].text);
            jw_map(&w);
            jw_key(&w, "v");
            jw_c(&w, texts[i].text);
            jw_end(&w);
            jw_end(&w);
        }
        char longest[3000];
        memset(longest, 'k', sizeof(longest));
        jw_key_str(&w, (str){longest, sizeof(longest)});
        jw_str(&w, (str){longest, sizeof(longest)});
        jw_key(&w, "numbers");
        jw_list(&w);
        jw_i64(&w, INT64_MIN);
        jw_double(&w, 0.1);
        jw_double(&w, 1e300);
        jw_double(&w, 1.0 / 0.0);
        jw_bool(&w, true);
        jw_c(&w, NULL);
        jw_number(&w, STR("1.50"));
        jw_tree(&w, NULL);
        jw_end(&w);
        jw_end(&w);
    }
    check_ok("json", tree_parse_json(a, "json", sb_view(&json_text), &json, &e), &e);
    check_ok("yaml", tree_parse_yaml(a, "yaml", sb_view(&yaml_text), &yaml, &e), &e);
    check_true("equal", same(json, yaml));
    check_u64("all of it", json->n, ARRAY_LEN(texts) + 1);
    sb_fini(&json_text);
    sb_fini(&yaml_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lays_out),
        cmocka_unit_test(quotes),
        cmocka_unit_test(is_read_back_equal),
    };

    return cmocka_run_group_tests_name("data/json", tests, NULL, NULL);
}
