/* calls - one call of a service, or all pages of one, into structs that a table describes (wire.h).
 *
 * What an answer looked like is forgotten before these return; results and AWS's words on failure live in the caller's arena.
 */
#pragma once

#include "aws/aws.h"
#include "aws/wire.h"

/* shape NULL: the answer does not matter. f: AWS's code and message on failure; may be NULL. *ret is written on success only. */
bool aws_ask(struct aws *c, struct arena *a, const struct aws_call *call, const struct wire_shape *shape, void *ret,
             struct aws_answer *f, struct err *e);

/* A call that answers with a list, page by page. */
struct aws_listing {
    enum aws_service service;
    const char *action;
    const char *path;     /* of the members */
    const char *token;    /* path of the token for the next page; NULL: there is only ever one */
    const char *token_as; /* the parameter that it is sent back in */
    const char *more;     /* path of a boolean without which the token does not count; NULL: it always counts */
    const struct wire_shape *shape;
};

/* The body for the page after this token; empty: the first page. JSON or a form, as the service wants it. */
void aws_page_body(struct sb *out, const struct aws_listing *l, str params, str token);
/* One page into the items. */
bool aws_page_read(struct wire *w, const struct aws_listing *l, const struct tree *page, struct wire_items *into,
                   str *ret_token);
/* All pages: an array of what the shape describes, NULL on failure. `params` is used up. */
void *aws_list(struct aws *c, struct arena *a, const struct aws_listing *l, struct sb *params, uint32_t *ret_n,
               struct aws_answer *f, struct err *e);
