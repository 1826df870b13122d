/* decide - which notices there are, and what is to be done about them now. Pure: the time is a parameter.
 *
 * A book holds every notice that was heard of, each once. handler_decide() looks at it and names one deed; whoever carries it out says how it went.
 */
#pragma once

#include "handler/notice.h"
#include "handler/settings.h"

#define BOOK_MAX 64u /* machines have one notice or two */

struct book_entry {
    struct notice n;
    int64_t not_before_ms; /* after a failure: when it is tried again */
    bool told;             /* an Event was written */
    bool posted;           /* the webhook was called */
    bool marked;           /* the node was cordoned for it */
    bool found_cordoned;   /* and somebody had done that before */
    bool done;             /* all that was to be done was done */
    bool ignored;          /* dealt with before the last reboot */
    bool over;             /* cancelled, or completed */
    bool released;         /* what follows from that was done */
};

struct book {
    struct arena *arena; /* of the notices' texts */
    struct book_entry v[BOOK_MAX];
    uint32_t n;
    uint32_t n_lost; /* for which there was no room */
};

void book_init(struct book *b);
void book_fini(struct book *b);
/* true: that is news, the notice itself or that it is over. Copies. */
bool book_hear(struct book *b, const struct notice *n);
void book_ignore(struct book *b, str id); /* heard of or not yet */
/* After a drain: whatever else was due is done as well. */
void book_drained(struct book *b, int64_t now_ms, int64_t node_grace_s);

enum deed {
    DEED_NONE,
    DEED_CORDON,
    DEED_DRAIN,   /* and cordon before that */
    DEED_RELEASE, /* uncordon: nothing is going to happen any more */
    DEED_KEEP,    /* it is over, and another notice is not: the node stays cordoned */
};

struct decision {
    enum deed deed;
    uint32_t entry; /* of the book */
};

struct decision handler_decide(const struct handler_settings *s, const struct book *b, int64_t now_ms);
