#include "base/rng.h"
#include "data/reader.h"

#include "data/edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/sb.h"
#include "data/json.h"
#include "support/check.h"

/* Everything a reader hands out, compact, one object a line; then "! " and the error, if there is one. */
static void read_all(struct sb *out, const char *name, str bytes)
{
    struct err e = {0};
    AUTO(reader) struct reader *r = reader_open_bytes(name, bytes, &e);
    const struct tree *t = NULL;

    sb_reset(out);
    while (reader_next(r, &t, &e) && t) {
        struct jw w = {.out = out};

        jw_tree(&w, t);
        sb_char(out, '\n');
    }
    if (e.kind != ERR_NONE)
        sb_printf(out, "! %s", e.msg);
}

struct read_case {
    const char *name, *file, *bytes, *want;
};

static void check_cases(const struct read_case *cases, size_t n)
{
    struct sb out = {0};

    for (size_t i = 0; i < n; i++) {
        read_all(&out, cases[i].file, str_c(cases[i].bytes));
        check_str(cases[i].name, sb_view(&out), cases[i].want);
    }
    sb_fini(&out);
}

static const struct read_case good_json[] = {
    {"nothing", "f.json", "", ""},
    {"white space", "f.json", " \n\t\r\n", ""},
    {"null is passed over", "f.json", "null", ""},
    {"an object", "f.json", "{\"a\": [1, 2.50, true, false, null, \"x\", {}, []]}",
     "{\"a\":[1,2.50,true,false,null,\"x\",{},[]]}\n"},
    {"one after the other", "f.json", "{\"a\":1}{\"b\":2}\r\n\r\n {\"c\":3}", "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n"},
    {"a list at the top", "f.json", "[{\"a\":1}, {\"b\":2}] [] [{\"c\":3}]", "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n"},
    {"a byte order mark", "f.json", "\xef\xbb\xbf{\"a\":1}", "{\"a\":1}\n"},
    {"numbers stay as written", "f.json", "{\"a\":[0.10,1e3,-0,1E-7,123456789012345678901234567890]}",
     "{\"a\":[0.10,1e3,-0,1E-7,123456789012345678901234567890]}\n"},
    {"escapes", "f.json", "{\"\\u0061\\n\":\"\\ud83d\\ude00\\/\\\"\"}", "{\"a\\n\":\"😀/\\\"\"}\n"},
    {"a List, its kind first", "f.json", "{\"kind\":\"List\",\"items\":[{\"a\":1},{\"a\":2}],\"metadata\":{}}",
     "{\"a\":1}\n{\"a\":2}\n"},
    {"a List, its kind last", "f.json",
     "{\"apiVersion\":\"v1\", \"items\" : [ {\"a\":1} , {\"a\":2} ] , \"kind\":\"List\"}", "{\"a\":1}\n{\"a\":2}\n"},
    {"an empty List", "f.json", "{\"items\":[],\"kind\":\"List\"}{\"a\":1}", "{\"a\":1}\n"},
    {"no kind at all", "f.json", "{\"items\":[{\"a\":1}]}", "{\"a\":1}\n"},
    {"a typed List names its members", "f.json",
     "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[{\"a\":1},{\"kind\":null,\"a\":2},{\"kind\":\"Node\"}]}",
     "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"a\":1}\n{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"a\":2}\n"
     "{\"kind\":\"Node\"}\n"},
    {"Lists in Lists", "f.json",
     "{\"kind\":\"List\",\"items\":[{\"items\":[{\"a\":1}],\"kind\":\"PodList\"},{\"b\":2}]}",
     "{\"a\":1}\n{\"b\":2}\n"},
    {"items of another kind", "f.json", "{\"kind\":\"Menu\",\"items\":[{\"a\":1}]}",
     "{\"kind\":\"Menu\",\"items\":[{\"a\":1}]}\n"},
    {"items that are no list", "f.json", "{\"kind\":\"List\",\"items\":{\"a\":1}}",
     "{\"kind\":\"List\",\"items\":{\"a\":1}}\n"},
    {"items further down", "f.json", "{\"spec\":{\"items\":[{\"a\":1}]}}", "{\"spec\":{\"items\":[{\"a\":1}]}}\n"},
    {"JSON without the name", "stdin", "\n {\"a\": \"b: c\"}", "{\"a\":\"b: c\"}\n"},
    {"JSON named YAML", "f.yaml", "{\"a\": \"\\ud83d\\ude00\"}", "{\"a\":\"😀\"}\n"},
    {"JSON, then YAML", "stdin", "{\"a\":1}\n---\nb: 2\n---\n{\"c\": 3}\n", "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n"},
};

