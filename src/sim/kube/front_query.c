/* What stands after the '?', and the option objects that are made of it. Numbers and flags are read as the real server reads them:
 * a flag that is there counts as true unless it says "false" or "0". */
#include "sim/kube/front_int.h"

#include <strings.h>

#include "data/edit.h"
#include "data/json.h"

#define MAX_MANAGER 128u
#define MAX_PAIRS 256u

bool query_parse(struct request *r, struct status *st)
{
    VEC(struct pair) pairs = {0};
    str rest = r->x->query, name, value;
    bool bad = false;

    while (pairs.n < MAX_PAIRS && query_next(r->a, &rest, &name, &value, &bad))
        vec_push(&pairs, (struct pair){name, value});
    r->query = arena_dup_array(r->a, struct pair, pairs.v, pairs.n);
    r->n_query = pairs.n;
    vec_fini(&pairs);
    if (bad)
        return status_bad_request(r->a, st, 400, "invalid URL escape in query");
    if (r->n_query == MAX_PAIRS)
        return status_bad_request(r->a, st, 400, "more than %u parameters", MAX_PAIRS - 1);
    return true;
}

static const struct pair *find(const struct request *r, const char *name)
{
    for (uint32_t i = 0; i < r->n_query; i++)
        if (str_is(r->query[i].name, name))
            return &r->query[i];
    return NULL;
}

bool query_has(const struct request *r, const char *name)
{
    return find(r, name) != NULL;
}

str query_get(const struct request *r, const char *name)
{
    const struct pair *p = find(r, name);

    return p ? p->value : (str){0};
}

