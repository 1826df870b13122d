/* local - what a machine can ask without leaving it: IMDSv2 (169.254.169.254), credentials of containers (169.254.170.2) and of pods (169.254.170.23). */
#include <stdio.h>
#include <time.h>

#include "data/json.h"
#include "sim/aws/account.h"

#define MAX_TOKEN_TTL_S 21600
#define KEYS_MS (6 * 60 * 60 * 1000LL)

/* Who asks: one of the account's machines, or one outside of it. */
struct asker {
    struct sim_aws *s;
    struct exchange *x;
    const struct machine *m; /* NULL: outside */
};

static void say(struct exchange *x, int status, const char *type, str body)
{
    reply_all(x, status, type, body);
}

static void say_text(struct exchange *x, str text)
{
    say(x, 200, "text/plain", text);
}

static void say_missing(struct exchange *x)
{
    say(x, 404, "text/html", STR("<html><body><h1>404 - Not Found</h1></body></html>"));
}

/* ---- credentials ---- */

static str role_name(const struct asker *q)
{
    const struct profile *p = q->m ? account_profile(q->s, q->m->m.profile) : NULL;

    if (q->m)
        return p ? p->role : STR("");
    return q->s->roles.n ? q->s->roles.v[0] : STR("");
}

static void say_keys(const struct asker *q, str role, bool container)
{
    struct arena *a = q->x->arena;
    str session = q->m ? q->m->m.id : STR("local");
    str name = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(role), STR_ARG(session));
    const struct access_key *k = keys_issue(q->s, account_arn(q->s, a, "sts", "assumed-role/", name), KEYS_MS);
    struct tree *t = tree_new_map(a);

    tree_set_str(a, t, "AccessKeyId", str_c(k->id));
    tree_set_str(a, t, "SecretAccessKey", str_c(k->secret));
    tree_set_str(a, t, "Token", str_c(k->token));
    tree_set_str(a, t, "Expiration", account_time(a, k->expires_ms));
    if (container) {
        tree_set_str(a, t, "RoleArn", account_arn(q->s, a, "iam", "role/", role));
    } else {
        tree_set_str(a, t, "Code", STR("Success"));
        tree_set_str(a, t, "Type", STR("AWS-HMAC"));
        tree_set_str(a, t, "LastUpdated", account_time(a, account_now_ms(q->s)));
    }
    say(q->x, 200, "application/json", json_text(a, t));
}

/* ---- IMDS ---- */

static void new_token(const struct asker *q)
{
    str ttl = http_header_get(q->x->headers, q->x->n_headers, "x-aws-ec2-metadata-token-ttl-seconds");
    struct http_header h[] = {{STR("Content-Type"), STR("text/plain")},
                              {STR("X-Aws-Ec2-Metadata-Token-Ttl-Seconds"), ttl}};
    int64_t seconds;

    if (strcmp(q->x->method, "PUT") != 0) {
        say(q->x, 405, "text/plain", STR(""));
        return;
    }
    if (!str_to_i64(ttl, &seconds) || seconds < 1 || seconds > MAX_TOKEN_TTL_S) {
        say(q->x, 400, "text/plain", STR("Bad Request"));
        return;
    }
    reply_begin(q->x, 200, h, 2);
    reply_data(q->x, arena_printf(q->x->arena, "%s.%lld", q->s->imds_token,
                                  (long long)(account_now_ms(q->s) + seconds * 1000)));
    reply_end(q->x);
}

static bool token_good(const struct asker *q)
{
    str token = http_header_get(q->x->headers, q->x->n_headers, "x-aws-ec2-metadata-token"), secret, until;
    int64_t ms;

    return str_cut(token, '.', &secret, &until) && str_is(secret, q->s->imds_token) && str_to_i64(until, &ms) &&
           ms >= account_now_ms(q->s);
}

static str zone_of(const struct asker *q)
{
    if (q->m)
        return q->m->m.zone;
    return q->s->zones.v.n ? tree_str(tree_get(q->s->zones.v.v[0], "ZoneName")) : STR("");
}

static str instance_action(const struct asker *q)
{
    if (!q->m || q->m->reclaim_ms == 0)
        return STR("");
    return arena_printf(q->x->arena, "{\"action\":\"terminate\",\"time\":\"" STR_FMT "\"}",
                        STR_ARG(account_time(q->x->arena, q->m->reclaim_ms)));
}

static str rebalance(const struct asker *q)
{
    if (!q->m || q->m->rebalance_ms == 0)
        return STR("");
    return arena_printf(q->x->arena, "{\"noticeTime\":\"" STR_FMT "\"}",
                        STR_ARG(account_time(q->x->arena, q->m->rebalance_ms)));
}

/* Here, and nowhere else, dates are written like this: "21 Jan 2019 09:00:43 GMT". */
static str maintenance(const struct asker *q)
{
    char from[64];
    struct tm tm;

    if (!q->m || q->m->event.from_ms == 0)
        return STR("[]");
    time_t t = (time_t)(q->m->event.from_ms / 1000);
    (void)strftime(from, sizeof(from), "%d %b %Y %H:%M:%S GMT", gmtime_r(&t, &tm));
    return arena_printf(q->x->arena,
                        "[{\"NotBefore\":\"%s\",\"Code\":\"%s\","
                        "\"Description\":\"The instance is running on degraded hardware\","
                        "\"EventId\":\"" STR_FMT "\",\"NotAfter\":\"\",\"State\":\"%s\"}]",
                        from, q->m->event.code, STR_ARG(machine_event_id(q->x->arena, q->m)), q->m->event.state);
}

