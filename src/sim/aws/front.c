/* front - from an HTTP request to a handler and back: which service, which action, may it pass, has it been done before.
 *
 * The order is AWS's own: the signature, then the number of calls, then the request itself. Faults that were asked for come between the last two. A client token
 * that was seen before gets the answer of then, whatever has happened since.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/map.h"
#include "data/json.h"
#include "data/reader.h"
#include "sim/aws/call.h"

static const struct {
    const char *name, *target, *version;
    enum protocol protocol;
} services[] = {
    [EC2] = {"ec2", NULL, "2016-11-15", PROTOCOL_EC2},
    [IAM] = {"iam", NULL, "2010-05-08", PROTOCOL_QUERY},
    [STS] = {"sts", NULL, "2011-06-15", PROTOCOL_QUERY},
    [SSM] = {"ssm", "AmazonSSM", NULL, PROTOCOL_JSON},
    [SQS] = {"sqs", "AmazonSQS", NULL, PROTOCOL_JSON},
    [EKS] = {"eks", NULL, NULL, PROTOCOL_JSON},
    [EVENTS] = {"events", "AWSEvents", NULL, PROTOCOL_JSON},
    [PRICING] = {"pricing", "AWSPriceListService", NULL, PROTOCOL_JSON},
    [ZONAL_SHIFT] = {"arc-zonal-shift", NULL, NULL, PROTOCOL_JSON},
};

/* What is said of requests that name no action of ours. */
static const struct action unknown[] = {
    [EC2] = {.service = EC2, .name = ""},
    [IAM] = {.service = IAM, .name = ""},
    [STS] = {.service = STS, .name = ""},
    [SSM] = {.service = SSM, .name = ""},
    [SQS] = {.service = SQS, .name = ""},
    [EKS] = {.service = EKS, .name = ""},
    [EVENTS] = {.service = EVENTS, .name = ""},
    [PRICING] = {.service = PRICING, .name = ""},
    [ZONAL_SHIFT] = {.service = ZONAL_SHIFT, .name = ""},
};

const char *service_name(enum service v)
{
    return services[v].name;
}

enum protocol service_protocol(enum service v)
{
    return services[v].protocol;
}

/* ---- the input ---- */

str in_str(const struct call *c, const char *key)
{
    return tree_str(tree_get(c->in, key));
}

int64_t in_i64(const struct call *c, const char *key, int64_t absent)
{
    int64_t v;

    return tree_to_i64(tree_get(c->in, key), &v) ? v : absent;
}

const struct tree *in_list(const struct call *c, const char *key)
{
    const struct tree *t = tree_get(c->in, key);

    return t && t->kind == TREE_LIST ? t : NULL;
}

bool in_required(struct call *c, const char *key, str *ret)
{
    *ret = in_str(c, key);
    if (ret->n)
        return true;
    switch (service_protocol(c->action->service)) {
    case PROTOCOL_EC2:
        return call_fail(c, "MissingParameter", "The request must contain the parameter %s", key);
    case PROTOCOL_QUERY:
        return call_fail(c, "ValidationError",
                         "1 validation error detected: Value null at '%s' failed to satisfy constraint", key);
    case PROTOCOL_JSON:
        break;
    }
    return call_fail(c, "ValidationException",
                     "1 validation error detected: Value null at '%s' failed to satisfy constraint", key);
}

bool call_fail(struct call *c, const char *code, const char *fmt, ...)
{
    struct sb b = {0};
    va_list ap;
    char text[1024];

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sb_c(&b, text);
    c->code = arena_strdup(c->a, str_c(code));
    c->message = sb_dup(&b, c->a);
    sb_fini(&b);
    return false;
}

static bool fail_throttled(struct call *c)
{
    c->s->tallies[c->action - aws_actions].throttled++;
    switch (service_protocol(c->action->service)) {
    case PROTOCOL_EC2:
        return call_fail(c, "RequestLimitExceeded", "Request limit exceeded.");
    case PROTOCOL_QUERY:
        return call_fail(c, "Throttling", "Rate exceeded");
    case PROTOCOL_JSON:
        break;
    }
    return call_fail(c, c->action->service == SQS ? "RequestThrottled" : "ThrottlingException", "Rate exceeded");
}

static bool fail_internal(struct call *c)
{
    const char *code = c->action->service == EC2   ? "InternalError"
                       : c->action->service == EKS ? "ServerException"
                                                   : "InternalFailure";

    return call_fail(c, code, "An internal error has occurred");
}

/* ---- which action ---- */