static void reads_json(void **state)
{
    (void)state;
    check_cases(good_json, ARRAY_LEN(good_json));
}

static const struct read_case bad_json[] = {
    {"cut off", "f.json", "{\"a\": [1,\n 2", "! f.json:2:3: the input ends in the middle of a value"},
    {"cut off in a string", "f.json", "{\"a\": \"bc", "! f.json:1:10: the input ends in the middle of a value"},
    {"cut off in a list", "f.json", "[{\"a\":1},", "{\"a\":1}\n! f.json:1:10: the input ends in the middle of a list"},
    {"cut off in items", "f.json", "{\"items\":[{\"a\":1}",
     "{\"a\":1}\n! f.json:1:18: the input ends in the middle of a list"},
    {"cut off after items", "f.json", "{\"items\":[{\"a\":1}]\n",
     "{\"a\":1}\n! f.json:2:1: the input ends in the middle of a List"},
    {"a mistake before the cut", "f.json", "{\"a\": nope, \"b\": [",
     "! f.json:1:7: unknown word: only true, false and null go without quotes"},
    {"a string over two lines", "f.json", "{\"a\": \"b\n\"}", "! f.json:1:9: the line ends inside a string"},
    {"a key twice", "f.json", "{\"a\": 1,\n  \"b\": {\"c\": 1, \"c\": 2}}", "! f.json:2:17: key \"c\" appears twice"},
    {"items twice", "f.json", "{\"items\":[],\n\"items\":[]}", "! f.json:2:9: key \"items\" appears twice"},
    {"kind too late", "f.json", "{\"items\":[{}],\n \"kind\":\"Menu\"}",
     "{}\n! f.json:2:9: kind \"Menu\" is not a List: its items may only come after its kind"},
    {"a bracket that does not match", "f.json", "{\"a\": [1}", "! f.json:1:9: expected ], found }"},
    {"the other one", "f.json", "{\"a\": {]}", "! f.json:1:8: expected }, found ]"},
    {"a comma too many", "f.json", "{\"a\": [1,]}", "! f.json:1:9: a comma without a value after it"},
    {"a comma too many in a map", "f.json", "{\"a\": 1,}", "! f.json:1:9: expected a key in double quotes"},
    {"a comma too many in a List", "f.json", "{\"items\":[{},]}", "{}\n! f.json:1:14: expected a value"},
    {"a comma too few", "f.json", "{\"a\": 1 \"b\": 2}", "! f.json:1:9: expected , or }"},
    {"no colon", "f.json", "{\"a\" 1}", "! f.json:1:6: expected : after a key"},
    {"a key without quotes", "f.json", "{a: 1}", "! f.json:1:2: expected a key in double quotes"},
    {"not UTF-8", "f.json", "{\"a\":\n\"b\xff\"}", "! f.json:2:3: not UTF-8"},
    {"half a surrogate pair", "f.json", "{\"a\": \"\\ud800\"}", "! f.json:1:14: unknown escape in a string"},
    {"an unknown escape", "f.json", "{\"a\": \"\\x\"}", "! f.json:1:9: unknown escape in a string"},
    {"a number that is none", "f.json", "{\"a\": 01}", "! f.json:1:7: not a number as JSON writes them"},
    {"a comment", "f.json", "{\"a\": 1} # x", "{\"a\":1}\n! f.json:1:10: character that is not allowed here"},
    {"garbage", "f.json",
     "\x7f"
     "ELF\x02",
     "! f.json:1:1: character that is not allowed here"},
    {"a number alone", "f.json", "\n 12", "! f.json:2:2: expected a map, found a number"},
    {"a string in a list", "f.json", "[{}, \"x\"]", "{}\n! f.json:1:6: expected a map, found a string"},
    {"null in a list", "f.json", "[null]", "! f.json:1:2: expected a map, found null"},
    {"a list in a list", "f.json", "[[{}]]", "! f.json:1:2: expected a map, found a list"},
    {"Windows line ends count once", "f.json", "{\r\n\"a\": 1,\r\n\"a\": 2}", "! f.json:3:1: key \"a\" appears twice"},
    {"places in later members", "f.json", "{\"items\":[{\"a\":1},\n\n{\"b\":}]}",
     "{\"a\":1}\n! f.json:3:6: expected a value"},
};

static void refuses_bad_json(void **state)
{
    (void)state;
    check_cases(bad_json, ARRAY_LEN(bad_json));
}

