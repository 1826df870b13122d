#include "aws/calls.h"

#include "aws/protocol.h"
#include "data/json.h"
#include "net/http.h"

/* What AWS said, beyond the life of the answer. */
static void keep_words(struct arena *a, const struct aws_answer *r, struct aws_answer *f)
{
    if (f)
        *f = (struct aws_answer){
            .status = r->status, .code = arena_strdup(a, r->code), .message = arena_strdup(a, r->message)};
}

bool aws_ask(struct aws *c, struct arena *a, const struct aws_call *call, const struct wire_shape *shape, void *ret,
             struct aws_answer *f, struct err *e)
{
    AUTO(arena) struct arena *page = arena_new(0);
    struct wire w = {.a = a, .action = call->action, .e = e};
    struct aws_answer r = {0};

    if (!aws_do(c, call, page, &r, e)) {
        keep_words(a, &r, f);
        return false;
    }
    if (!shape)
        return true;
    void *value = arena_alloc(page, shape->size, 8);
    bool ok = wire_read(&w, shape, r.tree, value);
    if (ok)
        memcpy(ret, value, shape->size);
    else if (f)
        *f = (struct aws_answer){.status = r.status};
    wire_fini(&w);
    return ok;
}

/* ---- pages ---- */

void aws_page_body(struct sb *out, const struct aws_listing *l, str params, str token)
{
    sb_str(out, params);
    if (token.n == 0)
        return;
    if (protocol_is_form(l->service)) {
        if (out->n)
            sb_char(out, '&');
        sb_c(out, l->token_as);
        sb_char(out, '=');
        url_encode(out, token);
        return;
    }
    AUTO(arena) struct arena *tmp = arena_new(0);
    assert(out->n > 2 && out->p[out->n - 1] == '}'); /* a JSON object with members */
    out->n--;
    sb_printf(out, ",\"%s\":", l->token_as);
    sb_str(out, json_quoted(tmp, token));
    sb_char(out, '}');
}

bool aws_page_read(struct wire *w, const struct aws_listing *l, const struct tree *page, struct wire_items *into,
                   str *ret_token)
{
    str more = STR("true"), token = {0};

    if (!wire_gather(w, l->shape, l->path, page, into) || (l->token && !wire_find(w, page, l->token, &token)) ||
        (l->more && !wire_find(w, page, l->more, &more)))
        return false;
    *ret_token = str_is(more, "true") ? token : (str){0};
    return true;
}

static bool one_page(struct aws *c, struct wire *w, const struct aws_listing *l, str params, struct wire_pages *p,
                     struct wire_items *items, struct aws_answer *f)
{
    AUTO(arena) struct arena *page = arena_new(0);
    struct sb body = {0};
    struct aws_answer r = {0};
    str token;

    aws_page_body(&body, l, params, p->token);
    bool ok = aws_do(c, &(struct aws_call){.service = l->service, .action = l->action, .body = sb_view(&body)}, page,
                     &r, w->e);
    sb_fini(&body);
    if (!ok) {
        keep_words(w->a, &r, f);
        return false;
    }
    return aws_page_read(w, l, r.tree, items, &token) && wire_turn(w, p, token);
}

void *aws_list(struct aws *c, struct arena *a, const struct aws_listing *l, struct sb *params, uint32_t *ret_n,
               struct aws_answer *f, struct err *e)
{
    struct wire w = {.a = a, .action = l->action, .e = e};
    struct wire_items items = {0};
    struct wire_pages pages = {0};
    bool ok;

    if (f)
        *f = (struct aws_answer){0};
    do
        ok = one_page(c, &w, l, sb_view(params), &pages, &items, f);
    while (ok && pages.token.n);
    void *v = ok ? wire_keep(&w, l->shape, &items, ret_n) : NULL;
    wire_drop(&items);
    wire_pages_fini(&pages);
    wire_fini(&w);
    sb_fini(params);
    return v;
}
