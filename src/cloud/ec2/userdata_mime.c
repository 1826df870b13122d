/* Multipart messages: read as Go's mail and multipart packages read them, written as they write them, without carriage returns (aws 6.7).
 *
 * quirk: leading white space is looked past when asking whether a text is a message, but not when reading it. A last boundary may lack the two
 * dashes at its end; a message that ends inside a part is an error. */
#include <strings.h>

#include "base/sort.h"
#include "base/vec.h"
#include "cloud/ec2/userdata_int.h"

#define MAX_HEADERS 1000
#define MAX_PARTS 1000

static bool header_before(const struct ec2_kv *x, const struct ec2_kv *y, const void *ctx UNUSED)
{
    return str_cmp(x->key, y->key) < 0;
}

SORT_DEFINE(sort_headers, struct ec2_kv, header_before)

bool mime_is(str text)
{
    str s = str_trim(text);

    return str_starts(s, STR("MIME-Version:")) || str_starts(s, STR("Content-Type:"));
}

struct mime_part mime_part(struct arena *a, const char *content_type, str content)
{
    struct ec2_kv *h = arena_new_one(a, struct ec2_kv);

    *h = (struct ec2_kv){STR("Content-Type"), str_c(content_type)};
    return (struct mime_part){h, 1, content};
}

/* ---- headers ---- */

/* The next line with its end; empty: there is none. */
static str next_line(str *s)
{
    const char *end = s->n ? memchr(s->p, '\n', s->n) : NULL;
    str line = str_sub(*s, 0, end ? (size_t)(end - s->p) + 1 : s->n);

    *s = str_sub(*s, line.n, s->n);
    return line;
}

static str without_end(str line)
{
    if (str_ends(line, STR("\n")))
        line.n--;
    if (str_ends(line, STR("\r")))
        line.n--;
    return line;
}

/* Content-type as Content-Type; a name with other characters stays as it is. */
static bool canonical(struct arena *a, str name, str *ret)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    char *p = arena_memdup(a, name.p, name.n, 1);
    bool upper = true;

    *ret = (str){p, name.n};
    for (size_t i = 0; i < name.n; i++) {
        bool small = p[i] >= 'a' && p[i] <= 'z', big = p[i] >= 'A' && p[i] <= 'Z';

        if (!small && !big && !(p[i] >= '0' && p[i] <= '9') && !(p[i] && strchr(others, p[i])))
            return false;
        if (upper && small)
            p[i] = (char)(p[i] - 'a' + 'A');
        else if (!upper && big)
            p[i] = (char)(p[i] - 'A' + 'a');
        upper = p[i] == '-';
    }
    return name.n != 0;
}

/* A line, and those below it that begin with a blank, joined by single spaces. */
static str folded_line(struct arena *a, str *s)
{
    struct sb b = {0};
    str line = str_trim(next_line(s));

    if (!s->n || (s->p[0] != ' ' && s->p[0] != '\t'))
        return line;
    sb_str(&b, line);
    while (s->n && (s->p[0] == ' ' || s->p[0] == '\t')) {
        sb_char(&b, ' ');
        sb_str(&b, str_trim(next_line(s)));
    }
    line = sb_dup(&b, a);
    sb_fini(&b);
    return line;
}

/* Up to the empty line, which is taken. *ret_end: the text ended before it. */
static bool read_headers(struct arena *a, str *s, const struct ec2_kv **ret, uint32_t *ret_n, bool *ret_end,
                         struct err *e)
{
    VEC(struct ec2_kv) v = {0};
    bool ok = true;

    *ret_end = false;
    if (s->n && (s->p[0] == ' ' || s->p[0] == '\t'))
        return err_set(e, ERR_INVALID, "the first header of a MIME message begins with a blank");
    while (ok) {
        str name, value;

        if (s->n == 0) {
            *ret_end = true;
            break;
        }
        str line = folded_line(a, s);
        if (line.n == 0)
            break;
        ok = v.n < MAX_HEADERS && str_cut(line, ':', &name, &value) && canonical(a, name, &name);
        if (!ok)
            (void)err_set(e, ERR_INVALID, "\"%.*s\" is not a MIME header", (int)MIN(line.n, (size_t)80), line.p);
        else
            vec_push(&v, (struct ec2_kv){name, str_trim(value)});
    }
    sort_headers(v.v, v.n, NULL);
    *ret = vec_to_arena(&v, a);
    *ret_n = v.n;
    vec_fini(&v);
    return ok;
}

