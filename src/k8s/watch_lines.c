#include "k8s/watch_lines.h"

#include <stdlib.h>

#include "data/edit.h"
#include "data/reader.h"

#define PIECE ((size_t)64 << 10)
#define FIRST_BLOCK (64u << 10)  /* most events fit, and it survives a reset */
#define KEEP ((size_t)256 << 10) /* a larger buffer was for an unusual object */

void watch_lines_init(struct watch_lines *l)
{
    *l = (struct watch_lines){.arena = arena_new(FIRST_BLOCK)};
}

void watch_lines_fini(struct watch_lines *l)
{
    free(l->buf);
    arena_free(l->arena);
    *l = (struct watch_lines){0};
}

void watch_lines_reset(struct watch_lines *l)
{
    l->n = l->looked = 0;
    arena_reset(l->arena);
}

static void make_room(struct watch_lines *l, size_t more)
{
    size_t need = l->n + more + READER_PAD;

    if (need <= l->cap)
        return;
    l->cap = MAX(need, MIN(2 * l->cap, (size_t)WATCH_MAX_LINE));
    l->buf = xrealloc(l->buf, l->cap);
}

static bool take_line(struct watch_lines *l, char *line, size_t n, watch_event_fn fn, void *ctx, bool *ret_go_on,
                      struct err *e)
{
    struct tree *t;

    *ret_go_on = true;
    if (str_trim((str){line, n}).n == 0)
        return true;
    arena_reset(l->arena);
    if (!tree_read_json(l->arena, "event", line, n, &t, e))
        return false;
    str type = tree_str(tree_get(t, "type"));
    if (!type.n)
        return err_set(e, ERR_INVALID, "an event of a watch has no type");
    *ret_go_on = fn(ctx, type, tree_find(t, STR("object")));
    return true;
}

/* All whole lines of the buffer; what is left moves to its front. */
static bool take_lines(struct watch_lines *l, watch_event_fn fn, void *ctx, bool *ret_go_on, struct err *e)
{
    size_t from = 0;
    char *end;

    *ret_go_on = true;
    while (*ret_go_on && (end = memchr(l->buf + l->looked, '\n', l->n - l->looked))) {
        size_t at = (size_t)(end - l->buf);

        if (!take_line(l, l->buf + from, at - from, fn, ctx, ret_go_on, e))
            return false;
        from = l->looked = at + 1;
    }
    if (from)
        memmove(l->buf, l->buf + from, l->n - from);
    l->n -= from;
    l->looked = l->n;
    return true;
}

bool watch_lines_feed(struct watch_lines *l, str bytes, watch_event_fn fn, void *ctx, struct err *e)
{
    bool go_on = true;

    while (bytes.n && go_on) {
        size_t n = MIN(bytes.n, PIECE);

        make_room(l, n);
        memcpy(l->buf + l->n, bytes.p, n);
        l->n += n;
        bytes = str_sub(bytes, n, bytes.n);
        if (!take_lines(l, fn, ctx, &go_on, e))
            return false;
        if (l->n > WATCH_MAX_LINE)
            return err_set(e, ERR_INVALID, "an event of a watch has more than %u MiB", WATCH_MAX_LINE >> 20);
    }
    arena_reset(l->arena);
    if (l->n == 0 && l->cap > KEEP) {
        free(l->buf);
        l->buf = NULL;
        l->cap = 0;
    }
    return true;
}