static const struct read_case good_yaml[] = {
    {"nothing", "f.yaml", "", ""},
    {"only comments", "f.yaml", "# a\n---\n# b\n", ""},
    {"empty documents", "f.yaml", "---\n---\n...\n---\n~\n", ""},
    {"documents", "f.yaml", "a: 1\n---\nb: 2\n...\n--- {c: 3}\n", "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n"},
    {"a list at the top", "f.yaml", "- a: 1\n- b: 2\n", "{\"a\":1}\n{\"b\":2}\n"},
    {"typing", "f.yaml", "a: [yes, Off, ~, 0x10, 017, 1_000, .5, 1.50, 100m, 2026-01-02, 1:30, '1', \"on\"]",
     "{\"a\":[true,false,null,16,15,1000,0.5,1.50,\"100m\",\"2026-01-02\",\"1:30\",\"1\",\"on\"]}\n"},
    {"tags", "f.yaml",
     "a: [!!str 1, !!int \"2\", !!float 3, !!bool \"yes\", !!null '', ! 4, !!timestamp 2026-01-02]\n"
     "b: !!map {}\nc: !!seq []",
     "{\"a\":[\"1\",2,3,true,null,\"4\",\"2026-01-02\"],\"b\":{},\"c\":[]}\n"},
    {"keys that are no strings", "f.yaml", "1: a\nyes: b\n0x10: c\n1.50: d\n",
     "{\"1\":\"a\",\"true\":\"b\",\"16\":\"c\",\"1.50\":\"d\"}\n"},
    {"block scalars", "f.yaml", "a: |\n  x\n   y\nb: >-\n  x\n  y\nc: |+\n  x\n\n",
     "{\"a\":\"x\\n y\\n\",\"b\":\"x y\",\"c\":\"x\\n\\n\"}\n"},
    {"Windows line ends", "f.yaml", "a: 1\r\nb:\r\n- c\r\n", "{\"a\":1,\"b\":[\"c\"]}\n"},
    {"a byte order mark", "f.yaml",
     "\xef\xbb\xbf"
     "a: 1",
     "{\"a\":1}\n"},
    {"flow style", "f.yaml", "{a: b}", "{\"a\":\"b\"}\n"},
    {"flow style, quoted keys", "stdin", "{\"a\": b}", "{\"a\":\"b\"}\n"},
    {"flow style, comments", "stdin", "{\"a\": 1, # x\n \"b\": 2}", "{\"a\":1,\"b\":2}\n"},
    {"flow style, a last comma", "stdin", "{\"a\": 1,}", "{\"a\":1}\n"},
    {"anchors", "f.yaml", "a: &x {b: 1}\nc: *x\nd: [*x]\n&k e: *k\n",
     "{\"a\":{\"b\":1},\"c\":{\"b\":1},\"d\":[{\"b\":1}],\"e\":\"e\"}\n"},
    {"merge keys", "f.yaml",
     "- &a {a: 1, b: 1}\n- &b {b: 2, c: 2}\n- <<: *a\n  b: 3\n- b: 3\n  <<: [*a, *b]\n- <<: {x: 1}\n",
     "{\"a\":1,\"b\":1}\n{\"b\":2,\"c\":2}\n{\"b\":3,\"a\":1}\n{\"b\":3,\"a\":1,\"c\":2}\n{\"x\":1}\n"},
    {"a quoted merge key is a key", "f.yaml", "\"<<\": 1", "{\"<<\":1}\n"},
    {"a List, its kind last", "f.yaml", "apiVersion: v1\nitems:\n- a: 1\n- a: 2\nkind: List\nmetadata: {}\n",
     "{\"a\":1}\n{\"a\":2}\n"},
    {"a typed List names its members", "f.yaml", "kind: PodList\napiVersion: v1\nitems:\n- a: 1\n",
     "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"a\":1}\n"},
    {"a List by merging", "f.yaml", "x: &x {kind: PodList}\n<<: *x\nitems:\n- a: 1\n", "{\"kind\":\"Pod\",\"a\":1}\n"},
    {"Lists in Lists", "f.yaml", "items:\n- kind: List\n  items:\n  - a: 1\n- b: 2\nkind: List\n---\nc: 3\n",
     "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n"},
    {"no items", "f.yaml", "kind: List\nitems: []\n---\nkind: List\nitems:\n", "{\"kind\":\"List\",\"items\":null}\n"},
    {"items of another kind", "f.yaml", "kind: Menu\nitems: [{a: 1}]\n", "{\"kind\":\"Menu\",\"items\":[{\"a\":1}]}\n"},
    {"an anchor in an earlier member", "f.yaml", "items:\n- a: &x {q: [1, two]}\n- b: *x\n- *x\n",
     "{\"a\":{\"q\":[1,\"two\"]}}\n{\"b\":{\"q\":[1,\"two\"]}}\n{\"q\":[1,\"two\"]}\n"},
};

