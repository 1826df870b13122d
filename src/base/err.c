#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
    va_list ap;

    *e = (struct err){.kind = kind};
    va_start(ap, fmt);
    (void)vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
    va_end(ap);
    return false;
}

bool err_wrap(struct err *e, const char *fmt, ...)
{
    struct err inner = *e;
    va_list ap;
    size_t n;

    va_start(ap, fmt);
    (void)vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
    va_end(ap);
    n = strlen(e->msg);
    for (const char *c = ": "; *c && n < sizeof(e->msg) - 1; c++)
        e->msg[n++] = *c;
    size_t more = MIN(strlen(inner.msg), sizeof(e->msg) - 1 - n);
    memcpy(e->msg + n, inner.msg, more);
    e->msg[n + more] = '\0';
    return false;
}
