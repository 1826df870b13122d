/* handler_int - a handler from the inside, for the files of this directory. */
#pragma once

#include "control/recorder.h"
#include "control/scrape.h"
#include "handler/decide.h"
#include "handler/handler.h"
#include "handler/webhook.h"
#include "k8s/api.h"

#define SECOND_US INT64_C(1000000)

struct aws;
struct aws_config;

struct handler {
    const struct handler_settings *s;
    struct world *world;
    struct log *log;
    void (*on_end)(void *ctx, int status);
    void *ctx;
    bool ended;

    struct arena *arena; /* of what lasts as long as the handler */
    struct aws_config *aws_config;
    struct aws *aws;
    struct api *api;
    struct recorder *recorder; /* NULL: no Events are written */
    struct metrics *registry;
    struct scrapes *scrapes;
    struct metric *actions, *actions_node, *errors;

    str node, node_uid;
    str facts[WEBHOOK_FIELDS]; /* about the machine; those of a notice are empty */
    struct webhook webhook;
    struct book book;
    struct {
        uint32_t fails; /* in a row */
        uint64_t told;  /* hash of the last answer that was malformed; 0: none */
    } heard[NOTICE_KINDS];
    int64_t listened_us, acted_us; /* when each fiber was last seen alive */
};

void handler_end(struct handler *h, int status);
void handler_count(struct handler *h, const char *action, str event, bool ok); /* a deed, for metrics */
PRINTF(4, 5)
void handler_event(struct handler *h, bool warning, const char *reason, const char *fmt, ...); /* about the Node */

/* listen: fibers. */
bool listen_facts(struct handler *h, struct err *e); /* who this machine is */
void listen_run(void *handler);

/* act: fibers. */
bool act_after_boot(struct handler *h, struct err *e); /* uncordons what was cordoned for a reboot that has been */
void act_run(void *handler);