static void reads_yaml(void **state)
{
    (void)state;
    check_cases(good_yaml, ARRAY_LEN(good_yaml));
}

static const struct read_case bad_yaml[] = {
    {"a tab", "f.yaml", "a:\n\tb: 1\n", "! f.yaml:2:1: a tab cannot indent: YAML wants spaces"},
    {"a tab after spaces", "f.yaml", "a:\n  b: 1\n  \tc: 2\n", "! f.yaml:3:3: a tab cannot indent: YAML wants spaces"},
    {"wrong indentation", "f.yaml", "a:\n  b: 1\n c: 2\n",
     "! f.yaml:3:2: did not find expected key while parsing a block mapping that began on line 1"},
    {"two colons", "f.yaml", "a: b: c\n", "! f.yaml:1:5: mapping values are not allowed in this context"},
    {"an open bracket", "f.yaml", "a: [1,\n", "! f.yaml:2:1: did not find expected node content"},
    {"an open quote", "f.yaml", "a: 'b\nc: d\n",
     "! f.yaml:3:1: found unexpected end of stream while scanning a quoted scalar that began on line 1"},
    {"a key twice", "f.yaml", "a: 1\nb: 2\na: 3\n", "! f.yaml:3:1: key \"a\" appears twice"},
    {"a key twice by its meaning", "f.yaml", "1: a\n0x1: b\n", "! f.yaml:2:1: key \"1\" appears twice"},
    {"a key twice in a List", "f.yaml", "kind: List\nitems: []\nkind: List\n",
     "! f.yaml:3:7: key \"kind\" appears twice"},
    {"a list as key", "f.yaml", "? [a]\n: b\n", "! f.yaml:1:3: a list or map cannot be a key"},
    {"an aliased map as key", "f.yaml", "a: &a {}\n*a : b\n", "! f.yaml:2:1: a map cannot be a key"},
    {"null as key", "f.yaml", "~: b\n", "! f.yaml:1:1: null cannot be a key"},
    {"an unknown tag", "f.yaml", "a: !thing 1\n", "! f.yaml:1:4: unknown tag \"!thing\""},
    {"an unknown tag on a map", "f.yaml", "a: !!set {x}\n", "! f.yaml:1:4: unknown tag \"tag:yaml.org,2002:set\""},
    {"a tag that lies", "f.yaml", "a: !!int x\n", "! f.yaml:1:4: \"x\" is not what its tag says"},
    {"infinity", "f.yaml", "a: -.inf\n", "! f.yaml:1:4: \"-.inf\" is not a number that JSON can hold"},
    {"an unknown anchor", "f.yaml", "a: *b\n", "! f.yaml:1:4: unknown anchor \"b\""},
    {"an anchor of another document", "f.yaml", "a: &b 1\n---\na: *b\n",
     "{\"a\":1}\n! f.yaml:3:4: unknown anchor \"b\""},
    {"an anchor in itself", "f.yaml", "a: &a\n- [*a]\n", "! f.yaml:2:4: anchor \"a\" contains itself"},
    {"a List in itself", "f.yaml", "kind: List\nitems: &i\n- *i\n", "! f.yaml:3:3: anchor \"i\" contains itself"},
    {"a List with an anchor", "f.yaml", "kind: List\nitems: &i\n- a: 1\n",
     "! f.yaml:2:8: items of a List must be written out: no anchor, alias or merge key"},
    {"a List by an alias", "f.yaml", "kind: List\nx: &i [{a: 1}]\nitems: *i\n",
     "! f.yaml:3:8: items of a List must be written out: no anchor, alias or merge key"},
    {"merging a number", "f.yaml", "a: 1\n<<: 1\n", "! f.yaml:2:1: << takes a map or a list of maps, not a number"},
    {"kind too late", "f.yaml", "items:\n- {}\nkind: Menu\n",
     "{}\n! f.yaml:3:7: kind \"Menu\" is not a List: its items may only come after its kind"},
    {"not UTF-8", "f.yaml", "a: 1\nb: x\xff\n", "! f.yaml:2:5: not UTF-8"},
    {"UTF-8 cut off", "f.yaml", "a: \xe2\x82", "! f.yaml:1:4: not UTF-8"},
    {"a control character", "f.yaml", "a: ü\x01\n", "! f.yaml:1:5: character U+0001 is not allowed"},
    {"garbage", "f.yaml",
     "\x7f"
     "ELF\x02\x01",
     "! f.yaml:1:1: character U+007F is not allowed"},
    {"text", "f.yaml", "hello world\n", "! f.yaml:1:1: expected a map, found a string"},
    {"a word in a list", "f.yaml", "- a: 1\n- b\n", "{\"a\":1}\n! f.yaml:2:3: expected a map, found a string"},
    {"places after JSON", "stdin", "{\"a\":1}\n\n---\nb: 1\nb: 2\n", "{\"a\":1}\n! stdin:5:1: key \"b\" appears twice"},
    {"an unknown version", "f.yaml", "%YAML 3.0\n---\na: 1\n", "! f.yaml:1:1: found incompatible YAML document"},
};

