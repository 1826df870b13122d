#include "model/cel.h"

#include <math.h>

#include "base/sb.h"
#include "support/check.h"

/* Values as one would write them, so that tables can say what they want. */
static void print(struct sb *b, const struct cel_value *v)
{
    switch (v->kind) {
    case CEL_NULL:
        sb_c(b, "null");
        break;
    case CEL_BOOL:
        sb_c(b, v->b ? "true" : "false");
        break;
    case CEL_INT:
        sb_i64(b, v->i);
        break;
    case CEL_UINT:
        sb_u64(b, v->u);
        sb_char(b, 'u');
        break;
    case CEL_DOUBLE:
        if (isfinite(v->d))
            sb_double(b, v->d);
        else
            sb_c(b, isnan(v->d) ? "NaN" : v->d > 0 ? "Inf" : "-Inf");
        sb_char(b, 'd');
        break;
    case CEL_STRING:
        sb_printf(b, "'" STR_FMT "'", STR_ARG(v->s));
        break;
    case CEL_BYTES:
        sb_printf(b, "b'" STR_FMT "'", STR_ARG(v->s));
        break;
    case CEL_LIST:
        for (uint32_t i = 0; i < v->n; i++) {
            sb_c(b, i ? ", " : "[");
            print(b, &v->items[i]);
        }
        sb_c(b, v->n ? "]" : "[]");
        break;
    case CEL_MAP:
        for (uint32_t i = 0; i < v->n; i++) {
            sb_c(b, i ? ", " : "{");
            print(b, &v->keys[i]);
            sb_c(b, ": ");
            print(b, &v->items[i]);
        }
        sb_c(b, v->n ? "}" : "{}");
        break;
    case CEL_DURATION:
        sb_printf(b, "%lldns", (long long)v->i);
        break;
    case CEL_TIMESTAMP:
        sb_printf(b, "@%lld.%09u", (long long)v->i, v->n);
        break;
    case CEL_QUANTITY:
        sb_printf(b, "quantity " STR_FMT, STR_ARG(v->s));
        break;
    case CEL_OPTIONAL:
        sb_c(b, v->n ? "some " : "none");
        if (v->n)
            print(b, v->items);
        break;
    case CEL_TYPE:
        sb_printf(b, "type " STR_FMT, STR_ARG(v->s));
        break;
    }
}

/* self, the variable of all tests:
 * {name: 'web', count: 3, ratio: 0.5, tags: {a: '1', b: ''}, list: ['x', 'y', 'x'], nested: {deep: {er: 7}}, none: null} */
static const char *const self_text =
    "{'name': 'web', 'count': 3, 'ratio': 0.5, 'tags': {'a': '1', 'b': ''}, 'list': ['x', "
    "'y', 'x'], 'nested': {'deep': {'er': 7}}, 'none': null}";

static struct cel_value make(struct arena *a, const char *text)
{
    struct cel_value v;
    struct err e;
    const struct cel_program *p = cel_compile(a, str_c(text), NULL, 0, &e);

    check_ok(text, p != NULL, &e);
    check_ok(text, cel_eval(p, a, NULL, &v, &e), &e);
    return v;
}

static const char *const names[] = {"self", "vcpus"};

/* The value, or the error's words. */
static const char *run(struct arena *a, const char *text, struct sb *b)
{
    struct cel_value vars[2] = {make(a, self_text), {.kind = CEL_INT, .i = 4}}, v;
    struct err e;
    const struct cel_program *p = cel_compile(a, str_c(text), names, 2, &e);

    sb_reset(b);
    if (!p || !cel_eval(p, a, vars, &v, &e))
        sb_printf(b, "%s %s", p ? "error:" : "no:", e.msg);
    else
        print(b, &v);
    return sb_cstr(b);
}

struct expectation {
    const char *text, *want;
};

static void expect_all(const struct expectation *x, size_t n)
{
    struct sb b = {0};

    for (size_t i = 0; i < n; i++) {
        AUTO(arena) struct arena *a = arena_new(0);

        check_str(x[i].text, str_c(run(a, x[i].text, &b)), x[i].want);
    }
    sb_fini(&b);
}

