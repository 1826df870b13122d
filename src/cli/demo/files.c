#include "cli/demo/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "data/source.h"

bool demo_write_file(const char *path, str bytes, struct err *e)
{
    struct sb tmp = {0};
    bool ok = false;

    sb_printf(&tmp, "%s.%ld.tmp", path, (long)getpid());
    const char *name = sb_cstr(&tmp);
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        (void)err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
        goto out;
    }
    for (size_t at = 0; at < bytes.n;) {
        ssize_t n = write(fd, bytes.p + at, bytes.n - at);

        if (n < 0 && errno != EINTR)
            break;
        at += n > 0 ? (size_t)n : 0;
        if (at == bytes.n)
            ok = true;
    }
    ok = fsync(fd) == 0 && ok;
    ok = close(fd) == 0 && ok && rename(name, path) == 0;
    if (!ok) {
        (void)err_set(e, ERR_IO, "%s: %s", path, strerror(errno));
        (void)unlink(name);
    }
out:
    sb_fini(&tmp);
    return ok;
}

bool demo_read_file(const char *path, struct sb *out, struct err *e)
{
    struct source s;

    if (!source_open(&s, path, e))
        return false;
    bool ok = true;
    while (ok && !s.ended) {
        ok = source_more(&s, e);
        sb_bytes(out, s.buf + s.lo, source_held(&s));
        s.lo = s.hi;
    }
    source_fini(&s);
    return ok;
}

const char *demo_default_path(struct arena *a, const char *suffix)
{
    const char *dir = getenv("XDG_RUNTIME_DIR");

    if (dir && dir[0] == '/' && access(dir, W_OK) == 0)
        return arena_printf(a, "%s/karpenter-demo.%s%c", dir, suffix, 0).p;
    return arena_printf(a, "/tmp/karpenter-demo-%ld.%s%c", (long)getuid(), suffix, 0).p;
}
