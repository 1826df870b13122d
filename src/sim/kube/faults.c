#include "sim/kube/faults.h"

#include <stdlib.h>

#include "sim/kube/front.h"

/* A request that has to wait. */
struct held {
    struct faults *f;
    struct exchange *x;
    struct timer timer;
    struct held *prev, *next;
};

struct faults {
    struct kube *kube;
    struct kube_faults what;
    struct rng rng;
    int64_t down_until_us;
    struct held *held;
    uint64_t n;
};

struct faults *faults_new(struct kube *k, const struct kube_faults *what, uint64_t seed)
{
    struct faults *f = xcalloc(1, sizeof(*f));

    f->kube = k;
    f->what = *what;
    rng_init(&f->rng, seed ? seed : world_random(kube_world(k)));
    return f;
}

void faults_set(struct faults *f, const struct kube_faults *what)
{
    f->what = *what;
}

uint64_t faults_count(const struct faults *f)
{
    return f->n;
}

static bool happens(struct faults *f, uint32_t chance)
{
    bool yes = chance && rng_below(&f->rng, 65536) < chance;

    f->n += yes;
    return yes;
}

static int64_t draw(struct faults *f, const int64_t span_us[2])
{
    int64_t width = span_us[1] - span_us[0];

    return span_us[0] + (width > 0 ? (int64_t)(rng_next(&f->rng) % ((uint64_t)width + 1)) : 0);
}

/* ---- what kind of request ---- */

static bool is_write(const struct exchange *x)
{
    return strcmp(x->method, "GET") != 0 && strcmp(x->method, "HEAD") != 0;
}

static bool has_flag(const struct exchange *x, const char *name)
{
    str rest = x->query, key, value;
    bool bad;

    while (query_next(x->arena, &rest, &key, &value, &bad))
        if (str_is(key, name))
            return !str_is(value, "false") && !str_is(value, "0");
    return false;
}

static bool is_api(const struct exchange *x)
{
    return str_starts(x->path, STR("/api/")) || str_starts(x->path, STR("/apis/"));
}

/* ---- faults that take the place of the answer ---- */

static void refuse_conflict(struct faults *f, struct exchange *x)
{
    struct status st;
    str head = x->path, name = {0};

    for (size_t i = head.n; i-- > 0 && name.n == 0;)
        if (head.p[i] == '/')
            name = str_sub(head, i + 1, head.n);
    (void)status_bad_request(x->arena, &st, 409,
                             "Operation cannot be fulfilled on \"" STR_FMT "\": the object has been modified; please "
                             "apply your changes to the latest version and try again",
                             STR_ARG(name));
    front_refuse(f->kube, x, &st);
}

static void refuse_error(struct faults *f, struct exchange *x)
{
    struct status st;

    if (rng_below(&f->rng, 2))
        (void)status_internal(x->arena, &st, "Internal error occurred: etcdserver: leader changed");
    else
        (void)status_bad_request(x->arena, &st, 503, "the server is currently unable to handle the request");
    front_refuse(f->kube, x, &st);
}

static bool refuse(struct faults *f, struct exchange *x, bool watch)
{
    struct status st;

    if (happens(f, f->what.throttle)) {
        (void)status_too_many(x->arena, &st, 1, "Too many requests, please try again later.");
        front_refuse(f->kube, x, &st);
    } else if (happens(f, f->what.error)) {
        refuse_error(f, x);
    } else if (is_write(x) && happens(f, f->what.conflict)) {
        refuse_conflict(f, x);
    } else if (!is_write(x) && !watch && happens(f, f->what.gone)) {
        (void)status_gone(x->arena, &st, "The resourceVersion for the provided list is too old.");
        front_refuse(f->kube, x, &st);
    } else {
        return false;
    }
    return true;
}

static bool is_down(const struct faults *f)
{
    return world_mono_us(kube_world(f->kube)) < f->down_until_us;
}

static void serve_now(struct faults *f, struct exchange *x)
{
    bool watch = !is_write(x) && has_flag(x, "watch");
    struct front_fault fault = {.duplicate = f->what.duplicate, .rng = &f->rng};

    if (is_down(f)) {
        reply_abort(x);
        return;
    }
    if (is_api(x) && refuse(f, x, watch))
        return;
    fault.lose_reply = is_write(x) && happens(f, f->what.lose_reply);
    fault.gone = watch && happens(f, f->what.gone);
    if (watch && happens(f, f->what.drop_watch))
        fault.drop_after_us = MAX(draw(f, f->what.drop_after_us), 1);
    front_serve(f->kube, x, &fault);
}

/* ---- waiting ---- */

static void let_go(struct held *h)
{
    *(h->prev ? &h->prev->next : &h->f->held) = h->next;
    if (h->next)
        h->next->prev = h->prev;
    timer_stop(kube_world(h->f->kube), &h->timer);
    free(h);
}

static void on_over(struct exchange *x)
{
    let_go(x->ctx);
}

static void on_timer(void *ctx)
{
    struct held *h = ctx;
    struct faults *f = h->f;
    struct exchange *x = h->x;

    x->on_over = NULL;
    x->ctx = NULL;
    let_go(h);
    serve_now(f, x);
}

static void hold(struct faults *f, struct exchange *x, int64_t us)
{
    struct held *h = xcalloc(1, sizeof(*h));

    *h = (struct held){.f = f, .x = x, .timer = {.fn = on_timer, .ctx = h}, .next = f->held};
    if (h->next)
        h->next->prev = h;
    f->held = h;
    x->on_over = on_over;
    x->ctx = h;
    timer_set(kube_world(f->kube), &h->timer, us);
}

static void break_held(struct faults *f)
{
    while (f->held) {
        struct exchange *x = f->held->x;

        x->on_over = NULL;
        let_go(f->held);
        reply_abort(x);
    }
}

void faults_free(struct faults *f)
{
    if (!f)
        return;
    break_held(f);
    free(f);
}

/* ---- the way in ---- */

void faults_restart(struct faults *f, int64_t down_us)
{
    f->down_until_us = world_mono_us(kube_world(f->kube)) + down_us;
    break_held(f);
    kube_drop_watches(f->kube);
    kube_compact(f->kube);
}

void faults_serve(void *faults, struct exchange *x)
{
    struct faults *f = faults;

    if (!is_down(f) && happens(f, f->what.restart))
        faults_restart(f, draw(f, f->what.restart_us));
    if (!is_down(f) && happens(f, f->what.delay))
        hold(f, x, draw(f, f->what.delay_us));
    else
        serve_now(f, x);
}