static void literals(void **state UNUSED)
{
    static const struct expectation x[] = {
        {"1", "1"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"9223372036854775808", "no: 1:1: invalid int literal"},
        {"18446744073709551615u", "18446744073709551615u"},
        {"0x1F", "31"},
        {"0xffu", "255u"},
        {"1.5", "1.5d"},
        {".5e2", "50d"},
        {"1e3", "1000d"},
        {"null", "null"},
        {"true", "true"},
        {"'a' + \"b\"", "'ab'"},
        {"'''a'b''' + \"\"\"c\"d\"\"\"", "'a'bc\"d'"},
        {"r'\\d' + R\"\\w\"", "'\\d\\w'"},
        {"'\\x41\\u00e9\\101\\n'", "'A\xc3\xa9"
                                   "A\n'"},
        {"b'\\xff' == b'\\377'", "true"},
        {"b'abc'", "b'abc'"},
        {"'\\ud800'", "no: 1:2: invalid escape sequence"},
        {"'\\q'", "no: 1:2: invalid escape sequence"},
        {"'abc", "no: 1:1: a text does not end"},
        {"[1, 'a', [true]]", "[1, 'a', [true]]"},
        {"[1, 2,]", "[1, 2]"},
        {"{'a': 1, 2: 'b'}", "{'a': 1, 2: 'b'}"},
        {"{'a': 1, 'a': 2}", "error: Failed with repeated key"},
        {"{1.5: 2}", "error: unsupported key type"},
        {"[]", "[]"},
        {"{}", "{}"},
        {"1 // a remark\n + 2", "3"},
    };

    expect_all(x, ARRAY_LEN(x));
}

static void operators(void **state UNUSED)
{
    static const struct expectation x[] = {
        {"1 + 2 * 3 - 4 / 2", "5"},
        {"(1 + 2) * 3", "9"},
        {"-7 / 2", "-3"},
        {"-7 % 2", "-1"},
        {"7 / 0", "error: division by zero"},
        {"7 % 0", "error: modulus by zero"},
        {"7.0 / 0.0", "Infd"},
        {"9223372036854775807 + 1", "error: integer overflow"},
        {"-9223372036854775808 / -1", "error: integer overflow"},
        {"- -9223372036854775808", "error: integer overflow"},
        {"1u - 2u", "error: unsigned integer overflow"},
        {"1 + 1.0", "error: no such overload"},
        {"1 == 1.0 && 1u == 1 && 1.0 == 1u", "true"},
        {"1 < 1.5 && 2u > 1 && -1 < 1u", "true"},
        {"9007199254740993 == 9007199254740992.0", "false"},
        {"'a' == 1", "false"},
        {"'a' < 'b'", "true"},
        {"'a' < 1", "error: no such overload"},
        {"[1, 2] == [1.0, 2u]", "true"},
        {"{'a': 1, 'b': 2} == {'b': 2, 'a': 1}", "true"},
        {"null == null", "true"},
        {"self.none == null", "true"},
        {"!true", "false"},
        {"!!true", "true"},
        {"!1", "error: no such overload"},
        {"--1", "1"},
        {"true ? 1 : 2", "1"},
        {"false ? 1 : true ? 2 : 3", "2"},
        {"1 ? 2 : 3", "error: no such overload"},
        {"'x' in self.list", "true"},
        {"'a' in self.tags", "true"},
        {"'z' in ['x', 'y']", "false"},
        {"[1] + [2, 3]", "[1, 2, 3]"},
        {"b'a' + b'b'", "b'ab'"},
        {"vcpus * 2", "8"},
        {"1 + 2 == 3 || false && true", "true"},
    };

    expect_all(x, ARRAY_LEN(x));
}

static void errors_are_absorbed(void **state UNUSED)
{
    static const struct expectation x[] = {
        {"false && 1/0 == 1", "false"},
        {"1/0 == 1 && false", "false"},
        {"true || 1/0 == 1", "true"},
        {"1/0 == 1 || true", "true"},
        {"1/0 == 1 || false", "error: division by zero"},
        {"1/0 == 1 && true", "error: division by zero"},
        {"1 && false", "false"},
        {"1 && true", "error: no such overload"},
        {"[0, 1].exists(x, 1/x == 1)", "true"},
        {"[0, 2].exists(x, 1/x == 1)", "error: division by zero"},
        {"[0, 1].all(x, 1/x == 2)", "false"},
        {"[0, 1].all(x, 1/x == 1)", "error: division by zero"},
        {"[0, 1].exists_one(x, 1/x == 1)", "error: division by zero"},
    };

    expect_all(x, ARRAY_LEN(x));
}

