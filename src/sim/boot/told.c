/* Which form user data has, and the parts of a multipart message, one by one as cloud-init hands them on. */
#include "sim/boot/told.h"

#include <strings.h>

#include "base/b64.h"
#include "data/edit.h"

#define NODE_CONFIG "application/node.eks.aws"
#define MAX_PARTS 100u

/* ---- messages ---- */

struct headers {
    str type, encoding;
};

static bool begins(str line, const char *name)
{
    return line.n >= strlen(name) && strncasecmp(line.p, name, strlen(name)) == 0;
}

static str without_cr(str line)
{
    return str_ends(line, STR("\r")) ? str_sub(line, 0, line.n - 1) : line;
}

/* Up to the empty line; lines that begin with a blank belong to the one before. */
static struct headers take_headers(struct arena *a, str *s)
{
    struct headers h = {0};
    str line, *last = NULL;

    while (s->n) {
        (void)str_cut(*s, '\n', &line, s);
        line = without_cr(line);
        if (line.n == 0)
            break;
        if (line.p[0] == ' ' || line.p[0] == '\t') {
            if (last)
                *last = arena_printf(a, STR_FMT " " STR_FMT, STR_ARG(*last), STR_ARG(str_trim(line)));
            continue;
        }
        last = begins(line, "Content-Type:")                ? &h.type
               : begins(line, "Content-Transfer-Encoding:") ? &h.encoding
                                                            : NULL;
        if (last) {
            str name;

            (void)str_cut(line, ':', &name, last);
            *last = str_trim(*last);
        }
    }
    return h;
}

/* Of multipart/mixed; boundary="//". */
static str boundary_of(str type)
{
    for (; type.n; type = str_sub(type, 1, type.n))
        if (begins(type, "boundary=")) {
            str value = str_sub(type, strlen("boundary="), type.n), rest;

            if (str_starts(value, STR("\"")))
                (void)str_cut(str_sub(value, 1, value.n), '"', &value, &rest);
            else
                (void)str_cut(value, ';', &value, &rest);
            return str_trim(value);
        }
    return (str){0};
}

/* What is before the next line "--boundary"; *ret_last: it was the last one. false: there is no such line. */
static bool take_part(str *s, str boundary, str *ret, bool *ret_last)
{
    size_t at = 0;

    while (at < s->n) {
        str rest = str_sub(*s, at, s->n), line, more;

        (void)str_cut(rest, '\n', &line, &more);
        str text = str_trim(line);
        if (str_starts(text, STR("--")) && str_starts(str_sub(text, 2, text.n), boundary)) {
            str tail = str_sub(text, 2 + boundary.n, text.n);

            if (tail.n == 0 || str_is(tail, "--")) {
                *ret = str_sub(*s, 0, at);
                *ret_last = tail.n != 0;
                *s = more;
                return true;
            }
        }
        at += line.n + 1;
    }
    return false;
}

/* ---- parts ---- */

struct reading {
    struct arena *a;
    struct told *t;
    struct tree *configs; /* NodeConfigs so far, merged */
    bool configured;
};

static bool read_part(struct reading *r, str part, struct err *e)
{
    struct headers h = take_headers(r->a, &part);

    if (str_is(h.encoding, "base64")) {
        struct sb lines = {0}, text = {0};

        for (size_t i = 0; i < part.n; i++)
            if (!memchr(" \t\r\n", part.p[i], 4))
                sb_char(&lines, part.p[i]);
        bool ok = b64url_decode(&text, sb_view(&lines));
        part = sb_dup(&text, r->a);
        sb_fini(&lines);
        sb_fini(&text);
        if (!ok)
            return err_set(e, ERR_INVALID, "a part of the message is not base64");
    }
    if (begins(h.type, "text/x-shellscript"))
        return told_shell(r->a, part, r->t, e);
    if (!str_starts(h.type, STR(NODE_CONFIG)))
        return true; /* cloud-config and others: nothing that a kubelet is told */
    r->configured = true;
    return told_nodeadm(r->a, r->configs, part, e);
}

static bool read_message(struct reading *r, str text, struct err *e)
{
    struct headers h = take_headers(r->a, &text);
    str boundary = boundary_of(h.type), part;
    bool last = false;

    if (!begins(h.type, "multipart/") || boundary.n == 0)
        return err_set(e, ERR_INVALID, "the message has no parts");
    if (!take_part(&text, boundary, &part, &last)) /* what is before the first one is for people */
        return err_set(e, ERR_INVALID, "the message has no boundary in it");
    for (uint32_t n = 0; !last && str_trim(text).n; n++) {
        if (n == MAX_PARTS)
            return err_set(e, ERR_INVALID, "the message has more than %u parts", MAX_PARTS);
        if (!take_part(&text, boundary, &part, &last)) {
            part = text;
            last = true;
        }
        if (!read_part(r, part, e))
            return false;
    }
    return true;
}

/* ---- all of it ---- */

/* A text that says what it is a NodeConfig of needs no message around it. */
static bool is_node_config(str text)
{
    str line;

    while (text.n) {
        (void)str_cut(text, '\n', &line, &text);
        if (str_starts(line, STR("apiVersion:")) && str_contains(line, STR("node.eks.aws/")))
            return true;
    }
    return false;
}

static bool read_form(struct reading *r, str text, struct err *e)
{
    str s = str_trim(text);

    if (begins(s, "MIME-Version:") || begins(s, "Content-Type:")) {
        if (!read_message(r, s, e))
            return false;
    } else if (str_starts(s, STR("#!"))) {
        if (!told_shell(r->a, s, r->t, e))
            return false;
    } else if (begins(s, "<powershell>")) {
        str script = str_sub(s, strlen("<powershell>"), s.n);

        if (str_ends(script, STR("</powershell>")))
            script.n -= strlen("</powershell>");
        return told_powershell(r->a, script, r->t, e);
    } else if (is_node_config(s)) {
        r->configured = true;
        if (!told_nodeadm(r->a, r->configs, s, e))
            return false;
    } else {
        return told_settings(r->a, s, r->t, e);
    }
    return !r->configured || told_nodeadm_end(r->a, r->configs, r->t, e);
}

bool told_read(struct arena *a, str user_data, struct told *ret, struct err *e)
{
    struct told t = {.max_pods = -1, .disk = STR("/dev/xvda")};
    struct reading r = {.a = a, .t = &t, .configs = tree_new_map(a)};

    t.labels = tree_new_map(a);
    t.taints = tree_new_list(a);
    t.kube.of = tree_new_map(a);
    t.system.of = tree_new_map(a);
    t.hard.of = tree_new_map(a);
    if (user_data.n > TOLD_MAX)
        return err_set(e, ERR_INVALID, "more than %u bytes of user data", TOLD_MAX);
    if (!read_form(&r, user_data, e))
        return false;
    if (t.cluster.n == 0)
        return err_set(e, ERR_INVALID, "the user data names no cluster");
    *ret = t;
    return true;
}
