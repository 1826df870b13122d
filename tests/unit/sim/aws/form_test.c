/* Requests as they are on the wire, and the small pure parts of the simulated AWS. */
#include "base/arena.h"
#include "data/json.h"
#include "sim/aws/call.h"
#include "sim/aws/md5.h"
#include "support/check.h"

static const struct {
    const char *name, *query, *want;
} forms[] = {
    {"plain members", "A=1&B=x%20y", "{\"A\":\"1\",\"B\":\"x y\"}"},
    {"action and version are not members", "Action=X&Version=2&A=b", "{\"A\":\"b\"}"},
    {"a list by its singular", "InstanceId.1=i-1&InstanceId.2=i-2", "{\"InstanceIds\":[\"i-1\",\"i-2\"]}"},
    {"out of order, with gaps", "InstanceId.10=c&InstanceId.2=a&InstanceId.3=b",
     "{\"InstanceIds\":[\"a\",\"b\",\"c\"]}"},
    {"a plural stays", "Overrides.1.Priority=0.5", "{\"Overrides\":[{\"Priority\":0.5}]}"},
    {"filters", "Filter.1.Name=a&Filter.1.Value.1=b&Filter.1.Value.2=c",
     "{\"Filters\":[{\"Name\":\"a\",\"Values\":[\"b\",\"c\"]}]}"},
    {"members of query services",
     "Tags.member.1.Key=k&Tags.member.1.Value=", "{\"Tags\":[{\"Key\":\"k\",\"Value\":\"\"}]}"},
    {"groups of an interface", "NetworkInterface.1.SecurityGroupId.1=sg",
     "{\"NetworkInterfaces\":[{\"Groups\":[\"sg\"]}]}"},
    {"groups of a machine", "SecurityGroupId.1=sg", "{\"SecurityGroupIds\":[\"sg\"]}"},
    {"numbers and truth", "MaxResults=5&DryRun=true&Ebs.Encrypted=false",
     "{\"MaxResults\":5,\"DryRun\":true,\"Ebs\":{\"Encrypted\":false}}"},
    {"a tag's value is text", "Tag.1.Key=5&Tag.1.Value=true", "{\"Tags\":[{\"Key\":\"5\",\"Value\":\"true\"}]}"},
    {"what is no number", "MaxResults=nan", NULL},
    {"what is no truth", "DryRun=yes", NULL},
    {"twice", "A=1&A=2", NULL},
    {"twice by two names", "Filter.1.Name=a&Filters.1.Name=b", NULL},
    {"a text and a map", "A=1&A.B=2", NULL},
    {"a map and a text", "A.B=2&A=1", NULL},
    {"an empty part", "A..B=2", NULL},
    {"what no element can be called after", "A.%3CB=2", NULL},
    {"numbers and names", "A.1=x&A.B=y", NULL},
    {"a number", "1=x", NULL},
    {"too deep", "A.B.C.D.E.F.G.H.I.J.K.L.M=1", NULL},
    {"a bad escape", "A=%zz", NULL},
};

static void decoding(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        str action, version;
        struct err e = {0};
        const struct tree *t = form_read(a, str_c(forms[i].query), &action, &version, &e);

        check_true(forms[i].name, (t != NULL) == (forms[i].want != NULL));
        if (t)
            check_str(forms[i].name, json_text(a, t), forms[i].want);
        else
            check_true(forms[i].name, e.msg[0] != 0);
    }
}

static void too_many_parameters(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb b = {0};
    str action, version;
    struct err e = {0};

    (void)state;
    for (int i = 0; i < 10001; i++)
        sb_printf(&b, "%sP%d=1", i ? "&" : "", i);
    check_true("refused", form_read(a, sb_view(&b), &action, &version, &e) == NULL);
    sb_fini(&b);
}

static void wildcards(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool want;
    } cases[] = {
        {"", "", true},
        {"*", "", true},
        {"?", "", false},
        {"a*c", "abbc", true},
        {"a*c", "abcb", false},
        {"*.large", "m5.large", true},
        {"m?.large", "m5.large", true},
        {"m?.large", "m55.large", false},
        {"a\\*", "a*", true},
        {"a\\*", "ab", false},
        {"*a*b*", "xxaxxbxx", true},
        {"abc", "ab", false},
        {"ab", "abc", false},
        {"\\?", "?", true},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_true(cases[i].pattern, wild_match(str_c(cases[i].pattern), str_c(cases[i].text)) == cases[i].want);
}

static void digests(void **state)
{
    static const char *const cases[][2] = {
        /* RFC 1321, A.5 */
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char hex[33];

        md5_hex(str_c(cases[i][0]), hex);
        check_str(cases[i][0], str_c(hex), cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding),
        cmocka_unit_test(too_many_parameters),
        cmocka_unit_test(wildcards),
        cmocka_unit_test(digests),
    };

    return cmocka_run_group_tests_name("sim/aws/form", tests, NULL, NULL);
}