static bool same_word(str s, const char *word)
{
    return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

bool query_flag(const struct request *r, const char *name)
{
    const struct pair *p = find(r, name);

    return p && !same_word(p->value, "false") && !str_is(p->value, "0");
}

bool query_number(struct request *r, const char *name, int64_t *ret, struct status *st)
{
    const struct pair *p = find(r, name);

    if (p && !str_to_i64(p->value, ret))
        return status_bad_request(r->a, st, 400, "strconv.ParseInt: parsing \"" STR_FMT "\": invalid syntax",
                                  STR_ARG(p->value));
    return true;
}

/* ---- options of writes ---- */

bool query_invalid(struct request *r, const char *kind, struct causes *c, struct status *st)
{
    const struct kind options = {.group = STR("meta.k8s.io"), .name = str_c(kind)};
    bool ok = c->list.n == 0;

    if (!ok)
        (void)status_invalid(r->a, st, &options, (str){0}, c);
    causes_fini(c);
    return ok;
}

/* What managedFields calls a client that does not say: its User-Agent up to the first slash. */
static str manager_of(const struct request *r)
{
    str head, tail, agent = request_header(r, "User-Agent");

    (void)str_cut(agent, '/', &head, &tail);
    head = str_sub(head, 0, MAX_MANAGER);
    for (size_t i = 0; i < head.n; i++)
        if ((unsigned char)head.p[i] < 0x20 || (unsigned char)head.p[i] >= 0x7f)
            return STR("unknown");
    return head.n ? head : STR("unknown");
}

static void check_dry_run(struct request *r, struct causes *c, bool *ret)
{
    for (uint32_t i = 0; i < r->n_query; i++) {
        if (!str_is(r->query[i].name, "dryRun"))
            continue;
        if (str_is(r->query[i].value, "All"))
            *ret = true;
        else if (r->query[i].value.n)
            cause_not_supported(c, STR("dryRun"), arena_printf(r->a, "[\"" STR_FMT "\"]", STR_ARG(r->query[i].value)),
                                "supported values: \"All\"");
    }
}

static void check_field_validation(struct request *r, struct causes *c, struct write_options *ret)
{
    str v = query_get(r, "fieldValidation");

    if (v.n == 0 || str_is(v, "Warn"))
        ret->fields = FIELDS_WARN;
    else if (str_is(v, "Ignore"))
        ret->fields = FIELDS_IGNORE;
    else if (str_is(v, "Strict"))
        ret->fields = FIELDS_STRICT;
    else
        cause_not_supported(c, STR("fieldValidation"), json_quoted(r->a, v),
                            "supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
}

bool query_write(struct request *r, const char *options, bool apply, struct write_options *ret, struct status *st)
{
    struct causes c = {.a = r->a};
    str manager = query_get(r, "fieldManager");

    *ret = (struct write_options){.user = r->user.name, .warnings = &r->warnings};
    if (manager.n > MAX_MANAGER)
        cause_too_long(&c, STR("fieldManager"), MAX_MANAGER);
    if (apply && manager.n == 0)
        cause_required(&c, STR("fieldManager"), "is required for apply patch");
    if (!apply && strcmp(options, "PatchOptions") == 0 && query_has(r, "force"))
        cause_forbidden(&c, STR("force"), "may not be specified for non-apply patch");
    check_dry_run(r, &c, &ret->dry_run);
    check_field_validation(r, &c, ret);
    ret->manager = manager.n ? manager : manager_of(r);
    return query_invalid(r, options, &c, st);
}

/* ---- DeleteOptions ---- */

/* "nil" is what the real server calls the absence of a policy in its list of possible ones. */
static const char *check_propagation(struct request *r, struct causes *c, str v)
{
    static const char *const known[] = {"Foreground", "Background", "Orphan"};

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(v, known[i]))
            return known[i];
    cause_not_supported(c, STR("propagationPolicy"), json_quoted(r->a, v),
                        "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"");
    return NULL;
}

static bool is_all(const struct tree *t)
{
    for (uint32_t i = 0; t && t->kind == TREE_LIST && i < t->n; i++)
        if (str_is(tree_str(&t->items[i]), "All"))
            return true;
    return false;
}

/* The body wins: a server reads the query only when there is no body. */
static bool delete_from_body(struct request *r, const struct tree *body, struct causes *c, struct delete_options *ret,
                             struct write_options *ret_w, struct status *st)
{
    const struct tree *grace = tree_get(body, "gracePeriodSeconds"), *orphan = tree_get(body, "orphanDependents");
    str policy = tree_str(tree_get(body, "propagationPolicy"));
    str rv = tree_str(tree_at(body, "preconditions", "resourceVersion", NULL));
    int64_t n = 0;

    if (grace && !tree_to_i64(grace, &ret->grace_s))
        return status_bad_request(r->a, st, 400, "gracePeriodSeconds must be a whole number");
    ret->uid = tree_str(tree_at(body, "preconditions", "uid", NULL));
    if (rv.n && (!str_to_i64(rv, &n) || n <= 0))
        return status_bad_request(r->a, st, 400, "preconditions.resourceVersion must be a number");
    ret->rv = (uint64_t)n;
    if (policy.n && orphan)
        cause_invalid(c, STR("propagationPolicy"), json_quoted(r->a, policy),
                      "orphanDependents and deletionPropagation cannot be both set");
    else if (policy.n)
        ret->propagation = check_propagation(r, c, policy);
    else if (orphan)
        ret->propagation = tree_is_true(orphan) ? "Orphan" : "Background";
    ret_w->dry_run = ret_w->dry_run || is_all(tree_get(body, "dryRun"));
    return true;
}

bool query_delete(struct request *r, const struct tree *body, struct delete_options *ret, struct write_options *ret_w,
                  struct status *st)
{
    struct causes c = {.a = r->a};

    *ret = (struct delete_options){.grace_s = -1};
    *ret_w = (struct write_options){.user = r->user.name};
    if (body) {
        if (!delete_from_body(r, body, &c, ret, ret_w, st)) {
            causes_fini(&c);
            return false;
        }
    } else {
        if (!query_number(r, "gracePeriodSeconds", &ret->grace_s, st))
            return false;
        if (query_get(r, "propagationPolicy").n)
            ret->propagation = check_propagation(r, &c, query_get(r, "propagationPolicy"));
        else if (query_has(r, "orphanDependents"))
            ret->propagation = query_flag(r, "orphanDependents") ? "Orphan" : "Background";
    }
    check_dry_run(r, &c, &ret_w->dry_run);
    return query_invalid(r, "DeleteOptions", &c, st);
}