static void members(void **state UNUSED)
{
    static const struct expectation x[] = {
        {"self.nested.deep.er", "7"},
        {"self['name']", "'web'"},
        {"self.list[1]", "'y'"},
        {"self.list[3]", "error: index out of bounds: 3"},
        {"self.list[-1]", "error: index out of bounds: -1"},
        {"self.missing", "error: no such key: missing"},
        {"self['missing']", "error: no such key: missing"},
        {"self.name.x", "error: no such overload"},
        {"self.`name`", "'web'"},
        {"has(self.name)", "true"},
        {"has(self.missing)", "false"},
        {"has(self.missing.more)", "error: no such key: missing"},
        {"has(self.nested.deep)", "true"},
        {"has(self)", "no: 1:1: invalid argument to has() macro"},
        {"self.?name", "some 'web'"},
        {"self.?missing", "none"},
        {"self.?missing.more.most", "none"},
        {"self.?nested.deep.er.orValue(1)", "7"},
        {"self.?nested.deeper.er.orValue(1)", "1"},
        {"self.list[?7].orValue('z')", "'z'"},
        {"self.tags[?'a'].hasValue()", "true"},
        {"has(self.?nested.deep)", "true"},
        {"optional.none().or(optional.of(2)).value()", "2"},
        {"optional.none().value()", "error: optional.none() dereference"},
        {"optional.ofNonZeroValue('')", "none"},
        {"optional.of(3).optMap(x, x + 1)", "some 4"},
        {"optional.none().optMap(x, x + 1)", "none"},
        {"optional.of(3).optFlatMap(x, optional.none())", "none"},
        {"[1, ?self.?missing, ?self.?count]", "[1, 3]"},
        {"{'a': 1, ?'b': self.?missing}", "{'a': 1}"},
        {"cel.bind(n, self.count, n * n)", "9"},
    };

    expect_all(x, ARRAY_LEN(x));
}

static void macros(void **state UNUSED)
{
    static const struct expectation x[] = {
        {"self.list.all(x, x in ['x', 'y'])", "true"},
        {"self.list.exists(x, x == 'y')", "true"},
        {"self.list.exists_one(x, x == 'x')", "false"},
        {"self.list.exists_one(x, x == 'y')", "true"},
        {"self.list.map(x, x + '!')", "['x!', 'y!', 'x!']"},
        {"self.list.map(x, x != 'y', x + '!')", "['x!', 'x!']"},
        {"self.list.filter(x, x == 'x')", "['x', 'x']"},
        {"self.tags.all(k, k in ['a', 'b'])", "true"},
        {"self.tags.map(k, self.tags[k])", "['1', '']"},
        {"self.tags.filter(k, self.tags[k] == '')", "['b']"},
        {"self.tags.all(k, v, k != '' && v != '')", "false"},
        {"self.list.exists(i, v, i == 1 && v == 'y')", "true"},
        {"self.list.existsOne(i, v, v == 'x')", "false"},
        {"[1, 2].transformList(i, v, i * 10 + v)", "[1, 12]"},
        {"[1, 2].transformList(i, v, i > 0, v)", "[2]"},
        {"self.tags.transformMap(k, v, k + v)", "{'a': 'a1', 'b': 'b'}"},
        {"[1, 2].all(x, [1, 2].exists(y, x == y))", "true"},
        {"[[1], [2]].map(x, x.map(x, x * 2))", "[[2], [4]]"},
        {"[].all(x, false)", "true"},
        {"[].exists(x, true)", "false"},
        {"[1].all(x, 1)", "error: no such overload"},
        {"1.all(x, true)", "error: no such overload"},
        {"[1].all(x.y, true)", "no: 1:10: Syntax error: unexpected '.'"},
        {"[1].map(x, y)", "no: 1:12: undeclared reference to 'y'"},
        {"[1].map(x, x) == x", "no: 1:18: undeclared reference to 'x'"},
    };

    expect_all(x, ARRAY_LEN(x));
}

