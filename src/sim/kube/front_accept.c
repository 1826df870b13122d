/* Which of the forms a client would take is the best that we have: JSON or YAML; the object itself, a Table or its metadata alone.
 * Protobuf is offered by many clients first, and passed over. */
#include "sim/kube/front_int.h"

#include <strings.h>

#define MAX_CLAUSES 32u

struct clause {
    str type;     /* "application/json" */
    str as, g, v; /* what to convert to */
    double q;
    bool pretty;
};

static bool word_is(str s, const char *w)
{
    return s.n == strlen(w) && strncasecmp(s.p, w, s.n) == 0;
}

static void clause_param(struct clause *c, str param)
{
    str key, value;

    (void)str_cut(param, '=', &key, &value);
    key = str_trim(key);
    value = str_trim(value);
    if (str_is(key, "as"))
        c->as = value;
    else if (str_is(key, "g"))
        c->g = value;
    else if (str_is(key, "v"))
        c->v = value;
    else if (str_is(key, "q") && !str_to_double(value, &c->q))
        c->q = 0;
    else if (str_is(key, "pretty"))
        c->pretty = str_is(value, "1");
}

static int by_quality(const void *a, const void *b, void *ctx UNUSED)
{
    double x = ((const struct clause *)a)->q, y = ((const struct clause *)b)->q;

    return x > y ? -1 : x < y;
}

static uint32_t clauses_parse(str header, struct clause *out)
{
    uint32_t n = 0;

    for (str rest = header, one; rest.n && n < MAX_CLAUSES; n++) {
        (void)str_cut(rest, ',', &one, &rest);
        struct clause *c = &out[n];
        str params, param;

        *c = (struct clause){.q = 1};
        (void)str_cut(one, ';', &c->type, &params);
        c->type = str_trim(c->type);
        while (params.n) {
            (void)str_cut(params, ';', &param, &params);
            clause_param(c, param);
        }
    }
    sort_stable(out, n, sizeof(*out), by_quality, NULL);
    return n;
}

static bool form_of(const struct clause *c, enum form *ret)
{
    if (c->as.n == 0) {
        *ret = FORM_OBJECT;
        return true;
    }
    if (!str_is(c->g, "meta.k8s.io") || !str_is(c->v, "v1"))
        return false;
    if (str_is(c->as, "Table"))
        *ret = FORM_TABLE;
    else if (str_is(c->as, "PartialObjectMetadata"))
        *ret = FORM_METADATA;
    else if (str_is(c->as, "PartialObjectMetadataList"))
        *ret = FORM_METADATA_LIST;
    else
        return false;
    return true;
}

static bool is_json(str type)
{
    return word_is(type, "application/json") || str_is(type, "*/*") || word_is(type, "application/*");
}

/* Browsers and command line tools get indented text, as from the real server. */
static bool wants_pretty(const struct request *r)
{
    static const char *const people[] = {"curl", "Wget", "Mozilla/5.0"};
    str agent = request_header(r, "User-Agent");

    if (query_has(r, "pretty"))
        return str_is(query_get(r, "pretty"), "true") || str_is(query_get(r, "pretty"), "1");
    for (size_t i = 0; i < ARRAY_LEN(people); i++)
        if (str_starts(agent, str_c(people[i])))
            return true;
    return false;
}

bool accept_parse(struct request *r, bool as_objects, bool watch, struct status *st)
{
    struct clause clauses[MAX_CLAUSES];
    str header = request_header(r, "Accept");
    uint32_t n = clauses_parse(header, clauses);

    r->accept = (struct accept){.pretty = wants_pretty(r)};
    if (n == 0)
        return true;
    for (uint32_t i = 0; i < n; i++) {
        const struct clause *c = &clauses[i];
        bool yaml = word_is(c->type, "application/yaml") && !watch;
        enum form form;

        if ((!yaml && !is_json(c->type)) || !form_of(c, &form) || (form != FORM_OBJECT && !as_objects))
            continue;
        r->accept.form = form;
        r->accept.yaml = yaml;
        r->accept.pretty |= c->pretty;
        return true;
    }
    return status_bad_request(r->a, st, 406, "only the following media types are accepted: %s",
                              watch ? "application/json;stream=watch" : "application/json, application/yaml");
}

bool accept_wants_aggregated(const struct request *r)
{
    struct clause clauses[MAX_CLAUSES];
    uint32_t n = clauses_parse(request_header(r, "Accept"), clauses);

    for (uint32_t i = 0; i < n; i++) {
        const struct clause *c = &clauses[i];

        if (!is_json(c->type))
            continue;
        if (c->as.n == 0)
            return false;
        if (str_is(c->as, "APIGroupDiscoveryList") && str_is(c->g, "apidiscovery.k8s.io") && str_is(c->v, "v2"))
            return true;
    }
    return false;
}
