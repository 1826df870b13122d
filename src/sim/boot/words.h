/* words - a script as words and commands, for those who look for one command in it. Nothing is expanded: $X stays $X. */
#pragma once

#include "base/arena.h"

struct words {
    struct arena *a;
    str rest;
    char escape;   /* '\\' in shells, '`' in PowerShell */
    str here;      /* lines up to this one are a document that a command reads; empty: none */
    bool started;  /* a command is under way */
    bool unclosed; /* a quote that nobody closed: the end */
};

/* The next word; *ret_first: a command begins with it. false: there are no more. */
bool words_next(struct words *w, str *ret, bool *ret_first);
