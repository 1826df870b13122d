/* What the loop and the queue of disruption share. */
#pragma once

#include "base/htab.h"
#include "base/vec.h"
#include "control/disruption.h"
#include "control/metrics.h"
#include "control/round.h"
#include "control/write.h"
#include "disrupt/pass.h"

#define SETTLED_US (5 * 60 * 1000000ll) /* after which consolidation looks again, whatever has happened */

struct removal;

struct leaver {          /* a node that goes */
    struct htab_node at; /* in disruptor.taken: by provider id */
    struct removal *of;
    str node, node_uid, claim, claim_uid, provider_id, pool;
    str type, capacity_type; /* by its labels */
    double price;            /* an hour */
    bool is_static;          /* of a pool with replicas */
    bool marked;             /* tainted, and its claim says why */
    bool gone;               /* its claim was deleted */
};

struct replacement {
    struct round_claim claim;
    str capacity_type; /* that a launch would try first */
    str types;         /* for logs: the first five by price and how many more */
    str *type_names;   /* all of them */
    uint32_t n_types;
    str name, uid; /* once it was made */
    bool initialized;
};

/* A command, written down: nothing of it points into snapshot or store. It has an arena of its own. */
struct removal {
    struct arena *arena;
    str id; /* a uuid */
    enum disrupt_method method;
    struct leaver *leavers;
    struct replacement *replacements;
    struct round_node *targets; /* machines that take pods of theirs */
    uint32_t n_leavers, n_replacements, n_targets;
    uint32_t n_pods; /* that move */
    double savings;  /* an hour */
    int64_t began_us;
    bool reserved; /* a claim of its static pool that is not made yet */
};

/* An event as it is published. */
struct saying {
    const struct api_kind *kind;
    str name, uid; /* of the object */
    const char *reason;
    str message;
    str more_key;      /* what makes it another one, besides object and reason; empty: nothing */
    int64_t dedupe_ms; /* 0: as most */
};

/* What is remembered of a run after which nothing has happened. */
struct rest {
    uint64_t changes; /* store_changes() that the last run without a search saw */
    bool begun;       /* false: the next run looks around */
    bool listened;    /* until_us has what was said in it */
    uint64_t catalog_version;
    int64_t until_us; /* what was said would be heard again, or consolidation looks anew */
};

/* Until when the events that a machine cannot be consolidated would be dropped: what the recorder has said of this Node and NodeClaim. */
struct told {
    uint64_t who; /* hash of both uids */
    int64_t until_us;
};

/* What waits here waits by the steady clock: the wall clock may be set while it does. */
struct disruptor {
    struct control *c;
    struct queue *loop, *queue;
    /* Under way, in the order in which they began; their leavers, by provider id. */
    VEC(struct removal *) under_way;
    struct htab taken;
    /* Decided, and to be looked at again once it is time. */
    VEC(struct removal *) waiting;
    unsigned waiting_for; /* whose they are: bit set of methods */
    int64_t due_us;
    int64_t decided_us; /* when the first of these began to look */
    bool acted;         /* some of them have begun */
    int64_t began_us;   /* when the latest of all did */
    uint64_t bought;    /* control.n_for_buffers at that time */
    uint32_t n_undone;  /* in a row, after which room was bought again */
    /* What was found to be nothing (lifecycle 2.7): a number that rises with every change that may make a difference, and every five minutes. */
    uint64_t epoch, news;
    int64_t news_us;
    uint64_t settled[N_METHODS];   /* the number at which the method found nothing; 0: it did not */
    uint32_t n_settled[N_METHODS]; /* candidates that it had then */
    int64_t ran_ms[N_METHODS], looped_ms;
    uint64_t n_solved;   /* searches: their names in metrics */
    int64_t complain_us; /* when it is told next that the store waits */
    int64_t looked_us;   /* when a run has looked around */
    struct rest rest;
    VEC(struct told) told; /* by index into snapshot.nodes */
};

/* ---- disruption.c ---- */

const struct snapshot *disruption_snapshot(struct disruptor *d); /* the cluster as it is now */
/* What was decided last has not shown all of its effects yet: consolidation waits. Never in compat. */
bool disruption_is_unsettled(const struct disruptor *d, const struct snapshot *s, int64_t now_us);
/* … and a run that looks around would find nothing before that: the last one was less than ten seconds ago, and nothing has drifted. */
bool disruption_is_between_looks(const struct disruptor *d, const struct snapshot *s, int64_t now_us);

