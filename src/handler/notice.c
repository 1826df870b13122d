#include "handler/notice.h"

#include <stdio.h>

#include "aws/sigv4.h"
#include "base/sb.h"
#include "data/reader.h"
#include "model/duration.h"

#define MAX_TEXT (64u << 10)
#define MAX_EVENTS 100u
#define MAX_WORD 64u
#define MAX_SENTENCE 1000u

const struct notice_words notice_words[NOTICE_KINDS] = {
    [NOTICE_SPOT] = {"latest/meta-data/spot/instance-action", "SPOT_ITN", "SPOT_ITN_MONITOR",
                     "aws-node-termination-handler/spot-itn", "SpotInterruption"},
    [NOTICE_SCHEDULED] = {"latest/meta-data/events/maintenance/scheduled", "SCHEDULED_EVENT", "SCHEDULED_EVENT_MONITOR",
                          "aws-node-termination-handler/scheduled-maintenance", "ScheduledEvent"},
    [NOTICE_REBALANCE] = {"latest/meta-data/events/recommendations/rebalance", "REBALANCE_RECOMMENDATION",
                          "REBALANCE_RECOMMENDATION_MONITOR", "aws-node-termination-handler/rebalance-recommendation",
                          "RebalanceRecommendation"},
    [NOTICE_ASG] = {"latest/meta-data/autoscaling/target-lifecycle-state", "ASG_LIFECYCLE", "ASG_LIFECYCLE_MONITOR",
                    "aws-node-termination-handler/asg-lifecycle-termination", "ASGLifecycle"},
};

/* ---- what is believed ---- */

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Letters and digits, with - _ . : between them. */
static bool is_word(str s, size_t max, const char *between)
{
    if (s.n == 0 || s.n > max || !is_alnum(s.p[0]) || !is_alnum(s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]) && (s.p[i] == 0 || !strchr(between, s.p[i])))
            return false;
    return true;
}

/* One line, so that it fits into a log, an Event and a label of a dashboard. */
static str one_line(struct arena *a, str s)
{
    struct sb b = {0};

    s = str_sub(str_trim(s), 0, MAX_SENTENCE);
    for (size_t i = 0; i < s.n; i++)
        sb_char(&b, (unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f ? ' ' : s.p[i]);
    s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

/* Notices without a name get one that follows from what they say. */
static str name_of(struct arena *a, const char *prefix, str says)
{
    return str_sub(arena_printf(a, "%s-" STR_FMT, prefix, STR_ARG(sigv4_sha256(a, says))), 0, NOTICE_ID_MAX);
}

/* "21 Jan 2019 09:00:43 GMT" */
static bool read_date(str s, int64_t *ret_ms)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    str day, month, year, clock, rest;
    char text[32];
    struct err none;

    if (!str_cut(s, ' ', &day, &rest) || !str_cut(rest, ' ', &month, &rest) || !str_cut(rest, ' ', &year, &rest) ||
        !str_cut(rest, ' ', &clock, &rest) || !str_is(rest, "GMT") || day.n < 1 || day.n > 2 || month.n != 3 ||
        year.n != 4 || clock.n != 8)
        return false;
    for (int m = 0; m < 12; m++)
        if (memcmp(months + 3 * m, month.p, 3) == 0) {
            (void)snprintf(text, sizeof(text), STR_FMT "-%02d-%s" STR_FMT "T" STR_FMT "Z", STR_ARG(year), m + 1,
                           day.n == 1 ? "0" : "", STR_ARG(day), STR_ARG(clock));
            return time_parse_rfc3339(str_c(text), ret_ms, &none);
        }
    return false;
}

static bool malformed(struct err *e, enum notice_kind k, const char *why)
{
    return err_set(e, ERR_INVALID, "%s: %s", notice_words[k].path, why);
}

/* ---- each kind ---- */

static bool read_spot(struct arena *a, const struct tree *t, struct notices *ret, struct err *e)
{
    str action = tree_str(tree_get(t, "action")), time = tree_str(tree_get(t, "time"));
    struct notice *n = &ret->v[0];
    struct err bad;

    if (!is_word(action, MAX_WORD, "-"))
        return malformed(e, NOTICE_SPOT, "no action");
    if (time.n > MAX_WORD || !time_parse_rfc3339(time, &n->start_ms, &bad))
        return malformed(e, NOTICE_SPOT, "no time");
    n->end_ms = n->start_ms;
    n->id = name_of(a, "spot-itn", arena_printf(a, STR_FMT " " STR_FMT, STR_ARG(action), STR_ARG(time)));
    n->description =
        arena_printf(a, "EC2 takes the spot machine back (" STR_FMT ") at " STR_FMT, STR_ARG(action), STR_ARG(time));
    ret->n = 1;
    return true;
}

static bool read_rebalance(struct arena *a, const struct tree *t, struct notices *ret, struct err *e)
{
    str time = tree_str(tree_get(t, "noticeTime"));
    struct notice *n = &ret->v[0];
    struct err bad;

    if (time.n > MAX_WORD || !time_parse_rfc3339(time, &n->start_ms, &bad))
        return malformed(e, NOTICE_REBALANCE, "no noticeTime");
    n->end_ms = n->start_ms;
    n->id = name_of(a, "rebalance-recommendation", time);
    n->description = arena_printf(a, "EC2 recommends to rebalance since " STR_FMT, STR_ARG(time));
    ret->n = 1;
    return true;
}

static bool is_one_of(str s, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(s, words[i]))
            return true;
    return false;
}

