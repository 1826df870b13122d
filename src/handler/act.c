/* Carrying out what was decided: the Node is marked in one write, its pods are evicted, and whoever wants to know is told. */
#include <stdio.h>

#include "base/file.h"
#include "control/write.h"
#include "data/edit.h"
#include "data/json.h"
#include "handler/drain.h"
#include "handler/handler_int.h"
#include "handler/marks.h"
#include "k8s/diff.h"
#include "model/duration.h"
#include "net/fiber.h"

#define LOOK_EVERY_US SECOND_US
#define RETRY_MS (10 * 1000)
#define MAX_CONFLICTS 8u
#define CONFLICT_US (SECOND_US / 4)
#define MAX_UPTIME 4096u

/* ---- the Node ---- */

struct change {
    struct handler *h;
    void (*edit)(struct change *c, struct arena *a, struct tree *node);
    struct book_entry *x; /* may be NULL */
};

static bool change_once(struct change *c, struct arena *a, struct err *e)
{
    struct handler *h = c->h;
    const struct api_ref r = {&api_nodes, (str){0}, h->node};
    struct tree *node, *before, *patch;

    if (!api_get(h->api, a, &r, &node, e))
        return err_wrap(e, "node " STR_FMT, STR_ARG(h->node));
    before = tree_copy(a, node);
    c->edit(c, a, node);
    patch = merge_diff_locked(a, before, node);
    if (!patch)
        return true;
    if (h->s->dry_run) {
        log_info(h->log, "dry run: would change the node", LOG_JSON("patch", json_text(a, patch)));
        return true;
    }
    return api_patch(h->api, a, &r, NULL, API_MERGE, patch, NULL, e) || err_wrap(e, "node " STR_FMT, STR_ARG(h->node));
}

static bool change_node(struct change *c, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);

    for (uint32_t n = 1;; n++) {
        if (change_once(c, a, e))
            return true;
        if (e->kind != ERR_CONFLICT || n == MAX_CONFLICTS || world_dead(c->h->world))
            return false;
        fiber_sleep_us(c->h->world, CONFLICT_US);
        arena_reset(a);
    }
}

static void edit_put(struct change *c, struct arena *a, struct tree *node)
{
    if (!c->x->marked)
        c->x->found_cordoned = marks_cordoned_by_others(node);
    marks_put(a, node, c->h->s, &c->x->n, world_now_ms(c->h->world));
}

static void edit_out_of_service(struct change *c UNUSED, struct arena *a, struct tree *node)
{
    marks_out_of_service(a, node);
}

static void edit_take(struct change *c, struct arena *a UNUSED, struct tree *node)
{
    marks_take(node, !c->x || !c->x->found_cordoned);
}

/* ---- telling ---- */

static str go_time(struct arena *a, int64_t ms)
{
    struct sb b = {0};

    time_print_rfc3339(&b, ms);
    str t = sb_view(&b), text = arena_printf(a, STR_FMT " " STR_FMT " +0000 UTC", STR_ARG(str_sub(t, 0, 10)),
                                             STR_ARG(str_sub(t, 11, t.n - 1)));
    sb_fini(&b);
    return text;
}

static void post(struct handler *h, const struct notice *n)
{
    AUTO(arena) struct arena *a = arena_new(0);
    str values[WEBHOOK_FIELDS];
    struct err e;

    if (h->webhook.url.n == 0)
        return;
    memcpy(values, h->facts, sizeof(values));
    values[FIELD_EVENT_ID] = n->id;
    values[FIELD_KIND] = str_c(notice_words[n->kind].kind);
    values[FIELD_MONITOR] = str_c(notice_words[n->kind].monitor);
    values[FIELD_DESCRIPTION] = n->description;
    values[FIELD_STATE] = n->state;
    values[FIELD_NODE_NAME] = h->node;
    values[FIELD_START_TIME] = go_time(a, n->start_ms);
    values[FIELD_END_TIME] = go_time(a, n->end_ms);
    if (webhook_post(&h->webhook, h->world, values, &e))
        log_info(h->log, "the webhook was told", LOG_STR("event-id", n->id));
    else if (!world_dead(h->world))
        log_write(h->log, LOG_WARN, "the webhook was not told", &e, &LOG_STR("event-id", n->id), 1);
}

static void tell_first(struct handler *h, struct book_entry *x)
{
    if (!x->told)
        handler_event(h, /* warning= */ false, notice_words[x->n.kind].reason, STR_FMT, STR_ARG(x->n.description));
    x->told = true;
}

