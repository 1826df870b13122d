/* The forms that names take in Kubernetes, and the sentences for what is none. */
#include "sim/kube/rules/rule.h"

#define LABEL_TEXT                                                                                                     \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "    \
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "                     \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define SUBDOMAIN_TEXT                                                                                                 \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "   \
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "                        \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define LABEL_1035_TEXT                                                                                                \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " \
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "             \
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
#define NAME_PART_TEXT                                                                                                 \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " \
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "                                      \
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define VALUE_TEXT                                                                                                     \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "    \
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation "  \
    "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define CONFIG_KEY_TEXT                                                                                                \
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  "  \
    "or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
    return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z');
}

/* Alphanumeric at both ends; in between also '-' and whatever `extra` lists. */
static bool has_form(str s, bool upper, const char *extra)
{
    for (size_t i = 0; i < s.n; i++) {
        bool edge = i == 0 || i + 1 == s.n;
        bool alnum = upper ? is_alnum(s.p[i]) : is_lower(s.p[i]) || is_digit(s.p[i]);

        if (!alnum && (edge || (s.p[i] != '-' && !(s.p[i] && strchr(extra, s.p[i])))))
            return false;
    }
    return s.n > 0;
}

static bool is_subdomain(str s)
{
    str head;

    while (str_cut(s, '.', &head, &s))
        if (!has_form(head, /* upper= */ false, ""))
            return false;
    return has_form(head, /* upper= */ false, "");
}

static void too_long(struct flaws *f, const struct at *at, str s, size_t max, const char *unit)
{
    if (s.n > max)
        flaw_invalid(f, at, json_quoted(f->a, s), "must be no more than %zu %s", max, unit);
}

void check_label_name(struct flaws *f, const struct at *at, str s)
{
    too_long(f, at, s, 63, "characters");
    if (!has_form(s, /* upper= */ false, ""))
        flaw_invalid(f, at, json_quoted(f->a, s), "%s", LABEL_TEXT);
}

void check_label_1035(struct flaws *f, const struct at *at, str s)
{
    too_long(f, at, s, 63, "characters");
    if (!has_form(s, /* upper= */ false, "") || !is_lower(s.p[0]))
        flaw_invalid(f, at, json_quoted(f->a, s), "%s", LABEL_1035_TEXT);
}

void check_subdomain(struct flaws *f, const struct at *at, str s)
{
    too_long(f, at, s, 253, "characters");
    if (!is_subdomain(s))
        flaw_invalid(f, at, json_quoted(f->a, s), "%s", SUBDOMAIN_TEXT);
}

static bool is_qualified(str s)
{
    str prefix, name;

    if (!str_cut(s, '/', &prefix, &name))
        return s.n <= 63 && has_form(s, /* upper= */ true, "_.");
    return is_subdomain(prefix) && prefix.n <= 253 && name.n <= 63 && has_form(name, /* upper= */ true, "_.");
}

void check_qualified(struct flaws *f, const struct at *at, str s)
{
    str prefix, name, value = json_quoted(f->a, s);

    if (is_qualified(s))
        return;
    if (str_cut(s, '/', &prefix, &name)) {
        if (str_contains(name, STR("/"))) {
            flaw_invalid(
                f, at, value,
                "a valid label key %s with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                NAME_PART_TEXT);
            return;
        }
        if (prefix.n == 0)
            flaw_invalid(f, at, value, "prefix part must be non-empty");
        else if (!is_subdomain(prefix))
            flaw_invalid(f, at, value, "prefix part %s", SUBDOMAIN_TEXT);
        if (prefix.n > 253)
            flaw_invalid(f, at, value, "prefix part must be no more than 253 bytes");
    } else {
        name = s;
    }
    if (name.n == 0)
        flaw_invalid(f, at, value, "name part must be non-empty");
    else if (name.n > 63)
        flaw_invalid(f, at, value, "name part must be no more than 63 bytes");
    if (!has_form(name, /* upper= */ true, "_."))
        flaw_invalid(f, at, value, "name part %s", NAME_PART_TEXT);
}

void check_label_value(struct flaws *f, const struct at *at, str s)
{
    too_long(f, at, s, 63, "bytes");
    if (s.n && !has_form(s, /* upper= */ true, "_."))
        flaw_invalid(f, at, json_quoted(f->a, s), "%s", VALUE_TEXT);
}

void check_labels(struct flaws *f, const struct at *at, const struct tree *labels)
{
    for (uint32_t i = 0; labels && labels->kind == TREE_MAP && i < labels->n; i++) {
        check_qualified(f, at, labels->keys[i]);
        check_label_value(f, at, tree_str(&labels->items[i]));
    }
}

void check_config_key(struct flaws *f, const struct at *at, str s)
{
    bool ok = s.n > 0;

    too_long(f, at, s, 253, "characters");
    for (size_t i = 0; i < s.n; i++)
        ok &= is_alnum(s.p[i]) || s.p[i] == '-' || s.p[i] == '_' || s.p[i] == '.';
    if (!ok)
        flaw_invalid(f, at, json_quoted(f->a, s), "%s", CONFIG_KEY_TEXT);
    if (str_is(s, ".") || str_is(s, ".."))
        flaw_invalid(f, at, json_quoted(f->a, s), "must not be '" STR_FMT "'", STR_ARG(s));
    else if (str_starts(s, STR("..")))
        flaw_invalid(f, at, json_quoted(f->a, s), "must not start with '..'");
}

void check_port_name(struct flaws *f, const struct at *at, str s)
{
    str value = json_quoted(f->a, s);
    bool charset = true, letter = false, twice = false;

    for (size_t i = 0; i < s.n; i++) {
        charset &= is_lower(s.p[i]) || is_digit(s.p[i]) || s.p[i] == '-';
        letter |= is_lower(s.p[i]);
        twice |= i && s.p[i] == '-' && s.p[i - 1] == '-';
    }
    if (s.n > 15)
        flaw_invalid(f, at, value, "must be no more than 15 characters");
    if (!charset)
        flaw_invalid(f, at, value, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (!letter)
        flaw_invalid(f, at, value, "must contain at least one letter (a-z)");
    if (twice)
        flaw_invalid(f, at, value, "must not contain consecutive hyphens");
    if (s.n && (s.p[0] == '-' || s.p[s.n - 1] == '-'))
        flaw_invalid(f, at, value, "must not begin or end with a hyphen");
}
