#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sb.h"

static bool read_fd(int fd, size_t max, struct sb *b)
{
    char buf[4096];
    ssize_t n = 1;

    while (n > 0 && b->n <= max) {
        n = read(fd, buf, sizeof(buf));
        if (n > 0)
            sb_bytes(b, buf, (size_t)n);
    }
    explicit_bzero(buf, sizeof(buf));
    return n >= 0;
}

bool file_read(struct arena *a, const char *path, size_t max, str *ret, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct sb b = {0};
    struct stat st;
    bool ok = fd >= 0 && fstat(fd, &st) == 0;

    if (ok && !S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
        ok = err_set(e, ERR_INVALID, "%s: is no file", path);
    else if (!ok || !read_fd(fd, max, &b))
        ok = err_set(e, errno == ENOENT ? ERR_NOT_FOUND : errno == EACCES ? ERR_DENIED : ERR_IO, "%s: %m", path);
    else if (b.n > max)
        ok = err_set(e, ERR_INVALID, "%s: is larger than %zu KiB", path, max >> 10);
    if (ok)
        *ret = sb_dup(&b, a);
    if (b.p)
        explicit_bzero(b.p, b.cap);
    sb_fini(&b);
    if (fd >= 0)
        (void)close(fd);
    return ok;
}