static void tell_end(struct handler *h, const struct book_entry *x, bool drain, const struct err *e)
{
    const char *action = drain ? "cordon-and-drain" : "cordon";

    handler_count(h, action, x->n.id, e == NULL);
    if (e) {
        log_error(h->log,
                  drain ? "the node could not be drained; it is tried again"
                        : "the node could not be cordoned; it is tried again",
                  e, LOG_STR("event-id", x->n.id));
        handler_event(h, /* warning= */ true, drain ? "CordonAndDrainError" : "CordonError",
                      "There was a problem while trying to cordon%s the node: %s", drain ? " and drain" : "", e->msg);
    } else {
        log_info(h->log, drain ? "the node was cordoned and drained" : "the node was cordoned",
                 LOG_STR("event-id", x->n.id), LOG_BOOL("dry-run", h->s->dry_run));
        handler_event(h, /* warning= */ false, drain ? "CordonAndDrain" : "Cordon", "Node successfully cordoned%s",
                      drain ? " and drained" : "");
    }
}

/* ---- deeds ---- */

static bool leave(struct handler *h, struct book_entry *x, bool drain, struct err *e)
{
    struct change put = {h, edit_put, x}, last = {h, edit_out_of_service, x};
    struct drain_job job = {.api = h->api, .settings = h->s, .log = h->log, .recorder = h->recorder, .node = h->node};

    if (!change_node(&put, e))
        return false;
    x->marked = true;
    if (!drain)
        return true;
    log_info(h->log, "draining the node", LOG_STR("event-id", x->n.id));
    return drain_node(&job, e) && (!h->s->out_of_service_taint || change_node(&last, e));
}

static void depart(struct handler *h, struct book_entry *x, bool drain)
{
    struct err e = {0};

    tell_first(h, x);
    bool ok = leave(h, x, drain, &e);
    if (world_dead(h->world))
        return;
    tell_end(h, x, drain, ok ? NULL : &e);
    x->done = ok;
    x->not_before_ms = world_now_ms(h->world) + RETRY_MS;
    if (ok && drain)
        book_drained(&h->book, world_now_ms(h->world), h->s->node_grace_s);
    if (!x->posted)
        post(h, &x->n);
    x->posted = true;
}

static bool uncordon(struct handler *h, struct book_entry *x, str event, struct err *e)
{
    struct change c = {h, edit_take, x};
    bool ok = change_node(&c, e);

    if (world_dead(h->world))
        return false;
    handler_count(h, "uncordon", event, ok);
    if (ok)
        handler_event(h, /* warning= */ false, "Uncordon", "Node successfully uncordoned");
    else
        handler_event(h, /* warning= */ true, "UncordonError",
                      "There was a problem while trying to uncordon the node: %s", e->msg);
    return ok;
}

static void release(struct handler *h, struct book_entry *x)
{
    struct err e = {0};

    x->released = uncordon(h, x, x->n.id, &e);
    if (x->released)
        log_info(h->log, "an event is over: the node was uncordoned", LOG_STR("event-id", x->n.id));
    else if (!world_dead(h->world))
        log_error(h->log, "the node could not be uncordoned; it is tried again", &e, LOG_STR("event-id", x->n.id));
    x->not_before_ms = world_now_ms(h->world) + RETRY_MS;
}

void act_run(void *handler)
{
    struct handler *h = handler;

    while (!h->ended && !world_dead(h->world)) {
        struct decision d = handler_decide(h->s, &h->book, world_now_ms(h->world));
        struct book_entry *x = &h->book.v[d.entry];

        switch (d.deed) {
        case DEED_CORDON:
        case DEED_DRAIN:
            depart(h, x, d.deed == DEED_DRAIN);
            break;
        case DEED_RELEASE:
            release(h, x);
            break;
        case DEED_KEEP:
            x->released = true;
            log_info(h->log, "an event is over, and another is not: the node stays cordoned",
                     LOG_STR("event-id", x->n.id));
            break;
        case DEED_NONE:
            break;
        }
        h->acted_us = world_mono_us(h->world);
        fiber_sleep_us(h->world, LOOK_EVERY_US);
    }
}

/* ---- after a reboot ---- */

static bool read_uptime(struct handler *h, struct arena *a, int64_t *ret_s, struct err *e)
{
    const char *path = h->s->uptime_file[0] ? h->s->uptime_file : "/proc/uptime";
    str text;

    if (!file_read(a, path, MAX_UPTIME, &text, e))
        return false;
    return uptime_parse(text, ret_s) ||
           err_set(e, ERR_INVALID, "%s does not begin with the seconds since the last boot", path);
}

/* Without an uptime a node may stay cordoned that need not; that is no reason not to listen. */
bool act_after_boot(struct handler *h, struct err *e)
{
    const struct api_ref r = {&api_nodes, (str){0}, h->node};
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *node;
    int64_t uptime_s;
    str event;

    if (!api_get(h->api, a, &r, &node, e))
        return false;
    if (!read_uptime(h, a, &uptime_s, e)) {
        log_error(h->log, "nobody knows when the machine was booted: a node that waits for a reboot stays cordoned", e);
        return true;
    }
    if (marks_reboot(node, world_now_ms(h->world), uptime_s, &event) != REBOOT_DONE)
        return true;
    if (!uncordon(h, NULL, event, e))
        return false;
    book_ignore(&h->book, event);
    log_info(h->log, "the machine has rebooted: the node was uncordoned", LOG_STR("event-id", event));
    return true;
}
