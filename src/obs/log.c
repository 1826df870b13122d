/* A logger is the fields that it adds to those of another one, and the root that all loggers of a program share. Fields are written when there is a line: most loggers are
 * made for a piece of work that has nothing to say.
 */
#include "obs/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/map.h"
#include "base/sb.h"
#include "data/json.h"

#define SAMPLE_SLOTS 1024u /* a power of two */
#define SAMPLE_FIRST 100u
#define SAMPLE_EACH 100u
#define SAMPLE_MS 1000

/* How often a message came since `from_ms`. Two messages that fall into one slot push each other out and are then written more often than they should be, never less. */
struct sample {
    uint64_t hash;
    int64_t from_ms;
    uint32_t n;
};

struct log_root {
    enum log_level min;
    struct log_sink sink;
    int64_t (*now_ms)(void *clock);
    void *clock;
    struct sample samples[SAMPLE_SLOTS];
    struct sb line; /* scratch */
    int64_t second; /* since 1970, of `date`; most lines come in the same one */
    char date[64];  /* "2026-11-15T09:05:51"; empty: none yet */
};

struct log {
    struct log_root *root;
    const struct log *of; /* whose fields come first; NULL: nobody's */
    const struct log_field *f;
    uint32_t n;
};

struct log *log_new(enum log_level min, const struct log_sink *sink, int64_t (*now_ms)(void *clock), void *clock)
{
    struct log *l = xcalloc(1, sizeof(*l));

    l->root = xcalloc(1, sizeof(*l->root));
    *l->root = (struct log_root){.min = min, .sink = *sink, .now_ms = now_ms, .clock = clock};
    return l;
}

void log_free(struct log *l)
{
    if (!l)
        return;
    sb_fini(&l->root->line);
    free(l->root);
    free(l);
}

static void put_field(struct jw *w, const struct log_field *f)
{
    jw_key(w, f->key);
    switch (f->kind) {
    case LOG_IS_STR:
        jw_str(w, f->s);
        break;
    case LOG_IS_I64:
        jw_i64(w, f->i);
        break;
    case LOG_IS_DOUBLE:
        jw_double(w, f->d);
        break;
    case LOG_IS_BOOL:
        jw_bool(w, f->i != 0);
        break;
    case LOG_IS_JSON:
        jw_raw(w, f->s);
        break;
    case LOG_IS_OBJ:
        jw_map(w);
        if (f->s.n) {
            jw_key(w, "name");
            jw_str(w, f->s);
        }
        if (f->ns.n) {
            jw_key(w, "namespace");
            jw_str(w, f->ns);
        }
        jw_end(w);
        break;
    }
}

struct log *log_with(struct arena *a, const struct log *l, const struct log_field *f, uint32_t n)
{
    struct log *more = arena_new_one(a, struct log);
    struct log_field *own = arena_new_array(a, struct log_field, n);

    for (uint32_t i = 0; i < n; i++) {
        own[i] = f[i];
        own[i].s = arena_strdup(a, f[i].s);
        own[i].ns = arena_strdup(a, f[i].ns);
    }
    *more = (struct log){.root = l->root, .of = l, .f = own, .n = n};
    return more;
}

static void put_fields(struct jw *w, const struct log *l)
{
    if (l->of)
        put_fields(w, l->of);
    for (uint32_t i = 0; i < l->n; i++)
        put_field(w, &l->f[i]);
}

bool log_wants(const struct log *l, enum log_level level)
{
    return level >= l->root->min;
}

/* Whether this one is written: the first hundred within a second, then every hundredth. */
static bool sampled(struct log_root *r, enum log_level level, const char *message, int64_t now_ms)
{
    uint64_t hash = hash_bytes(message, strlen(message), (uint64_t)level + 1);
    struct sample *s = &r->samples[hash & (SAMPLE_SLOTS - 1)];

    if (s->hash != hash || now_ms - s->from_ms >= SAMPLE_MS || now_ms < s->from_ms)
        *s = (struct sample){.hash = hash, .from_ms = now_ms};
    s->n++;
    return s->n <= SAMPLE_FIRST || (s->n - SAMPLE_FIRST) % SAMPLE_EACH == 0;
}

static void put_time(struct log_root *r, struct jw *w, int64_t now_ms)
{
    int64_t second = now_ms / 1000 - (now_ms % 1000 < 0);
    uint32_t ms = (uint32_t)(now_ms - second * 1000);
    char text[sizeof(r->date) + 8];

    if (second != r->second || !r->date[0]) {
        time_t t = (time_t)second;
        struct tm tm;

        (void)gmtime_r(&t, &tm);
        (void)strftime(r->date, sizeof(r->date), "%Y-%m-%dT%H:%M:%S", &tm);
        r->second = second;
    }
    size_t n = strlen(r->date);
    memcpy(text, r->date, n);
    memcpy(text + n, (char[]){'.', (char)('0' + ms / 100), (char)('0' + ms / 10 % 10), (char)('0' + ms % 10), 'Z'}, 5);
    jw_str(w, (str){text, n + 5});
}

/* The file with the directory that it is in. */
static const char *short_path(const char *path)
{
    const char *last = strrchr(path, '/'), *at = last;

    while (at && at > path && at[-1] != '/')
        at--;
    return at ? at : path;
}

static void put_part(struct jw *w, const struct err *e, const char *name, str value)
{
    char key[64];

    (void)snprintf(key, sizeof(key), "%s-%s", e->call.peer, name);
    jw_key(w, key);
    jw_str(w, value);
}

/* aws 8.3 */
static void put_call(struct jw *w, const struct err *e)
{
    char key[64];

    if (e->call.request[0])
        put_part(w, e, "request-id", str_c(e->call.request));
    if (e->call.status) {
        (void)snprintf(key, sizeof(key), "%s-status-code", e->call.peer);
        jw_key(w, key);
        jw_i64(w, e->call.status);
    }
    put_part(w, e, "service-name", str_c(e->call.service));
    put_part(w, e, "operation-name", str_c(e->call.operation));
    if (e->code[0])
        put_part(w, e, "error-code", str_c(e->code));
}

void log_write_from(const char *caller, const struct log *l, enum log_level level, const char *message,
                    const struct err *e, const struct log_field *f, uint32_t n)
{
    static const char *const names[] = {"DEBUG", "INFO", "WARN", "ERROR"};
    struct log_root *r = l->root;
    struct jw w = {.out = &r->line};
    int64_t now_ms;

    if (!log_wants(l, level))
        return;
    now_ms = r->now_ms(r->clock);
    if (!sampled(r, level, message, now_ms))
        return;
    sb_reset(&r->line);
    jw_map(&w);
    jw_key(&w, "level");
    jw_c(&w, names[level]);
    jw_key(&w, "time");
    put_time(r, &w, now_ms);
    jw_key(&w, "logger");
    jw_c(&w, "controller");
    if (r->min == LOG_DEBUG) {
        jw_key(&w, "caller");
        jw_c(&w, short_path(caller));
    }
    jw_key(&w, "message");
    jw_c(&w, message);
    put_fields(&w, l);
    for (uint32_t i = 0; i < n; i++)
        put_field(&w, &f[i]);
    if (e && e->call.peer)
        put_call(&w, e);
    if (e) {
        jw_key(&w, "error");
        jw_c(&w, e->msg);
    }
    jw_end(&w);
    sb_char(&r->line, '\n');
    r->sink.write(r->sink.ctx, sb_view(&r->line));
}
