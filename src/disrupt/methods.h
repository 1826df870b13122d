/* methods - what the methods of disruption share while a plan is in the making. Inner header of disrupt/. */
#pragma once

#include "base/vec.h"
#include "disrupt/candidate.h"
#include "disrupt/pass.h"
#include "plan/whatif.h"

/* What a live pass has to say. */
struct report {
    const uint64_t *told; /* of struct pass_options; may be NULL */
    VEC(struct remark) remarks;
    VEC(struct pass_move) moves;
};

/* The part of their price that several nodes must save which become several others: there is nearly always a way to save a little, and many pods would move for it. */
#define SEVERAL_SAVE 0.05

struct run {
    struct arena *a; /* of the result */
    const struct snapshot *s;
    const struct disrupt_options *o;
    const uint64_t *busy;           /* bit set over nodes that a command under way has; NULL: none */
    const uint64_t *waiting;        /* of these: a command has them that has not begun; NULL: none */
    const struct candidates *known; /* what is known of the nodes already; NULL: nothing */
    struct frame *frame;            /* plan/plan.h; NULL: none */
    const uint64_t *only;           /* bit set over nodes: the run is about these, and those that are busy; NULL: all */
    struct candidates c;
    struct balance balance;
    struct whatif *w;
    struct pool_budget *budgets;         /* [snapshot.n_pools]: of the method at work */
    int64_t *taken;                      /* [snapshot.n_pools]: nodes that commands of this pass take from the budget */
    struct pool_budget *told[N_METHODS]; /* the budgets as they were before any command, once somebody asks */
    uint32_t *command_of;                /* [snapshot.n_nodes]: NO_INDEX */
    enum blocker_kind *found;            /* [snapshot.n_nodes]: what a decision found; BLOCK_NONE: none was made */
    move_list moves;                     /* of the command in the making */
    struct report *report;               /* NULL: nobody listens */
    bool live;                           /* a controller waits for the answer */
    bool repacks;                        /* it is about nodes that are used worst */
    uint64_t
        *held; /* bit set over nodes: removing it alone is known not to be worth it; NULL: nobody tried to prove it */
    VEC(struct disrupt_command) commands;
};

/* What would be done with some candidates. */
struct decision {
    enum blocker_kind why; /* BLOCK_NONE: it is worth it */
    uint32_t n_claims;     /* 0: delete */
    uint32_t n_pods;
    uint32_t n_types; /* that are cheap enough */
    double price, savings;
    bool replaces;  /* its claims are cheap enough, whatever was thought of them then */
    double offered; /* what it saved at that point */
    double least;   /* what the cheapest node for the pods costs; only when it is to be told */
};

/* --- disrupt.c --------------------------------------------------------------------------------------------------------- */

/* Finds out what is known of every node, but compiles nothing. `a`, `s`, `o`, `busy`, `known` and `only` are set. Where it
 * is about some nodes only, sums over pools (`balance`) are not known. */
void run_begin(struct run *r);
void run_compile(struct run *r); /* before the first question */
/* Instead, where most candidates are expected to stay: finds out for which that can be proved without a question. */
void run_compile_and_prove(struct run *r, struct candidate *const *v, uint32_t n);
void run_end(struct run *r);

/* The budgets as they are for this method, less what commands have taken already. */
void method_begin(struct run *r, enum disrupt_method m);
/* The budget of the candidate's pool has room for one more. */
bool budget_allows(const struct run *r, const struct candidate *c);
void budget_take(struct run *r, const struct candidate *c);
/* Removing one node whatever it costs; the question is left open. */
struct decision drift_away(struct run *r, const struct candidate *c);
/* It is known without a question that the node stays, if it goes alone; commands of this pass change nothing about that. */
bool is_held(const struct run *r, const struct candidate *c);
/* Keeps the open question, whose moves belong to the next command. */
void keep_question(struct run *r);
/* A command without replacements, after its questions. */
struct disrupt_command *add_removal(struct run *r, enum disrupt_method m, struct candidate *const *v, uint32_t n,
                                    const struct decision *d);
/* A command with what the open question has found; the question stays open. */
void add_command(struct run *r, enum disrupt_method m, struct candidate *const *v, uint32_t n,
                 const struct decision *d);

/* --- consolidate.c: the rules of lifecycle 8.10 and Karpenter's own search ------------------------------------------------- */

/* Asks about removing the candidates for at most `max_claims` new nodes; how many it would take beyond that is counted
 * only to be told. The question is left open: whatif_undo() or whatif_keep() ends it. */
