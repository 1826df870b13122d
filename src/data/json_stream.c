/* Each object is cut out of the source whole, then parsed. Lists are the exception: once the scanner meets `items`
 * of an object that is a List (or has not said what it is), the object is entered: what stands before `items` is
 * parsed as if the map ended there, the members are handed out one by one, and what stands after `]` is parsed as a
 * map of its own. So every byte is checked by the parser, and nothing larger than a member is ever held. */
#include "data/json_stream.h"

#include <stdlib.h>

#include "data/json_scan.h"
#include "data/lists.h"

struct json_stream {
    struct json_scan scan;
    struct lists lists;
    bool whole, done; /* done: the only value was handed out */
    struct tree now;
};

struct json_stream *json_stream_new(struct source *src, bool whole)
{
    struct json_stream *j = xcalloc(1, sizeof(*j));

    j->scan = (struct json_scan){.src = src, .line = 1, .col = 1};
    j->whole = whole;
    lists_init(&j->lists, src);
    return j;
}

void json_stream_free(struct json_stream *j)
{
    if (!j)
        return;
    json_scan_fini(&j->scan);
    lists_fini(&j->lists);
    free(j);
}

/* The slice into j->now. */
static bool take(struct json_stream *j, struct arena *a, struct err *e)
{
    struct json_slice slice = json_scan_slice(&j->scan);

    if (j->whole) {
        char *copy = arena_alloc(a, slice.n + JSON_PAD, 1);

        memcpy(copy, slice.p, slice.n);
        slice.p = copy;
    }
    return json_tree(&slice, a, &j->now, e);
}

/* The map up to `items`, whose [ is the next byte, as if `items` were 0 and the last member. */
static bool enter_list(struct json_stream *j, struct arena *a, struct err *e)
{
    struct json_scan *s = &j->scan;
    struct json_slice slice = json_scan_slice(s);
    char after[2];

    if (!lists_push(&j->lists, true, s->line, s->col, e))
        return false;
    memcpy(after, slice.p + slice.n, sizeof(after)); /* SOURCE_PAD leaves room for this and for JSON_PAD */
    memcpy(slice.p + slice.n, "0}", sizeof(after));
    slice.n += sizeof(after);
    if (!json_tree(&slice, a, &j->now, e))
        return false;
    memcpy(slice.p + slice.n - sizeof(after), after, sizeof(after));
    j->now.n--; /* items: noted when the level was made */
    if (!lists_note(&j->lists, &j->now, e))
        return false;
    s->at++;
    json_scan_start(s, false);
    return true;
}

/* After the ] of `items`: the other members, parsed as a map whose { stands where the ] was. */
static bool leave_list(struct json_stream *j, struct arena *a, struct err *e)
{
    struct json_scan *s = &j->scan;
    int c;

    json_scan_start(s, true);
    json_scan_mark(s);
    s->src->buf[s->src->lo + s->at++] = '{';
    if (!json_scan_peek(s, &c, e))
        return false;
    if (c == JSON_END)
        return json_scan_error(s, s->at, e, "the input ends in the middle of a List");
    if (c != ',' && c != '}')
        return json_scan_error(s, s->at, e, "expected , or } after items");
    if (c == ',')
        s->src->buf[s->src->lo + s->at] = ' ';
    while (c == ',') {
        s->at++;
        for (int part = 0; part < 2; part++) { /* key and value */
            if (!json_scan_value(s, 1, e) || !json_scan_peek(s, &c, e))
                return false;
            if (c != (part ? ',' : ':') && !(part && c == '}'))
                return json_scan_error(s, s->at, e, "%s",
                                       c == JSON_END ? "the input ends in the middle of a List"
                                       : part        ? "expected , or }"
                                                     : "expected : after a key");
            if (!part)
                s->at++;
        }
    }
    s->at++;
    if (!take(j, a, e) || !lists_note(&j->lists, &j->now, e))
        return false;
    json_scan_start(s, false);
    lists_pop(&j->lists);
    return true;
}