static str identity_document(const struct asker *q)
{
    struct arena *a = q->x->arena;
    struct tree *t = tree_new_map(a);

    tree_set_str(a, t, "accountId", q->s->account_id);
    tree_set_str(a, t, "region", q->s->region);
    tree_set_str(a, t, "availabilityZone", zone_of(q));
    tree_set_str(a, t, "instanceId", q->m ? q->m->m.id : STR("i-00000000000000000"));
    tree_set_str(a, t, "instanceType", q->m ? q->m->m.type : STR("m5.large"));
    tree_set_str(a, t, "imageId", q->m ? q->m->m.image : STR(""));
    tree_set_str(a, t, "privateIp", q->m ? q->m->m.private_ip : STR("127.0.0.1"));
    tree_set_str(a, t, "version", STR("2017-09-30"));
    return json_text(a, t);
}

/* What is found at a path below /latest/; empty: nothing. */
static str metadata(const struct asker *q, str path)
{
    const struct sim_machine *m = q->m ? &q->m->m : NULL;
    const struct {
        const char *path;
        str value;
    } facts[] = {
        {"dynamic/instance-identity/document", identity_document(q)},
        {"meta-data/ami-id", m ? m->image : STR("")},
        {"meta-data/autoscaling/target-lifecycle-state", m ? q->m->target_state : STR("")},
        {"meta-data/events/maintenance/scheduled", maintenance(q)},
        {"meta-data/events/recommendations/rebalance", rebalance(q)},
        {"meta-data/hostname", m ? m->private_dns : STR("")},
        {"meta-data/instance-id", m ? m->id : STR("i-00000000000000000")},
        {"meta-data/instance-life-cycle", m && q->m->spot ? STR("spot") : STR("on-demand")},
        {"meta-data/instance-type", m ? m->type : STR("m5.large")},
        {"meta-data/local-hostname", m ? m->private_dns : STR("")},
        {"meta-data/local-ipv4", m ? m->private_ip : STR("127.0.0.1")},
        {"meta-data/placement/availability-zone", zone_of(q)},
        {"meta-data/placement/availability-zone-id", account_zone_id(q->s, zone_of(q))},
        {"meta-data/placement/region", q->s->region},
        {"meta-data/services/domain", STR("amazonaws.com")},
        {"meta-data/services/partition", q->s->partition},
        {"meta-data/spot/instance-action", instance_action(q)},
        {"meta-data/spot/termination-time",
         m && q->m->reclaim_ms ? account_time(q->x->arena, q->m->reclaim_ms) : STR("")},
        {"user-data", m ? m->user_data : STR("")},
    };

    for (size_t i = 0; i < ARRAY_LEN(facts); i++)
        if (str_is(path, facts[i].path))
            return facts[i].value;
    return STR("");
}

static void imds(const struct asker *q, str path)
{
    str keys = STR("meta-data/iam/security-credentials/"), role = role_name(q);

    if (str_is(path, "api/token")) {
        new_token(q);
        return;
    }
    if (!token_good(q)) {
        say(q->x, 401, "text/plain", STR("Unauthorized"));
        return;
    }
    if (path.n > 0 && path.p[path.n - 1] == '/' && str_eq(path, keys) && role.n) {
        say_text(q->x, role);
    } else if (str_starts(path, keys) && role.n && str_eq(str_sub(path, keys.n, path.n), role)) {
        say_keys(q, role, /* container= */ false);
    } else {
        str found = metadata(q, path);

        if (found.n)
            say_text(q->x, found);
        else
            say_missing(q->x);
    }
}

/* ---- both ---- */

static void serve_asker(const struct asker *q)
{
    str authorization = http_header_get(q->x->headers, q->x->n_headers, "authorization"), role = role_name(q);
    bool pods = str_is(q->x->path, "/v1/credentials"), tasks = str_starts(q->x->path, STR("/v2/credentials"));

    if (str_starts(q->x->path, STR("/latest/"))) {
        imds(q, str_sub(q->x->path, strlen("/latest/"), q->x->path.n));
    } else if ((!pods && !tasks) || role.n == 0) {
        say_missing(q->x);
    } else if (pods &&
               (authorization.n == 0 || (q->s->container_token.n && !str_eq(authorization, q->s->container_token)))) {
        say(q->x, 401, "application/json",
            STR("{\"code\":\"AccessDeniedException\",\"message\":\"The token is not valid\"}"));
    } else {
        say_keys(q, role, /* container= */ true);
    }
}

void sim_aws_serve_local(void *server, struct exchange *x)
{
    struct asker q = {.s = server, .x = x};

    serve_asker(&q);
}

void sim_aws_serve_machine(void *local, struct exchange *x)
{
    const struct sim_aws_local *l = local;
    struct asker q = {.s = l->aws, .x = x};

    q.m = HTAB_THING(htab_get(&l->aws->machines, l->instance), struct machine, by_id);
    if (q.m)
        serve_asker(&q);
    else
        reply_abort(x); /* a machine that is no more asks nobody */
}
