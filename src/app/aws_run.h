/* aws_run - the provider of EC2 in the account of a file, for the commands of aws_vectors.h.
 *
 * Reads objects, starts the provider over the simulated account, reconciles every EC2NodeClass once (unless it has conditions already, or is being deleted), and then
 * gives the command its turn. Calls that change something, or would, are kept step by step.
 */
#pragma once

#include "app/aws_account.h"
#include "base/vec.h"
#include "cloud/ec2/ec2_int.h"
#include "cloud/ec2/reconcile.h"
#include "model/objects.h"

struct aws_seen { /* a call that AWS answered; what it was is copied */
    const char *service, *action;
    const struct tree *input;
    str error;
};

struct aws_step { /* the reconciliation of a class, or a launch */
    VEC(struct aws_seen) calls;
};

struct aws_class_step {
    struct tree *object; /* as it is afterwards */
    struct aws_step step;
    struct ec2_reconciled is;
};

struct aws_run;
struct jw;

struct aws_command {
    const char *name;
    bool (*work)(struct aws_run *r, struct err *e); /* in a fiber of the provider's world */
    void (*print)(struct aws_run *r, struct jw *w); /* the answer */
};

struct aws_run {
    const struct aws_command *command;
    void *ctx; /* the command's own */
    struct aws_account account;
    struct arena *a;
    struct syms *t;
    struct objects *objects; /* all but the classes */
    struct ec2_settings settings;
    struct ec2 *p;
    VEC(struct aws_class_step) classes;
    struct aws_step *now; /* whose calls are being made; NULL: nobody's */
    bool ok;
    struct err e;
};

/* `NAME --world FILE -f FILE [--settings KEY=VALUE …]`: the exit status. */
int aws_run_main(const struct aws_command *c, void *ctx, int argc, char **argv);

/* For answers. */
void aws_put_str(struct jw *w, const char *key, str value);
void aws_put_resources(struct jw *w, const struct syms *t, const char *key, const struct reslist *l);