/* ---- disruption_removal.c: commands, written down ---- */

struct removal *removal_of(struct control *c, const struct snapshot *s, const struct disrupt_command *d);
void removal_free(struct removal *r);
/* Its replacements are of the plan of this number (store_plan_number()). */
void removal_planned(struct removal *r, uint64_t number);
/* Only those of the leavers stay that are named, in order: indexes into r->leavers. */
void removal_keep(struct removal *r, const uint32_t *v, uint32_t n);

const char *removal_decision(const struct removal *r);                   /* "delete", "replace" */
bool removal_is_first_of_pool(const struct removal *r, uint32_t leaver); /* none before it is of the same pool */
const char *method_label(enum disrupt_method m);             /* the reason in lower case, as metrics have it */
str removal_text(const struct removal *r, struct arena *a);  /* "replace: [a] -> [1 replacement]" */
str removal_title(const struct removal *r, struct arena *a); /* the same with reason, id, pools and savings */

#define REMOVAL_FIELDS 6
/* What log lines say of it. */
void removal_fields(const struct removal *r, struct arena *a, struct log_field f[REMOVAL_FIELDS]);

/* ---- disruption_marks.c: what is visible on Nodes and NodeClaims ---- */

/* The disrupted taint, on or off. Nodes that are gone are fine; so is one that goes already. */
bool mark_taint(struct control *c, struct arena *a, str node, bool on, struct err *e);
/* Condition DisruptionReason of the claim; no reason: none. */
bool mark_reason(struct control *c, struct arena *a, str claim, str reason, struct err *e);
/* Takes off what no removal under way has put on: left over from a process that is gone, or from a removal that could not begin. */
bool marks_clean_up(struct disruptor *d, struct arena *a, const struct snapshot *s, struct err *e);

/* ---- disruption_queue.c ---- */

void disruption_queue_register(struct disruptor *d);
bool disruption_is_taken(const struct disruptor *d, str provider_id);
/* Begins, and hands it to the queue. false: it was not begun, and is gone. */
bool removal_start(struct disruptor *d, struct reconcile *r, struct removal *x, struct err *e);
/* How long removals may take while so many nodes are on their way (lifecycle 8.13). */
int64_t removal_limit_ms(uint32_t n_taken);

/* ---- disruption_report.c: events and figures of a pass ---- */

void pass_report(struct disruptor *d, struct reconcile *r, const struct snapshot *s, enum disrupt_method m,
                 const struct pass *p);
void pass_took(struct disruptor *d, enum disrupt_method m, int64_t began_us);
/* Places were looked for, on the cluster as it would be. */
void pass_solved(struct disruptor *d, struct arena *a, enum disrupt_method m, int64_t began_us);
/* Nodes of which it was said a while ago that they cannot be consolidated: bit set over snapshot.nodes. */
uint64_t *pass_told(struct disruptor *d, struct arena *a, const struct snapshot *s);
/* The same after the pass has said what it had to say. */
void pass_told_more(struct disruptor *d, const struct snapshot *s, const struct pass *p, uint64_t *told);
void removal_rejected(struct disruptor *d, struct arena *a, const struct removal *x, enum recheck why,
                      uint32_t n_failed);
void budgets_report(struct reconcile *r, const struct snapshot *s);
void protections_report(struct disruptor *d, struct arena *a, const struct snapshot *s);
void pass_forget_pool(struct disruptor *d, str pool);
/* Events DisruptionTerminating and the like: on one object. */
void disruption_say(struct control *c, const struct saying *x);
int64_t disruption_said_until(struct control *c, const struct saying *x); /* before that it would be dropped */
/* A remark as events; how many of the two there are. They point into the snapshot and the remark. */
uint32_t remark_sayings(struct arena *a, const struct snapshot *s, enum disrupt_method m, const struct remark *r,
                        struct saying ret[2]);

/* ---- disruption_rest.c ---- */

/* The run would find what the last one has found. */
bool rest_holds(struct disruptor *d, struct arena *a);
/* All methods have looked, and none had to search. */
void rest_begin(struct disruptor *d, struct arena *a, const struct snapshot *s);
void rest_run(struct disruptor *d); /* in place of all methods */