static str header_of(const struct ec2_kv *v, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_is(v[i].key, name))
            return v[i].value;
    return (str){0};
}

static bool same_word(str a, const char *b)
{
    return a.n == strlen(b) && strncasecmp(a.p, b, a.n) == 0;
}

/* "text" or "te\"xt" in quotes, or a word; *s moves behind it. */
static str take_value(struct arena *a, str *s)
{
    struct sb b = {0};
    size_t at = 0;

    if (!str_starts(*s, STR("\""))) {
        while (at < s->n && !memchr("; \t", s->p[at], 3))
            at++;
        str word = str_sub(*s, 0, at);
        *s = str_sub(*s, at, s->n);
        return word;
    }
    for (at = 1; at < s->n && s->p[at] != '"'; at++) {
        if (s->p[at] == '\\' && at + 1 < s->n && (s->p[at + 1] == '"' || s->p[at + 1] == '\\'))
            at++;
        sb_char(&b, s->p[at]);
    }
    *s = str_sub(*s, at + 1, s->n);
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

/* Of `multipart/mixed; boundary="//"`. */
static bool boundary_of(struct arena *a, str type, str *ret, struct err *e)
{
    str media, rest, name;

    (void)str_cut(type, ';', &media, &rest);
    media = str_trim(media);
    if (media.n < 10 || strncasecmp(media.p, "multipart/", 10) != 0)
        return err_set(e, ERR_INVALID, "the MIME message is not in multipart format");
    while (str_trim(rest).n) {
        rest = str_trim(rest);
        if (!str_cut(rest, '=', &name, &rest))
            break;
        str value = take_value(a, &rest);
        if (same_word(str_trim(name), "boundary") && value.n) {
            *ret = value;
            return true;
        }
        rest = str_trim(rest);
        if (str_starts(rest, STR(";")))
            rest = str_sub(rest, 1, rest.n);
    }
    return err_set(e, ERR_INVALID, "the MIME message does not say its boundary");
}

/* ---- parts ---- */

struct boundary {
    str dashed; /* "--BOUNDARY" */
    bool crlf;  /* lines end so: the first boundary's does */
};

static str skip_blanks(str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t'))
        s = str_sub(s, 1, s.n);
    return s;
}

static bool is_boundary(const struct boundary *b, str line)
{
    return str_starts(line, b->dashed) &&
           str_is(skip_blanks(str_sub(line, b->dashed.n, line.n)), b->crlf ? "\r\n" : "\n");
}

static bool is_last_boundary(const struct boundary *b, str line)
{
    str rest = str_starts(line, b->dashed) ? str_sub(line, b->dashed.n, line.n) : STR("x");

    if (!str_starts(rest, STR("--")))
        return false;
    rest = skip_blanks(str_sub(rest, 2, rest.n));
    return rest.n == 0 || str_is(rest, b->crlf ? "\r\n" : "\n");
}

/* A boundary's text, and behind it the end of a word. */
static bool starts_boundary(const struct boundary *b, str s)
{
    str rest = str_sub(s, b->dashed.n, s.n);

    return str_starts(s, b->dashed) && (rest.n == 0 || memchr(" \t\r\n", rest.p[0], 4) || str_starts(rest, STR("--")));
}

/* Up to the line end before the next boundary; *s then stands at that line end, or at the boundary if the part is empty. */
static bool take_body(const struct boundary *b, str *s, str *ret, struct err *e)
{
    str rest = *s;

    *ret = (str){s->p, 0};
    if (starts_boundary(b, rest))
        return true;
    while (rest.n) {
        str line = next_line(&rest);
        size_t end = b->crlf ? 2 : 1;

        if (str_ends(line, b->crlf ? STR("\r\n") : STR("\n")) && starts_boundary(b, rest)) {
            ret->n = s->n - rest.n - end;
            *s = str_sub(*s, ret->n, s->n);
            return true;
        }
    }
    return err_set(e, ERR_INVALID, "the MIME message ends inside a part");
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

static void unquote_line(struct sb *b, str line)
{
    for (size_t i = 0; i < line.n; i++) {
        bool coded =
            line.p[i] == '=' && i + 2 < line.n && hex_digit(line.p[i + 1]) >= 0 && hex_digit(line.p[i + 2]) >= 0;

        if (coded)
            sb_char(b, (char)(hex_digit(line.p[i + 1]) << 4 | hex_digit(line.p[i + 2])));
        else
            sb_char(b, line.p[i]);
        i += coded ? 2 : 0;
    }
}

/* quoted-printable: =3D is an equals sign, a line that ends with one goes on below; blanks at the end of a line do not count. */
static str unquote(struct arena *a, str s)
{
    struct sb b = {0};

    while (s.n) {
        str whole = next_line(&s), line = without_end(whole);
        bool feed = line.n < whole.n;

        while (line.n && (line.p[line.n - 1] == ' ' || line.p[line.n - 1] == '\t'))
            line.n--;
        bool soft = str_ends(line, STR("="));
        line.n -= soft;
        unquote_line(&b, line);
        if (feed && !soft)
            sb_char(&b, '\n');
    }
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

/* A part that says how it is encoded is decoded, and no longer says so. */
static void decode_part(struct arena *a, struct mime_part *p)
{
    static const char name[] = "Content-Transfer-Encoding";
    struct ec2_kv *left = arena_new_array(a, struct ec2_kv, p->n);
    uint32_t n = 0;

    if (!same_word(header_of(p->headers, p->n, name), "quoted-printable"))
        return;
    for (uint32_t i = 0; i < p->n; i++)
        if (!str_is(p->headers[i].key, name))
            left[n++] = p->headers[i];
    *p = (struct mime_part){left, n, unquote(a, p->content)};
}

/* To the next part, behind its boundary; *ret_end: there is none. */
static bool seek_part(struct boundary *b, str *s, bool first, bool *ret_end, struct err *e)
{
    bool between = false;

    for (;;) {
        str line = next_line(s);

        *ret_end = !str_ends(line, STR("\n")) || is_last_boundary(b, line);
        if (*ret_end)
            return true;
        if (first && str_starts(line, b->dashed))
            b->crlf = str_ends(line, STR("\r\n"));
        if (is_boundary(b, line))
            return true;
        if (first)
            continue; /* what stands before the first part */
        if (between || !str_is(line, b->crlf ? "\r\n" : "\n"))
            return err_set(e, ERR_INVALID, "\"%.*s\" stands where the MIME message should have a boundary",
                           (int)MIN(line.n, (size_t)80), line.p);
        between = true;
    }
}

static bool read_part(struct arena *a, const struct boundary *b, str *s, struct mime_part *ret, bool *ret_end,
                      struct err *e)
{
    if (!read_headers(a, s, &ret->headers, &ret->n, ret_end, e))
        return false;
    if (*ret_end)
        return true;
    if (!take_body(b, s, &ret->content, e))
        return false;
    decode_part(a, ret);
    return true;
}

bool mime_read(struct arena *a, str text, struct mime_parts *ret, struct err *e)
{
    VEC(struct mime_part) v = {0};
    const struct ec2_kv *headers;
    struct boundary b = {0};
    bool end, ok = true;
    str name = {0};
    uint32_t n;

    if (!read_headers(a, &text, &headers, &n, &end, e) ||
        !boundary_of(a, header_of(headers, n, "Content-Type"), &name, e))
        return false;
    b.dashed = arena_printf(a, "--" STR_FMT, STR_ARG(name));
    for (end = false; ok && !end;) {
        struct mime_part part;

        ok = seek_part(&b, &text, v.n == 0, &end, e) && (end || read_part(a, &b, &text, &part, &end, e));
        if (ok && !end && v.n == MAX_PARTS)
            ok = err_set(e, ERR_INVALID, "the MIME message has more than %d parts", MAX_PARTS);
        if (ok && !end)
            vec_push(&v, part);
    }
    *ret = (struct mime_parts){vec_to_arena(&v, a), v.n};
    vec_fini(&v);
    return ok;
}

/* ---- writing ---- */

static void put(struct sb *out, str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '\r')
            sb_char(out, s.p[i]);
}

void mime_write(struct sb *out, const struct mime_part *v, uint32_t n)
{
    sb_c(out, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n");
    for (uint32_t i = 0; i < n; i++) {
        sb_c(out, i ? "\n--//\n" : "--//\n");
        for (uint32_t h = 0; h < v[i].n; h++) {
            put(out, v[i].headers[h].key);
            sb_c(out, ": ");
            put(out, v[i].headers[h].value);
            sb_char(out, '\n');
        }
        sb_char(out, '\n');
        put(out, v[i].content);
    }
    sb_c(out, "\n--//--\n");
}
