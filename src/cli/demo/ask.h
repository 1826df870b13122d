/* ask - `karpenter demo VERB`: asks the demo that runs to do something to its AWS account, through its door. */
#pragma once

#include <stdbool.h>

/* Whether the word is one of the verbs. */
bool ask_is_verb(const char *word);
/* argv[0] is the verb. Returns the exit status. */
int ask_run(int argc, char **argv);
void ask_print_help(void);
