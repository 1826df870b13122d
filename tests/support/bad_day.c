#include "support/bad_day.h"

#include "data/edit.h"
#include "data/reader.h"
#include "support/check.h"

#define SECOND_US INT64_C(1000000)

const struct kube_options bad_day_server = {.version = "v1.36.3", .window = 300};

const struct kube_faults bad_day = {
    .gone = 20000,
    .throttle = 6000,
    .error = 6000,
    .lose_reply = 4000,
    .delay = 8000,
    .delay_us = {1000, 3 * SECOND_US},
    .duplicate = 10000,
    .drop_watch = 60000,
    .drop_after_us = {1000, 10 * SECOND_US},
    .restart = 300,
    .restart_us = {SECOND_US, 20 * SECOND_US},
};

const struct sim_faults bad_day_net = {
    .delay_us = {100, 50000},
    .refuse = 1000,
    .lose_reply = 1000,
    .cut_stream = 12000,
    .cut_after_us = {1000, 10 * SECOND_US},
    .stall_stream = 2000,
    .stall_us = {1000, 20 * SECOND_US},
    .slow = 1000,
};

bool bad_day_write(struct kube_bench *b, struct rng *rng, const struct bad_day_write *w)
{
    AUTO(arena) struct arena *a = arena_new(0);
    const struct object *o = kube_get(b->kube, w->kind, w->ns, w->name);
    const struct tree *body = NULL;
    struct status st;
    struct err e;

    if (o && rng_below(rng, w->deaths) == 0)
        return kube_delete(b->kube, a, w->kind, w->ns, w->name, &(struct delete_options){.grace_s = 0}, &st);
    check_ok("body", tree_parse_yaml(a, "body", str_c(w->body), &body, &e), &e);
    struct tree *t = o ? kube_tree(a, o) : tree_copy(a, body), *meta = tree_sub(a, t, "metadata");
    tree_set_str(a, meta, "name", w->name);
    if (w->ns.n)
        tree_set_str(a, meta, "namespace", w->ns);
    tree_set_str(a, w->labels ? tree_sub(a, meta, "labels") : tree_sub(a, t, "data"), "k",
                 arena_printf(a, "v%u", rng_below(rng, 1000)));
    return o ? kube_update(b->kube, a, w->kind, NULL, t, NULL, &st) : kube_create(b->kube, a, w->kind, t, NULL, &st);
}
