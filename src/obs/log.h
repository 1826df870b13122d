/* log - one JSON object a line (lifecycle 9.5).
 *
 * A logger has fields of its own that every line repeats; log_with() makes a logger with more of them. Lines go to a sink: files in the program, memory in
 * tests, the log of a pod in the demo. The same message at the same level is written a hundred times a second, then every hundredth time.
 *
 * Keys and their order are Karpenter's: level, time, logger, caller (of a logger that writes debug lines: "control/provision.c:210"), message, the logger's own fields, those of the call, what a service said about a call that failed ("aws-request-id" and more), error. An error that is longer than a struct err holds, or that
 * brings keys of its own, is passed as fields, LOG_STR("error", …) last. Lines are written by the thread that owns the logger.
 *
 *     log_info(l, "launched nodeclaim", LOG_STR("provider-id", id), LOG_OBJ("NodeClaim", STR(""), name));
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log_field {
    const char *key;
    enum { LOG_IS_STR, LOG_IS_I64, LOG_IS_DOUBLE, LOG_IS_BOOL, LOG_IS_OBJ, LOG_IS_JSON } kind;
    str s, ns; /* LOG_IS_OBJ: name and namespace; LOG_IS_JSON: text that is JSON already */
    int64_t i;
    double d;
};

#define LOG_STR(k, v) ((struct log_field){.key = (k), .kind = LOG_IS_STR, .s = (v)})
#define LOG_I64(k, v) ((struct log_field){.key = (k), .kind = LOG_IS_I64, .i = (v)})
#define LOG_DOUBLE(k, v) ((struct log_field){.key = (k), .kind = LOG_IS_DOUBLE, .d = (v)})
#define LOG_BOOL(k, v) ((struct log_field){.key = (k), .kind = LOG_IS_BOOL, .i = (v)})
#define LOG_OBJ(k, namespace_, name)                                                                                   \
    ((struct log_field){.key = (k), .kind = LOG_IS_OBJ, .ns = (namespace_), .s = (name)})
#define LOG_JSON(k, v) ((struct log_field){.key = (k), .kind = LOG_IS_JSON, .s = (v)})

struct log_sink {
    void *ctx;
    void (*write)(void *ctx, str line); /* with its line feed */
};

struct log;

/* now_ms(clock) is asked for the time of every line. */
struct log *log_new(enum log_level min, const struct log_sink *sink, int64_t (*now_ms)(void *clock), void *clock);
void log_free(struct log *l);
AUTO_DEFINE(log)

/* In the arena, which it must not outlive, nor may it outlive l; text of the fields is copied. */
struct log *log_with(struct arena *a, const struct log *l, const struct log_field *f, uint32_t n);

bool log_wants(const struct log *l, enum log_level level);
/* `caller`: file and line, as LOG_HERE has them. */
void log_write_from(const char *caller, const struct log *l, enum log_level level, const char *message,
                    const struct err *e, const struct log_field *f, uint32_t n);

#define LOG_TEXT_(x) #x
#define LOG_TEXT(x) LOG_TEXT_(x)
#define LOG_HERE __FILE__ ":" LOG_TEXT(__LINE__)
#define log_write(...) log_write_from(LOG_HERE, __VA_ARGS__)

#define LOG_FIELDS(...)                                                                                                \
    (struct log_field[]){{0}, ##__VA_ARGS__} + 1,                                                                      \
        (uint32_t)(sizeof((struct log_field[]){{0}, ##__VA_ARGS__}) / sizeof(struct log_field) - 1)
#define log_debug(l, message, ...) log_write((l), LOG_DEBUG, (message), NULL, LOG_FIELDS(__VA_ARGS__))
#define log_info(l, message, ...) log_write((l), LOG_INFO, (message), NULL, LOG_FIELDS(__VA_ARGS__))
#define log_warn(l, message, ...) log_write((l), LOG_WARN, (message), NULL, LOG_FIELDS(__VA_ARGS__))
#define log_error(l, message, e, ...) log_write((l), LOG_ERROR, (message), (e), LOG_FIELDS(__VA_ARGS__))