static void conversions(void **state UNUSED)
{
    static const struct expectation x[] = {
        {"int('42')", "42"},
        {"int('-1')", "-1"},
        {"int('4x')", "error: type conversion error from 'string' to 'int'"},
        {"int(3.9)", "3"},
        {"int(1e30)", "error: integer overflow"},
        {"int(7u)", "7"},
        {"uint(-1)", "error: unsigned integer overflow"},
        {"uint('7')", "7u"},
        {"double('1.5')", "1.5d"},
        {"double(3)", "3d"},
        {"string(3)", "'3'"},
        {"string(1.5)", "'1.5'"},
        {"string(true)", "'true'"},
        {"string(duration('1m1.5s'))", "'61.5s'"},
        {"string(timestamp('2026-01-02T03:04:05.25Z'))", "'2026-01-02T03:04:05.25Z'"},
        {"string(b'abc')", "'abc'"},
        {"bytes('abc')", "b'abc'"},
        {"bool('true')", "true"},
        {"bool('yes')", "error: type conversion error from 'string' to 'bool'"},
        {"type(1)", "type int"},
        {"type(1) == int", "true"},
        {"type([]) == list && type({}) == map && type(null) == null_type", "true"},
        {"type(type(1)) == type", "true"},
        {"dyn(1)", "1"},
        {"size('h\xc3\xa9')", "2"},
        {"size(b'h\xc3\xa9')", "3"},
        {"self.list.size()", "3"},
        {"size(self.tags)", "2"},
        {"size(1)", "error: no such overload"},
    };

    expect_all(x, ARRAY_LEN(x));
}

static void texts(void **state UNUSED)
{
    static const struct expectation x[] = {
        {"'hello'.contains('ell')", "true"},
        {"'hello'.startsWith('he')", "true"},
        {"'hello'.endsWith('lo')", "true"},
        {"'hello'.matches('^h.*o$')", "true"},
        {"'hello'.matches('x')", "false"},
        {"matches('hello', 'l+')", "true"},
        {"'hello'.matches('[')", "no: 1:9: error parsing regexp: missing closing ]: `[`"},
        {"'hello'.matches('[' + self.name)", "error: error parsing regexp: missing closing ]: `[web`"},
        {"'abc123'.find('[0-9]+')", "'123'"},
        {"'abc'.find('[0-9]+')", "''"},
        {"'a1b22'.findAll('[0-9]+')", "['1', '22']"},
        {"'a1b22'.findAll('[0-9]+', 1)", "['1']"},
        {"'aba'.findAll('a*')", "['a', 'a']"},
        {"'karpenter.sh/x'.find('^([^/]+)').endsWith('karpenter.sh')", "true"},
        {"'h\xc3\xa9y'.charAt(1)", "'\xc3\xa9'"},
        {"'hey'.charAt(3)", "''"},
        {"'hey'.charAt(4)", "error: index out of range: 4"},
        {"'h\xc3\xa9h\xc3\xa9'.indexOf('h', 1)", "2"},
        {"'hello'.indexOf('l')", "2"},
        {"'hello'.indexOf('z')", "-1"},
        {"'hello'.lastIndexOf('l')", "3"},
        {"'hello'.lastIndexOf('l', 2)", "2"},
        {"'hello'.substring(1, 3)", "'el'"},
        {"'hello'.substring(3)", "'lo'"},
        {"'hello'.substring(3, 1)", "error: invalid substring range. start: 3, end: 1"},
        {"'A-b'.lowerAscii() + 'A-b'.upperAscii()", "'a-bA-B'"},
        {"'  x '.trim()", "'x'"},
        {"'abc'.reverse()", "'cba'"},
        {"'aXbX'.replace('X', '-')", "'a-b-'"},
        {"'aXbX'.replace('X', '-', 1)", "'a-bX'"},
        {"'ab'.replace('', '-')", "'-a-b-'"},
        {"'a,b,c'.split(',')", "['a', 'b', 'c']"},
        {"'a,b,c'.split(',', 2)", "['a', 'b,c']"},
        {"'a,b,c'.split(',', 0)", "[]"},
        {"'abc'.split('')", "['a', 'b', 'c']"},
        {"['a', 'b'].join('-') + ['a', 'b'].join()", "'a-bab'"},
    };

    expect_all(x, ARRAY_LEN(x));
}

