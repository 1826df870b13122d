/* handler_lab - the termination handler on a machine of a simulated account, whose Node n0 is in a simulated cluster. */
#pragma once

#include "handler/handler.h"
#include "support/aws_account.h"
#include "support/far.h"

#define IMDS "http://169.254.169.254"
#define HOOK "https://hooks.test"

struct handler_lab {
    struct far *f;
    struct aws_account t;
    struct sim_aws_local local; /* the machine: spot, m5.large */
    struct kube_config *config;
    struct handler_settings settings;
    struct log *log;
    struct handler *h;
    struct sb lines, posted;            /* the log; what the webhook was told */
    const char *nonsense_at, *nonsense; /* what IMDS answers at a path that ends like this */
    bool deaf;                          /* IMDS answers nothing but 500 */
    uint32_t stale;                     /* so many tokens are refused */
    uint32_t n_tokens, n_asked;
    int status; /* of the end; -1: it goes on */
};

struct handler_lab *handler_lab_new(uint64_t seed);
void handler_lab_free(struct handler_lab *s);
int handler_lab_setup(void **state);
int handler_lab_teardown(void **state);

#define ENV(...) ((const char *const[]){__VA_ARGS__, NULL})

/* env: name, value, …, NULL. A handler that runs is killed before that. */
void handler_lab_start(struct handler_lab *s, const char *const *env);
/* Lines of the log that say this. */
uint32_t handler_lab_told(const struct handler_lab *s, const char *what);
/* Pods web, cache (with an emptyDir), kept, and that of a DaemonSet, agent-…, on the node. */
void handler_lab_pods(struct handler_lab *s);
void handler_lab_budget(struct handler_lab *s); /* which does not let `kept` go */
bool handler_lab_has(struct handler_lab *s, const char *pod);
void handler_lab_cordoned(struct handler_lab *s, const char *name, bool want);
