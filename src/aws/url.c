#include "aws/url.h"

#include <arpa/inet.h>
#include <strings.h>

#define MAX_HOST 255

static bool split_port(str authority, struct url_parts *u)
{
    bool six = authority.n && authority.p[0] == '[';
    const char *end = six ? memchr(authority.p, ']', authority.n) : memchr(authority.p, ':', authority.n);
    size_t n = end ? (size_t)(end - authority.p) : authority.n;
    int64_t port;

    if (six && !end)
        return false;
    u->host = six ? str_sub(authority, 1, n) : str_sub(authority, 0, n);
    u->port = u->secure ? 443 : 80;
    u->authority = authority;
    str rest = str_sub(authority, six ? n + 1 : n, authority.n);
    if (!rest.n)
        return true;
    if (rest.p[0] != ':' || !str_to_i64(str_sub(rest, 1, rest.n), &port) || port < 1 || port > 65535)
        return false;
    if (port == u->port)
        u->authority.n -= rest.n;
    u->port = (uint16_t)port;
    return true;
}

bool url_split(str url, struct url_parts *ret)
{
    struct url_parts u = {.secure = str_starts(url, STR("https://"))};
    str rest = str_sub(url, u.secure ? 8 : 7, url.n), whole = rest;

    if (!u.secure && !str_starts(url, STR("http://")))
        return false;
    for (size_t i = 0; i < url.n; i++)
        if (url.p[i] <= ' ' || url.p[i] > '~' || url.p[i] == '#')
            return false;
    (void)str_cut(whole, '?', &rest, &u.query);
    const char *slash = rest.n ? memchr(rest.p, '/', rest.n) : NULL;
    size_t n = slash ? (size_t)(slash - rest.p) : rest.n;
    u.path = str_sub(rest, n, rest.n);
    if (!split_port(str_sub(rest, 0, n), &u) || !u.host.n || u.host.n > MAX_HOST || memchr(u.host.p, '@', u.host.n))
        return false;
    *ret = u;
    return true;
}

/* ---- proxies ---- */

struct address {
    unsigned char bytes[16];
    unsigned n_bits; /* 32, 128 */
};

static bool address_of(str s, struct address *ret)
{
    char text[MAX_HOST + 1];

    if (s.n > MAX_HOST)
        return false;
    memcpy(text, s.p ? s.p : "", s.n);
    text[s.n] = '\0';
    ret->n_bits = strchr(text, ':') ? 128 : 32;
    return inet_pton(ret->n_bits == 128 ? AF_INET6 : AF_INET, text, ret->bytes) == 1;
}

bool host_is_loopback(str host)
{
    static const unsigned char six[16] = {[15] = 1};
    struct address a;

    if (!address_of(host, &a))
        return host.n == 9 && strncasecmp(host.p, "localhost", 9) == 0;
    return a.n_bits == 32 ? a.bytes[0] == 127 : memcmp(a.bytes, six, 16) == 0;
}

static bool in_network(str network, const struct address *a)
{
    struct address net;
    str base, len;
    int64_t n;

    if (!str_cut(network, '/', &base, &len) || !address_of(base, &net) || !str_to_i64(len, &n) || n < 0 ||
        n > net.n_bits || net.n_bits != a->n_bits)
        return false;
    for (unsigned i = 0; i < (unsigned)n; i++)
        if ((net.bytes[i / 8] ^ a->bytes[i / 8]) >> (7 - i % 8) & 1)
            return false;
    return true;
}

/* "host:8080": only that port. */
static bool entry_port(str *entry, uint16_t port)
{
    struct address a;
    struct url_parts u = {0};
    int64_t n;
    str host, tail;

    if (address_of(*entry, &a) || memchr(entry->p, '/', entry->n))
        return true;
    if (entry->p[0] == '[') {
        bool ok = split_port(*entry, &u);
        bool said = ok && entry->p[entry->n - 1] != ']';

        *entry = u.host;
        return ok && (!said || u.port == port);
    }
    if (!str_cut(*entry, ':', &host, &tail))
        return true;
    *entry = host;
    return str_to_i64(tail, &n) && n == port;
}

static bool entry_matches(str entry, str host, uint16_t port)
{
    struct address a, b;

    if (str_is(entry, "*"))
        return true;
    if (!entry_port(&entry, port) || !entry.n)
        return false;
    if (address_of(host, &a)) {
        if (address_of(entry, &b))
            return a.n_bits == b.n_bits && memcmp(a.bytes, b.bytes, a.n_bits / 8) == 0;
        return in_network(entry, &a);
    }
    if (str_starts(entry, STR("*.")))
        entry = str_sub(entry, 1, entry.n);
    bool below = entry.p[0] == '.';
    if (host.n < entry.n || strncasecmp(host.p + host.n - entry.n, entry.p, entry.n) != 0)
        return false;
    return host.n == entry.n ? !below : below || host.p[host.n - entry.n - 1] == '.';
}

bool proxy_is_off(str no_proxy, str host, uint16_t port)
{
    str entry;

    if (host_is_loopback(host))
        return true;
    while (no_proxy.n) {
        (void)str_cut(no_proxy, ',', &entry, &no_proxy);
        entry = str_trim(entry);
        if (entry.n && entry_matches(entry, host, port))
            return true;
    }
    return false;
}