static void lists_times_and_quantities(void **state UNUSED)
{
    static const struct expectation x[] = {
        {"[1, 2, 2].isSorted()", "true"},
        {"['b', 'a'].isSorted()", "false"},
        {"[1, 2, 3].sum()", "6"},
        {"[0.5, 0.5].sum()", "1d"},
        {"[].sum()", "0"},
        {"[3, 1, 2].min()", "1"},
        {"[3, 1, 2].max()", "3"},
        {"[].min()", "error: min called on empty list"},
        {"[1, 2, 1].indexOf(1)", "0"},
        {"[1, 2, 1].lastIndexOf(1)", "2"},
        {"max(1, 2) + min(1, 2)", "3"},
        {"max(1, 2.5)", "2.5d"},
        {"min(1, 2.5)", "1d"},
        {"math.greatest(1, 5, 3)", "5"},
        {"math.least([4, 2])", "2"},
        {"sets.contains([1, 2], [2])", "true"},
        {"sets.intersects([1, 2], [3])", "false"},
        {"sets.equivalent([1, 2, 2], [2, 1])", "true"},
        {"duration('1h') + duration('30m')", "5400000000000ns"},
        {"duration('1h') > duration('59m')", "true"},
        {"duration('1hr')", "error: invalid duration: '1hr'"},
        {"duration('90m').getHours()", "1"},
        {"timestamp('2026-01-02T03:04:05Z') + duration('-6s')", "@1767323039.000000000"},
        {"timestamp('2026-01-02T03:04:05Z') - timestamp('2026-01-01T03:04:05Z') == duration('24h')", "true"},
        {"timestamp('2026-03-01T23:04:05.5Z').getFullYear()", "2026"},
        {"timestamp('2026-03-01T23:04:05.5Z').getMonth()", "2"},
        {"timestamp('2026-03-01T23:04:05.5Z').getDayOfYear()", "59"},
        {"timestamp('2026-03-01T23:04:05.5Z').getDayOfWeek()", "0"},
        {"timestamp('2026-03-01T23:04:05.5Z').getDate('+02:00')", "2"},
        {"timestamp('2026-03-01T23:04:05.5Z').getHours('-01:30')", "21"},
        {"timestamp('2026-03-01T23:04:05.5Z').getMilliseconds()", "500"},
        {"timestamp('9999-12-31T23:59:59Z') + duration('1s')", "error: timestamp overflow"},
        {"timestamp('soon')", "error: invalid timestamp: 'soon'"},
        {"quantity('1Gi').isGreaterThan(quantity('1G'))", "true"},
        {"quantity('500m').compareTo(quantity('0.5'))", "0"},
        {"quantity('1Gi').add(quantity('1Gi'))", "quantity 2Gi"},
        {"quantity('1500m').isInteger()", "false"},
        {"quantity('2k').asInteger()", "2000"},
        {"quantity('50k').asApproximateFloat()", "50000d"},
        {"isQuantity('1Gi') && !isQuantity('1Gx')", "true"},
        {"quantity('-1').sign()", "-1"},
    };

    expect_all(x, ARRAY_LEN(x));
}

static void mistakes_name_the_place(void **state UNUSED)
{
    static const struct expectation x[] = {
        {"foo", "no: 1:1: undeclared reference to 'foo'"},
        {"self.count +\n  foo", "no: 2:3: undeclared reference to 'foo'"},
        {"foo(1)", "no: 1:1: undeclared reference to 'foo'"},
        {"self.foo(1)", "no: 1:6: undeclared reference to 'foo'"},
        {"size(1, 2)", "no: 1:1: found no matching overload for 'size'"},
        {"", "no: 1:1: Syntax error: unexpected 'the end'"},
        {"1 +", "no: 1:4: Syntax error: unexpected 'the end'"},
        {"1 2", "no: 1:3: Syntax error: unexpected '2'"},
        {"(1", "no: 1:3: Syntax error: unexpected 'the end'"},
        {"[1 2]", "no: 1:4: Syntax error: unexpected '2'"},
        {"self.", "no: 1:6: Syntax error: unexpected 'the end'"},
        {"namespace", "no: 1:1: reserved identifier: 'namespace'"},
        {"1 # 2", "no: 1:3: a character that has no meaning here"},
        {"vcpus = 1", "no: 1:7: a character that has no meaning here"},
    };

    expect_all(x, ARRAY_LEN(x));
}