static void refuses_bad_yaml(void **state)
{
    (void)state;
    check_cases(bad_yaml, ARRAY_LEN(bad_yaml));
}

static void nul_bytes_are_refused(void **state)
{
    struct sb out = {0};

    (void)state;
    read_all(&out, "f.json", STR("{\"a\":\0}"));
    check_str("JSON", sb_view(&out), "! f.json:1:6: character that is not allowed here");
    read_all(&out, "f.json", STR("{\"a\":\"b\0\"}"));
    check_str("in a string", sb_view(&out), "! f.json:1:8: control character in a string");
    read_all(&out, "f.yaml", STR("a: \0b\n"));
    check_str("YAML", sb_view(&out), "! f.yaml:1:4: character U+0000 is not allowed");
    sb_fini(&out);
}

/* before, then n times what, then after. */
static const struct {
    const char *name, *file, *before, *what;
    size_t n;
    const char *after, *want;
} large[] = {
    {"100 levels", "f.json", "{\"a\":", "[", 99, "", "! f.json:1:105: the input ends in the middle of a value"},
    {"101 levels", "f.json", "{\"a\":", "[", 100, "", "! f.json:1:105: more than 100 levels deep"},
    {"a million levels", "f.json", "", "{\"a\":", 1000000, "", "! f.json:1:501: more than 100 levels deep"},
    {"a long string", "f.json", "{\"a\":\n \"", "01234567", 1000000, "\"}", "! f.json:2:2: string of more than 4 MiB"},
    {"a long number", "f.json", "{\"a\":\n ", "01234567", 1000000, "}", "! f.json:2:2: number of more than 4 MiB"},
    {"a long number in a list", "f.json", "{\"a\":[1,\n ", "01234567", 1000000, "]}",
     "! f.json:2:2: number of more than 4 MiB"},
    {"many values", "f.json", "{\"a\":[1", ",1", 5000000, "]}", "! f.json:1:8388610: too many values in one object"},
    {"a large object", "f.json", " {\"a\":[0", ",\"1234567890123456789012345678901234567890\"", 2000000, "]}",
     "! f.json:1:2: object of more than 64 MiB"},
    {"white space without end", "f.json", "", " \n      ", 20000000 / 8, "{\"a\":}",
     "! f.json:2500001:12: expected a value"},
    {"Lists in Lists", "f.json", "", "{\"items\":[", 20, "",
     "! f.json:1:161: Lists within Lists deeper than 16 levels"},
    {"100 levels of YAML", "f.yaml", "a: ", "[", 99, "x",
     "! f.yaml:2:1: did not find expected ',' or ']' while parsing a flow sequence that began on line 1"},
    {"101 levels of YAML", "f.yaml", "a: ", "[", 100, "x", "! f.yaml:1:103: more than 100 levels deep"},
    {"long text", "f.yaml", "b: 1\na: ", "01234567", 2000000, "\n",
     "! f.yaml:2:2: text of more than 4 MiB after this place"},
    {"text a little too long", "f.yaml", "b: 1\na: ", "01234567", 700000, "\n",
     "! f.yaml:2:4: text of more than 4 MiB"},
    {"directives", "f.yaml", "", "%TAG !a! b\n", 2000, "---\na: 1\n", "! f.yaml:1001:1: too many directives"},
    {"Lists in YAML Lists", "f.yaml", "", "{items: [", 20, "",
     "! f.yaml:1:145: Lists within Lists deeper than 16 levels"},
};