static bool action_find(struct call *c, enum service v, str name)
{
    for (uint32_t i = 0; i < aws_n_actions; i++)
        if (aws_actions[i].service == v && str_is(name, aws_actions[i].name)) {
            c->action = &aws_actions[i];
            return true;
        }
    c->action = &unknown[v];
    return call_fail(c,
                     v == EC2 || service_protocol(v) == PROTOCOL_QUERY ? "InvalidAction" : "UnknownOperationException",
                     "The action " STR_FMT " is not valid for this web service.", STR_ARG(str_sub(name, 0, 100)));
}

static bool decode_json(struct call *c, enum service v, str target)
{
    str prefix, name;
    struct err e = {0};

    (void)str_cut(target, '.', &prefix, &name);
    c->in = tree_new_map(c->a);
    if (!action_find(c, v, name) || c->x->body.n == 0)
        return c->code.n == 0;
    if (!tree_parse_json(c->a, "body", c->x->body, &c->in, &e) || c->in->kind != TREE_MAP)
        return call_fail(c, "SerializationException", "%s", e.kind ? e.msg : "want a JSON object");
    return true;
}

static bool decode_form(struct call *c, enum service v, bool known)
{
    struct err e = {0};
    str action, version, query = strcmp(c->x->method, "POST") == 0 ? c->x->body : c->x->query;

    c->in = form_read(c->a, query, &action, &version, &e);
    for (size_t i = 0; c->in && !known && i < ARRAY_LEN(services); i++)
        if (services[i].version && str_is(version, services[i].version)) {
            v = (enum service)i;
            known = true;
        }
    c->action = &unknown[known ? v : EC2];
    if (!c->in)
        return call_fail(c, "MalformedQueryString", "%s", e.msg);
    if (!known)
        return call_fail(c, "InvalidAction", "The request names no service that is here");
    return action_find(c, v, action);
}

/* /clusters/NAME and /managedresources/ARN. */
static bool decode_rest(struct call *c, enum service v)
{
    const char *root = v == EKS ? "/clusters" : "/managedresources";
    str rest = str_sub(c->x->path, strlen(root), c->x->path.n), name = STR("");
    bool get = strcmp(c->x->method, "GET") == 0 && str_starts(c->x->path, str_c(root));

    struct tree *in = tree_new_map(c->a);

    c->in = in;
    c->action = &unknown[v];
    if (!get || (rest.n && (rest.p[0] != '/' || !url_decode(c->a, str_sub(rest, 1, rest.n), false, &name))))
        return call_fail(c, "UnknownOperationException", "There is no such operation here");
    if (v == EKS && name.n == 0)
        return action_find(c, v, STR("ListClusters"));
    tree_set_str(c->a, in, v == EKS ? "name" : "resourceIdentifier", name);
    return action_find(c, v, v == EKS ? STR("DescribeCluster") : STR("GetManagedResource"));
}

static bool decode(struct call *c)
{
    str scope = signature_service(c->x);
    str target = http_header_get(c->x->headers, c->x->n_headers, "x-amz-target");

    for (size_t i = 0; i < ARRAY_LEN(services); i++) {
        enum service v = (enum service)i;
        str prefix = str_c(services[i].target);
        bool aimed = prefix.n && str_starts(target, prefix);

        if (scope.n ? !str_is(scope, services[i].name) : !aimed)
            continue;
        if (v == EKS || v == ZONAL_SHIFT)
            return decode_rest(c, v);
        return services[i].target ? decode_json(c, v, target) : decode_form(c, v, true);
    }
    if (str_starts(c->x->path, STR("/clusters")))
        return decode_rest(c, EKS);
    if (str_starts(c->x->path, STR("/managedresources")))
        return decode_rest(c, ZONAL_SHIFT);
    return decode_form(c, EC2, false);
}

/* ---- may it pass ---- */

static bool within_limits(struct call *c)
{
    struct tally *t = &c->s->tallies[c->action - aws_actions];
    int64_t now = world_mono_us(c->s->w);
    bool plain = !(c->action->flags & MUTATES) && !tree_get(c->in, "Filters") && !tree_get(c->in, "MaxResults") &&
                 !tree_get(c->in, "NextToken");

    if (c->s->o.unlimited || c->action->service != EC2)
        return true;
    for (uint32_t i = 0; plain && i < c->in->n; i++) /* ids are as good as a filter */
        if (c->in->items[i].kind == TREE_LIST)
            plain = false;
    if (plain && !c->dry_run && !bucket_take(&t->other, now))
        return fail_throttled(c);
    return bucket_take(&t->requests, now) || fail_throttled(c);
}

bool call_units(struct call *c, uint32_t n)
{
    struct tally *t = &c->s->tallies[c->action - aws_actions];
    int64_t now = world_mono_us(c->s->w);

    if (c->s->o.unlimited || c->action->units <= 0)
        return true;
    for (uint32_t i = 0; i < n; i++)
        if (!bucket_take(&t->other, now))
            return fail_throttled(c);
    return true;
}