static void what_is_used(void **state)
{
    struct arena *a = *state;
    struct err e;
    const char *const both[] = {"self", "oldSelf"};
    const struct cel_program *p = cel_compile(a, STR("self == 1"), both, 2, &e);

    check_true("self", cel_uses(p, "self"));
    check_true("oldSelf", !cel_uses(p, "oldSelf"));
    p = cel_compile(a, STR("[1].all(oldSelf, oldSelf == 1)"), both, 2, &e);
    check_true("a variable of a macro hides it", !cel_uses(p, "oldSelf"));
}

static void it_ends(void **state)
{
    struct arena *a = *state;
    struct sb b = {0};

    check_str("loops in loops",
              str_c(run(a,
                        "[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, "
                        "[0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, [0,1,2,3,4,5,6,7,8,9].all(f, "
                        "[0,1,2,3,4,5,6,7,8,9].all(g, a < 10)))))))",
                        &b)),
              "error: operation cancelled: actual cost limit exceeded");

    struct sb deep = {0};
    sb_fill(&deep, '(', 1000);
    check_str("brackets", str_c(run(a, sb_cstr(&deep), &b)), "no: 1:41: the expression nests too deeply");
    sb_reset(&deep);
    sb_fill(&deep, '-', 1000);
    sb_c(&deep, "self.count");
    check_str("signs do not nest", str_c(run(a, sb_cstr(&deep), &b)), "3");
    sb_reset(&deep);
    sb_c(&deep, "true");
    for (int i = 0; i < 500; i++)
        sb_c(&deep, " && true");
    check_str("conditions do not nest", str_c(run(a, sb_cstr(&deep), &b)), "true");
    sb_fini(&deep);
    sb_fini(&b);
}

static void kinds_of_lists(void **state UNUSED)
{
    struct cel_value xy[] = {{.kind = CEL_INT, .i = 1}, {.kind = CEL_INT, .i = 2}};
    struct cel_value yx[] = {{.kind = CEL_INT, .i = 2}, {.kind = CEL_INT, .i = 1}};
    struct cel_value a = {.kind = CEL_LIST, .n = 2, .items = xy}, b = {.kind = CEL_LIST, .n = 2, .items = yx};

    check_true("a list has an order", !cel_equal(&a, &b));
    a.list = CEL_SET_LIST;
    check_true("a set has none", cel_equal(&a, &b) && cel_equal(&b, &a));
}

static void kinds_that_do_not_fit(void **state)
{
    static const char *const sources[] = {"1 + 'a'", "min('a', 1)", "'a' ? 1 : 2", "!1"};
    struct arena *a = *state;

    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        struct err e = {0};
        struct cel_value v;
        const struct cel_program *p = cel_compile(a, str_c(sources[i]), NULL, 0, &e);

        check_true(sources[i], p && !cel_eval(p, a, NULL, &v, &e));
        check_str(sources[i], str_c(e.code), CEL_NO_OVERLOAD);
    }
}

static int setup(void **state)
{
    *state = arena_new(0);
    return 0;
}

static int teardown(void **state)
{
    arena_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals),
        cmocka_unit_test(operators),
        cmocka_unit_test(errors_are_absorbed),
        cmocka_unit_test(members),
        cmocka_unit_test(macros),
        cmocka_unit_test(conversions),
        cmocka_unit_test(texts),
        cmocka_unit_test(lists_times_and_quantities),
        cmocka_unit_test(mistakes_name_the_place),
        cmocka_unit_test_setup_teardown(what_is_used, setup, teardown),
        cmocka_unit_test_setup_teardown(it_ends, setup, teardown),
        cmocka_unit_test(kinds_of_lists),
        cmocka_unit_test_setup_teardown(kinds_that_do_not_fit, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
