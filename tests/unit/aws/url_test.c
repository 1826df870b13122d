/* Urls taken apart, and the list of those that no proxy is for. */
#include "aws/url.h"

#include "base/arena.h"
#include "support/check.h"

static const struct {
    const char *name, *url, *want; /* "": refused */
} urls[] = {
    {"a host", "https://a.b", "s a.b a.b 443 "},
    {"a path", "http://a.b/c/d", "- a.b a.b 80 /c/d"},
    {"a query", "http://a.b/c?d=e/f", "- a.b a.b 80 /c d=e/f"},
    {"a port", "http://a.b:8080/", "- a.b a.b:8080 8080 /"},
    {"the usual port", "https://a.b:443/x", "s a.b a.b 443 /x"},
    {"the other's usual port", "https://a.b:80", "s a.b a.b:80 80 "},
    {"six", "http://[fd00:ec2::23]/v1", "- fd00:ec2::23 [fd00:ec2::23] 80 /v1"},
    {"six and a port", "http://[::1]:99", "- ::1 [::1]:99 99 "},
    {"no host", "http:///x", ""},
    {"only a port", "http://:80", ""},
    {"another scheme", "ftp://a", ""},
    {"a user", "http://u:p@a", ""},
    {"a bad port", "http://a:99999", ""},
    {"an open bracket", "http://[::1", ""},
    {"a fragment", "http://a/#x", ""},
    {"a blank", "http://a/ b", ""},
    {"nothing", "", ""},
};

static void parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        AUTO(arena) struct arena *a = arena_new(0);
        struct url_parts u;
        str got = STR("");

        if (url_split(str_c(urls[i].url), &u))
            got = arena_printf(a, "%s " STR_FMT " " STR_FMT " %u " STR_FMT "%s" STR_FMT, u.secure ? "s" : "-",
                               STR_ARG(u.host), STR_ARG(u.authority), u.port, STR_ARG(u.path), u.query.n ? " " : "",
                               STR_ARG(u.query));
        check_str(urls[i].name, got, urls[i].want);
    }
}

static const struct {
    const char *name, *list, *host;
    bool off;
} proxies[] = {
    {"an empty list", "", "ec2.amazonaws.com", false},
    {"loopback needs no list", "", "127.0.0.1", true},
    {"loopback by name", "", "localhost", true},
    {"loopback of six", "", "::1", true},
    {"everything", "x,*", "a", true},
    {"the name itself", "amazonaws.com", "amazonaws.com", true},
    {"what is below it", "x, amazonaws.com ,y", "ec2.amazonaws.com", true},
    {"in any case", "AmazonAWS.com", "ec2.amazonaws.com", true},
    {"only what is below it", ".amazonaws.com", "amazonaws.com", false},
    {"below it", ".amazonaws.com", "ec2.amazonaws.com", true},
    {"a star in front", "*.amazonaws.com", "ec2.amazonaws.com", true},
    {"not what merely ends alike", "amazonaws.com", "notamazonaws.com", false},
    {"this port", "a.b:8443", "a.b", true},
    {"another port", "a.b:1", "a.b", false},
    {"an address", "10.0.0.7", "10.0.0.7", true},
    {"another address", "10.0.0.7", "10.0.0.8", false},
    {"a network", "10.0.0.0/8", "10.9.8.7", true},
    {"another network", "10.0.0.0/8", "11.0.0.1", false},
    {"half a byte", "10.0.16.0/20", "10.0.31.1", true},
    {"half a byte too far", "10.0.16.0/20", "10.0.32.1", false},
    {"a network of six", "fd00::/8", "fd00:ec2::23", true},
    {"an address of six in brackets", "[fd00::1]:8443", "fd00::1", true},
    {"a network that is none", "10.0.0.0/99", "10.0.0.1", false},
    {"a name is in no network", "10.0.0.0/8", "ten", false},
    {"nonsense", "/,:,[,.,://", "a", false},
};

static void no_proxy(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(proxies); i++)
        check_true(proxies[i].name,
                   proxy_is_off(str_c(proxies[i].list), str_c(proxies[i].host), 8443) == proxies[i].off);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),
        cmocka_unit_test(no_proxy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
