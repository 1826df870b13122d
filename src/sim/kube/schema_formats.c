/* Formats of texts that an API server checks; the others are for people. */
#include <arpa/inet.h>

#include "model/duration.h"
#include "sim/kube/schema_impl.h"

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* Eight, four, four, four and twelve digits, with hyphens or without. */
static bool is_uuid(str s)
{
    uint32_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        bool place = n == 8 || n == 12 || n == 16 || n == 20;

        if (s.p[i] == '-' && place && i > 0 && s.p[i - 1] != '-')
            continue;
        if (!is_hex(s.p[i]))
            return false;
        n++;
    }
    return n == 32;
}

static bool is_address(str s, int family)
{
    char text[64], out[16];

    if (s.n == 0 || s.n >= sizeof(text))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    return memchr(text, '\0', s.n) == NULL && inet_pton(family, text, out) == 1;
}

static bool is_cidr(str s)
{
    str address, length;
    int64_t bits;

    if (!str_cut(s, '/', &address, &length) || !str_to_i64(length, &bits) || bits < 0)
        return false;
    return (bits <= 32 && is_address(address, AF_INET)) || (bits <= 128 && is_address(address, AF_INET6));
}

static bool is_base64(str s)
{
    size_t n = s.n;

    for (int i = 0; i < 2 && n > 0 && s.p[n - 1] == '='; i++)
        n--;
    for (size_t i = 0; i < n; i++) {
        char c = s.p[i];

        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/'))
            return false;
    }
    return s.n % 4 == 0 && s.n > 0;
}

static bool is_time(str s)
{
    struct err e;
    int64_t ms;

    return time_parse_rfc3339(s, &ms, &e);
}

static bool is_date(str s)
{
    char text[32];

    if (s.n != 10)
        return false;
    memcpy(text, s.p, 10);
    memcpy(text + 10, "T00:00:00Z", 10);
    return is_time((str){text, 20});
}

static bool is_duration(str s)
{
    struct err e;
    int64_t ns;

    return duration_parse(s, &ns, &e);
}

static bool is_ipv4(str s)
{
    return is_address(s, AF_INET);
}

static bool is_ipv6(str s)
{
    return is_address(s, AF_INET6);
}

bool schema_format_ok(str format, str text)
{
    static const struct {
        const char *name;
        bool (*ok)(str s);
    } formats[] = {
        {"byte", is_base64},       {"cidr", is_cidr},     {"date", is_date},
        {"date-time", is_time},    {"datetime", is_time}, {"ipv4", is_ipv4},
        {"duration", is_duration}, {"ipv6", is_ipv6},     {"uuid", is_uuid},
    };

    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (str_is(format, formats[i].name))
            return formats[i].ok(text);
    return true;
}
