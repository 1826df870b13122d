/* Plain read(2) in chunks: no mmap, because a file that is cut short meanwhile must be an error and not a signal,
 * and because resident memory must not grow with the file. */
#include "data/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

static void source_init(struct source *s, const char *name, size_t cap)
{
    *s = (struct source){.fd = -1, .cap = cap};
    s->name = strdup(name);
    s->buf = xmalloc(s->cap + SOURCE_PAD);
}

static bool io_error(const struct source *s, struct err *e)
{
    enum err_kind kind = errno == ENOENT ? ERR_NOT_FOUND : errno == EACCES || errno == EPERM ? ERR_DENIED : ERR_IO;

    return err_set(e, kind, "%s: %m", s->name);
}

bool source_open(struct source *s, const char *path, struct err *e)
{
    bool standard_input = strcmp(path, "-") == 0;
    struct stat st;

    source_init(s, standard_input ? "stdin" : path, SOURCE_CHUNK);
    s->fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (s->fd < 0 || fstat(s->fd, &st) != 0) {
        (void)io_error(s, e);
        goto fail;
    }
    if (S_ISDIR(st.st_mode)) {
        (void)err_set(e, ERR_INVALID, "%s: is a directory, not a file", s->name);
        goto fail;
    }
    return true;
fail:
    source_fini(s);
    return false;
}

void source_open_bytes(struct source *s, const char *name, str bytes)
{
    source_init(s, name, MIN(MAX(bytes.n, (size_t)1), (size_t)SOURCE_CHUNK)); /* most are small */
    s->memory = bytes;
}

void source_fini(struct source *s)
{
    if (s->fd > STDERR_FILENO)
        (void)close(s->fd);
    free(s->buf);
    free((char *)s->name);
    *s = (struct source){.fd = -1};
}

/* At least half a chunk of room after hi, or for all that is left of the bytes: first by moving the window to the front, then by
 * growing. */
static void source_room(struct source *s)
{
    size_t want = s->fd < 0 ? MIN(s->memory.n, (size_t)SOURCE_CHUNK / 2) : SOURCE_CHUNK / 2;

    if (s->cap - s->hi >= want)
        return;
    memmove(s->buf, s->buf + s->lo, source_held(s));
    s->hi -= s->lo;
    s->lo = 0;
    if (s->cap - s->hi < want) {
        s->cap = MAX(s->cap * 2, s->hi + want);
        s->buf = xrealloc(s->buf, s->cap + SOURCE_PAD);
    }
}

static bool source_read(struct source *s, struct err *e)
{
    size_t room = MIN(s->cap - s->hi, (size_t)SOURCE_CHUNK);

    if (s->fd < 0) {
        size_t n = MIN(room, s->memory.n);

        if (n)
            memcpy(s->buf + s->hi, s->memory.p, n);
        s->memory = str_sub(s->memory, n, s->memory.n);
        s->hi += n;
        s->ended = n == 0;
        return true;
    }
    ssize_t n;
    do
        n = read(s->fd, s->buf + s->hi, room);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return io_error(s, e);
    s->hi += (size_t)n;
    s->ended = n == 0;
    return true;
}

bool source_more(struct source *s, struct err *e)
{
    if (s->ended)
        return true;
    source_room(s);
    if (!source_read(s, e))
        return false;
    if (s->started)
        return true;
    s->started = true;
    while (!s->ended && source_held(s) < 3) /* enough to see a byte order mark */
        if (!source_read(s, e))
            return false;
    if (source_held(s) >= 3 && memcmp(s->buf + s->lo, "\xef\xbb\xbf", 3) == 0)
        s->lo += 3;
    return true;
}

bool source_error(const struct source *s, uint64_t line, uint64_t col, struct err *e, const char *fmt, ...)
{
    char what[sizeof(e->msg)];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return err_set(e, ERR_INVALID, "%s:%llu:%llu: %s", s->name, (unsigned long long)line, (unsigned long long)col,
                   what);
}