/* Templates that a fleet named vanish with the error that says so. */
static void forget_templates(struct call *c)
{
    const struct tree *configs = in_list(c, "LaunchTemplateConfigs");

    for (uint32_t i = 0; configs && i < configs->n; i++) {
        const struct tree *spec = tree_get(&configs->items[i], "LaunchTemplateSpecification");

        template_forget(c->s, tree_str(tree_get(spec, "LaunchTemplateId")),
                        tree_str(tree_get(spec, "LaunchTemplateName")));
    }
}

/* The next error that was ordered for this action, if there is one left. */
static bool ordered_fault(struct call *c)
{
    str key = c->dry_run ? arena_printf(c->a, "%s/dry-run", c->action->name) : str_c(c->action->name);

    for (uint32_t i = 0; i < c->s->fault_calls.n; i++) {
        struct fault_call *f = &c->s->fault_calls.v[i];

        if (f->used || !str_eq(f->key, key))
            continue;
        f->used = true;
        if (f->code.n == 0)
            return false;
        c->code = f->code;
        c->message = f->message;
        if (str_is(f->code, "InvalidLaunchTemplateName.NotFoundException"))
            forget_templates(c);
        return true;
    }
    return false;
}

static bool may_pass(struct call *c)
{
    if (!(c->action->flags & UNSIGNED) && !c->s->o.any_signature && !signature_check(c))
        return false;
    if (!within_limits(c) || ordered_fault(c))
        return false;
    if (account_chance(c->s, c->s->faults.throttle))
        return fail_throttled(c);
    if (account_chance(c->s, c->s->faults.server_error))
        return fail_internal(c);
    c->break_off = account_chance(c->s, c->s->faults.lose_reply);
    if (c->dry_run && !(c->action->flags & DRY_RUN))
        return call_fail(c, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.");
    return true;
}

/* ---- client tokens ---- */

static uint64_t input_hash(const struct call *c)
{
    str text = json_text(c->a, c->in);

    return hash_bytes(text.p, text.n, 1);
}

static void tokens_expire(struct sim_aws *s)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->remembered.n; i++) {
        bool old = s->remembered.v[i].at_ms + AWS_TOKEN_MS < account_now_ms(s);

        if (old || s->remembered.n - i > AWS_MAX_TOKENS)
            free((void *)s->remembered.v[i].token.p);
        else
            s->remembered.v[kept++] = s->remembered.v[i];
    }
    s->remembered.n = kept;
}

static void token_remember(struct call *c, str body)
{
    str token = in_str(c, "ClientToken");

    if (token.n == 0 || !(c->action->flags & MUTATES))
        return;
    tokens_expire(c->s);
    char *p = xmalloc(token.n + body.n);

    memcpy(p, token.p, token.n);
    memcpy(p + token.n, body.p, body.n);
    vec_push(&c->s->remembered, (struct remembered){
                                    .token = {p, token.n},
                                    .body = {p + token.n, body.n},
                                    .action = c->action,
                                    .hash = input_hash(c),
                                    .at_ms = account_now_ms(c->s),
                                });
}

/* Whether the call was answered from memory. */
static bool token_replay(struct call *c)
{
    str token = in_str(c, "ClientToken");

    for (uint32_t i = 0; token.n && i < c->s->remembered.n; i++) {
        const struct remembered *r = &c->s->remembered.v[i];

        if (r->action != c->action || !str_eq(r->token, token))
            continue;
        if (r->hash != input_hash(c)) {
            (void)call_fail(c, "IdempotentParameterMismatch",
                            "The request uses the same client token as a previous, but non-identical request.");
            return false;
        }
        record_call(c, 200);
        reply_send(c, 200, r->body);
        return true;
    }
    return false;
}

/* ---- all of it ---- */

void call_done(struct call *c)
{
    int status = 200;
    str body;

    if (c->code.n) {
        status = reply_http_status(service_protocol(c->action->service), c->code);
        body = reply_error_text(c);
    } else {
        body = reply_text(c);
        token_remember(c, body);
    }
    if (c->in)
        record_call(c, status);
    reply_send(c, status, body);
}

void sim_aws_serve(void *server, struct exchange *x)
{
    struct call *c = arena_new_one(x->arena, struct call);

    c->s = server;
    c->x = x;
    c->a = x->arena;
    c->out = tree_new_map(c->a);
    if (decode(c)) {
        c->s->tallies[c->action - aws_actions].calls++;
        c->dry_run = tree_is_true(tree_get(c->in, "DryRun"));
        if (may_pass(c)) {
            if (token_replay(c))
                return;
            if (c->code.n == 0)
                c->action->fn(c);
        }
    }
    if (!c->waits)
        call_done(c);
}