/* It begins now, however late EC2 itself wants to begin: there may be no better time to move. */
static bool read_event(struct arena *a, const struct tree *t, int64_t now_ms, struct notice *n, struct err *e)
{
    static const char *const over[] = {"canceled", "completed"};
    static const char *const restart[] = {"instance-reboot", "instance-retirement", "instance-stop", "system-reboot"};
    str id = tree_str(tree_get(t, "EventId")), code = tree_str(tree_get(t, "Code")),
        state = tree_str(tree_get(t, "State")), from = tree_str(tree_get(t, "NotBefore")),
        to = tree_str(tree_get(t, "NotAfter")), why = tree_str(tree_get(t, "Description"));
    int64_t from_ms;

    if (!is_word(id, NOTICE_ID_MAX, "-_."))
        return malformed(e, NOTICE_SCHEDULED, "no EventId");
    if (!is_word(code, MAX_WORD, "-"))
        return malformed(e, NOTICE_SCHEDULED, "no Code");
    if (state.n && !is_word(state, MAX_WORD, "-"))
        return malformed(e, NOTICE_SCHEDULED, "a State that is no word");
    if (!read_date(from, &from_ms))
        return malformed(e, NOTICE_SCHEDULED, "NotBefore is no time");
    if (to.n == 0 || !read_date(to, &n->end_ms)) { /* not all of them have an end */
        n->end_ms = from_ms;
        to = (str){0};
    }
    n->kind = NOTICE_SCHEDULED;
    n->id = arena_strdup(a, id);
    n->state = arena_strdup(a, state);
    n->start_ms = now_ms;
    n->restarts = is_one_of(code, restart, ARRAY_LEN(restart));
    n->over = is_one_of(state, over, ARRAY_LEN(over));
    why = one_line(a, why);
    n->description =
        arena_printf(a, STR_FMT " not before " STR_FMT "%s" STR_FMT "%s" STR_FMT, STR_ARG(code), STR_ARG(from),
                     to.n ? ", not after " : "", STR_ARG(to), why.n ? ": " : "", STR_ARG(why));
    return true;
}

static bool read_scheduled(struct arena *a, const struct tree *t, int64_t now_ms, struct notices *ret, struct err *e)
{
    if (t->kind != TREE_LIST)
        return malformed(e, NOTICE_SCHEDULED, "no list");
    if (t->n > MAX_EVENTS)
        return malformed(e, NOTICE_SCHEDULED, "a list that is too long");
    ret->v = arena_new_array(a, struct notice, t->n);
    for (uint32_t i = 0; i < t->n; i++)
        if (!read_event(a, &t->items[i], now_ms, &ret->v[i], e))
            return false;
    ret->n = t->n;
    return true;
}

static bool read_target_state(struct arena *a, str state, int64_t now_ms, struct notices *ret, struct err *e)
{
    struct notice *n = &ret->v[0];

    if (state.n && !is_word(state, MAX_WORD, ":"))
        return malformed(e, NOTICE_ASG, "no state");
    if (!str_is(state, "Terminated"))
        return true;
    n->start_ms = n->end_ms = now_ms;
    n->id = name_of(a, "target-lifecycle-state-terminated", state);
    n->description = STR("the Auto Scaling group wants the machine terminated");
    ret->n = 1;
    return true;
}

bool notices_read(struct arena *a, enum notice_kind k, str text, int64_t now_ms, struct notices *ret, struct err *e)
{
    struct notices found = {arena_new_one(a, struct notice), 0};
    const struct tree *t;
    struct err bad;
    bool ok;

    if (text.n > MAX_TEXT)
        return malformed(e, k, "an answer that is too long");
    text = str_trim(text);
    found.v[0].kind = k;
    if (k == NOTICE_ASG) {
        ok = read_target_state(a, text, now_ms, &found, e);
    } else {
        if (!tree_parse_json(a, notice_words[k].path, text, &t, &bad))
            return malformed(e, k, "no JSON");
        ok = k == NOTICE_SPOT        ? read_spot(a, t, &found, e)
             : k == NOTICE_REBALANCE ? read_rebalance(a, t, &found, e)
                                     : read_scheduled(a, t, now_ms, &found, e);
    }
    if (ok)
        *ret = found;
    return ok;
}