static void large_input_is_bounded(void **state)
{
    struct sb in = {0}, out = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(large); i++) {
        sb_reset(&in);
        sb_c(&in, large[i].before);
        for (size_t k = 0; k < large[i].n; k++)
            sb_c(&in, large[i].what);
        sb_c(&in, large[i].after);
        read_all(&out, large[i].file, sb_view(&in));
        check_str(large[i].name, sb_view(&out), large[i].want);
    }
    sb_fini(&in);
    sb_fini(&out);
}

static void aliases_are_counted(void **state)
{
    struct sb in = {0}, out = {0};

    (void)state;
    sb_c(&in, "a: &a [x, x, x, x, x, x, x, x, x]\n");
    for (int c = 'b'; c <= 'i'; c++) {
        sb_printf(&in, "%c: &%c [", c, c);
        for (int k = 0; k < 9; k++)
            sb_printf(&in, "%s*%c", k ? ", " : "", c - 1);
        sb_c(&in, "]\n");
    }
    read_all(&out, "f.yaml", sb_view(&in));
    check_str("laughs", sb_view(&out), "! f.yaml:7:28: too many values in one object, aliases written out");

    sb_reset(&in);
    sb_c(&in, "x: &a0 {}\nl:\n");
    for (int i = 0; i < 120; i++)
        sb_printf(&in, "- &a%d [*a%d]\n", i + 1, i);
    read_all(&out, "f.yaml", sb_view(&in));
    check_str("depth by aliases", sb_view(&out), "! f.yaml:100:9: more than 100 levels deep");
    sb_fini(&in);
    sb_fini(&out);
}

/* Small and large members across the edges of the chunks that are read. */
static void lists_longer_than_a_chunk(void **state)
{
    struct sb in = {0};
    struct err e = {0};
    const struct tree *t = NULL;
    uint32_t n = 0;

    (void)state;
    for (int yaml = 0; yaml < 2; yaml++) {
        sb_reset(&in);
        sb_c(&in, yaml ? "items:\n" : "{\"items\": [\n");
        for (uint32_t i = 0; i < 3000; i++) {
            sb_printf(&in, yaml ? "- {\"n\": %u, \"s\": \"" : "{\"n\": %u, \"s\": \"", i);
            sb_fill(&in, 'x', i % 100 == 7 ? 50000 : i % 300);
            sb_c(&in, yaml ? "\"}\n" : i == 2999 ? "\"}\n" : "\"},\n");
        }
        sb_c(&in, yaml ? "kind: List\n" : "], \"kind\": \"List\"}");
        AUTO(reader) struct reader *r = reader_open_bytes("f", sb_view(&in), &e);
        for (n = 0; reader_next(r, &t, &e) && t; n++) {
            char want[16];

            (void)snprintf(want, sizeof(want), "%u", n);
            check_str("in order", tree_scalar(tree_get(t, "n")), want);
            check_u64("its line", t->line, n + 2);
            check_u64("its text", tree_str(tree_get(t, "s")).n, n % 100 == 7 ? 50000 : n % 300);
        }
        check_ok("all", e.kind == ERR_NONE, &e);
        check_u64("how many", n, 3000);
    }
    sb_fini(&in);
}

/* "kind@line:column" of every node, in source order. */
static void print_places(struct sb *out, const struct tree *t)
{
    static const char letter[] = {'0', 'b', 'n', 's', 'l', 'm'};

    sb_printf(out, "%s%c@%u:%u", out->n ? " " : "", letter[t->kind], t->line, t->col);
    for (uint32_t i = 0; i < t->n; i++)
        print_places(out, &t->items[i]);
}

static const struct {
    const char *name, *bytes, *want;
} places[] = {
    {"JSON", "\n{\"a\": [true, {},\n  null, -1],\n \"b\\n\": \"\\u0041\", \"c\": [\n[\n\"x\"]]}",
     "m@2:1 l@2:7 b@2:8 m@2:14 0@3:3 n@3:9 s@4:9 l@4:24 l@5:1 s@6:1"},
    {"JSON in one line", "{\"a\":[[],{\"b\":1}],\"c\":false}", "m@1:1 l@1:6 l@1:7 m@1:10 n@1:15 b@1:23"},
    {"YAML", "\na: [yes, {},\n  ~, -1]\nb:\n- c\n- d:\n    'e'\n",
     "m@2:1 l@2:4 b@2:5 m@2:10 0@3:3 n@3:6 l@5:1 s@5:3 m@6:3 s@7:5"},
    {"YAML aliases", "a: &a {b: 1}\nc: *a\n", "m@1:1 m@1:4 n@1:11 m@2:4 n@1:11"},
};