/* Past one member of the object at the start of the slice. *ret_enter: it is `items`, and the next byte is its [. */
static bool scan_member(struct json_stream *j, bool *has_other_kind, bool *ret_enter, struct err *e)
{
    struct json_scan *s = &j->scan;
    int c;

    if (!json_scan_peek(s, &c, e))
        return false;
    if (c == JSON_END)
        return json_scan_truncated(s, e);
    if (c != '"')
        return json_scan_error(s, s->at, e, "expected a key in double quotes");
    size_t key = s->at;
    if (!json_scan_value(s, 1, e))
        return false;
    size_t key_end = s->at;
    if (!json_scan_peek(s, &c, e))
        return false;
    if (c == JSON_END)
        return json_scan_truncated(s, e);
    if (c != ':')
        return json_scan_error(s, s->at, e, "expected : after a key");
    s->at++;
    if (!json_scan_peek(s, &c, e))
        return false;

    str name = {s->src->buf + s->src->lo + key, key_end - key};
    bool is_kind = str_eq(name, STR("\"kind\""));
    *ret_enter = c == '[' && !*has_other_kind && str_eq(name, STR("\"items\""));
    if (*ret_enter)
        return true;
    size_t from = s->at;
    if (!json_scan_value(s, 1, e))
        return false;
    str value = {s->src->buf + s->src->lo + from, s->at - from};
    if (is_kind)
        *has_other_kind = value.p[0] == '"' && !str_ends(value, STR("List\""));
    return true;
}

/* An object: cut out whole, or entered when it is a List. */
static bool scan_object(struct json_stream *j, bool *ret_enter, struct err *e)
{
    struct json_scan *s = &j->scan;
    bool has_other_kind = false;
    int c;

    *ret_enter = false;
    json_scan_mark(s);
    s->at++;
    if (!json_scan_peek(s, &c, e))
        return false;
    while (c != '}') {
        if (!scan_member(j, &has_other_kind, ret_enter, e))
            return false;
        if (*ret_enter)
            return true;
        if (!json_scan_peek(s, &c, e))
            return false;
        if (c == JSON_END)
            return json_scan_truncated(s, e);
        if (c != ',' && c != '}')
            return json_scan_error(s, s->at, e, "expected , or }");
        if (c == ',')
            s->at++;
    }
    s->at++;
    return true;
}

/* The value that starts with the next byte. *ret_skip: nothing to hand out, go on. */
static bool next_value(struct json_stream *j, struct arena *a, int c, bool *ret_skip, struct err *e)
{
    json_scan_start(&j->scan, true);
    if (c == '{' && !j->whole) {
        if (!scan_object(j, ret_skip, e))
            return false;
        if (*ret_skip)
            return enter_list(j, a, e);
    } else if (!json_scan_value(&j->scan, 0, e)) {
        return false;
    }
    if (!take(j, a, e))
        return false;
    *ret_skip = false;
    return j->whole || lists_accept(&j->lists, a, &j->now, ret_skip, e);
}

/* Inside a list: past the comma, or out of it. *ret_skip: it was the end. */
static bool next_in_list(struct json_stream *j, struct arena *a, int *c, bool *ret_skip, struct err *e)
{
    struct json_scan *s = &j->scan;
    struct list_level *level = &j->lists.v[j->lists.n - 1];

    *ret_skip = *c == ']';
    if (*ret_skip && level->envelope)
        return leave_list(j, a, e);
    if (*ret_skip) {
        s->at++;
        lists_pop(&j->lists);
        return true;
    }
    if (!level->any) {
        level->any = true;
        return true;
    }
    if (*c != ',')
        return json_scan_error(s, s->at, e, "%s",
                               *c == JSON_END ? "the input ends in the middle of a list" : "expected , or ]");
    s->at++;
    return json_scan_peek(s, c, e);
}

bool json_stream_next(struct json_stream *j, struct arena *a, const struct tree **ret, uint64_t *ret_yaml_from,
                      struct err *e)
{
    struct json_scan *s = &j->scan;
    bool skip;
    int c;

    *ret = NULL;
    *ret_yaml_from = 0;
    do {
        json_scan_start(s, false);
        if (!json_scan_peek(s, &c, e))
            return false;
        if (j->lists.n) {
            if (!next_in_list(j, a, &c, &skip, e))
                return false;
            if (skip)
                continue;
            if (c == JSON_END)
                return json_scan_error(s, s->at, e, "the input ends in the middle of a list");
        } else if (c == JSON_END) {
            return true;
        } else if (j->done) {
            return json_scan_error(s, s->at, e, "expected nothing after the first value");
        } else if (c == '-' && !j->whole) {
            json_scan_start(s, false);
            *ret_yaml_from = s->line;
            return true;
        } else if (c == '[' && !j->whole) {
            uint64_t line = s->line + s->newlines.n;

            skip = true;
            if (!lists_push(&j->lists, false, line, 1, e))
                return false;
            s->at++;
            continue;
        }
        if (!next_value(j, a, c, &skip, e))
            return false;
    } while (skip);
    j->done = j->whole;
    *ret = &j->now;
    return true;
}
