/* The only file that talks to libyaml's parser. */
#include "data/yaml_events.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "data/reader.h"

/* Escapes and indentation make source longer than content; libyaml reads a little ahead as well. */
#define STARVE_AFTER (2 * (size_t)READER_MAX_TEXT)
#define DIRECTIVES_MAX 1000u

/* How many bytes libyaml may have, at most n; y->line and y->col move past them. With none, read_err says why;
 * it is not set when a character is merely cut off. */
static size_t feedable(struct yaml_events *y, const unsigned char *p, size_t n)
{
    size_t at = 0;

    while (at < n) {
        uint32_t c = p[at];

        if (c >= 0x20 && c < 0x7f && c != '%') { /* nearly all of them */
            at++;
            y->col++;
            continue;
        }
        int len = utf8_char(p + at, n - at, &c);
        if (len <= 0 || !utf8_yaml_printable(c)) {
            if (at == 0 && (len < 0 || (len == 0 && y->src->ended)))
                (void)source_error(y->src, y->line, y->col, &y->read_err, "not UTF-8");
            else if (at == 0 && len > 0)
                (void)source_error(y->src, y->line, y->col, &y->read_err, "character U+%04X is not allowed", c);
            break;
        }
        if (c == '%' && y->col == 1 && ++y->n_directives > DIRECTIVES_MAX) {
            (void)source_error(y->src, y->line, y->col, &y->read_err, "too many directives");
            return 0;
        }
        at += (size_t)len;
        y->col++;
        if (c == '\n') {
            y->line++;
            y->col = 1;
        }
    }
    return at;
}

static bool feed(struct yaml_events *y, unsigned char *out, size_t size, size_t *ret_n)
{
    struct source *s = y->src;

    for (;;) {
        size_t n = MIN(source_held(s), size);

        if (n == 0 && s->ended) {
            *ret_n = 0;
            return true;
        }
        if (n > 0) {
            size_t take = feedable(y, (const unsigned char *)s->buf + s->lo, n);

            if (take > 0) {
                memcpy(out, s->buf + s->lo, take);
                s->lo += take;
                *ret_n = take;
                return true;
            }
            if (y->read_err.kind != ERR_NONE)
                return false;
        }
        if (!source_more(s, &y->read_err))
            return false;
    }
}

static int read_handler(void *data, unsigned char *buffer, size_t size, size_t *size_read)
{
    struct yaml_events *y = data;

    if (y->starved_after == 0) {
        yaml_mark_t at = y->parser.mark;

        if (y->has_event)
            at = y->event.end_mark;
        return source_error(y->src, y->base_line + at.line + 1, at.column + 1, &y->read_err,
                            "text of more than %u MiB after this place", READER_MAX_TEXT >> 20);
    }
    if (!feed(y, buffer, size, size_read))
        return 0;
    y->starved_after -= MIN(*size_read, y->starved_after);
    return 1;
}

void yaml_events_init(struct yaml_events *y, struct source *src, uint64_t first_line)
{
    *y = (struct yaml_events){.src = src, .base_line = first_line - 1, .line = first_line, .col = 1};
    int ok = yaml_parser_initialize(&y->parser);
    assert(ok);
    yaml_parser_set_encoding(&y->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input(&y->parser, read_handler, y);
}

void yaml_events_fini(struct yaml_events *y)
{
    if (y->has_event)
        yaml_event_delete(&y->event);
    yaml_parser_delete(&y->parser);
}

static bool parser_error(const struct yaml_events *y, struct err *e)
{
    const yaml_parser_t *p = &y->parser;
    const char *what = p->problem ? p->problem : "not YAML";
    yaml_mark_t at = p->problem_mark;

    if (y->read_err.kind != ERR_NONE) {
        *e = y->read_err;
        return false;
    }
    if (p->error == YAML_MEMORY_ERROR)
        return err_set(e, ERR_IO, "%s: out of memory", y->src->name);
    bool tab = p->error == YAML_SCANNER_ERROR && p->buffer.pointer < p->buffer.last && *p->buffer.pointer == '\t';
    if (tab)
        what = "a tab cannot indent: YAML wants spaces";
    if (tab || !p->context || p->context_mark.line == at.line)
        return source_error(y->src, y->base_line + at.line + 1, at.column + 1, e, "%s", what);
    return source_error(y->src, y->base_line + at.line + 1, at.column + 1, e, "%s %s that began on line %llu", what,
                        p->context, (unsigned long long)(y->base_line + p->context_mark.line + 1));
}

bool yaml_events_next(struct yaml_events *y, struct err *e)
{
    yaml_event_t next;

    y->starved_after = STARVE_AFTER;
    y->n_directives = 0;
    if (!yaml_parser_parse(&y->parser, &next))
        return parser_error(y, e);
    if (y->has_event)
        yaml_event_delete(&y->event);
    y->event = next;
    y->has_event = true;
    return true;
}

bool yaml_events_error(const struct yaml_events *y, struct err *e, const char *fmt, ...)
{
    char what[sizeof(e->msg)];
    yaml_mark_t at = y->event.start_mark;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return source_error(y->src, y->base_line + at.line + 1, at.column + 1, e, "%s", what);
}