static void every_node_knows_its_place(void **state)
{
    struct sb out = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct err e = {0};
        AUTO(reader) struct reader *r = reader_open_bytes("f", str_c(places[i].bytes), &e);
        const struct tree *t = NULL;

        check_ok(places[i].name, reader_next(r, &t, &e), &e);
        sb_reset(&out);
        print_places(&out, t);
        check_str(places[i].name, sb_view(&out), places[i].want);
    }
    sb_fini(&out);
}

static void an_error_is_final(void **state)
{
    struct err e = {0}, again = {0};
    AUTO(reader) struct reader *r = reader_open_bytes("f.json", STR("[{}, x, {}]"), &e);
    const struct tree *t = NULL;

    (void)state;
    check_true("the first", reader_next(r, &t, &e) && t);
    check_true("the second", !reader_next(r, &t, &e));
    check_true("nothing handed out", t == NULL);
    check_true("the third", !reader_next(r, &t, &again));
    check_str("the same words", str_c(again.msg), e.msg);
    check_str("its name", str_c(reader_name(r)), "f.json");
}

static void check_open_fails(const char *name, const char *path, enum err_kind kind, const char *want)
{
    struct err e = {0};

    check_true(name, reader_open(path, &e) == NULL);
    check_str(name, str_c(e.msg), want);
    check_i64(name, e.kind, kind);
}

static void files(void **state)
{
    char dir[] = "/tmp/reader_test.XXXXXX", path[64];
    const struct tree *t = NULL;
    struct err e = {0};

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/f.yaml", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    (void)fputs("a: 1\n", f);
    (void)fclose(f);

    struct reader *r = reader_open(path, &e);
    assert_non_null(r);
    check_true("first", reader_next(r, &t, &e) && t);
    check_str("value", tree_scalar(tree_get(t, "a")), "1");
    check_true("end", reader_next(r, &t, &e) && !t);
    check_true("still the end", reader_next(r, &t, &e) && !t);
    reader_free(r);
    (void)unlink(path);

    struct sb want = {0};
    sb_printf(&want, "%s: is a directory, not a file", dir);
    check_open_fails("a directory", dir, ERR_INVALID, sb_cstr(&want));
    sb_reset(&want);
    sb_printf(&want, "%s: No such file or directory", path);
    check_open_fails("no such file", path, ERR_NOT_FOUND, sb_cstr(&want));
    sb_fini(&want);
    (void)rmdir(dir);
    reader_free(NULL);
}

static const struct {
    const char *name;
    bool yaml;
    const char *bytes, *want;
} wholes[] = {
    {"a List stays whole", false, "{\"kind\":\"List\",\"items\":[{\"a\":1}]}",
     "{\"kind\":\"List\",\"items\":[{\"a\":1}]}"},
    {"a scalar", false, " \"x\\ty\" ", "\"x\\ty\""},
    {"null", false, "null", "null"},
    {"a YAML List stays whole", true, "kind: List\nitems: [{a: &a [1]}, *a]\n",
     "{\"kind\":\"List\",\"items\":[{\"a\":[1]},[1]]}"},
    {"empty YAML is null", true, "# nothing\n", "null"},
    {"empty JSON", false, " ", "! f:1:1: no value, the input is empty"},
    {"two values", false, "{}\n {}", "! f:2:2: expected nothing after the first value"},
    {"two documents", true, "a: 1\n---\nb: 1\n", "! f:2:1: expected nothing after the first document"},
    {"a mistake", false, "[1,]", "! f:1:3: a comma without a value after it"},
};

static void whole_inputs(void **state)
{
    struct sb out = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wholes); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct jw w = {.out = &out};
        const struct tree *t = NULL;
        struct err e = {0};
        str bytes = str_c(wholes[i].bytes);

        sb_reset(&out);
        if (wholes[i].yaml ? tree_parse_yaml(a, "f", bytes, &t, &e) : tree_parse_json(a, "f", bytes, &t, &e))
            jw_tree(&w, t);
        else
            sb_printf(&out, "! %s", e.msg);
        check_str(wholes[i].name, sb_view(&out), wholes[i].want);
    }
    sb_fini(&out);
}

