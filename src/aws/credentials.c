/* What one source gives, kept until it runs out. One fiber asks; the others go on with what there is, or wait for it if there is nothing good. */
#include "aws/credentials.h"

#include <stdlib.h>

#include "aws/client_int.h"
#include "data/reader.h"
#include "model/duration.h"
#include "net/fiber.h"

#define SECOND_US INT64_C(1000000)
#define AHEAD_MS INT64_C(300000) /* new ones are got so long before the old ones run out … */
#define JITTER_MS INT64_C(60000) /* … and up to this much earlier, not all replicas at once */
#define POLL_US (SECOND_US / 50)
#define AGAIN_US (10 * SECOND_US)     /* after a failure, while the old ones are good: doubles … */
#define AGAIN_MAX_US (60 * SECOND_US) /* … up to this */
#define EXPIRED_AGAIN_US SECOND_US    /* after a failure, when nothing is good */

struct credentials {
    struct aws *aws;
    struct source source;
    struct arena *arena; /* of the lease; NULL: there is none yet */
    struct lease lease;
    int64_t due_ms; /* when to get new ones */
    bool asking;
    uint64_t n_asked;
    uint32_t n_failures; /* in a row */
    struct err failure;  /* the last one's */
    int64_t failed_us, again_us;
};

struct credentials *credentials_of(struct aws *c, const struct source *s)
{
    struct credentials *k = xcalloc(1, sizeof(*k));

    k->aws = c;
    k->source = *s;
    return k;
}

struct credentials *credentials_new(struct aws *c)
{
    struct source s = chain_choose(c);

    return credentials_of(c, &s);
}

void credentials_free(struct credentials *k)
{
    if (!k)
        return;
    credentials_free(k->source.from);
    if (k->arena)
        arena_free_wiped(k->arena);
    free(k);
}

/* ---- getting new ones ---- */

static void keep(struct credentials *k, struct arena *a, const struct lease *l, int64_t now_ms)
{
    int64_t ahead_ms = AHEAD_MS + retry_jitter(JITTER_MS, world_random(k->aws->world)),
            left_ms = sat_sub(l->expires_ms, now_ms);

    if (k->arena)
        arena_free_wiped(k->arena);
    k->arena = a;
    k->lease = *l;
    k->lease.serial = k->n_asked;
    k->due_ms = l->expires_ms == INT64_MAX ? INT64_MAX : l->expires_ms - MIN(ahead_ms, left_ms / 2);
    if (l->again_ms)
        k->due_ms = MIN(k->due_ms, l->again_ms);
    k->n_failures = 0;
}

/* "Not found" would be a token's file or a role: whoever asked for an instance must not take it for that. */
static enum err_kind kind_for_callers(enum err_kind kind)
{
    return kind == ERR_IO || kind == ERR_TIMEOUT || kind == ERR_THROTTLED ? kind : ERR_DENIED;
}

static void note_failure(struct credentials *k, const struct err *e)
{
    int64_t wait_us = MIN(AGAIN_US << MIN(k->n_failures, 8u), AGAIN_MAX_US);

    k->failure = *e;
    k->failure.kind = kind_for_callers(e->kind);
    k->failure.code[0] = '\0';
    (void)err_wrap(&k->failure, "credentials from " STR_FMT, STR_ARG(k->source.name));
    k->n_failures++;
    k->failed_us = world_mono_us(k->aws->world);
    k->again_us = k->failed_us + wait_us / 2 + retry_jitter(wait_us / 2, world_random(k->aws->world));
}

static void ask(struct credentials *k)
{
    struct arena *a = arena_new(0);
    struct lease l = {0};
    struct err e = {0};

    k->asking = true;
    k->n_asked++;
    bool ok = k->source.get(k->aws, &k->source, a, &l, &e);
    int64_t now_ms = client_now_ms(k->aws);
    if (ok && l.expires_ms <= now_ms)
        ok = err_set(&e, ERR_IO, "what it gave has expired already");
    if (ok) {
        keep(k, a, &l, now_ms);
    } else {
        note_failure(k, &e);
        arena_free_wiped(a);
    }
    k->asking = false;
}

/* ---- handing them out ---- */

static bool is_good(const struct credentials *k)
{
    return k->arena && client_now_ms(k->aws) < k->lease.expires_ms;
}

static bool is_due(const struct credentials *k)
{
    int64_t now_us = world_mono_us(k->aws->world);

    if (is_good(k))
        return client_now_ms(k->aws) >= k->due_ms && (!k->n_failures || now_us >= k->again_us);
    return !k->n_failures || now_us >= k->failed_us + EXPIRED_AGAIN_US;
}

bool credentials_get(struct credentials *k, struct arena *a, struct lease *ret, struct err *e)
{
    /* Who waits takes what comes of it, good or bad. */
    if (!is_good(k) && k->asking)
        while (k->asking && !world_dead(k->aws->world))
            fiber_sleep_us(k->aws->world, POLL_US);
    else if (!k->asking && is_due(k))
        ask(k);
    if (!is_good(k)) {
        *e = k->failure;
        return e->kind != ERR_NONE ? false : err_set(e, ERR_IO, "shutting down");
    }
    *ret = k->lease;
    ret->keys = (struct aws_keys){arena_strdup(a, k->lease.keys.id), arena_strdup(a, k->lease.keys.secret),
                                  arena_strdup(a, k->lease.keys.token)};
    return true;
}

bool credentials_refused(struct credentials *k, const struct lease *l)
{
    if (k->lease.serial != l->serial)
        return true;
    if (k->lease.expires_ms != INT64_MAX)
        k->lease.expires_ms = INT64_MIN;
    else if (k->lease.again_ms)
        k->due_ms = INT64_MIN; /* if there are no others, these have to do */
    else
        return false;
    k->n_failures = 0;
    return true;
}

/* ---- what sources say ---- */

bool lease_from_tree(const struct tree *t, const struct lease_names *names, struct lease *ret, struct err *e)
{
    struct lease l = {.keys = {tree_str(tree_get(t, names->id)), tree_str(tree_get(t, names->secret)),
                               tree_str(tree_get(t, names->token))},
                      .expires_ms = INT64_MAX};
    const struct tree *expires = tree_get(t, names->expires);
    const str all[] = {l.keys.id, l.keys.secret, l.keys.token};

    if (!l.keys.id.n || !l.keys.secret.n)
        return err_set(e, ERR_INVALID, "an answer without %s", l.keys.id.n ? names->secret : names->id);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        for (size_t c = 0; c < all[i].n; c++)
            if ((unsigned char)all[i].p[c] <= ' ' || (unsigned char)all[i].p[c] >= 0x7f)
                return err_set(e, ERR_INVALID, "an answer with characters that no key has");
    if (expires && expires->kind == TREE_NUMBER) {
        if (!str_to_i64(expires->text, &l.expires_ms))
            return err_set(e, ERR_INVALID, "an answer whose %s is no time", names->expires);
    } else if (expires && tree_str(expires).n && !time_parse_rfc3339(tree_str(expires), &l.expires_ms, e)) {
        return err_set(e, ERR_INVALID, "an answer whose %s is no time", names->expires);
    }
    *ret = l;
    return true;
}

bool lease_read(struct arena *a, str json, const struct lease_names *names, struct lease *ret, struct err *e)
{
    const struct tree *t;

    /* The parser quotes what it does not like, and that may be a secret. */
    if (!tree_parse_json(a, "answer", json, &t, e))
        return err_set(e, ERR_INVALID, "an answer that is not JSON");
    return lease_from_tree(t, names, ret, e);
}