struct decision consolidate(struct run *r, struct candidate *const *v, uint32_t n, uint32_t max_claims, bool tell);
/* Whether the claims of the open question are worth having for these nodes alone. Leaves fewer types to the claims. */
enum blocker_kind judge_replacements(struct run *r, struct candidate *const *v, uint32_t n, uint32_t n_claims);
/* What the claims of the open question would cost together. */
double replacements_price(struct run *r, uint32_t n_claims);
/* The most candidates from the start that can go for at most one new node, by bisection; 0: not even two. `report`: as
 * Karpenter does. */
uint32_t best_prefix(struct run *r, struct candidate *const *v, uint32_t n, bool report);
/* Each finds at most one command. */
void search_emptiness(struct run *r);
void search_drift(struct run *r);
void search_multi(struct run *r);
void search_single(struct run *r);
/* consolidate() of one candidate, which is reported if somebody listens. */
struct decision consolidate_one(struct run *r, struct candidate *c, uint32_t max_claims);
/* Candidates of single-node consolidation: the best of every pool, then the second best of every pool … */
struct candidate **interleaved(struct run *r, uint32_t *ret_n);

/* --- report.c: what a live pass says (lifecycle 8.3, 8.4, 8.6, 8.10, 8.12); does nothing when nobody listens ----------- */

void report_candidates(struct run *r, enum disrupt_method m); /* what keeps nodes from being candidates */
void report_budgets(struct run *r, enum disrupt_method m);
/* Whether it would be heard why the candidate cannot be consolidated. */
bool report_is_heard(const struct run *r, const struct candidate *c);
/* The question is open: pods of a drifted node have no place. */
void report_blocked(struct run *r, const struct candidate *c, const struct decision *d);
/* What was decided about one candidate; its question is open, unless a bound answered it. */
void report_decision(struct run *r, struct candidate *c, const struct decision *d);
/* Replacements that are cheap enough were found for these nodes. */
void report_replace(struct run *r, struct candidate *const *v, uint32_t n, const struct decision *d);
/* What the policies of the pools thought of a move. */
void report_move(struct run *r, struct candidate *const *v, uint32_t n, const struct decision *d, bool approved);

/* --- verdicts.c: why candidates stay, in words ------------------------------------------------------------------------- */

/* Of one candidate, while the question is open. */
struct blocker decision_blocker(struct run *r, const struct candidate *c, const struct decision *d);
str closed_text(struct arena *a, enum disrupt_method m); /* of a budget that allows nothing */
struct blocker budget_blocker(struct run *r, const struct candidate *c, enum disrupt_method m);
struct blocker later_blocker(const struct run *r);
struct blocker taker_blocker(void);
struct blocker no_pool_blocker(void);

/* --- sets.c: sets of candidates that can go together ----------------------------------------------------------------------- */

typedef VEC(struct candidate *) candidate_list;

/* No command and no pod has taken the node. */
bool is_free(const struct run *r, const struct candidate *c);
void free_candidates(struct run *r, enum disrupt_method m, candidate_list *out);
bool take_if_allowed(struct run *r, const struct candidate *c); /* from its pool's budget */
void return_all(struct run *r, const candidate_list *v);        /* to the budgets */
/* Replacements in one command of so many nodes: fewer than go, but for one. */
uint32_t claims_allowed(const struct run *r, uint32_t n);
/* The next candidates from `at` on that are free and within their budgets, at most `size`; the budgets are taken. */
void next_chunk(struct run *r, const candidate_list *all, uint32_t *at, uint32_t size, candidate_list *out);
/* Ends the open question, whose answer was yes. Nodes that need no replacement do not pay for those that do: they are
 * a command of their own, and the others must be worth it by themselves. */
void accept(struct run *r, const candidate_list *v, const struct decision *d);

/* Neighbours in the order of candidates: all of them at first, or one; half as many after a no, twice as many after a
 * yes. `replace`: sets may need new nodes. What is asked about together cannot count on each other's room, which is why large sets come first. A single node
 * goes only if it needs no replacement. */
void sweep(struct run *r, bool replace, bool all_first);
/* Nodes that one cheaper node can take the place of. Neighbours are alike, so sets grow from two of them. */
void merge_many(struct run *r);
/* As many as can go together, from the best on: what Karpenter would do, without its limit. */
void remove_prefix(struct run *r);
/* One by one, what is left. */
void replace_single(struct run *r);

/* --- worst.c --------------------------------------------------------------------------------------------------------------- */

/* Sets of nodes whose pods are worth the smallest part of the price, packed anew into fewer or cheaper nodes, as many as the setting allows. */
void replace_worst(struct run *r);

/* --- thorough.c: our own search --------------------------------------------------------------------------------------------- */

void thorough(struct run *r, unsigned methods);
