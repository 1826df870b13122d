/* The dialect of the shared files. */
#include "aws/profile.h"

#include "base/sb.h"
#include "support/check.h"

/* "user dev: region=eu-west-3; …" */
static str print(struct arena *a, const struct profiles *p)
{
    static const char *const kinds[] = {"", "sso ", "services "};
    struct sb b = {0};

    for (uint32_t i = 0; i < p->list.n; i++) {
        const struct profile *s = &p->list.v[i];

        sb_printf(&b, "[%s" STR_FMT "]", kinds[s->kind], STR_ARG(s->name));
        for (uint32_t k = 0; k < s->settings.n; k++) {
            const struct profile_setting *v = &s->settings.v[k];

            sb_printf(&b, STR_FMT "=" STR_FMT "@%u", STR_ARG(v->key), STR_ARG(v->value), v->line);
            for (uint32_t m = 0; m < v->below.n; m++)
                sb_printf(&b, "{" STR_FMT "=" STR_FMT "}", STR_ARG(v->below.v[m].key), STR_ARG(v->below.v[m].value));
            sb_char(&b, ';');
        }
    }
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static const struct {
    const char *name;
    bool credentials;
    const char *text, *want; /* "! …": the error */
} cases[] = {
    {"a profile", false, "[profile dev]\nregion = eu-west-3\n", "[dev]region=eu-west-3@2;"},
    {"the default one", false, "[default]\nregion=a\n[profile dev]\nregion=b", "[default]region=a@2;[dev]region=b@4;"},
    {"its full name goes before the short one", false, "[default]\na=1\n[profile default]\nb=2\n[default]\nc=3\n",
     "[default]b=2@4;"},
    {"without the word it is none in this file", false, "[dev]\nregion=b\n[plugins]\nx=y", ""},
    {"in the other it is one", true, "[dev]\naws_access_key_id = A\n", "[dev]aws_access_key_id=A@2;"},
    {"where the word is wrong", true, "[profile dev]\na=1\n[sso-session x]\nb=2", "[sso-session x]b=2@4;"},
    {"quoted names", false, "[profile \"my dev\"]\na=1\n[profile 'x']\n", "[my dev]a=1@2;[x]"},
    {"other sections", false, "[sso-session corp]\nsso_region=x\n[services local]\n",
     "[sso corp]sso_region=x@2;[services local]"},
    {"comments", false, "# one\n; two\n[default] # three\na = 1 # four\nb = 1;2#3\nc = # five\n",
     "[default]a=1@4;b=1;2#3@5;c=@6;"},
    {"keys have no case, values do", false, "[default]\nREGION=Eu\n", "[default]region=Eu@2;"},
    {"the last counts", false, "[default]\na=1\n[profile x]\n[default]\na=2\n", "[default]a=2@5;[x]"},
    {"equal signs in a value", false, "[default]\na=b=c=\n", "[default]a=b=c=@2;"},
    {"more lines", false, "[default]\na = 1\n  2\n\t3\nb=4", "[default]a=1\n2\n3@2;b=4@5;"},
    {"settings below a setting", false,
     "[services x]\nec2 =\n  endpoint_url = http://h\n  Other=1 # c\nsqs=\n  endpoint_url=y\n",
     "[services x]ec2=@2{endpoint_url=http://h}{other=1};sqs=@5{endpoint_url=y};"},
    {"all of it indented", false, "  [default]\n  a = 1\n  b = 2\n    c\n", "[default]a=1@2;b=2\nc@3;"},
    {"lines of a setting that is passed over", false, "[other]\na =\n  not even this\n[default]\nb=1",
     "[default]b=1@5;"},
    {"a mark at the beginning, and returns", false, "\xef\xbb\xbf[default]\r\na=1\r\n", "[default]a=1@2;"},
    {"nothing", false, "", ""},
    {"no section", false, "a=1\n", "!f:1: a setting before the first section"},
    {"an open section", false, "\n[default\n", "!f:2: a section without \"]\""},
    {"a section and more", false, "[default] x\n", "!f:1: something follows the \"]\" of a section"},
    {"a section without a name", false, "[ ]\n", "!f:1: a section without a name"},
    {"no equal sign", false, "[default]\nsecret\n", "!f:2: a line without \"=\""},
    {"no name", false, "[default]\n = secret\n", "!f:2: a value without a name"},
    {"no equal sign below", false, "[default]\ns3 =\n  secret\n", "!f:3: a line without \"=\""},
};

static void dialect(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct profiles p = {.arena = a};
        struct err e = {0};

        if (profiles_add(&p, "f", cases[i].credentials, str_c(cases[i].text), &e))
            check_str(cases[i].name, print(a, &p), cases[i].want);
        else
            check_str(cases[i].name, arena_printf(a, "!%s", e.msg), cases[i].want);
        profiles_fini(&p);
    }
}

static void the_credentials_file_goes_first(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct profiles p = {.arena = a};
    struct err e;

    (void)state;
    check_ok("config", profiles_add(&p, "c", false, STR("[profile default]\nregion=x\naws_access_key_id=old\n"), &e),
             &e);
    check_ok("credentials", profiles_add(&p, "k", true, STR("[default]\naws_access_key_id=new\n[only]\nb=1\n"), &e),
             &e);
    const struct profile *s = profiles_find(&p, PROFILE_USER, STR("default"));
    check_str("of the second", profile_get(s, "aws_access_key_id"), "new");
    check_str("of the first", profile_get(s, "region"), "x");
    check_str("nothing", profile_get(s, "nope"), "");
    check_str("nowhere", profile_get(NULL, "nope"), "");
    check_true("only there", profiles_find(&p, PROFILE_USER, STR("only")) != NULL);
    check_true("another kind", profiles_find(&p, PROFILE_SERVICES, STR("default")) == NULL);
    profiles_fini(&p);
}

static void bounds(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct profiles p = {.arena = a};
    struct sb b = {0};
    struct err e;

    (void)state;
    for (uint32_t i = 0; i <= PROFILE_MAX_SECTIONS; i++)
        sb_printf(&b, "[profile p%u]\n", i);
    check_true("sections", !profiles_add(&p, "f", false, sb_view(&b), &e));
    check_str("sections", str_c(e.msg), "f:4097: too many sections");
    profiles_fini(&p);
    sb_reset(&b);
    sb_c(&b, "[default]\n");
    for (uint32_t i = 0; i <= PROFILE_MAX_SETTINGS; i++)
        sb_printf(&b, "k%u=1\n", i);
    check_true("settings", !profiles_add(&p, "f", false, sb_view(&b), &e));
    check_str("settings", str_c(e.msg), "f:258: too many settings in a section");
    profiles_fini(&p);
    check_true("a byte", !profiles_add(&p, "f", false, (str){"[default]\na=\0\n", 13}, &e));
    check_str("a byte", str_c(e.msg), "f:2: a byte that is no text");
    profiles_fini(&p);
    sb_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dialect),
        cmocka_unit_test(the_credentials_file_goes_first),
        cmocka_unit_test(bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
