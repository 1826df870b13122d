/* ask - `karpenter demo VERB`: asks the demo that runs to do something to its AWS account, through its door. */
#pragma once

#include "base/arena.h"
#include "base/err.h"

struct world;

/* Whether the word is one of the verbs. */
bool ask_is_verb(const char *word);
/* argv[0] is the verb. Returns the exit status. */
int ask_run(int argc, char **argv);
void ask_print_help(void);

/* For fibers: a path behind the door ("interrupt?node=x"); *ret is what it says. */
bool ask_door(struct world *w, struct arena *a, str url, str token, str path, str *ret, struct err *e);
