/* The path may name one check, the query leave some out or ask for all. */
#include "control/probes.h"

#define TEXT "text/plain; charset=utf-8"

struct ask {
    bool verbose;
    str exclude[PROBES_MAX];
    uint32_t n_exclude;
};

static void read_query(struct exchange *x, struct ask *q)
{
    str rest = x->query, name, value;
    bool bad = false;

    while (query_next(x->arena, &rest, &name, &value, &bad) && !bad) {
        if (str_is(name, "verbose"))
            q->verbose = true;
        else if (str_is(name, "exclude") && q->n_exclude < PROBES_MAX)
            q->exclude[q->n_exclude++] = value;
    }
}

static bool is_excluded(const struct ask *q, const char *name)
{
    for (uint32_t i = 0; i < q->n_exclude; i++)
        if (str_is(q->exclude[i], name))
            return true;
    return false;
}

static void reply_one(struct exchange *x, str name, const struct probe_check *checks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!str_is(name, checks[i].name))
            continue;
        if (checks[i].ok)
            reply_all(x, 200, TEXT, STR("ok"));
        else
            reply_all(x, 500, TEXT, STR("internal server error: reason withheld\n"));
        return;
    }
    reply_all(x, 404, TEXT, STR("404 page not found\n"));
}

void probes_reply(struct exchange *x, str under, const struct probe_check *checks, uint32_t n)
{
    str rest = str_sub(x->path, under.n, x->path.n);
    struct ask q = {0};
    struct sb out = {0};
    bool ok = true;

    if (rest.n > 1) {
        reply_one(x, str_sub(rest, 1, rest.n), checks, n);
        return;
    }
    read_query(x, &q);
    for (uint32_t i = 0; i < n; i++) {
        if (is_excluded(&q, checks[i].name)) {
            sb_printf(&out, "[+]%s excluded: ok\n", checks[i].name);
            continue;
        }
        ok &= checks[i].ok;
        sb_printf(&out, checks[i].ok ? "[+]%s ok\n" : "[-]%s failed: reason withheld\n", checks[i].name);
    }
    if (ok && !q.verbose) {
        sb_reset(&out);
        sb_c(&out, "ok");
    } else {
        sb_printf(&out, "healthz check %s\n", ok ? "passed" : "failed"); /* quirk: of /readyz as well (lifecycle 9.3) */
    }
    reply_all(x, ok ? 200 : 500, TEXT, sb_view(&out));
    sb_fini(&out);
}