/* Bytes off the wire: the same trees, the same refusals. */
static void in_place(void **state)
{
    static const struct {
        const char *name, *text, *err;
    } cases[] = {
        {"a map", "{\"a\":[1,2.50,true,null,{}],\"b\":\"x\\u00e4\\n\"}", ""},
        {"white space around", " \n {} \n", ""},
        {"a scalar", "7", ""},
        {"nothing", "", "t:1:1: no value, the input is empty"},
        {"two", "{} {}", "t:1:4: character that is not allowed here"},
        {"a key twice", "{\"a\":1,\"a\":2}", "t:1:8: key \"a\" appears twice"},
        {"half", "{\"a\":", "t:1:6: the input ends in the middle of a value"},
        {"not UTF-8", "\"\xff\"", "t:1:2: not UTF-8"},
        {"escapes", "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"\\\\\"]", ""},
        {"characters of all lengths", "{\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\": \"12345678\xc3\xa4\"}", ""},
        {"numbers", "[0, -0, -1.5e+10, 2E-3, 10.25]", ""},
        {"a number with a zero before it", "[01]", "t:1:2: not a number as JSON writes them"},
        {"an escape that there is not", "\"\\x\"", "t:1:3: unknown escape in a string"},
        {"half a string", "[\"a\\\"]", "t:1:7: the input ends in the middle of a value"},
        {"a comma too many", "[1,]", "t:1:3: a comma without a value after it"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        char bytes[128] = "";
        const struct tree *want;
        struct tree *got;
        struct err e = {0}, other;

        memcpy(bytes, cases[i].text, strlen(cases[i].text));
        bool ok = tree_read_json(a, "t", bytes, strlen(cases[i].text), &got, &e);
        check_str(cases[i].name, str_c(e.msg), cases[i].err);
        check_true(cases[i].name, ok == tree_parse_json(a, "t", str_c(cases[i].text), &want, &other));
        check_true(cases[i].name, !ok || tree_equal(got, want));
    }
}

/* Whatever becomes of a text: both ways to read it agree. */
static void in_place_mistakes(void **state)
{
    static const char text[] =
        "{\"kind\":\"Pod\",\"n\":[1,-2.5e3,true,false,null,{}],\"s\":\"a\\\"b\\u00e4\xc3\xa4\",\"t\":{\"x\":[[]]}}",
                      with[] = "{}[],:\"\\0123456789eE+-. \ntfnu\x80\xc3\x01";
    AUTO(arena) struct arena *a = arena_new(0);
    struct rng rng;

    (void)state;
    rng_init(&rng, 1);
    for (uint32_t i = 0; i < 20000; i++) {
        char bytes[sizeof(text) + READER_PAD], name[sizeof(text)];
        size_t n = sizeof(text) - 1;
        const struct tree *want;
        struct tree *got;
        struct err e;

        memcpy(name, text, sizeof(text));
        for (uint32_t k = 0; k <= i % 3; k++)
            name[rng_below(&rng, (uint32_t)n)] = with[rng_below(&rng, sizeof(with) - 1)];
        memcpy(bytes, name, n);
        arena_reset(a);
        bool ok = tree_read_json(a, "t", bytes, n, &got, &e);
        check_true(name, ok == tree_parse_json(a, "t", (str){name, n}, &want, &e));
        check_true(name, !ok || tree_equal(got, want));
    }
}

static void in_place_depth(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    char bytes[2 * READER_MAX_DEPTH + 2 + READER_PAD];
    struct tree *t;
    struct err e;

    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        size_t n = READER_MAX_DEPTH + more;

        memset(bytes, '[', n);
        memset(bytes + n, ']', n);
        check_true("a hundred levels and no more", tree_read_json(a, "t", bytes, 2 * n, &t, &e) == !more);
    }
    check_str("said so", str_c(e.msg), "t:1:1: more than 100 levels deep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_json),
        cmocka_unit_test(refuses_bad_json),
        cmocka_unit_test(reads_yaml),
        cmocka_unit_test(refuses_bad_yaml),
        cmocka_unit_test(nul_bytes_are_refused),
        cmocka_unit_test(large_input_is_bounded),
        cmocka_unit_test(aliases_are_counted),
        cmocka_unit_test(lists_longer_than_a_chunk),
        cmocka_unit_test(every_node_knows_its_place),
        cmocka_unit_test(an_error_is_final),
        cmocka_unit_test(files),
        cmocka_unit_test(whole_inputs),
        cmocka_unit_test(in_place),
        cmocka_unit_test(in_place_mistakes),
        cmocka_unit_test(in_place_depth),
    };

    return cmocka_run_group_tests_name("data/reader", tests, NULL, NULL);
}
