/* What EC2 tells the machine: the instance metadata service is asked for every kind of notice that somebody wants to hear of. */
#include "aws/imds.h"
#include "base/map.h"
#include "data/reader.h"
#include "handler/handler_int.h"
#include "net/fiber.h"

#define ASK_EVERY_US (2 * SECOND_US)
#define MAX_FAILS 4u
#define MAX_FACT 255u

/* ---- the machine ---- */

static str believed(struct arena *a, str s)
{
    s = str_trim(s);
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~')
            return (str){0};
    return s.n <= MAX_FACT ? arena_strdup(a, s) : (str){0};
}

static bool read_identity(struct handler *h, struct arena *tmp, struct err *e)
{
    static const struct {
        const char *key;
        enum webhook_field field;
    } members[] = {
        {"accountId", FIELD_ACCOUNT_ID},   {"availabilityZone", FIELD_AVAILABILITY_ZONE},
        {"instanceId", FIELD_INSTANCE_ID}, {"instanceType", FIELD_INSTANCE_TYPE},
        {"privateIp", FIELD_LOCAL_IP},     {"region", FIELD_REGION},
    };
    const struct tree *t;
    str text;

    if (!imds_get(h->aws, tmp, "latest/dynamic/instance-identity/document", &text, e))
        return false;
    if (!tree_parse_json(tmp, "instance-identity/document", text, &t, e))
        return err_set(e, ERR_IO, "IMDS: the identity document is no JSON");
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        h->facts[members[i].field] = believed(h->arena, tree_str(tree_get(t, members[i].key)));
    return h->facts[FIELD_INSTANCE_ID].n || err_set(e, ERR_IO, "IMDS: a document without the machine's id");
}

static bool read_names(struct handler *h, struct arena *tmp, struct err *e)
{
    static const struct {
        const char *path;
        enum webhook_field field;
    } names[] = {
        {"latest/meta-data/local-hostname", FIELD_LOCAL_HOSTNAME},
        {"latest/meta-data/public-hostname", FIELD_PUBLIC_HOSTNAME},
        {"latest/meta-data/public-ipv4", FIELD_PUBLIC_IP},
    };
    str text;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (imds_get(h->aws, tmp, names[i].path, &text, e))
            h->facts[names[i].field] = believed(h->arena, text);
        else if (e->kind != ERR_NOT_FOUND)
            return false;
    }
    return true;
}

bool listen_facts(struct handler *h, struct err *e)
{
    AUTO(arena) struct arena *tmp = arena_new(0);

    if (!read_identity(h, tmp, e) || !read_names(h, tmp, e))
        return false;
    log_info(h->log, "this machine", LOG_STR("instance-id", h->facts[FIELD_INSTANCE_ID]),
             LOG_STR("instance-type", h->facts[FIELD_INSTANCE_TYPE]),
             LOG_STR("availability-zone", h->facts[FIELD_AVAILABILITY_ZONE]),
             LOG_STR("region", h->facts[FIELD_REGION]));
    return true;
}

/* ---- notices ---- */

static bool is_wanted(const struct handler_settings *s, enum notice_kind k)
{
    switch (k) {
    case NOTICE_SPOT:
        return s->spot;
    case NOTICE_SCHEDULED:
        return s->scheduled;
    case NOTICE_REBALANCE:
        return s->rebalance;
    case NOTICE_ASG:
        return s->asg;
    case NOTICE_KINDS:
        break;
    }
    return false;
}

static void failed(struct handler *h, enum notice_kind k, const struct err *e)
{
    const char *monitor = notice_words[k].monitor;

    metric_inc(h->errors, 1, METRIC_VALS(str_c(monitor)));
    handler_event(h, /* warning= */ true, "MonitorError", "There was a problem monitoring for events in monitor '%s'",
                  monitor);
    if (++h->heard[k].fails < MAX_FAILS) {
        log_write(h->log, LOG_WARN, "the instance metadata service does not answer", e,
                  &LOG_STR("event_type", str_c(monitor)), 1);
        return;
    }
    log_error(
        h->log,
        "the instance metadata service cannot be used: in a pod it needs hostNetwork or a hop limit of 2; giving up", e,
        LOG_STR("event_type", str_c(monitor)), LOG_I64("tries", h->heard[k].fails));
    handler_end(h, 1);
}

/* The same nonsense is told of once. */
static void malformed(struct handler *h, enum notice_kind k, str text, const struct err *e)
{
    uint64_t hash = hash_bytes(text.p, text.n, 1) | 1;

    if (h->heard[k].told == hash)
        return;
    h->heard[k].told = hash;
    metric_inc(h->errors, 1, METRIC_VALS(str_c(notice_words[k].monitor)));
    log_error(h->log, "an answer that makes no sense: nothing is done", e,
              LOG_STR("event_type", str_c(notice_words[k].monitor)));
}

static void hear(struct handler *h, const struct notice *n)
{
    uint32_t lost = h->book.n_lost;

    if (book_hear(&h->book, n))
        log_info(h->log, n->over ? "an event is over" : "an event was announced", LOG_STR("event-id", n->id),
                 LOG_STR("kind", str_c(notice_words[n->kind].kind)), LOG_STR("description", n->description));
    else if (lost == 0 && h->book.n_lost)
        log_error(h->log, "there are too many events: later ones are passed over", NULL, LOG_I64("most", BOOK_MAX));
}

static void ask_for(struct handler *h, enum notice_kind k)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct notices found;
    struct err e;
    str text;

    if (!imds_get(h->aws, a, notice_words[k].path, &text, &e)) {
        if (world_dead(h->world))
            return;
        if (e.kind != ERR_NOT_FOUND) {
            failed(h, k, &e);
            return;
        }
        h->heard[k].fails = 0; /* there is nothing, and it said so */
        return;
    }
    h->heard[k].fails = 0;
    if (!notices_read(a, k, text, world_now_ms(h->world), &found, &e)) {
        malformed(h, k, text, &e);
        return;
    }
    for (uint32_t i = 0; i < found.n; i++)
        hear(h, &found.v[i]);
}

void listen_run(void *handler)
{
    struct handler *h = handler;

    while (!h->ended && !world_dead(h->world)) {
        uint32_t fails = 0;

        for (enum notice_kind k = 0; k < NOTICE_KINDS && !h->ended && !world_dead(h->world); k++) {
            if (!is_wanted(h->s, k))
                continue;
            ask_for(h, k);
            fails = MAX(fails, h->heard[k].fails);
        }
        h->listened_us = world_mono_us(h->world);
        fiber_sleep_us(h->world, ASK_EVERY_US << MIN(fails, MAX_FAILS));
    }
}
