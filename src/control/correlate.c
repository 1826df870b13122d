/* Keys are digests of 128 bits: what is remembered of an Event is a few numbers, not its text. */
#include "control/correlate.h"

#include "base/map.h"
#include "net/uuid.h"
#include "net/world.h"

#define REMEMBERED 4096u
#define SIMILAR_MAX 10u
#define SIMILAR_US (600ll * 1000000)
#define SPAM_BURST 25
#define SPAM_QPS (1.0 / 300)
#define NAME_MAX_LEN 253u
#define UUID_LEN 36u

/* Of one reason about one object: which messages there were. */
struct similar {
    uint64_t messages[SIMILAR_MAX]; /* hashes */
    uint32_t n;
    int64_t last_us;
};

/* Of one Event: how often, and what it is called. */
struct seen {
    int64_t count, first_ms;
    uint64_t ns;             /* in its name */
    char uuid[UUID_LEN + 1]; /* its name, if that is not made of the object's */
};

struct digest {
    uint64_t h[2];
};

static str digest_str(const struct digest *d)
{
    return (str){(const char *)d, sizeof(*d)};
}

static void mix(struct digest *d, str s)
{
    d->h[0] = hash_mix(d->h[0], hash_bytes(s.p, s.n, 1));
    d->h[1] = hash_mix(d->h[1], hash_bytes(s.p, s.n, 2));
}

static struct digest digest_object(const struct correlator *c, const struct event_object *o)
{
    struct digest d = {{0, 0}};

    mix(&d, c->component);
    mix(&d, str_c(o->kind->group));
    mix(&d, str_c(o->kind->version));
    mix(&d, str_c(o->kind->kind));
    mix(&d, o->ns);
    mix(&d, o->name);
    mix(&d, o->uid);
    return d;
}

void correlator_init(struct correlator *c, str component)
{
    *c = (struct correlator){.component = component};
    c->similar = (struct lru){.cap = REMEMBERED, .size = sizeof(struct similar)};
    c->seen = (struct lru){.cap = REMEMBERED, .size = sizeof(struct seen)};
    c->spam = (struct lru){.cap = REMEMBERED, .size = sizeof(struct bucket)};
}

void correlator_fini(struct correlator *c)
{
    lru_fini(&c->similar);
    lru_fini(&c->seen);
    lru_fini(&c->spam);
}

/* ---- names ---- */

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_subdomain(str s)
{
    if (s.n == 0 || s.n > NAME_MAX_LEN)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        bool edge = i == 0 || i + 1 == s.n || s.p[i - 1] == '.' || s.p[i + 1] == '.';

        if (!is_alnum(s.p[i]) && (edge || s.p[i] != '-') &&
            (s.p[i] != '.' || i == 0 || i + 1 == s.n || s.p[i - 1] == '.'))
            return false;
    }
    return true;
}

static str name_from(struct arena *a, str object, uint64_t ns)
{
    return arena_printf(a, STR_FMT ".%llx", STR_ARG(object), (unsigned long long)ns);
}

static void give_name(struct correlator *c, struct arena *a, struct world *w, struct seen *s, str object)
{
    s->ns = MAX((uint64_t)s->first_ms * 1000000, c->last_ns + 1);
    c->last_ns = s->ns;
    if (!is_subdomain(name_from(a, object, s->ns)))
        memcpy(s->uuid, uuid_new(a, w).p, UUID_LEN);
}

/* ---- rules ---- */

/* Whether this is one of too many alike. */
static bool combine(struct correlator *c, const struct digest *of, str message, int64_t now_us)
{
    struct similar *s = lru_get(&c->similar, digest_str(of));
    uint64_t hash = hash_bytes(message.p, message.n, 0);
    uint32_t i = 0;

    if (!s)
        s = lru_put(&c->similar, digest_str(of));
    else if (now_us - s->last_us > SIMILAR_US)
        s->n = 0;
    s->last_us = now_us;
    while (i < s->n && s->messages[i] != hash)
        i++;
    if (i == s->n)
        s->messages[s->n++] = hash;
    if (s->n < SIMILAR_MAX)
        return false;
    s->n--; /* so that the next other one is one too many as well */
    memmove(s->messages, s->messages + 1, s->n * sizeof(s->messages[0]));
    return true;
}

/* Warnings have a limit of their own: what is said every two minutes about a node that is kept must not drown out why it cannot be drained. */
static bool is_spam(struct correlator *c, struct digest object, bool warning, int64_t now_us)
{
    mix(&object, warning ? STR("Warning") : STR("Normal"));
    struct bucket *b = lru_get(&c->spam, digest_str(&object));

    if (!b) {
        b = lru_put(&c->spam, digest_str(&object));
        *b = (struct bucket){.qps = SPAM_QPS, .burst = SPAM_BURST, .at_us = now_us};
    }
    return !bucket_take(b, now_us);
}

struct sighting correlator_see(struct correlator *c, struct arena *a, struct world *w, const struct event *ev,
                               int64_t made_ms)
{
    struct digest object = digest_object(c, &ev->object), d = object;
    int64_t now_us = world_mono_us(w);
    struct sighting ret = {0};
    struct seen *s;

    mix(&d, ev->warning ? STR("Warning") : STR("Normal"));
    mix(&d, str_c(ev->reason));
    ret.combined = combine(c, &d, ev->message, now_us);
    if (!ret.combined)
        mix(&d, ev->message);
    s = lru_get(&c->seen, digest_str(&d));
    if (!s) {
        s = lru_put(&c->seen, digest_str(&d));
        s->first_ms = made_ms;
        give_name(c, a, w, s, ev->object.name);
    }
    ret.count = ++s->count;
    ret.first_ms = s->first_ms;
    ret.name = s->uuid[0] ? arena_strdup(a, str_c(s->uuid)) : name_from(a, ev->object.name, s->ns);
    ret.skip = is_spam(c, object, ev->warning, now_us);
    return ret;
}
